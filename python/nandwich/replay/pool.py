# SPDX-License-Identifier: Apache-2.0
"""Many replays in several processes. Each gives what it gives alone, whatever their number.

A process plays one replay after another, so one that dies takes one replay with it. Other work that
ends in an Outcome goes the same way.
"""

import contextlib
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, Generic, Literal, TypeVar

from nandwich.errors import NandwichError, NoRoomError
from nandwich.replay import outcome, play
from nandwich.replay.options import Options

#: Steps of progress that one replay is.
PARTS = 100
#: Nothing has to be loaded again, and the parent has no threads while it starts processes.
_CONTEXT = multiprocessing.get_context("fork")
_Point = TypeVar("_Point")
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Outcome:
    """How one replay ended; `value` is that of docs/schemas/replay-1.json where it came to one."""

    state: Literal["done", "no room", "failed"]
    value: dict[str, Any] = field(default_factory=dict)
    why: str = ""


def play_one(options: Options, advance: Advance) -> Outcome:
    """One replay from beginning to end; `advance` is told at most PARTS parts of it."""
    try:
        played = play.prepare(options)
        parts = _Parts(_steps(played), advance)
        played.precondition(parts.advance)
        played.run(parts.advance)
        broken = outcome.broken_laws(played)  # before the device is read back
        value = outcome.as_json(played)
        if options.verify:
            value["result"] |= played.read_back(parts.advance)
    except NoRoomError as error:
        return Outcome("no room", why=error.message)
    except NandwichError as error:
        return Outcome("failed", why=error.message)
    except MemoryError:
        return Outcome("failed", why="out of memory")
    faults = outcome.faults(value["result"], broken, until_worn=options.repeat == 0)
    return Outcome("failed" if faults else "done", value, "\n".join(faults))


def _steps(played: play.Play) -> int:
    sectors = played.device.sectors
    first = sectors * played.options.precondition // 1000
    return max(1, played.total + first + sectors * played.options.verify)


class _Parts:
    """Steps of a replay, told in parts of it."""

    def __init__(self, steps: int, told: Advance) -> None:
        self._steps = steps
        self._told = told
        self._done = 0
        self._parts = 0

    def advance(self, steps: int) -> None:
        self._done += steps
        parts = min(PARTS, PARTS * self._done // self._steps)
        if parts > self._parts:
            self._told(parts - self._parts)
            self._parts = parts


@dataclass(frozen=True)
class Work(Generic[_Point]):
    """What a pool does with each of its points."""

    points: Sequence[_Point]
    play: Callable[[_Point, Advance], Outcome]
    tries: int = 1  # of a point whose process dies
    started: Callable[[], None] = lambda: None  # called in each process first


def replays(points: Sequence[Options]) -> Work[Options]:
    """Each of them played once."""
    return Work(points, play_one)


def _serve(mine: Connection, others: Sequence[Connection], work: Work[Any]) -> None:
    """What a process of the pool does: plays the points whose numbers it is sent."""
    for one in others:
        one.close()  # else nobody would notice that the parent is gone
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
    work.started()
    # A parent that is gone reads no answer.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while (number := mine.recv()) is not None:
            mine.send(work.play(work.points[number], mine.send))


@dataclass
class _Worker:
    process: ForkProcess
    pipe: Connection
    number: int = -1  # of the point that it plays
    parts: int = 0  # told of that


class Pool:
    """Processes that play points. A context: at its end none of them is left."""

    def __init__(self, work: Work[Any], jobs: int) -> None:
        self._work = work
        self._todo = list(range(len(work.points)))[::-1]  # the next one last
        self._workers: list[_Worker] = []
        self._jobs = min(jobs, len(work.points))
        self._deaths: Counter[int] = Counter()  # by the number of the point

    def __enter__(self) -> "Pool":
        for _ in range(self._jobs):
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()

    def _start(self) -> None:
        ours, theirs = _CONTEXT.Pipe()
        others = [ours, *(worker.pipe for worker in self._workers)]
        process = _CONTEXT.Process(target=_serve, args=(theirs, others, self._work), daemon=True)
        process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))

    def outcomes(self, advance: Advance) -> Iterator[tuple[int, Outcome]]:
        """Numbers of points with what became of them, as they end."""
        for worker in self._workers:
            self._give(worker)
        while any(worker.number >= 0 for worker in self._workers):
            ready = wait([worker.pipe for worker in self._workers if worker.number >= 0])
            for worker in [one for one in self._workers if one.pipe in ready]:
                said = self._hear(worker)
                if isinstance(said, int):
                    worker.parts += said
                    advance(said)
                    continue
                ended = worker.number
                if said is None and self._goes_again(ended):
                    advance(-worker.parts)
                    self._give(worker)
                    continue
                code = worker.process.exitcode or 0
                outcome = said or Outcome("failed", why=death(code))
                advance(PARTS - worker.parts)
                self._give(worker)
                yield ended, outcome

    def _goes_again(self, number: int) -> bool:
        """Whether a point whose process died has another try; it is the next one then."""
        self._deaths[number] += 1
        if self._deaths[number] >= self._work.tries:
            return False
        self._todo.append(number)
        return True

    def _give(self, worker: _Worker) -> None:
        """The next point to a process, or to a new one where that is gone."""
        worker.number, worker.parts = -1, 0
        if not self._todo:
            return
        if not worker.process.is_alive():
            self._workers.remove(worker)
            worker.pipe.close()
            self._start()
            worker = self._workers[-1]
        worker.number = self._todo.pop()
        with contextlib.suppress(BrokenPipeError):  # it died just now, which is heard next
            worker.pipe.send(worker.number)

    def _hear(self, worker: _Worker) -> int | Outcome | None:
        """What a process says; None: it is dead."""
        try:
            said: int | Outcome = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            worker.process.join()
            return None
        return said


def death(code: int) -> str:
    """Why there is no result of a process that ended with this code."""
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    memory = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
    return f"its process ended {how}{memory}"


def processors() -> int:
    """How many replays may go on at a time without waiting for each other."""
    return len(os.sched_getaffinity(0))
