# SPDX-License-Identifier: Apache-2.0
"""What the README shows works as it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nandwich import paths

assert paths.CHECKOUT is not None
README = (paths.CHECKOUT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.quick
def test_c_example_compiles_and_prints_what_is_shown(tmp_path: Path) -> None:
    """Goal: a newcomer who copies the example gets the output beside it."""
    (program,) = blocks("c")
    (shown,) = blocks("text")
    source = tmp_path / "example.c"
    source.write_text(program)
    includes = [f"-I{folder}" for folder in paths.include_dirs()]
    libraries = [str(paths.static_library(name)) for name in ("nw_twin", "nw_core")]
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    command = ["gcc", *warnings, *includes, str(source), *libraries, "-o", str(tmp_path / "a")]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True)
    assert done.stdout == shown


@pytest.mark.quick
def test_make_targets_named_exist() -> None:
    """Goal: no command in the README is made up."""
    assert paths.CHECKOUT is not None
    makefile = (paths.CHECKOUT / "Makefile").read_text()
    named = set(re.findall(r"\bmake ([a-z]+)\b", README))
    assert {"demo", "test", "help"} <= named
    missing = {name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)}
    assert missing == set()


def test_one_command_runs_as_typed(tmp_path: Path) -> None:
    """Goal: every line under "One command" runs, in this order, in a checkout. Five of eleven
    failed: they named files that did not exist."""
    assert paths.CHECKOUT is not None
    section = README.partition("## One command\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^    (nandwich .*)$", section, re.MULTILINE)
    assert len(lines) >= 16
    (tmp_path / "examples").symlink_to(paths.CHECKOUT / "examples")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for line in lines:
        shorter = line.replace("--minutes 1 ", "--minutes 0.01 ")
        done = subprocess.run(
            ["bash", "-c", shorter], cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, (line, done.stderr)
