# SPDX-License-Identifier: Apache-2.0
"""Pictures of `nandwich sweep`: each chief figure over the option with most numbers."""

import math
from collections.abc import Iterator, Sequence

from nandwich.quantities import parse
from nandwich.report.book import Book, Column, Plan
from nandwich.results.comparison import Entry
from nandwich.results.figures import Metric

SECTION = "Sweeps"
#: Configurations of which the page has figures side by side.
MOST = 32
_MOST_LINES = 12
_SEED = "seed"
_SIZES = frozenset({"ram", "nvm", "vm", "frame", "statics", "page"})
_LOG_FROM = 8  # where the most is so many times the least


def fill(book: Book, name: str, entries: Sequence[Entry], metrics: Sequence[Metric]) -> None:
    """A picture for each figure that differs; none where no option has two numbers."""
    axes = {key: numbers for key in _keys(entries) if (numbers := _numbers(entries, key))}
    if not axes:
        book.missing.append(f"{name or 'the sweep'}: figures over an option: none has two numbers")
        return
    key = max(axes, key=lambda one: len(set(axes[one])))
    others = [one for one in _keys(entries) if one != key]
    who, joined = _groups(entries, others)
    xs = axes[key]
    log = "x" if min(xs) > 0 and max(xs) >= _LOG_FROM * min(xs) else ""
    texts = [one.results[0].config[key] for one in entries]
    size = "B" if key in _SIZES or any(map(_has_unit, texts)) else ""
    for metric in metrics:
        found = [one.spread(metric) for one in entries]
        rows = [
            [group, x, spread.mean, metric.better or "neither"]
            for group, x, spread in zip(who, xs, found, strict=True)
            if spread is not None
        ]
        if metric.chief and len({row[2] for row in rows}) > 1:
            says = _says(
                metric, joined=joined, several=any(len(one.results) > 1 for one in entries)
            )
            plan = _plan(name, metric, Column("x", key, size), log, says, joined=joined)
            book.add(plan, sorted(rows, key=lambda row: (who.index(row[0]), row[1])))


def _says(metric: Metric, *, joined: bool, several: bool) -> str:
    """How to read a picture; `several`: a configuration has several seeds."""
    told = []
    if not joined:
        told.append("Each configuration, by one of its options.")
    if several:
        told.append("The mean of the seeds.")
    if metric.better:
        told.append(f"{metric.better.capitalize()} is better.")
    return " ".join(told)


def _plan(name: str, metric: Metric, x: Column, log: str, says: str, *, joined: bool) -> Plan:
    of = f" of {name}" if name else ""
    return Plan(
        f"sweep-{name}-{metric.key}",
        SECTION,
        f"{metric.label[0].upper()}{metric.label[1:]} over {x.label}{of}",
        says,
        "lines" if joined else "dots",
        (Column("group", "configuration"), x, Column("y", metric.label, metric.unit),
         Column("better", "better")),
        {"x": "x", "y": "y", "colour": "group"},
        log=log,
    )  # fmt: skip


def _keys(entries: Sequence[Entry]) -> list[str]:
    """Options that differ between configurations."""
    keys = dict.fromkeys(key for one in entries for key in one.results[0].config)
    return [
        key
        for key in keys
        if key != _SEED and len({one.results[0].config.get(key) for one in entries}) > 1
    ]


def _numbers(entries: Sequence[Entry], key: str) -> list[float]:
    """The values of an option, where all are numbers or sizes."""
    texts = [one.results[0].config.get(key, "") for one in entries]
    numbers = [_number(text) for text in texts]
    return [one for one in numbers if one is not None] if None not in numbers else []


def _number(text: str) -> float | None:
    try:
        number = float(text) if not _has_unit(text) else float(parse(text, "size"))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _has_unit(text: str) -> bool:
    """Whether a number has a unit."""
    return text[-1:].isalpha()


def _groups(entries: Sequence[Entry], others: Sequence[str]) -> tuple[list[str], bool]:
    """What tells the colours apart, and whether a line may join those of one: by all other options,
    or where these are too many by the one with fewest values."""
    whole = [_told(one, others) for one in entries]
    if len(set(whole)) <= _MOST_LINES:
        return whole, True
    counts = {key: len({_told(one, [key]) for one in entries}) for key in others}
    least = min(counts, key=lambda one: counts[one])
    return [_told(one, [least]) for one in entries], False


def _told(entry: Entry, keys: Sequence[str]) -> str:
    config = entry.results[0].config
    return " ".join(_words(config, keys)) or "all"


def _words(config: dict[str, str], keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        if key in config:
            yield f"{key}={config[key]}"
