# SPDX-License-Identifier: Apache-2.0
"""What guards cost on an ATmega128, in exact cycles: tests/targets/avr/access.c under simavr."""

import subprocess
from pathlib import Path

from lab import ROOT, cross
from nandwich.errors import RunError

MHZ = 7.3728
#: Names of the marks of access.c behind the first, which is a mark alone.
_MARKS = {2: "slot.load", 5: "slot.store", 3: "aside.load", 4: "miss.load", 6: "miss.store"}
_FREE = ("-ffreestanding", "-Werror", "-Wpedantic")


def _sources() -> list[Path]:
    vm = ("bulk", "frames", "policy", "slots", "table", "vm", "writeback")
    base = [ROOT / "core/base" / f"{one}.c" for one in ("block", "ram")]
    own = [ROOT / "tests/targets/avr/access.c", ROOT / "ports/guest/misses.c"]
    return [*own, *(ROOT / "core/vm" / f"{one}.c" for one in vm), *base]


def _call(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def accesses(folder: Path) -> dict[str, int]:
    """Cycles of one access by a guard that is a call, the access included."""
    harness, image = folder / "run_avr", folder / "access.elf"
    source = ROOT / "tests" / "targets" / "avr" / "run_avr.c"
    libraries = ["-lsimavr", "-lelf"]
    _call(["cc", "-std=gnu11", "-O2", str(source), *libraries, "-o", str(harness)])
    options = [one for one in cross.ATMEGA128.options if one not in _FREE]
    include = [f"-I{ROOT / one}" for one in ("core/include", "ports/guest/include")]
    command = [cross.ATMEGA128.compiler, *options, "-DNW_GUEST_LOOKASIDE_MAX=4U", *include]
    _call([*command, "-Wl,--gc-sections", *map(str, _sources()), "-o", str(image)])
    marks = {}
    for line in _call([str(harness), str(image)]).splitlines():
        name, *numbers = line.split()
        if name.startswith("marker"):
            marks[int(name.removeprefix("marker"))] = [int(one) for one in numbers]
    if any(least != most for _, least, most, _ in marks.values()):
        raise RunError(f"accesses on the ATmega128 vary: {marks}")
    return {name: marks[mark][1] - marks[1][1] for mark, name in _MARKS.items()}


def us(cycles: int) -> float:
    """At the clock of a Mica2."""
    return round(cycles / MHZ, 2)
