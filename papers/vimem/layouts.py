# SPDX-License-Identifier: Apache-2.0
"""V6 to V9: what layouts from traces save (Lachenmann et al., EuroSys 2007, section 6), on the
trace simulator, and a sample of it on the emulated node. The programs are our own in the shape of
the paper's, see _programs.py. Time of an access: on the simulator by the latencies of the paper's
table 2; on the board as measured, what it takes more than with all variables in RAM."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lab.experiments import Answer, Report, Value, experiment
from nandwich import plots
from papers.vimem import _board_cases, _cases, _rig
from papers.vimem._board_cases import OnBoard
from papers.vimem._cases import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OUR_PROGRAM = "the program is ours: its numbers of variables, bytes and accesses are the paper's"


#: What runs on the board, as _board_cases has it.
_TINYDB_SAMPLE = f"node {_board_cases.NODE}, first fit and layouts from source and trace"
_MATE_SAMPLE = f"node {_board_cases.NODE}, first fit and layouts from the counter's trace"
_GENERATED_SAMPLE = "{} of 12 pages in RAM"


def _answer(measured: Value, holds: bool, why: str = "", **others: Any) -> Answer:
    """A claim that holds needs no reason."""
    return Answer(measured, holds=holds, why="" if holds else why, **others)


_COLUMNS = (
    "counted by",
    "program",
    "situation",
    "known",
    "layout",
    "accesses",
    "faults",
    "faults %",
    "to buffer",
    "flash writes",
    "us an access",
)


def _rows(cases: Sequence[Case], on_board: Sequence[OnBoard]) -> list[list[Value]]:
    return [
        *(_row(case, "simulator", case.cost.latency_us) for case in cases),
        *(_row(one.case, "board", one.us) for one in on_board),
    ]


def _row(case: Case, by: str, us: float) -> list[Value]:
    cost = case.cost
    return [
        by,
        case.program,
        case.situation,
        case.known,
        case.method,
        round(cost.accesses, 1),
        round(cost.faults, 1),
        round(cost.share, 3),
        round(cost.to_buffer, 1),
        round(cost.flash_writes, 1),
        round(us, 1),
    ]


#: What stands for no faults where the axis is logarithmic.
_NONE = 0.005


def _draw(cases: Sequence[Case], axes: "Axes") -> None:
    situations = list(dict.fromkeys(case.situation for case in cases))
    series: dict[str, dict[str, float]] = {}
    for case in cases:
        label = case.method if case.known == "nothing" else f"{case.known}: {case.method}"
        series.setdefault(label, {})[case.situation] = max(case.cost.share, _NONE)
    values = {label: [one.get(name) for name in situations] for label, one in series.items()}
    plots.grouped(axes, situations, values, log=True)
    axes.set_ylabel(f"faults, % of accesses ({_NONE}: none)")
    axes.legend(fontsize=7)


@experiment(
    "V6a", claim="TinyDB-like, a page in RAM: faults, own trace of a query", published=1, unit="%"
)
def faults(quick: bool) -> Report:
    """Four layouts as published and three of ours in three scenarios; means of the nodes."""
    cases = _cases.tinydb(quick)
    own = {name: _cases.of(cases, name, name, "published") for name in ("none", "query")}
    ours = {name: _cases.of(cases, name, name, "ours") for name in ("none", "query")}
    on_board = _board_cases.tinydb(quick)
    worst_source = min(
        _rig.fewer(
            _cases.of(cases, name, "source", "published").faults,
            _cases.of(cases, name, "nothing", "first fit").faults,
        )
        for name in _cases.SCENARIOS
    )
    by_trace = {
        name: _rig.fewer(own[name].faults, _cases.of(cases, name, "source", "published").faults)
        for name in own
    }
    return Report(
        answers=[
            _answer(
                round(own["query"].share, 2),
                holds=own["query"].share <= 1.05,
                why=_OUR_PROGRAM + f"; our layout has {ours['query'].share:.2f} %",
                part="query",
            ),
            _answer(
                round(own["none"].share, 2),
                holds=own["none"].share <= 5,
                part="none",
                claim="the same without a query",
                published=5,
            ),
            _answer(
                round(worst_source, 1),
                holds=worst_source >= 35,
                why=_OUR_PROGRAM,
                part="source",
                claim="fewer faults from the source alone than by first fit, least of three",
                published=35,
            ),
            *(
                _answer(
                    round(saved, 1),
                    holds=saved >= 55,
                    why=_OUR_PROGRAM + f"; ours from the trace has {ours[name].faults:.0f} faults, "
                    f"the published one {own[name].faults:.0f}",
                    part=f"trace/{name}",
                    claim=f"fewer faults with the own trace than from the source, {what}",
                    published=60,
                )
                for (name, saved), what in zip(
                    by_trace.items(), ("without a query", "with a query"), strict=True
                )
            ),
            _board_cases.answer(on_board, _TINYDB_SAMPLE),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _draw(cases, axes),
    )


@experiment(
    "V6b", claim="TinyDB-like: latency lower than by first fit, at best", published=95, unit="%"
)
def latency(quick: bool) -> Report:
    """By the latencies of the paper's table 2, and measured."""
    cases, on_board = _cases.tinydb(quick), _board_cases.tinydb(quick)
    saved = max(
        _rig.fewer(
            _cases.of(cases, name, name, "published").latency_us,
            _cases.of(cases, name, "nothing", "first fit").latency_us,
        )
        for name in ("none", "query")
    )
    return Report(
        answers=[
            _answer(
                round(saved, 1),
                holds=saved >= 95,
                why=_OUR_PROGRAM,
                part="latency",
                claim="latency lower than by first fit: published layout from the own trace, the "
                "better of no query and a query",
            ),
            *_measured_latency(on_board),
            *_writes(cases),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _latencies(cases, axes),
    )


#: Whose trace a layout of a scenario is made from: its own; the light one has none.
_OWN = {"none": "none", "query": "query", "light": "query"}


def _writes(cases: Sequence[Case]) -> Iterator[Answer]:
    """Of both methods with the right trace, and of all layouts by the published method."""
    laid = [case for case in cases if case.known != "nothing"]
    own = [case for case in laid if _OWN[case.situation] == case.known]
    for part, what, judged in (
        ("published", "published layouts from own traces (a query's for the light one)", own),
        ("ours", "our layouts from the same", own),
        ("any", "published layouts, from the source or another scenario's trace too", laid),
    ):
        method = "ours" if part == "ours" else "published"
        most = max((case for case in judged if case.method == method), key=_writes_share)
        share = _writes_share(most)
        yield _answer(
            round(share, 4),
            holds=share <= 0.1,
            why=f"in scenario {most.situation} with a layout from {most.known}",
            part=f"writes/{part}",
            claim=f"flash writes, % of accesses, at most: {what}",
            published=0.1,
        )


def _writes_share(case: Case) -> float:
    return 100 * case.cost.flash_writes / case.cost.accesses


def _measured_latency(on_board: Sequence[OnBoard]) -> list[Answer]:
    """The same of the node that ran on the board."""
    us = {(one.case.situation, one.case.method): one.us for one in on_board}
    own = [name for name in ("none", "query") if (name, "published") in us]
    if not own:
        return []
    saved = max(_rig.fewer(us[name, "published"], us[name, "first fit"]) for name in own)
    return [
        _answer(
            round(saved, 1),
            holds=saved >= 95,
            why="our bus is 35 times as fast as theirs, so first fit costs less",
            part="latency/board",
            claim=f"the same measured on the emulated ATmega128, node {_board_cases.NODE}",
        )
    ]


def _latencies(cases: Sequence[Case], axes: "Axes") -> None:
    for known, method in dict.fromkeys((case.known, case.method) for case in cases):
        line = [case.cost for case in cases if (case.known, case.method) == (known, method)]
        label = method if known == "nothing" else f"{known}: {method}"
        axes.plot(_cases.SCENARIOS, [cost.latency_us for cost in line], label=label)
    axes.set_yscale("log")
    axes.set_ylabel("us an access")
    axes.legend(fontsize=7, loc="lower right", ncols=2)


@experiment("V7", claim="Mate-like: faults with a layout from a trace", published=6, unit="faults")
def mate(quick: bool) -> Report:
    """No program, a counter, an aggregation; a page in RAM. Means of the nodes."""
    cases, on_board = _cases.mate(quick), _board_cases.mate(quick)
    first = _cases.of(cases, "none", "nothing", "first fit")
    counter = _cases.of(cases, "counter", "counter", "published")
    both = {
        method: _cases.of(cases, "aggregation", "counter", method)
        for method in ("published", "ours")
    }
    return Report(
        answers=[
            _answer(
                round(_cases.of(cases, "none", "none", "published").faults, 1),
                holds=_cases.of(cases, "none", "none", "published").faults == 0,
                part="none",
                claim=f"no program: faults with its own trace (first fit {first.faults:.0f} of "
                f"{first.accesses:.0f} accesses; published 10 of 38)",
                published=0,
            ),
            _answer(
                round(counter.faults, 1),
                holds=counter.faults == 0,
                why="the capsules' headers, set at the start, do not fit the page of the code",
                part="counter",
                claim="a counter: faults with its own trace",
                published=0,
            ),
            _answer(
                round(both["published"].faults, 1),
                holds=both["published"].share < 0.1,
                why="the counter's trace never saw the aggregation's capsules",
                part="aggregation",
                claim="aggregation: faults with the counter's trace, below 0.1 %",
                published=6,
            ),
            _board_cases.answer(on_board, _MATE_SAMPLE),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _draw(cases, axes),
    )


@experiment(
    "V8",
    claim="12 pages, 4 or more in RAM: most faults with a layout from the source",
    published=5,
    unit="%",
)
def frames(quick: bool) -> Report:
    """Generated program of 3168 B with 1 to 12 pages in RAM."""
    counts = (1, 2, 3, 4, 6, 7, 8) if quick else _cases.FRAMES
    cases = tuple(case for count in counts for case in _cases.generated(12, count))
    sample = (4,) if quick else (1, 4, 12)
    on_board = [one for count in sample for one in _board_cases.generated(12, count, quick)]

    def cost(count: int, known: str, method: str) -> _rig.Cost:
        return _cases.of(cases, f"12 pages, {count} in RAM", known, method)

    none_from = min(count for count in counts if cost(count, "all", "published").faults == 0)
    ours_from = min(count for count in counts if cost(count, "all", "ours").faults == 0)
    share = max(cost(count, "all", "published").share for count in counts if count >= 4)
    first = {count: cost(count, "nothing", "first fit") for count in counts}
    saved = max(first[count].faults - cost(count, "all", "published").faults for count in counts)
    more = {
        method: [n for n in counts if cost(n, "all", method).flash_writes > first[n].flash_writes]
        for method in ("published", "ours")
    }
    return Report(
        answers=[
            _answer(round(share, 2), holds=share < 5, part="share"),
            _answer(
                none_from,
                holds=none_from <= 7,
                part="none",
                claim=f"pages in RAM from which on there is no fault (ours: {ours_from})",
                published="6 to 7",
                unit="pages",
            ),
            _answer(
                round(saved),
                holds=saved >= 3995,
                part="saved",
                claim="most faults fewer than by first fit, of 50,000 accesses",
                published=3995,
                unit="faults",
                why=_OUR_PROGRAM,
            ),
            *(
                _answer(
                    len(numbers),
                    holds=not numbers,
                    part=f"writes/{method}",
                    claim=f"numbers of pages in RAM with more flash writes by the {method} layout "
                    "from the source than by first fit",
                    published=0,
                    unit="",
                    why=f"with {', '.join(map(str, numbers))} pages in RAM",
                )
                for method, numbers in more.items()
            ),
            *_saved_ram(),
            _board_cases.answer(on_board, _GENERATED_SAMPLE.format(", ".join(map(str, sample)))),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _curves(cases, counts, axes, "pages in RAM"),
    )


def _saved_ram() -> list[Answer]:
    """Of the program of 12 pages, with one of them in RAM and with all."""
    if _board_cases.missing():
        return []
    few, all_of = _board_cases.ram_saved(12, 1), _board_cases.ram_saved(12, 12)
    return [
        _answer(
            round(few, 1),
            holds=few >= 85,
            part="ram/1",
            claim="RAM saved with one page in it, about",
            published=90,
            why="our run time takes more",
        ),
        _answer(
            round(-all_of, 1),
            holds=-all_of <= 4.5,
            part="ram/12",
            claim="RAM more with all pages in it",
            published=4,
            why="our run time takes more",
        ),
    ]


@experiment(
    "V9",
    claim="60 pages, 12 in RAM: faults with a layout from the source, all accesses known",
    published=4.1,
    unit="%",
)
def sizes(quick: bool) -> Report:
    """Generated programs of 12 to 60 pages with 12 in RAM."""
    counts = (12, 36, 60) if quick else _cases.PAGES
    cases = tuple(case for count in counts for case in _cases.generated(count, 12))
    largest = f"{counts[-1]} pages, 12 in RAM"
    on_board = _board_cases.generated(counts[-1], 12, quick)
    share = {
        (known, method): _cases.of(cases, largest, known, method).share
        for known, method in (
            ("nothing", "first fit"),
            ("all", "published"),
            ("incomplete", "published"),
        )
    }
    most = max(_cases.of(cases, largest, "all", "published").latency_us, 0)
    return Report(
        answers=[
            _answer(
                round(share["all", "published"], 2),
                holds=share["all", "published"] <= 4.1,
                part="all",
            ),
            _answer(
                round(share["incomplete", "published"], 2),
                holds=share["incomplete", "published"] <= 9,
                part="incomplete",
                claim="the same less every fourth access",
                published=9,
            ),
            _answer(
                round(share["nothing", "first fit"], 1),
                holds=share["nothing", "first fit"] >= 30,
                why="the base trace is our own, whose accesses keep together more than the paper's",
                part="first fit",
                claim="the same by first fit",
                published=35,
            ),
            _answer(
                round(most / 1000, 2),
                holds=most <= 390,
                why=_OUR_PROGRAM,
                part="latency",
                claim="latency of an access, all accesses known",
                published=0.39,
                unit="ms",
            ),
            _board_cases.answer(on_board, "60 pages, 12 in RAM"),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _curves(cases, counts, axes, "pages of data"),
    )


def _curves(cases: Sequence[Case], at: Sequence[int], axes: "Axes", what: str) -> None:
    for known, method in dict.fromkeys((case.known, case.method) for case in cases):
        line = [case.cost for case in cases if (case.known, case.method) == (known, method)]
        label = method if known == "nothing" else f"{known}: {method}"
        axes.plot(at, [cost.share for cost in line], label=label, markersize=3)
    axes.set_xlabel(what)
    axes.set_ylabel("faults, % of accesses")
    axes.legend(fontsize=7)


@experiment(
    "V-ours",
    claim="our layout has fewer faults than the published heuristic, over cases of more than 100",
    published="ours",
    unit="%",
    must_hold=True,
)
def better(quick: bool) -> Report:
    """All cases of V6 to V9 in which both layouts know the same."""
    cases = [*_cases.tinydb(quick), *_cases.mate(quick)]
    for count in (1, 2, 3, 4, 6, 7, 8) if quick else _cases.FRAMES:
        cases += _cases.generated(12, count)
    for count in (36, 60) if quick else _cases.PAGES[1:]:
        cases += _cases.generated(count, 12)
    pairs = [
        (case, other)
        for case in cases
        for other in cases
        if case.method == "published"
        and other.method == "ours"
        and (case.program, case.situation, case.known)
        == (other.program, other.situation, other.known)
        and case.cost.faults > 100
    ]
    theirs = sum(case.cost.faults for case, _ in pairs)
    mine = sum(other.cost.faults for _, other in pairs)
    saved = _rig.fewer(mine, theirs)
    worse = sum(other.cost.faults > case.cost.faults for case, other in pairs)
    return Report(
        answers=[
            Answer(
                round(saved, 1),
                holds=saved >= 10,
                why=f"{len(pairs)} cases, in {worse} of them ours has more",
            )
        ],
        columns=("program", "situation", "known", "published", "ours", "fewer %"),
        rows=[
            [
                case.program,
                case.situation,
                case.known,
                round(case.cost.faults, 1),
                round(other.cost.faults, 1),
                round(_rig.fewer(other.cost.faults, case.cost.faults), 1),
            ]
            for case, other in pairs
        ],
    )
