# SPDX-License-Identifier: Apache-2.0
"""The boards a program can run on: processor, memory map, tools."""

import importlib.util
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from nandwich.errors import InputError


@dataclass(frozen=True)
class Range:
    """Addresses from `start` on."""

    start: int
    bytes: int

    @property
    def end(self) -> int:
        return self.start + self.bytes

    def meets(self, other: "Range") -> bool:
        return self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"{self.start:#010x} to {self.end - 1:#010x}"


@dataclass(frozen=True)
class Bus:
    """The bus of the part. A serial one of one line each way moves byte by byte, as the processor
    stores them; one that reads by four lines too, and a parallel one of eight, have a DMA, and the
    processor sleeps meanwhile."""

    lines: int = 1
    mhz: float = 20
    cycle_ns: int = 0  #: of a parallel one, a byte

    def __str__(self) -> str:
        return f"{_WIDTHS[self.lines]}:{self.mhz:g}"

    @property
    def told(self) -> str:
        if self.lines == 8:
            return f"parallel bus of {self.cycle_ns} ns a byte, DMA"
        wide = ", four lines, DMA" if self.lines == 4 else ""
        return f"bus at {self.mhz:g} MHz{wide}"

    @property
    def byte_ps(self) -> int:
        """A byte; of a serial bus by one line."""
        return self.cycle_ns * 1000 or round(8e6 / self.mhz)

    @property
    def flags(self) -> tuple[str, ...]:
        """For the firmware's own code of the bus."""
        if self.lines == 8:
            return (f"-DNW_BOARD_BYTE_NS={self.cycle_ns}U",)
        dma = ("-DNW_BOARD_DMA",) if self.lines == 4 else ()
        return (f"-DNW_BOARD_BUS_KHZ={round(self.mhz * 1000)}", *dma)


_WIDTHS = {1: "single", 4: "quad"}
USUAL_BUS = Bus()


def parallel_bus(cycle_ns: int) -> Bus:
    """Of a parallel NAND, by its part's table."""
    return Bus(lines=8, cycle_ns=cycle_ns)


def bus(text: str) -> Bus:
    """`single:MHZ` or `quad:MHZ`; the number may be missing. InputError for anything else."""
    word, _, number = text.partition(":")
    for lines, name in _WIDTHS.items():
        if name == word and re.fullmatch(r"\d*\.?\d*", number):
            mhz = float(number) if number else Bus(lines).mhz
            if 1 <= mhz <= 200:
                return Bus(lines, mhz)
    raise InputError(
        f"--bus {text}: single or quad, and a clock from 1 to 200 MHz, as quad:104, is allowed"
    )


@dataclass(frozen=True)
class Board:
    """One target of `nandwich run --target`."""

    name: str
    model: str  #: the part whose memories these are
    arch: str  #: as the emulator calls it
    mhz: float
    code: Range
    ram: Range
    port: Range
    #: What else answers at an address, by the part's manual: virtual memory must not lie there.
    taken: tuple[tuple[str, Range], ...]
    vm_start: int
    clang: tuple[str, ...]
    gcc: tuple[str, ...]  #: compiler and flags
    specs: tuple[str, ...]  #: what it needs to find the C library's headers
    headers: Path  #: of its C library
    libraries: Path | None  #: where the C library's archives are; None: gcc knows
    archives: tuple[str, ...]  #: of the C library and the compiler
    packages: tuple[tuple[str, str], ...]  #: a file or program, and the package it is in
    #: What is right for it where nothing was chosen.
    vm: int = 8 << 20
    frames: int = 32 << 10
    frame: int = 512
    slots: int = 16
    guards: str = "inline"
    stack: int = 8 << 10
    #: RAM for a native run: as much as any program wants.
    native_ram: Range = Range(0x8000_0000, 64 << 20)
    native_stack: int = 1 << 20
    #: What lld has to be told of the processor where it makes one object of bitcode.
    joining: tuple[str, ...] = ()
    #: A processor whose code flash is another space: where the linker has its data, the end of
    #: addresses, and no more than guards as calls.
    data_offset: int = 0
    address_end: int = 1 << 32

    @property
    def layers(self) -> tuple[str, ...]:
        """Translation layers its code flash has room for, as they are tried where nobody chose:
        lavish is made for swap, tree wants fewer blocks."""
        return ("lavish",) if self.is_small else ("lavish", "tree")

    @property
    def is_small(self) -> bool:
        """An eight-bit processor, with a library of our own."""
        return self.data_offset != 0

    def missing(self) -> list[str]:
        """Packages that are not here."""
        found = [
            package
            for file, package in self.packages
            if not (Path(file).exists() or shutil.which(file))
        ]
        if not self.is_small and importlib.util.find_spec("unicorn") is None:
            found.append("unicorn (PyPI: .venv/bin/pip install unicorn)")
        return found

    def library(self, name: str) -> Path:
        """An archive of its C library, or libgcc.a."""
        if self.libraries is not None and (self.libraries / name).exists():
            return self.libraries / name
        done = subprocess.run(
            [*self.gcc, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        )
        path = Path(done.stdout.strip())
        if not path.is_absolute():
            raise InputError(f"{self.gcc[0]} has no {name} for {self.name}")
        return path


_RV32 = ("-march=rv32imac", "-mabi=ilp32")
_PICOLIBC = Path("/usr/lib/picolibc/riscv64-unknown-elf")

CORTEX_M3 = Board(
    name="cortex-m3",
    model="STM32F103xG",
    arch="arm",
    mhz=72,
    code=Range(0x0800_0000, 1 << 20),
    ram=Range(0x2000_0000, 96 << 10),
    port=Range(0x4000_0000, 0x1000),
    taken=(  # STM32F103 reference manual (RM0008), memory map; Cortex-M3 manual for the aliases
        ("code flash as it is seen from address 0", Range(0, 1 << 20)),
        ("system memory", Range(0x1FFF_E000, 0x2000)),
        ("bits of RAM as words", Range(0x2200_0000, 32 << 20)),
        ("peripherals and their bits as words", Range(0x4000_0000, 0x2000_0000)),
        ("registers of the external bus", Range(0xA000_0000, 0x1000)),
        ("processor's own registers", Range(0xE000_0000, 0x2000_0000)),
    ),
    vm_start=0x6000_0000,
    clang=(
        "--target=thumbv7m-none-eabi",
        "-mcpu=cortex-m3",
        "-mfloat-abi=soft",
        "-fshort-enums",
    ),
    gcc=("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb"),
    specs=(),
    headers=Path("/usr/include/newlib"),
    libraries=None,
    archives=("libm.a", "libc.a", "libgcc.a"),
    packages=(
        ("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
        ("/usr/include/newlib/stdio.h", "libnewlib-dev"),
        ("/usr/lib/arm-none-eabi/newlib/libc.a", "libnewlib-arm-none-eabi"),
    ),
)

RV32 = Board(
    name="rv32",
    model="ESP32-C3",
    arch="riscv",
    mhz=160,
    code=Range(0x4200_0000, 4 << 20),
    ram=Range(0x3FC8_0000, 400 << 10),
    port=Range(0x6000_0000, 0x1000),
    taken=(  # ESP32-C3 technical reference manual, chapter 3
        ("flash on the data bus", Range(0x3C00_0000, 8 << 20)),
        ("ROM on the data bus", Range(0x3FF0_0000, 128 << 10)),
        ("ROM", Range(0x4000_0000, 384 << 10)),
        ("RAM on the instruction bus", Range(0x4037_C000, 400 << 10)),
        ("flash on the instruction bus", Range(0x4200_0000, 8 << 20)),
        ("RTC RAM", Range(0x5000_0000, 8 << 10)),
        ("peripherals", Range(0x6000_0000, 0xD_1000)),
    ),
    vm_start=0x8000_0000,
    clang=("--target=riscv32-unknown-elf", *_RV32, "-mno-relax"),
    gcc=("riscv64-unknown-elf-gcc", *_RV32, "-misa-spec=2.2"),
    specs=("--specs=picolibc.specs",),
    headers=_PICOLIBC / "include",
    libraries=_PICOLIBC / "lib/rv32imac/ilp32",
    archives=("libc.a", "libgcc.a"),
    packages=(
        ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
        (str(_PICOLIBC / "include/stdio.h"), "picolibc-riscv64-unknown-elf"),
    ),
)

_AVR = Path("/usr/lib/avr/include")

ATMEGA128 = Board(
    name="atmega128",
    model="ATmega128 with 6 KB of external RAM",
    arch="avr",
    mhz=7.3728,
    code=Range(0, 64 << 10),  # of 128 KB: initial values are read by 16-bit addresses
    ram=Range(0x100, 0x2700),
    port=Range(0xA0, 0x40),
    taken=(("processor's own registers", Range(0, 0x100)),),
    vm_start=0x2800,
    clang=("--target=avr", "-mmcu=atmega128"),
    gcc=("avr-gcc", "-mmcu=atmega128"),
    specs=(),
    headers=_AVR,
    libraries=None,
    archives=("libc.a", "libgcc.a"),
    packages=(
        ("avr-gcc", "gcc-avr"),
        (str(_AVR / "stdio.h"), "avr-libc"),
        ("/usr/include/simavr/sim_avr.h", "libsimavr-dev"),
        ("/usr/include/libelf.h", "libelf-dev"),
    ),
    vm=52 << 10,
    frames=1 << 10,
    frame=128,
    slots=4,
    guards="outline",
    stack=1 << 10,
    native_ram=Range(0x100, 0xFE00),
    native_stack=4 << 10,
    joining=("-Wl,-plugin-opt=mcpu=atmega128",),
    data_offset=0x80_0000,
    address_end=1 << 16,
)

BOARDS = {board.name: board for board in (CORTEX_M3, RV32, ATMEGA128)}
