# SPDX-License-Identifier: Apache-2.0
"""A fleet of 100,000 nodes in seconds, and 200 nodes shared against the same ones one by one."""

import contextlib
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lab import ROOT
from lab.benches import Figure, bench
from nandwich.cli import points
from nandwich.cli.fleet import spec, work
from nandwich.fleet import nodes
from nandwich.replay import play, pool
from nandwich.replay.options import Options

LARGE = ROOT / "examples" / "fleet" / "field.toml"
SMALL = ROOT / "examples" / "fleet" / "small.toml"
JOBS = 2


def _seconds(store: Path) -> float:
    began = time.monotonic()
    line = [sys.executable, "-m", "nandwich", "fleet", str(LARGE), "--store", str(store)]
    subprocess.run([*line, "--jobs", str(JOBS)], check=True, capture_output=True)
    return time.monotonic() - began


def _alone(options: Options, advance: pool.Advance) -> pool.Outcome:
    """Requests until a node's device refuses."""
    one = play.prepare(options)
    if options.precondition:
        one.precondition(advance)
    one.run(advance)
    return pool.Outcome("done", one.replay.result()["done"])


def differences(file: Path, store: Path, count: int) -> tuple[float, float, float]:
    """Of the first nodes of a file, shared over one by one: the worst life, that of nine in ten,
    and the mean of all; percent. `count` 0: all."""
    asked = spec.read(file)
    end = work.lived(asked, store, JOBS, again=False)
    number = count or asked.fleet.count
    lines = [work.line_of(asked, node) for node in range(number)]
    options = [points.parsed(shlex.split(line)[2:]) for line in lines]
    played = {}
    with pool.Pool(pool.Work(options, _alone), JOBS) as workers:
        for node, outcome in workers.outcomes(lambda _: None):
            played[node] = outcome.value
    alone = np.array([played[node] for node in range(number)], dtype=np.float64)
    rate = np.zeros(asked.fleet.count)
    for workload, shape in enumerate(end.shapes):
        here = asked.nodes["workload"] == workload
        some = {key: column[here] for key, column in asked.nodes.items()}
        rate[here] = nodes.requests_a_day(some, shape)
    shared = end.days[:number, 1] * rate[:number]
    apart = np.sort(100 * np.abs(shared / alone - 1))
    mean = 100 * abs(float(shared.mean() / alone.mean()) - 1)
    return float(apart[-1]), float(apart[int(0.9 * (number - 1))]), mean


@bench("fleet", "100,000 nodes in seconds; 200 nodes shared against one by one")
def fleet() -> list[Figure]:
    """On a machine with other work the seconds are more."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(ROOT):
        store = Path(name) / "field.sqlite"
        whole, known = _seconds(store), _seconds(store)
        worst, most, mean = differences(SMALL, Path(name) / "small.sqlite", 0)
    return [
        Figure("fleet.nodes", round(whole, 1), "s/100,000", target=600),
        Figure("fleet.known", round(known, 1), "s/100,000"),
        Figure("fleet.one-by-one, worst life", round(worst, 2), "%", target=2),
        Figure("fleet.one-by-one, nine in ten", round(most, 2), "%"),
        Figure("fleet.one-by-one, mean", round(mean, 2), "%", target=1),
    ]
