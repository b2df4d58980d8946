# SPDX-License-Identifier: Apache-2.0
"""Goal: the verb torture plays histories and tells what they break, the same for any number of
jobs, with a text that replays; bad requests and bad histories are refused with their place."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich import _native, paths
from nandwich.cli.main import main
from nandwich.torture import play as torture

#: Bits flip in every page of the first blocks: no layer can help that.
SPOILT = """nandwich-torture 1
subject tree
part K9F1G08U0A
part.blocks 20
part.block_pages 16
part.factory_bad 0
steps
write 0 3
sync
""" + "".join(f"flip {page} {bit}\n" for page in range(320) for bit in (8, 9))
SPOILT += "idle 5\ncheck\n"


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def _json(*arguments: object) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(_run(*arguments, "--json", "-").stdout)
    validate("torture-1", value)
    return value


@pytest.mark.quick
@pytest.mark.asan
@pytest.mark.parametrize("subject", torture.SUBJECTS)
def test_seeds_go_well(subject: str) -> None:
    value = _json("torture", subject, "--seeds", 12, "--seed", 500)
    assert value["result"]["found"] is None
    assert value["result"]["runs"] == 12
    assert value["result"]["cuts"] > 0


@pytest.mark.asan
@pytest.mark.parametrize("chip", ["W25Q128JV", "AT45DB041B"])
def test_seeds_go_well_on_parts_without_a_spare_area(chip: str) -> None:
    """Goal: cuts and failures of a NOR and of a DataFlash, below the filter that gives them one."""
    value = _json("torture", "tree", "--seeds", 12, "--seed", 500, "--chip", chip)
    assert value["result"]["found"] is None
    assert value["result"]["cuts"] > 20


@pytest.mark.parametrize("subject", torture.SUBJECTS)
@pytest.mark.parametrize("chip", ["SANDISK-SD-128M", "MICROSD-8G", "PCM-16M", "STTRAM-16M"])
def test_a_part_that_is_no_raw_flash_is_refused(subject: str, chip: str) -> None:
    """Goal: one sentence. A card or an NVM has no pages a block: the tree divided by them."""
    done = _run("torture", subject, "--chip", chip, "--seeds", 2)
    assert done.exit_code == 2
    assert f"{chip} is no raw flash" in done.output
    assert "Traceback" not in done.output


def test_same_bytes_for_any_number_of_jobs() -> None:
    question = ("torture", "tree", "--stable", "--seeds", 20, "--chip", "W25N01GV", "--steps", 30)
    one = _json(*question, "--jobs", 1)["result"]
    assert one == _json(*question, "--jobs", 5)["result"]
    assert one != _json(*question, "--seed", 2)["result"]


@pytest.mark.quick
def test_no_run_has_more_steps_than_asked_for() -> None:
    """What a run begins with, how it ends, and the steps that follow each other were not counted:
    the store took 35 for 10, old devices three times as many."""
    for subject in ("store", "tree"):
        for most in (1, 5, 6, 10, 100):
            for seed in range(1, 9):
                run = _native.torture_draw(subject, seed, steps=most)
                written = run["history"].partition("steps\n")[2].splitlines()
                assert run["judge"] == torture.FINE
                assert run["steps"] == len(written) <= most, (subject, most, seed)
                assert most < 5 or written[-1] == "check"


@pytest.mark.quick
def test_pages_are_unstable_unless_told_otherwise() -> None:
    """A history says which draw it has, so one replays as it was found; old ones say nothing."""
    for seed in range(1, 9):
        drawn = _native.torture_draw("lavish", seed)
        stable = _native.torture_draw("lavish", seed, stable=True)
        assert "\nunstable 1\n" in drawn["history"]
        assert "unstable" not in stable["history"]
        for run in (drawn, stable):
            assert _native.torture_play(run["history"]) == run
    question = ("torture", "lavish", "--seeds", 3)
    assert _json(*question)["options"]["stable"] is False
    assert _json(*question, "--stable")["options"]["stable"] is True


@pytest.mark.quick
def test_few_plans_go_beyond_the_budget() -> None:
    for subject in ("lavish", "heap", "tree", "store", "tier"):
        value = _json("torture", subject, "--stable", "--seeds", 100, "--steps", 5)
        assert value["result"]["beyond"] < 5, subject


@pytest.mark.quick
def test_the_shortest_time_is_a_run() -> None:
    value = _json("torture", "tree", "--minutes", "1e-12", "--steps", 20, "--jobs", 1)
    assert value["result"]["runs"] >= 1


def test_own_part_and_options() -> None:
    assert paths.CHECKOUT is not None
    options = ("--spare-blocks", 13, "--maps", 2)
    value = _json("torture", "tree", "--seeds", 3, *options)
    assert value["options"]["settings"] == {"spare_blocks": 13, "maps": 2}
    done = _run("torture", "tree", "--seeds", 1, "--spare-blocks", 3)
    assert done.exit_code == 2
    assert "works on no chip of this kind with these settings" in done.output


def test_what_is_found_is_shrunk_saved_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = _native.torture_draw

    def broken(subject: str, seed: int, **options: Any) -> Any:
        return _native.torture_play(SPOILT) if seed >= 7 else draw(subject, seed, **options)

    monkeypatch.setattr(_native, "torture_draw", broken)
    found = tmp_path / "found.txt"
    for jobs in (1, 4):
        done = _run("torture", "tree", "--stable", "--seeds", 40, "--jobs", jobs, "--out", found)
        assert done.exit_code == 1, done.output
        assert "seed 7 broke a promise (content)" in done.output
        assert f"--replay {found}" in done.output
        steps = found.read_text().partition("steps\n")[2].splitlines()
        assert len(steps) == 3  # a write, a bit, a check
    again = _run("torture", "--replay", found)
    assert again.exit_code == 1
    assert "content at step 3" in again.output
    value = _json("torture", "--replay", found)
    assert value["result"]["found"]["judge"] == "content"


def test_histories_of_the_tree_replay() -> None:
    assert paths.CHECKOUT is not None
    for path in sorted((paths.CHECKOUT / "tests" / "histories").glob("*.txt")):
        done = _run("torture", "--replay", path)
        assert done.exit_code == 0, done.output
        value = _json("torture", "--replay", path)
        assert value["result"]["found"] is None


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "name one subject, or --replay FILE"),
        (("tree", "--replay", "x"), "plays a history as it was drawn: leave out tree"),
        (("--replay", "x", "--stable"), "plays a history as it was drawn: leave out --stable"),
        (("--replay", "x", "--seed", "1"), "leave out --seed"),
        (("pages",), "there is no subject 'pages': one of tree, lavish"),
        (("tree", "--seeds", 1, "--minutes", 1), "--minutes or --seeds, not both"),
        # Nothing was run, and nothing found in it; "nan" ran for ever or not at all.
        (("tree", "--minutes", "0"), "not in the range 0<x<=100000"),
        (("tree", "--minutes", "nan"), "'nan' is no number"),
        (("tree", "--minutes", "inf"), "not in the range 0<x<=100000"),
        (("tree", "--chip", "W25"), "chip"),
        (("--replay", "/nowhere/x"), "/nowhere/x cannot be read"),
        (("tree", "--out", "/nowhere/x"), "there is no folder /nowhere"),
        (("tree", "--out", "same", "--json", "same"), "which this command writes too"),
    ],
)
def test_refused(arguments: tuple[object, ...], what: str) -> None:
    done = _run("torture", *arguments)
    assert done.exit_code == 2, done.output
    assert what in done.output


@pytest.mark.quick
def test_bad_history(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("nandwich-torture 1\nsubject tree\npart W25N01GV\nsteps\njump 3\n")
    done = _run("torture", "--replay", path)
    assert done.exit_code == 2
    assert f"{path}: line 5: a tree has no verb 'jump'" in done.output


#: What a reader of the page has: a driver. Here a twin with a number of blocks.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <nandwich-sim/torture.h>
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
int main(int count, char **words)
{
    struct nw_part part;
    struct nw_nand *nand;
    (void)nw_parts_get("W25N01GV", &part);
    part.blocks = count > 1 ? (uint32_t)atoi(words[1]) : 0;
    part.block_pages = 16;
    part.factory_bad = 0;
    (void)nw_nand_open(&nand, &(struct nw_nand_config){.part = &part});
    struct nw_chip *chip = nw_nand_chip(nand);
"""


def test_your_driver_as_the_page_shows_it(tmp_path: Path) -> None:
    """Goal: who copies the page has a program that tells what came of it, whatever that is."""
    assert paths.CHECKOUT is not None
    page = (paths.CHECKOUT / "docs" / "torture.md").read_text()
    [snippet] = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    [line] = re.findall(r"^    (gcc torture\.c .*?[^\\])$", page, re.MULTILINE | re.DOTALL)
    source, program = tmp_path / "torture.c", tmp_path / "torture"
    source.write_text(DRIVER + snippet + "    return 0;\n}\n")
    command = shlex.split(line.replace("\\\n", " "))
    command[1], command[3] = str(source), str(program)
    subprocess.run([*command, "-Itwin/include", "-Wall", "-Werror"], check=True, cwd=paths.CHECKOUT)
    for blocks, says in ((24, "100 runs went well\n"), (4, "not tortured: ")):
        done = subprocess.run([program, str(blocks)], check=True, capture_output=True, text=True)
        assert done.stdout.startswith(says), done.stdout
