# SPDX-License-Identifier: Apache-2.0
"""What virtual memory costs on this host: the demo's JPEG decode, guarded against native."""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.benches import Figure, bench
from lab.photo import photo
from nandwich.errors import RunError
from nandwich.run import measure, recipe
from nandwich.twin.config import Device

_SERIES = 9


@dataclass(frozen=True)
class _Series:
    """Best of several rounds of each program."""

    native_ns: int
    virtual_ns: int
    report: dict[str, Any]


@bench("vm-host", "guarded JPEG decode over native, wall clock, flash emulation included")
def vm_host() -> list[Figure]:
    """32 KB of 512-byte frames. A series is several rounds of each program, alternating; the ratio
    is that of the best of each, and the median of all series is told."""
    with measure.scratch() as name:
        folder = Path(name)
        arguments = (str(photo()), str(folder / "photo.bmp"), str(folder / "gray.bmp"))
        job = recipe.job((ROOT / "examples" / "jpeg2bmp.c",), ("-O2",), Device(), arguments)
        series = [_series(job, folder / str(number)) for number in range(_SERIES)]
    median = statistics.median(one.virtual_ns / one.native_ns for one in series)
    native_ns = min(one.native_ns for one in series)
    report = series[0].report
    return [
        Figure("vm-host", round(median, 3), "x native", 1.6),
        Figure("vm-host.native", round(native_ns / 1e6, 3), "ms"),
        Figure("vm-host.storage", round(report["time_ns"]["storage"] / 1e6, 3), "ms emulated"),
        Figure("vm-host.faults", report["vm"]["faults"], "faults"),
    ]


def _series(job: measure.Job, folder: Path) -> _Series:
    folder.mkdir()
    result = measure.measure(job, b"", folder)
    if result.differences or not result.native_ns or not result.virtual_ns:
        raise RunError("the JPEG decode did not come out as natively: " + str(result.differences))
    return _Series(result.native_ns, result.virtual_ns, result.virtual.report)
