# SPDX-License-Identifier: Apache-2.0
"""A program run under ports/watch, which keeps the files it changes and puts them back.

They are put back unless `keep` is called: also when this process is stopped or killed.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from nandwich import paths
from nandwich.errors import RunError

_LASTING = (
    "nandwich: the program has ended, but not what it started; the run lasts until that ends "
    "(Ctrl-C ends it)\n"
)


class UnwatchedError(RunError):
    """This system does not let a program's file calls be watched."""


class Watched:
    """One run: start it, then `wait`, then `keep` or `put_back`.

    With watch=False nothing is kept: the files stay as the run leaves them.
    """

    def __init__(
        self,
        program: Path,
        arguments: tuple[str, ...],
        folder: Path,
        *,
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: int | IO[bytes] | None,
        environment: dict[str, str],
        watch: bool = True,
    ) -> None:
        self._program = program
        self._words: Iterator[tuple[str, str]] = iter(())
        hold, self._hold = os.pipe()
        self._told, told = os.pipe()
        command = [str(paths.watcher()), str(hold), str(told)]
        command += [str(folder) if watch else "", str(program)]
        try:
            # No code of ours between fork and exec: an interrupt there would be lost.
            self._process = subprocess.Popen(
                [*command, *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=environment,
                pass_fds=(hold, told),
            )
        except BaseException:
            os.close(self._hold)  # should it run already, it ends
            os.close(self._told)
            raise
        finally:
            os.close(hold)
            os.close(told)
        self._words = self._read()

    def wait(self) -> int:
        """The status of the run when its last process has ended: as subprocess has it."""
        for word, text in self._words:
            if word == "ended":
                return os.waitstatus_to_exitcode(int(text))
            if word == "lasting":
                sys.stderr.write(_LASTING)
                sys.stderr.flush()
            elif word == "unable":
                raise UnwatchedError(text)
            elif word == "start":
                raise RunError(f"{self._program}: cannot be started: {text}")
            elif word == "failed":
                raise RunError(text)
        raise RunError("the watcher of the program's files was killed: they are as it left them")

    def keep(self) -> None:
        """The files stay as the run left them."""
        if self._hold >= 0:
            os.write(self._hold, b"k")
        self._end()

    def put_back(self) -> None:
        """Make everything as it was before the run, which ends if it has not; RunError."""
        failed = self._end()
        if failed:
            raise RunError("\n".join(failed))

    def _end(self) -> list[str]:
        """Let the watcher go, and wait for it; what it could not put back."""
        if self._hold < 0:
            return []
        self._let_go()
        failed = [text for word, text in self._words if word == "failed"]
        os.close(self._told)
        self._process.wait()
        return failed

    def _let_go(self) -> None:
        if self._hold >= 0:
            os.close(self._hold)
            self._hold = -1

    def _read(self) -> Iterator[tuple[str, str]]:
        """What the watcher tells, a word and its text, until it ends."""
        rest = b""
        while some := os.read(self._told, 1 << 16):
            *lines, rest = (rest + some).split(b"\0")
            for line in lines:
                word, _, text = os.fsdecode(line).partition(" ")
                yield word, text
