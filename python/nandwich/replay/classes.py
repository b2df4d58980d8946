# SPDX-License-Identifier: Apache-2.0
"""What each sector of a device holds, told from an image of the disk that was recorded."""

import os
from collections.abc import Iterator
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


def name(content: int) -> str:
    """`inodes`, or `guest's inodes`."""
    word = NAMES[content % GUEST]
    return f"guest's {word}" if content & GUEST else word


def _recogniser(size: int) -> _native.Content:
    return _native.Content(
        size,
        volumes=16,
        images=8,
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


def of_image(image: Path, sector_bytes: int, sectors: int) -> bytes:
    """A byte a sector: index of NAMES, with GUEST; InputError.

    Directories are data here, and so is all that the recogniser does not know
    (nandwich/content.h).
    """
    try:
        with image.open("rb") as disk:
            size = os.fstat(disk.fileno()).st_size // _BLOCK * _BLOCK
            if size == 0:
                raise InputError(f"{image}: an empty image; its sectors would be of no class")
            content = _recogniser(size)
            for _ in answer(content, disk):
                pass
    except OSError as error:
        raise InputError(f"{image}: {error.strerror}") from error
    if content.refused:
        raise InputError(
            f"{image}: {content.refused} volumes, images or extents are more than are kept"
        )
    known = min(sectors, size // sector_bytes)
    told = content.map(sector_bytes, known)
    if not any(told):
        raise InputError(
            f"{image}: no ext2, ext3 or ext4 is found in it, nor a partition table; it has to be "
            "the raw disk that the trace was recorded on"
        )
    return told + bytes(sectors - known)
