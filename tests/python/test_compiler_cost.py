# SPDX-License-Identifier: Apache-2.0
"""What guards and windows may cost: exact instruction counts that must not grow by 2 %.

docs/figures/vm-cost.md has the table; `nandwich bench vm-cost` writes it. A better figure goes in
here as well, or the next loss hides behind it.
"""

import shutil
from pathlib import Path

import pytest

from lab import vm_cost

#: Instructions in virtual memory at -O2, every page resident, accesses not counted: clang 19.1 and
#: the C library of Debian 12.
BUDGET = {
    "gray": 1_341_346,
    "sobel": 751_521,
    "sum": 698_943,
    "fft": 2_527_587,
    "matrix": 8_403_939,
    "columns": 2_801_497,
    "bubble": 2_712_841,
    "quicksort": 8_772_225,
    "tree": 16_968_230,
    "huffman": 10_526_338,
    "list": 10_678_590,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cost")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("kernel", BUDGET)
def test_instruction_budget(kernel: str, folder: Path) -> None:
    """Goal: no change of the pass or of the run time makes a kernel dearer unseen."""
    cost = vm_cost.host(kernel, folder)
    assert cost.virtual <= BUDGET[kernel] * 1.02
    assert cost.virtual >= BUDGET[kernel] * 0.97, "better: write the new figure down"
