# SPDX-License-Identifier: Apache-2.0
"""An object store in an image file of the twin: opened, worked on, saved as one.

The file is locked while it is open, so that no two commands (or a mount) work on it at once. It is
replaced as a whole by `save`: the old one or the new one is there.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from nandwich import _native
from nandwich.errors import InputError, RunError
from nandwich.locks import Lock
from nandwich.names import shown
from nandwich.store import dump
from nandwich.twin import parts

#: Numbers of core/include/nandwich/error.h that are told apart here.
#: What a chip holds beside which a store is not worth a word, as nw_identify() names it.
_NO_OTHER = ("blank", "unknown", "store")
ERR_CONFIG, ERR_FULL, ERR_NOT_FOUND, ERR_EXISTS, ERR_NAME = -1, -15, -18, -22, -23
ERR_BLANK = -27

#: An array with more keys is read until as many values were found as it holds.
_MANY_KEYS = 1_000_000

#: Keys that one call looks at.
_COMPACT_AT_ONCE = 10_000

#: Bytes of a chunk's header, and of a block's (docs/spec-store.md); and of sealed ones.
_HEADERS, _SEALED_HEADERS = (14, 24), (26, 40)


@dataclass(frozen=True)
class Layout:
    """What a store is mounted with; it has to be what it was formatted with."""

    objects: int
    name_bytes: int
    checkpoints: int
    fan: int = 32
    ecc: bool = False
    key: bytes | None = field(default=None, repr=False)

    @property
    def headers(self) -> tuple[int, int]:
        """Bytes of a chunk's header, and of a block's."""
        return _HEADERS if self.key is None else _SEALED_HEADERS

    def store(self, nand: _native.Nand) -> _native.Store:
        """A store of this layout on a chip, not mounted; ValueError when the chip is too small."""
        return _native.Store(nand, frames=64, read_ahead=True, **asdict(self))


#: The position that is none.
_NOWHERE = 0xFFFFFFFF

#: What `format` takes, the first that fits the chip.
_OURS = tuple(
    Layout(objects, 32, checkpoints)
    for objects, checkpoints in ((60, 3), (40, 2), (24, 2), (16, 1), (8, 1), (4, 0))
)


def error_of(error: Exception) -> int:
    """The number in a StoreError."""
    number: int = error.args[0]
    return number


def _fitting(nand: _native.Nand, layouts: tuple[Layout, ...]) -> Iterator[_native.Store]:
    for layout in layouts:
        with contextlib.suppress(ValueError):
            yield layout.store(nand)


class Image:
    """A mounted store and the file it came from."""

    def __init__(
        self, path: Path, nand: _native.Nand, store: _native.Store, layout: Layout, lock: Lock
    ) -> None:
        self.path = path
        self.nand = nand
        self.store = store
        self.layout = layout
        self._lock = lock

    def save(self) -> None:
        """Writes the image; the lock goes over to the new file."""
        try:
            self.nand.save(str(self.path))
        except RuntimeError as error:
            raise RunError(str(error)) from error
        self._lock.renew()

    def find(self, name: str) -> dict[str, Any]:
        """What the store knows of an object; InputError when there is none."""
        every = self.store.objects()
        for about in every:
            if about["name"] == name:
                return about
        known = ", ".join(shown(about["name"]) for about in every) or "there are none"
        raise InputError(f"{self.path}: no object '{shown(name)}' (objects: {known})")

    def objects(self) -> list[dict[str, Any]]:
        """All objects; a file with its length in bytes."""
        every = self.store.objects()
        for about in every:
            if about["type"] == "file":
                about["length"] = self.store.length(about["handle"])
        return every

    @property
    def longest_element(self) -> int:
        """Bytes that an element may have: with its header a third of a block."""
        shape = self.nand.geometry
        block = int(shape["page_bytes"]) * int(shape["block_pages"])
        return min(32767, block // 3 - self.layout.headers[0])

    def create_file(self, name: str) -> int:
        """A file whose blocks fill a page each, with their headers."""
        unit = min(int(self.nand.geometry["page_bytes"]) - sum(self.layout.headers), 4096)
        handle: int = self.store.create(name, "file", unit_bytes=unit)
        return handle

    def read(self, about: dict[str, Any]) -> Iterator[bytes]:
        """Everything in a file or a stream, piece by piece."""
        handle = about["handle"]
        if about["type"] == "stream":
            yield from self.read_from(self.store.first(handle))
            return
        step = max(1, 16384 // about["unit_bytes"]) * about["unit_bytes"]
        for at in range(0, self.store.length(handle), step):
            yield self.store.read(handle, at, step)

    def read_from(self, cursor: _native.StoreCursor) -> Iterator[bytes]:
        """A stream from a place on."""
        while piece := self.store.next(cursor):
            yield piece

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Into a file, all of it; durable after the next sync."""
        at = 0
        while at < len(data):
            at += self.store.write(handle, offset + at, data[at : at + 16384])

    def damages(self) -> Iterator[tuple[dict[str, Any], int, str, int]]:
        """Every element that cannot be read: object, number, why, and its page."""
        shift = (int(self.nand.geometry["page_bytes"]) - 1).bit_length() + 1
        for about in self.objects():
            keys, read = self._elements(about)
            for key in keys:
                try:
                    read(key)
                except _native.StoreError as error:
                    place = self.store.stats["place"]
                    yield about, key, error.args[1], place >> shift

    def _values(self, about: dict[str, Any], keys: int) -> int:
        """How many of an object's keys have values, at most."""
        if about["type"] == "array" and keys > _MANY_KEYS:
            return int(about["bytes"]) // (int(about["unit_bytes"]) + self.layout.headers[0])
        return keys

    def compact(self, about: dict[str, Any]) -> int:
        """Moves all chunks of an object to the end of the log: how many."""
        moved, key, end = 0, int(about["head"]), int(about["tail"])
        values = self._values(about, end - key)
        while key < end and moved < values:
            count, key = self.store.compact(about["handle"], key, _COMPACT_AT_ONCE)
            moved += count
        return moved

    def _keys(self, about: dict[str, Any]) -> Iterator[int]:
        """Keys of an array that were set, or that damage hides: of these as many as may be."""
        handle, count = about["handle"], int(about["count"])
        key = self.store.next_key(handle, 0)
        for _ in range(self._values(about, count)):
            if key is None:
                return
            yield key
            key = self.store.next_key(handle, key + 1)

    def _elements(self, about: dict[str, Any]) -> tuple[Iterable[int], Callable[[int], bytes]]:
        """Numbers of an object's elements, and how to read one."""
        handle, unit = about["handle"], about["unit_bytes"]
        if about["type"] == "array":
            return self._keys(about), partial(self.store.get, handle)
        if about["type"] == "file":
            blocks = range((about["length"] + unit - 1) // unit)
            return blocks, lambda block: self.store.read(handle, block * unit, unit)
        return range(about["head"], about["tail"]), partial(self.store.peek, handle)


def _layout(path: Path, nand: _native.Nand, key: bytes | None) -> Layout:
    """How the store on a chip was formatted; InputError when it was for another chip or program, or
    with another key."""
    made = dump.made(nand, key)
    if made is None:
        return replace(_OURS[-1], key=key)  # mounting will say what is wrong
    if made.is_foreign:
        plain = dump.made(nand) if key is not None else None
        if plain is not None and not plain.is_foreign:
            raise InputError(f"{path}: not sealed; leave --key-file out")
        raise InputError(
            f"{path}: a sealed store; give its key with --key-file"
            if key is None
            else f"{path}: not sealed with this key"
        )
    if made.format != dump.FORMAT:
        raise InputError(
            f"{path}: a store of format {made.format}; this program knows {dump.FORMAT}"
        )
    shape = nand.geometry
    for what, of_store in (
        ("page_bytes", made.page_bytes),
        ("block_pages", made.block_pages),
        ("blocks", made.blocks),
    ):
        if of_store != shape[what]:
            raise InputError(
                f"{path}: a store of another geometry: {what} {of_store}, the chip's {shape[what]}"
            )
    return Layout(made.objects, made.name_bytes, made.checkpoints, made.fan, made.is_coded, key)


def _mounted(
    path: Path, nand: _native.Nand, key: bytes | None, *, writes: bool
) -> tuple[_native.Store, Layout]:
    """The store on a chip."""
    layout = _layout(path, nand, key)
    try:
        store = layout.store(nand)
        (store.mount if writes else store.mount_read_only)()
    except (ValueError, _native.StoreError) as error:
        if isinstance(error, ValueError) or error_of(error) in (ERR_NOT_FOUND, ERR_BLANK):
            there = "" if nand.holds in _NO_OTHER else f", but a device of the layer {nand.holds}"
            raise InputError(
                f"{path}: no store on this chip{there}; make one with `format`"
            ) from error
        raise RunError(f"{path}: {error.args[1]}") from error
    return store, layout


@contextlib.contextmanager
def opened(path: Path, key: bytes | None = None, *, writes: bool = False) -> Iterator[Image]:
    """The store in an image file, locked and mounted, read-only unless it `writes`. Nothing is
    saved unless asked for."""
    lock = Lock(path)
    try:
        try:
            nand = _native.Nand.load(str(path))
        except ValueError as error:
            raise InputError(str(error)) from error
        store, found = _mounted(path, nand, key, writes=writes)
        yield Image(path, nand, store, found, lock)
    finally:
        lock.release()


def _most_blocks(part: _native.Part) -> int:
    """Blocks that a store can number, its positions having 32 bits (docs/spec-store.md)."""
    pages: int = _NOWHERE >> part.number("page_bytes").bit_length()
    return min(65535, pages // part.number("block_pages"))


def format_image(
    path: Path,
    chip: str,
    blocks: int,
    layout: Layout | None,
    *,
    ecc: bool = False,
    key: bytes | None = None,
) -> None:
    """A new image file with an empty store on a part (see `nandwich chips`)."""
    part = parts.resolve(chip)
    if part.text("kind") not in parts.FLASH:
        raise InputError(f"{part.name}: not a flash chip, but of kind {part.text('kind')}")
    most = _most_blocks(part)
    if (blocks or part.number("blocks")) > most:
        raise InputError(f"{part.name}: a store has at most {most} blocks of it; see --blocks")
    try:
        nand = _native.Nand.open(part, blocks=blocks)
    except ValueError as error:
        raise InputError(str(error)) from error
    layouts = tuple(replace(one, ecc=ecc, key=key) for one in ((layout,) if layout else _OURS))
    for store in _fitting(nand, layouts):
        try:
            store.format()
            nand.save(str(path))
        except _native.StoreError as error:
            raise RunError(f"{path}: {error.args[1]}") from error
        except RuntimeError as error:
            raise RunError(str(error)) from error
        return
    shape = nand.geometry
    raise InputError(
        f"{part.name} with {shape['blocks']} blocks of {shape['block_pages']} pages cannot hold a "
        "store (16 blocks of 8 pages at least, NAND with spare bytes)"
    )
