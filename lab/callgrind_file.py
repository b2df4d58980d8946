# SPDX-License-Identifier: Apache-2.0
"""The file in which callgrind tells what it counted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Spent:
    """Instructions of one line of a function, itself or in calls."""

    function: str
    callee: str  #: empty: by itself
    calls: int
    instructions: int  #: with those of all that the callee called


def read(counts: Path) -> Iterator[Spent]:
    """Names come in full once, then as numbers; a recursive call's carry its depth."""
    names: dict[str, str] = {}
    now = {"fn": "", "cfn": ""}
    calls = 0
    for line in counts.read_text(encoding="utf-8").splitlines():
        named = re.match(r"(c?fn)=(\(\d+\))(?: ([^\s']+))?", line)
        if named:
            kind, number, name = named.groups()
            now[kind] = names[number] = name or names[number]
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
        elif re.match(r"[-+*\d]", line):
            spent = int(line.split()[1]) if " " in line else 0
            yield Spent(now["fn"], now["cfn"] if calls else "", calls, spent)
            calls = 0
