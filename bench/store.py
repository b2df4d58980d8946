# SPDX-License-Identifier: Apache-2.0
"""What a durable byte costs: other stores on the same work and the same flash."""

from nandwich import store_peers
from nandwich.benches import Figure, bench
from nandwich.cli import output
from nandwich.store_peers import Counts, NotMeasuredError, Shape


def _figures(counts: Counts) -> list[Figure]:
    """Energy, erases and the longest call of one work."""
    store = counts.store.replace(" ", "-")
    name = f"store.{counts.shape}.{counts.work}.{store}"
    figures = [Figure(f"{name}.energy", round(counts.energy_mj, 3), "mJ")]
    if counts.work in ("append", "overwrite"):
        figures.append(Figure(f"{name}.erases", counts.erases, "erases"))
    if counts.work == "overwrite":
        figures.append(Figure(f"{name}.worst", round(counts.worst_ns / 1e6, 2), "ms"))
    return figures


def _peers(shape: Shape) -> list[Counts]:
    try:
        return store_peers.measure(shape)
    except NotMeasuredError as why:
        output.talk(f"{shape.name}: peers not measured ({why})")
        return []


@bench("store", "energy, erases and longest call of stores on the same work")
def store() -> list[Figure]:
    """Workloads append, read-back, small and overwrite of nandwich.store_peers on three chips."""
    return [
        figure
        for shape in store_peers.SHAPES
        for counts in _peers(shape)
        for figure in _figures(counts)
    ]
