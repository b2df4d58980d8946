# SPDX-License-Identifier: Apache-2.0
"""How near the `access:` source of replay comes to what virtual memory itself counts."""

from pathlib import Path
from typing import Any

from lab import ROOT
from lab.benches import Figure, bench
from lab.photo import photo
from nandwich import _native
from nandwich.cli import config_file
from nandwich.errors import RunError
from nandwich.replay import accesses
from nandwich.run import measure, recipe
from nandwich.twin.config import Device

PROGRAMS = {
    "heap-sort": ("sort.c", ("heap", "50000")),
    "merge-sort": ("sort.c", ("merge", "50000")),
    "jpeg": ("jpeg2bmp.c", ("PHOTO", "OUT")),
}
#: Name: bytes a frame, RAM, and the scheme for frames smaller than a page of the chip.
MEMORIES = {
    "2k": (2 << 10, 64 << 10, "direct"),
    "512": (512, 32 << 10, "multi-cache"),
}
#: What `run --config` makes of such a choice of `nandwich tune`.
CHOSEN = "frame=2048,ram=32768"
POLICIES = ("vm", "lru")
LOOKASIDE = 64  # entries that `run` has by default


@bench("access", "page faults and write-backs of access: sources over those of virtual memory")
def access() -> list[Figure]:
    """Exact counts. The VM has the 16 slots and 64 look-aside entries that it has by default;
    `writes` are requests over sectors written, which multi-cache gathers."""
    figures = []
    with measure.scratch() as name:
        folder = Path(name)
        for program in PROGRAMS:
            trace = folder / f"{program}.acc"
            frame, ram, _ = max(MEMORIES.values())  # its pages begin where those of all do
            below = folder / f"{program}-recorded"
            _run(program, below, accesses=str(trace), frame=frame, ram=ram)
            for memory, (frame, ram, scheme) in MEMORIES.items():
                below = folder / f"{program}-{memory}"
                counted = _run(program, below, frame=frame, ram=ram, scheme=scheme)
                made = accesses.traffic(f"access:{trace},frame={frame},ram={ram}")
                figures += _figures(f"access.{program}.{memory}", made, counted)
            figures += _chosen(program, trace)
    return figures


def _chosen(program: str, trace: Path) -> list[Figure]:
    """Sectors read and written by a program that runs with a choice, and with look-aside entries
    too, over those of the trace, which `nandwich tune` tells."""
    figures = []
    for policy in POLICIES:
        source = f"access:{trace},{CHOSEN},policy={policy}"
        made = accesses.traffic(source)
        given, _ = config_file.memory_of(source)
        for what, changes in (("chosen", given), ("lookaside", {"lookaside": LOOKASIDE})):
            below = trace.with_name(f"{program}-{policy}-{what}")
            counted = _run(program, below, scheme="direct", **(given | changes))
            name = f"access.{program}.{policy}.{what}"
            reads = counted["sectors_read"] / (made.faults - made.pages)
            writes = counted["sectors_written"] / made.writebacks
            figures.append(Figure(f"{name}.reads", round(reads, 3), "x told"))
            figures.append(Figure(f"{name}.writes", round(writes, 3), "x told"))
    return figures


def _run(program: str, folder: Path, **changes: Any) -> dict[str, Any]:
    """What virtual memory counts while the program runs once."""
    source, arguments = PROGRAMS[program]
    folder.mkdir()
    words = {"PHOTO": str(photo()), "OUT": str(folder / "out.bmp")}
    given = tuple(words.get(word, word) for word in arguments)
    path = ROOT / "examples" / source
    job = recipe.job((path,), ("-O2",), Device(**changes), given, compare=False)
    outcome = measure.measure(job, b"", folder, once=True).virtual
    if outcome.status != 0 or not outcome.report:
        raise RunError(f"{program} failed: status {outcome.status}, signal {outcome.signal}")
    counted: dict[str, Any] = outcome.report["vm"]
    return counted


def _figures(name: str, made: _native.PageTraffic, counted: dict[str, Any]) -> list[Figure]:
    over = {
        "faults": made.faults / counted["faults"],
        "writebacks": made.writebacks / counted["writebacks"],
        "writes": made.writebacks / counted["sectors_written"],
    }
    return [
        Figure(f"{name}.{what}", round(ratio, 3), "x virtual memory")
        for what, ratio in over.items()
    ]
