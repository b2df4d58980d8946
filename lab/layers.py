# SPDX-License-Identifier: Apache-2.0
"""What core/layers.toml says of the sources: which reach the 8051, whose size is on record."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from nandwich.errors import InputError

LIST = "core/layers.toml"


@dataclass(frozen=True)
class SizedPart:
    """Sources measured together; `limit` is the target, if any, in bytes on Cortex-M3 at -Os."""

    name: str
    what: str
    files: tuple[Path, ...]
    limit: int | None


def sources_for_8051(root: Path) -> list[Path]:
    """The C files of every layer marked `on_8051`."""
    entries = tomllib.loads((root / LIST).read_text(encoding="utf-8"))["layer"]
    globs = [glob for entry in entries if entry.get("on_8051") for glob in entry["files"]]
    return sorted(path for glob in globs for path in root.glob(glob) if path.suffix == ".c")


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
        parts.append(SizedPart(entry["name"], entry["what"], tuple(files), entry.get("limit")))
    return parts
