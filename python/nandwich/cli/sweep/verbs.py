# SPDX-License-Identifier: Apache-2.0
"""The verbs that a sweep plays, and which of their options a point may have.

A key of a point is the long option without dashes, or the name of what stands without an option,
such as `source` of replay.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from nandwich.cli import points
from nandwich.errors import InputError
from nandwich.replay import traffic

#: Options of a verb that write files, or that belong to a single run.
_TIMELINE = frozenset({"json_target", "timeline", "timeline_window"})
_BOARD = frozenset({"target", "layout", "frames", "stack", "vm_base", "fault"})
_NOT_HERE = {
    "replay": _TIMELINE | {"snapshot"},
    "run": _TIMELINE | _BOARD | {"image", "record", "accesses", "profile", "quiet"},
    "sched": _TIMELINE,
    "vmtrace": frozenset({"json_target", "picture", "policies"}),
    "energy": frozenset({"json_target", "plot"}),
}
VERBS = tuple(_NOT_HERE)
#: What stands behind `--` on the command line of run: words for the program.
_BEHIND = "arguments"


@dataclass(frozen=True)
class Verb:
    """A verb as a sweep sees it."""

    name: str

    @cached_property
    def command(self) -> click.Command:
        """Its parser, which also plays it."""
        found: click.Command = importlib.import_module(f"nandwich.cli.verb_{self.name}").command
        return found

    @cached_property
    def keys(self) -> dict[str, click.Parameter]:
        """What a point may have, in the order in which a command line gets it."""
        mine = [one for one in self.command.params if one.name not in _NOT_HERE[self.name]]
        found: dict[str, click.Parameter] = {}
        for one in mine:
            if isinstance(one, click.Argument):
                found[str(one.name)] = one
        for one in mine:
            if isinstance(one, click.Option):
                names = (*one.opts, *one.secondary_opts)
                found |= {name[2:]: one for name in names if name.startswith("--")}
        if self.name == "run":
            found[_BEHIND] = click.Argument([_BEHIND], nargs=-1)
        return found

    def refuses(self, key: str) -> str:
        """Why an option of the verb is no key; "" where it has none of that name."""
        for one in self.command.params:
            if f"--{key}" in (*one.opts, *one.secondary_opts):
                if one.name in _BOARD:
                    return "a sweep runs programs on this host"
                return "options that write files, or show something else, are not taken"
        return ""

    def meaning(self, key: str, value: Any) -> str:
        """One text for all values that are the same to the verb: "8K" and 8192."""
        one = self.keys[key]
        if isinstance(one, click.Option) and one.is_flag:
            return str(value)
        texts = [text for text in self.words(key, value) if text != f"--{key}"]
        plain = [text.removeprefix(f"--{key}=") for text in texts]
        return repr([one.type.convert(text, one, None) for text in plain])

    def words(self, key: str, value: Any) -> list[str]:
        """`value` of `key` as a command line has it; ValueError says what is wanted."""
        one = self.keys[key]
        if isinstance(one, click.Option) and one.is_flag:
            return _flag(one, key, value)
        several = one.nargs == -1 or one.multiple
        values = value if isinstance(value, list) and several else [value]
        texts = [_text(each) for each in values]
        if isinstance(one, click.Argument):
            return ["--", *texts] if key == _BEHIND else texts
        return [word for text in texts for word in _option(key, text)]

    def may_name_files(self, key: str) -> bool:
        """Whether the values of a key are texts: a number is no file, whatever lies around."""
        kind = self.keys[key].type
        return kind is click.STRING or isinstance(kind, click.Path)

    def check(self, arguments: Sequence[str]) -> None:
        """Refuses a line that the verb would refuse; click.UsageError or InputError."""
        if self.name == "replay":
            for path in traffic.inputs(points.parsed(arguments)):
                _check_file(str(path))
            return
        with self.command.make_context(f"nandwich {self.name}", list(arguments)) as context:
            for one in self.command.params:
                if isinstance(one, click.Argument) or isinstance(one.type, click.Path):
                    value = context.params.get(str(one.name))
                    for name in value if isinstance(value, tuple) else (value,):
                        if name is not None:
                            _check_file(str(name))


def _flag(option: click.Option, key: str, value: Any) -> list[str]:
    if not isinstance(value, bool):
        raise ValueError("it is on or off: true or false")
    if value:
        return [f"--{key}"]
    if option.secondary_opts and f"--{key}" in option.opts:
        return option.secondary_opts[:1]
    return option.opts[:1] if option.secondary_opts else []


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("wanted a text or a number")
    if value == "":
        raise ValueError("it is empty")
    return str(value)


def _option(key: str, text: str) -> list[str]:
    return [f"--{key}={text}"] if text.startswith("-") else [f"--{key}", text]


def _check_file(name: str) -> None:
    try:
        with Path(name).open("rb"):
            pass
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error
