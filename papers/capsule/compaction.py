# SPDX-License-Identifier: Apache-2.0
"""C9 and C10: moving all of a stream and of an index to the end of the log (Mathur et al., SenSys
2006)."""

from functools import partial
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment, span
from papers.capsule._rig import CLOCK, Rig, card

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (32, 64, 128, 256)
KINDS = ("stream", "index")
HELD = 128 * 1024
#: Chunks a call moves; between calls an application has its turn.
STEP = 64

_SETUP = card(
    "128 KB in chunks of 32 to 256 B",
    "128 KB in chunks of 32, 64, 128 or 256 B written to a stream, or to an array with a key a "
    f"chunk, then made durable; all of it moved, {STEP} chunks a call, then made durable; the page "
    "buffer holds other things before, and the blocks it moves to are erased already",
    blocks=512,
)

Cost = tuple[float, float]
Table = dict[tuple[str, int], tuple[Cost, Cost]]


def _compact(rig: Rig, handle: int) -> None:
    """Until nothing is left to move, then durable."""
    key, moved = 0, STEP
    while moved > 0:
        moved, key = rig.store.compact(handle, key, STEP)
    rig.store.sync()


def _costs(kind: str, size: int) -> tuple[Cost, Cost]:
    """mJ and s of writing 128 KB in chunks of a size, and of moving them."""
    rig = Rig(blocks=512)
    store, count = rig.store, HELD // size
    element = bytes(range(size))
    if kind == "stream":
        handle = store.create("data", "stream")
        calls = [partial(store.append, handle, element)] * count
    else:
        handle = store.create("data", "array", unit_bytes=size, count=count)
        calls = [partial(store.set, handle, key, element) for key in range(count)]
    written = rig.cost(*calls, store.sync)
    rig.flush()
    before = store.stats["moved"]
    moved = rig.cost(lambda: _compact(rig, handle))
    if store.stats["moved"] != before + count:
        raise AssertionError(f"{store.stats['moved'] - before} chunks of {count} were moved")
    return (written[0] / 1e3, written[1] / 1e6), (moved[0] / 1e3, moved[1] / 1e6)


def _measure(quick: bool) -> Table:
    sizes = (32, 128) if quick else SIZES
    return {(kind, size): _costs(kind, size) for kind in KINDS for size in sizes}


def _report(answers: list[Answer], table: Table, column: int, unit: str) -> Report:
    """What both experiments show: each kind and size, written and moved."""
    rows: list[list[Value]] = [
        [kind, size, *(round(number, 3) for cost in costs for number in cost)]
        for (kind, size), costs in table.items()
    ]

    def draw(axes: "Axes") -> None:
        for kind in KINDS:
            of_kind = {size: costs[1] for (one, size), costs in table.items() if one == kind}
            axes.plot(list(of_kind), [one[column] for one in of_kind.values()], label=kind)
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("bytes a chunk")
        axes.set_ylabel(f"{unit} for 128 KB")
        axes.legend()

    columns = ["object", "chunk B", "write mJ", "write s", "compaction mJ", "compaction s"]
    return Report(answers, columns, rows, draw)


def _unjudged(
    part: str, claim: str, measured: Value, published: Value, why: str, unit: str | None = None
) -> Answer:
    return Answer(
        measured,
        verdict=NOT_JUDGED,
        why=why,
        part=part,
        claim=claim,
        published=published,
        unit=unit,
    )


def _of(table: Table, kind: str, column: int) -> list[float]:
    """What moving an object took at each size of its chunks."""
    return [costs[1][column] for (one, _), costs in table.items() if one == kind]


@experiment(
    "C9",
    claim="energy to compact 128 KB",
    published="",
    unit="mJ",
    where="figure 9",
    setup=_SETUP,
)
def energy(quick: bool) -> Report:
    """A stream and an index in chunks of 32 to 256 bytes."""
    table = _measure(quick)
    written, moved = (table["index", 128][i][0] / table["stream", 128][i][0] for i in (0, 1))
    streams = _of(table, "stream", 0)
    same = (
        "a stream is found by an index here, as an array is: the same work for both, so the "
        "ratio is 1 by construction"
    )
    answers = [
        _unjudged(
            "stream",
            "a stream, no chunk size named",
            span(min(streams), max(streams)),
            48.9,
            "the document names no chunk size, and ours meets the figure at some size between 32 "
            "and 256 B: which one would be our choice",
        ),
        _unjudged(
            "index",
            "compacting an index costs less than a stream, chunks of 128 B: index / stream",
            round(moved, 3),
            "< 1",
            same,
            "x",
        ),
        _unjudged(
            "write",
            "writing an index costs more than a stream, chunks of 128 B: index / stream",
            round(written, 3),
            "> 1",
            same,
            "x",
        ),
    ]
    return _report(answers, table, 0, "mJ")


@experiment(
    "C10",
    claim="time to compact 128 KB",
    published="",
    unit="s",
    where="figure 10",
    setup=_SETUP,
)
def time(quick: bool) -> Report:
    """The same in seconds."""
    table = _measure(quick)
    streams, longest = _of(table, "stream", 1), max(costs[1][1] for costs in table.values())
    claims: list[tuple[str, str, Value, Value]] = [
        ("stream", "a stream, no chunk size named", span(min(streams), max(streams)), 3.2),
        ("longest", "any object, any chunk: under 5 s", round(longest, 2), "< 5"),
        ("stream-128", "a stream, chunks of 128 B", round(table["stream", 128][1][1], 2), 2.5),
        ("index-128", "an index, chunks of 128 B", round(table["index", 128][1][1], 2), 2.0),
    ]
    return _report([_unjudged(*one, CLOCK) for one in claims], table, 1, "s")
