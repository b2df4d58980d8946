# SPDX-License-Identifier: Apache-2.0
"""How fast replacement policies are played on recorded accesses."""

import random
import tempfile
import time
from pathlib import Path

from lab.benches import Figure, bench
from nandwich import _native

PAGES, FRAMES, REFERENCES = 2_000, 256, 1_000_000
TARGET = 10e6


def _references() -> list[tuple[int, bool]]:
    """The hardest stream: no page twice in a row; a few pages often, some in long rows."""
    chance = random.Random(16)
    found = [(0, False)]
    while len(found) < REFERENCES:
        page = min(int(chance.expovariate(1 / 150)), PAGES - 1)
        if len(found) % 5 == 0:
            page = (found[-1][0] + 1) % PAGES
        if page != found[-1][0]:
            found.append((page, chance.random() < 0.3))
    return found


@bench("vmtrace", "replacement policies on recorded accesses: references a second")
def vmtrace() -> list[Figure]:
    """CPU time of this machine, the best of three; every reference is to another page."""
    references = _references()
    with tempfile.TemporaryDirectory(prefix="nandwich-bench-") as folder:
        path = str(Path(folder) / "a.acc")
        writer = _native.AccessWriter(path, 0, PAGES * 512)
        for page, write in references:
            writer.put(page * 512, 4, write)
        writer.finish()
        size = Path(path).stat().st_size
        refs, read_s = _loaded(path)
    figures = [
        Figure("vmtrace.bytes", round(size / REFERENCES, 2), "B/access", target=4),
        Figure("vmtrace.read", round(REFERENCES / read_s), "access/s", TARGET, "higher"),
        _curve(refs),
    ]
    for name, _, _ in _native.paging_policies():
        best = min(_seconds(refs, name) for _ in range(3))
        speed = round(REFERENCES / best)
        figures.append(Figure(f"vmtrace.{name}", speed, "access/s", TARGET, "higher"))
    return figures


def _loaded(path: str) -> tuple[_native.Refs, float]:
    best = float("inf")
    for _ in range(3):
        refs, trace = _native.Refs(512), _native.AccessTrace(path)
        started = time.process_time()
        while refs.load(trace, 1 << 20):
            pass
        best = min(best, time.process_time() - started)
    return refs, best


def _curve(refs: _native.Refs) -> Figure:
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        refs.lru_curve(PAGES)
        best = min(best, time.process_time() - started)
    name = "vmtrace.lru-all-sizes"
    return Figure(name, round(REFERENCES / best), "access/s", TARGET, "higher")


def _seconds(refs: _native.Refs, policy: str) -> float:
    started = time.process_time()
    refs.run(policy, FRAMES)
    return time.process_time() - started
