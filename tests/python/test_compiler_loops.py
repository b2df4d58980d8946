# SPDX-License-Identifier: Apache-2.0
"""Page windows: random loop nests come out as natively, and faults are those of guarded loops.

loop_nests.py makes the programs. Each is built once, with frames, slots, optimisation and mode
(file by file, profile, statics, look-aside entries) that hang on its seed; tiny frames make nearly
every iteration straddle.
"""

from pathlib import Path

import guests
import loop_nests
import pytest

from nandwich.compiler.toolchain import Guest

NESTS = 12
SHORTS = 6
#: What soak found: a guarded access in a window was dealt the slot that held the window's page.
FOUND = (142, 219, 241)
QUICK = range(1, 26)  # 300 nests
SOAK = range(26, 860)  # 10,000
BUILDS = (
    (("-O2",), Guest(frame_bytes=512)),
    (("-O2",), Guest(frame_bytes=64, slots=9, lookaside=4)),
    (("-O3",), Guest(frame_bytes=16, slots=3, lookaside=2, count=False)),
    (("-O1",), Guest(frame_bytes=128, slots=2, lookaside=0)),
    (("-O2", "-fno-vectorize"), Guest(frame_bytes=256, slots=16, count=False)),
    (("-Os",), Guest(frame_bytes=64, slots=1, lookaside=0)),
    (("-O3", "-fno-unroll-loops"), Guest(frame_bytes=32, slots=5, guards="hybrid")),
)
#: The arrays of a program have several types.
FLAGS = ("-fno-strict-aliasing",)


def _check(seed: int, mode: int, folder: Path, shorts: int = SHORTS) -> None:
    source = folder / f"nests{seed}.c"
    source.write_text(loop_nests.program(seed, NESTS, shorts), encoding="utf-8")
    native = guests.run(guests.build_native([source], folder / "native", ("-O1", *FLAGS)))
    assert native.status == 0
    given, guest = BUILDS[seed % len(BUILDS)]
    flags = [*given, *FLAGS]
    guest = guests.in_mode(mode, guest, source, flags)
    program = guests.build_virtual([source], folder / "virtual", flags, guest)
    result = guests.run(program)
    assert (result.status, result.out) == (0, native.out), result.err
    # A device that fails in the middle: what was told before is right, and the panic comes.
    for fail in (1 + seed % 7, 20 + seed, 200 + 13 * seed):
        part = guests.run(program, fail=fail)
        assert native.out.startswith(part.out)
        assert (part.status, "panic" in part.err) in ((0, False), (3, True)), part.err


@pytest.mark.parametrize("seed", QUICK)
def test_loop_nests(seed: int, tmp_path: Path) -> None:
    """Goal: windows change nothing that a program can see."""
    _check(seed, seed, tmp_path)


@pytest.mark.parametrize("seed", FOUND)
def test_loop_nests_that_were_wrong(seed: int, tmp_path: Path) -> None:
    """Goal: they stay right in the mode they were found in, the whole program."""
    _check(seed, 0, tmp_path, shorts=0)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SOAK)
def test_loop_nests_soak(seed: int, tmp_path: Path) -> None:
    _check(seed, seed, tmp_path)


PAST = {
    "up": "for (long i = 0; i < n; i++) { sum += p[i]; }",
    "up-write": "for (long i = 0; i < n; i++) { p[i] = (int)i; q[i & 7]++; }",
    "down": "for (long i = 0; i < n; i++) { sum += p[-i]; }",
    "two": "for (long i = 0; i < n; i++) { q[i & 3] += p[i] + p[i + 3]; }",
}


@pytest.mark.parametrize("loop", PAST)
def test_a_loop_past_its_memory_faults_as_a_guarded_one(loop: str, tmp_path: Path) -> None:
    """Goal: the report of a stream that runs off its memory is the guarded loop's own: the address,
    and what was stored until then."""
    source = tmp_path / "past.c"
    source.write_text(
        "#include <stdlib.h>\n#include <stdio.h>\nint q[8];\n"
        "int main(int argc, char **argv) { int *p = malloc(4096); long n = 1L << 30; int sum = 0;\n"
        f'p += argc; printf("%p\\n", (void *)p); fflush(stdout); {PAST[loop]} return sum; }}\n',
        encoding="utf-8",
    )
    told = []
    for windows in (True, False):
        guest = Guest(windows=windows)
        program = guests.build_virtual([source], tmp_path / f"past{windows}", ("-O2",), guest)
        result = guests.run(program, timeout=20)
        told.append((result.status, result.out, result.err))
    assert told[0][0] in (3, 5)
    assert told[0] == told[1]
