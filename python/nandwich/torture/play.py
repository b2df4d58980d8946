# SPDX-License-Identifier: Apache-2.0
"""Runs of the simulation: seeds of one subject, side by side, until one breaks a promise.

A run is a function of its seed alone, so what is found does not depend on how many run at a time:
the lowest seed that fails is told, and all below it have gone well.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from nandwich import _native
from nandwich.errors import InputError
from nandwich.twin import parts

SUBJECTS = tuple(name for name, _ in _native.torture_subjects())
FINE = "fine"

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Options:
    """What to torture; the defaults are those of the command."""

    subject: str
    chip: str = ""  # "": small variants of several parts
    blocks: int = 0
    settings: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    stable: bool = False  # what a cut leaves is drawn at power-up, not at each read
    first: int = 1  # seed
    seeds: int = 0  # 0: until the time is over
    seconds: float = 60.0
    jobs: int = 0  # 0: one a processor


@dataclass
class Result:
    """What the runs came to."""

    seeds: int = 0  # that went well
    steps: int = 0
    mounts: int = 0
    cuts: int = 0
    changes: int = 0
    beyond: int = 0  # runs in which more goes wrong than is promised to be borne
    seed: int | None = None  # that did not
    run: dict[str, Any] | None = None  # its history and what it broke

    def add(self, run: dict[str, Any]) -> None:
        """Counts a run."""
        self.steps += run["steps"]
        self.mounts += run["mounts"]
        self.cuts += run["cuts"]
        self.changes += run["changes"]
        self.beyond += run["beyond"] != 0


def _part(name: str) -> tuple[_native.Part | None, str]:
    """The part and its name in the table, which a file's has none."""
    if not name:
        return None, ""
    part = parts.resolve(name)
    if part.text("kind") not in parts.FLASH:
        raise InputError(f"{part.name} is no raw flash: there is nothing to torture on such a part")
    return part, "" if parts.is_file(name) else part.text("name")


def _futures(
    pool: ThreadPoolExecutor, options: Options, ahead: int
) -> Iterator[tuple[int, Future[dict[str, Any]]]]:
    """Runs in the order of their seeds, so many ahead of the one that is asked for."""
    part, base = _part(options.chip)
    waiting: list[tuple[int, Future[dict[str, Any]]]] = []
    end = time.monotonic() + options.seconds
    seed = options.first
    while True:
        while len(waiting) < ahead and (
            seed < options.first + options.seeds
            if options.seeds
            else seed == options.first or time.monotonic() < end
        ):
            future = pool.submit(
                _native.torture_draw,
                options.subject,
                seed % 2**32,
                part=part,
                base=base,
                settings=options.settings,
                blocks=options.blocks,
                steps=options.steps,
                stable=options.stable,
            )
            waiting.append((seed, future))
            seed += 1
        if not waiting:
            return
        yield waiting.pop(0)


def run(options: Options, advance: Advance, result: Result) -> None:
    """Runs seeds until one fails, they are all done or the time is over."""
    jobs = options.jobs or os.cpu_count() or 1
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for seed, future in _futures(pool, options, 2 * jobs):
                try:
                    one = future.result()
                except ValueError as error:
                    raise InputError(f"{options.subject}: {error}") from error
                result.add(one)
                advance(1)
                if one["judge"] != FINE:
                    result.seed = seed
                    result.run = _native.torture_shrink(one["history"])
                    return
                result.seeds += 1
        finally:
            pool.shutdown(cancel_futures=True)


def replay(text: str, name: str) -> dict[str, Any]:
    """Plays a history; InputError tells the line at fault."""
    try:
        return _native.torture_play(text)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error


def as_text(run: dict[str, Any]) -> str:
    """The history as a file: what it broke is a comment."""
    first, rest = run["history"].split("\n", 1)
    return f"{first}\n# {run['judge']} at step {run['failed_step']}: {run['what']}\n{rest}"
