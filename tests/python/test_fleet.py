# SPDX-License-Identifier: Apache-2.0
"""`nandwich fleet`: what is shared is what each node would have shown by itself; ends and intervals
are those of arithmetic done by hand; a wrong spec is refused with all its faults."""

import csv
import json
import math
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from schemas import validate
from transcripts import follow

from bench.fleet import differences
from nandwich import paths
from nandwich.cli.fleet import spec
from nandwich.cli.main import main
from nandwich.energy import model
from nandwich.errors import InputError
from nandwich.fleet import answer, draws, nodes, wear
from nandwich.fleet.draws import Array, Draw, fixed
from nandwich.fleet.nodes import ALIVE, Battery, Chip, Fleet, Shape, Workload
from nandwich.fleet.wear import Table

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
QUICK = """\
[fleet]
nodes = 300
horizon = "30 y"
[replay]
blocks = 32
precondition = 1
source = "gen:zipf,requests=2K,writes=100%"
chip = "CHIP"
[[workload]]
requests_a_day = { lognormal = [100, 0.5] }
growth = { uniform = ["0 B", "1 KiB"] }
[node]
bad_blocks = { choice = [0, 2] }
base = "100 uW"
[battery]
voltage = "3 V"
capacity = { normal = ["1000 mAh", "50 mAh"] }
self_discharge = 0.02
"""


def ran(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["fleet", *map(str, arguments)])


def made(*arguments: str | Path) -> Result:
    done = ran(*arguments)
    assert done.exit_code == 0, done.stderr
    return done


def written(folder: Path, text: str) -> Path:
    chip = folder / "chip.toml"
    chip.write_text('name = "SHORT"\nbased_on = "K9F1G08U0A"\nendurance = 300\n')
    file = folder / "spec.toml"
    file.write_text(text.replace("CHIP", str(chip)))
    return file


def test_the_page_shows_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert follow("fleet.md", tmp_path) == 4


def test_shared_nodes_live_as_long_as_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: sharing changes no life by more than 2 %. The bench does so with all 200."""
    monkeypatch.chdir(ROOT)
    small = ROOT / "examples" / "fleet" / "small.toml"
    worst, _, mean = differences(small, tmp_path / "small.sqlite", 8)
    assert worst <= 2
    assert mean <= 1


# Arithmetic by hand


def table(*, bears: int, shares: Array, erases: float = 0.5, bad: int = 0) -> Table:
    return Table(bad, shares, np.full(bears, erases), np.full(bears, 10.0))


@pytest.mark.quick
def test_the_device_ends_with_the_last_loss_that_it_bears() -> None:
    """Four even blocks, two losses: the second weakest block ends the node. Half an erase a request
    and four, then three blocks in use: 8 and 6 requests for an erase of each."""
    lives = np.array([[100.0, 40.0, 60.0, 90.0]])
    path = wear.course(table(bears=2, shares=np.ones(4)), lives)
    assert path.requests.tolist() == [[40 * 8, 40 * 8 + 20 * 6]]


@pytest.mark.quick
def test_a_block_kept_aside_comes_for_a_lost_one_and_lives() -> None:
    """The third block is not in use: a life of 1 ends nobody; and after a loss three are in use
    still."""
    lives = np.array([[100.0, 40.0, 1.0, 90.0]])
    path = wear.course(table(bears=2, shares=np.array([1.0, 1, 0, 1])), lives)
    assert path.requests.tolist() == [[40 * 6, 40 * 6 + 50 * 6]]


@pytest.mark.quick
def test_a_block_that_wears_twice_as_fast_lives_half_as_long() -> None:
    shares = np.array([1.5, 0.5])
    path = wear.course(table(bears=1, shares=shares), np.array([[90.0, 90.0]]))
    assert path.requests.tolist() == [[90 / 1.5 * 4]]


@pytest.mark.quick
def test_shapes_between_two_that_were_played_lie_between() -> None:
    low = table(bears=4, shares=np.ones(32), erases=0.2)
    high = table(bears=2, shares=np.ones(30), erases=0.4, bad=2)
    middle = wear.between(low, high, 1)
    assert (middle.bears, middle.used, middle.bad) == (3, 31, 1)
    assert middle.erases.tolist() == pytest.approx([0.3] * 3)
    assert wear.between(low, high, 0) is low


def fleet(**more: object) -> Fleet:
    battery = Battery(fixed(3000), fixed(100_000), fixed(0.8), fixed(0.1), 0.53)
    some = Fleet(5, 1, 10_000, [Workload("w", 1, fixed(100))], battery=battery)
    return replace(some, **more)  # type: ignore[arg-type]


CHIP = Chip(4, 1, 1000, 5000)


def lived(one: Fleet, shape: Shape) -> Array:
    return nodes.days(one, CHIP, nodes.draw(one, CHIP), [shape])


@pytest.mark.quick
def test_a_battery_lasts_as_nandwich_energy_says() -> None:
    """Goal: standby, base load and self-discharge as in docs/energy.md, where nothing is asked."""
    one = fleet(base_nw=fixed(20_000), duty=fixed(0))
    days = lived(one, Shape(None, 0, 10**9, [], 0))[0, 0]
    cell = model.Battery(3000, 100_000, Fraction(4, 5), Fraction(1, 10))
    line = model.Line(Fraction(0), Fraction(25_000, 10**6), 0)  # 25 uW, in mW
    expected = model.life_ns(cell, line, 10**9)
    assert expected is not None
    assert days == pytest.approx(float(expected) / 86_400e9, rel=1e-9)


@pytest.mark.quick
def test_requests_take_energy_and_what_is_lost_takes_more() -> None:
    """100 requests a day, of 1 J and from the first loss on of 3 J. The cell of 864 J usable, and
    no leak: after a loss at day 2 (200 J) 664 J last 664 / 300 days."""
    battery = Battery(fixed(3000), fixed(100_000), fixed(0.8), fixed(0), 0.5)
    one = fleet(battery=battery, block_endurance=fixed(1), bad_blocks=fixed(0))
    shares = np.array([1.5, 0.5, 1, 1])  # the first block is lost at 2/3 of its life
    shape = Table(0, shares, np.array([40 / 3, 1e-3]), np.array([1e12, 3e12]))
    chip = replace(CHIP, standby_nw=0)
    days = nodes.days(one, chip, nodes.draw(one, chip), [Shape(None, 0, 10**9, [shape], 1e12)])
    assert days[0, 0] == pytest.approx(2 + 664 / 300)


@pytest.mark.quick
def test_space_ends_by_growth_on_duty() -> None:
    one = fleet(duty=fixed(0.5), battery=None)
    one = replace(one, workloads=[Workload("w", 1, fixed(1), fixed(100), fixed(10))])
    assert lived(one, Shape(None, 0, 600, [], 0))[:, 2].tolist() == [100] * 5
    assert lived(one, Shape(None, 0, 99, [], 0))[:, 2].tolist() == [0] * 5


@pytest.mark.quick
def test_self_discharge_doubles_from_20_to_30_degrees() -> None:
    factors = nodes.arrhenius(0.53, np.array([20.0, 30.0, 10.0]))
    assert factors.tolist() == pytest.approx([1, 2, 0.477], rel=0.01)


# Draws


@pytest.mark.quick
@pytest.mark.parametrize(
    ("value", "mean", "deviation"),
    [
        ({"uniform": [1, 3]}, 2, 2 / math.sqrt(12)),
        ({"normal": [5, 0.5]}, 5, 0.5),
        ({"lognormal": [2, 0.5]}, 2 * math.exp(0.125), 2 * math.exp(0.125) * 0.5329),
        ({"weibull": [2, 2]}, math.sqrt(math.pi), math.sqrt(4 - math.pi)),
        ({"choice": [1, 5], "weights": [3, 1]}, 2, math.sqrt(3)),
        (7, 7, 0),
    ],
)
def test_distributions_have_their_mean_and_spread(
    value: object, mean: float, deviation: float
) -> None:
    drawn = draws.parse(value, draws.plain).sample(draws.stream(3, "x"), 200_000)
    assert drawn.mean() == pytest.approx(mean, rel=0.01)
    assert drawn.std() == pytest.approx(deviation, rel=0.01, abs=1e-9)


@pytest.mark.quick
def test_a_node_is_the_same_in_a_fleet_of_any_size() -> None:
    """Goal: and when another figure is drawn otherwise."""
    few = fleet(temperature_c=Draw("normal", (20, 5)), endurance=Draw("weibull", (1, 9)))
    many = replace(few, count=5000, duty=Draw("uniform", (0, 1)))
    first, second = nodes.draw(few, CHIP), nodes.draw(many, CHIP)
    for key in ("temperature_c", "endurance", "bad_blocks", "battery_pj"):
        assert first[key].tolist() == second[key][:5].tolist()
    assert [nodes.lives_of(few, CHIP, first, i) for i in range(5)] == [
        nodes.lives_of(many, CHIP, second, i) for i in range(5)
    ]


@pytest.mark.quick
def test_a_fleet_has_any_number_of_workloads() -> None:
    """Goal: each node has the figures of its own one. numpy.choose takes 64 columns at most."""
    some = [Workload(str(i), 1, fixed(i) if i % 2 else None, fixed(3 * i)) for i in range(70)]
    drawn = nodes.draw(fleet(count=2000, workloads=some), CHIP)
    which = drawn["workload"]
    assert set(which) == set(range(70))
    assert drawn["data"].tolist() == (3 * which).tolist()
    own = which % 2 == 1
    assert drawn["requests_a_day"][own].tolist() == which[own].tolist()
    assert np.isnan(drawn["requests_a_day"][~own]).all()


@pytest.mark.quick
def test_blocks_live_as_the_twin_draws_them() -> None:
    """Goal: by default 0.85 to 1.25 of the rating, 1.05 in the mean; bad ones are 0 and never the
    first."""
    one = fleet(count=4000, bad_blocks=fixed(1))
    drawn = nodes.draw(one, CHIP)
    every = np.concatenate([rows.ravel() for _, rows in nodes.lives(one, CHIP, drawn)])
    assert 850 <= every.min() < 900
    assert 1200 < every.max() <= 1250
    assert every.mean() == pytest.approx(1050, rel=0.002)
    told = [int(word) for word in nodes.lives_of(one, CHIP, drawn, 7).split(",")]
    assert [number == 0 for number in told] == [False, False, True, False]


# Confidence


@pytest.mark.quick
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Goal: of 1,000 fleets of 50 nodes at least 95 % hold the true median and share; 93 % here,
    for what chance may do."""
    rng = np.random.default_rng(5)
    held = [0, 0]
    low, high = answer.ranks(50, 0.5)
    for _ in range(1000):
        order = np.sort(rng.random(50))
        held[0] += order[low - 1] <= 0.5 <= order[high - 1]
        told = answer.share(int((order < 0.3).sum()), 50)
        held[1] += told["least"] <= 0.3 <= told["most"]
    assert min(held) >= 930
    assert answer.share(8, 10) == {"nodes": 8, "share": 0.8, "least": 0.490162, "most": 0.943318}
    assert (low, high) == (18, 33)  # of the binomial table: 0.016 below 18, and above 32


@pytest.mark.quick
def test_what_outlives_the_horizon_is_alive_and_has_no_quantile() -> None:
    days = np.array([[5.0, 9, 9], [30, 2, 9], [40, 50, 60], [11, 12, 13]])
    life, cause = answer.ended(days, 10)
    assert life.tolist() == [5, 2, 10, 10]
    assert cause.tolist() == [0, 1, ALIVE, ALIVE]
    told = answer.told(life, cause, 10)
    by_percent = {one["percent"]: one["days"] for one in told["life"]["quantiles"]}
    assert by_percent == {1: 2, 10: 2, 50: 5, 90: None, 99: None}
    assert [one["nodes"] for one in told["ends"]] == [1, 1, 0, 2]
    assert told["survival"][-1]["alive"] == 0.5
    assert told["survival"][50] | {"days": 0} == told["survival"][51] | {"days": 0}


# The command


def test_a_fleet_is_told_kept_and_the_same_with_any_jobs(tmp_path: Path) -> None:
    file = written(tmp_path, QUICK)
    store, result = tmp_path / "spec.sqlite", tmp_path / "one.json"
    made(file, "--json", result, "--export", tmp_path / "one.csv", "--jobs", "1")
    value = json.loads(result.read_text())
    validate("fleet-1", value)
    assert sum(one["nodes"] for one in value["ends"]) == 300
    assert {one["bad_blocks"] for one in value["shapes"]} == {0, 2}
    known = sqlite3.connect(store).execute("SELECT count(*) FROM point").fetchone()
    made(file, "--export", tmp_path / "known.csv")
    made(file, "--export", tmp_path / "rows.json")
    rows_too = json.loads((tmp_path / "rows.json").read_text())
    validate("fleet-1", rows_too)
    assert len(rows_too.pop("rows")) == 300
    assert rows_too == value
    assert sqlite3.connect(store).execute("SELECT count(*) FROM point").fetchone() == known
    made(file, "--store", tmp_path / "two.sqlite", "--export", tmp_path / "two.csv", "--jobs", "2")
    exported = [(tmp_path / f"{name}.csv").read_bytes() for name in ("one", "known", "two")]
    assert len(set(exported)) == 1
    with (tmp_path / "one.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 300
    for row in rows:
        causes = {name: float(row[f"{name}_days"] or "inf") for name in nodes.CAUSES}
        first = min(causes, key=lambda name: causes[name])
        assert row["end"] == (first if causes[first] <= 30 * 365 else "alive")
    assert "known" in made(file, "--dry-run").stdout


def test_compare_and_report_take_fleets(tmp_path: Path) -> None:
    for name, capacity in (("small", "1000 mAh"), ("large", "4000 mAh")):
        file = written(tmp_path, QUICK.replace("1000 mAh", capacity))
        made(file, "--json", tmp_path / f"{name}.json")
    both = [str(tmp_path / f"{name}.json") for name in ("small", "large")]
    done = CliRunner().invoke(main, ["compare", *both])
    assert done.exit_code == 0, done.stderr
    assert "50 % have ended" in done.stdout
    page = tmp_path / "page.html"
    done = CliRunner().invoke(main, ["report", *both, "-o", str(page)])
    assert done.exit_code == 0, done.stderr
    assert all(f'"key":"{key}"' in page.read_text() for key in ("survival", "ended", "ends"))


FAULTY: list[tuple[Callable[[str], str], str]] = [
    (lambda text: text.replace("nodes = 300", "nodes = 0"), "spec.toml:2: nodes = 0"),
    (lambda text: text.replace("horizon", "horizn"), "spec.toml:3: unknown key 'horizn'"),
    (lambda text: text.replace('"30 y"', '"30 years"'), "spec.toml:3: horizon: "),
    (lambda text: text.replace("gen:zipf", "gen:zipff"), "zipff"),
    (lambda text: text.replace("[100, 0.5]", "[100]"), "spec.toml:10: requests_a_day: wanted"),
    (lambda text: text.replace('"0 B"', "0"), "spec.toml:11: growth: 0 is no text"),
    (lambda text: text.replace("[node]", "[nodes]"), "spec.toml:12: unknown table 'nodes'"),
    (lambda text: text.replace("[0, 2]", "[0, -2]"), "spec.toml:13: bad_blocks: -2 is below 0"),
    (lambda text: text.replace("[node]", "[node]\nduty = 1.5"), "duty: 1.5 is no share"),
    (lambda text: text.replace("[node]", "[node]\ntemperature = 900"), "-60 to 150 degrees"),
    (lambda text: text.replace('voltage = "3 V"\n', ""), "voltage of the battery is missing"),
    (lambda text: text.replace("50 mAh", "50 V"), "spec.toml:17: capacity: '50 V'"),
    (lambda text: text.replace("[node]", "chip = 'x'\n[node]"), "chip is told by [replay]"),
    (lambda text: text.replace("blocks = 32", "repeat = 2"), "repeat is told by fleet itself"),
    (lambda text: text.replace("blocks = 32", "heal = true"), "heal is not taken: fleet"),
    (lambda text: text.replace("blocks = 32", 'nvm = "1K"'), "spec.toml:5: nvm is not taken: fl"),
    (lambda text: text.replace("blocks = 32", 'ftl = "treee"'), "spec.toml:5: ftl: unknown"),
    (lambda text: text.replace("[0, 2]", "[0, 32]"), "spec.toml:13: bad_blocks: a node's part has"),
    (lambda text: "workload = []\n" + text.split("[[")[0], "spec.toml:1: workloads are tables"),
    (lambda text: text.replace("blocks = 32", 'wear = "x"\nblocks = 32'), "spec.toml:5: wear: "),
    (lambda text: text.replace("requests_a_day", "#"), "spec.toml:9: workload gen:zipf"),
    (lambda text: text.replace("growth", 'data = "1G"\ngrowth'), "spec.toml:11: data: every node"),
    (lambda text: text.replace("2K,", "2K,footprint=1G,"), "spec.toml:9: gen:zipf"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("change", "told"), FAULTY)
def test_faults_are_told_with_their_line(
    tmp_path: Path, change: Callable[[str], str], told: str
) -> None:
    changed = change(QUICK)
    assert changed != QUICK
    done = ran(written(tmp_path, changed))
    assert done.exit_code == 2
    assert told in done.stderr
    assert not (tmp_path / "spec.sqlite").exists()


@pytest.mark.quick
def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = QUICK.replace("nodes = 300", "nodes = 0").replace("0.02", "-1").replace("3 V", "3")
    with pytest.raises(InputError) as error:
        spec.read(written(tmp_path, text))
    assert len(error.value.message.splitlines()) == 3


@pytest.mark.quick
def test_no_fault_hides_another(tmp_path: Path) -> None:
    """Goal: of names that nobody knows, a source without times and too many bad blocks none waits
    until the others are mended."""
    two = '[[workload]]\nname = "two"\nsource = "gen:zipf"\n'
    three = '[[workload]]\nname = "three"\nsource = "gen:zipff"\nrequests_a_day = 1\n'
    text = QUICK.replace("[node]", f"{two}{three}[node]").replace("nodes = 300", "nodes = 0")
    text = text.replace('"CHIP"', '"K9F1G08U0Z"').replace("blocks = 32", 'blocks = 32\nftl = "x"')
    told = {f"spec.toml:{line}: {what}" for line, what in (
        (2, "nodes = 0"), (6, "ftl: unknown"), (9, "chip: unknown"),
        (13, "workload two: its requests have no times"), (18, "source: unknown workload"),
    )}  # fmt: skip
    with pytest.raises(InputError) as error:
        spec.read(written(tmp_path, text))
    lines = error.value.message.splitlines()
    assert len(lines) == len(told)
    assert all(any(one in line for line in lines) for one in told)
    text = QUICK.replace("[node]", f"{two}[node]").replace("nodes = 300", "nodes = 0")
    with pytest.raises(InputError) as error:
        spec.read(written(tmp_path, text.replace("[0, 2]", "[0, 2000]")))
    lines = error.value.message.splitlines()
    assert [line.split(":")[1] for line in lines] == ["2", "12", "16"]


def test_joined_blocks_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    text = QUICK.replace('"CHIP"', '"W25Q128JV"').replace("blocks = 32\n", "")
    done = ran(written(tmp_path, text))
    assert done.exit_code == 2
    assert "spec.toml:7: W25Q128JV: its blocks are joined" in done.stderr
    assert not (tmp_path / "spec.sqlite").exists()


def test_data_without_room_are_told_in_words(tmp_path: Path) -> None:
    """A life of 0 was shown as a bound that nobody knows."""
    data = 'data = { choice = ["1 KiB", "1 GiB"] }\ngrowth'
    shown = made(written(tmp_path, QUICK.replace("growth", data)), "--export", tmp_path / "x.csv")
    assert re.search(r"^1 % have ended +0 d +0 d +0 d", shown.stdout, re.MULTILINE)
    with (tmp_path / "x.csv").open() as stream:
        count = sum(float(row["data"]) > 2**20 for row in csv.DictReader(stream))
    assert 100 < count < 200
    assert f"no room from the first day: {count} of 300 nodes of gen:zipf" in shown.stdout
    shown = made(written(tmp_path, QUICK))
    assert "no room" not in shown.stdout


def test_requests_a_day_are_exported_as_the_spec_has_them(tmp_path: Path) -> None:
    """The share of the time on duty, which stands beside them, was in them already."""
    text = QUICK.replace("{ lognormal = [100, 0.5] }", "100").replace(
        "[node]", "[node]\nduty = 0.5"
    )
    made(written(tmp_path, text), "--export", tmp_path / "x.csv")
    with (tmp_path / "x.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["requests_a_day"], row["duty"]) for row in rows} == {("100.0", "0.5")}


def test_what_is_known_is_told_once(tmp_path: Path) -> None:
    file = written(tmp_path, QUICK)
    assert "known already" not in made(file).stderr
    count = sqlite3.connect(tmp_path / "spec.sqlite").execute("SELECT count(*) FROM point")
    assert made(file).stderr == f"{count.fetchone()[0]} points known already\n"


def test_what_only_a_replay_shows_is_told_in_a_sentence(tmp_path: Path) -> None:
    busy = written(tmp_path, QUICK.replace("[100, 0.5]", "[1e12, 0.5]"))
    done = ran(busy)
    assert done.exit_code == 2
    assert "spec.toml:10: workload" in done.stderr
    assert "it cannot do them" in done.stderr
    crowded = written(tmp_path, QUICK.replace("[0, 2]", "[0, 30]"))
    done = ran(crowded)
    assert done.exit_code == 1
    assert "spec.toml:13: with 30 of 32 blocks bad: failed" in done.stderr
    assert "to repeat it: nandwich replay" in done.stderr


def test_a_reader_wears_nothing(tmp_path: Path) -> None:
    """Goal: no replay until the device refuses where nothing is written; that would never end."""
    text = QUICK.replace("writes=100%", "writes=0%").replace("growth", "#").replace("[battery]", "")
    text = text.split("voltage")[0]
    made(written(tmp_path, text), "--json", tmp_path / "read.json")
    value = json.loads((tmp_path / "read.json").read_text())
    assert value["shapes"] == []
    assert [one["nodes"] for one in value["ends"]] == [0, 0, 0, 300]


@pytest.mark.quick
def test_dry_runs_and_lines_of_nodes_write_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, QUICK)
    assert ran(file, "--dry-run", "--json", "-").exit_code == 2
    assert ran(file, "--node", "300").exit_code == 2
    line = made(file, "--node", "2").stdout
    assert "--until-worn" in line
    assert len(line.split("--lives ")[1].split()[0].split(",")) == 32
    assert sorted(one.name for one in tmp_path.iterdir()) == ["chip.toml", "spec.toml"]
