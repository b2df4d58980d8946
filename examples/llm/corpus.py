# SPDX-License-Identifier: Apache-2.0
"""The text a model learns: this project's documentation and the sources of its core."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELD_OUT_EVERY = 12
"""Of the sorted pages of docs/, each 12th is never trained on: a page is held out as a whole."""


@dataclass(frozen=True)
class Corpus:
    """Texts in UTF-8, a text a file: what is trained on, and the pages that are held out."""

    training: list[bytes]
    held_out: list[bytes]

    def digest(self) -> str:
        """SHA-256 over both parts, in hexadecimal digits."""
        sums = [hashlib.sha256(text).digest() for text in (*self.training, *self.held_out)]
        return hashlib.sha256(b"".join(sums)).hexdigest()


def load(root: Path = ROOT) -> Corpus:
    """Read docs/**/*.md and core/**/*.[ch] below `root`, in the order of their names.

    Pages named llm.md are left out: they tell what a model of the others is worth.
    """
    names = [path for path in sorted((root / "docs").rglob("*.md")) if path.name != "llm.md"]
    pages = [path.read_bytes() for path in names]
    sources = [path.read_bytes() for path in sorted((root / "core").rglob("*.[ch]"))]
    held_out = pages[HELD_OUT_EVERY // 2 :: HELD_OUT_EVERY]
    kept = [page for page in pages if page not in held_out]
    return Corpus(training=sources + kept, held_out=held_out)
