# SPDX-License-Identifier: Apache-2.0
"""A C program as a workload: it runs once, and the accesses that it made are kept."""

import hashlib
import json
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nandwich import locks
from nandwich.cli import output, signals
from nandwich.cli.options import words
from nandwich.cli.sweep.point import Keys, code_version, is_file
from nandwich.compiler import toolchain
from nandwich.errors import InputError, RunError, not_written
from nandwich.run import guest, measure, recipe
from nandwich.twin.config import Device

_DEFAULT = Device()
_FORMAT = 1  # of what a recording is kept under
_KEY_DIGITS = 16


def is_one(source: str) -> bool:
    """Whether a source is that of a program."""
    return Path(source).suffix in (".c", ".i")


@dataclass(frozen=True)
class Program:
    """A program, what it is given, and how it is built."""

    sources: tuple[Path, ...]
    arguments: tuple[str, ...]
    flags: tuple[str, ...]
    vm: int

    @property
    def inputs(self) -> list[Path]:
        """Files that its line names."""
        return [*self.sources, *(Path(one) for one in self.arguments if is_file(one))]

    def recorded(self, frame: int, store: Path, written: Sequence[Path | str | None]) -> Path:
        """The recording, with pages that begin where those of frames up to this size do. It lies
        beside the store, under the hash of all it hangs on; what is there is not made again.
        `written` are files that the program may not change. RunError where it fails."""
        folder = store.with_name(f"{store.name}.accesses")
        device = Device(
            frame=frame, ram=max(frame * 64, _DEFAULT.ram), vm=self.vm, accesses="later"
        )
        stdin = guest.read_input()
        job = recipe.job(self.sources, self.flags, device, self.arguments, compare=False)
        path = folder / f"{self.sources[0].stem}-{self._key(frame, job.inputs, stdin)}.acc"
        if path.exists():
            output.talk(f"{self.sources[0]} is known: {path}")
            return path
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise not_written(f"cannot write {folder}: {error.strerror}", error) from error
        began = time.monotonic()
        new = path.with_suffix(".new")
        job.config = replace(device, accesses=str(new)).text()
        with signals.unwinding(), locks.held(str(path)), measure.scratch() as scratch:
            try:
                self._run(job, stdin, Path(scratch), written)
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)
        took = time.monotonic() - began
        output.talk(f"{self.sources[0]} ran once, in {took:.3g} s; its accesses are in {path}")
        return path

    def _key(self, frame: int, inputs: Sequence[Path], stdin: bytes) -> str:
        keys = Keys()
        read = [(str(one), keys.hash(str(one))) for one in sorted({*inputs, *self.inputs})]
        given = [*map(str, self.sources), "--", *self.flags, "--", *self.arguments]
        content = hashlib.sha256(stdin).hexdigest()
        told = json.dumps([_FORMAT, code_version(), given, frame, self.vm, read, content])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]

    def _run(
        self, job: measure.Job, stdin: bytes, scratch: Path, written: Sequence[Path | str | None]
    ) -> None:
        ended = measure.measure(
            job,
            stdin,
            scratch,
            once=True,
            check=lambda changes: output.check_apart(
                changes.after, written, "which the program itself changes"
            ),
        ).virtual
        if ended.status != 0 or not ended.report:
            line = shlex.join(["nandwich", "run", *map(str, self.sources), "--", *self.arguments])
            raise RunError(f"the program failed ({guest.how(ended)}); try: {line}")


def of(
    sources: Sequence[str], arguments: Sequence[str], cflags: Sequence[str], vm: int | None
) -> Program | None:
    """The program that a line names; None: it names none, and has nothing for one. InputError."""
    if not is_one(sources[0]):
        for given, name in ((arguments, "words after --"), (cflags, "--cflags"), (vm, "--vm")):
            if given:
                raise InputError(f"{name}: for a program; {sources[0]} is no C source")
        return None
    for one in sources:
        toolchain.refuse_language(one)
        if not is_one(one):
            raise InputError(f"{one}: no C source; words for the program go after `--`")
        if not Path(one).is_file():
            raise InputError(f"{one}: no such file")
    flags = recipe.checked_flags(("-O2", *words(cflags)))
    return Program(tuple(map(Path, sources)), tuple(arguments), flags, vm or _DEFAULT.vm)
