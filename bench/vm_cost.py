# SPDX-License-Identifier: Apache-2.0
"""What virtual memory costs, in exact instructions, on the host and on Cortex-M3."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT, vm_cost, vm_misses
from lab.benches import Figure, bench, found_pages
from lab.pages import row
from lab.vm_cost import SERIES, CortexM3, Cost, Host
from nandwich.errors import RunError

#: Times native on the Cortex-M3, at most, without statics.
TARGETS = {
    "gray": 1.15,
    "sobel": 1.15,
    "sum": 1.15,
    "fft": 1.5,
    "matrix": 1.5,
    "bubble": 1.5,
    "quicksort": 2.0,
    "tree": 2.0,
    "huffman": 2.0,
}


@dataclass(frozen=True)
class _Goal:
    """Times native: at most, and what is aimed at."""

    limit: float
    aim: float

    def __str__(self) -> str:
        return f"{self.limit:.2f}, aim {self.aim:.2f}"


#: Of the geometric mean and of the worst kernel of a series.
MEAN_GOALS = {
    "host": _Goal(1.7, 1.5),
    "host-4k": _Goal(1.2, 1.1),
    "cortex-m3-4k": _Goal(1.3, 1.15),
}
WORST_GOALS = {"host-4k": _Goal(2.5, 2.0)}
#: Instructions of a miss to a resident page, at most: on the host, and on small processors.
MISS_LIMIT = 60
SMALL_MISS_LIMIT = 45
#: The same of a block operation, with the copying of one byte.
BLOCK_LIMIT = 100 + 20

#: Of each series the kernels' costs.
_Costs = Mapping[str, Mapping[str, Cost]]


@bench("vm-cost", "instructions that virtual memory adds to kernels, host and Cortex-M3")
def vm_cost_figures() -> list[Figure]:
    """Kernels of tests/compiler/kernels; the tables go to docs/figures/vm-cost.md."""
    missing = vm_cost.missing() + [
        package for board in vm_misses.BOARDS for package in board.missing()
    ]
    if missing:
        raise RunError(f"not installed: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        host, arm = Host(folder), CortexM3.open(folder)
        costs = {
            series.name: {one: series.cost(one, host, arm) for one in vm_cost.KERNELS}
            for series in SERIES
        }
        misses = {
            board.name: vm_misses.counts(board, folder, arm.emulator) for board in vm_misses.BOARDS
        }
    _write_page(costs, misses)
    return _miss_figures(misses) + _host_misses(costs["host"]) + _series_figures(costs)


def _worst(costs: Mapping[str, Cost]) -> tuple[str, float]:
    name, cost = max(costs.items(), key=lambda item: item[1].ratio)
    return name, cost.ratio


def _series_figures(costs: _Costs) -> list[Figure]:
    found = []
    for name, kernels in costs.items():
        for summary, value, goal in (
            ("mean", vm_cost.mean(kernels.values()), MEAN_GOALS.get(name)),
            ("worst", _worst(kernels)[1], WORST_GOALS.get(name)),
        ):
            limit = goal.limit if goal else None
            found.append(Figure(f"vm-cost.{name}.{summary}", round(value, 3), "x native", limit))
        for one, cost in kernels.items():
            target = TARGETS.get(one) if name == "cortex-m3" else None
            found.append(Figure(f"vm-cost.{name}.{one}", round(cost.ratio, 3), "x native", target))
            if name in ("host", "cortex-m3"):
                added = round(cost.added, 2)
                found.append(Figure(f"vm-cost.{name}.{one}.added", added, "instructions/access"))
    return found


def _host_misses(costs: Mapping[str, Cost]) -> list[Figure]:
    """Of kernels with more than one miss in a thousand accesses."""
    return [
        Figure(f"vm-cost.host.{one}.miss", round(cost.virtual.miss, 1), "instructions", MISS_LIMIT)
        for one, cost in costs.items()
        if cost.virtual.stats["misses"] * 1000 > cost.accesses
    ]


def _miss_figures(misses: dict[str, dict[str, int]]) -> list[Figure]:
    """What guards call, on the small processors; the C library's own functions have no target."""
    found = []
    for board, counts in misses.items():
        for case, instructions in counts.items():
            limit: int | None = BLOCK_LIMIT if "virtual" in case else SMALL_MISS_LIMIT
            if "plain memory" in case or "plain to plain" in case or "library" in case:
                limit = None
            name = f"vm-cost.{board}.{case.replace(', ', '.').replace(' ', '-')}"
            found.append(Figure(name, instructions, "instructions", limit))
    return found


def _miss_table(misses: dict[str, dict[str, int]]) -> list[str]:
    lines = [
        "",
        "## What a guard calls",
        "",
        "Instructions of one call, from the call to its return, both included; the run time at -Os"
        " by the",
        "board's own compiler, pages resident, CLOCK. Block operations are of one byte, so that"
        " little is the",
        "C library's work.",
        "",
        "| call | " + " | ".join(misses) + " |",
        "|---|" + "--:|" * len(misses),
    ]
    cases = next(iter(misses.values()))
    for case in cases:
        lines.append(f"| {case} | " + " | ".join(str(one[case]) for one in misses.values()) + " |")
    return lines


def _head(*titles: str) -> list[str]:
    return ["", row(*titles), "|---|" + "--:|" * (len(titles) - 1)]


def _ratio_table(costs: _Costs) -> list[str]:
    """Times native, a row a kernel, a column a series."""
    lines = _head("kernel", *(series.title for series in SERIES))
    for one in vm_cost.KERNELS:
        lines.append(row(one, *(f"{costs[series.name][one].ratio:.2f}" for series in SERIES)))
    means = [f"**{vm_cost.mean(costs[series.name].values()):.2f}**" for series in SERIES]
    worst = [_worst(costs[series.name]) for series in SERIES]
    names = [series.name for series in SERIES]
    return [
        *lines,
        row("**geometric mean**", *means),
        row("at most", *(MEAN_GOALS.get(name, "") for name in names)),
        row("**worst**", *(f"**{ratio:.2f}** {kernel}" for kernel, ratio in worst)),
        row("at most", *(WORST_GOALS.get(name, "") for name in names)),
    ]


def _detail_table(costs: _Costs, name: str, title: str) -> list[str]:
    """Native counts, added instructions and text of a processor's two series."""
    none, some = costs[name], costs[f"{name}-4k"]
    on_host = name == "host"
    titles = ["kernel", "native", "accesses", "added", "added, 4K", "text x", "text x, 4K"]
    lines = ["", f"## Details: {title}"]
    lines += _head(*titles, *(("slot hits", "miss") if on_host else ()))
    for one, cost in none.items():
        cells = [
            one,
            f"{cost.native.instructions:,}",
            f"{cost.accesses:,}",
            f"{cost.added:.2f}",
            f"{some[one].added:.2f}",
            f"{cost.text:.1f}",
            f"{some[one].text:.1f}",
        ]
        if on_host:
            hits = 100 - 100 * cost.virtual.stats["misses"] / cost.accesses
            cells += [f"{hits:.2f} %", f"{cost.virtual.miss:.0f}"]
        lines.append(row(*cells))
    return lines


def _small_table(costs: Mapping[str, Cost]) -> list[str]:
    lines = ["", "## Details: Cortex-M3, 16 KB of RAM in all"]
    lines += _head("kernel", "native", "virtual", "statics, B", "frames", *_COUNTED)
    for one, cost in costs.items():
        stats = cost.virtual.stats
        counted = (f"{stats[name]:,}" for name in ("misses", "faults", "writebacks"))
        instructions = (f"{run.instructions:,}" for run in (cost.native, cost.virtual))
        statics = f"{stats['statics']:,}"
        lines.append(row(one, *instructions, statics, stats["frames"], *counted))
    return lines


_COUNTED = ("misses", "faults", "write-backs")
_INTRO = """\
# What virtual memory costs in instructions

Written by `nandwich bench vm-cost`. Instructions of the kernels in `tests/compiler/kernels`, native
and in virtual memory, both optimised as a whole program at -O2: exact counts from main on.
512-byte frames, 16 slots, 64 look-aside entries, storage in RAM and every page resident before the
count begins; accesses are not counted in what is measured. *4 KB of statics*: the hottest globals
stay in RAM (`--statics 4K`).

*16 KB of RAM in all*: frames, the tables of virtual memory and up to 8 KB of statics together,
8 slots, 32 look-aside entries; no page is resident at the start. Faults are in the count, with the
copying from and to storage, sectors of 2,048 bytes in RAM; the time a chip takes is not.

## Times native

A kernel below 1 counts as 1 in the mean."""
_DETAILS = """\

*Accesses*: those that may touch virtual memory where no global stays in RAM, counted on the host.
*Added*: instructions for each of these. *Text*: code of the kernel's own object, times native.
*Miss*: one call of the run time by a guard; it and *slot hits* are without statics."""


def _write_page(costs: _Costs, misses: dict[str, dict[str, int]]) -> None:
    lines = [_INTRO, *_ratio_table(costs), _DETAILS]
    lines += _detail_table(costs, "host", "host")
    lines += _detail_table(costs, "cortex-m3", "Cortex-M3")
    lines += _small_table(costs["cortex-m3-16k"])
    lines += _miss_table(misses)
    page = ROOT / "docs" / "figures" / "vm-cost.md"
    found_pages[page] = "\n".join(lines) + "\n"
