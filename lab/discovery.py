# SPDX-License-Identifier: Apache-2.0
"""Loads what lies in the checkout's papers/ and bench/ folders: every module, then what it
holds."""

import importlib
import sys
from pathlib import Path
from typing import TypeVar

from lab import ROOT

_Item = TypeVar("_Item")


def collect(folder: str, kind: type[_Item]) -> list[_Item]:
    """Every module-level object of `kind` in the modules under `folder`, in order of file name.

    Modules whose name starts with '_' are helpers: imported by the others, not searched.
    """
    return collect_from(ROOT, folder, kind)


def collect_from(root: Path, folder: str, kind: type[_Item]) -> list[_Item]:
    """The same for any folder that holds `folder`."""
    if str(root) not in sys.path:
        sys.path.append(str(root))
    found: list[_Item] = []
    for path in sorted((root / folder).rglob("*.py")):
        if path.name.startswith("_"):
            continue
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        module = importlib.import_module(name)
        found += [item for item in vars(module).values() if isinstance(item, kind)]
    return found
