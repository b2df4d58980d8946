# SPDX-License-Identifier: Apache-2.0
"""`nandwich doctor` on machines that lack something."""

import json
import shutil

import pytest
from click.testing import CliRunner

from nandwich.cli.main import main

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("missing", "exit_code"), [("clang-19", 1), ("valgrind", 0)])
def test_missing_tools_are_named_with_their_package(
    missing: str, exit_code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: what is missing shows with how to get it; only a needed tool makes the exit code 1."""
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else which(name))
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == exit_code
    (line,) = [line for line in result.stdout.splitlines() if line.startswith(missing + " ")]
    assert line.split()[1] == "missing"
    assert line.endswith(" " + missing)
    listed = json.loads(CliRunner().invoke(main, ["doctor", "--json", "-"]).stdout)["tools"]
    assert [tool["name"] for tool in listed if tool["version"] is None] == [missing]
