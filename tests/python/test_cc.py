# SPDX-License-Identifier: Apache-2.0
"""`nandwich cc` builds ordinary projects as clang would, and what it builds runs by itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nandwich import paths
from nandwich.compiler import driver, outputs
from nandwich.errors import InputError
from nandwich.run import recipe
from nandwich.twin import config

_MAKEFILE = """
CFLAGS = -O2 -Wall -Werror -MMD -MP
program: main.o libsum.a
\t$(CC) $(LDFLAGS) $^ -o $@
libsum.a: sum.o
\tar rcs $@ $^
-include *.d
"""
_MAIN = """
#include <stdio.h>
#include "sum.h"
int numbers[40000];
int main(int argc, char **argv)
{
    for (int i = 0; i < 40000; i++) numbers[i] = i * argc;
    printf("%s %ld\\n", argv[0] ? "sum" : "", sum(numbers, 40000));
    return 0;
}
"""
_SUM = """
#include "sum.h"
long sum(const int *from, int count)
{
    long total = 0;
    for (int i = 0; i < count; i++) total += from[i];
    return total;
}
"""
_STACK = """
#include <stdio.h>
#include "sum.h"
int main(int argc, char **argv)
{
    int local[3000], letters = 0;
    for (int i = 0; i < 3000; i++) local[i] = i;
    for (char *p = argv[argc - 1]; *p != 0; p++) letters += *p;
    printf("%ld %d\\n", sum(local, 3000), letters);
    return 0;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two sources, a header and a static library."""
    files = {"Makefile": _MAKEFILE, "main.c": _MAIN, "sum.c": _SUM}
    files["sum.h"] = "long sum(const int *from, int count);\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def _cc(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nandwich", "cc", *arguments]
    return _call(command, cwd, environment)


def _call(
    command: list[str], cwd: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    assert paths.CHECKOUT is not None
    settings = {
        **os.environ,
        "PYTHONPATH": str(paths.CHECKOUT / "python"),
        "NANDWICH_CACHE": str(cwd / "cache"),
        **(environment or {}),
    }
    return subprocess.run(
        command, cwd=cwd, env=settings, capture_output=True, text=True, check=False
    )


def test_make_builds_a_project_that_runs_by_itself(project: Path) -> None:
    """Goal: `make CC="nandwich cc"` works with dependency files and a static library; the program
    prints only what it prints, and reports when asked."""
    made = _call(["make", f"CC={sys.executable} -m nandwich cc"], project)
    assert made.returncode == 0, made.stderr
    assert "sum.h" in (project / "main.d").read_text()
    plain = _call(["./program"], project)
    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "sum 799980000\n", "")
    asked = _call(["./program"], project, {"NANDWICH": "ram=64K ftl=page stats=report.json"})
    assert asked.stdout == "sum 799980000\n"
    report = json.loads((project / "report.json").read_text())
    assert report["device"]["frames"] == 128
    assert report["device"]["ftl"] == "page"
    assert report["vm"]["faults"] > 40000 * 4 // 512


def test_choices_are_built_in_and_can_be_overridden(project: Path) -> None:
    """Goal: --nw- at the link chooses the device, a file and NANDWICH override it."""
    choices = ("--nw-frame=256", "--nw-ram=16K", "--nw-vm=1M", "--nw-ftl=page")
    built = _cc("-O1", "main.c", "sum.c", *choices, "-o", "program", cwd=project)
    assert built.returncode == 0, built.stderr
    (project / "device").write_text("# mine\npolicy=lru\nstats=report.json\n")
    for words, frames in (("", 64), ("ram=32K", 128)):
        environment = {"NANDWICH_CONFIG": "device", "NANDWICH": words}
        assert _call(["./program"], project, environment).returncode == 0
        device = json.loads((project / "report.json").read_text())["device"]
        assert (device["frame_bytes"], device["frames"], device["policy"]) == (256, frames, "lru")
        assert device["vm_bytes"] == 1 << 20


def test_counts_do_not_hang_on_the_environment(project: Path) -> None:
    """Goal: neither the size of the environment nor where the system puts the stack changes a
    single count: same program, same arguments, same numbers."""
    (project / "stack.c").write_text(_STACK)
    assert _cc("-O2", "stack.c", "sum.c", "-o", "program", cwd=project).returncode == 0
    seen = set()
    for length in (1, 77, 300, 555, 1501, 2222, 40000, 50000):
        settings = {"NANDWICH": "stats=report.json", "PADDING": "x" * length}
        assert _call(["./program", "two" * 86], project, settings).returncode == 0
        report = json.loads((project / "report.json").read_text())
        seen.add(json.dumps([report[key] for key in ("vm", "heap", "ftl", "chip", "energy_pj")]))
    assert len(seen) == 1


def test_other_modes_are_clangs_own(project: Path) -> None:
    """Goal: -E, -S, -c, -fsyntax-only, --version and -print-... do what clang does."""
    assert "int numbers[40000];" in _cc("-E", "main.c", cwd=project).stdout
    assert _cc("-S", "-O1", "main.c", "-o", "-", cwd=project).stdout.count("\nmain:") == 1
    assert _cc("-c", "main.c", cwd=project).returncode == 0
    assert (project / "main.o").exists()
    assert _cc("-fsyntax-only", "sum.c", cwd=project).returncode == 0
    assert "clang version 19" in _cc("--version", cwd=project).stdout
    assert _cc("-print-resource-dir", cwd=project).stdout.strip().endswith("19")


def test_stdin_and_lto_flags_of_a_project(project: Path) -> None:
    """Goal: `-x c -` does not make our archives C sources, and -flto leaves the guards in place."""
    command = [sys.executable, "-m", "nandwich", "cc", "-x", "c", "-", "-o", "program"]
    text = "int large[9000]; int main(void) { return large[8000] + 4; }"
    assert subprocess.run(command, input=text, text=True, cwd=project, check=False).returncode == 0
    assert _call(["./program"], project).returncode == 4
    assert _cc("-flto", "-O2", "main.c", "sum.c", "-o", "program", cwd=project).returncode == 0
    done = _call(["./program"], project, {"NANDWICH": "stats=report.json"})
    assert done.stdout == "sum 799980000\n"
    assert json.loads((project / "report.json").read_text())["vm"]["accesses"] >= 80000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-shared", "sum.c", "-o", "libsum.so"], "build a static library"),
        (["--nw-frame", "main.c"], "write KEY=VALUE"),
        (["--nw-frame=100", "main.c"], "power of two"),
        (["--nw-slots=many", "main.c"], "not a number"),
        (["--nw-lookaside=3", "main.c"], "0 or a power of two up to 256"),
        (["--nw-slto=3", "-c", "main.c"], "compiled in: frame, slots, lookaside, guards, statics"),
        (["--nw-chip=W25N01G", "-c", "main.c"], "did you mean W25N01GV"),
        (["--nw-vm=much", "main.c"], "not a size"),
        (["nothing.c"], "no such file"),
        (["a.cpp"], "a.cpp: C++ is not supported"),
        (["-fsanitize=address", "main.c"], "-fsanitize=address does not work in virtual memory"),
        (["-x", "c++", "main.c"], "-x c++: C++ is not supported"),
    ],
)
def test_bad_command_lines(project: Path, arguments: list[str], told: str) -> None:
    """Goal: what cannot be built is refused with a reason."""
    refused = _cc(*arguments, cwd=project)
    assert refused.returncode != 0
    assert told in refused.stderr


@pytest.mark.parametrize(
    "option",
    [
        "-Wl,-Map=main.c",
        "-Wl,-Map,./main.c",
        "-Wl,-Map -Wl,main.c",
        "-Xlinker -Map=main.c",
        "-Xlinker -Map -Xlinker main.c",
        "-Wl,--dependency-file=main.c",
        "-Wp,-MD,main.c",
        "-MMD -MF main.c",
        "-MMD -MFmain.c",
        "-MJ main.c",
        "-o main.c",
        "-omain.c",
        "-c -ftime-trace=main.c",
        "-serialize-diagnostics main.c",
        "-save-temps main.s",
    ],
)
def test_no_output_goes_over_an_input(tmp_path: Path, option: str) -> None:
    """A map of the linker went over the program's source, with status 0; `run` did the same."""
    words = option.split()
    text = "int main(void)\n{\n    return 0;\n}\n"
    source = tmp_path / "main.c"
    source.write_text(text)
    (tmp_path / "main.s").write_text("")
    done = _cc("main.c", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "would write over the input" in done.stderr
    assert source.read_text() == text
    with pytest.raises(InputError, match="would write over the input"):
        recipe.job((source,), ["-Wl,-Map=" + str(source)], config.Device(), ())


@pytest.mark.quick
def test_other_outputs_are_left_alone() -> None:
    flags = "-o main -Wl,-Map=main.map -MMD -MFmain.d -Xlinker -O1 -ftime-trace -save-temps"
    outputs.refuse_over([__file__, "main.o"], flags.split())


def test_objects_for_different_frames_never_run(project: Path) -> None:
    """Goal: a frame asked for when a file is compiled holds for the program; two are refused."""
    assert _cc("-c", "sum.c", "--nw-frame=256", cwd=project).returncode == 0
    assert _cc("main.c", "sum.o", "-o", "program", cwd=project).returncode == 0
    assert _call(["./program"], project).returncode == 0
    refused = _cc("main.c", "--nw-frame=1024", "sum.o", "-o", "program", cwd=project)
    assert refused.returncode != 0
    assert "files of one program ask for both" in refused.stderr
    assert _cc("-c", "sum.c", "--separate", "--nw-frame=256", cwd=project).returncode == 0
    assert _cc("main.c", "sum.o", "-o", "program", cwd=project).returncode == 0
    mixed = _call(["./program"], project)
    assert mixed.returncode == 2
    assert "different frames, slots or look-aside" in mixed.stderr


def test_a_function_compiled_without_guards_is_named_at_the_link(project: Path) -> None:
    """Goal: a virtual pointer to code that was not compiled with the pass is a link error that says
    where and what to do."""
    assert subprocess.run(["clang-19", "-c", "sum.c"], cwd=project, check=False).returncode == 0
    refused = _cc("main.c", "sum.o", "-o", "program", cwd=project)
    assert refused.returncode != 0
    assert "'sum' is given a pointer that may be virtual" in refused.stderr
    assert "main.c" in refused.stderr


_LACKS = r"""
#include <netdb.h>
#include <string.h>
#include <wchar.h>
wchar_t wide[10];
char text[10];
void mine(char *p);
size_t strlcpy(char *to, const char *from, size_t size);
int noptr(int x);
int main(void)
{
    swscanf(wide, wide + 2);
    swprintf(wide, 3, L"%d", 5);
    gethostbyname(text);
    strlcpy(text, text + 1, 3);
    mine(text);
    return noptr(4);
}
"""


def test_link_errors_propose_what_fits(project: Path) -> None:
    """Goal: each kind of missing function has a sentence of its own: all were said to be defined by
    no file, the C library's too, and C++ or a sanitizer ended in dozens of unknown names."""
    (project / "lacks.c").write_text(_LACKS)
    (project / "mine.cpp").write_text('extern "C" void mine(char *p) { p[0] = 1; throw 1; }\n')
    text = "int noptr(int x) { int a[5]; a[x] = 4; int *volatile p = a; return p[x]; }\n"
    (project / "checked.c").write_text(text)
    for words in ("-x c++ mine.cpp", "-fsanitize=address checked.c"):
        done = subprocess.run(["clang-19", "-c", "-w", *words.split()], cwd=project, check=False)
        assert done.returncode == 0
    refused = _cc("lacks.c", "mine.o", "checked.o", "-o", "program", cwd=project)
    assert refused.returncode != 0
    unwrapped = (
        "is given a pointer that may be virtual, and the C library's function is not wrapped"
    )
    for told in (
        f"lacks.c:12: error: in 'main': 'swscanf' {unwrapped}",
        f"lacks.c:13: error: in 'main': 'swprintf' {unwrapped}",
        f"lacks.c:14: error: in 'main': 'gethostbyname' {unwrapped}",
        "wrapped for virtual memory; use printf with %ls, or fputws(), or give it a copy in a "
        "local variable",
        "undefined symbol: strlcpy",
        "instead of 'strlcpy': snprintf(to, size, \"%s\", from)",
        "'mine' is given a pointer that may be virtual, and no file compiled by `nandwich cc`",
        "mine.o: error: C++ is not supported",
        "checked.o: error: compiled with -fsanitize=address, which does not work in virtual memory",
    ):
        assert refused.stderr.count(told) == 1, refused.stderr
    assert "__cxa" not in refused.stderr
    assert "__asan" not in refused.stderr
    assert "'strlcpy' is given" not in refused.stderr
    missing = _cc("lacks.c", "checked.c", "-o", "program", cwd=project)
    assert "undefined symbol: mine" in missing.stderr
    assert "'mine' is given" not in missing.stderr


def test_variables_defined_twice_have_a_sentence(project: Path) -> None:
    """Goal: -fcommon merges definitions natively and cannot here; the message says what to do."""
    for name in ("one", "two"):
        (project / f"{name}.c").write_text(f"int shared; int {name}(void) {{ return shared; }}\n")
    (project / "start.c").write_text("int main(void) { return 0; }\n")
    for name in ("start", "one", "two"):
        assert _cc("-fcommon", "-c", f"{name}.c", cwd=project).returncode == 0
    refused = _cc("start.o", "one.o", "two.o", "-o", "program", cwd=project)
    assert refused.returncode != 0
    assert "'shared' is defined in one.o and in two.o; keep one definition" in refused.stderr
    assert "-fcommon, which would merge" in refused.stderr


def test_wrong_settings_end_a_program_before_main(project: Path) -> None:
    """Goal: a program told nonsense by its environment says what is allowed and does not start."""
    assert _cc("main.c", "sum.c", "-o", "program", cwd=project).returncode == 0
    for words, told in (
        ("ftl=lavsh", "ftl=lavsh: unknown; allowed are tree, lavish"),
        ("vm=16K", "globals take"),
        ("ram=4K", "at least 20 are needed"),
        ("chip=nothing", "unknown chip"),
        ("frame=256", "compiled in; build the program again with --nw-frame=256"),
        ("statics=4K", "compiled in; build the program again with --nw-statics=4K"),
    ):
        refused = _call(["./program"], project, {"NANDWICH": words})
        assert (refused.returncode, refused.stdout) == (2, "")
        assert told in refused.stderr


def test_a_corrupt_image_is_refused_with_its_place(project: Path) -> None:
    """Goal: wear is carried on in an image; one that was damaged is refused and left as it is."""
    assert _cc("main.c", "sum.c", "-o", "program", cwd=project).returncode == 0
    settings = {"NANDWICH": "image=chip.image stats=report.json"}
    assert _call(["./program"], project, settings).returncode == 0
    assert _call(["./program"], project, settings).returncode == 0
    image = project / "chip.image"
    content = bytearray(image.read_bytes())
    content[len(content) // 2] ^= 1
    image.write_bytes(content)
    refused = _call(["./program"], project, settings)
    assert refused.returncode == 2
    assert "chip.image: byte " in refused.stderr
    assert image.read_bytes() == content


def test_inputs_are_told_from_values_of_options() -> None:
    """Goal: the driver knows which words are files."""
    line = ["-o", "out", "-I", "include", "-DX=1", "a.c", "-MF", "a.d", "-lm", "b.o", "-"]
    assert driver.inputs(line) == ["a.c", "b.o", "-"]
    assert driver.plan(["-c", "a.c"]).explains is False
    assert driver.plan(["a.c"]).explains is True
    assert driver.plan(["-dumpversion"]).command[1:] == ["-dumpversion"]
    with pytest.raises(InputError):
        driver.plan(["a.c"], "frame")
