# SPDX-License-Identifier: Apache-2.0
"""R4, R5 and R6: more and more requests (Dou and Kalogeraki, SEUS 2008, the experiment section)."""

from dataclasses import replace
from functools import cache, partial

from lab import sweeps
from lab.experiments import Answer, Report, experiment
from lab.sweeps import Point
from nandwich.sched.play import MS, Outcome, Scenario, paper_scenario, run

PERIODS_MS = (5, 8, 10, 15, 20, 25, 30, 35, 40, 50, 60, 80, 100)
QUICK_MS = (5, 10, 20, 40, 60, 100)

#: The paper's default period: from here on upwards the load is at the defaults or below.
DEFAULT_MS = 40


def _all_flows(x: float, bursty: bool, drop: bool) -> Scenario:
    return paper_scenario(periods_ms=(x, x, x), bursty=bursty, drop_late=drop)


def _first_flow(x: float, bursty: bool, drop: bool) -> Scenario:
    return paper_scenario(periods_ms=(x, DEFAULT_MS, DEFAULT_MS), bursty=bursty, drop_late=drop)


@cache
def _points(build: sweeps.Build, quick: bool) -> list[Point]:
    return sweeps.sweep(QUICK_MS if quick else PERIODS_MS, build, quick)


def _ours(points: list[Point]) -> list[Answer]:
    return sweeps.ours(points, lambda one: one.x >= DEFAULT_MS, "periods of 40 ms and more")


def _at(points: list[Point], x: float) -> Point:
    return next(one for one in points if one.x == x)


@experiment(
    "R4",
    claim="all periods vary: share of requests that meet their deadline",
    published="grouping far ahead under load",
    unit="",
)
def all_periods(quick: bool) -> Report:
    """EDF like FIFO, grouping far better, RG-EDF no better than G-EDF, collapse without drop."""
    points = _points(_all_flows, quick)
    drop = sweeps.chosen(points)
    keep = sweeps.chosen(points, drop=False)
    loaded = [one for one in drop if one.x <= DEFAULT_MS]
    edf = max(one.share("edf") - one.share("fifo") for one in loaded)
    reorder = max(one.share("rg-edf") - one.share("g-edf") for one in drop)
    lead = _at(drop, 20).share("g-edf") - _at(drop, 20).share("fifo")
    collapse = max(_at(keep, 20).share("fifo"), _at(keep, 20).share("edf"))
    answers = [
        Answer(
            round(edf, 2),
            holds=edf <= 0.5,
            why="EDF orders the same work and pays for the heap",
            part="edf",
            claim="EDF behaves like FIFO with more overhead: EDF - FIFO under load",
            published="<= 0",
            unit="points at most",
        ),
        Answer(
            round(lead, 1),
            holds=lead > 20,
            why="at 20 ms: one write takes up to eight requests",
            part="grouping",
            claim="grouping far better as load grows: G-EDF - FIFO",
            published="far better",
            unit="points",
        ),
        Answer(
            round(reorder, 2),
            holds=reorder <= 0.5,
            why="flows are alike, so there is little to reorder"
            if reorder <= 0.5
            else "where the queue overflows, larger groups free more of it",
            part="reorder",
            claim="G-EDF at or slightly above RG-EDF: RG-EDF - G-EDF",
            published="<= 0",
            unit="points at most",
        ),
        Answer(
            round(collapse, 2),
            holds=collapse < 5,
            why="at 20 ms, late requests kept",
            part="collapse",
            claim="without dropping FIFO and EDF collapse: the better of the two",
            published="about 0",
            unit="% met",
        ),
        *_ours(points),
    ]
    draw = partial(sweeps.draw_panels, points=points, label="period of all flows, ms")
    return Report(answers, sweeps.COLUMNS, sweeps.rows(points), draw)


def _buffered(x: float, quick: bool) -> float:
    """Share of RG-EDF when the overtaken group keeps the time for its own write."""
    scenario = replace(_first_flow(x, False, True), buffer_ns=13 * MS)
    runs = sweeps.QUICK_RUNS if quick else sweeps.RUNS
    return run(scenario, "rg-edf", runs=runs).share


@experiment(
    "R5",
    claim="only flow 1 varies: share of requests that meet their deadline",
    published="RG-EDF gains",
    unit="",
)
def first_period(quick: bool) -> Report:
    """RG-EDF gains over R4 and over G-EDF."""
    points = _points(_first_flow, quick)
    drop = [one for one in sweeps.chosen(points) if one.x < DEFAULT_MS]
    before = [one for one in sweeps.chosen(_points(_all_flows, quick)) if one.x < DEFAULT_MS]
    pairs = list(zip(drop, before, strict=True))
    gains = [now.share("rg-edf") - then.share("rg-edf") for now, then in pairs]
    over = [one.share("rg-edf") - one.share("g-edf") for one in drop]
    left = [100 - one.share("g-edf") for one in drop if one.x >= 10]
    buffered = [_buffered(one.x, quick) - one.share("g-edf") for one in drop]
    answers = [
        Answer(
            round(sum(gains) / len(gains), 2),
            holds=min(gains) > -0.5,
            why="fewer requests in all, and the fast flow fills its sectors",
            part="over-r4",
            claim="RG-EDF gains over its R4 result, periods below 40 ms",
            published="> 0",
            unit="points on average",
        ),
        Answer(
            round(sum(over) / len(over), 2),
            holds=sum(over) > 0,
            why=f"from 10 ms on G-EDF misses {min(left):.1f} to {max(left):.1f} % only, around "
            "openings: there is little left to gain. And a fast flow's group overtakes "
            "whenever the other's deadline lies behind that one write, and the overtaken one often "
            "has no time left for its own; over-gedf-buffer gives it that",
            part="over-gedf",
            claim="RG-EDF gains over G-EDF, periods below 40 ms",
            published="> 0",
            unit="points on average",
        ),
        Answer(
            round(sum(buffered) / len(buffered), 2),
            holds=sum(buffered) > 0,
            why="the paper gives no figure for the buffer time of its rule; this is the longest "
            "that makes sense: the overtaken group's own write",
            part="over-gedf-buffer",
            claim="the same with a buffer time of one write, 13 ms",
            published="> 0",
            unit="points on average",
        ),
        *_ours(points),
    ]
    draw = partial(sweeps.draw_panels, points=points, label="period of flow 1, ms")
    return Report(answers, sweeps.COLUMNS, sweeps.rows(points), draw)


@experiment(
    "R6",
    claim="all periods vary: requests written a second, time and drops",
    published="FIFO at its ceiling",
    unit="",
)
def throughput(quick: bool) -> Report:
    """FIFO flat, EDF below, grouping rising until the queue is full; end-to-end time; causes."""
    points = _points(_all_flows, quick)
    answers = [*_ceilings(points), *_grouping(points)]
    draw = partial(
        sweeps.draw_panels,
        points=points,
        label="period of all flows, ms",
        value=_rate,
        what="requests written a second",
        with_bound=False,
    )
    return Report(answers, sweeps.COLUMNS, sweeps.rows(points), draw)


def _rate(outcome: Outcome) -> float:
    """Requests that reached the device, a second."""
    return outcome.written / 10 / outcome.runs


def _busy(points: list[Point]) -> list[Point]:
    """Where the device never idles under load: the ceiling of one request a write."""
    return [one for one in sweeps.chosen(points, drop=False) if one.x <= 30]


def _ceilings(points: list[Point]) -> list[Answer]:
    fifo = [_rate(one.outcomes["fifo"]) for one in _busy(points)]
    edf = [_rate(one.outcomes["edf"]) for one in _busy(points)]
    return [
        Answer(
            round(max(fifo), 1),
            holds=min(fifo) > 0.8 * max(fifo),
            why=f"{min(fifo):.1f} to {max(fifo):.1f} a second between 5 and 30 ms, late ones kept; "
            "the more requests, the more time their interrupts take from the writes",
            part="fifo",
            claim="FIFO is flat at its ceiling (within a fifth, offered load growing sixfold)",
            published="flat",
            unit="requests/s",
        ),
        Answer(
            round(max(edf), 1),
            holds=max(edf) < max(fifo),
            why="one request a write like FIFO, and more work to decide",
            part="edf",
            claim="EDF is below FIFO",
            published="below",
            unit="requests/s",
        ),
    ]


def _grouping(points: list[Point]) -> list[Answer]:
    busy = _busy(points)
    ceiling = max(_rate(one.outcomes["fifo"]) for one in busy)
    rates = {one.x: _rate(one.outcomes["rg-edf"]) for one in sweeps.chosen(points)}
    peak = max(rates, key=lambda x: rates[x])
    times = [one.outcomes["rg-edf"].response_ms / one.outcomes["fifo"].response_ms for one in busy]
    heavy = _at(sweeps.chosen(points), 5).outcomes["g-edf"].counts
    return [
        Answer(
            round(rates[peak], 1),
            holds=rates[peak] > 2 * ceiling,
            why=f"at a period of {peak:g} ms",
            part="peak",
            claim="grouping peaks far above, until the queue saturates",
            published="peak",
            unit="requests/s",
        ),
        Answer(
            round(100 * sum(times) / len(times), 1),
            holds=max(times) < 0.8,
            why="RG-EDF's mean time from issue to flash, FIFO's being 100, periods up to 30 ms, "
            "late ones kept",
            part="time",
            claim="end-to-end time far lower with grouping",
            published="far lower",
            unit="% of FIFO",
        ),
        Answer(
            round(100 * heavy["full"] / max(1, heavy["full"] + heavy["dropped"]), 1),
            holds=heavy["full"] > heavy["dropped"],
            why=f"G-EDF at 5 ms: {heavy['full']} full, {heavy['dropped']} late",
            part="causes",
            claim="grouping loses mostly to the full queue",
            published="mostly",
            unit="% of losses",
        ),
    ]
