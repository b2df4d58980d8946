# SPDX-License-Identifier: Apache-2.0
"""V6c and V7b: what the text of section 6.2 (Lachenmann et al., EuroSys 2007) tells beside the
faults: pages sent to the chip's buffers, a trace of another scenario, two pages in RAM, and Mate's
latency and writes."""

from collections.abc import Iterator, Sequence
from functools import cache

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, experiment
from papers.vimem import _board_cases, _cases, _node, _programs
from papers.vimem._cases import Case
from papers.vimem._node import Run
from papers.vimem._rig import Cost
from papers.vimem.layouts import MATE, OUR_PROGRAM, OWN, TINYDB, bound, near_figure

_COLUMNS = ("program", "situation", "known", "layout", "to buffer %", "flash writes", "us")


def _sent(cost: Cost) -> float:
    """Pages sent to a buffer, % of the accesses."""
    return 100 * cost.to_buffer / cost.accesses


def _rows(cases: Sequence[Case]) -> list[list[str | float]]:
    return [
        [
            case.program,
            case.situation,
            case.known,
            case.method,
            round(_sent(case.cost), 2),
            round(case.cost.flash_writes, 1),
            round(case.cost.latency_us, 1),
        ]
        for case in cases
    ]


@experiment(
    "V6c",
    claim="TinyDB-like: pages sent to a buffer, of the accesses",
    published=14,
    unit="%",
    where="section 6.2.2",
    setup=f"{TINYDB}. With two pages in RAM measured: node {_board_cases.NODE} on the emulated "
    "ATmega128, a layout from the own trace",
)
def tinydb(quick: bool) -> Report:
    """Shares of accesses, a trace of another scenario, and two pages in RAM."""
    cases = _cases.tinydb(quick)
    return Report(
        answers=[*sent(cases), other_scenario(cases), *_two_pages(quick)],
        columns=_COLUMNS,
        rows=_rows(cases),
    )


def sent(cases: Sequence[Case]) -> Iterator[Answer]:
    """First fit at most; the heuristic at most and at best, from own traces."""
    first = [_sent(case.cost) for case in cases if case.method == "first fit"]
    own = [
        _sent(case.cost)
        for case in cases
        if case.method == "published" and OWN[case.situation] == case.known
    ]
    yield near_figure(
        max(first),
        14,
        part="to buffer/first fit",
        claim="pages sent to a buffer, of the accesses: first fit, at most",
    )
    yield bound(
        max(own),
        "< 7",
        part="to buffer/published",
        claim="pages sent to a buffer, of the accesses: published layouts from own traces, at most",
    )
    yield near_figure(
        min(own),
        0.6,
        digits=2,
        part="to buffer/best",
        claim="pages sent to a buffer, of the accesses: published layouts from own traces, at best",
        why=f"{OUR_PROGRAM}; without a query all that is written fits one page",
    )


def other_scenario(cases: Sequence[Case]) -> Answer:
    """Whether a trace of a scenario too different is worse than no trace."""

    def faults(scenario: str, known: str) -> float:
        return next(
            case.cost.faults
            for case in cases
            if (case.situation, case.known, case.method) == (scenario, known, "published")
        )

    pairs = [("none", "query"), ("query", "none"), ("light", "none")]
    worse = [one for one, known in pairs if faults(one, known) > faults(one, "source")]
    each = "; ".join(
        f"{one}: {faults(one, known):.0f}, from the source {faults(one, 'source'):.0f}"
        for one, known in pairs
    )
    return Answer(
        "yes" if worse else "no",
        holds=bool(worse),
        part="other",
        claim="a layout from another scenario's trace may have more faults than from the source",
        published="yes",
        unit="",
        why=each,
        tolerance="none: one of three scenarios is enough",
    )


@cache
def _measured_two() -> float:
    """us an access, the least of the scenarios with traces."""
    found = []
    for scenario in ("none", "query"):
        run = Run(_programs.TINYDB, _programs.tinydb_events(scenario, _board_cases.NODE))
        pages = _cases.tinydb_layouts()[scenario, "published"]
        found.append(_node.measure(run, pages, 2).us)
    return min(found)


def _two_pages(quick: bool) -> list[Answer]:
    if quick or _board_cases.missing():
        return []
    return [
        near_figure(
            _measured_two(),
            16,
            part="two pages",
            claim="two pages in RAM, own trace: latency of an access, at best",
            unit="us",
            why="no fault is left, and an access takes fewer cycles, as in V-T2",
        )
    ]


@experiment(
    "V7b",
    claim="Mate-like: pages that a node sends to a buffer, at most: first fit",
    published=699,
    unit="pages",
    where="figure 7 (b), section 6.2.3",
    setup=f"{MATE}; time by the latencies of table 2",
)
def mate(quick: bool) -> Report:
    """Latency, and what a node writes."""
    cases = _cases.mate(quick)
    return Report(answers=list(mate_answers(cases)), columns=_COLUMNS, rows=_rows(cases))


def mate_answers(cases: Sequence[Case]) -> Iterator[Answer]:
    """Writes of a node, first fit and the heuristic from the traces that are known; latencies."""
    first = [one for case in cases if case.method == "first fit" for one in case.each]
    laid = [
        one
        for case in cases
        if case.method == "published" and case.known in (case.situation, "counter")
        for one in case.each
    ]
    yield Answer(
        round(max(one.to_buffer for one in first)),
        verdict=NOT_JUDGED,
        part="to buffer/first fit",
        why="our program stores to the array at its start alone: it was written to make as many "
        "accesses as the published one, of which nobody tells which store",
    )
    for part, published, values, what in (
        ("to buffer/published", "< 4", [one.to_buffer for one in laid], "sends to a buffer"),
        ("flash/published", "<= 3", [one.flash_writes for one in laid], "writes to flash"),
    ):
        yield bound(
            max(values),
            published,
            digits=0,
            part=part,
            claim=f"pages that a node {what}, at most: published layouts",
        )
    for scenario in _programs.MATE_SCENARIOS:
        known = "none" if scenario == "none" else "counter"
        latency = {
            method: _cases.of(tuple(cases), scenario, of, method).latency_us
            for of, method in (("nothing", "first fit"), (known, "published"))
        }
        yield Answer(
            round(latency["published"], 1),
            verdict=NOT_JUDGED,
            part=f"latency/{scenario}",
            claim=f"latency of an access, scenario {scenario}: published layout from a trace",
            unit="us",
            where=OURS,
            why=f"the figure shows it, no number is printed; first fit "
            f"{latency['first fit']:.1f} us",
        )
