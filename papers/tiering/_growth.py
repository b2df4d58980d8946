# SPDX-License-Identifier: Apache-2.0
"""A guest's image that grows, and what the recogniser says of it write by write.

mke2fs and debugfs work on a guest's ext4; qemu-io writes what changed into a qcow2 that begins
empty, through QEMU's own log of writes (blklogwrites), so that each write to the image's file comes
in QEMU's order: a new cluster before the entry of L2 that tells of it, that one at the flush at the
end of a round. The file lies on a host's ext4, with all its blocks from the start or growing: then
debugfs gives it blocks first, and what that changed on the host's disk is written behind the
round's data, as a host does that gives blocks late.
"""

import random
import re
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lab import ext4_disks
from lab.ext4_disks import METADATA, Judged, call, debug
from nandwich import _native

HOST_BLOCK = 4096
SECTOR = 512
PIECE = 1024  # that is told of at a time: no block is smaller
GUEST_BYTES, HOST_BYTES = 96 << 20, 160 << 20
_LOG = struct.Struct("<QQQQ")
_LOG_DISCARD = 4


@dataclass(frozen=True)
class Shape:
    """Of a guest and its host."""

    block: int = 4096
    cluster: int = 65536
    grows: bool = True  # the file on the host: it gets its blocks round by round
    flex: bool = False  # groups' tables stand together
    idle: bool = False  # after each request there is time to read what is wanted
    synced: bool = False  # QEMU flushes after each request, and the superblock comes last


@dataclass
class Told:
    """Pieces of guest's metadata that were written."""

    written: int = 0
    at_once: int = 0  # told right with the write
    later: int = 0  # right once all was told again that had changed
    again: int = 0  # pieces told again whose answer changed more than once
    false: int = 0  # others that were, in the end, told to be metadata

    def add(self, other: "Told") -> None:
        """Both together."""
        self.written += other.written
        self.at_once += other.at_once
        self.later += other.later
        self.again += other.again
        self.false += other.false


@dataclass
class Growth:
    """What was told in the round that makes the file system, in those that fill it, and at rest."""

    made: Told = field(default_factory=Told)
    filled: Told = field(default_factory=Told)
    rest_wrong: int = 0
    rest_metadata: int = 0


def _runs(before: bytes, after: bytes, block: int) -> list[tuple[int, int]]:
    """Bytes that differ, in whole blocks: first and number."""
    runs: list[tuple[int, int]] = []
    for at in range(0, len(after), block):
        if before[at : at + block] != after[at : at + block]:
            if runs and sum(runs[-1]) == at:
                runs[-1] = (runs[-1][0], runs[-1][1] + block)
            else:
                runs.append((at, block))
    return runs


def _logged(log: Path) -> Iterator[tuple[int, bytes]]:
    """Writes of a log in their order: byte of the file and content."""
    data = log.read_bytes()
    (count,) = struct.unpack_from("<Q", data, 16)
    at = SECTOR
    for _ in range(count):
        first, sectors, flags, _length = _LOG.unpack_from(data, at)
        at += SECTOR
        if not flags & _LOG_DISCARD:
            if sectors:
                yield first * SECTOR, data[at : at + sectors * SECTOR]
            at += sectors * SECTOR


class _Guest:
    """A file system that fills, and its image."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.folder, self.shape = folder, shape
        self.raw, self.image, self.log = (folder / f"guest.{end}" for end in ("img", "qcow2", "log"))
        self.raw.write_bytes(b"")
        call("truncate", "-s", GUEST_BYTES, self.raw)
        call("qemu-img", "create", "-q", "-f", "qcow2", "-o", f"cluster_size={shape.cluster}",
             self.image, GUEST_BYTES)  # fmt: skip
        self.draw = random.Random(1)
        self.number = 0

    def make(self) -> None:
        groups = ("-g", "2048") if self.shape.block == HOST_BLOCK else ()
        features = "^has_journal" if self.shape.flex else "^has_journal,^flex_bg"
        ext4_disks.make(
            self.raw, str(GUEST_BYTES), "-b", str(self.shape.block), *groups, "-O", features
        )

    def fill(self) -> None:
        """Files of half a MiB in the mean, each in a new folder."""
        lines = []
        for _ in range(6):
            self.number += 1
            source = self.folder / f"source.{self.number % 6}"
            source.write_bytes(self.draw.randbytes(1 + int(self.draw.expovariate(1 / (512 << 10)))))
            lines += [f"mkdir d{self.number}", f"write {source} d{self.number}/file"]
        debug(self.raw, *lines, now=1_700_000_000 + 60 * self.number)

    def store(self, before: bytes) -> list[tuple[int, bytes]]:
        """What changed goes into the image: the writes to its file."""
        after = self.raw.read_bytes()
        part = self.folder / "part"
        words: list[object] = []
        runs = _runs(before, after, self.shape.block)
        for at, count in reversed(runs) if self.shape.synced else runs:
            part_at = part.with_suffix(f".{at}")
            part_at.write_bytes(after[at : at + count])
            words += ["-c", f"write -s {part_at} {at} {count}"]
            words += ["-c", "flush"] if self.shape.synced else []
        self.log.write_bytes(b"")
        options = (
            f"driver=qcow2,file.driver=blklogwrites,file.file.driver=file,file.file.filename="
            f"{self.image},file.log.driver=file,file.log.filename={self.log}"
        )
        call("qemu-io", "--image-opts", options, *words, "-c", "flush")
        for file in self.folder.glob("part.*"):
            file.unlink()
        return list(_logged(self.log))


class _Watched:
    """The host's disk, the image's file on it, and the recogniser that is shown all of it."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.shape = shape
        self.disk = ext4_disks.make(
            folder / "host.img", str(HOST_BYTES), "-b", str(HOST_BLOCK), "-O", "^has_journal"
        )
        self.content = _native.Content(HOST_BYTES, groups=64, images=1, clusters=32768, l1=64)
        self.guest = _Guest(folder, shape)
        self.places: list[int] = []
        self.first: dict[int, str] = {}  # by piece, of the round: with its last write
        self.told: dict[int, str] = {}  # and since
        self.changed: dict[int, int] = {}
        ext4_disks.show(self.content, self.disk)
        image = self.guest.image.read_bytes()
        source = folder / "source"
        source.write_bytes(b"\xff" * len(image))  # debugfs leaves out blocks of zeros
        before = self.disk.read_bytes()
        debug(self.disk, f"write {source} guest")
        self._room(len(image) if shape.grows else GUEST_BYTES + (16 << 20))
        self._write([(0, image)])
        self._show(before)

    def _room(self, size: int) -> None:
        """The file gets blocks up to there."""
        known, count = len(self.places), -(-size // HOST_BLOCK)
        if count <= known:
            return
        debug(self.disk, f"fallocate guest {known} {count - 1}", f"sif guest size {size}")
        asked = "".join(f"bmap guest {i}\n" for i in range(known, count))
        told = call("debugfs", "-f", "/dev/stdin", self.disk, text=asked)
        self.places += [int(word) for word in re.findall(r"^(\d+)(?: \(uninit\))?$", told, re.M)]
        if len(self.places) != count or 0 in self.places:
            raise AssertionError(f"{len(self.places)} blocks of {count} have a place")

    def _write(self, writes: list[tuple[int, bytes]]) -> None:
        """Of the image's file, one after the other, each block of the host a request."""
        with self.disk.open("r+b") as disk:
            for first, data in writes:
                done = 0
                while done < len(data):
                    block, into = divmod(first + done, HOST_BLOCK)
                    count = min(HOST_BLOCK - into, len(data) - done)
                    at = self.places[block] * HOST_BLOCK + into
                    part = data[done : done + count]
                    self._request(at, part)
                    disk.seek(at)
                    disk.write(part)
                    done += count
                if self.shape.idle:
                    disk.flush()
                    ext4_disks.answer(self.content, self.disk)
                    self._correct()

    def _request(self, at: int, data: bytes) -> None:
        for piece in range(at, at + len(data), PIECE):
            self.first[piece] = self.told[piece] = self._name(piece)
        self.content.see(at, data)

    def _name(self, at: int) -> str:
        name, is_guest, _ = self.content.classify(at)
        return name if is_guest and name in METADATA else ""

    def _show(self, before: bytes) -> None:
        """The host's own tables, behind the data."""
        after = self.disk.read_bytes()
        mine = {place * HOST_BLOCK for place in self.places}
        for at in range(0, len(after), HOST_BLOCK):
            data = after[at : at + HOST_BLOCK]
            if at not in mine and before[at : at + HOST_BLOCK] != data:
                self.content.see(at, data)
        ext4_disks.answer(self.content, self.disk)

    def _correct(self) -> None:
        """All that is told again."""
        while (changed := self.content.again()) is not None:
            first, count = changed
            for piece in range(first, first + count, PIECE):
                if piece in self.told and self.told[piece] != self._name(piece):
                    self.told[piece] = self._name(piece)
                    self.changed[piece] = self.changed.get(piece, 0) + 1

    def round(self) -> tuple[dict[int, str], dict[int, str], int]:
        """One round: by piece what was told with the write, and after it."""
        before_guest, before = self.guest.raw.read_bytes(), self.disk.read_bytes()
        if any(before_guest):
            self.guest.fill()
        else:
            self.guest.make()
        writes = self.guest.store(before_guest)
        self.first, self.told, self.changed = {}, {}, {}
        self._room(max(at + len(data) for at, data in writes))
        self._write(writes)
        self._show(before)
        self._correct()
        return self.first, self.told, sum(count > 1 for count in self.changed.values())

    def truth(self) -> dict[int, str]:
        """By piece of the disk: metadata of the guest."""
        judged = Judged(self.guest.raw)
        found = {}
        for start, at, length in ext4_disks.mapped(self.guest.image):
            for into in range(0, length, PIECE):
                name = judged.classes.get((start + into) // judged.block, "")
                block, rest = divmod(at + into, HOST_BLOCK)
                if name in METADATA:
                    found[self.places[block] * HOST_BLOCK + rest] = name
        return found


def _count(first: dict[int, str], later: dict[int, str], truth: dict[int, str]) -> Told:
    told = Told()
    for piece, name in first.items():
        right = truth.get(piece, "")
        told.written += right != ""
        told.at_once += right != "" and name == right
        told.later += right != "" and later[piece] == right
        told.false += right == "" and later[piece] != ""
    return told


@cache
def grow(shape: Shape, rounds: int) -> Growth:
    """A file system is made, then filled in so many rounds."""
    with tempfile.TemporaryDirectory() as folder:
        watched = _Watched(Path(folder), shape)
        all_told = [watched.round() for _ in range(rounds + 1)]
        truth = watched.truth()
        growth = Growth(rest_metadata=len(truth))
        for number, (first, later, often) in enumerate(all_told):
            told = _count(first, later, truth)
            told.again = often
            (growth.filled if number else growth.made).add(told)
        growth.rest_wrong = sum(watched._name(piece) != name for piece, name in truth.items())
        return growth
