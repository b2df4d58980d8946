# SPDX-License-Identifier: Apache-2.0
"""What `nandwich sweep` adds to the points it plays, what a second process gains, and how fast
points come that are known."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.benches import Figure, bench
from nandwich.replay import pool
from nandwich.replay.options import Options

TRIES = 3
FEW, MANY = 50, 550
KNOWN = 10_000
LONG = "gen:zipf,requests=300K,writes=100%"
SMALLEST = "gen:zipf,requests=1"
BLOCKS = 64


def _spec(folder: Path, source: str, seeds: int, blocks: int) -> Path:
    file = folder / "spec.toml"
    file.write_text(
        f'[sweep]\nverb = "replay"\nseeds = {list(range(1, seeds + 1))}\n'
        f'[base]\nsource = "{source}"\nblocks = {blocks}\n'
    )
    return file


def _swept(
    file: Path, jobs: int, *, known: bool = False, scheduler: str = ""
) -> tuple[float, float]:
    """Processor seconds and seconds of the command, start-up included."""
    store = file.with_suffix(".sqlite")
    if not known:
        store.unlink(missing_ok=True)
    line = [sys.executable, "-m", "nandwich", "sweep", str(file)]
    line += ["--scheduler", scheduler] if scheduler else ["--jobs", str(jobs)]
    line += ["--export", str(file.with_suffix(".csv"))]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(line, check=True, capture_output=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


def _alone(seeds: int) -> float:
    """Processor seconds of the replays without a command around them."""
    before = time.process_time()
    for seed in range(1, seeds + 1):
        options = Options(SMALLEST, blocks=BLOCKS, seed=seed)
        outcome = pool.play_one(options, lambda _: None)
        if outcome.state != "done":
            raise AssertionError(outcome.why)
    return time.process_time() - before


def _overhead_ms(folder: Path) -> float:
    """What each further point takes beside its replay: the start of the command is in none."""
    few, many = (
        min(_swept(_spec(folder, SMALLEST, seeds, BLOCKS), 1)[0] for _ in range(TRIES))
        for seeds in (FEW, MANY)
    )
    alone = min(_alone(MANY - FEW) for _ in range(TRIES))
    return 1000 * (many - few - alone) / (MANY - FEW)


def _point_ms(folder: Path, scheduler: str) -> float:
    """By the clock, of each further point with two processes: its replay is nearly nothing."""
    few, many = (
        min(
            _swept(_spec(folder, SMALLEST, seeds, BLOCKS), 2, scheduler=scheduler)[1]
            for _ in range(TRIES)
        )
        for seeds in (FEW, MANY)
    )
    return 1000 * (many - few) / (MANY - FEW)


@bench("sweep", "what a sweep costs beside its points, here and by dask, 10,000 known points")
def sweep() -> list[Figure]:
    """On a machine with other work the second process gains less than it can."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overhead = _overhead_ms(folder)
        here, by_dask = (_point_ms(folder, scheduler) for scheduler in ("", "local:2"))
        file = _spec(folder, LONG, 8, 0)
        one, two = (min(_swept(file, jobs)[1] for _ in range(TRIES)) for jobs in (1, 2))
        file = _spec(folder, SMALLEST, KNOWN, BLOCKS)
        _swept(file, 2)
        known = min(_swept(file, 1, known=True)[1] for _ in range(TRIES))
    return [
        Figure("sweep.point", round(overhead, 2), "ms", target=5),
        Figure("sweep.point.by-dask", round(by_dask - here, 2), "ms", target=5),
        Figure("sweep.two-processes", round(one / two, 2), "", target=1.8, better="higher"),
        Figure("sweep.known", round(known, 2), "s/10,000", target=5),
    ]
