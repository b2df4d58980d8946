# SPDX-License-Identifier: Apache-2.0
"""Programs of _programs.py as C for the emulated ATmega128: each access of a run is an access to an
NW_VM variable, in the same order, below the tagged run time and the driver of a DataFlash.

A run is events; an event of a kind makes the same accesses each time. Kinds lie in program memory
as words (element and store), and so does the order of events.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.device import tagged
from lab.device.boards import ATMEGA128
from nandwich import _native
from nandwich.compiler.tagged import Placement, Variable
from nandwich.run.measure import scratch
from papers.vimem import _source
from papers.vimem._programs import PAGE, WHOLE, Access, Events, Variables
from papers.vimem._rig import Cost, Pages

#: The document's node by its own figures: a page, 264 bytes and 8 of command, is read in 3.6 ms;
#: one, 264 and 4, is written in 16.3 ms.
_BYTE_NS = 3_600_000 // 272
MICA2 = tagged.Node(_BYTE_NS, 16_300 - 268 * _BYTE_NS // 1000)

_FLAGS = ["-Os"]
_STACK = 256  # so that 12 pages in RAM and the tables of 60 fit 4 KB
_TEXT = """#include <avr/pgmspace.h>
#include <stdint.h>
#include "nandwich/guest.h"

#define IN_CODE __attribute__((section(".progmem.data")))

{declared}

static const uint16_t accesses[] IN_CODE = {{{accesses}}};
static const uint16_t begins[] IN_CODE = {{{begins}}};
static const uint8_t events[] IN_CODE = {{{events}}};
static uint8_t sum;

static void touch(uint16_t access)
{{
    uint16_t element = access >> 1;

    switch (element) {{
{cases}
    }}
}}

int main(void)
{{
    for (uint8_t round = 0; round < {repeat}U; round++) {{
        for (uint16_t event = 0; event < {count}U; event++) {{
            uint8_t kind = pgm_read_byte(&events[event]);
            uint16_t end = pgm_read_word(&begins[kind + 1]);

            for (uint16_t at = pgm_read_word(&begins[kind]); at < end; at++) {{
                touch(pgm_read_word(&accesses[at]));
            }}
        }}
    }}
    return 0;
}}
"""


@dataclass(frozen=True)
class Run:
    """One node's run of a program: its events, and how often all of them come."""

    variables: Variables
    events: Events
    repeat: int = 1

    @property
    def accesses(self) -> list[Access]:
        return [access for event in self.events for access in event]


@dataclass(frozen=True)
class Measured:
    """What the board took."""

    cost: Cost
    us: float  #: more than with all variables in RAM, an access


def text(run: Run) -> str:
    """The program in C."""
    kinds = list(dict.fromkeys(run.events))
    numbers = {kind: number for number, kind in enumerate(kinds)}
    begins, words = [0], []
    for kind in kinds:
        words += [element << 1 | write for element, write in kind]
        begins.append(len(words))
    declared, cases = [], []
    elements = run.variables.elements()
    for name, count, size in run.variables.table:
        part = "" if size in _source.KINDS else ".byte[0]"
        declared.append(_source.declaration(name, count, size))
        own = elements[name]
        index = "0" if len(own) == 1 else f"element - {own[0]}U"
        label = f"{own[0]}" if len(own) == 1 else f"{own[0]} ... {own[-1]}"
        at = f"{name}[{index}]{part}"
        cases.append(
            f"    case {label}: if (access & 1U) {{ {at} = sum; }} else {{ sum ^= {at}; }} break;"
        )
    return _TEXT.format(
        declared="\n".join(declared),
        accesses=", ".join(map(str, words)),
        begins=", ".join(map(str, begins)),
        events=", ".join(str(numbers[event]) for event in run.events),
        cases="\n".join(cases),
        repeat=run.repeat,
        count=len(run.events),
    )


def placement(variables: Variables, pages: Pages, frames: int) -> Placement:
    """The places of a layout: within a page in the order of elements."""
    used = [0] * (max(pages) + 1)
    elements = variables.elements()
    placed = []
    for name, count, size in variables.table:
        own = elements[name]
        bytes_ = count * size if len(own) == 1 else size
        places = []
        for element in own:
            places.append((pages[element], used[pages[element]]))
            used[pages[element]] += bytes_
        placed.append(Variable(name, count * size, bytes_, tuple(places)))
    return Placement("case.layout", PAGE, WHOLE, len(used), frames, tuple(placed))


def missing() -> list[str]:
    return ATMEGA128.missing()


def _written(run: Run, folder: Path) -> list[Path]:
    (folder / "run.c").write_text(text(run), encoding="utf-8")
    return [folder / "run.c"]


@cache
def _plain_us(run: Run) -> float:
    with scratch() as folder:
        image = tagged.plain(_written(run, Path(folder)), _FLAGS)
        return tagged.run(image, Path(folder)).us


def measure(run: Run, pages: Pages, frames: int) -> Measured:
    """The run on the board, with a layout; time with the pages' times of the document's node."""
    with scratch() as folder:
        places = placement(run.variables, pages, frames)
        image = tagged.program(_written(run, Path(folder)), _FLAGS, places, stack=_STACK)
        outcome = tagged.run(image, Path(folder), MICA2)
    count = sum(map(len, run.events)) * run.repeat
    told = outcome.counts
    cost = Cost(
        count, told["faults"], told["buffer_reads"], told["to_buffer"], told["flash_writes"]
    )
    return Measured(cost, (outcome.us - _plain_us(run)) / count)


def recorded(run: Run) -> list[Access]:
    """What a recording of the program on the board has: elements of its variables."""
    with scratch() as folder:
        trace = Path(folder) / "run.acc"
        tagged.record(tagged.recorder(_written(run, Path(folder)), _FLAGS), Path(folder), trace)
        read = _native.AccessTrace(str(trace))
        elements, sizes = run.variables.elements(), {}
        for address, bytes_, element, name in read.objects:
            own = elements[name]
            step = bytes_ if len(own) == 1 else element
            sizes.update({address + at: own[at // step] for at in range(bytes_)})
        return [(sizes[address], write) for address, _, write in read.rest()]
