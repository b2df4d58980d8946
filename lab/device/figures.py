# SPDX-License-Identifier: Apache-2.0
"""What programs and single accesses take on the boards: for `nandwich bench device`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.device import play, report
from lab.device.boards import Board
from nandwich.errors import RunError
from nandwich.run import measure

_ACCESS = ROOT / "lab" / "device" / "access.c"
_FEW, _MANY = 1000, 3000
#: Bytes after which pages share a look-aside entry: 64 entries of 512 B.
_SAME_ENTRY = 64 * 512
#: Guards as Lin et al. 2013 have them: each a call, a buffer and nothing beside it; LRU.
CALLS: dict[str, Any] = {"guards": "outline", "windows": False, "lookaside": 0, "policy": "lru"}


def wanted(board: Board, source: Path, *arguments: str | Path, **changes: Any) -> play.Wanted:
    """A run with the command's defaults; `changes` are fields of Wanted."""
    usual = play.Wanted(
        board=board,
        sources=(source,),
        arguments=tuple(map(str, arguments)),
        flags=("-O2",),
        layer=None,
        vm=8 << 20,
        vm_start=board.vm_start,
        ram=32 << 10,
        frame=512,
        slots=16,
        guards="inline",
        policy="clock",
        stack=8192,
        seed=1,
        fault="",
        compare=True,
    )
    return replace(usual, **changes)


def run(board: Board, source: Path, *arguments: str | Path, **changes: Any) -> dict[str, Any]:
    """The JSON of one run; RunError when it fails."""
    chosen = wanted(board, source, *arguments, **changes)
    play.check(chosen)
    with measure.scratch() as folder:
        result = play.play(chosen, b"", Path(folder), lambda _changes: None)
        value = report.payload(result)
        failed = report.failure(result, value)
    if failed:
        raise RunError(f"{source.name} on {board.name}: {failed}")
    return value


def record(board: Board, source: Path, *arguments: str | Path, to: Path, **changes: Any) -> int:
    """Every access of a native run to its globals and its heap, into a trace; its instructions."""
    with measure.scratch() as folder:
        return play.record(wanted(board, source, *arguments, **changes), Path(folder), to)


@dataclass(frozen=True)
class Cost:
    """Of one access, exact; cycles by the processor's table, 0 where there is none."""

    instructions: float
    cycles_least: float
    cycles_most: float


def _round(board: Board, mode: str, step: int, **changes: Any) -> Cost:
    """One round of a loop of access.c: from two numbers of rounds."""
    usual: dict[str, Any] = {"vm": 1 << 20, "ram": 40 << 10, "compare": False, **changes}
    few, many = (
        run(board, _ACCESS, mode, str(rounds), str(step), **usual) for rounds in (_FEW, _MANY)
    )
    more = _MANY - _FEW

    def of(value: dict[str, Any], end: str) -> int:
        return 0 if value["cycles"] is None else int(value["cycles"][end])

    return Cost(
        (many["instructions"]["total"] - few["instructions"]["total"]) / more,
        (of(many, "least") - of(few, "least")) / more,
        (of(many, "most") - of(few, "most")) / more,
    )


def _less(one: Cost, other: Cost) -> Cost:
    return Cost(
        one.instructions - other.instructions,
        one.cycles_least - other.cycles_least,
        one.cycles_most - other.cycles_most,
    )


def accesses(board: Board) -> dict[str, Cost]:
    """What an access takes, the access itself included, the loop around it not."""
    still, moving = _round(board, "loop", 0), _round(board, "none", 0)
    return {
        "buffer.load": _less(_round(board, "still", 0), still),
        "buffer.store": _less(_round(board, "keep", 0), still),
        "aside.load": _less(_round(board, "load", 0), moving),
        "aside.store": _less(_round(board, "store", 0), moving),
        "miss.load": _less(_round(board, "load", _SAME_ENTRY), moving),
        "miss.store": _less(_round(board, "store", _SAME_ENTRY), moving),
    }


def called(board: Board) -> dict[str, Cost]:
    """A load whose guard is one of CALLS: it hits its buffer; it finds the page used last in the
    one buffer of all loads, for none goes without; it misses its buffer, the page resident."""
    alone = {**CALLS, "slots": 1}
    moving = _round(board, "none", 0, **CALLS)
    return {
        "hit": _less(_round(board, "still", 0, **CALLS), _round(board, "loop", 0, **CALLS)),
        "no buffer": _less(_round(board, "still", 0, **alone), _round(board, "loop", 0, **alone)),
        "miss": _less(_round(board, "load", _SAME_ENTRY, **CALLS), moving),
    }
