# SPDX-License-Identifier: Apache-2.0
"""Pictures of `nandwich fleet`: how many nodes are left, and what ended the others."""

from collections.abc import Iterator
from typing import Any

from nandwich.report.book import CONFIG, Book, Column, Plan, Row

SECTION = "Nodes in the field"
_CAUSES = ("battery", "wear", "space")
_WHO = Column(CONFIG, "fleet")
_YEARS = Column("years", "years")
_SHARE = Column("share", "share of nodes", "%")

SURVIVAL = Plan(
    "survival",
    SECTION,
    "Nodes that are alive",
    "Share of the nodes by age. A line that stays high is better.",
    "lines",
    (_WHO, _YEARS, _SHARE),
    {"x": "years", "y": "share", "colour": CONFIG},
    table=(_WHO, _YEARS, Column("alive", "alive", "%"), Column("least", "at least", "%"),
           Column("most", "at most", "%")),
)  # fmt: skip
ENDED = Plan(
    "ended",
    SECTION,
    "What has ended nodes",
    "Share of all nodes that each cause has ended, by age.",
    "lines",
    (_WHO, Column("cause", "cause"), _YEARS, _SHARE),
    {"x": "years", "y": "share", "colour": "cause", "panel": CONFIG},
    order=_CAUSES,
)
ENDS = Plan(
    "ends",
    SECTION,
    "Ends, by workload",
    "What became of the nodes of each workload within the horizon.",
    "bars",
    (_WHO, Column("workload", "workload"), Column("cause", "end"), _SHARE,
     Column("nodes", "nodes")),
    {"x": "share", "y": "workload", "colour": "cause", "panel": CONFIG},
    order=(*_CAUSES, "alive"),
)  # fmt: skip
_DAYS_A_YEAR = 365


def fill(book: Book, content: dict[str, Any], who: int) -> None:
    """Every picture; KeyError or TypeError where the result is not as fleet writes it. A cause that
    ended nobody has rows too: with one alone no legend would tell it."""
    points = content["survival"]
    told = [
        [who, _years(one), *(_percent(one[key]) for key in ("alive", "least", "most"))]
        for one in points
    ]
    book.add(SURVIVAL, ([*row[:3]] for row in told), told)
    for cause in _CAUSES:
        book.add(ENDED, ([who, cause, _years(one), _percent(one[cause])] for one in points))
    for workload in content["workloads"]:
        book.add(ENDS, _ends(who, workload))


def _ends(who: int, workload: dict[str, Any]) -> Iterator[Row]:
    for one in workload["ends"]:
        yield [who, workload["name"], one["cause"], _percent(one["share"]), one["nodes"]]


def _years(one: dict[str, Any]) -> float:
    return float(f"{one['days'] / _DAYS_A_YEAR:.5g}")


def _percent(share: float) -> float:
    return round(100 * share, 4)
