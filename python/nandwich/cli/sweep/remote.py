# SPDX-License-Identifier: Apache-2.0
"""Plays points on workers of dask.distributed, at a scheduler that is there or one started here."""

import logging
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import distributed
from distributed import versions

from nandwich.cli import output
from nandwich.cli.sweep import worker
from nandwich.cli.sweep.point import Point, code_version, is_file, named
from nandwich.errors import InputError, NandwichError, RunError
from nandwich.replay import pool

LOCAL = "local:"
_CONNECT_S = 10
_START_S = 60  # for processes of this machine
_PART_BYTES = 4 << 20  # of an input, a message
_LOOK_S = 2
_LEAST_ASKED = 64  # points that the scheduler knows at a time, so that a cluster may grow
_ASKED_A_THREAD = 4


class Cluster:
    """The workers at a scheduler, `tcp://HOST:PORT` or `local:N`. NandwichError where they cannot
    play as this process would."""

    def __init__(self, scheduler: str, tries: int) -> None:
        self._name = scheduler
        self._tries = tries  # of a point whose process dies
        self._hashes: dict[str, str] = {}  # by whole path
        self._client: Any = None
        self._look_again = 0.0  # at workers, by the monotonic clock
        self._known = 0
        for name in ("", ".client", ".core", ".batched"):
            # What goes wrong is told once, by us.
            logging.getLogger(f"distributed{name}").setLevel(logging.CRITICAL + 1)
        is_local = scheduler.startswith(LOCAL)
        self._own = _Own(int(scheduler.removeprefix(LOCAL))) if is_local else None
        try:
            self._client = self._connected()
            self._wait()
            self._check()
        except BaseException:
            self.close()
            raise

    def _connected(self) -> Any:
        where = {"scheduler_file": self._own.file()} if self._own else {"address": self._name}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", versions.VersionMismatchWarning)
                return distributed.Client(**where, timeout=_CONNECT_S)
        except (OSError, ValueError) as error:
            raise RunError(f"--scheduler {self._name}: no scheduler answers there") from error

    def _wait(self) -> None:
        """For all workers that were started here, for the first elsewhere."""
        if self._own is None:
            if not self._client.nthreads():
                output.talk(f"no workers at {self._name} yet: waiting for the first")
            self._client.wait_for_workers(1)
            return
        try:
            self._client.wait_for_workers(self._own.workers, timeout=_START_S)
        except TimeoutError as error:
            raise RunError(f"--scheduler {self._name}: its workers did not start") from error

    def close(self) -> None:
        """What is still asked for is not played."""
        if self._client is not None:
            self._client.close()
        if self._own is not None:
            self._own.close()

    def _check(self) -> None:
        """Refuses other versions than those here, before anything is played."""
        client = self._client
        found = client.get_versions()
        mine = found["client"]["packages"]
        others = {"the scheduler": found["scheduler"], **found["workers"]}
        faults = [
            f"{who} has {package} {theirs}, here it is {mine[package]}"
            for who, one in others.items()
            for package in ("python", *versions.required_packages)
            if (theirs := one["packages"].get(package)) != mine[package]
        ]
        for address, code in client.run(code_version, on_error="return").items():
            if code != code_version():
                faults.append(self._other(address, code))
        if faults:
            raise InputError("\n".join(f"--scheduler {self._name}: {one}" for one in faults))

    def _other(self, address: str, code: object) -> str:
        if isinstance(code, Exception):
            return f"{address} cannot play: {code}"
        return f"{address} has nandwich {str(code)[:12]}, here it is {code_version()[:12]}"

    def outcomes(self, points: Sequence[Point]) -> Iterator[tuple[int, pool.Outcome]]:
        """Numbers of points with what became of them, as they end."""
        jobs = [self._job(one) for one in points]
        todo = list(range(len(jobs)))[::-1]  # the next one last
        deaths: Counter[int] = Counter()  # by number
        asked: dict[str, int] = {}  # numbers by the key of the task
        ended: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        while todo or asked:
            while todo and len(asked) < self._most():
                number = todo.pop()
                key = f"nandwich-{uuid.uuid4().hex}"
                asked[key] = number
                future = self._client.submit(worker.play, jobs[number], key=key)
                self._client.loop.add_callback(_fetch, future, ended)
            key, told = ended.get()
            number = asked.pop(key)
            said = self._said(told)
            if isinstance(said, worker.Died):
                deaths[number] += 1
                if deaths[number] == self._tries:
                    said = pool.Outcome("failed", why=said.why)
            if isinstance(said, pool.Outcome):
                yield number, said
                continue
            todo.append(number)
            if isinstance(said, worker.Missing):
                self._send(said)

    def _most(self) -> int:
        """How many points the scheduler may know at a time; it is asked for its workers rarely."""
        if time.monotonic() >= self._look_again:
            try:
                threads = sum(self._client.nthreads().values())
            except Exception as error:
                raise self._lost(error) from error
            self._known = max(_LEAST_ASKED, _ASKED_A_THREAD * threads)
            self._look_again = time.monotonic() + _LOOK_S
        return self._known

    def _said(self, said: Any) -> worker.Answer:
        """What the worker answered; what nobody answers ends the sweep."""
        if isinstance(said, distributed.scheduler.KilledWorker):
            return pool.Outcome("failed", why="each worker that was given it died")
        if isinstance(said, BaseException):
            raise self._lost(said) from said
        if isinstance(said, worker.OtherCode):
            raise InputError(f"--scheduler {self._name}: {self._other(said.address, said.code)}")
        answer: worker.Answer = said
        return answer

    def _lost(self, error: BaseException) -> NandwichError:
        gone = isinstance(error, OSError | distributed.CancelledError)
        if gone or self._client.status != "running":
            return RunError(f"the scheduler {self._name} went away")
        return RunError(f"--scheduler {self._name}: {type(error).__name__}: {error}")

    def _job(self, point: Point) -> worker.Job:
        return worker.Job(point, str(Path.cwd()), tuple(self._files(point)), code_version())

    def _files(self, point: Point) -> Iterator[tuple[str, str]]:
        """The whole paths of the inputs, and of what they name, with their hashes."""
        todo = [one for one in point.texts if is_file(one)]
        seen = set()
        while todo:
            name = Path(todo.pop())
            whole = str(Path.cwd() / name)
            if whole in seen:
                continue
            seen.add(whole)
            if whole not in self._hashes:
                self._hashes[whole] = output.file_sha256(name)
            yield whole, self._hashes[whole]
            todo += self._inner(name)

    def _inner(self, name: Path) -> list[str]:
        """The files that one names; by whole paths workers would not find them."""
        found = named(name)
        text = name.read_text("utf-8", "replace") if found else ""
        for one in found:
            if one.startswith("/") and one in text:
                raise InputError(
                    f"{name} names {one}: workers want a path from the folder of {name}"
                )
        return found

    def _send(self, missing: worker.Missing) -> None:
        """Inputs to a worker that does not have them."""
        paths = {sha256: path for path, sha256 in self._hashes.items()}
        for sha256 in missing.hashes:
            path = paths[sha256]
            try:
                self._send_one(missing.address, sha256, path)
            except (ValueError, OSError) as error:
                if missing.address in self._client.scheduler_info()["workers"]:
                    raise RunError(f"{path} does not reach {missing.address}: {error}") from error

    def _send_one(self, address: str, sha256: str, path: str) -> None:
        def call(function: Any, *arguments: Any) -> Any:
            return self._client.run(function, *arguments, workers=[address])[address]

        if call(worker.has, sha256):  # sent for another point
            return
        sending = uuid.uuid4().hex
        left = Path(path).stat().st_size
        with Path(path).open("rb") as stream:
            while True:
                part = stream.read(_PART_BYTES)
                left -= len(part)
                call(worker.keep, sha256, sending, part, left <= 0)
                if left <= 0 or not part:
                    return


async def _fetch(future: Any, ended: "SimpleQueue[tuple[str, Any]]") -> None:
    """In the thread of the client: what becomes of a task, or the exception that tells it."""
    try:
        said = await future.result()
    except BaseException as error:
        said = error
    ended.put((future.key, said))


class _Own:
    """A scheduler and workers as processes of this machine, which end with this one."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._folder = tempfile.TemporaryDirectory(prefix="nandwich-")
        self._file = Path(self._folder.name) / "scheduler.json"
        here = ("--scheduler-file", str(self._file), "--no-dashboard")
        limits = ("--nthreads", "1", "--memory-limit", "0", "--local-directory", self._folder.name)
        lines: list[tuple[str, ...]] = [("scheduler", *here, "--host", "127.0.0.1", "--port", "0")]
        lines += [("worker", *here, *limits)] * workers
        self._processes = [_started(words) for words in lines]

    def file(self) -> str:
        """Where the scheduler has written its address."""
        end = time.monotonic() + _START_S
        while not self._file.exists():
            if time.monotonic() > end or self._processes[0].poll() is not None:
                raise RunError("the scheduler of this machine did not start")
            time.sleep(0.02)
        return str(self._file)

    def close(self) -> None:
        for one in self._processes:
            one.kill()
        for one in self._processes:
            one.wait()
        self._folder.cleanup()


def _started(words: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Ctrl-C is not for it, and what it says is for nobody."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", worker.DASK, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=worker.environment(),
    )
