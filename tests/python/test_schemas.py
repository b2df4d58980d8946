# SPDX-License-Identifier: Apache-2.0
"""What verbs write as JSON is what docs/schemas promises."""

import json
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from click.testing import CliRunner
from schemas import FOLDER, validate

from nandwich.cli.main import main

pytestmark = pytest.mark.quick


def test_every_verb_with_json_has_a_schema() -> None:
    """Goal: nobody adds `--json` to a verb without publishing its shape."""
    for verb in main.list_commands(click.Context(main)):
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        if any(parameter.name == "json_target" for parameter in command.params):
            assert list(FOLDER.glob(f"{verb}-*.json")), f"no docs/schemas/{verb}-1.json"


def test_doctor_keeps_its_schema_on_stdout_and_in_a_file(tmp_path: Path) -> None:
    """Goal: `--json -` gives nothing but JSON on stdout; a file gets the same, beside the table."""
    piped = CliRunner().invoke(main, ["doctor", "--json", "-"])
    assert piped.exit_code == 0
    validate("doctor-1", json.loads(piped.stdout))
    target = tmp_path / "doctor.json"
    filed = CliRunner().invoke(main, ["doctor", "--json", str(target)])
    validate("doctor-1", json.loads(target.read_text()))
    assert filed.stdout.startswith("tool ")
    assert [path.name for path in tmp_path.iterdir()] == ["doctor.json"]


def test_json_into_a_missing_folder_is_bad_input(tmp_path: Path) -> None:
    """Goal: a target that cannot be written is one clear line and exit 2."""
    result = CliRunner().invoke(main, ["doctor", "--json", str(tmp_path / "no" / "x.json")])
    assert result.exit_code == 2
    assert "cannot write" in result.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("papers-3", [{"schema": "nandwich.papers/3", "id": "T1"}]),
        ("bench-1", {"schema": "nandwich.bench/1"}),
        ("doctor-1", {"schema": "nandwich.doctor/2"}),
    ],
)
def test_schema_refuses_what_is_not_promised(name: str, value: Any) -> None:
    """Goal: the schemas say no to something, or the checks against them prove nothing."""
    with pytest.raises(jsonschema.ValidationError):
        validate(name, value)
