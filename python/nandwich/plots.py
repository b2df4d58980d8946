# SPDX-License-Identifier: Apache-2.0
"""Plots that come out byte for byte the same wherever they are drawn.

matplotlib is imported only here and only when something is drawn (it takes a third of a second).
"""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nandwich import files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: What an experiment gives to be drawn: it fills one pair of axes.
Draw = Callable[["Axes"], object]

#: One hue a series, in this order; told apart also in print and by most colour-blind readers.
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8d5a97", "#c98a1b", "#5c6b73")
#: Hues of the seventh series and on, no two of a plot alike.
_MORE = ("#23a3b3", "#7a4b2a", "#e07bb0", "#98a31f", "#1a1a1a", "#7681d8")
#: What is drawn in it is light on dark pages, as the text is.
TEXT = "#1a1a1a"
#: A mark and a hatch go with each hue, so that colour never tells a series alone. Behind the sixth
#: series come other lines and these marks in another order.
MARKS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")
LINES = ("-", "--")
#: What a group of bars takes of the way to the next one.
_WIDTH = 0.8
#: Where a reader's pages are dark: what matplotlib left white, black or grey. Hues stay.
_DARK = b"""<style type="text/css">
@media (prefers-color-scheme: dark) {
 [style*="fill: #ffffff"] {fill: #0d1117 !important}
 [style*="stroke: #000000"] {stroke: #c9d1d9 !important}
 [style*="stroke: #dddddd"] {stroke: #30363d !important}
 [style*="fill: #1a1a1a"] {fill: #f0f0f0 !important}
 [style*="stroke: #1a1a1a"] {stroke: #f0f0f0 !important}
 g[id^="text_"] {fill: #c9d1d9}
}
</style>
"""


def write_svg(path: Path, draw: Draw, *, title: str) -> None:
    """Draw into an SVG file of 16 x 9 cm, for light pages and dark ones; no date, no random ids."""
    import matplotlib
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "svg.hashsalt": "nandwich",
        "axes.prop_cycle": _series(),
        "lines.markersize": 4,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "font.size": 9,
    }
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever somebody's matplotlibrc says
        matplotlib.rcParams.update(settings)
        figure = Figure(figsize=(6.3, 3.5), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title, loc="left", fontsize=10)
        draw(axes)
        drawn = io.BytesIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
        with files.replacing(path) as stream:
            stream.write(in_both_schemes(drawn.getvalue()))


def in_both_schemes(svg: bytes) -> bytes:
    """A picture of matplotlib's that is dark where the reader's pages are."""
    return svg.replace(b"</defs>\n", b"</defs>\n" + _DARK, 1)


def grouped(
    axes: "Axes",
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    log: bool = False,
) -> None:
    """Values side by side, a group of them for each name below the axis; None leaves a gap.

    Bars where the axis begins at 0. On a logarithmic axis points: a bar's length would say nothing.
    """
    width = _WIDTH / len(series)
    for number, (label, values) in enumerate(series.items()):
        known = [(at, value) for at, value in enumerate(values) if value is not None]
        places = [at + offset(number, len(series)) for at, _ in known]
        heights = [value for _, value in known]
        if log:
            axes.plot(places, heights, linestyle="", label=label)
        else:
            hatch = HATCHES[number % len(HATCHES)]
            axes.bar(places, heights, width, label=label, hatch=hatch, edgecolor="white")
    if log:
        axes.set_yscale("log")
        for between in range(1, len(groups)):
            axes.axvline(between - 0.5, color="#dddddd", linewidth=0.8)
    axes.grid(visible=False, axis="x")
    axes.set_xticks(range(len(groups)), list(groups))


def offset(number: int, series: int) -> float:
    """Where in a group a series stands, of so many."""
    return _WIDTH / series * (number - (series - 1) / 2)


def plain_ticks(axis: "Axis", ticks: Sequence[float]) -> None:
    """Ticks of a logarithmic axis as numbers that are read at once, and none between them."""
    axis.set_ticks(ticks, [f"{tick:,g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def printed(axes: "Axes", places: Sequence[float], values: Sequence[float], label: str) -> None:
    """Points that a document prints, beside ours: crosses in the colour of the text."""
    axes.plot(places, values, linestyle="", marker="x", markersize=7, color=TEXT, label=label)


def _series() -> Any:
    """Hue, mark and line of each series in turn: all differ in hue, and in mark or line."""
    from cycler import cycler

    turned = MARKS[1:] + MARKS[:1]
    return cycler(
        color=COLOURS + _MORE,
        marker=MARKS + turned,
        linestyle=[line for line in LINES for _ in COLOURS],
    )
