# SPDX-License-Identifier: Apache-2.0
"""The device a program runs on, as options of `nandwich run` and as text for its run time.

The text goes to the program through NANDWICH_CONFIG; ports/host/config.h says what each key means.
What can be refused before anything is compiled is refused here, by the very C code that will open
the device (`nandwich-check`), with its arithmetic.
"""

import json
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nandwich import names, paths
from nandwich.errors import InputError

FTLS = ("page", "lavish")
SCHEMES = ("auto", "multi-cache", "sector-shrink", "direct")
POLICIES = ("clock", "lru")
ECCS = ("none", "secded")


@dataclass(frozen=True)
class Device:
    """Chip, layers and frames; the defaults are those of the command."""

    chip: str = "K9F1G08U0A"
    part_lines: tuple[str, ...] = ()  # part.KEY=VALUE, from a user's file
    ftl: str = "lavish"
    degree: int = 8
    maps: int = 4
    vm: int = 8 << 20
    ram: int = 32 << 10
    frame: int = 512
    slots: int = 16
    scheme: str = "auto"
    policy: str = "clock"
    ecc: str = "none"
    seed: int = 1
    image: str = ""

    def text(self) -> str:
        """The key=value lines; frame and slots are not among them, as they are compiled in."""
        lines = [
            f"chip={self.chip}",
            *self.part_lines,
            f"ftl={self.ftl}",
            f"degree={self.degree}",
            f"maps={self.maps}",
            f"vm={self.vm}",
            f"ram={self.ram}",
            f"scheme={self.scheme}",
            f"policy={self.policy}",
            f"ecc={self.ecc}",
            f"seed={self.seed}",
        ]
        if self.image:
            lines.append(f"image={Path(self.image).absolute()}")
        return "\n".join(lines)


def check(device: Device) -> dict[str, Any]:
    """What the device comes to (see `nandwich-check`), or InputError with the arithmetic."""
    frames, rest = divmod(device.ram, device.frame)
    if rest or frames == 0:
        raise InputError(f"--ram {device.ram} is not a multiple of --frame {device.frame}")
    with tempfile.NamedTemporaryFile("w", suffix=".config") as config:
        config.write(device.text() + "\n")
        config.flush()
        command = [str(paths.build_dir() / "bin" / "nandwich-check")]
        command += [config.name, str(device.frame), str(device.slots)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError(done.stderr.strip().removeprefix("nandwich: error: "))
    described: dict[str, Any] = json.loads(done.stdout)
    return described


def with_part(device: Device) -> Device:
    """The device with its chip looked up: the name as the table spells it."""
    known = _chips()
    by_folded = {name.casefold(): name for name in known}
    name = by_folded.get(device.chip.casefold())
    if name is None:
        raise names.unknown("chip", device.chip, known, list_with="nandwich chips")
    return replace(device, chip=name)


def _chips() -> list[str]:
    command = [str(paths.build_dir() / "bin" / "nandwich-check"), "chips"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
