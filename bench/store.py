# SPDX-License-Identifier: Apache-2.0
"""What a durable byte costs: our store and others on the same work and the same flash."""

from dataclasses import dataclass

from bench import _store_page
from lab import peers
from lab._native import store_work
from lab.benches import Figure, bench
from lab.peers import OURS, OURS_ECC, OURS_SEALED, Counts, NotMeasuredError, Shape
from nandwich import _native
from nandwich.cli import output


@dataclass(frozen=True)
class Goal:
    """How our store is set up on a shape, within 4 KiB of RAM where 512 bytes are a page or less,
    and what it has to reach: figure (behind the shape's name) and target."""

    frames: int
    read_ahead: bool
    anchor_bytes: int
    targets: dict[str, float]


GOALS = {
    "nand-512": Goal(
        24,
        True,
        0,
        {
            "append.energy": 15,
            "read-back.energy": 6,
            "small.energy": 0.5,
            "overwrite.energy": 1000,
            "overwrite.erases": 300,
            "overwrite.worst": 2.3,
            "ram": 4096,
        },
    ),
    "nand-2k": Goal(24, False, 0, {"append.energy": 60}),
    "nor-256": Goal(
        40,
        False,
        8192,
        {
            "append.energy": 15.5,  # 15 without the second anchor
            "small.energy": 0.5,
            "overwrite.energy": 800,
            "overwrite.worst": 50,
            "overwrite-idle.energy": 1000,
            "overwrite-idle.erases": 300,
            "overwrite-idle.worst": 45.8,  # an erase and two programs
            "ram": 4096,
        },
    ),
}


def _figures(counts: Counts) -> list[tuple[str, int | float, str]]:
    """Energy, erases and the longest call of one work."""
    work = counts.work
    figures: list[tuple[str, int | float, str]] = [
        (f"{work}.energy", round(counts.energy_mj, 3), "mJ")
    ]
    if work not in ("read-back", "small"):
        figures.append((f"{work}.erases", counts.erases, "erases"))
    if work.startswith("overwrite"):
        figures.append((f"{work}.worst", round(counts.worst_ns / 1e6, 2), "ms"))
    return figures


#: Where our store is measured over an error-correcting code.
ECC_SHAPE = "nand-512"

#: Pieces of work that idle time has room for between two overwrites: more than are ever waiting.
IDLE = 100


def _open(shape: Shape, *, ecc: bool = False, sealed: bool = False) -> _native.Store:
    goal = GOALS[shape.name]
    chip = _native.Nand.open(shape.part(), blocks=shape.blocks)
    opened = _native.Store(
        chip,
        frames=goal.frames,
        read_ahead=goal.read_ahead,
        anchor_bytes=goal.anchor_bytes,
        ecc=ecc,
        key=bytes(32) if sealed else None,
    )
    opened.format()
    return opened


def ours(shape: Shape, *, ecc: bool = False, sealed: bool = False) -> list[Counts]:
    """Each work on a fresh store; *small* where its blocks of 200 bytes fit a page."""
    name = OURS_SEALED if sealed else OURS_ECC if ecc else OURS
    works = [("append", 0), ("small", 0), ("overwrite", 0), ("overwrite", IDLE)]
    if sealed and shape.page_bytes == 256:
        works.remove(("small", 0))
    return [
        Counts(store=name, shape=shape.name, **answer)
        for work, idle in works
        for answer in store_work(_open(shape, ecc=ecc, sealed=sealed), work, idle=idle)
    ]


def _every_way(shape: Shape) -> list[Counts]:
    """Our store plain, over ECC and sealed."""
    over_ecc = ours(shape, ecc=True) if shape.name == ECC_SHAPE else []
    return ours(shape) + over_ecc + ours(shape, sealed=True)


def _peers(shape: Shape) -> list[Counts]:
    try:
        return peers.measure(shape)
    except NotMeasuredError as why:
        output.talk(f"{shape.name}: peers not measured ({why})")
        return []


#: What stands before the figures of a store.
_PREFIXES = {OURS: "", OURS_ECC: "ecc.", OURS_SEALED: "sealed."}


def _figures_of(shape: Shape, every: list[Counts]) -> list[Figure]:
    """Ours have targets."""
    found: list[tuple[str, int | float, str]] = [("ram", _open(shape).ram_bytes, "B")]
    for counts in every:
        prefix = _PREFIXES.get(counts.store, f"{counts.store.replace(' ', '-')}.")
        found += [(prefix + name, value, unit) for name, value, unit in _figures(counts)]
    targets = GOALS[shape.name].targets
    return [
        Figure(f"store.{shape.name}.{name}", value, unit, targets.get(name))
        for name, value, unit in found
    ]


@bench("store", "energy, erases and longest call of our store and others on the same work")
def store() -> list[Figure]:
    """Workloads append, read-back, small and overwrite of lab.peers on three chips; with all of the
    others the tables go to docs/store-cost.md."""
    mine = {shape: _every_way(shape) for shape in peers.SHAPES}
    others = {shape: _peers(shape) for shape in peers.SHAPES}
    every = {shape: mine[shape] + others[shape] for shape in peers.SHAPES}
    if all(others.values()):
        _store_page.write([counts for all_here in every.values() for counts in all_here])
    return [figure for shape, counts in every.items() for figure in _figures_of(shape, counts)]
