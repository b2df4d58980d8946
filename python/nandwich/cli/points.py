# SPDX-License-Identifier: Apache-2.0
"""What `nandwich compare` plays: lines of `nandwich replay`, from lists of values or a job file.

A job file is in fio's manner: `[global]`, then a section for each job, `key=value` or `key` a line.
Keys are the long options of replay, and `source`.
"""

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from nandwich import files, names
from nandwich.cli import verb_replay
from nandwich.errors import InputError
from nandwich.replay import play
from nandwich.replay.options import Options

#: Options of replay that belong to one replay alone.
_NOT_HERE = frozenset({"json_target", "snapshot", "timeline", "timeline_window"})
#: Values that say themselves what they are of.
_SPEAK = frozenset({"config", "ftl", "chip", "wear", "tier", "nvm_part"})
_GLOBAL = "global"
_MOST_POINTS = 4096
_MOST_BYTES = 1 << 20
_SECTION = re.compile(r"\[([^][]+)\]")


@dataclass(frozen=True)
class Point:
    """A replay to be played, and what makes it another one than the rest."""

    name: str
    chosen: dict[str, str]
    arguments: tuple[str, ...]  # of `nandwich replay`
    options: Options

    @property
    def command(self) -> str:
        """The line that repeats it."""
        return shlex.join(("nandwich", "replay", *self.arguments))

    def with_seed(self, seed: int) -> "Point":
        """The same with another seed."""
        kept = [
            pair
            for pair in _pairs(self.arguments)
            if not (pair[0] == "--seed" or pair[0].startswith("--seed="))
        ]
        arguments = (*itertools.chain(*kept), "--seed", str(seed))
        return replace(self, arguments=arguments, options=replace(self.options, seed=seed))


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Options with their values; flags and the source stand alone."""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        option = by_key().get(word.removeprefix("--")) if word.startswith("--") else None
        yield (word, rest.pop(0)) if option is not None and not option.is_flag else (word,)


def options() -> list[click.Option]:
    """The options of replay that a comparison takes."""
    return [
        one
        for one in verb_replay.command.params
        if isinstance(one, click.Option) and one.name not in _NOT_HERE
    ]


def by_key() -> dict[str, click.Option]:
    """These options by what a job file calls them."""
    return {
        name.removeprefix("--"): one
        for one in options()
        for name in (*one.opts, *one.secondary_opts)
    }


def parsed(arguments: Sequence[str]) -> Options:
    """What a line of replay asks for; click.UsageError or InputError."""
    with verb_replay.command.make_context("nandwich replay", list(arguments)) as context:
        values = dict(context.params)
    del values["json_target"]
    asked = verb_replay.chosen(**values)
    play.check_names(asked)
    return asked


def from_lists(source: str, choices: Mapping[str, Any]) -> list[Point]:
    """All combinations of the values given, the last option varying fastest; InputError."""
    axes: list[tuple[click.Option, list[str]]] = []
    flags: list[str] = []
    for option in options():
        value = choices.get(str(option.name))
        if option.is_flag:
            flags += _flag(option, value)
        elif value is not None:
            axes.append((option, _listed(option, value)))
    several = [str(option.name) for option, values in axes if len(values) > 1]
    points = []
    total = 1
    for _, values in axes:
        total *= len(values)
    if total > _MOST_POINTS:
        raise InputError(f"{total} combinations: {_MOST_POINTS} at most")
    for combination in itertools.product(*(values for _, values in axes)):
        pairs = list(zip((option for option, _ in axes), combination, strict=True))
        chosen = {str(one.name): value for one, value in pairs if one.name in several}
        arguments = [source, *(word for one, value in pairs for word in (one.opts[0], value))]
        try:
            asked = parsed([*arguments, *flags])
        except click.UsageError as error:
            raise InputError(error.format_message()) from error
        name = " ".join(_said(key, value) for key, value in chosen.items()) or source
        points.append(Point(name, chosen, (*arguments, *flags), asked))
    return points


def _said(key: str, value: str) -> str:
    return value if key in _SPEAK else f"{key}={value}"


def _flag(option: click.Option, value: Any) -> list[str]:
    if option.secondary_opts:
        on = option.opts[0] if value else option.secondary_opts[0]
        return [] if value in (None, option.default) else [on]
    if isinstance(option.flag_value, str):
        return [option.opts[0]] if value == option.flag_value else []
    return [option.opts[0]] if value else []


def _listed(option: click.Option, text: str) -> list[str]:
    if option.name in ("columns", "lives"):
        return [text]  # words of one value
    values = [value.strip() for value in text.split(",")]
    if "" in values:
        raise InputError(f"{option.opts[0]} {text}: a value of the list is empty")
    for value in values:
        if values.count(value) > 1:
            raise InputError(f"{option.opts[0]} {text}: {value} is there twice")
    return values


@dataclass
class _Section:
    name: str
    line: int
    values: dict[str, tuple[str | None, int]] = field(default_factory=dict)  # and their lines


def from_jobs(path: str) -> list[Point]:
    """The jobs of a file; InputError, with every line that is wrong."""
    try:
        text = files.read(Path(path), _MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is no UTF-8: this is no job file") from error
    sections, faults = _sections(path, text)
    whole = sections.pop(_GLOBAL, _Section(_GLOBAL, 0))
    points = []
    for section in sections.values() if not faults else ():
        try:
            points.append(_job(path, whole, section))
        except InputError as error:
            faults.append(error.message)
    if not faults and not points:
        faults.append(f"{path}: no job: a section with a name, say [tree], is one")
    if faults:
        raise InputError("\n".join(dict.fromkeys(faults)))
    return points


def _sections(path: str, text: str) -> tuple[dict[str, _Section], list[str]]:
    """What a job file holds, and what is wrong with it."""
    sections: dict[str, _Section] = {}
    faults: list[str] = []
    known = [*by_key(), "source"]
    section: _Section | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in ";#":
            continue
        if (match := _SECTION.fullmatch(line)) is not None:
            if match[1] in sections:
                faults.append(f"{path}:{number}: [{match[1]}] is there twice")
            section = sections[match[1]] = _Section(match[1], number)
            continue
        word, equals, value = line.partition("=")
        key = word.strip().replace("_", "-")
        if section is None:
            faults.append(f"{path}:{number}: `{line}` stands before the first section")
        elif key not in known:
            faults.append(f"{path}:{number}: {names.unknown('key', key, known).message}")
        elif key in section.values:
            first = section.values[key][1]
            faults.append(f"{path}:{number}: {key} is there twice, first in line {first}")
        else:
            section.values[key] = (value.strip() if equals else None, number)
    return sections, faults


def _job(path: str, whole: _Section, section: _Section) -> Point:
    values = {**whole.values, **section.values}
    if "source" not in values or not values["source"][0]:
        raise InputError(
            f"{path}:{section.line}: [{section.name}] has no source: a trace, gen:NAME or "
            "access:FILE"
        )
    arguments = [str(values["source"][0])]
    for key, (value, line) in values.items():
        if key != "source":
            arguments += _words(f"{path}:{line}", key, value)
    try:
        asked = parsed(arguments)
    except click.UsageError as error:
        option = getattr(error, "param", None) or getattr(error, "option_name", None)
        line = section.line
        for key, (_, where) in values.items():
            if option is not None and by_key().get(key) is option:
                line = where
        raise InputError(f"{path}:{line}: {error.format_message()}") from error
    except InputError as error:
        raise InputError(f"{path}:{section.line}: [{section.name}] {error.message}") from error
    return Point(section.name, {"job": section.name}, tuple(arguments), asked)


def _words(where: str, key: str, value: str | None) -> list[str]:
    """A line of a job as replay's command line has it."""
    if by_key()[key].is_flag:
        if value not in (None, "0", "1"):
            raise InputError(f"{where}: {key} is on or off: write {key}, {key}=1 or {key}=0")
        return [] if value == "0" else [f"--{key}"]
    if not value:
        raise InputError(f"{where}: {key} wants a value: {key}=...")
    return [f"--{key}", value]
