# SPDX-License-Identifier: Apache-2.0
"""The numbers that were asked of a device: each line with what this build has."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab import ROOT, cross, layers
from lab.benches import Figure
from lab.device import avr
from lab.device.figures import Cost
from lab.experiments import NOT_JUDGED, Answer
from nandwich.quantities import format_time
from papers.fatvm import energy

#: Bytes of driver, layer, virtual memory and heap, at most.
STACK_LIMIT = 24 << 10
#: Cycles of a hit by the band's upper end (19 were published), instructions of a miss.
HIT_LIMIT, MISS_LIMIT = 10, 60
#: Of an access by pointer to a resident page, at most (18.72 were published).
MOTE_LIMIT_US = {"slot.load": 12}

_DRIVERS = {
    "driver-spi-nand": "SPI NAND",
    "driver-spi-nor": "SPI NOR",
    "driver-dataflash": "DataFlash",
    "driver-parallel-nand": "parallel NAND",
    "driver-sd": "SD",
}
_SHARED = {"driver-spi": "spi.c", "driver-onfi": "onfi.c"}


@dataclass(frozen=True)
class Line:
    """One number; `reached` None: nothing to measure here, `measured` says why."""

    what: str
    asked: str
    measured: str
    reached: bool | None
    is_published: bool = False  #: a figure of the paper to stand beside, not one that was asked
    figures: tuple[Figure, ...] = ()  #: the same for the terminal and for JSON

    @property
    def verdict(self) -> str:
        if self.is_published:
            return "holds" if self.reached else "differs"
        return "not there" if self.reached is None else "reached" if self.reached else "**missed**"


def drivers() -> Iterator[Line]:
    """Text of each driver on Cortex-M3 at -Os, and static RAM of all."""
    static_ram = 0
    shared = []
    for part in layers.sized_parts(ROOT):
        if part.name not in _DRIVERS and part.name not in _SHARED:
            continue
        size = cross.sources_size(cross.CORTEX_M3, part.files)
        static_ram += size.static_ram
        if part.name in _SHARED:
            shared.append(f"{_SHARED[part.name]} {size.code} B")
            continue
        assert part.limit is not None
        what = f"text of the {_DRIVERS[part.name]} driver"
        figure = Figure(f"device.{part.name}", size.code, "B", part.limit)
        yield Line(
            what,
            f"<= {part.limit:,} B",
            f"{size.code:,} B",
            size.code <= part.limit,
            figures=(figure,),
        )
    yield Line(
        f"static RAM of all drivers (shared and not counted above: {', '.join(shared)})",
        "none",
        f"{static_ram} B",
        static_ram == 0,
        figures=(Figure("device.drivers.ram", static_ram, "B", 0),),
    )


def stacks(texts: Mapping[str, int]) -> Iterator[Line]:
    """Text of driver, layer, virtual memory and heap, by layer."""
    for layer, text in texts.items():
        what = f"whole stack with the {layer} layer: driver, layer, virtual memory, heap"
        figure = Figure(f"device.stack.{layer}", text, "B", STACK_LIMIT)
        asked, measured = f"<= {STACK_LIMIT:,} B", f"{text:,} B"
        yield Line(what, asked, measured, text <= STACK_LIMIT, figures=(figure,))


def accesses(costs: Mapping[str, Cost], mote: Mapping[str, int]) -> Iterator[Line]:
    for verb in ("load", "store"):
        hit = costs[f"buffer.{verb}"]
        yield Line(
            f"T4: {verb} that hits a last-cache buffer",
            f"<= {HIT_LIMIT} cycles (published 19)",
            f"{hit.cycles_least:g} to {hit.cycles_most:g}",
            hit.cycles_most <= HIT_LIMIT,
        )
    for verb in ("load", "store"):
        miss = costs[f"miss.{verb}"].instructions
        yield Line(
            f"T4: {verb} that misses, page resident",
            f"<= {MISS_LIMIT} instructions",
            f"{miss:g}",
            miss <= MISS_LIMIT,
        )
    us = avr.us(mote["slot.load"])
    limit = MOTE_LIMIT_US["slot.load"]
    yield Line(
        "ATmega128: load from a resident page by pointer",
        f"<= {limit} us (published 18.72)",
        f"{us:.1f} us",
        us <= limit,
    )


def energies() -> Iterator[Line]:
    """F14 and F15 as ranges; their verdicts are those of the experiments."""
    for answer in energy.duty_cycle.run(False).answers:
        hour = answer.unit == "x"
        yield Line(
            f"F14, {answer.claim}",
            "about 3 x" if hour else "5 to 20 min",
            f"{answer.measured} {'x' if hour else 'min'}",
            answer.holds,
            is_published=True,
            figures=_ends(f"device.F14.{answer.part}", answer),
        )
    for answer in energy.radioing.run(False).answers:
        if answer.verdict == NOT_JUDGED:
            continue
        asked, measured = f"{answer.published} x", f"{answer.measured} x"
        yield Line(
            f"F15, {answer.claim}",
            asked,
            measured,
            answer.holds,
            is_published=True,
            figures=_ends(f"device.F15.{answer.part}", answer),
        )


def _ends(name: str, answer: Answer) -> tuple[Figure, ...]:
    """Of a range, as it was rounded for its verdict."""
    low, high = map(float, str(answer.measured).split(" to "))
    unit = answer.unit or ("min" if ".F14." in name else "x")
    return Figure(f"{name}.least", low, unit), Figure(f"{name}.most", high, unit)


def camera(value: dict[str, Any]) -> Iterator[Line]:
    """A JPEG decoded on the Cortex-M3; a picture that is not equal has failed the run before."""
    time = value["time_ns"]
    least, most = (time["storage"] + time[f"processor_{end}"] for end in ("least", "most"))
    yield Line(
        "a JPEG of 512 x 600 decoded in 32 KB of frames",
        "picture equal",
        f"equal; processor {format_time(time['processor_least'])} to "
        f"{format_time(time['processor_most'])}, storage {format_time(time['storage'])}, together "
        f"{format_time(least)} to {format_time(most)}",
        value["identical"],
        figures=(
            Figure("device.camera.least", round(least / 1e9, 2), "s"),
            Figure("device.camera.most", round(most / 1e9, 2), "s"),
        ),
    )


def table(lines: Iterable[Line]) -> list[str]:
    """A section of the page, the shortfalls named behind it."""
    found = list(lines)
    asked = [one for one in found if not one.is_published]
    missed = [one for one in asked if not one.reached]
    page = ["## Numbers to reach", "", "| on Cortex-M3 | asked | measured | |", "|---|---|---|---|"]
    page += [f"| {one.what} | {one.asked} | {one.measured} | {one.verdict} |" for one in found]
    if missed:
        page += ["", f"Short: {len(missed)} of {len(asked)} that were asked."]
        page += [f"- {one.what}: {one.measured}, asked {one.asked}." for one in missed]
    return [*page, ""]
