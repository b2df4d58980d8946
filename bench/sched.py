# SPDX-License-Identifier: Apache-2.0
"""Deadline scheduling: what a decision costs on the small processors, how fast the simulator is,
and how our policy stands against the published four and the best possible."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lab import cross, i8051, processors, sweeps
from lab.benches import Figure, bench
from lab.sweeps import Make, Point
from nandwich.errors import RunError
from nandwich.sched import play as sched
from nandwich.sched.play import MS, Scenario, node_scenario

#: Markers of tests/targets/decide.c.
SUBMIT, DECIDE, DONE = 1, 2, 4

#: Flows among which 16 requests wait: the paper's node, and the most there can be.
FLOWS = (3, 16)
#: On the 8051, 33 slots and more flows than these do not fit 2024 bytes.
SLACK_FLOWS = (3, 12)

PERIODS_MS = (40, 50, 60, 80, 100)
SIZES = (16, 32, 48, 64)


@bench("sched", "deadline scheduling: decision cost, RAM, text, speed, share of the best possible")
def figures() -> list[Figure]:
    """The promises of the scheduler, and what stands behind them."""
    missing = processors.missing() + ([] if i8051.present() else ["sdcc"])
    if missing:
        raise RunError(f"not installed: {', '.join(missing)}")
    found = [_speed()]
    with tempfile.TemporaryDirectory() as folder:
        found += _on_8051(Path(folder))
        found += _on_others(Path(folder))
    return [*found, *_against_the_best()]


def _speed() -> Figure:
    """Requests a second of processor time, one thread, on flows that keep every part busy."""
    scenario = replace(node_scenario(periods_ms=(8, 8, 8)), duration_ns=2_000_000 * MS)
    start = time.process_time()
    outcome = sched.run(scenario, "rg-edf")
    taken = time.process_time() - start
    rate = round(outcome.counts["offered"] / taken)
    return Figure("sched.speed", rate, "requests/s", 1_000_000, "higher")


def _on_8051(folder: Path) -> Iterator[Figure]:
    simulator = i8051.build_simulator(folder)
    for policy in ("rg-edf", "slack"):
        # 33 slots: with 24 SLACK takes its short cut for a queue more than half full.
        flags = ("-DFLAGS=0x39", "-DSLOTS=33U") if policy == "slack" else ()
        for flows in FLOWS if policy != "slack" else SLACK_FLOWS:
            image = i8051.build("decide", policy, folder, (f"-DFLOWS={flows}U", *flags))
            markers = i8051.run(simulator, image, clocks=90_000_000).markers
            name = f"sched.8051.{policy}.{flows}-flows"
            yield Figure(f"{name}.decide", markers[DECIDE].most, "clocks", 16_000)
            yield Figure(f"{name}.submit", markers[SUBMIT].most, "clocks")
            yield Figure(f"{name}.done", markers[DONE].most, "clocks")
            if flows == FLOWS[0] and policy != "slack":
                sizes = i8051.data_sizes(image)
                ram = sizes["ram"] + sizes["nw_sched_only"]
                yield Figure("sched.8051.ram", ram, "B", 600)
        text = image.scheduler_code
        limit = i8051.TEXT_LIMITS[policy]
        yield Figure(f"sched.8051.{policy}.text", text, "B", limit)


def _on_others(folder: Path) -> Iterator[Figure]:
    for policy in ("rg-edf", "slack"):
        text = processors.text_bytes(cross.CORTEX_M3, policy, folder)
        limit = processors.TEXT_LIMITS[policy]
        yield Figure(f"sched.cortex-m3.{policy}.text", text, "B", limit)
        for flows in FLOWS:
            end = f"{policy}.{flows}-flows.decide"
            most = processors.cortex_m3(policy, flows, folder)[DECIDE].most
            yield Figure(f"sched.cortex-m3.{end}", most, "instructions", 600)
            most = processors.atmega128(policy, flows, folder)[DECIDE].most
            yield Figure(f"sched.atmega128.{end}", most, "cycles")


def _against_the_best() -> list[Figure]:
    """On the node, at the paper's defaults and below, at every point of every figure."""
    points: list[Point] = []
    for values, build in ((PERIODS_MS, _all_flows), (PERIODS_MS, _first_flow), (SIZES, _sized)):
        points += sweeps.sweep(values, build, quick=False, node="ours")
    leads = [one.share("slack") - one.best_published for one in points]
    gaps = [one.share("bound") - one.share("slack") for one in points]
    near = 100 * sum(gap <= sweeps.NEAR_POINTS for gap in gaps) / len(gaps)
    target = 100 * sweeps.NEAR_PART
    return [
        Figure("sched.least-lead", round(min(leads), 3), "points", 0, "higher"),
        Figure("sched.near-bound", round(near, 1), "% of points", target, "higher"),
        Figure("sched.largest-gap", round(max(gaps), 2), "points"),
    ]


def _all_flows(make: Make, x: float, bursty: bool, drop: bool) -> Scenario:
    return make(periods_ms=(x, x, x), bursty=bursty, drop_late=drop)


def _first_flow(make: Make, x: float, bursty: bool, drop: bool) -> Scenario:
    return make(periods_ms=(x, 40, 40), bursty=bursty, drop_late=drop)


def _sized(make: Make, x: float, bursty: bool, drop: bool) -> Scenario:
    return make(size=int(x), bursty=bursty, drop_late=drop)
