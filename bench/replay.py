# SPDX-License-Identifier: Apache-2.0
"""Speed of replaying in metadata-only mode, one core, and write amplification against its limit."""

from typing import Any

from lab.benches import Figure, bench
from lab.limits import greedy_amplification
from nandwich import _native
from nandwich.replay.options import LAYERS

STEP = 1 << 20
#: 4 GiB of 4 KiB pages, 128 a block: the device MQSim's figure was measured on, too.
LARGE = "K9LBG08U0M"
SMALL = "K9F1G08U0A"


def _sustained(
    part: str, ftl: str, config: dict[str, int], writes: int, precondition: int, blocks: int = 0
) -> tuple[float, dict[str, Any], float]:
    """Sectors written a second of processor time, the layer's counts, and the share of pages that
    are sectors: random single-sector writes over the whole device, after preconditioning."""
    device = _native.ReplayDevice(
        _native.Part.named(part), ftl, config=config, blocks=blocks, factory_bad=False
    )
    changes = {
        "requests": writes,
        "footprint": device.sectors * device.sector_bytes,
        "size": device.sector_bytes,
        "align": device.sector_bytes,
    }
    player = _native.Replay(
        device, _native.Workload("uniform", changes, 1), precondition=precondition
    )
    while player.precondition(STEP):
        pass
    while player.run(STEP):
        pass
    if any(not left <= right <= left + slack for _, left, right, slack in player.laws()):
        raise AssertionError("the books of the replay do not balance")
    share = device.sectors / (device.blocks * device.block_pages)
    return writes / player.seconds, dict(player.result()["layer"]), share


def _page(name: str, spare_blocks: int, target: float | None) -> list[Figure]:
    """The page model under sustained cleaning, `name` telling how much room it has."""
    rate, layer, share = _sustained(LARGE, "page", {"spare_blocks": spare_blocks}, 1_500_000, 3000)
    measured = layer["programs"] / layer["host_writes"]
    limit = greedy_amplification(share, 128)
    programs = round(rate * measured)
    return [
        Figure(f"replay.page.{name}", round(rate), "write/s", target=target, better="higher"),
        Figure(f"replay.page.{name}.programs", programs, "page/s", better="higher"),
        Figure(f"replay.page.{name}.amplification", round(measured, 4), "program/write"),
        Figure(f"replay.page.{name}.over-limit", round(measured / limit - 1, 4), "", target=0.05),
    ]


def _near() -> Figure:
    """The same on a device whose state stays in the host's caches: 128 MiB in 4 KiB pages, 28 %."""
    rate, _, _ = _sustained(LARGE, "page", {"spare_blocks": 56}, 3_000_000, 3000, blocks=256)
    return Figure("replay.page.128m.room28", round(rate), "write/s", target=4e6, better="higher")


def _other(ftl: str) -> Figure:
    """Pages programmed a second, host data and copies, on a 128 MiB part."""
    rate, layer, _ = _sustained(SMALL, ftl, {}, 100_000, 1000)
    pages = rate * layer["programs"] / layer["host_writes"]
    return Figure(f"replay.{ftl}", round(pages), "page/s", target=1e6, better="higher")


@bench("replay", "replay speed under sustained cleaning, and amplification against greedy's limit")
def replay_speed() -> list[Figure]:
    """Room is over-provisioning, pages over sectors: 7 % as drives have it, 28 % as enterprise
    drives have it; at 7 % each write costs 6.4 copies by the limit itself."""
    figures = _page("room7", 536, 4e6) + _page("room28", 1792, 4e6)
    others = [_other(ftl) for ftl in LAYERS if ftl != "page"]
    return [*figures, _near(), *others]
