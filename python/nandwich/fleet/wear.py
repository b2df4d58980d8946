# SPDX-License-Identifier: Apache-2.0
"""How blocks wear until the layer refuses: from two replays of a shape to the life of any part.

A shape is a workload on a layer over a chip with so many blocks bad when new. Of two parts of one
shape only the lives of their blocks differ, and those do not change what the layer does between
two losses. So two replays tell all of it:

  even     without losses: which blocks the layer uses, and how evenly
  stair    blocks lost one after another, until the layer refuses: how fast it erases with so many
           lost, what a request takes then, and how many it bears

Blocks in use wear alike, or by shares that `even` shows. The j-th block is lost when the wear of a
whole share reaches the j-th smallest of lives over shares: order statistics. A block that the
layer keeps aside comes into use for one that is lost; it is young, and outlives the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nandwich.fleet.draws import Array

#: Erases a block, on average, from which on their spread says something.
ERASES_SHOWN = 8
#: Erases of the stair: of its lowest step, and from there to its highest, so often as many on chips
#: with few blocks, whose replays take no time.
_FIRST, _SPAN = 64, 256
_MOST_TIMES, _BLOCKS_ONCE = 8, 1024
_SAMPLES = 4  # fewest of a rate
_ORDER = 0x57A1  # of the steps on the chip


@dataclass(frozen=True)
class Table:
    """What a shape does. Of `erases` and `energy_pj` the k-th is a request's with k blocks lost
    since new, fractions of one; the layer refuses when there would be one more."""

    bad: int  # blocks bad when new
    shares: Array  # of each good block, the mean of those in use is 1; 0: kept aside
    erases: Array
    energy_pj: Array

    @property
    def bears(self) -> int:
        """So many losses end it."""
        return len(self.erases)

    @property
    def used(self) -> int:
        """Blocks in use when new."""
        return int(np.count_nonzero(self.shares))


@dataclass(frozen=True)
class Course:
    """Of each node (rows): requests until the k-th loss, and energy of a request up to there."""

    requests: Array
    energy_pj: Array


def places(blocks: int, bad: int) -> NDArray[np.int64]:
    """Which blocks are bad when new: never the first, evenly strewn. Where they lie matters not."""
    return np.arange(1, bad + 1, dtype=np.int64) * blocks // (bad + 1)


def laid_out(lives: Sequence[int] | NDArray[np.int64], bad: int) -> str:
    """--lives of a chip whose good blocks have these."""
    whole = np.zeros(len(lives) + bad, dtype=np.int64)
    whole[good(len(whole), bad)] = lives
    return ",".join(map(str, whole))


def good(blocks: int, bad: int) -> NDArray[np.bool_]:
    """Which blocks are not bad when new."""
    found = np.ones(blocks, dtype=np.bool_)
    found[places(blocks, bad)] = False
    return found


def stair(blocks: int, bad: int, before: float) -> str:
    """--lives of the stair; each block was erased about `before` times before it begins."""
    count = blocks - bad
    times = max(1, min(_MOST_TIMES, _BLOCKS_ONCE // blocks))
    steps = times * (_FIRST + _SPAN * np.arange(count) // count) + round(before)
    order = np.random.Generator(np.random.Philox(_ORDER)).permutation(count)
    return laid_out(steps[order], bad)


def table(even: Mapping[str, Any], stairs: Mapping[str, Any], bad: int) -> Table:
    """From what --json of the two replays tells."""
    wear = np.array(even["wear"], dtype=np.float64)
    shares = _shares(wear[good(len(wear), bad)])
    samples = stairs["samples"]
    keys = ("requests", "chip_erases", "energy_pj")
    at = np.array([[0, 0, 0], *([one[key] for key in keys] for one in samples)], dtype=np.float64)
    lost = np.array([0, *(one["retired"] for one in samples)])
    # Some layers count what was bad when new among the retired.
    lost = lost - (bad if lost[1] >= bad > 0 else 0)
    bears = max(1, int(lost[-1]))
    middles, erases, energy = _rates(at, np.maximum(lost, 0))
    steps = np.arange(bears)
    return Table(bad, shares, np.interp(steps, middles, erases), np.interp(steps, middles, energy))


def _shares(wear: Array) -> Array:
    """Of each block. How far shares differ by chance is no more than in draws with replacement
    (variance = mean); only what is beyond counts."""
    used = wear > 0
    mean = wear[used].mean()
    excess = max(0.0, 1 - mean / max(wear[used].var(), 1e-9))
    shares: Array = np.where(used, 1 + excess * (wear / mean - 1), 0.0)
    return shares


def _rates(at: Array, lost: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Losses, and erases and energy a request there. Of a stretch without a loss the later half
    counts: the layer has settled by then."""
    edges = [0, *(np.flatnonzero(np.diff(lost)) + 1), len(lost)]
    found = []
    begin = 0
    for end in edges[1:]:
        if end - begin < _SAMPLES and end < len(lost):
            continue
        settled = begin + (end - begin) // 2 if lost[begin] == lost[end - 1] else begin
        requests, erases, energy = at[end - 1] - at[settled]
        if requests > 0:
            middle = (lost[settled] + lost[end - 1]) / 2
            found.append((middle, erases / requests, energy / requests))
        begin = end
    middles, erases, energy = np.array(found).T
    return middles, erases, energy


def between(low: Table, high: Table, bad: int) -> Table:
    """A shape that was not played, between two that were: straight lines, by all blocks lost."""
    if bad == low.bad or low.bad == high.bad:
        return low
    part = (bad - low.bad) / (high.bad - low.bad)

    def mixed(a: float, b: float) -> float:
        return a + part * (b - a)

    bears = round(mixed(low.bears + low.bad, high.bears + high.bad)) - bad
    lost = bad + np.arange(max(1, bears))

    def line(key: str) -> Array:
        first, second = (
            np.interp(lost - one.bad, np.arange(one.bears), getattr(one, key))
            for one in (low, high)
        )
        mixed_line: Array = first + part * (second - first)
        return mixed_line

    count = len(low.shares) + low.bad - bad
    drawn = [
        np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(one.shares)), np.sort(one.shares))
        for one in (low, high)
    ]
    used = min(count, round(mixed(low.used, high.used)))
    shares = drawn[0] + part * (drawn[1] - drawn[0])
    shares[: count - used] = 0
    shares[shares > 0] /= shares[shares > 0].mean()
    return Table(bad, shares, line("erases"), line("energy_pj"))


def course(one: Table, lives: Array) -> Course:
    """Of nodes of a shape, whose good blocks have these lives (a row each)."""
    used = one.shares > 0
    reach = lives[:, used] / one.shares[used]
    losses = min(one.bears, reach.shape[1])
    reach = np.sort(np.partition(reach, losses - 1, axis=1)[:, :losses], axis=1)
    in_use = np.minimum(one.used, len(one.shares) - np.arange(losses))
    steps = np.diff(reach, axis=1, prepend=0) * (in_use / one.erases[:losses])
    return Course(np.cumsum(steps, axis=1), one.energy_pj[:losses])
