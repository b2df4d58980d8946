# SPDX-License-Identifier: Apache-2.0
"""Counts of a native run on a board, as LLVM writes them where it has a run time: its raw profile
(llvm/ProfileData/InstrProfData.inc of LLVM 19).

Records, counters and names lie in RAM one behind the other as they do in such a file
(ports/device/sections.ld), so that a header before a copy of them makes one.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from lab.device.boards import Range

#: What LLVM's counters ask a linker for; there is none here.
RUN_TIME = "__llvm_profile_runtime"
#: Of a processor with pointers of 32 bits, and a profile counted in bitcode.
_MAGIC = int.from_bytes(b"\xfflprofR\x81", "big")
_VERSION = 10 | 1 << 56
#: Bytes of a record and of a counter, and the last kind of values.
_RECORD, _COUNTER, _LAST_KIND = 48, 8, 2


@dataclass(frozen=True)
class Counted:
    """Where the counts of a program are."""

    records: Range
    counters: Range
    names: Range

    @property
    def all(self) -> Range:
        return Range(self.records.start, self.names.end - self.records.start)

    def profile(self, memory: bytes) -> bytes:
        """A raw profile of what `all` held at the end of the run."""
        fields = (
            _MAGIC,
            _VERSION,
            0,  # bytes of binary ids
            self.records.bytes // _RECORD,
            self.records.bytes % _RECORD,  # padding
            self.counters.bytes // _COUNTER,
            0,  # padding
            0,  # bitmaps
            0,  # padding
            self.names.bytes,
            self.counters.start - self.records.start,
            0,  # the same of bitmaps
            self.names.start,
            0,  # tables of virtual functions
            0,  # bytes of their names
            _LAST_KIND,
        )
        return struct.pack(f"<{len(fields)}Q", *fields) + memory + bytes(-len(memory) % 8)


def of(symbols: Mapping[str, int]) -> Counted | None:
    """By the symbols of a linked program; None: it counts nothing."""
    names = [f"counts_{name}" for name in ("start", "counters", "names", "end")]
    if not symbols.keys() >= set(names):
        return None
    start, counters, first, end = (symbols[name] for name in names)
    if counters == first:
        return None
    return Counted(
        Range(start, counters - start), Range(counters, first - counters), Range(first, end - first)
    )
