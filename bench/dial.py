# SPDX-License-Identifier: Apache-2.0
"""How much a page-mapped layer costs with how much RAM: tree and page on the same chip.

Every write is one sector at random, durable when the call returns. The figures of dhara are facts:
its own code behind an adapter to the chip contract, the same work on the same twin, as measured in
2026. It is not run here.
"""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lab import ROOT, cross, layers
from lab.benches import Figure, bench, found_pages
from nandwich import _native
from nandwich.errors import RunError
from nandwich.replay.options import MODELS

PART = "K9F1G08U0A"
#: Sectors in use: 66 % of the part, nine tenths of what dhara offers there.
USED, LESS_USED = 43_041, 30_129
_WARM, _TIMES = 6, 2  # writes before counting and while counting, in sectors in use
_READS = 20_000
_STEP = 1 << 16


@dataclass(frozen=True)
class Site:
    """A layer on a part, with the sectors that are used of it."""

    layer: str
    ram_bytes: int = 0  # that it may take; 0: the least, or all it asks for
    part: str = PART
    blocks: int = 0
    used: int = USED


@dataclass(frozen=True)
class Cost:
    """What was measured on a site; times in ms, energy in uJ."""

    ram_bytes: int
    programs: float
    reads: float
    write_ms: float
    write_uj: float
    longest_ms: float
    reads_a_read: float
    mount_reads: float
    mount_ms: float


#: KB of RAM that are measured, and what was asked of some; 0: nothing.
_SIZES = (4, 16, 64, 144, 264)
_ASKED = {
    4: Cost(4 << 10, 2, 11.5, 0.98, 49, 3.5, 5, 1400, 41),
    64: Cost(64 << 10, 1.8, 3.8, 0.69, 34, 3.5, 1.5, 1400, 40),
    264: Cost(264 << 10, 1.72, 1, 0.57, 29, 3.5, 1, 4000, 0),
}
_DHARA = Cost(2112, 16.0, 132, 9.3, 462, 14, 9.5, 52, 3)


def _open(site: Site) -> tuple[_native.ReplayDevice, dict[str, int]]:
    """The device, and its configuration: of tree as many nodes in RAM as there is room for."""
    part = _native.Part.named(site.part)

    def device(config: dict[str, int]) -> _native.ReplayDevice:
        return _native.ReplayDevice(
            part, site.layer, config=config, blocks=site.blocks, factory_bad=False
        )

    config: dict[str, int] = {}
    least = device(config)
    if site.ram_bytes == 0:
        return least, config
    one = device({"maps": 1})
    room = site.ram_bytes - _ram(least, site.layer)
    config["maps"] = max(0, room // (one.ram_bytes - least.ram_bytes))
    return device(config), config


@cache
def _narrower() -> int:
    """Bytes by which the structs of tree are smaller on Cortex-M3 than on this host."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "structs.c"
        source.write_text(
            f'#include "{ROOT}/core/ftl/tree.h"\n'
            "extern char structs[];\n"
            "char structs[sizeof(struct nw_tree) + sizeof(struct nw_ftl_tree)];\n"
        )
        host, board = (
            cross.sources_size(target, [source]).static_ram
            for target in (cross.HOST_GCC, cross.CORTEX_M3)
        )
    return host - board


def _ram(device: _native.ReplayDevice, layer: str) -> int:
    """Of a processor of 32 bits; of a model, of this host."""
    return int(device.ram_bytes + device.state_bytes) - (_narrower() if layer == "tree" else 0)


def _play(
    device: _native.ReplayDevice, used: int, kind: str, requests: int, seed: int, **more: int
) -> dict[str, Any]:
    """What `requests` of one sector did to the first `used` sectors of a device."""
    size = device.sector_bytes
    changes = {"requests": requests, "footprint": used * size, "size": size, "align": size, **more}
    replay = _native.Replay(
        device, _native.Workload(kind, changes, seed), extent=used * size, seed=seed
    )
    while replay.run(_STEP):
        pass
    result = replay.result()
    if result["ended"] < 0 or result["violations"] != 0:
        raise RunError(f"{result['ended_text']} at sector {result['ended_sector']}")
    return result


def _mount(site: Site, device: _native.ReplayDevice, config: dict[str, int]) -> dict[str, float]:
    """What opening the device again takes; a model forgets."""
    if site.layer in MODELS:
        return {"reads": math.nan, "time_ns": math.nan}
    with tempfile.TemporaryDirectory() as folder:
        image = str(Path(folder) / "chip")
        device.save(image)
        part = _native.Part.named(site.part)
        return dict(_native.ReplayDevice(part, site.layer, config=config, image=image).opening)


def measure(site: Site) -> Cost:
    """Fill in order, write at random until it is at rest, and count from there."""
    device, config = _open(site)
    _play(device, site.used, "sequential", site.used, 1)
    _play(device, site.used, "uniform", _WARM * site.used, 2)
    written = _play(device, site.used, "uniform", _TIMES * site.used, 3)
    read = _play(device, site.used, "uniform", _READS, 4, writes=0)
    opening = _mount(site, device, config)
    layer, writes = written["layer"], written["layer"]["host_writes"]
    return Cost(
        _ram(device, site.layer),
        layer["programs"] / writes,
        layer["reads"] / writes,
        written["busy_ns"] / writes / 1e6,
        written["energy_pj"] / writes / 1e6,
        written["worst_call_ns"] / 1e6,
        read["layer"]["reads"] / read["layer"]["host_reads"],
        opening["reads"],
        opening["time_ns"] / 1e6,
    )


def _in_order(site: Site) -> tuple[float, float]:
    """Programs a write and reads a read, of a device that is written and read again in order."""
    device, _ = _open(site)
    for round_ in range(3):
        written = _play(device, site.used, "sequential", site.used, round_)["layer"]
    read = _play(device, site.used, "sequential", site.used, 3, writes=0)["layer"]
    return written["programs"] / written["host_writes"], read["reads"] / read["host_reads"]


@dataclass(frozen=True)
class Line:
    """One number that was asked for, and ours."""

    what: str
    name: str
    unit: str
    asked: float
    measured: float

    @property
    def figure(self) -> Figure:
        return Figure(f"dial.{self.name}", self.measured, self.unit, self.asked)

    @property
    def row(self) -> str:
        verdict = "reached" if self.figure.ok else "**missed**"
        return f"| {self.what} | {self.asked:,g} | {self.measured:,g} | {verdict} |"


#: field of Cost: what it is called, its name as a figure, its unit, digits
_FIELDS = {
    "ram_bytes": ("RAM on Cortex-M3, B", "ram", "B", 0),
    "programs": ("programs a write", "programs", "program/write", 3),
    "reads": ("reads a write", "reads", "read/write", 2),
    "write_ms": ("ms a write", "write-time", "ms/write", 3),
    "write_uj": ("uJ a write", "write-energy", "uJ/write", 1),
    "longest_ms": ("longest call without idle time, ms", "longest", "ms", 2),
    "reads_a_read": ("reads a random read", "reads-a-read", "read/read", 2),
    "mount_reads": ("reads of a mount", "mount-reads", "read", 0),
    "mount_ms": ("ms of a mount", "mount-time", "ms", 1),
}


def _rounded(value: float, digits: int) -> float:
    return round(value, digits) if digits or math.isnan(value) else round(value)


def _against(kib: int, cost: Cost) -> list[Line]:
    """Each measure of the layer in `kib` KiB against what was asked of it."""
    return [
        Line(
            f"{what}, {kib} KB",
            f"tree-{kib}k.{name}",
            unit,
            getattr(_ASKED[kib], field),
            _rounded(getattr(cost, field), digits),
        )
        for field, (what, name, unit, digits) in _FIELDS.items()
        if getattr(_ASKED[kib], field)
    ]


def _others() -> list[Line]:
    """Less fill, in order, other parts, code."""
    least = 4 << 10
    less = measure(Site("tree", least, used=LESS_USED))
    programs, reads = _in_order(Site("tree", least))
    small = Site("tree", 3 << 10, "TC58DVG02A1FT00", blocks=1024, used=16_500)
    sectors_512 = measure(small)
    large = _native.ReplayDevice(_native.Part.named("TLC8G"), "tree", factory_bad=False)
    tree = next(part for part in layers.sized_parts(ROOT) if part.name == "tree")
    code = cross.sources_size(cross.CORTEX_M3, tree.files).code
    assert tree.limit is not None
    return [
        Line("programs a write at 70 % of that fill, 4 KB", "tree-4k.less-used.programs",
             "program/write", 1.35, round(less.programs, 3)),
        Line("programs a write in order, 4 KB", "tree-4k.in-order.programs",
             "program/write", 1.05, round(programs, 3)),
        Line("reads a read in order, 4 KB", "tree-4k.in-order.reads-a-read",
             "read/read", 1.1, round(reads, 3)),
        Line("programs a write, pages of 512 B (16 MiB), 3 KB", "tree-512.programs",
             "program/write", 2.2, round(sectors_512.programs, 3)),
        Line("reads a random read, the same", "tree-512.reads-a-read",
             "read/read", 7, round(sectors_512.reads_a_read, 2)),
        Line("reads of a mount, the same", "tree-512.mount-reads",
             "read", 400, sectors_512.mount_reads),
        Line("RAM of 8 Gbit (TLC8G, pages of 8 KiB) B", "tree-8g.ram",
             "B", (8 << 10) + (4 << 10), _ram(large, "tree")),
        Line("code of tree on Cortex-M3 at -Os, B", "tree.code", "B", tree.limit, code),
    ]  # fmt: skip


_HEAD = """\
# RAM is a dial, measured

Written by `nandwich bench dial`. K9F1G08U0A, 43,041 sectors of 2 KiB in use (66 % of the part),
written once in order and then at random until the layer is at rest. Each write is one sector and
durable when the call returns. Times and energy are of the chip, by the part's data. dhara's figures
are those of its own code behind an adapter, the same work on the same twin; they are facts, not run
again. Page is a model: its RAM is that of this host, and there is nothing to mount. RAM holds the
layer's struct; code is that of `nandwich bench size`.
""".splitlines()


def _page(costs: dict[str, Cost], lines: Sequence[Line]) -> list[str]:
    page = [*_HEAD, "", "| | " + " | ".join(costs) + " |", "|---|" + "--:|" * len(costs)]
    for field, (what, _, _, digits) in _FIELDS.items():
        values = (_rounded(getattr(cost, field), digits) for cost in costs.values())
        cells = ("-" if math.isnan(value) else f"{value:,g}" for value in values)
        page.append(f"| {what} | " + " | ".join(cells) + " |")
    missed = sum(not line.figure.ok for line in lines)
    page += ["", "## Numbers to reach", "", "| | at most | measured | |", "|---|--:|--:|---|"]
    page += [line.row for line in lines]
    return [*page, "", f"{len(lines) - missed} of {len(lines)} are reached."]


@bench("dial", "RAM as a dial: the tree layer in 4 to 264 KB, beside page and dhara")
def dial() -> list[Figure]:
    """With --page the tables go to docs/figures/dial.md."""
    if not cross.CORTEX_M3.present:
        raise RunError(
            f"{cross.CORTEX_M3.compiler} is missing; `nandwich doctor` tells how to get it"
        )
    costs = {f"tree, {kib} KB": measure(Site("tree", kib << 10)) for kib in _SIZES}
    costs |= {"page (a model)": measure(Site("page")), "dhara": _DHARA}
    lines = [line for kib in _ASKED for line in _against(kib, costs[f"tree, {kib} KB"])]
    lines += _others()
    found_pages[ROOT / "docs" / "figures" / "dial.md"] = "\n".join(_page(costs, lines)) + "\n"
    return [line.figure for line in lines]
