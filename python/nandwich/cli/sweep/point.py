# SPDX-License-Identifier: Apache-2.0
"""A point of a sweep: one command line, played in whatever process `run_point` is called in."""

import contextlib
import functools
import hashlib
import io
import json
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from nandwich import _native, paths
from nandwich.cli import output
from nandwich.cli.sweep.verbs import Verb
from nandwich.errors import InputError, NoRoomError

_FORMAT = 1  # of what a key is made of
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
#: How files of a kind name others.
_NAMES = {
    ".toml": re.compile(r"""["']([^"'\n]+)["']"""),
    ".c": _INCLUDE,
    ".h": _INCLUDE,
}
_MOST_BYTES = 1 << 24  # of such a file
_LAST_WORDS = 2000  # characters of stderr that tell why a verb failed


@dataclass(frozen=True)
class Point:
    """A command line, and what of it differs from other points."""

    verb: str
    arguments: tuple[str, ...]
    chosen: dict[str, Any] = field(default_factory=dict, compare=False)
    texts: tuple[str, ...] = field(default=(), compare=False)  # of the arguments; some name files

    @property
    def command(self) -> str:
        """The line that repeats it."""
        return shlex.join(("nandwich", self.verb, *self.arguments))


def run_point(point: Point, words: Sequence[str] | None = None) -> dict[str, Any]:
    """Plays a point here and now; by `words`, where its files have other names here.

    `state` is done, "no room" or failed, `why` says why it is not done. `document` is the text that
    --json of the verb writes, "" where there is none. `took_ns` is by the host's clock.
    """
    began = time.perf_counter_ns()
    state, why = "done", ""
    with _captured(point) as (said, talked):
        try:
            # In front: behind `--` it would be a word for the program.
            arguments = ["--json", "-", *(point.arguments if words is None else words)]
            code = Verb(point.verb).command.main(
                arguments, f"nandwich {point.verb}", standalone_mode=False
            )
            if code:
                state, why = "failed", f"exit code {code}"
        except NoRoomError as error:
            state, why = "no room", error.message
        except click.ClickException as error:
            state, why = "failed", error.format_message()
        except MemoryError:
            state, why = "failed", "out of memory"
        except Exception as error:
            state, why = "failed", f"internal error: {type(error).__name__}: {error}"
    document = said.getvalue().decode("utf-8")
    if state == "failed" and not why:
        why = talked.getvalue().decode("utf-8", "replace")[-_LAST_WORDS:].strip()
    took = time.perf_counter_ns() - began
    return {"state": state, "why": why, "document": document, "took_ns": took}


@contextlib.contextmanager
def _captured(point: Point) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """What the verb writes on stdout and stderr; meanwhile this process has the point's line."""
    said, talked = io.BytesIO(), io.BytesIO()
    line, sys.argv = sys.argv, ["nandwich", point.verb, *point.arguments]
    streams = [io.TextIOWrapper(one, "utf-8", "backslashreplace") for one in (said, talked)]
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            yield said, talked
    finally:
        sys.argv = line
        for one in streams:
            one.flush()
            one.detach()


@functools.cache
def code_version() -> str:
    """Hash of what a result hangs on beside the point: the binding, the package's sources, and what
    programs are built with."""
    package = Path(__file__).resolve().parents[2]
    built = sorted(one for one in (paths.build_dir() / "lib").glob("*") if one.is_file())
    sources = [*sorted(package.rglob("*.py")), Path(str(_native.__file__)), *built]
    digest = hashlib.sha256()
    for path in sources:
        digest.update(f"{path.name} {output.file_sha256(path)}\n".encode())
    return digest.hexdigest()


class Keys:
    """Keys of points. A file is read once, however many points name it."""

    def __init__(self) -> None:
        self._hashes: dict[str, str | None] = {}

    def of(self, point: Point) -> str:
        """What a result is kept under: the same line, code and files have the same key."""
        named = [(one, self.hash(one)) for one in point.texts]
        known = [pair for pair in named if pair[1] is not None]
        text = json.dumps([_FORMAT, point.verb, point.arguments, code_version(), known])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def hash(self, name: str) -> str | None:
        """Of a file, and of the files that it names; None where there is no file of that name."""
        if name not in self._hashes:
            self._hashes[name] = None  # of a file that names itself
            self._hashes[name] = self._new(name)
        return self._hashes[name]

    def _new(self, name: str) -> str | None:
        if not is_file(name):
            return None
        path = Path(name)
        try:
            digest = output.file_sha256(path)
            inner = [self.hash(one) for one in named(path)]
        except OSError as error:
            raise InputError(f"cannot read {name}: {error.strerror}") from error
        return hashlib.sha256(json.dumps([digest, inner]).encode()).hexdigest()


def named(path: Path) -> list[str]:
    """The files that one names: a part or a report in TOML, a header in quotes in C."""
    kind = _NAMES.get(path.suffix)
    if kind is None or path.stat().st_size > _MOST_BYTES:
        return []
    words = kind.findall(path.read_text("utf-8", "replace"))
    candidates = [path.parent / word for word in words] + [Path(word) for word in words]
    return sorted({str(one) for one in candidates if is_file(str(one))})


def is_file(name: str) -> bool:
    """Whether a word of a command line names a file that is there."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # no name of a file at all: too long, say
        return False
