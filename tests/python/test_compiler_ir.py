# SPDX-License-Identifier: Apache-2.0
"""The shape of what the pass writes: FileCheck over tests/compiler/ir/*.ll, by their RUN lines."""

import subprocess
from pathlib import Path

import guests
import pytest

FILES = sorted((guests.SOURCES / "ir").glob("*.ll"))


def run_lines(source: Path) -> list[str]:
    text = source.read_text(encoding="utf-8")
    return [
        line.split("RUN:")[1].strip() for line in text.splitlines() if line.startswith("; RUN:")
    ]


@pytest.mark.parametrize("source", FILES, ids=lambda path: path.stem)
def test_shape(source: Path) -> None:
    lines = run_lines(source)
    assert lines, "a file without a RUN line tests nothing"
    for line in lines:
        command = line.replace("%plugin", str(guests.plugin())).replace("%s", str(source))
        shell = ["bash", "-o", "pipefail", "-c", command]
        done = subprocess.run(shell, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
