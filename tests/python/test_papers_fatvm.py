# SPDX-License-Identifier: Apache-2.0
"""The experiments of papers/fatvm, on their smaller inputs."""

import json
from pathlib import Path

from click.testing import CliRunner

from lab.device.boards import BOARDS
from nandwich.cli.main import main


def test_cost_of_an_access_has_a_verdict(tmp_path: Path) -> None:
    """Goal: T4 measures a miss that is one, dearer than a hit, as its own answer `order` asks."""
    target = tmp_path / "t4.json"
    arguments = ["papers", "T4", "--quick", "--out", str(tmp_path), "--json", str(target)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    answers = {one["id"]: one for one in json.loads(target.read_text())}
    assert answers["T4/miss"]["measured"] > 2 * answers["T4/hit"]["measured"] > 0
    if not BOARDS["cortex-m3"].missing():
        assert answers["T4/cortex-m3-hit"]["measured"] <= 10
        assert answers["T4/cortex-m3-miss"]["measured"] > 10
