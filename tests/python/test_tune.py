# SPDX-License-Identifier: Apache-2.0
"""`nandwich tune`: the front is what brute force finds, the same question gives the same bytes, no
replay is played twice or for nothing, and what was chosen is what others then play."""

import csv
import itertools
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import third_party
from click.testing import CliRunner, Result
from schemas import validate
from test_sweep import ENVIRONMENT, kept, until
from transcripts import follow

from lab import firmware
from nandwich import paths
from nandwich.cli import points
from nandwich.cli.main import main
from nandwich.cli.tune import goals, search, space
from nandwich.cli.tune.need import Needs
from nandwich.errors import InputError

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
SOURCE = "gen:zipf,requests=500,footprint=3M"
SPACE = """\
[sweep]
verb = "replay"
[base]
precondition = 1
[axes]
chip = ["K9F1G08U0A", "W25N01GV"]
ftl = ["tree", "fast"]
blocks = [48, 64, 96, 2048]
ram = { from = "2K", to = "64K", steps = 6, scale = "log" }
spare-blocks = [12, 16]
nvm = ["64K", 0]
tier = ["harc", "lru"]
"""
GRID = """\
[axes]
chip = ["K9F1G08U0A"]
ftl = ["tree", "lavish"]
blocks = [64, 96]
ram = ["3K", "4K", "8K", "12K"]
"""


def ran(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["tune", *map(str, arguments)])


def written(folder: Path, text: str = SPACE) -> Path:
    file = folder / "space.toml"
    file.write_text(text)
    return file


def asked(folder: Path, *more: str | Path, space: str = SPACE) -> tuple[str | Path, ...]:
    """A line with a store of its own."""
    file = written(folder, space)
    return (SOURCE, "--space", file, "--store", folder / "kept.sqlite", *more)


def tuned(folder: Path, *more: str | Path, space: str = SPACE) -> dict[str, Any]:
    done = ran(*asked(folder, "--json", "-", *more, space=space))
    assert done.exit_code == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    validate("tune-1", value)
    return value


def beats(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


@pytest.mark.quick
def test_the_front_is_what_nothing_beats() -> None:
    """Goal: by brute force, with many equal values; of equal ones one is there."""
    drawn = random.Random(3)
    for _ in range(50):
        some = [tuple(drawn.randrange(4) / 1 for _ in goals.GOALS) for _ in range(30)]
        wanted = {one for one in some if not any(beats(other, one) for other in some)}
        found = [some[i] for i in goals.front(some)]
        assert set(found) == wanted
        assert len(found) == len(wanted)
        assert found == sorted(found)


@pytest.mark.quick
def test_the_choice_goes_by_factors() -> None:
    """Goal: the middle gives up little of each goal; an end is the best in its goal; a neighbour is
    clearly better in its goal, and shown are the ends."""
    front = [(0.0, 0.0, 0.0, 3.0), (0.3, 0.3, 0.0, 0.3), (0.31, 0.3, 0.0, 0.29), (4.0, 3.0, 0, 0.0)]
    assert goals.choose(front, "balanced") == 1
    assert [goals.choose(front, goal) for goal in goals.GOALS] == [0, 0, 1, 3]
    assert goals.neighbour(front, 1, "cost") == 3  # 2 costs 2 % less
    assert goals.neighbour(front, 1, "time") == 0
    assert goals.neighbour(front, 0, "time") is None
    assert goals.spread(front, [1], 3) == [0, 1, 3]


@pytest.mark.quick
def test_a_space_of_ones_own(tmp_path: Path) -> None:
    """Goal: numbers stand in their order; what has no effect is no difference; the source and the
    chips of the line stand before those of the file."""
    found = space.read(written(tmp_path), SOURCE, ["W25N01GV"])
    values = {axis.key: axis.values for axis in found.axes}
    assert values["nvm"] == (0, "64K")
    assert values["ram"] == (2048, 4096, 8192, 16384, 32768, 65536)
    assert values["chip"] == ("W25N01GV",)
    assert found.size == 1 * 2 * 4 * 6 * 2 * 2 * 2
    first = found.first()
    lines = [found.point(first | {"tier": tier}).command for tier in ("lru", "harc")]
    assert (
        lines[0]
        == lines[1]
        == (
            f"nandwich replay {SOURCE} --chip W25N01GV --ftl tree --blocks 48 --spare-blocks 12 "
            "--ram 2048 --precondition 1"
        )
    )
    assert "--tier harc" in found.point(first | {"nvm": "64K", "tier": "harc"}).command


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SPACE.replace("ftl", "flt"), "7: unknown key 'flt'; did you mean ftl"),
        (SPACE.replace('"fast"', '"fst"'), "7: unknown translation layer 'fst'"),
        (SPACE.replace("[base]", "seeds = [1]\n[base]"), "3: seeds is for nandwich sweep"),
        (SPACE.replace('"replay"', '"run"'), '2: tune plays replay: verb = "replay"'),
        (SPACE + "[[point]]\nidle = true", "13: unknown table of a space 'point'"),
        (SPACE.replace('"lru"', '"lr"'), "12: unknown placement policy 'lr'"),
    ],
)
def test_a_wrong_space_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputError) as found:
        space.read(file, SOURCE, ())
    assert f"{file}:{said}" in found.value.message


@pytest.mark.quick
def test_what_cannot_be_is_known_beforehand() -> None:
    """Goal: no replay is spent on what opening the layer, the part or the source tells."""

    def need(*words: str) -> Any:
        return needs.of(points.parsed([SOURCE, *words]))

    needs = Needs(points.parsed([SOURCE]))
    assert "needs 4.139 KiB of RAM" in need("--ram", "3K").why
    assert "takes 2.996 MiB of" in need("--blocks", "32").why
    assert "takes no wear policy" in need("--wear", "swl").why
    one, other = need("--ram", "600K"), need("--ram", "900K")
    assert (one.why, one.same) == ("", other.same)
    assert one.flash_bytes == 128 << 20
    assert need("--ram", "16K").same != one.same
    assert need("--idle").same == need().same  # the source has no times
    assert need("--seed", "2").same != need().same


def test_a_small_space_is_played_whole(tmp_path: Path) -> None:
    """Goal: the front is that of all combinations, with goals computed from what replay tells."""
    value = tuned(tmp_path, space=GRID)
    found = {}
    for ftl, blocks, ram in itertools.product(
        ("tree", "lavish"), (64, 96), ("3K", "4K", "8K", "12K")
    ):
        line = [SOURCE, "--chip", "K9F1G08U0A", "--ftl", ftl, "--blocks", str(blocks), "--ram", ram]
        done = CliRunner().invoke(main, ["replay", *line, "--json", "-"])
        if done.exit_code:
            continue
        told = json.loads(done.stdout)
        result = told["result"]
        host = result["bytes_read"] + result["bytes_written"]
        pages = 100_000 * 64 * blocks
        key = (ftl, blocks, told["device"]["ram_bytes"])
        found[key] = (
            float(f"{result['busy_ns'] / host:.6g}"),
            float(f"{result['energy_pj'] / host:.6g}"),
            -(pages * result["bytes_written"] // result["layer"]["programs"]),
        )
    rows = value["rows"]
    assert len(rows) == len(found)
    for row in rows:
        one = row["goals"]
        chosen = row["configuration"]
        mine = [
            figures
            for (ftl, blocks, ram), figures in found.items()
            if (ftl, blocks) == (chosen["ftl"], chosen["blocks"]) and ram <= one["ram_bytes"]
        ]
        assert (one["time_ns"], one["energy_pj"], -one["life"]) in mine
        assert one["cost_bytes"] == one["flash_bytes"] + 1000 * one["ram_bytes"]
    told = [
        (one["time_ns"], one["energy_pj"], -one["life"], one["cost_bytes"])
        for one in (row["goals"] for row in rows)
    ]
    for row, mine in zip(rows, told, strict=True):
        assert (row["place"] is None) == any(beats(other, mine) for other in told)


def test_the_same_bytes_at_any_number_of_jobs(tmp_path: Path) -> None:
    """Goal: the answer hangs on the question alone, and another seed asks otherwise."""
    made = []
    for jobs, store in ((1, "one"), (4, "four"), (2, "four")):
        names = [tmp_path / f"{jobs}{end}" for end in (".csv", ".json", ".toml")]
        done = ran(
            *(SOURCE, "--space", written(tmp_path), "--evaluations", "30", "--jobs", str(jobs)),
            *("--store", tmp_path / store, "--export", names[0]),
            *("--json", names[1], "--out", names[2]),
        )
        assert done.exit_code == 0, done.stderr
        assert ("30 replays played, 0 known" in done.stderr) == (jobs != 2)
        assert ("0 replays played, 30 known" in done.stderr) == (jobs == 2)
        made.append([name.read_bytes() for name in names])
    assert made[0] == made[1] == made[2]
    rows = list(csv.DictReader(made[0][0].decode().splitlines()))
    value = json.loads(made[0][1])
    assert [row["energy_pj"] for row in rows] == [
        str(row["goals"]["energy_pj"]) for row in value["rows"]
    ]
    other = tuned(tmp_path, "--evaluations", "30", "--seed", "2")
    lines = [{row["command"] for row in one["rows"]} for one in (value, other)]
    assert lines[0] != lines[1]


def test_nothing_is_played_twice_or_for_nothing(tmp_path: Path) -> None:
    """Goal: each of the replays that were paid for is different in effect, and within the limits
    that are known beforehand."""
    limits = ("--max-ram", "12K", "--max-flash", "9M", "--evaluations", "20")
    value = tuned(tmp_path, *limits)
    assert len(kept(tmp_path / "kept.sqlite")) == len(value["rows"]) <= 20
    lines = [row["command"] for row in value["rows"]]
    assert len(set(lines)) == len(lines)
    told = [json.dumps([row["goals"], row["configuration"]["chip"]]) for row in value["rows"]]
    assert len(set(told)) == len(told)
    for row in value["rows"]:
        assert row["goals"]["ram_bytes"] <= 12 << 10
        assert row["goals"]["flash_bytes"] <= 9 << 20
    reasons = " ".join(value["impossible"])
    assert "over --max-ram or --max-flash" in reasons


def test_more_blocks_than_the_chip_has_are_all_of_it(tmp_path: Path) -> None:
    """Goal: an axis serves chips of several sizes, and none of them is played twice."""
    text = """\
[axes]
chip = ["K9F1G08U0A", "MT29F2G08ABAEA"]
blocks = [0, 512, 1024, 2048, 4096]
"""
    value = tuned(tmp_path, space=text)
    told = [(row["configuration"]["chip"], row["configuration"]["blocks"]) for row in value["rows"]]
    assert sorted(told, key=str) == [
        ("K9F1G08U0A", 512),
        ("K9F1G08U0A", None),
        ("MT29F2G08ABAEA", 1024),
        ("MT29F2G08ABAEA", 512),
        ("MT29F2G08ABAEA", None),
    ]
    assert (value["repeated"], value["impossible"]) == (5, {})


def test_what_came_nearest_is_told(tmp_path: Path) -> None:
    """Goal: where the limits leave nothing, the least that is needed is said, with its sizes."""
    done = ran(*asked(tmp_path, "--max-flash", "1M", "--max-ram", "3K", space=GRID))
    assert done.exit_code == 1
    said = done.stderr.splitlines()
    nearest = next(line for line in said if "the nearest that was not played is" in line)
    assert "blocks=64" in nearest
    assert nearest.endswith(" of RAM, 8 MiB of flash")


def test_a_life_is_marked_where_the_nvm_swallows_the_trace(tmp_path: Path) -> None:
    """Goal: nobody takes 8,000 years for an answer; and the choice says what its layer is."""
    text = """\
[axes]
ftl = ["fast", "page"]
ram = ["1M"]
blocks = [256]
nvm = ["16K", "4M"]
nvm-part = ["STTRAM-16M"]
"""
    out = tmp_path / "choice.toml"
    done = ran(*asked(tmp_path, "--best", "time", "--out", out, space=text))
    assert done.exit_code == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if "nvm=" in line]
    assert rows
    assert all((" ? " in line) == ("nvm=4M" in line) for line in rows), rows
    assert "a longer trace shows how flash wears" in done.stderr
    assert "is a model of a published layer: not for a device" in out.read_text()
    assert "a longer trace" in out.read_text()


@pytest.mark.parametrize("chip", ["PCM-16M", "SANDISK-SD-128M", "NONE"])
def test_chips_are_flash(tmp_path: Path, chip: str) -> None:
    """Goal: an NVM, a card and a name that nobody knows are told before anything is asked."""
    said = [ran(SOURCE, "--chips", f"W25N01GV,{chip}").stderr]
    text = SPACE.replace('"W25N01GV"', f'"{chip}"')
    said.append(ran(*asked(tmp_path, space=text)).stderr)
    assert ":6: " in said[1]
    for one in said:
        assert chip in one
        assert re.search("is an NVM|is a sdcard: layers work on nand|unknown chip", one), one


def test_a_life_that_is_too_short_is_not_chosen(tmp_path: Path) -> None:
    """Goal: the limit takes what was played off the front; with none left the nearest is told."""
    free = tuned(tmp_path, "--daily", "1G", space=GRID)
    lives = sorted(row["goals"]["life_days"] for row in free["rows"])
    middle = lives[len(lives) // 2]
    value = tuned(tmp_path, "--daily", "1G", "--min-life", f"{int(middle)}d", space=GRID)
    for row in value["rows"]:
        assert row["allowed"] == (row["goals"]["life_days"] >= int(middle))
        assert row["allowed"] or (row["place"] is None and "a life of" in row["why"])
    longest = f"{int(lives[-1]) + 1}d"
    done = ran(*asked(tmp_path, "--daily", "1G", "--min-life", longest, space=GRID))
    assert done.exit_code == 1
    assert re.search(r"the nearest of \d+ is ", done.stderr)
    assert re.search(r"a life of .* at most", done.stderr)
    done = ran(*asked(tmp_path, "--min-life", "5y", space=GRID))
    assert (done.exit_code, "--daily SIZE says what is written" in done.stderr) == (2, True)


def test_a_csv_of_ones_own_has_its_columns_in_the_space(tmp_path: Path) -> None:
    """Goal: no option is named that tune has not, and what it says instead helps."""
    trace = tmp_path / "own.csv"
    trace.write_text("".join(f"{1000 * i},w,{2048 * (i % 50)},2048\n" for i in range(200)))
    line = (trace, "--store", tmp_path / "kept.sqlite", "--space")
    done = ran(*line, written(tmp_path, GRID))
    assert done.exit_code == 2
    assert "--columns" not in done.stderr
    found = re.search(r"in \[base\] of --space, say (.*) and (.*); --show-space", done.stderr)
    assert found is not None, done.stderr
    assert ran(*line, written(tmp_path, f"[base]\n{found[1]}\n{found[2]}\n{GRID}")).exit_code == 0


def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    """Goal: the same line goes on: what was kept stays, and the answer is that of an unbroken
    run."""
    long = ("gen:zipf,requests=40K,footprint=3M", "--space", str(written(tmp_path)))
    line = [*long, "--evaluations", "24", "--jobs", "2"]
    store = tmp_path / "kept.sqlite"
    running = subprocess.Popen(
        [sys.executable, "-m", "nandwich", "tune", *line, "--store", str(store)],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=ENVIRONMENT,
    )
    until(lambda: len(kept(store)) >= 10)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    time.sleep(0.1)
    before = kept(store)
    assert 10 <= len(before) < 24
    made = []
    for name in ("kept", "whole"):
        target = tmp_path / f"{name}.json"
        done = ran(*line, "--store", tmp_path / f"{name}.sqlite", "--json", target)
        assert done.exit_code == 0, done.stderr
        made.append(target.read_bytes())
    after = kept(store)
    assert {key: after[key] for key in before} == before
    assert len(after) == 24
    assert made[0] == made[1]


def test_others_take_the_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: replay, compare and sweep play what was chosen, and find its figures."""
    choice = tmp_path / "choice.toml"
    value = tuned(tmp_path, "--evaluations", "20", "--out", choice)
    row = next(row for row in value["rows"] if row["place"] == value["choice"])

    def told(*line: str | Path) -> Any:
        done = CliRunner().invoke(main, [*map(str, line)])
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    alone = told("replay", "--config", choice, "--json", "-")
    result = alone["result"]
    host = result["bytes_read"] + result["bytes_written"]
    assert float(f"{result['busy_ns'] / host:.6g}") == row["goals"]["time_ns"]
    assert list(alone["provenance"]["inputs"]) == [str(choice)]
    repeated = told(*shlex.split(row["command"])[1:], "--json", "-")
    assert repeated["result"] == result
    one = told("sweep", choice, "--store", tmp_path / "sweep.sqlite", "--json", "-")
    assert one["rows"][0]["values"]["busy_ns"] == result["busy_ns"]
    other = tmp_path / "other.toml"
    other.write_text('[base]\nftl = "fast"\nblocks = 64\nback-to-back = true\nwrap = true\n')
    lists = f"{choice},{other}"
    two = told("compare", SOURCE, "--config", lists, "--precondition", "1", "--json", "-")
    assert [one["name"] for one in two["configurations"]] == [str(choice), str(other)]
    busy = next(line for line in two["metrics"] if line["key"] == "busy_ns")
    assert busy["values"][str(choice)]["mean"] == result["busy_ns"]


@pytest.mark.quick
def test_a_wrong_config_is_refused(tmp_path: Path) -> None:
    """Goal: with file and line; and the line stands before the file."""
    file = tmp_path / "own.toml"

    def said(text: str) -> str:
        file.write_text(text)
        done = CliRunner().invoke(main, ["replay", SOURCE, "--config", str(file)])
        assert done.exit_code == 2
        return done.stderr

    assert f"{file}:2: unknown key 'flt'; did you mean ftl" in said('[base]\nflt = "tree"\n')
    assert f"{file}:1: base is a table" in said("base = 3\n")
    many = '[sweep]\nverb = "replay"\nseeds = [1, 2]\n[base]\nftl = "tree"\n'
    assert f"{file}:3: --config takes one point" in said(many)
    assert "nandwich sweep plays axes" in said('[axes]\nftl = ["tree"]\n')
    assert "unknown key 'json'" in said('[base]\njson = "x"\n')
    assert "Invalid value for '--ram'" in said('[base]\nram = "x"\n')
    file.write_text('[base]\nsource = "none.csv"\nblocks = 64\nidle = true\nprecondition = 1\n')
    line = ["replay", SOURCE, "--config", str(file), "--blocks", "96", "--json", "-"]
    value = json.loads(CliRunner().invoke(main, line).stdout)
    assert (value["device"]["blocks"], value["options"]["idle"]) == (96, True)
    assert value["options"]["precondition_permille"] == 1000


def test_compare_and_report_take_the_result(tmp_path: Path) -> None:
    """Goal: the front side by side, and its pictures; a changed result is refused."""
    target, page = tmp_path / "tuned.json", tmp_path / "page.html"
    value = tuned(tmp_path, "--evaluations", "20")
    target.write_text(json.dumps(value))
    done = CliRunner().invoke(main, ["compare", str(target), "--json", "-"])
    assert done.exit_code == 0, done.stderr
    compared = json.loads(done.stdout)
    shown = sorted((row["place"], row["name"]) for row in value["rows"] if row["shown"])
    names = [f"{place} {name}" for place, name in shown]
    assert [one["name"] for one in compared["configurations"]] == names
    done = CliRunner().invoke(main, ["report", str(target), "-o", str(page)])
    assert done.exit_code == 0, done.stderr
    text = page.read_text()
    assert '"key":"parallel"' in text
    assert '"key":"played"' in text
    del value["rows"][0]["goals"]
    target.write_text(json.dumps(value))
    done = CliRunner().invoke(main, ["report", str(target), "-o", str(page)])
    assert (done.exit_code, "goals" in done.stderr) == (2, True)


@pytest.mark.quick
def test_without_optuna_a_sentence_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: the extra is named; a space that is played whole does not need it."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = ran(*asked(tmp_path, "--evaluations", "9"))
    assert (done.exit_code, "pip install 'nandwich[scale]'" in done.stderr) == (1, True)
    assert ran(*asked(tmp_path, "--evaluations", "16", space=GRID)).exit_code == 0


@pytest.mark.quick
def test_where_the_sampler_repeats_chance_goes_on(tmp_path: Path) -> None:
    """Goal: all that is possible is found even where nearly all is wanted, and the search ends."""
    found = space.read(written(tmp_path, GRID.replace('"lavish"', '"log"')), SOURCE, ())
    needs = Needs(space.parsed(found.point(found.first())))

    def look(chosen: dict[str, Any]) -> search.Candidate:
        point = found.point(chosen)
        need = needs.of(space.parsed(point))
        return search.Candidate(chosen, point, need, need.why)

    def play(batch: Sequence[search.Candidate]) -> list[search.Found]:
        return [search.Found(one, None, "not played", 1.0) for one in batch]

    whole, sampled = (search.Search(found, look, play) for _ in range(2))
    whole.run(16, 1)
    sampled.run(15, 1)
    same = [{one.candidate.need.same for one in each.found} for each in (whole, sampled)]
    assert same[0] == same[1]
    assert len(same[0]) == len(sampled.found)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ((SOURCE,), "which chips? Give --chips A,B"),
        ((SOURCE, "--chips", "W25N01GV,W25N01GV"), "W25N01GV is twice"),
        ((SOURCE, "--chips", "W25N01GV,"), "a name is empty"),
        ((SOURCE, "--chips", "W25N"), "did you mean W25N01GV"),
        (("none.csv", "--chips", "W25N01GV"), "error: none.csv: no such file"),
        ((SOURCE, "--chips", "W25N01GV", "--min-life", "5"), "'5' has no unit"),
        ((SOURCE, "--chips", "W25N01GV", "--export", "x.txt"), "ends in one of"),
        ((SOURCE, "--chips", "W25N01GV", "--out", "SPACE"), "not written by nandwich tune"),
    ],
)
def test_a_wrong_line_is_refused(line: tuple[str, ...], said: str, tmp_path: Path) -> None:
    space = written(tmp_path)
    line = tuple(word.replace("SPACE", str(space)) for word in line)
    done = ran(*line, "--store", tmp_path / "kept.sqlite")
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "kept.sqlite").exists()


@pytest.mark.skipif(bool(firmware.missing()), reason="needs what tools/setup test installs")
def test_the_firmware_takes_the_choice(tmp_path: Path) -> None:
    """Goal: the block device of examples/firmware has the blocks, the spare blocks and the RAM that
    were chosen, and keeps what it acknowledged; what it cannot be is refused."""
    third_party.fetch(third_party.LITTLEFS)
    choice, grid = tmp_path / "choice.toml", GRID.replace("K9F1G08U0A", "W25N01GV")
    small = grid.replace('"tree", "lavish"', '"tree"') + "spare-blocks = [13, 20]\n"
    tuned(tmp_path, "--out", choice, "--max-ram", "6K", space=small)
    told = dict(line.split(" = ") for line in choice.read_text().splitlines() if " = " in line)
    image = firmware.build(firmware.BLOCKDEV, tmp_path / "built", choice)
    runner = firmware.build_runner(tmp_path)
    run = firmware.run(runner, image, firmware.BLOCKDEV, 10_000_000, last=".d", cuts=[24_000_000])
    assert not run.violations
    lines = list(itertools.chain(*run.starts))
    assert any(line.startswith("kept ") for line in lines)
    need = next(int(line.split()[1]) for line in lines if line.startswith("ram "))
    assert need <= int(told["ram"])
    choice.write_text(choice.read_text().replace('"tree"', '"lavish"'))
    with pytest.raises(Exception, match="blockdev is the tree layer over a W25N01GV"):
        firmware.build(firmware.BLOCKDEV, tmp_path / "other", choice)


def test_the_page_shows_what_happens(tmp_path: Path) -> None:
    """Goal: each command of docs/tune.md prints what stands there."""
    assert follow("tune.md", tmp_path) == 8
