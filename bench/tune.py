# SPDX-License-Identifier: Apache-2.0
"""How much of the best there is `nandwich tune` finds with 100 replays, beside chance.

Three grids were played whole; docs/figures/tune has each with its goals. What counts is the
hypervolume of what a search finds over that of the grid: the part of the space of goals, life
turned over, that is beaten. Its far corner is the worst of the grid in each goal, times 1.1. A
search is played on the record. Some of its rows are replayed, so that it does not age. A record
that is not there is played and written anew, which takes some minutes.
"""

import csv
import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.benches import Figure, bench
from nandwich.cli.sweep.kept import Kept
from nandwich.cli.tune import goals, space
from nandwich.cli.tune.goals import Goals
from nandwich.cli.tune.need import Need, Needs
from nandwich.cli.tune.search import Candidate, Found, Search, library
from nandwich.replay import pool
from nandwich.replay.options import Options
from papers.fatvm import traffic

FOLDER = ROOT / "docs" / "figures" / "tune"
EVALUATIONS = 100
SEEDS = range(101, 106)  # not those with which the sampler was chosen
CHECKED = 5  # rows that are replayed
_FIGURES = ("time_ns", "energy_pj", "life_bytes", "cost_bytes")
#: A phone's trace is nowhere to be fetched from: this one is made up.
PHONE = "gen:multimedia,requests=5K,footprint=28M"

Four = tuple[float, float, int, int]


class Grid:
    """A space whose combinations were all played. `record` has their goals, by what is equal in
    effect."""

    def __init__(self, name: str, source: str) -> None:
        self.space = space.read(FOLDER / f"{name}.toml", source, ())
        self._needs = Needs(space.parsed(self.space.point(self.space.first())))
        if not self._needs.facts["duration_ns"]:
            self.space.without("idle")
        self._path = FOLDER / f"{name}.csv"
        if not self._path.exists():
            self._write()
        self.record = self._read()

    def look(self, chosen: dict[str, Any]) -> Candidate:
        point = self.space.point(chosen)
        options = space.parsed(point)
        need = self._needs.of(options)
        cost = goals.cost(need, options.nvm, goals.PRICE)
        return Candidate(chosen, point, need, need.why, cost=cost)

    def played(self, batch: Sequence[Candidate]) -> list[Found]:
        """What the record says of them."""
        return [Found(one, _goals(self.record[one.need.same])) for one in batch]

    def _read(self) -> dict[str, Four]:
        found: dict[str, Four] = {}
        texts = {axis.key: {str(one): one for one in axis.values} for axis in self.space.axes}
        with self._path.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        for number, row in enumerate(rows):
            candidate = self.look({key: known[row[key]] for key, known in texts.items()})
            time, energy, life, cost = (row[key] for key in _FIGURES)
            four = (float(time), float(energy), int(life), int(cost))
            if number % (len(rows) // CHECKED) == 0:
                self._check(candidate, four)
            found[candidate.need.same] = four
        return found

    def _check(self, candidate: Candidate, four: Four) -> None:
        now = _played(space.parsed(candidate.point), candidate.need)
        if now != four:
            line = candidate.point.command
            raise AssertionError(f"{line}: {now}, not {four}: {self._path} is old; remove it")

    def _write(self) -> None:
        """Plays all of it."""
        seen: dict[str, Candidate] = {}
        for chosen in self.space.combinations():
            candidate = self.look(chosen)
            if not candidate.why:
                seen.setdefault(candidate.need.same, candidate)
        asked = list(seen.values())
        work = pool.replays([space.parsed(one.point) for one in asked])
        rows: dict[int, list[Any]] = {}
        with pool.Pool(work, pool.processors()) as workers:
            for number, outcome in workers.outcomes(lambda _: None):
                one = asked[number]
                rows[number] = [*one.chosen.values(), *_four(outcome, one.need)]
        with self._path.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([*(axis.key for axis in self.space.axes), *_FIGURES])
            writer.writerows(rows[number] for number in sorted(rows))


def _played(options: Options, need: Need) -> Four:
    return _four(pool.play_one(options, lambda _: None), need)


def _four(outcome: pool.Outcome, need: Need) -> Four:
    if outcome.state != "done":
        raise AssertionError(outcome.why)
    found = goals.of(Kept("done", "", json.dumps(outcome.value)), need, goals.PRICE)
    return found.time_ns, found.energy_pj, found.life, found.cost_bytes


def _goals(four: Four) -> Goals:
    time, energy, life, cost = four
    return Goals(time, energy, life, cost, 0, 0, 0, None)


def _losses(fours: Iterable[Four]) -> list[list[float]]:
    return [[time, energy, 1 / life, cost] for time, energy, life, cost in fours]


def _volume(fours: Iterable[Four], corner: Sequence[float]) -> float:
    """By optuna's own function; of a unit box."""
    import numpy

    library()
    from optuna._hypervolume import compute_hypervolume

    losses = numpy.array(_losses(fours)) / numpy.array(corner)
    return float(compute_hypervolume(losses, numpy.ones(len(corner))))


def _shares(grid: Grid, *, by_chance: bool) -> float:
    """The median of some seeds, in percent of the whole grid."""
    corner = [1.1 * max(column) for column in zip(*_losses(grid.record.values()), strict=True)]
    whole = _volume(grid.record.values(), corner)
    found = []
    for seed in SEEDS:
        search = Search(grid.space, grid.look, grid.played)
        search.run(EVALUATIONS, seed, by_chance=by_chance)
        mine = [grid.record[one.candidate.need.same] for one in search.found]
        found.append(100 * _volume(mine, corner) / whole)
    return statistics.median(found)


def _sources() -> Mapping[str, Callable[[], str | Path]]:
    """JPEG and FFT are what two programs in virtual memory ask of the layer."""
    return {
        "jpeg": lambda: traffic.record("jpeg", False).path,
        "fft": lambda: traffic.record("fft", False).path,
        "phone": lambda: PHONE,
    }


@bench(
    "tune", "hypervolume of 100 replays of nandwich tune over that of whole grids; and of chance"
)
def tune() -> list[Figure]:
    figures = []
    for name, source in _sources().items():
        grid = Grid(name, str(source()))
        mine, chance = (_shares(grid, by_chance=by_chance) for by_chance in (False, True))
        missed = (100 - chance) / max(1e-9, 100 - mine)
        figures += [
            Figure(f"tune.{name}-grid", len(grid.record), "configurations"),
            Figure(f"tune.{name}", round(mine, 2), "%", target=95, better="higher"),
            Figure(f"tune.{name}-by-chance", round(chance, 2), "%"),
            Figure(f"tune.{name}-missed", round(missed, 2), "", target=1, better="higher"),
        ]
    return figures
