# SPDX-License-Identifier: Apache-2.0
"""`nandwich chips`, and parts from a user's file."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich import _native
from nandwich.cli.main import main
from nandwich.errors import InputError
from nandwich.twin import parts, platforms

pytestmark = pytest.mark.quick

GOOD = """\
# A chip of my own.
name = "MINE"
based_on = "k9f1g08u0a"
blocks = 64
page_programs = "unlimited"
in_order = false
erased = 0x00
errors = "0:100 1000:2000"

[read]
time = "0.05 ms"        # slower
byte_time = "40 ns"

[node.program]
energy = "1.5 µJ"
[heal]
life = 100
limit = 20
[sources]
heal = "thesis, 2016, chapter 2"
read.time = "datasheet rev. C, table 9"
"""

#: What a figure of the tables may say of itself: class, assumed, or document, revision and place.
SOURCE = re.compile(
    r"class(: .+)?|assumed: .+"
    r"|.+(\b(19|20)\d\d|[Rr]ev\. \S+), (table|section|chapter|features)\b.*"
)


def chips(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["chips", *arguments])


def test_every_part_is_listed_and_shown() -> None:
    """Goal: the list names every part; each one's page has a source on every line."""
    listed = chips()
    assert listed.exit_code == 0
    for name in parts.known_names():
        assert name in listed.stdout
        shown = chips(name.lower())
        assert shown.exit_code == 0
        for figure in parts.figures(name):
            assert figure.source
            assert any(
                line.startswith(figure.field.key + " ") and line.endswith(figure.source)
                for line in shown.stdout.splitlines()
            )


@pytest.mark.parametrize(
    "figures",
    [
        *(pytest.param(parts.figures(name), id=name) for name in parts.known_names()),
        *(pytest.param(platforms.figures(name), id=name) for name in platforms.known_names()),
    ],
)
def test_every_figure_has_a_source_word(figures: list[parts.Figure]) -> None:
    """Goal: a figure names document, revision and table, or says class; a bare name is refused."""
    for figure in figures:
        if figure.field.key not in ("name", "note", "kind"):
            assert SOURCE.fullmatch(figure.source), (figure.field.key, figure.source)


def test_cells_that_are_shared() -> None:
    """Goal: parts of several bits a cell say that a program cannot damage another page here."""
    listed = [line for line in chips().stdout.splitlines() if "MLC" in line or "TLC" in line]
    assert len(listed) == 4
    assert all(line.endswith("; shared cells are not modelled") for line in listed)


def test_platforms_are_listed_and_shown() -> None:
    """Goal: nodes and radios can be seen like parts."""
    listed = chips("--platforms")
    assert listed.exit_code == 0
    for name in platforms.known_names():
        assert name in listed.stdout
        assert chips(name).exit_code == 0
    assert platforms.number("imote2", "sleep") == 387_000
    with pytest.raises(InputError, match="did you mean MICA2"):
        platforms.number("mica", "sleep")


@pytest.mark.parametrize("arguments", [[], ["--platforms"], ["MLC64G"], ["cc2420"]])
def test_json_keeps_its_schema(arguments: list[str]) -> None:
    """Goal: what a script reads is what docs/schemas promises, for every part and platform."""
    result = chips(*arguments, "--json", "-")
    assert result.exit_code == 0
    value = json.loads(result.stdout)
    validate("chips-1", value)
    assert value["items"]


def test_json_numbers_are_in_base_units() -> None:
    """Goal: Capsule's 1.761 us a byte arrives as 1 761 000 ps."""
    value = json.loads(chips("TC58DVG02A1FT00", "--json", "-").stdout)
    figures = {figure["key"]: figure for figure in value["items"][0]["figures"]}
    assert figures["read.byte_time"]["number"] == 1_761_000
    assert figures["read.byte_time"]["unit"] == "ps"
    assert figures["read.byte_time"]["text"] == "1.761 us"
    assert figures["note"]["number"] is None
    assert value["items"][0]["bytes"] == 128 << 20


def test_unknown_name_tells_the_nearest() -> None:
    """Goal: a slip of the finger gets the right name back, and exit 2."""
    result = chips("k9f1g08u0b")
    assert result.exit_code == 2
    assert "did you mean K9F1G08U0A" in result.stderr
    assert not result.stdout


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    """Goal: a part from a file is the base with the file's figures, and each tells where from."""
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, encoding="utf-8")
    result = chips(str(path))
    assert result.exit_code == 0, result.stderr
    assert f"{path}:11" in result.stdout
    part = parts.resolve(str(path))
    assert part.name == "MINE"
    assert part.number("read.time") == 50_000
    assert part.number("read.byte_time") == 40_000
    assert part.number("page_programs") == 255
    assert part.number("in_order") == 0
    assert part.number("erased") == 0
    assert part.number("blocks") == 64
    assert part.number("block_pages") == 64  # from the base
    assert part.number("node.program.energy") == 1_500_000
    assert part.has_node_costs
    shown = {figure.field.key: figure for figure in parts.file_figures(path)}
    assert shown["heal.life"].source == f"{path}:17: thesis, 2016, chapter 2"
    assert shown["heal.limit"].source == f"{path}:18: thesis, 2016, chapter 2"
    assert shown["read.time"].source == f"{path}:11: datasheet rev. C, table 9"
    assert shown["read.byte_time"].source == f"{path}:12: class"
    assert shown["endurance"].source == "k9f1g08u0a: class"
    validate("chips-1", json.loads(chips(str(path), "--json", "-").stdout))


def test_all_errors_of_a_file_in_one_go(tmp_path: Path) -> None:
    """Goal: every fault is told with its line, in one run, and nothing is shown as if it were."""
    path = tmp_path / "bad.toml"
    path.write_text(
        'name = "BAD"\n'
        'kind = "tape"\n'
        "page_bytes = 2048\n"
        "page_byte = 5\n"
        "blocks = 0\n"
        "in_order = 1\n"
        "block_pages = 64.5\n"
        'read = { time = "25" }\n'
        "[program]\n"
        'time = "0.3 ns"\n'
        'colour = "blue"\n'
        "[sources]\n"
        "read.byte_time = 9\n"
        'program.colour = "a table"\n',
        encoding="utf-8",
    )
    result = chips(str(path))
    assert result.exit_code == 2
    assert not result.stdout
    expected = {
        2: 'must be one of "nand"',
        3: "must be a size like 2048 B or 16 MiB, as a text in quotes",
        4: "did you mean page_bytes",
        5: "out of range",
        6: "must be true or false",
        7: "must be a whole number",
        8: "must be a time like 25 us",
        10: "must be a time like 25 us",
        11: "program.colour is no field of a part",
        13: "sources.read.byte_time = 9: must be a line of text in quotes",
        14: "sources.program.colour tells the source of no figure of a part",
    }
    lines = result.stderr.splitlines()
    assert len(lines) == len(expected)
    for line, (number, text) in zip(lines, expected.items(), strict=True):
        assert f"{path}:{number}: error:" in line
        assert text in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "A"\nkind = "nand"\n', ":1: error: blocks, block_pages and page_bytes"),
        ("name = \n", ":1: error: not TOML"),
        ('name = "A"\nname = "B"\n', ":2: error: not TOML"),
        ('name = "A"\nbased_on = "K9"\n', ":2: error: unknown chip 'K9'"),
        ('based_on = "K9F1G08U0A"\n', ":1: error: name must be given"),
        ('name = "A"\nkind = "nvm"\nnvm_bytes = "1 MiB"\natomic_bytes = "3 B"\nline_bytes = "8 B"',
         ":1: error: atomic_bytes must be a power of two"),
    ],
)  # fmt: skip
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    """Goal: a file that is no part, or no TOML, is refused with its place."""
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    result = chips(str(path))
    assert result.exit_code == 2
    assert str(path) + message in result.stderr


def test_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    """Goal: a path that is not there, and one that is no text, give one clear line."""
    assert "cannot read" in chips(str(tmp_path / "no.toml")).stderr
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"name = \xff\xfe")
    assert "not a text file (byte 7 is not UTF-8)" in chips(str(binary)).stderr


def test_text_for_the_c_side_says_the_same() -> None:
    """Goal: `key = value` lines rebuild each part to the last figure."""
    for name in parts.known_names():
        part = _native.Part.named(name)
        again = _native.Part()
        for line in parts.as_text(part).splitlines():
            key, _, value = line.partition(" = ")
            again.set(key, value)
        assert parts.as_text(again) == parts.as_text(part)
        assert again.check() is None


def test_a_measured_part_opens() -> None:
    """Goal: the file that nw_chip_check writes (test_check.c compares it) is a part."""
    path = Path(__file__).parent.parent / "bus" / "measured.toml"
    shown = chips(str(path))
    assert shown.exit_code == 0, shown.stderr
    assert "1024" in shown.stdout
    assert "byte_time" in shown.stdout
