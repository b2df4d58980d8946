# SPDX-License-Identifier: Apache-2.0
"""The experiments of papers/capsule that nothing else runs, on their smaller inputs."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.store import ours
from lab.peers import SHAPES
from nandwich.cli.main import main
from papers.capsule import accesses, compaction, memory, whole
from papers.capsule._rig import Rig
from papers.ours import store_cost


def answers_of(folder: Path, *names: str) -> dict[str, dict[str, object]]:
    target = folder / "answers.json"
    arguments = ["papers", *names, "--quick", "--out", str(folder), "--json", str(target)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return {one["id"]: one for one in json.loads(target.read_text())}


def test_compaction_costs_energy_and_time(tmp_path: Path) -> None:
    """Goal: C9 and C10 move all there is, and larger chunks cost less."""
    answers_of(tmp_path, "C9", "C10")
    for name, column in (("C9", "compaction mJ"), ("C10", "compaction s")):
        with (tmp_path / f"{name}.csv").open() as text:
            rows = {(one["object"], one["chunk B"]): one for one in csv.DictReader(text)}
        small, large = (float(rows["stream", size][column]) for size in ("32", "128"))
        assert 0 < large < small


def test_compaction_judges_nothing_it_cannot() -> None:
    """Goal: no verdict on a figure that names no chunk size, a ratio that is 1 by construction, or
    a time that was read off a clock."""
    for chosen in (compaction.energy, compaction.time):
        for answer in chosen.run(True).answers:
            assert (answer.verdict, bool(answer.why)) == ("not judged", True), answer.part


def test_memory_is_measured_on_the_processor(tmp_path: Path) -> None:
    """Goal: C-RAM links both applications for the ATmega128 and asks the store there for its RAM,
    which holds; code is told with the reason."""
    found = answers_of(tmp_path, "C-RAM")
    assert [found[f"C-RAM/{number}-RAM"]["verdict"] for number in (1, 2)] == ["holds", "holds"]
    assert [found[f"C-RAM/{number}-ROM"]["verdict"] for number in (1, 2)] == ["differs", "differs"]
    rom = [float(str(found[f"C-RAM/{number}-ROM"]["measured"])) for number in (1, 2)]
    assert 16 < rom[1] < rom[0] < 45
    assert all(one["why"] for one in found.values())


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "holds"), (0.8, "differs"), (1.2, "differs")]
)
def test_dearer_and_cheaper_nodes_turn_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, verdict: str
) -> None:
    """Goal: a figure holds near the printed one, and neither far below nor far above it."""
    cost = Rig.cost

    def scaled(rig: Rig, *calls: Callable[[], object]) -> tuple[float, float]:
        energy, time = cost(rig, *calls)
        return energy * factor, time * factor

    monkeypatch.setattr(Rig, "cost", scaled)
    assert answers_of(tmp_path, "C6")["C6/write"]["verdict"] == verdict


def test_reading_far_cheaper_than_printed_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: the fall of 72 % from 8 to 64 B is not held by any deeper one."""
    for fall, verdict in ((0.72, "holds"), (0.85, "differs"), (0.5, "differs")):
        costs = {64: 1 - fall}
        monkeypatch.setattr(accesses, "_read_uj", lambda size, of=costs: of.get(size, 1.0))
        assert answers_of(tmp_path, "C6")["C6/read"]["verdict"] == verdict


@pytest.mark.parametrize(
    ("name", "size", "verdict"),
    [
        ("sequential insert", 256, "not judged"),
        ("sequential insert", 128, "differs"),
        ("random insert", 64, "holds"),
        ("random insert", 256, "differs"),
    ],
)
def test_the_largest_node_proves_nothing_of_larger_ones(name: str, size: int, verdict: str) -> None:
    """Goal: C8 tells no "from 256 B on" where its nodes end there."""
    answer = accesses._best(name, size, 256)
    assert (answer.verdict or ("holds" if answer.holds else "differs")) == verdict
    assert answer.why


def test_what_no_table_has_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: opening a file that costs nothing here holds nothing; the share of an application whose
    sensor is unknown is not judged; storage against the radio would be, were it within reach."""
    found = answers_of(tmp_path, "C11", "C-T6")
    for name in ("C-T6/open-mJ", "C-T6/open-ms", "C11/share"):
        assert found[name]["verdict"] == "not judged", name
    assert found["C11/radio"]["verdict"] == "not reachable"
    monkeypatch.setattr(whole, "_radio_mj", lambda: whole.PAPER_STORAGE_MJ / 0.72)
    verdicts = [whole._shares(factor * whole.PAPER_STORAGE_MJ)[1] for factor in (0.8, 1.0, 1.2)]
    assert [(one.verdict, one.holds) for one in verdicts] == [("", False), ("", True), ("", False)]


@pytest.mark.parametrize(("kb", "verdict"), [(1.0, "differs"), (1.6, "holds"), (2.4, "differs")])
def test_less_ram_than_printed_differs_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kb: float, verdict: str
) -> None:
    """Goal: C-RAM holds near what is printed, not at anything below it."""
    bytes_of = dict.fromkeys(("ROM", "ROM at plain -Os", "RAM", "of it the store's"), kb * 1024)
    monkeypatch.setattr(memory, "_measure", lambda _: bytes_of)
    assert answers_of(tmp_path, "C-RAM")["C-RAM/1-RAM"]["verdict"] == verdict


def test_a_store_without_peers_beside_it_is_not_judged() -> None:
    """Goal: store-cost is our own claim, and holds nothing where nobody else was measured."""
    counts = next(iter(ours(SHAPES[0])))
    dearer = replace(counts, store="another", programs=counts.programs + 1)
    cheaper = replace(counts, store="another", programs=counts.programs - 1)
    alone = store_cost._answer([counts], counts.shape, counts.work, "no compiler")
    assert (alone.verdict, alone.holds) == ("not judged", False)
    verdicts = [
        store_cost._answer([counts, other], counts.shape, counts.work, "").holds
        for other in (dearer, cheaper)
    ]
    assert verdicts == [True, False]
    assert store_cost.store_cost.document == "ours"
