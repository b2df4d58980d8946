# SPDX-License-Identifier: Apache-2.0
"""The source archive: a C compiler is enough, and each list of files is what its part needs."""

import re
import subprocess
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pack
import pytest

from nandwich import __version__, paths

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
TAKES = [take for take in pack.takes() if take.headers]
#: What no other compiler sees of a header.
_UNSEEN = re.compile(r"/\*.*?\*/|#if defined\(__SDCC.*?#(?:else|endif)", re.DOTALL)


def run(*command: str | Path, folder: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive, unpacked, and every source of it compiled where it lies."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(pack.pack("source", folder)) as archive:
        archive.extractall(folder, filter="data")
    top = folder / f"nandwich-core-{__version__}"
    page = (top / "README.md").read_text()
    shown = re.findall(r"^    ((?:for file|ar) .*)$", page, re.MULTILINE)
    assert len(shown) == 2
    strict = "gcc -std=c11 -O0 -Wall -Wextra -Werror"
    run("sh", "-e", "-c", "\n".join(shown).replace("cc -Os", strict), folder=top)
    assert (top / "libnandwich.a").is_file()
    return top


@dataclass(frozen=True)
class Symbols:
    """What each source defines for others and needs of them."""

    defined: dict[str, set[str]]
    needed: dict[str, set[str]]


@pytest.fixture(scope="module")
def symbols(unpacked: Path) -> Symbols:
    objects = [path.relative_to(unpacked).as_posix() for path in unpacked.glob("*/*.o")]
    found = Symbols({name: set() for name in objects}, {name: set() for name in objects})
    for line in run("nm", "-A", *objects, folder=unpacked).splitlines():
        file, _, rest = line.partition(":")
        kind, name = rest.split()[-2:]
        if kind in "TDRBC":
            found.defined[file].add(name)
        elif kind == "U":
            found.needed[file].add(name)
    return found


@pytest.mark.quick
@pytest.mark.parametrize("kind", pack.KINDS)
def test_same_bytes_each_time(kind: str, tmp_path: Path) -> None:
    """Goal: an archive made twice is the same, and holds no list that the tree has outgrown."""
    first = pack.pack(kind, tmp_path / "a").read_bytes()
    assert pack.pack(kind, tmp_path / "b").read_bytes() == first


def test_lists_are_in_the_archive(unpacked: Path) -> None:
    """Goal: make reads the lists, and every source is in one of them."""
    names = ["NW_" + take.name.upper().replace("-", "_") for take in TAKES]
    rule = "all:\n\t@echo " + " ".join(f"$({name})" for name in names) + "\n"
    (unpacked / "Makefile").write_text("include files.mk\n" + rule)
    listed = set(run("make", "-s", folder=unpacked).split())
    sources = {path.relative_to(unpacked).as_posix() for path in unpacked.glob("*/*.c")}
    # They look into the layers, for tests.
    checks = {f"ftl/check_{layer}.c" for layer in ("lavish", "tree")}
    assert sources - listed == checks
    assert listed <= sources


@pytest.mark.quick
def test_number_of_files_shown() -> None:
    """Goal: the page that praises how few files a layer needs counts them right."""
    files = {take.name: set(take.files) for take in TAKES}
    count = len(files["spi-nand"] | files["tree"])
    assert f"$(NW_TREE))` are {count} files" in (ROOT / "docs" / "packages.md").read_text()


@pytest.mark.parametrize("take", TAKES, ids=lambda take: take.name)
def test_a_list_links_alone(
    take: pack.Take, unpacked: Path, symbols: Symbols, tmp_path: Path
) -> None:
    """Goal: a program that uses all that the headers declare links with the listed files and the C
    library, and no listed file is there for nothing."""
    objects = [file.replace(".c", ".o") for file in take.files]
    homes = {name: file for file in objects for name in symbols.defined[file]}
    declared = _declared(unpacked, take.headers) - _inlined(unpacked)
    assert declared, "the headers declare nothing"
    lines = [f"#include <nandwich/{header}>" for header in take.headers]
    lines += ["const void *const nw_used[] = {"]
    lines += [f"    (const void *)&{name}," for name in sorted(declared)]
    lines += ["};", "int main(void) { return nw_used[0] == 0; }"]
    (tmp_path / "user.c").write_text("\n".join(lines) + "\n")
    options = (f"-I{unpacked / 'include'}", tmp_path / "user.c")
    run("gcc", *options, *objects, "-o", tmp_path / "user", folder=unpacked)
    pending = list((declared | _declared(unpacked, take.along)) & set(homes))
    reached: set[str] = set()
    while pending:
        home = homes[pending.pop()]
        if home not in reached:
            reached.add(home)
            pending += symbols.needed[home] & set(homes)
    assert set(objects) == reached, "listed in vain"


def _declared(top: Path, headers: Iterable[str]) -> set[str]:
    """Functions and tables that headers declare."""
    found = set()
    for header in headers:
        text = _UNSEEN.sub("", (top / "include/nandwich" / header).read_text())
        found |= set(re.findall(r"^[a-z].*?\b(nw_\w+)\([^*)]", text, re.MULTILINE))
        found |= set(re.findall(r"^extern .*?\b(nw_\w+)(?:\[.*\])?;", text, re.MULTILINE))
    return found


def _inlined(top: Path) -> set[str]:
    """Functions with a body in some header."""
    texts = [path.read_text() for path in (top / "include/nandwich").glob("*.h")]
    return {name for text in texts for name in re.findall(r"static inline .*?(nw_\w+)\(", text)}
