# SPDX-License-Identifier: Apache-2.0
"""Runs a built program once and keeps what it did: status, output, files, its own report."""

import json
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from nandwich.run import changed_files, watcher


@dataclass
class Outcome:
    """One finished run."""

    status: int  # exit status; 128 + signal after a signal, as a shell has it
    signal: str | None
    stdout: Path
    report: dict[str, Any]  # what the program's run time wrote at the end; {} when nothing
    #: Holds the files: they are put back, or stay as the run left them. None: it was not watched.
    watched: watcher.Watched | None = None
    changes: changed_files.Changes = field(default_factory=changed_files.Changes)

    def keep(self) -> None:
        """The files stay as the run left them."""
        if self.watched is not None:
            self.watched.keep()

    def put_back(self) -> None:
        """The files are as they were before the run."""
        if self.watched is not None:
            self.watched.put_back()


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
    watch: bool = True,
) -> Outcome:
    """Run a program to its end; `folder` (empty) receives output, report and file copies.

    The program is told by `environment` to report into `folder`/report.json. `arguments` begin with
    the name the program sees as its own. The files it changed are held until the outcome says keep
    or put_back; when this raises they are put back. UnwatchedError: nothing was run.
    """
    (folder / "stdin").write_bytes(stdin)
    with (folder / "stdin").open("rb") as source, (folder / "stdout").open("wb") as sink:
        watched = watcher.Watched(
            program,
            arguments,
            folder,
            stdin=source,
            stdout=sink,
            stderr=stderr,
            environment={**os.environ, **environment},
            watch=watch,
        )
    try:
        return _outcome(watched.wait(), folder, watched)
    except BaseException:
        watched.put_back()
        raise


def _signal_name(number: int) -> str:
    """Those for the use of programs have no name of their own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _outcome(status: int, folder: Path, watched: watcher.Watched) -> Outcome:
    name = None
    if status < 0:
        name = _signal_name(-status)
        status = 128 - status
    report_path = folder / "report.json"
    text = report_path.read_text(errors="surrogateescape") if report_path.exists() else "{}"
    changes = changed_files.collect(folder)
    return Outcome(status, name, folder / "stdout", json.loads(text), watched, changes)


def differences(native: Outcome, virtual: Outcome) -> list[str]:
    """In what the virtual run differed from the native one; empty: in nothing."""
    found = []
    if (native.status, native.signal) != (virtual.status, virtual.signal):
        found.append(f"exit: native {how(native)}, virtual {how(virtual)}")
    offset = changed_files.first_difference(native.stdout, virtual.stdout)
    if offset is not None:
        found.append(f"stdout: differs at byte {offset}")
    found.extend(changed_files.differences(native.changes, virtual.changes))
    return found


def how(outcome: Outcome) -> str:
    """How a run ended, in words."""
    return outcome.signal if outcome.signal else f"status {outcome.status}"
