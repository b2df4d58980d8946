# SPDX-License-Identifier: Apache-2.0
"""VF-9: kinds of data, and the order in which they leave the NVM.

Chen, PhD thesis, PolyU 2016, sections 3.3.4 and 3.5.2. A page is read only, written once or
updated. Which kind of data leaves first is an observation beside algorithm 2: ext4's log, then
files by their pattern, WeChat's before Facebook's, and metadata last.
"""

import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment
from nandwich import plots
from nandwich.replay import classes
from papers.tiering import _phone
from papers.tiering._phone import APPS, FLASH, JOINED, PAGE, VFLASH, Model
from papers.tiering.habits import SETUP

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USER = 1
#: First to leave, last to leave.
PUBLISHED_ORDER = ("log", "WeChat", "Facebook", "metadata")
NVM_PAGES = _phone.NVM_BYTES // PAGE
SHARES = ("read only", "written once", "updated")


@dataclass
class Kind:
    """What became of its pages."""

    read: set[int] = field(default_factory=set)
    writes: Counter[int] = field(default_factory=Counter)
    back: int = 0  # writes to a page written lately: no more others since than the NVM has pages

    def shares(self) -> list[float]:
        """Percent of pages, in the order of SHARES."""
        pages = len(self.read | set(self.writes))
        once = sum(count == 1 for count in self.writes.values())
        counts = (pages - len(self.writes), once, len(self.writes) - once)
        return [100 * count / max(1, pages) for count in counts]

    @property
    def returns(self) -> float:
        """Percent of writes."""
        return 100 * self.back / max(1, self.writes.total())


def _pages(model: Model) -> Iterator[tuple[str, int, bool]]:
    """Kind, page, and whether it is written."""
    sectors = 128 * model.blocks  # of the chip: where pages lie does not matter here
    named = {"journal": "log", "inodes": "metadata"}
    records = struct.iter_unpack("<QQQQBBH4x", _phone._Month(model, USER, sectors).play())
    for _, at, length, _, op, content, app in records:
        kind = named.get(classes.NAMES[content], APPS[app - 1].name)
        for page in range(at // PAGE, (at + length) // PAGE):
            yield kind, page, op != 0


def kinds(model: Model) -> dict[str, Kind]:
    """Of all that a user's applications ask for."""
    found: dict[str, Kind] = defaultdict(Kind)
    last: dict[int, int] = {}
    now = 0
    for name, page, written in _pages(model):
        if not written:
            found[name].read.add(page)
            continue
        now += 1
        found[name].back += now - last.get(page, -NVM_PAGES) <= NVM_PAGES
        found[name].writes[page] += 1
        last[page] = now
    return dict(found)


def _draw(rows: list[list[Value]], axes: "Axes") -> None:
    names = [str(row[0]).replace(" ", "\n") for row in rows]
    heads = (*SHARES, "written again")
    plots.grouped(
        axes, names, {head: [float(row[2 + i]) for row in rows] for i, head in enumerate(heads)}
    )
    axes.tick_params(axis="x", labelsize=6)
    axes.set_ylim(0, 130)  # room for the legend
    axes.set_ylabel("% of pages; written again: of writes")
    axes.legend(fontsize=7, ncols=4, loc="upper right")


@experiment(
    "VF-9",
    claim="order in which kinds of data leave the NVM, the least updated first",
    published=", ".join(PUBLISHED_ORDER),
    unit="",
    where="figure 3.9, sections 3.3.4 and 3.5.2",
    setup=SETUP + ". First user, ten days; written again: the share of a kind's page writes that "
    f"come within {NVM_PAGES:,} page writes of the one before",
)
def order(quick: bool) -> Report:
    """Kinds of pages, and what comes of keeping metadata to the last."""
    base = _phone.quick(_phone.BASE) if quick else _phone.BASE
    model = _phone.shorter(base)
    found = kinds(model)
    flash, vflash, joined = (_phone.run(USER, model, way) for way in (FLASH, VFLASH, JOINED))
    more = 100 * (joined.mean_ratio(flash) / vflash.mean_ratio(flash) - 1)
    less = 100 * (1 - joined.written_to_flash / vflash.written_to_flash)
    ordered = sorted(PUBLISHED_ORDER, key=lambda name: found[name].returns)
    answers = [
        Answer(
            ", ".join(ordered),
            verdict=NOT_JUDGED,
            why="by the share written again: "
            + ", ".join(f"{name} {found[name].returns:.0f} %" for name in ordered)
            + "; how often an application updates, and how long the log is, is our choice",
        ),
        Answer(
            f"{more:+.1f}",
            verdict=NOT_JUDGED,
            why=f"class+habit over habit; {less:.1f} % less is written to flash. How much metadata "
            "there is, is our choice",
            part="metadata",
            claim="speed gained by metadata leaving last, mean of applications",
            unit="%",
            where=OURS,
        ),
    ]
    names = ["log", "metadata", *(app.name for app in APPS)]
    rows: list[list[Value]] = [
        [
            name,
            len(found[name].read | set(found[name].writes)),
            *(round(share, 1) for share in found[name].shares()),
            round(found[name].returns, 1),
        ]
        for name in names
    ]
    columns = ["kind", "pages", *(f"{name}, %" for name in SHARES), "written again, % of writes"]
    return Report(answers, columns, rows, lambda axes: _draw(rows, axes))
