# SPDX-License-Identifier: Apache-2.0
"""A fleet as a file describes it, the nodes that are drawn of it, and how long each of them lives.

A node ends when its battery is empty, when its layer refuses because blocks are worn out, or when
its data fill the device: whatever comes first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nandwich.fleet import wear
from nandwich.fleet.draws import NOTHING, ONE, Array, Draw, chosen, fixed, stream
from nandwich.fleet.wear import Course, Table

DAYS_A_YEAR = 365
_DAY_NS = 86_400e9
_PJ_OF_NW_NS = 1e-6
_PJ_OF_MV_UAH = 3.6e6
#: Temperature at which self-discharge is told, and what turns degrees Celsius into kelvin.
TOLD_AT_C, _ZERO_C = 20.0, 273.15
_AT_HOME = fixed(TOLD_AT_C)
_EV_A_KELVIN = 8.617333262e-5  # Boltzmann's constant
CAUSES = ("battery", "wear", "space")
ALIVE = len(CAUSES)  # in place of a cause
_CHUNK = 1 << 22  # lives of blocks drawn at a time


@dataclass(frozen=True)
class Workload:
    """What a node does."""

    name: str
    weight: float
    requests_a_day: Draw | None  # while on duty; None: as the source has them
    data: Draw = NOTHING  # bytes kept when new
    growth: Draw = NOTHING  # bytes a day on duty that are kept from then on


@dataclass(frozen=True)
class Battery:
    voltage_mv: Draw
    capacity_uah: Draw
    usable: Draw  # share of the capacity that the node gets
    self_discharge: Draw  # share a year, at TOLD_AT_C
    activation_ev: float  # how self-discharge grows with temperature, by Arrhenius


@dataclass(frozen=True)
class Fleet:
    """All of it, in base units. None: as the twin draws it."""

    count: int
    seed: int
    horizon_days: float
    workloads: Sequence[Workload]
    duty: Draw = ONE  # share of the time in which requests come
    temperature_c: Draw = _AT_HOME
    base_nw: Draw = NOTHING  # what the node draws beside its device
    endurance: Draw = ONE  # of a part, over its rating
    block_endurance: Draw | None = None  # of a block, over its part's
    bad_blocks: Draw | None = None  # when new
    battery: Battery | None = None


@dataclass(frozen=True)
class Chip:
    """What the nodes are made of."""

    blocks: int
    most_bad: int  # when new, by its maker
    rating: int  # erases; 0: no limit
    standby_nw: int


@dataclass(frozen=True)
class Shape:
    """A workload as it was played."""

    requests_a_day: float | None  # by the times of its source; None: it has none
    busy_ns: float  # a request
    room_bytes: int
    tables: Sequence[Table]  # by blocks bad when new; none: nothing wears
    energy_pj: float  # a request, where nothing wears

    def table(self, bad: int) -> Table:
        """Of parts with so many blocks bad."""
        low = max((one for one in self.tables if one.bad <= bad), key=lambda one: one.bad)
        high = min((one for one in self.tables if one.bad >= bad), key=lambda one: one.bad)
        return wear.between(low, high, bad)


Nodes = Mapping[str, Array]


def draw(fleet: Fleet, chip: Chip) -> Nodes:
    """What differs between nodes, a column each. More bad blocks than there are count as all."""

    def drawn(name: str, one: Draw, least: float = 0, most: float = np.inf) -> Array:
        return np.clip(one.sample(stream(fleet.seed, name), fleet.count), least, most)

    weights = tuple(one.weight for one in fleet.workloads)
    which = chosen(stream(fleet.seed, "workload"), weights, fleet.count)
    if fleet.bad_blocks is None:
        bad = stream(fleet.seed, "bad_blocks").integers(0, chip.most_bad + 1, fleet.count)
    else:
        bad = np.rint(drawn("bad_blocks", fleet.bad_blocks, most=chip.blocks)).astype(np.int64)
    found = {
        "workload": which.astype(np.float64),
        "duty": drawn("duty", fleet.duty, most=1),
        "temperature_c": drawn("temperature", fleet.temperature_c, -_ZERO_C + 1),
        "base_nw": drawn("base", fleet.base_nw),
        "endurance": drawn("endurance", fleet.endurance),
        "bad_blocks": bad.astype(np.float64),
    }
    for key in ("requests_a_day", "data", "growth"):
        found[key] = np.empty(fleet.count)
        for number, one in enumerate(fleet.workloads):
            column = drawn(f"{key} {number}", getattr(one, key) or fixed(np.nan))
            found[key][which == number] = column[which == number]
    if (battery := fleet.battery) is not None:
        energy = drawn("voltage", battery.voltage_mv) * drawn("capacity", battery.capacity_uah)
        found["battery_pj"] = energy * _PJ_OF_MV_UAH
        found["usable"] = drawn("usable", battery.usable, most=1)
        found["self_discharge"] = drawn("self_discharge", battery.self_discharge, most=1)
    return found


def lives(fleet: Fleet, chip: Chip, nodes: Nodes) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Erases that blocks bear, a row a node: some nodes at a time, with the number of the first.
    Of a node with bad blocks the last of its row are not used."""
    rng = stream(fleet.seed, "block_endurance")
    each = max(1, _CHUNK // chip.blocks)
    for first in range(0, fleet.count, each):
        rows = min(each, fleet.count - first)
        if fleet.block_endurance is None:
            spread = 0.85 + 0.1 * rng.random((rows, chip.blocks, 4)).sum(axis=2)
        else:
            drawn = fleet.block_endurance.sample(rng, rows * chip.blocks)
            spread = drawn.reshape(rows, chip.blocks)
        rated = chip.rating * nodes["endurance"][first : first + rows, None]
        yield first, np.maximum(1, np.rint(rated * spread)).astype(np.int64)


def lives_of(fleet: Fleet, chip: Chip, nodes: Nodes, number: int) -> str:
    """--lives of a node."""
    for first, rows in lives(fleet, chip, nodes):
        if number < first + len(rows):
            bad = int(nodes["bad_blocks"][number])
            return wear.laid_out(rows[number - first][: chip.blocks - bad], bad)
    raise IndexError(number)


def days(fleet: Fleet, chip: Chip, nodes: Nodes, shapes: Sequence[Shape]) -> Array:
    """Days until each cause would end each node (columns as in CAUSES); inf: never."""
    found = np.full((fleet.count, len(CAUSES)), np.inf)
    which = nodes["workload"].astype(np.int64)
    known: dict[tuple[int, int], Table] = {}
    for first, rows in lives(fleet, chip, nodes):
        here = slice(first, first + len(rows))
        groups = np.stack([which[here], nodes["bad_blocks"][here].astype(np.int64)], axis=1)
        for workload, bad in np.unique(groups, axis=0).tolist():
            at = np.flatnonzero((groups == (workload, bad)).all(axis=1))
            some = {key: column[here][at] for key, column in nodes.items()}
            shape = shapes[workload]
            if shape.tables:
                if (workload, bad) not in known:
                    known[workload, bad] = shape.table(bad)
                own = rows[at][:, : chip.blocks - bad].astype(np.float64)
                path = wear.course(known[workload, bad], own)
            else:
                path = Course(np.full((len(at), 1), np.inf), np.array([shape.energy_pj]))
            found[first + at] = _ends(fleet, chip, some, shape, path)
    return found


def _ends(fleet: Fleet, chip: Chip, some: Nodes, shape: Shape, path: Course) -> Array:
    """Of nodes of one shape."""
    rate = requests_a_day(some, shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.where(rate[:, None] > 0, path.requests / rate[:, None], np.inf)
        grown = some["growth"] * some["duty"]
        left = shape.room_bytes - some["data"]
        space = np.where(left <= 0, 0.0, np.where(grown > 0, left / grown, np.inf))
    battery = np.full(len(rate), np.inf)
    if fleet.battery is not None:
        idle = np.maximum(0, 1 - shape.busy_ns * rate / _DAY_NS) * chip.standby_nw
        steady = (idle + some["base_nw"]) * _DAY_NS * _PJ_OF_NW_NS
        factor = arrhenius(fleet.battery.activation_ev, some["temperature_c"])
        steady += some["self_discharge"] * factor * some["battery_pj"] / DAYS_A_YEAR
        power = steady[:, None] + rate[:, None] * path.energy_pj
        battery = _emptied(some["usable"] * some["battery_pj"], at, power)
    return np.stack([battery, at[:, -1], space], axis=1)


def on_duty(some: Nodes, shape: Shape) -> Array:
    """Requests a day that each node asks while it is on duty."""
    own = np.nan if shape.requests_a_day is None else shape.requests_a_day
    asked = some["requests_a_day"]
    return np.where(np.isnan(asked), own, asked)


def requests_a_day(some: Nodes, shape: Shape) -> Array:
    """How many each node asks in the mean, off duty too."""
    return on_duty(some, shape) * some["duty"]


def arrhenius(activation_ev: float, celsius: Array) -> Array:
    """How much faster something goes than at TOLD_AT_C."""
    told, there = TOLD_AT_C + _ZERO_C, celsius + _ZERO_C
    found: Array = np.exp(activation_ev / _EV_A_KELVIN * (1 / told - 1 / there))
    return found


def _emptied(charge: Array, at: Array, power: Array) -> Array:
    """When a charge is used up by a power that changes at these times; the last one stays."""
    begin = np.concatenate([np.zeros((len(charge), 1)), at[:, :-1]], axis=1)
    lasting = np.where(np.isfinite(at), at, begin) - begin
    used = np.cumsum(lasting * power, axis=1) - lasting * power  # before each stretch
    # The last stretch that begins with charge left. A stretch that begins never is none.
    which = ((used < charge[:, None]) & np.isfinite(begin)).sum(axis=1) - 1
    row = np.arange(len(charge))
    which = np.maximum(which, 0)
    with np.errstate(divide="ignore"):
        found: Array = begin[row, which] + (charge - used[row, which]) / power[row, which]
    return found
