# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE tag, seek`: places in streams."""

from typing import Any

import click

from nandwich import _native
from nandwich.cli.command import Command
from nandwich.cli.store.session import Session, give, name_argument, needs, pass_session, to_file
from nandwich.errors import InputError
from nandwich.names import shown
from nandwich.store import image as store_image
from nandwich.store.image import Image

#: What a place in a stream looks like.
_PLACE = "CHUNK:OFFSET"


_index = click.option("--in", "index", metavar="TAGS", help="The object that keeps the tags.")


def _tag_of(image: Image, index: str, number: str) -> tuple[int, int]:
    """Handle and key of a tag; InputError when INDEX holds no tags, or none of this number."""
    about = image.find(index)
    if about["type"] != "array" or about["unit_bytes"] != _native.STORE_TAG_BYTES:
        raise InputError(
            f"{shown(index)} holds no tags; `create NAME tags --count N` makes what does"
        )
    if not number.isdecimal() or int(number) >= about["count"]:
        raise InputError(f"{shown(index)} has no tag {number}: they are 0 to {about['count'] - 1}")
    return about["handle"], int(number)


@click.command(cls=Command)
@name_argument
@click.argument("number", required=False)
@_index
@pass_session
def tag(session: Session, name: str, number: str | None, index: str | None) -> None:
    """Keep the place of a stream's end as tag NUMBER in TAGS; or print it, for `seek` later.

    \b
    Examples:
      nandwich store mote.nand create hours tags --count 24
      nandwich store mote.nand tag light 6 --in hours
      nandwich store mote.nand seek light 6 --in hours
    """
    if (number is None) != (index is None):
        raise InputError("a tag is a NUMBER --in TAGS; without both the place is printed")
    with session.image(save=index is not None) as image:
        cursor = image.store.last(needs(image.find(name), "stream"))
        if index is None or number is None:
            click.echo(f"{cursor.chunk}:{cursor.offset}")
        else:
            image.store.tag(*_tag_of(image, index, number), cursor)


def _place(image: Image, about: dict[str, Any], place: str) -> _native.StoreCursor:
    """The place in a stream that `tag` printed."""
    words = place.split(":")
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        raise InputError(f"'{place}' is no place; `tag` prints one like 12:0")
    chunk, offset = map(int, words)
    try:
        if offset % (about["unit_bytes"] or 1) == 0:
            return image.store.seek(about["handle"], chunk, offset)
    except (TypeError, _native.StoreError):
        pass  # a number out of all range; a place that never was, or was dropped
    raise InputError(f"{shown(about['name'])} has no place {place}, or has dropped it")


@click.command(cls=Command)
@name_argument
@click.argument("place", metavar=f"[{_PLACE}|NUMBER]")
@to_file
@_index
@pass_session
def seek(session: Session, name: str, place: str, file: str | None, index: str | None) -> None:
    """Copy a stream from a place on that `tag` printed, or from tag NUMBER --in TAGS."""
    with session.image() as image:
        about = image.find(name)
        stream = needs(about, "stream")
        if index is None:
            cursor = _place(image, about, place)
        else:
            try:
                cursor = image.store.tagged(*_tag_of(image, index, place), stream)
            except _native.StoreError as error:
                if store_image.error_of(error) != store_image.ERR_NOT_FOUND:
                    raise
                raise InputError(
                    f"tag {place} in {shown(index)} was never set, or {shown(name)} has dropped "
                    "its place"
                ) from error
        give(session, image.read_from(cursor), file)
