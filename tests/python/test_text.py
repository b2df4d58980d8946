# SPDX-License-Identifier: Apache-2.0
"""Words and numbers people type and read: quantities, names, tables, error lines."""

import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from schemas import validate

from nandwich import quantities
from nandwich.cli import output
from nandwich.cli.options import SIZE
from nandwich.errors import InputError
from nandwich.names import unknown

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("32K", "size", 32768),
        ("8M", "size", 8 << 20),
        ("16 MiB", "size", 16 << 20),
        ("1.5KiB", "size", 1536),
        ("1_024 B", "size", 1024),
        ("45 ms", "time", 45_000_000),
        ("13.2ms", "time", 13_200_000),
        ("5 µs", "time", 5000),
        ("1 y", "time", 365 * 24 * 3600 * 10**9),
        ("2.5 uJ", "energy", 2_500_000),
        ("33 mW", "power", 33_000_000),
        ("7.3728 MHz", "frequency", 7_372_800),
    ],
)
def test_quantities_are_exact(text: str, kind: quantities.Kind, value: int) -> None:
    """Goal: what people write is what the twin counts in, to the last unit."""
    assert quantities.parse(text, kind) == value


@pytest.mark.parametrize(
    ("text", "kind", "complaint"),
    [
        ("32", "size", "has no unit"),
        ("32KB", "size", "may mean 1000 or 1024"),
        ("0.5 ns", "time", "not a whole number of ns"),
        ("3 fortnights", "time", "unknown unit 'fortnights' of time; allowed: ns, us"),
        ("-1 ms", "time", "is no quantity of time"),
        ("1e3 ms", "time", "is no quantity of time"),
        ("", "energy", "is no quantity of energy"),
        ("5 ms", "size", "unknown unit 'ms' of size"),
    ],
)
def test_bad_quantities_are_refused_with_a_way_out(
    text: str, kind: quantities.Kind, complaint: str
) -> None:
    """Goal: nothing is guessed; the message says what would be right."""
    with pytest.raises(ValueError, match=complaint):
        quantities.parse(text, kind)


@given(st.integers(min_value=0, max_value=1 << 60))
def test_sizes_survive_a_round_trip_in_bytes(count: int) -> None:
    """Goal: no rounding anywhere between a whole number and its text."""
    assert quantities.parse(f"{count} B", "size") == count
    assert quantities.parse(str(count), "size", bare=True) == count


def test_numbers_for_people() -> None:
    """Goal: reports round to four digits and choose the unit that reads well."""
    assert quantities.format_size(32768) == "32 KiB"
    assert quantities.format_size(100) == "100 B"
    assert quantities.format_size(3 << 39) == "1.5 TiB"
    assert quantities.format_time(13_200_000) == "13.2 ms"
    assert quantities.format_time(0) == "0 ns"
    assert quantities.format_energy(2_500_000) == "2.5 uJ"


def test_size_option_takes_suffixes_and_explains_refusals() -> None:
    """Goal: `--ram 32K` and `--ram 32768` mean the same; `--ram 32KB` is refused, exit 2."""

    @click.command()
    @click.option("--ram", type=SIZE)
    def show(ram: int) -> None:
        click.echo(ram)

    for text in ("32K", "32768", "32 KiB"):
        assert CliRunner().invoke(show, ["--ram", text]).stdout == "32768\n"
    refused = CliRunner().invoke(show, ["--ram", "32KB"])
    assert refused.exit_code == 2
    assert "write K or KiB" in refused.stderr


def test_unknown_names_are_answered_with_near_ones() -> None:
    """Goal: the nearest names, whatever the letter case; all of them when there are few."""
    chips = ["K9F1G08U0A", "W25Q128JV", "AT45DB041B"]
    near = unknown("chip", "k9f1g08", chips, list_with="nandwich chips").message
    assert near == ("unknown chip 'k9f1g08'; did you mean K9F1G08U0A? (nandwich chips lists all)")
    assert "did you mean AT45DB041B?" in unknown("chip", "db0", chips).message
    assert "known: AT45DB041B, K9F1G08U0A, W25Q128JV" in unknown("chip", "zzzz", chips).message


def test_table_aligns_numbers_right_and_text_left() -> None:
    """Goal: the same plain text on a terminal and in a pipe."""
    text = output.table(("name", "n"), [("a", 5), ("long", 1234)])
    assert text.splitlines() == ["name     n", "----  ----", "a        5", "long  1234"]
    assert output.table(("name", "n"), []).splitlines() == ["name  n", "----  -"]


def test_each_fault_gets_an_error_line_of_its_own() -> None:
    """Goal: all faults of a file at once, each a line that an editor can jump to."""

    @click.command()
    def fail() -> None:
        raise InputError("part.toml:3: unknown key 'pag'\npart.toml:7: 'x' has no unit")

    result = CliRunner().invoke(fail)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "nandwich: error: part.toml:3: unknown key 'pag'",
        "nandwich: error: part.toml:7: 'x' has no unit",
    ]


def test_progress_is_silent_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    """Goal: a log file gets no bars, and stdout never gets any."""
    with output.progress("work", 2) as bar:
        bar.advance()
        bar.advance()
    with output.stage("building"), output.stage("running", shared=True):
        pass
    assert capsys.readouterr() == ("", "")


def test_results_say_how_they_came_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: a result can be made again from what it says of itself, and comes out the same."""
    trace = tmp_path / "trace.csv"
    trace.write_bytes(b"abc")
    monkeypatch.setattr(sys, "argv", ["/somewhere/nandwich", "replay", "a file", "--seed", "7"])
    first = output.document("replay", 1, {"erases": 3}, seed=7, inputs=[trace])
    assert list(first) == ["schema", "provenance", "erases"]
    assert first["schema"] == "nandwich.replay/1"
    assert first["provenance"]["command"] == "nandwich replay 'a file' --seed 7"
    assert first["provenance"]["inputs"] == {
        str(trace): "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    }
    assert output.document("replay", 1, {"erases": 3}, seed=7, inputs=[trace]) == first
    validate("provenance-1", first["provenance"])
