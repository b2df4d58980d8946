# SPDX-License-Identifier: Apache-2.0
"""Plays points through a store: what it knows is not played, and what ends is kept at once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nandwich import locks, quantities
from nandwich.cli import output, signals
from nandwich.cli.sweep import worker
from nandwich.cli.sweep.kept import Kept, Store
from nandwich.cli.sweep.point import Keys, Point, run_point
from nandwich.errors import InputError, RunError
from nandwich.replay import pool

if TYPE_CHECKING:
    from nandwich.cli.sweep.remote import Cluster

_TRIES = 2  # of a point whose process dies


@contextmanager
def opened(
    path: Path, jobs: int, *, again: bool = False, scheduler: str = ""
) -> Iterator["Engine"]:
    """An engine over the store of this name, which nobody else has meanwhile."""
    lock = locks.Lock(path)
    try:
        with (
            signals.unwinding(),
            Store(path) as store,
            Engine(store, jobs, lock, again=again, scheduler=scheduler) as engine,
        ):
            yield engine
    finally:
        lock.release()


def planned(path: Path, names: Sequence[str], verb: str, jobs: int) -> tuple[set[str], str]:
    """Which of these keys the store of this name knows, and how long the rest may take, in
    words."""
    known: set[str] = set()
    mean = None
    if path.exists():
        with Store(path) as store:
            known = {name for name in names if store.get(name) is not None}
            mean = store.mean_ns(verb)
    left = len(set(names) - known)
    if not left:
        return known, "none"
    if mean is None:
        return known, "not known: none has been played"
    whole = round(mean * left / min(jobs, left))
    return known, f"about {quantities.format_time(whole)}, {jobs} at a time"


def places(jobs: int | None, scheduler: str) -> int:
    """How many points this machine plays at a time; those of another are not known."""
    if jobs and scheduler:
        raise InputError("--jobs is of this machine: leave it out with --scheduler")
    kind, _, workers = scheduler.partition(":")
    if kind == "local":
        return int(workers)
    return jobs or pool.processors()


class Engine:
    """`jobs` processes of this machine play what `store` does not know; with a `scheduler` its
    workers do. A context then.

    `lock` is that of the store; the processes do not hold it. With `again` points that failed are
    played again, once in the life of the engine.
    """

    def __init__(
        self,
        store: Store,
        jobs: int,
        lock: locks.Lock,
        *,
        again: bool = False,
        scheduler: str = "",
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._lock = lock
        self._again = again
        self._scheduler = scheduler
        self._cluster: Cluster | None = None  # from the first point that is not known
        self._keys = Keys()
        self._found: dict[str, Kept] = {}  # by key
        self.played = 0  # by this engine: what was not known

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._cluster is not None:
            self._cluster.close()

    def play(self, asked: Sequence[Point], bar: output.Progress | None = None) -> list[Kept]:
        """What became of each point, in their order. Progress is told on stderr, or by `bar`: a
        step each.

        KeyboardInterrupt goes on to the caller; what had ended is kept.
        """
        names = [self._keys.of(one) for one in asked]
        todo: dict[str, Point] = {}
        for name, point in zip(names, asked, strict=True):
            if name not in self._found and name not in todo and not self._recall(name):
                todo[name] = point
        if bar is not None:
            bar.advance(len(asked) - len(todo))
        elif known := len(set(names) - todo.keys()):
            output.talk(f"{output.counted(known, 'point')} known already")
        if todo:
            self._play(todo, bar)
        return [self._found[name] for name in names]

    def _recall(self, name: str) -> bool:
        """Whether the store knows the result of this key; it is noted then."""
        kept = self._store.get(name)
        if kept is None or (self._again and kept.state == "failed"):
            return False
        self._found[name] = kept
        return True

    def _play(self, todo: dict[str, Point], bar: output.Progress | None) -> None:
        names = list(todo)
        try:
            own = output.progress(output.counted(len(todo), "point"), len(todo), rate="points")
            with (
                self._outcomes(list(todo.values())) as outcomes,
                nullcontext(bar) if bar else own as told,
            ):
                for number, outcome in outcomes:
                    name = names[number]
                    self._found[name] = self._store.put(name, todo[name], _said(outcome))
                    self.played += 1
                    told.advance()
        except (KeyboardInterrupt, RunError):
            missing = output.counted(len(todo.keys() - self._found.keys()), "point")
            what = f"{missing} not played" if bar is None else "what has ended is kept"
            output.talk(f"{what}: the same line goes on")
            raise

    @contextmanager
    def _outcomes(self, points: list[Point]) -> Iterator[Iterator[tuple[int, pool.Outcome]]]:
        """Numbers of points with what became of them, as they end."""
        if not self._scheduler:
            work = pool.Work(points, _outcome, _TRIES, self._begin)
            with pool.Pool(work, self._jobs) as workers:
                yield workers.outcomes(lambda _: None)
            return
        if self._cluster is None:
            from nandwich.cli.sweep.remote import Cluster  # takes a second

            self._cluster = Cluster(self._scheduler, _TRIES)
        yield self._cluster.outcomes(points)

    def _begin(self) -> None:
        """What a process of the pool does first. It must not hold the store when the driver is
        gone, nor play on."""
        worker.end_with_parent()
        self._lock.release()


def _outcome(point: Point, _advance: pool.Advance) -> pool.Outcome:
    said = run_point(point)
    return pool.Outcome(said["state"], said, said["why"])


def _said(outcome: pool.Outcome) -> dict[str, Any]:
    """What run_point answered, or would have if its process had not died."""
    lost = {"state": outcome.state, "why": outcome.why, "document": "", "took_ns": 0}
    return outcome.value or lost
