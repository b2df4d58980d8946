# SPDX-License-Identifier: Apache-2.0
"""T4: what one access costs: plain RAM, slot hit, slot miss, no slot at all.

Lin et al. 2013, table 4, in Cortex-M3 cycles. On the emulated Cortex-M3 cycles are a band by the
table of the processor's manual: of guards that are calls, as the paper's, and of ours in place. On
the host the instructions of an access are counted, exactly, by callgrind: a loop of N accesses and
one of 2 N, natively and in virtual memory; they are told, and no verdict comes of them.
"""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lab.device import figures
from lab.device.boards import BOARDS
from lab.device.figures import Cost
from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment, meets
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
#: What the board's table of accesses calls them, guards in place.
_ON_BOARD = {"hit": "buffer.load", "miss": "miss.load"}
_WITHIN_PERCENT = 25
_TOLERANCE = (
    f"{_WITHIN_PERCENT} % either way, which our band of cycles has to meet: flash without wait "
    "states here, unknown there"
)
_REASONS = {
    "hit": "the tag of a pinned page is compared once; no range check, no dirty bit to set",
    "miss": "the miss moves a pin and hashes the page, where the paper's best case finds it in the "
    "first frame it looks at",
}
_CALL = (
    "a call of C code that looks into its table of buffers, where the paper passes it the buffer"
)
_IN_PLACE = "in place, without a call; "


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


def _board_answer(kind: str, part: str, claim: str, cost: Cost, why: str) -> Answer:
    """The whole access, as published."""
    published = _PUBLISHED_CYCLES[kind]
    apart = published * _WITHIN_PERCENT / 100
    return Answer(
        f"{cost.cycles_least:g} to {cost.cycles_most:g}",
        holds=meets((cost.cycles_least, cost.cycles_most), (published - apart, published + apart)),
        tolerance=_TOLERANCE,
        why=f"{cost.instructions:g} instructions; {why}",
        part=part,
        claim=claim,
        published=published,
        unit="cycles",
    )


def _board_answers(places: dict[str, Cost], calls: dict[str, Cost]) -> list[Answer]:
    """Of the Cortex-M3: guards as the paper's, and as ours are by default."""
    answers = [
        _board_answer(
            kind,
            f"cortex-m3-{kind.replace(' ', '-')}",
            f"{kind}: a load on the Cortex-M3, guards as calls",
            cost,
            _CALL + ("; " + _REASONS[kind] if kind == "miss" else ""),
        )
        for kind, cost in calls.items()
    ]
    hit, alone, miss = (calls[kind].cycles_least for kind in ("hit", "no slot", "miss"))
    answers.append(
        Answer(
            f"{hit:g}, {alone:g}, {miss:g}",
            holds=hit < alone < miss,
            tolerance="a claim of order: each is less than the next",
            why="without a buffer ours looks first at the page used last, a buffer for all",
            part="order",
            claim="a hit is cheaper than no buffer, and that than a miss, guards as calls",
            published="19 < 24 < 33",
            unit="cycles",
        )
    )
    answers += [
        _board_answer(
            kind,
            f"cortex-m3-{kind}-in-place",
            f"{kind}: a load on the Cortex-M3, guards in place",
            places[name],
            _IN_PLACE + _REASONS[kind],
        )
        for kind, name in _ON_BOARD.items()
    ]
    return answers


@experiment(
    "T4",
    claim="cost of an access",
    published="RAM 3, no LCB 24, LCB hit 19, LCB miss 33 (best cases)",
    unit="instructions",
    judges_quick=True,
    where="section 7.2.2, table 4",
    setup="published: 2,880,000 loads on the Cortex-M3 at 72 MHz, cycles an access, everything "
    "resident; translation is a call that is passed its last-cache buffer. Ours: loops of 1,000 "
    "and 3,000 loads on the emulated Cortex-M3, their difference, the loop itself taken off; "
    "cycles by the processor's manual, least and most; frames of 512 B, 16 buffers (no slot: one, "
    "that misses), no look-aside entries where guards are calls; on the host callgrind, -O2",
)
def access_cost(quick: bool) -> Report:
    """Counts for resident pages; every kind on the same array and device."""
    job = recipe.job((_SOURCE,), ("-O2", "-fno-unroll-loops"), Device(), ())
    added = _measure(job, 1000 if quick else 10000)
    plain = _PUBLISHED_CYCLES["RAM"]
    published = {kind: _PUBLISHED_CYCLES[kind] - plain for kind in _KINDS}
    answers = [
        Answer(
            added[kind],
            verdict=NOT_JUDGED,
            why="x86-64 instructions here, Cortex-M3 cycles there",
            part=kind.replace(" ", "-"),
            claim=f"{kind}: what it adds to a plain access on the host",
            published=published[kind],
        )
        for kind in _KINDS
    ]
    board = BOARDS["cortex-m3"]
    places: dict[str, Cost] = {}
    calls: dict[str, Cost] = {}
    if not board.missing():
        places, calls = figures.accesses(board), figures.called(board)
        answers += _board_answers(places, calls)
    rows: list[list[Value]] = []
    for kind in _KINDS:
        row: list[Value] = [kind, published[kind], added[kind]]
        for cost in (calls.get(kind), places.get(_ON_BOARD.get(kind, ""))):
            row += ["", ""] if cost is None else [cost.cycles_least, cost.cycles_most]
        rows.append(row)
    return Report(
        answers=answers,
        columns=[
            "access",
            "published, cycles added",
            "host, instructions added",
            "Cortex-M3 by calls, cycles with the access, least",
            "most",
            "Cortex-M3 in place, cycles with the access, least",
            "most in place",
        ],
        rows=rows,
        draw=(lambda axes: _draw(axes, places, calls)) if places else None,
    )


def _draw(axes: "Axes", places: dict[str, Cost], calls: dict[str, Cost]) -> None:
    """Cycles of the same processor beside each other; the host's instructions are in the table."""
    series: dict[str, list[float | None]] = {
        "published, best cases": [_PUBLISHED_CYCLES[kind] for kind in _ON_BOARD],
        "by calls, at least": [calls[kind].cycles_least for kind in _ON_BOARD],
        "in place, at least": [places[name].cycles_least for name in _ON_BOARD.values()],
        "in place, at most": [places[name].cycles_most for name in _ON_BOARD.values()],
    }
    plots.grouped(axes, list(_ON_BOARD), series, log=True)
    axes.set_ylabel("cycles of a load on the Cortex-M3")
    axes.legend(fontsize=7)
