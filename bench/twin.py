# SPDX-License-Identifier: Apache-2.0
"""Speed of the emulated chip in metadata-only mode, one core."""

from nandwich import _native
from nandwich.benches import Figure, bench


@bench("twin", "page operations a second of the emulated chip, metadata only")
def twin() -> list[Figure]:
    """A 2 GB SLC chip: programs page by page, a read at random for each, erases.

    Processor time, best of five.
    """
    chip = _native.Nand.open(_native.Part.named("K9WAG08U1A"), options=["no_payload"])
    rates = []
    for _ in range(5):
        operations, seconds = chip.time_operations(4_000_000)
        rates.append(operations / seconds)
    return [Figure("twin.chip", round(max(rates)), "op/s", target=5e6, better="higher")]
