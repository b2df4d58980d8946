# SPDX-License-Identifier: Apache-2.0
"""T4: what one access costs: plain RAM, slot hit, slot miss, no slot at all.

Lin et al. 2013, table 4, in Cortex-M3 cycles. On the emulated Cortex-M3 cycles are a band by the
table of the processor's manual. On the host the instructions of an access are counted, exactly, by
callgrind: a loop of N accesses and one of 2 N, natively and in virtual memory.
"""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lab.device import figures
from lab.device.boards import BOARDS
from lab.device.figures import Cost
from lab.experiments import Answer, Report, Value, experiment
from nandwich import plots
from nandwich.errors import RunError
from nandwich.run import recipe
from nandwich.run.measure import Job
from nandwich.twin.config import Device

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SOURCE = Path(__file__).with_name("access.c")
_KINDS = {"hit": "h", "miss": "m", "no slot": "c"}
_FUNCTIONS = {"h": "measure", "m": "measure", "c": "measure_call"}
_PUBLISHED_CYCLES = {"RAM": 3, "no slot": 24, "hit": 19, "miss": 33}
_HOST = "x86-64 instructions here, Cortex-M3 cycles there; "
#: What the board's table of accesses calls them.
_ON_BOARD = {"hit": "buffer.load", "miss": "miss.load"}


def _instructions(program: Path, kind: str, count: int, config: str) -> int:
    """Instructions executed inside the measured function, callees included."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "callgrind"
        (Path(name) / "config").write_text(config)
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        command += [f"--toggle-collect={_FUNCTIONS[kind]}", str(program), kind, str(count)]
        environment = {"NANDWICH_CONFIG": str(Path(name) / "config"), "PATH": "/usr/bin:/bin"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            raise RunError("valgrind is missing; `nandwich doctor` says how to get it") from error
        found = re.search(
            r"^(?:totals|summary): (\d+)", out.read_text() if out.exists() else "", re.M
        )
    if done.returncode != 0 or found is None or int(found.group(1)) == 0:
        raise RunError(f"callgrind of {program} {kind} failed: {done.stderr[-500:]}")
    return int(found.group(1))


def _per_access(program: Path, kind: str, count: int, config: str) -> float:
    """Instructions of one turn of the loop: start and end of the function cancel out."""
    once = _instructions(program, kind, count, config)
    twice = _instructions(program, kind, 2 * count, config)
    return (twice - once) / count


def _measure(job: Job, count: int) -> dict[str, float]:
    """Instructions that an access of each kind adds to a plain one."""
    assert job.native is not None
    loop = _per_access(job.native, "h", count, "")
    added = {
        kind: _per_access(job.virtual, letter, count, job.config) - loop
        for kind, letter in _KINDS.items()
    }
    return {kind: round(value, 2) for kind, value in added.items()}


def _board_answers(costs: dict[str, Cost], reasons: dict[str, str]) -> list[Answer]:
    """The whole access, as published, by the upper end of its band."""
    return [
        Answer(
            costs[name].cycles_most,
            holds=costs[name].cycles_most <= _PUBLISHED_CYCLES[kind],
            why=f"{costs[name].instructions:g} instructions, {costs[name].cycles_least:g} cycles "
            f"at least, memory without wait states; {reasons[kind]}",
            part=f"cortex-m3-{kind}",
            claim=f"{kind}: a load on the Cortex-M3, at most",
            published=_PUBLISHED_CYCLES[kind],
            unit="cycles",
        )
        for kind, name in _ON_BOARD.items()
        if name in costs
    ]


@experiment(
    "T4",
    claim="cost an access, on the host added to a plain access",
    published="RAM 3, no LCB 24, LCB hit 19, LCB miss 33 (best cases)",
    unit="instructions",
)
def access_cost(quick: bool) -> Report:
    """Counts for resident pages; every kind on the same array and device."""
    job = recipe.job((_SOURCE,), ("-O2", "-fno-unroll-loops"), Device(), ())
    added = _measure(job, 1000 if quick else 10000)
    plain = _PUBLISHED_CYCLES["RAM"]
    published = {kind: _PUBLISHED_CYCLES[kind] - plain for kind in _KINDS}
    reasons = {
        "hit": "the tag of a pinned page is compared once; no range check, no dirty bit to set",
        "miss": "the miss moves a pin and hashes the page, where the paper's best case finds it in "
        "the first frame it looks at",
        "no slot": "a byte through the bulk call, which takes any length and either kind of memory",
    }
    answers = [
        Answer(
            added[kind],
            holds=added[kind] <= published[kind],
            why=_HOST + reasons[kind],
            part=kind.replace(" ", "-"),
            claim=f"{kind}: what it adds to a plain access",
            published=published[kind],
        )
        for kind in _KINDS
    ]
    answers.append(
        Answer(
            f"{added['hit']:g} < {added['miss']:g}",
            holds=added["hit"] < added["miss"],
            part="order",
            claim="a hit is cheaper than a miss",
            published="19 < 33",
            must_hold=True,
        )
    )
    board = BOARDS["cortex-m3"]
    costs = {} if board.missing() else figures.accesses(board)
    answers += _board_answers(costs, reasons)
    rows: list[list[Value]] = [[kind, published[kind], added[kind]] for kind in _KINDS]
    for row in rows:
        cost = costs.get(_ON_BOARD.get(str(row[0]), ""))
        row += ["", ""] if cost is None else [cost.cycles_least, cost.cycles_most]
    return Report(
        answers=answers,
        columns=[
            "access",
            "published, cycles added",
            "host, instructions added",
            "Cortex-M3, cycles with the access, least",
            "most",
        ],
        rows=rows,
        draw=(lambda axes: _draw(axes, costs)) if costs else None,
    )


def _draw(axes: "Axes", costs: dict[str, Cost]) -> None:
    """Cycles of the same processor beside each other; the host's instructions are in the table."""
    ends = [costs[name] for name in _ON_BOARD.values()]
    series: dict[str, list[float | None]] = {
        "published, best cases": [_PUBLISHED_CYCLES[kind] for kind in _ON_BOARD],
        "here, at least": [cost.cycles_least for cost in ends],
        "here, at most": [cost.cycles_most for cost in ends],
    }
    plots.grouped(axes, list(_ON_BOARD), series, log=True)
    axes.set_ylabel("cycles of a load on the Cortex-M3")
    axes.legend(fontsize=7)
