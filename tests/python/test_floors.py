# SPDX-License-Identifier: Apache-2.0
"""The Python house has floors: what a package imports lies below it, and the reading order is the
import order. The lab, which measures the project, lies above; no user's package holds it."""

import ast
from pathlib import Path

import pytest

from nandwich import paths

pytestmark = pytest.mark.quick

#: Bottom first. Rooms of one floor do not know each other.
FLOORS = (
    {"_version", "errors", "files", "locks", "names", "paths", "plots", "quantities"},
    {"twin"},
    {"compiler"},
    {"energy", "fleet", "replay", "results", "run", "sched", "store", "torture", "vmtrace"},
    {"report"},
    {"cli"},
    {"__main__"},
)
#: Seen by all: the binding in C++, and the package itself.
_EVERYWHERE = {"_native", "__init__"}


def _root() -> Path:
    assert paths.CHECKOUT is not None
    return paths.CHECKOUT


def _imported(source: Path) -> set[str]:
    """Dotted names of what a file imports, as far as modules go."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _rooms(source: Path) -> set[str]:
    """The rooms of the package that a file imports from."""
    words = (name.split(".") for name in _imported(source))
    return {parts[1] for parts in words if parts[0] == "nandwich" and len(parts) > 1}


def _climbs(package: Path) -> list[str]:
    """Imports of a room on the same floor or above."""
    level = {room: number for number, floor in enumerate(FLOORS) for room in floor}
    found = []
    for source in sorted(package.rglob("*.py")):
        room = source.relative_to(package).parts[0].removesuffix(".py")
        if room in _EVERYWHERE:
            continue
        ground = level[room] == 0  # small modules, each of which may use another
        for other in sorted(_rooms(source) - _EVERYWHERE - {room}):
            if level[other] > level[room] or (level[other] == level[room] and not ground):
                found.append(f"{source.relative_to(package)} imports nandwich.{other}")
    return found


def test_imports_go_down() -> None:
    assert _climbs(_root() / "python" / "nandwich") == []


def test_a_climb_is_seen(tmp_path: Path) -> None:
    for name, text in (
        ("twin/parts.py", "from nandwich.store import image\n"),
        ("store/image.py", "from nandwich.replay.options import Options\n"),
        ("names.py", "from nandwich import errors\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _climbs(tmp_path) == [
        "store/image.py imports nandwich.replay",
        "twin/parts.py imports nandwich.store",
    ]


def test_the_package_does_not_know_the_lab() -> None:
    package = _root() / "python" / "nandwich"
    outside = {"lab", "bench", "papers", "tests", "tools"}
    for source in package.rglob("*.py"):
        assert not {name.partition(".")[0] for name in _imported(source)} & outside, source
