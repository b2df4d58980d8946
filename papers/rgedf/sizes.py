# SPDX-License-Identifier: Apache-2.0
"""R7: larger and larger requests (Dou and Kalogeraki, SEUS 2008, the experiment section)."""

from functools import partial

from lab import sweeps
from lab.experiments import NOT_JUDGED, Answer, Report, experiment
from lab.sweeps import Make, Point
from nandwich.sched.play import Scenario
from papers.rgedf.periods import ALIKE, APART

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
    setup=sweeps.card(f"the size of all requests, {SIZES[0]} to {SIZES[-1]} B"),
)
def sizes(quick: bool) -> Report:
    """Above half a block no two requests share one, and only the overhead of grouping is left."""
    values = QUICK_SIZES if quick else SIZES
    points = sweeps.sweep(values, _sized, quick)
    decides = sweeps.sweep(values, _sized, quick, "decides")
    ours = sweeps.sweep(values, _sized, quick, "ours")
    answers = []
    for bursty in (False, True):
        answers += [_small(points, bursty, drop) for drop in (False, True)]
        answers += _large(decides, bursty)
    for series in (points, ours):
        answers += sweeps.ours(series, lambda one: one.x <= DEFAULT_BYTES, "sizes of 64 B and less")
    draw = partial(sweeps.draw_panels, points=points, label="size of a request, bytes")
    return Report(answers, sweeps.COLUMNS, sweeps.rows(points + decides + ours), draw)


def _lead(point: Point) -> float:
    return point.share("g-edf") - point.share("fifo")


def _small(points: list[Point], bursty: bool, drop: bool) -> Answer:
    end, words = sweeps.panels(bursty)
    late = "dropped" if drop else "kept"
    shown = sweeps.chosen(points, bursty=bursty, drop=drop)
    gains = [_lead(one) for one in shown if one.x <= HALF]
    gain = sum(gains) / len(gains)
    least = min(one.share("fifo") for one in shown if one.x <= HALF)
    return Answer(
        round(gain, 2),
        holds=gain > ALIKE,
        why=f"two to eight requests share a write; FIFO meets {least:.1f} % or more, and only the "
        "rest is there to gain",
        part=f"small-{late}{end}",
        claim=f"up to 256 B grouping gains, late ones {late}: G-EDF - FIFO{words}",
        published="> 0",
        unit="points on average",
        tolerance=APART,
    )


def _large(decides: list[Point], bursty: bool) -> list[Answer]:
    """Where deciding takes time: without it all policies write the same requests there."""
    end, words = sweeps.panels(bursty)
    large = [one for one in sweeps.chosen(decides, bursty=bursty) if one.x > HALF]
    gains = [_lead(one) for one in large]
    reorder = min(one.share("rg-edf") - one.share("fifo") for one in large)
    return [
        Answer(
            round(max(gains), 2),
            verdict=NOT_JUDGED,
            why="true by construction: no two requests fit a block, so each write takes one, "
            "whoever is first",
            part=f"large{end}",
            claim=f"above 256 B the gain vanishes: G-EDF - FIFO at most{words}",
            published="0",
            unit="points",
        ),
        Answer(
            round(sum(gains) / len(gains), 2),
            verdict=NOT_JUDGED,
            why="true by construction: all write the same, and deciding is told by our 8051 alone, "
            f"longest with groups; RG-EDF - FIFO comes to {reorder:+.2f}",
            part=f"overhead{end}",
            claim=f"above 256 B the overhead of grouping shows: G-EDF - FIFO{words}",
            published="< 0",
            unit="points on average",
        ),
    ]
