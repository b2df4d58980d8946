# SPDX-License-Identifier: Apache-2.0
"""The paper's programs as firmware on the emulated Cortex-M3, and the energy of a run.

Instructions are exact, cycles are not: a run's processor time is told as a band, from one cycle an
instruction to two, which is what loads, branches and two wait states of flash add to real code.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab import ROOT
from lab.device import figures
from lab.device.boards import BOARDS
from nandwich.energy.model import Job, Node, Storage
from nandwich.errors import RunError
from nandwich.twin import platforms

#: Cycles an instruction: fewer are not possible, more are not likely.
BAND = (1.0, 2.0)
RAM_BYTES, SLOTS = 32 << 10, 8
#: W25N01GV datasheet: 25 mA typical while it reads, programs and erases; its supply is switched off
#: while the node sleeps, as the paper counts.
STORAGE = Storage(active_na=25_000_000, asleep_na=0)


@dataclass(frozen=True)
class Run:
    """One run in virtual memory, compared with the native one."""

    instructions: int
    native: int
    storage_ns: int
    clock_mhz: float

    def job(self, cycles: float, raw_bytes: int = 0) -> Job:
        """What a duty cycle does, at so many cycles an instruction."""
        storage = self.storage_ns
        awake = round(self.instructions * cycles * 1000 / self.clock_mhz) + storage
        return Job(
            awake, storage, round(self.native * cycles * 1000 / self.clock_mhz), raw_bytes, 0
        )


@cache
def run(source: Path, arguments: tuple[str, ...], vm_bytes: int) -> Run:
    """Runs a program of the paper on the board; RunError when it is not as natively."""
    board = BOARDS["cortex-m3"]
    if lacking := board.missing():
        raise RunError(f"missing: {', '.join(lacking)}; `nandwich doctor` tells how to get them")
    value = figures.run(
        board, ROOT / source, *arguments, vm=vm_bytes, ram=RAM_BYTES, slots=SLOTS, guards="hybrid"
    )
    counts = value["instructions"]
    return Run(counts["total"], counts["native_total"], value["time_ns"]["storage"], board.mhz)


def node(name: str) -> Node:
    """A node of the table of platforms."""
    keys = ("supply", "active", "sleep", "clock")
    return Node(*(platforms.number(name, key) for key in keys))
