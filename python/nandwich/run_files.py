# SPDX-License-Identifier: Apache-2.0
"""The files a program changed: how they were before, how it left them, whether two runs agree.

The program's own side is ports/host/track.c, which copies each file before it is first changed. So
the native and the virtual run can be given the same files, and what they leave can be compared.
"""

import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nandwich.errors import RunError

_CHUNK = 1 << 20
#: Calls the run time listens to (ports/host/wrap.c), in the native program as in the virtual one.
_WRAPPED = (
    *("fopen", "fopen64", "freopen", "freopen64", "open", "open64", "openat", "openat64"),
    *("creat", "creat64", "remove", "unlink", "unlinkat", "rename", "renameat", "truncate"),
    *("truncate64", "mkdir", "mkdirat", "rmdir", "mkfifo", "link", "symlink", "chmod", "fchmodat"),
    *("mkstemp", "mkstemp64", "mkostemp", "mkostemp64", "mkstemps", "mkstemps64", "mkostemps"),
    *("mkostemps64", "mkdtemp"),
    *("execve", "execvpe", "_exit", "_Exit", "quick_exit"),
)


def wrap_flags(*, virtual: bool = False) -> list[str]:
    """The linker flags that let wrap.c listen and, in a virtual program, main.c start it."""
    names = (*_WRAPPED, "main") if virtual else _WRAPPED
    return [f"-Wl,--wrap={name}" for name in names]


@dataclass
class Changes:
    """Files one run changed, by absolute path; a value of None means the file is not there."""

    before: dict[Path, Path | None] = field(default_factory=dict)
    after: dict[Path, Path | None] = field(default_factory=dict)
    #: Modes before the run, of files and of folders.
    modes: dict[Path, int] = field(default_factory=dict)
    #: What the library made under names of its own choice: neither put back nor compared.
    random: set[Path] = field(default_factory=set)


def read_log(folder: Path) -> Changes:
    """What track.c recorded in `folder`: each changed path, its former content and mode."""
    log = folder / "log"
    changes = Changes()
    if not log.exists():
        return changes
    words = log.read_bytes().split(b"\0")
    for number, how, name in zip(words[0::3], words[1::3], words[2::3], strict=False):
        path = Path(name.decode(errors="surrogateescape"))
        kind, _, mode = how.partition(b":")
        if kind == b"random":
            changes.random.add(path)
        if path in changes.random:  # another process of the run may have found it there
            continue
        changes.before[path] = folder / number.decode() if kind == b"file" else None
        if kind != b"absent":
            changes.modes[path] = int(mode, 8)
    return changes


def collect(folder: Path) -> Changes:
    """Copy what a run left into `folder`, beside the log of that run."""
    changes = read_log(folder)
    for index, path in enumerate(changes.before):
        if path.is_file():
            changes.after[path] = folder / f"after-{index}"
            try:
                shutil.copyfile(path, folder / f"after-{index}")
            except OSError as error:
                raise RunError(f"{path}: cannot be compared: {error.strerror}") from error
        else:
            changes.after[path] = None
    return changes


def put_back(changes: Changes) -> None:
    """Make everything as it was before the run: content, mode, and what was not there is gone.

    The last change first, so that a folder the run made is empty when its turn comes.
    """
    failed: list[str] = []
    for path, copy in reversed(changes.before.items()):
        try:
            _put_back_one(path, copy, changes.modes.get(path))
        except OSError as error:
            failed.append(f"{path}: cannot be put back as it was: {error.strerror}")
    if failed:
        raise RunError("\n".join(failed))


def _put_back_one(path: Path, copy: Path | None, mode: int | None) -> None:
    is_folder = path.is_dir() and not path.is_symlink()
    if mode is None and is_folder:
        path.rmdir()
    elif mode is None:
        path.unlink(missing_ok=True)
    elif copy is None:
        path.mkdir(exist_ok=True)
        path.chmod(mode)
    else:
        if is_folder:
            path.rmdir()
        elif path.is_symlink():
            path.unlink()  # the run put a link in the file's place; its target is another file
        elif path.exists():
            path.chmod(mode | stat.S_IWUSR)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(copy, path)
        path.chmod(mode)


def _state(changes: Changes, other: Changes, path: Path) -> Path | None:
    """What `path` holds after a run; untouched by it, it holds what it held before the other."""
    return changes.after[path] if path in changes.after else other.before[path]


def differences(native: Changes, virtual: Changes) -> Iterator[str]:
    """One line for each file the two runs left differently, but for those in random folders."""
    random = native.random | virtual.random
    for path in sorted(native.after.keys() | virtual.after.keys()):
        if not random.isdisjoint(path.parents):
            continue
        a, b = _state(native, virtual, path), _state(virtual, native, path)
        if a is None and b is None:
            continue
        if a is None or b is None:
            yield f"{path}: left only by the {'virtual' if a is None else 'native'} run"
            continue
        offset = first_difference(a, b)
        if offset is not None:
            yield f"{path}: differs at byte {offset}"


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
