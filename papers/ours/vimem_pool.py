# SPDX-License-Identifier: Apache-2.0
"""V-pool: the pool of 1.5 times the pages (Lachenmann et al., EuroSys 2007, section 3.3.2), whose
wear the document does not tell."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from lab.experiments import NOT_GIVEN, NOT_JUDGED, OURS, Answer, Report, Value, experiment
from nandwich import _native
from papers.vimem import _cases, _programs, _rig
from papers.vimem._programs import PAGE


def worn(written: Sequence[int], pages: int, pool: int) -> Counter[int]:
    """Programs of each page of flash: each write takes the next page of the pool in a cycle that
    holds nothing; pool 0: in place."""
    programs: Counter[int] = Counter(dict.fromkeys(range(pool or pages), 0))
    place: dict[int, int] = {}
    following = 0
    for page in written:
        slot = page
        if pool:
            taken = set(place.values())
            slot = next(
                at % pool for at in range(following, following + pool) if at % pool not in taken
            )
            following = slot + 1
            place[page] = slot
        programs[slot] += 1
    return programs


@cache
def _written() -> tuple[int, list[int]]:
    """Flash writes of the program of 12 pages with one in RAM, by the heuristic: how many pages it
    has, and which is written each time."""
    program = _programs.Generated(_programs.SMALLEST)
    pages = _cases.generated_layouts(_programs.SMALLEST, 1)["all", "published"]
    order = _native.node_writes(_rig.packed(program.accesses), program.repeat, pages, 1)
    return max(pages) + 1, order


@experiment(
    "V-pool",
    claim="a pool of 1.5 times the pages: programs of its most worn page, by those in place",
    published=NOT_GIVEN,
    unit="%",
    judges_quick=True,
    where=OURS,
    setup="published: flash pages 1.5 times the data as an example, each write to the next of them "
    f"that is free, maps in RAM; no wear told. Ours: V8's program of {_programs.SMALLEST} pages of "
    f"{PAGE} B with one in RAM, layout by the heuristic, all accesses known",
)
def pool(_quick: bool) -> Report:
    """The same writes in place, and with pools of 1.1 to 2 times the pages."""
    pages, written = _written()
    in_place = max(worn(written, pages, 0).values())
    rows: list[list[Value]] = [[1.0, pages, len(written), in_place, 100.0]]
    for times in (1.1, 1.25, 1.5, 2.0):
        size = max(pages + 1, round(pages * times))
        most = max(worn(written, pages, size).values())
        rows.append([times, size, len(written), most, round(100 * most / in_place, 1)])
    (asked,) = [row for row in rows if row[0] == 1.5]
    return Report(
        answers=[
            Answer(
                asked[-1],
                verdict=NOT_JUDGED,
                why=f"the document tells the pool and no wear; {len(written):,} writes: the most "
                f"worn page is programmed {asked[3]} times, in place {in_place}",
            )
        ],
        columns=("pool, times the pages", "pages", "writes", "of the most worn", "% of in place"),
        rows=rows,
    )
