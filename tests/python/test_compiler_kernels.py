# SPDX-License-Identifier: Apache-2.0
"""Small kernels give native output in virtual memory, whatever the frames, slots and guards.

With the least frames that work every page is evicted again and again, so a guard that trusts a page
which is gone shows as a wrong sum.
"""

from pathlib import Path

import guests
import pytest

from nandwich.compiler.toolchain import Guest

KERNELS = [
    guests.SOURCES / "kernels" / name
    for name in (
        "bubble.c",
        "bytecode.c",
        "columns.c",
        "crc.c",
        "distance.c",
        "evict.c",
        "fft.c",
        "gray.c",
        "hash.c",
        "huffman.c",
        "list.c",
        "matrix.c",
        "network.c",
        "parser.c",
        "quicksort.c",
        "records.c",
        "search.c",
        "sieve.c",
        "sobel.c",
        "sum.c",
        "tree.c",
    )
]
BUILDS = {
    "O2": (("-O2",), Guest()),
    "O0": (("-O0",), Guest()),
    "Os": (("-Os",), Guest()),
    "outline": (("-O2",), Guest(guards="outline")),
    "hybrid": (("-O3",), Guest(guards="hybrid", frame_bytes=256, slots=8)),
    "tiny": (("-O2",), Guest(frame_bytes=16, slots=3, lookaside=4, count=False)),
    "one-slot": (("-O2",), Guest(frame_bytes=64, slots=1, lookaside=0)),
}


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("native")
    return {
        kernel.stem: guests.run(guests.build_native([kernel], folder / kernel.stem)).out
        for kernel in KERNELS
    }


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.stem)
def test_kernel_output_is_native(
    kernel: Path, build: str, native: dict[str, bytes], tmp_path: Path
) -> None:
    flags, guest = BUILDS[build]
    program = guests.build_virtual([kernel], tmp_path / kernel.stem, flags, guest)
    result = guests.run(program)
    assert result.status == 0, result.err
    assert result.out == native[kernel.stem]
    assert not guest.count or result.stats["accesses"] > result.stats["misses"] > 0
