# SPDX-License-Identifier: Apache-2.0
"""The document's own design on an emulated chip: a log of chunks, objects that lead backward from
their newest element, and an index of nodes with one buffer a level (Mathur et al., SenSys 2006,
sections 4 and 5). It counts what table 4 counts, and the chip charges the energy. Nothing here
bears a power cut or a bad block."""

from dataclasses import dataclass, field

from nandwich import _native
from papers.capsule._rig import NAND, Meter

PAGE = 512
HEADER = 3  # length and checksum
POINTER = 4
NOWHERE = 0xFFFFFFFF


@dataclass
class Counts:
    """Chunks, whatever pages they lie on and whether the buffer still has them."""

    headers: int = 0
    reads: int = 0
    writes: int = 0


class Log(Meter):
    """Chunks one behind the other over all pages of a fresh chip, through one buffer of a page."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.nand = _native.Nand.open(_native.Part.named(NAND), blocks=128, options=["node_costs"])
        self._page = 0
        self._buffer = bytearray()
        self._programmed = 0  # bytes of the buffer's page that are on the chip
        self._lengths: dict[int, int] = {}

    def write(self, payload: bytes) -> int:
        """A chunk of these bytes: its position."""
        at = self._page * PAGE + len(self._buffer)
        self._lengths[at] = len(payload)
        chunk = len(payload).to_bytes(2, "little") + bytes([sum(payload) & 0xFF]) + payload
        self.counts.writes += 1
        while chunk:
            room = PAGE - len(self._buffer)
            self._buffer += chunk[:room]
            chunk = chunk[room:]
            if len(self._buffer) == PAGE:
                self.flush()
                self._page += 1
                self._buffer.clear()
                self._programmed = 0
        return at

    def flush(self) -> None:
        """What the buffer has and the chip has not."""
        fresh = bytes(self._buffer[self._programmed :])
        if fresh and self.nand.program(self._page, fresh, offset=self._programmed) != 0:
            raise AssertionError(f"page {self._page} cannot be programmed")
        self._programmed = len(self._buffer)

    def read(self, at: int) -> bytes:
        """A chunk's payload. The chip goes on behind the header to as many bytes as that tells, in
        the same operation; the twin has to be told how many beforehand."""
        self.counts.reads += 1
        chunk = self._bytes(at, HEADER + self._lengths[at])
        if chunk[2] != sum(chunk[HEADER:]) & 0xFF:
            raise AssertionError(f"the chunk at {at} is damaged")
        return chunk[HEADER:]

    def head(self, at: int, more: int) -> bytes:
        """A chunk's header and the object's own bytes behind it."""
        self.counts.headers += 1
        return self._bytes(at, HEADER + more)[HEADER:]

    def _bytes(self, at: int, length: int) -> bytes:
        data = b""
        while len(data) < length:
            page, offset = divmod(at + len(data), PAGE)
            part = min(length - len(data), PAGE - offset)
            if page == self._page and offset + part > self._programmed:
                data += self._buffer[offset : offset + part]
            else:
                data += self.nand.read(page, offset, part)[1]
        return data


def _pack(*positions: int) -> bytes:
    return b"".join(position.to_bytes(POINTER, "little") for position in positions)


def _unpack(data: bytes) -> list[int]:
    places = range(0, len(data), POINTER)
    return [int.from_bytes(data[place : place + POINTER], "little") for place in places]


class Chain:
    """A stack, queue or stream: each element tells where the one before it lies."""

    def __init__(self, log: Log) -> None:
        self.count = 0
        self._log = log
        self._newest = NOWHERE

    def push(self, data: bytes) -> None:
        self._newest = self._log.write(_pack(self._newest) + data)
        self.count += 1

    def pop(self) -> bytes:
        """The newest element."""
        element = self._log.read(self._newest)
        (self._newest,) = _unpack(element[:POINTER])
        self.count -= 1
        return element[POINTER:]

    def before(self, at: int) -> int:
        """Where the element before one lies, by the header of that one."""
        return _unpack(self._log.head(at, POINTER))[0]

    def dequeue(self) -> bytes:
        """The oldest element, behind the headers of all others."""
        at = self._newest
        for _ in range(self.count - 1):
            at = self.before(at)
        self.count -= 1
        return self._log.read(at)[POINTER:]

    def compact(self, pointers: int) -> None:
        """Figure 3: the positions of all elements go to a stack, so many in a chunk; from there
        each element is copied, the oldest first."""
        stack, held = Chain(self._log), []
        at, left = self._newest, self.count
        for number in range(left):
            held.append(at)
            at = self.before(at)
            if len(held) == pointers or number == left - 1:
                stack.push(_pack(*held))
                held.clear()
        copy = Chain(self._log)
        while stack.count:
            for position in reversed(_unpack(stack.pop())):
                copy.push(self._log.read(position)[POINTER:])
        self._newest = copy._newest


@dataclass
class _Node:
    number: int = -1
    entries: list[int] = field(default_factory=list)
    dirty: bool = False


class Index:
    """Values by key: nodes of so many positions in one buffer a level, the top one a single node.
    A table's *levels* are those of the nodes and that of the values."""

    def __init__(self, log: Log, *, levels: int, fan: int) -> None:
        self._log = log
        self._fan = fan
        self._nodes = [_Node() for _ in range(levels - 1)]
        self._root = NOWHERE

    def set(self, key: int, value: bytes) -> None:
        at = self._log.write(value)
        leaf = self._node(0, key // self._fan)
        leaf.entries[key % self._fan] = at
        leaf.dirty = True

    def get(self, key: int) -> bytes:
        return self._log.read(self._node(0, key // self._fan).entries[key % self._fan])

    def flush(self) -> None:
        """Every level's node, from the values up."""
        for level in range(len(self._nodes)):
            self._write_back(level)

    def forget(self) -> None:
        """As if nothing had been looked at yet."""
        self.flush()
        self._nodes = [_Node() for _ in self._nodes]

    def compact(self, keys: int) -> None:
        """Depth first: the values of a node, then the node."""
        for key in range(keys):
            self.set(key, self.get(key))
        self.flush()

    def _write_back(self, level: int) -> None:
        node = self._nodes[level]
        if not node.dirty:
            return
        node.dirty = False
        at = self._log.write(_pack(*node.entries))
        if level == len(self._nodes) - 1:
            self._root = at
        else:
            above = self._node(level + 1, node.number // self._fan)
            above.entries[node.number % self._fan] = at
            above.dirty = True

    def _node(self, level: int, number: int) -> _Node:
        """The node of a number, in the level's buffer."""
        if self._nodes[level].number != number:
            self._write_back(level)
            at = self._root
            if level < len(self._nodes) - 1:
                at = self._node(level + 1, number // self._fan).entries[number % self._fan]
            empty = [NOWHERE] * self._fan
            entries = _unpack(self._log.read(at)) if at != NOWHERE else empty
            self._nodes[level] = _Node(number, entries)
        return self._nodes[level]
