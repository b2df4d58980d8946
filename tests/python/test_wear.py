# SPDX-License-Identifier: Apache-2.0
"""Wear policies by name on a replayed device: nothing lost, healings told, misfits refused."""

import json

import pytest
from click.testing import CliRunner
from schemas import validate

from nandwich import _native
from nandwich.cli.main import main

HEALING = "TLC8G-HEAL"
BLOCKS = 32
HEAL = {"heal": 1, "heal_cycles": 20}
POLICIES = ("dynamic", "swl", "dheating")
LAYERS = ("page", "nftl", "log", "superblock", "fast")


def play(
    layer: str, wear: str, config: dict[str, int], *, heals: int = 0, verify: bool = False
) -> _native.Replay:
    device = _native.ReplayDevice(
        _native.Part.named(HEALING),
        layer,
        blocks=BLOCKS,
        factory_bad=False,
        wear=wear,
        wear_config=config,
        verify=verify,
    )
    footprint = device.sectors * device.sector_bytes // 2 // 65536 * 65536
    source = _native.Workload("filecopy", {"footprint": footprint})
    replay = _native.Replay(
        device, source, repeat=0, limit=25_000, heals=heals, arrivals=True, precondition=500
    )
    while replay.precondition(1_000_000):
        pass
    while replay.run(1_000_000):
        pass
    return replay


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("wear", POLICIES)
def test_nothing_is_lost_under_any_policy(layer: str, wear: str) -> None:
    replay = play(layer, wear, {"heal": 1, "heal_cycles": 3}, verify=True)
    result = replay.result()
    assert result["done"] == 25_000
    assert result["tokens_checked"] > 0
    assert result["violations"] == 0
    assert all(left <= right <= left + slack for _, left, right, slack in replay.laws())
    assert replay.wear_stats()["heals"] > 0


@pytest.mark.quick
@pytest.mark.asan
@pytest.mark.parametrize("wear", POLICIES)
def test_a_run_ends_at_the_healing_asked_for(wear: str) -> None:
    replay = play("page", wear, {"heal": 1, "heal_cycles": 3}, heals=3)
    times = replay.heals()
    assert len(times) >= 3
    assert times == sorted(times)
    # Each takes three seconds of the clock.
    assert replay.result()["end_ns"] >= times[-1]
    assert replay.result()["busy_ns"] >= len(times) * 3 * 10**9


@pytest.mark.quick
@pytest.mark.asan
def test_swl_needs_its_threshold_in_range() -> None:
    with pytest.raises(ValueError, match="threshold of 2 or more"):
        play("page", "swl", {"threshold": 1})


@pytest.mark.quick
@pytest.mark.asan
def test_what_does_not_fit_is_refused_with_the_reason() -> None:
    def device(part: str, layer: str, wear: str, config: dict[str, int]) -> None:
        _native.ReplayDevice(_native.Part.named(part), layer, wear=wear, wear_config=config)

    with pytest.raises(ValueError, match="TLC8G cannot be healed: choose a part"):
        device("TLC8G", "page", "dheating", HEAL)
    with pytest.raises(ValueError, match="layer lavish takes no wear policy"):
        device("K9F1G08U0A", "lavish", "swl", {})
    with pytest.raises(ValueError, match="no wear policy 'best'"):
        device(HEALING, "page", "best", {})
    with pytest.raises(ValueError, match="healing needs a wear policy"):
        device(HEALING, "page", "none", HEAL)
    with pytest.raises(ValueError, match="percent is at most 100"):
        device(HEALING, "page", "dynamic", {"heal": 1, "heal_percent": 101})
    with pytest.raises(ValueError, match="no wear figure 'speed'"):
        device(HEALING, "page", "dynamic", {"speed": 1})


@pytest.mark.quick
@pytest.mark.asan
def test_pauses_come_after_each_burst() -> None:
    changes = {"footprint": 1 << 20, "gap_ns": 1000, "burst": 10, "pause_ns": 10**9}
    source = _native.Workload("uniform", {**changes, "requests": 35})
    survey = _native.Survey(source)
    while survey.run(100):
        pass
    assert survey.result()["duration_ns"] == 34 * 1000 + 3 * 10**9


@pytest.mark.quick
@pytest.mark.asan
def test_the_command_takes_a_policy() -> None:
    arguments = "gen:filecopy,requests=20K,footprint=16M --chip TLC8G-HEAL --blocks 40 --ftl page"
    healing = "--wear dheating --heal --heal-cycles 3 --heal-period 60 --json -"
    result = CliRunner().invoke(main, ["replay", *arguments.split(), *healing.split()])
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    validate("replay-1", value)
    assert value["device"]["wear"] == "dheating"
    assert value["device"]["wear_figures"] == {"heal": 1, "heal_cycles": 3, "heal_period_s": 60}
    assert value["policy"]["heals"] > 0
    assert value["derived"]["lifetime_years"] is None
    table = CliRunner().invoke(main, ["replay", *arguments.split(), "--wear", "swl"])
    assert "blocks moved for wear" in table.stdout
    plain = CliRunner().invoke(main, ["replay", *arguments.split(), "--json", "-"])
    assert json.loads(plain.stdout)["policy"] is None


@pytest.mark.quick
def test_the_help_shows_a_policy_at_work() -> None:
    """Goal: the example of --help runs; it was refused once its layer was no longer the default."""
    text = CliRunner().invoke(main, ["replay", "--help"]).stdout
    (line,) = (one for one in text.splitlines() if " --wear " in one and "nandwich replay" in one)
    arguments = line.replace("gen:filecopy", "gen:filecopy,requests=2K").split()[1:]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output


@pytest.mark.quick
@pytest.mark.asan
def test_the_command_knows_its_policies() -> None:
    result = CliRunner().invoke(main, ["replay", "gen:uniform", "--wear", "swll"])
    assert result.exit_code == 2
    assert "swl" in result.stderr


@pytest.mark.asan
def test_a_replay_takes_the_lives_it_is_told() -> None:
    """Goal: 0 is bad when new and never erased; the others are erased up to their lives and no
    further; a list of another length, or beside an image, is refused."""
    told = [0, 9, 40, *range(20, 49)]
    part = _native.Part.named("K9F1G08U0A")
    device = _native.ReplayDevice(part, "page", blocks=32, wear_out=True, lives=told)
    source = _native.Workload("zipf", {"requests": 1000, "footprint": 1 << 20}, 1)
    replay = _native.Replay(device, source, repeat=0)
    while replay.run(1 << 16):
        pass
    assert replay.result()["ended"] < 0
    wear = replay.wear()
    assert wear[0] == 0
    assert all(erases <= life + 1 for erases, life in zip(wear, told, strict=True))
    assert wear[1] >= 9
    with pytest.raises(ValueError, match="one is wanted for each block"):
        _native.ReplayDevice(part, "page", blocks=32, lives=told[1:])


def test_lives_are_read_as_counts() -> None:
    for text, why in (("1,x", "'x' is no count of erases"), ("5,4294967296", "4294967296")):
        done = CliRunner().invoke(main, ["replay", "gen:zipf", "--lives", text])
        assert done.exit_code == 2
        assert why in done.stderr
