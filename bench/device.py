# SPDX-License-Identifier: Apache-2.0
"""Programs and single accesses as firmware on emulated boards, counted to the instruction."""

import tempfile
from pathlib import Path
from typing import Any

from bench import _numbers
from bench._numbers import Line
from lab import ROOT, processors
from lab.benches import Figure, bench, found_pages
from lab.device import avr, figures
from lab.device.boards import BOARDS, Board
from lab.device.figures import Cost
from lab.photo import photo
from nandwich.errors import RunError
from nandwich.quantities import format_time

_WHAT = {
    "buffer.load": "load, hit of a last-cache buffer",
    "buffer.store": "store, the same",
    "aside.load": "load, hit of a look-aside entry",
    "aside.store": "store, the same",
    "miss.load": "load, miss of it, page resident",
    "miss.store": "store, the same",
}
_OWNERS = ("program", "guards", "run_time", "layer", "driver", "wrappers", "library", "board")


@bench("device", "programs and accesses as firmware on emulated boards: exact instructions")
def device() -> list[Figure]:
    """The tables go to docs/figures/device.md."""
    missing = [package for board in BOARDS.values() for package in board.missing()]
    missing += processors.missing()
    if missing:
        raise RunError(f"not installed: {', '.join(missing)}")
    found: list[Figure] = []
    sections: list[str] = []
    lines: list[Line] = [*_numbers.drivers()]
    mote = _mote()
    for board in (one for one in BOARDS.values() if not one.is_small):
        costs = figures.accesses(board)
        rows = _programs(board)
        sections += [f"## {board.name}", "", *_access_table(costs), "", *_program_table(rows), ""]
        found += _access_figures(board, costs)
        found += _program_figures(board, rows)
        if board.arch == "arm":
            lines += _numbers.stacks(_stack_texts(board, rows))
            lines += _numbers.accesses(costs, mote)
            lines += _numbers.camera(rows[_CAMERA])
    lines += _numbers.energies()
    found += [figure for line in lines for figure in line.figures]
    page = [*_HEAD, *_numbers.table(lines), *sections, *_mote_table(mote)]
    found += [
        Figure(f"device.atmega128.{name}", avr.us(cycles), "us", _numbers.MOTE_LIMIT_US.get(name))
        for name, cycles in mote.items()
    ]
    found_pages[ROOT / "docs" / "figures" / "device.md"] = "\n".join(page).rstrip() + "\n"
    return found


_HEAD = [
    "# Programs as firmware, counted",
    "",
    "Written by `nandwich bench device`: `nandwich run --target` with its defaults (-O2, 32 KB in"
    " frames of",
    "512 bytes, 8 MB of virtual memory, lavish layer on W25N01GV, 20 MHz serial bus). Instructions"
    " are exact.",
    "Cycles are a band by the table of the processor's manual, memory without wait states. What is"
    " counted",
    "and how: [running a program on an emulated board](../run-target.md).",
    "",
]


_CAMERA = "jpeg2bmp, 512 x 600"


def _programs(board: Board) -> dict[str, dict[str, Any]]:
    examples = ROOT / "examples"
    kernels = ROOT / "tests" / "compiler" / "kernels"
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "out.bmp"
        return {
            _CAMERA: figures.run(board, examples / "jpeg2bmp.c", photo(), picture),
            "sort merge 20000": figures.run(board, examples / "sort.c", "merge", "20000"),
            **{
                name: figures.run(board, kernels / f"{name}.c")
                for name in ("gray", "fft", "huffman", "quicksort")
            },
        }


def _mote() -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        return avr.accesses(Path(folder))


def _mote_table(costs: dict[str, int]) -> list[str]:
    return [
        "## atmega128",
        "",
        "The run time alone, under simavr (`tests/targets/avr/access.c`): guards as calls, 56 KB of"
        " virtual",
        "memory, pages of 128 B, all resident. Cycles are exact, time is at 7.3728 MHz.",
        "",
        "| access | cycles | us |",
        "|---|--:|--:|",
        *(
            f"| {_MOTE_WHAT[name]} | {cycles} | {avr.us(cycles):.1f} |"
            for name, cycles in costs.items()
        ),
    ]


_MOTE_WHAT = {
    "slot.load": "load, hit of a slot",
    "slot.store": "store, the same",
    "aside.load": "load, hit of a look-aside entry",
    "miss.load": "load, miss of it",
    "miss.store": "store, the same",
}


def _access_table(costs: dict[str, Cost]) -> list[str]:
    """Without the columns of cycles where there are none."""
    known = any(cost.cycles_most for cost in costs.values())
    lines = ["| access | instructions |" + (" cycles |" if known else "")]
    lines.append("|---|--:|" + ("--:|" if known else ""))
    for name, cost in costs.items():
        cells = [_WHAT[name], f"{cost.instructions:g}"]
        if known:
            cells.append(f"{cost.cycles_least:g} to {cost.cycles_most:g}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _program_table(rows: dict[str, dict[str, Any]]) -> list[str]:
    """In millions of instructions."""
    names = [name.replace("_", " ") for name in _OWNERS]
    lines = [
        "Millions of instructions, and time:",
        "",
        "| program | total | x native | "
        + " | ".join(names)
        + " | processor | storage | chip | stack |",
        "|---|" + "--:|" * (len(names) + 6),
    ]
    for name, value in rows.items():
        counts, time = value["instructions"], value["time_ns"]
        least = format_time(time["processor_least"])
        most = time["processor_most"]
        cells = [
            name,
            f"{counts['total'] / 1e6:.2f}",
            f"{counts['total'] / counts['native_total']:.2f}",
            *(f"{counts[owner] / 1e6:.2f}" for owner in _OWNERS),
            f"> {least}" if most is None else f"{least} to {format_time(most)}",
            format_time(time["storage"]),
            format_time(time["chip"]),
            f"{value['bytes']['stack_peak']} B",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _access_figures(board: Board, costs: dict[str, Cost]) -> list[Figure]:
    found = []
    for name, cost in costs.items():
        here = board.arch == "arm"
        title = f"device.{board.name}.{name}"
        limit = _numbers.MISS_LIMIT if here and name.startswith("miss") else None
        found.append(Figure(title, cost.instructions, "instructions", limit))
        if here:
            limit = _numbers.HIT_LIMIT if name.startswith("buffer") else None
            found.append(Figure(f"{title}.most", cost.cycles_most, "cycles", limit))
    return found


def _stack_text(rows: dict[str, dict[str, Any]]) -> int:
    """The most of the programs: one that never frees takes less of the heap."""
    return max(int(value["bytes"]["text"]["whole_stack"]) for value in rows.values())


def _stack_texts(board: Board, rows: dict[str, dict[str, Any]]) -> dict[str, int]:
    """By layer; that of the lavish layer is the programs' own."""
    source = ROOT / "examples" / "sort.c"
    others = {
        layer: _stack_text({"": figures.run(board, source, "merge", "5000", layer=layer)})
        for layer in board.layers
        if layer != "lavish"
    }
    return {"lavish": _stack_text(rows), **others}


def _program_figures(board: Board, rows: dict[str, dict[str, Any]]) -> list[Figure]:
    found = []
    for name, value in rows.items():
        counts, word = value["instructions"], name.split()[0].rstrip(",")
        title = f"device.{board.name}.{word}"
        found.append(Figure(title, counts["total"], "instructions"))
        found.append(
            Figure(f"{title}.code", round(_code_ratio(counts), 3), "x native, guards included")
        )
    text = _stack_text(rows)
    limit = _numbers.STACK_LIMIT if board.arch == "arm" else None
    found.append(Figure(f"device.{board.name}.stack", text, "B", limit))
    return found


def _code_ratio(counts: dict[str, int]) -> float:
    """The program's own code with its guards, times native."""
    return (counts["program"] + counts["guards"]) / counts["program"]
