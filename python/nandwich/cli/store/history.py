# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE checkpoint, rollback, drop, compact`: what was, and how it is laid out."""

import click

from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.store.session import Session, pass_session
from nandwich.errors import InputError, RunError
from nandwich.names import shown
from nandwich.store.image import Image


@click.command(cls=Command)
@pass_session
def checkpoint(session: Session) -> None:
    """Keep the state of all objects; prints its number. The oldest gives way when all are taken."""
    with session.image(save=True) as image:
        if image.layout.checkpoints == 0:
            raise InputError("this store was formatted to keep no checkpoints")
        number = image.store.checkpoint()
    click.echo(number)


def _check_kept(image: Image, number: int) -> None:
    """InputError when no checkpoint of this number is kept."""
    kept = image.store.kept()
    if number not in kept:
        raise InputError(f"no checkpoint {number} (kept: {', '.join(map(str, kept)) or 'none'})")


@click.command(cls=Command)
@click.argument("number", type=click.IntRange(1, 2**32 - 1), required=False)
@pass_session
def rollback(session: Session, number: int | None) -> None:
    """Bring all objects back to checkpoint NUMBER, or to the newest one."""
    with session.image(save=True) as image:
        if number is not None:
            _check_kept(image, number)
        elif not image.store.kept():
            raise InputError("no checkpoint is kept; `checkpoint` makes one")
        image.store.rollback(number or 0)


@click.command(cls=Command)
@click.argument("number", type=click.IntRange(1, 2**32 - 1))
@pass_session
def drop(session: Session, number: int) -> None:
    """Give checkpoint NUMBER up, and the room that only it needs."""
    with session.image(save=True) as image:
        _check_kept(image, number)
        image.store.drop(number)


@click.command(cls=Command)
@click.argument("name", required=False)
@click.option(
    "--pieces",
    type=click.IntRange(1, 65535),
    default=65535,
    show_default=True,
    help="At most so many: each looks at a chunk, writes a node or erases a block.",
)
@pass_session
def compact(session: Session, name: str | None, pieces: int) -> None:
    """Clean ahead of time, as a device does when it is idle.

    With NAME all of that object moves to the end of the log first, so that the blocks it lies in
    become free as soon as their turn comes.
    """
    moved = 0
    with session.image(save=True) as image:
        if name is not None:
            moved = image.compact(image.find(name))
        done = image.store.idle(pieces)
        tampered = image.store.stats["tampered"]
        if tampered:
            raise RunError(
                f"{session.path}: {tampered} times met bytes that were not written there with this "
                "key; nothing was changed, and fsck tells which elements they are of"
            )
    if name is not None:
        output.talk(f"{moved} chunks of {shown(name)} moved")
    output.talk(f"{done} pieces of work done" + ("" if done == pieces else "; nothing left"))
