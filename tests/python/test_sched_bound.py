# SPDX-License-Identifier: Apache-2.0
"""Goal: the best possible is never below what some policy reaches, on any part of the table."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nandwich.errors import InputError
from nandwich.sched import play as sched
from nandwich.sched import scenario as sched_scenario
from nandwich.sched.play import Flow, Scenario
from nandwich.twin import parts

BLOCKS = 40  # of a chip: its log wraps and is cleaned in a run


def _facts(part: str) -> dict[str, int] | None:
    try:
        return sched.device_facts(part, BLOCKS)
    except InputError as error:
        if "not supported" in error.message:
            return None
        raise


#: Of every part that a deadline workload can run on.
FACTS = {part: facts for part in parts.known_names() if (facts := _facts(part)) is not None}


def _scenario(part: str, seed: int, *, only_reads: bool) -> Scenario:
    """Three flows, one of them of reads, about as many as the part can serve."""
    chance = random.Random(seed)
    facts = FACTS[part]
    write_ns, read_ns = max(1000, facts["write_ns"]), max(1000, facts["read_ns"])
    flows = tuple(
        Flow(
            name=f"f{number}",
            deadline_ns=int(write_ns * chance.uniform(1, 6)),
            period_ns=max(1000, int((read_ns if reads else write_ns) * chance.uniform(0.7, 4))),
            size=min(facts["sector_bytes"], chance.choice((64, 512, 8192))),
            reads=reads,
        )
        for number, reads in enumerate((only_reads, only_reads, True))
    )
    return Scenario(
        flows=flows,
        duration_ns=write_ns * 100,
        device=part,
        blocks=BLOCKS,
        processor="none",
        slots=chance.choice((6, 24)),
        drop_late=chance.random() < 0.5,
        guard_ns=0,
    )


def test_there_are_parts_of_all_speeds() -> None:
    assert {"SANDISK-SD-128M", "MICROSD-8G", "K9F1G08U0A", "TLC8G"} <= set(FACTS)


@pytest.mark.parametrize("part", sorted(FACTS))
def test_no_policy_beats_the_bound(part: str) -> None:
    """Reads of 60 us once cost the bound whole steps of 50 us or more; and reads of what nobody had
    written cost a chip's layer no time at all, so that policies met all where the bound said 62 %.
    """
    for seed, only_reads in ((1, False), (4, True)):
        scenario = _scenario(part, seed, only_reads=only_reads)
        best = sched.bound(scenario)
        for policy in sched.POLICIES:
            reached = sched.run(scenario, policy)
            assert reached.counts["offered"] == best.counts["offered"] > 50
            assert reached.counts["met"] <= best.counts["met"], (seed, policy)
        if only_reads:
            # And a read takes its time, also of a device that is new.
            assert reached.busy_ns >= reached.operations * FACTS[part]["read_ns"]


_MANY = "".join(
    f"[flow.f{number}]\nperiod = '400 ms'\ndeadline = '70 ms'\n" for number in range(64)
)


def test_many_flows_can_be_stopped(tmp_path: Path) -> None:
    """64 flows took a minute a run, though the limit was said to be some seconds: what a state
    costs was not counted. And Ctrl-C was answered when it was over."""
    (tmp_path / "many.toml").write_text(_MANY)
    command = [sys.executable, "-m", "nandwich", "sched", "--policy", "edf", "--runs", "20"]
    command += ["--scenario", str(tmp_path / "many.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        time.sleep(10)  # the policy is done by then
        assert running.poll() is None
        asked = time.monotonic()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode != 0
    assert time.monotonic() - asked < 5


def test_many_flows_stay_together(tmp_path: Path) -> None:
    """The bound of 64 flows is no looser for being quick."""
    (tmp_path / "many.toml").write_text(_MANY)
    before = time.process_time()
    outcome = sched.bound(sched_scenario.read_scenario(tmp_path / "many.toml"))
    assert time.process_time() - before < 30
    assert outcome.counts["met"] == 774
