# SPDX-License-Identifier: Apache-2.0
"""Programs with NW_VM variables on an emulated ATmega128 with a DataFlash, as on a Mica2."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.device import build
from lab.device.boards import ATMEGA128, Range
from lab.device.build import Image
from lab.device.layout import Layout
from nandwich.compiler import tagged
from nandwich.errors import RunError

BOARD = ATMEGA128
#: Virtual addresses lie above all RAM.
TARGET = tagged.Target(start=0x4000, align=2, end=0x1_0000)
#: The RAM of the part itself, without the board's.
RAM = Range(0x100, 4 << 10)
_STACK = 512
_LONGEST_S = 120  # a program that never ends
_INCLUDE = f"-I{ROOT / 'ports/tagged/include'}"
#: Functions share the code that saves registers: a tenth less code. A resident access saves none.
_SMALLER = "-mcall-prologues"
#: That code, of libgcc.
_SHARED = ("__prologue_saves__", "__epilogue_restores__")


@dataclass(frozen=True)
class Outcome:
    """A run on the board."""

    stdout: str
    report: dict[str, Any]
    image: Image

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


def objects() -> dict[str, Path]:
    """Our code by owner."""
    port, core, ours = ROOT / "ports/device", ROOT / "core", ROOT / "ports/tagged"
    begin = ("start.c", "calls.c", "ram.c", "streams.c", "end.c", "memory_tagged.c")
    drivers = [core / "drivers" / name for name in ("spi.c", "dataflash.c")]
    chip = [core / "chip" / name for name in ("chip.c", "chip_more.c")]
    memory = [core / "small/small.c", *chip, ours / "access.c", ours / "move.c"]
    return {
        "driver": build.relocatable(BOARD, [*drivers, port / "bus.c"], _SMALLER),
        "vm": build.relocatable(BOARD, memory, _INCLUDE, _SMALLER),
        "board": build.relocatable(BOARD, [port / name for name in begin], _INCLUDE),
    }


def program(
    sources: Sequence[Path],
    flags: Sequence[str],
    layout: tagged.Placement,
    frames: int | None = None,
) -> Image:
    """The program with its layout; InputError where it does not fit the board."""
    tagged.check(layout, TARGET)
    text = tagged.tables(layout, frames or layout.frames, TARGET)
    tables = tagged.kept(text, ".c")
    ours = {**objects(), "tables": build.relocatable(BOARD, [tables], _INCLUDE)}
    return build.fixed(
        BOARD,
        tuple(sources),
        flags,
        tagged.compile_flags(layout, TARGET),
        ours,
        Layout(BOARD.code, RAM, BOARD.port, build.NOWHERE, _STACK, 0, 0, BOARD.data_offset),
    )


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


def run(image: Image, folder: Path) -> Outcome:
    """Run it to its end; RunError when that is not exit(0), or the bus saw what must not be."""
    report = folder / "report.json"
    room = image.layout
    lines = {
        "arch": BOARD.arch,
        "image": image.path,
        "report": report,
        "part": "at45",
        "port": room.port.start,
        "code": f"{room.code.start},{(image.sizes.code + 0xFFFF) & ~0xFFFF}",
        "ram": f"{room.ram.start},{room.ram.bytes}",
        "stack": room.stack_bytes,
        "seed": 1,
    }
    text = "".join(f"{key}={value}\n" for key, value in lines.items())
    text += "".join(f"owner={name},{one.start},{one.end}\n" for name, one in image.owners.items())
    (folder / "settings").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["program"],
        executable=build.emulator(BOARD),
        env={"NANDWICH_DEVICE": str(folder / "settings")},
        capture_output=True,
        text=True,
        check=False,
        timeout=_LONGEST_S,
    )
    if not report.exists():
        raise RunError(f"the emulator left no report: {done.stderr.strip()}")
    value = json.loads(report.read_text(encoding="utf-8"))
    if value["end"] != "exit" or value["status"] != 0 or value["violations"]:
        raise RunError(f"on the board: {value['end']} {value['detail']} {value['violation']}")
    return Outcome(done.stdout, value, image)
