# SPDX-License-Identifier: Apache-2.0
"""Where `nandwich tune` searches: a spec as `nandwich sweep` has it, [base] and [axes] of replay.

A space is not listed: it may have more combinations than a sweep plays. For the accesses of a
program it has keys of its own, `frame`, `memory` and `policy`: they make up the source.
"""

import itertools
import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from nandwich import names
from nandwich.cli.options import SIZE
from nandwich.cli.sweep import spec
from nandwich.cli.sweep.point import Point
from nandwich.cli.sweep.verbs import Verb
from nandwich.errors import InputError
from nandwich.replay import accesses
from nandwich.replay.options import Options
from nandwich.twin import parts, tomlfile

#: Options that tell nothing without an NVM; replay refuses most of them there.
_OF_NVM = ("nvm-part", "tier", "half-life", "nvm-reads")
_TABLES = ("sweep", "base", "axes")
_VERB = "replay"

_DEFAULT = """\
[sweep]
verb = "replay"

[base]
source = {source}
precondition = 1 # the device was written full once

[axes]
chip = {chips}
ftl = {layers}
blocks = [0, 128, 256, 512, 1024, 2048] # at most; 0: all of the chip
ram = {rams}
spare-blocks = [0, 16, 32, 64, 128, 256] # 0: the layer's own choice
idle = [false, true]
nvm = [0, "64K", "256K", "1M"] # 0: none
nvm-part = ["PCM-16M", "STTRAM-16M"]
tier = ["lru", "lfu", "lrfu", "harc"]
"""
#: The space of a program: what runs on it is a swap device, and each key has few values.
_OF_ACCESSES = """\
[sweep]
verb = "replay"

[base]
source = {source}
precondition = 1 # the device was written full once
nvm-part = "STTRAM-16M"
tier = "harc"

[axes]
chip = {chips}
ftl = ["tree", "lavish"]
blocks = [0, 64, 128, 256] # at most; 0: all of the chip
ram = {rams} # of the layer
frame = {frames}
memory = {memories} # RAM of page frames
policy = ["vm", "lru"] # those of nandwich run
spare-blocks = [0, 32] # 0: the layer's own choice
nvm = [0, "64K"] # 0: none
"""
_MEMORY = {"frame": "frame", "memory": "ram", "policy": "policy"}  # key: key of an access source
_FRAMES = 3  # sizes of them in the default space, from the smallest sector on
_FRAME_MOST_LOG2 = 15
_LAYER_KIB = (2, 4, 8, 16, 32)
_MEMORY_KIB = (8, 16, 32, 64, 128)
_RAM_KIB = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)


def default_text(source: str, chips: Sequence[str], *, swap: bool, ram_most: int) -> str:
    """The space where none is given. `ram_most` 0: no limit."""
    rams = _kib(_RAM_KIB, ram_most)
    if ram_most and ram_most not in [one << 10 for one in _RAM_KIB] and len(rams) < len(_RAM_KIB):
        rams.append(ram_most)
    return _DEFAULT.format(
        source=json.dumps(source, ensure_ascii=False),
        chips=json.dumps(list(chips), ensure_ascii=False),
        layers=json.dumps(["tree", "lavish"] if swap else ["tree"]),
        rams=json.dumps(rams),
    )


def default_text_of_accesses(source: str, chips: Sequence[str], *, ram_most: int) -> str:
    """The same of a program's accesses. What the source says of its memory is no axis."""
    frames = [f"{one >> 10}K" if one >> 10 else one for one in frames_on(chips)]
    text = _OF_ACCESSES.format(
        source=json.dumps(source, ensure_ascii=False),
        chips=json.dumps(list(chips), ensure_ascii=False),
        rams=json.dumps(_kib(_LAYER_KIB, ram_most)),
        frames=json.dumps(frames),
        memories=json.dumps(_kib(_MEMORY_KIB, ram_most)),
    )
    said = accesses.figures_of(source) if accesses.is_asked(source) else {}
    lines = text.splitlines(keepends=True)
    fixed = tuple(f"{key} = " for key, name in _MEMORY.items() if name in said)
    return "".join(line for line in lines if not (fixed and line.startswith(fixed)))


def frames_on(chips: Sequence[str]) -> list[int]:
    """Sizes of frames from the smallest sector of some chips on, which is their page. The VM takes
    frames that are powers of two."""
    least = min(max(1, parts.resolve(one).number("page_bytes")) for one in chips)
    first = min((least - 1).bit_length(), _FRAME_MOST_LOG2)
    return [1 << log2 for log2 in range(first, min(first + _FRAMES, _FRAME_MOST_LOG2 + 1))]


def _kib(sizes: Sequence[int], most: int) -> list[int | str]:
    return [f"{one}K" for one in sizes if not 0 < most < one << 10]


class _Paged(Verb):
    """Replay of a program's accesses: its memory is said by keys."""

    @cached_property
    def keys(self) -> dict[str, click.Parameter]:
        own: list[click.Option] = [
            click.Option(["--frame"], type=SIZE),
            click.Option(["--memory"], type=SIZE),
            click.Option(["--policy"], type=click.Choice(list(accesses.POLICIES))),
        ]
        return {**Verb(self.name).keys, **{one.opts[0][2:]: one for one in own}}


@dataclass(frozen=True)
class Axis:
    """An option and its values; `ordered` ones lie between each other. Of `any_of` a range without
    steps gives the value at a share."""

    key: str
    values: tuple[Any, ...]
    ordered: bool
    any_of: spec.Range | None = None

    def share(self, value: float) -> float:
        """Of a value on the way from one end of a range to the other."""
        assert self.any_of is not None
        ends, between = (self.any_of.least, self.any_of.most), float(value)
        if self.any_of.is_log:
            ends, between = (math.log(ends[0]), math.log(ends[1])), math.log(between)
        return min(1.0, max(0.0, (between - ends[0]) / (ends[1] - ends[0])))


class Space:
    """All combinations of the values of some options of replay."""

    def __init__(self, reader: spec.Reader, axes: Sequence[Axis]) -> None:
        self._verb = reader.verb
        self._base = reader.base
        self.axes = list(axes)

    @property
    def size(self) -> int | None:
        """How many combinations there are; None: a range has no steps."""
        if any(one.any_of for one in self.axes):
            return None
        return math.prod(len(one.values) for one in self.axes)

    def without(self, key: str) -> None:
        """An option that has no effect on this source is no axis."""
        self.axes = [axis for axis in self.axes if axis.key != key]

    def combinations(self) -> Iterator[dict[str, Any]]:
        """All of them, the last axis varying fastest."""
        for one in itertools.product(*(axis.values for axis in self.axes)):
            yield dict(zip((axis.key for axis in self.axes), one, strict=True))

    def first(self) -> dict[str, Any]:
        """The combination of first values; of memory the most, in which frames of any size go."""
        return {axis.key: axis.values[-(axis.key == "memory")] for axis in self.axes}

    def most_bytes(self, key: str) -> int:
        """The largest of a key that is a size."""
        values = [axis.values[-1] for axis in self.axes if axis.key == key]
        return self._bytes(key, values[0] if values else self._base[key])

    def values(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a combination. What has no effect in it is left out: more blocks than the
        chip has are all of it."""
        values = {**self._base, **chosen}
        if "blocks" in values:
            has = parts.resolve(str(values.get("chip", Options.chip))).number("blocks")
            if not 0 < self._bytes("blocks", values["blocks"]) < has:
                del values["blocks"]
        if not self._bytes("nvm", values.get("nvm", 0)):
            values = {key: one for key, one in values.items() if key not in ("nvm", *_OF_NVM)}
        if accesses.is_asked(str(values["source"])):
            values["source"] = self._source(values)
        return values

    def _source(self, values: dict[str, Any]) -> str:
        """The source with the memory of a combination, whose keys leave `values`."""
        source = str(values["source"])
        said: dict[str, Any] = dict(accesses.figures_of(source))
        for key, name in _MEMORY.items():
            if key in values:
                value = values.pop(key)
                said[name] = value if key == "policy" else self._bytes(key, value)
        return accesses.source_of(accesses.path_of(source), said)

    def point(self, chosen: Mapping[str, Any]) -> Point:
        """The replay of a combination."""
        values = self.values(chosen)
        told = {key: one for key, one in chosen.items() if key in _MEMORY} | values
        shown = {axis.key: told.get(axis.key) for axis in self.axes}
        return spec.point_of(self._verb, values, shown)

    def _bytes(self, key: str, value: Any) -> int:
        one = self._verb.keys[key]
        return int(one.type.convert(value, one, None))


def read(path: Path, source: str, chips: Sequence[str]) -> Space:
    """The space in a file, of this source; `chips` stand for those of the file. InputError with
    every fault of it."""
    file = tomlfile.read(path)
    tree = {key: dict(one) if isinstance(one, dict) else one for key, one in file.tree.items()}
    for table in ("base", "axes"):
        tree.setdefault(table, {})
    if isinstance(tree["base"], dict) and isinstance(tree["axes"], dict):
        tree["base"]["source"] = source
        tree["axes"].pop("source", None)
        if chips:
            tree["axes"]["chip"] = list(chips)
            tree["base"].pop("chip", None)
    is_paged = accesses.is_asked(source)
    kind = _Paged if is_paged else Verb
    reader = spec.Reader(replace(file, tree={"sweep": {"verb": _VERB}} | tree), kind)
    for key in reader.file.tree:
        if key not in _TABLES:
            reader.fault(key, names.unknown("table of a space", key, _TABLES).message)
    for key in reader.sweep:
        if key != "verb":
            reader.fault(f"sweep.{key}", f"{key} is for nandwich sweep: a space has none")
    if reader.verb.name != _VERB:
        reader.fault("sweep.verb", f'tune plays replay: verb = "{_VERB}"')
        reader.end()
    if is_paged:
        _check_memory(reader, source)
    return _checked(reader)


def _check_memory(reader: spec.Reader, source: str) -> None:
    """What a source says itself has no values beside, and somebody says each size."""
    said, given = accesses.figures_of(source), {**reader.base, **reader.table("axes")}
    for key, name in _MEMORY.items():
        if key in given and name in said:
            place = "base" if key in reader.base else "axes"
            reader.fault(f"{place}.{key}", f"{source} has a {name} already: leave one of them out")
        elif key not in given and name not in said and key != "policy":
            reader.fault("axes", f'no {key}: give it values in [axes], like {key} = ["16K"]')


def default(text: str, source: str) -> Space:
    """The space of `default_text`. InputError, with lines as --show-space prints them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "space.toml"
        path.write_text(text, encoding="utf-8")
        try:
            return read(path, source, ())
        except InputError as error:
            raise InputError(error.message.replace(str(path), "the default space")) from error


def _checked(reader: spec.Reader) -> Space:
    if why := _no_flash(reader.base.get("chip", Options.chip)):
        reader.fault("base.chip", why)
        del reader.base["chip"]
    given = reader.table("axes")
    reader.known("axes", given)
    axes = [_axis(reader, key, value) for key, value in given.items() if key in reader.verb.keys]
    axes = [_of_flash(reader, axis) if axis.key == "chip" else axis for axis in axes]
    axes = [axis for axis in axes if axis.values]
    space = Space(reader, axes)
    # Each value once, the others as they stand first.
    first = space.first()
    tried = [first | {axis.key: value} for axis in axes for value in axis.values] or [first]
    if any(axis.key == "nvm" for axis in axes):
        most = next(axis.values[-1] for axis in axes if axis.key == "nvm")
        tried += [one | {"nvm": most} for one in tried]
    spec.check(reader, [space.values(one) for one in tried])
    return space


def _of_flash(reader: spec.Reader, axis: Axis) -> Axis:
    """An axis of chips without those on which no layer works, which are faults."""
    wrong = {one: why for one in axis.values if (why := _no_flash(one))}
    for why in wrong.values():
        reader.fault("axes.chip", why)
    return replace(axis, values=tuple(one for one in axis.values if one not in wrong))


def _no_flash(chip: str) -> str:
    """Why a part is none to tune for; "" where it is flash with blocks."""
    try:
        refuse_other_than_flash(chip)
    except InputError as error:
        return error.message
    return ""


def refuse_other_than_flash(chip: str) -> None:
    """InputError for a part that nobody knows, and for an NVM or a card."""
    kind = parts.resolve(chip).text("kind")
    if kind == "nvm":
        raise InputError(f'{chip} is an NVM: it stands before a chip, nvm-part = ["{chip}"]')
    if kind not in parts.FLASH:
        raise InputError(f"{chip} is a {kind}: layers work on {', '.join(parts.FLASH)}")


def _axis(reader: spec.Reader, key: str, value: Any) -> Axis:
    """Values that are numbers stand in their order, however they were listed."""
    found = spec.axis_of(reader, key, value, 1)
    if isinstance(found, spec.Range):
        values = found.listed() or [found.at(0), found.at(1)]
        return Axis(key, tuple(values), True, None if found.steps else found)
    option = reader.verb.keys[key]
    try:
        numbers = {one: option.type.convert(str(one), option, None) for one in found}
        ordered = all(_is_number(one) for one in numbers.values())
    except Exception:  # no text of it is what the option takes: a list, a flag
        ordered = False
    if not ordered:
        return Axis(key, tuple(found), False)
    return Axis(key, tuple(sorted(found, key=numbers.__getitem__)), True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def parsed(point: Point) -> Options:
    """What a point asks of replay; InputError."""
    from nandwich.cli import points

    return points.parsed(point.arguments)


def refuse_empty(space: Space) -> None:
    """InputError where there is nothing to choose."""
    if not space.axes or space.size == 1:
        raise InputError("the space has one combination: nothing is to be chosen")
