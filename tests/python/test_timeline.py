# SPDX-License-Identifier: Apache-2.0
"""Goal: a timeline opens in Perfetto, tells what happened and nothing else, and stays small."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import timeline_traces
from click.testing import CliRunner, Result
from runs import own_cache as own_cache
from runs import run_json
from timeline_traces import Slice, Trace
from vcd.reader import TokenKind, tokenize

from nandwich import _native, paths
from nandwich.cli.main import main
from nandwich.errors import InputError
from nandwich.replay import play as replay
from nandwich.replay import traffic
from nandwich.replay.options import LAYERS, Options
from nandwich.sched import play as sched
from nandwich.twin import timelines

NEVER_CLEANS = "gen:zipf,requests=2K"


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def _replay(
    folder: Path, source: str, window: str = "0:10000", **more: Any
) -> tuple[Trace, dict[str, Any]]:
    """The timeline of a replay, and its result."""
    path = folder / "out.perfetto-trace"
    chosen = timelines.window(window)
    play = replay.prepare(Options(source, timeline=str(path), window=chosen, **more))
    if play.options.precondition:
        play.precondition(lambda _: None)
    play.run(lambda _: None)
    play.save_timeline()
    return timeline_traces.read(path), play.replay.result()


def _is_within(inner: Slice, outer: Slice) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


@pytest.mark.asan
@pytest.mark.parametrize("ftl", LAYERS)
def test_each_operation_is_there_and_told_apart(ftl: str, tmp_path: Path) -> None:
    """Goal: with all requests shown, the trace counts what the layer counts: operations of each
    kind, copies and maps."""
    trace, result = _replay(
        tmp_path,
        "gen:hotcold,requests=1K,writes=80%",
        "0:1000",
        ftl=ftl,
        blocks=64,
        precondition=1500,
    )
    layer = result["layer"]
    kinds = Counter(one.name for one in trace.chip)
    copies_read = kinds["copy"] if ftl == "lavish" else 0  # which counts the chip's own copies so
    assert kinds["read"] + copies_read == layer["reads"]
    assert kinds["program"] + kinds["copy"] == layer["programs"]
    assert kinds["erase"] == layer["erases"] > 0
    why = Counter((one.name, one.notes["for"]) for one in trace.chip)
    assert why["program", "copy"] + why["copy", "copy"] == layer["copies"] > 0
    assert why["program", "map"] == layer["map_programs"]
    assert why["read", "map"] == layer["map_reads"]
    assert len(trace.requests) == result["done"] == 1000
    assert trace.requests[-1].end == result["end_ns"]
    own = trace.on("layer's own work")
    for key, count in (("copies", layer["copies"]), ("erases", layer["erases"])):
        assert sum(int(one.notes[key]) for one in own) == count
    assert {one.name for one in own} <= {"cleaning", "map", "housekeeping"}


@pytest.mark.asan
def test_operations_lie_in_the_request_that_their_arrows_come_from(tmp_path: Path) -> None:
    """Goal: a slice is in time within what asked for it, and nothing overlaps on a track."""
    trace, _ = _replay(tmp_path, "gen:filecopy,requests=2K", ftl="tree", blocks=64, idle=True)
    requests = {flow: one for one in trace.requests for flow in one.flows}
    previous = 0
    for one in trace.chip:
        (flow,) = one.flows + one.ending
        assert _is_within(one, requests[flow])
        assert one.start >= previous
        previous = one.end
    assert all(one.depth == 0 for one in trace.slices)
    for before, after in zip(trace.requests, trace.requests[1:], strict=False):
        assert after.start >= before.end
    busy = [one for one in trace.requests if one.flows]
    assert sum(one.took for one in trace.chip) == sum(one.took for one in busy)


@pytest.mark.quick
def test_tracks_are_named_for_who_reads_them(tmp_path: Path) -> None:
    trace, _ = _replay(tmp_path, NEVER_CLEANS)
    assert trace.process == f"{NEVER_CLEANS} on tree"
    assert trace.tracks == [
        "what is shown",
        "host requests",
        "layer's own work",
        "chip K9F1G08U0A",
        "free blocks",
        "energy",
    ]
    assert set(trace.parents.values()) == {trace.process}
    assert trace.units == {"free blocks": "blocks", "energy": "uJ"}
    assert [one.name for one in trace.on("what is shown")] == ["every request"]
    first = trace.requests[0]
    assert (first.name, first.category) == ("write", "host request")
    assert first.notes.keys() >= {"request", "sector", "sectors", "waited ns", "longest, rank"}
    assert trace.chip[-1].notes.keys() == {"block", "page", "bytes", "for"}


def _shown(trace: Trace) -> tuple[set[int], set[int]]:
    """Numbers of the requests, and of those with a rank."""
    numbers = {int(one.notes["request"]) for one in trace.requests}
    return numbers, {int(one.notes["request"]) for one in trace.requests if _rank(one)}


def _rank(one: Slice) -> int:
    return int(one.notes.get("longest, rank", 0))


@pytest.mark.asan
def test_the_window_and_the_longest_of_all(tmp_path: Path) -> None:
    """Goal: what is shown is the window and the longest requests wherever they are, each with all
    that the whole timeline says of it."""
    source, same = "gen:hotcold,requests=4K", {"blocks": 64, "precondition": 1500}
    whole, result = _replay(tmp_path, source, "0:4000", **same)
    part, _ = _replay(tmp_path, source, "3000:3100", **same)
    by_length = sorted(whole.requests, key=lambda one: (-one.took, one.notes["request"]))
    longest = by_length[: timelines.LONGEST]
    assert longest[0].notes["request"] == result["worst_request"]
    assert longest[0].took == result["worst_call_ns"]
    numbers, ranked = _shown(part)
    assert len(ranked) == timelines.LONGEST
    assert numbers == ranked | set(range(3000, 3100))
    # Which of two that take the same are kept is open; how long each rank takes is not.
    by_rank = sorted((one for one in part.requests if _rank(one)), key=_rank)
    assert [_rank(one) for one in by_rank] == list(range(1, timelines.LONGEST + 1))
    assert [one.took for one in by_rank] == [one.took for one in longest]
    ops = Counter(flow for one in whole.chip for flow in one.flows + one.ending)
    there = Counter(flow for one in part.chip for flow in one.flows + one.ending)
    assert all(ops[flow] == count for flow, count in there.items())
    assert [one.name for one in part.on("what is shown")] == [
        "only the longest requests",
        "every request",
        "only the longest requests",
    ]


@pytest.mark.quick
def test_a_window_of_time(tmp_path: Path) -> None:
    source = "gen:sensor,requests=3K"
    whole, _ = _replay(tmp_path, source, "0:3000")
    middle = whole.requests[1000].start
    part, _ = _replay(tmp_path, source, f"{middle} ns:{middle + 10**9} ns")
    wanted = {
        one.notes["request"] for one in whole.requests if middle <= one.start < middle + 10**9
    }
    numbers, ranked = _shown(part)
    assert wanted
    assert numbers - ranked == wanted - ranked


@pytest.mark.quick
def test_counters_cover_the_whole_run_in_few_points(tmp_path: Path) -> None:
    """Goal: a long run has counters from its start to its end, and not more of them."""
    trace, result = _replay(tmp_path, "gen:sensor,requests=40K", "0:100", idle=True)
    assert trace.units["queue length"] == "requests"
    for points in trace.counters.values():
        assert 1 <= len(points) <= 4096 + 100
        assert [time for time, _ in points] == sorted({time for time, _ in points})
    energy = trace.counters["energy"]
    assert energy[0][0] < result["end_ns"] // 1000
    assert energy[-1][0] > result["end_ns"] * 0.99
    assert energy[-1][1] == pytest.approx(result["energy_pj"] / 1e6, rel=0.01)
    values = [value for _, value in energy]
    steps = [after - before for before, after in pairwise(values)]
    assert min(steps) >= 0
    assert max(steps) < values[-1] / 200  # no stretch of the run is without them
    assert max(value for _, value in trace.counters["queue length"]) <= result["queue_max"]


@pytest.mark.quick
@pytest.mark.parametrize("gap", ["20 ms", "300 us"])  # with pauses; a backlog
def test_the_queue_has_each_request_from_its_arrival_to_its_end(gap: str, tmp_path: Path) -> None:
    """Goal: at each moment of a window the counter is what the slices of the whole run say, also
    where requests of the window stand before others."""
    source = f"gen:uniform,requests=2K,writes=80%,gap={gap}"
    whole, result = _replay(tmp_path, source, "0:2000")
    there = [(one.start - int(one.notes["waited ns"]), one.end) for one in whole.requests]
    part, _ = _replay(tmp_path, source, "500:600")
    last = whole.requests[599].end
    for trace in (whole, part):
        points = [(at, value) for at, value in trace.counters["queue length"] if at < last]
        assert len(points) > 50
        for at, value in points[:: len(points) // 50]:
            assert value == sum(come <= at < end for come, end in there)
    lengths = [value for _, value in whole.counters["queue length"]]
    assert (min(lengths), max(lengths)) == (0, result["queue_max"])
    assert (max(lengths) > 100) == (gap == "300 us")


def test_the_largest_file(tmp_path: Path) -> None:
    """Goal: however much there is to show, the file keeps its bound, and says what it left out."""
    path = tmp_path / "out.perfetto-trace"
    done = _run(
        *("replay", "gen:uniform,requests=60K", "--ftl", "log", "--chip", "K9LBG08U0M"),
        *("--blocks", 128, "--precondition", 1, "--timeline", path),
        *("--timeline-window", "5000:55000"),
    )
    assert done.exit_code == 0, done.output
    assert 30_000_000 < path.stat().st_size <= _native.TIMELINE_BYTES
    assert "chip operations left out" in done.stderr


@pytest.mark.quick
def test_the_same_bytes_for_the_same_question(tmp_path: Path) -> None:
    """Goal: recording changes nothing, and twice is the same."""
    results = [_replay(tmp_path, "gen:tpc,requests=2K", ftl="tree")[1] for _ in range(2)]
    path = tmp_path / "out.perfetto-trace"
    first = path.read_bytes()
    _replay(tmp_path, "gen:tpc,requests=2K", ftl="tree")
    assert path.read_bytes() == first
    play = replay.prepare(Options("gen:tpc,requests=2K", ftl="tree"))
    play.run(lambda _: None)
    assert play.replay.result() == results[0] == results[1]


@pytest.mark.quick
@pytest.mark.parametrize("text", ["", "5", "5000", "9:9", "9:8", "a:b", "1:2s", "-1:5", "2s:1s"])
def test_a_window_that_is_none(text: str) -> None:
    """Goal: one error, with an example."""
    with pytest.raises(InputError, match="like 5000:15000"):
        timelines.window(text)


@pytest.mark.quick
def test_windows_as_people_write_them() -> None:
    assert timelines.window("5K:15000") == timelines.Window(5000, 15000, False)
    assert timelines.window("0:1") == timelines.Window(0, 1, False)
    assert timelines.window("2s:3 s") == timelines.Window(2 * 10**9, 3 * 10**9, True)
    with pytest.raises(InputError, match="at most 50000 requests"):
        timelines.window("0:50001")


@pytest.mark.quick
@pytest.mark.parametrize("window", ["2000:2001", "1h:2h"])
def test_a_window_without_a_request_is_told(window: str, tmp_path: Path) -> None:
    """The trace had the longest requests alone, or no wave, without a word."""
    for name, words in (("out.perfetto-trace", "only the longest"), ("out.vcd", "no wave")):
        target = ("--timeline", tmp_path / name)
        done = _run("replay", NEVER_CLEANS, *target, "--timeline-window", window)
        assert done.exit_code == 0
        assert done.stderr.count(f"no request lies in the --timeline-window: {words}") == 1
        done = _run("replay", NEVER_CLEANS, *target, "--timeline-window", "1999:2001")
        assert "no request lies" not in done.stderr


@pytest.mark.asan
@pytest.mark.quick
def test_work_that_nobody_sees_is_no_request_s(tmp_path: Path) -> None:
    """Room made in the NVM before a request, in no time, was drawn as the request's operations."""
    line, path = timelines.begin(timelines.FIRST), tmp_path / "out.perfetto-trace"
    device = _native.ReplayDevice(
        _native.Part.named("K9F1G08U0A"), "page", blocks=64, timeline=line
    )
    device.put_tier(_native.Part.named("PCM-16M"), "lru", bytes=1 << 18)
    source = traffic.workload("zipf,requests=2K,footprint=4M", 1 << 22, 1)
    player = _native.Replay(device, source, prepare="unseen")
    while player.run(1 << 16):
        pass
    assert player.result()["layer"]["programs"] > 100
    line.write(str(path), "title", "chip")
    trace = timeline_traces.read(path)
    assert sum(one.took for one in trace.chip) <= player.result()["busy_ns"]
    assert all(before.end <= after.start for before, after in pairwise(trace.chip))


@pytest.mark.quick
def test_what_is_said_to_be_shown_of_deadlines_is(tmp_path: Path) -> None:
    """The stretch began when the first of its requests was issued: others that ended since then
    were not shown. One of time went on until the last of its requests had ended."""
    scenario = sched.node_scenario(periods_ms=(40, 30, 55), bursty=True)
    whole, _ = _deadlines(scenario, timelines.FIRST, tmp_path)
    ends = sorted(one.end for one in whole)
    middle, late = ends[len(ends) // 3], ends[len(ends) // 2]
    for window, by in (
        (timelines.Window(100, 200), "end"),
        (timelines.Window(0, 50), "end"),
        (timelines.Window(middle, late, by_time=True), "start"),
    ):
        shown, every = _deadlines(scenario, window, tmp_path)
        inside = [one for one in whole if every.start < getattr(one, by) < every.end]
        assert len(inside) > 20
        places = {(one.start, one.end) for one in shown}
        assert {(one.start, one.end) for one in inside} <= places
    assert (every.start, every.end) == (middle, late)


def _deadlines(
    scenario: sched.Scenario, window: timelines.Window, folder: Path
) -> tuple[list[Slice], Slice]:
    """Requests on a timeline, and where it says that every one is."""
    line, path = timelines.begin(window), folder / "out.perfetto-trace"
    sched.run(scenario, "edf", line=line)
    sched.save_timeline(line, path, scenario, "edf")
    trace = timeline_traces.read(path)
    names = {flow.name for flow in scenario.flows}
    requests = [one for name in names for one in trace.on(name) if one.depth == 0]
    (every,) = [one for one in trace.on("what is shown") if one.name == "every request"]
    return requests, every


@pytest.mark.quick
def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    for target, words in (
        (tmp_path / "no" / "out", "there is no folder"),
        (tmp_path, "it is a folder"),
        ("-", "the name of a file"),
    ):
        done = _run("replay", NEVER_CLEANS, "--timeline", target)
        assert done.exit_code == 2
        assert words in done.stderr
        assert "replaying" not in done.stderr
    done = _run("replay", NEVER_CLEANS, "--timeline-window", "1:2")
    assert done.exit_code == 2
    assert "Give --timeline FILE" in done.stderr


FLOWS = [
    pytest.param("slack", {}, id="slack"),
    pytest.param("fifo", {"drop_late": False}, id="late"),
    pytest.param("g-edf", {"device": "K9F1G08U0A", "blocks": 64}, id="chip"),
    pytest.param("edf", {"slots": 2}, id="full"),
    pytest.param("rg-edf", {"reads": True}, id="reads"),
]


@pytest.mark.asan
@pytest.mark.quick
@pytest.mark.parametrize(("policy", "how"), FLOWS)
def test_deadlines_met_and_missed(policy: str, how: dict[str, Any], tmp_path: Path) -> None:
    """Goal: each request is on a track of its flow, with what became of it, and its operation."""
    scenario = sched.node_scenario(periods_ms=(40, 30, 55), bursty=True)
    first = replace(scenario.flows[0], reads="reads" in how)
    more = {key: value for key, value in how.items() if key != "reads"}
    scenario = replace(scenario, flows=(first, *scenario.flows[1:]), **more)
    path = tmp_path / "out.perfetto-trace"
    line = timelines.begin(timelines.FIRST)
    outcome = sched.run(scenario, policy, line=line)
    told = sched.save_timeline(line, path, scenario, policy)
    assert f"{outcome.counts['offered']} of {outcome.counts['offered']} requests" in told
    trace = timeline_traces.read(path)
    assert trace.process == f"{policy}, 3 flows"
    for flow, counts in zip(scenario.flows, outcome.flows, strict=True):
        mine = [one for one in trace.on(flow.name) if one.name != "served"]
        kinds = Counter(one.name for one in mine)
        verdicts = ("met", "late", "dropped", "failed", "full", "refused")
        assert kinds == {name: counts[name] for name in verdicts if counts[name]}
        assert all(one.depth == 0 for one in mine)
        for one in mine:
            late = one.notes.get("late ns", 0)
            assert one.name != "met" or not late
            assert one.name != "late" or late
    served = [one for one in trace.slices if one.name == "served"]
    assert len(served) == outcome.written
    assert all(one.depth == 1 for one in served)
    operations = [one for one in trace.slices if one.category == "device operation"]
    assert len(operations) == outcome.operations
    assert sum(int(one.notes.get("requests", 0)) for one in operations) == len(served)
    assert {(one.start, one.end) for one in served} <= {(one.start, one.end) for one in operations}
    done = [one for one in trace.slices if one.name in ("met", "late")]
    mean_ms = sum(one.took for one in done) / len(done) / 1e6
    assert mean_ms == pytest.approx(outcome.response_ms, abs=0.002)


@pytest.mark.quick
def test_a_timeline_of_deadlines_is_of_one_policy(tmp_path: Path) -> None:
    path = tmp_path / "out.perfetto-trace"
    for more, words in (
        ((), "--policy slack"),
        (("--policy", "all"), "--policy slack"),
        (("--policy", "edf", "--policy", "fifo"), "--policy slack"),
        (("--policy", "edf", "--admit"), "runs nothing"),
    ):
        done = _run("sched", "--timeline", path, *more)
        assert done.exit_code == 2
        assert words in done.stderr
    done = _run("sched", "--policy", "edf", "--runs", 2, "--no-bound", "--timeline", path)
    assert done.exit_code == 0, done.output
    assert timeline_traces.read(path).tracks


def test_a_program_in_virtual_memory(tmp_path: Path) -> None:
    """Goal: faults, their requests and the chip, on one clock; of several runs one is written."""
    assert paths.CHECKOUT is not None
    path, source = tmp_path / "out.perfetto-trace", paths.CHECKOUT / "examples" / "sort.c"
    value = run_json(source, "--ram", "12K", "--timeline", path, "--", "heap", "6000")
    trace = timeline_traces.read(path)
    assert trace.process == "sort"
    assert trace.tracks[:4] == [
        "what is shown",
        "virtual memory",
        "host requests",
        "layer's own work",
    ]
    assert trace.requests[-1].end == value["time_ns"]["storage"]
    kinds, chip = Counter(one.name for one in trace.chip), value["chip"]
    assert kinds["read"] == chip["reads"] > 0
    assert kinds["program"] == chip["programs"] > 0
    assert trace.counters["energy"][-1][1] == pytest.approx(value["energy_pj"] / 1e6)
    faults = trace.on("virtual memory")
    assert {one.name for one in faults} <= {"fault", "write back"}
    assert sum(one.took for one in faults) == sum(one.took for one in trace.requests)
    numbers = [int(one.notes["fault"]) for one in faults]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] <= value["vm"]["faults"]
    assert all(int(one.notes["address"]) % value["device"]["sector_bytes"] == 0 for one in faults)


def test_a_program_whose_timeline_cannot_be_written(tmp_path: Path) -> None:
    assert paths.CHECKOUT is not None
    source = paths.CHECKOUT / "examples" / "sort.c"
    done = _run("run", source, "--timeline", tmp_path / "no" / "out")
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr
    both = tmp_path / "both"
    done = _run("run", source, "--timeline", both, "--record", both)
    assert done.exit_code == 2
    assert "would overwrite" in done.stderr or "writes too" in done.stderr


def test_the_page_can_be_followed(tmp_path: Path) -> None:
    """Goal: the commands of docs/timeline.md say what stands below them."""
    assert paths.CHECKOUT is not None
    page = (paths.CHECKOUT / "docs" / "timeline.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ ([^\n]+)\n([^$`\n]+)$", page, re.MULTILINE)
    assert len(shown) >= 3
    (tmp_path / "examples").symlink_to(paths.CHECKOUT / "examples")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command, told in shown:
        done = subprocess.run(
            ["sh", "-ec", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr.splitlines()[-1]) == (0, told), done.stderr


def _waves(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """What stands on each signal from each moment on, read by pyvcd."""
    names: dict[str, str] = {}
    now: dict[str, Any] = {}
    time = -1
    with path.open("rb") as stream:
        for token in tokenize(stream):
            match token.kind:
                case TokenKind.VAR:
                    names[token.var.id_code] = token.var.reference
                case TokenKind.CHANGE_TIME:
                    assert token.time_change > time, "time has to go on"
                    if time >= 0:
                        yield time, dict(now)
                    time = token.time_change
                case TokenKind.CHANGE_SCALAR:
                    now[names[token.scalar_change.id_code]] = token.scalar_change.value
                case TokenKind.CHANGE_VECTOR:
                    now[names[token.vector_change.id_code]] = token.vector_change.value
                case TokenKind.CHANGE_STRING:
                    now[names[token.string_change.id_code]] = token.string_change.value
    assert set(names.values()) == set(now)
    yield time, now


@pytest.mark.asan
def test_the_bus_as_waves(tmp_path: Path) -> None:
    """Goal: each operation is there, and busy and moving for as long as the part says."""
    path = tmp_path / "bus.vcd"
    chosen = timelines.window("0:10000")
    options = Options("gen:hotcold,requests=1K", blocks=64, precondition=1500)
    play = replay.prepare(replace(options, timeline=str(path), window=chosen))
    play.precondition(lambda _: None)
    play.run(lambda _: None)
    assert "GTKWave" in play.save_timeline()
    times: Counter[str] = Counter()
    busy: Counter[str] = Counter()
    moving: Counter[str] = Counter()
    for (start, now), (end, _) in pairwise(_waves(path)):
        operation = now["operation"]
        if now["ready"] == "0":
            assert now["moving"] == "0"
            times[operation] += 1
            busy[operation] += end - start
        elif now["moving"] == "1":
            moving[operation] += end - start
        else:
            assert operation == "idle"
    counts = play.replay.result()["layer"]
    assert times == {
        kind: counts[f"{kind}s"] for kind in ("read", "program", "erase") if counts[f"{kind}s"]
    }
    assert busy["read"] == 25_000 * counts["reads"]
    assert busy["program"] == 200_000 * counts["programs"] > 0
    assert busy["erase"] == 2_000_000 * counts["erases"] > 0
    assert moving["read"] == 30 * counts["bytes_read"] > 0
    assert moving["program"] == 30 * counts["bytes_programmed"]


def test_waves_are_of_a_chip(tmp_path: Path) -> None:
    done = _run("sched", "--policy", "slack", "--timeline", tmp_path / "x.vcd")
    assert done.exit_code == 2
    assert "sched has no chip's bus" in done.stderr
