# SPDX-License-Identifier: Apache-2.0
"""Runs a program natively and in virtual memory on the same input, compares, measures.

Order: native first, its files put back, then virtual, so that what stays behind is what the virtual
run left. Short programs run several times, alternating, and the best wall time of each counts: the
counts and the emulated time are the same every time. A measurement that is broken off puts the
files back as they were before it.
"""

import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from nandwich import run_files, run_guest
from nandwich.run_guest import Outcome

#: Each program is run at most so often.
MOST_ROUNDS = 7
_BUDGET_S = 2.0


@dataclass
class Job:
    """What to run."""

    native: Path | None  # None: without comparison
    virtual: Path
    arguments: tuple[str, ...]  # beginning with the program's name, the same for both
    config: str  # key=value lines, see ports/host/config.h


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


def measure(job: Job, stdin: bytes, folder: Path, *, once: bool = False) -> Result:
    """Run everything below `folder` (which stays until the caller removes it).

    With `once` neither program is run a second time for its wall clock.
    """
    try:
        return _measure(job, stdin, folder, once=once)
    except BaseException:
        # The first native run saw the files as the user left them, so it has the last word.
        for name in ("again-virtual", "again-native", "virtual", "native"):
            run_files.put_back(run_files.read_log(folder / name))
        raise


def _measure(job: Job, stdin: bytes, folder: Path, *, once: bool) -> Result:
    native = None
    started = time.monotonic()
    if job.native is not None:
        native = _native(job, stdin, _sub(folder, "native"))
        run_files.put_back(native.changes)
    virtual = _virtual(job, stdin, _sub(folder, "virtual"), first=True)
    result = Result(
        virtual=virtual,
        native=native,
        differences=[] if native is None else run_guest.differences(native, virtual),
        virtual_ns=_wall(virtual),
        emulation_ns=_emulation(virtual),
        files=sorted(path for path, copy in virtual.changes.after.items() if copy is not None),
    )
    if native is not None:
        result.native_ns = _wall(native)
        if not once and not result.differences and virtual.signal is None:
            _repeat(job, stdin, folder, result, time.monotonic() - started)
    return result


def _repeat(job: Job, stdin: bytes, folder: Path, result: Result, first_s: float) -> None:
    """More rounds while the budget lasts; the files end as the virtual run left them."""
    assert result.native is not None
    spent = first_s
    while result.rounds < MOST_ROUNDS and spent + first_s < _BUDGET_S:
        started = time.monotonic()
        for kind in ("native", "virtual"):
            run_files.put_back(result.native.changes)
            run_files.put_back(result.virtual.changes)
            scratch = _sub(folder, f"again-{kind}")
            if kind == "native":
                again = _native(job, stdin, scratch)
                result.native_ns = _least(result.native_ns, _wall(again))
            else:
                again = _virtual(job, stdin, scratch, first=False)
                if _wall(again) == _least(result.virtual_ns, _wall(again)):
                    result.virtual_ns = _wall(again)
                    result.emulation_ns = _emulation(again)
            shutil.rmtree(scratch)
        result.rounds += 1
        spent += time.monotonic() - started


def _sub(folder: Path, name: str) -> Path:
    below = folder / name
    below.mkdir()
    return below


def _native(job: Job, stdin: bytes, folder: Path) -> Outcome:
    environment = {
        "NANDWICH_NATIVE": str(folder / "report.json"),
        "NANDWICH_TRACK": str(folder),
    }
    with (folder / "stderr").open("wb") as talk:
        assert job.native is not None
        return run_guest.run(
            job.native, job.arguments, folder, environment, stdin=stdin, stderr=talk
        )


def _virtual(job: Job, stdin: bytes, folder: Path, *, first: bool) -> Outcome:
    lines = [job.config, f"stats={folder / 'report.json'}", f"track={folder}"]
    if not first:  # only one run may leave its wear in an image, and its recording
        lines += ["image=", "record="]
    (folder / "config").write_text("\n".join(lines) + "\n")
    environment = {"NANDWICH_CONFIG": str(folder / "config"), "NANDWICH": ""}
    talk = None if first else subprocess.DEVNULL
    return run_guest.run(job.virtual, job.arguments, folder, environment, stdin=stdin, stderr=talk)


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
