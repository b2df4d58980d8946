# SPDX-License-Identifier: Apache-2.0
"""Replays of a comparison: played by a pool, kept in a folder, and taken from there again."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nandwich import _native, files
from nandwich.cli import output
from nandwich.cli.points import Point
from nandwich.errors import InputError, not_written
from nandwich.replay import pool, traffic
from nandwich.results import figures, read
from nandwich.results.comparison import Entry

_MOST_NAME = 100


@dataclass(frozen=True)
class _Task:
    """One replay: a point with a seed, and where its result is kept."""

    entry: Entry
    point: Point
    kept: Path | None
    provenance: dict[str, Any]


class Series:
    """Points and what became of them so far; `entries` can be compared at any time."""

    def __init__(self, asked: Sequence[Point], seeds: int, keep: str) -> None:
        self.entries = [
            Entry(one.name, command=one.command, chosen=one.chosen, state="not played")
            for one in asked
        ]
        self._values: dict[int, figures.Result] = {}  # by the number of the task, as the next
        self._failures: dict[int, pool.Outcome] = {}
        made = output.provenance()
        hashes: dict[Path, str] = {}
        self._tasks = []
        for entry, one in zip(self.entries, asked, strict=True):
            for point in _with_seeds(one, seeds):
                inputs = traffic.inputs(point.options)
                hashes |= {path: _hash(path) for path in inputs if path not in hashes}
                provenance = made | {
                    "command": point.command,
                    "seed": point.options.seed,
                    "inputs": {str(path): hashes[path] for path in inputs},
                }
                kept = Path(keep) / _file_name(point, seeds) if keep else None
                self._tasks.append(_Task(entry, point, kept, provenance))
        if keep:
            _make_folder(keep, [task.kept for task in self._tasks if task.kept])

    def play(self, jobs: int) -> bool:
        """Plays what is not kept; False after Ctrl-C, with what was done by then."""
        todo = [i for i, task in enumerate(self._tasks) if not self._take(i, task)]
        if len(todo) < len(self._tasks):
            output.talk(f"{output.counted(len(self._tasks) - len(todo), 'replay')} kept already")
        whole = True
        try:
            work = pool.replays([self._tasks[i].point.options for i in todo])
            with pool.Pool(work, jobs) as workers:
                what = output.counted(len(todo), "replay")
                with output.progress(what, len(todo) * pool.PARTS) as bar:
                    for number, outcome in workers.outcomes(bar.advance):
                        self._end(todo[number], outcome)
        except KeyboardInterrupt:
            whole = False
        self._settle()
        return whole

    def _take(self, number: int, task: _Task) -> bool:
        """Whether a result is there already, of this very build and question."""
        if task.kept is None or not task.kept.is_file():
            return False
        try:
            document = read.read(str(task.kept))
        except InputError:
            return False  # played anew, which writes it anew
        if document.content.get("provenance") != task.provenance:
            return False
        if str(task.provenance["commit"]).endswith("+"):
            binding = Path(str(_native.__file__))  # sources differ from the commit: which ones?
            if task.kept.stat().st_mtime_ns < binding.stat().st_mtime_ns:
                return False
        self._values[number] = _figures(document, task.entry.name)
        return True

    def _end(self, number: int, outcome: pool.Outcome) -> None:
        task = self._tasks[number]
        if outcome.state != "done":
            self._failures[number] = outcome
            return
        content = {
            "schema": "nandwich.replay/1",
            "provenance": task.provenance,
            **json.loads(json.dumps(outcome.value)),
        }
        if task.kept is not None:
            output.write_json(str(task.kept), content)
        document = read.Document(task.entry.name, "nandwich.replay/1", content)
        self._values[number] = _figures(document, task.entry.name)

    def _settle(self) -> None:
        """What became of each entry, in the order of its seeds, whichever ended first."""
        for entry in self.entries:
            numbers = [i for i, task in enumerate(self._tasks) if task.entry is entry]
            bad = [i for i in numbers if i in self._failures]
            if bad:
                outcome = self._failures[bad[0]]
                entry.state, entry.why = outcome.state, outcome.why
                entry.command = self._tasks[bad[0]].point.command
            elif all(i in self._values for i in numbers):
                entry.results = [self._values[i] for i in numbers]
                entry.state = "done"


def _with_seeds(point: Point, seeds: int) -> list[Point]:
    if seeds == 1:
        return [point]
    return [point.with_seed(point.options.seed + i) for i in range(seeds)]


def _figures(document: read.Document, name: str) -> figures.Result:
    (result,), _ = figures.results(document, name)
    return result


def _hash(path: Path) -> str:
    try:
        return output.file_sha256(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _file_name(point: Point, seeds: int) -> str:
    text = re.sub(r"[^A-Za-z0-9._=%-]+", "_", point.name)[:_MOST_NAME]
    return f"{text}_seed={point.options.seed}.json" if seeds > 1 else f"{text}.json"


def _make_folder(keep: str, kept: Sequence[Path]) -> None:
    if len(set(kept)) < len(kept):
        raise InputError("--keep: two configurations would have one file name: name them otherwise")
    try:
        Path(keep).mkdir(parents=True, exist_ok=True)
        for path in kept:
            files.check(path)
    except OSError as error:
        raise not_written(f"cannot keep results in {keep}: {error.strerror}", error) from error
