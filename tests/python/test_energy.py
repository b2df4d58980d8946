# SPDX-License-Identifier: Apache-2.0
"""`nandwich energy`: units, lines that cross where they should, and files that contradict."""

import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import validate

from nandwich import paths
from nandwich.cli.main import main
from nandwich.energy import model, node, report
from nandwich.energy.model import Battery, Job, Line, Node, Radio, Storage
from nandwich.errors import InputError

pytestmark = pytest.mark.quick

assert paths.CHECKOUT is not None
CAMERA = paths.CHECKOUT / "examples" / "nodes" / "camera.toml"
SECOND = 10**9

#: One volt and one milliampere make one mW: what comes out can be said in the head.
PLAIN = """
[node]
supply = "1 V"
active = "10 mA"
asleep = "1 mA"
clock = "10 MHz"
[storage]
active = "5 mA"
[job]
every = "100 s"
awake = "10 s"
storage = "2 s"
raw = "100 B"
result = "10 B"
[other]
supply = "2 V"
active = "20 mA"
asleep = "2 mA"
clock = "20 MHz"
[radio.R]
send = "1 mJ"
receive = "2 mJ"
[battery]
voltage = "1 V"
capacity = "1000 mAh"
"""


def read(tmp_path: Path, text: str) -> node.Given:
    file = tmp_path / "node.toml"
    file.write_text(text)
    return node.read(file)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["energy", *arguments])


def test_a_cycle_takes_what_a_pencil_says(tmp_path: Path) -> None:
    """Goal: mV, nA, ns and pJ meet in the right powers of ten, term by term."""
    found = read(tmp_path, PLAIN)
    here, other, raw = report.ways(found)
    # 10 mW x 10 s + 5 mW x 2 s + 1 mW x 90 s, and 10 bytes of 1 mJ
    assert here.line.energy_pj(100 * SECOND) == (100 + 10 + 90 + 10) * 10**9
    # compute is awake less storage, 8 s, at twice the clock 4 s: 40 mW x 4 s + 4 mW x 96 s
    assert found.other_ns == 4 * SECOND
    assert other.line.energy_pj(100 * SECOND) == (160 + 384 + 10) * 10**9
    # asleep all the time, and 100 bytes of 1 mJ
    assert raw.line.energy_pj(100 * SECOND) == (100 + 100) * 10**9
    one, two, three = report.sendings(found)
    assert (one.hops, two.hops, three.hops) == (1, 2, 3)
    assert one.here_pj == (110 + 30) * 10**9
    assert one.raw_pj == 300 * 10**9
    assert one.raw_sent_pj == 100 * 10**9
    assert three.raw_pj == 900 * 10**9
    assert one.bytes_even == Fraction(140, 3)


def test_a_battery_lasts_what_a_pencil_says(tmp_path: Path) -> None:
    """Goal: 3,600 J at a mean of 2.1 mW; half of them; and with a leak of as much again."""
    here = report.ways(read(tmp_path, PLAIN))[0]
    power = Fraction(210, 100)
    for more, share in (("", 1), ("usable = 0.5", Fraction(1, 2))):
        found = read(tmp_path, PLAIN + more)
        life = report.lives_ns(found, here)
        assert life == 3600 * 10**12 * share / power
    # All of it in a year is 3,600 J / 31,536,000 s.
    leak = Fraction(3600 * 10**12, model.YEAR_NS)
    found = read(tmp_path, PLAIN + "self_discharge = 0.999999")
    life = report.lives_ns(found, here)
    assert life is not None
    assert float(life) == pytest.approx(float(3600 * 10**12 / (power + leak)), rel=1e-5)


def test_break_even_is_where_both_take_the_same() -> None:
    """Goal: the break-even told is the crossing that a search over the energies finds."""
    here, other, *_ = report.ways(node.read(CAMERA))
    even = other.break_even
    assert even is not None
    assert even.cheaper == "above"
    assert even.cycle_ns is not None
    low, high = 7 * SECOND, 86_400 * SECOND
    while high - low > 1:
        middle = (low + high) // 2
        if here.line.energy_pj(middle) < other.line.energy_pj(middle):
            high = middle
        else:
            low = middle
    assert low <= even.cycle_ns <= high


LINES = st.builds(
    Line,
    st.integers(0, 10**12).map(Fraction),
    st.integers(0, 10**3).map(lambda mw: Fraction(mw, 10)),
    st.integers(0, 10**10),
)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES, st.integers(1, 10**14))
def test_break_even_says_who_is_cheaper(first: Line, second: Line, cycle_ns: int) -> None:
    """Goal: for any two lines and any cycle both can keep, the verdict is what the energies say."""
    even = model.break_even(first, second)
    cycle = max(cycle_ns, first.shortest_ns, second.shortest_ns)
    cheaper = first.energy_pj(cycle) < second.energy_pj(cycle)
    if even.cycle_ns is None:
        assert even.cheaper in ("always", "never")
        at_edge = cycle == max(first.shortest_ns, second.shortest_ns)
        assert cheaper == (even.cheaper == "always") or at_edge
    else:
        beyond = cycle > even.cycle_ns if even.cheaper == "above" else cycle < even.cycle_ns
        assert cheaper == beyond


CURRENTS = st.integers(0, 10**9)
TIMES = st.integers(1, 10**12)


@settings(max_examples=200, deadline=None)
@given(CURRENTS, CURRENTS, TIMES, TIMES, st.data())
def test_more_of_anything_never_takes_less(
    active: int, asleep: int, awake: int, rest: int, data: Any
) -> None:
    """Goal: energy grows with every current, every time and the length of the cycle, and the
    battery's life falls."""
    most = max(active, asleep)
    base = Node(3000, most, asleep, 10**6)
    storage = Storage(data.draw(CURRENTS), 0)
    job = Job(awake, data.draw(st.integers(0, awake)), awake, 100, 0)
    cycle = awake + rest
    energy = model.here(base, storage, job).energy_pj(cycle)
    assert energy >= 0
    others = (
        (Node(3001, most, asleep, 10**6), storage, job, cycle),
        (Node(3000, most + 1, asleep, 10**6), storage, job, cycle),
        (Node(3000, most + 1, asleep + 1, 10**6), storage, job, cycle),
        (base, Storage(storage.active_na + 1, 0), job, cycle),
        (base, Storage(storage.active_na, 1), job, cycle),
        (base, storage, job, cycle + 1),
    )
    battery = Battery(3000, 10**6, Fraction(1), Fraction(1, 100))
    life = model.life_ns(battery, model.here(base, storage, job), cycle)
    for one in others:
        line = model.here(*one[:3])
        assert line.energy_pj(one[3]) >= energy
        if one[3] == cycle:
            again = model.life_ns(battery, line, cycle)
            assert life is not None
            assert again is not None
            assert again <= life


def test_no_radio_costs_less_over_more_hops() -> None:
    """Goal: each hop adds a sending and a receiving."""
    radio = Radio("r", 5, 7)
    assert model.hop_pj(radio) == 12
    assert model.hop_pj(radio, receiving=False) == 5


def test_camera_breaks_even_in_the_published_range() -> None:
    """Goal: the example in the docs is the paper's case, between 5 and 20 minutes."""
    even = report.ways(node.read(CAMERA))[1].break_even
    assert even is not None
    assert even.cycle_ns is not None
    assert 5 * 60 * SECOND <= even.cycle_ns <= 20 * 60 * SECOND


def test_every_figure_has_its_source() -> None:
    """Goal: nothing is used without saying where it comes from."""
    figures = node.read(CAMERA).figures
    assert len(figures) == 16
    assert all(one.source for one in figures)
    named = {one.key: one.source for one in figures}
    assert named["node.active"].startswith("STM32F103ZE: ")
    assert named["storage.active"].startswith("W25N01GV")
    assert re.search(r"camera\.toml:\d+$", named["battery.voltage"])


BAD = (
    ('awake = "10 s"', 'awake = "10"', 11, "job.awake: '10' has no unit"),
    ('awake = "10 s"', "awake = 10", 11, "job.awake: a time needs a unit and quotes"),
    ('awake = "10 s"', 'awake = "0 s"', 11, "job.awake: must be at least 1 ns"),
    ('awake = "10 s"', "", 9, "job: awake is missing, and no report"),
    ('awake = "10 s"', 'awake = "200 s"', 10, "job.every: the node is awake for 200 s"),
    ('storage = "2 s"', 'storage = "11 s"', 12, "job.storage: longer than the node is awake"),
    ('storage = "2 s"', 'compute = "11 s"', 12, "job.compute: longer than the node is awake"),
    ('storage = "2 s"', 'storag = "2 s"', 12, "unknown key job.storag; did you mean storage?"),
    ("[storage]", "[flash]", 7, "unknown key flash"),
    ('supply = "1 V"', 'supply = "1 mA"', 3, "node.supply: '1 mA': unknown unit 'mA' of voltage"),
    ('supply = "1 V"', 'supply = "1 kV"', 3, "node.supply: '1 kV': unknown unit"),
    ('supply = "1 V"', 'supply = "61 V"', 3, "node.supply: must be at most 60000 mV"),
    ('supply = "1 V"', "", 2, "node: supply is missing, and no platform that would tell it"),
    ('supply = "1 V"', 'platform = "STM32"', 3, "unknown platform 'STM32'"),
    ('supply = "1 V"', 'platform = "CC2420"', 3, "node.platform: CC2420 is a radio, no node"),
    ('send = "1 mJ"', "", 20, "unknown platform 'R'"),
    ('send = "1 mJ"', 'platform = "MICA2"', 21, "radio.R.platform: MICA2 is a node, no radio"),
    ('raw = "100 B"', 'raw = "-1 B"', 13, "job.raw: '-1 B' is no quantity of size"),
    ('raw = "100 B"', "hops = 0", 13, "job.hops: must be at least 1"),
    ('capacity = "1000 mAh"', 'capacity = "1000 mA"', 25, "battery.capacity: '1000 mA'"),
    ('capacity = "1000 mAh"', 'capacity = "1 Ah"\nusable = 0.0', 26, "must be above 0"),
    ('capacity = "1000 mAh"', 'capacity = "1 Ah"\nusable = nan', 26, "battery.usable"),
    ('capacity = "1000 mAh"', 'capacity = "1 Ah"\nself_discharge = 1.0', 26, "below 1"),
    ("[battery]", "[battery.sources]\nusabel = 'x'\n[battery]", 24, "no such figure"),
)


@pytest.mark.parametrize(("old", "new", "line", "complaint"), BAD)
def test_bad_files_are_told_with_their_line(
    tmp_path: Path, old: str, new: str, line: int, complaint: str
) -> None:
    """Goal: one sentence with file, line and key; no traceback, no result."""
    assert PLAIN.count(old) >= 1
    file = tmp_path / "node.toml"
    file.write_text(PLAIN.replace(old, new, 1))
    done = invoke(str(file))
    assert done.exit_code == 2
    assert done.stdout == ""
    assert f"node.toml:{line}: error: " in done.stderr
    assert complaint in done.stderr


REPORT = {
    "schema": "nandwich.run-target/1",
    "end": {"kind": "exit"},
    "target": {"mhz": 10},
    "instructions": {"total": 50_000_000, "native_total": 10_000_000},
    "time_ns": {"storage": 2 * SECOND},
}
REPORTED = PLAIN.replace('awake = "10 s"\nstorage = "2 s"', 'report = "run.json"')


def test_times_come_from_a_run_on_a_board(tmp_path: Path) -> None:
    """Goal: instructions become time by clock and cycles, storage comes on top; each such time is
    told with its source, and the report is safe from being written over."""
    (tmp_path / "run.json").write_text(json.dumps(REPORT))
    found = read(tmp_path, REPORTED)
    assert (found.job.awake_ns, found.job.storage_ns) == (9_500_000_000, 2 * SECOND)
    assert found.job.compute_ns == 1_500_000_000
    found = read(tmp_path, REPORTED.replace("[other]", "cycles = 2.0\n[other]"))
    assert (found.job.awake_ns, found.job.compute_ns) == (12 * SECOND, 2 * SECOND)
    named = {one.key: one.source for one in found.figures}
    assert "run.json: 50000000 instructions" in named["job.awake"]
    done = invoke(str(tmp_path / "node.toml"), "--json", str(tmp_path / "run.json"))
    assert done.exit_code == 2
    assert json.loads((tmp_path / "run.json").read_text()) == REPORT
    done = invoke(str(tmp_path / "node.toml"), "--json", str(tmp_path / "out.json"))
    assert done.exit_code == 0, done.stderr
    value = json.loads((tmp_path / "out.json").read_text())
    validate("energy-1", value)
    assert len(value["provenance"]["inputs"]) == 2


@pytest.mark.parametrize(
    ("report", "more", "complaint"),
    [
        (None, "", "11: error: job.report: cannot read"),
        ("{", "", "11: error: job.report: "),
        ('{"schema": "nandwich.run/1"}', "", "is no JSON of `nandwich run --target`"),
        ("[1]", "", "is no JSON of `nandwich run --target`"),
        (json.dumps(REPORT | {"target": {"mhz": 0}}), "", "is no JSON of"),
        (
            json.dumps(REPORT | {"instructions": {"total": 9, "native_total": None}}),
            "",
            "that run was not compared with the native one",
        ),
        (
            json.dumps(REPORT | {"end": {"kind": "panic", "what": "", "address": 0}}),
            "",
            "job.report: TMP/run.json: that run broke off (panic), so its times are not the job's",
        ),
        (
            json.dumps(REPORT | {"target": {"mhz": 160}}),
            "",
            "its times are of a processor at 160 MHz, the node's clock is 10 MHz: run it on the",
        ),
        (json.dumps(REPORT), 'awake = "1 s"', "10: error: job.awake: the report tells it, too"),
        (json.dumps(REPORT), "cycles = 0.5", "job.cycles: must be at least 1"),
    ],
)
def test_bad_reports_are_told(
    tmp_path: Path, report: str | None, more: str, complaint: str
) -> None:
    """Goal: a report that is not there, not one, or not enough: the line that names it."""
    if report is not None:
        (tmp_path / "run.json").write_text(report)
    with pytest.raises(InputError) as error:
        read(tmp_path, REPORTED.replace("[job]", f"[job]\n{more}".rstrip()))
    assert complaint in error.value.message.replace(str(tmp_path), "TMP")


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Goal: whoever mends a file need not run the command once for each fault."""
    with pytest.raises(InputError) as error:
        read(tmp_path, PLAIN.replace("every", "evry").replace("active", "activ"))
    assert len(error.value.message.splitlines()) >= 6


def test_json_and_plot(tmp_path: Path) -> None:
    """Goal: the document keeps to its schema, and the same run gives the same picture."""
    target, plot = tmp_path / "out.json", tmp_path / "out.svg"
    done = invoke(str(CAMERA), "--json", str(target), "--plot", str(plot), "--cycle", "1 h")
    assert done.exit_code == 0, done.stderr
    value = json.loads(target.read_text())
    validate("energy-1", value)
    assert [way["name"] for way in value["ways"]] == [
        "here",
        "other",
        "raw by CC2420",
        "raw by CC2420-LEAST",
    ]
    assert [one["cycle_ns"] for one in value["ways"][0]["cycles"]] == [3600 * SECOND]
    first = plot.read_bytes()
    assert b"<svg" in first
    assert invoke(str(CAMERA), "--plot", str(plot)).exit_code == 0
    assert plot.read_bytes() == first


def test_a_plot_is_an_svg(tmp_path: Path) -> None:
    """--plot x.png wrote an SVG of that name. And the dotted lines had no name in the legend."""
    done = invoke(str(CAMERA), "--plot", str(tmp_path / "out.png"))
    assert done.exit_code == 2
    assert "out.png: plots are SVG; give a name that ends in .svg" in done.stderr
    assert not (tmp_path / "out.png").exists()
    assert invoke(str(CAMERA), "--plot", str(tmp_path / "out.svg")).exit_code == 0
    assert (tmp_path / "out.svg").read_text().count("<!-- break-even with here -->") == 1


def test_plot_without_matplotlib_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: the extra is an extra; who has none gets a sentence and loses nothing."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = invoke(str(CAMERA), "--plot", str(tmp_path / "out.svg"))
    assert done.exit_code == 1
    assert "pip install 'nandwich[plot]'" in done.stderr
    assert not (tmp_path / "out.svg").exists()


def test_least_file(tmp_path: Path) -> None:
    """Goal: without storage, other node, radio and battery there is still an answer."""
    file = tmp_path / "least.toml"
    file.write_text('[node]\nplatform = "MICA2"\n[job]\nevery = "1 min"\nawake = "1 s"\n')
    shown = ("--cycle", "0.5 s", "--cycle", "1 h")
    done = invoke(str(file), *shown, "--json", str(tmp_path / "x.json"))
    assert done.exit_code == 0, done.stderr
    assert "left out" in done.stderr
    validate("energy-1", json.loads((tmp_path / "x.json").read_text()))


@pytest.mark.parametrize("asked", [("0 s",), ("0 s", "20 min"), ("1 ns", "2 s")])
def test_no_cycle_that_can_be(asked: tuple[str, ...]) -> None:
    """`--cycle '0 s'` was told as 0 d and gave a table without a row, with exit code 0."""
    done = invoke(str(CAMERA), *(word for one in asked for word in ("--cycle", one)))
    assert done.exit_code == 2
    assert "--cycle: somebody is awake for 6.7 s of each, so none is shorter" in done.stderr
    assert done.stdout == ""


def test_it_does_not_write_over_its_input(tmp_path: Path) -> None:
    """Goal: the node's file survives whatever is asked."""
    file = tmp_path / "node.toml"
    file.write_text(PLAIN)
    for option in ("--json", "--plot"):
        done = invoke(str(file), option, str(file))
        assert done.exit_code == 2
        assert "would overwrite" in done.stderr
    assert file.read_text() == PLAIN
