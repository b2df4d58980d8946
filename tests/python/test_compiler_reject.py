# SPDX-License-Identifier: Apache-2.0
"""What cannot be virtualised is refused at build time, with the place and the reason.

Each program is a few lines; `@` marks the line the message must name.
"""

import subprocess
from pathlib import Path

import guests
import pytest

from nandwich import paths
from nandwich.compiler import link_errors, toolchain

COMPILE = {
    "inline assembly with a memory operand": (
        """
        int g;
        int main(void)
        {
            __asm__ volatile("incl %0" : "+m"(g)); /* @ */
            return 0;
        }
        """,
        "in 'main': inline assembly is given a pointer that may be virtual",
    ),
    "inline assembly with a pointer in a register": (
        """
        int f(int *p)
        {
            int v;
            __asm__ volatile("movl (%1), %0" : "=r"(v) : "r"(p) : "memory"); /* @ */
            return v;
        }
        """,
        "in 'f': inline assembly is given a pointer that may be virtual",
    ),
    "a thread": (
        """
        #include <pthread.h>
        static void *run(void *p) { return p; }
        int main(void)
        {
            pthread_t t;
            return pthread_create(&t, 0, run, 0); /* @ */
        }
        """,
        "'pthread_create' cannot be used: threads would share one slot table",
    ),
    "a message of parts": (
        """
        #include <sys/socket.h>
        int f(int s, struct msghdr *m)
        {
            return sendmsg(s, m, 0); /* @ */
        }
        """,
        "'sendmsg' cannot be used: the kernel follows the pointers in the message",
    ),
    "a handler that interrupts": (
        """
        #include <signal.h>
        int main(void)
        {
            struct sigaction a = {0};
            return sigaction(SIGUSR1, &a, 0); /* @ */
        }
        """,
        "'sigaction' cannot be used: a handler could run between a guard and its access",
    ),
    "a gathering builtin": (
        """
        #include <immintrin.h>
        __attribute__((target("avx2"))) __m256i f(const int *p, __m256i i)
        {
            return _mm256_i32gather_epi32(p, i, 4); /* @ */
        }
        """,
        "accesses memory in a way that cannot be guarded",
    ),
}

MODULE = {
    "an ifunc": (
        """
        static int one(void) { return 1; }
        static int (*choose(void))(void) { return one; }
        int f(void) __attribute__((ifunc("choose")));
        int main(void) { return f(); }
        """,
        (),
        "'f' is an ifunc",
    ),
    "a common symbol": ("int c; int main(void) { return c; }", ("-fcommon",), "'c' is a common"),
    "a frame that is no power of two": ("int x;", ("-mllvm", "-nw-frame=500"), "-nw-frame=500"),
}


def _write(text: str, folder: Path) -> tuple[Path, int]:
    lines = [line.removeprefix(" " * 8) for line in text.splitlines()]
    marked = [number for number, line in enumerate(lines, 1) if "@" in line]
    source = folder / "program.c"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return source, marked[0] if marked else 0


def _compile(source: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    options = toolchain.compile_flags(toolchain.Guest(whole=False))
    command = [toolchain.CLANG, "-O1", "-c", str(source), "-o", "/dev/null", *options, *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("case", COMPILE)
def test_refused_with_its_line(case: str, tmp_path: Path) -> None:
    text, message = COMPILE[case]
    source, line = _write(text, tmp_path)
    done = _compile(source)
    assert done.returncode != 0
    assert message in done.stderr
    assert f"{source}:{line}:" in done.stderr


@pytest.mark.parametrize("case", MODULE)
def test_refused(case: str, tmp_path: Path) -> None:
    text, flags, message = MODULE[case]
    source, _ = _write(text, tmp_path)
    done = _compile(source, *flags)
    assert done.returncode != 0
    assert message in done.stderr


USER = """
        void fill(int *values);
        void (*later)(int *);
        static int values[4];
        int main(void)
        {
            fill(values); /* @ */
            return values[2] - 7;
        }
        """
FILL = "void fill(int *values) { values[2] = 7; }\n"


def test_pointer_to_an_uninstrumented_function_is_an_error_at_the_link(tmp_path: Path) -> None:
    source, line = _write(USER, tmp_path)
    other = tmp_path / "fill.c"
    other.write_text(FILL, encoding="utf-8")
    plain_object = tmp_path / "fill.o"
    subprocess.run([toolchain.CLANG, "-c", str(other), "-o", str(plain_object)], check=True)

    refused = guests.compile_virtual([source, plain_object], tmp_path / "refused")
    assert refused.returncode != 0
    told = link_errors.explain(refused.stderr)
    assert f"{source}:{line}: error: in 'main': 'fill' is given a pointer" in told
    assert "nw_instrumented" not in told

    program = guests.build_virtual([source, other], tmp_path / "accepted")
    assert guests.run(program).status == 0


def test_a_source_near_the_working_folder_keeps_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """clang keeps the part a path shares with the working folder apart, and the message named the
    rest alone: in a clone below the temporary folder a source there lost its beginning."""
    (tmp_path / "clone").mkdir()
    (tmp_path / "sources").mkdir()
    source, line = _write(USER, tmp_path / "sources")
    other = tmp_path / "fill.c"
    other.write_text(FILL, encoding="utf-8")
    plain_object = tmp_path / "fill.o"
    subprocess.run([toolchain.CLANG, "-c", str(other), "-o", str(plain_object)], check=True)
    relative = Path("..") / "sources" / "program.c"
    cases = [("clone", source, str(source)), ("clone", relative, str(relative))]
    cases += [("sources", Path("program.c"), "program.c"), ("sources", source, "program.c")]
    for folder, name, told_as in cases:
        monkeypatch.chdir(tmp_path / folder)
        refused = guests.compile_virtual([name, plain_object], tmp_path / "refused")
        told = link_errors.explain(refused.stderr)
        assert f"{told_as}:{line}: error: in 'main': 'fill' is given a pointer" in told


def test_table_of_uninstrumented_functions_is_an_error_at_the_link(tmp_path: Path) -> None:
    source, _ = _write(
        "void fill(int *v); void (*table[])(int *) = {fill}; int main(void) { return !table[0]; }",
        tmp_path,
    )
    other = tmp_path / "fill.c"
    other.write_text(FILL, encoding="utf-8")
    plain_object = tmp_path / "fill.o"
    subprocess.run([toolchain.CLANG, "-c", str(other), "-o", str(plain_object)], check=True)
    separate = toolchain.Guest(whole=False)  # else the table is seen to call nothing
    refused = guests.compile_virtual([source, plain_object], tmp_path / "refused", guest=separate)
    assert refused.returncode != 0
    assert "in an initialiser" in refused.stderr
    assert "'fill' is given a pointer" in link_errors.explain(refused.stderr)


def test_plain_function_is_trusted(tmp_path: Path) -> None:
    """NW_PLAIN on a declaration, or its name among the flags, takes the program's word."""
    other = tmp_path / "look.c"
    other.write_text("int look(const int *p) { return p == 0; }\n", encoding="utf-8")
    plain_object = tmp_path / "look.o"
    subprocess.run([toolchain.CLANG, "-c", str(other), "-o", str(plain_object)], check=True)
    text = "#include <nandwich/guest.h>\n{} int look(const int *);\nint g;\n"
    text += "int main(void) {{ return look(&g); }}\n"

    source = tmp_path / "marked.c"
    source.write_text(text.format("NW_PLAIN"), encoding="utf-8")
    program = guests.build_virtual([source, plain_object], tmp_path / "marked")
    assert guests.run(program).status == 0

    source.write_text(text.format(""), encoding="utf-8")
    guest = toolchain.Guest(plain=("look",))
    program = guests.build_virtual([source, plain_object], tmp_path / "named", guest=guest)
    assert guests.run(program).status == 0


def test_unguarded_access_faults(tmp_path: Path) -> None:
    """The word of a wrong NW_PLAIN is found out: virtual addresses are mapped to nothing."""
    source = tmp_path / "wrong.c"
    source.write_text(
        "#include <nandwich/guest.h>\nint g = 5;\n"
        "NW_PLAIN __attribute__((noinline)) int peek(int *p) { return *p; }\n"
        "int main(void) { return peek(&g); }\n",
        encoding="utf-8",
    )
    result = guests.run(guests.build_virtual([source], tmp_path / "wrong"))
    assert (result.status, "test: nothing at 0x1000" in result.err) == (5, True)


def test_objects_built_differently_are_refused_at_the_start(tmp_path: Path) -> None:
    objects = []
    for name, frame in (("one", 256), ("two", 512)):
        source = tmp_path / f"{name}.c"
        text = (
            "int shared; int main(void) { return shared; }\n" if name == "one" else "int other;\n"
        )
        source.write_text(text, encoding="utf-8")
        target = source.with_suffix(".o")
        flags = toolchain.compile_flags(toolchain.Guest(frame_bytes=frame, whole=False))
        subprocess.run(
            [toolchain.CLANG, "-c", "-w", str(source), "-o", str(target), *flags], check=True
        )
        objects.append(target)
    program = guests.build_virtual(objects, tmp_path / "mixed", guest=toolchain.Guest())
    result = guests.run(program)
    assert result.status == 4
    assert "start:" in result.err


def test_every_wrapped_name_has_its_wrapper() -> None:
    """compiler/libc.def against the archive: a missing one would show only at some user's link."""
    table = subprocess.run(
        ["clang-19", "-E", "-P", "-x", "c", "-DWRAPPED(N)=N@", "-"],
        input=f'#include "{guests.ROOT}/compiler/libc.def"\n',
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = {word.rstrip("@") for word in table.replace("@", "@ ").split() if word.endswith("@")}
    symbols = subprocess.run(
        ["nm", "-g", "--defined-only", str(paths.static_library("nw_guest"))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    defined = {line.split()[-1] for line in symbols.splitlines() if " W " in line}
    assert len(names) > 200
    assert {f"nw_libc_{name}" for name in names} - defined == set()
