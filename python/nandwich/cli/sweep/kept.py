# SPDX-License-Identifier: Apache-2.0
"""What a sweep has played, in an sqlite file: a row for each key, which holds the whole result.

A row is written as soon as its point ends. A process that is killed loses no row; the write-ahead
log (WAL) of sqlite sees to that.
"""

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nandwich.cli.sweep.point import Point
from nandwich.errors import InputError, RunError

_FORMAT = 1  # user_version of the file
_TABLE = """CREATE TABLE IF NOT EXISTS point (
    key TEXT PRIMARY KEY,
    verb TEXT NOT NULL,
    command TEXT NOT NULL,
    state TEXT NOT NULL,
    why TEXT NOT NULL,
    document TEXT NOT NULL, -- what --json of the verb writes; empty where there is none
    took_ns INTEGER NOT NULL
)"""


@dataclass(frozen=True)
class Kept:
    """A point that was played."""

    state: str
    why: str
    document: str


class Store:
    """The file; a context. It is made when it is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> "Store":
        with self._told():
            self._file = sqlite3.connect(self.path, isolation_level=None)
            (version,) = self._file.execute("PRAGMA user_version").fetchone()
            tables = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version != _FORMAT and (version or tables):
                aside = shlex.join(("mv", str(self.path), f"{self.path}.old"))
                raise InputError(
                    f"{self.path}: no store of this nandwich sweep: give another --store, or set "
                    f"it aside: {aside}"
                )
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute(_TABLE)
            self._file.execute(f"PRAGMA user_version={_FORMAT}")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def get(self, key: str) -> Kept | None:
        """What is kept under a key."""
        with self._told():
            row = self._file.execute(
                "SELECT state, why, document FROM point WHERE key = ?", (key,)
            ).fetchone()
        return None if row is None else Kept(*row)

    def put(self, key: str, point: Point, said: dict[str, Any]) -> Kept:
        """Keeps what `run_point` answered, at once."""
        told = (said["state"], said["why"], said["document"])
        with self._told():
            self._file.execute(
                "INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key, point.verb, point.command, *told, said["took_ns"]),
            )
        return Kept(*told)

    def mean_ns(self, verb: str) -> float | None:
        """Of a point of this verb, by all that were played; None: none was."""
        with self._told():
            (mean,) = self._file.execute(
                "SELECT avg(took_ns) FROM point WHERE verb = ? AND took_ns > 0", (verb,)
            ).fetchone()
        return None if mean is None else float(mean)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """sqlite's errors in a sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise RunError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: {error}: give another --store") from error
