# SPDX-License-Identifier: Apache-2.0
"""Execution counts of a native run, which tell `nandwich cc` and `nandwich run` where guards pay.

It knows functions by name and shape; those that have changed since are built without it.
"""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from nandwich import files
from nandwich.compiler import profiles
from nandwich.errors import InputError, RunError, not_written
from nandwich.run import build, guest, recipe


def provide(
    path: Path, count: Callable[[Path], Path], folder: Path, *, separate: bool = False
) -> str:
    """A profile of this name is there, made where it was not; a line that tells which.

    `count` runs the native program below the folder it is given and returns LLVM's raw counts.
    InputError where the file is no profile, and where the program is built file by file.
    """
    if separate:
        raise InputError(profiles.NOT_SEPARATE)
    fresh = not path.exists()
    if fresh:
        below = folder / "profile"
        below.mkdir()
        _merge(count(below), below / "counts.profdata", path)
    profiles.check(path)
    return f"{path}: {'counts of a native run' if fresh else 'read'}"


def _merge(raw: Path, merged: Path, path: Path) -> None:
    try:
        subprocess.run([profiles.TOOL, "merge", str(raw), "-o", str(merged)], check=True)
    except FileNotFoundError as error:
        raise InputError(f"{profiles.TOOL} is missing; `nandwich doctor` says more") from error
    try:
        files.replace(path, merged.read_bytes())
    except OSError as error:
        raise not_written(f"--profile: {path}: {error.strerror}", error) from error


def on_the_host(
    sources: tuple[Path, ...],
    flags: Sequence[str],
    arguments: Sequence[str],
    stdin: bytes,
    folder: Path,
) -> Path:
    """Runs the native program once, its files put back; what it counted.

    RunError where it counted nothing: it ended without exit(), or by a signal.
    """
    program = build.build(recipe.counting(sources, flags)).program
    raw = folder / "counts.profraw"
    with (folder / "stderr").open("wb") as talk:
        environment = {
            "LLVM_PROFILE_FILE": str(raw),
            "NANDWICH_NATIVE": str(folder / "report.json"),
        }
        name = (sources[0].stem, *arguments)
        outcome = guest.run(program, name, folder, environment, stdin=stdin, stderr=talk)
    try:
        counted = raw.read_bytes() if raw.exists() else b""
    finally:
        outcome.put_back()  # the counts too: the program wrote them
    if not counted:
        raise RunError(
            f"--profile: the native run counted nothing ({guest.how(outcome)}): only a program "
            "that ends by exit() or a return from main does"
        )
    raw.write_bytes(counted)
    return raw
