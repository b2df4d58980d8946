# SPDX-License-Identifier: Apache-2.0
"""V-policy: how far replacement policies are from Belady's optimum on the five programs of Lin et
al. 2013, on their recorded accesses. Behind docs/access-traces.md."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment
from nandwich import _native, plots
from papers.fatvm import traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FRAME = 512
_RAMS = (16 << 10, 32 << 10)
_ONLINE = (
    "vm",
    "lru",
    "clock",
    "esc",
    "cflru",
    "round-robin",
    "2q",
    "arc",
    "car",
    "s3-fifo",
    "ways-4",
)
_DEFAULT = "vm"
#: What a frame read and one written back cost.
_READ, _WRITE = 36, 163


@cache
def _refs(program: str, quick: bool) -> _native.Refs:
    path = str(traffic.kept() / f"{program}-{quick}.acc")
    traffic.record(program, quick, frame=_FRAME, accesses=path)
    refs, trace = _native.Refs(_FRAME), _native.AccessTrace(path)
    while refs.load(trace, 1 << 20):
        pass
    Path(path).unlink()
    return refs


def faults_of(quick: bool) -> dict[tuple[str, int, str], tuple[int, int]]:
    """By program, RAM and policy: faults and write-backs."""
    return {
        (program, ram, policy): _refs(program, quick).run(policy, ram // _FRAME, _READ, _WRITE)
        for program in traffic.PROGRAMS
        for ram in _RAMS
        for policy in (*_ONLINE, "belady", "belady-cost")
    }


def in_reads(faults: int, writebacks: int) -> float:
    """What both cost, as so many frames read."""
    return faults + writebacks * _WRITE / _READ


def _sum(found: dict[tuple[str, int, str], tuple[int, int]], policy: str) -> float:
    """The mean of its faults over Belady's, over programs and RAM."""
    ratios = [
        faults / found[program, ram, "belady"][0]
        for (program, ram, name), (faults, _) in found.items()
        if name == policy
    ]
    return sum(ratios) / len(ratios)


def _draw(rows: Sequence[Sequence[Value]], axes: "Axes") -> None:
    cases = list(dict.fromkeys((row[0], row[1]) for row in rows))
    series = {
        policy: [float(row[4]) for row in rows if row[2] == policy]
        for policy in (*_ONLINE, "belady-cost")
    }
    plots.grouped(axes, [f"{program}\n{ram} KiB" for program, ram in cases], series, log=True)
    axes.tick_params(axis="x", labelsize=6)
    axes.set_yticks([], minor=True)
    axes.set_yticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
    axes.set_ylabel("faults, by Belady's")
    axes.legend(fontsize=6, ncols=2)


@experiment(
    "V-policy",
    claim="faults of the VM's default policy on five programs at 16 and 32 KB, by Belady's, mean",
    unit="x",
    where="docs/access-traces.md",
    setup="accesses of five programs recorded on the host, frames of 512 B",
)
def policies(quick: bool) -> Report:
    """Eleven policies that do not know the future, beside two that do."""
    found = faults_of(quick)
    means = {policy: round(_sum(found, policy), 3) for policy in _ONLINE}
    best = min(means, key=lambda policy: means[policy])
    rows: list[list[Value]] = [
        [
            program,
            ram >> 10,
            policy,
            faults,
            round(faults / found[program, ram, "belady"][0], 3),
            writebacks,
            round(in_reads(faults, writebacks)),
        ]
        for (program, ram, policy), (faults, writebacks) in found.items()
    ]
    return Report(
        answers=[
            Answer(
                means[_DEFAULT],
                verdict=NOT_JUDGED,
                why="no document says this; nobody who does not know the future comes closer than "
                f"{best} with {means[best]}; LRU {means['lru']}, CLOCK {means['clock']}",
            )
        ],
        columns=(
            "program",
            "RAM KiB",
            "policy",
            "faults",
            "by Belady's",
            "write-backs",
            "cost in reads",
        ),
        rows=rows,
        draw=lambda axes: _draw(rows, axes),
    )
