# SPDX-License-Identifier: Apache-2.0
"""Plays points on workers of dask.distributed, at a scheduler that is there or one started here."""

import logging
import os
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
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
_PART_BYTES = 4 << 20  # of an input, a message
_LEAST_ASKED = 64  # points that the scheduler knows at a time, so that a cluster may grow
_ASKED_A_THREAD = 4


class Cluster:
    """The workers at a scheduler, `tcp://HOST:PORT` or `local:N`. NandwichError where they cannot
    play as this process would."""

    def __init__(self, scheduler: str, tries: int) -> None:
        self._name = scheduler
        self._tries = tries  # of a point whose process dies
        self._hashes: dict[str, str] = {}  # by whole path
        self._own: Any = None
        for name in ("distributed", "distributed.client", "distributed.core", "distributed.batched"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # it is told once, by us
        if scheduler.startswith(LOCAL):
            self._own = distributed.LocalCluster(
                n_workers=int(scheduler.removeprefix(LOCAL)),
                threads_per_worker=1,
                dashboard_address=None,
                memory_limit=0,
                silence_logs=logging.CRITICAL + 1,
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", versions.VersionMismatchWarning)
                self._client = distributed.Client(self._own or scheduler, timeout=_CONNECT_S)
        except (OSError, ValueError) as error:
            raise RunError(f"--scheduler {scheduler}: no scheduler answers there") from error
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """What is still asked for is not played."""
        self._client.close()
        if self._own is not None:
            self._own.close()

    def _check(self) -> None:
        """Refuses other versions than those here, before anything is played."""
        client = self._client
        if not client.scheduler_info()["workers"]:
            output.talk(f"no workers at {self._name} yet: waiting for the first")
            client.wait_for_workers(1)
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
        ended = distributed.as_completed()
        while todo or asked:
            most = max(_LEAST_ASKED, _ASKED_A_THREAD * sum(self._client.nthreads().values()))
            while todo and len(asked) < most:
                number = todo.pop()
                key = f"nandwich-{uuid.uuid4().hex}"
                asked[key] = number
                ended.add(self._client.submit(worker.play, jobs[number], key=key))
            future = next(ended)
            number = asked.pop(future.key)
            said = self._said(future)
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

    def _said(self, future: Any) -> worker.Answer:
        """What the worker answered; what nobody answers ends the sweep."""
        try:
            said: worker.Answer = future.result()
        except distributed.scheduler.KilledWorker:
            return pool.Outcome("failed", why="each worker that was given it died")
        except Exception as error:
            raise self._lost(error) from error
        if isinstance(said, worker.OtherCode):
            raise InputError(f"--scheduler {self._name}: {self._other(said.address, said.code)}")
        return said

    def _lost(self, error: BaseException) -> NandwichError:
        if self._client.status != "running" or isinstance(error, distributed.CancelledError):
            return RunError(f"the scheduler {self._name} went away")
        return RunError(f"--scheduler {self._name}: {type(error).__name__}: {error}")

    def _job(self, point: Point) -> worker.Job:
        return worker.Job(point, str(Path.cwd()), tuple(self._files(point)), code_version())

    def _files(self, point: Point) -> Iterator[tuple[str, str]]:
        """The whole paths of the inputs, and of what they name, with their hashes."""
        todo = [one for one in point.texts if is_file(one)]
        seen = set()
        while todo:
            name = todo.pop()
            whole = os.path.abspath(name)  # noqa: PTH100 - as a shell has it: links stay
            if whole in seen:
                continue
            seen.add(whole)
            if whole not in self._hashes:
                self._hashes[whole] = output.file_sha256(Path(name))
            yield whole, self._hashes[whole]
            todo += named(Path(name))

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
