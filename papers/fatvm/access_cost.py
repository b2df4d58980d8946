# SPDX-License-Identifier: Apache-2.0
"""T4: what one access costs: hit of a buffer, miss of it, no buffer at all (Lin et al. 2013, table
4), in cycles of the emulated Cortex-M3: a band, by the table of the processor's manual."""

from typing import TYPE_CHECKING

from lab.device import figures
from lab.device.figures import Cost
from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment, meets
from nandwich import plots
from papers.fatvm import on_board

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PUBLISHED_CYCLES = {"no buffer": 24, "hit": 19, "miss": 33}
#: What the board's table of accesses calls them, guards in place.
_IN_PLACE = {"hit": "buffer.load", "miss": "miss.load"}
_WITHIN_PERCENT = 25
_TOLERANCE = (
    f"{_WITHIN_PERCENT} % either way, which our band of cycles has to meet: flash without wait "
    "states here, unknown there"
)
_CALL = "a call of C code that looks into its table of buffers, where theirs is passed its buffer"
_REASONS = {
    "hit": _CALL,
    "miss": _CALL + "; the miss hashes the page, moves a pin and puts the page let go first in the "
    "order of use, where their best case finds its page in the first frame it looks at",
}
#: What says nothing of us.
_NOT_THEIRS = {
    "no buffer": "no load goes without a buffer here: where all share one, the page used last is "
    "in it, so this is a hit, and whatever misses it is the row of the miss",
    "in place": "the document's guards are calls, these are instructions in place",
}


def _answer(kind: str, cost: Cost, *, in_place: bool = False) -> Answer:
    """The whole access, as published."""
    published = _PUBLISHED_CYCLES[kind]
    apart = published * _WITHIN_PERCENT / 100
    without = _NOT_THEIRS["in place"] if in_place else _NOT_THEIRS.get(kind, "")
    return Answer(
        f"{cost.cycles_least:g} to {cost.cycles_most:g}",
        holds=meets((cost.cycles_least, cost.cycles_most), (published - apart, published + apart)),
        verdict=NOT_JUDGED if without else "",
        tolerance="" if without else _TOLERANCE,
        why=f"{cost.instructions:g} instructions; {without or _REASONS[kind]}",
        part=kind.replace(" ", "-") + ("-in-place" if in_place else ""),
        claim=f"{kind}: a load, guards {'in place' if in_place else 'as calls'}",
        published=published,
    )


def _answers(calls: dict[str, Cost], places: dict[str, Cost]) -> list[Answer]:
    return [
        *(_answer(kind, cost) for kind, cost in calls.items()),
        *(_answer(kind, places[name], in_place=True) for kind, name in _IN_PLACE.items()),
    ]


@experiment(
    "T4",
    claim="cost of an access",
    published="no LCB 24, LCB hit 19, LCB miss 33 (best cases)",
    unit="cycles",
    judges_quick=True,
    where="section 7.2.2, table 4",
    setup="published: 2,880,000 loads on the Cortex-M3 at 72 MHz, cycles a load, everything "
    "resident; a translation is a call that is passed its last-cache buffer; without buffers the "
    "page is in the first frame it looks at. Ours: loops of 1,000 and 3,000 loads of 32 bits, "
    "their difference, less the same of the loop alone; clang -O2; cycles by the processor's "
    "manual, least and most; 1 MB of virtual memory, 40 KB of frames of 512 B; "
    + on_board.CALLS
    + " (no buffer: 1 for all, the same place again and again; miss: two pages that take turns). "
    "In place: CLOCK, page windows, 64 look-aside entries, which the two pages share",
)
def access_cost(quick: bool) -> Report:  # noqa: ARG001 - as quick as it can be
    """Loads of resident pages."""
    board = on_board.board()
    calls, places = figures.called(board), figures.accesses(board)
    rows: list[list[Value]] = []
    for kind, cost in calls.items():
        row: list[Value] = [kind, _PUBLISHED_CYCLES[kind], cost.cycles_least, cost.cycles_most]
        placed = places.get(_IN_PLACE.get(kind, ""))
        row += ["", ""] if placed is None else [placed.cycles_least, placed.cycles_most]
        rows.append(row)
    return Report(
        answers=_answers(calls, places),
        columns=[
            "access",
            "published, cycles",
            "by calls, cycles, least",
            "most",
            "in place, cycles, least",
            "most in place",
        ],
        rows=rows,
        draw=lambda axes: _draw(axes, places, calls),
    )


def _draw(axes: "Axes", places: dict[str, Cost], calls: dict[str, Cost]) -> None:
    series: dict[str, list[float | None]] = {
        "published, best cases": [_PUBLISHED_CYCLES[kind] for kind in _IN_PLACE],
        "by calls, at least": [calls[kind].cycles_least for kind in _IN_PLACE],
        "in place, at least": [places[name].cycles_least for name in _IN_PLACE.values()],
        "in place, at most": [places[name].cycles_most for name in _IN_PLACE.values()],
    }
    plots.grouped(axes, list(_IN_PLACE), series, log=True)
    axes.set_ylabel("cycles of a load on the Cortex-M3")
    axes.legend(fontsize=7)
