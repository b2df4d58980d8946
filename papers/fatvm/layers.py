# SPDX-License-Identifier: Apache-2.0
"""T6, T7, T8: translation layers under the page traffic of the five programs (Lin et al. 2013,
section 8).

The paper gives each peer what its own authors gave it; how much flash is not told. Here the peers
have half as many blocks again as the data, lavish its degree of 8. Superblock is shown with much
more space, too, because space is what lavish buys its erases with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lab.experiments import Answer, Report, Value, experiment
from nandwich import plots
from papers.fatvm import traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_VM = 8 << 20
_COLUMNS = (
    "program",
    "layer",
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


@dataclass(frozen=True)
class Rest:
    """A layer at rest: what the second half of a long replay added to the first."""

    runs: int
    counts: dict[str, int]
    storage_ms: float  # a run of the program

    @property
    def erases_a_write(self) -> float:
        return self.counts["erases"] / self.counts["host_writes"]


def _at_rest(layer: str, recording: traffic.Recording, quick: bool) -> Rest:
    writes = max(1, int(recording.report["ftl"]["host_writes"]))
    room = traffic.blocks(layer, _VM) * traffic.BLOCK_PAGES
    runs = -(-room * (_QUICK_FILLS if quick else _FILLS) // writes)
    once, twice = (
        traffic.play(layer, recording, vm_bytes=_VM, repeat=repeat)["result"]
        for repeat in (runs, 2 * runs)
    )
    before, after = once["layer"], twice["layer"]
    counts = {name: after[name] - before[name] for name in after}
    return Rest(runs, counts, (twice["busy_ns"] - once["busy_ns"]) / 1e6 / runs)


Table = dict[tuple[str, str], Rest]


@cache
def _table(quick: bool, frame: int) -> Table:
    """(program, layer): the layer at rest."""
    return {
        (program, layer): _at_rest(
            layer, traffic.record(program, quick, frame=frame).without_trims, quick
        )
        for program in traffic.PROGRAMS
        for layer in traffic.LAYERS
    }


def _saving(ours: Rest, theirs: Rest) -> float:
    """Erases spared, in percent of the rival's."""
    return round(100 * (1 - ours.erases_a_write / theirs.erases_a_write), 1)


def _with_trims(program: str, quick: bool, frame: int) -> float:
    """Erases spared against superblock when layers are told what was freed."""
    recording = traffic.record(program, quick, frame=frame)
    return _saving(*(_at_rest(layer, recording, quick) for layer in ("lavish", _RIVAL)))


def _rows(table: Table) -> list[Sequence[Value]]:
    rows: list[Sequence[Value]] = []
    for (program, layer), rest in table.items():
        counts = rest.counts
        rows.append(
            [
                program,
                layer,
                rest.runs,
                counts["host_writes"],
                counts["erases"],
                counts["copies"],
                round(1000 * rest.erases_a_write, 2),
                round(counts["programs"] / counts["host_writes"], 3),
                round(rest.storage_ms, 1),
            ]
        )
    return rows


def _draw(table: Table, axes: "Axes") -> None:
    """Erases for 1000 writes: a group a program."""
    series = {
        layer: [1000 * table[program, layer].erases_a_write for program in traffic.PROGRAMS]
        for layer in traffic.LAYERS
    }
    plots.grouped(axes, list(traffic.PROGRAMS), series, log=True)
    axes.set_ylabel("erases for 1000 sectors written")
    axes.legend(fontsize=7, ncols=2)


def _answers(quick: bool, frame: int) -> list[Answer]:
    table = _table(quick, frame)
    fewest = [
        program
        for program in traffic.PROGRAMS
        if all(
            table[program, "lavish"].erases_a_write <= table[program, layer].erases_a_write
            for layer in (_RIVAL, "log")
        )
    ]
    answers = [
        Answer(
            len(fewest),
            holds=len(fewest) == len(traffic.PROGRAMS),
            why="superblock, page-mapped inside and at rest, erases hardly more than the least "
            "there is, a block for each 64 sectors written; not fewest: "
            + (", ".join(sorted(set(traffic.PROGRAMS) - set(fewest))) or "none"),
            part="fewest",
            claim="programs on which lavish erases least of lavish, superblock and log",
            published=len(traffic.PROGRAMS),
            unit=f"of {len(traffic.PROGRAMS)}",
        )
    ]
    for program in ("jpeg", "huffman"):
        ours = table[program, "lavish"]
        saving = _saving(ours, table[program, _RIVAL])
        answers.append(
            Answer(
                saving,
                holds=saving > 30,
                why=f"{_saving(ours, table[program, 'log'])} % against log, "
                f"{_with_trims(program, quick, frame)} % against a superblock layer that is told "
                "what was freed and writes that down; what streams leaves whole blocks without a "
                "valid sector, which superblock gives back without a copy, too",
                part=program,
                claim=f"erases spared against superblock, {program}",
                published="> 30",
                unit="%",
            )
        )
    return answers


@experiment("T6", claim="lavish erases least, frames of 512 B", published="> 30", unit="%")
def small_frames(quick: bool) -> Report:
    """32 KB of frames of 512 B, multi-cache."""
    table = _table(quick, 512)
    return Report(
        answers=_answers(quick, 512),
        columns=_COLUMNS,
        rows=_rows(table),
        draw=lambda axes: _draw(table, axes),
    )


@experiment("T7", claim="lavish erases least, frames of a sector", published="> 30", unit="%")
def sector_frames(quick: bool) -> Report:
    """32 KB of frames of 2 KB."""
    table = _table(quick, 2048)
    storage = table["jpeg", "lavish"].storage_ms
    answers = _answers(quick, 2048)
    answers.append(
        Answer(
            round(storage),
            holds=0.5 <= storage / 16382 <= 2,
            why="another decoder and another picture (512 x 600): fewer and nearer accesses",
            part="jpeg-time",
            claim="JPEG with frame = sector: time of the chip",
            published=16382,
            unit="ms",
        )
    )
    return Report(
        answers=answers,
        columns=_COLUMNS,
        rows=_rows(table),
        draw=lambda axes: _draw(table, axes),
    )


@experiment(
    "T8",
    claim="RAM of each layer for 8 MB: lavish least",
    published="least",
    unit="B",
    judges_quick=True,
)
def ram(quick: bool) -> Report:  # noqa: ARG001 - as quick as it can be
    """RAM the layers ask for, on this host: pointers of 8 bytes."""
    recording = traffic.record("gray", True)
    need = {
        layer: int(traffic.play(layer, recording, vm_bytes=_VM, repeat=1)["device"]["ram_bytes"])
        for layer in traffic.LAYERS
    }
    least = min(need, key=lambda layer: need[layer])
    names = list(need)
    return Report(
        answers=[
            Answer(
                need["lavish"],
                holds=least == "lavish",
                why=f"{least} takes {need[least]} B",
                claim="RAM for 8 MB of virtual memory is least with lavish",
            )
        ],
        columns=("layer", "RAM B"),
        rows=[[layer, need[layer]] for layer in names],
        draw=lambda axes: axes.barh(names, [need[layer] for layer in names]),
    )
