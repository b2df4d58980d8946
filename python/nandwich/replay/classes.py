# SPDX-License-Identifier: Apache-2.0
"""What each sector of a device holds, told from an image of the disk that was recorded."""

import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from nandwich import _native
from nandwich.errors import InputError

NAMES = tuple(_native.content_names())
GUEST = 16  # beside a class: of a guest, in an image
#: Groups of at least 8 MiB, clusters of 64 KiB as qemu-img makes them; more RAM than a device would
#: give it, so that nothing is left out.
_GROUP_BYTES = 8 << 20
_CLUSTER_BYTES = 1 << 14
_MOST_GROUPS = 1_000_000
_MOST_CLUSTERS = 1 << 24
_BLOCK = 512
_QCOW2 = b"QFI\xfb"
#: Of a disk of 64 GiB each takes 18 MB, so no more than begin on it are kept.
_MOST_IMAGES = 64
_HEADER_BYTES = 512


@dataclass
class Sectors:
    """What the sectors of a device hold."""

    classes: bytes = b""  # a byte each: index of NAMES, with GUEST; none: nobody tells
    notes: list[str] = field(default_factory=list)  # what is not as the class says


def name(content: int) -> str:
    """`inodes`, or `guest's inodes`."""
    word = NAMES[content % GUEST]
    return f"guest's {word}" if content & GUEST else word


def _recogniser(size: int, images: int) -> _native.Content:
    return _native.Content(
        size,
        volumes=16 + images,
        images=images,
        groups=min(_MOST_GROUPS, size // _GROUP_BYTES + 16),
        extents=65535,
        clusters=min(_MOST_CLUSTERS, size // _CLUSTER_BYTES + 1024),
        l1=65536,
    )


def answer(content: _native.Content, disk: BinaryIO) -> Iterator[int]:
    """Reads what the recogniser wants of a disk, to the end; each time so many bytes."""
    while (wanted := content.want()) is not None:
        at, length = wanted
        disk.seek(at)
        data = disk.read(length)
        if len(data) == length:
            content.see(at, data)
        else:
            content.lose(at, length)
        yield length


def _headers(disk: BinaryIO, size: int) -> Iterator[int]:
    """Where something begins as a qcow2 does."""
    with mmap.mmap(disk.fileno(), size, access=mmap.ACCESS_READ) as whole:
        at = whole.find(_QCOW2)
        while at >= 0:
            if at % _BLOCK == 0:
                yield at
            at = whole.find(_QCOW2, at + 1)


def _look(content: _native.Content, disk: BinaryIO, headers: Sequence[int]) -> None:
    """At all that is wanted, and at what begins an image as whoever opens that one reads it."""
    for _ in answer(content, disk):
        pass
    for at in headers:
        disk.seek(at)
        content.see(at, disk.read(_HEADER_BYTES))
        for _ in answer(content, disk):
            pass


def of_image(image: Path, sector_bytes: int, sectors: int) -> Sectors:
    """What sectors of so many bytes hold by the image of a disk; InputError.

    Directories are data here, and so is all that the recogniser does not know
    (nandwich/content.h): what of that it met stands in the notes.
    """
    try:
        with image.open("rb") as disk:
            size = os.fstat(disk.fileno()).st_size // _BLOCK * _BLOCK
            if size == 0:
                raise InputError(f"{image}: an empty image; its sectors would be of no class")
            headers = list(_headers(disk, size))
            content = _recogniser(size, min(_MOST_IMAGES, max(1, len(headers))))
            _look(content, disk, headers)
    except OSError as error:
        raise InputError(f"{image}: {error.strerror}") from error
    if content.refused:
        raise InputError(
            f"{image}: {content.refused} volumes, images or extents are more than are kept"
        )
    known = min(sectors, size // sector_bytes)
    told, mixed = content.map(sector_bytes, known)
    if not any(told):
        raise InputError(
            f"{image}: no ext2, ext3 or ext4 is found in it, nor a partition table; it has to be "
            "the raw disk that the trace was recorded on"
        )
    notes = [f"{what}: not recognised, so data" for what in content.unknown]
    if mixed:
        notes.append(
            f"{mixed} of {known} sectors hold blocks of several classes: metadata if one is, else "
            "journal if one is"
        )
    return Sectors(told + bytes(sectors - known), notes)
