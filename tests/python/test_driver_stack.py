# SPDX-License-Identifier: Apache-2.0
"""The stack that the headers of the drivers tell is what the compiler says it is."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from lab import cross
from nandwich import paths

assert paths.CHECKOUT is not None
CORE = paths.CHECKOUT / "core"
#: What a driver stands on: each file's calls are followed, but for those of the board.
SHARED = ("drivers/spi.c", "drivers/onfi.c", "chip/chip.c")
DRIVERS = ("spi_nand", "spi_nor", "dataflash", "parallel_nand", "sd")
#: The header may tell so much more: another version of the compiler wants a few words more.
ROOM = 1.15

pytestmark = pytest.mark.skipif(not cross.CORTEX_M3.present, reason="no compiler for the Cortex-M3")


def _graph(source: str, folder: Path) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Bytes of each function of a file, and whom it calls."""
    name = source.replace("/", "_")
    subprocess.run(
        [
            cross.CORTEX_M3.compiler, *cross.CORTEX_M3.options, "-fcallgraph-info=su",
            f"-I{CORE / 'include'}", "-c", CORE / source, "-o", folder / f"{name}.o",
        ],
        check=True,
        cwd=folder,
    )  # fmt: skip
    text = (folder / f"{name}.ci").read_text(encoding="utf-8")
    sizes = re.findall(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(static\)', text)
    calls: dict[str, set[str]] = {}
    for caller, callee in re.findall(r'sourcename: "([^"]+)" targetname: "([^"]+)"', text):
        calls.setdefault(caller, set()).add(callee)
    assert sizes, source
    return {function: int(size) for function, size in sizes}, calls


def _measured(driver: str, folder: Path) -> tuple[int, int]:
    """The deepest verb, and opening."""
    sizes: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for source in (f"drivers/{driver}.c", *SHARED):
        its_sizes, its_calls = _graph(source, folder)
        sizes |= its_sizes
        calls |= its_calls

    @cache
    def deepest(function: str) -> int:
        below = (deepest(called) for called in calls.get(function, ()))
        return sizes.get(function, 0) + max(below, default=0)

    verbs = [function for function in sizes if f":{driver}_" in function]
    assert len(verbs) >= 4, verbs
    return max(map(deepest, verbs)), deepest(f"nw_{driver}_open")


@pytest.mark.parametrize("driver", DRIVERS)
def test_stack_of_a_driver(driver: str, tmp_path: Path) -> None:
    """Goal: no driver takes more stack than its header tells. They told 100 B of 144, and 350 B of
    432, added up by hand from some of the functions and never again."""
    verb, opening = _measured(driver, tmp_path)
    header = (CORE / "include" / "nandwich" / f"driver_{driver}.h").read_text(encoding="utf-8")
    header = re.sub(r"\n \* ", " ", header)
    told = re.search(r"Stack on a Cortex-M3: (\d+) B(?:, (\d+) B while opening)?", header)
    assert told is not None
    told_verb = int(told[1])
    told_opening = int(told[2] or told[1])
    assert verb <= told_verb <= verb * ROOM, (verb, opening)
    if told[2] is None:
        assert opening <= told_opening, (verb, opening)
    else:
        assert opening <= told_opening <= opening * ROOM, (verb, opening)
