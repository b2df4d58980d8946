# SPDX-License-Identifier: Apache-2.0
"""Goal: the sched verb tells the truth about a scenario, and no request is ever lost, doubled or
out of order, whatever the workload."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import validate

from nandwich.cli.main import main
from nandwich.errors import InputError
from nandwich.sched import play as sched
from nandwich.sched import scenario as sched_scenario
from nandwich.sched.play import MS, Flow, Scenario

SCENARIO = """\
# Two sources and a reader.
duration = "2 s"
slots = 12

[flow.light]
period = "40 ms"
deadline = "70 ms"
jitter = "3 ms"

[flow.sound]
period = "15 ms"
deadline = "60 ms"
size = "128 B"
burst_every = 10

[flow.replay]
period = "200 ms"
deadline = "100 ms"
size = "512 B"
direction = "read"
"""


def _file(folder: Path, text: str, name: str = "s.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.quick
def test_json_keeps_its_schema_and_adds_up(tmp_path: Path) -> None:
    path = _file(tmp_path, SCENARIO)
    done = CliRunner().invoke(
        main, ["sched", "--scenario", str(path), "--runs", "2", "--json", "-"]
    )
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    validate("sched-1", document)
    results = document["results"]
    assert [one["policy"] for one in results] == [*sched.POLICIES, "bound"]
    for one in results[:-1]:
        total = one["total"]
        ends = ("met", "late", "dropped", "failed", "full", "refused")
        assert total["offered"] == sum(total[name] for name in ends) > 300
        assert total["met"] <= results[-1]["total"]["met"]
        assert total["offered"] == results[-1]["total"]["offered"]
        assert [flow["name"] for flow in one["flows"]] == ["light", "sound", "replay"]


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    arguments = [
        "sched",
        "--scenario",
        str(_file(tmp_path, SCENARIO)),
        "--runs",
        "1",
        "--json",
        "-",
    ]
    first, again = (CliRunner().invoke(main, arguments).stdout for _ in range(2))
    assert first == again
    other = CliRunner().invoke(main, [*arguments, "--seed", "2"]).stdout
    assert json.loads(other)["results"] != json.loads(first)["results"]


@pytest.mark.quick
def test_every_fault_of_a_scenario_is_told_with_its_line(tmp_path: Path) -> None:
    text = SCENARIO.replace("slots = 12", "slots = 500\nslotz = 3")
    text = text.replace('deadline = "70 ms"', "deadline = 70")
    text = text.replace('jitter = "3 ms"', 'jitter = "3 s"')
    text = text.replace('"read"', '"both"').replace('"128 B"', '"128 KB"')
    path = _file(tmp_path, text)
    with pytest.raises(InputError) as error:
        sched_scenario.read_scenario(path)
    lines = error.value.message.splitlines()
    places = [line.removeprefix(f"{path}:").split(": error: ") for line in lines]
    assert [(int(number), what.split(":")[0]) for number, what in places] == [
        (3, "slots"),
        (4, "unknown key slotz; did you mean slots?"),
        (8, "flow.light.deadline"),
        (9, "flow.light.jitter"),
        (14, "flow.sound.size"),
        (21, "flow.replay.direction"),
    ]
    done = CliRunner().invoke(main, ["sched", "--scenario", str(path)])
    assert done.exit_code == 2


def test_bad_files_are_refused(tmp_path: Path) -> None:
    for text, what in (
        ("flow = [", ":1: error: not TOML"),
        ("slots = 3\n", ":1: error: a [flow.NAME] table is missing"),
        ("flow = 3\n", ":1: error: flow: must be a table, [flow.NAME]"),
        ("slots = 3\nflow.a = 3\n", ":2: error: flow.a: must be a table, [flow.a]"),
        ('[flow.a]\nperiod = "1 ms"\n', ":1: error: flow.a.deadline is missing"),
        ('[flow.a]\ndeadline = "1 ns"\n', ":2: error: flow.a.deadline: must be at least 1 us"),
        ('[flow.a]\ndeadline = "1 h"\n', ":2: error: flow.a.deadline: must be at most 1073 s"),
        (
            '[flow.a]\nperiod = "1 ms"\njitter = "1001 us"\n',
            ":3: error: flow.a.jitter: longer than the period",
        ),
        # Python's own words about the length of a number stood here.
        (
            f'[flow.a]\nperiod = "{"9" * 5000} ms"\n',
            ":2: error: flow.a.period: '999999999999...' has 5000 digits, 60 at most",
        ),
        ('[flow.a]\nsize = "0 B"\n', ":2: error: flow.a.size: must be at least 1 B"),
        ("slots = 0\n[flow.a]\n", ":1: error: slots: must be at least 1"),
        (
            'limit = 30\n[flow.a]\ndeadline = "1 ms"\n',
            ":1: error: limit: more than there are slots",
        ),
        ('\ndevice = "SANDISK"\n[flow.a]\n', ":2: error: unknown chip 'SANDISK'; did you mean"),
        ('device = "PCM-16M"\n[flow.a]\n', ":1: error: device: PCM-16M: not supported"),
        # These once reached the native code, which answered with a traceback.
        (f"[flow.a]\nburst_every = {10**20}\n", ":2: error: flow.a.burst_every: must be at most"),
        ('[flow.a]\nphase = "9999999999 h"\n', ":2: error: flow.a.phase: must be at most"),
        ('duration = "9999999999 h"\n[flow.a]\n', ":1: error: duration: must be at most"),
        (f"blocks = {10**20}\n[flow.a]\n", ":1: error: blocks: must be at most"),
        ("[flow]\n", ":1: error: a [flow.NAME] table is missing"),
        (
            "".join(f'[flow.f{i}]\ndeadline = "1 ms"\n' for i in range(65)),
            ":1: error: flow: 65 tables, at most 64",
        ),
    ):
        path = _file(tmp_path, text)
        with pytest.raises(InputError, match=r"s\.toml") as error:
            sched_scenario.read_scenario(path)
        assert what in error.value.message
    with pytest.raises(InputError, match="cannot read"):
        sched_scenario.read_scenario(tmp_path / "nowhere.toml")


def test_a_key_that_was_not_given_is_not_complained_of(tmp_path: Path) -> None:
    """`slots = -1` was answered with two errors, the other one about a limit."""
    path = _file(tmp_path, 'slots = -1\n[flow.a]\ndeadline = "1 ms"\n')
    with pytest.raises(InputError) as error:
        sched_scenario.read_scenario(path)
    assert error.value.message == f"{path}:1: error: slots: must be at least 1"


def test_recorded_arrivals(tmp_path: Path) -> None:
    scenario = _file(tmp_path, '[flow.a]\ndeadline = "70 ms"\n[flow.b]\ndeadline = "30 ms"\n')
    arrivals = _file(tmp_path, "time_ms,flow\n0,a\n0.5,b\n1.25,b\n", "a.csv")
    arguments = ["sched", "--scenario", str(scenario), "--policy", "fifo"]
    done = CliRunner().invoke(main, [*arguments, "--arrivals", str(arrivals), "--json", "-"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)["results"][0]
    assert [flow["offered"] for flow in result["flows"]] == [10, 20]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "flow a has no period" in done.output
    arrivals.write_text("time_ms,flow\n5,a\n4,a\n7,c\nx,a\n9\n")
    done = CliRunner().invoke(main, [*arguments, "--arrivals", str(arrivals)])
    assert done.exit_code == 2
    for line, what in ((3, "earlier"), (4, "no flow 'c'"), (5, "no time"), (6, "1 fields")):
        place = f"a.csv:{line}: error: "
        assert any(place in told and what in told for told in done.output.splitlines())
    for text, what in (
        (f"{'9' * 5000},a", f"'{'9' * 40}' is no time"),
        (f"1,{'a' * 200_000}", "field larger than"),
        ('1,"a', "unexpected end"),
    ):
        arrivals.write_text(f"time_ms,flow\n{text}\n")
        done = CliRunner().invoke(main, [*arguments, "--arrivals", str(arrivals)])
        assert done.exit_code == 2
        assert f"a.csv:2: error: {what}" in done.output
    arrivals.write_text("when,what\n")
    done = CliRunner().invoke(main, [*arguments, "--arrivals", str(arrivals)])
    assert "a.csv:1: error: the first line" in done.output


def test_a_period_of_hours_runs(tmp_path: Path) -> None:
    # Above 2^30 us, which the core refuses, and above 2^32 us, which was cut to 32 bits.
    for period in ("30 min", "2 h"):
        text = f'save = true\n[flow.a]\nperiod = "{period}"\ndeadline = "90 ms"\n'
        path = _file(tmp_path, text)
        done = CliRunner().invoke(main, ["sched", "--scenario", str(path), "--policy", "slack"])
        assert done.exit_code == 0, done.output


def test_a_run_without_end_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, 'duration = "1 h"\n[flow.a]\nperiod = "1 us"\ndeadline = "70 ms"\n')
    done = CliRunner().invoke(main, ["sched", "--scenario", str(path)])
    assert done.exit_code == 2
    assert "about 3,600,000,001 requests in a run" in done.output


def test_a_period_longer_than_the_clock_goes_round(tmp_path: Path) -> None:
    """Ticks of 72 minutes did not fit the node's 32 bits: SLACK held a sector back for a request
    that it thought would come soon."""
    text = '[flow.a]\nperiod = "4295 s"\ndeadline = "1000 s"\nsize = "64 B"\n'
    path = _file(tmp_path, 'duration = "10 h"\nprocessor = "none"\npreopen = false\n' + text)
    arguments = ["sched", "--scenario", str(path), "--policy", "slack", "--runs", "1"]
    done = CliRunner().invoke(main, [*arguments, "--no-bound", "--json", "-"])
    result = json.loads(done.stdout)["results"][0]
    assert result["total"]["met"] == result["total"]["offered"] > 5
    assert result["response_us_max"] < 200_000


def test_requests_larger_than_a_sector(tmp_path: Path) -> None:
    text = '[flow.a]\nperiod = "100 ms"\ndeadline = "90 ms"\nsize = "1000 B"\n'
    refused = CliRunner().invoke(main, ["sched", "--scenario", str(_file(tmp_path, text))])
    assert refused.exit_code == 0
    assert "refused; 'split = true' would split them" in refused.stderr
    split = _file(tmp_path, "split = true\n" + text, "t.toml")
    arguments = [
        "sched",
        "--scenario",
        str(split),
        "--policy",
        "g-edf",
        "--keep-late",
        "--json",
        "-",
    ]
    done = CliRunner().invoke(main, arguments)
    assert "sectors of 512 B: split" in done.stderr
    result = json.loads(done.stdout)["results"][0]
    assert result["total"]["refused"] == 0
    assert result["operations"] == 2 * (result["total"]["met"] + result["total"]["late"])


def test_over_the_page_ftl() -> None:
    scenario = replace(sched.node_scenario(), device="K9F1G08U0A", duration_ns=2000 * MS)
    outcome = sched.run(scenario, "rg-edf", runs=1)
    # A program takes well under a millisecond: nothing is late.
    assert outcome.share == 100
    with pytest.raises(InputError, match="device"):
        sched.run(replace(scenario, device="PCM-16M"), "fifo")


MET, LATE, DROPPED, _FAILED, FULL, REFUSED = range(6)

flows = st.builds(
    Flow,
    name=st.just("f"),
    deadline_ns=st.integers(5, 300).map(lambda ms: ms * MS),
    size=st.integers(1, 700),
    reads=st.booleans(),
)
workloads = st.lists(flows, min_size=1, max_size=4).flatmap(
    lambda some: st.tuples(
        st.just(tuple(some)),
        st.lists(
            st.tuples(st.integers(0, 400), st.integers(0, len(some) - 1)), min_size=1, max_size=80
        ),
    )
)


@settings(max_examples=150, deadline=None)
@given(
    workload=workloads,
    policy=st.sampled_from(sched.POLICIES),
    slots=st.integers(1, 24),
    limit=st.integers(0, 3),
    options=st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    seed=st.integers(0, 1000),
)
def test_nothing_is_lost_doubled_or_reordered(
    workload: tuple[tuple[Flow, ...], list[tuple[int, int]]],
    policy: str,
    slots: int,
    limit: int,
    options: tuple[bool, bool, bool, bool],
    seed: int,
) -> None:
    chosen, arrivals = workload
    recording = tuple((time * MS, flow) for time, flow in sorted(arrivals))
    drop_late, split, save, preopen = options
    scenario = Scenario(
        flows=chosen,
        recording=recording,
        duration_ns=1000 * MS,
        slots=slots,
        limit=min(limit, slots),
        drop_late=drop_late,
        split=split,
        save=save,
        preopen=preopen,
    )
    result = sched.events(scenario, policy, seed=seed, room=1000)
    for number in range(len(chosen)):
        offered = [time for time, flow in recording if flow == number]
        told = [event for event in result["events"] if event[1] == number]
        # Each offer ends exactly once; sequences count from 1, losses at the door included.
        assert sorted(event[2] for event in told) == list(range(1, len(offered) + 1))
        inside = [event for event in told if event[3] <= LATE]
        assert [event[2] for event in inside] == sorted(event[2] for event in inside)
        assert [event[0] for event in inside] == sorted(event[0] for event in inside)
        served = [event for event in told if event[3] in (MET, LATE, DROPPED)]
        assert [event[2] for event in served] == sorted(event[2] for event in served)
        if not chosen[number].reads:
            sectors = [event[4] for event in inside]
            assert sectors == sorted(sectors)
        for time, _, sequence, verdict, _ in inside:
            in_time = time <= offered[sequence - 1] + chosen[number].deadline_ns
            # The node's clock counts whole microseconds.
            slack = abs(time - offered[sequence - 1] - chosen[number].deadline_ns)
            assert (verdict == MET) == in_time or slack < 2000
        if not split and chosen[number].size > 512:
            assert all(event[3] == REFUSED for event in told)
        if not drop_late:
            assert all(event[3] != DROPPED for event in told)
    assert all(event[3] != FULL for event in result["events"]) or slots < 24 or limit or split
