# SPDX-License-Identifier: Apache-2.0
"""Builds the C programs of tests/compiler natively and into virtual memory, and runs both.

The virtual one runs over a RAM block device (tests/compiler/support/start.c): no chip, no
translation layer, no host start-up is involved.
"""

import functools
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nandwich import paths
from nandwich.compiler import link_errors, profiles, toolchain

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "compiler"
#: A profile that `in_mode` makes, of a native run.
_COUNTED = "counted"
#: Ways to build a random program, whatever frames and flags its seed gives it. They are nine, and
#: seeds choose among seven or eight of those: seeds in a row meet each pair.
MODES: tuple[dict[str, Any], ...] = (
    {},
    {"whole": False},
    {"profile": _COUNTED},
    {"statics_bytes": 256},
    {"statics_bytes": 4 << 10},
    {"statics_bytes": 1 << 20},
    {"lookaside": 256},
    {"profile": _COUNTED, "statics_bytes": 4 << 10, "lookaside": 256},
    {"whole": False, "lookaside": 256},
)


@dataclass(frozen=True)
class Result:
    status: int
    out: bytes
    err: str

    @property
    def stats(self) -> dict[str, int]:
        """What start.c prints with NW_TEST_STATS=1."""
        words = (line.split() for line in self.err.splitlines())
        return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdecimal()}


@functools.cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="nandwich-guests-")


@functools.cache
def start_object() -> Path:
    """Start-up for compiler tests, compiled once a session."""
    target = Path(_kept().name) / "start.o"
    includes = [f"-I{ROOT / 'core/include'}", f"-I{ROOT / 'ports/guest/include'}"]
    source = str(SOURCES / "support" / "start.c")
    command = [toolchain.CLANG, "-O1", "-c", source, *includes, "-o", str(target)]
    subprocess.run(command, check=True)
    return target


def build_native(sources: Sequence[Path], target: Path, flags: Sequence[str] = ("-O1",)) -> Path:
    include = f"-I{ROOT / 'core/include'}"
    command = [toolchain.CLANG, *flags, include, "-w", *map(str, sources), "-o", str(target), "-lm"]
    subprocess.run(command, check=True)
    return target


def compile_virtual(
    sources: Sequence[Path],
    target: Path,
    flags: Sequence[str] = ("-O2",),
    guest: toolchain.Guest | None = None,
) -> subprocess.CompletedProcess[str]:
    """Compile and link; the caller looks at the outcome."""
    guest = guest or toolchain.Guest()
    command = [toolchain.CLANG, *flags, "-w", *map(str, sources), "-o", str(target)]
    command += toolchain.compile_flags(guest) + toolchain.link_flags(guest, start_object())
    return subprocess.run(command, capture_output=True, text=True, check=False)


def build_virtual(
    sources: Sequence[Path],
    target: Path,
    flags: Sequence[str] = ("-O2",),
    guest: toolchain.Guest | None = None,
) -> Path:
    done = compile_virtual(sources, target, flags, guest)
    assert done.returncode == 0, link_errors.explain(done.stderr)
    return target


def _profile(source: Path, flags: Sequence[str]) -> Path:
    """What a native run counts."""
    program, raw, merged = (source.with_suffix(end) for end in (".count", ".raw", ".counts"))
    bitcode, _ = toolchain.native_program_flags(flags)
    counting_flags = [*bitcode, *toolchain.counting_flags(flags)]
    build_native([source], program, [*flags, *counting_flags])
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(raw)}
    subprocess.run([program], check=True, capture_output=True, env=environment)
    subprocess.run([profiles.TOOL, "merge", str(raw), "-o", str(merged)], check=True)
    return merged


def in_mode(
    mode: int, guest: toolchain.Guest, source: Path, flags: Sequence[str]
) -> toolchain.Guest:
    """`guest` in one of MODES; `mode` may be any number."""
    asked = replace(guest, **MODES[mode % len(MODES)])
    if asked.profile:
        asked = replace(asked, profile=str(_profile(source, flags)))
    return asked


def run(
    program: Path,
    *arguments: str,
    stdin: bytes = b"",
    frames: int | None = None,
    fail: int | None = None,
    timeout: float = 60,
) -> Result:
    """fail: the device operation from which on all fail."""
    environment = {**os.environ, "NW_TEST_STATS": "1", "TZ": "UTC"}
    if fail is not None:
        environment["NW_TEST_FAIL"] = str(fail)
    if frames is not None:
        environment["NW_TEST_FRAMES"] = str(frames)
    done = subprocess.run(
        [program, *arguments],
        input=stdin,
        capture_output=True,
        env=environment,
        cwd=program.parent,
        timeout=timeout,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def plugin() -> Path:
    return paths.compiler_plugin()
