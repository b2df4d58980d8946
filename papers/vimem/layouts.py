# SPDX-License-Identifier: Apache-2.0
"""V6 to V9: what layouts from traces save (Lachenmann et al., EuroSys 2007, section 6), on the
trace simulator, and a sample of it on the emulated node. The programs are our own in the shape of
the paper's, see _programs.py. Time of an access: on the simulator by the latencies of the paper's
table 2; on the board as measured, what it takes more than with all variables in RAM."""

from collections.abc import Iterator, Sequence
from statistics import median_low
from typing import TYPE_CHECKING, Any

from lab.experiments import NOT_JUDGED, NOT_REACHABLE, Answer, Report, Value, experiment, near
from nandwich import plots
from papers.vimem import _board_cases, _cases, _programs, _rig
from papers.vimem._board_cases import OnBoard
from papers.vimem._cases import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OUR_PROGRAM = "the program is ours: its numbers of variables, bytes and accesses are the paper's"
#: The heuristic's numbers that the document leaves open.
_HEURISTIC = (
    "the document's heuristic: a list of a page, arrays of up to 33 B whole, groups of up to 33 B "
    "until all elements are in one, an element often written from the mean of writes, from four "
    "times that, or never, whichever has the fewest faults on what is known"
)
_GAPS = "; ".join(
    f"{scenario}: {', '.join(f'{name} {gap:g}' for name, gap in gaps.items())}"
    for scenario, gaps in _programs.RATES.items()
)


def _nodes(published: str, ours: str, source: str = "") -> str:
    """The set-up of figures 6 and 7."""
    return (
        "published: Mica2 with a page of 264 B in RAM, 50 nodes for 1000 s in a simulator, traces "
        f"from five of them; {published}; groups of an eighth of a page as an example, neither "
        "the threshold of writes nor how many elements are grouped told. Ours: on our simulator "
        f"of its run time {ours}; nodes 100 to 149, traces of nodes 0 to 4; {_HEURISTIC}{source}"
    )


TINYDB = _nodes(
    "TinyDB, 75 variables of 569 B, without a query, with one, and with a light one too",
    "a program with as many variables and bytes (41 of 1 B, 16 of 2, 10 of 4, 8 arrays of 32 to "
    f"96 B) in shuffled order; its handlers and the seconds between their events, {_GAPS}",
    "; from the source: `nandwich layout --from-source` of the same handlers in C, a reference ten "
    "times for each loop around it, often written from the mean of writes",
)
MATE = _nodes(
    "Mate, an array of 792 B; no program, a counter, an aggregation",
    "an interpreter's fetches from such an array, 8 capsules of 99 B; once a second 4 B and "
    "the 24 or 47 of the capsule's code, each 30th second another capsule too",
)
_GENERATED = (
    "published: Mica2, straight-line programs of 4-byte elements that follow a trace of TinyDB "
    "without a query, 5,000 accesses 10 times, 1,676 B of 3,168 accessed. Ours: the first 5,000 "
    "accesses of node 0 of V6a's program without a query; each of its elements stands for as many "
    "of ours, and a share of its accesses, or a longer stretch, goes to any of them, so large that "
    f"1,676 B are accessed; {_HEURISTIC}"
)

_ABOUT = 17
_ABOUT_WHY = (
    f"{_ABOUT} %: half of the one digit of about 3,000 faults, which are printed with the share of "
    "about 1 %"
)
_FIGURE = 10
_FIGURE_WHY = f"{_FIGURE} %: the programs are not the published ones, but follow the same numbers"
_PAGES = 1
_POINTS = 10
_POINTS_WHY = f"{_POINTS} points: published in fives, with the word about"
_COUNTS = "none: both are counts of pages"


#: What runs on the board, as _board_cases has it.
_TINYDB_SAMPLE = f"node {_board_cases.NODE}, first fit and layouts from source and trace"
_MATE_SAMPLE = f"node {_board_cases.NODE}, first fit and layouts from the counter's trace"
_GENERATED_SAMPLE = "{} of 12 pages in RAM"


def near_figure(measured: float, published: float, *, digits: int = 1, **others: Any) -> Answer:
    """Within _FIGURE percent, or what else is given; one that holds needs no reason."""
    within = others.pop("percent", 0.0), others.pop("points", 0.0)
    percent, points = within if any(within) else (_FIGURE, 0.0)
    others.setdefault("tolerance", _FIGURE_WHY)
    holds = near(measured, published, percent=percent, points=points)
    others.setdefault("why", "" if holds else OUR_PROGRAM)
    return Answer(
        round(measured, digits),
        holds=holds,
        published=published,
        **others,
    )


def bound(measured: float, published: str, *, digits: int = 2, **others: Any) -> Answer:
    """Of which the document prints a bound alone, on a program that we do not have."""
    return Answer(
        round(measured, digits),
        verdict=NOT_JUDGED,
        why=f"a bound alone is printed; {OUR_PROGRAM}",
        published=published,
        **others,
    )


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
#: What is known, and situations, in words.
_KNOWN = {
    "source": "source",
    "none": "idle trace",
    "query": "trace of a query",
    "counter": "trace of a counter",
    "all": "all accesses",
    "incomplete": "3 of 4 accesses",
}
_SITUATIONS = {"none": "no query", "query": "a query", "light": "a light query"}
_TINYDB_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


def _label(case: Case) -> str:
    """What a layout is made from, and by whose method."""
    if case.known == "nothing":
        return case.method
    method = "heuristic" if case.method == "published" else case.method
    return f"{_KNOWN[case.known]}: {method}"


def _lines(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """The cases of each layout."""
    for known, method in dict.fromkeys((case.known, case.method) for case in cases):
        yield [case for case in cases if (case.known, case.method) == (known, method)]


def _beside(axes: "Axes") -> None:
    """So many series have their names beside the picture."""
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))


def _draw(cases: Sequence[Case], axes: "Axes") -> None:
    situations = list(dict.fromkeys(case.situation for case in cases))
    series: dict[str, dict[str, float]] = {}
    for case in cases:
        series.setdefault(_label(case), {})[case.situation] = max(case.cost.share, _NONE)
    values = {label: [one.get(name) for name in situations] for label, one in series.items()}
    plots.grouped(axes, situations, values, log=True)
    axes.set_ylabel(f"faults, % of accesses ({_NONE}: none)")
    _beside(axes)


def _draw_tinydb(cases: Sequence[Case], axes: "Axes") -> None:
    """Figure 6 (a), with the two shares that its text prints of layouts from the own trace."""
    layouts = list(dict.fromkeys(_label(case) for case in cases))
    own = [f"{_KNOWN[name]}: heuristic" for name in ("none", "query")]
    places = [at + plots.offset(layouts.index(name), len(layouts)) for at, name in enumerate(own)]
    plots.printed(axes, places, [5, 1], "printed: own trace")
    _draw(cases, axes)
    axes.set_ylabel("faults, % of accesses")
    plots.plain_ticks(axes.yaxis, _TINYDB_TICKS)
    axes.set_xticks(range(len(_SITUATIONS)), list(_SITUATIONS.values()))


@experiment(
    "V6a",
    claim="TinyDB-like, a page in RAM: faults, own trace of a query",
    published=1,
    unit="%",
    where="figure 6 (a)",
    setup=TINYDB,
)
def faults(quick: bool) -> Report:
    """Four layouts as published and three of ours in three scenarios; means of the nodes."""
    cases, on_board = _cases.tinydb(quick), _board_cases.tinydb(quick)
    return Report(
        answers=[
            *_own_faults(cases),
            *fewer_faults(cases),
            _board_cases.answer(on_board, _TINYDB_SAMPLE),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _draw_tinydb(cases, axes),
    )


def _own_faults(cases: tuple[Case, ...]) -> list[Answer]:
    """Of the published layout, each scenario with its own trace."""
    query, none = (_cases.of(cases, name, name, "published") for name in ("query", "none"))
    ours = _cases.of(cases, "query", "query", "ours")
    return [
        near_figure(
            query.share,
            1,
            digits=2,
            percent=_ABOUT,
            why=f"{OUR_PROGRAM}; {query.faults:.0f} faults of {query.accesses:.0f} accesses, "
            f"published about 3,000; our layout has {ours.share:.2f} %",
            part="query",
            tolerance=_ABOUT_WHY,
        ),
        near_figure(
            none.share,
            5,
            digits=2,
            percent=_ABOUT,
            why=f"{none.faults:.0f} faults of {none.accesses:.0f} accesses, published about 1,400 "
            "of as many: timer, messages and beacons of our program fit one page together, and "
            "only what comes each 120 s leaves it; what theirs touch is not told",
            part="none",
            claim="the same without a query",
            tolerance=_ABOUT_WHY,
        ),
    ]


def fewer_faults(cases: tuple[Case, ...]) -> Iterator[Answer]:
    """From the source than by first fit, and from the own trace than from the source."""

    def count(scenario: str, known: str, method: str = "published") -> float:
        return _cases.of(cases, scenario, known, method).faults

    yield bound(
        min(
            _rig.fewer(count(name, "source"), count(name, "nothing", "first fit"))
            for name in _cases.SCENARIOS
        ),
        ">= 35",
        digits=1,
        part="source",
        claim="fewer faults from the source alone than by first fit, least of three",
    )
    for name, what in (("none", "without a query"), ("query", "with a query")):
        yield near_figure(
            _rig.fewer(count(name, name), count(name, "source")),
            60,
            points=_POINTS,
            why=f"{count(name, name):.0f} faults of {count(name, 'source'):.0f} are left",
            part=f"trace/{name}",
            claim=f"fewer faults with the own trace than from the source, {what}",
            tolerance=_POINTS_WHY,
        )


@experiment(
    "V6b",
    claim="TinyDB-like: latency lower than by first fit, at best",
    published=95,
    unit="%",
    where="figure 6 (b), section 6.2.2",
    setup=f"{TINYDB}. Time by the latencies of table 2; and measured, node {_board_cases.NODE} on "
    "the emulated ATmega128 with the page times of a Mica2",
)
def latency(quick: bool) -> Report:
    """By the latencies of the paper's table 2, and measured."""
    cases, on_board = _cases.tinydb(quick), _board_cases.tinydb(quick)
    saved = {
        name: _rig.fewer(
            _cases.of(cases, name, name, "published").latency_us,
            _cases.of(cases, name, "nothing", "first fit").latency_us,
        )
        for name in ("none", "query")
    }
    return Report(
        answers=[
            _saved_latency(
                saved,
                part="latency",
                claim="latency lower than by first fit: published layout from the own trace, the "
                "better of no query and a query",
            ),
            *measured_latency(on_board),
            *_writes(cases),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _latencies(cases, axes),
    )


def _saved_latency(saved: dict[str, float], **others: Any) -> Answer:
    """The best of some scenarios."""
    each = ", ".join(f"{name} {one:.1f} %" for name, one in saved.items())
    return near_figure(
        max(saved.values()),
        95,
        points=0.5,
        why=f"by scenario: {each}; without a query our program has hardly a fault",
        tolerance="half a point: published as a whole one, of 5 that are left",
        **others,
    )


#: Whose trace a layout of a scenario is made from: its own; the light one has none.
OWN = {"none": "none", "query": "query", "light": "query"}


def _writes(cases: Sequence[Case]) -> Iterator[Answer]:
    """Flash pages that one node writes: usually, with the published layout from the right trace,
    and at most, by first fit."""
    own = [
        one.flash_writes
        for case in cases
        if case.method == "published" and OWN[case.situation] == case.known
        for one in case.each
    ]
    yield near_figure(
        median_low(own),
        2,
        points=_PAGES,
        why=f"the two buffers hold all pages that it writes; {max(own):.0f} at most",
        part="writes/published",
        claim="flash pages that a node writes, usually: published layouts from own traces (a "
        "query's for the light one)",
        unit="pages",
        tolerance=f"{_PAGES} page: published as usual; ours is the median",
    )
    most, situation = max(
        (
            (one, case.situation)
            for case in cases
            if case.method == "first fit"
            for one in case.each
        ),
        key=lambda of: of[0].flash_writes,
    )
    yield near_figure(
        most.flash_writes,
        1696,
        digits=0,
        why=f"in scenario {situation}, {100 * most.flash_writes / most.accesses:.2f} % of the "
        "node's accesses; our program writes to all of its three pages",
        part="writes/first-fit",
        claim="flash pages that a node writes, at most: first fit",
        unit="pages",
    )


def measured_latency(on_board: Sequence[OnBoard]) -> list[Answer]:
    """The same of the node that ran on the board."""
    us = {(one.case.situation, one.case.known, one.case.method): one.us for one in on_board}
    saved = {
        name: _rig.fewer(us[name, name, "published"], us[name, "nothing", "first fit"])
        for name in ("none", "query")
        if (name, name, "published") in us
    }
    if not saved:
        return []
    return [
        _saved_latency(
            saved,
            part="latency/board",
            claim=f"the same measured on the emulated ATmega128, node {_board_cases.NODE}",
        )
    ]


def _latencies(cases: Sequence[Case], axes: "Axes") -> None:
    for line in _lines(cases):
        latencies = [case.cost.latency_us for case in line]
        axes.plot(list(_SITUATIONS.values()), latencies, label=_label(line[0]))
    axes.set_yscale("log")
    axes.set_ylabel("us an access")
    _beside(axes)


@experiment(
    "V7",
    claim="Mate-like: faults with a layout from a trace",
    published=6,
    unit="faults",
    where="figure 7",
    setup=MATE,
)
def mate(quick: bool) -> Report:
    """No program, a counter, an aggregation; a page in RAM. Means of the nodes."""
    cases, on_board = _cases.mate(quick), _board_cases.mate(quick)
    answers = []
    for scenario, known, what, published in (
        ("none", "none", "no program: faults with its own trace", 0),
        ("counter", "counter", "a counter: faults with its own trace", 0),
        ("aggregation", "counter", "aggregation: faults with the counter's trace", 6),
    ):
        first = _cases.of(cases, scenario, "nothing", "first fit")
        laid = _cases.of(cases, scenario, known, "published")
        answers.append(
            Answer(
                round(laid.faults, 1),
                verdict=NOT_JUDGED,
                why="our program was written to make the published 38 accesses without a program "
                f"in it and the published faults; first fit {first.faults:.0f} of "
                f"{first.accesses:.0f}",
                part=scenario,
                claim=what,
                published=published,
            )
        )
    return Report(
        answers=[*answers, _board_cases.answer(on_board, _MATE_SAMPLE)],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _draw(cases, axes),
    )


@experiment(
    "V8",
    claim="12 pages, 4 or more in RAM: most faults with a layout from the source",
    published="< 5",
    unit="%",
    where="figure 8, section 6.3.2",
    setup=f"{_GENERATED}; 12 pages of 264 B, 1 to 12 of them in RAM",
)
def frames(quick: bool) -> Report:
    """Generated program of 3168 B with 1 to 12 pages in RAM."""
    counts = (1, 2, 3, 4, 6, 7, 8) if quick else _cases.FRAMES
    cases = tuple(case for count in counts for case in _cases.generated(12, count))
    sample = (4,) if quick else (1, 4, 12)
    on_board = [one for count in sample for one in _board_cases.generated(12, count, quick)]
    return Report(
        answers=[
            *_resident(cases, counts),
            *_saved_ram(),
            _board_cases.answer(on_board, _GENERATED_SAMPLE.format(", ".join(map(str, sample)))),
        ],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _draw_frames(cases, counts, axes),
    )


def _resident(cases: tuple[Case, ...], counts: Sequence[int]) -> list[Answer]:
    """Faults by pages in RAM, with the published layout from the source and by first fit."""

    def cost(count: int, known: str, method: str) -> _rig.Cost:
        return _cases.of(cases, f"12 pages, {count} in RAM", known, method)

    share = max(cost(count, "all", "published").share for count in counts if count >= 4)
    saved = {
        count: cost(count, "nothing", "first fit").faults - cost(count, "all", "published").faults
        for count in counts
    }
    best = max(saved, key=lambda count: saved[count])
    return [
        bound(share, "< 5", part="share"),
        *_without_faults(
            {
                known: [cost(count, known, "published").faults for count in counts]
                for known in ("all", "incomplete")
            },
            counts,
        ),
        near_figure(
            saved[best],
            3995,
            digits=0,
            part="saved",
            claim="most faults fewer than by first fit, of 50,000 accesses",
            unit="faults",
            why=f"with {best} pages in RAM, where theirs gains little over first fit",
        ),
    ]


def _without_faults(faults: dict[str, list[float]], counts: Sequence[int]) -> list[Answer]:
    """Pages in RAM from which on there is no fault: the layout that knows all, and the other."""
    used = 4 * len({element for element, _ in _programs.Generated(_programs.SMALLEST).accesses})
    needed = -(-used // _programs.PAGE)
    answers = []
    for known, published in (("all", 6), ("incomplete", 7)):
        none = [count for count, left in zip(counts, faults[known], strict=True) if not left]
        beyond = known == "all" and needed > published
        answers.append(
            Answer(
                min(none, default=f"> {max(counts)}"),
                holds=bool(none) and min(none) == published,
                verdict=NOT_REACHABLE if beyond else "",
                why=f"{used:,} B are accessed, as in the document, and {published} pages of "
                f"{_programs.PAGE} B hold {published * _programs.PAGE:,}: {needed} at the least"
                if beyond
                else f"with {max(counts)} pages {faults[known][-1]:.0f} faults are left: elements "
                "all of whose accesses are hidden lie among those that have none",
                part=f"none/{known}",
                claim=f"pages in RAM from which on there is no fault, {_KNOWN[known]} known",
                published=published,
                unit="pages",
                tolerance="" if beyond else _COUNTS,
            )
        )
    return answers


def _saved_ram() -> list[Answer]:
    """Of the program of 12 pages, with one of them in RAM and with all."""
    if _board_cases.missing():
        return []
    few, all_of = _board_cases.ram_saved(12, 1), _board_cases.ram_saved(12, 12)
    return [
        near_figure(
            few,
            90,
            points=2,
            part="ram/1",
            claim="RAM saved with one page in it, about",
            tolerance="2 points: published as about a round figure; a page is 8 of them",
        ),
        near_figure(
            -all_of,
            4,
            points=0.5,
            part="ram/12",
            claim="RAM more with all pages in it",
            tolerance="half a point: published as a whole one",
        ),
    ]


@experiment(
    "V9",
    claim="60 pages, 12 in RAM: faults with a layout from the source, all accesses known",
    published="< 4.1",
    unit="%",
    where="figure 9, section 6.3.3",
    setup=f"{_GENERATED}; 12 to 60 pages, 12 in RAM, by the latencies of table 2; beyond 12 "
    "pages those accesses drawn out over the data, but for a share that goes to any element, so "
    "large that 0.19 of the further bytes are accessed too, as follows from the published sizes",
)
def sizes(quick: bool) -> Report:
    """Generated programs of 12 to 60 pages with 12 in RAM."""
    counts = (12, 36, 60) if quick else _cases.PAGES
    cases = tuple(case for count in counts for case in _cases.generated(count, 12))
    on_board = _board_cases.generated(counts[-1], 12, quick)
    return Report(
        answers=[*_sixty(cases), _board_cases.answer(on_board, "60 pages, 12 in RAM")],
        columns=_COLUMNS,
        rows=_rows(cases, on_board),
        draw=lambda axes: _draw_sizes(cases, counts, axes),
    )


#: What is known, how it is laid out, in words; faults, %, and latency, ms, of 60 pages.
_SIXTY = (
    ("all", "published", "all accesses known", 4.1, 0.39),
    ("incomplete", "published", "all but every fourth access known", 9, 0.80),
    ("nothing", "first fit", "first fit", 35, 1.8),
)


def _sixty(cases: tuple[Case, ...]) -> Iterator[Answer]:
    """Of 60 pages: faults and latency by what is known."""
    for known, method, what, share, ms in _SIXTY:
        cost = _cases.of(cases, "60 pages, 12 in RAM", known, method)
        part = "first fit" if known == "nothing" else known
        claim = f"60 pages, 12 in RAM: faults, {what}"
        if known == "all":
            yield bound(cost.share, f"< {share}", part=part, claim=claim)
        else:
            yield near_figure(
                cost.share,
                share,
                digits=2,
                why="the base trace is our own, whose accesses keep together more than the paper's",
                part=part,
                claim=claim,
            )
        each = (cost.latency_us - _rig.RESIDENT_US) / 10 / cost.share
        chance = near(cost.latency_us / 1000, ms, percent=_FIGURE)
        yield near_figure(
            cost.latency_us / 1000,
            ms,
            digits=2,
            why=f"a fault takes {each:.1f} ms, in the paper {100 * (ms - 0.019) / share:.1f}"
            f"{' or more' if known == 'all' else ''}: ours "
            "are fewer, and most of them cost a flash write"
            + ("; so near by chance" if chance else ""),
            part=f"latency/{part}",
            claim=f"latency of an access, {what}",
            unit="ms",
        )


def _curves(cases: Sequence[Case], at: Sequence[int], axes: "Axes") -> None:
    for line in _lines(cases):
        shares = [case.cost.share for case in line]
        axes.plot(at, shares, label=_label(line[0]), markersize=3)
    axes.set_xticks(at)
    axes.set_ylabel("faults, % of accesses")
    axes.legend(fontsize=7)


def _draw_frames(cases: Sequence[Case], at: Sequence[int], axes: "Axes") -> None:
    """Figure 8 (b), and the bound that its text prints."""
    axes.plot((4, 12), (5, 5), ":", marker="", color=plots.TEXT, label="printed: heuristic below")
    _curves(cases, at, axes)
    axes.set_xlabel("pages in RAM")


def _draw_sizes(cases: Sequence[Case], at: Sequence[int], axes: "Axes") -> None:
    """Figure 9 (b), and the three shares that its text prints."""
    shares = [share for *_, share, _ in _SIXTY]
    plots.printed(axes, [60] * len(shares), shares, "printed: first fit, 3 of 4, all")
    _curves(cases, at, axes)
    axes.set_xlabel("pages of data, 12 of them in RAM")
