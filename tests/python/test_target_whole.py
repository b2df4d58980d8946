# SPDX-License-Identifier: Apache-2.0
"""Programs of several files as firmware: one program to compiler and pass, its globals in RAM, and
the counts of a native run on the board."""

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from runs import own_cache as own_cache
from schemas import validate

from lab.device import boards
from nandwich import paths
from nandwich.cli.main import main
from nandwich.compiler import profiles

assert paths.CHECKOUT is not None
_KERNELS = paths.CHECKOUT / "tests" / "compiler" / "kernels"
_LARGE = [name for name, board in boards.BOARDS.items() if not board.is_small]

pytestmark = pytest.mark.skipif(
    any(board.missing() for board in boards.BOARDS.values()),
    reason=f"not installed: {[board.missing() for board in boards.BOARDS.values()]}",
)

_MAIN = """
    #include <stdio.h>
    extern int twice(int value);
    extern int table[64], nobody_writes;
    int main(int argc, char **argv)
    {
        int sum = 0;
        (void)argv;
        for (int i = 0; i < 1000; i++) sum += twice(i + argc) + nobody_writes + table[i & 63];
        printf("%d\\n", sum);
        return 0;
    }
    """
_OTHER = """
    int nobody_writes = 5, table[64] = {1, 2, 3};
    int twice(int value) { return 2 * value; }
    """


def _invoke(target: str, *words: str | Path) -> Result:
    return CliRunner().invoke(main, ["run", "--target", target, *map(str, words)])


def _json(target: str, *words: str | Path) -> dict[str, Any]:
    result = _invoke(target, "--json", "-", *words)
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    validate("run-target-1", value)
    assert value["identical"] is True
    return value


def _two_files(folder: Path, other: str = _OTHER) -> tuple[Path, Path]:
    first, second = folder / "first.c", folder / "second.c"
    first.write_text(_MAIN)
    second.write_text(other)
    return first, second


@pytest.mark.parametrize("target", boards.BOARDS)
def test_two_files_are_one_program(tmp_path: Path, target: str) -> None:
    """Goal: a function of another file is inlined, natively too, and globals that no file writes
    are constants: no guard and no virtual memory for them."""
    files = _two_files(tmp_path)
    whole, apart = (_json(target, *files, *how) for how in ([], ["--separate"]))
    inlined, called = (value["instructions"]["program"] for value in (whole, apart))
    assert inlined + 2 * 1000 < called
    assert whole["instructions"]["guards"] == 0
    assert apart["instructions"]["guards"] > 1000


@pytest.mark.parametrize("target", _LARGE)
def test_a_program_keeps_what_others_call(tmp_path: Path, target: str) -> None:
    """Goal: constructors, a table that only the linker knows, and functions with names of the C
    library are there in a whole program as they are file by file."""
    files = _two_files(
        tmp_path,
        """
        int table[64], nobody_writes;
        __attribute__((constructor)) static void begin(void) { table[5] = 7; }
        __attribute__((used)) static int kept = 3;
        int toupper(int letter) { return letter + nobody_writes; }
        int twice(int value) { return toupper(value) + table[5]; }
        """,
    )
    whole, apart = (_invoke(target, *files, *how) for how in ([], ["--separate"]))
    assert whole.exit_code == apart.exit_code == 0, whole.output + apart.output
    assert whole.stdout.splitlines()[0] == apart.stdout.splitlines()[0]
    assert int(whole.stdout.splitlines()[0]) == 500500 + 7 * 1000 + 7 * 16


@pytest.mark.parametrize("target", boards.BOARDS)
def test_what_is_missing_is_told_of_a_whole_program(tmp_path: Path, target: str) -> None:
    """Goal: what no file defines, and a pointer to what no file compiled, end with words."""
    source = tmp_path / "program.c"
    source.write_text("int gone(int);\nint main(int argc, char **argv)\n"
                      "{ (void)argv; return gone(argc); }\n")  # fmt: skip
    result = _invoke(target, source, "--no-native")
    assert result.exit_code == 2
    assert "gone" in result.stderr
    assert "does not link" in result.stderr


@pytest.mark.parametrize("target", boards.BOARDS)
def test_statics_of_all_files_stay_in_ram(tmp_path: Path, target: str) -> None:
    """Goal: the budget is one for all files, out of --ram: frames get what it leaves, and the table
    says so; accesses to what stays have no guards."""
    small = target not in _LARGE
    size, count = ("256", 16) if small else ("1K", 150)
    first, second = _two_files(
        tmp_path,
        f"""
        int table[64], nobody_writes;
        static int own[{count}];
        int twice(int value) {{ own[value % {count}]++; table[value & 63] = 1; return own[0]; }}
        """,
    )
    none, some = (_json(target, first, second, "--statics", budget) for budget in ("0", size))
    kept = {one["name"]: one["bytes"] for one in some["statics"]["kept"]}
    assert none["statics"] is None
    assert kept.keys() == {"own", "table"}
    assert some["statics"]["bytes"] == sum(kept.values())
    frame = some["device"]["frame_bytes"]
    given = none["bytes"]["frames"]
    assert some["bytes"]["frames"] == (given - some["statics"]["bytes"]) // frame * frame
    assert some["device"]["frames"] == some["bytes"]["frames"] // frame
    # What the firmware itself says that it took: fewer frames have smaller tables.
    assert some["bytes"]["vm_tables"] < none["bytes"]["vm_tables"]
    static = [value["bytes"]["data"] + value["bytes"]["bss"] for value in (none, some)]
    assert static[1] + 16 > static[0] + some["statics"]["bytes"]  # what is aligned to 16
    assert some["instructions"]["guards"] < none["instructions"]["guards"]
    table = _invoke(target, first, second, "--statics", size).stdout
    assert f"(statics {some['statics']['bytes']} of both)" in table
    assert "in RAM, of --statics" in table


def test_look_aside_entries_take_their_ram_and_no_more(tmp_path: Path) -> None:
    """Goal: the tables of the run time are as long as the program asks, four addresses an entry."""
    program = tmp_path / "main.c"
    program.write_text("int main(void) { return 0; }\n")
    taken = [
        _json("cortex-m3", program, "--lookaside", str(entries))["bytes"]["bss"]
        for entries in (0, 64, 256)
    ]
    assert [more - less for less, more in itertools.pairwise(taken)] == [63 * 16, 192 * 16]


def test_statics_that_leave_no_frames_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "static unsigned char own[24000];\nint main(int argc, char **argv)\n"
        "{ for (int i = 0; i < 24000; i++) own[i * 7 % 24000] += argc; (void)argv; "
        "return own[argc] == 0; }\n"
    )
    result = _invoke("cortex-m3", source, "--statics", "31K", "--no-native")
    assert result.exit_code == 2
    assert "(--ram 32768 - 24000 of statics) / --frame 512 = 17 frames: at least 18 (16 slots" in (
        result.stderr
    )


@pytest.mark.parametrize("target", _LARGE)
def test_a_profile_of_the_board(tmp_path: Path, target: str) -> None:
    """Goal: the counts of a native run on the board fit the bitcode for it, function by function,
    asserts of its C library included, and guards take less; a second run reads the file."""
    counts, source = tmp_path / "counts", tmp_path / "program.c"
    text = (_KERNELS / "quicksort.c").read_text()
    source.write_text("#include <assert.h>\n" + text.replace("{\n", "{\n    assert(1 == 1);\n", 1))
    none = _json(target, source)
    made = _invoke(target, source, "--profile", counts)
    assert made.exit_code == 0, made.output
    assert made.stderr == f"{counts}: counts of a native run\n"
    some = _json(target, source, "--profile", counts)
    assert some["instructions"]["guards"] < 0.95 * none["instructions"]["guards"]
    assert some["instructions"]["program"] == none["instructions"]["program"]


def test_counts_are_those_of_the_host(tmp_path: Path) -> None:
    """Goal: a program without headers runs the same blocks as often on board and host; LLVM's own
    tool reads both and finds them equal."""
    source = _KERNELS / "quicksort.c"
    shown = []
    for target in ("host", *_LARGE):
        counts = tmp_path / target
        words = ["run", str(source), "--target", target, "-q", "--profile", str(counts)]
        assert CliRunner().invoke(main, words).exit_code == 0
        tool = [profiles.TOOL, "show", "--all-functions", "--counts", str(counts)]
        text = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
        shown.append([line for line in text.splitlines() if "Block counts" in line])
    assert len(shown[0]) > 1
    assert shown[0] == shown[1] == shown[2]


def test_a_program_without_an_end_has_no_counts(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return *(volatile int *)0x10000000; }\n")
    result = _invoke("cortex-m3", source, "--profile", tmp_path / "counts")
    assert result.exit_code == 1
    assert "the native run on cortex-m3 counted nothing: only a program that ends by" in (
        result.stderr
    )
    assert not (tmp_path / "counts").exists()


def test_a_profile_that_does_not_fit_is_told(tmp_path: Path) -> None:
    """Goal: what changed since the profile, or is another function for this processor, is named; a
    profile of another program is refused."""
    counts, source = tmp_path / "counts", tmp_path / "program.c"
    text = "int main(int argc, char **argv) {{ (void)argv; {} return 0; }}\nint other(void);\n"
    source.write_text(
        "#include <stdio.h>\nstatic int odd(int n) { return n & 1; }\n"
        + text.format('for (int i = 0; i < argc; i++) if (odd(i + argc)) puts("odd");')
    )
    assert _invoke("cortex-m3", source, "--profile", counts).exit_code == 0
    source.write_text(source.read_text().replace("return n & 1;", "return n > 5 ? n : n & 1;"))
    told = _invoke("cortex-m3", source, "--profile", counts)
    assert told.exit_code == 0, told.output
    assert "'odd' has changed since the profile, or that is of another processor: built" in (
        told.stderr
    )
    other = _invoke("cortex-m3", _KERNELS / "fft.c", "--profile", counts)
    assert other.exit_code == 2
    assert "the profile is of another program: it knows no function of this one" in other.stderr
