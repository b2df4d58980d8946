# SPDX-License-Identifier: Apache-2.0
"""C9 and C10: moving all of a stream and of an index to the end of the log (Mathur et al., SenSys
2006)."""

from functools import partial
from typing import TYPE_CHECKING

from lab.experiments import Answer, Report, Value, experiment
from papers.capsule._rig import Rig

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (32, 64, 128, 256)
KINDS = ("stream", "index")
HELD = 128 * 1024
#: Chunks a call moves; between calls an application has its turn.
STEP = 64

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


WHY = {
    "stream": "each chunk's header is read before its payload, and its position in the index is "
    "written again; headers have 14 bytes, not 3",
    "index": "values are read by header and payload, then the nodes above them are written again",
}


def _bounds(table: Table, column: int, published: float, unit: str) -> list[Answer]:
    """A stream of each size against the one figure that is printed for all of them."""
    return [
        Answer(
            round(costs[1][column], 2),
            holds=costs[1][column] <= published,
            why=WHY[kind],
            part=f"stream-{size}",
            claim=f"a stream in chunks of {size} B",
            published=published,
            unit=f"{unit} at most",
        )
        for (kind, size), costs in table.items()
        if kind == "stream"
    ]


@experiment("C9", claim="energy to compact 128 KB", published="", unit="mJ")
def energy(quick: bool) -> Report:
    """A stream and an index in chunks of 32 to 256 bytes, at the paper's costs; the blocks they
    move to are erased already."""
    table = _measure(quick)
    written, moved = (table["index", 128][i][0] / table["stream", 128][i][0] for i in (0, 1))
    same = "a stream is found by an index here, as an array is: the same work for both"
    answers = _bounds(table, 0, 48.9, "mJ")
    answers += [
        Answer(
            round(moved, 3),
            holds=moved < 1,
            why=same,
            part="index",
            claim="compacting an index costs less than a stream, chunks of 128 B",
            published="< 1",
            unit="x",
        ),
        Answer(
            round(written, 3),
            holds=written > 1,
            why=same,
            part="write",
            claim="writing an index costs more than a stream, chunks of 128 B",
            published="> 1",
            unit="x",
        ),
    ]
    return _report(answers, table, 0, "mJ")


@experiment("C10", claim="time to compact 128 KB", published="", unit="s")
def time(quick: bool) -> Report:
    """The same in seconds."""
    table = _measure(quick)
    answers = _bounds(table, 1, 3.2, "s")
    answers += [
        Answer(
            round(value, 2),
            holds=value <= published,
            why=WHY[kind],
            part=part,
            claim=claim,
            published=published,
            unit="s at most",
        )
        for kind, part, claim, value, published in (
            ("stream", "longest", "any object, any chunk", max(c[1][1] for c in table.values()), 5),
            ("stream", "stream", "a stream, chunks of 128 B", table["stream", 128][1][1], 2.5),
            ("index", "index", "an index, chunks of 128 B", table["index", 128][1][1], 2.0),
        )
    ]
    return _report(answers, table, 1, "s")
