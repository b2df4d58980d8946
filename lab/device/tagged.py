# SPDX-License-Identifier: Apache-2.0
"""Programs with NW_VM variables on an emulated ATmega128 with a DataFlash, as on a Mica2."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.device import build
from lab.device.boards import ATMEGA128, USUAL_BUS, Board, Range
from lab.device.build import Image
from lab.device.layout import Layout
from nandwich import _native, paths
from nandwich.compiler import tagged
from nandwich.errors import InputError, RunError

#: The part itself, without the RAM outside of it that the other programs have.
BOARD = replace(ATMEGA128, model="ATmega128", ram=Range(0x100, 4 << 10), stack=512)
#: What records, or has no layout at all, has RAM for all of its data.
WIDE = replace(BOARD, model="board for recordings", ram=BOARD.native_ram, stack=BOARD.native_stack)
#: Virtual addresses lie above all RAM.
TARGET = tagged.Target(start=0x4000, align=2, end=0x1_0000)
_LONGEST_S = 120  # a program that never ends
_INCLUDE = f"-I{ROOT / 'ports/tagged/include'}"
#: Functions share the code that saves registers: a tenth less code. A resident access saves none.
_SMALLER = "-mcall-prologues"
#: That code, of libgcc.
_SHARED = ("__prologue_saves__", "__epilogue_restores__")


@dataclass(frozen=True)
class Node:
    """A slower node than ours: its times in the place of the model's."""

    byte_ns: int  #: from byte to byte on the bus, at least; the processor works meanwhile
    rewrite_us: int  #: a buffer to its page, with erase


@dataclass(frozen=True)
class Outcome:
    """A run on the board."""

    output: bytes
    said: bytes  #: on stderr
    report: dict[str, Any]
    image: Image

    @property
    def stdout(self) -> str:
        return self.output.decode(errors="replace")

    @property
    def counts(self) -> dict[str, int]:
        """Faults and transfers."""
        told: dict[str, int] = self.report["told"]
        return told

    @property
    def us(self) -> float:
        """Time of the run behind start-up: the DataFlash's clock goes on with the processor's."""
        return float(self.report["run_flash"]["storage_ns"]) / 1000

    @property
    def cycles(self) -> dict[str, int]:
        """Of the run behind start-up, by owner."""
        return {name: most for name, (_, _, most) in self.report["run"].items()}


def _objects(memory: str) -> dict[str, Path]:
    """Start and end of a program, and where its tagged variables are."""
    port = ROOT / "ports/device"
    begin = ("start.c", "calls.c", "ram.c", "streams.c", "end.c", memory)
    return {"board": build.relocatable(BOARD, [port / name for name in begin], _INCLUDE)}


def objects() -> dict[str, Path]:
    """Our code by owner, for a program with a layout."""
    port, core, ours = ROOT / "ports/device", ROOT / "core", ROOT / "ports/tagged"
    drivers = [core / "drivers" / name for name in ("spi.c", "dataflash.c")]
    chip = [core / "chip" / name for name in ("chip.c", "chip_more.c")]
    memory = [core / "small/small.c", *chip, ours / "access.c", ours / "move.c"]
    return {
        "driver": build.relocatable(BOARD, [*drivers, port / "bus.c"], _SMALLER, *USUAL_BUS.flags),
        "vm": build.relocatable(BOARD, memory, _INCLUDE, _SMALLER),
        **_objects("memory_tagged.c"),
    }


def _room(board: Board, stack: int) -> Layout:
    where = (board.code, board.ram, board.port, build.NOWHERE)
    return Layout(*where, stack, 0, 0, board.data_offset)


def program(
    sources: Sequence[Path],
    flags: Sequence[str],
    layout: tagged.Placement,
    frames: int | None = None,
    stack: int = BOARD.stack,
) -> Image:
    """The program with its layout; InputError where it does not fit the board."""
    tagged.check(layout, TARGET)
    frames = min(frames or layout.frames, layout.pages)
    text = tagged.tables(layout, frames, TARGET)
    tables = tagged.kept(text, ".c")
    ours = {**objects(), "tables": build.relocatable(BOARD, [tables], _INCLUDE)}
    flags_of_layout = tagged.compile_flags(layout, TARGET)
    room = _room(BOARD, stack)
    try:
        return build.fixed(BOARD, tuple(sources), flags, flags_of_layout, ours, room)
    except build.NoRamError as error:
        one = "a page of" if frames == 1 else f"{frames} pages of"
        less = "a smaller stack or smaller pages" if frames == 1 else "fewer"
        raise InputError(
            f"{error.message}; {one} {layout.page_bytes} B in RAM among the variables: take {less}"
        ) from error


def plain(sources: Sequence[Path], flags: Sequence[str]) -> Image:
    """The same source without the tool, on a board with RAM for all of it."""
    include = [f"-I{path}" for path in paths.include_dirs()]
    ours, room = _objects("memory_native.c"), _room(WIDE, WIDE.stack)
    return build.fixed(WIDE, tuple(sources), flags, include, ours, room)


def recorder(sources: Sequence[Path], flags: Sequence[str]) -> Image:
    """The program with its tagged variables in such RAM, telling each access to them."""
    move = ROOT / "ports/tagged/move.c"
    ours = {**_objects("memory_record.c"), "vm": build.relocatable(BOARD, [move], _INCLUDE)}
    room = _room(WIDE, WIDE.stack)
    return build.fixed(WIDE, tuple(sources), flags, tagged.compile_flags(None), ours, room)


def symbol_bytes(image: Image, name: str) -> int:
    """The size of a variable in a linked program."""
    command = ["avr-nm", "-S", str(image.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == name:
            return int(words[1], 16)
    raise RunError(f"{image.path.name} has no {name}")


def shared_code_bytes(image: Image) -> int:
    """What functions share to save registers; the linker lays it among the library's."""
    command = ["avr-nm", "-n", str(image.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = [line.split() for line in done.stdout.splitlines()]
    code = [(int(words[0], 16), words[-1]) for words in found if words[1] in "tT"]
    ends = {name: next(at for at, _ in code if at > start) for start, name in code[:-1]}
    return sum(ends[name] - start for start, name in code if name in _SHARED)


def play(
    image: Image,
    folder: Path,
    arguments: Sequence[str] = ("program",),
    *,
    recording: Path | None = None,
    longest_s: float | None = None,
    node: Node | None = None,
) -> Outcome:
    """Run it to its end, whatever that is; what it says on stderr is passed on."""
    report = folder / "report.json"
    room = image.layout
    lines = {
        "arch": BOARD.arch,
        "image": image.path,
        "report": report,
        "recording": recording or "",
        "part": "at45",
        "port": room.port.start,
        "code": f"{room.code.start},{(image.sizes.code + 0xFFFF) & ~0xFFFF}",
        "ram": f"{room.ram.start},{room.ram.bytes}",
        "stack": room.stack_bytes,
        "seed": 1,
        "hz": round(BOARD.mhz * 1_000_000),
        **(asdict(node) if node else {}),
    }
    text = "".join(f"{key}={value}\n" for key, value in lines.items())
    text += "".join(f"owner={name},{one.start},{one.end}\n" for name, one in image.owners.items())
    (folder / "settings").write_text(text, encoding="utf-8")
    done = subprocess.run(
        list(arguments),
        executable=build.emulator(BOARD),
        env={"NANDWICH_DEVICE": str(folder / "settings")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=longest_s,
    )
    if not report.exists():
        raise RunError(f"the emulator left no report: {done.stderr.decode(errors='replace')}")
    value = json.loads(report.read_text(encoding="utf-8"))
    report.unlink()
    return Outcome(done.stdout, done.stderr, value, image)


def run(image: Image, folder: Path, node: Node | None = None) -> Outcome:
    """Run it to its end; RunError when that is not exit(0), or the bus saw what must not be."""
    outcome = play(image, folder, longest_s=_LONGEST_S, node=node)
    value = outcome.report
    if value["end"] != "exit" or value["status"] != 0 or value["violations"]:
        raise RunError(f"on the board: {value['end']} {value['detail']} {value['violation']}")
    return outcome


def record(
    image: Image, folder: Path, to: Path, arguments: Sequence[str] = ("program",)
) -> Outcome:
    """Run what recorder() built; its accesses to tagged variables go to the trace `to`."""
    outcome = play(image, folder, arguments, recording=to)
    names = sorted(one[3] for one in _native.AccessTrace(str(to)).objects)
    for name, other in pairwise(names):
        if name == other:
            raise InputError(
                f"two files have a tagged variable '{name}' each, which a layout could not tell "
                "apart; rename one"
            )
    return outcome
