# SPDX-License-Identifier: Apache-2.0
"""The parts of core/ whose code size is on record, as core/layers.toml lists them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from nandwich.errors import InputError

LIST = "core/layers.toml"


@dataclass(frozen=True)
class SizedPart:
    """Sources measured together; `limit` is the target in bytes on Cortex-M3 at -Os."""

    name: str
    what: str
    files: tuple[Path, ...]
    limit: int


def sized_parts(root: Path) -> list[SizedPart]:
    """The [[size]] entries of core/layers.toml in the checkout at `root`."""
    entries = tomllib.loads((root / LIST).read_text(encoding="utf-8"))["size"]
    parts = []
    for entry in entries:
        files: list[Path] = []
        for glob in entry["files"]:
            found = sorted(root.glob(glob))
            if not found:
                raise InputError(f"{LIST}: [[size]] {entry['name']}: no file matches {glob}")
            files += found
        parts.append(SizedPart(entry["name"], entry["what"], tuple(files), entry["limit"]))
    return parts
