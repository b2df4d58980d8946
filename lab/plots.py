# SPDX-License-Identifier: Apache-2.0
"""Plots that come out byte for byte the same wherever they are drawn.

matplotlib is imported only here and only when something is drawn (it takes a third of a second).
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nandwich import files

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What an experiment gives to be drawn: it fills one pair of axes.
Draw = Callable[["Axes"], object]

#: One hue a series, in this order; told apart also in print and by most colour-blind readers.
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8d5a97", "#c98a1b", "#5c6b73")


def write_svg(path: Path, draw: Draw, *, title: str) -> None:
    """Draw into an SVG file of 16 x 9 cm; no date, no random ids."""
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "svg.hashsalt": "nandwich",
        "axes.prop_cycle": cycler(color=COLOURS),
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
        with files.replacing(path) as stream:
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
