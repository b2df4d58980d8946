# SPDX-License-Identifier: Apache-2.0
"""The scheduler on an 8051: builds ports/8051 with sdcc and runs it in our instruction simulator.

The CC1010 has 128 bytes of internal and 2024 bytes of external RAM; the linker and the simulator
hold the firmware to that.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT
from nandwich.errors import RunError

XRAM_BYTES = 2024
IRAM_BYTES = 128

#: The scheduler's code, at most. SLACK's was 9,216 until its plan knew of openings ahead, of reads
#: and of further groups: without these it missed what G-EDF meets.
TEXT_LIMITS = {"rg-edf": 9_216, "slack": 10_240}

_SDCC = (
    "sdcc",
    "-mmcs51",
    "--model-large",
    "--std-c11",
    "--Werror",
    "--opt-code-size",
    "--noinvariant",
    "--noinduction",
)
#: Compiled with fewer temporaries in the scarce internal RAM, for some more code.
_SPARING = ("flow", "node", "sd_spi")

#: The scheduler's files whatever the policy; it comes with slack.c or with policy.c.
SCHEDULER = ("open", "submit", "flow", "heap", "transfer")
#: What a firmware needs beside its own file.
_PROGRAMS = {
    "node": ("ports/8051/node.c", "ports/8051/sd_spi.c"),
    "decide": ("tests/targets/decide.c",),
}
_SIMULATOR = ("tests/targets/8051/run8051.c", "tests/targets/8051/sim8051.c")

#: The policies as C names them.
SYMBOLS = {
    "fifo": "nw_sched_fifo",
    "edf": "nw_sched_edf",
    "g-edf": "nw_sched_gedf",
    "rg-edf": "nw_sched_rgedf",
    "slack": "nw_sched_slack",
}


@dataclass(frozen=True)
class Image:
    """A linked firmware."""

    hex_file: Path
    addresses: dict[str, int]  # of its global data, without the leading underscore
    scheduler_code: int  # bytes of the scheduler's own files
    xram: int  # bytes of external RAM taken in all


@dataclass(frozen=True)
class Marker:
    """Clocks between two writes of port P1."""

    count: int
    least: int
    most: int
    mean: int


@dataclass(frozen=True)
class Run:
    """What the simulator reports."""

    halted: bool
    values: dict[str, int]
    markers: dict[int, Marker]
    counts: tuple[int, ...]


def present() -> bool:
    """Whether firmware can be built here."""
    return shutil.which("sdcc") is not None and shutil.which("cc") is not None


def _call(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise RunError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def build(program: str, policy: str, folder: Path, defines: tuple[str, ...] = ()) -> Image:
    """Compile and link `program` ("node" or "decide") for one policy into `folder`."""
    chosen = "slack" if policy == "slack" else "policy"
    own = [ROOT / "core" / "sched" / f"{name}.c" for name in (*SCHEDULER, chosen)]
    others = [ROOT / path for path in (*_PROGRAMS[program], "core/base/block.c")]
    includes = [f"-I{ROOT / 'core' / 'include'}", f"-I{ROOT / 'ports' / '8051'}"]
    options = [*includes, f"-DPOLICY={SYMBOLS[policy]}", *defines]
    objects = []
    code = 0
    for source in (*others, *own):
        output = folder / f"{source.stem}.rel"
        one = [*_SDCC, *options, *(["--nogcse"] if source.stem in _SPARING else [])]
        _call([*one, "-c", str(source), "-o", str(output)], folder)
        objects.append(str(output))
        code += _code_bytes(output) if source in own else 0
    hex_file = folder / f"{program}.ihx"
    limits = ["--iram-size", str(IRAM_BYTES), "--xram-size", str(XRAM_BYTES)]
    _call([*_SDCC, *limits, "--code-size", "32768", *objects, "-o", str(hex_file)], folder)
    return Image(
        hex_file,
        _addresses(hex_file.with_suffix(".map")),
        code,
        _xram_bytes(hex_file.with_suffix(".mem")),
    )


def _code_bytes(output: Path) -> int:
    areas = re.findall(r"^A (?:CSEG|CONST) size ([0-9A-F]+)", output.read_text(), re.MULTILINE)
    return sum(int(size, 16) for size in areas)


def _addresses(map_file: Path) -> dict[str, int]:
    found = re.findall(r"^\s*D:\s+([0-9A-F]{8})\s+_(\w+)", map_file.read_text(), re.MULTILINE)
    return {name: int(address, 16) for address, name in found}


def _xram_bytes(mem_file: Path) -> int:
    match = re.search(r"EXTERNAL RAM\s+\S+\s+\S+\s+(\d+)", mem_file.read_text())
    assert match is not None, "sdcc's memory report has changed its form"
    return int(match[1])


def data_sizes(image: Image) -> dict[str, int]:
    """Bytes of the firmware's global data, each up to the next one in memory."""
    text = image.hex_file.with_suffix(".map").read_text()
    places = sorted(
        int(found, 16) for found in re.findall(r"^\s*D:\s+([0-9A-F]{8})", text, re.MULTILINE)
    )
    sizes = {}
    for name, start in image.addresses.items():
        after = [place for place in places if place > start]
        sizes[name] = after[0] - start if after else 0
    return sizes


def build_simulator(folder: Path) -> Path:
    """Compile the simulator with its SD card; the program to call."""
    output = folder / "run8051"
    sources = [str(ROOT / path) for path in _SIMULATOR]
    _call(["cc", "-std=c11", "-O2", "-Wall", "-Wextra", *sources, "-o", str(output)], folder)
    return output


def run(
    simulator: Path,
    image: Image,
    *,
    clocks: int,
    counts: tuple[str, int] = ("status", 0),
    table: str = "fast",
    card: Path | None = None,
) -> Run:
    """Run a firmware for at most `clocks`; `counts` names 32-bit words to read at the end."""
    name, size = counts
    command = [str(simulator), str(image.hex_file), table, str(clocks)]
    command += [str(image.addresses.get(name, 0)), str(size)]
    command += [str(card)] if card is not None else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise RunError(f"run8051: {done.stderr.strip()}")
    values: dict[str, int] = {}
    markers: dict[int, Marker] = {}
    words: tuple[int, ...] = ()
    for line in done.stdout.splitlines():
        key, *rest = line.split()
        numbers = [int(word) for word in rest]
        if key == "counts":
            words = tuple(numbers)
        elif key.startswith("marker"):
            markers[int(key.removeprefix("marker"))] = Marker(*numbers)
        else:
            values[key] = numbers[0]
    return Run(done.returncode == 0, values, markers, words)
