# SPDX-License-Identifier: Apache-2.0
"""Firmware of tests/targets/cortexm3, built for the Cortex-M3 and heard in QEMU."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import ROOT, cross
from nandwich.errors import RunError

FIRMWARE = ROOT / "tests" / "targets" / "cortexm3"
_EMULATOR = "qemu-system-arm"
_PATIENCE_S = 120


def missing() -> list[str]:
    """Debian packages that are not here."""
    packages = {cross.CORTEX_M3.compiler: "gcc-arm-none-eabi", _EMULATOR: "qemu-system-arm"}
    return [package for program, package in packages.items() if shutil.which(program) is None]


def _say(command: Sequence[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    if done.returncode:
        raise RunError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout + done.stderr  # semihosting writes to stderr


def build(
    folder: Path,
    sources: Sequence[Path],
    *options: str,
    ram_start: int = 0x2000_0000,
    ram_bytes: int = 0x20_0000,
) -> Path:
    """The image of what defines firmware_main(); RunError says what is not here, or is wrong."""
    if lacking := missing():
        raise RunError(f"missing: {', '.join(lacking)}; `nandwich doctor` tells how to get them")
    program = folder / "firmware.elf"
    _say(
        [
            cross.CORTEX_M3.compiler,
            *(option for option in cross.CORTEX_M3.options if option != "-Wpedantic"),
            *options,
            *(f"-I{folder}" for folder in (ROOT / "core" / "include", FIRMWARE)),
            *("-nostartfiles", "--specs=nosys.specs", f"-T{FIRMWARE / 'firmware.ld'}"),
            "-Wl,--gc-sections",
            f"-Wl,--defsym=ram_start={ram_start},--defsym=ram_bytes={ram_bytes}",
            FIRMWARE / "firmware.c",
            *sources,
            *("-o", program),
        ]
    )
    return program


def run(program: Path, *board: str) -> list[tuple[str, int]]:
    """What the firmware says on a board of QEMU's, words and numbers; the last is its end."""
    command = [_EMULATOR, "-nographic", "-monitor", "none", "-serial", "none", "-M", *board]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(program)]
    said = re.findall(r"^([\w-]+) (-?\d+)$", _say(command), re.MULTILINE)
    return [(word, int(number)) for word, number in said]
