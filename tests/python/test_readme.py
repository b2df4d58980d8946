# SPDX-License-Identifier: Apache-2.0
"""What the README shows works as it says."""

import re
import subprocess
from pathlib import Path

import pytest

from nandwich import paths

pytestmark = pytest.mark.quick

assert paths.CHECKOUT is not None
README = (paths.CHECKOUT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


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


def test_make_targets_named_exist() -> None:
    """Goal: no command in the README is made up."""
    assert paths.CHECKOUT is not None
    makefile = (paths.CHECKOUT / "Makefile").read_text()
    named = set(re.findall(r"\bmake ([a-z]+)\b", README))
    assert {"demo", "test", "help"} <= named
    missing = {name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)}
    assert missing == set()
