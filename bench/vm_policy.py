# SPDX-License-Identifier: Apache-2.0
"""What the policies of virtual memory cost on small known programs, and how fast they decide."""

from typing import Any

from lab import _native
from lab.benches import Figure, bench

KERNELS = ("quicksort", "fft", "tree", "counters", "table")
FRAME = 512
FRAMES = 64
#: Scheme and the sector it writes: 2,048-byte pages, or the same shrunk to four.
SCHEMES = {"multi-cache": 2048, "direct": 512}


def storage_ms(counts: dict[str, Any], sector_bytes: int) -> float:
    """Time of the sectors moved, by the datasheet class of a K9F1G08U0A: 25 us to read and 200 us
    to program a page, 25 ns a byte on the bus; no translation layer."""
    read_us = 25 + sector_bytes * 0.025
    program_us = 200 + sector_bytes * 0.025
    return float(counts["sectors_read"] * read_us + counts["sectors_written"] * program_us) / 1000


@bench("vm-policy", "virtual memory's policies: storage time of small programs, speed of deciding")
def vm_policy() -> list[Figure]:
    """Storage times repeat to the bit; speeds are those of this machine, the best of three."""
    figures = []
    for scheme, sector in SCHEMES.items():
        for kernel in KERNELS:
            for policy in ("clock", "lru"):
                counts = _native.vm_kernel(kernel, policy, FRAME, FRAMES, sector)
                name = f"vm-policy.{kernel}.{scheme}.{policy}"
                figures.append(Figure(name, round(storage_ms(counts, sector), 1), "ms"))
    for policy in ("clock", "lru"):
        runs = [_native.vm_kernel("table", policy, FRAME, FRAMES, 2048) for _ in range(3)]
        speed = max(run["accesses"] / run["seconds"] for run in runs)
        name = f"vm-policy.speed.{policy}"
        figures.append(Figure(name, round(speed), "access/s", target=10e6, better="higher"))
    return figures
