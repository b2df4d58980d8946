# SPDX-License-Identifier: Apache-2.0
"""SQLite's shell, as released, over a database that is mapped: 64 KB of frames for all of it.

Compiling 240,000 lines takes its time, so the shell is not optimised here; `nandwich bench sqlite`
measures it as it would be used.
"""

from pathlib import Path

import pytest
import third_party
from runs import own_cache as own_cache

from lab import database
from lab.device import boards
from nandwich import paths

assert paths.CHECKOUT is not None
_ROWS = 65_000  # 4 MB
_OPTIONS = ("-O0", "--guards", "outline", "--ram", "64K", "--once")


@pytest.fixture
def readings(tmp_path: Path) -> Path:
    path = tmp_path / "readings.db"
    database.make(path, _ROWS)
    return path


def _written_bytes(log: Path) -> int:
    """Of how much of the layer's range a program's pages were written at all."""
    lines = [line.split() for line in log.read_text().splitlines()]
    return sum({words[2]: int(words[3]) for words in lines if words[1] == "write"}.values())


def test_the_shell_reads_a_database_in_its_place(tmp_path: Path, readings: Path) -> None:
    """Goal: the answers are native; pages of the database come from the file as they are touched,
    and none is written to swap. Without the mapping they are copied to the heap, and are."""
    sources = third_party.fetch(third_party.SQLITE_SHELL) / "source"
    log, queries = tmp_path / "log", database.QUERIES.values()
    files = (sources / "shell.c", sources / "sqlite3.c")
    program = (*files, *database.FLAGS, *_OPTIONS, "--record", str(log))

    words = ("--", "-readonly", "-mmap", "1000000000", str(readings), *queries)
    value, printed = database.run(*program, *words)
    assert value["identical"]
    assert printed == database.answers(readings)
    mapped, vm = value["mapped"], value["vm"]
    assert mapped["peak_bytes"] == readings.stat().st_size > 4_000_000
    assert mapped["writes"] == 0
    assert mapped["reads"] == vm["mapped"] > readings.stat().st_size // 512
    assert mapped["bytes_read"] == 512 * mapped["reads"]
    own = value["heap"]["peak_bytes"] - mapped["peak_bytes"]
    assert own < 1 << 20
    with_map = _written_bytes(log)
    assert 0 < with_map < 1 << 20

    words = ("--no-native", "--", "-readonly", "-mmap", "0", str(readings), *queries)
    value, copied = database.run(*program, *words)
    assert copied == printed
    assert value["mapped"]["peak_bytes"] == value["vm"]["mapped"] == 0
    assert _written_bytes(log) > with_map + (1 << 20)


@pytest.mark.soak  # two builds of 240,000 lines, optimised to fit
def test_a_board_asks_for_mmap_alone(readings: Path) -> None:
    """Goal: examples/sqlite_map.c answers as any SQLite does, from flash, in 48 KB of frames."""
    missing = boards.BOARDS["cortex-m3"].missing()
    if missing:
        pytest.skip(f"not installed: {missing}")
    sources = third_party.fetch(third_party.SQLITE_SHELL) / "source"
    value, printed = database.run(
        *(database.BOARD_PROGRAM, sources / "sqlite3.c", "-I", sources, *database.BOARD_FLAGS),
        *("-Os", "--guards", "outline", "--ram", "48K", "--vm", "6M"),
        *("--target", "cortex-m3", "--", str(readings), *database.QUERIES.values()),
    )
    assert value["identical"]
    assert printed == database.answers(readings)
    assert value["vm"]["mapped"] > readings.stat().st_size // 512
