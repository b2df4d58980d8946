# SPDX-License-Identifier: Apache-2.0
"""A comparison for people, in 80 columns, and as CSV."""

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence

from nandwich.quantities import format_energy, format_size, format_time
from nandwich.results.comparison import Comparison, Entry, Line, Spread
from nandwich.results.figures import ENDLESS, Metric

#: Columns of a terminal, and of a page.
WIDTH = 80
BEST, WORST = "*", "!"
LEGEND = (
    f"{BEST} best, {WORST} worst of its figure. No mark: another is as good or as bad, or less "
    "apart than noise"
)
_GAP = "  "
_LONGEST_NAME = 24
_YEAR_NS = 365 * 86_400 * 10**9
_SCALED: dict[str, Callable[[int], str]] = {
    "ns": format_time,
    "us": lambda number: format_time(number * 1000),
    "pJ": format_energy,
    "B": format_size,
}
_VERDICTS = {
    "same": "equal",
    "better": "better",
    "worse": "worse",
    "other": "differs",
    "noise": "noise",
    "absent": "not known",
}

Heads = Sequence[str]
Rows = list[list[str]]


def shown(metric: Metric, value: float) -> str:
    """One value with its unit."""
    if value >= ENDLESS:
        return "endless"
    if metric.unit == "ns" and abs(value) >= _YEAR_NS / 100:
        return f"{value / _YEAR_NS:.3g} years"
    if metric.unit in _SCALED:
        return _SCALED[metric.unit](round(value))
    whole = isinstance(value, int) or abs(value) >= 10_000
    number = f"{value:.0f}" if whole else f"{value:.4g}"
    return f"{number} {metric.unit}".strip()


def cell(metric: Metric, spread: Spread | None) -> str:
    """A value, and how far seeds or its interval reach to both sides of it."""
    if spread is None:
        return "-"
    text = shown(metric, spread.mean)
    if spread.over:
        return f"over {text}"
    wide = max(spread.most - spread.mean, spread.mean - spread.least)
    if not 0 < wide < math.inf:
        return text
    if metric.unit == "%":
        return f"{text.removesuffix(' %')} ±{wide:.2g} %"
    if not spread.mean:
        return text
    share = 100 * wide / abs(spread.mean)
    return f"{text} ±{share:.2g} %" if share < 99.5 else f"{text} ±{share:.0f} %"


def _marked(line: Line, index: int) -> str:
    cells = [cell(line.metric, spread) for spread in line.spreads]
    mark = BEST if index == line.best else WORST if index == line.worst else " "
    if cells.count(cells[index]) > 1:
        mark = " "  # what reads the same is neither better nor worse
    return f"{cells[index]} {mark}"


def _right(rows: Rows, first: int) -> Rows:
    """Columns from `first` on set to the right, head included."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [
            cell if i < first else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]


def _width(rows: Rows) -> int:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def heads(comparison: Comparison) -> list[str]:
    """What configurations are called in tables: letters where a name is long."""
    long = [entry.name for entry in comparison.done]
    if all(len(name) <= _LONGEST_NAME for name in long):
        return long
    return [_letters(i) for i in range(len(long))]


def legend(comparison: Comparison, made: Sequence[tuple[Heads, Rows]]) -> list[str]:
    """Whom the letters in these tables stand for, a line each."""
    short = heads(comparison)
    used = {cell.strip() for head, rows in made for row in (head, *rows) for cell in row}
    pairs = zip(short, (entry.name for entry in comparison.done), strict=True)
    return [f"{one}: {name}" for one, name in pairs if one != name and one in used]


def _letters(index: int) -> str:
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def lines_shown(comparison: Comparison, every: bool) -> list[Line]:
    """Figures worth a place: those that differ, and of many configurations the chief ones."""
    differing = [line for line in comparison.lines if not line.equal or len(line.spreads) == 1]
    if every or len(comparison.done) <= 2:
        return differing
    return [line for line in differing if line.metric.chief]


def differing(comparison: Comparison) -> tuple[Heads, Rows] | None:
    """What of the configurations differs, where their names do not say so."""
    if any(entry.chosen for entry in comparison.done) or not comparison.differing:
        return None
    called = heads(comparison)
    rows = [
        [key, *(_cut(entry.results[0].config.get(key, "-")) for entry in comparison.done)]
        for key in comparison.differing
    ]
    if len(called) > 2 and _width([["", *called], *rows]) > WIDTH:
        rows = [list(row) for row in zip(["", *called], *rows, strict=True)]
        return rows[0], rows[1:]
    return ["differs", *called], rows


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."


def equal_figures(comparison: Comparison) -> str:
    """The figures that are the same everywhere, said once."""
    return "; ".join(
        f"{line.metric.label} {cell(line.metric, line.spreads[0])}"
        for line in comparison.lines
        if line.equal
    )


def unjudged(comparison: Comparison) -> str:
    """Which figures are not judged, because what they go by differs; "" for none."""
    metrics = [line.metric for line in comparison.lines]
    hanging = [metric for metric in metrics if metric.goes_by in comparison.differing]
    if not hanging:
        return ""
    what = "; ".join(metric.label for metric in hanging)
    return f"not judged, because the {hanging[0].goes_by} differs: {what}"


def tables(comparison: Comparison, *, every: bool = False) -> list[tuple[Heads, Rows]]:
    """One table with a figure a row where that fits, else several with a configuration a row."""
    lines = lines_shown(comparison, every)
    if not lines:
        return []
    called = heads(comparison)
    upright = _by_figure(called, lines)
    if len(called) == 1 or _width(upright) <= WIDTH:
        return [(upright[0], upright[1:])]
    return list(_by_configuration(comparison, called, lines))


def _by_figure(called: Sequence[str], lines: Sequence[Line]) -> Rows:
    pair = len(called) == 2
    rows = [["figure", *(f"{one}  " for one in called), *(["change", "so"] if pair else [])]]
    for line in lines:
        row = [line.metric.label, *(_marked(line, i) for i in range(len(called)))]
        if pair:
            row += [_percent(line.changes[1]), _VERDICTS[line.verdicts[1]]]
        rows.append(row)
    aligned = _right([row[: len(called) + 1 + pair] for row in rows], 1)
    return [one + row[len(one) :] for one, row in zip(aligned, rows, strict=True)]


def _percent(change: float | None) -> str:
    if change is None:
        return "-"
    if change == 0:
        return "0 %"
    if change > 10:
        return f"x {change + 1:.3g}"
    return f"{100 * change:+.2g} %" if abs(change) < 0.1 else f"{100 * change:+.0f} %"


def _leading(comparison: Comparison, called: Sequence[str]) -> Rows:
    """The columns that say which configuration a row is of."""
    chosen = list(dict.fromkeys(key for entry in comparison.done for key in entry.chosen))
    if not chosen:
        return [["configuration"], *([one] for one in called)]
    rows = [[entry.chosen.get(key, "") for key in chosen] for entry in comparison.done]
    return [chosen, *rows]


def _by_configuration(
    comparison: Comparison, called: Sequence[str], lines: Sequence[Line]
) -> Iterator[tuple[Heads, Rows]]:
    """As many figures in a table as fit, then another table."""
    leading = _leading(comparison, called)
    part: list[list[str]] = [list(row) for row in leading]
    for line in lines:
        column = [f"{line.metric.label}  ", *(_marked(line, i) for i in range(len(called)))]
        wider = [[*row, cell] for row, cell in zip(part, column, strict=True)]
        if _width(wider) > WIDTH and len(part[0]) > len(leading[0]):
            whole = _right(part, len(leading[0]))
            yield whole[0], whole[1:]
            wider = [[*row, cell] for row, cell in zip(leading, column, strict=True)]
        part = wider
    whole = _right(part, len(leading[0]))
    yield whole[0], whole[1:]


def as_csv(comparison: Comparison) -> bytes:
    """A row for each configuration, values in base units; several seeds as mean, least, most."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    keys = list(comparison.differing)
    spreads = [spread for line in comparison.lines for spread in line.spreads if spread is not None]
    wide = any(len(one.values) > 1 or one.between for one in spreads)
    columns = ["configuration", "state", *keys]
    for line in comparison.lines:
        name = line.metric.key
        columns += [name, f"{name} least", f"{name} most"] if wide else [name]
    writer.writerow(columns)
    done = iter(range(len(comparison.done)))
    for entry in comparison.entries:
        figures = _csv_figures(comparison, next(done), wide) if entry.state == "done" else []
        row = [entry.name, entry.state, *_csv_config(entry, keys), *figures]
        writer.writerow(row + [""] * (len(columns) - len(row)))
    return stream.getvalue().encode("utf-8", errors="backslashreplace")


def _csv_config(entry: Entry, keys: Sequence[str]) -> list[str]:
    if not entry.results:
        return [entry.chosen.get(key, "") for key in keys]
    return [entry.results[0].config.get(key, "") for key in keys]


def _csv_figures(comparison: Comparison, index: int, wide: bool) -> list[str]:
    cells = []
    for line in comparison.lines:
        spread = line.spreads[index]
        if spread is None:
            cells += ["", "", ""] if wide else [""]
        else:
            mean = None if spread.over else spread.mean
            numbers = [mean, spread.least, spread.most] if wide else [mean]
            cells += ["" if one is None or one == math.inf else str(one) for one in numbers]
    return cells
