# SPDX-License-Identifier: Apache-2.0
"""The command class of every verb: an option that takes one value is given once, nothing that is
given is empty, and each verb may be told to talk less or more."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from nandwich.cli import loudness
from nandwich.errors import InputError

#: Data and flags may be empty; names, files and figures may not.
_MAY_BE_EMPTY = frozenset({"text", "cflags"})


class Command(click.Command):
    """Refuses `--chip A --chip B`: the last one won without a word. And `--snapshot "$unset"`,
    which counted as not given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        values, _, given = self.make_parser(ctx).parse_args(args=list(args))
        _refuse_repeats(given)
        _refuse_empty(given, values)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *own, asks_help = super().get_params(ctx)
        taken = {one.name for one in own}
        return [*own, *(one for one in loudness.OPTIONS if one.name not in taken), asks_help]


class Group(Command, click.Group):
    """A verb of several parts, each of them such a command."""

    command_class = Command


def _refuse_repeats(given: list[click.Parameter]) -> None:
    """`given` has a parameter as often as it stood in the line, by the name it fills."""
    options = [one for one in given if isinstance(one, click.Option)]
    for option, times in Counter(options).items():
        if times > 1 and not (option.multiple or option.count or option.is_flag):
            raise InputError(f"{option.opts[0]} is given {times} times: once is enough")
    for name in {option.name for option in options}:
        choices = sorted({option.opts[0] for option in options if option.name == name})
        if len(choices) > 1:
            raise InputError(f"either {' or '.join(choices)}, not both")


def _refuse_empty(given: list[click.Parameter], values: Mapping[str, Any]) -> None:
    """`values` has what was given by the names it fills, not converted yet."""
    for one in given:
        value = values.get(str(one.name))
        several = value if isinstance(value, list | tuple) else (value,)
        if "" in several and one.name not in _MAY_BE_EMPTY:
            name = one.opts[0] if isinstance(one, click.Option) else one.human_readable_name
            raise InputError(f"{name} is empty: give it a value, or leave it out")
