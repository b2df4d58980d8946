# SPDX-License-Identifier: Apache-2.0
"""local-images: what Algorithms 1 and 2 leave out of the accesses to virtual memory (Lin et al.
2013, section 5.2), beside what our compiler leaves out of the same programs."""

import os
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab import ROOT
from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment, span
from lab.photo import photo
from nandwich import plots
from nandwich.compiler.toolchain import CLANG
from nandwich.errors import RunError
from papers.fatvm import lvalues, traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COUNTER = Path(__file__).with_name("block_counts.c")
_UNOPTIMISED = ("-O0", "-Xclang", "-disable-O0-optnone")
_STATICS = 4096


@dataclass(frozen=True)
class Left:
    """Accesses of a run: those that the source spells out, and what is left of them."""

    program: str
    places: lvalues.Count  # in the source, by their number alone
    runs: lvalues.Count  # as often as they ran
    optimised: int  # accesses that ours guards
    beside_statics: int  # the same with 4 KB of statics

    @property
    def accesses(self) -> int:
        """Without images: each read and each write goes to virtual memory."""
        return self.runs.reads + self.runs.writes

    @property
    def imaged(self) -> int:
        """What the two algorithms leave of them."""
        return self.accesses - self.runs.reads_out - self.runs.writes_out

    @property
    def images(self) -> float:
        """Percent that they leave out."""
        return self.share(self.imaged)

    def share(self, left: int) -> float:
        """Percent left out where so many are left."""
        return 100 * (1 - left / self.accesses)


def _run(*words: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    if done.returncode != 0:
        raise RunError(f"{' '.join(words[:3])}...: status {done.returncode}: {done.stderr[-400:]}")
    return done.stdout


def _sum(counts: Sequence[lvalues.Count], times: Sequence[int]) -> lvalues.Count:
    fields = ("reads", "writes", "reads_out", "writes_out")
    return lvalues.Count(
        *(
            sum(getattr(one, name) * often for one, often in zip(counts, times, strict=True))
            for name in fields
        )
    )


def counted(source: Path, arguments: Sequence[str]) -> tuple[lvalues.Count, lvalues.Count]:
    """The accesses of a program in its source, and as often as they ran."""
    with tempfile.TemporaryDirectory() as name:
        module, program, told = (Path(name) / one for one in ("counted.ll", "program", "counts"))
        ir = _run(CLANG, "-S", "-emit-llvm", *_UNOPTIMISED, str(source), "-o", "-")
        module.write_text(lvalues.counted(ir))
        _run(CLANG, *_UNOPTIMISED, str(module), str(_COUNTER), "-lm", "-o", str(program))
        _run(str(program), *arguments, env={**os.environ, "NW_COUNTS": str(told)})
        times = [one for (one,) in struct.iter_unpack("<Q", told.read_bytes())]
    found = [one for function in lvalues.functions(ir) for one in lvalues.counts(function)]
    return _sum(found, [1] * len(found)), _sum(found, times)


def left(program: str, quick: bool) -> Left:
    """One program, counted and compiled by us."""
    source, full, short = traffic.PROGRAMS[program]
    words = {"PHOTO": str(photo()), "OUT": str(traffic.kept() / "unoptimised.bmp")}
    arguments = [words.get(word, word) for word in (short if quick else full)]
    places, runs = counted(ROOT / source, arguments)
    optimised, statics = (
        int(traffic.record(program, quick, statics=size).report["vm"]["accesses"])
        for size in (0, _STATICS)
    )
    return Left(program, places, runs, optimised, statics)


def _row(one: Left) -> list[Value]:
    return [
        one.program,
        one.places.reads,
        one.places.reads_out,
        one.places.writes,
        one.places.writes_out,
        one.runs.reads,
        one.runs.reads_out,
        one.runs.writes,
        one.runs.writes_out,
        round(one.images, 1),
        one.optimised,
        round(one.share(one.optimised), 1),
        one.beside_statics,
        round(one.share(one.beside_statics), 1),
    ]


_COLUMNS = (
    "program",
    "reads in the source",
    "left out",
    "writes in the source",
    "left out of them",
    "reads run",
    "left out of these",
    "writes run",
    "of these left out",
    "images leave out, %",
    "accesses of ours, -O2",
    "ours leaves out, %",
    "with 4 KB of statics",
    "then, %",
)


def _each(found: Sequence[Left], shares: Sequence[float]) -> str:
    return ", ".join(f"{one.program} {share:.1f}" for one, share in zip(found, shares, strict=True))


def answers(found: Sequence[Left]) -> list[Answer]:
    """What is told of the algorithms, and ours beside them."""
    reads = [100 * one.runs.reads_out / one.runs.reads for one in found]
    writes = [100 * one.runs.writes_out / one.runs.writes for one in found]
    ours = [one.share(one.beside_statics) for one in found]
    images = [one.images for one in found]
    behind = [one.program for one in found if one.beside_statics > one.imaged]
    each = _each(found, reads)
    lost = "the document gives no figure, the algorithms are lost in our copy but for what it says "
    return [
        Answer(
            span(min(reads), max(reads)),
            verdict=NOT_JUDGED,
            why=f"{each}; {lost}of them, and the programs are ours",
            part="reads",
            claim="Algorithm 1: reads of an image that is in step are left out",
            published="fewer",
            unit="% of the reads run",
        ),
        Answer(
            round(max(writes), 1),
            verdict=NOT_JUDGED,
            why="a dereference counts as if it needed every lvalue, and every statement as if it "
            "needed what is behind a pointer: so only two assignments of one global with neither "
            f"between would leave one out; {lost}of them",
            part="writes",
            claim="Algorithm 2: write-backs that nothing depends on are left out",
            published="fewer",
            unit="% of the writes run at most",
        ),
        Answer(
            len(found) - len(behind),
            holds=not behind,
            why=f"left out by ours, %: {_each(found, ours)}; by images: {_each(found, images)}. "
            "The optimiser keeps a value in a register under the same rules, but knows what a "
            "pointer cannot reach, and inlines; statics have no guard at all",
            part="ours",
            claim="-O2 with 4 KB of statics leaves out at least the accesses that images do",
            published=len(found),
            unit="programs",
            where=OURS,
            tolerance="none",
        ),
    ]


def _draw(axes: "Axes", found: Sequence[Left]) -> None:
    series: dict[str, list[float | None]] = {
        "local images": [one.images for one in found],
        "ours, -O2": [one.share(one.optimised) for one in found],
        "ours with 4 KB of statics": [one.share(one.beside_statics) for one in found],
    }
    plots.grouped(axes, [one.program for one in found], series)
    axes.set_ylabel("accesses left out, %")
    axes.legend(fontsize=7)


@experiment(
    "local-images",
    claim="accesses to virtual memory that local images leave out",
    published="fewer",
    unit="%",
    where="section 5.2, algorithms 1 and 2",
    setup="published: each virtual lvalue has an image, read before a use and written back after "
    "an assignment, but where the analysis shows that it need not be; no figure is given. Ours: "
    + traffic.SIZES
    + "; accesses are the loads and stores of clang's unoptimised code to mutable globals and "
    "behind pointers, as often as they ran; an image is an lvalue of one function. Entry and calls "
    "desynchronise all images, an assignment behind a pointer all others, one of a global those of "
    "the same global and behind pointers. Beside it the accesses that our guards count: -O2, 32 KB "
    "of frames of 512 B, statics of 0 and 4 KB",
)
def local_images(quick: bool) -> Report:
    """Each program counted without optimisation, and run in virtual memory with ours."""
    found = [left(program, quick) for program in traffic.PROGRAMS]
    rows = [_row(one) for one in found]
    return Report(answers(found), _COLUMNS, rows, lambda axes: _draw(axes, found))
