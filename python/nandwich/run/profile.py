# SPDX-License-Identifier: Apache-2.0
"""Execution counts of a native run, which tell `nandwich cc` and `nandwich run` where guards pay.

It knows functions by name and shape; those that have changed since are built without it.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from nandwich import files
from nandwich.compiler import profiles
from nandwich.errors import InputError, RunError, not_written
from nandwich.run import build, guest, recipe


def provide(
    path: Path,
    sources: tuple[Path, ...],
    flags: Sequence[str],
    arguments: Sequence[str],
    stdin: bytes,
    folder: Path,
) -> None:
    """A profile of this name is there, made where it was not; InputError where that is none."""
    if not path.exists():
        _make(path, sources, flags, arguments, stdin, folder)
    profiles.check(path)


def _make(
    path: Path,
    sources: tuple[Path, ...],
    flags: Sequence[str],
    arguments: Sequence[str],
    stdin: bytes,
    folder: Path,
) -> None:
    """Runs the native program once, its files put back, and writes what it counted to `path`.

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
        if not raw.exists() or raw.stat().st_size == 0:
            raise RunError(
                f"--profile: the native run counted nothing ({guest.how(outcome)}): only a program "
                "that ends by exit() or a return from main does"
            )
        merged = folder / "counts.profdata"
        subprocess.run([profiles.TOOL, "merge", str(raw), "-o", str(merged)], check=True)
    except FileNotFoundError as error:
        raise InputError(f"{profiles.TOOL} is missing; `nandwich doctor` says more") from error
    finally:
        outcome.put_back()
    try:
        files.replace(path, merged.read_bytes())
    except OSError as error:
        raise not_written(f"--profile: {path}: {error.strerror}", error) from error
