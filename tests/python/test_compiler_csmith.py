# SPDX-License-Identifier: Apache-2.0
"""Random C programs (csmith, fixed seeds) give native checksums with all globals in virtual memory.

The build changes with the seed: frame size, number of slots, place of the guards, optimisation
level, and the mode (file by file, profile, statics, look-aside entries). Programs that do not end
natively within two seconds are skipped, as csmith makes some.
"""

import subprocess
from pathlib import Path

import guests
import pytest

from nandwich.compiler.toolchain import Guest

# Of these 100 and more than 2,000 end natively with Debian 12's csmith 2.3.
ENDLESS = frozenset((2, 3, 7, 55, 59, 79, 97, 111))  #: left out, as they take two seconds each
LONG = frozenset((47, 56, 65))  #: take ten seconds each
QUICK = [seed for seed in range(1, 113) if seed not in ENDLESS | LONG]
SOAK = [*LONG, *range(113, 2450)]
BUILDS = (
    (("-O2",), Guest()),
    (("-O1",), Guest(frame_bytes=16, slots=2, lookaside=1)),
    (("-O3",), Guest(frame_bytes=64, slots=5, lookaside=0)),
    (("-Os",), Guest(frame_bytes=128, slots=16)),
    (("-O2",), Guest(frame_bytes=32, slots=1, lookaside=2, guards="outline")),
    (("-O0",), Guest(frame_bytes=256, slots=8, count=False)),
    (("-O2",), Guest(frame_bytes=1024, slots=32, lookaside=256, guards="hybrid")),
    (("-O2",), Guest(frame_bytes=64, slots=4)),
)
CSMITH_INCLUDE = "-I/usr/include/csmith"


def _generate(seed: int, folder: Path) -> Path:
    source = folder / f"random{seed}.c"
    options = ["--seed", str(seed), "--max-funcs", "6", "--max-array-len-per-dim", "7"]
    subprocess.run(
        ["csmith", *options, "-o", str(source)], check=True, capture_output=True, cwd=folder
    )
    return source


def _check(seed: int, folder: Path) -> None:
    source = _generate(seed, folder)
    native = guests.build_native([source], folder / "native", ("-O1", CSMITH_INCLUDE))
    try:
        expected = guests.run(native, timeout=2)
    except subprocess.TimeoutExpired:
        pytest.skip(f"csmith seed {seed} does not end natively")
    if expected.status != 0:
        pytest.skip(f"csmith seed {seed} crashes natively")
    given, guest = BUILDS[seed % len(BUILDS)]
    flags = [*given, CSMITH_INCLUDE]
    guest = guests.in_mode(seed, guest, source, flags)
    program = guests.build_virtual([source], folder / "virtual", flags, guest)
    result = guests.run(program, timeout=120)
    assert result.status == expected.status, result.err
    assert result.out == expected.out


@pytest.mark.parametrize("seed", QUICK)
def test_random_program(seed: int, tmp_path: Path) -> None:
    _check(seed, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SOAK)
def test_random_program_soak(seed: int, tmp_path: Path) -> None:
    _check(seed, tmp_path)
