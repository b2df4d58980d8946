# SPDX-License-Identifier: Apache-2.0
"""A month of a phone by habit: users, applications and what they ask of the disk, from a seed.

Chen's thesis (PolyU 2016, chapter 3) ran eleven Android applications of three persons for a month
each and published no trace. From it we take the applications, their numbers of reads and writes and
their mean lengths (table 4.3, one machine), NVM of 16 MB, pages of 4 KB and all costs. What it does
not say and we choose stands in Model and in APPS; Model's numbers are varied, one at a time
(VARIED), so that no conclusion hangs on one of them.

  habits     each user runs an application in some hours of the day, drawn once from the seed, on
             most days; and now and then at another hour
  sessions   requests come in bursts with pauses between them, in one stretch of the hour
  data       a write is an update of a small set of pages, the first of them most, or new data that
             is appended; a read is of that set or anywhere in what was written
  system     some writes bring a write of metadata, some of the journal
"""

import random
import struct
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from nandwich import _native
from nandwich.replay import classes

PAGE = 4096
NVM_BYTES = 16 << 20
HOUR_NS = 3600 * 10**9
DAY_HOURS = 24
USERS = (1, 2, 3)
WAKING = range(7, 24)
FLUSHER = 12
_DATA = classes.NAMES.index("data")
_INODES = classes.NAMES.index("inodes")
_JOURNAL = classes.NAMES.index("journal")
_MOST_PAGES = 256
_ZONE_PAGES = 1024  # whose last reader is taken for the writer
_WEEK = 7


#: What the thesis charges for a page and a block of this size: 1.5, 17 and 10 J/GB.
READ_NJ, PROGRAM_NJ, ERASE_NJ = 6_144, 69_632, 5_242_880


@dataclass(frozen=True)
class Seeds:
    """What seeds 1 to 3 gave of a figure: it holds within half the range, to either side."""

    low: float
    high: float
    unit: str

    @property
    def off(self) -> float:
        return (self.high - self.low) / 2

    @property
    def told(self) -> str:
        return (
            f"{self.off:.4g} {self.unit}, to either side: half the range of seeds 1 to 3, which "
            f"give {self.low} to {self.high}"
        )


@dataclass(frozen=True)
class App:
    """Reads, writes and mean KB of table 4.3; hours of the day it is used in, which share of its
    writes are updates, and of how many pages: ours."""

    name: str
    reads: int
    writes: int
    mean_kb: float
    hours: int
    updates: float
    hot_pages: int


APPS = (
    App("Google Earth", 33272, 122301, 4.91, 1, 0.6, 800),
    App("Browser", 140423, 13652, 21.53, 3, 0.6, 600),
    App("WeChat", 1123, 124215, 4.23, 3, 0.3, 400),
    App("YouTube", 2787, 3100, 8.35, 2, 0.5, 100),
    App("Facebook", 38831, 41242, 6.85, 3, 0.8, 600),
    App("Gmail", 1652, 55110, 4.26, 3, 0.6, 400),
    App("Gallery", 32210, 878, 89.65, 1, 0.6, 100),
    App("Download", 7318, 7344, 232.94, 1, 0.1, 50),
    App("Install", 9725, 24622, 145.95, 1, 0.2, 200),
    App("Media Player", 15260, 5024, 12.55, 2, 0.6, 100),
    App("Angry Birds", 7791, 522, 58.32, 2, 0.8, 50),
)
_ALL_REQUESTS = sum(app.reads + app.writes for app in APPS)


@dataclass(frozen=True)
class Model:
    """What we choose for a month; see VARIED."""

    days: int = 30
    seed: int = 1
    requests_a_day: int = 20_000
    regular: float = 0.85  # of days, an hour of habit is kept
    stray: float = 0.3  # sessions a day of each application at another hour
    updates: float = 1.0  # times each application's share
    hot: float = 1.0  # times each application's set of pages
    burst: int = 16  # requests, mean
    gap_ms: float = 2.0  # in a burst, mean
    pause_s: float = 2.0  # between bursts, mean
    own_reads: float = 0.4  # of reads, of pages that are updated
    metadata: float = 0.15  # writes of metadata a write
    journal: float = 0.1  # of the journal
    tags: str = "carried"  # of writes; or "lost": the flusher's, or "inferred" from reads
    blocks: int = 2600  # of the chip, 512 KB each
    order: str = "skewed"  # of the pages that are updated; or "even", or "in turn"
    unused: range = range(0)  # days on which nobody takes the phone in hand


BASE = Model()


def told(model: Model) -> str:
    """All that makes a month, for a card."""
    apps = ", ".join(f"{app.name} {app.hours}/{app.updates:g}/{app.hot_pages}" for app in APPS)
    return (
        f"seed {model.seed}, {model.days} days, {model.requests_a_day:,} requests a day shared out "
        "as in table 4.3, with its reads and lengths (exponential, 1 to "
        f"{_MOST_PAGES} pages); hours a day, share of updates and pages that are updated: {apps}; "
        f"hours of {WAKING.start} to {WAKING.stop - 1} o'clock, each kept on {model.regular:.0%} "
        f"of days, {model.stray:g} sessions a day elsewhere; bursts of {model.burst}, gaps of "
        f"{model.gap_ms:g} ms, pauses of {model.pause_s:g} s, all exponential; an update is of two "
        "pages at most in the mean, at the square of a uniform number in its set; other writes "
        f"are appended; {model.own_reads:.0%} of reads are of that set, the others anywhere; "
        f"{model.metadata:.0%} of writes bring an inode page, {model.journal:.0%} a journal page"
    )


#: One number at a time: the smaller and the larger one.
VARIED = {
    "requests_a_day": (10_000, 40_000),
    "regular": (0.6, 1.0),
    "stray": (0.0, 1.0),
    "updates": (0.6, 1.25),
    "hot": (0.5, 2.0),
    "burst": (4, 64),
    "pause_s": (0.5, 8.0),
    "metadata": (0.0, 0.3),
    "seed": (2, 3),
}


def quick(model: Model) -> Model:
    """Ten days, for a test."""
    return replace(model, days=10, requests_a_day=model.requests_a_day // 5)


def shorter(model: Model) -> Model:
    """Ten days as busy as all others: to vary the model's numbers on."""
    return replace(model, days=min(10, model.days))


def _pages(draw: random.Random, mean: float) -> int:
    return min(_MOST_PAGES, 1 + int(draw.expovariate(1 / (mean - 0.5)))) if mean > 1 else 1


@dataclass
class _Place:
    """Where an application's pages lie: the updated ones first, then the appended ones."""

    first: int
    pages: int
    hot: int
    written: int = 0  # pages appended
    turn: int = 0  # the page that is updated next, in turn

    def append(self, count: int) -> int:
        room = self.pages - self.hot
        if self.written % room + count > room:
            self.written += room - self.written % room
        at = self.first + self.hot + self.written % room
        self.written += count
        return at

    def hit(self, count: int, order: str, draw: random.Random) -> int:
        """Where so many pages lie that are updated, or read of those."""
        if order == "in turn":
            at = self.turn
            self.turn = (at + count) % self.hot
        else:
            at = int(self.hot * draw.random() ** (2 if order == "skewed" else 1))
        return self.first + min(self.hot - count, at)


@dataclass
class _Writer:
    """Requests so far."""

    model: Model
    packed: list[tuple[int, bytes]] = field(default_factory=list)
    journal: int = 0
    reader: dict[int, int] = field(default_factory=dict)  # by zone, the last one
    last: int = FLUSHER

    def _told(self, page: int, kind: int, app: int) -> int:
        """Who asks, as the layer below learns it."""
        zone = page // _ZONE_PAGES
        if kind == 0:
            self.reader[zone] = self.last = app
            return app
        if self.model.tags == "lost":
            return FLUSHER
        return self.reader.get(zone, self.last) if self.model.tags == "inferred" else app

    def put(self, now_ns: int, page: int, count: int, kind: int, app: int, content: int) -> None:
        app = self._told(page, kind, app)
        record = struct.pack("<QQQQBBH4x", now_ns, page * PAGE, count * PAGE, 0, kind, content, app)
        self.packed.append((now_ns, record))


_JOURNAL_PAGES = 4096
_METADATA_PAGES = 16  # an application
_FRONT = _JOURNAL_PAGES + _METADATA_PAGES * (len(APPS) + 1)


class _Month:
    def __init__(self, model: Model, user: int, sectors: int) -> None:
        self.model = model
        self.draw = random.Random(f"{model.seed} {user}")
        self.writer = _Writer(model)
        self.habits = [self.draw.sample(WAKING, app.hours) for app in APPS]
        each = (sectors - _FRONT) // len(APPS)
        self.places = [
            _Place(_FRONT + i * each, each, max(1, round(app.hot_pages * model.hot)))
            for i, app in enumerate(APPS)
        ]

    def _write(self, number: int, now_ns: int) -> None:
        app, place, draw = APPS[number], self.places[number], self.draw
        share = min(1.0, app.updates * self.model.updates)
        small = min(app.mean_kb / 4, 2.0)
        if draw.random() < share:
            count = min(_pages(draw, small), place.hot)
            at = place.hit(count, self.model.order, draw)
        else:
            rest = (app.mean_kb / 4 - share * small) / (1 - share)
            count = _pages(draw, max(1.0, rest))
            at = place.append(count)
        self.writer.put(now_ns, at, count, 1, number + 1, _DATA)
        if draw.random() < self.model.metadata:
            page = _JOURNAL_PAGES + _METADATA_PAGES * number + draw.randrange(_METADATA_PAGES)
            self.writer.put(now_ns, page, 1, 1, number + 1, _INODES)
        if draw.random() < self.model.journal:
            self.writer.put(now_ns, self.writer.journal, 1, 1, number + 1, _JOURNAL)
            self.writer.journal = (self.writer.journal + 1) % _JOURNAL_PAGES

    def _read(self, number: int, now_ns: int) -> None:
        app, place, draw = APPS[number], self.places[number], self.draw
        count = _pages(draw, app.mean_kb / 4)
        if draw.random() < self.model.own_reads:
            count = min(count, place.hot)
            at = place.hit(count, self.model.order, draw)
        else:
            at = place.first + draw.randrange(place.pages - count)
        self.writer.put(now_ns, at, count, 0, number + 1, _DATA)

    def _session(self, number: int, hour: int, requests: int) -> None:
        model, draw = self.model, self.draw
        now_ns = hour * HOUR_NS + draw.randrange(HOUR_NS // 2)
        end_ns = (hour + 1) * HOUR_NS
        app = APPS[number]
        writes = app.writes / (app.reads + app.writes)
        for _ in range(requests):
            if draw.random() < writes:
                self._write(number, now_ns)
            else:
                self._read(number, now_ns)
            ahead_s = draw.expovariate(1000 / model.gap_ms)
            if draw.random() < 1 / model.burst:
                ahead_s += draw.expovariate(1 / model.pause_s)
            now_ns += int(1e9 * ahead_s)
            if now_ns >= end_ns:
                break

    def play(self) -> bytes:
        model, draw = self.model, self.draw
        for day in range(model.days):
            if day in model.unused:
                continue
            for number, app in enumerate(APPS):
                a_day = model.requests_a_day * (app.reads + app.writes) / _ALL_REQUESTS
                sessions = app.hours * model.regular + model.stray
                hours = [hour for hour in self.habits[number] if draw.random() < model.regular]
                hours += [draw.choice(WAKING)] * (draw.random() < model.stray)
                for hour in hours:
                    requests = 1 + int(draw.expovariate(sessions / a_day))
                    self._session(number, DAY_HOURS * day + hour, requests)
        self.writer.packed.sort(key=lambda pair: pair[0])
        return b"".join(record for _, record in self.writer.packed)


def part(model: Model) -> _native.Part:
    """The thesis's flash: its times and energy, pages of 4 KB, 128 a block."""
    made = _native.Part.named("MLC64G")
    made.set("name", "MLC-4K")
    made.set("page_bytes", "4096 B")
    made.set("program_bytes", "4096 B")
    made.set("spare_bytes", "224 B")
    made.set("block_pages", "128")
    made.set("blocks", str(model.blocks))
    for name, energy_nj in (("read", READ_NJ), ("program", PROGRAM_NJ), ("erase", ERASE_NJ)):
        made.set(f"{name}.energy", f"{energy_nj} nJ")
    made.set("factory_bad", "0")
    return made


@dataclass(frozen=True)
class Way:
    """How the NVM is used."""

    tier: str = ""  # a policy of `nandwich replay`; none: flash alone
    prepare: str = "idle"
    idle: bool = True
    nvm_bytes: int = NVM_BYTES


FLASH = Way()
LRFU = Way("lrfu", idle=False)
LRFU_IDLE = Way("lrfu")
INTER = Way("habit-inter")
VFLASH = Way("habit")
DIRECT = Way("habit", "at once")
IDEAL = Way("habit", "unseen")
HARC = Way("harc")
JOINED = Way("class+habit")
OURS = Way("class+harc")
ROOM = Way("habit-room")
HABIT_LRU = Way("habit-lru")


@dataclass(frozen=True)
class Outcome:
    """What came of a month; of applications from some day on."""

    apps: tuple[dict[str, int], ...]
    hours: tuple[dict[str, int], ...]
    result: dict[str, int]
    layer: dict[str, int]
    tier: dict[str, int]
    bound: dict[str, int] | None

    def speed(self, app: int) -> float:
        """Pages a millisecond of being served."""
        share = self.apps[app + 1]
        return 1e6 * (share["read"] + share["written"]) / max(1, share["served_ns"])

    def speed_with_software(self, app: int, request_us: float) -> float:
        """The same when each request takes so long beside the device."""
        share = self.apps[app + 1]
        served_ns = share["served_ns"] + 1000 * request_us * share["requests"]
        return 1e6 * (share["read"] + share["written"]) / max(1.0, served_ns)

    @property
    def total_speed(self) -> float:
        """The same of all applications together, whoever is taken for the writer."""
        served = sum(share["served_ns"] for share in self.apps)
        return 1e6 * sum(share["read"] + share["written"] for share in self.apps) / served

    def mean_ratio(self, other: "Outcome") -> float:
        """Mean over applications of speed over the other's."""
        return sum(self.speed(app) / other.speed(app) for app in range(len(APPS))) / len(APPS)

    @property
    def over_bound(self) -> float:
        """Sectors written to flash over what who knows the future writes, as a share of that."""
        if self.bound is None:
            raise AssertionError("a run without its bound")
        return self.written_to_flash / self.bound["flash_writes_least"] - 1

    @property
    def erases(self) -> int:
        return self.layer["erases"]

    @property
    def energy_pj(self) -> int:
        return self.result["energy_pj"]

    def joules(self) -> dict[str, float]:
        """Where the energy goes: what host and tier ask of flash, what collection adds, the NVM."""
        layer = self.layer
        parts = {
            "reads": (layer["reads"] - layer["copies"]) * READ_NJ,
            "writes": layer["host_writes"] * PROGRAM_NJ,
            "collection": layer["copies"] * (READ_NJ + PROGRAM_NJ),
            "erases": layer["erases"] * ERASE_NJ,
        }
        parts["NVM"] = self.energy_pj // 1000 - sum(parts.values())
        return {name: energy_nj / 1e9 for name, energy_nj in parts.items()}

    @property
    def written_to_flash(self) -> int:
        return self.tier["flash_writes"] + self.tier["moved"]


@lru_cache(maxsize=4)
def month(user: int, model: Model) -> tuple[_native.Requests, list[int]]:
    """A user's month, and how many requests come before each day."""
    made = _Month(model, user, _device(model).sectors - 1)
    requests = _native.Requests(made.play())
    times = [now_ns for now_ns, _ in made.writer.packed]
    day_ns = DAY_HOURS * HOUR_NS
    return requests, [bisect_left(times, day * day_ns) for day in range(model.days)]


def _device(model: Model) -> _native.ReplayDevice:
    return _native.ReplayDevice(part(model), "page")


@cache
def run(user: int, model: Model, way: Way, after: int = 0) -> Outcome:
    """A user's month on a device that was written full before; what applications asked for counts
    from day `after` on."""
    device = _device(model)
    if way.tier:
        device.put_tier(
            _native.Part.named("PCM-16M"), way.tier, bytes=way.nvm_bytes, apps=FLUSHER, lambda_=66
        )
    requests, before = month(user, model)
    player = _native.Replay(
        device,
        requests,
        precondition=950,
        arrivals=True,
        idle=way.idle,
        apps=FLUSHER,
        prepare=way.prepare,
        bound=bool(way.tier),
    )
    while player.precondition(1 << 20):
        pass
    if before[after] > 0:
        player.run(before[after])
    left_out = player.shares("app")
    while player.run(1 << 20):
        pass
    if any(not left <= right <= left + slack for _, left, right, slack in player.laws()):
        raise AssertionError("the books of the replay do not balance")
    result = player.result()
    apps = zip(player.shares("app"), left_out, strict=True)
    return Outcome(
        tuple({key: of[key] - out[key] for key in of} for of, out in apps),
        tuple(player.shares("hour")),
        {key: value for key, value in result.items() if isinstance(value, int)},
        result["layer"],
        device.tier(),
        player.bound(),
    )
