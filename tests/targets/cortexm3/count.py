# SPDX-License-Identifier: Apache-2.0
"""Runs a firmware image on unicorn's Cortex-M3 and prints the instructions between marks.

    python count.py IMAGE.elf

A program of its own: unicorn is GPL-2 and never linked to what we ship. The image writes marks to
0x40000000 and ends with 255. Lines: markerN COUNT LEAST MOST MEAN.

Unicorn calls its code hook not for instructions of an IT block whose condition fails, although the
processor spends them; so the hook of the IT instruction counts its whole block.
"""

import struct
import sys
from pathlib import Path

import unicorn
from unicorn import arm_const as arm

CODE, RAM, PORT = 0x0000_8000, 0x2000_0000, 0x4000_0000
MOST_INSTRUCTIONS = 20_000_000


class Counter:
    """Instructions so far, and between marks."""

    def __init__(self, image: bytes) -> None:
        self.count = 0
        self.block_end = 0
        self.running = 0
        self.since = 0
        self.over = False
        self.marks: dict[int, list[int]] = {}
        self.emulator = unicorn.Uc(
            unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        )
        for base in (0, RAM, PORT):
            self.emulator.mem_map(base, 0x10_0000)
        self.entry = self._load(image)
        self.emulator.hook_add(unicorn.UC_HOOK_CODE, self._step)
        self.emulator.hook_add(unicorn.UC_HOOK_MEM_WRITE, self._mark, None, PORT, PORT + 3)

    def _load(self, image: bytes) -> int:
        entry, headers = struct.unpack_from("<II", image, 24)
        size, count = struct.unpack_from("<HH", image, 42)
        for number in range(count):
            kind, offset, address, _, length = struct.unpack_from(
                "<IIIII", image, headers + number * size
            )
            if kind == 1 and length:
                self.emulator.mem_write(address, image[offset : offset + length])
        return int(entry)

    def _step(self, emulator: unicorn.Uc, address: int, size: int, _context: object) -> None:
        if address < self.block_end:
            return
        self.block_end = 0
        self.count += 1
        opcode = int.from_bytes(emulator.mem_read(address, 2), "little")
        if opcode & 0xFF00 == 0xBF00 and opcode & 0xF:
            length = 4 - ((opcode & 0xF) & -(opcode & 0xF)).bit_length() + 1
            self.count += length
            at = address + size
            for _ in range(length):
                first = int.from_bytes(emulator.mem_read(at, 2), "little")
                at += 4 if first >> 11 in (0b11101, 0b11110, 0b11111) else 2
            self.block_end = at

    def _mark(
        self, emulator: unicorn.Uc, _kind: int, _at: int, _size: int, value: int, _context: object
    ) -> None:
        if self.running:
            self.marks.setdefault(self.running, []).append(self.count - self.since)
        self.running = value if value < 8 else 0
        self.since = self.count
        if value == 255:
            self.over = True
            emulator.emu_stop()

    def run(self) -> None:
        """From the image's entry to its end."""
        self.emulator.reg_write(arm.UC_ARM_REG_SP, RAM + 0x8_0000)
        self.emulator.emu_start(self.entry | 1, 0, count=MOST_INSTRUCTIONS)


def main() -> int:
    """Exit 1 when the image does not come to its end."""
    counter = Counter(Path(sys.argv[1]).read_bytes())
    counter.run()
    for number, counts in sorted(counter.marks.items()):
        mean = sum(counts) // len(counts)
        sys.stdout.write(f"marker{number} {len(counts)} {min(counts)} {max(counts)} {mean}\n")
    return 0 if counter.over else 1


if __name__ == "__main__":
    sys.exit(main())
