# SPDX-License-Identifier: Apache-2.0
"""What a durable byte costs: our store beside others on the same work (`nandwich bench store`)."""

from typing import TYPE_CHECKING

from bench.store import ECC_SHAPE, ours
from lab import peers
from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment
from lab.peers import OURS, OURS_ECC, SHAPES, WORKS, Counts, NotMeasuredError
from nandwich import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _all(quick: bool) -> tuple[list[Counts], str]:
    """Everybody's counts, and why the peers are missing."""
    found: list[Counts] = []
    for shape in SHAPES:
        found += ours(shape) + (ours(shape, ecc=True) if shape.name == ECC_SHAPE else [])
        try:
            found += [] if quick else peers.measure(shape)
        except NotMeasuredError as error:
            return found, str(error)
    return found, "left out when quick" if quick else ""


def _answer(found: list[Counts], shape: str, work: str, missing: str) -> Answer:
    """Our energy against the cheapest peer's."""
    here = [c for c in found if (c.shape, c.work) == (shape, work)]
    mine = next(c for c in here if c.store == OURS)
    others = [c for c in here if c.store not in (OURS, OURS_ECC)]
    claim = f"{shape}, {work}: no dearer than the cheapest of the others"
    if not others:
        return Answer(
            round(mine.energy_mj, 3),
            verdict=NOT_JUDGED,
            why=f"not compared: {missing}",
            part=f"{shape}-{work}",
            claim=claim,
        )
    best = min(others, key=lambda c: c.energy_pj)
    rules = ""
    if best.page_programs > 4 and shape.startswith("nand"):
        rules = f"; it programs a page {best.page_programs} times, which no NAND allows"
    return Answer(
        round(mine.energy_mj, 3),
        holds=mine.energy_pj <= best.energy_pj,
        why=f"{best.store}{rules}",
        part=f"{shape}-{work}",
        claim=claim,
        published=round(best.energy_mj, 3),
        tolerance="none: order alone, of exact counts of the same work on the same chip",
    )


@experiment(
    "store-cost",
    claim="energy of the same work in several stores",
    unit="mJ",
    where="docs/store-cost.md",
    setup="append, read back, small and overwrite on three chips of the twin, by each store",
)
def store_cost(quick: bool) -> Report:
    """Append, read back, small and overwrite of bench/peers on three chips."""
    found, missing = _all(quick)
    answers = [_answer(found, shape.name, work, missing) for shape in SHAPES for work in WORKS]
    rows: list[list[Value]] = [
        [
            c.shape,
            c.work,
            c.store,
            c.reads,
            c.bytes_read,
            c.programs,
            c.bytes_programmed,
            c.erases,
            round(c.energy_mj, 3),
            round(c.worst_ns / 1e6, 3),
        ]
        for c in found
    ]

    def draw(axes: "Axes") -> None:
        stores = sorted(
            {c.store for c in found}, key=lambda name: (name != OURS, name != OURS_ECC, name)
        )
        places = [(shape.name, work) for shape in SHAPES for work in WORKS]
        known = {(c.store, c.shape, c.work): c.energy_mj for c in found}
        series = {name: [known.get((name, *place)) for place in places] for name in stores}
        plots.grouped(axes, [f"{shape} {work}" for shape, work in places], series, log=True)
        axes.tick_params(axis="x", labelrotation=40, labelsize=6)
        axes.set_ylabel("mJ")
        axes.legend(fontsize=7)

    columns = [
        "chip",
        "work",
        "store",
        "reads",
        "bytes read",
        "programs",
        "bytes programmed",
        "erases",
        "mJ",
        "longest call ms",
    ]
    return Report(answers, columns, rows, draw)
