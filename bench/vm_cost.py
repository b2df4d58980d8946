# SPDX-License-Identifier: Apache-2.0
"""What guards and page windows cost, in exact instructions, on the host and on Cortex-M3."""

import tempfile
from pathlib import Path

from lab import ROOT, vm_cost, vm_misses
from lab.benches import Figure, bench
from lab.vm_cost import Cost
from nandwich import files
from nandwich.errors import RunError

#: Times native on the Cortex-M3, at most.
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
#: Instructions of a miss to a resident page, at most: on the host, and on small processors.
MISS_LIMIT = 60
SMALL_MISS_LIMIT = 45
#: The same of a block operation, with the copying of one byte.
BLOCK_LIMIT = 100 + 20


@bench("vm-cost", "instructions that guards and page windows add, host and Cortex-M3")
def vm_cost_figures() -> list[Figure]:
    """Kernels of tests/compiler/kernels; the table goes to docs/figures/vm-cost.md."""
    missing = vm_cost.missing() + [
        package for board in vm_misses.BOARDS for package in board.missing()
    ]
    if missing:
        raise RunError(f"not installed: {', '.join(missing)}")
    on_host: dict[str, Cost] = {}
    on_arm: dict[str, Cost] = {}
    misses: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        emulator = vm_cost.build_emulator(folder)
        library = vm_cost.arm_library(folder)
        for one in vm_cost.KERNELS:
            on_host[one] = vm_cost.host(one, folder)
            on_arm[one] = vm_cost.cortex_m3(one, folder, emulator, library, on_host[one].accesses)
        for board in vm_misses.BOARDS:
            misses[board.name] = vm_misses.counts(board, folder, emulator)
    _write_page(on_host, on_arm, misses)
    found = _miss_figures(misses)
    for one in vm_cost.KERNELS:
        found.append(Figure(f"vm-cost.host.{one}", round(on_host[one].ratio, 3), "x native"))
        found.append(
            Figure(f"vm-cost.host.{one}.added", round(on_host[one].added, 2), "instructions/access")
        )
        if on_host[one].misses * 1000 > on_host[one].accesses:
            found.append(
                Figure(
                    f"vm-cost.host.{one}.miss",
                    round(on_host[one].miss, 1),
                    "instructions",
                    MISS_LIMIT,
                )
            )
        found.append(
            Figure(
                f"vm-cost.cortex-m3.{one}",
                round(on_arm[one].ratio, 3),
                "x native",
                TARGETS.get(one),
            )
        )
        found.append(
            Figure(
                f"vm-cost.cortex-m3.{one}.added", round(on_arm[one].added, 2), "instructions/access"
            )
        )
    return found


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


def _write_page(
    on_host: dict[str, Cost], on_arm: dict[str, Cost], misses: dict[str, dict[str, int]]
) -> None:
    lines = [
        "# What guards and page windows cost",
        "",
        "Written by `nandwich bench vm-cost`. Exact instructions at -O2, 512-byte frames, 16 slots,"
        " 64",
        "look-aside entries, storage in RAM and every page resident before the count begins;"
        " accesses are",
        "not counted in what is measured. *Added*: instructions for each access that may touch"
        " virtual",
        "memory. *Miss*: one call of the run time by a guard. *Text*: code of the kernel's own"
        " object,",
        "times native.",
        "",
        "| kernel | native | virtual | x | added | slot hits | miss | text x "
        "| M3 native | M3 virtual | x | added | text x |",
        "|---|" + "--:|" * 12,
    ]
    for one, host in on_host.items():
        arm = on_arm[one]
        hits = 100 - 100 * host.misses / host.accesses
        cells = [
            one,
            f"{host.native:,}",
            f"{host.virtual:,}",
            f"**{host.ratio:.2f}**",
            f"{host.added:.2f}",
            f"{hits:.2f} %",
            f"{host.miss:.0f}",
            f"{host.text_virtual / host.text_native:.1f}",
            f"{arm.native:,}",
            f"{arm.virtual:,}",
            f"**{arm.ratio:.2f}**",
            f"{arm.added:.2f}",
            f"{arm.text_virtual / arm.text_native:.1f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += _miss_table(misses)
    page = ROOT / "docs" / "figures" / "vm-cost.md"
    files.replace(page, ("\n".join(lines) + "\n").encode())
