# SPDX-License-Identifier: Apache-2.0
"""Compiles the device core for the processors it promises to run on, and measures the result.

Every compiler is called with warnings as errors, so a compile that works is also a check.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT
from nandwich.errors import RunError

_GCC_WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Wvla",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Werror",
)
_GCC = ("-std=c11", "-Os", "-ffreestanding", "-ffunction-sections", "-fdata-sections")

_COMPLAINT = re.compile(r"^.*:\d+:.*(?:error|warning).*$", re.MULTILINE)


@dataclass(frozen=True)
class Target:
    """One processor: its compiler and options, and the `size` program of its tool chain."""

    name: str
    compiler: str
    options: tuple[str, ...]
    size: str = ""

    @property
    def present(self) -> bool:
        return shutil.which(self.compiler) is not None


CORTEX_M3 = Target(
    "cortex-m3",
    "arm-none-eabi-gcc",
    (*_GCC, *_GCC_WARNINGS, "-mcpu=cortex-m3", "-mthumb"),
    "arm-none-eabi-size",
)
ATMEGA128 = Target("atmega128", "avr-gcc", (*_GCC, *_GCC_WARNINGS, "-mmcu=atmega128"), "avr-size")
RV32 = Target(
    "rv32",
    "riscv64-unknown-elf-gcc",
    (
        *_GCC,
        *_GCC_WARNINGS,
        "-march=rv32imac",
        "-mabi=ilp32",
        "-misa-spec=2.2",
        "--specs=picolibc.specs",
    ),
    "riscv64-unknown-elf-size",
)
HOST_GCC = Target("host-gcc", "gcc", (*_GCC, *_GCC_WARNINGS), "size")
HOST_CLANG = Target("host-clang", "clang-19", (*_GCC, *_GCC_WARNINGS), "size")
I8051 = Target("8051", "sdcc", ("-mmcs51", "--model-large", "--std-c11", "--Werror"))

#: Those that all of core/ must compile for; the 8051 takes a part of it only.
WHOLE_CORE = (HOST_GCC, HOST_CLANG, CORTEX_M3, ATMEGA128, RV32)


@dataclass(frozen=True)
class Size:
    """Bytes of an object file: code with constants, and RAM that exists before anybody asks."""

    code: int
    static_ram: int


def compile_object(target: Target, source: Path, folder: Path, include: Path) -> Path:
    """Compile one file into `folder`; RunError carries the compiler's own first complaint."""
    suffix = ".rel" if target is I8051 else ".o"
    output = folder / f"{source.parent.name}-{source.stem}{suffix}"
    command = [target.compiler, *target.options, f"-I{include}", "-c", str(source)]
    done = subprocess.run(
        [*command, "-o", str(output)], capture_output=True, text=True, check=False, cwd=folder
    )
    talk = done.stderr + done.stdout
    if done.returncode:
        complaint = _COMPLAINT.search(talk)
        raise RunError(f"{target.name}: {complaint.group(0) if complaint else talk.strip()}")
    return output


def object_size(target: Target, output: Path) -> Size:
    """Section sizes of one object file, by the tool chain's `size -A`."""
    done = subprocess.run(
        [target.size, "-A", str(output)], capture_output=True, text=True, check=True
    )
    code = static_ram = 0
    for name, count in re.findall(r"^(\.\S+)\s+(\d+)", done.stdout, re.MULTILINE):
        if name.startswith((".text", ".rodata", ".progmem")):
            code += int(count)
        elif name.startswith((".data", ".bss")):
            static_ram += int(count)
    return Size(code, static_ram)


def sources_size(target: Target, sources: Sequence[Path]) -> Size:
    """Of several files of core/ together."""
    code = static_ram = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            output = compile_object(target, source, Path(folder), ROOT / "core" / "include")
            measured = object_size(target, output)
            code += measured.code
            static_ram += measured.static_ram
    return Size(code, static_ram)
