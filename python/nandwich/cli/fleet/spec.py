# SPDX-License-Identifier: Apache-2.0
"""SPEC.toml of `nandwich fleet`: what the nodes are made of, do, and live on.

    [fleet]              # nodes = 1000, seed = 1, horizon = "20 y"
    [replay]             # options of nandwich replay, for all
    [[workload]]         # a node has one of these: name, weight, requests_a_day, data, growth,
                         # source and other options of replay
    [node]               # duty, temperature, base, endurance, block_endurance, bad_blocks
    [battery]            # voltage, capacity, usable, self_discharge, activation

Every fault of a file is told at once, each with its line.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from nandwich import _native, names, quantities
from nandwich.cli import points
from nandwich.cli.sweep.point import Point
from nandwich.cli.sweep.spec import FileReader, Values, point_of
from nandwich.cli.sweep.verbs import Verb
from nandwich.errors import InputError
from nandwich.fleet import draws, nodes
from nandwich.fleet.draws import Draw, fixed
from nandwich.fleet.nodes import DAYS_A_YEAR, Battery, Chip, Fleet, Nodes, Workload
from nandwich.replay import accesses, play, traffic
from nandwich.replay.options import Options
from nandwich.twin import parts, tomlfile

_TABLES = ("fleet", "replay", "workload", "node", "battery")
_FLEET = ("nodes", "seed", "horizon")
_OWN = ("name", "weight", "requests_a_day", "data", "growth")
_NODE = ("duty", "temperature", "base", "endurance", "block_endurance", "bad_blocks")
_BATTERY = ("voltage", "capacity", "usable", "self_discharge", "activation")
#: Options that a workload or [replay] has not, and why.
_NOT_HERE = {
    **dict.fromkeys(
        ("repeat", "until-worn", "lives", "no-bad-blocks", "limit", "verify", "classes"),
        "is told by fleet itself, for all nodes",
    ),
    **dict.fromkeys(
        ("heal", "heal-at", "heal-cycles", "heal-period"),
        "is not taken: fleet knows no blocks that heal",
    ),
    **dict.fromkeys(
        ("nvm", "nvm-part", "tier", "half-life", "nvm-reads"),
        "is not taken: fleet knows no NVM that wears out",
    ),
}
_OF_ALL = dict.fromkeys(("chip", "blocks"), "is told by [replay], for all nodes")
#: Options that name something, which replay knows or not whatever stands beside them.
_NAMES = frozenset({"source", "config", "chip", "ftl", "wear"})
#: What decides the chip, and what stands for the rest where only that is asked.
_OF_CHIP = ("config", "chip", "blocks")
_ANY_SOURCE, _ANY_BYTES = "gen:zipf", 1 << 27
_MOST_NODES = 1_000_000
_MOST_YEARS = 1000
#: Doubles from 20 to 30 degrees Celsius.
_ACTIVATION_EV = 0.53
_COLDEST_C, _HOTTEST_C = -60, 150
_DAY_NS = 86_400 * 10**9

Number = Callable[[Any], float]


@dataclass(frozen=True)
class Spec:
    """A file that is right, and the nodes that are drawn of it."""

    file: tomlfile.TomlFile
    fleet: Fleet
    options: Sequence[Values]  # of replay, by workload
    chip: Chip  # of all nodes
    nodes: Nodes

    def point(self, workload: int, **more: Any) -> Point:
        """A replay of a workload, with these options on top."""
        return point_of(Verb("replay"), self.options[workload] | more, {})


@dataclass(frozen=True)
class _Options:
    """Options of replay of a workload."""

    given: Values
    right: Values  # those of the given that are

    def has_right(self, keys: Iterable[str]) -> bool:
        """Whether the given ones among these keys are right; a source has to be given."""
        return all(key in self.right for key in keys if key in self.given or key == "source")


class _Reader(FileReader):
    """A file of a fleet."""

    def __init__(self, file: tomlfile.TomlFile) -> None:
        super().__init__(file, _TABLES)
        self.verb = Verb("replay")

    def count(self, key: str, default: int, least: int, most: int) -> int:
        """A whole number of [fleet]."""
        value = self.table("fleet").get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.fault(f"fleet.{key}", f"{key} = {value!r}: wanted {least} to {most}")
        return default

    def draw(self, place: str, values: Mapping[str, Any], number: Number, default: Draw) -> Draw:
        """The figure at `place`, whose last word is its key."""
        key = place.rpartition(".")[2]
        if key not in values:
            return default
        try:
            return draws.parse(values[key], number)
        except ValueError as error:
            self.fault(place, f"{key}: {error}")
            return default

    def options(self, place: str, values: Mapping[str, Any], refused: Mapping[str, str]) -> Values:
        """Options of replay among values, those that are right. `refused` says why one is not."""
        found: Values = {}
        for key, value in values.items():
            where = f"{place}.{key}"
            if key in refused:
                self.fault(where, f"{key} {refused[key]}")
            elif key not in self.verb.keys:
                text = names.unknown("key", key, [*self.verb.keys, *_OWN]).message
                self.fault(where, f"{text} (nandwich replay --help lists all)")
            elif self.right(where, key, value) and self._is_known(where, key, value):
                found[key] = value
        return found

    def _is_known(self, place: str, key: str, value: Any) -> bool:
        """Whether replay knows what a value names; else that is a fault."""
        if key not in _NAMES:
            return True
        words = self.verb.words(key, value)
        return self.accepts(place, words if key == "source" else [_ANY_SOURCE, *words], f"{key}: ")

    def accepts(self, place: str, arguments: Sequence[str], of: str, by: str = "") -> bool:
        """Whether replay takes a line; else that is a fault."""
        try:
            self.verb.check(arguments)
        except (click.UsageError, InputError) as error:
            self.fault(place, f"{of}{error.format_message().rstrip('.')}{by}")
            return False
        return True


def read(path: Path) -> Spec:
    """A fleet with its nodes; InputError with every fault of its file."""
    reader = _Reader(tomlfile.read(path))
    reader.keys("fleet", _FLEET)
    workloads, options = _workloads(reader)
    node = reader.keys("node", _NODE)

    def drawn(key: str, number: Number, default: Draw) -> Draw:
        return reader.draw(f"node.{key}", node, number, default)

    spread, bad = (
        drawn(key, _not_below_0, fixed(0)) if key in node else None
        for key in ("block_endurance", "bad_blocks")
    )
    fleet = Fleet(
        reader.count("nodes", 1000, 1, _MOST_NODES),
        reader.count("seed", 1, 0, 2**32 - 1),
        _horizon(reader),
        workloads,
        duty=drawn("duty", _share, fixed(1)),
        temperature_c=drawn("temperature", _celsius, fixed(20)),
        base_nw=drawn("base", _quantity("power"), fixed(0)),
        endurance=drawn("endurance", _not_below_0, fixed(1)),
        block_endurance=spread,
        bad_blocks=bad,
        battery=_battery(reader),
    )
    spec = _played(reader, fleet, options)
    reader.end()
    assert spec is not None
    return spec


def _workloads(reader: _Reader) -> tuple[list[Workload], list[_Options]]:
    """All of them, and their options of replay."""
    given = reader.table("replay")
    base = reader.options("replay", given, _NOT_HERE)
    tables = reader.file.tree.get("workload", [{}])
    are_tables = isinstance(tables, list) and all(isinstance(one, dict) for one in tables)
    if not are_tables or not tables:
        reader.fault("workload", "workloads are tables: [[workload]]")
        return [], []
    workloads: list[Workload] = []
    options: list[_Options] = []
    for number, values in enumerate(tables):
        place = f"workload.{number}"
        own = {key: value for key, value in values.items() if key not in _OWN}
        mine = base | reader.options(place, own, _NOT_HERE | _OF_ALL)
        asked = given | own
        if "source" not in asked:
            what = 'no source, like source = "gen:sensor,requests=20K"'
            reader.fault(place if values else "replay", what)
        workloads.append(_workload(reader, place, values, str(asked.get("source", ""))))
        options.append(_Options(asked, mine))
    told = [one.name for one in workloads]
    for number, name in enumerate(told):
        if told.count(name) > 1:
            reader.fault(f"workload.{number}", f"two workloads are {name}: give each a name")
    return workloads, options


def _workload(reader: _Reader, place: str, values: Values, source: str) -> Workload:
    name, weight = values.get("name", source), values.get("weight", 1)
    if not isinstance(name, str):
        reader.fault(f"{place}.name", "name is a text")
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not is_number or not 0 < weight < math.inf:
        reader.fault(f"{place}.weight", f"weight = {weight!r}: wanted a number above 0")
        weight = 1
    size = _quantity("size")
    rate = None
    if "requests_a_day" in values:
        rate = reader.draw(f"{place}.requests_a_day", values, _not_below_0, fixed(0))
    return Workload(
        str(name),
        float(weight),
        rate,
        reader.draw(f"{place}.data", values, size, fixed(0)),
        reader.draw(f"{place}.growth", values, size, fixed(0)),
    )


def _battery(reader: _Reader) -> Battery | None:
    values = reader.keys("battery", _BATTERY)
    if "battery" not in reader.file.tree:
        return None
    for key in ("voltage", "capacity"):
        if key not in values:
            reader.fault("battery", f"{key} of the battery is missing")

    def drawn(key: str, number: Number, default: float) -> Draw:
        return reader.draw(f"battery.{key}", values, number, fixed(default))

    activation = drawn("activation", _not_below_0, _ACTIVATION_EV)
    if activation.form != "fixed":
        reader.fault("battery.activation", "activation is one number, in eV")
    return Battery(
        drawn("voltage", _quantity("voltage"), 0),
        drawn("capacity", _quantity("charge"), 0),
        drawn("usable", _share, 1),
        drawn("self_discharge", _share, 0),
        activation.numbers[0],
    )


def _horizon(reader: _Reader) -> float:
    """In days."""
    try:
        days = _quantity("time")(reader.table("fleet").get("horizon", "20 y")) / _DAY_NS
        if not 1 <= days <= _MOST_YEARS * DAYS_A_YEAR:
            raise ValueError(f"wanted 1 d to {_MOST_YEARS} y")
    except ValueError as error:
        reader.fault("fleet.horizon", f"horizon: {error}")
        return 1
    return days


def _quantity(kind: quantities.Kind) -> Number:
    def number(value: Any) -> float:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is no text with a unit of {kind}")
        return float(quantities.parse(value, kind))

    return number


def _not_below_0(value: Any) -> float:
    number = draws.plain(value)
    if number < 0:
        raise ValueError(f"{value!r} is below 0")
    return number


def _share(value: Any) -> float:
    number = draws.plain(value)
    if not 0 <= number <= 1:
        raise ValueError(f"{value!r} is no share: wanted 0 to 1")
    return number


def _celsius(value: Any) -> float:
    number = draws.plain(value)
    if not _COLDEST_C <= number <= _HOTTEST_C:
        raise ValueError(f"{value!r}: wanted {_COLDEST_C} to {_HOTTEST_C} degrees Celsius")
    return number


def _played(reader: _Reader, fleet: Fleet, options: Sequence[_Options]) -> Spec | None:
    """The nodes, and the faults that they and their devices show; None, and a fault, where the
    chip is not known."""
    for number in range(len(options)):
        _check_times(reader, fleet.workloads[number], number, options[number])
    devices = [_device(reader, number, one) for number, one in enumerate(options)]
    if not options or not options[0].has_right(_OF_CHIP):
        return None
    values = {key: options[0].right[key] for key in _OF_CHIP if key in options[0].right}
    asked = points.parsed(point_of(reader.verb, {"source": _ANY_SOURCE} | values, {}).arguments)
    chip = _chip(asked)
    drawn = nodes.draw(fleet, chip)
    if drawn["bad_blocks"].max() >= chip.blocks:
        what = f"a node's part has {chip.blocks} blocks, and so many of them are bad or more"
        reader.fault("node.bad_blocks", f"bad_blocks: {what}")
    known = [one for one in devices if one is not None]
    if any(one.blocks != chip.blocks for one in known):
        what = "its blocks are joined to larger ones, whose lives are not drawn"
        reader.fault("replay.chip", f"{asked.chip}: {what}: take a part with a spare area")
    elif len(known) == len(options):
        _check_room(reader, drawn, [one.sectors * one.sector_bytes for one in known])
    return Spec(reader.file, fleet, [one.right for one in options], chip, drawn)


def _place(reader: _Reader, number: int) -> str:
    return f"workload.{number}" if "workload" in reader.file.tree else "replay"


def _check_times(reader: _Reader, workload: Workload, number: int, options: _Options) -> None:
    """A fault where nobody tells how often requests come."""
    if workload.requests_a_day is not None or not options.has_right(("source",)):
        return
    try:
        asked = points.parsed(point_of(reader.verb, options.right, {}).arguments)
        has_times = asked.arrivals and not accesses.is_asked(asked.source)
        if has_times:
            source = traffic.open_source(asked, _ANY_BYTES)
            has_times = traffic.survey(source, limit=traffic.STEP)["duration_ns"] > 0
    except (click.UsageError, InputError):
        return  # `_device` tells it, or what is missing here was told
    if not has_times:
        what = "its requests have no times: give requests_a_day"
        reader.fault(_place(reader, number), f"workload {workload.name}: {what}")


def _device(reader: _Reader, number: int, options: _Options) -> _native.ReplayDevice | None:
    """What a workload is played on; None and a fault where replay would refuse it."""
    if not options.has_right(("source", *options.given)):
        return None
    point = point_of(reader.verb, options.right, {})
    place, by = _place(reader, number), f"; asked by {point.command}"
    if not reader.accepts(place, point.arguments, "", by):
        return None
    asked = points.parsed(point.arguments)
    try:
        if accesses.is_asked(asked.source):  # to prepare one is to play the whole program's paging
            traffic.check_source(asked)
            return play.opened(asked)[1]
        return play.prepare(replace(asked, limit=traffic.STEP)).device
    except InputError as error:
        reader.fault(place, f"{error.message}{by}")
    return None


def _chip(asked: Options) -> Chip:
    part = parts.resolve(asked.chip)

    def figure(key: str) -> int:
        return int(part.number(key) or 0)

    own = figure("blocks")
    blocks = asked.blocks or own
    most_bad = figure("factory_bad") * blocks // own
    return Chip(blocks, most_bad, figure("endurance"), figure("standby"))


def _check_room(reader: _Reader, drawn: Nodes, rooms: Sequence[int]) -> None:
    """A fault where no node has room for the data that it keeps when new."""
    which, data = drawn["workload"].astype(int), drawn["data"]
    if (data < np.array(rooms)[which]).any():
        return
    size = quantities.format_size
    for number in np.unique(which).tolist():
        least = size(round(data[which == number].min()))
        what = f"every node keeps {least} or more when new"
        text = f"data: {what}, and its device has room for {size(rooms[number])}"
        reader.fault(f"workload.{number}.data", text)
