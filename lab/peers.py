# SPDX-License-Identifier: Apache-2.0
"""Other stores on the work that ours is measured by: bench/peers, a Rust program that takes them as
packages and counts what they ask of a flash in RAM.

One price list serves them and us: operations are counted, `energy_pj` turns them into energy.
"""

import functools
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT
from nandwich import _native

#: Energy of a page operation in pJ, fixed and a byte: chip and processor together, measured by
#: Mathur et al., SenSys 2006. Erases are counted apart and cost nothing here.
READ_PJ, READ_BYTE_PJ = 4_070_000, 105_000
PROGRAM_PJ, PROGRAM_BYTE_PJ = 24_540_000, 96_200

#: What is done, in the words of bench/peers: append 12,000 readings of 4 bytes in 200 batches, each
#: durable; read them back; write and read 10 x 80 bytes; overwrite 10,000 random 64 byte values of
#: 64 KB, each durable.
WORKS = ("append", "read-back", "small", "overwrite")

#: What our store is called among the others: alone, over an error-correcting code, and sealed.
OURS, OURS_ECC, OURS_SEALED = "nandwich", "nandwich over ECC", "nandwich, sealed"


@dataclass(frozen=True)
class Shape:
    """A flash chip as all stores get it, with the times of one operation."""

    name: str
    page_bytes: int
    block_pages: int
    blocks: int
    read_ns: int
    read_ps: int  # a byte
    program_ns: int
    program_ps: int  # a byte
    erase_ns: int

    @property
    def is_nor(self) -> bool:
        return self.name.startswith("nor")

    def part(self) -> _native.Part:
        """The same chip as a part of the twin: on NAND 4 programs a page and spare bytes."""
        fields = {
            "name": self.name,
            "kind": "nor" if self.is_nor else "nand",
            "blocks": self.blocks,
            "block_pages": self.block_pages,
            "page_bytes": f"{self.page_bytes} B",
            "spare_bytes": f"{0 if self.is_nor else self.page_bytes // 32 - 1} B",
            "page_programs": "unlimited" if self.is_nor else 4,
            "read_erased": "yes" if self.is_nor else "no",
            "read.time": f"{self.read_ns} ns",
            "read.byte_time": f"{self.read_ps} ps",
            "program.time": f"{self.program_ns} ns",
            "program.byte_time": f"{self.program_ps} ps",
            "erase.time": f"{self.erase_ns} ns",
        }
        part = _native.Part()
        for key, value in fields.items():
            part.set(key, str(value))
        return part


#: Times of a 512 byte page SLC NAND (15 us, 200 us, 2 ms, 50 ns a byte) and of a serial NOR
#: (0.4 ms a page, 45 ms a sector), as datasheets state typical ones.
SHAPES = (
    Shape("nand-512", 512, 32, 128, 15_000, 50_000, 200_000, 50_000, 2_000_000),
    Shape("nand-2k", 2048, 64, 64, 25_000, 50_000, 200_000, 50_000, 2_000_000),
    Shape("nor-256", 256, 16, 128, 1_000, 160_000, 30_000, 1_450_000, 45_000_000),
)


@dataclass(frozen=True)
class Counts:
    """One store's operations for one work on one shape."""

    store: str
    shape: str
    work: str
    reads: int
    bytes_read: int
    programs: int
    bytes_programmed: int
    erases: int
    worst_ns: int = 0
    programmed_again: int = 0  # bytes that were not erased: no NAND takes that
    page_programs: int = 0  # most between two erases

    @property
    def energy_pj(self) -> int:
        return (
            self.reads * READ_PJ
            + self.bytes_read * READ_BYTE_PJ
            + self.programs * PROGRAM_PJ
            + self.bytes_programmed * PROGRAM_BYTE_PJ
        )

    @property
    def energy_mj(self) -> float:
        return self.energy_pj / 1e9


class NotMeasuredError(Exception):
    """The peers cannot run here; the text says why."""


def _libclang_dir() -> str | None:
    """Where clang's library lies, which makes the crate of littlefs its declarations."""
    found = sorted(Path("/usr/lib").glob("llvm-*/lib/libclang*.so*"))
    return str(found[-1].parent) if found else None


def parse(shape: str, text: str) -> list[Counts]:
    """The lines that bench/peers prints."""
    every = []
    for line in text.splitlines():
        values = json.loads(line)
        del values["time_ns"]
        every.append(Counts(store=values.pop("peer"), shape=shape, **values))
    return every


@functools.cache
def program() -> Path:
    """bench/peers, compiled; the first time this fetches and compiles packages (two minutes)."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise NotMeasuredError("no cargo here; install Rust to compare")
    folder = ROOT / "bench" / "peers"
    target = ROOT / "build" / "peers"
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target), CARGO_TERM_COLOR="never")
    if "LIBCLANG_PATH" not in environment and (libclang := _libclang_dir()):
        environment["LIBCLANG_PATH"] = libclang
    try:
        done = subprocess.run(
            [cargo, "build", "--release", "--locked", "--quiet"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
    except subprocess.TimeoutExpired as error:
        raise NotMeasuredError("cargo took over 15 minutes") from error
    if done.returncode != 0:
        last = [line for line in done.stderr.splitlines() if line.strip()] or ["no word"]
        why = next((line for line in last if line.startswith("error")), last[-1])
        raise NotMeasuredError(f"cargo build: {why}")
    return target / "release" / "peers"


def measure(shape: Shape) -> list[Counts]:
    """Every peer's counts on one shape (ten to thirty seconds); NotMeasuredError."""
    words = [
        shape.page_bytes,
        shape.block_pages,
        shape.blocks,
        shape.read_ns,
        shape.read_ps,
        shape.program_ns,
        shape.program_ps,
        shape.erase_ns,
    ]
    try:
        done = subprocess.run(
            [program(), *map(str, words)], capture_output=True, text=True, check=False, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotMeasuredError(str(error)) from error
    if done.returncode != 0:
        raise NotMeasuredError(f"bench/peers: {(done.stderr.splitlines() or ['no word'])[0]}")
    return parse(shape.name, done.stdout)
