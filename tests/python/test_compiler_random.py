# SPDX-License-Identifier: Apache-2.0
"""Random printf and scanf formats, and random sequences of library calls, come out as natively.

tests/compiler/random holds the two generators: C programs that make case after case from the number
of each, so one build runs thousands, and a case that differs can be run alone (`PROGRAM NUMBER 1`).
"""

import functools
from pathlib import Path

import guests
import pytest

from nandwich.compiler.toolchain import Guest

PROGRAMS = {"formats": "formats.c", "calls": "calls.c"}
BUILDS = {
    "O2": (("-O2",), Guest()),
    "tiny": (("-O1",), Guest(frame_bytes=16, slots=3, lookaside=4)),
    "outline": (("-Os", "-fno-builtin"), Guest(frame_bytes=128, guards="outline")),
}
QUICK = range(1, 2001)
SOAK = range(2001, 102_001)
STEP = 20_000


@functools.cache
def _native(program: str, folder: Path) -> Path:
    return guests.build_native([_source(program)], folder / program, ("-O1", "-D_GNU_SOURCE"))


def _source(program: str) -> Path:
    return guests.SOURCES / "random" / PROGRAMS[program]


def _compare(native: Path, virtual: Path, cases: range) -> None:
    arguments = (str(cases.start), str(len(cases)))
    expected = guests.run(native, *arguments, timeout=300)
    result = guests.run(virtual, *arguments, timeout=900)
    assert expected.status == 0
    for wanted, got in zip(expected.out.split(b"\n"), result.out.split(b"\n"), strict=False):
        if wanted != got:
            number = wanted.split(b":")[0].decode()
            pytest.fail(
                f"case {number}\nnative:  {wanted!r}\nvirtual: {got!r}\n{result.err[-300:]}"
            )
    assert result.status == 0, result.err[-300:]
    assert len(result.out) == len(expected.out)


@pytest.fixture(scope="session")
def native_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("native")


def _check(program: str, build: str, cases: range, native_folder: Path, folder: Path) -> None:
    flags, guest = BUILDS[build]
    virtual = guests.build_virtual(
        [_source(program)], folder / program, (*flags, "-D_GNU_SOURCE"), guest
    )
    for first in range(cases.start, cases.stop, STEP):
        some = range(first, min(first + STEP, cases.stop))
        _compare(_native(program, native_folder), virtual, some)


@pytest.mark.parametrize("build", ["O2", "tiny"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_random_calls(program: str, build: str, native_folder: Path, tmp_path: Path) -> None:
    """Goal: what a program sees of the library does not hang on where its memory lies."""
    _check(program, build, QUICK, native_folder, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_random_calls_soak(program: str, build: str, native_folder: Path, tmp_path: Path) -> None:
    _check(program, build, SOAK, native_folder, tmp_path)
