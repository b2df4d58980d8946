# SPDX-License-Identifier: Apache-2.0
"""What recording a timeline costs a replay."""

import tempfile
import time
from pathlib import Path

from lab.benches import Figure, bench
from nandwich import _native
from nandwich.replay import traffic
from nandwich.twin import timelines

STEP = 1 << 20
ROUNDS = 5
REQUESTS = {"tree": 300_000, "page": 2_000_000}


def _seconds(ftl: str, path: Path | None) -> float:
    """Processor time of a replay, with its timeline written to `path`."""
    line = timelines.begin(timelines.Window()) if path is not None else None
    device = _native.ReplayDevice(_native.Part.named("K9F1G08U0A"), ftl, timeline=line)
    size = device.sectors * device.sector_bytes
    source = traffic.workload(f"zipf,requests={REQUESTS[ftl]}", size, 1)
    player = _native.Replay(device, source)
    while player.run(STEP):
        pass
    began = time.process_time()
    if line is not None:
        timelines.save(line, path or Path(), "bench", "chip")
    return player.seconds + time.process_time() - began


def _ratio(ftl: str, path: Path) -> float:
    """Of the best of some rounds with a timeline to the best without, taken by turns."""
    rounds = [(_seconds(ftl, None), _seconds(ftl, path)) for _ in range(ROUNDS)]
    return min(with_it for _, with_it in rounds) / min(without for without, _ in rounds)


@bench("timeline", "a replay with its timeline over one without, in processor time")
def timeline() -> list[Figure]:
    """Writing the trace counts too."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.perfetto-trace"
        return [
            Figure("timeline.tree", round(_ratio("tree", path), 3), "x", target=1.2),
            Figure("timeline.page", round(_ratio("page", path), 3), "x"),
        ]
