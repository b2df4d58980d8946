# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of `nandwich run`, and keeps them so that a second run starts at once.

A build is found again by what goes into it: the command, the tools, and the content of every file
the compiler read (its dependency list of the last time). The store lies in NANDWICH_CACHE,
else in $XDG_CACHE_HOME/nandwich or ~/.cache/nandwich; deleting it costs nothing but time.

In the store, for a build with key KEY:
  KEY/       the program and the digests of what it was made from
  KEY.lock   held by whoever builds, looks at or drops KEY/
  use-*/     links to the programs one running command uses, locked by it as long as it lives
  new-*/     a build under way, locked likewise
"""

import atexit
import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nandwich import paths
from nandwich.compiler import link_errors
from nandwich.errors import InputError, not_written

_OWNED = ("use-", "new-")  # each belongs to one running command
#: What compilers and linkers end a line with when they had no room to write. LLVM then adds a dump
#: of its stack, which tells nobody anything.
_SPENT = {os.strerror(code): code for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)}
_DISK_FULL = re.compile(rf"(?m)^\S.*: '?({'|'.join(_SPENT)})'?$")
_KEPT = 100  # builds; the least recently used go first


@dataclass(frozen=True)
class Recipe:
    """How to build one program.

    `compile_command` gets `-MD -MF FILE -c SOURCE -o OBJECT` appended for each source;
    `link_command` gets the objects, `libraries` and `-o PROGRAM`. `tools` are files whose change
    makes a new build necessary: compiler plugin, archives.
    """

    compile_command: tuple[str, ...]
    link_command: tuple[str, ...]
    sources: tuple[Path, ...]
    libraries: tuple[str, ...]
    tools: tuple[Path, ...]
    #: Puts into words what compiler and linker say.
    explain: Callable[[str], str] = link_errors.explain

    def key(self) -> str:
        """Hex digest of everything that is known before the compiler runs."""
        parts = [
            os.getcwd(),  # noqa: PTH109 - relative include paths hang on it
            *self.compile_command,
            "--",
            *self.link_command,
            "--",
            *(str(source) for source in self.sources),
            "--",
            *self.libraries,
        ]
        for tool in self.tools:
            status = tool.stat()
            parts.append(f"{tool} {status.st_size} {status.st_mtime_ns}")
        return hashlib.sha256(os.fsencode("\0".join(parts))).hexdigest()[:32]


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _current(entry: Path) -> bool:
    """Whether the build kept in `entry` was made from the files as they are now."""
    try:
        inputs = _inputs(entry)
    except (OSError, ValueError):
        return False
    return all(_digest(Path(path)) == digest for path, digest in inputs.items())


def _inputs(entry: Path) -> dict[str, str]:
    """The files a build was made from, with their digests."""
    inputs: dict[str, str] = json.loads((entry / "inputs.json").read_text())
    return inputs


@dataclass(frozen=True)
class Built:
    """A program, and every file the compiler read for it."""

    program: Path
    inputs: tuple[Path, ...]


def build(recipe: Recipe) -> Built:
    """The program, from the store or freshly built; InputError when it does not compile, RunError
    when there is no room to keep it.

    Its path stays good until this process ends, whatever other commands build or drop meanwhile.
    The messages of compiler and linker go to stderr.
    """
    store = paths.cache_dir() / "run"
    try:
        store.mkdir(parents=True, exist_ok=True)
        return _build(recipe, store, store / recipe.key())
    except OSError as error:
        raise not_written(
            f"{store}: cannot keep builds there: {error.strerror}; set NANDWICH_CACHE", error
        ) from error


def _build(recipe: Recipe, store: Path, entry: Path) -> Built:
    _clear_what_is_left(store)
    used = _in_use(store) / entry.name
    with _alone(entry):
        if _current(entry):
            os.utime(entry)
        else:
            _build_anew(recipe, store, entry)
        # A second link to the same file: it outlives the entry, which any command may drop.
        used.unlink(missing_ok=True)
        used.hardlink_to(entry / "program")
        inputs = tuple(map(Path, _inputs(entry)))
    _forget_oldest(store)
    return Built(used, inputs)


@contextlib.contextmanager
def _alone(entry: Path) -> Iterator[None]:
    """Two commands that want the same program: the second waits for the build of the first."""
    while True:
        with _lock_path(entry).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_still(lock.fileno(), _lock_path(entry)):  # else dropped while we waited
                yield
                return


def _lock_path(entry: Path) -> Path:
    return entry.with_name(f"{entry.name}.lock")


def _is_still(opened: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        return False


def _own_folder(store: Path, prefix: str) -> tuple[Path, int]:
    """A new folder, and a descriptor that holds its lock: nobody clears it away meanwhile."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=store))
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # cleared away before it was locked
        fcntl.flock(lock, fcntl.LOCK_SH)
        if _is_still(lock, folder):
            return folder, lock
        os.close(lock)


@functools.cache
def _in_use(store: Path) -> Path:
    """The folder of the programs this process runs."""
    folder, _ = _own_folder(store, "use-")  # locked until the process ends
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _build_anew(recipe: Recipe, store: Path, entry: Path) -> None:
    folder, lock = _own_folder(store, "new-")
    try:
        _build_in(recipe, folder)
        shutil.rmtree(entry, ignore_errors=True)
        folder.rename(entry)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _build_in(recipe: Recipe, folder: Path) -> None:
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        units = list(
            workers.map(
                lambda numbered: _compile(recipe, folder, *numbered), enumerate(recipe.sources)
            )
        )
    objects = [str(unit.target) for unit in units]
    link = (*recipe.link_command, *objects, *recipe.libraries, "-o", str(folder / "program"))
    _call(link, "the program does not link", recipe.explain)
    inputs = {str(path): _digest(path) or "" for unit in units for path in unit.inputs}
    (folder / "inputs.json").write_text(json.dumps(inputs))


@dataclass(frozen=True)
class _Unit:
    target: Path
    inputs: list[Path]


def _compile(recipe: Recipe, folder: Path, index: int, source: Path) -> _Unit:
    target, depends = folder / f"{index}.o", folder / f"{index}.d"
    rest = ("-MD", "-MF", str(depends), "-c", _operand(source), "-o", str(target))
    _call((*recipe.compile_command, *rest), f"{source} does not compile", recipe.explain)
    if not (target.is_file() and depends.is_file()):
        raise InputError(f"{source}: a compiler flag asks for something else than a program")
    return _Unit(target, _dependencies(depends))


def _operand(source: Path) -> str:
    """A source as no compiler takes it for an option: `./-x.c` came as `-x.c`."""
    return f"./{source}" if str(source).startswith(("-", "@")) else str(source)


def _call(command: Sequence[str], failure: str, explain: Callable[[str], str]) -> None:
    try:
        done = subprocess.run(
            command, stderr=subprocess.PIPE, text=True, errors="surrogateescape", check=False
        )
    except FileNotFoundError as error:
        raise InputError(f"{command[0]} is missing; `nandwich doctor` says more") from error
    full = _DISK_FULL.search(done.stderr) if done.returncode != 0 else None
    if full is not None:
        raise OSError(_SPENT[full[1]], full[1])
    sys.stderr.write(explain(done.stderr))
    if done.returncode != 0:
        raise InputError(f"{failure} (the compiler's messages are above)")


def _dependencies(path: Path) -> list[Path]:
    """The files named by a make dependency list, as clang writes it."""
    text = path.read_text(errors="surrogateescape").replace("\\\n", " ").partition(":")[2]
    words = text.replace("\\ ", "\0").split()
    return [Path.cwd() / word.replace("\0", " ").replace("$$", "$") for word in words]


def _forget_oldest(store: Path) -> None:
    """Drop the builds used least recently."""
    entries: list[tuple[int, Path]] = []
    for path in store.iterdir():
        if path.suffix != ".lock" and not path.name.startswith(_OWNED):
            with contextlib.suppress(FileNotFoundError):
                entries.append((path.stat().st_mtime_ns, path))
    for _, entry in sorted(entries)[:-_KEPT]:
        _drop(entry)


def _clear_what_is_left(store: Path) -> None:
    """Remove what commands that died left behind."""
    for path in store.iterdir():
        if path.name.startswith(_OWNED):
            _clear_if_left(path)


def _clear_if_left(folder: Path) -> None:
    """Remove a folder whose owner is gone; its lock is free then."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass  # in use
    finally:
        os.close(lock)


def _drop(entry: Path) -> None:
    """Remove a build unless another command builds it or looks at it this moment."""
    with _lock_path(entry).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if _is_still(lock.fileno(), _lock_path(entry)):
            shutil.rmtree(entry, ignore_errors=True)
            _lock_path(entry).unlink(missing_ok=True)
