# SPDX-License-Identifier: Apache-2.0
"""The program like TinyDB as C, a function a handler; its layout from that source."""

import random
from functools import cache
from pathlib import Path
from typing import Any

from nandwich.run.measure import scratch
from nandwich.vmtrace import layout, references
from papers.vimem._programs import PAGE, RATES, TINYDB, WHOLE, Handlers
from papers.vimem._rig import Pages

KINDS = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t"}
_HEAD = """#include <stdint.h>
#include "nandwich/guest.h"

uint8_t next(uint8_t most);

static uint8_t sum;

{declared}
"""


def declaration(name: str, count: int, size: int) -> str:
    """One tagged variable; what has no type of its size is a struct."""
    kind = KINDS.get(size, f"struct {{ uint8_t byte[{size}]; }}")
    return f"NW_VM volatile {kind} {name}[{count}];"


class _Place(str):
    """A number known at run time alone, as C."""

    def __mul__(self, by: object) -> "_Place":
        return _Place(f"({self}) * {by}")

    def __add__(self, by: object) -> "_Place":
        return _Place(f"{self} + {by}")


class _Chance(random.Random):
    def randrange(self, *most: Any) -> Any:
        return _Place(f"next({most[0]}U)")


class _Writer(Handlers):
    """Handlers that write what they would do."""

    def __init__(self) -> None:
        super().__init__(_Chance(1))
        self.table = {name: (count, size) for name, count, size in TINYDB.table}
        self.lines: list[str] = []

    def _at(self, name: str, index: str) -> str:
        return f"{name}[{index}]{'' if self.table[name][1] in KINDS else '.byte[0]'}"

    def read(self, *names: str) -> None:
        self.lines += [f"sum ^= {self._at(name, '0')};" for name in names]

    def change(self, *names: str) -> None:
        self.lines += [f"{self._at(name, '0')}++;" for name in names]

    def sweep(self, name: str, first: int, count: int, *, write: bool) -> None:
        at = self._at(name, f"({first} + i) % {self.table[name][0]}U")
        does = f"{at} = sum;" if write else f"sum ^= {at};"
        self.lines.append(f"for (uint8_t i = 0; i < {count}U; i++) {{ {does} }}")

    def count_down(self, name: str, count: int) -> None:
        runs, left = (self._at(name, f"3U * i + {field}U") for field in (0, 1))
        self.lines.append(
            f"for (uint8_t i = 0; i < {count}U; i++) {{ if ({runs}) {{ {left}--; }} }}"
        )


def tinydb() -> str:
    """All of it in C; next() stands for what the air brings."""
    declared = "\n".join(declaration(*one) for one in TINYDB.table)
    parts = [_HEAD.format(declared=declared)]
    for name in RATES["query"]:
        writer = _Writer()
        getattr(writer, name)()
        body = "".join(f"    {line}\n" for line in writer.lines)
        parts.append(f"void on_{name}(void)\n{{\n{body}}}\n")
    return "\n".join(parts)


@cache
def tinydb_pages() -> Pages:
    """The page of each element by the heuristic as published, from references in that source alone:
    an element often written from the mean on, for there is nothing to be played."""
    with scratch() as folder:
        path = Path(folder) / "tinydb.c"
        path.write_text(tinydb(), encoding="utf-8")
        found = references.read([str(path)], [])
    parameters = layout.Parameters(page=PAGE, group=PAGE // 8, whole=WHOLE, list=PAGE)
    program = references.program(found, parameters)
    pages = layout.published(program)
    elements = TINYDB.elements()
    of: dict[int, int] = {}
    for _, _, _, name in program.objects:
        for element in elements[name]:
            of[element] = pages[len(of)]
    return [of[element] for element in range(len(of))]
