# SPDX-License-Identifier: Apache-2.0
"""Speed of the lavish layer over the emulated chip in metadata-only mode, one core."""

from lab._native import Lavish
from lab.benches import Figure, bench
from nandwich import _native

WRITES = 500_000


@bench("lavish", "host writes a second of the lavish layer, metadata only")
def lavish() -> list[Figure]:
    """8 MB of random sectors on K9F1G08U0A at degree 8, processor time, best of five.

    With 4 maps in RAM nearly every random write also moves two maps; with 64 none does.
    """
    figures = []
    for maps, target in ((4, 1e6), (64, None)):
        rates = []
        for _ in range(5):
            chip = _native.Nand.open(_native.Part.named("K9F1G08U0A"), options=["no_payload"])
            device = Lavish.open(chip, sectors=4096, maps=maps)
            rates.append(WRITES / device.time_writes(WRITES))
        name = f"lavish.writes.{maps}-maps"
        figures.append(Figure(name, round(max(rates)), "write/s", target, better="higher"))
        figures.append(Figure(f"lavish.ram.{maps}-maps", device.ram_bytes, "B"))
    return figures
