# SPDX-License-Identifier: Apache-2.0
"""What a configuration takes, found out without playing it: the layer is opened on a new twin."""

from dataclasses import dataclass, replace
from typing import Any

from nandwich.errors import InputError
from nandwich.quantities import format_size
from nandwich.replay import play, room
from nandwich.replay.play import Options
from nandwich.twin import parts


@dataclass(frozen=True)
class Need:
    """`why` says why it is impossible. `same` is one text for all that are equal in effect."""

    why: str = ""
    ram_bytes: int = 0  # with the layer's struct
    flash_bytes: int = 0
    blocks: int = 0
    most_bytes: int = 0  # that can be written to the flash in its life; 0: it has no end
    same: str = ""


class Needs:
    """Needs of configurations for one source. What takes the same device is opened once."""

    def __init__(self, options: Options) -> None:
        """`options` say how the source is read."""
        self.facts = _facts(options)
        self._known: dict[str, Need] = {}

    def of(self, options: Options) -> Need:
        """What these take, or why they cannot be."""
        o = options
        device = repr((o.chip, o.ftl, o.layer, o.ram, o.blocks, o.wear, o.wear_figures))
        if device not in self._known:
            self._known[device] = self._new(options)
        found = self._known[device]
        return found if found.why else replace(found, same=self._same(options, found.same))

    def _new(self, options: Options) -> Need:
        blocks = parts.resolve(options.chip).number("blocks")
        if options.blocks > blocks:
            return Need(f"{options.chip} has {blocks} blocks, not {options.blocks}")
        try:
            tried, device = play.opened(options)
        except InputError as error:
            return Need(error.message)
        capacity = device.sectors * device.sector_bytes
        extent = int(self.facts["extent_bytes"])
        if extent > capacity and options.fit == "refuse":
            return Need(f"{options.source} takes {format_size(extent)} of {format_size(capacity)}")
        same = repr((sorted(tried.layer.items()), device.blocks))
        flash = device.blocks * device.block_pages * device.sector_bytes
        used = device.blocks * device.joined
        wears = 0 if options.wear_figures.get("heal") else device.endurance
        return Need("", room.ram_bytes(device), flash, used, wears * flash, same)

    def _same(self, options: Options, device: str) -> str:
        """Without times there is no idle time."""
        idle = options.idle and self.facts["duration_ns"] > 0
        return device + repr(replace(options, ram=0, blocks=0, layer={}, idle=idle))


def _facts(options: Options) -> dict[str, Any]:
    """What the source asks for. A workload fits the device, unless its footprint says otherwise."""
    size = 0
    if play.is_generated(options.source):
        device = play.opened(Options(options.source))[1]
        size = device.sectors * device.sector_bytes
    facts = play.survey(play.open_source(options, size), limit=options.limit)
    fits = play.is_generated(options.source) and "footprint=" not in options.source
    return facts | {"extent_bytes": 0} if fits else facts
