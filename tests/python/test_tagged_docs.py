# SPDX-License-Identifier: Apache-2.0
"""docs/tagged.md goes from a tagged program to a layout in five commands, and shows what they
print."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.device import boards
from nandwich import paths


def test_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    """Goal: the five commands, as a reader types them, with each block of output the real one; and
    the same source without the tool prints the same."""
    assert paths.CHECKOUT is not None
    root = paths.CHECKOUT
    page = (root / "docs" / "tagged.md").read_text(encoding="utf-8")
    page = page[: page.index("## What may be tagged")]
    shutil.copy(root / "examples" / "node.c", tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    environment["NANDWICH_CACHE"] = str(tmp_path / "cache")
    steps = re.findall(r"^    (\S[^\n]*)\n(?:\n```\n(.*?)```)?", page, re.DOTALL | re.MULTILINE)
    assert len(steps) == 5
    for command, output in steps:
        line = re.sub(r"^nandwich ", f"{sys.executable} -m nandwich ", command)
        done = subprocess.run(
            ["sh", "-ec", line], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, output), done.stderr
    plain = ["cc", f"-I{root / 'core/include'}", "node.c", "-o", "plain"]
    subprocess.run(plain, cwd=tmp_path, check=True)
    told = subprocess.run([tmp_path / "plain"], capture_output=True, text=True, check=True)
    assert steps[1][1] == told.stdout


@pytest.mark.skipif(
    bool(boards.ATMEGA128.missing()), reason=f"not installed: {boards.ATMEGA128.missing()}"
)
def test_the_three_commands_on_the_node(tmp_path: Path) -> None:
    """Goal: the same way on the emulated node, as a reader types it: the layout is the host's, and
    so are the faults."""
    assert paths.CHECKOUT is not None
    page = (paths.CHECKOUT / "docs" / "tagged.md").read_text(encoding="utf-8")
    part = page[page.index("### Recorded and run there") :]
    steps = re.findall(r"^    (nandwich [^\n]*)$", part, re.MULTILINE)
    assert len(steps) == 3
    shutil.copy(paths.CHECKOUT / "examples" / "node.c", tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{paths.CHECKOUT / 'python'}:{paths.CHECKOUT}"}
    environment["NANDWICH_CACHE"] = str(tmp_path / "cache")
    told = []
    for step in steps:
        line = re.sub(r"^nandwich ", f"{sys.executable} -m nandwich ", step)
        done = subprocess.run(
            ["sh", "-ec", line], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        told.append(done.stdout)
    assert told[1] in page
    assert re.search(r"^faults +5406 ", told[2], re.MULTILINE)
