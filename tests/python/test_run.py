# SPDX-License-Identifier: Apache-2.0
"""`nandwich run` from end to end: identical to native, honest counts, clear refusals."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich import paths
from nandwich.cli.main import main

assert paths.CHECKOUT is not None
_EXAMPLES = paths.CHECKOUT / "examples"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds of one test session are shared by its tests, and kept away from the user's."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path_factory.getbasetemp().parent / "nw-cache"))


def _invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


def _json(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    result = _invoke("--json", "-", *arguments)
    assert result.exit_code == code, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    validate("run-1", value)
    return value


def _program(folder: Path, text: str) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return source


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hello.c"], "hello from flash, time 1"),
        (["sort.c", "--ram", "16K", "--", "merge", "20000"], "20000 numbers sorted"),
        (["sort.c", "--ftl", "page", "--", "heap", "4000"], "4000 numbers sorted"),
        (["counters.c", "--ram", "16K", "--ftl", "page", "--", "3000"], "3000 counted"),
        (["counters.c", "--frame", "2048", "--ram", "64K", "--", "3000"], "3000 counted"),
        (["counters.c", "--policy", "lru", "--scheme", "sector-shrink", "--", "3000"], "3000 coun"),
        (["counters.c", "--ecc", "secded", "--chip", "W25N01GV", "--", "3000"], "3000 counted"),
    ],
)
def test_examples_run_as_natively(arguments: list[str], said: str) -> None:
    """Goal: every example prints what it prints natively, on several devices."""
    result = _invoke(_EXAMPLES / arguments[0], *arguments[1:])
    assert result.exit_code == 0, result.output
    assert said in result.stdout
    assert "identical to native" in result.stdout


def test_json_adds_up_and_repeats() -> None:
    """Goal: the numbers agree with one another, and a second run gives the same ones."""
    arguments = (_EXAMPLES / "sort.c", "--ram", "16K", "--", "merge", "20000")
    value, again = _json(*arguments), _json(*arguments)
    vm, chip, ftl = value["vm"], value["chip"], value["ftl"]
    assert value["identical"] is True
    assert vm["accesses"] == vm["slot_hits"] + vm["slot_misses"] > 20000
    assert 0 < vm["zero_pages"] < vm["faults"]
    assert vm["evictions"] > 0
    assert vm["writebacks"] > 0
    assert ftl["host_reads"] == vm["sectors_read"]
    assert ftl["host_writes"] == vm["sectors_written"]
    assert chip["programs"] >= ftl["host_writes"] > 0
    assert chip["misuses"] == 0
    assert value["time_ns"]["storage"] > 200_000 * chip["programs"]
    assert value["host_ns"]["native"] > 0
    assert value["host_ns"]["virtual"] > 0
    for key in ("vm", "ftl", "chip", "time_ns", "energy_pj", "heap", "life", "ram_bytes"):
        assert again[key] == value[key]


def test_stdin_and_files_are_the_same_for_both_runs(tmp_path: Path) -> None:
    """Goal: both runs read the whole of stdin, see the file as it was, and what stays is what one
    run leaves: a line is appended once, not twice."""
    source = _program(
        tmp_path,
        r"""
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv)
        {
            char *line = malloc(100);
            FILE *log = fopen(argv[1], "a");
            if (line == NULL || log == NULL || fgets(line, 100, stdin) == NULL) return 1;
            fputs(line, log);
            fclose(log);
            printf("got %s", line);
            return 0;
        }
        """,
    )
    log = tmp_path / "log"
    log.write_text("before\n")
    result = CliRunner().invoke(main, ["run", str(source), "--", str(log)], input="a word\n")
    assert result.exit_code == 0, result.output
    assert log.read_text() == "before\na word\n"
    assert "exit status, stdout and 1 file" in result.stdout


def test_a_run_that_differs_is_told(tmp_path: Path) -> None:
    """Goal: a program that prints an address of its heap is not identical: exit 1, and where."""
    source = _program(
        tmp_path,
        r"""
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) { printf("at %p\n", malloc(1)); return 0; }
        """,
    )
    value = _json(source, code=1)
    assert value["identical"] is False
    assert len(value["differences"]) == 1
    assert value["differences"][0].startswith("stdout: differs at byte 5")
    result = _invoke(source)
    assert result.exit_code == 1
    assert "not identical to native: stdout: differs at byte 5" in result.stderr


def test_a_program_that_fails_is_exit_1_though_identical(tmp_path: Path) -> None:
    """Goal: the program's own failure shows in the exit code, with its status told."""
    source = _program(tmp_path, "int main(void) { return 7; }\n")
    value = _json(source, code=1)
    assert value["identical"] is True
    assert value["exit"]["virtual"] == {"status": 7, "signal": None}
    assert "status 7 (the native run too)" in _invoke(source).stderr


_CRASHES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int numbers[5000];
__attribute__((noinline)) static void stumble(const char *how)
{
    switch (how[0]) {
    case 's': *(volatile int *)8 = 1; break;
    case 'a': abort();
    case 'f': numbers[2] = numbers[0] / numbers[1]; break;
    case '_': _exit(9);
    default: exit(11);
    }
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 5000; i++) numbers[i] = 0;
    stumble(argv[1]);
    printf("%d\n", numbers[2]);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "end", "exits"),
    [
        ("s", ("signal", "SIGSEGV", "stumble"), {"status": 139, "signal": "SIGSEGV"}),
        ("a", ("signal", "SIGABRT", "stumble"), {"status": 134, "signal": "SIGABRT"}),
        ("f", ("signal", "SIGFPE", "stumble"), {"status": 136, "signal": "SIGFPE"}),
        ("_", ("exit", None, None), {"status": 9, "signal": None}),
        ("x", ("exit", None, None), {"status": 11, "signal": None}),
    ],
)
def test_statistics_survive_every_end(
    tmp_path: Path, how: str, end: tuple[str, str | None, str | None], exits: dict[str, Any]
) -> None:
    """Goal: signals, abort, _exit and exit all leave the statistics so far; a crash names signal,
    address and function."""
    value = _json(_program(tmp_path, _CRASHES), "--", how, code=1)
    kind, what, function = end
    assert value["identical"] is True
    assert value["exit"]["virtual"] == exits
    assert value["end"]["kind"] == kind
    assert value["end"].get("what") == what
    assert value["end"].get("function") == function
    if how == "s":
        assert value["end"]["address"] == 8
        assert value["end"]["unguarded"] is False
    assert value["vm"]["bulk_bytes"] >= 20000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--chip", "K9F1G08U0"], ["unknown chip 'K9F1G08U0'", "K9F1G08U0A"]),
        (["--ftl", "lavsh"], ["unknown translation layer 'lavsh'", "did you mean lavish?"]),
        (["--vm", "64M", "--degree", "64"], ["64", "degree", "1024"]),
        (["--ram", "8K", "--slots", "16"], ["16 frames", "16 slots"]),
        (["--ram", "1000"], ["not a multiple of"]),
        (["--frame", "500", "--ram", "32000"], ["powers of two"]),
        (["--scheme", "direct"], ["direct", "512 B", "2048 B"]),
        (["--scheme", "sector-shrink", "--frame", "128"], ["16 programs", "4 programs a page"]),
        (["--target", "pdp11"], ["host"]),
        (["--vm", "8MB"], ["write M or MiB"]),
    ],
)
def test_bad_devices_are_refused_with_the_arithmetic(arguments: list[str], told: list[str]) -> None:
    """Goal: what cannot be is refused before anything is built: exit 2, one line that helps."""
    result = _invoke(_EXAMPLES / "hello.c", *arguments)
    assert result.exit_code == 2, result.output
    for text in told:
        assert text in result.stderr
    assert result.stdout == ""


def test_bad_sources_are_refused(tmp_path: Path) -> None:
    """Goal: a missing file, another kind of file and a compile error are bad input."""
    assert _invoke(tmp_path / "none.c").exit_code == 2
    assert "after `--`" in _invoke(_EXAMPLES / "hello.c", "picture.jpg").stderr
    broken = _invoke(_program(tmp_path, "int main(void) { return nothing; }\n"))
    assert broken.exit_code == 2
    assert "does not compile" in broken.stderr


def test_jpeg_of_the_demo(tmp_path: Path) -> None:
    """Goal: the main job. A real photograph, unmodified stb_image, 32 KB of frames: every byte as
    natively, and both pictures are bitmaps of the right size."""
    from matplotlib.cbook import get_sample_data

    photo = get_sample_data("grace_hopper.jpg", asfileobj=False)
    pictures = tmp_path / "photo.bmp", tmp_path / "gray.bmp"
    value = _json(
        _EXAMPLES / "jpeg2bmp.c",
        *("--chip", "K9F1G08U0A", "--ftl", "lavish", "--degree", "8"),
        *("--ram", "32K", "--frame", "512", "--vm", "8M", "--", photo, *pictures),
    )
    assert value["identical"] is True
    assert value["files"] == sorted(str(picture) for picture in pictures)
    assert pictures[0].stat().st_size == 54 + 3 * 512 * 600
    assert pictures[1].stat().st_size == 54 + 1024 + 512 * 600
    assert pictures[0].read_bytes()[:2] == b"BM"
    assert value["vm"]["faults"] > 1000
    assert value["heap"]["peak_bytes"] > 512 * 600 * 3
