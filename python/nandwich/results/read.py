# SPDX-License-Identifier: Apache-2.0
"""A file that a verb wrote with `--json`, read again.

What is no such file is refused with the place and what is wrong there.
"""

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nandwich import files
from nandwich.errors import InputError

#: The schemas whose results are laid side by side, and the verbs that write them.
COMPARED = {
    "nandwich.replay/1": "replay",
    "nandwich.run/1": "run",
    "nandwich.run-target/1": "run --target",
    "nandwich.run-tagged/1": "run --layout",
    "nandwich.sched/1": "sched",
    "nandwich.energy/1": "energy",
    "nandwich.torture/1": "torture",
    "nandwich.bench/1": "bench",
    "nandwich.fleet/1": "fleet",
    "nandwich.tune/1": "tune",
    "nandwich.sweep/1": "sweep",
}
#: The schemas of which there are pictures.
SHOWN = COMPARED | {
    "nandwich.compare/1": "compare",
    "nandwich.curve/1": "trace curve",
    "nandwich.fit/1": "fit",
    "nandwich.papers/3": "papers",
    "nandwich.vmtrace/1": "vmtrace",
}
_LISTS = frozenset({"nandwich.bench/1", "nandwich.papers/3"})
STDIN = "-"
_MOST_BYTES = 1 << 28
_SCHEMA = re.compile(r"nandwich\.([a-z-]+)/([0-9]+)")


@dataclass(frozen=True)
class Document:
    """A result as a verb wrote it."""

    path: str  # as it was given; "-" is stdin
    schema: str  # say "nandwich.replay/1"
    content: dict[str, Any]  # of a bench, and of papers: {"figures": [...]}

    @property
    def kind(self) -> str:
        """Results of one kind have the same figures: the verb, or what it was asked."""
        if self.schema == "nandwich.sweep/1":
            return f"sweep of {self.at('verb')}"
        if self.schema == "nandwich.tune/1" and self.at("question", "unit") == "access":
            return "tune of a program"
        admits = self.schema == "nandwich.sched/1" and "admission" in self.content
        return SHOWN[self.schema] + " --admit" * admits

    @property
    def name(self) -> str:
        """What the file is called among others: its name without folder and ending."""
        return "stdin" if self.path == STDIN else Path(self.path).stem

    def at(self, *keys: str) -> Any:
        """The value at a path of keys; InputError says which one is missing."""
        value: Any = self.content
        for depth, key in enumerate(keys):
            if not isinstance(value, dict) or key not in value:
                where = ".".join(keys[: depth + 1])
                raise self.changed(where)
            value = value[key]
        return value

    def changed(self, what: str) -> InputError:
        """The error, for `raise`, of a document that is not as its verb writes it."""
        return InputError(f"{self.path}: no {self.schema} as it is written: {what} is missing")

    @contextlib.contextmanager
    def checked(self) -> Iterator[None]:
        """Turns what a changed document leads to into that error."""
        try:
            yield
        except KeyError as error:
            raise self.changed(str(error)) from error
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise self.changed(
                f"something is of another kind ({error}), and what it should be"
            ) from error


def read(path: str) -> Document:
    """The result in a file, or on stdin for '-', that can be compared; InputError."""
    return parse(path, load(path))


def load(path: str) -> bytes:
    """What a file holds, or stdin for '-'; InputError."""
    try:
        if path == STDIN:
            return files.drain(sys.stdin.buffer, _MOST_BYTES)
        return files.read(Path(path), _MOST_BYTES)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def parse(path: str, data: bytes, known: Mapping[str, str] = COMPARED) -> Document:
    """The result that these bytes of a file are, of a schema that is known; InputError."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is no UTF-8: this is no JSON") from error
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(_not_json(path, text, error)) from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: no result of nandwich: {error}") from error
    schema = _schema(path, value, known)
    if isinstance(value, list):
        return Document(path, schema, {"figures": value})
    return Document(path, schema, value)


def _not_json(path: str, text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return f"{path}: the file is empty"
    where = f"{path}:{error.lineno}:{error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"{where}: the file ends in the middle: it was cut off"
    return f"{where}: not JSON: {error.msg}"


def _schema(path: str, value: Any, known: Mapping[str, str]) -> str:
    """The schema a document names; those of a list have to be one."""
    names = [_named(path, one) for one in value] if isinstance(value, list) else []
    if isinstance(value, list) and not names:
        raise InputError(f"{path}: an empty list: no result of nandwich")
    if not names:
        names = [_named(path, value)]
    name = names[0]
    if len(set(names)) > 1:
        raise InputError(f"{path}: holds {' and '.join(sorted(set(names)))}: give a file of one")
    if name not in known:
        raise InputError(f"{path}: {_unknown(name, known)}")
    if isinstance(value, list) != (name in _LISTS):
        wanted = "a list" if name in _LISTS else "one object"
        raise InputError(f"{path}: {name} is {wanted}, which this is not: was it changed?")
    return name


def _named(path: str, value: Any) -> str:
    name = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(name, str):
        raise InputError(
            f"{path}: JSON without `schema`, so no result of nandwich: write one with --json FILE"
        )
    return name


def _unknown(name: str, known: Mapping[str, str]) -> str:
    match = _SCHEMA.fullmatch(name)
    others = [one for one in known if match and one.startswith(f"nandwich.{match[1]}/")]
    if others:
        return f"schema {name}, and this nandwich knows {others[0]}: write the file anew"
    verbs = ", ".join(dict.fromkeys(verb.partition(" ")[0] for verb in known.values()))
    done = "compared" if known is COMPARED else "shown"
    return f"schema {name} is not {done}; results of these verbs are: {verbs}"


def names(documents: Sequence[Document]) -> list[str]:
    """Names of files; where two are alike, with their folders."""
    short = [one.name for one in documents]
    if len(set(short)) < len(short):
        short = [one.path for one in documents]
    return [name if short.count(name) == 1 else f"{name} ({i + 1})" for i, name in enumerate(short)]


def check_alike(documents: Sequence[Document]) -> None:
    """Refuse results of several kinds; InputError says which is which and what goes together."""
    kinds: dict[str, list[str]] = {}
    for one in documents:
        kinds.setdefault(one.kind, []).append(one.path)
    if len(kinds) < 2:
        return
    which = "\n".join(f"  of nandwich {kind}: {', '.join(paths)}" for kind, paths in kinds.items())
    several = [paths for paths in kinds.values() if len(paths) > 1]
    can = " or ".join(" ".join(paths) for paths in several)
    hint = f"compare {can}" if several else "give two results of one verb"
    raise InputError(
        f"results of several verbs have no figures in common; {hint}. These are\n{which}"
    )
