# SPDX-License-Identifier: Apache-2.0
"""Globals that stay in RAM under a budget: same output, fewer guards, told and counted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import guests
import pytest
from runs import invoke, run_json, write_program
from runs import own_cache as own_cache
from test_compiler_kernels import BUILDS, KERNELS
from test_compiler_kernels import native as native

from nandwich.compiler import driver
from nandwich.compiler.toolchain import Guest
from nandwich.errors import InputError
from nandwich.run import statics

_BUDGETS = (256, 4096, 1 << 20)
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static int table[256], counter;
static unsigned char big[20000];
static int never[4] = {1, 2, 3, 4};
static const char *names[] = {"a", "b", "c"};
static volatile int seen;
int main(int argc, char **argv)
{
    for (int i = 0; i < 30000; i++) {
        table[i * 7 & 255] += i;
        counter += table[(i ^ argc) & 255] & 3;
        big[i % 20000] += i;
    }
    seen = argc;
    printf("%d %d %d %s %d\\n", counter, big[77], seen, names[argc % 3], never[argc & 3]);
    return 0;
}
"""


def _is_usual(build: str, budget: int) -> bool:
    """Each build with the border amid the globals, and one build with each border."""
    return budget == 4096 or build == "O2"


@pytest.mark.parametrize(
    ("build", "budget"),
    [
        pytest.param(build, budget, marks=[] if _is_usual(build, budget) else pytest.mark.soak)
        for build in BUILDS
        for budget in _BUDGETS
    ],
)
def test_kernels_print_what_they_print_natively(
    build: str, budget: int, native: dict[str, bytes], tmp_path: Path
) -> None:
    """Goal: globals on both sides of the border, pointers to either, in every build."""
    flags, guest = BUILDS[build]
    words = (*guest.words, f"statics={budget}")
    asked = Guest(**{**vars(guest), "words": words})
    for kernel in KERNELS:
        program = guests.build_virtual([kernel], tmp_path / kernel.stem, flags, asked)
        result = guests.run(program)
        assert result.status == 0, f"{kernel.stem}: {result.err}"
        assert result.out == native[kernel.stem], kernel.stem
        told = statics.read(program)
        assert told is not None
        assert told["bytes"] == sum(one["bytes"] for one in told["kept"]) <= budget


def _kept(value: dict[str, Any]) -> dict[str, int]:
    return {one["name"]: one["bytes"] for one in value["statics"]["kept"]}


def test_a_run_tells_what_is_in_ram_and_what_more_would_bring(tmp_path: Path) -> None:
    """Goal: the hot and small stay; what nobody writes is a constant and counts nowhere; RAM holds
    frames and statics together, and fewer accesses have guards."""
    source = write_program(tmp_path, PROGRAM)
    none, some = run_json(source), run_json(source, "--statics", "4K")
    assert none["statics"] is None
    assert none["ram_bytes"]["statics"] == 0
    assert _kept(some) == {"table": 1024, "counter": 4, "seen": 4}
    left = {one["name"]: one["why"] for one in some["statics"]["left"]}
    assert left == {"big": "room"}
    assert some["statics"]["budget_bytes"] == 4096
    assert some["statics"]["bytes"] == some["ram_bytes"]["statics"] == 1032
    half, now, *more = some["statics"]["coverage"]
    assert [one["bytes"] for one in (half, now, *more)] == [2048, 4096, 5120, 8192]
    shares = sum(one["share"] for one in some["statics"]["kept"])  # each to six places
    assert now["share"] == pytest.approx(shares, abs=3e-6)
    assert 0.5 < now["share"] < 1
    assert some["vm"]["accesses"] < 0.6 * none["vm"]["accesses"]
    assert none["device"]["frames"] == 64
    assert some["device"]["frames"] == (32768 - 1032) // 512
    parts = [some["ram_bytes"][name] for name in some["ram_bytes"] if name != "total"]
    assert sum(parts) == some["ram_bytes"]["total"]
    shown = invoke(source, "--statics", "4K").stdout
    assert "in RAM, of --statics 4 KiB; " in shown
    assert "in virtual memory: no room" in shown


@pytest.mark.parametrize(
    ("ram", "told"),
    [
        ("24K", "(ram=24576 - 21032 of statics) / frame=512 = 6 frames: at least 20 are needed"),
        ("20K", "ram=20480 does not hold the program's statics, 21032 bytes"),
    ],
)
def test_statics_that_leave_no_frames_are_refused(ram: str, told: str, tmp_path: Path) -> None:
    """Of a program that was built; `run` refuses a budget as large as the RAM before it builds."""
    source, program = write_program(tmp_path, PROGRAM), tmp_path / "program"
    build = [sys.executable, "-m", "nandwich", "cc", "-O2", "--nw-statics=64K", str(source)]
    subprocess.run([*build, "-o", str(program)], check=True, cwd=tmp_path)
    device = {**os.environ, "NANDWICH": f"ram={ram}"}
    done = subprocess.run([program], capture_output=True, text=True, env=device, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr


def test_many_objects_and_a_large_budget(tmp_path: Path) -> None:
    """Goal: where the best choice would take too many steps, the densest fill the budget; and equal
    programs get equal choices."""
    names = [f"object{number}" for number in range(300)]
    uses = "".join(f"    sum += use({name}, n + {at});\n" for at, name in enumerate(names))
    text = "#include <stdio.h>\n"
    text += "".join(f"static int {name}[{1400 + at}];\n" for at, name in enumerate(names))
    text += "__attribute__((noinline)) static int use(int *p, int n)\n"
    text += "{\n    p[n & 1023] += n;\n    return p[n * 5 & 1023];\n}\n"
    text += "int main(int n, char **v)\n{\n    int sum = 0;\n    (void)v;\n" + uses
    text += '    printf("%d\\n", sum);\n    return 0;\n}\n'
    source = write_program(tmp_path, text)
    guest = Guest(statics_bytes=1 << 20)
    programs = [guests.build_virtual([source], tmp_path / one, guest=guest) for one in "ab"]
    assert (
        guests.run(programs[0]).out == guests.run(guests.build_native([source], tmp_path / "n")).out
    )
    told, again = map(statics.read, programs)
    assert told is not None
    assert told == again
    assert (1 << 20) - 4 * 1700 < told["bytes"] <= 1 << 20
    assert {one["name"] for one in told["kept"]} == set(names[: len(told["kept"])])
    assert len(told["left"]) == 8


@pytest.mark.parametrize("how", ["--separate", "-fno-lto", "-S"])
def test_files_by_themselves_get_no_budget(how: str) -> None:
    with pytest.raises(InputError, match="a budget is the whole program's"):
        driver.plan([how, "--nw-statics=4K", "a.c"])
    with pytest.raises(InputError, match="a budget is the whole program's"):
        driver.plan([how, "-mllvm", "-nw-statics=4096", "a.c"])
    driver.plan([how, "--nw-statics=0", "a.c"])


def test_no_code_needs_no_budget() -> None:
    words = driver.plan(["-E", "a.c"], "statics=4K").command
    assert not any("statics=" in word for word in words)


def test_cc_builds_with_a_budget(tmp_path: Path) -> None:
    """Goal: what a file was compiled with holds for the program; RAM of the program tells."""
    source = write_program(tmp_path, PROGRAM)
    program, report = tmp_path / "program", tmp_path / "report.json"
    cc = [sys.executable, "-m", "nandwich", "cc"]
    subprocess.run(
        [*cc, "-O2", "--nw-statics=4K", "-c", source, "-o", tmp_path / "a.o"], check=True
    )
    subprocess.run([*cc, tmp_path / "a.o", "-o", program], check=True)
    subprocess.run([program], check=True, env={"NANDWICH": f"stats={report}"}, capture_output=True)
    assert json.loads(report.read_text())["ram_bytes"]["statics"] == 1032


@pytest.mark.parametrize(
    ("value", "told"),
    [("many", "no quantity of size"), ("2G", "at most 1G"), ("4KB", "may mean 1000 or 1024")],
)
def test_what_is_no_budget_is_refused(value: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        driver.plan([f"--nw-statics={value}", "a.c"])
