# SPDX-License-Identifier: Apache-2.0
"""R-queue: what figures 4 and 6 owe to the queue and to the timers (Dou and Kalogeraki, SEUS 2008).

Interrupts of the document append to a circular queue of their own, from which requests move on to
the heap between writes; FIFO has that queue alone. The lengths of both are not told. One timer
fires the first flow, another one the rest.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab import sweeps
from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment
from lab.sweeps import Point
from nandwich.sched import play as sched
from nandwich.sched.play import Scenario
from papers.rgedf import periods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PERIODS_MS = (5, 10, 15, 20, 25)
#: Of 24 requests that wait at once, so many may be in the queue of arrivals.
_LENGTHS = (4, 8, 12, 16, 20, 24)

#: What a claim is judged over.
_WHATEVER = {
    "queues": "however long the queue of arrivals",
    "timers": "whenever the flows' timers start",
}

Change = Callable[[Scenario], Scenario]


def _queue(length: int) -> Change:
    return lambda scenario: replace(scenario, stubs=length)


def _timers(*parts: float) -> Change:
    """Each flow's first firing, as a part of its period."""
    return lambda scenario: replace(
        scenario,
        flows=tuple(
            replace(flow, phase_ns=round(part * flow.period_ns))
            for flow, part in zip(scenario.flows, parts, strict=True)
        ),
    )


#: What is changed of the scenario, by what it is called in the table.
_LENGTH_CHANGES = {f"queue of {length}": _queue(length) for length in _LENGTHS}
_TIMER_CHANGES = {
    "one timer": _timers(0, 0, 0),
    "flow 1 a quarter later": _timers(1 / 4, 0, 0),
    "half": _timers(1 / 2, 0, 0),
    "three quarters": _timers(3 / 4, 0, 0),
    "a timer each": _timers(0, 1 / 3, 2 / 3),
}


def _points(name: str, change: Change, runs: int) -> list[Point]:
    points = []
    for bursty, drop in sweeps.VARIANTS:
        for x in _PERIODS_MS:
            scenario = change(
                sched.paper_scenario(periods_ms=(x, x, x), bursty=bursty, drop_late=drop)
            )
            outcomes = {one: sched.run(scenario, one, runs=runs) for one in sched.PUBLISHED}
            points.append(Point(name, x, bursty, drop, outcomes))
    return points


@dataclass(frozen=True)
class _Case:
    """The claims of R4 and R6, judged on one queue or one set of timers."""

    name: str
    points: list[Point]

    def answers(self) -> dict[str, list[Answer]]:
        """By claim: with regular flows and with a bursty first one."""
        found: dict[str, list[Answer]] = {"fifo": [periods.flat(self.points, self.points)]}
        for bursty in (False, True):
            end, _ = sweeps.panels(bursty)
            for one in (
                *periods.figure_4(self.points, bursty),
                *periods.grouping(self.points, bursty),
            ):
                found.setdefault(one.part.removesuffix(end), []).append(one)
        return found


def judged(cases: Sequence[_Case], kind: str, why: str) -> Iterable[Answer]:
    """One answer a claim: what holds, or differs, in each case does so whatever the document had;
    all else is for whoever knows what it had."""
    found = {case.name: case.answers() for case in cases}
    for part, first in found[cases[0].name].items():
        by_case = {name: answers[part] for name, answers in found.items()}
        values = [float(one.measured) for answers in by_case.values() for one in answers]
        fails = [name for name, answers in by_case.items() if not all(a.holds for a in answers)]
        told = "holds in each" if not fails else f"does not hold with {', '.join(fails)}"
        split = 0 < len(fails) < len(by_case)
        yield replace(
            first[0],
            measured=f"{min(values):.1f} to {max(values):.1f}",
            holds=not fails,
            verdict=NOT_JUDGED if split else "",
            tolerance="" if split else first[0].tolerance,
            why=f"{len(by_case)} {kind}, regular and bursty: {told}; {why}",
            part=f"{part}-{kind}",
            claim=f"{first[0].claim}, {_WHATEVER[kind]}",
        )


def _row(point: Point) -> list[Value]:
    shares = [round(point.share(policy), 1) for policy in sched.PUBLISHED]
    panel = ["bursty" if point.bursty else "regular", "dropped" if point.drop_late else "kept"]
    return [point.node, point.x, *panel, *shares]


def _draw(axes: "Axes", cases: Sequence[_Case]) -> None:
    for policy in sched.PUBLISHED:
        axes.plot(
            _LENGTHS,
            [
                next(one for one in sweeps.chosen(case.points, drop=False) if one.x == 20).share(
                    policy
                )
                for case in cases
            ],
            label=policy,
            marker="o",
            markersize=3,
        )
    axes.set_xlabel("requests that the queue of arrivals holds, period 20 ms, late ones kept")
    axes.set_ylabel("met, %")
    axes.legend(fontsize=7)


@experiment(
    "R-queue",
    claim="figures 4 and 6 with a queue of arrivals apart from the heap, and with timers apart",
    published="as R4 and R6",
    unit="",
    where="figures 4 and 6",
    setup=sweeps.card("periods of all flows, 5 to 25 ms")
    + "; here series node = paper, and of its queue of 24 at most "
    + ", ".join(map(str, _LENGTHS))
    + " may be arrivals that no decision has taken to the heap; FIFO has these alone, as in the "
    "document. Beside it the whole queue of 24, and the first flow's timer a quarter, half or "
    "three quarters of a period behind that of the others, or three timers a third apart",
)
def queue(quick: bool) -> Report:
    """The claims of R4 and R6 for each length, and for each set of timers."""
    runs = sweeps.QUICK_RUNS if quick else sweeps.RUNS
    lengths, timers = (
        [_Case(name, _points(name, change, runs)) for name, change in changes.items()]
        for changes in (_LENGTH_CHANGES, _TIMER_CHANGES)
    )
    answers = [
        *judged(lengths, "queues", "the document does not tell how long its queue is"),
        *judged(timers, "timers", "the document does not tell when it starts its timers"),
    ]
    rows = [_row(point) for case in (*lengths, *timers) for point in case.points]
    columns = ("case", "period, ms", "flow 1", "late ones", *sched.PUBLISHED)
    return Report(answers, columns, rows, lambda axes: _draw(axes, lengths))
