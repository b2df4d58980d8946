# SPDX-License-Identifier: Apache-2.0
"""What a configuration takes, found out without playing it: the layer is opened on a new twin."""

from dataclasses import dataclass, replace
from typing import Any

from nandwich import _native
from nandwich.errors import InputError
from nandwich.quantities import format_size
from nandwich.replay import accesses, play, room, traffic
from nandwich.replay.options import Options

#: A slot, and what the VM needs beside: run/ of ports/host pins two frames, and moves two.
FRAMES_LEAST = 5


@dataclass(frozen=True)
class Need:
    """`why` says why it is impossible. `same` is one text for all that are equal in effect."""

    why: str = ""
    layer_bytes: int = 0  # RAM of the layer, with its struct
    memory_bytes: int = 0  # RAM of page frames
    flash_bytes: int = 0
    blocks: int = 0
    most_bytes: int = 0  # that can be written to the flash in its life; 0: it has no end
    same: str = ""

    @property
    def ram_bytes(self) -> int:
        """All of it."""
        return self.layer_bytes + self.memory_bytes


class Needs:
    """Needs of configurations for one source. What takes the same device is opened once."""

    def __init__(self, options: Options) -> None:
        """`options` say how the source is read."""
        self.accesses = 0  # of a run of a program; 0: the source is none
        self.facts: dict[str, Any] = {"duration_ns": 0}
        self._extents: dict[int, int] = {}  # of accesses, by the size of frames
        self._known: dict[str, Need] = {}
        if accesses.is_asked(options.source):
            if options.limit or options.repeat != 1:
                raise InputError("limit and repeat: goals by the access are of one whole run")
            self._extent(options.source)
        else:
            self.facts = _facts(options)

    def of(self, options: Options) -> Need:
        """What these take, or why they cannot be."""
        o = options
        paging = accesses.parse(o.source) if self.accesses else None
        frame = paging.frame if paging is not None else 0
        device = repr((o.chip, o.ftl, o.layer, o.ram, o.blocks, o.wear, o.wear_figures, frame))
        if device not in self._known:
            self._known[device] = self._new(options, frame)
        found = self._known[device]
        if found.why or paging is None:
            return found if found.why else replace(found, same=self._same(options, found.same))
        if paging.frames < FRAMES_LEAST:
            return Need(f"virtual memory takes {FRAMES_LEAST} frames at least, not {paging.frames}")
        same = self._same(options, found.same)
        return replace(found, same=same, memory_bytes=paging.ram_bytes)

    def _extent(self, source: str) -> int:
        """What the pages of a program take, by the size of its frames."""
        frame = accesses.parse(source).frame
        if frame not in self._extents:
            made = accesses.traffic(source)
            self.accesses = made.accesses
            self._extents[frame] = made.pages * frame
        return self._extents[frame]

    def _new(self, options: Options, frame: int) -> Need:
        try:
            tried, device = play.opened(options)
        except InputError as error:
            return Need(error.message)
        if frame and (why := _unlike_the_vm(options.chip, frame, device)):
            return Need(why)
        capacity = device.sectors * device.sector_bytes
        extent = self._extent(options.source) if frame else int(self.facts["extent_bytes"])
        if extent > capacity and options.fit == "refuse":
            return Need(f"{options.source} takes {format_size(extent)} of {format_size(capacity)}")
        same = repr((sorted(tried.layer.items()), device.blocks))
        flash = device.blocks * device.block_pages * device.sector_bytes
        used = device.blocks * device.joined
        wears = 0 if options.wear_figures.get("heal") else device.endurance
        # Of accesses it is not known how much they will write.
        most = 0 if frame else wears * flash
        return Need("", room.ram_bytes(device), 0, flash, used, most, same)

    def _same(self, options: Options, device: str) -> str:
        """Without times there is no idle time."""
        idle = options.idle and self.facts["duration_ns"] > 0
        return device + repr(replace(options, ram=0, blocks=0, layer={}, idle=idle))


def _unlike_the_vm(chip: str, frame: int, device: _native.ReplayDevice) -> str:
    """Why a frame on this device would be played in another way than the VM has it; "": it is
    not."""
    sector = device.sector_bytes
    if sector & (sector - 1):
        return f"virtual memory needs sectors of a power of two; {chip} has {sector} B"
    if frame < sector:
        return (
            f"a frame of {frame} B is less than a sector of {chip}, {sector} B: the VM gathers "
            "such frames, and access: does not"
        )
    return ""


def _facts(options: Options) -> dict[str, Any]:
    """What the source asks for. A workload fits the device, unless its footprint says otherwise."""
    size = 0
    if traffic.is_generated(options.source):
        device = play.opened(Options(options.source))[1]
        size = device.sectors * device.sector_bytes
    facts = traffic.survey(traffic.open_source(options, size), limit=options.limit)
    fits = traffic.is_generated(options.source) and "footprint=" not in options.source
    return facts | {"extent_bytes": 0} if fits else facts
