# SPDX-License-Identifier: Apache-2.0
"""SQLite over a mapped database of 16 MB, on the host and on boards: the page docs/sqlite.md."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab import ROOT, database
from lab.benches import Figure, bench, found_pages
from lab.device.boards import BOARDS
from lab.pages import put, row
from nandwich.errors import RunError
from nandwich.quantities import format_size, format_time

PAGE = ROOT / "docs" / "sqlite.md"
_HOST = ("<!-- host: nandwich bench sqlite -->", "<!-- end of host -->")
_BOARDS = ("<!-- boards: nandwich bench sqlite -->", "<!-- end of boards -->")
_ALL = "all of them"
_BUILT = ("-Os", "--guards", "outline")
_ON_HOST = ("--ram", "64K", "--vm", "24M", "--degree", "4", "--once")
_ON_BOARD = ("--vm", "17M", "--chip", "MX35LF2GE4AB", "--stack", "8K")
_RAM = {"cortex-m3": "48K", "rv32": "64K"}


@bench("sqlite", "SQLite over a mapped database of 16 MB, in 64 KB of page frames")
def sqlite() -> list[Figure]:
    """The tables go to docs/sqlite.md."""
    boards = [BOARDS[name] for name in _RAM]
    missing = [package for board in boards for package in board.missing()]
    if missing:
        raise RunError(f"not installed: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "readings.db"
        database.make(path)
        works = {name: [query] for name, query in database.QUERIES.items()}
        works[_ALL] = list(database.QUERIES.values())
        mapped = {name: _on_host(path, queries, mapped=True) for name, queries in works.items()}
        copied = _on_host(path, works[_ALL], mapped=False)
        found = {board.name: _on_board(board.name, path) for board in boards}
    page = put(PAGE.read_text(encoding="utf-8"), _HOST, _host_table(mapped, copied))
    found_pages[PAGE] = put(page, _BOARDS, _board_table(found))
    return [*_host_figures(mapped[_ALL], copied), *_board_figures(found)]


def _checked(value: dict[str, Any]) -> dict[str, Any]:
    if value["identical"] is not True:
        raise RunError(f"SQLite did not answer as natively: {value['differences']}")
    return value


def _on_host(path: Path, queries: list[str], *, mapped: bool) -> dict[str, Any]:
    sources = database.sources()
    program = (sources / "shell.c", sources / "sqlite3.c", *database.FLAGS, *_BUILT, *_ON_HOST)
    limit = "1000000000" if mapped else "0"
    value, _ = database.run(*program, "--", "-readonly", "-mmap", limit, path, *queries)
    return _checked(value)


def _on_board(name: str, path: Path) -> dict[str, Any]:
    sources = database.sources()
    program = (database.BOARD_PROGRAM, sources / "sqlite3.c", "-I", sources, *database.BOARD_FLAGS)
    options = (*_BUILT, *_ON_BOARD, "--target", name, "--ram", _RAM[name])
    value, _ = database.run(*program, *options, "--", path, *database.QUERIES.values())
    return _checked(value)


def _own_heap(value: dict[str, Any]) -> int:
    return int(value["heap"]["peak_bytes"] - value["mapped"]["peak_bytes"])


def _swapped(value: dict[str, Any]) -> int:
    """Bytes of the layer's sectors that virtual memory wrote, the globals' first content too."""
    return int(value["device"]["sector_bytes"] * value["vm"]["sectors_written"])


def _host_table(mapped: dict[str, dict[str, Any]], copied: dict[str, Any]) -> list[str]:
    head = ("query", "faults", "of the file", "read of it", "written of it", "to swap",
            "heap", "storage")  # fmt: skip
    lines = [row(*head), "|---|" + "--:|" * (len(head) - 1)]
    for name, value in {**mapped, f"{_ALL}, not mapped": copied}.items():
        is_mapped = value is not copied
        cells = (
            value["vm"]["faults"],
            value["vm"]["mapped"] if is_mapped else "",
            format_size(value["mapped"]["bytes_read"]) if is_mapped else "",
            value["mapped"]["writes"] if is_mapped else "",
            format_size(_swapped(value)),
            format_size(_own_heap(value)),
            format_time(value["time_ns"]["storage"]),
        )
        lines.append(row(name, *cells))
    return lines


def _board_table(found: dict[str, dict[str, Any]]) -> list[str]:
    lines = [row("", *found), "|---|" + "--:|" * len(found)]
    for what, tell in _BOARD_ROWS.items():
        lines.append(row(what, *(tell(value) for value in found.values())))
    return lines


def _least_to_most(value: dict[str, Any]) -> str:
    least, most = value["time_ns"]["processor_least"], value["time_ns"]["processor_most"]
    return f"{format_time(least)}" + (f" to {format_time(most)}" if most else " or more")


def _ratio(value: dict[str, Any]) -> float:
    return float(value["instructions"]["total"] / value["instructions"]["native_total"])


_BOARD_ROWS: dict[str, Callable[[dict[str, Any]], object]] = {
    "code flash, of": lambda value: (
        f"{value['bytes']['code_flash']:,} B of {value['target']['code_bytes']:,}"
    ),
    "RAM, of": lambda value: f"{value['bytes']['ram']:,} B of {value['target']['ram_bytes']:,}",
    "page frames": lambda value: format_size(value["bytes"]["frames"]),
    "stack, at most": lambda value: f"{value['bytes']['stack_peak']:,} B",
    "instructions": lambda value: f"{value['instructions']['total']:,}",
    "times native's": lambda value: f"{_ratio(value):.2f}",
    "processor": _least_to_most,
    "storage": lambda value: format_time(value["time_ns"]["storage"]),
    "faults": lambda value: value["vm"]["faults"],
    "of the file": lambda value: value["vm"]["mapped"],
    "to swap, sectors": lambda value: value["vm"]["sectors_written"],
}


def _host_figures(mapped: dict[str, Any], copied: dict[str, Any]) -> list[Figure]:
    return [
        Figure("sqlite.faults", mapped["vm"]["faults"], "faults"),
        Figure("sqlite.read", mapped["mapped"]["bytes_read"], "B"),
        Figure("sqlite.file-written", mapped["mapped"]["writes"], "writes", 0),
        Figure("sqlite.swapped", _swapped(mapped), "B"),
        Figure("sqlite.swapped-not-mapped", _swapped(copied), "B"),
        Figure("sqlite.heap", _own_heap(mapped), "B"),
    ]


def _board_figures(found: dict[str, dict[str, Any]]) -> list[Figure]:
    return [
        figure
        for name, value in found.items()
        for figure in (
            Figure(f"sqlite.{name}.code", value["bytes"]["code_flash"], "B"),
            Figure(f"sqlite.{name}.ram", value["bytes"]["ram"], "B"),
            Figure(f"sqlite.{name}", round(_ratio(value), 3), "x native"),
            Figure(f"sqlite.{name}.faults", value["vm"]["faults"], "faults"),
        )
    ]
