# SPDX-License-Identifier: Apache-2.0
"""What a worker of dask.distributed does for a sweep: it keeps inputs and plays points.

Each thread of a worker plays in a process beside it, which may die and may change its folder. The
inputs lie in the cache by their hash. A box is a folder with links to them where the driver has
them: the same words of a command line name the same files there.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from nandwich import paths
from nandwich.cli import output
from nandwich.cli.sweep.point import Point, code_version, run_point
from nandwich.replay import accesses, pool

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)
#: A program: `dask` that ends with the process which starts it.
DASK = f"""\
import {__name__} as worker
worker.end_with_parent()
from dask.__main__ import main
main()
"""


@dataclass(frozen=True)
class Job:
    """A point as it travels."""

    point: Point
    folder: str  # the driver's current one
    files: tuple[tuple[str, str], ...]  # paths from its root, and the SHA-256 of each
    code: str  # code_version() there


@dataclass(frozen=True)
class Missing:
    """The worker at `address` does not have these inputs: nothing was played."""

    address: str
    hashes: tuple[str, ...]


@dataclass(frozen=True)
class Died:
    """The process that played the point is gone."""

    why: str


@dataclass(frozen=True)
class OtherCode:
    """The worker at `address` would give other results: nothing was played."""

    address: str
    code: str


Answer = pool.Outcome | Missing | Died | OtherCode


def play(job: Job) -> Answer:
    """The task: plays a point on this worker."""
    from distributed import get_worker

    address = get_worker().address
    if missing := sorted({sha256 for _, sha256 in job.files if not has(sha256)}):
        return Missing(address, tuple(missing))
    player = getattr(_thread, "player", None) or _Player()
    if player.code != job.code:
        return OtherCode(address, player.code)
    said = player.play(job)
    _thread.player = None if isinstance(said, Died) else player
    return said


def has(sha256: str) -> bool:
    """Whether an input is here, as it was sent: each process of a worker looks once."""
    path = _kept(sha256)
    if not path.exists():
        return False
    if sha256 not in _seen:
        if output.file_sha256(path) != sha256:
            path.unlink()
            return False
        _seen.add(sha256)
    return True


def keep(sha256: str, sending: str, part: bytes, last: bool) -> None:
    """Takes a part of an input; `sending` is a name of its own for each time that one is sent."""
    path = _kept(sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    growing = path.with_name(f"{sha256}.{sending}")
    try:
        with growing.open("ab") as stream:
            stream.write(part)
        if last:
            if output.file_sha256(growing) != sha256:
                raise ValueError("it changed while it was sent")
            growing.chmod(0o444)
            growing.replace(path)
    except BaseException:
        growing.unlink(missing_ok=True)
        raise


_seen: set[str] = set()  # inputs whose hash was found right by this process
_thread = threading.local()


def _kept(sha256: str) -> Path:
    return paths.cache_dir() / "sweep" / "inputs" / sha256


def environment() -> dict[str, str]:
    """For a Python that finds the modules which this one finds."""
    found = os.pathsep.join(os.path.abspath(one) for one in sys.path if one)  # noqa: PTH100
    return {**os.environ, "PYTHONPATH": found}


def end_with_parent() -> None:
    """From now on this process does not outlive the thread that started it."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


class _Player:
    """The process beside a thread of a worker."""

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        number = theirs.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve({number})"],
            stdin=subprocess.DEVNULL,
            pass_fds=[number],
            env=environment(),
        )
        theirs.close()
        self.code: str = self._pipe.recv()

    def play(self, job: Job) -> pool.Outcome | Died:
        try:
            self._pipe.send(job)
            said: pool.Outcome = self._pipe.recv()
        except (EOFError, OSError):
            return Died(pool.death(self._process.wait()))
        return said


def serve(number: int) -> None:
    """What that process does: it plays the jobs that it is sent, and dies with the thread."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = Connection(number)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        pipe.send(code_version())
        while True:
            pipe.send(_played(pipe.recv()))


def _played(job: Job) -> pool.Outcome:
    box = _box(job)
    os.chdir(f"{box}{job.folder}")
    whole = {os.path.abspath(path) for path, _ in job.files}  # noqa: PTH100
    words = [_inside(word, whole, box) for word in job.point.arguments]
    said = run_point(job.point, words)
    for key in ("why", "document"):
        said[key] = said[key].replace(f"{box}/", "/")
    return pool.Outcome(said["state"], said, said["why"])


def _inside(word: str, whole: set[str], box: str) -> str:
    """A word of a command line; one that names an input by its whole path names it in the box."""
    start = accesses.PREFIX if accesses.is_asked(word) else ""
    path = accesses.path_of(word) if start else word
    known = path.startswith("/") and os.path.abspath(path) in whole  # noqa: PTH100
    return f"{start}{box}{word.removeprefix(start)}" if known else word


def _box(job: Job) -> str:
    """The folder in which the driver's whole paths begin."""
    boxes = paths.cache_dir() / "sweep" / "boxes"
    name = hashlib.sha256(json.dumps([job.folder, job.files]).encode()).hexdigest()
    box = boxes / name
    if not box.is_dir():
        boxes.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(dir=boxes)
        Path(f"{made}{job.folder}").mkdir(parents=True, exist_ok=True)
        for path, sha256 in job.files:
            Path(f"{made}{path}").parent.mkdir(parents=True, exist_ok=True)  # a/../b wants an a
            link = Path(f"{made}{os.path.abspath(path)}")  # noqa: PTH100
            if not link.exists():  # by another name
                link.symlink_to(_kept(sha256).absolute())
        try:
            Path(made).rename(box)
        except OSError:  # another process was first
            shutil.rmtree(made)
    return str(box.absolute())
