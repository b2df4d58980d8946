# SPDX-License-Identifier: Apache-2.0
"""What the tests of `nandwich run` share: a cache of their own, and running the verb."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich.cli.main import main


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds of one test session are shared by its tests, and kept away from the user's."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path_factory.getbasetemp().parent / "nw-cache"))


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


def run_json(*arguments: str | Path, code: int = 0, schema: str = "run-1") -> dict[str, Any]:
    result = invoke("--json", "-", *arguments)
    assert result.exit_code == code, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    validate(schema, value)
    return value


def write_program(folder: Path, text: str) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return source
