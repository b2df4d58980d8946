# SPDX-License-Identifier: Apache-2.0
"""Benches: named figures of this build, each with a target where one was promised.

A bench lives in bench/<name>.py:

    from lab.benches import Figure, bench

    @bench("twin", "speed of the emulated chip")
    def twin() -> list[Figure]:
        return [Figure("twin.ops", value, "op/s", target=5e6, better="higher")]

Figures that a slower machine would change are ratios measured in one run wherever that is possible.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SCHEMA = "nandwich.bench/1"
#: Pages of the docs that hold what the benches of this run found, and their text. The verb writes
#: them with --page.
found_pages: dict[Path, str] = {}


@dataclass(frozen=True)
class Figure:
    """One number. Without a target it is on record only, and `ok`."""

    name: str
    value: int | float
    unit: str
    target: int | float | None = None
    better: Literal["lower", "higher"] = "lower"

    @property
    def ok(self) -> bool:
        if self.target is None:
            return True
        return self.value <= self.target if self.better == "lower" else self.value >= self.target

    def as_json(self) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "target": self.target,
            "better": self.better,
            "ok": self.ok,
        }


@dataclass(frozen=True)
class Bench:
    """A group of figures measured together."""

    name: str
    what: str
    run: Callable[[], Sequence[Figure]]


def bench(name: str, what: str) -> Callable[[Callable[[], Sequence[Figure]]], Bench]:
    """Decorator that makes a Bench of a function giving its figures."""

    def register(run: Callable[[], Sequence[Figure]]) -> Bench:
        return Bench(name, what, run)

    return register
