# SPDX-License-Identifier: Apache-2.0
"""`nandwich tune` of a program: its page frames are searched with the layer, it runs once however
often it is tuned, and the choice goes to `nandwich run`, which then asks for what tune told."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich import _native, paths
from nandwich.cli import points, verb_run
from nandwich.cli.main import main
from nandwich.cli.tune import goals, space
from nandwich.cli.tune.need import Needs
from nandwich.errors import InputError
from nandwich.results.figures import ENDLESS

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
PAGES = 24
ACCESSES = 3000
SPACE = """\
[base]
precondition = 1
blocks = 64
[axes]
chip = ["K9F1G08U0A"]
ftl = ["tree", "lavish"]
ram = ["8K", "32K"]
frame = ["2K", "4K"]
memory = ["16K", "32K"]
policy = ["vm", "lru"]
"""
SORT = SPACE.replace(', "lavish"', "").replace('"16K", "32K"', '"32K", "64K"')


def invoked(*words: object, code: int = 0) -> Result:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


def written(folder: Path, text: str = SPACE) -> Path:
    file = folder / "space.toml"
    file.write_text(text)
    return file


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Accesses all over some pages of 4 KiB."""
    path, drawn = tmp_path / "some.acc", random.Random(3)
    writer = _native.AccessWriter(str(path), 1 << 16, PAGES << 12)
    for _ in range(ACCESSES):
        at = int(min(drawn.expovariate(0.15), PAGES - 1)) << 12
        writer.put((1 << 16) + at + drawn.randrange(4000), 4, drawn.random() < 0.4)
    writer.finish()
    return path


def tuned(folder: Path, source: str | Path, *more: object, text: str = SPACE) -> dict[str, Any]:
    words = ("tune", source, "--space", written(folder, text), "--store", folder / "kept.sqlite")
    value: dict[str, Any] = json.loads(invoked(*words, "--json", "-", *more).stdout)
    validate("tune-1", value)
    return value


def chosen(value: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in value["rows"] if row["place"] == value["choice"])


def test_goals_are_by_the_access(trace: Path, tmp_path: Path) -> None:
    """Goal: each figure is what replay tells of that memory, over the accesses of a run, which are
    the same for all; the RAM of page frames is in RAM and cost, beside the layer's."""
    value = tuned(tmp_path, trace)
    question = value["question"]
    assert (question["unit"], question["accesses"]) == ("access", ACCESSES)
    assert len({row["configuration"]["policy"] for row in value["rows"]}) == 2
    for row in value["rows"]:
        line, found, mine = row["command"].split()[1:], row["goals"], row["configuration"]
        told = json.loads(invoked(*line, "--json", "-").stdout)
        paging, result = told["source"]["paging"], told["result"]
        memory = {"16K": 16 << 10, "32K": 32 << 10}[mine["memory"]]
        assert paging["policy"] == mine["policy"]
        assert paging["frames"] * paging["frame_bytes"] == memory
        assert f"{paging['frame_bytes'] >> 10}K" == mine["frame"]
        assert found["time_ns"] == float(f"{result['busy_ns'] / ACCESSES:.6g}")
        assert found["energy_pj"] == float(f"{result['energy_pj'] / ACCESSES:.6g}")
        written_pages = result["layer"]["programs"]
        assert found["life"] == 100_000 * 64 * 64 * ACCESSES // written_pages
        assert found["ram_bytes"] - memory >= told["device"]["ram_bytes"]
        assert found["ram_bytes"] - memory <= told["options"]["ram_bytes"]
        assert found["cost_bytes"] == found["flash_bytes"] + 1000 * found["ram_bytes"]
        assert found["sectors_written"] == paging["writebacks"] * paging["frame_bytes"] // 2048
    assert value["reasons"][-1].startswith("A run of 3,000 accesses reads ")


def test_limits_count_frames_and_runs(trace: Path, tmp_path: Path) -> None:
    """Goal: --max-ram is for layer and frames together, and --runs makes days of a life."""
    value = tuned(tmp_path, trace, "--max-ram", "28K")
    assert {row["configuration"]["memory"] for row in value["rows"]} == {"16K"}
    assert any("over --max-ram" in why for why in value["impossible"])
    days = chosen(value)["goals"]["life"] / (50 * ACCESSES)
    value = tuned(tmp_path, trace, "--max-ram", "28K", "--runs", 50, "--min-life", "1d")
    assert chosen(value)["goals"]["life_days"] == pytest.approx(days, rel=1e-5)
    longest = max(row["goals"]["life_days"] for row in value["rows"])
    words = ("--space", written(tmp_path), "--store", tmp_path / "kept.sqlite", "--runs", 50)
    done = invoked("tune", trace, *words, "--min-life", f"{round(longest * 3)}d", code=1)
    assert "the nearest of" in done.stderr


@pytest.mark.quick
def test_what_the_vm_plays_otherwise_is_not_played(trace: Path) -> None:
    """Goal: frames smaller than a sector, which the VM gathers, and memories that are no memory are
    impossible, with the reason, and cost no replay."""
    source = f"access:{trace},frame=2K,ram=16K"
    needs = Needs(points.parsed([source]))
    assert needs.accesses == ACCESSES

    def why(memory: str, *words: str) -> str:
        return needs.of(points.parsed([f"access:{trace},{memory}", *words])).why

    assert "less than a sector of K9F1G08U0A, 2048 B" in why("frame=512,ram=16K")
    assert why("frame=512,ram=16K", "--chip", "TC58DVG02A1FT00") == ""
    assert "takes 5 frames at least, not 4" in why("frame=2K,ram=8K")
    assert why("frame=2K,ram=10K") == ""
    few = ("--chip", "TC58DVG02A1FT00", "--blocks", "14")
    assert "ram=32768,policy=vm takes 96 KiB of" in why("frame=4K,ram=32768,policy=vm", *few)
    need = needs.of(points.parsed([source, "--ram", "16K"]))
    assert need.ram_bytes == need.layer_bytes + (16 << 10)


@pytest.mark.quick
def test_the_memory_of_a_source_is_no_axis(trace: Path, tmp_path: Path) -> None:
    """Goal: what the source says stays, what it does not say is searched; both, or neither, are
    refused with file and line."""
    text = space.default_text_of_accesses(
        f"access:{trace},frame=2K", ["K9F1G08U0A", "W25N01GV"], ram_most=40 << 10
    )
    found = space.default(text, f"access:{trace},frame=2K")
    keys = {axis.key: axis.values for axis in found.axes}
    assert "frame" not in keys
    assert keys["memory"] == ("8K", "16K", "32K")
    assert (
        f"access:{trace},frame=2K,ram=32768,policy=lru"
        in found.point(found.first() | {"policy": "lru"}).command
    )
    with pytest.raises(InputError) as both:
        space.read(written(tmp_path), f"access:{trace},ram=16K", ())
    assert "space.toml:9: " in both.value.message
    assert "has a ram already" in both.value.message
    with pytest.raises(InputError) as neither:
        space.read(written(tmp_path, SPACE.replace("frame", "#")), f"access:{trace}", ())
    assert "no frame: give it values" in neither.value.message
    with pytest.raises(InputError) as unknown:
        space.read(written(tmp_path), "gen:zipf", ())
    assert "space.toml:8: unknown key 'frame'" in unknown.value.message
    with pytest.raises(InputError) as wrong:
        space.read(written(tmp_path, SPACE.replace('"lru"', '"lur"')), f"access:{trace}", ())
    assert "space.toml:10: policy" in wrong.value.message


def test_compare_and_report_take_the_result(trace: Path, tmp_path: Path) -> None:
    """Goal: they say that the goals are of an access, and draw the life too."""
    target, page = tmp_path / "tuned.json", tmp_path / "page.html"
    value = tuned(tmp_path, trace)
    target.write_text(json.dumps(value))
    compared = json.loads(invoked("compare", target, "--json", "-").stdout)
    labels = {line["key"]: line["label"] for line in compared["metrics"]}
    assert labels["time_ns"] == "time an access"
    assert labels["life_accesses"] == "life"
    row = next(row for row in value["rows"] if row["shown"])
    row["goals"]["life"], row["configuration"]["blocks"] = ENDLESS, None
    target.write_text(json.dumps(value))
    compared = json.loads(invoked("compare", target, "--json", "-").stdout)
    configs = [one["config"] for one in compared["configurations"]]
    assert [one["blocks"] for one in configs].count("all") == 1
    assert " endless " in invoked("compare", target).stdout
    invoked("report", target, "-o", page)
    assert '"key":"parallel-program"' in page.read_text()


def test_bytes_and_accesses_do_not_stand_side_by_side(trace: Path, tmp_path: Path) -> None:
    """Goal: a time a byte is neither better nor worse than a time an access."""
    files = [tmp_path / "accesses.json", tmp_path / "bytes.json"]
    text = '[axes]\nchip = ["K9F1G08U0A"]\nblocks = [64, 96]\nram = ["4K", "8K"]\n'
    values = tuned(tmp_path, trace), tuned(tmp_path, "gen:zipf,requests=500", text=text)
    for file, value in zip(files, values, strict=True):
        file.write_text(json.dumps(value))
    said = invoked("compare", *files, code=2).stderr
    assert f"of nandwich tune: {files[1]}" in said
    assert f"of nandwich tune of a program: {files[0]}" in said
    invoked("report", *files, "-o", tmp_path / "page.html")
    data = (tmp_path / "page.html").read_text()
    assert all(f'"key":"{key}"' in data for key in ("played", "played-program"))
    assert "<caption>nandwich tune of a program<" in data


@pytest.mark.quick
def test_a_part_of_a_run_is_no_goal(trace: Path, tmp_path: Path) -> None:
    """Goal: what plays less or more than a run is refused, and so is what has no accesses."""
    words = ("--store", tmp_path / "kept.sqlite", "--space")
    for key in ("limit = 100", "repeat = 2"):
        file = written(tmp_path, SPACE.replace("blocks = 64", key))
        assert "are of one whole run" in invoked("tune", trace, *words, file, code=2).stderr
    empty = tmp_path / "empty.acc"
    _native.AccessWriter(str(empty), 1 << 16, 1 << 12).finish()
    said = invoked("tune", empty, *words, written(tmp_path), code=2).stderr
    assert "no accesses in it" in said


@pytest.mark.quick
def test_too_good_is_no_better() -> None:
    """Goal: a memory without faults is not infinitely better than one with few of them."""
    none = goals.Goals(0, 0, ENDLESS, 5, 5, 0, 0, None, by_access=True)
    few = goals.Goals(8, 900, 2 * 10**16, 5, 5, 0, 0, None, by_access=True)
    assert none.vector == few.vector
    assert min(none.vector) > -17


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gen:zipf", "--", "heap"), "words after --: for a program"),
        (("gen:zipf", "--vm", "1M"), "--vm: for a program"),
        (("gen:zipf", "--runs", "3"), "--runs is of a program's accesses"),
        (("gen:zipf", "more.csv"), "one workload at a time"),
        (("none.c",), "none.c: no such file"),
        (("none.acc",), "error: none.acc: no such file"),
        (("TRACE", "--daily", "1M"), "give --runs"),
        (("TRACE", "--min-life", "5y"), "--runs N says how often"),
        (("TRACE", "--swap"), "virtual memory is swap space anyway"),
        (("access:TRACE,fram=2K",), "did you mean frame"),
    ],
)
def test_a_wrong_line_is_refused(words: Sequence[str], said: str, trace: Path) -> None:
    line = [word.replace("TRACE", str(trace)) for word in words]
    split = line.index("--") if "--" in line else len(line)
    given = ("--chips", "K9F1G08U0A", "--store", str(trace.parent / "kept.sqlite"))
    done = invoked("tune", *line[:split], *given, *line[split:], code=2)
    assert said in done.stderr
    assert not (trace.parent / "kept.sqlite").exists()


# ---- a program, and the way back ----

_COUNTS = """\
#include <stdio.h>
#include <stdlib.h>
#include LIMIT
int main(int argc, char **argv)
{
    FILE *log = fopen("runs.txt", "a");
    char *data = malloc(argc > 1 ? (size_t)atol(argv[1]) : 1);
    fputs("x", log);
    fclose(log);
    for (long i = 0; i < limit; i++) {
        data[(i * 7919L) % 90000L] += 1;
    }
    return argc > 1 ? 0 : 3;
}
"""


def test_a_program_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: another question plays the recording; another argument, flag or header runs it again;
    a program that fails leaves no recording, and says how to look."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "count.c").write_text(_COUNTS)
    (tmp_path / "limit.h").write_text("static const long limit = 50000;\n")

    def runs(*more: object) -> int:
        where = ("count.c", "--cflags", "-DLIMIT='\"limit.h\"'")
        tuned(tmp_path, *where, *more, text=SORT)
        return len((tmp_path / "runs.txt").read_text())

    assert runs("--", "90000") == 1
    assert runs("--best", "cost", "--max-ram", "60K", "--", "90000") == 1
    assert runs("--", "90001") == 2
    (tmp_path / "limit.h").write_text("static const long limit = 40000;\n")
    assert runs("--", "90001") == 3
    kept = list((tmp_path / "kept.sqlite.accesses").iterdir())
    assert len(kept) == 3
    line = ("--cflags", "-DLIMIT='\"limit.h\"'", "--space", "space.toml", "--store", "kept.sqlite")
    said = invoked("tune", "count.c", *line, code=1).stderr
    assert "the program failed" in said
    assert "nandwich run count.c" in said
    assert list((tmp_path / "kept.sqlite.accesses").iterdir()) == kept


@pytest.mark.parametrize("policy", ["vm", "lru"])
def test_run_takes_the_choice(policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: tuned, chosen and run, a program reads and writes the sectors that tune told, within
    3 %, on the part, the layer and the frames that were chosen, and takes so long."""
    monkeypatch.chdir(ROOT)
    choice, told = tmp_path / "choice.toml", tmp_path / "run.json"
    only = SORT.replace('"vm", "lru"', f'"{policy}"').replace("blocks = 64", "spare-blocks = 20")
    only = only.replace('["K9F1G08U0A"]', '["W25N01GV"]\nblocks = [96]')
    if policy == "lru":  # one with a cache, the other without
        only = only.replace('"8K", ', "")
    program = ("examples/sort.c",)
    value = tuned(
        tmp_path, *program, "--best", "cost", "--out", choice, "--", "heap", 20000, text=only
    )
    words = ("--config", choice, "--once", "--no-native", "--json", told)
    done = invoked("run", *program, *words, "--", "heap", 20000)
    assert "choice.toml: of replay alone, and ignored: precondition" in done.stderr
    run, one = json.loads(told.read_text()), chosen(value)
    goal, device = one["goals"], run["device"]
    assert run["ftl"]["host_reads"] == pytest.approx(goal["sectors_read"], rel=0.03)
    assert run["ftl"]["host_writes"] == pytest.approx(goal["sectors_written"], rel=0.03)
    assert goal["sectors_written"] > 500
    assert (device["chip"], device["ftl"], device["blocks"]) == ("W25N01GV", "tree", 96)
    assert f"{device['frame_bytes'] >> 10}K" == one["configuration"]["frame"]
    memory = device["frames"] * device["frame_bytes"]
    assert f"{memory >> 10}K" == one["configuration"]["memory"]
    assert device["policy"] == {"vm": "clock", "lru": "lru"}[policy]
    assert run["provenance"]["inputs"].keys() == {"examples/sort.c", str(choice)}
    played = json.loads(invoked("replay", "--config", choice, "--json", "-").stdout)
    assert played["options"]["ram_bytes"] == goal["ram_bytes"] - memory
    assert goal["time_ns"] == float(
        f"{played['result']['busy_ns'] / value['question']['accesses']:.6g}"
    )
    line = [*program, "--config", str(choice)]
    with verb_run.command.make_context("nandwich run", line) as context:
        asked = {key: context.params[key] for key in ("maps", "spare_blocks")}
    assert asked == {"maps": 0} | played["device"]["layer"]
    assert asked["spare_blocks"] == 20
    whole = goal["time_ns"] * value["question"]["accesses"]
    # The old device that was replayed cleans, the new one of the run hardly does.
    assert 0.5 < run["time_ns"]["storage"] / whole < 1.05


def test_a_config_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path) -> None:
    """Goal: options of run stand in a file of verb run; the line stands before the file; what is
    wrong is refused with file and line, and a policy that the VM has not is told."""
    monkeypatch.chdir(ROOT)
    file, told = tmp_path / "own.toml", tmp_path / "run.json"
    line = ("run", "examples/hello.c", "--once", "--no-native", "--config", file)

    def device(text: str, *more: object) -> dict[str, Any]:
        file.write_text(text)
        done = invoked(*line, "--json", told, *more)
        found: dict[str, Any] = json.loads(told.read_text())["device"]
        return found | {"said": done.stderr}

    own = '[sweep]\nverb = "run"\n[base]\nframe = "1K"\nram = "64K"\nftl = "tree"\nnative = false\n'
    found = device(own, "--ram", "32K")
    assert (found["frame_bytes"], found["frames"], found["ftl"]) == (1024, 32, "tree")
    memory = (
        f'[base]\nftl = "tree"\nblocks = 64\nsource = "access:{trace},frame=2K,ram=48K,policy=2q"\n'
    )
    found = device(memory)
    assert (found["blocks"], found["slots"], found["lookaside"]) == (64, 6, 0)
    assert "ignored: policy=2q" in found["said"]
    for text, said in (
        ('[base]\nflt = "tree"\n', "own.toml:2: unknown key 'flt'; did you mean ftl"),
        ('[sweep]\nverb = "run"\n[base]\nspare = 3\n', "own.toml:4: unknown key 'spare'"),
        ('[base]\nftl = "tree"\nram = "1K"\n', "needs 4.139 KiB of RAM"),
    ):
        file.write_text(text)
        assert said in invoked(*line, code=2).stderr
    file.write_text(own)
    board = ("--target", "cortex-m3")
    done = invoked("run", "examples/hello.c", *board, "--config", file, code=2)
    assert "--config does not go with --target" in done.stderr
