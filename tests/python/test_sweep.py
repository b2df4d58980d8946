# SPDX-License-Identifier: Apache-2.0
"""`nandwich sweep`: nothing that was played is lost or played again, whoever is killed; the same
question gives the same bytes; a wrong spec is refused with all its faults."""

import contextlib
import csv
import importlib.util
import io
import itertools
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate
from transcripts import follow

from nandwich import paths
from nandwich.cli.main import main
from nandwich.cli.sweep import engine, spec
from nandwich.cli.sweep.point import Keys, Point, run_point
from nandwich.report import of_sweep
from nandwich.report.book import Book
from nandwich.results.comparison import Entry
from nandwich.results.figures import Metric
from nandwich.results.figures import Result as Figures

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
GRID = """\
[sweep]
verb = "replay"
seeds = [1, 2]
[base]
source = "gen:zipf,requests=500"
blocks = 64
[axes]
ftl = ["tree", "fast"]
spare-blocks = [14, 16]
"""
LONG = GRID.replace("requests=500", "requests=60K").replace("[1, 2]", str(list(range(1, 9))))


def ran(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)])


def written(folder: Path, text: str) -> Path:
    file = folder / "spec.toml"
    file.write_text(text)
    return file


def kept(store: Path) -> dict[str, int]:
    """Keys of the store with the numbers of their rows: a row that is written anew has another."""
    if not store.exists():
        return {}
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as file:
            return dict(file.execute("SELECT key, rowid FROM point"))
    except sqlite3.OperationalError:  # not yet
        return {}


def until(holds: Callable[[], bool]) -> None:
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it did not happen within a minute")


def started(file: Path, *more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "nandwich", "sweep", str(file), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=ENVIRONMENT,
    )


def children(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(word) for word in text.split()]


def test_the_same_bytes_at_any_number_of_jobs(tmp_path: Path) -> None:
    """Goal: what is exported hangs on the question alone: neither on processes nor on what was
    known."""
    file = written(tmp_path, GRID)
    exports = []
    for jobs, store in ((1, "one"), (4, "four"), (2, "four")):
        names = [tmp_path / f"{jobs}.csv", tmp_path / f"{jobs}.json"]
        for name in names:
            done = ran(file, "--jobs", str(jobs), "--store", tmp_path / store, "--export", name)
            assert done.exit_code == 0, done.stderr
        exports.append([name.read_bytes() for name in names])
    assert exports[0] == exports[1] == exports[2]
    value = json.loads(exports[0][1])
    validate("sweep-1", value)
    rows = list(csv.DictReader(io.StringIO(exports[0][0].decode())))
    chosen = [(row["ftl"], row["spare-blocks"], row["seed"]) for row in rows]
    assert chosen == [(a, b, c) for a in ("tree", "fast") for b in ("14", "16") for c in "12"]
    programs = [row["values"]["chip_programs"] for row in value["rows"]]
    assert [int(row["chip_programs"]) for row in rows] == programs
    assert len(set(programs)) > 3


def test_a_point_is_its_command_line(tmp_path: Path) -> None:
    """Goal: the line of a row, run alone, gives the figures of that row; and what is kept for
    compare and report is what --json of that line writes."""
    file, folder = written(tmp_path, GRID), tmp_path / "kept"
    done = ran(file, "--json", "-", "--keep", folder)
    assert done.exit_code == 0, done.stderr
    row = json.loads(done.stdout)["rows"][-1]
    alone = tmp_path / "alone.json"
    line = [*shlex.split(row["command"])[1:], "--json", str(alone)]
    assert CliRunner().invoke(main, line).exit_code == 0
    content = json.loads(alone.read_text())
    assert row["values"]["chip_programs"] == content["result"]["layer"]["programs"]
    mine = json.loads((folder / "ftl=fast_spare-blocks=16_seed=2.json").read_text())
    assert mine["provenance"].pop("command") == row["command"]
    del content["provenance"]["command"]
    assert mine == content
    two = sorted(map(str, folder.glob("ftl=*_spare-blocks=14_seed=1.json")))
    compared = CliRunner().invoke(main, ["compare", *two])
    assert compared.stdout.startswith("2 configurations of nandwich replay"), compared.stderr


def test_what_is_known_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: another point, another input or other code is played; nothing else is."""
    played = tmp_path / "played"

    def counted(point: Point) -> dict[str, Any]:
        with played.open("a") as stream:
            stream.write("x")
        return run_point(point)

    def number(*more: str) -> int:
        played.write_text("")
        done = ran(file, *more)
        assert done.exit_code == 0, done.stderr
        return len(played.read_text())

    monkeypatch.setattr(engine, "run_point", counted)
    trace = tmp_path / "trace.csv"
    trace.write_text("0,w,0,2048\n1,w,2048,2048\n")
    own = f'source = "{trace}"\ncolumns = "time,op,offset,size"'
    file = written(tmp_path, GRID.replace('source = "gen:zipf,requests=500"', own))
    assert (number(), number()) == (8, 0)
    file.write_text(file.read_text().replace("[14, 16]", "[16, 14, 24]"))
    assert number() == 4
    trace.write_text("0,w,0,2048\n1,w,4096,2048\n")
    assert (number(), number()) == (12, 0)
    monkeypatch.setattr("nandwich.cli.sweep.point.code_version", lambda: "another")
    assert number() == 12


def test_a_process_that_is_killed_loses_only_its_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a point whose process dies is played once more; one that kills two has failed, is told
    with its line, and takes no other with it."""
    tries = tmp_path / "tries"

    def deadly(point: Point) -> dict[str, Any]:
        with tries.open("a") as stream:
            stream.write(f"{point.chosen['ftl']}{point.chosen['seed']} ")
        words = tries.read_text().split()
        if point.chosen["spare-blocks"] == 14 and point.chosen["ftl"] == "tree":
            if point.chosen["seed"] == 1 and words.count("tree1") == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            if point.chosen["seed"] == 2:
                os.kill(os.getpid(), signal.SIGKILL)
        return run_point(point)

    monkeypatch.setattr(engine, "run_point", deadly)
    file = written(tmp_path, GRID)
    done = ran(file, "--jobs", "1", "--export", tmp_path / "out.csv")
    assert done.exit_code == 1
    assert tries.read_text().split()[:4] == ["tree1", "tree1", "tree2", "tree2"]
    line = "nandwich replay gen:zipf,requests=500 --ftl tree --blocks 64 --spare-blocks 14 --seed 2"
    assert f"its process ended by signal 9, perhaps for want of memory; to repeat it: {line}\n" in (
        done.stderr
    )
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [row["state"] for row in rows] == ["done", "failed", *["done"] * 6]
    monkeypatch.undo()
    assert ran(file).exit_code == 1
    assert ran(file, "--again").exit_code == 0


def test_processes_killed_from_outside(tmp_path: Path) -> None:
    """Goal: SIGKILL of a process in the middle changes nothing of the result."""
    file = written(tmp_path, LONG)
    store = tmp_path / "killed.sqlite"
    running = started(file, "--jobs", "2", "--store", str(store), "--export", f"{tmp_path}/a.csv")
    for rows in (2, 5):
        until(lambda rows=rows: len(kept(store)) >= rows)  # type: ignore[misc]
        os.kill(children(running.pid)[0], signal.SIGKILL)
    _, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, stderr
    done = ran(file, "--store", tmp_path / "whole.sqlite", "--export", tmp_path / "b.csv")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_driver_that_is_killed_plays_nothing_twice(tmp_path: Path) -> None:
    """Goal: the same line goes on where SIGKILL ended it: what was kept stays as it is, and no
    process of the first is left to hold the store."""
    file = written(tmp_path, LONG)
    store = tmp_path / "spec.sqlite"
    running = started(file, "--jobs", "2")
    until(lambda: len(kept(store)) >= 5)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    before = kept(store)
    assert 5 <= len(before) < 32

    def is_gone() -> bool:
        try:
            os.killpg(running.pid, 0)
        except ProcessLookupError:
            return True
        return False

    until(is_gone)
    done = ran(file)
    assert done.exit_code == 0, done.stderr
    assert f"{len(before)} points known already" in done.stderr
    after = kept(store)
    assert {key: after[key] for key in before} == before
    assert len(after) == 32


def test_ctrl_c_tells_how_to_go_on(tmp_path: Path) -> None:
    """Goal: what is done by then is kept, and exit code 130 says that it is not all."""
    file = written(tmp_path, LONG)
    store = tmp_path / "spec.sqlite"
    running = started(file)
    until(lambda: len(kept(store)) >= 3)
    os.killpg(running.pid, signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert re.search(r"^\d+ points not played: the same line goes on$", stderr, re.MULTILINE)
    assert len(kept(store)) >= 3


def test_two_sweeps_do_not_share_a_store(tmp_path: Path) -> None:
    """Goal: the second is refused, rather than both playing the same points."""
    file = written(tmp_path, LONG)
    running = started(file)
    until(lambda: len(kept(tmp_path / "spec.sqlite")) >= 1)
    done = ran(file)
    os.killpg(running.pid, signal.SIGTERM)
    running.communicate(timeout=60)
    assert (done.exit_code, "in use by another command" in done.stderr) == (1, True)


def test_the_line_of_a_failed_point_repeats_it(tmp_path: Path) -> None:
    """Goal: it can be pasted into a shell, and fails there for the same reason."""
    trace = tmp_path / "a trace.csv"
    trace.write_text("0,w,0,2048\n1,w,oops,2048\n")
    points = (
        '[sweep]\nverb = "replay"\n[[point]]\nsource = "gen:zipf,requests=500"\n'
        f'[[point]]\nsource = "{trace}"\ncolumns = "time,op,offset,size"\n'
    )
    done = ran(written(tmp_path, points), "--export", tmp_path / "out.json")
    assert done.exit_code == 1
    assert done.stdout == "2 points of nandwich replay: 1 done, 1 failed\n"
    found = re.search(r"failed: (.*); to repeat it: (nandwich .*)", done.stderr)
    assert found is not None, done.stderr
    line = found[2].replace("nandwich", f"{sys.executable} -m nandwich", 1)
    alone = subprocess.run(line, shell=True, capture_output=True, text=True, env=ENVIRONMENT)
    assert alone.returncode == 2
    assert found[1] in alone.stderr
    value = json.loads((tmp_path / "out.json").read_text())
    validate("sweep-1", value)
    assert [row["state"] for row in value["rows"]] == ["done", "failed"]


def test_all_faults_of_a_spec_are_told(tmp_path: Path) -> None:
    """Goal: one look at the file mends it: each fault with its line, and what is allowed."""
    file = written(
        tmp_path,
        """[sweep]
verb = "replay"
sede = 3
[base]
sorce = "gen:zipf"
idle = "yes"
classes = "disk.img"
[axes]
fttl = ["tree"]
ram = { from = "8K", to = "64K", steps = 4, skale = "log" }
half-life = [0, 10]
spare-blocks = 8
degree = []
maps = { from = 8, to = 2, steps = 3 }
limit = { from = 0, to = 2, steps = 3, scale = "log" }
seed = [1, 1]
json = ["x"]
ram-of-nobody = [1]
blocks = [1024, "1024"]
chip = ["W25N01GV", "W25N01"]
ftl = ["tree", "log", "lg"]
""",
    )
    done = ran(file)
    assert done.exit_code == 2
    said = done.stderr.replace(f"nandwich: error: {file}:", "").splitlines()
    lists = "(nandwich replay --help lists all)"
    wanted = "wanted a list of values, or {from=, to=, steps=}"
    assert said[:2] == [
        "3: unknown key 'sede'; did you mean seed or seeds?",
        f"5: unknown key 'sorce'; did you mean source or scale? {lists}",
    ]
    assert f"9: unknown key 'fttl'; did you mean ftl? {lists}" in said
    assert any(one.startswith("18: unknown key 'ram-of-nobody'") for one in said)
    assert [one for one in said if "unknown" not in one] == [
        '6: idle = "yes": it is on or off: true or false',
        "11: half-life = 0: 0 is not in the range 1<=x<=65536.",
        f"12: spare-blocks = 8: {wanted}",
        f"13: degree = []: {wanted}",
        "14: maps: from is not less than to",
        "15: limit: on a log scale from is more than 0",
        "16: seed: 1 is there twice",
        "17: json: options that write files, or show something else, are not taken",
        '19: blocks: "1024" is there twice, as 1024 too',
    ]
    assert "10: unknown key 'skale'; did you mean scale?" in said
    numbers = [int(one.partition(":")[0]) for one in said]
    assert numbers == sorted(numbers)
    # Names are looked up beside the faults before, whatever the source would be.
    assert any(one.startswith("20: unknown chip 'W25N01'") for one in said)
    assert any(one.startswith("21: unknown translation layer 'lg'") for one in said)


def test_every_wrong_value_is_told_once(tmp_path: Path) -> None:
    """A file and a workload that are not there, in any order of the values."""
    text = GRID.replace('source = "gen:zipf,requests=500"\n', "").replace(
        "[axes]",
        '[axes]\nsource = ["none.csv", "gen:zpf", "gen:zipf"]\nchip = ["NONE", "W25N01GV"]',
    )
    file = written(tmp_path, text)
    said = ran(file).stderr.replace(f"nandwich: error: {file}:", "").splitlines()
    assert sorted(line.split(";")[0] for line in said) == [
        "7: cannot read none.csv: No such file or directory",
        "7: unknown workload 'zpf'",
        "8: unknown chip 'NONE' (nandwich chips lists all)",
    ]


def test_a_wrong_workload_is_no_fault_of_the_nvm(tmp_path: Path) -> None:
    """Goal: what is right beside a source that nobody knows is not told with it."""
    nvm = 'blocks = 64\nnvm = "64K"'
    text = GRID.replace("gen:zipf", "gen:zpf").replace("blocks = 64", nvm)
    text = text.replace("spare-blocks = [14, 16]", 'tier = ["lru", "harc", "hrc"]')
    said = ran(written(tmp_path, text)).stderr.splitlines()
    assert [line.split("spec.toml:")[1].split(" '")[0] for line in said] == [
        "5: unknown workload",
        "10: unknown placement policy",
    ]


def test_compare_and_report_take_the_result(tmp_path: Path) -> None:
    """Goal: seeds are the noise of a configuration, one without room of some seed is no figure, and
    the page draws figures over the option with numbers."""
    text = GRID + 'ram = ["2K", "1M"]\n'
    target = tmp_path / "sweep.json"
    assert ran(written(tmp_path, text), "--json", target).exit_code == 0
    table, page = tmp_path / "compare.json", tmp_path / "page.html"
    done = CliRunner().invoke(main, ["compare", str(target), "--json", str(table)])
    assert done.exit_code == 0, done.stderr
    assert "4 configurations of nandwich sweep of replay" in done.stdout
    assert "does not fit:\n  tree spare-blocks=14 ram=2K\n" in done.stdout
    value = json.loads(table.read_text())
    validate("compare-1", value)
    rows = json.loads(target.read_text())["rows"]
    energies = {
        (*(row["configuration"][key] for key in ("ftl", "spare-blocks", "seed")),): one
        for row in rows
        if (one := row["values"].get("energy_pj"))
    }
    told = next(one for one in value["metrics"] if one["key"] == "energy_pj")["values"]
    for ftl, spare in itertools.product(("tree", "fast"), (14, 16)):
        pair = [energies[ftl, spare, seed] for seed in (1, 2)]
        one = told[f"{ftl} spare-blocks={spare} ram=1M"]
        assert [one["least"], one["most"]] == sorted(pair)
    assert ["seed" in one["config"] for one in value["configurations"]] == [False] * 8
    done = CliRunner().invoke(main, ["report", str(target), "-o", str(page)])
    assert done.exit_code == 0, done.stderr
    data = page.read_text()
    assert '"title":"Time at work over spare-blocks"' in data
    assert "tree spare-blocks=14 ram=2K: no room" in data
    twice = [str(target)] * 2
    both = CliRunner().invoke(main, ["compare", *twice])
    assert "8 configurations" in both.stdout


def test_the_best_possible_is_no_competitor(tmp_path: Path) -> None:
    """Goal: no policy is worse for what cannot be done, and the bound is not the best."""
    text = '[sweep]\nverb = "sched"\n[base]\nruns = 1\n[[point]]\npolicy = ["fifo", "slack"]\n'
    target = tmp_path / "sched.json"
    assert ran(written(tmp_path, text), "--json", target).exit_code == 0
    done = CliRunner().invoke(main, ["compare", str(target), "--json", "-"])
    assert done.exit_code == 0, done.stderr
    told = {one["key"]: one for one in json.loads(done.stdout)["metrics"]}["met_percent"]
    assert (told["best"], told["worst"]) == (
        "policy=fifo slack slack",
        "policy=fifo slack fifo",
    )


@pytest.mark.quick
def test_a_picture_says_what_holds_for_it() -> None:
    """Goal: no seeds where there are none, and of a break-even neither less nor more is better."""
    metrics = [Metric("less", "cost", "", "less", True), Metric("even", "even at", "", "", True)]

    def said(seeds: int) -> list[str]:
        book = Book()
        entries = [
            Entry(ram, [Figures(ram, "x", {"ram": ram}, {"less": at, "even": at})] * seeds)
            for at, ram in enumerate(("4K", "8K"))
        ]
        of_sweep.fill(book, "", entries, metrics)
        return [one.plan.says for one in book.pictures.values()]

    assert said(1) == ["Less is better.", ""]
    assert said(2) == ["The mean of the seeds. Less is better.", "The mean of the seeds."]


def test_a_large_sweep_has_pictures_alone(tmp_path: Path) -> None:
    """Goal: a page of hundreds of columns helps nobody."""
    text = GRID.replace("spare-blocks = [14, 16]", "limit = { from = 1, to = 40, steps = 40 }")
    target, page = tmp_path / "sweep.json", tmp_path / "page.html"
    assert (
        ran(written(tmp_path, text.replace("seeds = [1, 2]\n", "")), "--json", target).exit_code
        == 0
    )
    assert CliRunner().invoke(main, ["report", str(target), "-o", str(page)]).exit_code == 0
    data = page.read_text()
    assert "figures of 80 configurations side by side: nandwich compare has them" in data
    assert '"title":"Energy over limit"' in data
    assert '"sheets":[]' in data


def test_a_program_without_room_is_an_answer(tmp_path: Path) -> None:
    """Frames that the RAM does not hold, and a chip that does not hold the virtual memory; no file
    is kept of these, which is said."""
    text = f"""[sweep]
verb = "run"
[base]
sources = "{ROOT / "examples" / "hello.c"}"
once = true
native = false
[[point]]
ram = "8K"
[[point]]
vm = "1G"
[[point]]
ram = "2K"
statics = "4K"
[[point]]
ram = "32K"
"""
    keep = tmp_path / "kept"
    done = ran(written(tmp_path, text), "--keep", keep)
    assert done.exit_code == 0, done.stderr
    assert "4 points of nandwich run: 1 done, 3 with no room" in done.stdout
    assert "no file of 3 points without a result" in done.stderr
    assert len(list(keep.iterdir())) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: [sweep] has no verb; allowed: "),
        ('[sweep]\nverb = "chips"', "2: verb 'chips' is not swept; allowed: "),
        ('[sweep]\nverb = "replay"\n[bse]', "3: unknown table 'bse'; did you mean base or sweep?"),
        ('[sweep]\nverb = "replay"\n[[point]]\nftl = "tree"\n[[point]]\nflt = 1', "6: unknown"),
        (GRID.replace('"fast"', '"fst"'), "8: unknown translation layer 'fst'; did you mean fast"),
        (GRID.replace("gen:zipf", "gen:zpf"), "5: unknown workload 'zpf'; did you mean zipf"),
        (GRID.replace("gen:zipf,requests=500", "none.csv"), "5: cannot read none.csv"),
        (GRID + "[[point]]\nidle = true", "7: either [axes] or [[point]]"),
        (GRID.replace("seeds", "sample = 5\nseeds"), "3: sample = 5: the axes have 4 combinations"),
        (GRID.replace("seeds = [1, 2]", "seed = 1"), "3: seed is of the sample"),
        (GRID.replace("[1, 2]", '"all"'), "3: seeds is a list of whole numbers"),
        (GRID.replace("[14, 16]", "{ from = 1, to = 9 }"), "9: spare-blocks: a range without"),
        (GRID.replace("blocks = 64", "seed = 3"), "6: either seeds of [sweep], or a seed here"),
        (GRID.replace("blocks = 64", "axes = 3"), "6: unknown key 'axes'"),
        ('axes = 3\n[sweep]\nverb = "replay"', "1: axes is a table"),
        ('point = []\n[sweep]\nverb = "replay"', "1: points are tables: [[point]]"),
        ("sweep = ", "1: error: not TOML"),
    ],
)
def test_a_wrong_spec_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    done = ran(file)
    assert done.exit_code == 2
    assert f"{file}:{said}" in done.stderr
    assert not (tmp_path / "spec.sqlite").exists()


@pytest.mark.quick
def test_ranges_and_samples(tmp_path: Path) -> None:
    """Goal: a range has both its ends; a sample is of the grid, without doubles, and the seed alone
    chooses it."""
    grid = """
    [sweep]
    verb = "replay"
    [base]
    source = "gen:zipf"
    [axes]
    ram = { from = "8K", to = "64K", steps = 4, scale = "log" }
    spare-blocks = { from = 10, to = 30, steps = 3 }
    idle = [true, false]
    """
    whole = [one.arguments for one in spec.read(written(tmp_path, grid)).points]
    assert len(whole) == len(set(whole)) == 24
    rams = {one[one.index("--ram") + 1] for one in whole}
    spares = {one[one.index("--spare-blocks") + 1] for one in whole}
    assert rams == {"8192", "16384", "32768", "65536"}
    assert spares == {"10", "20", "30"}
    samples = []
    for seed in (1, 1, 2):
        text = grid.replace("[base]", f"sample = 10\nseed = {seed}\n[base]")
        samples.append([one.arguments for one in spec.read(written(tmp_path, text)).points])
    assert samples[0] == samples[1] != samples[2]
    assert len(set(samples[0])) == 10
    assert set(samples[0]) < set(whole)
    text = grid.replace("[base]", "sample = 50\n[base]").replace(", steps = 4", "")
    drawn = [one.chosen["ram"] for one in spec.read(written(tmp_path, text)).points]
    assert len(set(drawn)) > 40
    assert 8192 <= min(drawn) < 12000
    assert 50000 < max(drawn) <= 65536


OF_VERBS = {
    "sched": """
        [base]
        runs = 1
        bound = false
        [axes]
        seed = [1, 2]
        policy = ["slack", ["fifo", "edf"]]""",
    "energy": """
        [axes]
        file = ["examples/nodes/camera.toml"]""",
    "vmtrace": """
        [base]
        path = "sort.acc"
        frames = 512
        [axes]
        ram = [4096, "8K"]
        policy = ["lru", "lru,belady"]""",
    "run": """
        [base]
        sources = ["examples/sort.c"]
        once = true
        native = false
        arguments = ["heap", "1000"]
        [axes]
        ram = ["16K", "32K"]""",
}


#: The first result of a verb that has several: the point, and which of them it is.
NAMED = {"sched": "policy=slack slack", "vmtrace": "ram=4096 policy=lru lru ram=4096 frame=512"}


@pytest.mark.parametrize("verb", OF_VERBS)
def test_every_verb_is_swept(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: whatever the verb, its points are lines that can be run, two sweeps give the same
    bytes, and the second look at a store plays nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    Path("examples").symlink_to(ROOT / "examples")
    if verb == "vmtrace":
        line = ["run", "examples/sort.c", "--once", "--no-native", "--record-accesses", "sort.acc"]
        assert CliRunner().invoke(main, [*line, "--", "heap", "1000"]).exit_code == 0
    file = written(Path(), f'[sweep]\nverb = "{verb}"\n{OF_VERBS[verb]}')
    for jobs in ("1", "2"):
        done = ran(file, "--jobs", jobs, "--store", jobs, "--export", f"{jobs}.json")
        assert done.exit_code == 0, done.stderr
    assert Path("1.json").read_bytes() == Path("2.json").read_bytes()
    value = json.loads(Path("1.json").read_text())
    validate("sweep-1", value)
    rows = {"sched": 6, "energy": 1, "vmtrace": 6, "run": 2}
    assert len(value["rows"]) == rows[verb]
    assert all(row["values"] for row in value["rows"])
    if value["rows"][0]["result"]:
        done = CliRunner().invoke(main, ["compare", "1.json", "--json", "-"])
        assert json.loads(done.stdout)["configurations"][0]["name"] == NAMED[verb]
    line = [*shlex.split(value["rows"][-1]["command"])[1:]]
    again = CliRunner().invoke(main, [verb, "--json", "alone.json", *line[1:]])
    assert again.exit_code == 0, again.stderr
    assert ran(file, "--store", "1", "--dry-run").stdout.splitlines()[-1] == "time     none"


@pytest.mark.quick
def test_a_key_knows_the_files_that_files_name(tmp_path: Path) -> None:
    """Goal: a header of a program, or a part that a scenario names, is an input too."""
    (tmp_path / "program.c").write_text('#include "far.h"\n')
    (tmp_path / "far.h").write_text('#include "near.h"\n')
    (tmp_path / "scenario.toml").write_text('device = "part.toml"\n')
    for inner in ("near.h", "part.toml"):
        keys = set()
        for text in ("one", "two", "two"):
            (tmp_path / inner).write_text(text)
            texts = (str(tmp_path / "program.c"), str(tmp_path / "scenario.toml"))
            keys.add(Keys().of(Point("run", texts, texts=texts)))
        assert len(keys) == 2, inner


def test_a_dry_run_plays_nothing(tmp_path: Path) -> None:
    """Goal: how much there is to do is known before it is done, and leaves no trace."""
    file = written(tmp_path, GRID)
    done = ran(file, "--dry-run")
    assert (done.exit_code, done.stdout.splitlines()[2:]) == (
        0,
        [
            "points   8",
            "known    0",
            "to play  8",
            "time     not known: none has been played",
        ],
    )
    assert list(tmp_path.iterdir()) == [file]
    assert ran(file).exit_code == 0
    file.write_text(GRID.replace("[1, 2]", "[1, 2, 3]"))
    said = ran(file, "--dry-run").stdout.splitlines()
    assert said[2:5] == ["points   12", "known    8", "to play  4"]
    assert re.fullmatch(r"time     about .*s, \d+ at a time", said[5])


def test_parquet_has_the_same_rows(tmp_path: Path) -> None:
    """Goal: with pyarrow the columns of the CSV with types; without it one sentence, before
    anything is played."""
    file, target = written(tmp_path, GRID), tmp_path / "out.parquet"
    done = ran(file, "--export", target)
    if importlib.util.find_spec("pyarrow") is None:
        assert done.exit_code == 1
        assert "needs pyarrow: pip install pyarrow" in done.stderr
        assert not (tmp_path / "spec.sqlite").exists()
        return
    assert done.exit_code == 0, done.stderr
    parquet = importlib.import_module("pyarrow.parquet")
    found = parquet.read_table(target).to_pylist()
    assert ran(file, "--export", tmp_path / "out.csv").exit_code == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [{key: str(value) for key, value in one.items()} for one in found] == rows


def test_what_is_no_store_is_left_alone(tmp_path: Path) -> None:
    """Goal: neither a file of another kind nor a database of somebody else is written to."""
    file, store = written(tmp_path, GRID), tmp_path / "mine.sqlite"
    store.write_text("this is no database, and longer than the head of one has to be" * 10)
    before = store.read_bytes()
    done = ran(file, "--store", store)
    assert (done.exit_code, store.read_bytes()) == (2, before)
    assert "give another --store" in done.stderr
    store.unlink()
    with contextlib.closing(sqlite3.connect(store)) as other:
        other.execute("CREATE TABLE mine (x)")
    before = store.read_bytes()
    done = ran(file, "--store", store)
    assert (done.exit_code, store.read_bytes()) == (2, before)


def test_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    """Goal: docs/sweep.md can be followed line by line."""
    assert follow("sweep.md", tmp_path) >= 4


def test_a_reason_is_told_once(tmp_path: Path) -> None:
    """Goal: a thousand points that fail alike are a line; and compare says why there is nothing to
    lay side by side."""
    bad = tmp_path / "bad.csv"
    bad.write_text("time,op,offset,size\n1,w,x,y\n")
    text = GRID.replace("gen:zipf,requests=500", str(bad))
    target = tmp_path / "sweep.json"
    done = ran(written(tmp_path, text), "--json", target)
    assert done.exit_code == 1
    told = [line for line in done.stderr.splitlines() if "failed: " in line]
    assert len(told) == 1
    assert told[0].endswith("; so did 7 more, which --export names")
    again = CliRunner().invoke(main, ["compare", str(target)])
    assert again.exit_code == 2
    assert "no configuration has figures" in again.stderr
