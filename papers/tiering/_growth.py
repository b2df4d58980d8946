# SPDX-License-Identifier: Apache-2.0
"""A guest's image that grows, and what the recogniser says of it write by write.

mke2fs and debugfs work on a guest's ext4; qemu-io writes what changed into a qcow2 that begins
empty, through QEMU's own log of writes (blklogwrites), so that each write to the image's file comes
in QEMU's order: a new cluster before the entry of L2 that tells of it, that one at the flush at the
end of a round. The file grows on a host's ext4: debugfs gives it blocks first, and what that
changed on the host's disk is written behind the round's data, as a host does that gives blocks
late.
"""

import random
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
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
    idle: bool = False  # after each request there is time to read what is wanted
    synced: bool = False  # QEMU flushes after each request, and the superblock comes last


@dataclass
class Told:
    """Pieces of guest's metadata that were written."""

    written: int = 0
    at_once: int = 0  # told right with the write
    flagged: int = 0  # by the machine, with the write
    later: int = 0  # right once all was told again that had changed
    often: int = 0  # pieces whose answer changed more than once
    false: int = 0  # others that were, in the end, told to be metadata

    def __add__(self, other: "Told") -> "Told":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Told(*(mine + theirs for mine, theirs in pairs))


@dataclass
class Growth:
    """What was told in the round that makes the file system, in those that fill it, and at rest."""

    made: Told = field(default_factory=Told)
    filled: Told = field(default_factory=Told)
    rest_wrong: int = 0
    rest_metadata: int = 0

    @property
    def all(self) -> Told:
        """From the beginning."""
        return self.made + self.filled


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
        self.raw, self.image, self.log = (
            folder / f"guest.{end}" for end in ("img", "qcow2", "log")
        )
        self.raw.write_bytes(b"")
        call("truncate", "-s", GUEST_BYTES, self.raw)
        call("qemu-img", "create", "-q", "-f", "qcow2", "-o", f"cluster_size={shape.cluster}",
             self.image, GUEST_BYTES)  # fmt: skip
        self.draw = random.Random(1)
        self.number = 0

    def make(self) -> None:
        groups = ("-g", "2048") if self.shape.block == HOST_BLOCK else ()
        ext4_disks.make(
            self.raw,
            str(GUEST_BYTES),
            "-b",
            str(self.shape.block),
            *groups,
            "-O",
            "^has_journal,^flex_bg",
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


@dataclass
class _Round:
    """What was told in one round, by piece of the host's disk: a word, or nothing for what is no
    guest's metadata."""

    first: dict[int, str] = field(default_factory=dict)  # with its last write
    last: dict[int, str] = field(default_factory=dict)  # and since
    changed: Counter[int] = field(default_factory=Counter)
    writes: list[tuple[int, bytes]] = field(default_factory=list)  # to the image's file


class _Watched:
    """The host's disk, the image's file on it, and the recogniser that is shown all of it."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.shape = shape
        self.disk = ext4_disks.make(
            folder / "host.img", str(HOST_BYTES), "-b", str(HOST_BLOCK), "-O", "^has_journal"
        )
        self.content = _native.Content(HOST_BYTES, groups=64, images=1, clusters=32768, l1=64)
        self.guest = _Guest(folder, shape)
        self.places: list[int] = []  # blocks of the host that the file has
        self.round = _Round()
        ext4_disks.show(self.content, self.disk)
        image = self.guest.image.read_bytes()
        source = folder / "source"
        source.write_bytes(b"\xff" * len(image))  # debugfs leaves out blocks of zeros
        before = self.disk.read_bytes()
        debug(self.disk, f"write {source} guest")
        self._room(len(image))
        self._write([(0, image)])
        self._show(before)

    def _room(self, size: int) -> None:
        """The file gets blocks up to there."""
        known, count = len(self.places), -(-size // HOST_BLOCK)
        if count <= known:
            return
        debug(self.disk, f"fallocate guest {known} {count - 1}", f"sif guest size {size}")
        self.places += ext4_disks.bmap(self.disk, "guest", range(known, count))

    def _at(self, byte: int) -> int:
        """Of the image's file, on the disk."""
        return self.places[byte // HOST_BLOCK] * HOST_BLOCK + byte % HOST_BLOCK

    def _write(self, writes: list[tuple[int, bytes]]) -> None:
        """To the image's file, one after the other, each block of the host a request."""
        with self.disk.open("r+b") as disk:
            for first, data in writes:
                done = 0
                while done < len(data):
                    part = data[done : done + HOST_BLOCK - (first + done) % HOST_BLOCK]
                    at = self._at(first + done)
                    for piece in range(at, at + len(part), PIECE):
                        self.round.first[piece] = self.round.last[piece] = self._name(piece)
                    self.content.see(at, part)
                    disk.seek(at)
                    disk.write(part)
                    done += len(part)
                if self.shape.idle:
                    disk.flush()
                    ext4_disks.answer(self.content, self.disk)
                    self._correct()

    def _name(self, at: int) -> str:
        name, is_guest, _ = self.content.classify(at)
        return name if is_guest and name in METADATA else ""

    def _show(self, before: bytes) -> None:
        """The host's own tables, behind the data."""
        after = self.disk.read_bytes()
        mine = set(self.places)
        for block in range(len(after) // HOST_BLOCK):
            at = block * HOST_BLOCK
            data = after[at : at + HOST_BLOCK]
            if block not in mine and before[at : at + HOST_BLOCK] != data:
                self.content.see(at, data)
        ext4_disks.answer(self.content, self.disk)

    def _correct(self) -> None:
        """All that is told again."""
        while (changed := self.content.again()) is not None:
            first, count = changed
            for piece in range(first, first + count, PIECE):
                name = self._name(piece)
                if self.round.last.get(piece, name) != name:
                    self.round.last[piece] = name
                    self.round.changed[piece] += 1

    def play(self) -> _Round:
        """One round: the first makes the file system."""
        before_guest, before = self.guest.raw.read_bytes(), self.disk.read_bytes()
        if any(before_guest):
            self.guest.fill()
        else:
            self.guest.make()
        self.round = _Round(writes=self.guest.store(before_guest))
        self._room(max(at + len(data) for at, data in self.round.writes))
        self._write(self.round.writes)
        self._show(before)
        self._correct()
        return self.round

    def pieces(self) -> dict[int, int]:
        """Byte of the guest's disk by byte of the image's file, of each piece it has by now."""
        return {
            at + into: start + into
            for start, at, length in ext4_disks.mapped(self.guest.image)
            for into in range(0, length, PIECE)
        }

    def truth(self, guest_at: dict[int, int]) -> dict[int, str]:
        """The guest's metadata, by piece of the disk."""
        judged = Judged(self.guest.raw)
        named = {
            self._at(byte): judged.classes.get(at // judged.block, "")
            for byte, at in guest_at.items()
        }
        return {piece: name for piece, name in named.items() if name in METADATA}

    def wrong(self, truth: dict[int, str]) -> int:
        """Of the metadata, as it is told now."""
        return sum(self._name(piece) != name for piece, name in truth.items())

    def flags(self, one: _Round, machine: _native.Content, guest_at: dict[int, int]) -> set[int]:
        """Pieces of the disk whose last write in the round the machine calls metadata. It is shown
        what it writes, by the guest's address, and reads what it wants of it at once."""
        flagged: set[int] = set()
        for first, data in one.writes:
            for into in range(0, len(data), PIECE):
                at = guest_at.get(first + into)
                if at is None:
                    continue
                name, _, _ = machine.classify(at)
                (flagged.add if name in METADATA else flagged.discard)(self._at(first + into))
                machine.see(at, data[into : into + PIECE])
        return flagged


def _count(one: _Round, flagged: set[int], truth: dict[int, str]) -> Told:
    right = {piece: name for piece, name in one.first.items() if truth.get(piece) == name}
    later = {piece: name for piece, name in one.last.items() if truth.get(piece) == name}
    written = one.first.keys() & truth.keys()
    return Told(
        written=len(written),
        at_once=len(right),
        flagged=len(flagged & written),
        later=len(later),
        often=sum(count > 1 for count in one.changed.values()),
        false=sum(name != "" for piece, name in one.last.items() if piece not in truth),
    )


@cache
def grow(shape: Shape, rounds: int) -> Growth:
    """A file system is made, then filled in so many rounds."""
    with tempfile.TemporaryDirectory() as folder:
        watched = _Watched(Path(folder), shape)
        played = [watched.play() for _ in range(rounds + 1)]
        guest_at = watched.pieces()
        truth = watched.truth(guest_at)
        machine = _native.Content(GUEST_BYTES, groups=64, images=0)
        told = []
        for one in played:
            flagged = watched.flags(one, machine, guest_at)
            while (wanted := machine.want()) is not None:
                machine.lose(*wanted)
            told.append(_count(one, flagged, truth))
        return Growth(told[0], sum(told[1:], Told()), watched.wrong(truth), len(truth))
