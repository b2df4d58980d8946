# SPDX-License-Identifier: Apache-2.0
"""`nandwich compare`: what is marked is so, what cannot be compared is refused in one sentence."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import fleets
import numpy as np
import pytest
from click.testing import CliRunner, Result
from schemas import validate
from transcripts import follow

from nandwich import paths
from nandwich.cli.main import main
from nandwich.replay import play, pool
from nandwich.replay.options import Options
from nandwich.results import comparison, tables
from nandwich.results.comparison import Entry, Spread, apart
from nandwich.results.figures import Metric
from nandwich.results.figures import Result as Figures

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
MADE = '"provenance": {"nandwich": "1", "commit": "0"}'
SMALL = "gen:zipf,requests=3K"
COST = Metric("cost", "cost", "", "less")
SPEED = Metric("speed", "speed", "op/s", "more", wall=True)


def ran(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def compared(*arguments: str | Path) -> dict[str, Any]:
    done = ran(*arguments, "--json", "-")
    assert done.exit_code == 0, done.stderr
    value = json.loads(done.stdout)
    validate("compare-1", value)
    return dict(value)


def line(value: dict[str, Any], key: str) -> dict[str, Any]:
    (found,) = [one for one in value["metrics"] if one["key"] == key]
    return dict(found)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of replay, sched and bench in a folder."""
    for ftl in ("page", "fast"):
        target = str(tmp_path / f"{ftl}.json")
        asked = ["replay", SMALL, "--ftl", ftl, "--json", target]
        assert CliRunner().invoke(main, asked).exit_code == 0
    asked = ["sched", "--runs", "1", "--json", str(tmp_path / "sched.json")]
    assert CliRunner().invoke(main, asked).exit_code == 0
    return tmp_path


def entry(name: str, *values: float, key: str = "cost", reference: bool = False) -> Entry:
    return Entry(name, [Figures(name, name, {}, {key: one}, reference) for one in values])


def marks(metric: Metric, *entries: Entry) -> tuple[int | None, int | None]:
    (found,) = comparison.compare(entries, [metric]).lines
    return found.best, found.worst


@pytest.mark.quick
def test_best_and_worst_are_marked_where_they_are() -> None:
    """Goal: a mark is a claim; no tie and no noise gets one, and less is not always better."""
    assert marks(COST, entry("a", 3), entry("b", 1), entry("c", 2)) == (1, 0)
    assert marks(COST, entry("a", 1), entry("b", 1), entry("c", 2)) == (None, 2)
    assert marks(COST, entry("a", 1), entry("b", 1)) == (None, None)
    assert marks(COST, entry("a", 0, reference=True), entry("b", 1), entry("c", 2)) == (1, 2)
    more = Metric("cost", "cost", "", "more")
    assert marks(more, entry("a", 3), entry("b", 1), entry("c", 2)) == (0, 1)
    neither = Metric("cost", "cost", "", "")
    assert marks(neither, entry("a", 3), entry("b", 1)) == (None, None)
    by_clock = [entry(name, value, key="speed") for name, value in (("a", 100.0), ("b", 105.0))]
    assert marks(SPEED, *by_clock) == (None, None)
    by_clock[1].results[0].values["speed"] = 120.0
    assert marks(SPEED, *by_clock) == (1, 0)


@pytest.mark.quick
def test_seeds_are_compared_one_by_one() -> None:
    """Goal: a configuration that is a little better with every seed is so, however far the seeds
    lie from each other; one that is better on the whole and not with each is noise."""
    wide = Spread((100.0, 200.0, 300.0))
    assert apart(COST, wide, Spread((95.0, 194.0, 296.0)))
    assert not apart(COST, wide, Spread((70.0, 205.0, 300.0)))
    assert not apart(COST, wide, wide)


@pytest.mark.quick
def test_other_seeds_are_apart_where_their_values_do_not_overlap() -> None:
    """Goal: results with more seeds, or with others, have no pairs: whole ranges are compared."""
    wide = Spread((100.0, 200.0, 300.0), seeds=("1", "2", "3"))
    assert not apart(COST, wide, Spread((95.0, 194.0, 296.0), seeds=("4", "5", "6")))
    assert not apart(COST, wide, Spread((120.0,), seeds=("1",)))
    assert apart(COST, wide, Spread((99.0, 98.0), seeds=("1", "2")))
    assert not apart(SPEED, Spread((100.0, 101.0)), Spread((102.0,)))
    assert marks(COST, entry("a", 3, 4), entry("b", 1), entry("c", 2)) == (1, 0)
    mixed = [entry("a", 1, 1), entry("b", 1, 1)]
    for one, seeds in zip(mixed, ("12", "34"), strict=True):
        for result, seed in zip(one.results, seeds, strict=True):
            result.config["seed"] = seed
    (found,) = comparison.compare(mixed, [COST]).lines
    assert found.equal
    assert [one.seeds for one in found.spreads if one] == [("1", "2"), ("3", "4")]


@pytest.mark.quick
def test_a_change_from_zero_has_no_share() -> None:
    """Goal: no division by zero, and nothing that JSON cannot hold."""
    (found,) = comparison.compare([entry("a", 0), entry("b", 2)], [COST]).lines
    assert found.changes == (None, None)
    assert found.verdicts == ("same", "worse")


def test_results_that_are_there(results: Path) -> None:
    """Goal: of two results is told what differs, what is equal, and by how much they differ."""
    page, fast = results / "page.json", results / "fast.json"
    value = compared(page, fast)
    assert value["differing"] == ["ftl"]
    assert value["equal"]["chip"] == "K9F1G08U0A"
    whole = {name: json.loads((results / f"{name}.json").read_text()) for name in ("page", "fast")}
    programs = {name: one["result"]["layer"]["programs"] for name, one in whole.items()}
    found = line(value, "chip_programs")
    assert {name: one["mean"] for name, one in found["values"].items()} == programs
    assert (found["best"], found["worst"], found["noise"]) == ("page", "fast", "none")
    change = programs["fast"] / programs["page"] - 1
    assert found["values"]["fast"]["change"] == pytest.approx(change, abs=1e-6)
    piped = CliRunner().invoke(main, ["compare", "-", str(fast)], input=page.read_bytes())
    assert piped.exit_code == 0
    assert "stdin" in piped.stdout


def test_policies_of_one_file_and_what_is_best_possible(results: Path) -> None:
    """Goal: a result of several policies is a comparison; the bound wins nothing."""
    value = compared(results / "sched.json")
    names = [one["name"] for one in value["configurations"]]
    assert names == ["fifo", "edf", "g-edf", "rg-edf", "slack", "bound"]
    assert line(value, "met_percent")["best"] != "bound"


def lives(mean: float, count: int = 400) -> list[float]:
    """Between 0.8 and 1.2 of the mean, evenly."""
    return [float(one) for one in np.linspace(0.8, 1.2, count) * mean]


@pytest.mark.quick
def test_fleets_differ_where_their_intervals_do_not_overlap(tmp_path: Path) -> None:
    """Two fleets of one distribution were better and worse by a day."""
    one, same, longer = (
        fleets.written(tmp_path / f"{name}.json", lives(mean))
        for name, mean in (("one", 1000), ("same", 1002), ("longer", 1500))
    )
    value = compared(one, same)
    for metric in value["metrics"]:
        assert (metric["best"], metric["worst"]) == (None, None)
        assert {told["verdict"] for told in metric["values"].values()} <= {"same", "noise"}
    median = line(value, "life_p50_ns")
    assert median["noise"] == "intervals"
    assert median["values"]["same"]["verdict"] == "noise"
    told = median["values"]["one"]
    assert told["least"] < told["mean"] < told["most"]
    value = compared(one, longer)
    for key in ("life_p10_ns", "life_p50_ns", "life_p90_ns", "life_mean_ns"):
        found = line(value, key)
        assert (found["best"], found["worst"]) == ("longer", "one")
        assert found["values"]["longer"]["verdict"] == "better"
    assert "±" in ran(one, longer).stdout


@pytest.mark.quick
def test_a_life_beyond_the_horizon_is_over_it(tmp_path: Path) -> None:
    """It was not known, though it is longer than one that ends before."""
    short = fleets.written(tmp_path / "short.json", lives(1000))
    long = fleets.written(tmp_path / "long.json", lives(4000))
    longer = fleets.written(tmp_path / "longer.json", lives(4100))
    found = line(compared(short, long), "life_p90_ns")
    assert (found["best"], found["worst"]) == ("long", "short")
    told = found["values"]["long"]
    assert (told["over"], told["most"], told["change"]) == (True, None, None)
    assert told["verdict"] == "better"
    done = ran(short, long, "--csv", tmp_path / "both.csv")
    assert re.search(r"90 % have ended .* over 10 years \* +- +better", done.stdout)
    with (tmp_path / "both.csv").open() as stream:
        row = list(csv.DictReader(stream))[1]
    ends = ("", " least", " most")
    assert [bool(row[f"life_p90_ns{one}"]) for one in ends] == [False, True, False]
    found = line(compared(long, longer), "life_p90_ns")
    assert (found["best"], found["values"]["longer"]["verdict"]) == (None, "absent")
    assert "over 10 years" in ran(long, longer).stdout


@pytest.mark.quick
def test_what_goes_by_other_horizons_is_not_judged(tmp_path: Path) -> None:
    """A fleet that was watched for longer had more nodes ended, and was worse."""
    short = fleets.written(tmp_path / "short.json", lives(1000), 1000)
    long = fleets.written(tmp_path / "long.json", lives(1000), 2000)
    value = compared(short, long)
    assert "horizon" in value["differing"]
    for key in ("life_mean_ns", "wear_percent", "alive_percent"):
        found = line(value, key)
        assert (found["better"], found["best"], found["worst"]) == (None, None, None)
        assert found["values"]["long"]["verdict"] == "other"
    assert line(value, "life_p10_ns")["values"]["long"]["verdict"] == "same"
    assert line(value, "life_p90_ns")["values"]["long"]["verdict"] == "absent"
    shown = " ".join(ran(short, long).stdout.split())
    assert "not judged, because the horizon differs: life, mean; ended by" in shown
    alike = fleets.written(tmp_path / "alike.json", lives(1100), 1000)
    assert "not judged" not in ran(short, alike).stdout


def test_lists_are_replays(tmp_path: Path) -> None:
    """Goal: each point is what `nandwich replay` gives for the command beside it."""
    kept = tmp_path / "kept"
    value = compared(SMALL, "--ftl", "page,fast", "--spare", "60,90", "--keep", kept)
    assert [one["chosen"] for one in value["configurations"]] == [
        {"ftl": ftl, "spare_blocks": spare} for ftl in ("page", "fast") for spare in ("60", "90")
    ]
    for one in value["configurations"]:
        _, *arguments = one["command"].split()
        alone = CliRunner().invoke(main, [*arguments, "--json", "-"])
        content = json.loads(alone.stdout)
        mean = line(value, "energy_pj")["values"][one["name"]]["mean"]
        assert mean == content["result"]["energy_pj"]
        (file,) = [path for path in kept.iterdir() if path.stem == one["name"].replace(" ", "_")]
        mine = json.loads(file.read_text())
        validate("replay-1", mine)
        assert {**mine, "provenance": None} == {**content, "provenance": None}


def test_the_same_bytes_whatever_the_jobs() -> None:
    """Goal: the order in which replays end shows nowhere, failures included."""
    lists = ["--ftl", "page,fast", "--blocks", "1024,40,2", "--spare", "20,60000"]
    told = [
        ran(SMALL, *lists, "--seeds", "2", "--jobs", jobs, "--json", "-")
        for jobs in ("1", "2", "5")
    ]
    assert {one.exit_code for one in told} == {1}
    assert len({one.stdout for one in told}) == 1
    assert len({re.sub(r"^\d+ replays: .*\n", "", one.stderr) for one in told}) == 1


def test_a_point_that_fails_leaves_the_others() -> None:
    """Goal: the rest is shown, and the line printed repeats the failure."""
    done = ran(SMALL, "--ftl", "page", "--spare", "40,80,60000")
    assert done.exit_code == 1
    assert "2 configurations of nandwich replay" in done.stdout
    (repeat,) = re.findall(r"to repeat it: nandwich (.*)", done.stderr)
    again = CliRunner().invoke(main, repeat.split())
    assert again.exit_code != 0
    assert again.stderr.strip().removeprefix("nandwich: error: ") in done.stdout


def test_what_does_not_fit_is_an_answer() -> None:
    """Goal: a layer too large for a RAM does not fail the comparison, unless none fits."""
    done = ran(SMALL, "--ftl", "tree,page", "--ram", "8K,300K")
    assert done.exit_code == 0
    assert "page over K9F1G08U0A needs " in done.stdout
    assert ran(SMALL, "--ftl", "page,fast", "--ram", "2K").exit_code == 1


def test_a_chip_too_small_for_a_layer_says_which_would_do() -> None:
    """It was called a failure, told twice, with every bound of the layer."""
    done = ran(SMALL, "--ftl", "page,tree", "--blocks", "64,4")
    assert (done.exit_code, done.stderr.count("error")) == (0, 0)
    found = re.findall(r"(\w+) over \w+ needs (\d+) blocks or more, and may take 4", done.stdout)
    assert {layer for layer, _ in found} == {"page", "tree"}
    for layer, blocks in found:
        value = compared(SMALL, "--ftl", layer, "--blocks", f"{blocks},{int(blocks) - 1}")
        assert [one["state"] for one in value["configurations"]] == ["done", "no room"]


def test_a_device_too_small_for_a_trace_is_an_answer(tmp_path: Path) -> None:
    """Goal: where the data of one configuration's device end before the trace, the other tells."""
    trace = tmp_path / "far.csv"
    trace.write_text("W,120000000,2048\n")
    lists = ("--columns", "op,offset,size", "--ftl", "page", "--spare", "40,300")
    value = compared(str(trace), *lists)
    assert [one["state"] for one in value["configurations"]] == ["done", "no room"]
    assert "larger --chip" in value["configurations"][1]["why"]


def test_what_fails_alike_is_told_once_and_written(tmp_path: Path) -> None:
    """Nothing was written, and no configuration was named."""
    trace, target = tmp_path / "wrong.csv", tmp_path / "out.json"
    trace.write_text("W,0,2048\nW,here,2048\n")
    done = ran(str(trace), "--columns", "op,offset,size", "--ftl", "page,tree", "--json", target)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("wrong.csv:2:3: wanted a number") == 1
    assert "page, tree" in done.stderr
    value = json.loads(target.read_text())
    validate("compare-1", value)
    assert [one["state"] for one in value["configurations"]] == ["failed", "failed"]


def test_models_are_marked() -> None:
    """Goal: nobody takes a layer home that no device takes."""
    assert "model" not in ran(SMALL, "--ftl", "tree").stdout
    told = ran(SMALL, "--ftl", "tree,log,fast").stdout
    assert "\nlog, fast are models of published layers: not for a device\n" in told


def test_devices_of_other_sizes_are_not_comparable() -> None:
    """Goal: lavish has 7.5 MiB where the tree has 96, and gen: covers what there is: three times as
    many programs are those of a device a thirteenth as large."""
    told = ran("gen:uniform,requests=100", "--ftl", "tree,lavish").stdout
    assert re.search(r"^not comparable: .* 7\.5 MiB to 96\.\d+ MiB", told, re.MULTILINE)
    assert "not comparable" not in ran(SMALL, "--ftl", "tree,page").stdout


def test_ram_is_kept_and_used() -> None:
    """Goal: RAM that is given is used, but for less than a node of the map; no layer takes more. A
    cache has three nodes or more, and no more than the whole map."""
    used = []
    for kilobytes in (8, 16, 17, 34, 52, 64, 128, 200, 400):
        options = Options(SMALL, ftl="tree", ram=kilobytes * 1024)
        device = play.prepare(options).device
        used.append(device.ram_bytes + device.state_bytes)
        assert used[-1] <= kilobytes * 1024
        assert (
            kilobytes not in range(16, 129) or kilobytes * 1024 - used[-1] < device.sector_bytes + 4
        )
    assert used[:-2] == sorted(set(used[:-2]))
    assert used[-2] == used[-1] < 160 * 1024
    refused = CliRunner().invoke(main, ["replay", SMALL, "--ftl", "page", "--ram", "16K"])
    assert refused.exit_code == 2
    assert "may take 16 KiB" in refused.stderr


def test_kept_results_are_taken_and_others_are_not(tmp_path: Path) -> None:
    """Goal: the same line goes on where it ended; a file cut short or of another question is
    played anew."""
    kept = tmp_path / "kept"
    lists = (SMALL, "--ftl", "page,fast", "--keep", str(kept))
    first = compared(*lists)
    stamps = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    cut = kept / "fast.json"
    cut.write_bytes(cut.read_bytes()[:2000])
    assert compared(*lists) == first
    assert {path.name for path, stamp in stamps.items() if path.stat().st_mtime_ns != stamp} == {
        "fast.json"
    }
    other = compared("gen:zipf,requests=4K", "--ftl", "page,fast", "--keep", kept)
    assert line(other, "done")["values"]["page"]["mean"] == 4000


JOBS = """\
; layers
[global]
source=gen:zipf,requests=3K
idle

[small]
ftl=tree
ram=8K
idle=0

[large]
ftl=page
spare-blocks=90
"""


def test_a_file_of_jobs(tmp_path: Path) -> None:
    """Goal: a section is the replay its keys say, over those of [global]."""
    jobs = tmp_path / "jobs.ini"
    jobs.write_text(JOBS)
    value = compared(jobs)
    commands = {one["name"]: one["command"] for one in value["configurations"]}
    assert commands == {
        "small": "nandwich replay gen:zipf,requests=3K --ftl tree --ram 8K",
        "large": "nandwich replay gen:zipf,requests=3K --idle --ftl page --spare-blocks 90",
    }


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (
            "x=1\n[global]\nsorce=gen:zipf\n[a]\nftll=page\nram=1K\nram=2K\n",
            (
                "1: `x=1` stands before the first section",
                "3: unknown key 'sorce'; did you mean source",
                "5: unknown key 'ftll'; did you mean ftl?",
                "7: ram is there twice, first in line 6",
            ),
        ),
        (
            "[global]\nsource=gen:zipf\n[a]\nspare-blocks=x\n[b]\nidle=2\n[c]\nftl\n",
            ("4: Invalid value", "6: idle is on or off", "8: ftl wants a value"),
        ),
        ("[a]\nftl=page\n[b]\nftl=tree\n", ("1: [a] has no source", "3: [b] has no source")),
        ("[a]\nsource=gen:zipf\n[a]\n", ("3: [a] is there twice",)),
    ],
)
def test_all_faults_of_a_file_of_jobs_at_once(
    tmp_path: Path, text: str, faults: tuple[str, ...]
) -> None:
    """Goal: whoever mends a file sees every wrong line of it."""
    jobs = tmp_path / "jobs.ini"
    jobs.write_text(text)
    done = ran(jobs)
    assert done.exit_code == 2
    told = done.stderr.splitlines()
    assert len(told) == len(faults)
    for said, fault in zip(told, faults, strict=True):
        assert said.startswith(f"nandwich: error: {jobs}:{fault}")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "the file is empty"),
        ("hello", ":1:1: not JSON"),
        ('{"schema": "nandwich.replay/1",\n "dev', ":2:2: the file ends in the middle"),
        ("[]", "an empty list"),
        ('{"a": 1}', "JSON without `schema`"),
        ('{"schema": "nandwich.replay/9"}', "knows nandwich.replay/1: write the file anew"),
        ('{"schema": "nandwich.doctor/1"}', "nandwich.doctor/1 is not compared"),
        ('{"schema": "nandwich.replay/1"}', "source is missing"),
        ('[{"schema": "nandwich.bench/1"}]', "'better' is missing"),
        ('{"schema": "nandwich.bench/1"}', "is a list, which this is not"),
        (
            f'{{"schema": "nandwich.sweep/1", "verb": "replay", {MADE}, "rows": [{{}}]}}',
            "'configur",
        ),
        (
            f'{{"schema": "nandwich.sweep/1", "verb": "nix", {MADE}, "rows": []}}',
            "nix/1' is missing",
        ),
        ('{"schema": "nandwich.tune/1", "question": {"unit": "byte"}, "rows": 5}', "another kind"),
        ('{"schema": "nandwich.tune/1", "question": {"unit": "x"}, "rows": []}', "'x' is missing"),
        (
            f'{{"schema": "nandwich.fleet/1", "nodes": 1, "horizon_days": 1, {MADE}, "life": '
            '{"quantiles": 5}}',
            "another kind",
        ),
    ],
)
def test_what_is_no_result_is_refused(tmp_path: Path, content: str, fault: str) -> None:
    """Goal: one sentence with the file and the place, whatever it holds."""
    (tmp_path / "bad.json").write_text(content)
    done = ran(tmp_path / "bad.json", tmp_path / "bad.json")
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"{tmp_path}/bad.json" in done.stderr
    assert fault in done.stderr


def test_results_of_several_verbs(results: Path) -> None:
    """Goal: which file is which, and what can be compared."""
    names = [str(results / name) for name in ("page.json", "sched.json", "fast.json")]
    done = ran(*names)
    assert done.exit_code == 2
    assert f"compare {names[0]} {names[2]}." in done.stderr
    assert f"of nandwich sched: {names[1]}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("", "name two results"),
        ("gen:zipf", "give an option several values"),
        ("gen:zipf --ftl page", "give an option several values"),
        ("page.json", "give another result of nandwich replay"),
        ("page.json fast.json --ftl page,tree", "--ftl is for a workload"),
        ("page.json fast.json --seeds 3", "--seeds is for a workload"),
        ("gen:zipf page.json", "gen:zipf is a workload"),
        ("- -", "- is given twice"),
        ("gen:zipf --ftl page,tre", "did you mean tree?"),
        ("gen:zipf --ftl page,page", "page is there twice"),
        ("gen:zipf --ftl page,", "a value of the list is empty"),
        ("gen:zipf --blocks 9,x", "Invalid value for '--blocks'"),
        ("none.csv --ftl page,tree", "cannot read none.csv"),
        ("page.json fast.json --csv page.json", "would overwrite"),
        ("gen:zipf --ftl page,tree --keep page.json", "cannot keep results in page.json"),
    ],
)
def test_bad_lines(
    results: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, fault: str
) -> None:
    """Goal: a wrong line is refused before anything is played."""
    monkeypatch.chdir(results)
    done = ran(*arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert fault in done.stderr


def test_csv_has_a_row_for_each(tmp_path: Path) -> None:
    """Goal: numbers in base units, the same as in JSON."""
    target = tmp_path / "out.csv"
    value = compared(SMALL, "--ftl", "page,fast", "--csv", target)
    rows = list(csv.DictReader(io.StringIO(target.read_text())))
    assert [row["configuration"] for row in rows] == ["page", "fast"]
    for row in rows:
        for metric in value["metrics"]:
            there = metric["values"][row["configuration"]]
            wanted = "" if there is None else str(there["mean"])
            assert row[metric["key"]] == wanted


def test_tables_keep_to_80_columns() -> None:
    """Goal: a terminal of 80 columns shows whole lines."""
    for lists in (["--ftl", "page,tree"], ["--ftl", "page,tree,log,fast", "--spare", "60,90"]):
        done = ran(SMALL, *lists)
        assert done.exit_code == 0
        assert max(map(len, done.stdout.splitlines())) <= tables.WIDTH


def test_a_process_that_is_killed_takes_one_replay_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: want of memory for one configuration does not lose the others."""
    real = pool.play_one

    def dies(options: Options, advance: Any) -> pool.Outcome:
        if options.ftl == "fast":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(options, advance)

    monkeypatch.setattr(pool, "play_one", dies)
    points = [Options(SMALL, ftl=ftl) for ftl in ("page", "fast", "tree", "log")]
    with pool.Pool(pool.replays(points), 1) as workers:
        states = {number: one.state for number, one in workers.outcomes(lambda _: None)}
    assert states == {0: "done", 1: "failed", 2: "done", 3: "done"}


def test_ctrl_c_shows_what_is_done(tmp_path: Path) -> None:
    """Goal: minutes of work are not lost, and nothing goes on behind the command's back."""
    kept = tmp_path / "kept"
    lists = ["gen:zipf,requests=3K", "--limit", "3000,2000000000", "--repeat", "1000000"]
    command = [sys.executable, "-m", "nandwich", "compare", *lists, "--jobs", "1"]
    running = subprocess.Popen(
        [*command, "--keep", str(kept)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    for _ in range(600):
        if kept.is_dir() and len(list(kept.glob("*.json"))) == 1:
            break
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 0, stderr
    assert "1 configuration of nandwich replay" in stdout
    assert "not played:\n  limit=2000000000" in stdout
    assert f"the same line goes on: what is done lies in {kept}" in stderr
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)


def test_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    """Goal: docs/compare.md can be followed line by line."""
    assert follow("compare.md", tmp_path) == 4
