# SPDX-License-Identifier: Apache-2.0
"""What a decision costs on the other small processors: tests/targets/decide.c in emulators.

ATmega128: cycles, by simavr. Cortex-M3: instructions, by unicorn. Both are separate programs.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from lab import ROOT, cross
from lab.i8051 import SCHEDULER, SYMBOLS, Marker
from nandwich.errors import RunError

#: The scheduler's code on Cortex-M3, at most. SLACK's was 3,072 until its plan knew of openings
#: ahead, and figures beyond their range were refused.
TEXT_LIMITS = {"rg-edf": 3_072, "slack": 3_328}

_CORTEX = ("-nostartfiles", "--specs=nosys.specs", "-Wl,--gc-sections", "-Wl,-e,main")
_CORTEX_PLACES = ("-Wl,-Ttext=0x8000", "-Wl,-Tdata=0x20000000")
_SIMAVR = Path("/usr/include/simavr/sim_avr.h")


def missing() -> list[str]:
    """Debian and Python packages that are not here."""
    found = []
    for present, package in (
        (shutil.which("avr-gcc"), "gcc-avr"),
        (shutil.which("arm-none-eabi-gcc"), "gcc-arm-none-eabi"),
        (_SIMAVR.exists(), "libsimavr-dev"),
        (importlib.util.find_spec("unicorn"), "unicorn (PyPI)"),
    ):
        if not present:
            found.append(package)
    return found


def sources(policy: str) -> list[Path]:
    """The scheduler's files in a firmware with one family of policies."""
    chosen = "slack" if policy == "slack" else "policy"
    folder = ROOT / "core" / "sched"
    return [folder / f"{name}.c" for name in (*SCHEDULER, chosen)]


def text_bytes(target: cross.Target, policy: str, folder: Path) -> int:
    """Code and constants of the scheduler on a processor."""
    include = ROOT / "core" / "include"
    objects = [cross.compile_object(target, one, folder, include) for one in sources(policy)]
    return sum(cross.object_size(target, one).code for one in objects)


def _call(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _image(target: cross.Target, policy: str, flows: int, folder: Path, *more: str) -> Path:
    output = folder / f"decide-{target.name}.elf"
    flags = ["-DFLAGS=0x39", "-DSLOTS=33U"] if policy == "slack" else []
    options = [one for one in target.options if one not in ("-ffreestanding", "-Werror")]
    files = [ROOT / "tests" / "targets" / "decide.c", *sources(policy)]
    files.append(ROOT / "core" / "base" / "block.c")
    command = [target.compiler, *options, f"-I{ROOT / 'core' / 'include'}"]
    command += [f"-DPOLICY={SYMBOLS[policy]}", f"-DFLOWS={flows}U", *flags]
    _call([*command, *map(str, files), *more, "-o", str(output)])
    return output


def _markers(text: str) -> dict[int, Marker]:
    found = {}
    for line in text.splitlines():
        # simavr has something to say on stdout as well.
        if not line.startswith("marker"):
            continue
        name, *numbers = line.split()
        found[int(name.removeprefix("marker"))] = Marker(*map(int, numbers))
    return found


def atmega128(policy: str, flows: int, folder: Path) -> dict[int, Marker]:
    """Cycles on the ATmega128."""
    harness = ROOT / "tests" / "targets" / "avr" / "run_avr.c"
    program = folder / "run_avr"
    libraries = ["-lsimavr", "-lelf"]
    _call(["cc", "-std=gnu11", "-O2", str(harness), *libraries, "-o", str(program)])
    return _markers(_call([str(program), str(_image(cross.ATMEGA128, policy, flows, folder))]))


def cortex_m3(policy: str, flows: int, folder: Path) -> dict[int, Marker]:
    """Instructions on the Cortex-M3."""
    counter = ROOT / "tests" / "targets" / "cortexm3" / "count.py"
    image = _image(cross.CORTEX_M3, policy, flows, folder, *_CORTEX, *_CORTEX_PLACES)
    return _markers(_call([sys.executable, str(counter), str(image)]))
