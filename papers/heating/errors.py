# SPDX-License-Identifier: Apache-2.0
"""D-2.9: bit errors against wear, and what early healing spares of them.

The thesis prints one figure of its curve: a quarter less life has 70.1 % fewer bit errors. The part
MLC64G is made from it (exponential, its level class), so that figure comes out whatever we do. What
a device gains is another matter: most of what is read lies in blocks that are far from their bar,
and moving the bar changes how far.
"""

from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment
from nandwich import _native
from papers.heating._play import (
    BAR,
    ECC_BITS,
    ECC_BYTES,
    PUBLISHED,
    SETUP,
    Outcome,
    Setup,
    play,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PART = "MLC64G"
FEWER = -70.1
BARS = (100, 95, 90, 85, 80, 75)
EARLY = 75
NAME = "filecopy"  # of which all bars are played
BLOCKS = 8  # of whole pages that a rate is drawn from


def curve() -> str:
    """Of the part, with its life shrunk to the experiment's bar."""
    part = _native.Part.named(PART)
    life = part.number("endurance")
    points = (point.split(":") for point in part.text("errors").split())
    return " ".join(f"{int(cycles) * BAR // life}:{errors}" for cycles, errors in points)


def late_curve() -> str:
    """The same at both bars, but flat up to the early one and straight from there."""
    rates = dict(point.split(":") for point in curve().split())
    early = rates[str(EARLY)]
    return f"0:{early} {EARLY}:{early} {BAR}:{rates[str(BAR)]}"


def rate_at(percent: int) -> float:
    """Raw bit errors a bit that blocks of the part have after so much of their life."""
    part = _native.Part.named(PART)
    nand = _native.Nand.open(part, blocks=BLOCKS, options=["no_payload", "bit_errors"])
    page_bytes = nand.geometry["page_bytes"]
    for block in range(BLOCKS):
        nand.set_erases(block, part.number("endurance") * percent // 100 - 1)
        nand.erase(block)
    for page in range(BLOCKS * nand.geometry["block_pages"]):
        nand.program(page, bytes(page_bytes))
        nand.read(page, 0, page_bytes)
    return nand.stats["bits_flipped"] / (8 * nand.stats["bytes_read"])


def _run(name: str, quick: bool, bar: int, shape: str = "") -> Outcome:
    return play(Setup(name, "dheating", bar=bar, errors=shape or curve()), quick)


def _change(now: float, before: float) -> float:
    return 100 * (now / before - 1)


def _fewer(name: str, quick: bool, shape: str = "") -> float:
    """Bit errors in what is read with the bar at 75 %, against the bar at the limit."""
    early, limit = (_run(name, quick, bar, shape).error_rate for bar in (EARLY, BAR))
    return _change(early, limit)


def _answers(quick: bool) -> list[Answer]:
    limit, early = rate_at(100), rate_at(EARLY)
    used, spared = (_run(NAME, quick, bar).error_rate for bar in (BAR, EARLY))
    fewer = {name: _fewer(name, quick) for name in PUBLISHED}
    least, price = max(fewer.values()), EARLY - 100
    return [
        Answer(
            round(_change(early, limit), 1),
            verdict=NOT_JUDGED,
            why=f"by construction: the curve of {PART} is made from this very figure; drawn on "
            f"{BLOCKS} blocks of the twin, {limit:.2e} errors a bit come to {early:.2e}",
            part="limit",
        ),
        Answer(
            ", ".join(f"{change:.1f}" for change in fewer.values()),
            verdict=NOT_JUDGED,
            why="the thesis prints the rate at the bar, not what is read; between its points the "
            f"curve is ours. By workload, as in table 2.1; File Copy: {used:.2e} errors a bit "
            f"come to {spared:.2e}, for with the bar at the limit, too, most is read from blocks "
            f"that are far from it: {used / limit:.2f} of the rate there",
            part="read",
            claim="the bar at 75 % of the life: bit errors in all that is read under DHeating",
        ),
        Answer(
            round(_fewer(NAME, quick, late_curve()), 1),
            verdict=NOT_JUDGED,
            why="the printed ratio alone does not say what early healing spares: here it is the "
            "same, but errors are even until three quarters of the life, and few reads meet those "
            "that a lower bar takes away",
            part="late",
            claim="the same where errors grow in the last quarter alone, File Copy",
            where=OURS,
        ),
        Answer(
            round(least, 1),
            holds=least < price,
            why=f"the bar takes {-price} % of each life, so that healings come that much closer; "
            "of the six workloads the one that gains least",
            part="price",
            claim=f"with errors that grow as those of {PART} early healing spares more of the bit "
            "errors read than of the life",
            published=f"below {price}",
            where=OURS,
            tolerance="none: a bound",
            must_hold=True,
        ),
    ]


def _draw(axes: "Axes", rows: list[list[Value]]) -> None:
    """Rates at the bar and in use, against the bar."""
    bars = [int(row[0]) for row in rows]
    axes.plot(bars, [float(row[1]) for row in rows], label="at the bar")
    axes.plot(bars, [float(row[2]) for row in rows], label="of what is read, File Copy, DHeating")
    axes.set_yscale("log")
    axes.set_xlabel("bar (% of the life)")
    axes.set_ylabel("raw bit errors a bit")
    axes.legend()


@experiment(
    "D-2.9",
    claim="bit errors after 75 % of the life, against the whole",
    published=FEWER,
    unit="%",
    where="figure 2.9 and section 2.3.4",
    setup=SETUP + ". Figure 2.9, published: raw bit errors of a Micron 64 Gbit MLC of 3000 cycles; "
    f"our copy has of it one ratio. Ours: the curve of {PART} with its life shrunk to the bar of "
    f"{BAR} erases, {ECC_BITS} bits in {ECC_BYTES} corrected, under DHeating",
)
def errors(quick: bool) -> Report:
    """Rates by age of cells, and of what is read with the bar at 100 to 75 % of the life."""
    bars = (BAR, EARLY) if quick else BARS
    rows: list[list[Value]] = []
    for bar in bars:
        run = _run(NAME, quick, bar)
        rows.append([bar, rate_at(bar), run.error_rate, round(run.interval_s, 1)])
    return Report(
        answers=_answers(quick),
        columns=["bar %", "errors a bit at the bar", "of what is read", "interval s"],
        rows=rows,
        draw=lambda axes: _draw(axes, rows),
    )
