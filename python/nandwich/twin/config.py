# SPDX-License-Identifier: Apache-2.0
"""The device a program runs on, as options of `nandwich run` and as text for its run time.

The text goes to the program through NANDWICH_CONFIG; ports/host/config.h says what each key means.
What can be refused before anything is compiled is refused here, by the very C code that will open
the device, with its arithmetic.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nandwich import _native
from nandwich.errors import InputError, NoRoomError
from nandwich.twin import parts, timelines

FTLS = tuple(name for name, *_ in _native.layers())
SCHEMES = ("auto", "multi-cache", "sector-shrink", "direct")
POLICIES = ("clock", "lru")
ECCS = ("none", "secded")
_PLACE = re.compile(r"^device:\d+: ")


@dataclass(frozen=True)
class Device:
    """Chip, layers and frames; the defaults are those of the command."""

    chip: str = "K9F1G08U0A"
    part_lines: tuple[str, ...] = ()  # part.KEY=VALUE, from a user's file
    ftl: str = "lavish"
    degree: int = 8
    maps: int = 4
    blocks: int = 0  # of the chip; 0: all
    spare_blocks: int = 0  # of the layer; 0: its own choice
    vm: int = 8 << 20
    ram: int = 32 << 10
    frame: int = 512
    slots: int = 16
    lookaside: int = 64
    guards: str = "inline"
    statics: int = 0  # bytes of RAM, out of `ram`, for the hottest globals
    scheme: str = "auto"
    policy: str = "clock"
    ecc: str = "none"
    seed: int = 1
    image: str = ""
    record: str = ""
    accesses: str = ""
    timeline: str = ""
    window: timelines.Window = timelines.FIRST

    def text(self) -> str:
        """The key=value lines; what is compiled in is not among them."""
        lines = [
            f"chip={self.chip}",
            *self.part_lines,
            f"ftl={self.ftl}",
            f"degree={self.degree}",
            f"maps={self.maps}",
            f"blocks={self.blocks}",
            f"spare_blocks={self.spare_blocks}",
            f"vm={self.vm}",
            f"ram={self.ram}",
            f"scheme={self.scheme}",
            f"policy={self.policy}",
            f"ecc={self.ecc}",
            f"seed={self.seed}",
        ]
        if self.image:
            lines.append(f"image={Path(self.image).absolute()}")
        if self.record:
            lines.append(f"record={Path(self.record).absolute()}")
        if self.accesses:
            lines.append(f"accesses={Path(self.accesses).absolute()}")
        if self.timeline:
            kind = "ns" if self.window.by_time else "requests"
            lines.append(f"timeline={Path(self.timeline).absolute()}")
            lines.append(f"timeline_window={kind}:{self.window.first}:{self.window.end}")
        return "\n".join(lines)


def check(device: Device) -> dict[str, Any]:
    """What the device comes to, or InputError with the arithmetic."""
    if not 16 <= device.frame <= 32768 or device.frame & (device.frame - 1):
        raise InputError(f"--frame {device.frame}: allowed are powers of two from 16 to 32768")
    frames, rest = divmod(device.ram, device.frame)
    if rest or frames == 0:
        raise InputError(f"--ram {device.ram} is not a multiple of --frame {device.frame}")
    if device.statics >= device.ram:
        raise NoRoomError(
            f"--statics {device.statics} come out of --ram {device.ram}, and frames need some of it"
        )
    for path in (device.image, device.record, device.accesses, device.timeline):
        if "\n" in path:
            raise InputError(f"{path!r}: a name with a line break does not fit a configuration")
    try:
        described: dict[str, Any] = json.loads(
            _native.host_check(device.text(), device.frame, device.slots)
        )
    except MemoryError as error:
        raise NoRoomError(without_place(str(error))) from error
    except ValueError as error:
        raise InputError(without_place(str(error))) from error
    return described


def without_place(message: str) -> str:
    """A message of ports/host/config.h about a text of ours, whose lines mean nothing to people."""
    return _PLACE.sub("", message)


def with_part(device: Device) -> Device:
    """The device with its chip looked up: a part of the table as that spells it, or a file's."""
    part = parts.resolve(device.chip)
    lines: tuple[str, ...] = ()
    if parts.is_file(device.chip):
        words = (line.partition(" = ") for line in parts.as_text(part).splitlines())
        lines = tuple(f"part.{key}={value}" for key, _, value in words)
    return replace(device, chip=part.name, part_lines=lines)
