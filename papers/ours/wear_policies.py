# SPDX-License-Identifier: Apache-2.0
"""Every wear policy on every layer that takes one: healings, extra work, evenness, lifetime."""

from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, Answer, Report, experiment
from nandwich import plots
from papers.heating._play import SETUP, THRESHOLD, Setup, layers, live, play

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POLICIES = ("none", "dynamic", "swl", "dheating")
HEALING = POLICIES[1:]
WORKLOAD = "filecopy"


def _setup(layer: str, wear: str) -> Setup:
    return Setup(WORKLOAD, wear, layer=layer, threshold=THRESHOLD if wear == "swl" else 0)


def _interval_s(layer: str, wear: str, quick: bool) -> float:
    return play(_setup(layer, wear), quick).interval_s if wear in HEALING else 0.0


def _first_s(layer: str, wear: str, quick: bool) -> float:
    return play(_setup(layer, wear), quick).first_s


def _row(layer: str, wear: str, quick: bool) -> list[str | int | float]:
    life = live(layer, wear, quick)
    healing = play(_setup(layer, wear), quick) if wear in HEALING else None
    return [
        layer,
        wear,
        round(healing.interval_s, 2) if healing else "",
        round(healing.first_s, 1) if healing else "",
        round(healing.per_million(healing.wear_copies)) if healing else "",
        round(healing.per_million(healing.moved), 1) if healing else "",
        round(life.evenness, 3),
        life.host_bytes,
        life.copies,
        life.erases,
    ]


def _draw(axes: "Axes", quick: bool) -> None:
    """Lifetime of each layer under each policy."""
    series = {
        wear: [live(layer, wear, quick).host_bytes / 2**30 for layer in layers()]
        for wear in POLICIES
    }
    plots.grouped(axes, layers(), series)
    axes.set_ylabel("written until the first block died (GiB)")
    axes.legend()


@experiment(
    "wear-policies",
    claim="wear policies across layers",
    unit="times",
    where="docs/wear.md",
    setup=SETUP + "; here File Copy on every layer that takes a policy; lives: no healing, blocks "
    "of some 100 erases, a full device, until the first block is given up",
)
def policies(quick: bool) -> Report:
    """File Copy on each layer: a table, and two questions to it."""
    ratios = {
        layer: _interval_s(layer, "dheating", quick) / _interval_s(layer, "swl", quick)
        for layer in layers()
    }
    lives = {
        layer: live(layer, "swl", quick).host_bytes / live(layer, "none", quick).host_bytes
        for layer in layers()
    }
    apart = min(ratios, key=lambda layer: ratios[layer])
    short = min(lives, key=lambda layer: lives[layer])
    return Report(
        answers=[
            Answer(
                round(ratios[apart], 2),
                verdict=NOT_JUDGED,
                why=f"the least of all layers is {apart}: what SWL moves goes to the most worn "
                f"free block, which brings its first healing forward, from "
                f"{_first_s(apart, 'dynamic', quick):.0f} s under the dynamic policy to "
                f"{_first_s(apart, 'swl', quick):.0f} s",
                part="interval",
                claim="healings are further apart under DHeating than under SWL, on every layer",
            ),
            Answer(
                round(lives[short], 2),
                verdict=NOT_JUDGED,
                why=f"the least of all layers is {short}; where merges move cold data anyway, what "
                "SWL moves besides costs more than it evens out",
                part="life",
                claim="more is written until the first block dies under SWL than without a policy",
            ),
        ],
        columns=[
            "layer",
            "policy",
            "interval s",
            "first healing s",
            "wear copies a million",
            "wear erases a million",
            "evenness",
            "host bytes to first death",
            "copies",
            "erases",
        ],
        rows=[_row(layer, wear, quick) for layer in layers() for wear in POLICIES],
        draw=lambda axes: _draw(axes, quick),
    )
