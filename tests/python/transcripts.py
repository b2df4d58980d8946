# SPDX-License-Identifier: Apache-2.0
"""Commands that a page of docs/ shows, and what it says they print."""

import re
import subprocess
import sys
from pathlib import Path

from nandwich import paths


def follow(page: str, folder: Path) -> int:
    """Plays each "$ command" of docs/PAGE in a folder with examples/ and compares what it prints;
    answers how many there are."""
    root = paths.CHECKOUT
    assert root is not None
    (folder / "examples").symlink_to(root / "examples")
    text = (root / "docs" / page).read_text(encoding="utf-8")
    shown = re.findall(r"^```\n\$ ([^\n]+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for command, printed in shown:
        done = subprocess.run(
            ["sh", "-ec", command.replace("nandwich ", f"{sys.executable} -m nandwich ")],
            cwd=folder,
            env={"PYTHONPATH": str(root / "python"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (0, printed), done.stderr
    return len(shown)
