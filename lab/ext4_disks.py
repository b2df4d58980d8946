# SPDX-License-Identifier: Apache-2.0
"""Disks with ext4 and qcow2 made by the tools that own these formats, and what those tools say of
each block: the judge of core/content."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from nandwich._native import Content

METADATA = {"superblock", "descriptors", "bitmap", "inodes"}
PRESENT = all(shutil.which(tool) for tool in ("mke2fs", "dumpe2fs", "debugfs", "resize2fs"))
IMAGES = shutil.which("qemu-img") is not None
_PIECE = 4096
_PLACES = (
    ("superblock", "superblock"),
    ("Group descriptors?", "descriptors"),
    ("Reserved GDT blocks", "descriptors"),
    ("Block bitmap", "bitmap"),
    ("Inode bitmap", "bitmap"),
    ("Inode table", "inodes"),
)


def call(*command: object, text: str | None = None, now: int | None = None) -> str:
    """What a tool prints. `now` is the time that e2fsprogs takes it for, in seconds."""
    clock = {} if now is None else {"E2FSPROGS_FAKE_TIME": str(now)}
    done = subprocess.run(
        [str(word) for word in command],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, **clock},
    )
    return done.stdout


def make(path: Path, size: str, *options: str) -> Path:
    """An empty ext4; the same bytes in every run."""
    path.unlink(missing_ok=True)
    call("truncate", "-s", size, path)
    seeds = "hash_seed=6f1d2c30-1111-4222-8333-444455556666"
    call("mke2fs", "-q", "-F", "-t", "ext4", "-E", seeds, *options, path)
    return path


def debug(path: Path, *lines: str, now: int | None = None) -> str:
    """Lines for debugfs, which may write."""
    text = "\n".join(lines) + "\n"
    return call("debugfs", "-w", "-f", "/dev/stdin", path, text=text, now=now)


def fill(path: Path, folder: Path, files: int, size: int) -> None:
    """Files of random bytes in folders of their own."""
    content = folder / "content.bin"
    content.write_bytes(random.Random(1).randbytes(size))
    pairs = (f"mkdir d{i}\nwrite {content} d{i}/file" for i in range(files))
    debug(path, *pairs)


def bmap(path: Path, name: str, blocks: Iterable[int]) -> list[int]:
    """Where blocks of a file lie; 0: nowhere."""
    asked = "".join(f"bmap {name} {block}\n" for block in blocks)
    told = call("debugfs", "-f", "/dev/stdin", path, text=asked)
    return [int(word) for word in re.findall(r"^(\d+)(?: \(uninit\))?$", told, re.M)]


class Judged:
    """A file system's blocks by dumpe2fs and debugfs."""

    def __init__(self, path: Path) -> None:
        text = call("dumpe2fs", path)
        self.block = int(re.findall(r"Block size:\s+(\d+)", text)[0])
        self.count = int(re.findall(r"Block count:\s+(\d+)", text)[0])
        self.classes: dict[int, str] = {}
        for words, name in _PLACES:
            for first, last in re.findall(rf"{words}(?: at)? (\d+)(?:-(\d+))?", text):
                for block in range(int(first), int(last or first) + 1):
                    self.classes[block] = name
        if "has_journal" in text:
            for block in self.blocks(path, "<8>"):
                self.classes[block] = "journal"

    @staticmethod
    def blocks(path: Path, name: str) -> list[int]:
        return [int(word) for word in call("debugfs", "-R", f"blocks {name}", path).split()]


def stretches(path: Path) -> Iterator[int]:
    """Where a sparse file holds data, piece by piece."""
    with path.open("rb") as file:
        end, at = path.stat().st_size, 0
        while at < end:
            try:
                start = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                return
            at = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            yield from range(start // _PIECE * _PIECE, at, _PIECE)


def answer(content: Content, path: Path) -> int:
    """Reads what is wanted from the disk, to the end: how often."""
    asked = 0
    with path.open("rb") as disk:
        while (wanted := content.want()) is not None:
            at, length = wanted
            disk.seek(at)
            data = disk.read(length)
            if len(data) == length:
                content.see(at, data)
            else:
                content.lose(at, length)
            asked += 1
            assert asked < 20_000, f"asks without end: {wanted}"
    return asked


def show(content: Content, path: Path, seed: int = 1, before: Path | None = None) -> None:
    """Every piece of the disk as a write, in any order; with `before` only what differs."""
    places = list(stretches(path))
    if before is not None:
        places = sorted({*places, *stretches(before)})
    random.Random(seed).shuffle(places)
    old = before.open("rb") if before is not None else None
    with path.open("rb") as disk:
        for at in places:
            disk.seek(at)
            data = disk.read(_PIECE)
            if old is not None:
                old.seek(at)
                if old.read(_PIECE) == data:
                    continue
            if data:
                content.see(at, data)
    if old is not None:
        old.close()
    answer(content, path)


def differences(content: Content, judged: Judged, start: int = 0) -> list[tuple[int, str, str]]:
    """Blocks of which the recogniser says something else than the tools: all, not a sample."""
    wrong = []
    for block in range(judged.count):
        name, guest, _ = content.classify(start + block * judged.block)
        told = judged.classes.get(block)
        if guest:
            right = told is None
        elif told is None:
            right = name not in METADATA and name != "journal"
        else:
            right = name == told
        if not right:
            wrong.append((block, told or "data", name))
    return wrong


def mapped(image: Path) -> Iterator[tuple[int, int, int]]:
    """Stretches of a guest's disk that an image holds: byte there, byte of the file, bytes."""
    for part in json.loads(call("qemu-img", "map", "--output=json", image)):
        if part["data"]:
            yield part["start"], part["offset"], part["length"]


class Hosted:
    """A guest's ext4 in a qcow2 in a host's ext4, and where each KiB of the guest is."""

    def __init__(
        self, folder: Path, guest_options: list[str], host_options: list[str], cluster: str
    ) -> None:
        self.folder = folder
        self.cluster = cluster
        self.guest = make(folder / "guest.img", "40M", *guest_options)
        fill(self.guest, folder, 5, 600_000)
        self.image = folder / "guest.qcow2"
        self.disk = make(folder / "host.img", "100M", *host_options)
        self.store()

    def store(self) -> None:
        """The guest as it is now, as a file of the host."""
        call("qemu-img", "convert", "-O", "qcow2", "-o", f"cluster_size={self.cluster}",
             self.guest, self.image)  # fmt: skip
        debug(self.disk, "rm guest.qcow2", f"write {self.image} guest.qcow2")
        told = call("debugfs", "-R", "stat guest.qcow2", self.disk)
        self.inode = "<" + re.findall(r"Inode: (\d+)", told)[0] + ">"

    def places(self, judged: Judged) -> dict[int, int]:
        """Byte on the disk of each KiB of the guest that has one."""
        count = (self.image.stat().st_size - 1) // judged.block + 1
        blocks = bmap(self.disk, self.inode, range(count))
        assert len(blocks) == count
        found = {}
        for start, offset, length in mapped(self.image):
            for into in range(0, length, 1024):
                at = offset + into
                if blocks[at // judged.block]:
                    place = blocks[at // judged.block] * judged.block + at % judged.block
                    found[start + into] = place
        return found

    def header(self) -> int:
        """Where the image begins on the disk."""
        block = int(call("debugfs", "-R", f"bmap {self.inode} 0", self.disk))
        return block * Judged(self.disk).block

    def open_image(self, content: Content) -> None:
        """Whoever opens an image reads its header."""
        with self.disk.open("rb") as disk:
            disk.seek(self.header())
            content.see(disk.tell(), disk.read(_PIECE))
        answer(content, self.disk)

    def differences(self, content: Content) -> tuple[list[tuple[int, str, str]], int]:
        """As above, of the guest's blocks; and how many of them are metadata."""
        judged, within = Judged(self.disk), Judged(self.guest)
        wrong, metadata = [], 0
        for at, place in self.places(judged).items():
            told = within.classes.get(at // within.block, "data")
            name, guest, _ = content.classify(place)
            metadata += told in METADATA
            if name != told or not guest:
                wrong.append((at, told, f"{name} {guest}"))
        return wrong, metadata


def mbr(*parts: tuple[int, int], kind: int = 0x83) -> bytes:
    """A partition table: first sector and sectors of each."""
    table = bytearray(512)
    for i, (first, sectors) in enumerate(parts):
        struct.pack_into("<B3xB3xII", table, 446 + 16 * i, 0, kind, first, sectors)
    table[510:] = b"\x55\xaa"
    return bytes(table)


def gpt(disk_sectors: int, *parts: tuple[int, int]) -> bytes:
    """The same as GPT: its first 34 sectors."""
    table = bytearray(34 * 512)
    table[:512] = mbr((1, disk_sectors - 1), kind=0xEE)
    header = struct.pack("<8s4I4Q16sQ3I", b"EFI PART", 0x10000, 92, 0, 0, 1, disk_sectors - 1,
                         34, disk_sectors - 34, bytes(16), 2, 128, 128, 0)  # fmt: skip
    table[512 : 512 + len(header)] = header
    for i, (first, sectors) in enumerate(parts):
        struct.pack_into("<16s16sQQ", table, 1024 + 128 * i, b"\x0f" * 16, bytes([i + 1]) * 16,
                         first, first + sectors - 1)  # fmt: skip
    return bytes(table)
