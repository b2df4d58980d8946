# SPDX-License-Identifier: Apache-2.0
"""What `nandwich compare` adds to the replays it plays, and what a second process gains."""

import resource
import subprocess
import sys
import time

from lab.benches import Figure, bench
from nandwich.cli import points
from nandwich.replay import pool

SOURCE = "gen:zipf,requests=1M,writes=100%"
TRIES = 3
SPARE = "40,60,80,100,120,140"


def _alone() -> float:
    """Processor seconds of the replays, one after the other, without a command around them."""
    before = time.process_time()
    for point in points.from_lists(SOURCE, {"spare_blocks": SPARE}):
        outcome = pool.play_one(point.options, lambda _: None)
        if outcome.state != "done":
            raise AssertionError(outcome.why)
    return time.process_time() - before


def _compared(jobs: int) -> tuple[float, float]:
    """Processor seconds and seconds of the command, start-up included."""
    line = [sys.executable, "-m", "nandwich", "compare", SOURCE, "--spare-blocks", SPARE]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([*line, "--jobs", str(jobs)], check=True, capture_output=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


@bench("compare", "six replays of a million writes compared: what that costs beside the replays")
def compare() -> list[Figure]:
    """On a machine with other work the second process gains less than it can."""
    alone = min(_alone() for _ in range(TRIES))
    processor, one = (
        min(figures) for figures in zip(*(_compared(1) for _ in range(TRIES)), strict=True)
    )
    _, two = (min(figures) for figures in zip(*(_compared(2) for _ in range(TRIES)), strict=True))
    return [
        Figure("compare.over-replays", round(processor / alone, 3), "", target=1.1),
        Figure("compare.two-processes", round(one / two, 2), "", target=1.8, better="higher"),
    ]
