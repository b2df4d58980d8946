# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/store-cost.md: what `nandwich bench store` counted."""

from collections.abc import Callable, Mapping, Sequence

from lab import ROOT
from lab.benches import found_pages
from lab.pages import put, row
from lab.peers import OURS, OURS_ECC, OURS_SEALED, Counts

PAGE = ROOT / "docs" / "store-cost.md"
_TITLES = {OURS: "**ours**", OURS_ECC: "ours over ECC"}

_WHAT = "reads / programs / erases"
_OVERWRITE = f"overwrite: {_WHAT}", "mJ", "longest ms"

#: Of a chip and a store its counts by work.
_Found = Mapping[tuple[str, str], Mapping[str, Counts]]


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:#.3g}"


def _mj(counts: Counts | None) -> str:
    return _number(counts.energy_mj) if counts else ""


def _cells(overwrite: Counts) -> list[str]:
    operations = f"{overwrite.reads} / {overwrite.programs} / {overwrite.erases}"
    return [operations, _mj(overwrite), _number(overwrite.worst_ns / 1e6)]


def _all_stores(found: _Found) -> list[str]:
    titles = "chip", "store", f"append: {_WHAT}", "mJ", "read back mJ", "small mJ"
    lines = [row(*titles, *_OVERWRITE), "|---|---|---|--:|--:|--:|---|--:|--:|"]
    for (chip, store), of in found.items():
        if store != OURS_SEALED:
            append = _cells(of["append"])[:2]
            rest = _mj(of["read-back"]), _mj(of["small"]), *_cells(of["overwrite"])
            lines.append(row(chip, _TITLES.get(store, store), *append, *rest))
    return lines


def _idle(found: _Found) -> list[str]:
    lines = [row("chip", *_OVERWRITE), "|---|---|--:|--:|"]
    for (chip, store), of in found.items():
        if store == OURS:
            lines.append(row(chip, *_cells(of["overwrite-idle"])))
    return lines


def _sealed(found: _Found) -> list[str]:
    titles = "chip", "", "append mJ", "read back mJ", "small mJ"
    lines = [row(*titles, *_OVERWRITE), "|---|---|--:|--:|--:|---|--:|--:|"]
    for (chip, store), of in found.items():
        if store in (OURS, OURS_SEALED):
            first = (_mj(of.get(work)) for work in ("append", "read-back", "small"))
            title = "plain" if store == OURS else "sealed"
            lines.append(row(chip, title, *first, *_cells(of["overwrite"])))
    return lines


_TABLES: dict[str, Callable[[_Found], list[str]]] = {
    "stores": _all_stores,
    "idle time": _idle,
    "sealed": _sealed,
}


def write(every: Sequence[Counts]) -> None:
    """Puts the tables of all counts, chip by chip, into the page."""
    found: dict[tuple[str, str], dict[str, Counts]] = {}
    for counts in every:
        found.setdefault((counts.shape, counts.store), {})[counts.work] = counts
    page = PAGE.read_text(encoding="utf-8")
    for name, table in _TABLES.items():
        begin = f"<!-- {name}: nandwich bench store -->"
        page = put(page, (begin, f"<!-- end of {name} -->"), table(found))
    found_pages[PAGE] = page
