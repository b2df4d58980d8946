# SPDX-License-Identifier: Apache-2.0
"""A profile decides where guards stand; one of another program is refused, a stale one is said."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab import vm_cost
from nandwich.compiler import driver, profiles
from nandwich.compiler.toolchain import Guest
from nandwich.errors import InputError

#: One function of two halves, of which every run takes one.
_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static int seldom[64], often[64];
__attribute__((noinline)) static int work(int which, int i)
{
    if (which != 0)
        return often[(i * 7) & 63] += i;
    seldom[(i * 5) & 63] ^= i;
    return seldom[(i * 3) & 63];
}
int main(int argc, char **argv)
{
    unsigned sum = 0;
    for (int i = 0; i < atoi(argv[1]); i++)
        sum += (unsigned)work(argc > 2, i);
    printf("%u\\n", sum);
    return 0;
}
"""


def _nandwich(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nandwich", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def _profiled(folder: Path, *arguments: str) -> str:
    (folder / "program.c").write_text(_PROGRAM, encoding="utf-8")
    words = ("run", "program.c", "--profile", "counts", "--once", "--quiet", "--", *arguments)
    done = _nandwich(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _instructions(program: Path) -> int:
    """Of `work`."""
    command = ["objdump", "-d", "--disassemble=work", str(program)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return len(re.findall(r"^ +[0-9a-f]+:\t", text, re.MULTILINE))


def test_guards_are_in_place_where_the_profile_saw_code_run(tmp_path: Path) -> None:
    assert _profiled(tmp_path, "1000", "often") == _profiled(tmp_path, "1000", "often")
    built = _nandwich(tmp_path, "cc", "-O2", "--profile=counts", "program.c", "-o", "with")
    assert built.returncode == 0, built.stderr
    assert _nandwich(tmp_path, "cc", "-O2", "program.c", "-o", "without").returncode == 0
    half = _instructions(tmp_path / "with")  # guards of the half never taken are calls
    assert half < 0.7 * _instructions(tmp_path / "without")


def test_a_profile_of_another_program_is_refused(tmp_path: Path) -> None:
    _profiled(tmp_path, "10")
    other = "int main(int c, char **v) { return c > 1 ? v[1][0] : 0; }\n"
    (tmp_path / "other.c").write_text(other, encoding="utf-8")
    refused = _nandwich(tmp_path, "cc", "--profile=counts", "other.c", "-o", "other")
    assert refused.returncode != 0
    assert "the profile is of another program" in refused.stderr
    assert "delete its file" in refused.stderr
    assert "use -v to see" not in refused.stderr  # clang's command, of which the user gave none


def test_nothing_is_written_over_the_profile(tmp_path: Path) -> None:
    """A report of `run` and a program of `cc` went over the counts that they had read."""
    _profiled(tmp_path, "10")
    before = (tmp_path / "counts").read_bytes()
    for words in (
        ("run", "--profile", "counts", "--json", "counts", "program.c"),
        ("run", "--profile", "counts", "--record", "counts", "program.c"),
        ("cc", "--profile", "counts", "program.c", "-o", "counts"),
    ):
        refused = _nandwich(tmp_path, *words)
        assert refused.returncode == 2, refused.stderr
        assert re.search("would (over)?write", refused.stderr)
    assert (tmp_path / "counts").read_bytes() == before


def test_what_has_changed_since_is_said_and_built_without(tmp_path: Path) -> None:
    wanted = _profiled(tmp_path, "10")
    changed = _PROGRAM.replace("if (which != 0)", "if (which != 0 && i >= 0)")
    (tmp_path / "program.c").write_text(changed, encoding="utf-8")
    built = _nandwich(tmp_path, "cc", "-O2", "--profile=counts", "program.c", "-o", "program")
    assert built.returncode == 0, built.stderr
    assert "'work' has changed since the profile: built without its counts" in built.stderr
    assert "main" not in built.stderr
    done = subprocess.run(
        ["./program", "10"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == wanted


def test_files_that_are_no_profile_are_refused(tmp_path: Path) -> None:
    for content, told in ((b"\xfflprofr\x81", "llvm-profdata-19 merge"), (b"text", "no profile")):
        (tmp_path / "counts").write_bytes(content)
        with pytest.raises(InputError, match=told):
            profiles.check(tmp_path / "counts")
    with pytest.raises(InputError, match="No such file"):
        driver.plan(["a.c", "--profile", str(tmp_path / "none")])
    for words in (["a.c", "--profile"], ["--profile=", "a.c"]):
        with pytest.raises(InputError, match="--profile wants a FILE"):
            driver.plan(words)
    (tmp_path / "counts").write_bytes(b"\xfflprofi\x81" + bytes(8))
    with pytest.raises(InputError, match="-fprofile-instr-generate"):
        profiles.check(tmp_path / "counts")
    (tmp_path / "counts").write_bytes(b"\xfflprofi\x81" + bytes(7) + b"\x01")
    with pytest.raises(InputError, match="as a whole"):
        driver.plan(["a.c", f"--profile={tmp_path / 'counts'}", "--separate"])


def test_a_run_that_counts_nothing_is_told(tmp_path: Path) -> None:
    text = "#include <signal.h>\nint main(void) { raise(SIGKILL); }\n"
    (tmp_path / "program.c").write_text(text, encoding="utf-8")
    done = _nandwich(tmp_path, "run", "program.c", "--profile", "counts", "--once", "--quiet")
    assert done.returncode != 0
    assert "the native run counted nothing" in done.stderr
    assert not (tmp_path / "counts").exists()


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("name", ["gray", "fft"])
def test_a_profile_makes_no_kernel_dearer(name: str, tmp_path: Path) -> None:
    """gray: a loop is still vectorised that is the last block in a million; fft: a loop keeps its
    windows that is short in most entries, but pays in the mean."""
    source = str(vm_cost.kernel(name))
    made = _nandwich(tmp_path, "run", source, "--profile", "counts", "--once", "--quiet")
    assert made.returncode == 0, made.stderr
    host = vm_cost.Host(tmp_path)
    without = host.virtual(name, Guest()).instructions
    counted = Guest(profile=str(tmp_path / "counts"))
    assert host.virtual(name, counted).instructions < 1.03 * without
