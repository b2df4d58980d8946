# SPDX-License-Identifier: Apache-2.0
"""Pictures of `nandwich tune`: the front in parallel coordinates, and all that was played as time
against cost. Two goals against each other, with their own front, come with the figures."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nandwich.report.book import CONFIG, Book, Column, Plan, Row
from nandwich.results.figures import Metric, Result

SECTION = "Tuning"
_GOALS = ("time_ns", "energy_pj", "life_bytes", "life_accesses", "cost_bytes")
_WHO = Column(CONFIG, "configuration")

PARALLEL = Plan(
    "parallel",
    SECTION,
    "Goals of the front",
    "Each goal over the best of these, which is at 1. A life is turned over: left is always better."
    " Where lines cross, one goal is paid for with another.",
    "dots",
    (_WHO, Column("goal", "goal"), Column("ratio", "of the best"), Column("better", "better")),
    {"x": "ratio", "y": "goal", "colour": CONFIG},
    log="x",
    rule=1,
    joined=True,
)
PLAYED = Plan(
    "played",
    SECTION,
    "All that was played",
    "Time against cost. What is beaten here may be on the front by its energy or its life.",
    "dots",
    (Column("state", "state"), Column("cost", "cost", "B"), Column("ns", "time a unit", "ns"),
     Column("name", "configuration"), Column("better", "better")),
    {"x": "cost", "y": "ns", "colour": "state"},
    log="xy",
    order=("chosen", "on the front", "beaten", "over a limit"),
)  # fmt: skip


def fill(
    book: Book, content: dict[str, Any], found: Sequence[tuple[Result, list[Metric]]], kind: str
) -> None:
    """The pictures, those of bytes and those of a program's accesses apart; KeyError or TypeError
    where the result is not as tune writes it."""
    _parallel(book, found, kind)
    played = _of(PLAYED, kind)
    for one in content["rows"]:
        if one["goals"] is not None:
            goals = one["goals"]
            state = _state(one, content["choice"])
            row: Row = [state, goals["cost_bytes"], goals["time_ns"], one["name"], "less"]
            book.add(played, [row])


def _of(plan: Plan, kind: str) -> Plan:
    """A picture of results of this kind alone."""
    if kind == "tune":
        return plan
    return replace(plan, key=f"{plan.key}-program", title=f"{plan.title}, {kind}")


def _parallel(book: Book, found: Sequence[tuple[Result, list[Metric]]], kind: str) -> None:
    labels = {metric.key: metric for _, metrics in found for metric in metrics}
    for key in _GOALS:
        metric = labels.get(key)
        values = [one.values[key] for one, _ in found] if metric is not None else []
        if metric is None or min(values) <= 0:
            continue
        best = max(values) if metric.better == "more" else min(values)
        for (one, _), value in zip(found, values, strict=True):
            ratio = best / value if metric.better == "more" else value / best
            who = book.choice(one.name, kind, one.config.get("ftl", ""))
            book.add(_of(PARALLEL, kind), [[who, metric.label, round(ratio, 4), "less"]])


def _state(row: dict[str, Any], choice: int) -> str:
    if not row["allowed"]:
        return "over a limit"
    if row["place"] is None:
        return "beaten"
    return "chosen" if row["place"] == choice else "on the front"
