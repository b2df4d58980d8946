# SPDX-License-Identifier: Apache-2.0
"""What lies on a chip that holds an object store, chunk by chunk, read as docs/spec-store.md says
and without the store's own code.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from nandwich import _native
from nandwich.store.seal import TAG_BYTES, Seal

#: The format that this reads.
FORMAT = 5

_NONE = 0xFFFFFFFF
_BLOCK_HEADER, _CHUNK_HEADER = 24, 14
_SEALED_BLOCK_HEADER, _SEALED_CHUNK_HEADER = 40, 26
_KINDS = {1: "data", 2: "node", 3: "state", 4: "anchor", 5: "moved", 6: "image"}
_IMAGE = 6  # its payload is a page as it was: sealed already
_WHAT = 9  # bytes of a chunk's header that say what it is; a byte of checksum follows
_LONGEST = 65000


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _crc16(data: bytes) -> int:
    """CRC-16/MCRF4XX, as nandwich/crc.h has it."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return crc


def _crc32(data: bytes) -> int:
    return zlib.crc32(data) ^ _NONE


def _block_head(page: bytes) -> bytes | None:
    """A block's header; None: there is none."""
    if page[:1] != b"N" or _crc32(page[:20]) != _number(page, 20, 4):
        return None
    return page[:_SEALED_BLOCK_HEADER]


def _is_chunk_head(head: bytes) -> bool:
    return (
        _crc16(head[:_WHAT]) & 0xFF == head[_WHAT]
        and head[0] & 15 in _KINDS
        and _number(head, 3, 2) <= _LONGEST
    )


@dataclass(frozen=True)
class Block:
    """A block's header."""

    number: int
    format: int
    flags: int
    sequence: int
    walk: int
    crc: int  # of one that stands in: of the first page it took over
    stands_for: int

    @property
    def is_sealed(self) -> bool:
        return bool(self.flags & 4)

    @property
    def is_swap(self) -> bool:
        return bool(self.flags & 2)


@dataclass(frozen=True)
class Chunk:
    """A chunk and where it begins."""

    page: int
    offset: int
    kind: int
    mask: int
    slot: int
    generation: int
    key: int
    payload: bytes
    is_whole: bool  # its checksum or its tag is right


class Reader:
    """Reads a copy of the chip, so that looking costs nothing and changes nothing."""

    def __init__(self, nand: _native.Nand, key: bytes | None = None) -> None:
        self._nand = nand.fork()
        self._seal = Seal(key) if key is not None else None
        self.foreign = 0  # blocks that a key seals which is not ours
        shape = nand.geometry
        self.page_bytes = shape["page_bytes"]
        self.block_pages = shape["block_pages"]
        self._unit = shape["program_bytes"]
        self._erased = shape["erased"]
        self._reads_erased = bool(shape["flags"] & 2)
        self._bad = set(nand.bad_blocks)
        self._moved: dict[int, int] = {}  # page: where it lies since a program failed
        self.blocks = sorted(self._heads(shape["blocks"]), key=lambda one: one.sequence)
        for i, block in enumerate(self.blocks):
            if block.is_swap and self._counts(self.blocks[i:]):
                self._swap(block)

    @property
    def _chunk_header(self) -> int:
        return _SEALED_CHUNK_HEADER if self._seal is not None else _CHUNK_HEADER

    def place(self, position: int) -> str:
        """A position as people read it."""
        if position == _NONE:
            return "nowhere"
        shift = self.page_bytes.bit_length()
        return f"{position >> shift}+{position & ((1 << shift) - 1)}"

    def _heads(self, blocks: int) -> Iterator[Block]:
        for number in range(blocks):
            head = None if number in self._bad else self._head(number)
            if head is None:
                continue
            words = [_number(head, at, 4) for at in (4, 8, 12, 16)]
            block = Block(number, head[1], head[2], *words)
            if self._is_ours(block, head):
                yield block
            else:
                self.foreign += 1

    def _head(self, number: int) -> bytes | None:
        """A block's header, which stands in its first two pages."""
        first = number * self.block_pages
        pages = (self._page(page) for page in (first, first + 1))
        heads = (_block_head(page) for page in pages if page is not None)
        return next((head for head in heads if head is not None), None)

    @property
    def _block_header(self) -> int:
        return _SEALED_BLOCK_HEADER if self._seal is not None else _BLOCK_HEADER

    def _start(self, page: int) -> int:
        """Where chunks begin in a page: behind the header in the first two of a block."""
        return self._block_header if page % self.block_pages < 2 else 0

    def _is_ours(self, block: Block, head: bytes) -> bool:
        """Whether the block is not sealed, or with our key; and not plain when we have one."""
        if self._seal is None:
            return not block.is_sealed
        tag = head[_BLOCK_HEADER:_SEALED_BLOCK_HEADER]
        own = self._seal.block_tag(head[:_BLOCK_HEADER], block.number)
        return block.is_sealed and own == tag

    def _counts(self, blocks: list[Block]) -> bool:
        """Whether the first of these blocks, which stands in, counts: it or a later one for the
        same block holds what it was begun for, or the log goes on behind them."""
        failed = blocks[0].stands_for // self.block_pages
        for block in blocks:
            if not block.is_swap or block.stands_for // self.block_pages != failed:
                return True
            if block.flags & 1 or self._is_filled(block):
                return True
        return False

    def _is_filled(self, block: Block) -> bool:
        place = block.stands_for % self.block_pages
        page = self._page(block.number * self.block_pages + place)
        data = page[self._start(place) :] if page is not None else None
        return data is not None and _crc32(data) == block.crc

    def _swap(self, block: Block) -> None:
        failed, place = divmod(block.stands_for, self.block_pages)
        for i in range(place, self.block_pages):
            self._moved[failed * self.block_pages + i] = block.number * self.block_pages + i

    def _page(self, number: int) -> bytes | None:
        """A page's bytes; None when it was not written."""
        number = self._moved.get(number, number)
        if not self._reads_erased:
            _, _, spare = self._nand.read(number, spare_length=1)
            if spare[0] == self._erased:
                return None
        _, data, _ = self._nand.read(number, length=self.page_bytes)
        return None if data == bytes([self._erased]) * self.page_bytes else data

    def is_coded(self, block: Block) -> bool:
        """Whether a code was written beside the data: the store itself uses one spare byte."""
        length = self._nand.geometry["spare_bytes"]
        if length < 2:
            return False
        _, _, spare = self._nand.read(block.number * self.block_pages, spare_length=length)
        return any(byte != self._erased for byte in spare[1:])

    def chunks(self, block: Block) -> Iterator[Chunk]:
        """The chunks of a block, in order."""
        page = block.number * self.block_pages
        end, offset = page + self.block_pages, self._block_header
        while page < end and (data := self._page(page)) is not None:
            gap = -offset % self._unit or self._unit
            found = None
            if offset + self._chunk_header <= self.page_bytes:
                if not self._is_blank(data[offset : offset + _WHAT]):
                    found = self._chunk(data, page, offset, end)
                if found is not None:
                    chunk, page, offset = found
                    yield chunk
                    continue
                if self._is_blank(data[offset : offset + min(gap, _WHAT)]):
                    offset += gap
                    continue
            page += 1  # where the next chunk begins behind a damaged one
            offset = self._start(page)

    def _is_blank(self, data: bytes) -> bool:
        """Whether no more than one bit differs from an erased one."""
        return sum((byte ^ self._erased).bit_count() for byte in data) <= 1

    def _chunk(
        self, data: bytes, page: int, offset: int, end: int
    ) -> tuple[Chunk, int, int] | None:
        """A chunk, and the place behind it. None: its header is damaged, so
        nobody knows where the next one lies."""
        head = data[offset : offset + self._chunk_header]
        return self._payload(head, data, page, offset, end) if _is_chunk_head(head) else None

    def _payload(
        self, head: bytes, data: bytes, page: int, offset: int, end: int
    ) -> tuple[Chunk, int, int]:
        """The chunk with that header, and the place behind it."""
        begin, length = (page, offset), _number(head, 3, 2)
        payload, offset = b"", offset + self._chunk_header
        while True:
            piece = data[offset : offset + length - len(payload)]
            payload, offset = payload + piece, offset + len(piece)
            if len(payload) == length:
                break
            page, offset = page + 1, self._start(page + 1)
            more = self._page(page) if page < end else None
            if more is None:
                break  # the end was never written
            data = more
        payload, is_whole = self._proven(head, begin, payload)
        chunk = Chunk(
            *begin,
            kind=head[0] & 15,
            mask=head[0] >> 4,
            slot=head[1],
            generation=head[2],
            key=_number(head, 5, 4),
            payload=payload,
            is_whole=is_whole,
        )
        return chunk, page, offset

    def _proven(self, head: bytes, begin: tuple[int, int], payload: bytes) -> tuple[bytes, bool]:
        """The payload in the clear, and whether it is what was written."""
        if self._seal is None:
            return payload, _crc32(head[1:_WHAT] + payload) == _number(head, 10, 4)
        tag = head[10 : 10 + TAG_BYTES]
        if head[0] & 15 != _IMAGE:
            payload = self._seal.mix(tag, payload)
        position = begin[0] << self.page_bytes.bit_length() | begin[1]
        return payload, self._seal.chunk_tag(head[:9], position, payload) == tag


@dataclass(frozen=True)
class Made:
    """What a store was formatted with, as its newest whole anchor tells."""

    format: int
    objects: int = 0
    name_bytes: int = 0
    checkpoints: int = 0
    fan: int = 0
    page_bytes: int = 0
    block_pages: int = 0
    blocks: int = 0
    is_coded: bool = False  # an error-correcting code lies below it
    is_foreign: bool = False  # sealed with another key, or one is given for a plain one


def made(nand: _native.Nand, key: bytes | None = None) -> Made | None:
    """None when no anchor can be read. Of another format only the number is known, with another key
    nothing."""
    reader = Reader(nand, key)
    if reader.foreign and not reader.blocks:
        return Made(FORMAT, is_foreign=True)
    for block in reversed(reader.blocks):
        if block.format != FORMAT:
            return Made(block.format)
        anchors = [one for one in reader.chunks(block) if one.kind == 4 and one.is_whole]
        if anchors:
            told = anchors[-1].payload
            return Made(
                format=told[0],
                objects=told[1],
                name_bytes=told[2],
                checkpoints=told[3],
                fan=1 << (told[4] & 7),
                page_bytes=_number(told, 5, 2),
                block_pages=_number(told, 7, 2),
                blocks=_number(told, 9, 2),
                is_coded=reader.is_coded(block),
            )
    return None


def _about(reader: Reader, chunk: Chunk) -> str:
    """What a chunk says, in a few words."""
    if chunk.kind == 2:
        at = range(0, len(chunk.payload), 4)
        places = [reader.place(_number(chunk.payload, one, 4)) for one in at]
        return f"level {chunk.mask}, node {chunk.key}: {' '.join(places)}"
    if chunk.kind == 3:
        head, tail, size = (_number(chunk.payload, at, 4) for at in (0, 4, 8))
        return f"head {head}, tail {tail}, {size} B"
    if chunk.kind == 4:
        return f"redo from {reader.place(_number(chunk.payload, 22, 4))}"
    if chunk.kind == _IMAGE:
        return f"of page {chunk.key}"
    shown = chunk.payload[:16].hex(" ") + (" ..." if len(chunk.payload) > 16 else "")
    return f"key {chunk.key}: {shown}"


def _owner(names: dict[tuple[int, int], str], chunk: Chunk) -> str:
    """Whose a chunk is: a slot is used again, under another generation."""
    return names.get((chunk.slot, chunk.generation), f"slot {chunk.slot} (deleted)")


def lines(
    nand: _native.Nand, names: dict[tuple[int, int], str], key: bytes | None = None
) -> Iterator[str]:
    """The whole log, oldest block first; `names` are those of slots and generations now."""
    reader = Reader(nand, key)
    for block in reader.blocks:
        notes = [f"sequence {block.sequence}", f"a mount walks from {reader.place(block.walk)}"]
        notes += ["begun by a mount"] if block.flags & 1 else []
        if block.is_swap:
            yield f"block {block.number}: {', '.join(notes)}, for page {block.stands_for} and on"
            continue
        yield f"block {block.number}: {', '.join(notes)}"
        for chunk in reader.chunks(block):
            place = f"{chunk.page}+{chunk.offset}"
            whose = "" if chunk.kind in (4, _IMAGE) else f" of {_owner(names, chunk)}"
            kind = _KINDS.get(chunk.kind, f"kind {chunk.kind}") + whose
            damage = "" if chunk.is_whole else " DAMAGED"
            size = f"{len(chunk.payload)} B"
            yield f"  {place:<10} {kind:<20} {size:>7}{damage}  {_about(reader, chunk)}"
