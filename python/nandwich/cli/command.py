# SPDX-License-Identifier: Apache-2.0
"""The command class of every verb: an option that takes one value is given once."""

from collections import Counter

import click

from nandwich.errors import InputError


class Command(click.Command):
    """Refuses `--chip A --chip B`: the last one won without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        _refuse_repeats(given)
        return super().parse_args(ctx, args)


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
