# SPDX-License-Identifier: Apache-2.0
"""SPEC.toml: what a sweep plays.

    [sweep]              # verb = "replay", seeds = [1, 2]; sample = 100, seed = 7
    [base]               # options that hold for all
    [axes]               # lists and ranges, of which all combinations are played, or a sample
    [[point]]            # instead of axes: the options of one point each

Every fault of a file is told at once, each with its line.
"""

import itertools
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from nandwich import names
from nandwich.cli.sweep.point import Point
from nandwich.cli.sweep.verbs import VERBS, Verb
from nandwich.errors import InputError
from nandwich.replay import accesses
from nandwich.twin import tomlfile
from nandwich.twin.tomlfile import TomlFile

_MOST_POINTS = 100_000
_MOST_STEPS = 100_000
_MOST_CHECKED = 200
_SEED = "seed"
_TABLES = ("sweep", "base", "axes", "point")
_SWEEP = ("verb", "seeds", "sample", "seed")
_RANGE = ("from", "to", "steps", "scale")
_SCALES = ("linear", "log")
#: Of replay without a source, which is a fault already: options that are right or wrong whatever it
#: is, and what stands in for it.
_WITHOUT_SOURCE = ("chip", "ftl", "wear", "nvm", "tier", "nvm-part")
_STANDS_IN = "gen:uniform"

Values = dict[str, Any]


@dataclass(frozen=True)
class Spec:
    """A file that is right."""

    verb: str
    points: list[Point]


@dataclass(frozen=True)
class Range:
    """Values between two ends; `steps` 0: any of them."""

    least: float
    most: float
    steps: int
    is_log: bool
    is_whole: bool

    def at(self, share: float) -> int | float:
        """The value at a share of the way."""
        if self.is_log:
            value = self.least * (self.most / self.least) ** share
        else:
            value = self.least + (self.most - self.least) * share
        return round(value) if self.is_whole else float(f"{value:.6g}")

    def listed(self) -> list[int | float]:
        """All steps, both ends among them, each once."""
        last = max(1, self.steps - 1)
        return list(dict.fromkeys(self.at(i / last) for i in range(self.steps)))


Axis = list[Any] | Range


class FileReader:
    """One file, and what is wrong with it so far. Faults are gathered, each with its line, until
    `end` raises them all, from the first line to the last."""

    verb: Verb  # whose options the file has

    def __init__(self, file: TomlFile, tables: Sequence[str]) -> None:
        self.file = file
        self.faults: list[tuple[int, str]] = []
        for key in file.tree:
            if key not in tables:
                self.fault(key, names.unknown("table", key, tables).message)

    def fault(self, place: str, text: str) -> None:
        self.faults.append((self.file.line(place), f"{self.file.where(place)}: {text}"))

    def end(self) -> None:
        """Raises what was found, if anything was."""
        if self.faults:
            told = sorted(dict.fromkeys(self.faults), key=lambda fault: fault[0])
            raise InputError("\n".join(text for _, text in told))

    def table(self, name: str) -> Values:
        """The table of that name; empty where there is none, or something else is a fault."""
        value = self.file.tree.get(name, {})
        if not isinstance(value, dict):
            self.fault(name, f"{name} is a table: [{name}]")
            return {}
        return value

    def keys(self, name: str, known: Sequence[str]) -> Values:
        """A table with no other keys than these."""
        value = self.table(name)
        for key in value:
            if key not in known:
                self.fault(f"{name}.{key}", names.unknown("key", key, known).message)
        return value

    def right(self, place: str, key: str, value: Any) -> bool:
        """Whether a value is one that the option takes; else that is a fault."""
        if key not in self.verb.keys:
            return False
        one = self.verb.keys[key]
        try:
            words = self.verb.words(key, value)
            is_flag = isinstance(one, click.Option) and one.is_flag
            for text in [] if is_flag else _texts(key, words):
                one.type.convert(text, one, None)
        except ValueError as error:
            self.fault(place, f"{key} = {_shown(value)}: {error}")
        except click.ClickException as error:
            text = error.message.removeprefix(f"{_shown(value)}: ")
            self.fault(place, f"{key} = {_shown(value)}: {text}")
        else:
            return True
        return False


class Reader(FileReader):
    """A file of `[sweep]`, `[base]` and points or axes. `verb_of` knows the keys: a class that is
    asked by the name of the verb."""

    def __init__(self, file: TomlFile, verb_of: Callable[[str], Verb] = Verb) -> None:
        super().__init__(file, _TABLES)
        self.sweep = self.keys("sweep", _SWEEP)
        self.base = self.table("base")
        self.verb = verb_of(self._verb())
        self.known("base", self.base)
        self.base = self.all_right("base", self.base)

    def _verb(self) -> str:
        name = self.sweep.get("verb")
        allowed = ", ".join(VERBS)
        if name is None:
            self.fault("sweep", f'[sweep] has no verb; allowed: {allowed}, like verb = "replay"')
        elif name not in VERBS:
            self.fault("sweep.verb", f"verb {name!r} is not swept; allowed: {allowed}")
        else:
            return str(name)
        self.end()
        raise AssertionError

    def known(self, place: str, values: Mapping[str, Any]) -> None:
        """Every key that the verb has not is a fault."""
        for key in values:
            if key in self.verb.keys:
                continue
            if why := self.verb.refuses(key):
                self.fault(f"{place}.{key}", f"{key}: {why}")
                continue
            text = names.unknown("key", key, self.verb.keys).message
            self.fault(f"{place}.{key}", f"{text} (nandwich {self.verb.name} --help lists all)")

    def all_right(self, place: str, values: Mapping[str, Any]) -> Values:
        """Those options whose values are right; the others are faults."""
        return {key: one for key, one in values.items() if self.right(f"{place}.{key}", key, one)}

    def whole(self, key: str, least: int, most: int) -> int | None:
        """A number of [sweep]."""
        value = self.sweep.get(key)
        if value is None or (_is_whole(value) and least <= value <= most):
            return value
        self.fault(f"sweep.{key}", f"{key} = {_shown(value)}: wanted {least} to {most}")
        return None


def read(path: Path) -> Spec:
    """The points of a file, in its order; InputError with every fault of it."""
    reader = Reader(tomlfile.read(path))
    seeds = _seeds(reader)
    chosen = _listed(reader) if "point" in reader.file.tree else _of_axes(reader)
    varying = list(dict.fromkeys(key for one in chosen for key in one))
    points = []
    if seeds:
        varying = [*(key for key in varying if key != _SEED), _SEED]
        chosen = [one | {_SEED: seed} for one in chosen for seed in seeds]
    for mine in chosen:
        shown = {key: mine.get(key, reader.base.get(key)) for key in varying}
        points.append(point_of(reader.verb, reader.base | mine, shown))
    check(reader, [reader.base | one for one in chosen])
    return Spec(reader.verb.name, points)


def point_of(verb: Verb, values: Values, shown: Values) -> Point:
    """The point of some options. Two specs that ask for the same get the same one, whatever the
    order of their keys is; `shown` is what people are told of it."""
    arguments: list[str] = []
    texts: list[str] = []
    for key in verb.keys:
        if key in values:
            words = verb.words(key, values[key])
            arguments += words
            texts += _texts(key, words) if verb.may_name_files(key) else ()
    return Point(verb.name, tuple(arguments), shown, tuple(texts))


def _seeds(reader: Reader) -> list[int]:
    seeds = reader.sweep.get("seeds", [])
    if not isinstance(seeds, list) or not all(map(_is_whole, seeds)) or seeds == []:
        if "seeds" in reader.sweep:
            reader.fault("sweep.seeds", "seeds is a list of whole numbers, like [1, 2, 3]")
        return []
    if _SEED not in reader.verb.keys:
        reader.fault("sweep.seeds", f"nandwich {reader.verb.name} has no --seed")
        return []
    for seed in seeds:
        reader.right("sweep.seeds", _SEED, seed)
    for key in reader.file.values:
        if key in (f"base.{_SEED}", f"axes.{_SEED}") or key.startswith(f"axes.{_SEED}."):
            reader.fault(key, "either seeds of [sweep], or a seed here")
    return list(dict.fromkeys(seeds))


def _listed(reader: Reader) -> list[Values]:
    """The tables [[point]]."""
    found = reader.file.tree["point"]
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        reader.fault("point", "points are tables: [[point]]")
        return []
    for key in ("axes",) if "axes" in reader.file.tree else ():
        reader.fault(key, "either [axes] or [[point]]")
    if "sample" in reader.sweep:
        reader.fault("sweep.sample", "a sample is of [axes]; [[point]] is played whole")
    for number, one in enumerate(found):
        reader.known(f"point.{number}", one)
        if _SEED in one and "seeds" in reader.sweep:
            reader.fault(f"point.{number}.{_SEED}", "either seeds of [sweep], or a seed here")
    return [reader.all_right(f"point.{number}", one) for number, one in enumerate(found)]


def _of_axes(reader: Reader) -> list[Values]:
    """All combinations of the axes, the last one varying fastest; or a sample of them. Beside
    faults each value that is right, once."""
    given = reader.file.tree.get("axes", {})
    if not isinstance(given, dict):
        reader.fault("axes", "axes is a table: [axes]")
        return []
    reader.known("axes", given)
    sample = reader.whole("sample", 1, _MOST_POINTS)
    seed = reader.whole("seed", 0, 2**32 - 1)
    if sample is None and seed is not None:
        reader.fault("sweep.seed", "seed is of the sample: sample = N; seeds of the verb are seeds")
    known = {key: value for key, value in given.items() if key in reader.verb.keys}
    axes = {key: axis_of(reader, key, value, sample) for key, value in known.items()}
    lists = [one if isinstance(one, list) else one.listed() for one in axes.values()]
    if reader.faults:
        return _each_once(dict(zip(axes, lists, strict=True)))
    total = math.prod(map(len, lists))
    if sample is None or not axes:
        if total > _MOST_POINTS:
            reader.fault("axes", f"{total} combinations: {_MOST_POINTS} at most, or a sample = N")
            return []
        return [dict(zip(axes, one, strict=True)) for one in itertools.product(*lists)]
    drawn = random.Random(1 if seed is None else seed).random
    if any(isinstance(one, Range) and not one.steps for one in axes.values()):
        return _drawn(axes, sample, drawn)
    if sample > total:
        reader.fault("sweep.sample", f"sample = {sample}: the axes have {total} combinations")
        return []
    chosen = sorted(_some(total, sample, drawn))
    return [dict(zip(axes, _combination(lists, number), strict=True)) for number in chosen]


def _each_once(axes: Mapping[str, Sequence[Any]]) -> list[Values]:
    """Each value beside the first ones of the others."""
    first = {key: values[0] for key, values in axes.items() if values}
    return [first | {key: one} for key, values in axes.items() for one in values] or [first]


def _some(total: int, wanted: int, drawn: Callable[[], float]) -> list[int]:
    """Different numbers below total: the beginning of a shuffle (Fisher and Yates) that keeps only
    what it moved. random.sample may draw otherwise in another Python."""
    moved: dict[int, int] = {}
    found = []
    for i in range(wanted):
        j = i + int(drawn() * (total - i))
        found.append(moved.get(j, j))
        moved[j] = moved.get(i, i)
    return found


def _combination(lists: Sequence[Sequence[Any]], number: int) -> list[Any]:
    values: list[Any] = []
    for one in reversed(lists):
        number, place = divmod(number, len(one))
        values.insert(0, one[place])
    return values


def _drawn(axes: Mapping[str, Axis], wanted: int, drawn: Callable[[], float]) -> list[Values]:
    """Points with each value drawn by itself; two may be the same where little can be drawn."""
    found = []
    for _ in range(wanted):
        point: Values = {}
        for key, axis in axes.items():
            listed = axis if isinstance(axis, list) else axis.listed()
            share = drawn()
            if listed:
                point[key] = listed[int(share * len(listed))]
            else:
                assert isinstance(axis, Range)
                point[key] = axis.at(share)
        found.append(point)
    return found


def axis_of(reader: Reader, key: str, value: Any, sample: int | None) -> Axis:
    """A list of the values that are right, or a range; [] and a fault where it is neither. A range
    without steps is taken where a `sample` is drawn."""
    place = f"axes.{key}"
    if isinstance(value, dict):
        return _range(reader, key, value, sample)
    if not isinstance(value, list) or not value:
        reader.fault(
            place, f"{key} = {_shown(value)}: wanted a list of values, or {{from=, to=, steps=}}"
        )
        return []
    seen: dict[str, Any] = {}
    for one in value:
        if not reader.right(place, key, one):
            continue
        meaning = reader.verb.meaning(key, one)
        if meaning in seen:
            other = seen[meaning]
            also = "" if other == one else f", as {_shown(other)} too"
            reader.fault(place, f"{key}: {_shown(one)} is there twice{also}")
        seen.setdefault(meaning, one)
    return list(seen.values())


def _range(reader: Reader, key: str, value: Values, sample: int | None) -> Axis:
    """`{from=, to=, steps=, scale=}`; an end may have a unit, like "4K"."""
    place = f"axes.{key}"
    before = len(reader.faults)
    for word in value:
        if word not in _RANGE:
            reader.fault(f"{place}.{word}", names.unknown("key", word, _RANGE).message)
    steps, scale = value.get("steps", 0), value.get("scale", "linear")
    ends = [_end(reader, key, word, value.get(word)) for word in ("from", "to")]
    if scale not in _SCALES:
        reader.fault(place, f"{key}: scale = {_shown(scale)}; allowed: {', '.join(_SCALES)}")
    if not _is_whole(steps) or not (steps == 0 or 2 <= steps <= _MOST_STEPS):
        reader.fault(place, f"{key}: steps = {_shown(steps)}: wanted 2 to {_MOST_STEPS}")
    elif not steps and sample is None:
        reader.fault(place, f"{key}: a range without steps is for a sample: give steps = N")
    if len(reader.faults) > before or None in ends:
        return []
    least, most = (float(one) for one in ends if one is not None)
    if not least < most:
        reader.fault(place, f"{key}: from is not less than to")
    elif scale == "log" and least <= 0:
        reader.fault(place, f"{key}: on a log scale from is more than 0")
    else:
        return Range(least, most, steps, scale == "log", all(map(_is_whole, ends)))
    return []


def _end(reader: Reader, key: str, word: str, value: Any) -> int | float | None:
    place = f"axes.{key}"
    if value is None:
        reader.fault(place, f"{key}: a range has from and to, like {{from = 1, to = 8, steps = 4}}")
        return None
    if not reader.right(place, key, value):
        return None
    one = reader.verb.keys[key]
    number = one.type.convert(str(value), one, None) if isinstance(value, str) else value
    if isinstance(number, int | float) and math.isfinite(number):
        return number
    reader.fault(place, f"{key}: {word} = {_shown(value)} is no number")
    return None


def check(reader: Reader, options: Sequence[Values]) -> None:
    """Raises InputError for points that the verb would refuse: for each text the first point that
    has it is asked, without values that were refused before. What only some combinations refuse is
    told when they are played.

    Beside other faults only what is about a value of the file is told: the rest may follow from
    them.
    """
    seen: set[tuple[str, str]] = set()
    refused: set[tuple[str, str]] = set()
    checked = 0
    for values in options:
        left = {key: one for key, one in values.items() if (key, repr(one)) not in refused}
        texts = {(key, one) for key, one in left.items() if isinstance(one, str)}
        if (checked and texts <= seen) or checked == _MOST_CHECKED:
            continue
        seen |= texts
        checked += 1
        while key := _refused(reader, left):
            refused.add((key, repr(left.pop(key))))
    reader.end()


def _refused(reader: Reader, values: Values) -> str:
    """The key of a value that the verb refuses, which is a fault then; "" for none."""
    if reader.faults and reader.verb.name == "replay" and "source" not in values:
        values = {key: values[key] for key in _WITHOUT_SOURCE if key in values}
        values["source"] = _STANDS_IN
    point = point_of(reader.verb, values, {})
    try:
        reader.verb.check(point.arguments)
    except (click.UsageError, InputError) as error:
        key = _key(reader, values, error)
        if key or not reader.faults:
            text = f"{error.format_message().rstrip('.')}; asked by {point.command}"
            reader.fault(_place(reader, key), text)
        return key
    return ""


def _key(reader: Reader, values: Values, error: click.ClickException) -> str:
    """What an error is about: its option, or the one whose name or value it tells; "" for none."""
    text = error.format_message()
    for key, value in values.items():
        known = reader.verb.keys.get(key)
        is_it = known is not None and known is getattr(error, "param", None)
        if is_it or re.search(rf"--{re.escape(key)}\b", text) or _names(text, value):
            return key
    return ""


def _place(reader: Reader, key: str) -> str:
    """Where a key stands in the file."""
    if not key:
        return "sweep"
    tables = [name for name in ("axes", "base") if key in reader.file.tree.get(name, {})]
    return f"{tables[0]}.{key}" if tables else "point"


def _names(text: str, value: Any) -> bool:
    """Whether an error tells a value, or a part of it: the workload of a source."""
    if not isinstance(value, str):
        return False
    return f" {value}:" in text or any(one in value for one in re.findall("'([^']+)'", text))


def _texts(key: str, words: Sequence[str]) -> Iterator[str]:
    """The values among the words of an option."""
    for word in words:
        if word != f"--{key}":
            text = word.removeprefix(f"--{key}=")
            yield text
            if accesses.is_asked(text):
                yield accesses.path_of(text)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """A value about as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
