# SPDX-License-Identifier: Apache-2.0
"""The linker script of a program on a board: ports/device/sections.ld with the board's memories."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT
from lab.device.boards import Range
from nandwich import files, paths

#: The memories the linker sees, larger than the board's: what does not fit is told with numbers.
_LINKER_BYTES = 16 << 20


@dataclass(frozen=True)
class Layout:
    """Where the parts of one program go."""

    code: Range
    ram: Range
    port: Range
    vm: Range
    stack_bytes: int
    frames_bytes: int
    policy: int
    data_offset: int  #: of RAM and virtual memory, for the linker

    @property
    def _room(self) -> int:
        return _LINKER_BYTES if self.data_offset == 0 else self.data_offset // 2

    @property
    def _room_for_globals(self) -> int:
        """The rest of all addresses, or of those that the linker has for data."""
        end = 1 << 32 if self.data_offset == 0 else 2 * self.data_offset
        return end - self.data_offset - self.vm.start

    def text(self, objects: Mapping[str, Path]) -> str:
        """The script; `objects` says which file each @name@ of sections.ld is."""
        sections = "sections_avr.ld" if self.data_offset else "sections.ld"
        body = (ROOT / "ports" / "device" / sections).read_text(encoding="utf-8")
        ram, vm = self.ram.start + self.data_offset, self.vm.start + self.data_offset
        for name in ("driver", "layer", "vm", "wrapper", "board"):
            body = body.replace(f"@{name}@", objects[name].name if name in objects else "absent")
        body = body.replace("@stack@", str(self.stack_bytes))
        return "\n".join(
            [
                "MEMORY {",
                f"  CODE (rx) : ORIGIN = {self.code.start:#x}, LENGTH = {self._room:#x}",
                f"  RAM (rw) : ORIGIN = {ram:#x}, LENGTH = {max(self._room, self.ram.bytes):#x}",
                f"  VM (rw) : ORIGIN = {vm:#x}, LENGTH = {self._room_for_globals:#x}",
                "}",
                f"ram_end = {ram + self.ram.bytes:#x};",
                f"board_port = {self.port.start:#x};",
                f"board_vm_bytes = {self.vm.bytes:#x};",
                f"board_frames_bytes = {self.frames_bytes:#x};",
                f"board_policy = {self.policy};",
                body,
            ]
        )

    def file(self, objects: Mapping[str, Path]) -> Path:
        """The script in a file whose name tells its content, beside the builds."""
        data = self.text(objects).encode()
        folder = paths.cache_dir() / "device"
        path = folder / f"{hashlib.sha256(data).hexdigest()[:32]}.ld"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            files.replace(path, data)
        return path
