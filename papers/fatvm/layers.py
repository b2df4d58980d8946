# SPDX-License-Identifier: Apache-2.0
"""T6, T7, T8: translation layers under the page traffic of the five programs (Lin et al. 2013,
section 7.3).

The paper gives each peer what its own authors gave it; how much flash is not told. Here the peers
are our models, with half as many blocks again as the data, lavish has its degree of 8. Superblock
is shown with much more space, too, because space is what lavish buys its erases with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment, meets, near
from nandwich import plots
from papers.fatvm import layer_ram, traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_VM = 8 << 20
_FRAME = 2048  # of a sector: neither adaptation scheme is needed
_COLUMNS = (
    "program",
    "layer",
    "policy",
    "RAM for frames",
    "runs",
    "writes",
    "erases",
    "copies",
    "erases for 1000 writes",
    "WA",
    "storage ms a run",
)
# Written before counting begins, as a share of the flash a layer may fill; then as much again.
_FILLS, _QUICK_FILLS = 8, 3
_RIVAL = "superblock"
#: The three that the tables compare.
_THREE = ("lavish", _RIVAL, "log")
_ORDER = "a claim of order: one program that says otherwise is enough to differ"
_LAYERS = (
    "lavish of degree 8, 4 maps in RAM, on 16 x the data and 32 blocks, so 127 lavish blocks; the "
    "others on 1.5 x and 32 blocks; superblock of 8 blocks with 4 logs, page-mapped, 32 lists of a "
    "log's sectors in RAM; log with a log block a data block, 57 at most"
)
_SPACE = (
    "the text gives neither sizes of programs nor the space of the peers, which are Log-FTL and "
    "Superblock-FTL. Ours: " + traffic.SIZES + "; guards in place with page windows and 64 "
    "look-aside entries, as many buffers as half the frames, 8 at most, each of which pins its "
    "page; our models of the peers; " + _LAYERS + "; no layer is told what is freed; page traffic "
    "recorded once and played until the flash is written 8 times over, then as long again for the "
    "counts; " + traffic.NODE_NAND
)


@dataclass(frozen=True)
class Rest:
    """A layer at rest: what the second half of a long replay added to the first."""

    runs: int
    writes: int  # of one run
    counts: dict[str, int]
    storage_ms: float  # a run of the program

    @property
    def erases(self) -> float:
        """Of a run."""
        return self.counts["erases"] / self.runs

    @property
    def copies(self) -> float:
        return self.counts["copies"] / self.runs

    @property
    def erases_a_write(self) -> float:
        return self.counts["erases"] / self.counts["host_writes"]


@dataclass(frozen=True)
class Cell:
    """What one line of a table is of."""

    program: str
    layer: str
    policy: str = "lru"
    ram: int = 16 << 10


def at_rest(layer: str, recording: traffic.Recording, quick: bool) -> Rest:
    """A recording played on a layer until that is at rest, and as long again."""
    writes = max(1, int(recording.report["ftl"]["host_writes"]))
    room = traffic.blocks(layer, _VM) * traffic.BLOCK_PAGES
    runs = -(-room * (_QUICK_FILLS if quick else _FILLS) // writes)
    once, twice = (
        traffic.play(layer, recording, vm_bytes=_VM, repeat=repeat)["result"]
        for repeat in (runs, 2 * runs)
    )
    before, after = once["layer"], twice["layer"]
    counts = {name: after[name] - before[name] for name in after}
    return Rest(runs, writes, counts, (twice["busy_ns"] - once["busy_ns"]) / 1e6 / runs)


@cache
def measured(cell: Cell, quick: bool) -> Rest:
    """A program with frames of a sector; as the paper's, it tells a layer nothing that was "
    "freed."""
    frames = cell.ram // _FRAME
    recording = traffic.record(
        cell.program,
        quick,
        ram=cell.ram,
        frame=_FRAME,
        scheme="direct",
        policy=cell.policy,
        slots=min(8, frames // 2),
    )
    return at_rest(cell.layer, recording.without_trims, quick)


Table = Mapping[Cell, Rest]


def saving(ours: Rest, theirs: Rest) -> float:
    """Erases spared in a run, in percent of the rival's."""
    return round(100 * (1 - ours.erases / theirs.erases), 1)


def _rows(table: Table) -> list[Sequence[Value]]:
    return [
        [
            cell.program,
            cell.layer,
            cell.policy,
            cell.ram,
            rest.runs,
            rest.counts["host_writes"],
            rest.counts["erases"],
            rest.counts["copies"],
            round(1000 * rest.erases_a_write, 2),
            round(rest.counts["programs"] / rest.counts["host_writes"], 3),
            round(rest.storage_ms, 1),
        ]
        for cell, rest in table.items()
    ]


def _draw(table: Table, axes: "Axes") -> None:
    """Erases for 1000 writes under LRU: a group a program."""
    shown = {
        (cell.program, cell.layer): rest for cell, rest in table.items() if cell.policy == "lru"
    }
    series: dict[str, list[float | None]] = {
        layer: [1000 * shown[program, layer].erases_a_write for program in traffic.PROGRAMS]
        for layer in traffic.LAYERS
        if (next(iter(traffic.PROGRAMS)), layer) in shown
    }
    plots.grouped(axes, list(traffic.PROGRAMS), series, log=True)
    plots.plain_ticks(axes.yaxis, (15, 20, 30, 50, 100, 200, 500))
    axes.set_ylabel("erases for 1000 sectors written")
    axes.legend(fontsize=7, ncols=2)


def _draw_small(table: Table, axes: "Axes") -> None:
    """The same, and what the text says of lavish."""
    at = plots.offset(0, len(traffic.LAYERS))
    most = {
        place + at: (1 - _SAID_PERCENT / 100) * 1000 * table[Cell(program, _RIVAL)].erases_a_write
        for place, program in enumerate(traffic.PROGRAMS)
        if program in _SAID
    }
    plots.printed(axes, list(most), list(most.values()), "printed: lavish below")
    _draw(table, axes)


Three = Mapping[str, Sequence[Rest]]  # a program's lavish, superblock and log


def _first(three: Three, figure: str) -> list[str]:
    """Programs on which lavish has least of the three of a figure."""
    return [
        program
        for program, rests in three.items()
        if getattr(rests[0], figure) <= min(getattr(rest, figure) for rest in rests[1:])
    ]


def _fewest(three: Three, figure: str) -> Answer:
    """Whether lavish has the fewest erases, or copies, on every program."""
    first = _first(three, figure)
    told = "; ".join(
        f"{program} {'/'.join(f'{getattr(rest, figure):.4g}' for rest in rests)}"
        for program, rests in three.items()
    )
    return Answer(
        len(first),
        holds=len(first) == len(three),
        tolerance=_ORDER,
        why=f"{figure} a run, lavish/superblock/log: {told}. On what streams, superblock erases "
        "hardly more than the least there is, a block for each 64 sectors written",
        part=f"fewest-{figure}",
        claim=f"programs on which lavish has the fewest {figure} of lavish, superblock and log",
        published=len(three),
        unit=f"of {len(three)}",
    )


# T6 -----------------------------------------------------------------------------------------------

#: Programs of which the text says a saving; of the others it says none.
_SAID = ("jpeg", "huffman")
_SAID_PERCENT = 30
_SIMILAR = 25


def _savings(three: Three, clock: Mapping[str, Sequence[Rest]]) -> list[Answer]:
    answers = []
    for program, (lavish, rival, log) in three.items():
        spared = saving(lavish, rival)
        said = program in _SAID
        answers.append(
            Answer(
                spared,
                holds=said and spared > _SAID_PERCENT,
                verdict="" if said else NOT_JUDGED,
                tolerance="the text says no more than that: an order, of lavish below 0.7 x "
                "superblock"
                if said
                else "",
                why=("" if said else "the text has no figure of this program, the table is lost; ")
                + f"{saving(lavish, log)} % against log; with the clock policy of `nandwich run` "
                f"{saving(*clock[program])} % against superblock; what streams leaves whole blocks "
                "without a valid sector, which superblock gives back without a copy, too",
                part=program,
                claim=f"erases spared against superblock, {program}",
                published=f"> {_SAID_PERCENT}" if said else "lost",
                unit="%",
            )
        )
    return answers


def _similar(three: Three) -> Answer:
    ratios = {name: rests[1].storage_ms / rests[0].storage_ms for name, rests in three.items()}
    return Answer(
        f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f}",
        holds=all(near(ratio, 1, percent=_SIMILAR) for ratio in ratios.values()),
        tolerance=f"{_SIMILAR} % either way, on each program: what nobody would call a difference "
        "in a column of times",
        why=", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
        + ": superblock merges where accesses jump about, and pays for reading its lists",
        part="time",
        claim="storage time of superblock over that of lavish, by program",
        published="similar",
        unit="x",
    )


def _log_worst(three: Three) -> Answer:
    worst = [
        program
        for program, (_, rival, log) in three.items()
        if log.erases >= rival.erases and log.storage_ms >= rival.storage_ms
    ]
    return Answer(
        len(worst),
        holds=len(worst) == len(three),
        tolerance=_ORDER,
        why="not worst: "
        + (", ".join(sorted(set(three) - set(worst))) or "none")
        + "; there superblock copies more to free its logs than log does for one block",
        part="log-worst",
        claim="programs on which log erases most and takes longest of the three",
        published=len(three),
        unit=f"of {len(three)}",
    )


@experiment(
    "T6",
    claim="layers with 16 KB of caches: lavish erases least",
    published="> 30",
    unit="%",
    where="section 7.3, table 6",
    setup="published: 8 MB of virtual memory, 16 KB of caches of a sector (2,048 B), LRU, neither "
    "multi-cache nor sector-shrink, blocks of 64 sectors; " + _SPACE,
)
def small_cache(quick: bool) -> Report:
    """8 frames of a sector, none of the schemes for smaller ones."""
    table = {
        cell: measured(cell, quick)
        for program in traffic.PROGRAMS
        for cell in (
            *(Cell(program, layer) for layer in traffic.LAYERS),
            *(Cell(program, layer, "clock") for layer in _THREE[:2]),
        )
    }
    three = {
        program: [table[Cell(program, layer)] for layer in _THREE] for program in traffic.PROGRAMS
    }
    clock = {
        program: [table[Cell(program, layer, "clock")] for layer in _THREE[:2]]
        for program in traffic.PROGRAMS
    }
    return Report(
        answers=[
            _fewest(three, "erases"),
            _log_worst(three),
            _similar(three),
            *_savings(three, clock),
        ],
        columns=_COLUMNS,
        rows=_rows(table),
        draw=lambda axes: _draw_small(table, axes),
    )


# T7 -----------------------------------------------------------------------------------------------

#: Of the node, and what of it is no frames: how large the document's stack is, it does not say.
_SRAM, _STACK = 64 << 10, 8 << 10
_JPEG_MS = 16382
#: The picture is lost, and time goes with its pixels: virtual memory holds a bitmap of so many
#: times ours at most.
_JPEG_TIMES = round(_VM / (3 * 512 * 600))


def _left(layer: str) -> int:
    """RAM for whole frames beside the stack and a layer's own."""
    return (_SRAM - _STACK - layer_ram.of_layers(_VM)[layer]) // _FRAME * _FRAME


def _faster(three: Three) -> list[Answer]:
    gains = {name: rests[1].storage_ms / rests[0].storage_ms for name, rests in three.items()}
    told = ", ".join(f"{name} {gain:.2f}" for name, gain in gains.items())
    faster = [name for name, gain in gains.items() if gain > 1]
    most = max(gains, key=lambda name: gains[name])
    return [
        Answer(
            len(faster),
            holds=len(faster) == len(gains),
            tolerance=_ORDER,
            why=f"superblock's time over lavish's: {told}; not faster on what streams in order, "
            "where neither has to copy",
            part="faster",
            claim="programs on which lavish takes less storage time than superblock",
            published=len(gains),
            unit=f"of {len(gains)}",
        ),
        Answer(
            most,
            holds=most == "jpeg",
            tolerance="a claim of order: the largest of five ratios",
            why=told + "; our JPEG decoder (stb_image) goes through rows of blocks, and more "
            "frames hold what it needs",
            part="especially",
            claim="program on which lavish is ahead of superblock most",
            published="jpeg",
            unit="",
        ),
    ]


def _jpeg_time(lavish: Rest) -> Answer:
    return Answer(
        round(lavish.storage_ms),
        holds=meets((lavish.storage_ms,) * 2, (_JPEG_MS / _JPEG_TIMES, _JPEG_MS * _JPEG_TIMES)),
        tolerance=f"a factor of {_JPEG_TIMES} either way: time goes with the pixels of a picture "
        f"that is lost to us, and 8 MB hold a bitmap of {_JPEG_TIMES} times ours",
        why=f"our decoder asks for {lavish.writes} writes of sectors: it goes through rows of "
        "blocks, so no picture that fits would take it so many seconds, but one that jumps about",
        part="jpeg-time",
        claim="JPEG on lavish: time of the storage",
        published=_JPEG_MS,
        unit="ms",
    )


@experiment(
    "T7",
    claim="layers with all available RAM: lavish erases and copies least, and is faster",
    published="order",
    unit="",
    where="section 7.3, table 7",
    setup="published: as table 6, but all RAM that a layer leaves is for caches, the stack left "
    "out; no size told; " + _SPACE + f"; frames in {_SRAM >> 10} KB less {_STACK >> 10} KB of "
    "stack less the layer's own (T8): 54 KB for lavish, 42 for log, 38 for superblock; LRU",
)
def all_ram(quick: bool) -> Report:
    """Frames of a sector in the RAM that each layer leaves."""
    cells = {
        program: [Cell(program, layer, ram=_left(layer)) for layer in _THREE]
        for program in traffic.PROGRAMS
    }
    table = {cell: measured(cell, quick) for of in cells.values() for cell in of}
    three = {program: [table[cell] for cell in of] for program, of in cells.items()}
    return Report(
        answers=[
            _fewest(three, "erases"),
            _fewest(three, "copies"),
            *_faster(three),
            _jpeg_time(three["jpeg"][0]),
        ],
        columns=_COLUMNS,
        rows=_rows(table),
        draw=lambda axes: _draw(table, axes),
    )


# T8 -----------------------------------------------------------------------------------------------


@experiment(
    "T8",
    claim="RAM of each layer for 8 MB: lavish least",
    published="least",
    unit="B",
    judges_quick=True,
    where="section 7.3, table 8",
    setup="published: Log-FTL, Superblock-FTL and lavish of tables 6 and 7 for 8 MB of virtual "
    "memory on a Cortex-M3, each as its authors have it; figures lost to us. Ours: our own lavish "
    "and our models of the two, not written for little RAM, built for the Cortex-M3 (pointers of 4 "
    "bytes): what each asks for and its own struct; " + _LAYERS + "; blocks of 64 sectors of 2,048 "
    "B, of 128 blocks the peers, of 1,056 lavish; a map or a list has 2 bytes a sector",
)
def ram(quick: bool) -> Report:  # noqa: ARG001 - as quick as it can be
    """RAM the layers ask for on a processor of 32 bits."""
    need = layer_ram.of_layers(_VM)
    least = min(_THREE, key=lambda layer: need[layer])
    names = list(need)
    return Report(
        answers=[
            Answer(
                need["lavish"],
                holds=least == "lavish",
                tolerance="a claim of order; lists of 128 B alone, 59 of log and 32 of superblock, "
                "are more than all of lavish, so it does not hang on how the models are written",
                why=", ".join(f"{layer} {need[layer]} B" for layer in _THREE)
                + ": of the peers what our models take",
                claim="RAM for 8 MB of virtual memory is least with lavish, of the three",
            )
        ],
        columns=("layer", "RAM B"),
        rows=[[layer, need[layer]] for layer in names],
        draw=lambda axes: axes.barh(names, [need[layer] for layer in names]),
    )
