# SPDX-License-Identifier: Apache-2.0
"""Four goals of a configuration, what limits them, and which configurations nobody beats.

  time    busy time of the device a host byte
  energy  of its operations a host byte
  life    host bytes until the first thing is worn: the flash, or the NVM before it
  cost    in bytes of flash: those of the flash, and RAM and NVM at `price` times as much

A life is counted in bytes, not in days: a fast device that is kept busy all day would look short of
life. With what is written a day it is days. Flash counts as worn evenly: what a block was erased most
is chance in a short replay, and only in a long one known. An NVM has no levelling: there the most
written line counts.

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
from nandwich.replay.life import DAY_NS, YEAR_NS

GOALS = ("time", "energy", "life", "cost")
#: Host bytes of a device that nothing wears; the most that is told.
ENDLESS = 1 << 63
#: How the price of a byte of RAM is to that of flash, about: 16 KiB of a controller's RAM are worth
#: 16 MiB of SLC NAND.
PRICE = 1000


@dataclass(frozen=True)
class Limits:
    """What a configuration may take; 0: as much as it likes."""

    ram_bytes: int = 0
    flash_bytes: int = 0
    life_bytes: int = 0

    def over(self, need: Need) -> float:
        """By which part more is needed than there may be; up to 0 where it is not."""
        pairs = ((need.ram_bytes, self.ram_bytes), (need.flash_bytes, self.flash_bytes))
        return max(taken / most - 1 for taken, most in (*pairs, (1, 1)) if most)

    def short(self, life_bytes: int) -> float:
        """By which part a life is too short; up to 0 where it is not."""
        return self.life_bytes / max(1, life_bytes) - 1


@dataclass(frozen=True)
class Goals:
    """The figures of a configuration, in base units."""

    time_ns: float
    energy_pj: float
    life_bytes: int
    cost_bytes: int
    ram_bytes: int
    flash_bytes: int
    nvm_bytes: int
    worn_bytes: int | None  # a life by the block erased most; None: too few erases tell it

    @property
    def vector(self) -> tuple[float, float, float, float]:
        """All of them so that less is better, by factors: logarithms."""
        figures = (self.time_ns, self.energy_pj, 1 / self.life_bytes, self.cost_bytes)
        first, second, third, fourth = (math.log10(max(one, 1e-30)) for one in figures)
        return first, second, third, fourth

    def as_json(self) -> dict[str, Any]:
        return {
            "time_ns": self.time_ns,
            "energy_pj": self.energy_pj,
            "life_bytes": self.life_bytes,
            "life_bytes_as_worn": self.worn_bytes,
            "cost_bytes": self.cost_bytes,
            "ram_bytes": self.ram_bytes,
            "flash_bytes": self.flash_bytes,
            "nvm_bytes": self.nvm_bytes,
        }


def of(kept: Kept, need: Need, price: float) -> Goals:
    """The goals of a replay that was played."""
    content = json.loads(kept.document)
    result, tier = content["result"], content["tier"]
    host = max(1, result["bytes_read"] + result["bytes_written"])
    life = content["derived"]["life"]
    years = [] if life is None else [life["most_years"]]
    if tier is not None and tier["lifetime_years"] is not None:
        years.append(tier["lifetime_years"])
    nvm = tier["nvm_bytes"] if tier is not None else 0
    known = life is not None and life["spread_known"]

    def written(years: float) -> int:
        passes = years * YEAR_NS / max(1, result["end_ns"])
        return int(min(ENDLESS, max(1, passes * result["bytes_written"])))

    return Goals(
        time_ns=_rounded(result["busy_ns"] / host),
        energy_pj=_rounded(result["energy_pj"] / host),
        life_bytes=written(min(years)) if years else ENDLESS,
        cost_bytes=round(need.flash_bytes + price * (need.ram_bytes + nvm)),
        ram_bytes=need.ram_bytes,
        flash_bytes=need.flash_bytes,
        nvm_bytes=nvm,
        worn_bytes=written(min(life["years"], *years)) if known else None,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def days(life_bytes: int, daily: int) -> float:
    """A life in days, of a host that writes so much a day."""
    return _rounded(life_bytes / daily)


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


def scaled(vectors: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Each goal from 0, the best of these, to 1, the worst."""
    ends = [(min(column), max(column)) for column in zip(*vectors, strict=True)]
    return [
        tuple(
            (value - least) / (most - least) if most > least else 0.0
            for value, (least, most) in zip(one, ends, strict=True)
        )
        for one in vectors
    ]


def choose(vectors: Sequence[tuple[float, ...]], best: str) -> int:
    """Of a front the one that is best in a goal, or that lies nearest to the best of all."""
    places = scaled(vectors)
    middle = [math.hypot(*one) for one in places]
    if best in GOALS:
        column = GOALS.index(best)
        return min(range(len(places)), key=lambda i: (places[i][column], middle[i], i))
    return min(range(len(places)), key=lambda i: (middle[i], i))


def spread(vectors: Sequence[tuple[float, ...]], first: Sequence[int], most: int) -> list[int]:
    """So many numbers of a front that lie far apart, `first` among them; in the front's order."""
    places = scaled(vectors)
    found = list(dict.fromkeys(first))[:most]
    while len(found) < min(most, len(places)):
        rest = [i for i in range(len(places)) if i not in found]
        found.append(
            max(rest, key=lambda i: (min(math.dist(places[i], places[j]) for j in found), -i))
        )
    return sorted(found)


def neighbour(vectors: Sequence[tuple[float, ...]], chosen: int, goal: str) -> int | None:
    """The nearest of a front that is better in a goal; None: the chosen one is the best."""
    places = scaled(vectors)
    column = GOALS.index(goal)
    better = [i for i in range(len(places)) if places[i][column] < places[chosen][column]]
    return min(better, key=lambda i: (math.dist(places[i], places[chosen]), i), default=None)
