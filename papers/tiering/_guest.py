# SPDX-License-Identifier: Apache-2.0
"""What guests write to a host's disk, recorded with the tools that own the formats.

Guests' ext4 file systems are changed by debugfs, and what changed in them is written into their
qcow2 images by qemu-io. The images lie in files of the host's ext4 that have all their blocks from
the start; debugfs notes the time of each change there. Every block of the host's disk
that differs afterwards is a write, neighbours together as one request. Each request's class is what
the recogniser (core/content) says of it at that moment, from the blocks it was shown so far.

There is no kernel in it: no journal is written, and what a page cache would gather is gathered here
by a number of operations that go to the disk together. Each guest does the same kinds of
operations, drawn from a seed: files are made, grow, are overwritten in place and removed. Nothing
is read, unless that is asked for: then whole files are too, and caches are cold each time, so that
a guest reads first what it changes of its metadata.
"""

import random
import re
import struct
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lab import ext4_disks
from lab.ext4_disks import METADATA, Judged, call, debug
from nandwich import _native
from nandwich.replay import classes

BLOCK = 4096
GAP_NS = 30 * 10**6  # between two times that operations go to the disk
GUEST_BYTES = 32 << 20
#: Host's bytes: its own tables and what each guest's image takes.
HOST_BYTES, HOST_BYTES_A_GUEST = 24 << 20, 40 << 20
IMAGE_BYTES = 36 << 20  # of a guest's file on the host: none grows
_KINDS = ("make",) * 3 + ("grow",) * 2 + ("overwrite",) * 4 + ("remove",) * 2
READ, WRITE = 0, 1  # of a request, which are told apart as two applications


@dataclass(frozen=True)
class Habits:
    """What guests do: so many operations go to the disk together."""

    together: int = 4
    more_blocks: int = 4  # of a file: exponential, with this mean, beside the first
    reads: int = 0  # chances of a whole file to be read, beside 11 of what writes


@dataclass
class Request:
    """Guests' numbers are not known below, so it has none."""

    time_ns: int
    block: int
    blocks: int
    content: int
    kind: int = WRITE


@dataclass
class Recording:
    """A disk's requests and how often each of its blocks was written."""

    sectors: int
    requests: list[Request] = field(default_factory=list)
    counts: dict[bool, Counter[int]] = field(
        default_factory=lambda: {False: Counter(), True: Counter()}
    )  # of metadata, by whether it is a guest's
    all_counts: Counter[int] = field(default_factory=Counter)
    updates: Counter[str] = field(default_factory=Counter)  # blocks written before, by class

    def packed(self) -> _native.Requests:
        """To be replayed."""
        packed = (
            struct.pack(
                "<QQQQBBH4x",
                one.time_ns,
                one.block * BLOCK,
                one.blocks * BLOCK,
                0,
                one.kind,
                one.content,
                1 + one.kind,
            )
            for one in self.requests
        )
        return _native.Requests(b"".join(packed))


def _changed(before: bytes, after: bytes) -> list[int]:
    """Blocks that differ; the later one may be longer."""
    return [
        at // BLOCK
        for at in range(0, len(after), BLOCK)
        if before[at : at + BLOCK] != after[at : at + BLOCK]
    ]


def _runs(blocks: list[int]) -> list[tuple[int, int]]:
    """First and number of those in a row."""
    runs: list[tuple[int, int]] = []
    for block in blocks:
        if runs and block == sum(runs[-1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((block, 1))
    return runs


class _Guest:
    """A file system in an image, and the files it has."""

    def __init__(self, folder: Path, number: int, habits: Habits) -> None:
        self.habits = habits
        self.read: list[str] = []  # files, in this round
        self.name = f"guest{number}"
        self.raw = ext4_disks.make(
            folder / f"{self.name}.img", str(GUEST_BYTES), "-b", str(BLOCK), "-O", "^has_journal"
        )
        self.image = folder / f"{self.name}.qcow2"
        self.part = folder / f"{self.name}.part"
        self.source = folder / f"{self.name}.source"
        self.draw = random.Random(number)
        self.files: dict[str, int] = {}  # blocks
        self.fresh: dict[str, int] = {}  # files that got blocks now: the first of these
        self.made = 0
        self.clock = 1_700_000_000
        call("qemu-img", "convert", "-O", "qcow2", self.raw, self.image)
        self.places: list[int] = []  # of the image's blocks on the host

    def _overwrite(self, name: str) -> None:
        """A file's block in place, if it is on the disk by now."""
        block = self.draw.randrange(self.files[name])
        places = ext4_disks.bmap(self.raw, name, [block])
        if places in ([], [0]):
            return
        with self.raw.open("r+b") as disk:
            disk.seek(places[0] * BLOCK)
            disk.write(self.draw.randbytes(BLOCK))

    def _more(self) -> int:
        mean = self.habits.more_blocks
        return int(self.draw.expovariate(1 / mean)) if mean else 0

    def _line(self, kind: str) -> list[str]:
        """An operation for debugfs."""
        name = self.draw.choice(sorted(self.files)) if self.files else ""
        if kind == "make" or not name:
            self.made += 1
            name = f"f{self.made}"
            self.fresh[name] = 0
            self.files[name] = 1 + self._more()
            return [f"write {self.source} {name}", f"fallocate {name} 0 {self.files[name] - 1}",
                    f"sif {name} size {self.files[name] * BLOCK}"]  # fmt: skip
        if kind == "remove":
            del self.files[name]
            return [f"rm {name}"]
        if kind == "grow":
            first = self.files[name]
            self.fresh.setdefault(name, first)
            self.files[name] += 1 + self._more()
            return [f"fallocate {name} {first} {self.files[name] - 1}",
                    f"sif {name} size {self.files[name] * BLOCK}"]  # fmt: skip
        if kind == "read":
            self.read.append(name)
            return []
        self._overwrite(name)
        return [f"sif {name} mtime @{1_700_000_000 + self.made + self.draw.randrange(10**6)}"]

    def _fill(self) -> None:
        """Blocks that files got have content: debugfs leaves them as they were."""
        for name, first in self.fresh.items():
            places = ext4_disks.bmap(self.raw, name, range(first, self.files.get(name, 0)))
            with self.raw.open("r+b") as disk:
                for place in filter(None, places):
                    disk.seek(place * BLOCK)
                    disk.write(self.draw.randbytes(BLOCK))

    def _reads(self, before: bytes, after: bytes) -> list[int]:
        """Blocks that a guest with cold caches read for that."""
        known = Judged(self.raw).classes
        blocks = [block for block in _changed(before, after) if known.get(block) in METADATA]
        for name in self.read:
            if name in self.files and name not in self.fresh:
                told = call("debugfs", "-R", f"imap {name}", self.raw)
                blocks.append(int(re.findall(r"located at block (\d+)", told)[0]))
                blocks += Judged.blocks(self.raw, name)
        return sorted(set(blocks))

    def work(self) -> list[int]:
        """Operations go to the guest's disk, and from there into the image: blocks of the guest
        that were read for them."""
        before = self.raw.read_bytes()
        self.fresh, self.read = {}, []
        self.source.write_bytes(self.draw.randbytes(BLOCK))
        kinds = _KINDS + ("read",) * self.habits.reads
        lines = [
            line
            for _ in range(self.habits.together)
            for line in self._line(self.draw.choice(kinds))
        ]
        self.clock += 60  # a superblock knows seconds, however fast this machine is
        debug(self.raw, *lines, now=self.clock)
        self._fill()
        after = self.raw.read_bytes()
        words: list[object] = ["qemu-io", "-f", "qcow2"]
        for number, (first, count) in enumerate(_runs(_changed(before, after))):
            part = self.part.with_suffix(f".{number}")
            part.write_bytes(after[first * BLOCK : (first + count) * BLOCK])
            words += ["-c", f"write -s {part} {first * BLOCK} {count * BLOCK}"]
        if len(words) > 3:
            call(*words, self.image)
        return self._reads(before, after) if self.habits.reads else []


class _Host:
    """A host's disk with images, and the recogniser that watches it."""

    def __init__(self, folder: Path, guests: int, habits: Habits) -> None:
        size = HOST_BYTES + guests * HOST_BYTES_A_GUEST
        options = ("-b", str(BLOCK), "-O", "^has_journal")
        self.disk = ext4_disks.make(folder / "host.img", str(size), *options)
        self.guests = [_Guest(folder, number + 1, habits) for number in range(guests)]
        for guest in self.guests:
            self._place(guest, folder)
        self.recording = Recording(size // BLOCK)
        self.content = _native.Content(size, groups=64, images=guests, clusters=4096, l1=64)
        ext4_disks.show(self.content, self.disk)
        with self.disk.open("rb") as disk:
            for guest in self.guests:  # whoever opens an image reads its header
                disk.seek(guest.places[0] * BLOCK)
                self.content.see(disk.tell(), disk.read(BLOCK))
        ext4_disks.answer(self.content, self.disk)
        self.now_ns = 0

    def _place(self, guest: _Guest, folder: Path) -> None:
        """A file that has all its blocks, with the image in front."""
        count = IMAGE_BYTES // BLOCK
        whole = folder / "whole"
        whole.write_bytes(b"\xff" * IMAGE_BYTES)  # debugfs leaves out blocks of zeros
        debug(self.disk, f"write {whole} {guest.name}")
        guest.places = ext4_disks.bmap(self.disk, guest.name, range(count))
        if len(guest.places) != count:
            raise AssertionError(f"{len(guest.places)} blocks of {count} have a place")
        self._write(guest, b"\xff" * IMAGE_BYTES, guest.image.read_bytes())

    def _write(self, guest: _Guest, before: bytes, after: bytes) -> None:
        with self.disk.open("r+b") as disk:
            for block in _changed(before, after):
                disk.seek(guest.places[block] * BLOCK)
                disk.write(after[block * BLOCK : (block + 1) * BLOCK].ljust(BLOCK, b"\0"))

    def _store(self, guest: _Guest, before: bytes, after: bytes) -> None:
        """What changed in the image, on the host's disk."""
        debug(self.disk, f"sif {guest.name} mtime @{1_700_000_000 + self.now_ns // 10**6}")
        self._write(guest, before, after)

    def _note(self, before: bytes, after: bytes) -> None:
        """Each change as a request, split where the class changes."""
        recording = self.recording
        for block in _changed(before, after):
            at = block * BLOCK
            data = after[at : at + BLOCK]
            name, is_guest, _ = self.content.classify(at, data)
            content = classes.NAMES.index(name) + (classes.GUEST if is_guest else 0)
            self.content.see(at, data)
            recording.updates[name] += recording.all_counts[block] > 0
            recording.all_counts[block] += 1
            if name in METADATA:
                recording.counts[is_guest][block] += 1
            self._ask(block, content, WRITE)
        ext4_disks.answer(self.content, self.disk)

    def _ask(self, block: int, content: int, kind: int) -> None:
        """Of one block, in a request with the one before it if that goes."""
        requests = self.recording.requests
        last = requests[-1] if requests else None
        if (
            last is not None
            and (last.time_ns, last.content, last.kind) == (self.now_ns, content, kind)
            and last.block + last.blocks == block
        ):
            last.blocks += 1
        else:
            requests.append(Request(self.now_ns, block, 1, content, kind))

    def _read(self, guest: _Guest, blocks: list[int]) -> None:
        """Blocks of a guest, where its image has them."""
        places = {
            (start + into) // BLOCK: guest.places[(at + into) // BLOCK]
            for start, at, length in ext4_disks.mapped(guest.image)
            for into in range(0, length, BLOCK)
        }
        for block in sorted(places[block] for block in blocks if block in places):
            name, is_guest, _ = self.content.classify(block * BLOCK)
            self._ask(block, classes.NAMES.index(name) + (classes.GUEST if is_guest else 0), READ)

    def work(self) -> None:
        """Each guest in turn."""
        for guest in self.guests:
            image, disk = guest.image.read_bytes(), self.disk.read_bytes()
            self._read(guest, guest.work())
            self._store(guest, image, guest.image.read_bytes())
            self._note(disk, self.disk.read_bytes())
            self.now_ns += GAP_NS


@cache
def record(guests: int, rounds: int, habits: Habits) -> Recording:
    """So many guests do so many rounds of operations."""
    with tempfile.TemporaryDirectory() as folder:
        host = _Host(Path(folder), guests, habits)
        for _ in range(rounds):
            host.work()
        return host.recording


@dataclass(frozen=True)
class Outcome:
    """A recording replayed."""

    served_ns: tuple[int, int]  # reads, writes
    energy_pj: int
    written: int  # sectors
    absorbed: int  # of these, in the NVM
    read: int
    read_absorbed: int
    by_content: tuple[dict[str, int], ...]


def replay(recording: Recording, part: _native.Part, tier: str, *, used: bool = True) -> Outcome:
    """On the page layer over the thesis's flash, half full if `used`; `tier`: a policy before it,
    or none."""
    device = _native.ReplayDevice(part, "page")
    if tier:
        device.put_tier(_native.Part.named("PCM-16M-1US"), tier)
    player = _native.Replay(
        device,
        recording.packed(),
        precondition=500 if used else 0,
        arrivals=True,
        idle=True,
        apps=2,
    )
    while player.precondition(1 << 20):
        pass
    while player.run(1 << 20):
        pass
    result = player.result()
    shares = player.shares("content")
    by_kind = player.shares("app")
    return Outcome(
        (by_kind[1 + READ]["served_ns"], by_kind[1 + WRITE]["served_ns"]),
        result["energy_pj"],
        result["sectors_written"],
        sum(share["nvm_written"] for share in shares),
        sum(share["read"] for share in shares),
        sum(share["nvm_read"] for share in shares),
        tuple(shares),
    )
