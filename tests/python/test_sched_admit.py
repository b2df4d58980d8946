# SPDX-License-Identifier: Apache-2.0
"""Goal: who `nandwich sched --admit` lets in is never late on the device it was asked about, with
all of the processor's work; and it says in a sentence when it cannot tell."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from schemas import validate

from nandwich.cli.main import main
from nandwich.sched import admit
from nandwich.sched import play as sched
from nandwich.sched.play import MS, Flow, Scenario


def _scenario(chance: random.Random) -> Scenario:
    """Some flows with deadlines that leave time for a card's openings."""
    flows = []
    for number in range(chance.randint(1, 4)):
        period_ms = chance.randint(20, 400)
        flows.append(
            Flow(
                name=f"f{number}",
                deadline_ns=chance.randint(150, 900) * MS,
                period_ns=period_ms * MS,
                jitter_ns=chance.choice((0, period_ms // 3, period_ms * 3 // 4)) * MS,
                size=chance.choice((16, 64, 200, 512, 700)),
                burst_every=chance.choice((0, 0, 1, 3)),
                burst_size=chance.randint(2, 6),
                reads=chance.random() < 0.2,
            )
        )
    guard_ns = chance.choice((2, 400, 900)) * MS
    return Scenario(
        flows=tuple(flows),
        duration_ns=6000 * MS,
        slots=120,
        split=True,
        guard_ns=guard_ns,
        buffer_ns=guard_ns,
        processor=chance.choice(("cc1010", "none")),
    )


@pytest.mark.quick
def test_jitter_makes_two_firings_meet_but_no_more() -> None:
    """Interrupts took firing / (period - jitter) of the processor: 124416 % where both are alike,
    so that nothing was answered at all."""
    flow = Flow(name="f", deadline_ns=900 * MS, period_ns=400 * MS, jitter_ns=400 * MS, size=64)
    scenario = Scenario(flows=(flow,), duration_ns=6000 * MS, processor="cc1010")
    assert admit.admit(scenario)["answer"] == "yes"
    calm = replace(scenario, flows=(replace(flow, jitter_ns=0),))
    jittery = replace(scenario, flows=(replace(flow, jitter_ns=200 * MS),))
    once, twice = (admit._interrupts(one, "g-edf") for one in (calm, jittery))
    assert once.share == twice.share
    assert twice.at_once_us in (2 * once.at_once_us, 2 * once.at_once_us - 1)


@pytest.mark.quick
def test_a_flow_with_jitter_is_not_taken_for_a_faster_one() -> None:
    """Admission took period less jitter as the period: this flow for one of 10 ms, and refused it.
    It fires twice within 10 ms now and then, but not for long."""
    flow = Flow(name="f", deadline_ns=900 * MS, period_ns=100 * MS, jitter_ns=90 * MS, size=512)
    scenario = Scenario(flows=(flow,), duration_ns=6000 * MS, processor="none", slots=24)
    answer = admit.admit(scenario, "edf")
    assert answer["answer"] == "yes"
    assert answer["load_permille"] < 500
    assert admit.lacks(scenario, "edf", answer["slots"]) == []
    outcome = sched.run(scenario, "edf", runs=5, seed=1)
    assert outcome.counts["met"] == outcome.counts["offered"] > 250


def test_who_is_admitted_is_never_late() -> None:
    """A yes once reckoned with the middle of the times of an opening, and with interrupts only of
    the requests in the sector being written."""
    admitted = dict.fromkeys(sched.POLICIES, 0)
    for seed in range(120):
        scenario = _scenario(random.Random(seed))
        for policy in sched.POLICIES[1:]:
            answer = admit.admit(scenario, policy)
            if answer["answer"] != "yes" or admit.lacks(scenario, policy, answer["slots"]):
                continue
            admitted[policy] += 1
            outcome = sched.run(scenario, policy, runs=2, seed=seed)
            assert outcome.counts["met"] == outcome.counts["offered"], (seed, policy)
    assert admitted["g-edf"] >= 40
    assert min(admitted[policy] for policy in sched.POLICIES[1:]) >= 10


@pytest.mark.quick
def test_each_policy_has_its_own_answer() -> None:
    scenario = sched.node_scenario()
    assert admit.admit(scenario, "g-edf")["answer"] == "but openings"
    # One by one the three flows need more than the whole device.
    alone = admit.admit(scenario, "edf")
    assert alone["answer"] == "no"
    assert alone["load_permille"] > 1000
    # Only with a guard that long nobody passes who should not.
    assert admit.admit(scenario, "slack")["answer"] == "no"
    patient = replace(
        scenario,
        flows=tuple(
            replace(flow, deadline_ns=900 * MS, period_ns=100 * MS) for flow in scenario.flows
        ),
        guard_ns=900 * MS,
    )
    assert admit.admit(patient, "slack")["answer"] == "yes"
    slots = admit.admit(patient, "slack")["slots"]
    assert admit.lacks(patient, "slack", slots) == [
        f"{2 * slots} slots are needed, the scenario has 24"
    ]
    assert admit.lacks(replace(scenario, limit=1), "g-edf", 6) == [
        f"flow flow{number} may have 2 waiting, the limit is 1" for number in (1, 2, 3)
    ]


@pytest.mark.quick
def test_what_cannot_be_asked_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    for text, options, what in (
        ('deadline = "70 ms"\n', (), "flow a has no period"),
        ('deadline = "70 ms"\nperiod = "40 ms"\nsize = "600 B"\n', (), "600 B are refused"),
        ('deadline = "70 ms"\nperiod = "500 us"\n', (), "the processor is busy for"),
        ('deadline = "70 ms"\nperiod = "40 ms"\n', ("--policy", "fifo"), "promised about fifo"),
        ('deadline = "70 ms"\nperiod = "40 ms"\n', ("--policy", "all"), "one policy at a time"),
    ):
        path.write_text(f"[flow.a]\n{text}")
        done = CliRunner().invoke(
            main, ["sched", "--scenario", str(path), "--admit", *options, "--json", "-"]
        )
        assert done.exit_code == 2, done.output
        assert what in done.stderr
        assert len(done.stderr.splitlines()) == 1
    path.write_text('device = "K9F1G08U0A"\n[flow.a]\ndeadline = "70 ms"\nperiod = "40 ms"\n')
    done = CliRunner().invoke(main, ["sched", "--scenario", str(path), "--admit"])
    assert "longest write is not known" in done.stderr


@pytest.mark.quick
def test_admission_of_the_papers_flows() -> None:
    done = CliRunner().invoke(main, ["sched", "--admit", "--json", "-"])
    document = json.loads(done.stdout)
    validate("sched-1", document)
    assert document["admission"]["answer"] == "but openings"
    # One operation under way and one of each of three flows, each with the processor's work.
    assert 4 * 13_000 < document["admission"]["wait_us"] <= 70_000


@pytest.mark.quick
def test_a_flow_may_have_any_name(tmp_path: Path) -> None:
    """A name with a new line in it broke its row of the table in two."""
    path = tmp_path / "s.toml"
    path.write_text('[flow."a\\nb"]\ndeadline = "70 ms"\nperiod = "40 ms"\n')
    done = CliRunner().invoke(main, ["sched", "--scenario", str(path), "--admit"])
    assert done.exit_code == 0
    assert "least room has flow  a\\nb\n" in done.stdout
