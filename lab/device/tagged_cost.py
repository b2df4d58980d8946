# SPDX-License-Identifier: Apache-2.0
"""What an access to a tagged variable costs on the board, and what its memory takes of the RAM:
differences of two runs of one loop, so that start and end cancel out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.device import build, tagged
from nandwich.compiler.tagged import Placement, Variable
from nandwich.run.measure import scratch

_PAGE = 264
_STACK = 256  # of programs that are only measured: so that 12 pages in RAM fit
_HEAD = """#include <stdint.h>
#include "nandwich/guest.h"
struct page { volatile uint8_t byte[264]; };
volatile uint8_t ram;
NW_VM volatile uint8_t known;
NW_VM volatile uint8_t table[128];
NW_VM struct page p[5];
static volatile uint8_t out;
int main(void)
{
    uint8_t sum = known + table[0] + p[4].byte[0];

    SETUP
    for (uint16_t i = 0; i < N; i++) {
        uint8_t k = (uint8_t)(i & 127U);

        __asm__ volatile("" : "+r"(k));
        LOOP
    }
    out = sum;
    return 0;
}
"""
_READ, _WRITE = "sum ^= p[{}].byte[0];", "p[{}].byte[0] = k;"
_SETUP = "".join(_WRITE.format(number).replace("= k", "= 1") for number in range(4))
#: Code before the loop and in it.
_LOOPS = {
    "loop": ("", "sum ^= k;"),
    "ram": ("", "sum ^= k ^ ram;"),
    "known": ("", "sum ^= k ^ known;"),
    "table": ("", "sum ^= k ^ table[k];"),
    "buffer": (_SETUP + _READ.format(4), _READ.format(2) + _READ.format(3)),
    "flash": (_SETUP, _READ.format(0) + _READ.format(1)),
    "to_buffer": (_SETUP, _WRITE.format(2) + _READ.format(0)),
    "flush": (_SETUP, "".join(_WRITE.format(number) for number in range(4))),
}


def _layout(kind: str) -> Placement:
    """Elements of the table lie on two pages by turns; a page's struct has one of its own."""
    variables = (
        Variable("known", 1, 1, ((0, 0),)),
        Variable("table", 128, 1, tuple((number % 2, 8 + number // 2) for number in range(128))),
        Variable("p", 5 * _PAGE, _PAGE, tuple((2 + number, 0) for number in range(5))),
    )
    frames = 7 if kind in ("loop", "ram", "known", "table") else 1
    return Placement("cost.layout", _PAGE, 33, 7, frames, variables)


def _run(kind: str, rounds: int, folder: Path, node: tagged.Node | None) -> tagged.Outcome:
    before, inside = _LOOPS[kind]
    source = folder / f"{kind}.c"
    text = _HEAD.replace("SETUP", before).replace("LOOP", inside).replace("N;", f"{rounds}U;")
    source.write_text(text, encoding="utf-8")
    return tagged.run(tagged.program([source], ["-Os"], _layout(kind)), folder, node)


@dataclass(frozen=True)
class Round:
    """What one round of a loop takes."""

    us: float
    counts: dict[str, float]


@cache
def _round(kind: str, few: int, many: int, node: tagged.Node | None = None) -> Round:
    with scratch() as folder:
        runs = [_run(kind, rounds, Path(folder), node) for rounds in (few, many)]
    times = [one.us for one in runs]
    counts = {
        name: (runs[1].counts[name] - runs[0].counts[name]) / (many - few)
        for name in runs[0].counts
    }
    return Round((times[1] - times[0]) / (many - few), counts)


def accesses_us() -> dict[str, float]:
    """Of a resident byte: a variable in RAM, a tagged one at a known place, one by the table."""
    loop = _round("loop", 100, 300).us
    return {kind: round(_round(kind, 100, 300).us - loop, 2) for kind in ("ram", "known", "table")}


def faults_ms(node: tagged.Node | None = None) -> dict[str, float]:
    """Of one fault: from a buffer of the chip; from flash; the same when a dirty page goes to a
    buffer first; the same when that buffer has to go to flash before."""
    kinds = ("buffer", "flash", "to_buffer", "flush")
    rounds = {kind: _round(kind, 4, 12, node) for kind in kinds}
    buffer = rounds["buffer"].us / 2
    us = {
        "buffer": buffer,
        "flash": rounds["flash"].us / 2,
        "to_buffer": rounds["to_buffer"].us - buffer,
        "flush": rounds["flush"].us / 4,
    }
    return {kind: round(one / 1000, 2) for kind, one in us.items()}


def fault_counts() -> dict[str, dict[str, float]]:
    """Faults and transfers of a round of each loop, to see that it does what it stands for."""
    return {kind: _round(kind, 4, 12).counts for kind in ("buffer", "flash", "to_buffer", "flush")}


# ---- memory ----

_BLOCKS = "p[0] = p[1]; __builtin_memset((void *)&p[2], sum, 264); out = all(table, sum);"
_ANYWHERE = """__attribute__((noinline)) uint8_t all(volatile uint8_t *at, uint8_t n)
{
    uint8_t sum = 0;

    while (n-- > 0) {
        sum = (uint8_t)(sum + *at++);
    }
    return sum;
}
"""

_VARIABLES = """#include <stdint.h>
#include "nandwich/guest.h"
{declared}
int main(void)
{{
    uint8_t sum = 0;
    {used}
    return sum;
}}
"""


def _placement(table: Sequence[tuple[str, int, int]], frames: int) -> Placement:
    """First fit, small arrays whole."""
    used: list[int] = []
    variables = []
    for name, count, size in table:
        whole = count * size <= _PAGE // 8
        element, number = (count * size, 1) if whole else (size, count)
        places = []
        for _ in range(number):
            page = next((at for at, bytes_ in enumerate(used) if bytes_ + element <= _PAGE), None)
            if page is None:
                page = len(used)
                used.append(0)
            places.append((page, used[page]))
            used[page] += element
        variables.append(Variable(name, count * size, element, tuple(places)))
    return Placement("ram.layout", _PAGE, _PAGE // 8, len(used), frames, tuple(variables))


#: Variables of the run time and of its tables.
_OWN = (
    "nw_tagged_small",
    "nw_tagged_frame_of",
    "slot_of",
    "taken",
    "frames",
    "object_count",
    "first_address",
    "all_bytes",
)


@dataclass(frozen=True)
class Memory:
    """Bytes on the board."""

    ram: int  #: of the run time with its frames and tables; the driver is the application's too
    code: int  #: of the run time
    driver_code: int
    shared_code: int  #: of libgcc: what both share to save registers


def _memory(ram: int, image: build.Image) -> Memory:
    text = image.sizes.text
    return Memory(ram, text["vm"], text["driver"], tagged.shared_code_bytes(image))


def memory(table: Sequence[tuple[str, int, int]], frames: int) -> Memory:
    """Of variables (name, elements, bytes an element), all tagged."""
    kinds = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t"}
    declared, used = [], []
    for name, count, size in table:
        kind = kinds.get(size, f"struct {{ uint8_t byte[{size}]; }}")
        part = "" if size in kinds else ".byte[0]"
        declared.append(f"NW_VM volatile {kind} {name}[{count}];")
        used.append(f"sum = (uint8_t)(sum + {name}[sum % {count}U]{part});")
        used.append(f"{name}[0]{part} = sum;")
    text = _VARIABLES.format(declared="\n".join(declared), used="\n    ".join(used))
    with scratch() as folder:
        source = Path(folder) / "app.c"
        source.write_text(text, encoding="utf-8")
        image = tagged.program([source], ["-Os"], _placement(table, frames), stack=_STACK)
    ram = sum(tagged.symbol_bytes(image, name) for name in _OWN)
    return _memory(ram, image)


def largest_code() -> Memory:
    """With all parts of the run time: blocks, addresses known at run time only, initial values."""
    text = _HEAD.replace("SETUP", _BLOCKS)
    text = text.replace("LOOP", "sum ^= k;").replace("N;", "1U;")
    text = text.replace("known;\n", "known = 3;\n", 1)
    text = text.replace("int main", _ANYWHERE + "int main")
    with scratch() as folder:
        source = Path(folder) / "whole.c"
        source.write_text(text, encoding="utf-8")
        image = tagged.program([source], ["-Os"], _layout("known"))
    return _memory(0, image)
