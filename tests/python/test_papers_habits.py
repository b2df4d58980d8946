# SPDX-License-Identifier: Apache-2.0
"""Goal: the month by model is the same for the same seed and what it says it is, its experiments
run on smaller inputs, and their verdicts change when what they judge is broken."""

import json
import random
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lab.experiments import Experiment
from nandwich.cli.main import main
from papers.ours import habit_cases, habit_days
from papers.tiering import _phone, habit_costs, kinds

MODEL = replace(_phone.quick(_phone.BASE), days=4)
RECORD = struct.Struct("<QQQQBBH4x")


def _months(model: _phone.Model) -> list[tuple[int, ...]]:
    sectors = 300_000
    return list(RECORD.iter_unpack(_phone._Month(model, 1, sectors).play()))


def test_a_month_is_what_it_says() -> None:
    month = _months(MODEL)
    assert month == _months(MODEL)
    assert month != _months(replace(MODEL, seed=2))
    times = [record[0] for record in month]
    assert times == sorted(times)
    assert times[-1] < 4 * 24 * _phone.HOUR_NS
    assert all(record[1] + record[2] <= 300_000 * 4096 for record in month)
    # Each application asks, the busiest as in the table; nobody sleeps with the phone in hand.
    apps = Counter(record[6] for record in month)
    assert set(apps) == set(range(1, 12))
    assert {app for app, _ in apps.most_common(3)} & {1, 2, 3}
    assert all(record[0] // _phone.HOUR_NS % 24 >= 7 for record in month)
    written = Counter(record[5] for record in month if record[4] == 1)
    assert 0.1 < written[_phone._INODES] / written[_phone._DATA] < 0.2


def test_energy_by_where_it_goes() -> None:
    """A GB takes 1.5 J to read, 17 to write and 10 to erase, whatever a page and a block hold; of
    flash alone nothing is left for an NVM."""
    outcome = _phone.run(1, MODEL, _phone.FLASH)
    joules = outcome.joules()
    assert round(joules["writes"], 6) == round(outcome.layer["host_writes"] * 4096 * 17e-9, 6)
    assert round(joules["erases"], 6) == round(outcome.erases * 128 * 4096 * 10e-9, 6)
    moved = outcome.layer["copies"]
    assert round(joules["collection"], 6) == round(moved * 4096 * 18.5e-9, 6)
    assert 0 < joules["reads"] <= outcome.layer["host_reads"] * 4096 * 1.5e-9  # some are unwritten
    assert abs(joules["NVM"]) < 1e-6
    held = _phone.run(1, MODEL, _phone.VFLASH).joules()
    assert held["NVM"] > 0
    assert held["writes"] < joules["writes"]


def test_tags_that_are_lost_or_inferred() -> None:
    month = _months(MODEL)
    lost = _months(replace(MODEL, tags="lost"))
    inferred = _months(replace(MODEL, tags="inferred"))
    for told, other in zip(month, lost, strict=True):
        assert other[:6] == told[:6]
        assert other[6] == (_phone.FLUSHER if told[4] == 1 else told[6])
    right = [a[6] == b[6] for a, b in zip(month, inferred, strict=True) if a[4] == 1]
    assert sum(right) / len(right) > 0.5


def test_experiments_have_verdicts(tmp_path: Path) -> None:
    target = tmp_path / "vf.json"
    names = ["VF-9", "VF-10", "VF-13", "VF-14", "VF-15", "VF-16", "VF-eq", "VF-gc"]
    out = ["--quick", "--out", str(tmp_path), "--json", str(target)]
    done = CliRunner().invoke(main, ["papers", *names, *out])
    assert done.exit_code == 0, done.output
    answers = {one["id"]: one for one in json.loads(target.read_text())}
    assert answers["VF-10"]["measured"] > 2.8
    assert {one["verdict"] for one in answers.values()} == {"not judged"}
    assert answers["VF-13/bound"]["measured"] > 0
    assert answers["VF-16"]["measured"] > 0  # nobody is faster than the ideal
    assert answers["VF-gc"]["measured"] > 0
    saved = {answers[name]["measured"] for name in ("VF-13", "VF-14", "VF-15")}
    assert len(saved) == 3  # of three users
    for name in names:
        drawn = name not in ("VF-14", "VF-15", "VF-eq")
        assert (tmp_path / f"{name}.svg").exists() == drawn
        assert len((tmp_path / f"{name}.csv").read_text().splitlines()) > 4


def test_days_without_the_phone_and_orders() -> None:
    """Days before the unused ones are as ever; pages in turn are updated alike, else the first of
    them most."""
    day_ns = 24 * _phone.HOUR_NS
    month, gap = _months(MODEL), _months(replace(MODEL, unused=range(1, 3)))
    assert {record[0] // day_ns for record in gap} == {0, 3}
    assert [one for one in gap if one[0] < day_ns] == [one for one in month if one[0] < day_ns]
    place, draw = _phone._Place(10, 100, 8), random.Random(1)
    assert [place.hit(2, "in turn", draw) for _ in range(6)] == [10, 12, 14, 16, 10, 12]
    for order, share in (("skewed", 0.71), ("even", 0.5)):  # of the first half: a root, a half
        hits = [place.hit(1, order, draw) for _ in range(4000)]
        assert abs(sum(at < 14 for at in hits) / 4000 - share) < 0.03, order
        assert set(hits) == set(range(10, 18))


def test_what_counts_begins_with_a_day() -> None:
    whole, late = (_phone.run(1, MODEL, _phone.VFLASH, after) for after in (0, 2))
    sectors = _phone._device(MODEL).sectors - 1
    month = list(RECORD.iter_unpack(_phone._Month(MODEL, 1, sectors).play()))
    of = [record[6] for record in month if record[0] >= 48 * _phone.HOUR_NS]
    assert [share["requests"] for share in late.apps[1:12]] == [of.count(i) for i in range(1, 12)]
    assert late.layer == whole.layer
    small = replace(_phone.VFLASH, nvm_bytes=4 << 20)
    assert _phone.run(1, MODEL, small).tier["slots"] < whole.tier["slots"] // 3


def _held(what: Experiment) -> dict[str, bool]:
    return {answer.part: answer.holds for answer in what.run(True).answers}


def test_cases_hang_on_their_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = _phone.Way("none")
    assert _held(habit_cases.cases) == {"": True, "by-model": True, "together": False, "lru": True}
    with monkeypatch.context() as broken:
        broken.setitem(habit_cases.WAYS, habit_cases.VFLASH, nothing)
        broken.setitem(habit_cases.WAYS, habit_cases.BOTH, nothing)
        assert _held(habit_cases.cases) == {
            "": False, "by-model": True, "together": False, "lru": False
        }  # fmt: skip
    monkeypatch.setitem(habit_cases.WAYS, habit_cases.RIVAL, nothing)
    assert _held(habit_cases.cases) == {"": True, "by-model": False, "together": True, "lru": True}


def test_a_first_day_is_lrus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by number alone: what is written at once and later is the same."""
    assert _held(habit_days.days)[""]
    model = habit_days._model(True, 1)
    for idle in (True, False):
        ways = [_phone.Way(name, idle=idle) for name in ("lru", "habit-lru")]
        lru, mine = (_phone.run(2, model, way) for way in ways)
        assert lru.tier["moved"] > 0
        same = ("nvm_reads", "nvm_writes", "flash_reads", "flash_writes", "moved", "moved_ahead")
        assert [lru.tier[name] for name in same] == [mine.tier[name] for name in same]
    monkeypatch.setattr(_phone, "HABIT_LRU", _phone.VFLASH)
    assert not _held(habit_days.days)[""]


def test_equations_hang_on_their_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _held(habit_costs.equations) == {"": False, "device": False, "written-back": True}
    with monkeypatch.context() as broken:
        broken.setattr(habit_costs, "PROGRAM_US", 250.0)
        assert not _held(habit_costs.equations)["written-back"]
    # Nothing is written back without idle time: then the equations have all there is.
    monkeypatch.setattr(habit_costs, "VFLASH", _phone.Way("habit", idle=False))
    assert _held(habit_costs.equations)["device"]


def test_ram_hangs_on_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _held(habit_costs.ram) == {"": False, "map": False}
    monkeypatch.setattr(habit_costs, "APPS", 194)
    monkeypatch.setattr(_phone, "NVM_BYTES", 9_345_000)
    assert _held(habit_costs.ram) == {"": True, "map": True}


def test_kinds_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page comes back when no more others were written since than the NVM has."""
    monkeypatch.setattr(kinds, "NVM_PAGES", 2)
    asked = [("a", 1, True), ("a", 2, True), ("a", 1, True), ("b", 9, False), ("b", 9, True),
             ("b", 8, False), ("a", 3, True), ("a", 1, True), ("a", 4, False)]  # fmt: skip
    monkeypatch.setattr(kinds, "_pages", lambda _: iter(asked))
    found = kinds.kinds(MODEL)
    assert found["a"].shares() == [25, 50, 25]
    assert found["b"].shares() == [50, 50, 0]
    assert found["a"].returns == 20
