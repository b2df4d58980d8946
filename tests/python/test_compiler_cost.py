# SPDX-License-Identifier: Apache-2.0
"""What guards and windows may cost: exact instruction counts that must not grow by 2 %.

docs/figures/vm-cost.md has the table; `nandwich bench vm-cost` writes it. A better figure goes in
here as well, or the next loss hides behind it.
"""

import shutil
from pathlib import Path

import pytest

from lab import vm_cost, vm_misses
from lab.device.boards import BOARDS
from lab.vm_cost import SERIES, CortexM3, Host, Series
from nandwich.compiler.toolchain import Guest

#: Instructions in virtual memory at -O2, every page resident, accesses not counted: clang 19.1 and
#: the C library of Debian 12.
BUDGET = {
    "host": {
        "gray": 1_262_344,
        "sobel": 740_271,
        "sum": 678_889,
        "fft": 2_427_204,
        "matrix": 8_178_021,
        "columns": 2_721_552,
        "bubble": 2_609_952,
        "quicksort": 8_653_428,
        "tree": 14_491_098,
        "huffman": 10_495_935,
        "list": 7_100_140,
        "crc": 2_458_015,
        "hash": 2_529_993,
        "parser": 4_522_165,
        "network": 1_439_295,
        "search": 12_047_759,
        "records": 3_673_526,
        "bytecode": 8_752_332,
        "sieve": 7_679_488,
        "distance": 2_132_789,
    },
    "host-4k": {
        "gray": 1_262_344,
        "sobel": 740_271,
        "sum": 678_889,
        "fft": 2_427_204,
        "matrix": 8_178_021,
        "columns": 485_471,
        "bubble": 1_555_718,
        "quicksort": 8_653_428,
        "tree": 13_770_340,
        "huffman": 9_955_464,
        "list": 7_100_147,
        "crc": 1_076_503,
        "hash": 2_449_013,
        "parser": 2_444_360,
        "network": 1_050_309,
        "search": 9_237_930,
        "records": 3_673_526,
        "bytecode": 2_864_400,
        "sieve": 7_509_676,
        "distance": 2_047_982,
    },
    "cortex-m3": {
        "gray": 1_797_813,
        "sobel": 993_015,
        "sum": 821_192,
        "fft": 8_964_950,
        "matrix": 7_131_104,
        "columns": 2_714_423,
        "bubble": 2_626_243,
        "quicksort": 9_190_403,
        "tree": 11_594_149,
        "huffman": 10_605_625,
        "list": 6_025_789,
        "crc": 2_901_720,
        "hash": 2_690_502,
        "parser": 5_444_252,
        "network": 2_000_382,
        "search": 14_827_562,
        "records": 3_426_708,
        "bytecode": 8_557_001,
        "sieve": 7_873_830,
        "distance": 2_245_301,
    },
    "cortex-m3-4k": {
        "gray": 1_797_813,
        "sobel": 993_015,
        "sum": 821_192,
        "fft": 8_964_950,
        "matrix": 7_131_104,
        "columns": 574_385,
        "bubble": 1_239_529,
        "quicksort": 9_190_403,
        "tree": 12_397_600,
        "huffman": 10_150_828,
        "list": 6_025_789,
        "crc": 1_157_702,
        "hash": 2_725_532,
        "parser": 2_203_079,
        "network": 1_701_183,
        "search": 10_816_609,
        "records": 3_426_708,
        "bytecode": 2_592_491,
        "sieve": 7_651_828,
        "distance": 2_115_466,
    },
}
#: With 16 KB in all: kernels that take their time elsewhere than in faults alone.
SMALL_BUDGET = {
    "quicksort": 11_386_770,
    "huffman": 8_291_805,
    "network": 2_999_938,
}
#: Instructions of one call of the run time by a guard: gcc 12.2.1 for Cortex-M3, 12.2.0 for rv32.
MISSES = {
    "cortex-m3": {
        "load, look-aside entry": 38,
        "store of 1 byte, look-aside entry": 41,
        "store of 2 bytes, look-aside entry": 43,
        "store of 4 bytes, look-aside entry": 43,
        "span to read, look-aside entry": 48,
        "span to write, look-aside entry": 46,
        "load, slot": 46,
        "store, slot that holds the page to read": 51,
        "store of 1 byte, slot": 49,
        "store of 2 bytes, slot": 51,
        "store of 4 bytes, slot": 51,
        "copy, plain to plain": 31,
        "copy, virtual to plain": 110,
        "copy, plain to virtual": 110,
        "copy, virtual to virtual": 126,
        "fill, virtual": 97,
        "compare, virtual and virtual": 174,
    },
    "rv32": {
        "load, look-aside entry": 41,
        "store of 1 byte, look-aside entry": 51,
        "store of 2 bytes, look-aside entry": 53,
        "store of 4 bytes, look-aside entry": 53,
        "span to read, look-aside entry": 48,
        "span to write, look-aside entry": 48,
        "load, slot": 49,
        "store, slot that holds the page to read": 61,
        "store of 1 byte, slot": 59,
        "store of 2 bytes, slot": 61,
        "store of 4 bytes, slot": 61,
        "copy, plain to plain": 34,
        "copy, virtual to plain": 100,
        "copy, plain to virtual": 100,
        "copy, virtual to virtual": 122,
        "fill, virtual": 100,
        "compare, virtual and virtual": 176,
    },
}
RESIDENT = [series for series in SERIES if series.ram_bytes == 0]


def is_as_budgeted(instructions: int, budget: int) -> bool:
    """Not 2 % more; and where it is 3 % less, the new figure belongs into the table."""
    return budget * 0.97 <= instructions <= budget * 1.02


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cost")


@pytest.fixture(scope="module")
def host(folder: Path) -> Host:
    if shutil.which("valgrind") is None:
        pytest.skip("not installed: valgrind")
    return Host(folder)


#: A nest whose inner loops are short, and known to be only when they begin.
_NEST = r"""
#include <stdio.h>
static int cells[600], weights[600];
static unsigned char lengths[200];
/* Rows of one to nine cells: most are too short to pay for a window. */
static unsigned rows(int from, int count)
{
    unsigned sum = 0;
    for (int row = from; row < count; row++) {
        int *cell = cells + row * 3, *weight = weights + row * 2, scaled = 0;
        for (int i = 0; i < lengths[row]; i++)
            scaled += cell[i] * weight[i];
        for (int i = 0; i < lengths[row]; i++)
            cell[i] += scaled & 7;
        for (int i = 0; i < lengths[row]; i++)
            sum += weight[i];
    }
    return sum;
}
int main(void)
{
    unsigned sum = 0;
    for (int i = 0; i < 600; i++) {
        cells[i] = i * 7 % 31;
        weights[i] = i * 11 % 13;
    }
    for (int i = 0; i < 200; i++)
        lengths[i] = (unsigned char)(i * 5 % 9 + 1);
    for (int i = 0; i < 50; i++)
        sum += rows(i & 3, 190);
    printf("%u\n", sum);
    return 0;
}
"""


@pytest.mark.usefixtures("host")
def test_windows_of_short_loops_cost_no_more_than_they_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a loop too short to pay for a window does not set one up."""
    source = tmp_path / "nest.c"
    source.write_text(_NEST, encoding="utf-8")
    monkeypatch.setattr(vm_cost, "kernel", lambda _: source)
    counts = [
        Host(tmp_path).virtual("nest", Guest(windows=windows)).instructions
        for windows in (True, False)
    ]
    assert counts[0] <= counts[1]


@pytest.fixture(scope="module")
def board(folder: Path) -> CortexM3:
    if vm_cost.missing():
        pytest.skip(f"not installed: {', '.join(vm_cost.missing())}")
    return CortexM3.open(folder)


def test_every_kernel_of_every_series_is_held() -> None:
    """Goal: what the page shows cannot grow unseen."""
    assert list(BUDGET) == [series.name for series in RESIDENT]
    assert all(tuple(kernels) == vm_cost.KERNELS for kernels in BUDGET.values())


@pytest.mark.parametrize("kernel", vm_cost.KERNELS)
@pytest.mark.parametrize(
    "series", [one for one in RESIDENT if one.on_host], ids=lambda one: one.name
)
def test_instruction_budget(series: Series, kernel: str, host: Host) -> None:
    """Goal: no change of the pass or of the run time makes a kernel dearer unseen."""
    run = host.virtual(kernel, series.guest)
    assert run.output == host.expected(kernel)
    assert is_as_budgeted(run.instructions, BUDGET[series.name][kernel]), run.instructions


@pytest.mark.parametrize("kernel", vm_cost.KERNELS)
@pytest.mark.parametrize(
    "series", [one for one in RESIDENT if not one.on_host], ids=lambda one: one.name
)
def test_instruction_budget_on_cortex_m3(series: Series, kernel: str, board: CortexM3) -> None:
    """Goal: as above, on the processor all this is for. Nothing held these figures: a wrapper of
    a function that only glibc has kept the run time from being compiled for it, unnoticed.
    """
    run = board.virtual(kernel, series.guest)
    assert run.output == board.native(kernel).output
    assert is_as_budgeted(run.instructions, BUDGET[series.name][kernel]), run.instructions


@pytest.mark.parametrize("kernel", SMALL_BUDGET)
def test_instruction_budget_in_16_kb(kernel: str, board: CortexM3) -> None:
    """Goal: faults, write-backs and tables in RAM that is short, counted as well."""
    (series,) = (one for one in SERIES if one.ram_bytes)
    run = board.virtual(kernel, series.guest, series.ram_bytes)
    assert run.output == board.native(kernel).output
    assert run.stats["faults"] > run.stats["writebacks"] > 0
    assert is_as_budgeted(run.instructions, SMALL_BUDGET[kernel]), run.instructions


@pytest.mark.parametrize("name", MISSES)
def test_what_a_guard_calls(name: str, folder: Path, board: CortexM3) -> None:
    """Goal: each instruction of a miss, and of the guard of a small block, is known."""
    if BOARDS[name].missing():
        pytest.skip(f"not installed: {', '.join(BOARDS[name].missing())}")
    counts = vm_misses.counts(BOARDS[name], folder, board.emulator)
    assert {case: counts[case] for case in MISSES[name]} == MISSES[name]
