# SPDX-License-Identifier: Apache-2.0
"""The experiments of papers/capsule that nothing else runs, on their smaller inputs."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.store import ours
from lab.peers import SHAPES
from nandwich import _native
from nandwich.cli.main import main
from papers.capsule import accesses, compaction, formulas, memory, room
from papers.capsule._pointers import Chain, Index, Log
from papers.capsule._rig import NAND
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
    """Goal: no verdict on a figure that names no chunk size, a ratio that hangs on headers nobody
    tells of, or a time that was read off a clock."""
    for chosen in (compaction.energy, compaction.time):
        for answer in chosen.run(True).answers:
            judged = (chosen.id, answer.part) == ("C9", "index")
            assert (answer.verdict == "not judged", bool(answer.why)) == (not judged, True)


def test_an_index_that_reads_twice_is_no_cheaper_to_compact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Goal: C9's verdict hangs on what the design reads: the walk over the headers is what a stream
    costs more, and an index that reads each value twice costs as much more."""
    get = Index.get

    def twice(self: Index, key: int) -> bytes:
        get(self, key)
        return get(self, key)

    def verdict() -> bool:
        return next(one.holds for one in compaction.energy.run(True).answers if one.part == "index")

    assert verdict()
    monkeypatch.setattr(Index, "get", twice)
    assert not verdict()


def test_what_the_design_moves_is_there_in_its_order() -> None:
    """Goal: the peer is a store: behind a compaction each element is found where it belongs."""
    log = Log()
    stack, index = Chain(log), Index(log, levels=3, fan=5)
    elements = [number.to_bytes(2, "little") * 30 for number in range(23)]
    for key, element in enumerate(elements):
        stack.push(element)
        index.set(key, element)
    index.flush()
    stack.compact(5)
    index.compact(len(elements))
    index.forget()
    assert stack.dequeue() == elements[0]
    assert [index.get(key) for key in range(len(elements))] == elements
    assert [stack.pop() for _ in elements[1:]] == elements[:0:-1]


@pytest.mark.parametrize(
    ("cls", "name", "differ"),
    [
        (Chain, "before", {"dequeue", "compact"}),
        (Log, "write", {"push", "compact", "set"}),
        (Log, "read", {"pop", "dequeue", "compact", "get"}),
    ],
)
def test_an_operation_more_than_the_formula_differs(
    monkeypatch: pytest.MonkeyPatch, cls: type, name: str, differ: set[str]
) -> None:
    """Goal: C-T4's counts are the formulas' for the design as it is, and for none that walks,
    writes or reads twice. It is the document's design, so none of them is a verdict on us."""

    def others() -> set[str]:
        answers = formulas.formulas.run(True).answers
        assert {one.part for one in answers if not one.verdict} == {"ours"}
        return {one.part for one in answers if not one.holds} - set(formulas.LOOSE)

    assert others() == set()
    once = getattr(cls, name)

    def twice(self: object, argument: object) -> object:
        once(self, argument)
        return once(self, argument)

    monkeypatch.setattr(cls, name, twice)
    assert others() == differ


def test_raw_blocks_hold_only_beside_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: C-RAW holds where the log ends before the raw blocks, not where it has them too, nor
    where the newest entry is not found."""
    assert answers_of(tmp_path, "C-RAW")["C-RAW/kept"]["verdict"] == "holds"
    with monkeypatch.context() as patch:
        patch.setattr(room.Directory, "newest", lambda _: None)
        assert answers_of(tmp_path, "C-RAW")["C-RAW/kept"]["verdict"] == "differs"
    monkeypatch.setattr(room, "LOG", room.BLOCKS)
    with pytest.raises(_native.StoreError):
        room.raw.run(True)


@pytest.mark.parametrize(("gives_way", "verdict"), [(False, "holds"), (True, "differs")])
def test_high_priority_is_what_does_not_give_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gives_way: bool, verdict: str
) -> None:
    """Goal: C-PRIO holds by the store's own flag, not by how little was written."""
    monkeypatch.setattr(room, "HIGH_GIVES_WAY", gives_way)
    assert answers_of(tmp_path, "C-PRIO")["C-PRIO/high"]["verdict"] == verdict


def test_a_store_has_only_blocks_of_its_chip() -> None:
    """Goal: a range of blocks that is not all on the chip is refused."""
    nand = _native.Nand.open(_native.Part.named(NAND), blocks=64)
    assert _native.Store(nand, first_block=32, blocks=32).ram_bytes > 0
    for first, count in ((33, 32), (32, 0), (0, 65)):
        with pytest.raises(ValueError, match="does not have these blocks"):
            _native.Store(nand, first_block=first, blocks=count)


def test_memory_is_measured_on_the_processor(tmp_path: Path) -> None:
    """Goal: C-RAM links the applications for the ATmega128 and asks the store there for its RAM,
    which holds; code is told with the reason, and no purpose of it has none."""
    found = answers_of(tmp_path, "C-RAM")
    numbers = [app.number for app in memory.APPLICATIONS]
    assert {found[f"C-RAM/{number}-RAM"]["verdict"] for number in numbers} == {"holds"}
    assert {found[f"C-RAM/{number}-ROM"]["verdict"] for number in numbers} == {"differs"}
    rom = [float(str(found[f"C-RAM/{number}-ROM"]["measured"])) for number in numbers]
    assert 16 < rom[1] < rom[0] < 45
    assert all(one["why"] for one in found.values())
    with (tmp_path / "C-RAM.csv").open() as text:
        for row in csv.DictReader(text):
            parts = [int(row[f"{name} B"]) for name in (*memory.PURPOSES, memory.OTHER)]
            assert sum(parts) == int(row["ROM B"])
            assert min(parts) > 1000


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "holds"), (0.8, "differs"), (1.2, "differs")]
)
def test_dearer_and_cheaper_pieces_turn_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, verdict: str
) -> None:
    """Goal: a figure holds near the printed one, and neither far below nor far above it; a full
    page at the document's own costs says nothing."""
    costs = {512: 0.144, 256: 0.144 * 1.4 * factor, 128: 0.144 * 2.18 * factor}
    monkeypatch.setattr(accesses, "_write_uj", costs.get)
    found = answers_of(tmp_path, "C6")
    assert found["C6/write"]["verdict"] == "not judged"
    assert found["C6/write-256"]["verdict"] == found["C6/write-128"]["verdict"] == verdict


def test_each_access_of_figure_7_says_why_it_judges_nothing() -> None:
    """Goal: the document's own chunk does not reach what it prints, whichever way a read is
    counted, and the rest is true by construction."""
    verdicts = {one.part: one.verdict for one in accesses.objects.run(True).answers}
    assert verdicts.pop("fifth") == verdicts.pop("dequeue") == "not judged"
    assert set(verdicts.values()) == {"not reachable"}
    for reads in (1, 2):
        write, read = (24.54 + 5 * 67 * 0.0962) / 5, reads * 4.07 + 67 * 0.105
        assert write / read > 0.66 * 1.09
        assert (4 * (4.07 + 3 * 0.105) + read) / write < 3.7 / 1.09
        assert read / write < 1.52 / 1.09


def test_reading_far_cheaper_than_printed_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: the fall of 72 % from 8 to 64 B is not held by any deeper one."""
    for fall, verdict in ((0.72, "holds"), (0.85, "differs"), (0.5, "differs")):
        costs = {64: 1 - fall}
        monkeypatch.setattr(accesses, "_read_uj", lambda size, of=costs: of.get(size, 1.0))
        assert answers_of(tmp_path, "C6")["C6/read"]["verdict"] == verdict


@pytest.mark.parametrize(
    ("name", "dearer", "verdict"),
    [
        ("sequential insert", 2.0, "not judged"),
        ("sequential insert", 0.5, "not judged"),
        ("random insert", 1.0, "holds"),
        ("random insert", 1.05, "holds"),
        ("random insert", 1.2, "differs"),
    ],
)
def test_the_best_node_is_no_toss_of_dice(name: str, dearer: float, verdict: str) -> None:
    """Goal: C8 holds where 64 B is near the cheapest; of "from 256 B on" it says nothing where its
    nodes end there."""
    answer = accesses._best(name, {32: 1.0, 64: dearer, 128: 1.5, 256: 1.5})
    assert (answer.verdict or ("holds" if answer.holds else "differs")) == verdict
    assert answer.why


def test_what_no_table_has_is_not_judged(tmp_path: Path) -> None:
    """Goal: a file at others' costs of the part, times that a clock would tell, and the share of an
    application whose sensor and radio are unknown, hold nothing."""
    for name, one in answers_of(tmp_path, "C11", "C-T5", "C-T6").items():
        judged = name.startswith("C-T5") and name.endswith("-uJ")
        assert (one["verdict"] == "not judged") != judged, name


@pytest.mark.parametrize(("kb", "verdict"), [(1.0, "differs"), (1.6, "holds"), (2.4, "differs")])
def test_less_ram_than_printed_differs_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kb: float, verdict: str
) -> None:
    """Goal: C-RAM holds near what is printed, not at anything below it."""
    names = ("ROM", "ROM at plain -Os", "RAM", "of it the store's")
    bytes_of = dict.fromkeys((*names, *memory.PURPOSES, memory.OTHER), kb * 1024)
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
