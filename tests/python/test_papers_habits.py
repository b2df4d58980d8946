# SPDX-License-Identifier: Apache-2.0
"""Goal: the month by model is the same for the same seed and what it says it is, and its four
experiments run on smaller inputs."""

import json
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from nandwich.cli.main import main
from papers.tiering import _phone

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
    names = ["VF-10", "VF-13", "VF-16", "VF-gc"]
    out = ["--quick", "--out", str(tmp_path), "--json", str(target)]
    done = CliRunner().invoke(main, ["papers", *names, *out])
    assert done.exit_code == 0, done.output
    answers = {one["id"]: one for one in json.loads(target.read_text())}
    assert answers["VF-10"]["measured"] > 2.8
    assert {one["verdict"] for one in answers.values()} == {"not judged"}
    assert answers["VF-13/bound"]["measured"] > 0
    assert answers["VF-16"]["measured"] > 0  # nobody is faster than the ideal
    assert answers["VF-gc"]["measured"] > 0
    for name in names:
        assert (tmp_path / f"{name}.svg").exists()
        assert len((tmp_path / f"{name}.csv").read_text().splitlines()) > 6
