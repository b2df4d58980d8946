# SPDX-License-Identifier: Apache-2.0
"""What every part of `nandwich store` is given, and how data goes in and out."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from nandwich import _native, files
from nandwich.cli import output
from nandwich.cli.options import check_output, writable
from nandwich.errors import InputError, RunError, not_written
from nandwich.names import shown
from nandwich.store import image as store_image
from nandwich.store.image import Image
from nandwich.store.seal import read_key

#: Errors of the store that are the caller's mistake, not the store's failure.
_MISTAKES = frozenset({-1, -3, -18, -21, -22, -23, -24})


#: More than any store holds: its positions number bytes with 31 bits.
_MOST_BYTES = 1 << 31


def _why(image: Image, error: _native.StoreError) -> str:
    """An error of the store in one line, with what the store knows beside the number."""
    number = store_image.error_of(error)
    if number == store_image.ERR_NAME:
        return f"a name has 1 to {image.layout.name_bytes} bytes"
    if number == store_image.ERR_FULL:
        space, count = image.store.space, len(image.store.objects())
        return (
            f"full: {space['used_bytes']} of {space['limit_bytes']} B and {count} of "
            f"{image.layout.objects} objects in use; nothing was changed"
        )
    told = {
        store_image.ERR_CONFIG: "this chip cannot hold such an object: unit or count too large",
        store_image.ERR_EXISTS: "an object of this name exists already",
    }
    text: str = error.args[1]
    return told.get(number, text)


def check_names(image: Image, name: str) -> None:
    """RunError when an object of this name would be one too many."""
    names = [about["name"] for about in image.store.objects()]
    if len(names) >= image.layout.objects and name not in names:
        raise RunError(
            f"{image.path}: full: all {len(names)} names are in use; nothing was changed (rm frees "
            "one; a store formatted with --layout has up to 60)"
        )


class Session:
    """What all commands of the verb are given: the image's path and how to open it."""

    def __init__(self, path: Path, key_file: Path | None) -> None:
        self.path = path
        self.key_file = key_file
        self.key = read_key(key_file) if key_file is not None else None

    @property
    def inputs(self) -> list[Path]:
        """The files that every command reads."""
        return [self.path, *([self.key_file] if self.key_file is not None else [])]

    @contextlib.contextmanager
    def image(
        self, *, save: bool = False, writes: bool = False, warns: bool = True
    ) -> Iterator[Image]:
        """The image opened, read-only unless it `writes`; with `save` it does, and is synced and
        written when all went well. Damage that the mount met is told, unless the caller does."""
        if save:
            check_output(self.path)
        with store_image.opened(self.path, self.key, writes=save or writes) as image:
            if warns and image.store.stats["lost"]:
                output.talk(f"{self.path}: damage was met in the log; fsck tells what it has hit")
            try:
                yield image
                if save:
                    image.store.sync()
            except _native.StoreError as error:
                kind = InputError if store_image.error_of(error) in _MISTAKES else RunError
                raise kind(f"{self.path}: {_why(image, error)}") from error
            if save:
                image.save()


pass_session = click.make_pass_decorator(Session)


name_argument = click.argument("name")


text_option = click.option("--text", help="The data itself, instead of a file.")


to_file = click.argument("file", required=False, callback=writable)


def source(session: Session, file: str | None, text: str | None) -> bytes:
    """What to store: a text, a file, or stdin."""
    if text is not None:
        if file is not None:
            raise InputError("either FILE or --text, not both")
        return os.fsencode(text)  # its bytes as they were typed, UTF-8 or not
    given = "/dev/stdin" if file in (None, "-") else str(file)
    try:
        output.check_apart((given,), (session.path,))
    except InputError as error:
        raise InputError(
            f"{given} is the image itself, which this would overwrite: give another file"
        ) from error
    try:
        if file is None or file == "-":
            if sys.stdin is None:
                raise InputError("stdin is closed: give a FILE or --text")
            return files.drain(sys.stdin.buffer, _MOST_BYTES)
        return files.read(Path(file), _MOST_BYTES)
    except OSError as error:
        raise InputError(f"{file or 'stdin'}: {error.strerror}") from error


def give(session: Session, pieces: Iterator[bytes], file: str | None) -> None:
    """Data to a file, or to stdout."""
    output.check_apart(session.inputs, (file,))
    if file is None or file == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    try:
        with files.replacing(Path(file)) as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise not_written(f"{file}: {error.strerror}", error) from error


def needs(about: dict[str, Any], *types: str) -> int:
    """The handle of an object that has one of these types."""
    if about["type"] not in types:
        raise InputError(
            f"{shown(about['name'])} is of type {about['type']}, not {' or '.join(types)}"
        )
    handle: int = about["handle"]
    return handle


def key_of(about: dict[str, Any], key: int) -> tuple[int, int]:
    """Handle and key of an array's value; InputError when it has no such key."""
    handle = needs(about, "array")
    if key >= about["count"]:
        raise InputError(
            f"{shown(about['name'])} has no key {key}: they are 0 to {about['count'] - 1}"
        )
    return handle, key


def check_element(image: Image, about: dict[str, Any], data: bytes) -> None:
    """InputError when the data cannot be one element of a list."""
    most = image.longest_element
    if not 1 <= len(data) <= most:
        raise InputError(f"an element of {shown(about['name'])} has 1 to {most} B, not {len(data)}")


def as_json(about: dict[str, Any]) -> dict[str, Any]:
    """An object for JSON."""
    return {key: value for key, value in about.items() if key != "handle"}


def wants_table(session: Session, payload: dict[str, Any], json_target: str | None) -> bool:
    """Writes JSON when asked for; answers whether a table is wanted too."""
    output.check_apart(session.inputs, (json_target,))
    if json_target is not None:
        document = output.document("store", 1, payload, inputs=[session.path])
        output.write_json(json_target, document)
    return json_target != "-"
