# SPDX-License-Identifier: Apache-2.0
"""What verbs print: JSON documents with schema and provenance, plain tables, progress.

stdout carries data only (a table, or JSON with `--json -`); everything else goes to stderr.
"""

import contextlib
import functools
import hashlib
import json
import os
import platform
import shlex
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from nandwich import files, names, paths
from nandwich._version import __version__
from nandwich.cli import loudness
from nandwich.errors import InputError, not_written


def file_sha256(path: Path) -> str:
    """Hex digest of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@functools.cache
def _commit() -> str | None:
    """The checkout's commit, '+' appended when tracked files differ; None outside git."""
    if paths.CHECKOUT is None:
        return None
    git = ["git", "-C", str(paths.CHECKOUT)]
    try:
        head = subprocess.run(
            [*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        )
        diff = subprocess.run([*git, "diff", "--quiet", "HEAD"], capture_output=True, check=False)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip() + ("+" if diff.returncode else "")


def provenance(
    *, seed: int | None = None, inputs: Iterable[Path] = (), command: str = ""
) -> dict[str, Any]:
    """How a result came about. No time and no host name: the same run gives the same bytes.

    `command` is the line that gives the result, where another one than this process's does."""
    return {
        "command": command or shlex.join(["nandwich", *sys.argv[1:]]),
        "nandwich": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "seed": seed,
        "inputs": {str(path): file_sha256(path) for path in inputs},
    }


def document(
    verb: str,
    version: int,
    payload: dict[str, Any],
    *,
    seed: int | None = None,
    inputs: Iterable[Path] = (),
    command: str = "",
) -> dict[str, Any]:
    """A verb's JSON object: schema name first, then provenance, then the payload.

    The JSON Schema lies in docs/schemas/<verb>-<version>.json.
    """
    return {
        "schema": f"nandwich.{verb}/{version}",
        "provenance": provenance(seed=seed, inputs=inputs, command=command),
        **payload,
    }


def check_apart(
    inputs: Iterable[str | Path],
    outputs: Iterable[str | Path | None],
    does: str = "which this command reads",
) -> None:
    """Refuse an output that is an input of the same command, or another output, by whatever name.

    None, "" and "-" are no files. Devices and pipes take any number of outputs. `does` says what is
    done with the inputs.
    """
    read = {_identity(Path(name)): str(name) for name in inputs}
    written: dict[object, str] = {}
    for name in outputs:
        if name is None or str(name) in ("", "-"):
            continue
        which = _identity(Path(name))
        if which is None:
            continue
        for others, why in ((read, does), (written, "which this command writes too")):
            if which in others:
                raise InputError(
                    f"{name} would overwrite {others[which]}, {why}: give another name"
                )
        written[which] = str(name)


def _identity(path: Path) -> object:
    """What two names of one file have in common; None for what nobody can overwrite."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return os.path.realpath(path)  # not there yet
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def write_json(target: str, value: Any) -> None:
    """Write `value` to a file (it appears whole or not at all), or to stdout for '-'."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    # A path need not be UTF-8, JSON has to: the bytes that are not become escapes.
    data = text.encode("utf-8", errors="backslashreplace")
    if target == "-":
        click.echo(data, nl=False)
        return
    try:
        files.replace(Path(target), data)
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error
    if loudness.is_verbose():
        talk(f"{target}: {len(data)} bytes written")


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 page, 2 pages."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Plain aligned text, numbers to the right; the same on a terminal and in a pipe.

    A name may hold anything: what does not print is escaped, so that a row stays one line."""
    cells = [[names.shown(str(cell)) for cell in row] for row in rows]
    kinds = [list(column) for column in zip(*rows, strict=True)] if cells else []
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    numeric = [all(isinstance(cell, int | float) for cell in column) for column in kinds]
    numeric += [False] * (len(headers) - len(numeric))

    def line(row: Sequence[str]) -> str:
        parts = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        return "  ".join(parts).rstrip()

    rule = ["-" * width for width in widths]
    return "\n".join(line(row) for row in (headers, rule, *cells))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """`table` on stdout."""
    click.echo(table(headers, list(rows)))


def talk(text: str) -> None:
    """A line for people, on stderr; not with --quiet."""
    if not loudness.is_quiet():
        click.echo(text, err=True)


class Progress(Protocol):
    """What `progress` yields."""

    def advance(self, steps: int = 1) -> None:
        """Say that `steps` more of the total are done."""


class _Lines:
    """Where nobody sees a bar grow, a line now and then: the first after two seconds, and the
    longer the work, the rarer."""

    def __init__(self, description: str, total: int, rate: str) -> None:
        self._rate = rate
        self._description = description
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._next = self._began + _FIRST_LINE_S

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        now = time.monotonic()
        if now >= self._next and self._done != self._total:
            self._next = now + min(_RAREST_LINE_S, max(_FIRST_LINE_S, (now - self._began) / 10))
            talk(self._line(now - self._began))

    def _line(self, took_s: float) -> str:
        if not 0 < self._done <= self._total:
            return f"{self._description}: {self._done} in {took_s:.0f} s"
        left_s = took_s * (self._total - self._done) / self._done
        share = 100 * self._done // self._total
        rate = f" {self._done / took_s:.1f} {self._rate} a second," if self._rate else ""
        return f"{self._description}: {share} %,{rate} about {left_s:.0f} s left"


_FIRST_LINE_S = 2.0
_RAREST_LINE_S = 60.0


def _is_seen() -> bool:
    """Whether somebody sees a line of stderr change."""
    return not loudness.is_quiet() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def stage(description: str, *, shared: bool = False) -> Iterator[None]:
    """On a terminal what is done meanwhile, with the time it takes; elsewhere nothing.

    `shared`: a program writes on stderr too, so the line just stands there."""
    if not _is_seen() or shared:
        if _is_seen():
            talk(description)
        yield
        return
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(description, total=None)
        yield


@contextlib.contextmanager
def progress(description: str, total: int, *, rate: str = "") -> Iterator[Progress]:
    """A bar with time left, on stderr; where stderr is no terminal a line every few seconds.

    `rate`: what is counted, where it is told how many a second there are."""
    if not _is_seen():
        yield _Lines(description, total, rate)
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.1f} {rate} a second")

    columns: list[ProgressColumn] = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    ]
    if rate:
        columns.insert(3, Rate(""))
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)

        class Bar:
            def advance(self, steps: int = 1) -> None:
                bar.advance(task, steps)

        yield Bar()
