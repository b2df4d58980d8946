# SPDX-License-Identifier: Apache-2.0
"""Four goals of a configuration, what limits them, and which configurations nobody beats.

  time    busy time of the device a host byte
  energy  of its operations a host byte
  life    host bytes until the first thing is worn: the flash, or the NVM before it
  cost    in bytes of flash: those of the flash, and RAM and NVM at `price` times as much

A life is counted in bytes, not in days: a fast device that is kept busy all day would look short
of life. With what is written a day it is days. Flash counts as worn evenly: which block was erased
most is chance in a short replay. An NVM has no levelling: there the most written line counts.

A program asks for other bytes with each memory, so for accesses the first three go by the access:
a run has as many of them with any memory. The RAM of its page frames is in the cost.

RAM and flash are one goal. As two of them they would make five, of which hardly any configuration
is beaten in all.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nandwich.cli.sweep.kept import Kept
from nandwich.cli.tune.need import Need
from nandwich.replay.life import DAY_NS
from nandwich.results.figures import ENDLESS

GOALS = ("time", "energy", "life", "cost")
#: What is better than this an access is worth nothing. A guard takes 4 to 19 instructions (docs/
#: vm-what-it-costs.md): on a small processor longer than 10 ns, and more than 1 nJ. And ten million
#: accesses a second are less than 10^16 in 30 years.
_NO_TIME_NS, _NO_ENERGY_PJ, _LONG = 10.0, 1000.0, 10**16
#: How the price of a byte of RAM is to that of flash, about: 16 KiB of a controller's RAM are worth
#: 16 MiB of SLC NAND.
PRICE = 1000
_CLEARLY = math.log10(1.05)


@dataclass(frozen=True)
class Limits:
    """What a configuration may take; 0: as much as it likes."""

    ram_bytes: int = 0
    flash_bytes: int = 0
    life: int = 0

    def over(self, need: Need) -> float:
        """By which part more is needed than there may be; up to 0 where it is not."""
        pairs = ((need.ram_bytes, self.ram_bytes), (need.flash_bytes, self.flash_bytes))
        return max(taken / most - 1 for taken, most in (*pairs, (1, 1)) if most)

    def short(self, life: int) -> float:
        """By which part a life is too short; up to 0 where it is not."""
        return self.life / max(1, life) - 1


@dataclass(frozen=True)
class Goals:
    """The figures of a configuration, in base units, a host byte or an access."""

    time_ns: float
    energy_pj: float
    life: int
    cost_bytes: int
    ram_bytes: int
    flash_bytes: int
    nvm_bytes: int
    worn: int | None  # a life by the block erased most; None: too few erases tell it
    reads: int = 0  # sectors, of the whole replay
    writes: int = 0
    held: int = 0  # sectors that the NVM holds at the end
    passed: int = 0  # and those that it wrote back before
    by_access: bool = False

    @property
    def half_told(self) -> bool:
        """Whether most of what the NVM took is in it at the end: that it wears flash shows in a
        longer replay."""
        return self.held > self.passed

    @property
    def weighed(self) -> tuple[float, float, int, int]:
        """Time, energy, life and cost as they count: what is too good to matter is cut."""
        time, energy, life = self.time_ns, self.energy_pj, self.life
        if self.by_access:
            time, energy, life = (
                max(time, _NO_TIME_NS),
                max(energy, _NO_ENERGY_PJ),
                min(life, _LONG),
            )
        return time, energy, life, self.cost_bytes

    @property
    def vector(self) -> tuple[float, float, float, float]:
        """All of them so that less is better, by factors: logarithms."""
        time, energy, life, cost = self.weighed
        figures = (time, energy, 1 / life, cost)
        first, second, third, fourth = (math.log10(max(one, 1e-30)) for one in figures)
        return first, second, third, fourth

    def as_json(self) -> dict[str, Any]:
        return {
            "time_ns": self.time_ns,
            "energy_pj": self.energy_pj,
            "life": self.life,
            "life_as_worn": self.worn,
            "cost_bytes": self.cost_bytes,
            "ram_bytes": self.ram_bytes,
            "flash_bytes": self.flash_bytes,
            "nvm_bytes": self.nvm_bytes,
            "sectors_read": self.reads,
            "sectors_written": self.writes,
            "sectors_held": self.held,
        }


def of(kept: Kept, need: Need, price: float) -> Goals:
    """The goals of a replay that was played: by the access where its source has them."""
    content = json.loads(kept.document)
    result, tier, life = content["result"], content["tier"], content["derived"]["life"]
    paging = content["source"]["paging"]
    work = paging["accesses"] if paging is not None else 0
    host = work or max(1, result["bytes_read"] + result["bytes_written"])
    nvm = tier["nvm_bytes"] if tier is not None else 0
    wears = [(tier["endurance"], tier["line_writes_max"])] if tier is not None else []

    def lasts(wears: list[tuple[int, int]]) -> int:
        """Of pairs of what there is and what this replay took of it."""
        done: int = work or result["bytes_written"]
        lives = [has * done // took for has, took in wears if has and took]
        return max(1, min([ENDLESS, *lives]))

    flash, most = [], []
    if life is not None:
        device, wear = content["device"], content["wear"]
        pages = device["endurance"] * device["block_pages"] * len(wear)
        flash = [(pages, result["layer"]["programs"])]
        most = [(device["endurance"], max(wear))] if life["spread_known"] else []
    return Goals(
        time_ns=_rounded(result["busy_ns"] / host),
        energy_pj=_rounded(result["energy_pj"] / host),
        life=lasts(wears + flash),
        cost_bytes=cost(need, nvm, price),
        ram_bytes=need.ram_bytes,
        flash_bytes=need.flash_bytes,
        nvm_bytes=nvm,
        worn=lasts(wears + flash + most) if most else None,
        reads=result["sectors_read"],
        writes=result["sectors_written"],
        held=tier["held"] if tier is not None else 0,
        passed=tier["flash_writes"] + tier["moved"] if tier is not None else 0,
        by_access=work > 0,
    )


def cost(need: Need, nvm_bytes: int, price: float) -> int:
    """In bytes of flash. It is known before anything is played."""
    return round(need.flash_bytes + price * (need.ram_bytes + nvm_bytes))


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def days(life: int, daily: int) -> float:
    """A life in days, of a host that writes or runs so much a day."""
    return _rounded(life / daily)


def rate(facts: dict[str, Any]) -> int:
    """Bytes that a source writes a day by its own times; 0 where it has none."""
    if not facts["duration_ns"]:
        return 0
    return int(facts["writes"]["bytes"]) * DAY_NS // int(facts["duration_ns"])


def front(vectors: Sequence[tuple[float, ...]]) -> list[int]:
    """Numbers of those that none of the others beats; of equal ones the first. Best time first."""
    order = sorted(range(len(vectors)), key=lambda i: (vectors[i], i))
    found: list[int] = []
    for i in order:  # nothing behind it in this order beats what stands before
        if not any(_covers(vectors[one], vectors[i]) for one in found):
            found.append(i)
    return found


def _covers(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether one is as good as the other in all."""
    return all(mine <= theirs for mine, theirs in zip(one, other, strict=True))


def choose(vectors: Sequence[tuple[float, ...]], best: str) -> int:
    """Of a front the one that is best in a goal, or that lies nearest to the best of all. Distances
    go by factors: twice the time is as far as twice the cost."""
    ideal = [min(column) for column in zip(*vectors, strict=True)]
    far = [math.dist(one, ideal) for one in vectors]
    if best in GOALS:
        column = GOALS.index(best)
        return min(range(len(far)), key=lambda i: (vectors[i][column], far[i], i))
    return min(range(len(far)), key=lambda i: (far[i], i))


def spread(vectors: Sequence[tuple[float, ...]], first: Sequence[int], most: int) -> list[int]:
    """So many numbers of a front that lie far apart, `first` among them; in the front's order."""
    found = list(dict.fromkeys(first))[:most]
    while len(found) < min(most, len(vectors)):
        rest = [i for i in range(len(vectors)) if i not in found]
        found.append(
            max(rest, key=lambda i: (min(math.dist(vectors[i], vectors[j]) for j in found), -i))
        )
    return sorted(found)


def neighbour(vectors: Sequence[tuple[float, ...]], chosen: int, goal: str) -> int | None:
    """The nearest of a front that is clearly better in a goal; None: none is."""
    column = GOALS.index(goal)
    enough = vectors[chosen][column] - _CLEARLY
    better = [i for i, one in enumerate(vectors) if one[column] < enough]
    return min(better, key=lambda i: (math.dist(vectors[i], vectors[chosen]), i), default=None)
