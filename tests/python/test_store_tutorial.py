# SPDX-License-Identifier: Apache-2.0
"""docs/store-tutorial.md shows what its commands print."""

import re
import subprocess
import sys
from pathlib import Path

from nandwich import paths


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    """Goal: the example logs through a power cut, and each block of output is the real one."""
    assert paths.CHECKOUT is not None
    root = paths.CHECKOUT
    page = (root / "docs" / "store-tutorial.md").read_text(encoding="utf-8")
    shown = re.findall(r"\n\n    ([^\n]+)\n\n```\n(.*?)```", page, re.DOTALL)
    assert len(shown) == 3
    for command, output in shown:
        line = command.replace(".venv/bin/python examples", f"{sys.executable} {root}/examples")
        line = line.replace("nandwich store", f"{sys.executable} -m nandwich store")
        done = subprocess.run(
            ["sh", "-ec", line],
            cwd=tmp_path,
            env={"PYTHONPATH": str(root / "python"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (0, output), done.stderr
