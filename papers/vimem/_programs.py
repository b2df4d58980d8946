# SPDX-License-Identifier: Apache-2.0
"""Programs of our own in the shape of those of Lachenmann et al. (EuroSys 2007): one like TinyDB,
with its numbers of variables and bytes, one like Mate, and the generator of section 6.3.1.

A program is its variables and, for a node and a scenario, the accesses it makes. Addresses are
those of a compiler that lays variables side by side in the order of declaration.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from nandwich import _native

PAGE = 264
WHOLE = 33  # the largest array that stays whole: an eighth of a page

Access = tuple[int, bool]  # element, is a store

#: Pages of the smallest generated program.
SMALLEST = 12


@dataclass(frozen=True)
class Variables:
    """(name, elements, bytes an element) of each, in order."""

    table: tuple[tuple[str, int, int], ...]

    @property
    def bytes(self) -> int:
        return sum(count * size for _, count, size in self.table)

    @property
    def objects(self) -> list[tuple[int, int, int, str]]:
        """As a trace has them."""
        found, address = [], 0
        for name, count, size in self.table:
            found.append((address, count * size, size, name))
            address += count * size
        return found

    def layouter(self) -> "_native.Layouter":
        return _native.Layouter(self.objects, WHOLE, PAGE)

    def elements(self) -> dict[str, range]:
        """The elements of each variable; small arrays are one."""
        found, first = {}, 0
        for name, count, size in self.table:
            number = 1 if count * size <= WHOLE else count
            found[name] = range(first, first + number)
            first += number
        return found


# ---- like TinyDB ----

_SMALL = tuple((f"flag{number}", 1, 1) for number in range(41))
_HALVES = tuple((f"half{number}", 1, 2) for number in range(16))
_WORDS = tuple((f"word{number}", 1, 4) for number in range(10))
_ARRAYS = (
    ("timers", 18, 4),
    ("routing", 48, 2),
    ("received", 36, 1),
    ("sending", 36, 1),
    ("waiting", 36, 1),
    ("query", 32, 2),
    ("tuple", 32, 1),
    ("queue", 12, 7),
)


def _dealt() -> tuple[tuple[str, int, int], ...]:
    """Declared component by component: what is used together is rarely side by side."""
    table = [*_SMALL, *_HALVES, *_WORDS, *_ARRAYS]
    random.Random(2007).shuffle(table)
    return tuple(table)


TINYDB = Variables(_dealt())


class Handlers:
    """What the event handlers touch; each in a fixed order, as code does."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.at = TINYDB.elements()
        self.made: list[Access] = []

    def read(self, *names: str) -> None:
        self.made += [(self.at[name][0], False) for name in names]

    def change(self, *names: str) -> None:
        for name in names:
            self.made += [(self.at[name][0], False), (self.at[name][0], True)]

    def sweep(self, name: str, first: int, count: int, *, write: bool) -> None:
        elements = self.at[name]
        for number in range(first, first + count):
            self.made.append((elements[number % len(elements)], write))

    def count_down(self, name: str, count: int) -> None:
        """Entries of three fields: whether it runs, what is left of it, and a third."""
        elements = self.at[name]
        for number in range(count):
            at, left = elements[3 * number], elements[3 * number + 1]
            self.made += [(at, False), (left, False), (left, True)]

    def tick(self) -> None:
        """The timer component: every timer counts down, the few that are due fire."""
        self.change("word0", "flag0")
        self.read("flag1")
        self.count_down("timers", 6)
        self.read("half0", "flag2")

    def clock(self) -> None:
        self.change("word1", "half1")
        self.read("word2", "flag3", "flag4")

    def receive(self) -> None:
        """A message is taken over, and the routing table learns of its sender."""
        self.change("flag5", "half2")
        self.sweep("received", 0, 36, write=True)
        self.read("flag6", "flag7", "half3", "word3")
        entry = self.chance.randrange(12) * 4
        self.sweep("routing", entry, 4, write=False)
        self.sweep("routing", entry, 2, write=True)
        self.change("flag8", "flag9", "half4")

    def beacon(self) -> None:
        self.read("flag10", "half5", "word4")
        self.sweep("routing", 0, 24, write=False)
        self.change("flag11", "half6")
        self.sweep("sending", 0, 12, write=True)
        self.change("flag12", "flag13", "word5")

    def sample(self) -> None:
        """A sample of the query is taken, put into a tuple and queued."""
        first = self.chance.randrange(2) * 16
        self.read("flag14", "flag15", "half7", "half8")
        self.sweep("query", first, 12, write=False)
        for field_at in range(4):
            self.read(f"flag{16 + field_at}", f"word{6 + field_at % 3}")
            self.sweep("query", first + field_at * 3, 3, write=False)
            self.change("tuple", "half9")
        self.change("flag20", "flag21", "half10", "word9")
        self.sweep("queue", self.chance.randrange(12), 2, write=True)

    def send(self) -> None:
        self.read("flag22", "flag23", "half11", "tuple")
        self.sweep("queue", self.chance.randrange(12), 2, write=False)
        self.sweep("waiting", 0, 20, write=True)
        self.change("flag24", "half12", "flag25")

    def manage(self) -> None:
        """What happens rarely goes over everything that is left."""
        self.read(*(f"flag{number}" for number in range(26, 41)))
        self.read("half13", "half14", "half15")
        self.sweep("routing", 24, 24, write=False)


#: Seconds between events in the mean: no query, a query, a light one.
RATES: dict[str, dict[str, float]] = {
    "none": {"tick": 1.0, "clock": 5.0, "receive": 30.0, "beacon": 30.0, "manage": 120.0},
    "query": {
        "tick": 0.1,
        "clock": 2.0,
        "receive": 4.0,
        "beacon": 30.0,
        "sample": 2.0,
        "send": 2.0,
        "manage": 120.0,
    },
    "light": {
        "tick": 0.5,
        "clock": 5.0,
        "receive": 10.0,
        "beacon": 30.0,
        "sample": 8.0,
        "send": 8.0,
        "manage": 120.0,
    },
}


Events = tuple[tuple[Access, ...], ...]


def _flat(events: Events) -> tuple[Access, ...]:
    return tuple(access for event in events for access in event)


@cache
def tinydb(scenario: str, node: int, seconds: int = 1000) -> tuple[Access, ...]:
    """The accesses of one node in one scenario."""
    return _flat(tinydb_events(scenario, node, seconds))


def tinydb_events(scenario: str, node: int, seconds: int = 1000) -> Events:
    """The same, of each event by itself."""
    chance = random.Random(f"{scenario} {node}")
    handlers = Handlers(chance)
    events = []
    for name, gap in RATES[scenario].items():
        at = chance.random() * gap
        while at < seconds:
            events.append((at, name))
            # Timers are regular, the air is not.
            at += gap if name in ("tick", "clock", "sample") else chance.expovariate(1 / gap)
    found = []
    for _, name in sorted(events):
        getattr(handlers, name)()
        found.append(tuple(handlers.made))
        handlers.made.clear()
    return tuple(found)


# ---- like Mate ----

#: One array of code capsules, a byte an instruction.
MATE = Variables((("capsules", 792, 1),))
_CAPSULE = 99
#: Bytes of code that a run of the timer's capsule fetches.
MATE_SCENARIOS = {"none": 0, "counter": 24, "aggregation": 47}
_TIMER, _LATER = 2, 5  # capsules
_EVERY = 30  # runs, then another capsule is looked at


def mate(scenario: str, node: int, seconds: int = 1000) -> tuple[Access, ...]:
    """The interpreter's fetches. A capsule is its options, its length, its type and its code."""
    return _flat(mate_events(scenario, node, seconds))


def mate_events(scenario: str, node: int, seconds: int = 1000) -> Events:
    """The same: the start, then what each second brings."""
    chance = random.Random(f"mate {scenario} {node}")
    made: list[Access] = []
    for capsule in range(8):  # at the start each is looked at, and marked, against its partner
        first, partner = capsule * _CAPSULE, (7 - capsule) * _CAPSULE
        made += [(first, False), (first + 1, False), (first, True), (partner + 2, False)]
    made += [(capsule * _CAPSULE, False) for capsule in range(6)]
    found = [tuple(made)]
    offset, code = chance.randrange(_EVERY), MATE_SCENARIOS[scenario]
    for second in range(seconds if code else 0):
        made = [(_TIMER * _CAPSULE + at, False) for at in range(4 + code)]
        if second % _EVERY == offset:
            made.append((_LATER * _CAPSULE, False))
        if code > 24 and second % _EVERY == 0:  # a loop over the neighbours
            made += [(_TIMER * _CAPSULE + 4 + at, False) for at in range(20, code)] * 3
        found.append(tuple(made))
    return tuple(found)


# ---- the generator ----


@dataclass(frozen=True)
class Generated:
    """4-byte elements whose accesses follow a recorded trace, with jitter that grows with their
    number: 5000 accesses in straight-line code, 10 times."""

    pages: int
    repeat: int = 10
    length: int = 5000
    seed: int = 1
    accesses: list[Access] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "accesses", _follow(self))

    @property
    def count(self) -> int:
        return self.pages * PAGE // 4

    @property
    def wanted(self) -> int:
        """Elements to be accessed: 419 of 792, and 0.19 of each further one."""
        return round(min(419.0, 0.53 * self.count) + 0.19 * max(0, self.count - 792))

    @property
    def variables(self) -> Variables:
        return Variables(tuple((f"x{number}", 1, 4) for number in range(self.count)))

    def incomplete(self) -> list[Access]:
        """The same input less every fourth access."""
        return [access for at, access in enumerate(self.accesses) if at % 4 != 3]


def _follow(program: Generated) -> list[Access]:
    """As far from the trace as makes the elements accessed as many as wanted."""
    jittered = _near if program.pages <= SMALLEST else _anywhere
    low, high = 0.0, 4.0
    for _ in range(24):
        share = (low + high) / 2
        found = list(jittered(program, share))
        if len({element for element, _ in found}) < program.wanted:
            low = share
        else:
            high = share
    return list(jittered(program, high))


def _near(program: Generated, share: float) -> Iterator[Access]:
    """Each element of the trace stands for as many of ours; a share of its accesses goes to any of
    them, the rest to one. Beyond a share of 1 the stretches are longer and overlap."""
    base = tinydb("none", 0)[: program.length]
    chance = random.Random(program.seed)
    stretch = program.count / (max(element for element, _ in base) + 1)
    for element, write in base:
        jitter = chance.random(), chance.random()
        offset = (jitter[1] - 0.5) * stretch * max(1.0, share) if jitter[0] < share else 0.0
        place = int((element + 0.5) * stretch + offset)
        yield min(max(place, 0), program.count - 1), write


def _anywhere(program: Generated, share: float) -> Iterator[Access]:
    """The accesses of the smallest program, drawn out over more data, but for a share of them that
    goes to any element."""
    smallest = Generated(SMALLEST, length=program.length, seed=program.seed)
    chance = random.Random(program.seed)
    for element, write in smallest.accesses:
        jitter = chance.random(), chance.randrange(program.count)
        drawn_out = element * program.count // smallest.count
        yield jitter[1] if jitter[0] < share else drawn_out, write
