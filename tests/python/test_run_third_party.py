# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs of other people run under `nandwich run` with native output."""

import bz2
import json
from pathlib import Path
from typing import Any

import pytest
import third_party
from click.testing import CliRunner
from runs import own_cache as own_cache
from schemas import validate

from nandwich import paths
from nandwich.cli.main import main

assert paths.CHECKOUT is not None
_GUESTS = paths.CHECKOUT / "tests" / "guests"


def _run(tmp_path: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    """stdout of the program and the JSON of a run that must be identical to native."""
    before, dashes, after = _around_dashes(arguments)
    report = tmp_path / "report.json"
    result = CliRunner().invoke(
        main, ["run", *before, "--quiet", "--json", str(report), *dashes, *after]
    )
    assert result.exit_code == 0, result.output
    value = json.loads(report.read_text())
    validate("run-1", value)
    assert value["identical"] is True
    assert value["vm"]["faults"] > 0
    return result.stdout, value


def _around_dashes(arguments: tuple[str, ...]) -> tuple[list[str], list[str], list[str]]:
    if "--" not in arguments:
        return list(arguments), [], []
    at = arguments.index("--")
    return list(arguments[:at]), ["--"], list(arguments[at + 1 :])


def test_zlib_packs_and_unpacks(tmp_path: Path) -> None:
    """Goal: zlib's deflate and inflate, 270 KB of state and windows, in 16 KB of frames."""
    sources = third_party.fetch(third_party.ZLIB) / "src" / "zlib"
    files = ["adler32", "compress", "crc32", "deflate", "inffast", "inflate", "inftrees"]
    files += ["trees", "uncompr", "zutil"]
    text = _GUESTS.parent / "python" / "test_run_third_party.py"
    stdout, value = _run(
        tmp_path,
        *(str(sources / f"{name}.c") for name in files),
        str(_GUESTS / "zlib_main.c"),
        *("-I", str(sources), "-O2", "--ram", "16K", "--vm", "4M"),
        *("--", str(text), str(tmp_path / "out.gz")),
    )
    assert stdout.count("zlib 1.3.1 level") == 3
    assert value["files"] == [str(tmp_path / "out.gz")]


def test_bzip2_packs_a_file_in_its_place(tmp_path: Path) -> None:
    """Goal: the bzip2 command as released: 8 MB of tables, times and modes of files, the file it
    packed removed; the archive is one the system's own library reads."""
    sources = third_party.fetch(third_party.BZIP2) / "bzip2-1.0.8"
    files = ["blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"]
    packed = tmp_path / "text"
    content = (_GUESTS.parent / "python" / "test_run_third_party.py").read_bytes()
    packed.write_bytes(content)
    packed.chmod(0o640)
    archive = tmp_path / "text.bz2"
    _, value = _run(
        tmp_path,
        *(str(sources / f"{name}.c") for name in (*files, "bzip2")),
        *("-w", "-O1", "-D_FILE_OFFSET_BITS=64", "--ram", "64K"),
        *("--", "-v", str(packed)),
    )
    assert value["files"] == [str(archive)]
    assert not packed.exists()
    assert bz2.decompress(archive.read_bytes()) == content
    assert archive.stat().st_mode & 0o777 == 0o640


def test_lua_runs_a_script(tmp_path: Path) -> None:
    """Goal: the Lua interpreter (setjmp, function tables, its own allocator) runs a script that
    uses every standard library."""
    sources = third_party.fetch(third_party.LUA) / "lua-5.4.7"
    stdout, value = _run(
        tmp_path,
        *(str(path) for path in sorted(sources.glob("*.c"))),
        str(_GUESTS / "lua_main.c"),
        *("-I", str(sources), "-O1", "--ram", "32K", "--ftl", "page", "--guards", "outline"),
        *("--", str(_GUESTS / "script.lua"), str(tmp_path / "numbers")),
    )
    assert stdout.splitlines()[-1].startswith("300\t9045050")
    assert value["vm"]["writebacks"] > 0


@pytest.mark.soak  # compiling 240,000 lines takes a minute
def test_sqlite_in_memory(tmp_path: Path) -> None:
    """Goal: SQLite (240,000 lines in one file) builds indices, joins and rolls back in 64 KB."""
    sources = third_party.fetch(third_party.SQLITE) / "sqlite3"
    stdout, _ = _run(
        tmp_path,
        *(str(sources / "sqlite3.c"), str(_GUESTS / "sqlite_main.c")),
        *("-I", str(sources), "-Os", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"),
        *("--ram", "64K", "--vm", "8M", "--guards", "outline"),
    )
    assert "error: no such column: no_such_column\nok\n1 failed\n" in stdout
