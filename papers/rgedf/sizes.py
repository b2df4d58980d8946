# SPDX-License-Identifier: Apache-2.0
"""R7: larger and larger requests (Dou and Kalogeraki, SEUS 2008, the experiment section)."""

from functools import partial

from lab import sweeps
from lab.experiments import Answer, Report, experiment
from lab.sweeps import Make, Point
from nandwich.sched.play import Scenario

SIZES = (16, 32, 48, 64, 96, 128, 160, 200, 256, 288, 352, 448, 512)
QUICK_SIZES = (16, 64, 128, 256, 288, 512)

#: The document's default size; no two requests above HALF share a block of 512 B.
DEFAULT_BYTES = 64
HALF = 256


def _sized(make: Make, x: float, bursty: bool, drop: bool) -> Scenario:
    return make(size=int(x), bursty=bursty, drop_late=drop)


@experiment(
    "R7",
    claim="sizes vary: share of requests that meet their deadline",
    published="gain vanishes above 256 B",
    unit="",
    where="figure 7",
    setup=sweeps.SETUP,
)
def sizes(quick: bool) -> Report:
    """Above half a block no two requests share one, and only the overhead of grouping is left."""
    values = QUICK_SIZES if quick else SIZES
    points = sweeps.sweep(values, _sized, quick)
    ours = sweeps.sweep(values, _sized, quick, "ours")
    answers = []
    for bursty in (False, True):
        answers += _figure_7(points, bursty)
    answers.append(_overhead(ours))
    for series in (points, ours):
        answers += sweeps.ours(series, lambda one: one.x <= DEFAULT_BYTES, "sizes of 64 B and less")
    draw = partial(sweeps.draw_panels, points=points, label="size of a request, bytes")
    return Report(answers, sweeps.COLUMNS, sweeps.rows(points + ours), draw)


def _lead(point: Point) -> float:
    return point.share("g-edf") - point.share("fifo")


def _figure_7(points: list[Point], bursty: bool) -> list[Answer]:
    end, words = sweeps.panels(bursty)
    keep = sweeps.chosen(points, bursty=bursty, drop=False)
    small = [_lead(one) for one in keep if one.x <= HALF]
    large = [_lead(one) for one in keep if one.x > HALF]
    return [
        Answer(
            round(sum(small) / len(small), 2),
            holds=min(small) > 0,
            why="two to eight requests share a write; late ones kept, for at the defaults dropping "
            "leaves FIFO little to lose",
            part=f"small{end}",
            claim=f"up to 256 B grouping gains: G-EDF - FIFO{words}",
            published="> 0",
            unit="points on average",
            tolerance="none but the sign, at every size",
        ),
        Answer(
            round(max(abs(gain) for gain in large), 2),
            holds=max(abs(gain) for gain in large) == 0,
            why="one request a write, and the same order: no flow's deadline differs",
            part=f"large{end}",
            claim=f"above 256 B the gain vanishes: largest difference{words}",
            published="0",
            unit="points",
            tolerance="none: without time for deciding both write the same requests",
        ),
    ]


def _overhead(ours: list[Point]) -> Answer:
    large = [_lead(one) for one in sweeps.chosen(ours) if one.x > HALF]
    return Answer(
        round(sum(large) / len(large), 2),
        holds=max(large) <= 0,
        why="one request a write, and FIFO decides fastest",
        part="overhead",
        claim="above 256 B the overhead of grouping shows: G-EDF - FIFO on our node",
        published="<= 0",
        unit="points on average",
        tolerance="none but the sign, at every size",
    )
