# SPDX-License-Identifier: Apache-2.0
"""Energy of a node over its duty cycle, in exact fractions: mV x nA x ns are 10**-9 pJ.

A node wakes once a duty cycle, does its job and sleeps. What that takes is a straight line over the
length of the cycle: the job's energy above that of sleeping, and the power asleep. Two ways to do
the same job therefore break even at one length, if at any: where their lines cross.

After Lin et al., "Providing Virtual Memory Support for Sensor Networks with Mass Data Processing",
IJDSN 2013, section 7.6, whose formula did not survive in our copy: the processor's current for the
whole time awake, the storage's for the time it works, and the current asleep for the rest.
"""

from dataclasses import dataclass
from fractions import Fraction

YEAR_NS = 365 * 86_400 * 10**9
#: mV x uAh is 3.6 uJ.
_PJ_OF_MV_UAH = 3_600_000


@dataclass(frozen=True)
class Node:
    """A processor with its supply; storage and radio apart."""

    supply_mv: int
    active_na: int
    asleep_na: int
    clock_hz: int


@dataclass(frozen=True)
class Storage:
    """Flash at the node's supply."""

    active_na: int
    asleep_na: int


@dataclass(frozen=True)
class Job:
    """What is done once a duty cycle."""

    awake_ns: int  #: in all
    storage_ns: int  #: of it, the storage at work
    compute_ns: int  #: of it, the program alone: what a node with enough RAM would take
    raw_bytes: int  #: what would be sent if the node did not do the job
    result_bytes: int  #: what is sent when it does


@dataclass(frozen=True)
class Radio:
    """Energy of a byte on the air."""

    name: str
    send_pj: int
    receive_pj: int


@dataclass(frozen=True)
class Battery:
    """What a node lives on."""

    voltage_mv: int
    capacity_uah: int
    usable: Fraction  #: share of the capacity that the node gets, after its regulator
    leak: Fraction  #: share of the capacity that goes by itself in a year

    @property
    def energy_pj(self) -> int:
        return self.voltage_mv * self.capacity_uah * _PJ_OF_MV_UAH


@dataclass(frozen=True)
class Line:
    """Energy over the length of a duty cycle."""

    base_pj: Fraction
    slope: Fraction  #: pJ a ns, which is mW
    shortest_ns: int  #: cycles shorter than that do not exist: the node is awake for so long

    def energy_pj(self, cycle_ns: int) -> Fraction:
        """Of one cycle of that length."""
        return self.base_pj + self.slope * cycle_ns


def charge_pj(supply_mv: int, current_na: int, time_ns: int) -> Fraction:
    """Energy of a current that flows for a time."""
    return Fraction(supply_mv * current_na * time_ns, 10**9)


def job_pj(node: Node, storage: Storage, job: Job) -> Fraction:
    """Energy of the job alone, without sleep before or behind it."""
    return charge_pj(node.supply_mv, node.active_na, job.awake_ns) + charge_pj(
        node.supply_mv, storage.active_na, job.storage_ns
    )


def here(node: Node, storage: Storage, job: Job) -> Line:
    """The node itself, with its storage as memory."""
    asleep = node.asleep_na + storage.asleep_na
    saved = charge_pj(node.supply_mv, node.asleep_na, job.awake_ns)
    saved += charge_pj(node.supply_mv, storage.asleep_na, job.storage_ns)
    slope = Fraction(node.supply_mv * asleep, 10**9)
    return Line(job_pj(node, storage, job) - saved, slope, job.awake_ns)


def there(node: Node, time_ns: int) -> Line:
    """A node with enough RAM: no storage, awake for `time_ns`."""
    awake = node.active_na - node.asleep_na
    slope = Fraction(node.supply_mv * node.asleep_na, 10**9)
    return Line(charge_pj(node.supply_mv, awake, time_ns), slope, time_ns)


def other_time_ns(job: Job, node: Node, other: Node) -> int:
    """How long another node computes, by the clocks: the nearest ns."""
    return round(Fraction(job.compute_ns * node.clock_hz, other.clock_hz))


def hop_pj(radio: Radio, *, receiving: bool = True) -> int:
    """A byte over one hop: sent, and received by the next node."""
    return radio.send_pj + (radio.receive_pj if receiving else 0)


def radioing(node: Node, storage: Storage, radio: Radio, size: int) -> Line:
    """The node asleep but for its radio, which sends that much; who receives pays for himself."""
    slope = Fraction(node.supply_mv * (node.asleep_na + storage.asleep_na), 10**9)
    return Line(Fraction(radio.send_pj * size), slope, 0)


@dataclass(frozen=True)
class BreakEven:
    """From when on (`cheaper` "above"), or until when ("below"), the first of two takes less.

    "always" and "never": for every cycle that both can keep; `cycle_ns` is None then.
    """

    cheaper: str
    cycle_ns: Fraction | None


def break_even(first: Line, second: Line) -> BreakEven:
    """Which lengths of the cycle are cheaper with the first. At equal cost neither is."""
    shortest = max(first.shortest_ns, second.shortest_ns)
    gain = second.slope - first.slope
    loss = first.base_pj - second.base_pj
    if gain == 0:
        return BreakEven("always" if loss < 0 else "never", None)
    crossing = loss / gain
    if gain > 0:
        return BreakEven("above", crossing) if crossing >= shortest else BreakEven("always", None)
    return BreakEven("below", crossing) if crossing > shortest else BreakEven("never", None)


def life_ns(battery: Battery, line: Line, cycle_ns: int) -> Fraction | None:
    """How long a battery lasts; None: for ever, nothing is drawn."""
    drawn = line.energy_pj(cycle_ns) / cycle_ns
    drawn += battery.leak * battery.energy_pj / YEAR_NS
    return battery.usable * battery.energy_pj / drawn if drawn > 0 else None
