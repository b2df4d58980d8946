# SPDX-License-Identifier: Apache-2.0
"""Runs a program natively and in virtual memory on the same input, compares, measures.

Order: native first, its files put back, then virtual. Short programs run several times,
alternating, and the best wall time of each counts: the counts and the emulated time are the same
every time. Every run but the last has its files put back, so that what stays behind is what the
virtual run left. A measurement that is broken off leaves them as they were before it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from nandwich.run import changed_files, guest
from nandwich.run.guest import Outcome
from nandwich.run.watcher import UnwatchedError

#: What looks at the files a run changed, before its outcome is accepted.
Check = Callable[[changed_files.Changes], None]
#: Each program is run at most so often.
MOST_ROUNDS = 7
_UNWATCHED = (
    "nandwich: this system does not let a program's file calls be watched ({}; Linux 5.5 and "
    "seccomp are needed): it runs once, in virtual memory alone, and its files stay as it leaves "
    "them\n"
)
_BUDGET_S = 2.0


@dataclass
class Job:
    """What to run."""

    native: Path | None  # None: without comparison
    virtual: Path
    arguments: tuple[str, ...]  # beginning with the program's name, the same for both
    config: str  # key=value lines, see ports/host/config.h
    inputs: tuple[Path, ...] = ()  # what the compiler read
    watch: bool = True  # False: the files stay as the program leaves them


@dataclass
class Result:
    """What came of it."""

    virtual: Outcome
    native: Outcome | None
    differences: list[str]
    native_ns: int | None = None
    virtual_ns: int | None = None
    emulation_ns: int = 0  # of the virtual run that was quickest
    rounds: int = 1
    files: list[Path] = field(default_factory=list)

    @property
    def executions(self) -> dict[str, int]:
        """How often each program was run."""
        return {"native": 0 if self.native is None else self.rounds, "virtual": self.rounds}


def _fine(_changes: changed_files.Changes) -> None:
    """No objection."""


def measure(
    job: Job, stdin: bytes, folder: Path, *, once: bool = False, check: Check = _fine
) -> Result:
    """Run everything below `folder` (which stays until the caller removes it).

    With `once` neither program is run a second time for its wall clock. `check` sees what each
    program changed first; it may raise, and the files are put back. Where files cannot be watched
    only the virtual program runs, once: nothing is changed twice.
    """
    try:
        return _measure(job, stdin, folder, once=once, check=check)
    except UnwatchedError as error:
        sys.stderr.write(_UNWATCHED.format(error))
        sys.stderr.flush()
        alone = replace(job, native=None, watch=False)
        return _measure(alone, stdin, _sub(folder, "alone"), once=True, check=check)


def _measure(job: Job, stdin: bytes, folder: Path, *, once: bool, check: Check) -> Result:
    started = time.monotonic()
    native = None
    if job.native is not None:
        native = _native(job, stdin, _sub(folder, "native"))
        native.put_back()
        check(native.changes)
    virtual = last = _virtual(job, stdin, _sub(folder, "virtual"), first=True)
    try:
        check(virtual.changes)
        result = _compare(native, virtual)
        spent = first_s = time.monotonic() - started
        may_repeat = native is not None and not once and virtual.signal is None
        while (
            may_repeat
            and not result.differences
            and result.rounds < MOST_ROUNDS
            and spent + first_s < _BUDGET_S
        ):
            last.put_back()
            last = _again(job, stdin, folder, result)
            spent = time.monotonic() - started
        last.keep()
    except BaseException:
        last.put_back()
        raise
    return result


def _compare(native: Outcome | None, virtual: Outcome) -> Result:
    return Result(
        virtual=virtual,
        native=native,
        differences=[] if native is None else guest.differences(native, virtual),
        native_ns=None if native is None else _wall(native),
        virtual_ns=_wall(virtual),
        emulation_ns=_emulation(virtual),
        files=sorted(path for path, copy in virtual.changes.after.items() if copy is not None),
    )


def _again(job: Job, stdin: bytes, folder: Path, result: Result) -> Outcome:
    """One more round; the files are as the virtual run left them."""
    shutil.rmtree(folder / "again", ignore_errors=True)
    scratch = _sub(folder, "again")
    native = _native(job, stdin, _sub(scratch, "native"))
    native.put_back()
    result.native_ns = _least(result.native_ns, _wall(native))
    virtual = _virtual(job, stdin, _sub(scratch, "virtual"), first=False)
    if _wall(virtual) == _least(result.virtual_ns, _wall(virtual)):
        result.virtual_ns = _wall(virtual)
        result.emulation_ns = _emulation(virtual)
    result.rounds += 1
    return virtual


def _sub(folder: Path, name: str) -> Path:
    below = folder / name
    below.mkdir()
    return below


def _native(job: Job, stdin: bytes, folder: Path) -> Outcome:
    environment = {"NANDWICH_NATIVE": str(folder / "report.json")}
    with (folder / "stderr").open("wb") as talk:
        assert job.native is not None
        return guest.run(job.native, job.arguments, folder, environment, stdin=stdin, stderr=talk)


def _virtual(job: Job, stdin: bytes, folder: Path, *, first: bool) -> Outcome:
    lines = [job.config, f"stats={folder / 'report.json'}"]
    if not first:  # only one run may leave its wear in an image, and its recordings
        lines += ["image=", "record=", "accesses=", "timeline="]
    (folder / "config").write_bytes(os.fsencode("\n".join(lines) + "\n"))
    environment = {"NANDWICH_CONFIG": str(folder / "config"), "NANDWICH": ""}
    talk = None if first else subprocess.DEVNULL
    return guest.run(
        job.virtual,
        job.arguments,
        folder,
        environment,
        stdin=stdin,
        stderr=talk,
        watch=job.watch,
    )


def _wall(outcome: Outcome) -> int | None:
    host_ns = outcome.report.get("host_ns")
    if isinstance(host_ns, dict):
        host_ns = host_ns.get("program")
    return host_ns if isinstance(host_ns, int) else None


def _emulation(outcome: Outcome) -> int:
    host_ns = outcome.report.get("host_ns", {})
    return int(host_ns.get("emulation", 0))


def _least(a: int | None, b: int | None) -> int | None:
    known = [value for value in (a, b) if value is not None]
    return min(known, default=None)


def scratch() -> "tempfile.TemporaryDirectory[str]":
    """A folder for one measurement, gone afterwards."""
    return tempfile.TemporaryDirectory(prefix="nandwich-run-")
