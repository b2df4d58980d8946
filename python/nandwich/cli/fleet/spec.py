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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from nandwich import names, quantities
from nandwich.cli.sweep.point import Point
from nandwich.cli.sweep.verbs import Verb
from nandwich.errors import InputError
from nandwich.fleet import draws
from nandwich.fleet.draws import Draw, fixed
from nandwich.fleet.nodes import DAYS_A_YEAR, Battery, Fleet, Workload
from nandwich.replay import traffic
from nandwich.twin import tomlfile

_TABLES = ("fleet", "replay", "workload", "node", "battery")
_FLEET = ("nodes", "seed", "horizon")
_OWN = ("name", "weight", "requests_a_day", "data", "growth")
_NODE = ("duty", "temperature", "base", "endurance", "block_endurance", "bad_blocks")
_BATTERY = ("voltage", "capacity", "usable", "self_discharge", "activation")
#: What a fleet decides itself, and what gives a device another end than the three.
_NOT_HERE = frozenset(
    {"repeat", "until-worn", "lives", "no-bad-blocks", "limit", "verify", "classes"}
    | {"heal", "heal-at", "heal-cycles", "heal-period"}
    | {"nvm", "nvm-part", "tier", "half-life", "nvm-reads"}
)
_OF_ALL = frozenset({"chip", "blocks"})
_MOST_NODES = 1_000_000
_MOST_YEARS = 1000
#: Doubles from 20 to 30 degrees Celsius.
_ACTIVATION_EV = 0.53
_COLDEST_C, _HOTTEST_C = -60, 150
_DAY_NS = 86_400 * 10**9

Values = dict[str, Any]
Number = Callable[[Any], float]


@dataclass(frozen=True)
class Spec:
    """A file that is right; `options` are those of replay, by workload."""

    fleet: Fleet
    options: Sequence[Values]

    def point(self, workload: int, **more: Any) -> Point:
        """A replay of a workload, with these options on top."""
        return _point(self.options[workload] | more)


def _point(values: Mapping[str, Any]) -> Point:
    verb = Verb("replay")
    arguments: list[str] = []
    texts: list[str] = []
    for key in verb.keys:
        if key in values:
            words = verb.words(key, values[key])
            arguments += words
            texts += words[-1:] if verb.may_name_files(key) else []
    source = traffic.path_of(str(values.get("source", "")))  # of access:FILE another text
    return Point("replay", tuple(arguments), {}, (*texts, *([source] if source else [])))


class _Reader:
    """One file, and what is wrong with it so far."""

    def __init__(self, file: tomlfile.TomlFile) -> None:
        self.file = file
        self.faults: list[str] = []
        self.verb = Verb("replay")
        for key in file.tree:
            if key not in _TABLES:
                self.fault(key, names.unknown("table", key, _TABLES).message)

    def fault(self, place: str, text: str) -> None:
        self.faults.append(f"{self.file.where(place)}: {text}")

    def end(self) -> None:
        """Raises what was found, if anything was."""
        if self.faults:
            raise InputError("\n".join(dict.fromkeys(self.faults)))

    def table(self, name: str, known: Sequence[str] = ()) -> Values:
        value = self.file.tree.get(name, {})
        if not isinstance(value, dict):
            self.fault(name, f"{name} is a table: [{name}]")
            return {}
        for key in value if known else ():
            if key not in known:
                self.fault(f"{name}.{key}", names.unknown("key", key, known).message)
        return value

    def whole(self, table: str, key: str, default: int, least: int, most: int) -> int:
        value = self.file.tree.get(table, {})
        value = value.get(key, default) if isinstance(value, dict) else default
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.fault(f"{table}.{key}", f"{key} = {value!r}: wanted {least} to {most}")
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

    def options(self, place: str, values: Mapping[str, Any], refused: frozenset[str]) -> Values:
        """Options of replay among values, those that are right."""
        found: Values = {}
        for key, value in values.items():
            where = f"{place}.{key}"
            if key in refused:
                whose = "[replay]" if key in _OF_ALL else "fleet itself"
                self.fault(where, f"{key} is told by {whose}, for all nodes")
            elif key not in self.verb.keys:
                text = names.unknown("key", key, [*self.verb.keys, *_OWN]).message
                self.fault(where, f"{text} (nandwich replay --help lists all)")
            elif self._right(where, key, value):
                found[key] = value
        return found

    def _right(self, where: str, key: str, value: Any) -> bool:
        one = self.verb.keys[key]
        try:
            words = self.verb.words(key, value)
            if not (isinstance(one, click.Option) and one.is_flag):
                one.type.convert(words[-1].removeprefix(f"--{key}="), one, None)
        except ValueError as error:
            self.fault(where, f"{key} = {value!r}: {error}")
        except click.ClickException as error:
            self.fault(where, f"{key}: {error.message}")
        else:
            return True
        return False


def read(path: Path) -> Spec:
    """A fleet; InputError with every fault of its file."""
    reader = _Reader(tomlfile.read(path))
    reader.table("fleet", _FLEET)
    base = reader.options("replay", reader.table("replay"), _NOT_HERE)
    workloads, options = _workloads(reader, base)
    node = reader.table("node", _NODE)

    def drawn(key: str, number: Number, default: Draw) -> Draw:
        return reader.draw(f"node.{key}", node, number, default)

    spread, bad = (
        drawn(key, _not_below_0, fixed(0)) if key in node else None
        for key in ("block_endurance", "bad_blocks")
    )
    fleet = Fleet(
        reader.whole("fleet", "nodes", 1000, 1, _MOST_NODES),
        reader.whole("fleet", "seed", 1, 0, 2**32 - 1),
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
    reader.end()
    spec = Spec(fleet, options)
    for number in range(len(options)):
        _check(reader, spec.point(number), number)
    reader.end()
    return spec


def _workloads(reader: _Reader, base: Values) -> tuple[list[Workload], list[Values]]:
    tables = reader.file.tree.get("workload", [{}])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        reader.fault("workload", "workloads are tables: [[workload]]")
        return [], []
    workloads, options = [], []
    for number, values in enumerate(tables):
        place = f"workload.{number}"
        own = {key: value for key, value in values.items() if key not in _OWN}
        mine = base | reader.options(place, own, _NOT_HERE | _OF_ALL)
        if "source" not in {*mine, *own}:
            what = 'no source, like source = "gen:sensor,requests=20K"'
            reader.fault(place if values else "replay", what)
        workloads.append(_workload(reader, place, values, str(mine.get("source", ""))))
        options.append(mine)
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
    values = reader.table("battery", _BATTERY)
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
    values = reader.file.tree.get("fleet", {})
    text = values.get("horizon", "20 y") if isinstance(values, dict) else "20 y"
    try:
        days = _quantity("time")(text) / _DAY_NS
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


def _check(reader: _Reader, point: Point, number: int) -> None:
    """What replay itself would refuse."""
    try:
        reader.verb.check(point.arguments)
    except (click.UsageError, InputError) as error:
        place = f"workload.{number}" if "workload" in reader.file.tree else "replay"
        text = error.format_message().rstrip(".")
        reader.fault(place, f"{text}; asked by {point.command}")
