# SPDX-License-Identifier: Apache-2.0
"""The two bounds of the lavish layer (Lin et al., IJDSN 2013, 324641), over long runs.

Merges win at least (L - 1) / L free blocks for a block erased, and a sector written costs at most
1 / L copies. Both are judged at L = 8, the document's example, and shown for other degrees, on
writes of four kinds, with ample and with the least possible space. What erases win is counted in
pages: those programmed for the host and for maps, and those free at the end and not at the start;
so a page that a merge leaves behind unused in a block it erases is lost. Space is ample with a data
block and a log for every logical block; with the least there is one log for all, so that logs are
merged before they are full.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab._native import Lavish
from lab.experiments import Answer, Report, experiment
from nandwich import _native, plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PART = "K9F1G08U0A"
SECTORS = 1024  # 2 MB of virtual memory
BLOCK = 64  # sectors of a logical block: pages of a block of the part
DEGREES = (2, 4, 8, 16)
JUDGED = 8
MAPS = 4
_BOUND = "none: a bound for every run, which one run beyond it refutes"


def random_writes(dice: random.Random) -> Iterator[int]:
    """Every sector alike."""
    while True:
        yield dice.randrange(SECTORS)


def sequential_writes(dice: random.Random) -> Iterator[int]:
    """Round and round, from somewhere."""
    start = dice.randrange(SECTORS)
    while True:
        yield from range(start, SECTORS)
        start = 0


def scattered_writes(dice: random.Random) -> Iterator[int]:
    """A few sectors of every logical block, again and again, and seldom any other."""
    while True:
        if dice.random() < 0.1:
            yield dice.randrange(SECTORS)
        else:
            yield dice.randrange(64) * 23 % SECTORS


def jpeg_writes(dice: random.Random) -> Iterator[int]:
    """What leaves a page cache while pictures are decoded: the bitmap, streamed in rows of blocks
    with a little going back and forth, beside coefficients and tables written over and over."""
    tables = range(0, 48)
    bitmap = range(64, SECTORS)
    row = 12
    while True:
        for start in range(bitmap.start, bitmap.stop, row):
            for _ in range(3):
                yield dice.choice(tables)
            end = min(start + row, bitmap.stop)
            yield from range(start, end)
            yield from (dice.randrange(start, end) for _ in range(row // 3))


WORKLOADS: dict[str, Callable[[random.Random], Iterator[int]]] = {
    "random": random_writes,
    "sequential": sequential_writes,
    "scattered": scattered_writes,
    "jpeg-like": jpeg_writes,
}


@dataclass(frozen=True)
class Run:
    """Measured over the second half of one run, when every log is in use."""

    degree: int
    workload: str
    space: str
    efficiency: float  # pages won per page erased
    copies: float  # per sector appended: host sectors and maps
    merges: dict[str, int]

    @property
    def ample(self) -> bool:
        return self.space == "ample"


def measure(degree: int, workload: str, *, ample: bool, writes: int) -> Run:
    """One run on a fresh chip."""
    least = SECTORS // BLOCK + 2
    chip = _native.Nand.open(
        _native.Part.named(PART), blocks=degree * (2 * least + 2), options=["no_payload"]
    )
    device = Lavish.open(
        chip, sectors=SECTORS, degree=degree, maps=MAPS, lavish_blocks=0 if ample else least
    )
    stream = WORKLOADS[workload](random.Random(degree))
    device.write([next(stream) for _ in range(writes // 2)])
    before, free = device.stats, device.free_pages
    device.write([next(stream) for _ in range(writes // 2)])
    now = {name: count - before[name] for name, count in device.stats.items()}
    won = now["programs"] - now["copies"] + device.free_pages - free
    return Run(
        degree=degree,
        workload=workload,
        space="ample" if ample else "least",
        efficiency=won / (now["erases"] * BLOCK),
        copies=now["copies"] / (now["programs"] - now["copies"]),
        merges={
            "I": now["merges_1"],
            "switch": now["merges_switch"] - now["merges_1"],
            "II": now["merges_partial"],
            "III": now["merges_full"],
        },
    )


def draw(runs: list[Run], axes: "Axes") -> None:
    """Copies a sector appended, in units of the bound; a line a workload and space."""
    for space, style in (("ample", "-"), ("least", "--")):
        for number, workload in enumerate(WORKLOADS):
            chosen = [run for run in runs if run.workload == workload and run.space == space]
            axes.plot(
                [run.degree for run in chosen],
                [run.copies * run.degree for run in chosen],
                linestyle=style,
                marker=plots.MARKS[number],
                color=plots.COLOURS[number],
                label=f"{workload}, {space} space",
            )
    axes.axhline(1, linestyle=":", color="black", label="bound")
    axes.set_xscale("log", base=2)
    axes.set_xticks(DEGREES, [str(degree) for degree in DEGREES])
    axes.set_xlabel("lavish degree L")
    axes.set_ylabel("copies a sector appended, in 1 / L")
    axes.legend(fontsize=6, ncols=2)


def _answers(runs: list[Run]) -> list[Answer]:
    judged = [run for run in runs if run.degree == JUDGED]
    worst = min(judged, key=lambda run: run.efficiency)
    ample = max(run.copies for run in judged if run.ample)
    least = max(run.copies for run in judged if not run.ample)
    return [
        Answer(
            round(worst.efficiency, 4),
            holds=worst.efficiency >= 1 - 1 / JUDGED,
            tolerance=_BOUND,
            why=f"the least of all: {worst.space} space, {worst.workload} writes",
            part="erases",
            claim="pages won per page erased >= 7/8 at L = 8",
        ),
        Answer(
            round(ample, 4),
            holds=ample <= 1 / JUDGED,
            tolerance=_BOUND,
            why="with a log for each logical block: sectors in a new log's start are gone "
            "from the data block that is copied next",
            part="copies",
            claim="copies for each sector appended, host's and maps', <= 1/8 at L = 8 in ample "
            "space",
            published=1 / JUDGED,
        ),
        Answer(
            round(least, 4),
            holds=least <= 1 / JUDGED,
            tolerance=_BOUND,
            why="one log for all: it is merged before it is full, and up to 1/(L-1) is copied; "
            "per sector programmed, copies included, 1/L holds",
            part="copies-in-least-space",
            claim="copies for each sector appended, host's and maps', <= 1/8 at L = 8 in the "
            "least possible space",
            published=1 / JUDGED,
        ),
    ]


@experiment(
    "lavish-bounds",
    claim="erases and copies keep to the bounds of degree L",
    published=0.875,
    unit="",
    where="section 6.2, equations 1 and 2",
    setup="published: proofs for a degree of L, with L = 8 and 64 sectors a block as the example; "
    f"no run. Ours: K9F1G08U0A (64 pages of 2,048 B a block), {SECTORS} sectors (16 logical "
    f"blocks), {MAPS} maps in RAM, L = {JUDGED} judged, 2, 4 and 16 in the table; writes at "
    "random, in sequence, scattered (64 sectors again and again, a tenth anywhere) and as of a "
    "JPEG decoder (a bitmap in rows of 12 sectors, a third of them again, 3 of 48 sectors of "
    "tables before each), no trims; ample space: 34 lavish blocks, a data and a log for a logical "
    "block and two more; least: 18, one for each and two more; 1,000,000 writes, of which the "
    "second half counts. Room won: pages programmed for host and maps, and free pages gained, over "
    "pages erased; copies: pages copied over pages programmed for host and maps",
)
def lavish_bounds(quick: bool) -> Report:
    writes = 60_000 if quick else 1_000_000
    runs = [
        measure(degree, workload, ample=ample, writes=writes)
        for ample in (True, False)
        for degree in DEGREES
        for workload in WORKLOADS
    ]
    return Report(
        answers=_answers(runs),
        columns=[
            "L",
            "workload",
            "space",
            "erase efficiency",
            "(L-1)/L",
            "copies",
            "1/L",
            "I",
            "switch",
            "II",
            "III",
        ],
        rows=[
            [
                run.degree,
                run.workload,
                run.space,
                round(run.efficiency, 4),
                round(1 - 1 / run.degree, 4),
                round(run.copies, 4),
                round(1 / run.degree, 4),
                *run.merges.values(),
            ]
            for run in runs
        ],
        draw=lambda axes: draw(runs, axes),
    )
