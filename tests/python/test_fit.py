# SPDX-License-Identifier: Apache-2.0
"""Goal: `nandwich fit` tells what the tree costs with a RAM, with the least and with twice as much,
says by how much a layer does not fit, and its figures are those of the C code that ships."""

import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from lab import ROOT, cross, layers
from nandwich import _native, quantities
from nandwich.cli.main import main
from nandwich.replay import fit
from nandwich.twin import parts

PROGRAM = """
#include "nandwich/ftl_tree.h"
static struct nw_ftl_tree ftl;
int main(void);
int main(void)
{
    extern struct nw_chip chip;
    extern unsigned char ram[];
    static const struct nw_ftl_tree_config config;
    return nw_ftl_tree_mount(&ftl, &chip, &config, ram, 1) == NW_ERR_BLANK
               ? nw_ftl_tree_format(&ftl, &chip, &config, ram, 1)
               : 0;
}
"""


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["fit", *(str(one) for one in arguments)])


def _json(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    done = _run("--requests", 2000, *arguments, "--json", "-")
    assert done.exit_code == exit_code, done.output
    value: dict[str, Any] = json.loads(done.stdout)
    validate("fit-1", value)
    return value


def test_what_fits_is_measured_and_the_rest_says_what_it_needs() -> None:
    value = _json("--blocks", 256, "--ram", "20K", "--models")
    rows = {row["layer"]: row for row in value["layers"]}
    assert set(rows) == {fit.LAYER, *fit.MODELS}
    assert not rows["page"]["fits"]
    assert "needs" in rows["page"]["why"]
    for name, row in rows.items():
        assert row["fits"] == (row["ram_bytes"] <= 20 * 1024)
        if row["fits"]:
            assert row["device_bytes"] == row["sectors"] * 2048
            assert row["programs_a_write"] >= 1
            assert (row["mount_reads"] or 0) > 0 or name in fit.MODELS
    order = [row["programs_a_write"] for row in value["layers"] if row["fits"]]
    assert order == sorted(order)


def test_a_device_is_offered_the_tree_alone() -> None:
    """Goal: 128 MB and 16 KB is what people ask first: the tree answers. What it says of a RAM that
    is too little is true."""
    value = _json("--ram", "16K")
    assert [(row["layer"], row["fits"]) for row in value["layers"]] == [("tree", True)]
    [tree] = _json("--ram", "3K", exit_code=1)["layers"]
    found = re.search(r"--blocks (\d+)", tree["why"])
    assert found is not None
    most = int(found.group(1))
    for blocks, fits in ((most, True), (most + 1, False)):
        rows = _json("--ram", "3K", "--blocks", blocks, exit_code=not fits)["layers"]
        assert [row["fits"] for row in rows] == [fits]


def test_what_less_and_more_ram_bring() -> None:
    """Goal: beside the tree with the RAM there is stand the least that it works with, a byte less
    than which is refused, and twice as much, which reads less. Where the least is what there is,
    nothing is told twice."""
    value = _json("--ram", "16K", "--blocks", 256)
    [given] = value["layers"]
    least, twice = value["tree"]["least"], value["tree"]["twice"]
    assert least["config"] == {}
    assert least["ram_bytes"] < given["ram_bytes"] <= 16 << 10 < twice["ram_bytes"] <= 32 << 10
    assert least["reads_a_read"] > given["reads_a_read"] > twice["reads_a_read"]
    assert least["programs_a_write"] > given["programs_a_write"]
    needed = least["ram_bytes"]
    alone = _json("--ram", needed, "--blocks", 256)
    assert alone["layers"] == [least]
    assert alone["tree"]["least"] is None
    assert _json("--ram", needed - 1, "--blocks", 256, exit_code=1)["tree"]["twice"] is None
    shown = _run("--ram", "16K", "--blocks", 256, "--requests", 100).stdout
    names = re.findall(r"^(tree.*?)  ", shown, re.MULTILINE)
    assert [name.partition(" (")[0] for name in names[:3]] == [
        "tree, the least RAM", "tree", "tree, twice the RAM"
    ]  # fmt: skip


def test_it_plays_until_the_layer_is_at_rest() -> None:
    """Goal: how long is counted changes little. A part of 64 MiB told 2.8 programs a write of 2,000
    requests and 4.5 of 400,000; it was written full and not at rest. Nor does it hang on the seed,
    by which a chip had all bad blocks that it may have or none: 4.9 or 3.9. A source that the tree
    does not come to rest with says so."""
    wished = ("--blocks", 512, "--ram", "20K", "--json", "-")
    short, long = (
        json.loads(_run(*wished, "--requests", requests).stdout)["layers"][0]
        for requests in ("10K", "200K")
    )
    assert short["at_rest"]
    assert long["at_rest"]
    assert short["programs_a_write"] == pytest.approx(long["programs_a_write"], rel=0.02)
    seeds = [json.loads(_run(*wished, "--seed", seed).stdout)["layers"][0] for seed in (1, 2, 3)]
    for key in ("programs_a_write", "energy_pj_a_write", "time_ns_a_write", "erases_a_write"):
        assert [one[key] for one in seeds] == pytest.approx([long[key]] * 3, rel=0.01), key
    shown = _run("--blocks", 128, "--ram", "20K", "--workload", "uniform,writes=0.5%").stderr
    assert "tree: not at rest: programs a write were still changing" in shown


def test_no_more_than_the_whole_map_is_offered() -> None:
    """Goal: twice the RAM is twice as much, and where the whole map is in RAM it is not told."""
    value = _json("--blocks", 256, "--ram", "20K")
    [given], twice = value["layers"], value["tree"]["twice"]
    for row, most in ((given, 20 << 10), (twice, 40 << 10)):
        assert most - 2052 < row["ram_bytes"] <= most
    value = _json("--blocks", 256, "--ram", "400K")
    assert value["layers"][0]["reads_a_read"] == pytest.approx(1, abs=0.01)
    assert value["tree"]["twice"] is None


@pytest.mark.parametrize(
    ("lines", "untold"),
    [
        ('[read]\nenergy = "0 pJ"\nbyte_energy = "0 pJ"\n[program]\nenergy = "0 pJ"\n'
         'byte_energy = "0 pJ"\n[erase]\nenergy = "0 pJ"\n', "energies"),
        ('[read]\ntime = "0 ns"\nbyte_time = "0 ns"\n[program]\ntime = "0 ns"\n'
         'byte_time = "0 ns"\n[erase]\ntime = "0 ns"\n', "times"),
        ("endurance = 0\n", "endurance"),
    ],
)  # fmt: skip
def test_what_a_part_does_not_tell_is_not_told(tmp_path: Path, lines: str, untold: str) -> None:
    """Goal: a part without energies, times or endurance took 0 pJ and 0 ns, and lived 0 B long."""
    chip = tmp_path / "few.toml"
    chip.write_text('name = "FEW"\nbased_on = "K9F1G08U0A"\n' + lines)
    value = _json("--blocks", 128, "--ram", "20K", "--chip", chip)
    assert value["untold"] == [untold]
    keys = {"energies": ["energy_pj_a_write"], "endurance": ["life_bytes"],
            "times": ["time_ns_a_write", "longest_call_ns", "mount_ns"]}  # fmt: skip
    [tree] = value["layers"]
    for names in keys.values():
        assert all((tree[name] is None) == (names is keys[untold]) for name in names)
    assert (tree["longest_mount"]["time_ns"] is None) == (untold == "times")
    told = _run("--blocks", 128, "--ram", "20K", "--chip", chip, "--requests", "1K")
    assert f"-: the part tells no {untold}" in told.stderr
    assert "0 pJ" not in told.stdout
    assert "0 ns" not in told.stdout


def test_the_filter_below_is_told() -> None:
    """Goal: a NOR needs nw_oob, which chooses pages and joins blocks, and a NAND that corrects
    nothing nw_ecc: their code and RAM are told."""
    for chip, name, ram_bytes in (
        ("W25Q128JV", "oob", 100), ("AT45DB041B", "oob", 364), ("K9F1G08U0A", "ecc", 440),
    ):  # fmt: skip
        below = _json("--chip", chip, "--ram", "64K")["below"]
        assert below["filter"] == name
        assert 0.8 * ram_bytes < below["ram_bytes"] < ram_bytes
        assert below["code_bytes"] == fit.BELOW_CODE_BYTES[name]
    shown = _run("--chip", "W25Q128JV", "--ram", "64K", "--requests", "1K").stderr
    assert "nw_oob below makes pages of 512 B and joins 4 of its blocks to one" in shown
    assert _json("--chip", "W25N01GV", "--ram", "64K")["below"] is None


def test_the_longest_calls_are_those_that_the_tree_computes() -> None:
    """Goal: what no change and no mount takes more than is nw_ftl_tree_longest() of this part, in
    chip operations and in time; the workload stays below.
    """
    value = _json("--chip", "W25N01GV", "--ram", "300K")
    [tree] = value["layers"]
    change, mount = tree["longest_change"], tree["longest_mount"]
    read, program, erase = 101, 291, 2000  # us: 60 and 250, and 2,110 B of 19.231 ns each; a block
    for most, counts in ((change, (364, 62, 2)), (mount, (47_990, 248, 22))):
        assert tuple(most[key] for key in ("reads", "programs", "erases")) == counts
        reads, programs, erases = counts
        assert most["time_ns"] == 1000 * (reads * read + programs * program + erases * erase)
    assert tree["longest_call_ns"] <= change["time_ns"]
    assert tree["mount_reads"] <= mount["reads"]
    assert tree["mount_ns"] <= mount["time_ns"]
    shown = _run("--chip", "W25N01GV", "--ram", "16K", "--requests", 100).stdout
    assert re.search(r"^tree: write, trim or sync +364 +62 +2 ", shown, re.MULTILINE)
    assert re.search(r"^tree: mount +47,990 +248 +22 ", shown, re.MULTILINE)


def test_nothing_fits_is_exit_code_1() -> None:
    value = _json("--ram", "3K", exit_code=1)
    assert not any(row["fits"] for row in value["layers"])


def test_fewer_log_blocks_where_the_own_choice_takes_too_much() -> None:
    value = _json("--ram", "40K", "--models")
    assert {row["layer"] for row in value["layers"]} == {fit.LAYER, *fit.MODELS}
    [fast] = [row for row in value["layers"] if row["layer"] == "fast"]
    assert fast["fits"]
    assert fast["config"]["log_blocks"] < 64
    assert fast["ram_bytes"] <= 40 * 1024
    assert fast["code_bytes"] is None
    assert fast["mount_ns"] is None


def test_more_blocks_than_a_chip_can_have_is_no_internal_error() -> None:
    """Goal: a number of blocks that no chip has fits no layer and no object store, and each layer
    says why. It ended in an internal error: opening the chip for the store raised ValueError."""
    value = _json("--ram", "64K", "--blocks", 67_108_864, exit_code=1)
    assert value["store_ram_bytes"] is None
    assert all(row["why"] and not row["fits"] for row in value["layers"])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("block_pages = 512", "ODD has 512 pages a block; the tree layer takes 16 to 256"),
        ("block_pages = 12", "ODD has 12 pages a block; the tree layer takes 16 to 256"),
        ('page_bytes = "128 B"', "ODD has pages of 128 B; the tree layer takes 256 B or more"),
        ("blocks = 12\nfactory_bad = 0", "ODD has 12 blocks, too few for the tree layer"),
        ('page_bytes = "256 B"\nblocks = 60000', "ODD has 3840000 pages, too many of 256 B"),
    ],
)
def test_the_bound_that_a_part_is_beyond_is_named(tmp_path: Path, line: str, says: str) -> None:
    """Goal: the text named every bound of the tree, and one had to find out which it was."""
    chip = tmp_path / "odd.toml"
    chip.write_text(f'name = "ODD"\nbased_on = "K9F1G08U0A"\n{line}\n')
    done = _run("--ram", "64K", "--chip", chip)
    assert done.exit_code == 1, done.output
    [why] = re.findall(r"^  tree +(.*)$", done.stdout, re.MULTILINE)
    assert why.startswith(says)
    assert len(why) < 120


def test_too_many_blocks_is_told() -> None:
    """70,000 blocks are more than any layer takes; the text named every bound but that one."""
    value = _json("--ram", "16K", "--blocks", 70000, "--models", exit_code=1)
    why = {row["layer"]: row["why"] for row in value["layers"]}
    assert "at most 65,534 blocks" in why.pop("tree")
    assert all("at most 65,000 blocks" in text for text in why.values())


def test_same_question_same_bytes() -> None:
    question = ("--blocks", 128, "--ram", "64K", "--requests", 1000, "--json", "-")
    assert _run(*question).stdout == _run(*question).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--ram", "16K", "--chip", "MICROSD-8G"), "no raw flash"),
        (("--ram", "16K", "--workload", "zipff"), "zipf"),
        (("--ram", "16K", "--workload", "uniform,footprint=10G"), "give a smaller footprint"),
        (("--ram", "16K", "--requests", "0"), "at least"),
        (("--ram", "lots"), "size"),
        ((), "--ram"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[object, ...], says: str) -> None:
    done = _run(*arguments)
    assert done.exit_code == 2
    assert says in done.output
    assert "internal error" not in done.output


def test_ram_is_what_the_layer_asks_for() -> None:
    device = _native.ReplayDevice(parts.resolve("K9F1G08U0A"), "tree", blocks=64)
    least = _json("--blocks", 64, "--ram", "1M")["tree"]["least"]
    assert least["ram_bytes"] == device.ram_bytes + device.state_bytes


@pytest.mark.skipif(not cross.CORTEX_M3.present, reason="needs gcc-arm-none-eabi")
def test_code_is_what_the_linker_leaves(tmp_path: Path) -> None:
    """Goal: the code bytes in the table are those of the bench, today; what the linker leaves of
    them and of all that they call is no more than a thirtieth more or less."""
    sized = {part.name: part.files for part in layers.sized_parts(ROOT)}
    for name, told in (("tree", fit.CODE_BYTES), *fit.BELOW_CODE_BYTES.items()):
        size = cross.sources_size(cross.CORTEX_M3, sized[name]).code
        assert told == pytest.approx(size, rel=0.005), name
    include = ROOT / "core" / "include"
    sources = [
        one
        for room in ("base", "chip", "ftl")
        for one in sorted((ROOT / "core" / room).glob("*.c"))
    ]
    objects = [cross.compile_object(cross.CORTEX_M3, one, tmp_path, include) for one in sources]
    program, linked = tmp_path / "tree.c", tmp_path / "tree.elf"
    program.write_text(PROGRAM)
    subprocess.run(
        ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-std=c11", "-Os", f"-I{include}",
         "-ffunction-sections", str(program), *map(str, objects), "-nostdlib",
         "-Wl,--gc-sections", "-Wl,-e,main", "-Wl,--unresolved-symbols=ignore-all",
         "-o", str(linked)],
        check=True, capture_output=True,
    )  # fmt: skip
    measured = cross.object_size(cross.CORTEX_M3, linked).code
    assert abs(measured - fit.CODE_BYTES) <= measured / 30


@pytest.mark.quick
def test_a_letter_left_out_of_the_ram() -> None:
    """Goal: `--ram 16` names what was meant; `16k` is what it says."""
    done = CliRunner().invoke(main, ["fit", "--ram", "16"])
    assert done.exit_code == 2
    assert "did you mean 16K?" in done.stderr
    assert quantities.parse("16k", "size") == 16 * 1024


MINE = ("--columns", "time,op,offset,size", "--unit", "us", "--header")


def _mine(path: Path, lines: int = 300) -> Path:
    """A csv of one's own: 4 KB are written here and there."""
    rows = (f"{20 * i};W;{4096 * (i * 7 % 50)};4096" for i in range(lines))
    path.write_text("when;what;lba;bytes\n" + "\n".join(rows) + "\n")
    return path


def test_a_trace_is_asked_about_as_replay_reads_it(tmp_path: Path) -> None:
    """Goal: `fit --trace` takes what replay takes, packed too. A newcomer had a csv, and fit knew
    only made-up workloads."""
    csv = _mine(tmp_path / "mine.csv")
    packed = tmp_path / "mine.csv.gz"
    packed.write_bytes(gzip.compress(csv.read_bytes()))
    small = ("--blocks", 128, "--ram", "64K")
    done = _run(*small, "--trace", csv, *MINE, "--json", "-")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    validate("fit-1", value)
    assert value["question"]["workload"] is None
    assert value["question"]["trace"] == str(csv)
    assert value["question"]["requests"] == 0
    assert value["provenance"]["inputs"].keys() == {str(csv)}
    assert {row["layer"] for row in value["layers"] if row["fits"]} == {"tree"}
    again = json.loads(_run(*small, "--trace", packed, *MINE, "--json", "-").stdout)
    assert again["layers"] == value["layers"]


def test_a_made_up_trace_is_that_workload() -> None:
    common = ("--blocks", 128, "--ram", "64K")
    by_trace = _json(*common, "--trace", "gen:uniform")
    by_name = _json(*common, "--workload", "uniform")
    assert by_trace["layers"] == by_name["layers"]
    assert by_trace["question"] == by_name["question"]


def test_a_trace_larger_than_the_device_is_wrapped_when_asked(tmp_path: Path) -> None:
    csv = _mine(tmp_path / "mine.csv", 40)
    csv.write_text(csv.read_text() + f"900;W;{1 << 30};4096\n")
    line = ("--blocks", 128, "--ram", "64K", "--trace", csv, *MINE)
    refused = _run(*line)
    assert refused.exit_code == 1
    assert "--wrap" in refused.stdout
    assert _run(*line, "--wrap").exit_code == 0


def test_a_bad_trace_is_one_sentence(tmp_path: Path) -> None:
    """Goal: a wrong line is told once with its number, not once for each layer."""
    csv = _mine(tmp_path / "mine.csv", 5)
    csv.write_text(csv.read_text() + "120;X;0;4096\n")
    for line, says in (
        (("--trace", csv, *MINE), "mine.csv:7"),
        (("--trace", tmp_path / "none.csv"), "none.csv"),
        (("--trace", csv), "--columns"),
        (("--trace", csv, "--workload", "zipf"), "not both"),
        (("--header", "--columns", "op,offset,size"), "made up"),
    ):
        done = _run("--ram", "64K", *line)
        assert done.exit_code == 2, done.output
        assert done.stdout == ""
        assert says in done.stderr


@pytest.mark.parametrize("chip", ["W25Q128JV", "AT45DB041B"])
def test_layers_with_tags_fit_parts_without_a_spare_area(chip: str) -> None:
    """Goal: the first table has them, with a mount; a RAM that is too small is told in blocks of
    the part, as --blocks takes them."""
    rows = {
        row["layer"]: row for row in _json("--chip", chip, "--ram", "300K", "--models")["layers"]
    }
    assert rows["page"]["fits"]
    assert rows["tree"]["fits"]
    assert rows["tree"]["mount_reads"] > 0
    blocks = _native.Part.named(chip).number("blocks")
    few = json.loads(_run("--chip", chip, "--ram", "3K", "--models", "--json", "-").stdout)
    (why,) = [row["why"] for row in few["layers"] if row["layer"] == "page"]
    assert f"for {blocks} blocks" in why


def test_one_reason_is_told_once(tmp_path: Path) -> None:
    """Goal: a part with few spare bytes suits no layer. That was five long lines nearly alike."""
    chip = tmp_path / "few.toml"
    chip.write_text('name = "FEW"\nbased_on = "AT45DB041B"\nspare_bytes = "8 B"\n')
    done = _run("--ram", "64K", "--chip", chip, "--models")
    assert done.exit_code == 1
    (line,) = [one for one in done.stdout.splitlines() if "tree, page" in one]
    assert line.split("  ")[-1] == "15 B of spare a page are needed; FEW has 8 B"
    assert len(line) < 100
