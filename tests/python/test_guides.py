# SPDX-License-Identifier: Apache-2.0
"""The guides for firmware: their C compiles, their commands run, their figures are measured."""

import re
import shlex
import subprocess
from pathlib import Path

import pack
import pytest

from lab import qemu
from nandwich import paths
from nandwich.replay import options as known
from nandwich.replay import outcome, play
from nandwich.replay.options import Options

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
DOCS = ROOT / "docs"
STUBS = ROOT / "tests" / "packages"
PAGES = ("guide-your-chip", "guide-ram", "guide-rtos", "guide-twin-to-device", "device",
         "chip-filters")  # fmt: skip
LAYERS = ("tree", "lavish", "store")
#: What the page advises: RAM in KB, layer, and 0 for 128 MiB or 1 for 32 MiB of NAND.
ADVISED = (
    (4, "store", 0), (4, "store", 1), (4, "tree", 0), (4, "tree", 1),
    (12, "lavish", 0), (40, "tree", 1), (128, "tree", 0),
)  # fmt: skip
#: Figures in sentences, N standing for the number, and how far off they may be. Another version of
#: the compiler may want a few words more of stack.
SENTENCES = (
    ("store-nor", "the store takes N, on DataFlash", 0.02),
    ("store-dataflash", "on DataFlash of 528 KB N\\.", 0.02),
    ("spi-nand", "A driver takes N \\(", 0.02),
    ("stack-tree", "mounts: the tree N, the", 0.15),
    ("stack-store", "the store N\\. Add", 0.15),
)
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-variable")

#: A serial NAND at command level.
MODELS = ("bus.c", "bus_expect.c", "spi_nand_model.c", "onfi_page.c")


def run(*command: str | Path, folder: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def code(page: str) -> str:
    """All C of a page, in its order."""
    text = (DOCS / f"{page}.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{page}: no C"
    return "\n".join(blocks)


def commands(page: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text()
    return re.findall(r"^    (nandwich .*)$", text, re.MULTILINE)


@pytest.mark.quick
@pytest.mark.parametrize("page", PAGES)
def test_c_compiles(page: str, tmp_path: Path) -> None:
    """Goal: whoever copies the C of a page from its top to its end has a file that compiles."""
    head = '#include <stddef.h>\n#include "board.h"\n'
    if page == "device":
        head += "#include <nandwich/driver_spi_nand.h>\n#include <nandwich/store.h>\n"
    (tmp_path / "guide.c").write_text(head + code(page))
    includes = [f"-I{STUBS / folder}" for folder in ("guide", "freertos")]
    includes.append(f"-I{ROOT / 'core' / 'include'}")
    run("gcc", *WARNINGS, "-Werror", *includes, "-c", "guide.c", folder=tmp_path)


def test_your_chip_as_one_follows_it(tmp_path: Path) -> None:
    """Goal: with a part that is in no table the page leads from the first byte on the bus to a
    layer, and what it prints is a part for the twin."""
    (tmp_path / "guide.c").write_text(code("guide-your-chip"))
    folders = (tmp_path, STUBS / "guide", ROOT / "tests/bus", ROOT / "core/include")
    includes = [f"-I{folder}" for folder in (*folders, ROOT / "twin/include")]
    models = [ROOT / "tests/bus" / name for name in MODELS]
    libraries = [paths.static_library(name) for name in ("nw_twin", "nw_core")]
    program = tmp_path / "guide"
    source = STUBS / "guide" / "guide_board.c"
    run("gcc", *WARNINGS, *includes, source, *models, *libraries, "-lcmocka", "-lm", "-o", program)
    said = run(program)
    assert said.startswith("id a1 e4 00: not supported by the part or layer\n")
    toml = said[said.index("name = ") :]
    (tmp_path / "mine.toml").write_text(toml[: toml.index("id a1 e4")])
    half = re.search(r"(\d+) of 1024 blocks are bad", run(program, "planes"))
    assert half is not None
    assert 512 <= int(half[1]) <= 600
    _run_commands("guide-your-chip", tmp_path)


def _run_commands(page: str, folder: Path) -> None:
    for command in commands(page):
        program, *arguments = shlex.split(command)
        run(ROOT / ".venv" / "bin" / program, *arguments, folder=folder)


def test_commands_run(tmp_path: Path) -> None:
    """Goal: each command shown does what it is shown for. Those of the last guide ran above."""
    assert commands("guide-ram")
    _run_commands("guide-ram", tmp_path)
    assert set(commands("guide-twin-to-device")) == set(commands("guide-your-chip"))


def measured(folder: Path) -> list[tuple[str, int]]:
    """What ram_sizes.c says in QEMU: words and numbers in their order."""
    files: set[str] = set()
    for take in pack.takes():
        if take.name in LAYERS:
            files.update(take.files)
    sources = [qemu.FIRMWARE / "ram_sizes.c", *(ROOT / "core" / file for file in sorted(files))]
    return qemu.run(qemu.build(folder, sources), "mps2-an385")


def _number(cell: str) -> int:
    return 0 if cell == "does not fit" else int(cell.replace(",", ""))


@pytest.mark.skipif(bool(qemu.missing()), reason=f"not installed: {qemu.missing()}")
def test_ram_figures(tmp_path: Path) -> None:
    """Goal: the RAM and stack that the page shows are those of this build."""
    page = (DOCS / "guide-ram.md").read_text()
    said = measured(tmp_path)
    assert said[-1] == ("end", 0)
    plain = re.sub(r"\s+", " ", page)
    for name in LAYERS:
        row = re.search(rf"^\| {name} \| (.*) \|$", page, re.MULTILINE)
        assert row
        shown = [_number(cell) for cell in row[1].split(" | ")]
        measured_here = [number for word, number in said if word == name]
        assert shown == pytest.approx(measured_here, rel=0.02), name
    figures = dict(said)
    for name, sentence, tolerance in SENTENCES:
        found = re.search(sentence.replace("N", r"([\d,]+)"), plain)
        assert found, sentence
        assert _number(found[1]) == pytest.approx(figures[name], rel=tolerance), name
    for kilobytes, name, column in ADVISED:
        assert f"\n| {kilobytes} KB |" in page
        numbers = [number for word, number in said if word == name]
        assert 0 < numbers[column] <= kilobytes * 1024, f"{name} in {kilobytes} KB"


@pytest.mark.parametrize(("blocks", "least", "kilobytes"), [(256, 3098, 40), (1024, 4062, 137)])
def test_the_whole_map(blocks: int, least: int, kilobytes: int) -> None:
    """Goal: with the RAM that the page tells for it the whole map is in RAM, so a sector takes one
    read of the chip; with 16 KB less it takes more."""
    assert f"{kilobytes} KB" in (DOCS / "guide-ram.md").read_text()
    for less, whole in ((0, True), (16, False)):
        options = Options(
            "gen:uniform,writes=0%,requests=20K,size=2048,align=2048", chip="W25N01GV",
            blocks=blocks, precondition=1000, ftl="tree",
            layer={"maps": ((kilobytes - less) * 1024 - least) // 2052},
        )  # fmt: skip
        played = play.prepare(options)
        played.precondition(lambda _: None)
        played.run(lambda _: None)
        counts = outcome.as_json(played)["result"]["layer"]
        assert (counts["reads"] < 1.002 * counts["host_reads"]) is whole, counts


@pytest.mark.quick
def test_what_is_advised_fits() -> None:
    """Goal: a layer that the guide names for a RAM takes no more, by the guide's own figures."""
    page = (DOCS / "guide-ram.md").read_text()
    needs = {}
    for name in LAYERS:
        row = re.search(rf"^\| {name} \| (.*) \|$", page, re.MULTILINE)
        assert row
        needs[name] = [_number(cell) for cell in row[1].split(" | ")]
    rows = re.findall(r"^\| (\d+) KB \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for kilobytes, cells in rows:
        for column, cell in zip((1, 0, 3), cells.split("|"), strict=True):
            for advice in re.sub(r"\]\([^)]*\)|\[", "", cell).split(";"):
                if re.search(r"log blocks| NOR ", advice):  # smaller than by default
                    continue
                words = set(re.findall(r"\w+", advice))
                for name in words & set(LAYERS):
                    assert 0 < needs[name][column] <= int(kilobytes) * 1024, (kilobytes, advice)


@pytest.mark.quick
def test_every_layer_is_named_where_one_is_chosen() -> None:
    """Goal: who reads what `nandwich run` and `nandwich cc` take finds every layer; `tree` came
    later and was left out of both lists."""
    page = (DOCS / "run.md").read_text()
    option = re.search(r"^- `--ftl` (.*\n.*)$", page, re.MULTILINE)
    key = re.search(r"^\| `ftl` \| (.*)$", page, re.MULTILINE)
    assert option
    assert key
    for name in known.LAYERS:
        assert re.search(rf"\b{name}\b", option[1]), name
        assert re.search(rf"\b{name}\b", key[1]), name


def _fit(ram: str, *more: str) -> str:
    command = (str(ROOT / ".venv" / "bin" / "nandwich"), "fit", "--ram", ram, *more)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_what_fit_says_is_shown_as_said() -> None:
    """Goal: the figures that the page shows are what `nandwich fit` says; a struct that grew made
    it 30.67 KiB where 30.66 were shown."""
    page = (DOCS / "layers.md").read_text()
    shown = re.findall(r"^      (\w+ +needs .*)$", page, re.MULTILINE)
    said = _fit("3K", "--requests", "1")
    assert shown
    for line in shown:
        assert line in said
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line[:6] == "| tree"]
    said = _fit("16K")
    assert [row[0] for row in rows] == ["tree, the least RAM", "tree", "tree, twice the RAM"]
    for (name, *cells), line in zip(rows, said.splitlines()[2:], strict=False):
        assert line.startswith(name)
        assert set(cells) <= set(re.split(r"  +", line)), line
