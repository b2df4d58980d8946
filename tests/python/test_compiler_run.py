# SPDX-License-Identifier: Apache-2.0
"""Programs that use C and its library in every way we support behave as native ones.

One program a theme; each prints what it finds, and the output and exit status must be native under
every build. The builds with tiny frames make accesses straddle and evict all the time.
"""

import functools
from pathlib import Path

import guests
import pytest

from nandwich.compiler.toolchain import Guest

PROGRAMS = {
    "memory": ["memory.c"],
    "strings": ["strings.c"],
    "formats": ["formats.c"],
    "files": ["files.c"],
    "control": ["control.c"],
    "layout": ["layout.c"],
    "vectors": ["vectors.c"],
    "library": ["library.c"],
    "wide": ["wide.c"],
    "short loops": ["short_loops.c"],
    "two": ["two_a.c", "two_b.c"],
}
BUILDS = {
    "O2": (("-O2",), Guest()),
    "O0": (("-O0",), Guest(slots=2, lookaside=2)),
    "Os": (("-Os",), Guest(frame_bytes=128)),
    "outline": (("-O1",), Guest(guards="outline")),
    "tiny": (("-O2",), Guest(frame_bytes=16, slots=3, lookaside=4)),
    "no-merge": (("-O3", "-mavx2"), Guest(slots=5, lookaside=0, words=("merge=0",))),
}


def _dialect(program: str) -> tuple[str, ...]:
    """two_a.c takes names for itself that only strict headers leave alone."""
    return ("-std=c11", "-fno-builtin") if program == "two" else ("-D_GNU_SOURCE",)


def _sources(program: str) -> list[Path]:
    return [guests.SOURCES / "run" / name for name in PROGRAMS[program]]


def _run(program: Path) -> guests.Result:
    return guests.run(program, "one", "two", stdin=b"12 word x")


@functools.cache
def _native(program: str, folder: Path) -> guests.Result:
    flags = ("-O1", *_dialect(program))
    return _run(guests.build_native(_sources(program), folder / program, flags))


@pytest.fixture(scope="session")
def native_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("native")


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_behaves_as_native(
    program: str, build: str, native_folder: Path, tmp_path: Path
) -> None:
    flags, guest = BUILDS[build]
    flags = (*flags, *_dialect(program))
    result = _run(guests.build_virtual(_sources(program), tmp_path / program, flags, guest))
    native = _native(program, native_folder)
    assert result.out.decode() == native.out.decode(), result.err
    assert result.status == native.status
