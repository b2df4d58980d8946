# SPDX-License-Identifier: Apache-2.0
"""What a durable byte costs: our store and others on the same work and the same flash."""

from dataclasses import dataclass

from lab import peers
from lab._native import store_work
from lab.benches import Figure, bench
from lab.peers import Counts, NotMeasuredError, Shape
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


#: What our store is called, alone, over an error-correcting code and sealed, and where these are
#: measured.
OURS, OURS_ECC, OURS_SEALED = "nandwich", "nandwich over ECC", "nandwich, sealed"
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
    """Each work on a fresh store."""
    name = OURS_SEALED if sealed else OURS_ECC if ecc else OURS
    return [
        Counts(store=name, shape=shape.name, **answer)
        for work, idle in (("append", 0), ("small", 0), ("overwrite", 0), ("overwrite", IDLE))
        for answer in store_work(_open(shape, ecc=ecc, sealed=sealed), work, idle=idle)
    ]


def _our_figures(shape: Shape) -> list[Figure]:
    """With their targets."""
    found: list[tuple[str, int | float, str]] = [("ram", _open(shape).ram_bytes, "B")]
    for counts in ours(shape):
        found += _figures(counts)
    targets = GOALS[shape.name].targets
    figures = [
        Figure(f"store.{shape.name}.{figure}", value, unit, targets.get(figure))
        for figure, value, unit in found
    ]
    if shape.name == ECC_SHAPE:
        figures += [
            Figure(f"store.{shape.name}.{how}.{figure}", value, unit)
            for how, every in (("ecc", ours(shape, ecc=True)), ("sealed", ours(shape, sealed=True)))
            for counts in every
            for figure, value, unit in _figures(counts)
        ]
    return figures


def _peers(shape: Shape) -> list[Figure]:
    try:
        every = peers.measure(shape)
    except NotMeasuredError as why:
        output.talk(f"{shape.name}: peers not measured ({why})")
        return []
    return [
        Figure(f"store.{shape.name}.{counts.store.replace(' ', '-')}.{figure}", value, unit)
        for counts in every
        for figure, value, unit in _figures(counts)
    ]


@bench("store", "energy, erases and longest call of our store and others on the same work")
def store() -> list[Figure]:
    """Workloads append, read-back, small and overwrite of lab.peers on three chips."""
    return [figure for shape in peers.SHAPES for figure in (*_our_figures(shape), *_peers(shape))]
