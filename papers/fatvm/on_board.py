# SPDX-License-Identifier: Apache-2.0
"""The paper's programs as firmware on the emulated Cortex-M3: how they are run, and the energy of a
run.

Instructions are exact, cycles are not: a run's processor time is told as a band, from one cycle an
instruction to two, which is what loads, branches and two wait states of flash add to real code.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.device import figures
from lab.device import parts as board_parts
from lab.device.boards import BOARDS, Board
from lab.photo import photo
from nandwich import _native
from nandwich.energy.model import Job, Node, Storage
from nandwich.errors import RunError
from nandwich.twin import parts as twin_parts
from nandwich.twin import platforms
from papers.fatvm import traffic

#: Cycles an instruction: fewer are not possible, more are not likely.
BAND = (1.0, 2.0)
#: As in section 7.5 of the paper, 32 KB of frames of 512 B; where storage does not count, 8 MB of
#: virtual memory on the board's usual part.
RAM_BYTES, FRAME_BYTES, VM_BYTES = 32 << 10, 512, 8 << 20
#: Where storage counts, as in the paper: the lavish layer of degree 8, and 16 MB of virtual memory,
#: for which the board's serial NAND has to have 2,048 blocks.
WITH_STORAGE: dict[str, Any] = {
    "layer": "lavish",
    "vm": 16 << 20,
    "part": board_parts.get("MX35LF2GE4AB"),
}
#: The paper's parallel NAND. It takes what the serial one was asked for.
NAND = "K9WAG08U1A"
#: Each program is a file, built by itself as the paper's compiler does it.
_AS_PUBLISHED: dict[str, Any] = {"separate": True}
#: Datasheet class of such parts, as in the twin's table: 15 mA while it reads, programs and erases.
#: Its supply is switched off while the node sleeps, as the paper counts.
STORAGE = Storage(active_na=15_000_000, asleep_na=0)
#: The node's own guards, for energy.
_NODE_GUARDS: dict[str, Any] = {"slots": 8, "guards": "hybrid"}
#: What set-ups say of all this.
CALLS = (
    "guards as calls, 16 buffers for the program, each of which pins its page, no look-aside "
    "entries, no page windows, LRU"
)
NODE_GUARDS = (
    "guards in place in loops, else calls; 8 buffers, 64 look-aside entries, page windows, CLOCK"
)
SET_UP = (
    "32 KB of frames of 512 B, 16 MB of virtual memory, multi-cache, lavish of degree 8 with 4 "
    "maps in RAM on 2,048 blocks; emulated Cortex-M3 at 72 MHz with 1 to 2 cycles an instruction; "
    "storage is the driver's and the layer's instructions (8 a byte moved) and, for what the "
    "driver asked of a serial NAND, the time of a parallel one: K9WAG08U1A, 25 ns a byte, 25 us a "
    "read, 200 us a program, 1.5 ms an erase"
)
SIZES = (
    f"{traffic.PHOTO} to BMP, {traffic.GRAY}, FFT of 2^13 points of 8 B, Huffman of a log of "
    "400,000 B and back, red-black tree of 2,000 nodes of 48 B and a search of each; each one "
    "file, clang -O2"
)

PROGRAMS = tuple(traffic.PROGRAMS)
#: Arguments of the programs: what takes some seconds on such a processor.
_SIZES = {"gray": ("640", "480"), "fft": ("13",), "huffman": ("400000",), "red-black": ("2000",)}
_QUICK = {"gray": ("400", "300"), "fft": ("10",), "huffman": ("40000",), "red-black": ("500",)}
#: Width, height and quality of the picture of quick runs; whole ones take the portrait as it is.
_QUICK_PICTURE = (176, 206, 75)


def picture(folder: Path, width: int, height: int, quality: int) -> Path:
    """The portrait in another size."""
    from PIL import Image

    path = folder / f"{width}.jpg"
    with Image.open(photo()) as portrait:
        portrait.resize((width, height)).save(path, "JPEG", quality=quality)
    return path


@contextmanager
def invocation(program: str, quick: bool) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Source and arguments of a program, and a folder behind them for what it writes."""
    source = ROOT / traffic.PROGRAMS[program][0]
    if program != "jpeg":
        yield source, (_QUICK if quick else _SIZES)[program]
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jpeg = picture(folder, *_QUICK_PICTURE) if quick else photo()
        yield source, (str(jpeg), str(folder / "out.bmp"))


def board() -> Board:
    """The Cortex-M3; RunError where its tools are missing."""
    found = BOARDS["cortex-m3"]
    if lacking := found.missing():
        raise RunError(f"missing: {', '.join(lacking)}; `nandwich doctor` tells how to get them")
    return found


@cache
def measured(program: str, quick: bool, **changes: Any) -> dict[str, Any]:
    """The JSON of a run as in section 7.5 but for `changes`, fields of lab.device.play.Wanted;
    RunError when it is not as natively."""
    usual: dict[str, Any] = {
        "vm": VM_BYTES,
        "ram": RAM_BYTES,
        "frame": FRAME_BYTES,
        **_AS_PUBLISHED,
    }
    with invocation(program, quick) as (source, arguments):
        return figures.run(board(), source, *arguments, **{**usual, **changes})


@cache
def references(program: str, quick: bool, frame: int) -> _native.Refs:
    """The program's accesses to its globals and its heap, recorded natively on the processor."""
    refs = _native.Refs(frame)
    with tempfile.TemporaryDirectory() as name, invocation(program, quick) as (source, arguments):
        to = Path(name) / "accesses"
        figures.record(board(), source, *arguments, to=to, **_AS_PUBLISHED)
        trace = _native.AccessTrace(str(to))
        while refs.load(trace, 1 << 20):
            pass
    return refs


def storage_ns(flash: dict[str, int]) -> int:
    """Time of the paper's NAND and its bus for what a driver asked: bytes, reads, programs, erases.

    What polls the part moves bytes, too, and is among them."""
    time = {figure.field.key: figure.number or 0 for figure in twin_parts.figures(NAND)}
    bus_ps = flash["bus_bytes"] * time["read.byte_time"]
    return bus_ps // 1000 + sum(
        flash[f"{kind}s"] * time[f"{kind}.time"] for kind in ("read", "program", "erase")
    )


@dataclass(frozen=True)
class Run:
    """One run in virtual memory, compared with the native one."""

    instructions: int
    native: int
    driver: int  # of the instructions: while they run the storage is at work, too
    storage_ns: int  # beside all instructions
    clock_mhz: float

    def job(self, cycles: float, raw_bytes: int = 0) -> Job:
        """What a duty cycle does, at so many cycles an instruction."""
        awake, native, driver = (
            round(count * cycles * 1000 / self.clock_mhz)
            for count in (self.instructions, self.native, self.driver)
        )
        return Job(awake + self.storage_ns, driver + self.storage_ns, native, raw_bytes, 0)


@cache
def run(source: Path, arguments: tuple[str, ...]) -> Run:
    """Runs a program on the board as a node would; RunError when it is not as natively."""
    usual = {"ram": RAM_BYTES, **_NODE_GUARDS, **_AS_PUBLISHED, **WITH_STORAGE}
    value = figures.run(board(), ROOT / source, *arguments, **usual)
    counts = value["instructions"]
    waiting = storage_ns(value["flash"])
    return Run(counts["total"], counts["native_total"], counts["driver"], waiting, board().mhz)


def node(name: str) -> Node:
    """A node of the table of platforms."""
    keys = ("supply", "active", "sleep", "clock")
    return Node(*(platforms.number(name, key) for key in keys))
