# SPDX-License-Identifier: Apache-2.0
"""The experiments of papers/capsule that nothing else runs, on their smaller inputs."""

import json
from pathlib import Path

from click.testing import CliRunner

from nandwich.cli.main import main


def answers_of(folder: Path, *names: str) -> dict[str, dict[str, object]]:
    target = folder / "answers.json"
    arguments = ["papers", *names, "--quick", "--out", str(folder), "--json", str(target)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return {one["id"]: one for one in json.loads(target.read_text())}


def test_compaction_costs_energy_and_time(tmp_path: Path) -> None:
    """Goal: C9 and C10 move all there is, and larger chunks cost less."""
    found = answers_of(tmp_path, "C9", "C10")
    measured = {name: float(str(one["measured"])) for name, one in found.items()}
    for what in ("C9", "C10"):
        assert 0 < measured[f"{what}/stream-128"] < measured[f"{what}/stream-32"]


def test_memory_is_measured_on_the_processor(tmp_path: Path) -> None:
    """Goal: C-RAM links both applications for the ATmega128 and asks the store there for its RAM,
    which holds; code is told with the reason."""
    found = answers_of(tmp_path, "C-RAM")
    assert [found[f"C-RAM/{number}-RAM"]["verdict"] for number in (1, 2)] == ["holds", "holds"]
    rom = [float(str(found[f"C-RAM/{number}-ROM"]["measured"])) for number in (1, 2)]
    assert 16 < rom[1] < rom[0] < 45
    assert all(one["why"] for one in found.values())
