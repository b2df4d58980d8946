# SPDX-License-Identifier: Apache-2.0
"""Where things are: the checkout, the build, headers, static libraries, the compiler plugin.

In a checkout everything built lies under `build/release` (or where NANDWICH_BUILD points); in an
installed wheel it lies in `nandwich/native` beside this file.
"""

import os
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ROOT = _PACKAGE.parent.parent

#: The checkout this package runs from, or None when it was installed from a wheel.
CHECKOUT: Path | None = _ROOT if (_ROOT / "core" / "CMakeLists.txt").is_file() else None

#: Folders and kinds of file that go into the release build.
_BUILT_FOLDERS = (
    "core",
    "twin",
    "ports/stack",
    "replay",
    "ports/guest",
    "ports/watch",
    "ports/host",
    "ports/tagged",
    "compiler",
    "python/src",
    "lab/src",
)
_BUILT_SUFFIXES = (".c", ".h", ".S", ".cpp", ".hpp", ".def", ".ld", "CMakeLists.txt")


def _refusal(text: str) -> Exception:
    """An InputError, whose module takes long to load (click): the package imports this one."""
    from nandwich.errors import InputError

    return InputError(text)


def build_dir() -> Path:
    """Folder of build products: `build/release`, or NANDWICH_BUILD when that is set."""
    if CHECKOUT is None:
        return _PACKAGE / "native"
    chosen = os.environ.get("NANDWICH_BUILD")
    return CHECKOUT / chosen if chosen else CHECKOUT / "build" / "release"


def static_library(name: str) -> Path:
    """Path of one of our archives, say `nw_core`."""
    return _present(build_dir() / "lib" / f"lib{name}.a", f"static library {name}")


def watcher() -> Path:
    """Path of the program that runs others and keeps the files they change (ports/watch)."""
    return _present(build_dir() / "lib" / "nandwich-watch", "watcher")


def compiler_plugin() -> Path:
    """Path of the LLVM pass plugin that clang-19 loads."""
    return _present(build_dir() / "lib" / "nandwich-pass.so", "compiler plugin")


def page_asset(name: str) -> Path:
    """Path of a file of the library that draws pages (tools/assets.txt)."""
    folder = _PACKAGE / "native" / "page" if CHECKOUT is None else CHECKOUT / "build/assets/page"
    path = folder / name
    if not path.exists():
        raise _refusal(f"what draws pages was not fetched: {path} is missing; run `make setup`")
    return path


def linker_script() -> Path:
    """Path of the script that places a program's globals in virtual memory on the host."""
    return _present(build_dir() / "lib" / "host.ld", "linker script")


def include_dirs() -> list[Path]:
    """Folders to give a compiler by -I for the public headers of core, twin and host port."""
    if CHECKOUT is None:
        return [build_dir() / "include"]
    return [CHECKOUT / part / "include" for part in ("core", "twin", "ports/host", "ports/tagged")]


def cache_dir() -> Path:
    """Where what was built for a user is kept: NANDWICH_CACHE, or the usual place."""
    chosen = os.environ.get("NANDWICH_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "nandwich"


def _present(path: Path, what: str) -> Path:
    if not path.exists():
        raise _refusal(f"{what} not built: {path} is missing; run `make build` in the checkout")
    return path


def _built_sources(root: Path) -> Iterator[os.DirEntry[str]]:
    pending = [str(root / folder) for folder in _BUILT_FOLDERS if (root / folder).is_dir()]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.name.endswith(_BUILT_SUFFIXES):
                    yield entry


def check_fresh() -> None:
    """Refuse to go on with a build that is older than its sources (a few milliseconds)."""
    if CHECKOUT is None:
        return
    stamp = build_dir() / ".built"
    if not stamp.exists():
        raise _refusal(f"nothing built in {build_dir()}; run `make build` in {CHECKOUT}")
    built = stamp.stat().st_mtime_ns
    for entry in _built_sources(CHECKOUT):
        if entry.stat().st_mtime_ns > built:
            source = Path(entry.path).relative_to(CHECKOUT)
            raise _refusal(f"{source} changed after the last build; run `make build`")
