# SPDX-License-Identifier: Apache-2.0
"""The language models of examples/llm on emulated boards: what a token takes, by RAM, frame, bus
and processor, beside the same program without virtual memory and one that pages by hand."""

import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import _numbers
from bench._numbers import Line
from examples.llm import corpus, make, train, untrained
from examples.llm import tokens as learnt
from lab import ROOT
from lab.benches import Figure, bench, found_pages
from lab.device import boards, figures, parts, play, report
from lab.device.boards import Board, Bus
from lab.device.parts import Part
from lab.device.play import Wanted
from nandwich import plots
from nandwich.errors import RunError
from nandwich.run import measure
from nandwich.twin import parts as twin_parts
from nandwich.twin import platforms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Tokens of two runs of the same text: their difference is tokens at a whole context of 128.
_FEW, _MANY = 132, 140
_BUS = "quad:104"
#: Beside the usual part: the name of a row, and its part.
_OTHERS = {
    "W25Q128JV, serial NOR, one line at 104 MHz": parts.get("W25Q128JV"),
    "K9F1G08U0A, parallel NAND, 30 ns a byte": parts.get("K9F1G08U0A"),
}
_PLATFORMS = {"cortex-m3": "STM32F103ZE", "rv32": "ESP32-C3"}
_SPENT = ("instructions", "least", "most")
_ENERGIES = {"reads": "read.energy", "programs": "program.energy", "erases": "erase.energy"}
_IN_RAM, _BY_HAND = "weights in RAM, no flash", "tiled by hand"
_BEST_ROOM = {"ram": 64 << 10, "frame": 2048}
_BEST = "64 KB in frames of 2048 B"
_ROW_BYTES = 32


@dataclass(frozen=True)
class Token:
    """What a token takes; times in ms as the ends of the processor's band, storage in both."""

    least_ms: float
    most_ms: float
    storage_ms: float
    energy_mj: float
    instructions: float
    bus_bytes: float
    chip_ms: float  #: the part at work
    faults: float  #: of the mapping; 0 without virtual memory

    @property
    def speed(self) -> str:
        """Tokens a second, from the band's slow end to its fast one."""
        if self.most_ms == self.least_ms:
            return f"{1000 / self.least_ms:.1f}"
        return f"{1000 / self.most_ms:.1f} to {1000 / self.least_ms:.1f}"


@dataclass(frozen=True)
class Case:
    """A way to run the program: a row of the table."""

    name: str
    board: Board
    changes: tuple[tuple[str, Any], ...] = ()
    program: str = "llm"  #: "tiled": by hand
    virtual: bool = True
    part: Part = parts.USUAL


def _case(board: Board, kilobytes: int, frame: int, what: str = "", **changes: Any) -> Case:
    room = {"ram": kilobytes << 10, "frame": frame, **changes}
    name = f"{kilobytes} KB in frames of {frame} B"
    return Case(f"{name}, {what}" if what else name, board, tuple(room.items()))


def without_flash(board: Board) -> tuple[Case, Case]:
    """What virtual memory stands beside."""
    return (
        Case(_IN_RAM, board, virtual=False),
        Case(_BY_HAND, board, program="tiled", virtual=False),
    )


def best(board: Board) -> Case:
    """What most was asked of."""
    return _case(board, 64, 2048)


def _on_others(board: Board) -> Iterator[Case]:
    """By hand and by virtual memory, over each of the other parts."""
    _, by_hand = without_flash(board)
    for what, part in _OTHERS.items():
        yield replace(by_hand, name=f"{_BY_HAND}, {what}", part=part)
        for frame in (512, 2048):
            yield replace(_case(board, 64, frame, what), part=part)


def _cases(board: Board) -> Iterator[Case]:
    yield from without_flash(board)
    if board is boards.CORTEX_M3:  # whose RAM of 96 KB holds no 128 KB of frames
        for kilobytes, frame in ((16, 512), (32, 512), (32, 1024), (64, 512), (64, 1024)):
            yield _case(board, kilobytes, frame)
        yield _case(board, 64, 2048, "one line at 20 MHz", bus=boards.USUAL_BUS)
    else:
        yield _case(board, 128, 2048)
    yield best(board)
    yield _case(board, 64, 2048, "no prefetch", prefetch=False)
    yield _case(board, 64, 2048, "no windows", windows=False)
    if board is boards.CORTEX_M3:
        yield from _on_others(board)


def _wanted(case: Case, weights: Path, tokens: int) -> Wanted:
    source = ROOT / "examples" / "llm" / f"{case.program}.c"
    part = case.part
    usual = figures.wanted(
        case.board, source, weights, make.PROMPT, str(tokens), str(make.SEED),
        part=part, bus=boards.parallel_bus(part.cycle_ns) if part.cycle_ns else boards.bus(_BUS),
        vm=play.usual_vm(case.board, part), stack=12 << 10, compare=False,
    )  # fmt: skip
    return replace(usual, **dict(case.changes))


def _run(case: Case, weights: Path, tokens: int) -> tuple[dict[str, int], bytes]:
    """Of a run: cycles, instructions, the part's time and operations; and its text."""
    wanted = _wanted(case, weights, tokens)
    with measure.scratch() as folder:
        if case.virtual:
            play.check(wanted)
            result = play.play(wanted, b"", Path(folder), lambda _changes: None)
            failed = report.failure(result, report.payload(result))
            if failed:
                raise RunError(f"{case.name}: {failed}")
            outcome = result.virtual
        else:
            outcome = play.alone(wanted, Path(folder), by_hand=case.program == "tiled")
        text = outcome.stdout.read_bytes()
    told = outcome.report
    counts = {what: sum(report.spent(told, "run", what).values()) for what in _SPENT}
    if counts["most"] == 0:  # a processor without a table: an instruction a clock
        counts["least"] = counts["most"] = counts["instructions"]
    return {**counts, **told["run_flash"], "mapped": told["told"].get("mapped", 0)}, text


def _part_pj(part: Part, bus: Bus) -> dict[str, float]:
    """Energy of a read, a program, an erase and a byte over the bus: what the table says of a byte
    is for as long as it takes there."""
    known = {one.field.key: one.number or 0 for one in twin_parts.figures(part.name)}
    byte_ps = bus.byte_ps / (4 if bus.lines == 4 and part.kind.by_four else 1)
    byte = known["read.byte_energy"] * byte_ps / known["read.byte_time"]
    return {"bus_bytes": byte, **{name: known[key] for name, key in _ENERGIES.items()}}


def token(case: Case, weights: Path, text: bytes) -> Token:
    """What a token takes behind a whole context; RunError where the text is another one."""
    few, _ = _run(case, weights, _FEW)
    many, written = _run(case, weights, _MANY)
    if written != text:
        raise RunError(f"{case.name} on {case.board.name} writes another text")
    one = {name: (many[name] - few[name]) / (_MANY - _FEW) for name in many}
    clock = case.board.mhz * 1000
    storage = one["storage_ns"] / 1e6
    least, most = one["least"] / clock + storage, one["most"] / clock + storage
    node = _PLATFORMS[case.board.name]
    milliwatts = platforms.number(node, "active") * platforms.number(node, "supply") / 1e9
    bus = _wanted(case, weights, _MANY).bus
    part = sum(pj * one[name] for name, pj in _part_pj(case.part, bus).items()) / 1e9
    return Token(
        least_ms=least,
        most_ms=most,
        storage_ms=storage,
        energy_mj=most / 1000 * milliwatts + part,
        instructions=one["instructions"],
        bus_bytes=one["bus_bytes"],
        chip_ms=one["chip_ns"] / 1e6,
        faults=one["mapped"],
    )


def tokens(cases: Iterable[Case], files: dict[str, Path]) -> dict[tuple[str, Case], Token]:
    """Each case of each shape; two at a time."""
    program = make.build()
    texts = {
        shape: subprocess.run(
            [program, file, make.PROMPT, str(_MANY), str(make.SEED)],
            stdout=subprocess.PIPE, check=True,
        ).stdout
        for shape, file in files.items()
    }  # fmt: skip
    wanted = [(shape, case) for shape in files for case in cases]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda one: token(one[1], files[one[0]], texts[one[0]]), wanted)
        return dict(zip(wanted, found, strict=True))


_COLUMNS = ("tokens/s", "mJ a token", "instructions", "storage, ms", "faults", "KB over the bus")


def table(found: dict[tuple[str, Case], Token], board: Board) -> list[str]:
    """What was found on one board."""
    head = (f"{board.name}, {board.mhz:g} MHz", *_COLUMNS)
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * len(_COLUMNS)]
    lines += [
        f"| {shape}: {case.name} | {one.speed} | {one.energy_mj:.2f} | {one.instructions:,.0f} | "
        f"{one.storage_ms:.1f} | {one.faults:,.0f} | {one.bus_bytes / 1000:,.1f} |"
        for (shape, case), one in found.items()
        if case.board is board
    ]
    return lines


def _line(name: str, what: str, value: float, limit: float, *, more: bool = False) -> Line:
    better: Any = "higher" if more else "lower"
    figure = Figure(f"llm.{name}", round(value, 3), "x", limit, better)
    sign = ">=" if more else "<="
    return Line(what, f"{sign} {limit:g}", f"{value:.2f}", figure.ok, figures=(figure,))


def rows(weights: Path) -> Line:
    """What a copied row moves over the bus, its commands too: rows.c, where nothing else does."""
    source, moved = ROOT / "examples" / "llm" / "rows.c", []
    for count in (1000, 2000):
        value = figures.run(
            boards.CORTEX_M3,
            source,
            weights,
            str(_ROW_BYTES),
            str(count),
            bus=boards.bus(_BUS),
            **_BEST_ROOM,
        )
        moved.append(value["flash"]["bus_bytes"])
    over = (moved[1] - moved[0]) / (1000 * _ROW_BYTES)
    return _line("rows", "table: bytes over the bus for rows, of their own", over, 3)


def numbers(found: dict[tuple[str, Case], Token]) -> list[Line]:
    """What was asked of 64 KB on the Cortex-M3; speeds are judged at the band's slow end."""
    lines = []
    for shape, asked in (("table", 10), ("dense", 6)):
        named = {case.name: one for (of, case), one in found.items()
                 if of == shape and case.board is boards.CORTEX_M3}  # fmt: skip
        ram, hand, ours = named[_IN_RAM], named[_BY_HAND], named[_BEST]
        waits = named[f"{_BEST}, no prefetch"]
        share = (ours.instructions - ram.instructions) / ours.instructions
        spared = (waits.storage_ms - ours.storage_ms) / waits.chip_ms
        computed = ram.least_ms + hand.storage_ms
        speed = _line(f"{shape}.speed", f"{shape}: tokens a second", 1000 / ours.most_ms, asked,
                      more=True)  # fmt: skip
        lines += [
            replace(speed, measured=ours.speed),
            _line(f"{shape}.hand", f"{shape}: tiled by hand, of compute and bus",
                  hand.least_ms / computed, 1.15),
            _line(f"{shape}.ours", f"{shape}: ours, of tiled by hand",
                  ours.least_ms / hand.least_ms, 1.2),
            _line(f"{shape}.share", f"{shape}: virtual memory's share of instructions", share,
                  0.15),
            _line(f"{shape}.prefetch", f"{shape}: part's time that prefetch spares", spared, 0.6,
                  more=True),
        ]  # fmt: skip
    return lines


_TITLE = "A language model on a Cortex-M3: 64 KB, serial NAND"
_SHOWN = {
    _IN_RAM: "weights in RAM",
    _BY_HAND: "flash, tiled by hand",
    f"{_BEST}, no prefetch": "flash as memory, no prefetch",
    _BEST: "flash as memory",
}


def _draw(found: dict[tuple[str, Case], Token], axes: "Axes") -> None:
    """A bar a way to run a shape: what the processor takes, its band, and what it waits for."""
    rows = [
        (f"{shape}: {_SHOWN[case.name]}", one)
        for (shape, case), one in found.items()
        if case.board is boards.CORTEX_M3 and case.name in _SHOWN
    ]
    rows.sort(key=lambda row: -row[1].most_ms)
    places = range(len(rows))
    ones = [one for _, one in rows]
    pieces = (
        ("processor, at least", [one.least_ms - one.storage_ms for one in ones]),
        ("processor, at most", [one.most_ms - one.least_ms for one in ones]),
        ("waits for flash", [one.storage_ms for one in ones]),
    )
    before = [0.0] * len(rows)
    for index, (name, widths) in enumerate(pieces):
        colour, hatch = plots.COLOURS[index], plots.HATCHES[index]
        axes.barh(places, widths, left=before, color=colour, hatch=hatch, label=name)
        before = [left + width for left, width in zip(before, widths, strict=True)]
    for place, one in zip(places, ones, strict=True):
        axes.annotate(f" {one.speed}/s", (one.most_ms, place), va="center", fontsize=7)
    axes.set_yticks(places, [name for name, _ in rows], fontsize=7)
    axes.set_xlim(0, 1.3 * max(one.most_ms for one in ones))
    axes.set_xlabel("ms a token, and tokens a second")
    axes.legend(fontsize=7, loc="upper right")


def _picture(found: dict[tuple[str, Case], Token]) -> str:
    with measure.scratch() as folder:
        file = Path(folder) / "llm.svg"
        plots.write_svg(file, lambda axes: _draw(found, axes), title=_TITLE)
        return file.read_text()


_INTRODUCTION = """# The language models on emulated boards

Written by `nandwich bench llm`: `examples/llm` with weights by chance, of the two shapes of `make
llm`, mapped from a W25N01GV on a bus of four lines at 104 MHz with DMA where a row names no other
part or bus; 12 KB of stack, all else by default. A token is one at a whole context of 128: the mean
of the last {} of {}. Cycles are a band by the table of the processor's manual, memory without wait
states (rv32: an instruction a clock). *Storage* is what the processor waits for. Energy is the
processor's 36 mA (rv32: 28 mA) at 3.3 V all the time, at the band's slow end, and the part's by
operation and by the time that bytes take on its bus. Each run writes the text that the host writes.

*In RAM* has no flash at all. *By hand* is `tiled.c`, which reads a page of a matrix at a time and a
row of 64 B by the same driver, has its cache and all else in RAM, and asks for nothing ahead.

*64 KB in frames of 512 or 1024 B* leave the Cortex-M3 RAM for the tree layer alone, not for lavish:
it checks a code over each page of its map that it reads, in 27,000 instructions.

*W25Q128JV* is read by one line and never ahead. Most of the wait is for pages that were written and
leave RAM: a program of 256 B takes 0.4 ms, an erase of 4 KiB 45 ms. By hand nothing is written.
*K9F1G08U0A* repairs no bits: the processor checks a code over every byte, which takes more
instructions than the model itself. It is not read ahead either.

"""


@bench("llm", "a token of two language models on emulated boards, untrained")
def llm() -> list[Figure]:
    """The tables go to docs/figures/llm-boards.md, a picture beside them."""
    cases = [case for board in (boards.CORTEX_M3, boards.RV32) for case in _cases(board)]
    vocabulary = learnt.learn(corpus.load().training[:40], 2048)
    with measure.scratch() as folder:
        files = {shape: Path(folder) / f"{shape}.bin" for shape in ("table", "dense")}
        for shape, file in files.items():
            file.write_bytes(untrained.file(train.PLANS[shape].shape, vocabulary))
        found = tokens(cases, files)
        lines = [*numbers(found), rows(files["table"])]
    page = [*_numbers.table(lines), *table(found, boards.CORTEX_M3), "", *table(found, boards.RV32)]
    introduction = _INTRODUCTION.format(_MANY - _FEW, _MANY)
    found_pages[ROOT / "docs/figures/llm-boards.md"] = introduction + "\n".join(page) + "\n"
    found_pages[ROOT / "docs/figures/llm-boards.svg"] = _picture(found)
    return [figure for line in lines for figure in line.figures]
