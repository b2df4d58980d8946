# SPDX-License-Identifier: Apache-2.0
"""The files tidy looks at, and what a finding is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

#: Folders that hold nothing of ours.
_SKIPPED = frozenset({"build", "dist", "target", "__pycache__"})
#: Generated, so nobody's to keep tidy.
_GENERATED = frozenset({"_native.pyi", "requirements.lock"})

C_SUFFIXES = (".c", ".h")
CXX_SUFFIXES = (".cpp", ".hpp")
SCRIPT_NAMES = ("Makefile", "CMakeLists.txt")


@dataclass(frozen=True, order=True)
class Finding:
    """One breach of one rule. `value` is what a ratchet entry limits (a length, or 1)."""

    path: str
    line: int
    rule: str
    text: str
    value: int = 1
    #: What the breach is about when a file can hold several of them (a function's name).
    subject: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@dataclass(frozen=True)
class Source:
    """One file of ours, read once."""

    root: Path
    path: str

    @cached_property
    def text(self) -> str:
        return (self.root / self.path).read_text(encoding="utf-8")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def is_c(self) -> bool:
        return self.path.endswith(C_SUFFIXES)

    @property
    def is_c_like(self) -> bool:
        return self.path.endswith(C_SUFFIXES + CXX_SUFFIXES)

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @property
    def is_doc(self) -> bool:
        return self.path.endswith(".md")

    @property
    def is_script(self) -> bool:
        """A build file or an executable script."""
        if self.name in SCRIPT_NAMES or self.path.endswith((".cmake", ".sh")):
            return True
        return "." not in self.name and self.text.startswith("#!")

    @property
    def is_source(self) -> bool:
        return self.is_c_like or self.is_python or self.is_script


def _walk(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") and entry.name != ".ci":
            continue
        if entry.is_symlink() or entry.name in _SKIPPED | _GENERATED:
            continue
        if entry.is_dir():
            yield from _walk(entry)
        else:
            yield entry


def sources(root: Path) -> list[Source]:
    """Every text file of ours under `root`, by path. Files that are not text are left out."""
    found = []
    for path in _walk(root):
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found.append(Source(root, path.relative_to(root).as_posix()))
    return found
