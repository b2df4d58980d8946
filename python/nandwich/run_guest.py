# SPDX-License-Identifier: Apache-2.0
"""Runs a built program once and keeps what it did: status, output, files, its own report."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from nandwich import run_files
from nandwich.errors import RunError

_ADDR_NO_RANDOMIZE = 0x0040000
_libc = ctypes.CDLL(None)


@dataclass
class Outcome:
    """One finished run."""

    status: int  # exit status; 128 + signal after a signal, as a shell has it
    signal: str | None
    stdout: Path
    report: dict[str, Any]  # what the program's run time wrote at the end; {} when nothing
    changes: run_files.Changes = field(default_factory=run_files.Changes)


def fixed_addresses() -> None:
    """Between fork and exec: the stack starts at the same place in every run, where the system
    allows that, so that counts repeat exactly."""
    _libc.personality(_ADDR_NO_RANDOMIZE)


def read_input() -> bytes:
    """What every run gets as stdin: all of ours, or nothing when that is a terminal."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read()


def run(
    program: Path,
    arguments: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    *,
    stdin: bytes = b"",
    stderr: int | IO[bytes] | None = None,
) -> Outcome:
    """Run a program to its end; `folder` (empty) receives output, report and file copies.

    The program is told by `environment` to report into `folder`/report.json and to track changed
    files into `folder`. `arguments` begin with the name the program sees as its own.
    """
    (folder / "stdin").write_bytes(stdin)
    stdout = folder / "stdout"
    with (folder / "stdin").open("rb") as source, stdout.open("wb") as sink:
        try:
            done = subprocess.run(
                arguments,
                executable=program,
                stdin=source,
                stdout=sink,
                stderr=stderr,
                env={**os.environ, **environment},
                check=False,
                preexec_fn=fixed_addresses,
            )
        except OSError as error:
            raise RunError(f"{program}: cannot be started: {error.strerror}") from error
    name = None
    status = done.returncode
    if status < 0:
        name = signal.Signals(-status).name
        status = 128 - status
    report_path = folder / "report.json"
    text = report_path.read_text(errors="surrogateescape") if report_path.exists() else "{}"
    report = json.loads(text)
    return Outcome(status, name, stdout, report, run_files.collect(folder))


def differences(native: Outcome, virtual: Outcome) -> list[str]:
    """In what the virtual run differed from the native one; empty: in nothing."""
    found = []
    if (native.status, native.signal) != (virtual.status, virtual.signal):
        found.append(f"exit: native {how(native)}, virtual {how(virtual)}")
    offset = run_files.first_difference(native.stdout, virtual.stdout)
    if offset is not None:
        found.append(f"stdout: differs at byte {offset}")
    found.extend(run_files.differences(native.changes, virtual.changes))
    return found


def how(outcome: Outcome) -> str:
    """How a run ended, in words."""
    return outcome.signal if outcome.signal else f"status {outcome.status}"
