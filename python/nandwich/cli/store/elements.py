# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE put, get, set, append, push, pop`: what objects hold."""

import click

from nandwich import _native
from nandwich.cli.command import Command
from nandwich.cli.store.session import (
    Session,
    check_element,
    check_names,
    give,
    key_of,
    name_argument,
    needs,
    pass_session,
    source,
    text_option,
    to_file,
)
from nandwich.errors import InputError, RunError
from nandwich.names import shown
from nandwich.store import image as store_image


@click.command(cls=Command)
@name_argument
@click.argument("file", required=False)
@text_option
@pass_session
def put(session: Session, name: str, file: str | None, text: str | None) -> None:
    """Store FILE (or stdin) as the file NAME; what it held before is replaced."""
    data = source(session, file, text)
    with session.image(save=True) as image:
        check_names(image, name)
        old = [about for about in image.objects() if about["name"] == name]
        for about in old:
            image.store.delete(needs(about, "file"))
        image.write(image.create_file(name), 0, data)


@click.command(cls=Command)
@name_argument
@to_file
@click.option("--key", type=click.IntRange(0, 2**32 - 1), help="Of an array: which value.")
@pass_session
def get(session: Session, name: str, file: str | None, key: int | None) -> None:
    """Copy a file, a stream, or a value of an array, to FILE or stdout."""
    with session.image() as image:
        about = image.find(name)
        if key is not None:
            place = key_of(about, key)
            try:
                give(session, iter([image.store.get(*place)]), file)
            except _native.StoreError as error:
                if store_image.error_of(error) != store_image.ERR_NOT_FOUND:
                    raise
                raise InputError(f"{shown(name)} has no value under key {key}") from error
        else:
            needs(about, "file", "stream")
            give(session, image.read(about), file)


@click.command("set", cls=Command)
@name_argument
@click.argument("key", type=click.IntRange(0, 2**32 - 1))
@click.argument("file", required=False)
@text_option
@pass_session
def set_(session: Session, name: str, key: int, file: str | None, text: str | None) -> None:
    """Store a value of an array; it has to have the array's unit."""
    data = source(session, file, text)
    with session.image(save=True) as image:
        about = image.find(name)
        place = key_of(about, key)
        if len(data) != about["unit_bytes"]:
            raise InputError(
                f"{shown(name)} takes values of {about['unit_bytes']} B, not {len(data)}"
            )
        image.store.set(*place, data)


@click.command(cls=Command)
@name_argument
@click.argument("file", required=False)
@text_option
@pass_session
def append(session: Session, name: str, file: str | None, text: str | None) -> None:
    """Add FILE (or stdin) at the end of a file or a stream: one element, or many of its unit."""
    data = source(session, file, text)
    with session.image(save=True) as image:
        about = image.find(name)
        handle, unit = needs(about, "file", "stream"), about["unit_bytes"]
        if about["type"] == "file":
            image.write(handle, image.store.length(handle), data)
        elif unit == 0:
            check_element(image, about, data)
            image.store.append(handle, data)
        elif len(data) % unit:
            raise InputError(
                f"{shown(name)} takes units of {unit} B; {len(data)} B are not whole ones"
            )
        else:
            piece = max(1, min(4096, image.longest_element) // unit) * unit
            for at in range(0, len(data), piece):
                image.store.append(handle, data[at : at + piece])


@click.command(cls=Command)
@name_argument
@click.argument("file", required=False)
@text_option
@pass_session
def push(session: Session, name: str, file: str | None, text: str | None) -> None:
    """Add FILE (or stdin) as one element to a stack or a queue."""
    data = source(session, file, text)
    with session.image(save=True) as image:
        about = image.find(name)
        handle = needs(about, "stack", "queue")
        check_element(image, about, data)
        image.store.push(handle, data)


@click.command(cls=Command)
@name_argument
@to_file
@click.option("--unread", is_flag=True, help="Give it up without reading it, if it is damaged.")
@pass_session
def pop(session: Session, name: str, file: str | None, unread: bool) -> None:
    """Take an element: the newest of a stack, the oldest of a queue."""
    with session.image(save=True) as image:
        about = image.find(name)
        handle = needs(about, "stack", "queue")
        if about["head"] == about["tail"]:
            raise RunError(f"{shown(name)} is empty")
        take = image.store.pop if about["type"] == "stack" else image.store.dequeue
        data = take(handle, unread)
        if not unread:
            give(session, iter([data]), file)
