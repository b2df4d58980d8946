# SPDX-License-Identifier: Apache-2.0
"""Order of files: no two of them call each other, so that a reader can begin at the bottom."""

import re
from collections.abc import Iterator
from pathlib import Path

from tidy.clex import blanked, functions
from tidy.tree import Finding, Source

#: Where files have an order. A folder below counts by itself: two programs may use a name twice.
_FOLDERS = ("core/", "models/", "twin/", "replay/", "ports/")
_LISTED = re.compile(r"^ \*   ([a-z]\w*\.c) ", re.MULTILINE)
_PROMISE = "each calls only those above it"
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def file_circles(sources: list[Source], root: Path) -> Iterator[Finding]:  # noqa: ARG001
    """One finding for each group of files that reach each other by calls; its value, how many."""
    units = [one for one in sources if one.path.startswith(_FOLDERS) and one.path.endswith(".c")]
    graph = _calls(units)
    reached = {path: _reached(path, graph) for path in graph}
    left = set(graph)
    for path in sorted(graph):
        circle = [other for other in sorted(reached[path]) if path in reached.get(other, ())]
        if path in left and len(circle) > 1:
            text = "files that call each other: " + ", ".join(circle)
            yield Finding(path, 1, "file-circle", text, value=len(circle))
        left -= set(circle)


def written_order(sources: list[Source], root: Path) -> Iterator[Finding]:  # noqa: ARG001
    """A header that lists files, "each calls only those above it", is right."""
    units = [one for one in sources if one.path.startswith(_FOLDERS) and one.path.endswith(".c")]
    graph = _calls(units)
    for header in (one for one in sources if one.path.endswith(".h")):
        words = " ".join(header.text.split("*/", 2)[1:2]).replace("\n *", "")
        if _PROMISE not in words:
            continue
        folder = header.path.rsplit("/", 1)[0]
        listed = [f"{folder}/{name}" for name in _LISTED.findall(header.text)]
        for place, path in enumerate(listed):
            if path not in graph:
                yield Finding(header.path, 1, "file-order", f"lists {path}, which is not there")
                continue
            for other in sorted(graph[path].intersection(listed[place + 1 :])):
                text = f"calls {other}, which {header.name} lists below it"
                yield Finding(path, 1, "file-order", text, subject=other)


def _calls(units: list[Source]) -> dict[str, set[str]]:
    """By file: the files whose functions it calls, its own apart."""
    homes: dict[str, set[str]] = {}
    own: dict[str, set[str]] = {}
    for unit in units:
        own[unit.path] = {function.name for function in functions(unit.text)}
        for function in functions(unit.text):
            if not unit.lines[function.first - 1].startswith("static"):
                homes.setdefault(function.name, set()).add(unit.path)
    graph: dict[str, set[str]] = {}
    for unit in units:
        called: set[str] = set()
        for name in _CALL.findall(blanked(unit.text)):
            home = homes.get(name, set())
            if len(home) == 1 and name not in own[unit.path]:
                called |= home
        graph[unit.path] = called
    return graph


def _reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    """Every file that a file comes to by calls; itself too, if they lead back."""
    found: set[str] = set()
    pending = [start]
    while pending:
        for other in graph.get(pending.pop(), set()) - found:
            found.add(other)
            pending.append(other)
    return found
