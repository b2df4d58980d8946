# SPDX-License-Identifier: Apache-2.0
"""The sample of the cases of V6 to V9 that runs on the emulated board too: one node of those whose
means the figures show, and the sizes at the ends of the figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from lab.device import tagged_cost
from lab.experiments import OURS, Answer
from papers.vimem import _cases, _node, _programs, _rig
from papers.vimem._cases import Case, Layouts
from papers.vimem._node import Run

NODE = 100
_FIRST, _PUBLISHED, _OURS = ("nothing", "first fit"), ("all", "published"), ("all", "ours")


@dataclass(frozen=True)
class OnBoard:
    """One of them."""

    case: Case  #: as the board counts it
    us: float  #: an access, more than with all variables in RAM
    simulated: _rig.Cost

    @property
    def agrees(self) -> bool:
        """Faults and all transfers, to the last one."""
        return self.case.cost == self.simulated


def _measured(
    program: str,
    situation: str,
    run: Run,
    layouts: Layouts,
    chosen: Sequence[tuple[str, str]],
    frames: int = 1,
) -> list[OnBoard]:
    if missing():
        return []
    packed = _rig.packed([access for event in run.events for access in event])
    found = []
    for known, method in chosen:
        pages = layouts[known, method]
        measured = _node.measure(run, pages, frames)
        case = Case(program, situation, known, method, measured.cost)
        simulated = _rig.run(packed, pages, frames, run.repeat)
        found.append(OnBoard(case, measured.us, simulated))
    return found


@cache
def tinydb(quick: bool) -> tuple[OnBoard, ...]:
    """Each scenario by first fit, from the source, and from traces of a query."""
    found: list[OnBoard] = []
    for scenario in _cases.SCENARIOS[:1] if quick else _cases.SCENARIOS:
        run = Run(_programs.TINYDB, _programs.tinydb_events(scenario, NODE))
        own = "none" if scenario == "none" else "query"
        chosen = [_FIRST, (own, "published"), (own, "ours")]
        chosen += [] if quick else [("source", "published")]
        found += _measured("TinyDB-like", scenario, run, _cases.tinydb_layouts(), chosen)
    return tuple(found)


@cache
def mate(quick: bool) -> tuple[OnBoard, ...]:
    """Each scenario by first fit, and from traces of the counter."""
    found: list[OnBoard] = []
    for scenario in ("counter",) if quick else tuple(_programs.MATE_SCENARIOS):
        run = Run(_programs.MATE, _programs.mate_events(scenario, NODE))
        chosen = [_FIRST, ("counter", "published"), ("counter", "ours")]
        found += _measured("Mate-like", scenario, run, _cases.mate_layouts(), chosen)
    return tuple(found)


@cache
def generated(pages: int, frames: int, quick: bool) -> tuple[OnBoard, ...]:
    """First fit, and layouts that know all."""
    program = _programs.Generated(pages)
    array = _programs.Variables((("x", program.count, 4),))  # the same elements, as one variable
    run = Run(array, (tuple(program.accesses),), program.repeat)
    chosen = [_PUBLISHED] if quick else [_FIRST, _PUBLISHED, _OURS, ("incomplete", "published")]
    situation = f"{pages} pages, {frames} in RAM"
    layouts = _cases.generated_layouts(pages, frames)
    return tuple(_measured("generated", situation, run, layouts, chosen, frames))


def missing() -> str:
    """Packages without which nothing runs on the board; "" for none."""
    return ", ".join(_node.missing())


def answer(found: Sequence[OnBoard], sample: str) -> Answer:
    """Whether board and simulator agree; a claim of ours that must hold."""
    absent, apart = missing(), sum(not one.agrees for one in found)
    return Answer(
        "not run" if absent else apart,
        holds=not absent and apart == 0,
        why=f"the emulated board needs {absent}" if absent else "" if not apart else "a defect",
        part="board",
        claim=f"runs on the emulated ATmega128 with other faults or transfers than the simulator, "
        f"of {len(found)} ({sample})",
        published=0,
        unit="runs",
        where=OURS,
        must_hold=not absent,
    )


def ram_saved(pages: int, frames: int) -> float:
    """Of a program with so many pages of 4-byte elements: its bytes less those that the run time
    takes with its frames and tables, % of them."""
    bytes_ = pages * _programs.PAGE
    taken = tagged_cost.memory([("many", bytes_ // 4, 4)], frames).ram
    return 100 * (1 - taken / bytes_)
