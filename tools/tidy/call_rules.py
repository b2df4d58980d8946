# SPDX-License-Identifier: Apache-2.0
"""Rules the compiler answers: no recursion (gcc's own call graph) and no VLA in core/.

Calls through the contracts' tables of verbs are not edges here: a filter in front of a chip calls
the verb of the chip behind it, never itself, and how deep chips are stacked is the caller's choice.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tidy.layer_rules import circles
from tidy.tree import Finding, Source

_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
_VLA = re.compile(r"^([^:\n]+):(\d+):\d+: (?:error|warning): (.*variable length array.*)$", re.M)


def recursion_and_vla(sources: list[Source], root: Path) -> Iterator[Finding]:
    """Compile each file of core/ on its own, then look for circles in the calls of all of them."""
    units = [s for s in sources if s.path.startswith("core/") and s.path.endswith(".c")]
    graph: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for unit in units:
            finding, edges = _compile(unit, root, Path(folder))
            yield from finding
            for caller, callee in edges:
                graph.setdefault(caller, []).append(callee)
    for circle in circles(graph):
        names = [name.rsplit(":", 1)[-1] for name in circle]
        text = "recursion: " + " -> ".join((*names, names[0]))
        path = _where(names[0], units)
        yield Finding(path, 1, "recursion", text, subject=names[0])


def _compile(unit: Source, root: Path, folder: Path) -> tuple[list[Finding], list[tuple[str, str]]]:
    assembly = folder / "unit.s"
    command = [
        "gcc", "-std=c11", "-O0", "-ffreestanding", "-Wvla", "-fcallgraph-info",
        "-I", "core/include", "-S", "-o", str(assembly), unit.path,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    found = [
        Finding(match.group(1), int(match.group(2)), "vla", match.group(3))
        for match in _VLA.finditer(done.stderr)
    ]
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "")
        found.append(Finding(unit.path, 1, "compile", f"does not compile on its own: {first}"))
        return found, []
    return found, _EDGE.findall(assembly.with_suffix(".ci").read_text())


def _where(function: str, units: list[Source]) -> str:
    pattern = re.compile(rf"\b{re.escape(function)}\s*\(")
    return next((unit.path for unit in units if pattern.search(unit.text)), "core")
