# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE mount`: the store as files of a folder."""

import errno
import stat
from pathlib import Path

import click

from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.store.session import Session, pass_session
from nandwich.errors import InputError


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--foreground", is_flag=True, help="Stay until unmounted; Ctrl-C unmounts.")
@pass_session
def mount(session: Session, folder: Path, foreground: bool) -> None:
    """Show the store as files of FOLDER, until `fusermount3 -u FOLDER`.

    Its files are read and written by any program, its streams are read. What a program has closed
    or synced is durable and saved. Modes, owners, times and folders are not kept.
    """
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise InputError(f"{folder}: not a folder")
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise InputError(f"{folder}: {error.strerror}") from error
        dead = f"a mount whose server has died; end it with: fusermount3 -u -z {folder}"
        raise InputError(f"{folder}: {dead}") from error
    session.path = session.path.resolve()
    if session.path.is_relative_to(folder.resolve()):  # a save would wait for the mount itself
        raise InputError(f"{folder}: it holds the image itself; choose another folder")
    try:
        from nandwich.store import mount as store_mount
    except (ImportError, OSError) as error:
        raise InputError(f"mounting needs libfuse (package fuse3): {error}") from error
    if not Path("/dev/fuse").exists():
        raise InputError("mounting needs /dev/fuse, which this system does not have")
    with session.image(writes=True) as image:
        if not foreground:
            output.talk(f"unmount with: fusermount3 -u {folder}")
        store_mount.serve(image, folder.resolve(), foreground=foreground)
