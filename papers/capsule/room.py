# SPDX-License-Identifier: Apache-2.0
"""C-RAW and C-PRIO: raw blocks beside the log, and objects of high and low priority (Mathur et al.,
SenSys 2006, section 4)."""

import zlib
from functools import partial

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment
from nandwich import _native
from papers.capsule._rig import NAND, Meter, card

BLOCKS, BLOCK_PAGES, PAGE, PROGRAMS = 128, 32, 512, 4
#: Blocks at the chip's end that the log has not.
RAW = 2
PIECE = 480
EACH_LAP = BLOCKS * BLOCK_PAGES
NONE = "none: one lost is too many"


def _open(blocks: int) -> tuple[_native.Nand, _native.Store]:
    """A chip, and on its first blocks a store."""
    part = _native.Part.named(NAND)
    nand = _native.Nand.open(part, blocks=BLOCKS, options=["node_costs"])
    return nand, _native.Store(nand, blocks=blocks)


def _piece(number: int) -> bytes:
    return number.to_bytes(4, "little") * (PIECE // 4)


class Directory(Meter):
    """A root directory in raw blocks: entries with a checksum, one a program, in two blocks in
    turn; the newest counts. A spare byte each tells that an entry is there, since data of an
    erased page cannot be read."""

    ENTRY = 12
    EACH = BLOCK_PAGES * PROGRAMS

    def __init__(self, nand: _native.Nand) -> None:
        self.nand = nand
        self._next = 0

    def _place(self, number: int) -> tuple[int, int]:
        """Page and offset of an entry."""
        turn, within = divmod(number, self.EACH)
        page, program = divmod(within, PROGRAMS)
        return (BLOCKS - RAW + turn % RAW) * BLOCK_PAGES + page, program * (PAGE // PROGRAMS)

    def add(self, value: int) -> None:
        page, offset = self._place(self._next)
        if self._next % self.EACH == 0:
            self.nand.erase(page // BLOCK_PAGES)
        entry = self._next.to_bytes(4, "little") + value.to_bytes(4, "little")
        entry += zlib.crc32(entry).to_bytes(4, "little")
        mark = offset * PROGRAMS // PAGE
        self.nand.program(page, entry, b"\0", offset=offset, spare_offset=mark)
        self._next += 1

    def _read(self, within: int) -> tuple[int, int] | None:
        """Number and value of the entry at a place, counted over both blocks."""
        page, offset = self._place(within)
        mark = offset * PROGRAMS // PAGE
        if self.nand.read(page, spare_offset=mark, spare_length=1)[2] != b"\0":
            return None
        entry = self.nand.read(page, offset, self.ENTRY)[1]
        if zlib.crc32(entry[:8]) != int.from_bytes(entry[8:], "little"):
            return None
        return int.from_bytes(entry[:4], "little"), int.from_bytes(entry[4:8], "little")

    def newest(self) -> int | None:
        """Of the block that was begun last, its last whole entry, by bisection."""
        heads = [(self._read(turn * self.EACH), turn) for turn in range(RAW)]
        begun = [(head[0], turn, head[1]) for head, turn in heads if head is not None]
        if not begun:
            return None
        number, turn, value = max(begun)
        low, high = 0, self.EACH
        while high - low > 1:
            middle = (low + high) // 2
            found = self._read(turn * self.EACH + middle)
            if found is not None and found[0] == number + middle:
                low, value = middle, found[1]
            else:
                high = middle
        return value


def _play(log_blocks: int, laps: int) -> tuple[int, int, tuple[float, float]]:
    """A stream goes round the log; each 20 elements are made durable, and the directory told how
    many there are. How often that was found again, of how often it was looked for, the last time
    when power had gone; and what an entry takes, and finding the newest one, in uJ."""
    nand, store = _open(log_blocks)
    store.format()
    stream = store.create("data", "stream", count=1000)
    directory = Directory(nand)
    right = asked = 0
    for number in range(laps * EACH_LAP):
        store.append(stream, _piece(number))
        if number % 20 == 19:
            store.sync()
            write = directory.cost(partial(directory.add, number))[0]
            right, asked = right + (directory.newest() == number), asked + 1
    nand.cut(0, "before")
    try:
        store.append(stream, _piece(0))
        store.sync()
    except _native.StoreError:
        nand.power_up()
    again = _native.Store(nand, blocks=log_blocks)
    again.mount()
    found: list[int | None] = []
    find = directory.cost(lambda: found.append(directory.newest()))[0]
    held = again.peek(again.find("data"), found[0]) if found[0] is not None else b""
    right += found[0] is not None and held == _piece(found[0])
    if nand.misuse is not None:
        raise AssertionError(nand.misuse)
    return right, asked + 1, (write, find)


#: Blocks of the log.
LOG = BLOCKS - RAW


@experiment(
    "C-RAW",
    claim="raw blocks beside the log",
    published="",
    unit="",
    judges_quick=True,
    where="section 4, raw access",
    setup=card(
        "a set of erase blocks outside the log, for a directory of roots or code images",
        f"a store on the first {LOG} blocks (slice.h), a stream of the newest 1,000 elements of "
        f"{PIECE} B that goes three times round them; in the last {RAW} blocks, by the chip's own "
        "verbs, a directory of entries of 12 B, one a program, found by bisection; an entry each "
        "20 elements, made durable before; at the end power goes and the store is mounted",
    ),
)
def raw(quick: bool) -> Report:  # noqa: ARG001
    """A directory of roots that no cleaning moves or erases."""
    right, asked, (write, find) = _play(LOG, 3)
    why = (
        "the document tells neither how large its directory is nor the states that go with an "
        "entry; these are written and read beside it"
    )
    answers = [
        Answer(
            f"{right} of {asked}",
            holds=right == asked,
            why="the log has erased or written what is not its own",
            part="kept",
            claim="raw blocks keep what they have while the log goes round, and over a cut",
            published="all",
            tolerance=NONE,
        ),
        *(
            Answer(
                round(energy, 1),
                verdict=NOT_JUDGED,
                why=why,
                part=part,
                claim=claim,
                published=published,
                unit="uJ",
            )
            for part, claim, energy, published in (
                ("write", "an entry of the directory; a checkpoint", write, 82.5),
                ("find", "its newest entry found; a restart", find, 50.87),
            )
        ),
    ]
    rows: list[list[Value]] = [["entries found", right], ["entries asked for", asked]]
    return Report(answers, ["what", "count"], rows)


#: What the objects of high priority are created as.
HIGH_GIVES_WAY = False
HIGH = 200


def _fill(laps: int) -> tuple[int, int, dict[str, int]]:
    """Objects of high priority, then low ones without end: elements of both that are there, and
    the store's counts."""
    _, store = _open(BLOCKS)
    store.format()
    high = store.create("high", "stream", expendable=HIGH_GIVES_WAY)
    low = store.create("low", "stream", expendable=True)
    for number in range(HIGH):
        store.append(high, _piece(number))
    for number in range(laps * EACH_LAP):
        store.append(low, _piece(number))
    store.sync()
    about = {one["name"]: one for one in store.objects()}
    head, tail = about["high"]["head"], about["high"]["tail"]
    kept = sum(store.peek(high, number) == _piece(number) for number in range(head, tail))
    return kept, about["low"]["tail"] - about["low"]["head"], store.stats


@experiment(
    "C-PRIO",
    claim="objects of high and of low priority",
    published="",
    unit="",
    judges_quick=True,
    where="section 4, reclamation",
    setup=card(
        "past a threshold, half of the device, objects of high priority move to the log's end; "
        "all others stay until the log's end reaches them",
        f"a stream of {HIGH} elements of {PIECE} B, then five times the chip's pages of such "
        "elements to an expendable stream",
    ),
)
def priority(quick: bool) -> Report:  # noqa: ARG001
    """What is expendable gives way, nothing else does."""
    laps = 5
    kept, left, stats = _fill(laps)
    chip = EACH_LAP * PAGE
    share = 100 * left * PIECE / chip
    theirs = 100 * (1 - 2 * HIGH * PIECE / chip)
    moved = stats["bytes_moved"] / (laps * EACH_LAP * PIECE)
    moved_there = 2 * HIGH / EACH_LAP
    answers = [
        Answer(
            f"{kept} of {HIGH}",
            holds=kept == HIGH,
            why="elements of high priority are gone",
            part="high",
            claim="what has high priority stays, however much is written behind it",
            published="all",
            tolerance=NONE,
        ),
        Answer(
            round(share, 1),
            verdict=NOT_JUDGED,
            why="by the document's rule nothing of low priority moves, and "
            f"two copies of what has high priority a round leave it about {theirs:.0f} % of the "
            f"chip, for {moved_there:.2f} bytes moved for each written. Ours gives way at "
            f"limit_bytes, so that each mount and each other object has room, and moves what is "
            f"expendable like all else: {moved:.2f} bytes for each written",
            part="low",
            claim="what of the chip low priority still has, when it has been written five times",
            unit="%",
            where=OURS,
        ),
    ]
    return Report(answers, ["what", "elements"], [["high", kept], ["low", left]])
