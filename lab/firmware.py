# SPDX-License-Identifier: Apache-2.0
"""The firmware examples: built as their Makefile says, run on an emulated STM32F103.

The emulator (tests/targets/cortexm3/run_board.c) is a program of its own, for unicorn is GPL-2.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT, crates
from lab.photo import photo
from nandwich import paths
from nandwich.errors import RunError

FOLDER = ROOT / "examples" / "firmware"
_TARGETS = ROOT / "tests" / "targets" / "cortexm3"
_EMULATOR = ("run_board.c", "stm32f103_model.c")
_MODELS = ("bus.c", "bus_expect.c", "spi_nand_model.c", "sd_model.c", "onfi_page.c")
_CMOCKA = Path("/usr/include/cmocka.h")
_NEWLIB = Path("/usr/include/newlib")
#: Host seconds that a run may take.
_PATIENCE = 300


@dataclass(frozen=True)
class Example:
    """One of them: the part on its SPI, the RAM of its processor, what it wants to hear first."""

    name: str
    part: str
    ram_bytes: int
    first: str  #: behind a comma for the second start
    #: Instructions after which it has shown all it does: a start from nothing, then others.
    work: tuple[int, ...]


LOGGER = Example("logger", "nand", 0x5000, "f", (24_000_000, 1_700_000, 3_100_000))
DEADLINES = Example("deadlines", "card", 0x5000, "f", (4_000_000, 2_000_000))
BLOCKDEV = Example("blockdev", "nand", 0x5000, "f", (24_000_000, 9_000_000, 5_000_000))
CAMERA = Example("camera", "nand", 0x10000, "", (260_000_000,))
EXAMPLES = (LOGGER, DEADLINES, BLOCKDEV, CAMERA)

#: In the package that carries it.
LITTLEFS = crates.LITTLEFS.folder / "littlefs"


@dataclass(frozen=True)
class Run:
    """What came of all starts."""

    starts: tuple[tuple[str, ...], ...]  #: lines that each of them said, power cut to power cut
    instructions: int  #: of the last one
    milliseconds: int
    stack: int
    violations: str  #: "" or how many and the first one


def missing() -> list[str]:
    """Debian and Python packages that are not here."""
    found = []
    for present, package in (
        (shutil.which("arm-none-eabi-gcc"), "gcc-arm-none-eabi"),
        (_NEWLIB.exists(), "libnewlib-dev"),
        (_CMOCKA.exists(), "libcmocka-dev"),
        (importlib.util.find_spec("unicorn"), "unicorn (PyPI)"),
    ):
        if not present:
            found.append(package)
    return found


def _call(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
        env=None if environment is None else {**os.environ, **environment},
    )
    if done.returncode:
        talk = done.stderr.strip() or done.stdout.strip()[-2000:]
        raise RunError(f"{Path(command[0]).name}: {talk}")
    return done.stdout


def build(example: Example, folder: Path, choice: Path | None = None) -> Path:
    """The image of an example, by its own Makefile; objects of all examples share `folder`. With a
    `choice` of nandwich tune it takes a folder of its own."""
    if example is BLOCKDEV:
        crates.fetch(crates.LITTLEFS)
    variables = [f"O={folder}", f"LITTLEFS={LITTLEFS}"]
    if choice is not None:
        variables.append(f"CHOICE={choice}")
    if example is CAMERA:
        variables += [f"PICTURE={photo()}", f"PASS={paths.compiler_plugin()}"]
    _call(["make", "-s", "-C", str(FOLDER), *variables, example.name])
    return folder / f"{example.name}.elf"


def build_runner(folder: Path) -> Path:
    """The emulator, against the library in unicorn's package."""
    found = importlib.util.find_spec("unicorn")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    library = next((package / "lib").glob("libunicorn.so*"))
    includes = (*paths.include_dirs(), ROOT / "tests" / "bus", package / "include")
    program = folder / "run_board"
    _call(
        [
            *("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"),
            *(f"-I{include}" for include in includes),
            *(str(_TARGETS / name) for name in _EMULATOR),
            *(str(ROOT / "tests" / "bus" / name) for name in _MODELS),
            *(str(paths.static_library(name)) for name in ("nw_twin", "nw_core")),
            *("-lcmocka", str(library), f"-Wl,-rpath,{library.parent}", "-o", str(program)),
        ]
    )
    return program


def run(
    runner: Path,
    image: Path,
    example: Example,
    instructions: int,
    *,
    last: str = "",
    cuts: Sequence[int] = (),
    card_image: Path | None = None,
) -> Run:
    """A start for each cut, losing power after so many instructions, and one to the end."""
    command = [str(runner), str(image), example.part, str(example.ram_bytes), str(instructions)]
    command += [example.first, last, *map(str, cuts)]
    environment = {} if card_image is None else {"CARD_IMAGE": str(card_image)}
    return _parse(_call(command, environment))


def _parse(text: str) -> Run:
    starts: list[list[str]] = []
    facts = {"instructions": 0, "milliseconds": 0, "stack": 0}
    violations = ""
    for line in text.splitlines():
        word, _, rest = line.removeprefix("= ").partition(" ")
        if not line.startswith("= "):
            starts[-1].append(line)
        elif word == "start":
            starts.append([])
        elif word == "end":
            pass
        elif word == "reset":
            starts[-1].append("reset")
        elif word == "violations":
            violations = rest.strip() if not rest.startswith("0 ") else ""
        else:
            facts[word] = int(rest)
    return Run(tuple(tuple(lines) for lines in starts), violations=violations, **facts)


def size(image: Path) -> tuple[int, int, int]:
    """Bytes of text, data and bss."""
    second = _call(["arm-none-eabi-size", str(image)]).splitlines()[1]
    text, data, bss = map(int, re.findall(r"\d+", second)[:3])
    return text, data, bss
