# SPDX-License-Identifier: Apache-2.0
"""R7: larger and larger requests (Dou and Kalogeraki, SEUS 2008, the experiment section)."""

from functools import partial

from lab import sweeps
from lab.experiments import Answer, Report, experiment
from nandwich.sched.play import Scenario, paper_scenario

SIZES = (16, 32, 48, 64, 96, 128, 160, 200, 256, 288, 352, 448, 512)
QUICK_SIZES = (16, 64, 128, 256, 288, 512)

#: The paper's default size; no two requests above HALF share a block of 512 B.
DEFAULT_BYTES = 64
HALF = 256


def _sized(x: float, bursty: bool, drop: bool) -> Scenario:
    return paper_scenario(size=int(x), bursty=bursty, drop_late=drop)


@experiment(
    "R7",
    claim="sizes vary: share of requests that meet their deadline",
    published="gain vanishes above 256 B",
    unit="",
)
def sizes(quick: bool) -> Report:
    """Above half a block no two requests share one, and only the overhead of grouping is left."""
    points = sweeps.sweep(QUICK_SIZES if quick else SIZES, _sized, quick)
    drop = sweeps.chosen(points)
    small = [one.share("g-edf") - one.share("fifo") for one in drop if one.x <= HALF]
    large = [one.share("g-edf") - one.share("fifo") for one in drop if one.x > HALF]
    answers = [
        Answer(
            round(sum(small) / len(small), 2),
            holds=min(small) > 0,
            why="two to eight requests share a write",
            part="small",
            claim="up to 256 B grouping gains: G-EDF - FIFO",
            published="> 0",
            unit="points on average",
        ),
        Answer(
            round(sum(large) / len(large), 2),
            holds=max(large) <= 0,
            why="one request a write, and FIFO decides fastest",
            part="large",
            claim="above 256 B the gain vanishes and overhead shows: G-EDF - FIFO",
            published="<= 0",
            unit="points on average",
        ),
        *sweeps.ours(points, lambda one: one.x <= DEFAULT_BYTES, "sizes of 64 B and less"),
    ]
    draw = partial(sweeps.draw_panels, points=points, label="size of a request, bytes")
    return Report(answers, sweeps.COLUMNS, sweeps.rows(points), draw)
