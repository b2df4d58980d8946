# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE create, rm, mv`: objects by name."""

import click

from nandwich import _native
from nandwich.cli.command import Command
from nandwich.cli.store.session import Session, check_names, name_argument, pass_session
from nandwich.errors import InputError


@click.command(cls=Command)
@name_argument
@click.argument("kind", type=click.Choice(["stack", "queue", "stream", "array", "tags", "file"]))
@click.option(
    "--unit", type=click.IntRange(1, 65000), help="Bytes of each element, value or block."
)
@click.option(
    "--count",
    type=click.IntRange(1, 0xFFFFFFFF),
    help="Keys of an array; how many tags; most chunks a stream keeps (a ring).",
)
@click.option("--expendable", is_flag=True, help="Stream: lives only as long as there is room.")
@pass_session
def create(
    session: Session, name: str, kind: str, unit: int | None, count: int | None, expendable: bool
) -> None:
    """Make an empty object. Tags are an array of places in a stream, for `tag` and `seek`."""
    if kind == "tags":
        if unit is not None:
            raise InputError("tags have a unit of their own; --count says how many there are")
        if count is None:
            raise InputError("tags need --count, how many there are")
        kind, unit = "array", _native.STORE_TAG_BYTES
    if kind == "array" and (unit is None or count is None):
        raise InputError("an array needs --unit, the bytes of a value, and --count, its keys")
    if kind not in ("array", "stream") and count is not None:
        raise InputError(f"--count is for arrays, tags and streams, not for a {kind}")
    if kind != "stream" and expendable:
        raise InputError(f"--expendable is for streams, not for a {kind}")
    if kind in ("stack", "queue") and unit is not None:
        raise InputError(f"--unit is not for a {kind}: its elements have any length")
    with session.image(save=True) as image:
        check_names(image, name)
        image.store.create(
            name, kind, unit_bytes=unit or 0, count=count or 0, expendable=expendable
        )


@click.command(cls=Command)
@name_argument
@pass_session
def rm(session: Session, name: str) -> None:
    """Delete an object and all it holds."""
    with session.image(save=True) as image:
        image.store.delete(image.find(name)["handle"])


@click.command(cls=Command)
@click.argument("old")
@click.argument("new")
@pass_session
def mv(session: Session, old: str, new: str) -> None:
    """Give an object another name. An object that has this name gives way."""
    with session.image(save=True) as image:
        image.store.rename(image.find(old)["handle"], new)
