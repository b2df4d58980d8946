# SPDX-License-Identifier: Apache-2.0
"""What one call of the run time by a guard takes on small processors, to the instruction.

tests/targets/vm_misses.c in unicorn, built by the board's own compiler as `run --target` does.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import ROOT
from lab.device.boards import CORTEX_M3, RV32, Board
from nandwich.errors import RunError

BOARDS = (CORTEX_M3, RV32)

_CORE = ("table", "policy", "writeback", "frames", "bulk", "slots", "vm", "heap", "heap_block")
_GUEST = ("guest", "misses", "memory", "alloc", "string", "hide")
_INCLUDE = ("core/include", "core", "ports/guest/include", "ports/guest")
#: Of the C library's abort(), which nothing calls.
_ABSENT = ("_exit", "kill", "getpid", "_kill", "_getpid")


def _call(command: Sequence[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{Path(command[0]).name}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _sources() -> list[Path]:
    core, guest, targets = ROOT / "core", ROOT / "ports" / "guest", ROOT / "tests" / "targets"
    return [
        *(core / "vm" / f"{one}.c" for one in _CORE),
        *(core / "base" / f"{one}.c" for one in ("block", "error", "ram")),
        *(guest / f"{one}.c" for one in _GUEST),
        targets / "cortexm3" / "vm_start.c",
        targets / "vm_misses.c",
    ]


def counts(board: Board, folder: Path, emulator: Path) -> dict[str, int]:
    """Instructions by case, in the program's order; the emulator is vm_cost.build_emulator()'s."""
    flags = ["-std=gnu11", "-Os", "-w", "-ffunction-sections", "-D_GNU_SOURCE", "-DVIRTUAL"]
    include = [f"-I{ROOT / one}" for one in _INCLUDE]
    image = folder / f"misses-{board.name}.elf"
    script = ROOT / "tests" / "targets" / "cortexm3" / "vm.ld"
    link = ["-nostdlib", "-Wl,--gc-sections", f"-Wl,-T,{script}"]
    link += [f"-Wl,--defsym={one}=0" for one in _ABSENT]
    objects: list[Path] = []
    for source in _sources():
        objects.append(folder / f"misses-{board.name}-{source.stem}.o")
        compiler = [*board.gcc, *board.specs, *flags, *include]
        _call([*compiler, "-c", source, "-o", objects[-1]])
    libraries = [board.library(name) for name in ("libc.a", "libgcc.a")]
    _call([*board.gcc, *link, *objects, *libraries, *libraries, "-o", image])
    lines = _call([emulator, image]).splitlines()[:-1]
    return {name: int(number) for name, number in (line.rsplit(" ", 1) for line in lines)}
