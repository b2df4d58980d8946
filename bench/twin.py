# SPDX-License-Identifier: Apache-2.0
"""Speed of the emulated chip in metadata-only mode, one core."""

from collections.abc import Callable

from lab._native import time_chip, time_page_ftl
from lab.benches import Figure, bench
from nandwich import _native


def _best(part: str, work: Callable[[_native.Nand], tuple[int, float]]) -> int:
    """Operations a second of processor time, best of three runs on one chip."""
    chip = _native.Nand.open(_native.Part.named(part), options=["no_payload"])
    rates = []
    for _ in range(3):
        operations, seconds = work(chip)
        rates.append(operations / seconds)
    return round(max(rates))


@bench("twin", "page operations a second of the emulated chip, metadata only")
def twin() -> list[Figure]:
    """`ftl`: all chip operations of random 4 KB writes to a full page FTL. `chip`: the chip alone,
    2 KB pages programmed, read at random, erased."""
    ftl = _best("K9LBG08U0M", lambda chip: time_page_ftl(chip, 2_000_000))
    chip = _best("K9WAG08U1A", lambda chip: time_chip(chip, 4_000_000))
    return [
        Figure("twin.ftl", ftl, "op/s", target=5e6, better="higher"),
        Figure("twin.chip", chip, "op/s", target=5e6, better="higher"),
    ]
