# SPDX-License-Identifier: Apache-2.0
"""Which globals a program keeps in RAM, as the compiler pass noted it (compiler/statics.h)."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nandwich.quantities import format_size

_SECTION = b".nw_statics"
_SHOWN = 8  # rows; JSON has all
_WHY = {"room": "no room", "cold": "too cold"}
#: By the class of an ELF file, of 32 bits or of 64. Of the file: sections at, bytes a section,
#: count, names. Of a section: name, offset, bytes.
_HEADER = {1: struct.Struct("<32xI10xHHH"), 2: struct.Struct("<40xQ10xHHH")}
_ENTRY = {1: struct.Struct("<I12xII"), 2: struct.Struct("<I20xQQ")}


def read(program: Path) -> dict[str, Any] | None:
    """The note in an ELF program; None: it was built without a budget."""
    content = program.read_bytes()
    bits = content[4]
    start, each, count, names = _HEADER[bits].unpack_from(content)
    entries = [_ENTRY[bits].unpack_from(content, start + each * index) for index in range(count)]
    _, names_at, _ = entries[names]
    for name, offset, size in entries:
        begin = names_at + name
        if content[begin : content.index(b"\0", begin)] == _SECTION:
            told: dict[str, Any] = json.loads(content[offset : offset + size])
            return told
    return None


def rows(told: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What is in RAM, what had to stay, and what more RAM would bring."""
    kept, left = told["kept"], told["left"]
    half, now, *more = [(_percent(one["share"]), one["bytes"]) for one in told["coverage"]]
    meaning = f"in RAM, of --statics {format_size(now[1])}; {now[0]} of accesses, estimated"
    yield "statics", format_size(told["bytes"]), meaning
    others = [f"{share} in {format_size(size)}" for share, size in (half, *more)]
    yield "  other budgets", "", ", ".join(others)
    for one in kept[:_SHOWN]:
        yield f"  {one['name']}", format_size(one["bytes"]), f"{_percent(one['share'])}, in RAM"
    if len(kept) > _SHOWN:
        rest = kept[_SHOWN:]
        size = format_size(sum(one["bytes"] for one in rest))
        share = _percent(sum(one["share"] for one in rest))
        yield f"  {len(rest)} more", size, f"{share}, in RAM"
    for one in left[: _SHOWN // 2]:
        yield (
            f"  {one['name']}",
            format_size(one["bytes"]),
            f"{_percent(one['share'])}, in virtual memory: {_WHY[one['why']]}",
        )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
