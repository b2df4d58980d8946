# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of `nandwich run`, and keeps them so that a second run starts at once.

A build is found again by what goes into it: the command, the tools, and the content of every file
the compiler read (its dependency list of the last time). The store lies in NANDWICH_CACHE,
else in $XDG_CACHE_HOME/nandwich or ~/.cache/nandwich; deleting it costs nothing but time.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nandwich import toolchain
from nandwich.errors import InputError

_KEPT = 100  # builds; the least recently used go first


def cache_dir() -> Path:
    """Where builds are kept."""
    chosen = os.environ.get("NANDWICH_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "nandwich"


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
        inputs: dict[str, str] = json.loads((entry / "inputs.json").read_text())
    except (OSError, ValueError):
        return False
    return all(_digest(Path(path)) == digest for path, digest in inputs.items())


def build(recipe: Recipe) -> Path:
    """The program, from the store or freshly built; InputError when it does not compile.

    The messages of compiler and linker go to stderr.
    """
    store = cache_dir() / "run"
    entry = store / recipe.key()
    with _alone(entry):
        if _current(entry):
            os.utime(entry)
        else:
            _build_anew(recipe, store, entry)
    return entry / "program"


@contextlib.contextmanager
def _alone(entry: Path) -> Iterator[None]:
    """Two commands that want the same program: the second waits for the build of the first."""
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        lock = (entry.parent / f"{entry.name}.lock").open("w")
    except OSError as error:
        raise InputError(
            f"{entry.parent}: cannot keep builds there: {error.strerror}; set NANDWICH_CACHE"
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_anew(recipe: Recipe, store: Path, entry: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="new-", dir=store))
    try:
        _build_in(recipe, folder)
        shutil.rmtree(entry, ignore_errors=True)
        folder.rename(entry)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _forget_oldest(store)


def _build_in(recipe: Recipe, folder: Path) -> None:
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        units = list(
            workers.map(
                lambda numbered: _compile(recipe, folder, *numbered), enumerate(recipe.sources)
            )
        )
    objects = [str(unit.target) for unit in units]
    link = (*recipe.link_command, *objects, *recipe.libraries, "-o", str(folder / "program"))
    _call(link, "the program does not link")
    inputs = {str(path): _digest(path) or "" for unit in units for path in unit.inputs}
    (folder / "inputs.json").write_text(json.dumps(inputs))


@dataclass(frozen=True)
class _Unit:
    target: Path
    inputs: list[Path]


def _compile(recipe: Recipe, folder: Path, index: int, source: Path) -> _Unit:
    target, depends = folder / f"{index}.o", folder / f"{index}.d"
    rest = ("-MD", "-MF", str(depends), "-c", str(source), "-o", str(target))
    _call((*recipe.compile_command, *rest), f"{source} does not compile")
    return _Unit(target, _dependencies(depends))


def _call(command: Sequence[str], failure: str) -> None:
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError as error:
        raise InputError(f"{command[0]} is missing; `nandwich doctor` says more") from error
    sys.stderr.write(toolchain.explain(done.stderr))
    if done.returncode != 0:
        raise InputError(f"{failure} (the compiler's messages are above)")


def _dependencies(path: Path) -> list[Path]:
    """The files named by a make dependency list, as clang writes it."""
    text = path.read_text(errors="surrogateescape").replace("\\\n", " ").partition(":")[2]
    words = text.replace("\\ ", "\0").split()
    return [Path.cwd() / word.replace("\0", " ").replace("$$", "$") for word in words]


def _forget_oldest(store: Path) -> None:
    entries = sorted(
        (path for path in store.iterdir() if (path / "program").exists()),
        key=lambda path: path.stat().st_mtime_ns,
    )
    for entry in entries[:-_KEPT]:
        shutil.rmtree(entry, ignore_errors=True)
