# SPDX-License-Identifier: Apache-2.0
"""How long a device lives if it goes on as in a replay, however short that was.

Three things decide: sectors written a day, programs for each of them, and how evenly blocks wear.
A replay of any length tells the first two. The third shows when blocks have been erased a few
times; before that wear is taken as even. What is told is a range:

  most    every block wears alike: each page programmed once between two erases
  least   the block that was erased most gets one erase more in the same time
  years   by the block that was erased most; `most` where blocks have less than SHOWN erases each

It assumes that the workload goes on as it was, and that programs a write stay as they were. A
device that is not full yet programs more later: precondition it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

DAY_NS = 86_400 * 10**9
YEAR_NS = 365 * DAY_NS
#: Erases a block, on average, from which on their spread says something.
SHOWN = 2


@dataclass(frozen=True)
class Worn:
    """What a replay did to a chip."""

    endurance: int  # rated erases a block; 0: no limit, or blocks are healed
    block_pages: int
    erases: list[int]  # of each block
    programs: int  # of the chip
    writes: int  # sectors that were asked for
    elapsed_ns: int


def extrapolated(worn: Worn) -> dict[str, Any] | None:
    """The life in years with its range; None where nothing wears or nothing was written."""
    if not worn.endurance or not worn.elapsed_ns or not worn.writes or not worn.programs:
        return None
    blocks, most = len(worn.erases), max(worn.erases)
    budget = Fraction(worn.endurance * worn.elapsed_ns, YEAR_NS)
    even = budget * blocks * worn.block_pages / worn.programs
    least = min(even, budget / (most + 1))
    known = sum(worn.erases) >= SHOWN * blocks
    years = min(even, budget / most) if known else even
    return {
        "years": _rounded(years),
        "least_years": _rounded(least),
        "most_years": _rounded(even),
        "writes_a_day": _rounded(Fraction(worn.writes * DAY_NS, worn.elapsed_ns)),
        "programs_a_write": _rounded(Fraction(worn.programs, worn.writes)),
        "spread_known": known,
    }


def _rounded(value: Fraction) -> float:
    return float(f"{float(value):.4g}")
