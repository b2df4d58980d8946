# SPDX-License-Identifier: Apache-2.0
"""The files a program changed: how they were before, how it left them, whether two runs agree.

ports/watch keeps each file before it is first changed, and puts all back. So the native and the
virtual run are given the same files, and what they leave can be compared.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nandwich.errors import RunError

_CHUNK = 1 << 20


@dataclass
class Changes:
    """Files one run changed, by absolute path; a value of None means no regular file is there."""

    before: dict[Path, Path | None] = field(default_factory=dict)
    after: dict[Path, Path | None] = field(default_factory=dict)
    #: What was made as a library makes files under names of its own choice (mkstemp, mkdtemp).
    random: set[Path] = field(default_factory=set)
    #: Where a folder holds nothing but what has an entry, or was made or moved there by the run.
    whole: set[Path] = field(default_factory=set)


def read_log(folder: Path) -> Changes:
    """What ports/watch/keep.c recorded in `folder`: each path, and the copy of its content."""
    changes = Changes()
    if not (folder / "log").exists():  # of a run that was not watched
        return changes
    words = os.fsdecode((folder / "log").read_bytes()).split("\0")
    for number, kind, name in zip(words[0::3], words[1::3], words[2::3], strict=False):
        path = Path(name)
        changes.before[path] = folder / number if number != "0" else None
        if kind == "random":
            changes.random.add(path)
        if kind in ("random", "absent", "whole"):
            changes.whole.add(path)
    return changes


def collect(folder: Path) -> Changes:
    """Copy what a run left into `folder`, beside the log of that run."""
    changes = read_log(folder)
    for path in changes.before:
        try:
            _collect_one(path, folder, changes)
        except OSError as error:
            raise RunError(f"{path}: cannot be compared: {error.strerror}") from error
    return changes


def _collect_one(path: Path, folder: Path, changes: Changes) -> None:
    if path.is_dir() and not path.is_symlink():
        if path in changes.whole:
            for base, _, names in os.walk(path):
                for name in names:
                    _collect_file(Path(base, name), folder, changes)
        changes.after.setdefault(path, None)
    else:
        _collect_file(path, folder, changes)


def _collect_file(path: Path, folder: Path, changes: Changes) -> None:
    if path in changes.after:
        return
    changes.after[path] = None
    if path.is_file() and not path.is_symlink():
        copy = folder / f"after-{len(changes.after)}"
        shutil.copyfile(path, copy)
        changes.after[path] = copy


def _state(changes: Changes, other: Changes, path: Path) -> Path | None:
    """What `path` holds after a run; untouched by it, it holds what it held before the other."""
    return changes.after[path] if path in changes.after else other.before.get(path)


def differences(native: Changes, virtual: Changes) -> Iterator[str]:
    """One line for each file the two runs left differently, but for those under random names."""
    only: dict[str, list[Path]] = {"native": [], "virtual": []}
    told: dict[Path, str] = {}
    for path in native.after.keys() | virtual.after.keys():
        a, b = _state(native, virtual, path), _state(virtual, native, path)
        if a is None and b is None:
            continue
        if a is None or b is None:
            only["virtual" if a is None else "native"].append(path)
            continue
        offset = first_difference(a, b)
        if offset is not None:
            told[path] = f"{path}: differs at byte {offset}"
    for name, paths in _unpaired(only, native.random, virtual.random):
        told |= {path: f"{path}: left only by the {name} run" for path in paths}
    for path in sorted(told):
        yield told[path]


def _unpaired(
    only: dict[str, list[Path]], native: set[Path], virtual: set[Path]
) -> Iterator[tuple[str, list[Path]]]:
    """The files of each run but for those that differ from one of the other in random names."""
    for name, other in (("native", "virtual"), ("virtual", "native")):
        mine, its = (native, virtual) if name == "native" else (virtual, native)
        yield (
            name,
            [
                path
                for path in only[name]
                if not any(_alike(path, its_path, mine, its) for its_path in only[other])
            ],
        )


def _alike(path: Path, other: Path, mine: set[Path], its: set[Path]) -> bool:
    """Whether two paths are one but for parts that a library chose at random."""
    if len(path.parts) != len(other.parts):
        return False
    chains = zip([path, *path.parents], [other, *other.parents], strict=True)
    return all(
        a.name == b.name or (a in mine and b in its and _same_template(a.name, b.name))
        for a, b in chains
    )


#: As many letters and digits mkstemp() and its like choose at least.
_CHOSEN = 6


def _same_template(name: str, other: str) -> bool:
    """Whether both names may come from one template: no more than one run of letters differs."""
    if len(name) != len(other):
        return False
    apart = [index for index, (a, b) in enumerate(zip(name, other, strict=True)) if a != b]
    if len(name) < _CHOSEN or apart[-1] - apart[0] > _CHOSEN + 1:
        return False
    return (name + other).isascii() and all(
        word[apart[0] : apart[-1] + 1].replace("_", "x").isalnum() for word in (name, other)
    )


def first_difference(a: Path, b: Path) -> int | None:
    """Offset of the first byte that differs (or where the shorter file ends); None: the same."""
    offset = 0
    with a.open("rb") as one, b.open("rb") as two:
        while True:
            left, right = one.read(_CHUNK), two.read(_CHUNK)
            if left != right:
                return offset + _common(left, right)
            if not left:
                return None
            offset += len(left)


def _common(left: bytes, right: bytes) -> int:
    for index, (x, y) in enumerate(zip(left, right, strict=False)):
        if x != y:
            return index
    return min(len(left), len(right))
