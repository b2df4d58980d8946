# SPDX-License-Identifier: Apache-2.0
"""What `nandwich energy` says: ways to do a node's job, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nandwich.energy import model
from nandwich.energy.model import BreakEven, Line
from nandwich.energy.node import Given

_MINUTE_NS = 60 * 10**9
#: Lengths of the cycle that are shown beside the node's own, where it is awake for less.
CYCLES_NS = tuple(minutes * _MINUTE_NS for minutes in (1, 5, 10, 20, 60, 360, 1440))


@dataclass(frozen=True)
class Way:
    """One way to do the job."""

    name: str
    line: Line
    break_even: BreakEven | None  #: of the node itself against this one; None: it is itself


@dataclass(frozen=True)
class Sending:
    """The job done here, against its raw data sent over some hops."""

    radio: str
    hops: int
    here_pj: Fraction  #: the job, and its result sent
    raw_pj: Fraction
    raw_sent_pj: Fraction  #: of it, what the senders pay
    bytes_even: Fraction | None  #: raw data of so many bytes take as much; None: sending is free

    @property
    def ratio(self) -> float | None:
        """How many times more it takes to send the raw data."""
        return float(self.raw_pj / self.here_pj) if self.here_pj else None


def _add(line: Line, energy_pj: int) -> Line:
    return Line(line.base_pj + energy_pj, line.slope, line.shortest_ns)


def ways(given: Given) -> list[Way]:
    """The node itself, the other node, and raw data over one hop of each radio.

    Whoever does the job sends the result by the first radio, if there is one.
    """
    result = given.radios[0].send_pj * given.job.result_bytes if given.radios else 0
    here = _add(model.here(given.node, given.storage, given.job), result)
    found = [("here", here)]
    if given.other is not None:
        found.append(("other", _add(model.there(given.other, given.other_ns), result)))
    if given.job.raw_bytes:
        found += [
            (
                f"raw by {radio.name}",
                model.radioing(given.node, given.storage, radio, given.job.raw_bytes),
            )
            for radio in given.radios
        ]
    return [
        Way(name, line, None if line is here else model.break_even(here, line))
        for name, line in found
    ]


def sendings(given: Given) -> list[Sending]:
    """All radios over one hop and more. Energy of the whole way; sleep is left out."""
    found = []
    done = model.job_pj(given.node, given.storage, given.job)
    for radio in given.radios if given.job.raw_bytes else ():
        both, sent = model.hop_pj(radio), model.hop_pj(radio, receiving=False)
        for hops in range(1, given.hops + 1):
            result = both * hops * given.job.result_bytes
            found.append(
                Sending(
                    radio.name,
                    hops,
                    done + result,
                    Fraction(both * hops * given.job.raw_bytes),
                    Fraction(sent * hops * given.job.raw_bytes),
                    (done + result) / (both * hops) if both else None,
                )
            )
    return found


def shortest_ns(given: Given) -> int:
    """The shortest cycle that every way can keep."""
    return max(way.line.shortest_ns for way in ways(given))


def cycles(given: Given, asked_ns: Sequence[int]) -> list[int]:
    """Lengths of the cycle to show, each one that every way can keep."""
    shortest = shortest_ns(given)
    chosen = set(asked_ns) if asked_ns else {*CYCLES_NS, given.every_ns}
    return sorted(cycle for cycle in chosen if cycle >= shortest)


def lives_ns(given: Given, way: Way) -> Fraction | None:
    """How long the battery lasts at the node's own cycle."""
    assert given.battery is not None
    return model.life_ns(given.battery, way.line, given.every_ns)


def payload(given: Given, shown_ns: Sequence[int]) -> dict[str, Any]:
    """The result as JSON; energies are rounded to the nearest pJ, times to the nearest ns."""
    return {
        "node": given.name,
        "figures": [
            {"key": one.key, "value": one.text, "source": one.source} for one in given.figures
        ],
        "job": {
            "every_ns": given.every_ns,
            "awake_ns": given.job.awake_ns,
            "storage_ns": given.job.storage_ns,
            "compute_ns": given.job.compute_ns,
            "raw_bytes": given.job.raw_bytes,
            "result_bytes": given.job.result_bytes,
            "other_ns": given.other_ns if given.other is not None else None,
            "energy_pj": round(model.job_pj(given.node, given.storage, given.job)),
        },
        "ways": [_way(given, way, shown_ns) for way in ways(given)],
        "sending": [
            {
                "radio": one.radio,
                "hops": one.hops,
                "here_pj": round(one.here_pj),
                "raw_pj": round(one.raw_pj),
                "raw_sent_pj": round(one.raw_sent_pj),
                "bytes_even": None if one.bytes_even is None else round(one.bytes_even),
            }
            for one in sendings(given)
        ],
    }


def _way(given: Given, way: Way, shown_ns: Sequence[int]) -> dict[str, Any]:
    even = way.break_even
    life = None if given.battery is None else lives_ns(given, way)
    return {
        "name": way.name,
        "cycles": [
            {"cycle_ns": cycle, "energy_pj": round(way.line.energy_pj(cycle))} for cycle in shown_ns
        ],
        "here_is_cheaper": None if even is None else even.cheaper,
        "break_even_ns": None if even is None or even.cycle_ns is None else round(even.cycle_ns),
        "life_ns": None if life is None else round(life),
    }
