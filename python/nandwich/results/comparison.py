# SPDX-License-Identifier: Apache-2.0
"""Results side by side: what differs between them, what is best and worst, and what is noise.

Counts, emulated time and energy repeat to the last unit, so any difference is one. Noise is where a
configuration has several values, one for each seed, or where the host's clock was read. Two
configurations with the same seeds are apart when their mean difference is larger than any seed's
difference is from that mean; with other seeds, when their values do not overlap. Where the clock
was read they differ by more than WALL_NOISE, too. Figures of a sample have an interval, and are
apart where their intervals do not overlap.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nandwich.results.figures import Metric, Result

#: So much of a figure the host's clock may say otherwise the next time.
WALL_NOISE = 0.10

Verdict = Literal["same", "better", "worse", "other", "noise", "absent"]


@dataclass(frozen=True)
class Spread:
    """The values of one figure of one configuration, one for each seed."""

    values: tuple[float, ...]
    between: tuple[float, float] | None = None  # of a sample: where the truth is; inf: no bound
    over: bool = False  # it is more than its value, and nobody knows how much
    seeds: tuple[str, ...] = field(default=(), compare=False)  # of the values; "": not told

    @property
    def mean(self) -> float:
        first = self.values[0]
        if all(value == first for value in self.values):
            return first  # exact, and whole where the values are
        return sum(self.values) / len(self.values)

    @property
    def least(self) -> float:
        return self.between[0] if self.between else min(self.values)

    @property
    def most(self) -> float:
        return self.between[1] if self.between else max(self.values)


@dataclass
class Entry:
    """A configuration in a comparison. `state` says why one has no figures."""

    name: str
    results: list[Result] = field(default_factory=list)  # one for each seed
    path: str | None = None
    command: str | None = None  # that repeats it
    chosen: dict[str, str] = field(default_factory=dict)  # what lists or a job said of it
    state: Literal["done", "no room", "failed", "not played"] = "done"
    why: str = ""

    def spread(self, metric: Metric) -> Spread | None:
        """Its values of a figure; None: a seed has none, or nothing was played."""
        key = metric.key
        found = [one.values[key] for one in self.results if key in one.values]
        if not found or len(found) < len(self.results):
            return None
        first = self.results[0]
        between = first.between.get(key) if len(found) == 1 else None
        seeds = tuple(one.config.get("seed", "") for one in self.results)
        return Spread(tuple(found), between, key in first.over, seeds)

    @property
    def reference(self) -> bool:
        return any(one.reference for one in self.results)


@dataclass(frozen=True)
class Line:
    """One figure of all configurations, in their order; changes are against the first one."""

    metric: Metric
    spreads: tuple[Spread | None, ...]
    best: int | None
    worst: int | None
    changes: tuple[float | None, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def equal(self) -> bool:
        """Whether every configuration has the very same values."""
        only, *others = set(self.spreads)
        return not others and not (only is not None and only.over)


@dataclass(frozen=True)
class Comparison:
    """All of it. `equal` and `differing` are of the configurations that were played."""

    entries: tuple[Entry, ...]
    lines: tuple[Line, ...]
    equal: dict[str, str]
    differing: tuple[str, ...]

    @property
    def done(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.state == "done")


def gathered(found: Iterable[Result]) -> list[Entry]:
    """Configurations: results of one name are its seeds."""
    entries: dict[str, Entry] = {}
    for one in found:
        entries.setdefault(one.name, Entry(one.name, path=one.path)).results.append(one)
    return list(entries.values())


def compare(entries: Sequence[Entry], metrics: Sequence[Metric]) -> Comparison:
    """Lay configurations side by side; figures that none of them has are left out."""
    done = [entry for entry in entries if entry.state == "done"]
    equal, differing = _split([_config(entry) for entry in done])
    lines = []
    for metric in dict.fromkeys(metrics):
        spreads = tuple(entry.spread(metric) for entry in done)
        if any(spread is not None for spread in spreads):
            ranked = [not entry.reference for entry in done]
            judged = replace(metric, better="") if metric.goes_by in differing else metric
            lines.append(_line(judged, spreads, ranked))
    return Comparison(tuple(entries), tuple(lines), equal, differing)


def _config(entry: Entry) -> dict[str, str]:
    """What all seeds of a configuration share."""
    first = entry.results[0].config
    return {
        key: value
        for key, value in first.items()
        if all(one.config.get(key) == value for one in entry.results)
    }


def _split(configs: Sequence[dict[str, str]]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What is equal everywhere, and the names of what is not."""
    keys = dict.fromkeys(key for config in configs for key in config)
    equal, differing = {}, []
    for key in keys:
        values = {config.get(key) for config in configs}
        (only, *others) = values
        if others or only is None:
            differing.append(key)
        else:
            equal[key] = only
    return equal, tuple(differing)


def _line(metric: Metric, spreads: tuple[Spread | None, ...], ranked: Sequence[bool]) -> Line:
    best, worst = _ends(metric, spreads, ranked)
    first = spreads[0]
    return Line(
        metric,
        spreads,
        best,
        worst,
        tuple(_change(first, one) for one in spreads),
        tuple(_verdict(metric, first, one) for one in spreads),
    )


def apart(metric: Metric, one: Spread, other: Spread) -> bool:
    """Whether two configurations differ by more than noise."""
    overlap = one.least <= other.most and other.least <= one.most
    if one.between and other.between:
        return not overlap
    if len(one.values) == len(other.values) and one.seeds == other.seeds:
        gaps = [high - low for low, high in zip(one.values, other.values, strict=True)]
        mean = sum(gaps) / len(gaps)
        overlap = abs(mean) <= max(abs(gap - mean) for gap in gaps)
    if overlap:
        return False
    gap = abs(other.mean - one.mean)
    return not metric.wall or gap > WALL_NOISE * max(abs(one.mean), abs(other.mean))


def _ends(
    metric: Metric, spreads: tuple[Spread | None, ...], ranked: Sequence[bool]
) -> tuple[int | None, int | None]:
    """Which one is best and which is worst; None where the next one is not apart from it."""
    if not metric.better:
        return None, None
    known = [(spread, i) for i, spread in enumerate(spreads) if spread is not None and ranked[i]]
    if len(known) < 2:
        return None, None
    known.sort(key=lambda pair: pair[0].mean, reverse=metric.better == "more")

    def end(outer: tuple[Spread, int], rest: list[tuple[Spread, int]]) -> int | None:
        return outer[1] if all(apart(metric, outer[0], one) for one, _ in rest) else None

    return end(known[0], known[1:]), end(known[-1], known[:-1])


def _change(first: Spread | None, other: Spread | None) -> float | None:
    """By which part of the first one the other is more; None: not known, or the first is 0."""
    if first is None or other is None or first.mean == 0 or first.over or other.over:
        return None
    return (other.mean - first.mean) / abs(first.mean)


def _verdict(metric: Metric, first: Spread | None, other: Spread | None) -> Verdict:
    if first is None or other is None:
        return "absent"
    over = first.over or other.over
    if first.values == other.values and not over:
        return "same"
    if not apart(metric, first, other):
        return "absent" if over else "noise"
    if not metric.better:
        return "other"
    return "better" if (other.mean < first.mean) == (metric.better == "less") else "worse"


def as_json(comparison: Comparison, kind: str) -> dict[str, Any]:
    """What docs/schemas/compare-1.json promises, schema and provenance apart."""
    names = [entry.name for entry in comparison.done]
    return {
        "kind": kind,
        "configurations": [_entry_json(entry, comparison) for entry in comparison.entries],
        "equal": comparison.equal,
        "differing": list(comparison.differing),
        "metrics": [_line_json(line, names) for line in comparison.lines],
    }


def _entry_json(entry: Entry, comparison: Comparison) -> dict[str, Any]:
    config = _config(entry) if entry.results else {}
    return {
        "name": entry.name,
        "state": entry.state,
        "why": entry.why,
        "file": entry.path,
        "command": entry.command,
        "chosen": entry.chosen,
        "config": {key: config.get(key) for key in comparison.differing} if config else {},
        "values": len(entry.results),
    }


def _line_json(line: Line, names: Sequence[str]) -> dict[str, Any]:
    def name(index: int | None) -> str | None:
        return None if index is None else names[index]

    values: dict[str, dict[str, Any] | None] = {}
    for i, spread in enumerate(line.spreads):
        if spread is None:
            values[names[i]] = None
            continue
        change = line.changes[i]
        values[names[i]] = {
            "mean": spread.mean,
            "least": spread.least,
            "most": spread.most if math.isfinite(spread.most) else None,
            "over": spread.over,
            "change": None if change is None else round(change, 6),
            "verdict": line.verdicts[i],
        }
    known = [spread for spread in line.spreads if spread is not None]
    noise = "seeds" if any(len(spread.values) > 1 for spread in known) else "none"
    noise = "intervals" if any(spread.between for spread in known) else noise
    return {
        "key": line.metric.key,
        "label": line.metric.label,
        "unit": line.metric.unit,
        "better": line.metric.better or None,
        "noise": "wall clock" if line.metric.wall else noise,
        "best": name(line.best),
        "worst": name(line.worst),
        "values": values,
    }
