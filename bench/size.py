# SPDX-License-Identifier: Apache-2.0
"""Code and static RAM of the device core, layer by layer, on the small processors."""

from lab import ROOT, cross, layers
from lab.benches import Figure, bench
from nandwich.errors import RunError


@bench("size", "code bytes and static RAM of core layers on Cortex-M3 and ATmega128")
def sizes() -> list[Figure]:
    """Each part of core/layers.toml, compiled at -Os; constants count as code."""
    figures = []
    for target in (cross.CORTEX_M3, cross.ATMEGA128):
        if not target.present:
            raise RunError(f"{target.compiler} is missing; `nandwich doctor` tells how to get it")
        for part in layers.sized_parts(ROOT):
            size = cross.sources_size(target, part.files)
            promised = target is cross.CORTEX_M3
            name = f"size.{part.name}.{target.name}"
            figures.append(Figure(name, size.code, "B", part.limit if promised else None))
            figures.append(Figure(f"{name}.ram", size.static_ram, "B", 0 if promised else None))
    return figures
