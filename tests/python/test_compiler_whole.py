# SPDX-License-Identifier: Apache-2.0
"""A program of several files gets its guards at the link, once and over all of them."""

import subprocess
import sys
from pathlib import Path

import guests
import pytest

from nandwich.compiler import driver
from nandwich.compiler.toolchain import CLANG, Guest, compile_flags, pass_words
from nandwich.errors import InputError

#: `sum` in one file is only ever given a local array of the other.
SUM = "int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }"
USER = """
int sum(const int *, int);
int table[4] = {1, 2, 3, 4};
int main(int argc, char **argv)
{
    int own[8];
    for (int i = 0; i < 8; i++)
        own[i] = argc + table[i & 3];
    return sum(own, 8);
}
"""


def _write(folder: Path, name: str, text: str) -> Path:
    source = folder / name
    source.write_text(text, encoding="utf-8")
    return source


def _object(source: Path, guest: Guest, *flags: str) -> Path:
    target = source.with_suffix(".o")
    command = [CLANG, "-O2", "-w", *flags, "-c", str(source), "-o", str(target)]
    subprocess.run([*command, *compile_flags(guest)], check=True)
    return target


@pytest.mark.parametrize("archive", [False, True])
def test_what_files_know_of_each_other_saves_guards(archive: bool, tmp_path: Path) -> None:
    one, two = _write(tmp_path, "sum.c", SUM), _write(tmp_path, "user.c", USER)
    library = _object(one, Guest())
    if archive:
        target = tmp_path / "libsum.a"
        subprocess.run(["ar", "rcs", str(target), str(library)], check=True, capture_output=True)
        library = target
    whole = guests.build_virtual([_object(two, Guest()), library], tmp_path / "whole")
    each = guests.build_virtual([two, one], tmp_path / "each", guest=Guest(whole=False))
    done, apart = guests.run(whole), guests.run(each)
    assert done.status == apart.status == 28
    assert apart.stats["accesses"] >= 12  # four words or eight of the table, eight of the array
    assert done.stats["accesses"] == 0  # nobody writes the table, and the array is plain


@pytest.mark.parametrize("kinds", [(True, False), (False, True)])
def test_files_of_both_kinds_link(kinds: tuple[bool, bool], tmp_path: Path) -> None:
    sources = [_write(tmp_path, "sum.c", SUM), _write(tmp_path, "user.c", USER)]
    objects = [
        _object(source, Guest(whole=whole)) for source, whole in zip(sources, kinds, strict=True)
    ]
    assert guests.run(guests.build_virtual(objects, tmp_path / "mixed")).status == 28


def test_a_file_without_optimisation_stays_so(tmp_path: Path) -> None:
    sources = [_write(tmp_path, "sum.c", SUM), _write(tmp_path, "user.c", USER)]
    objects = [_object(sources[0], Guest(), "-O0"), _object(sources[1], Guest())]
    done = guests.run(guests.build_virtual(objects, tmp_path / "program"))
    assert done.status == 28
    assert done.stats["accesses"] == 8  # an argument that lies in a variable is not followed


def test_what_a_file_asks_for_holds_for_the_program(tmp_path: Path) -> None:
    source = _write(tmp_path, "user.c", USER.replace("int table", "int volatile table"))
    asked = _object(source, Guest(frame_bytes=256, words=("windows=0",)))
    other = _object(_write(tmp_path, "sum.c", SUM), Guest())
    program = guests.build_virtual([asked, other], tmp_path / "program")
    assert guests.run(program).status == 28
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    at = next(line.split()[0] for line in text.splitlines() if "nw_guest_frame_bytes" in line)
    shown = ["objdump", "-s", "-j", ".rodata", f"--start-address=0x{at}", str(program)]
    words = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    assert words.splitlines()[4].split()[1].startswith("0001")  # 256
    assert b"llvm.commandline" not in program.read_bytes()
    assert b"__NANDWICH_PASS__" not in program.read_bytes()


def test_files_that_ask_for_different_things_are_refused(tmp_path: Path) -> None:
    one = _object(_write(tmp_path, "sum.c", SUM), Guest(frame_bytes=256))
    two = _object(_write(tmp_path, "user.c", USER), Guest(frame_bytes=1024))
    refused = guests.compile_virtual([one, two], tmp_path / "refused")
    assert refused.returncode != 0
    assert "frame=1024 and frame=256: files of one program ask for both" in refused.stderr


@pytest.mark.parametrize("word", ["foo=1", "windows=maybe"])
def test_what_is_no_option_of_the_pass_is_refused(word: str, tmp_path: Path) -> None:
    asked = _object(
        _write(tmp_path, "user.c", "int main(void) { return 0; }"), Guest(words=(word,))
    )
    refused = guests.compile_virtual([asked], tmp_path / "refused")
    assert refused.returncode != 0
    assert f"-nw-{word}: no option of the pass, or no value of it" in refused.stderr


def test_options_of_the_pass_among_flags_are_found() -> None:
    flags = ["-O2", "-mllvm", "-nw-windows=0", "-mllvm", "-stats", "-g"]
    assert pass_words(flags) == (["-O2", "-mllvm", "-stats", "-g"], ("windows=0",))


def test_a_refusal_at_the_link_has_its_line(tmp_path: Path) -> None:
    text = (
        'int g;\nint main(void)\n{\n    __asm__ volatile("incl %0" : "+m"(g));\n    return g;\n}\n'
    )
    source = _write(tmp_path, "asm.c", text)
    refused = guests.compile_virtual([_object(source, Guest())], tmp_path / "refused")
    assert refused.returncode != 0
    assert f"{source}:4:" in refused.stderr
    assert "inline assembly is given a pointer that may be virtual" in refused.stderr


def test_bitcode_is_not_joined_without_the_pass(tmp_path: Path) -> None:
    """Else a linker's own optimiser would make code without guards of it."""
    bitcode = _object(_write(tmp_path, "sum.c", SUM), Guest())
    with pytest.raises(InputError, match="gets its guards at the link of the program"):
        driver.plan(["-r", str(bitcode), "-o", "joined.o"])
    code = _object(_write(tmp_path, "user.c", USER), Guest(whole=False))
    driver.plan(["-r", str(code), "-o", "joined.o"])


def test_a_name_the_run_time_calls_is_explained(tmp_path: Path) -> None:
    text = "unsigned long strlen(const char *s) { return *s != 0; }\n"
    text += "int main(int c, char **v) { return (int)strlen(v[0]); }\n"
    source = _write(tmp_path, "own.c", text)
    words = ["-fno-builtin", str(source), "-o", str(tmp_path / "own")]
    refused = subprocess.run(
        [sys.executable, "-m", "nandwich", "cc", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0
    assert "the program defines 'strlen' itself" in refused.stderr
    subprocess.run([sys.executable, "-m", "nandwich", "cc", "--separate", *words], check=True)
    assert subprocess.run([tmp_path / "own"], check=False).returncode == 1
