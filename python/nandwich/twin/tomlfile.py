# SPDX-License-Identifier: Apache-2.0
"""A TOML file whose every key still knows its line, for messages like `my.toml:12: ...`."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nandwich import files
from nandwich.errors import InputError

#: No two parts of these can match the same character: they take time linear in the line.
_TABLE = re.compile(r"[ \t]*\[\[?([^\[\]]+)\]\]?[ \t]*(?:#.*)?\Z")
_KEY = re.compile(r"([A-Za-z0-9_\-.\"' \t]+)=")
_MOST_BYTES = 16 << 20
_DECODE_ERROR = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), column \d+\)\Z", re.DOTALL)


@dataclass(frozen=True)
class TomlFile:
    """What a file says, as it stands and flattened: tables become dots (`read.time`)."""

    path: Path
    tree: Mapping[str, Any]
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    def line(self, key: str) -> int:
        """Line of a key; of the nearest thing around it when it stands in an inline table."""
        while key not in self.lines and "." in key:
            key = key.rpartition(".")[0]
        return self.lines.get(key, 1)

    def where(self, key: str) -> str:
        """`FILE:LINE` of a key."""
        return f"{self.path}:{self.line(key)}"


def read_text(path: Path) -> str:
    """A text file of 16 MiB at most; InputError when it is not there, longer or not text."""
    try:
        return files.read(path, _MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from error


def read(path: Path) -> TomlFile:
    """Read a file; InputError with file and line when it is not there or not TOML."""
    text = read_text(path)
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _DECODE_ERROR.match(str(error))
        line, what = (match["line"], match["what"]) if match else (1 + text.count("\n"), str(error))
        raise InputError(f"{path}:{line}: error: not TOML: {what}") from error
    except (RecursionError, ValueError) as error:  # ValueError: thousands of digits
        what = "nested too deep" if isinstance(error, RecursionError) else "a number is too long"
        raise InputError(f"{path}: {what} for a file of figures") from error
    return TomlFile(path, tree, dict(_flatten(tree)), _lines(text))


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in tree.items():
        if isinstance(value, dict):
            pairs.extend(_flatten(value, f"{prefix}{key}."))
        else:
            pairs.append((prefix + key, value))
    return pairs


def _lines(text: str) -> dict[str, int]:
    """Lines of tables and keys; those of the third `[[point]]` are `point.2.KEY` too. Text inside a
    multi-line string may add keys nobody asks for."""
    lines: dict[str, int] = {}
    seen: Counter[str] = Counter()
    places = [""]
    for number, line in enumerate(text.splitlines(), start=1):
        if table := _TABLE.match(line):
            name = _plain(table[1])
            places = [f"{name}."]
            if line.lstrip().startswith("[["):
                places.append(f"{name}.{seen[name]}.")
                seen[name] += 1
            for place in places:
                lines.setdefault(place[:-1], number)
        elif key := _KEY.match(line):
            for place in places:
                lines.setdefault(place + _plain(key[1]), number)
    return lines


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
