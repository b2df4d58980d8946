# SPDX-License-Identifier: Apache-2.0
"""What a page shows, before it is HTML: who can be chosen, and pictures as rows of plain values.

A picture is a plan, which says how rows are drawn, and rows of any number of results. So results
of one verb share their pictures, and a choice is a filter of rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

#: How rows are drawn (forms.js has a function for each).
Form = Literal["bars", "columns", "lines", "cells", "dots"]
#: What a column tells the page: the cells of CONFIG are numbers of choices; a choice of an
#: application keeps the rows that have it in APP.
CONFIG, APP = "config", "app"

Row = list[Any]


@dataclass(frozen=True)
class Column:
    """Of a picture or table. `unit` is as in `nandwich.results.figures`."""

    key: str
    label: str
    unit: str = ""


@dataclass(frozen=True)
class Plan:
    """A picture without its rows.

    `channels` maps x, y, colour, panel (a picture of its own for each value) and label to columns.
    `table` has the columns of the table beside it where the drawn rows say too much.
    """

    key: str
    section: str
    title: str
    says: str  # how to read it, a sentence or two
    form: Form
    columns: tuple[Column, ...]
    channels: dict[str, str]
    table: tuple[Column, ...] = ()
    note: str = ""  # a column of `table` that is told below each panel, where it is above 0
    log: str = ""  # the axes that grow by factors: "x", "y", "xy"
    wide: int = 0  # of cells: so many in a row
    curve: Literal["linear", "step-before"] = "linear"  # of lines
    order: tuple[str, ...] = ()  # of the parts that colours tell apart, where rows have no order
    rule: float | None = None  # a value of x to hold others against
    joined: bool = False  # of dots: a line goes through those of a configuration
    #: A column: x is told over the x of the first configuration shown that has the same there.
    of_first: str = ""


@dataclass(frozen=True)
class Choice:
    """A configuration that can be shown or left out. `layer` groups those of several kinds."""

    name: str
    kind: str  # the verb
    layer: str  # of translation, or the policy; "" for none


@dataclass
class Picture:
    plan: Plan
    rows: list[Row] = field(default_factory=list)
    told: list[Row] = field(default_factory=list)  # the rows of plan.table


@dataclass
class Book:
    """Filled by several documents, in their order."""

    choices: list[Choice] = field(default_factory=list)
    pictures: dict[str, Picture] = field(default_factory=dict)
    missing: list[str] = field(
        default_factory=list
    )  # what a document could have shown, and why not

    def choice(self, name: str, kind: str, layer: str = "") -> int:
        """The number of a choice; the same name of the same kind is the same one."""
        wanted = Choice(name, kind, layer)
        for number, one in enumerate(self.choices):
            if (one.name, one.kind) == (name, kind):
                return number
        self.choices.append(wanted)
        return len(self.choices) - 1

    def add(self, plan: Plan, rows: Iterable[Row], told: Iterable[Row] = ()) -> None:
        """Rows of a picture. One without rows does not come about."""
        new = list(rows)
        for row in new:
            _check(plan, row)
        if new:
            picture = self.pictures.setdefault(plan.key, Picture(plan))
            picture.rows += new
            picture.told += told

    def applications(self) -> list[str]:
        """Names that stand in a column APP, each once."""
        found: dict[str, None] = {}
        for picture in self.pictures.values():
            keys = [column.key for column in picture.plan.columns]
            if APP in keys:
                at = keys.index(APP)
                found |= dict.fromkeys(row[at] for row in picture.rows if row[at])
        return list(found)


def _check(plan: Plan, row: Row) -> None:
    """TypeError for a cell that cannot be drawn: results are files, and anybody can change one."""
    assert len(row) == len(plan.columns), f"{plan.key}: {len(plan.columns)} cells a row"
    measured = {plan.channels.get(name) for name in ("x", "value", "place")}
    if plan.form in ("lines", "columns"):
        measured.add(plan.channels["y"])
    for column, cell in zip(plan.columns, row, strict=True):
        if cell is not None and not isinstance(cell, str | int | float):
            raise TypeError(f"{column.label} is {type(cell).__name__}")
        if column.key in measured and (isinstance(cell, str | bool) or cell is None):
            raise TypeError(f"{column.label} {cell!r} is no number")


def as_json(book: Book, order: Sequence[str]) -> dict[str, Any]:
    """What page.js reads; sections in this order."""
    pictures = sorted(book.pictures.values(), key=lambda one: order.index(one.plan.section))
    return {
        "choices": [
            {"name": one.name, "kind": one.kind, "layer": one.layer} for one in book.choices
        ],
        "applications": book.applications(),
        "pictures": [_picture(one) for one in pictures],
    }


def _picture(picture: Picture) -> dict[str, Any]:
    plan = picture.plan
    table = None
    if plan.table:
        table = {"columns": [_column(one) for one in plan.table], "rows": picture.told}
    return {
        "key": plan.key,
        "section": plan.section,
        "title": plan.title,
        "says": plan.says,
        "form": plan.form,
        "channels": plan.channels,
        "note": plan.note,
        "log": plan.log,
        "wide": plan.wide,
        "order": plan.order,
        "curve": plan.curve,
        "rule": plan.rule,
        "joined": plan.joined,
        "of_first": plan.of_first,
        "columns": [_column(one) for one in plan.columns],
        "rows": picture.rows,
        "table": table,
    }


def _column(column: Column) -> dict[str, str]:
    return {"key": column.key, "label": column.label, "unit": column.unit}
