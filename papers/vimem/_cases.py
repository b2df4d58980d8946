# SPDX-License-Identifier: Apache-2.0
"""The runs behind V6 to V9, each done once: every layout of every case, and its cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from nandwich.vmtrace import layout
from papers.vimem import _programs, _rig, _source
from papers.vimem._rig import Cost

SCENARIOS = ("none", "query", "light")
TRACED = range(5)  # nodes of the grid whose traces are known
FRAMES = tuple(range(1, 13))
PAGES = (12, 24, 36, 48, 60)


@dataclass(frozen=True)
class Case:
    """One layout of one program in one situation."""

    program: str
    situation: str
    known: str  # what the layout was made from
    method: str
    cost: Cost
    each: tuple[Cost, ...] = ()  # of which that is the mean, a node each


Layouts = dict[tuple[str, str], _rig.Pages]  # by what is known, and method


def _nodes(quick: bool) -> range:
    return range(100, 110 if quick else 150)


def _laid(
    variables: _programs.Variables, known: dict[str, list[Sequence[_programs.Access]]]
) -> Layouts:
    layouts: Layouts = {}
    for name, sequences in known.items():
        program = _rig.learn(variables, sequences)
        layouts[name, "published"] = _rig.published(program)
        layouts[name, "ours"] = layout.ours(program)
        layouts["nothing", "first fit"] = program.graph.first_fit(_programs.PAGE)
    return layouts


@cache
def tinydb_layouts() -> Layouts:
    """What is known is nothing, the source, or five nodes' traces of a scenario."""
    known: dict[str, list[Sequence[_programs.Access]]] = {
        "none": [_programs.tinydb("none", node) for node in TRACED],
        "query": [_programs.tinydb("query", node) for node in TRACED],
    }
    layouts = _laid(_programs.TINYDB, known)
    layouts["source", "published"] = _source.tinydb_pages()
    return layouts


@cache
def mate_layouts() -> Layouts:
    """The same for the array of capsules; traces of the first two scenarios."""
    known: dict[str, list[Sequence[_programs.Access]]] = {
        name: [_programs.mate(name, node) for node in TRACED] for name in ("none", "counter")
    }
    return _laid(_programs.MATE, known)


@cache
def generated_layouts(pages: int, frames: int) -> Layouts:
    """The source sees every access; or every fourth is missing."""
    program = _programs.Generated(pages)
    layouts: Layouts = {}
    for known, accesses in (("all", program.accesses), ("incomplete", program.incomplete())):
        learnt = _rig.learn(program.variables, [accesses], frames)
        layouts[known, "published"] = _rig.published(learnt)
        layouts[known, "ours"] = layout.ours(learnt)
        if known == "all":
            layouts["nothing", "first fit"] = learnt.graph.first_fit(_programs.PAGE)
    return layouts


@cache
def tinydb(quick: bool) -> tuple[Case, ...]:
    """Figure 6."""
    found = []
    for scenario in SCENARIOS:
        runs = [_rig.packed(_programs.tinydb(scenario, node)) for node in _nodes(quick)]
        for (name, method), pages in tinydb_layouts().items():
            each = tuple(_rig.run(one, pages, 1) for one in runs)
            found.append(Case("TinyDB-like", scenario, name, method, _rig.average(each), each))
    return tuple(found)


@cache
def mate(quick: bool) -> tuple[Case, ...]:
    """Figure 7."""
    found = []
    for scenario in _programs.MATE_SCENARIOS:
        runs = [_rig.packed(_programs.mate(scenario, node)) for node in _nodes(quick)]
        for (name, method), pages in mate_layouts().items():
            each = tuple(_rig.run(one, pages, 1) for one in runs)
            found.append(Case("Mate-like", scenario, name, method, _rig.average(each), each))
    return tuple(found)


@cache
def generated(pages: int, frames: int) -> tuple[Case, ...]:
    """Figures 8 and 9."""
    program = _programs.Generated(pages)
    run = _rig.packed(program.accesses)
    situation = f"{pages} pages, {frames} in RAM"
    return tuple(
        Case("generated", situation, *key, _rig.run(run, laid, frames, program.repeat))
        for key, laid in generated_layouts(pages, frames).items()
    )


def of(cases: tuple[Case, ...], situation: str, known: str, method: str) -> Cost:
    """The cost of one of them."""
    for case in cases:
        if (case.situation, case.known, case.method) == (situation, known, method):
            return case.cost
    raise KeyError((situation, known, method))
