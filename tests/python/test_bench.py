# SPDX-License-Identifier: Apache-2.0
"""`nandwich bench`: targets, exit codes, and the size bench on sources made for the purpose."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from lab import benches, discovery, layers, vm_cost, vm_programs
from lab.benches import Bench, Figure
from nandwich.cli.main import main
from nandwich.errors import InputError

pytestmark = pytest.mark.quick

FIGURES = {
    "met": [Figure("met.size", 4000, "B", target=4096), Figure("met.record", 1.5, "x")],
    "missed": [Figure("missed.speed", 3.9e6, "op/s", target=4e6, better="higher")],
}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    known = [
        Bench("met", "made up", lambda: FIGURES["met"]),
        Bench("missed", "made up", lambda: FIGURES["missed"]),
    ]
    monkeypatch.setattr(discovery, "collect", lambda folder, kind: known)
    return lambda *arguments: CliRunner().invoke(main, ["bench", *arguments])


def test_a_missed_target_exits_1(bench: Callable[..., Result]) -> None:
    """Goal: a promise about speed or size that is broken fails the run, and only that."""
    assert bench("met").exit_code == 0
    missed = bench("missed")
    assert missed.exit_code == 1
    assert "MISSED" in missed.stdout


def test_a_target_met_exactly_is_met() -> None:
    """Goal: "at most 4096" includes 4096, "at least 4" includes 4."""
    assert Figure("size", 4096, "B", target=4096).ok
    assert Figure("speed", 4, "x", target=4, better="higher").ok
    assert not Figure("size", 4097, "B", target=4096).ok


def test_json_is_a_plain_list(bench: Callable[..., Result]) -> None:
    """Goal: the shape other programs rely on; a figure without a target counts as ok."""
    found = json.loads(bench("--json", "-").stdout)
    validate("bench-1", found)
    assert [(one["name"], one["target"], one["better"], one["ok"]) for one in found] == [
        ("met.size", 4096, "lower", True),
        ("met.record", None, "lower", True),
        ("missed.speed", 4e6, "higher", False),
    ]


def test_page_holds_the_table(bench: Callable[..., Result], tmp_path: Path) -> None:
    """Goal: the docs' page of figures is made from the same numbers."""
    page = tmp_path / "bench.md"
    bench("met", "--page", str(page))
    assert "| met.size | 4000 | B | <= 4096 | ok |" in page.read_text().splitlines()


def test_pages_of_the_docs_are_written_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Goal: whoever looks at figures changes no file; the bench of the RAM dial wrote its page."""
    own = tmp_path / "own.md"

    def run() -> list[Figure]:
        benches.found_pages[own] = "new\n"
        return FIGURES["met"]

    monkeypatch.setattr(discovery, "collect", lambda folder, kind: [Bench("met", "made up", run)])
    own.write_text("old\n")
    told = CliRunner().invoke(main, ["bench", "met"])
    assert own.read_text() == "old\n"
    assert "not written without --page: own.md" in told.stderr
    CliRunner().invoke(main, ["bench", "met", "--page", str(tmp_path / "bench.md")])
    assert own.read_text() == "new\n"


def test_a_page_keeps_what_did_not_run(bench: Callable[..., Result], tmp_path: Path) -> None:
    """Goal: one bench measured anew changes its own rows of the page, and no others."""
    page, other = tmp_path / "bench.md", tmp_path / "all.md"
    bench("--page", str(other))
    bench("missed", "--page", str(page))
    page.write_text(page.read_text().replace("6", "5"))
    bench("met", "missed", "--page", str(page))
    assert page.read_text() == other.read_text()
    page.write_text(other.read_text().replace("4000", "3999"))
    bench("missed", "--page", str(page))
    assert page.read_text() == other.read_text().replace("4000", "3999")


def test_a_kernel_cheaper_than_native_earns_nothing() -> None:
    """Goal: the mean over kernels does not hide a dear one behind one that fell below native."""

    def cost(virtual: int) -> vm_cost.Cost:
        return vm_cost.Cost(vm_cost.Run(100, "", 1), vm_cost.Run(virtual, "", 1), accesses=10)

    assert vm_cost.mean([cost(25), cost(400)]) == pytest.approx(2)


#: As callgrind 3.19 writes it: `walk` calls itself, a guard and the C library, which calls a guard.
_COUNTED = """events: Ir
fn=(1) main
12 10
cfn=(2) walk
calls=1 20
+1 90
fn=(2)
20 30
cfn=(3) nw_guest_load_miss
calls=2 0
21 16
cfn=(4) walk'2
calls=1 20
22 8
cfn=(5) nw_libc_bcmp
calls=1 0
* 36
fn=(3)
0 20
fn=(4)
20 8
fn=(5)
0 32
cfn=(3)
calls=1 0
0 4
"""


def test_where_instructions_went(tmp_path: Path) -> None:
    """Goal: a program's own, what its guards call, and all else, guards of the library within."""
    counts = tmp_path / "counts"
    counts.write_text(_COUNTED, encoding="utf-8")
    found = vm_programs.parts(counts, {"main", "walk"}, 2)
    assert found == vm_programs.Parts(own=24, guards=8, library=18)


def test_unknown_bench_is_bad_input(bench: Callable[..., Result]) -> None:
    """Goal: a mistyped name is answered with the one that was meant, exit 2."""
    result = bench("mised")
    assert result.exit_code == 2
    assert "did you mean missed" in result.stderr


def test_size_list_with_a_glob_that_finds_nothing_is_refused(tmp_path: Path) -> None:
    """Goal: a renamed source cannot silently drop out of the size on record."""
    (tmp_path / "core").mkdir()
    (tmp_path / layers.LIST).write_text(
        '[[size]]\nname = "vm"\nwhat = ""\nlimit = 1\nfiles = ["core/vm/*.c"]\n'
    )
    with pytest.raises(InputError, match=r"vm: no file matches core/vm/\*\.c"):
        layers.sized_parts(tmp_path)
    (tmp_path / "core" / "vm").mkdir()
    (tmp_path / "core" / "vm" / "b.c").touch()
    (tmp_path / "core" / "vm" / "a.c").touch()
    (part,) = layers.sized_parts(tmp_path)
    assert [path.name for path in part.files] == ["a.c", "b.c"]
