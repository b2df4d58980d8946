# SPDX-License-Identifier: Apache-2.0
"""`nandwich store`: typed, durable objects in an image of an emulated chip."""

import contextlib
import stat
from pathlib import Path
from typing import Any

import click

from nandwich import locks
from nandwich.cli import output
from nandwich.cli.command import Group
from nandwich.cli.options import check_output
from nandwich.cli.store import elements, history, look, mounting, objects, places
from nandwich.cli.store.session import Session, pass_session
from nandwich.errors import InputError
from nandwich.store import image as store_image
from nandwich.store.image import Layout
from nandwich.twin import parts

#: Of a layout: what may stand in each place (core/include/nandwich/store.h).
_LAYOUT = (range(1, 61), range(1, 33), range(4), (8, 16, 32, 64))


class _LayoutType(click.ParamType[Layout]):
    name = "layout"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Layout:
        if isinstance(value, Layout):
            return value
        words = str(value).split(",")
        numbers = [int(word) for word in words if word.isdecimal()]
        if len(words) != 4 or len(numbers) != 4:
            self.fail(f"'{value}' is not like 8,12,0,16", param, ctx)
        if any(number not in may for number, may in zip(numbers, _LAYOUT, strict=True)):
            may = "1-60 objects, names of 1-32 bytes, 0-3 checkpoints, fan 8, 16, 32 or 64"
            self.fail(f"'{value}' cannot be: {may}", param, ctx)
        objects, name_bytes, checkpoints, fan = numbers
        return Layout(objects, name_bytes, checkpoints, fan)


def _warn_of_readers(key_file: Path) -> None:
    """A key that everybody can read seals nothing on this machine."""
    with contextlib.suppress(OSError):
        mode = key_file.stat().st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            output.talk(f"{key_file}: others may read this key; chmod 600 {key_file}")


@click.group(cls=Group)
@click.argument("image", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of a sealed store: its key, 32 bytes or 64 hex digits. `format` seals with it.",
)
@click.pass_context
def command(ctx: click.Context, image: Path, key_file: Path | None) -> None:
    """Durable typed objects in IMAGE, a file that holds an emulated chip with all its state.

    Objects are files, stacks, queues, streams and arrays. Reading leaves the image as it is; every
    change is durable, and saved as a whole, when the command returns.

    \b
    Examples:
      nandwich store mote.nand format --chip TC58DVG02A1FT00 --blocks 128
      nandwich store mote.nand put notes README.md
      nandwich store mote.nand get notes | head -1
      nandwich store mote.nand create jobs queue
      nandwich store mote.nand push jobs --text 'first'
      nandwich store mote.nand pop jobs
      nandwich store mote.nand checkpoint
      nandwich store mote.nand rollback
      nandwich store mote.nand info
      nandwich store --key-file mote.key sealed.nand format
    """
    if key_file is not None:
        _warn_of_readers(key_file)
    ctx.obj = Session(image, key_file)


@command.command("format")
@click.option("--chip", default="TC58DVG02A1FT00", show_default=True, help="A part, or FILE.toml.")
@click.option("--blocks", type=click.IntRange(16, 2**32 - 1), help="Fewer than the part has.")
@click.option(
    "--layout",
    type=_LayoutType(),
    metavar="OBJECTS,NAMES,KEPT,FAN",
    help="As a device is set up: objects, bytes of a name, checkpoints, fan "
    "(core/include/nandwich/store.h); else as many as fit.",
)
@click.option("--ecc", is_flag=True, help="Over a code that repairs flipped bits (nandwich/ecc.h).")
@click.option("--force", is_flag=True, help="Replace the image if it exists.")
@pass_session
def format_(
    session: Session,
    chip: str,
    blocks: int | None,
    layout: Layout | None,
    ecc: bool,
    force: bool,
) -> None:
    """Make IMAGE: a new chip with an empty store."""
    check_output(session.path)
    output.check_apart((*session.inputs[1:], *parts.files(chip)), (session.path,))
    with locks.held(str(session.path)):
        if session.path.exists() and not force:
            raise InputError(f"{session.path} exists; --force replaces it")
        store_image.format_image(session.path, chip, blocks or 0, layout, ecc=ecc, key=session.key)


for part in (
    look.ls,
    look.info,
    look.fsck,
    look.dump,
    objects.create,
    objects.rm,
    objects.mv,
    elements.put,
    elements.get,
    elements.set_,
    elements.append,
    elements.push,
    elements.pop,
    places.tag,
    places.seek,
    history.checkpoint,
    history.rollback,
    history.drop,
    history.compact,
    mounting.mount,
):
    command.add_command(part)
