# SPDX-License-Identifier: Apache-2.0
"""The search: a sampler asks for combinations, and is told what became of them.

Multi-objective TPE of optuna, asked in batches of BATCH: so the same seed asks the same, whatever
number of processes plays a batch. The first ones come by chance and are spread over the cost, which
is known beforehand; of each batch some come by chance, and more where the sampler repeats itself.
What is equal in effect is played once. What cannot be is told to the sampler at no cost.
"""

import importlib
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nandwich.cli.sweep.point import Point
from nandwich.cli.tune.goals import GOALS, Goals
from nandwich.cli.tune.need import Need
from nandwich.cli.tune.space import Axis, Space
from nandwich.errors import RunError

BATCH = 8
_ASKED_MOST = 4 * BATCH  # of the sampler for a batch
_DRAWN_MOST = 500  # by chance for one combination
_STARTUP = 24  # combinations by chance before the sampler learns
_FOR_ONE = 4  # drawn for each of these
_BY_CHANCE = 2  # of a batch, so that nothing is overlooked for good
_WORST = 30.0  # of a goal that has no value: its logarithm
NO_ROOM = 10.0  # how far from allowed what cannot be is


@dataclass(frozen=True)
class Candidate:
    """A combination before it is played. `why` says why it is not: it cannot be, or `over` by that
    part of a limit."""

    chosen: dict[str, Any]
    point: Point
    need: Need
    why: str = ""
    over: float = 0.0
    cost: float = 0.0  # known before it is played


@dataclass(frozen=True)
class Found:
    """A combination that was played. Without goals `why` says what happened instead; `over`: by
    which part it breaks a limit."""

    candidate: Candidate
    goals: Goals | None
    why: str = ""
    over: float = 0.0

    @property
    def allowed(self) -> bool:
        return self.goals is not None and self.over <= 0


Play = Callable[[Sequence[Candidate]], list[Found]]


class Search:
    """One search in a space; `run` does it."""

    def __init__(
        self, space: Space, look: Callable[[dict[str, Any]], Candidate], play: Play
    ) -> None:
        self._space = space
        self._look = look
        self._play = play
        self._seen: dict[str, Found | None] = {}  # by what is equal in effect; None: being played
        self.found: list[Found] = []
        self.impossible: Counter[str] = Counter()
        self.nearest: Candidate | None = None  # of what was not played for a limit
        self.repeated = 0

    def run(self, evaluations: int, seed: int, *, by_chance: bool = False) -> None:
        """So many different combinations are played, or all there are."""
        size = self._space.size
        if size is not None and size <= evaluations:
            self._all()
        else:
            (self._by_chance if by_chance else self._sampled)(evaluations, seed)

    def _all(self) -> None:
        batch: list[Candidate] = []
        for chosen in self._space.combinations():
            self._take(self._look(chosen), batch)
            if len(batch) == BATCH:
                self._end(batch)
                batch = []
        self._end(batch)

    def _by_chance(self, evaluations: int, seed: int) -> None:
        drawn = _Chance(self._space.axes, seed)
        while left := evaluations - len(self.found):
            batch = list(self._drawn(drawn, min(BATCH, left)))
            self._end(batch)
            if not batch:
                return

    def _sampled(self, evaluations: int, seed: int) -> None:
        study = _Study(self._space.axes, seed)
        chance = _Chance(self._space.axes, seed)
        first = self._spread(chance, min(_STARTUP, evaluations))
        self._end(first)
        for candidate in first:
            study.add(candidate.chosen, self._outcome(candidate))
        while left := evaluations - len(self.found):
            wanted = min(BATCH, left)
            sampled = max(1, wanted - _BY_CHANCE)
            asked: list[tuple[Any, Candidate]] = []
            batch: list[Candidate] = []
            while len(batch) < sampled and len(asked) < _ASKED_MOST:
                trial, chosen = study.ask()
                candidate = self._look(chosen)
                self._take(candidate, batch)
                asked.append((trial, candidate))
            drawn = list(self._drawn(chance, wanted - len(batch)))
            self._end([*batch, *drawn])
            for trial, candidate in asked:
                study.tell(trial, self._outcome(candidate))
            for candidate in drawn:
                study.add(candidate.chosen, self._outcome(candidate))
            if not batch and not drawn:
                return

    def _spread(self, chance: "_Chance", wanted: int) -> list[Candidate]:
        """So many by chance, from the cheapest to the dearest of more of them in even steps."""
        drawn = sorted(self._drawn(chance, _FOR_ONE * wanted), key=lambda one: one.cost)
        last = max(1, wanted - 1)
        if len(drawn) <= wanted:
            return drawn
        kept = [drawn[i * (len(drawn) - 1) // last] for i in range(wanted)]
        for one in drawn:
            if one not in kept:
                del self._seen[one.need.same]
        return kept

    def _take(self, candidate: Candidate, batch: list[Candidate]) -> bool:
        """Puts what is new and may be played into a batch."""
        if candidate.why:
            self.impossible[candidate.why] += 1
            if candidate.over > 0 and (not self.nearest or candidate.over < self.nearest.over):
                self.nearest = candidate
            return False
        if candidate.need.same in self._seen:
            self.repeated += 1
            return False
        self._seen[candidate.need.same] = None
        batch.append(candidate)
        return True

    def _drawn(self, chance: "_Chance", wanted: int) -> Iterator[Candidate]:
        """So many new ones by chance, or less where chance finds no more."""
        for _ in range(wanted):
            for _ in range(_DRAWN_MOST):
                batch: list[Candidate] = []
                if self._take(self._look(chance.drawn()), batch):
                    yield batch[0]
                    break
            else:
                return

    def _end(self, batch: Sequence[Candidate]) -> None:
        for candidate, one in zip(batch, self._play(batch) if batch else (), strict=True):
            self._seen[candidate.need.same] = one
            self.found.append(one)

    def _outcome(self, candidate: Candidate) -> Found:
        one = None if candidate.why else self._seen[candidate.need.same]
        return one or Found(candidate, None, candidate.why, candidate.over or NO_ROOM)


class _Chance:
    """Combinations with each value drawn by itself."""

    def __init__(self, axes: Sequence[Axis], seed: int) -> None:
        self._axes = axes
        self._random = random.Random(seed).random

    def drawn(self) -> dict[str, Any]:
        return {one.key: self._value(one) for one in self._axes}

    def _value(self, axis: Axis) -> Any:
        share = self._random()
        if axis.any_of is not None:
            return axis.any_of.at(share)
        return axis.values[int(share * len(axis.values))]


class _Study:
    """optuna's sampler over the numbers of values: those of an ordered axis are near each other."""

    def __init__(self, axes: Sequence[Axis], seed: int) -> None:
        optuna = library()
        self._axes = axes
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=0, multivariate=True)
        self._study = optuna.create_study(directions=["minimize"] * len(GOALS), sampler=sampler)

    def ask(self) -> tuple[Any, dict[str, Any]]:
        """A trial, and the combination that it stands for."""
        trial = self._study.ask()
        return trial, {one.key: self._suggested(trial, one) for one in self._axes}

    def _suggested(self, trial: Any, axis: Axis) -> Any:
        if axis.any_of is not None:
            return axis.any_of.at(trial.suggest_float(axis.key, 0, 1))
        last = len(axis.values) - 1
        if axis.ordered:
            return axis.values[trial.suggest_int(axis.key, 0, last)]
        return axis.values[trial.suggest_categorical(axis.key, range(last + 1))]

    def add(self, chosen: Mapping[str, Any], one: Found) -> None:
        """What became of a combination that the sampler did not ask for."""
        optuna = library()
        made = optuna.trial.FixedTrial({axis.key: _number(axis, chosen) for axis in self._axes})
        for axis in self._axes:
            self._suggested(made, axis)
        self._study.add_trial(
            optuna.trial.create_trial(
                params=made.params,
                distributions=made.distributions,
                values=_values(one),
                constraints={"limits": one.over},
            )
        )

    def tell(self, trial: Any, one: Found) -> None:
        """What became of a trial."""
        trial.set_constraint("limits", one.over)
        self._study.tell(trial, _values(one))


def _values(one: Found) -> Sequence[float]:
    return one.goals.vector if one.goals else [_WORST] * len(GOALS)


def _number(axis: Axis, chosen: Mapping[str, Any]) -> int | float:
    """What the sampler knows a value by."""
    value = chosen[axis.key]
    return axis.values.index(value) if axis.any_of is None else axis.share(value)


def library() -> Any:
    """optuna, which says nothing; RunError where it is not there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optuna = importlib.import_module("optuna")
    except ModuleNotFoundError as error:
        raise RunError("nandwich tune needs optuna: pip install 'nandwich[scale]'") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
