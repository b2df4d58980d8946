# SPDX-License-Identifier: Apache-2.0
"""The two ways a command ends badly, each with its exit code.

Raise them with one clear line: what is wrong, where (file:line when there is one) and what to do
next. The command prints `nandwich: error: LINE` on stderr. Several faults of one input go into one
exception, a line each.
"""

import errno
from typing import IO, Any

import click


class NandwichError(click.ClickException):
    """Base of both; `exit_code` is what the shell sees."""

    def show(self, file: IO[Any] | None = None) -> None:
        for line in self.message.splitlines():
            click.echo(f"nandwich: error: {line}", file=file, err=file is None)


class RunError(NandwichError):
    """The work was asked for properly and failed, or a claim that must hold did not (exit 1)."""

    exit_code = 1


class InputError(NandwichError):
    """The request itself is wrong: unknown name, bad file, impossible configuration (exit 2)."""

    exit_code = 2


class NoRoomError(InputError):
    """What was asked for and the room that it was given, in RAM or on the chip, do not fit: an
    answer, where it is compared with others."""


#: The disk is full or broken, which no other request would mend.
_SPENT = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def not_written(text: str, error: OSError) -> NandwichError:
    """Why a file could not be written, for `raise`: a RunError where the disk has no room, and an
    InputError where nobody could write to that name."""
    return (RunError if error.errno in _SPENT else InputError)(text)
