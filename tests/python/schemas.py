# SPDX-License-Identifier: Apache-2.0
"""Checks a verb's JSON against the published schema it names."""

import json
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from nandwich import paths

assert paths.CHECKOUT is not None
FOLDER = paths.CHECKOUT / "docs" / "schemas"


def validate(name: str, value: Any) -> None:
    """Raise where `value` breaks docs/schemas/NAME.json (say "doctor-1")."""
    loaded = {path.name: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
    registry: Registry[Any] = Registry().with_resources(
        (file, Resource.from_contents(schema)) for file, schema in loaded.items()
    )
    schema = loaded[f"{name}.json"]
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema, registry=registry).validate(value)
