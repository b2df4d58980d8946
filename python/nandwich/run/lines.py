# SPDX-License-Identifier: Apache-2.0
"""Where in its source a program ended, by its line table."""

import re
import shutil
import subprocess
from pathlib import Path

_SYMBOLIZER = "llvm-symbolizer-19"


def told(program: Path, pc: int, *, is_call: bool) -> str:
    """` at file:line` where the program ended; `is_call`: pc is where a call comes back to."""
    place = at(program, pc - 1 if is_call else pc) if pc else ""
    return f" at {place}" if place else ""


def at(program: Path, pc: int) -> str:
    """`file:line` of an address in a program; empty where there is no line table, or no tool. An
    optimiser may join lines: code that is of several has none, and only the file is told."""
    if shutil.which(_SYMBOLIZER) is None:
        return ""
    command = [_SYMBOLIZER, f"--obj={program}", "--output-style=GNU", hex(pc)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    place = done.stdout.splitlines()[1] if done.stdout.count("\n") > 1 else ""
    found = re.fullmatch(
        r"(?!\?\?:)((.+):[0-9]+)(?: \(discriminator [0-9]+\))?", place.rpartition("/")[2]
    )
    if found is None:
        return ""
    return (
        f"{found[2]} (of several lines: -O0 tells which)" if found[1].endswith(":0") else found[1]
    )
