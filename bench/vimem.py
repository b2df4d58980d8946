# SPDX-License-Identifier: Apache-2.0
"""How long a layout takes, and what ours saves against the published one."""

import tempfile
import time
from pathlib import Path

from lab.benches import Figure, bench
from lab.device import tagged_cost
from lab.device.boards import ATMEGA128
from nandwich import _native
from nandwich.vmtrace import layout
from papers.vimem import _programs

_NODES, _TIMES = 4, 8


def _write(path: Path) -> int:
    """Some nodes' accesses one after another; how many."""
    variables, places = _programs.TINYDB, {}
    elements = variables.elements()
    for address, bytes_, size, name in variables.objects:
        own = elements[name]
        for number, element in enumerate(own):
            whole = len(own) == 1
            places[element] = (address + number * size, bytes_ if whole else size)
    writer = _native.AccessWriter(str(path), 0, variables.bytes)
    for one in variables.objects:
        writer.object(*one)
    count = 0
    for node in range(_NODES):
        for element, write in _programs.tinydb("query", node):
            writer.put(*places[element], write)
            count += 1
    writer.finish()
    return count


_RAM_PAGES = (12, 60)  # the first and the last program of the paper's figure 9


def _ram(pages: int, frames: int) -> int:
    """The run time's RAM for so many pages of 4-byte elements."""
    return tagged_cost.memory([("many", pages * 66, 4)], frames).ram


def _board() -> list[Figure]:
    """Of the emulated ATmega128 with a DataFlash, to the cycle and the byte."""
    if ATMEGA128.missing():
        return []
    access, code = tagged_cost.accesses_us(), tagged_cost.largest_code()
    few, many = _RAM_PAGES
    whole = code.code + code.driver_code + code.shared_code
    page = (_ram(many, 1) - _ram(few, 1)) / (many - few)
    frame = _ram(few, 2) - _ram(few, 1) - layout.Parameters().page
    return [
        Figure("vimem.avr.access.known", access["known"], "us", target=8),
        Figure("vimem.avr.access.table", access["table"], "us", target=12),
        Figure("vimem.avr.ram.page", round(page, 2), "B", target=3.5),
        Figure("vimem.avr.ram.frame", frame, "B", target=2),
        Figure("vimem.avr.code", whole, "B", target=6 << 10),
        Figure("vimem.avr.code.driver", code.driver_code, "B"),
    ]


@bench("vimem", "layouts from traces: time for 10 million accesses, faults against the published")
def vimem() -> list[Figure]:
    """CPU time of what `nandwich layout` does with 10 million accesses, read from one trace again
    and again: the graph, all three layouts, and what each costs."""
    parameters = layout.Parameters()
    with tempfile.TemporaryDirectory(prefix="nandwich-bench-") as folder:
        path = Path(folder) / "a.acc"
        count = _write(path)
        started = time.process_time()
        program = layout.read([str(path)] * _TIMES, parameters)
        read_s = time.process_time() - started
    started = time.process_time()
    layouts = {method: layout.decide(program, method) for method in layout.METHODS}
    faults = {one["layout"]: one["faults"] for one in layout.play(program, layouts, [1])}
    search_s = time.process_time() - started
    whole_s = read_s * 10e6 / (count * _TIMES) + search_s
    return [
        Figure("vimem.layout.10M-accesses", round(whole_s, 2), "s", target=10),
        Figure("vimem.layout.search", round(search_s, 2), "s"),
        Figure(
            "vimem.faults.ours-of-published",
            round(faults["ours"] / faults["published"], 3),
            "",
            target=0.9,
        ),
        *_board(),
    ]
