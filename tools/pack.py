#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the device core for other people's builds, as archives of the same bytes each time.

    tools/pack.py [--out FOLDER] [source | zephyr | esp-idf | platformio | arduino | rust]...

Without names: all of them, into build/packages. Needs Python 3.11 and nothing else.
"""

import argparse
import gzip
import io
import re
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION_H = "core/include/nandwich/version.h"
#: Nobody's time of day goes into an archive.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Kind:
    """One package: what it is called, and where in it the core lies."""

    name: str
    core: str  # prefix of the core's files
    include: str = "include/"  # what becomes of the core's own include/
    suffix: str = ".tar.gz"


KINDS = {
    "source": Kind("nandwich-core", ""),
    "zephyr": Kind("nandwich-zephyr", "core/"),
    "esp-idf": Kind("nandwich-esp-idf", "core/"),
    "platformio": Kind("nandwich-platformio", "core/"),
    "arduino": Kind("Nandwich", "src/", include="", suffix=".zip"),
    "rust": Kind("nandwich-rust", "core/"),
}


@dataclass(frozen=True)
class Take:
    """One thing that a firmware takes: its headers, every source it needs, and the headers of
    those parts that come along."""

    name: str
    what: str
    headers: tuple[str, ...]
    files: tuple[str, ...]
    along: frozenset[str]


def version() -> str:
    text = (ROOT / VERSION_H).read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define NW_VERSION_\w+ (\d+)$", text, re.MULTILINE))


def takes() -> list[Take]:
    """The [[take]] entries of core/layers.toml, each with what those it uses bring along."""
    table = tomllib.loads((ROOT / "core/layers.toml").read_text(encoding="utf-8"))
    found: dict[str, Take] = {}
    for entry in table["take"]:
        files: set[str] = set()
        for glob in entry["files"]:
            matches = [path.relative_to(ROOT / "core").as_posix() for path in ROOT.glob(glob)]
            if not matches:
                raise SystemExit(f"core/layers.toml: [[take]] {entry['name']}: no file is {glob}")
            files.update(matches)
        along: set[str] = set()
        for used in entry["uses"]:
            files.update(found[used].files)
            along |= {*found[used].headers, *found[used].along}
        found[entry["name"]] = Take(
            entry["name"],
            entry["what"],
            tuple(entry["headers"]),
            tuple(sorted(files)),
            frozenset(along),
        )
    return list(found.values())


def lists() -> str:
    """The sources of each thing to take, as variables of make."""
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# The sources that each part of Nandwich needs. Take several: $(sort $(NW_A) $(NW_B)).",
    ]
    for take in takes():
        if take.headers:
            headers = ", ".join(f"nandwich/{header}" for header in take.headers)
            name = "NW_" + take.name.upper().replace("-", "_")
            lines += ["", f"# {take.what}: {headers}", f"{name} = \\"]
            lines += [f"    {file} \\" for file in take.files[:-1]] + [f"    {take.files[-1]}"]
    return "\n".join(lines) + "\n"


def contents(kind: str) -> dict[str, bytes]:
    """Every file of a package, by its path in it."""
    chosen = KINDS[kind]
    files = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    for path in sorted((ROOT / "core").rglob("*")):
        name = path.relative_to(ROOT / "core").as_posix()
        if path.suffix in (".c", ".h") or (kind == "source" and _builds(name)):
            if name.startswith("include/"):
                name = chosen.include + name.removeprefix("include/")
            files[chosen.core + name] = path.read_bytes()
    if kind == "source":
        files["files.mk"] = lists().encode()
    own = ROOT / "packages" / kind
    for path in sorted(own.rglob("*")):
        name = path.relative_to(own).as_posix()
        if path.is_file() and not name.startswith((".", "target/")):
            files[name] = path.read_bytes()
    return files


def _builds(name: str) -> bool:
    return name == "CMakeLists.txt" or name.endswith(".cmake")


def pack(kind: str, folder: Path) -> Path:
    """Writes one archive; its path."""
    chosen = KINDS[kind]
    top = f"{chosen.name}-{version()}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (top + chosen.suffix)
    files = sorted(contents(kind).items())
    if chosen.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in files:
                entry = zipfile.ZipInfo(f"{top}/{name}", ZIP_TIME)
                entry.external_attr = 0o644 << 16
                packed.writestr(entry, data, zipfile.ZIP_DEFLATED)
        return target
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as unpacked:
        for name, data in files:
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(data)
            unpacked.addfile(member, io.BytesIO(data))
    target.write_bytes(gzip.compress(plain.getvalue(), mtime=0))
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "packages", metavar="FOLDER")
    options = parser.parse_args()
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"{unknown[0]}: one of {', '.join(KINDS)} is allowed")
    for kind in options.kinds or KINDS:
        print(pack(kind, options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
