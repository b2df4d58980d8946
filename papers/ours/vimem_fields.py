# SPDX-License-Identifier: Apache-2.0
"""V-fields: what the fields of structs gain as elements of their own (Lachenmann et al., EuroSys
2007, section 4.1). Our compiler pass keeps a struct together, so this plays recorded accesses on
layouts of both kinds; docs/papers/vimem.md says why the pass does."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import ROOT
from lab.experiments import NOT_GIVEN, NOT_JUDGED, OURS, Answer, Report, Value, experiment
from nandwich import _native
from nandwich.compiler import driver
from nandwich.run.measure import scratch
from nandwich.vmtrace import layout
from papers.vimem import _cases, _programs, _rig
from papers.vimem._programs import TINYDB, Access, Variables

#: Arrays of the program like TinyDB whose elements are the fields of structs: fields of each.
_STRUCTS = {"timers": 3, "routing": 4}
_NODES = range(100, 110)
#: Bytes of the fields of examples/node.c's neighbours.
_NEIGHBOUR = (2, 1, 1, 4)
_FRAMES = (1, 2, 3, 4)

_Row = tuple[str, str, float, float]  # program, situation, faults of structs and of fields


def together() -> tuple[Variables, list[int]]:
    """The program like TinyDB with its structs together, and its element of each of TINYDB's."""
    table, element_of, first = [], [], 0
    for name, count, size in TINYDB.table:
        fields = _STRUCTS.get(name, 1)
        table.append((name, count // fields, size * fields))
        elements = len(TINYDB.elements()[name])
        element_of += [first + number // fields for number in range(elements)]
        first = element_of[-1] + 1
    return Variables(tuple(table)), element_of


def _tinydb(scenario: str, structs: bool) -> float:
    """Faults of a node in the mean, a page in RAM, by the heuristic from the own trace."""
    variables, element_of = together() if structs else (TINYDB, list(range(10_000)))

    def seen(node: int) -> Sequence[Access]:
        made = _programs.tinydb(scenario, node)
        return [(element_of[element], write) for element, write in made]

    known = _rig.learn(variables, [seen(node) for node in _cases.TRACED])
    pages = _rig.published(known)
    return _rig.average([_rig.run(_rig.packed(seen(node)), pages, 1) for node in _NODES]).faults


def _recorded(folder: Path) -> Path:
    """The trace of examples/node.c."""
    program, trace = folder / "record", folder / "node.acc"
    plan = driver.plan(["--trace", "-O2", str(ROOT / "examples/node.c"), "-o", str(program)])
    subprocess.run(plan.command, check=True)
    environment = {**os.environ, "NANDWICH_TRACE": str(trace)}
    subprocess.run([program], check=True, capture_output=True, env=environment)
    return trace


def _split(objects: Sequence[layout.Object]) -> list[layout.Object]:
    """Each field of each neighbour is an object."""
    found: list[layout.Object] = []
    for address, bytes_, element, name in objects:
        if not name.endswith(":neighbour"):
            found.append((address, bytes_, element, name))
            continue
        for start in range(address, address + bytes_, element):
            at = start
            for number, size in enumerate(_NEIGHBOUR):
                found.append((at, size, size, f"{name}[{(start - address) // element}].{number}"))
                at += size
    return found


def _node(trace: Path, split: bool) -> list[float]:
    """Faults by pages in RAM, by the heuristic from the own trace."""
    read = _native.AccessTrace(str(trace))
    objects = _split(read.objects) if split else read.objects
    parameters = layout.Parameters()
    graph = layout.layouter(str(trace), objects, parameters)
    graph.begin()
    while graph.load(read, 1 << 20):
        pass
    program = layout.Program(objects, graph, parameters, [])
    return [graph.play(_rig.published(program), count)["faults"] for count in _FRAMES]


def gains() -> list[_Row]:
    """Faults with structs together and with fields apart."""
    rows: list[_Row] = []
    for scenario in _cases.SCENARIOS:
        faults = (_tinydb(scenario, True), _tinydb(scenario, False))
        rows.append(("TinyDB-like", f"{scenario}, 1 page in RAM", *faults))
    with scratch() as folder:
        trace = _recorded(Path(folder))
        for count, one, other in zip(_FRAMES, _node(trace, False), _node(trace, True), strict=True):
            rows.append(("examples/node.c", f"{count} in RAM", one, other))
    return rows


@experiment(
    "V-fields",
    claim="faults fewer with the fields of structs as elements: TinyDB-like, a query",
    published=NOT_GIVEN,
    unit="%",
    judges_quick=True,
    where=OURS,
    setup="published: structs are split into elements of simple type, what that gains not told. "
    f"Ours: V6's program, nodes {_NODES[0]} to {_NODES[-1]}, timers and routing entries as structs "
    "of 12 and 8 B or as their fields of 4 and 2 B; and examples/node.c, whose neighbours are "
    "structs of 8 B with four fields; the heuristic from the own trace",
)
def fields(_quick: bool) -> Report:
    """The same accesses, structs together and their fields apart."""
    found = gains()
    rows: list[list[Value]] = [
        [program, situation, round(one), round(other), round(_rig.fewer(other, one), 1)]
        for program, situation, one, other in found
    ]
    by = {(row[0], str(row[1]).split(",")[0].split()[0]): row[4] for row in rows}
    node = ", ".join(f"{row[4]} % with {row[1]}" for row in rows if row[0] == "examples/node.c")
    return Report(
        answers=[
            Answer(
                by["TinyDB-like", "query"],
                verdict=NOT_JUDGED,
                why="no figure is published, and our pass keeps structs together; without a query "
                f"{by['TinyDB-like', 'none']} %, a light one {by['TinyDB-like', 'light']} %; "
                f"examples/node.c {node}",
            )
        ],
        columns=("program", "situation", "structs", "fields", "fewer %"),
        rows=rows,
    )
