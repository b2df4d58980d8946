# SPDX-License-Identifier: Apache-2.0
"""Headline figures: a sheet for the results of each verb, and one for each comparison."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nandwich.report.book import CONFIG, Book, Column, Plan
from nandwich.results import comparison, figures, tables
from nandwich.results.comparison import Spread
from nandwich.results.figures import Metric, Result
from nandwich.results.read import Document

SECTION = "Side by side"
_SPARE = "spare room"
#: What tells the device, in this order; the rest follows.
_PART = ("chip", "blocks", "block_pages", "sector_bytes", _SPARE, "endurance", "wear",
         "precondition_permille")  # fmt: skip
_SIZES = frozenset({"ram", "nvm_bytes"})
_ORIGIN = frozenset({"version", "commit"})  # stand in "What ran"

SIDES = Plan(
    "sides",
    SECTION,
    "Figures side by side",
    "Each figure over that of {first}, which is at 1. An arrow points to the better side.",
    "dots",
    (Column(CONFIG, "configuration"), Column("figure", "figure"),
     Column("ratio", "of the first"), Column("value", "value"), Column("better", "better")),
    {"x": "ratio", "y": "figure", "colour": CONFIG},
    log="x",
    rule=1,
    of_first="figure",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A figure of all configurations of a sheet; None where one has it not."""

    metric: Metric
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
    best: int | None
    worst: int | None


@dataclass(frozen=True)
class Sheet:
    title: str
    choices: tuple[int, ...]  # numbers in the book, a column each
    lines: tuple[Line, ...]
    differing: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of their configurations
    equal: tuple[tuple[str, str], ...] = ()  # what all of them are made of, the part first
    note: str = ""


def of_results(book: Book, kind: str, found: Sequence[tuple[Result, list[Metric]]]) -> Sheet:
    """The sheet of results of one kind, judged as `nandwich compare` does."""
    entries = comparison.gathered(one for one, _ in found)
    first = [one.results[0] for one in entries]
    metrics = [metric for _, measured in found for metric in measured]
    lines = []
    result = comparison.compare(entries, metrics)
    for line in result.lines:
        lines.append(_line(line.metric, line.spreads, line.best, line.worst))
    choices = tuple(book.choice(one.name, kind, layer_of(one.config)) for one in first)
    configs = [one.config for one in first]
    differing = [(key, tuple(one.get(key, "") for one in configs)) for key in result.differing]
    sheet = _sheet(f"nandwich {kind}", choices, lines, differing, result.equal, configs)
    return replace(sheet, note=tables.unjudged(result))


def _line(
    metric: Metric, spreads: Sequence[Spread | None], best: int | None, worst: int | None
) -> Line:
    return Line(
        metric,
        tuple(None if one is None or one.over else one.mean for one in spreads),
        tuple("" if one is None else tables.cell(metric, one) for one in spreads),
        best,
        worst,
    )


def _sheet(
    title: str,
    choices: tuple[int, ...],
    lines: Sequence[Line],
    differing: list[tuple[str, tuple[str, ...]]],
    equal: dict[str, str],
    configs: Sequence[dict[str, str]],
) -> Sheet:
    """A sheet with the spare room of its devices, which follows from their sizes."""
    spare = tuple(_spare(lines, configs))
    if len(set(spare)) > 1:
        differing = [*differing, (_SPARE, spare)]
    elif any(spare):
        equal = equal | {_SPARE: spare[0]}
    told = [*(key for key in _PART if key in equal), *(key for key in equal if key not in _PART)]
    same = tuple((key, _size(key, equal[key])) for key in told if key not in _ORIGIN)
    apart = tuple((key, tuple(_size(key, one) for one in texts)) for key, texts in differing)
    return Sheet(title, choices, tuple(lines), apart, same)


def _size(key: str, text: str) -> str:
    """A size as people give one to a command: 300K."""
    if key not in _SIZES or not text.isdecimal() or int(text) % 1024 or text == "0":
        return text
    size = int(text) // 1024
    return f"{size // 1024}M" if size % 1024 == 0 else f"{size}K"


def _spare(lines: Sequence[Line], configs: Sequence[dict[str, str]]) -> Iterator[str]:
    """Of each device the part of the chip that holds no data of its own; "" where not known."""
    room = next((line.values for line in lines if line.metric.key == "device_bytes"), ())
    for config, data in zip(configs, room, strict=False):
        sizes = [config.get(key) or "" for key in ("blocks", "block_pages", "sector_bytes")]
        chip = math.prod(int(one) for one in sizes) if all(map(str.isdecimal, sizes)) else 0
        yield f"{100 - 100 * data / chip:.3g} %" if data and 0 < data < chip else ""


def layer_of(config: dict[str, str]) -> str:
    return config.get("ftl") or config.get("policy", "")


_FIT = (
    Metric("programs_a_write", "programs a write", "", "less", True),
    Metric("energy_pj_a_write", "energy a write", "pJ", "less", True),
    Metric("time_ns_a_write", "time a write", "ns", "less", True),
    Metric("reads_a_read", "reads a read", "", "less", True),
    Metric("longest_call_ns", "longest call", "ns", "less", True),
    Metric("mount_ns", "mount", "ns", "less", True),
    Metric("life_bytes", "life, bytes written", "B", "more", True),
    Metric("ram_bytes", "RAM", "B", "less", True),
    Metric("code_bytes", "code", "B", "less", True),
    Metric("device_bytes", "room for data", "B", "more", True),
)


def of_fit(document: Document, prefix: str) -> list[tuple[Result, list[Metric]]]:
    """What `nandwich fit` tells of the layers that fit."""
    content = document.content
    asked = {
        key.removesuffix("_bytes"): str(value)
        for key, value in content.get("question", {}).items()
        if value
    }
    found = []
    for one in content["layers"]:
        if not one["fits"]:
            continue
        told = {"device_bytes": None, **one}  # older results tell no room for data
        values = {metric.key: told[metric.key] for metric in _FIT if told[metric.key] is not None}
        if not all(isinstance(value, int | float) for value in values.values()):
            raise TypeError(f"a figure of {one['layer']} is no number")
        config = {"ftl": str(one["layer"]), **asked, "seed": str(content["provenance"]["seed"])}
        config |= {str(key): str(value) for key, value in one["config"].items()}
        name = f"{prefix} {one['layer']}".strip()
        found.append((Result(name, document.path, config, values), list(_FIT)))
    return found


def of_comparison(book: Book, document: Document) -> Sheet:
    """The sheet of a file that `nandwich compare` wrote; marks are those it made."""
    content = document.content
    kind = str(content["kind"])
    equal = content["equal"]
    done = [one for one in content["configurations"] if one["state"] == "done"]
    names = [str(one["name"]) for one in done]
    choices = [
        book.choice(one["name"], kind, layer_of(equal | one["chosen"] | one["config"]))
        for one in done
    ]
    for one in content["configurations"]:
        if one["state"] != "done":
            book.missing.append(
                f"{one['name']}: {one['state']}" + f", {one['why']}" * bool(one["why"])
            )
    chief = {metric.key: metric.chief for every in figures.METRICS.values() for metric in every}
    lines = []
    for one in content["metrics"]:
        metric = Metric(
            one["key"],
            str(one["label"]),
            str(one["unit"]),
            one["better"] or "",
            chief.get(one["key"], True),
        )
        spreads = [_spread(one["values"].get(name)) for name in names]
        lines.append(_line(metric, spreads, _at(names, one["best"]), _at(names, one["worst"])))
    configs = [
        {str(key): str(value) for key, value in one["config"].items() if value} for one in done
    ]
    differing = [(str(key), tuple(one.get(str(key), "") for one in configs)) for key in
                 content["differing"]]  # fmt: skip
    title = f"{document.name}, by nandwich compare"
    same = {str(key): str(value) for key, value in equal.items()}
    return _sheet(title, tuple(choices), lines, differing, same, [same | one for one in configs])


def _spread(told: dict[str, Any] | None) -> Spread | None:
    """Values of a figure; TypeError where they are no numbers."""
    if told is None:
        return None
    most = math.inf if told["most"] is None else told["most"]
    for key, value in (("mean", told["mean"]), ("least", told["least"]), ("most", most)):
        if not isinstance(value, int | float):
            raise TypeError(f"{key} {value!r} is no number")
    return Spread((told["mean"],), (told["least"], most), bool(told.get("over")))


def _at(names: list[str], name: str | None) -> int | None:
    return None if name is None else names.index(name)


def side_by_side(book: Book, sheet: Sheet, number: int, *, alone: bool) -> None:
    """The picture of a sheet with several configurations: figures that differ. A sheet `alone` on
    its page needs no title there."""
    title = SIDES.title if alone else f"{SIDES.title}: {sheet.title}"
    plan = replace(SIDES, key=f"{SIDES.key}-{number}", title=title)
    for line in sheet.lines:
        if not line.metric.chief or len(set(line.values)) == 1:
            continue
        better = {"less": "less", "more": "more"}.get(line.metric.better, "neither")
        for who, value, text in zip(sheet.choices, line.values, line.texts, strict=True):
            if value is not None and value > 0:
                figure = +value  # a number also where a changed file says true
                book.add(plan, [[who, line.metric.label, figure, text, better]])


def as_json(sheets: Sequence[Sheet]) -> list[dict[str, Any]]:
    """What page.js draws two figures against each other from."""
    return [
        {
            "title": sheet.title,
            "choices": list(sheet.choices),
            "figures": [
                {
                    "label": line.metric.label,
                    "unit": line.metric.unit,
                    "better": line.metric.better,
                    "values": list(line.values),
                }
                for line in sheet.lines
                if line.metric.better
            ],
        }
        for sheet in sheets
    ]
