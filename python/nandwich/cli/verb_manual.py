# SPDX-License-Identifier: Apache-2.0
"""`nandwich manual`: pages for man."""

from pathlib import Path

import click

from nandwich import files
from nandwich.cli import manual, output
from nandwich.cli.command import Command
from nandwich.errors import not_written


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.pass_context
def command(ctx: click.Context, folder: Path | None) -> None:
    """Write a page for man of each verb: what --help says.

    They go to FOLDER/man1, or to ~/.local/share/man/man1, where man looks. Write them again after
    an update.

    \b
    Examples:
      nandwich manual && man nandwich-replay
      nandwich manual /usr/local/share/man
    """
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    target = (folder or Path.home() / ".local/share/man") / "man1"
    count = 0
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in manual.pages(group):
            files.replace(target / f"{name}.1", text.encode())
            count += 1
    except OSError as error:
        raise not_written(f"cannot write {error.filename}: {error.strerror}", error) from error
    output.talk(f"{target}: {output.counted(count, 'page')}")
