# SPDX-License-Identifier: Apache-2.0
"""C-RAM: ROM and RAM of three applications on the ATmega128 (Mathur et al., SenSys 2006).

What counts: the whole linked program (start-up code, application, a driver of the chip, checksum,
store), of which the linker kept what the application reaches. ROM is code, constants and what
initial values need; RAM is all that exists while it runs but the call stack: the store's memory,
the chip, and constants, which this processor's C keeps in RAM.
"""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab import ROOT, cross
from lab.experiments import Answer, Report, Value, experiment, near
from nandwich import plots
from nandwich.errors import RunError
from papers.capsule._rig import PERCENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Where a whole program is compiled, its warnings are those of the start-up files too.
_NOT_FOR_PROGRAMS = ("-ffreestanding", "-Werror")
#: What makes the store smallest on AVR, for speed: common ends of functions, short jumps, addresses
#: near the pointers that are there, fewer values kept in registers, fewer copies of code. Without
#: sealed stores, which the paper has none of. docs/store.md lists them for firmware.
SMALLEST = (
    "-DNW_STORE_UNSEALED",
    "-mcall-prologues",
    "-mrelax",
    "-mstrict-X",
    "-fno-move-loop-invariants",
    "-fira-algorithm=priority",
    "-fno-tree-ter",
    "-fno-guess-branch-probability",
    "-fno-inline-small-functions",
    "-fno-tree-dominator-opts",
    "-fno-tree-tail-merge",
    "-fno-ipa-sra",
)


@dataclass(frozen=True)
class Application:
    """One of tests/targets/store_app.c, how its store is set up, and the paper's KB."""

    number: int
    name: str
    objects: int
    frames: int
    checkpoints: int
    rom_kb: float
    ram_kb: float
    fan: int = 8
    dataflash: int = 0
    where: str = "evaluation, memory footprint"


#: What the files of core/store are there for. The rest of a program is itself and its driver,
#: core/base, core/chip and what the compiler brings.
PURPOSES = {
    "mount": ("mount", "newest", "walk", "torn", "redo"),
    "log": ("log", "place", "sum"),
    "cleaning": ("clean", "space"),
    "index": ("tree",),
    "anchors": ("anchor",),
    "objects": ("object", "list", "array", "file", "tags"),
    "format": ("format", "wipe", "check", "seal"),
}
OTHER = "the rest"

_COMPILER = (
    f"{PERCENT} % to either side: another compiler and system; the one decimal printed is worth "
    "4 %, and 1,000 or 1,024 B a KB 2 %"
)
TOLERANCE = {
    "ROM": _COMPILER,
    "RAM": f"{_COMPILER}; in RAM it is three of our frames more or less",
}

APPLICATIONS = (
    Application(1, "five objects", 6, 8, 0, 25.4, 1.6),
    Application(2, "stack, stream, checkpoint", 2, 6, 1, 16.6, 1.4),
    Application(3, "files on DataFlash", 2, 8, 0, 18.7, 1.5, fan=16, dataflash=1, where="table 6"),
)


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _sources(app: Application) -> list[Path]:
    base = [ROOT / "core" / "base" / name for name in ("crc.c", "crc16.c", "ram.c")]
    chip = [ROOT / "core" / "chip" / name for name in ("chip.c", "blank.c")]
    files = [ROOT / "tests" / "targets" / "store_app.c", *base, *chip]
    if app.dataflash:
        files += [ROOT / "core" / "drivers" / name for name in ("dataflash.c", "spi.c")]
    return files + sorted((ROOT / "core" / "store").glob("*.c"))


def _link(app: Application, number: int, ram_bytes: int, output: Path, *more: str) -> Path:
    """The program, without what nothing in it reaches."""
    target = cross.ATMEGA128
    options = [one for one in target.options if one not in _NOT_FOR_PROGRAMS]
    values = {
        "APPLICATION": number,
        "RAM_BYTES": ram_bytes,
        "OBJECTS": app.objects,
        "FRAMES": app.frames,
        "FAN": app.fan,
        "CHECKPOINTS": app.checkpoints,
        "DATAFLASH": app.dataflash,
    }
    defines = [f"-D{name}={value}" for name, value in values.items()]
    include = f"-I{ROOT / 'core' / 'include'}"
    _call(
        target.compiler,
        *options,
        *more,
        include,
        *defines,
        *map(str, _sources(app)),
        "-Wl,--gc-sections",
        "-o",
        str(output),
    )
    return output


def _store_ram(app: Application, folder: Path) -> int:
    """nw_store_ram_bytes() as the processor itself answers it, in simavr."""
    runner = folder / "run_avr"
    harness = ROOT / "tests" / "targets" / "avr" / "run_avr.c"
    _call("cc", "-std=gnu11", "-O2", str(harness), "-lsimavr", "-lelf", "-o", str(runner))
    told = _call(str(runner), str(_link(app, 0, 1, folder / "ask.elf")))
    found = re.search(r"^marker1 (\d+)", told, re.MULTILINE)
    if found is None:
        raise RunError("the ATmega128 did not tell how much RAM the store wants")
    return int(found.group(1))


def _sections(image: Path) -> dict[str, int]:
    text = _call(cross.ATMEGA128.size, "-A", str(image))
    return {name: int(count) for name, count in re.findall(r"^(\.\S+)\s+(\d+)", text, re.MULTILINE)}


def split(text: str, sources: list[Path]) -> dict[str, int]:
    """Bytes of ROM by purpose, by a linker's map: it loads the objects in the sources' order."""
    of_file = {name: purpose for purpose, names in PURPOSES.items() for name in names}
    objects = re.findall(r"^LOAD (\S*/cc\w+\.o)$", text, re.MULTILINE)
    known = {
        path: of_file[source.stem]
        for path, source in zip(objects, sources, strict=True)
        if source.parent.name == "store"
    }
    kept = text.partition("Linker script and memory map")[2]
    found = re.findall(
        r"^ \.(?:text|data|rodata)\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S*/cc\w+\.o)$",
        kept,
        re.MULTILINE,
    )
    bytes_of = dict.fromkeys(PURPOSES, 0)
    for size, path in found:
        if path in known:
            bytes_of[known[path]] += int(size, 16)
    return bytes_of


def _measure(app: Application) -> dict[str, int]:
    """Bytes of the program, of its RAM, of the store's part of that, and of ROM by purpose."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = _store_ram(app, folder)
        plain = _sections(_link(app, app.number, store, folder / "app.elf"))
        linked = folder / "linked.map"
        options = (*SMALLEST, f"-Wl,-Map={linked}")
        small = _sections(_link(app, app.number, store, folder / "small.elf", *options))
        purposes = split(linked.read_text(), _sources(app))
    rom = small[".text"] + small[".data"]
    purposes[OTHER] = rom - sum(purposes.values())
    return {
        "ROM": rom,
        "ROM at plain -Os": plain[".text"] + plain[".data"],
        "RAM": plain[".data"] + plain[".bss"],
        "of it the store's": store,
        **purposes,
    }


def _why(what: str, bytes_of: dict[str, int]) -> str:
    """What takes the bytes."""
    if what == "RAM":
        return "without the call stack; how many frames there are is our choice"
    parts = (f"{name} {bytes_of[name] / 1024:.1f}" for name in (*PURPOSES, OTHER))
    return (
        "every store has an index under each object, cleaning of any block, failed programs and a "
        "mount that redoes what was written since the last anchor; positions have 32 bits, four "
        f"registers each. KB by purpose: {', '.join(parts)} (the program, its driver, core/base "
        "and core/chip, the compiler's own)"
    )


@experiment(
    "C-RAM",
    claim="ROM and RAM on the ATmega128",
    published="",
    unit="KB",
    judges_quick=True,
    where="evaluation, memory footprint",
    setup="published: an application with an index, a stream, a stream-index, a stack and a queue, "
    "one with a stack, a stream and a checkpoint, and one with files on a DataFlash, on a Mica2. "
    "Ours: programs in C with those objects (tests/targets/store_app.c), avr-gcc -Os for the "
    "ATmega128, for ROM the options of docs/store.md too; pages of 512 B, 8,192 blocks, or for "
    "files the driver of DataFlash and an AT45DB041B; names of 4 B; 6 objects and 8 frames of 8 "
    "entries; 2 objects, 6 such frames and a checkpoint; 2 objects and 8 frames of 16, which C-T6 "
    "has. The number of frames is our choice, from 4 on; one of 8 entries takes 42 B of RAM",
)
def memory(quick: bool) -> Report:  # noqa: ARG001
    """A store on 512-byte pages with nodes of 8 entries; unused functions left out."""
    measured = {app: _measure(app) for app in APPLICATIONS}
    answers = []
    for app, bytes_of in measured.items():
        for what, published in (("ROM", app.rom_kb), ("RAM", app.ram_kb)):
            kb = bytes_of[what] / 1024
            answers.append(
                Answer(
                    round(kb, 2),
                    holds=near(kb, published, percent=PERCENT),
                    why=_why(what, bytes_of),
                    part=f"{app.number}-{what}",
                    claim=f"{what} of {app.name}",
                    published=published,
                    where=app.where,
                    tolerance=TOLERANCE[what],
                )
            )
    names = [app.name for app in APPLICATIONS]
    table = list(measured.values())
    rows: list[list[Value]] = [
        [name, *bytes_of.values()] for name, bytes_of in zip(names, table, strict=True)
    ]

    def draw(axes: "Axes") -> None:
        bars = {
            "ROM": [one["ROM"] / 1024 for one in table],
            "ROM, paper": [app.rom_kb for app in APPLICATIONS],
            "RAM": [one["RAM"] / 1024 for one in table],
            "RAM, paper": [app.ram_kb for app in APPLICATIONS],
        }
        plots.grouped(axes, names, bars)
        axes.set_ylabel("KB")
        axes.legend()

    return Report(answers, ["application", *(f"{name} B" for name in table[0])], rows, draw)
