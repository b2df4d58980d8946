# SPDX-License-Identifier: Apache-2.0
"""What virtual memory costs on this host: the demo's JPEG decode, guarded against native."""

from pathlib import Path

from lab import ROOT
from lab.benches import Figure, bench
from nandwich.errors import RunError
from nandwich.run import measure, recipe
from nandwich.twin.config import Device


@bench("vm-host", "guarded JPEG decode over native, wall clock, flash emulation included")
def vm_host() -> list[Figure]:
    """Best of several rounds of each, alternating, in one run: 32 KB of 512-byte frames."""
    from matplotlib.cbook import get_sample_data

    photo = get_sample_data("grace_hopper.jpg", asfileobj=False)
    with measure.scratch() as name:
        folder = Path(name)
        arguments = (str(photo), str(folder / "photo.bmp"), str(folder / "gray.bmp"))
        job = recipe.job((ROOT / "examples" / "jpeg2bmp.c",), ("-O2",), Device(), arguments)
        result = measure.measure(job, b"", folder)
    if result.differences or not result.native_ns or not result.virtual_ns:
        raise RunError("the JPEG decode did not come out as natively: " + str(result.differences))
    report = result.virtual.report
    emulated_ns = report["time_ns"]["storage"]
    return [
        Figure("vm-host", round(result.virtual_ns / result.native_ns, 3), "x native", 4),
        Figure("vm-host.native", round(result.native_ns / 1e6, 3), "ms"),
        Figure("vm-host.storage", round(emulated_ns / 1e6, 3), "ms emulated"),
        Figure("vm-host.faults", report["vm"]["faults"], "faults"),
    ]
