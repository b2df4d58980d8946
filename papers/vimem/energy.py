# SPDX-License-Identifier: Apache-2.0
"""V8c and V9c: the energy of the generated programs (Lachenmann et al., EuroSys 2007, figures 8 (c)
and 9 (c)): processor and flash of 1000 s, no radio and no LEDs, as in the document.

The processor is active while the accesses last, faults included, and powered down for the rest; its
currents are those of the document's simulator. What a transfer and a flash write take of the flash
follows from the document's currents and times.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment, near
from papers.vimem import _board_cases, _cases
from papers.vimem._rig import Cost

_SECONDS, _VOLTS = 1000, 3.0
_ACTIVE_A, _DOWN_A = 7.5667e-3, 0.1158e-3
_STANDBY_A, _READ_A, _WRITE_A = 10e-6, 10e-3, 35e-3
_READ_S, _WRITE_S = 3.6e-3, 16.3e-3
#: What the chip takes for a page read; for one sent to a buffer, as long on the wire; and for the
#: rewrite of a page of flash without its transfer.
_READ_J = _VOLTS * _READ_A * _READ_S
_REWRITE_J = _VOLTS * _WRITE_A * _WRITE_S - _READ_J
_ONE_DIGIT = 25
_TENTHS = 10
_SETUP = (
    f"published: Mica2, processor and flash of {_SECONDS} s in a simulator, 50,000 accesses. Ours: "
    f"V8's programs at {_VOLTS:g} V; processor {1000 * _ACTIVE_A:g} mA while accesses last and "
    f"{1e6 * _DOWN_A:g} uA else, as that simulator, Avrora, has it; flash by the document: 10 uA "
    "standby, 10 mA for 3.6 ms a page read or sent to a buffer, 35 mA for 16.3 ms a page written; "
)


@dataclass(frozen=True)
class Energy:
    """Joules of a run."""

    processor: float
    flash: float

    @property
    def all(self) -> float:
        return self.processor + self.flash


def idle_j() -> float:
    """Nothing done: both asleep."""
    return _VOLTS * (_DOWN_A + _STANDBY_A) * _SECONDS


def spent(us: float, cost: Cost) -> Energy:
    """Beyond idle_j(): an access takes so long, and the flash did what is counted."""
    seconds = us * cost.accesses / 1e6
    return Energy(
        _VOLTS * (_ACTIVE_A - _DOWN_A) * seconds,
        (cost.faults + cost.to_buffer) * _READ_J + cost.flash_writes * _REWRITE_J,
    )


@experiment(
    "V8c",
    claim="12 pages, all in RAM: energy more than with variables in RAM",
    published=0.02,
    unit="J",
    where="figure 8 (c), section 6.3.2",
    setup=f"{_SETUP}time of an access as measured on the emulated ATmega128, more than in RAM",
)
def frames(quick: bool) -> Report:
    """12 of 12 pages in RAM, measured; and what 1 and 4 pages take."""
    chosen = (12,) if quick else (1, 4, 12)
    runs = [(count, one) for count in chosen for one in _board_cases.generated(12, count, quick)]
    rows: list[list[Value]] = []
    for count, one in runs:
        used = spent(one.us, one.case.cost)
        rows.append(
            [
                count,
                one.case.known,
                one.case.method,
                round(one.us, 1),
                *(round(part, 4) for part in (used.processor, used.flash, idle_j() + used.all)),
            ]
        )
    resident = [one for count, one in runs if count == 12 and one.case.known == "all"]
    return Report(
        answers=list(more(resident[0].us, resident[0].case.cost)) if resident else [],
        columns=("pages in RAM", "known", "layout", "us an access", "CPU J", "flash J", "all J"),
        rows=rows,
    )


def more(us: float, cost: Cost) -> Iterator[Answer]:
    """Of a run without faults: energy beyond that of the plain program."""
    used = spent(us, cost).all
    why = f"an access takes {us:.1f} us more than in RAM, theirs 15"
    holds = near(used, 0.02, percent=_ONE_DIGIT)
    yield Answer(
        round(used, 3),
        holds=holds,
        part="more",
        why="" if holds else why,
        tolerance=f"{_ONE_DIGIT} %: half of the one digit that is printed",
    )
    share = 100 * used / idle_j()
    holds = near(share, 5, points=0.5)
    yield Answer(
        round(share, 1),
        holds=holds,
        part="share",
        claim="the same, of all that the plain program takes",
        published=5,
        unit="%",
        why="" if holds else why,
        tolerance="half a point: published as a whole one",
    )
    yield Answer(
        round(idle_j(), 2),
        part="plain",
        claim="energy with variables in RAM, about (0.02 J are 5 % of it)",
        published=0.4,
        verdict=NOT_JUDGED,
        why="the currents of sleep alone, which are its simulator's: nothing of ours is in it",
    )


#: What is known, how it is laid out, in words; J from the smallest program to the largest.
_GROWTH = (
    ("all", "published", "all accesses known", 1.1),
    ("incomplete", "published", "all but every fourth access known", 2.2),
    ("nothing", "first fit", "first fit", 3.7),
)


@experiment(
    "V9c",
    claim="12 pages in RAM: energy of 60 pages of data more than of 12",
    published=1.1,
    unit="J",
    judges_quick=True,
    where="figure 9 (c), section 6.3.3",
    setup=f"{_SETUP}time of an access by the latencies of table 2, 12 and 60 pages, 12 in RAM",
)
def sizes(_quick: bool) -> Report:
    """From the smallest program to the largest."""
    answers: list[Answer] = []
    rows: list[list[Value]] = []
    for known, method, what, published in _GROWTH:
        used, costs = [], []
        for pages in (_cases.PAGES[0], _cases.PAGES[-1]):
            situation = f"{pages} pages, 12 in RAM"
            cost = _cases.of(_cases.generated(pages, 12), situation, known, method)
            used.append(spent(cost.latency_us, cost))
            costs.append(cost)
            told = [round(part, 3) for part in (used[-1].processor, used[-1].flash)]
            rows.append([pages, known, method, *told])
        grown = used[1].all - used[0].all
        holds = near(grown, published, percent=_TENTHS)
        answers.append(
            Answer(
                round(grown, 1),
                holds=holds,
                part=known if known != "nothing" else "first fit",
                claim=f"12 pages in RAM: energy of 60 pages of data more than of 12, {what}",
                published=published,
                why=f"{100 * costs[1].flash_writes / costs[1].faults:.0f} % of the faults cost a "
                f"flash write of {1000 * _REWRITE_J:.1f} mJ, which makes "
                f"{100 * used[1].flash / used[1].all:.0f} % of it the flash's, theirs about half"
                + ("; so near by chance" if holds else ""),
                tolerance=f"{_TENTHS} %: half of the last digit that is printed is 1 to 5 %, the "
                "programs are not the published ones",
            )
        )
    columns = ("pages", "known", "layout", "CPU J", "flash J")
    return Report(answers=answers, columns=columns, rows=rows)
