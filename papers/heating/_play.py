# SPDX-License-Identifier: Apache-2.0
"""Runs behind the experiments on self-healing NAND (R. Chen, PhD thesis, Hong Kong PolyU 2016).

What the thesis says and we take: the chip (8 Gbit, 25 us, 500 us, 1.5 ms, 3 s a healing), NFTL as
the layer, a bar of 100 erases, the six workloads' counts, shares, gaps and sizes, repeated, until
200 blocks were healed. What it does not say and we choose:

  pages      256 of 8 KB a block, as TLC8G-HEAL has; NFTL needs them in any order. D-2.3 and D-2.4
             count with 64 a block too: moved blocks hold 44 to 58 pages in the thesis's tables
  requests   whole pages, over half of an empty device, with the localities of `nandwich replay`
  SWL        a flag a block, and the threshold 4: its authors try 1 to 10 % of the endurance

Quick runs are an eighth of the chip and of the healings: the share of blocks healed is the same.
"""

from dataclasses import dataclass
from functools import cache

from nandwich import _native

PART = "TLC8G-HEAL"
BAR = 100
THRESHOLD = 4
THRESHOLDS = (2, 4, 10)
MOST_REQUESTS = 200_000_000

HEALS = 200  # of a whole run

#: Of a chip whose bits err: what a controller corrects, class for such an MLC.
ECC_BITS, ECC_BYTES = 24, "1024 B"


@dataclass(frozen=True)
class Published:
    """A row of the thesis's tables: traffic of 2.1, and what SWL and DHeating came to."""

    writes: float  # share of requests
    gap_ms: float
    mean_kb: float
    intervals_s: tuple[float, float]  # table 2.2
    copies: tuple[int, int]  # table 2.3
    erases: tuple[int, int]  # table 2.4
    early_s: float  # table 2.5: DHeating's interval with the bar at 95 %


PUBLISHED = {
    "filecopy": Published(
        0.9083, 8.19, 3.17, (162.7, 3143.0), (158_720, 9_344), (3_262, 192), 2981.0
    ),
    "sensor": Published(
        0.9266, 8.12, 2.26, (159.1, 3790.0), (209_920, 10_496), (3_800, 190), 3597.0
    ),
    "multimedia": Published(
        0.8310, 196.90, 48.03, (166.6, 3864.0), (158_720, 7_936), (3_600, 180), 3664.0
    ),
    "nfs": Published(0.8937, 8.40, 29.38, (185.8, 4152.0), (206_036, 9_472), (4_010, 184), 3932.0),
    "sdcard": Published(
        0.9495, 38.30, 49.87, (176.4, 4832.0), (215_096, 8_640), (4_508, 181), 4569.0
    ),
    "ftp": Published(
        0.9740, 72.97, 20.05, (169.5, 2514.0), (139_202, 10_688), (2_394, 183), 2383.0
    ),
}
SETUP = (
    "published: an 8 Gbit chip, 25 us a read, 500 us a program, 1.5 ms an erase, 3 s a healing; "
    "NFTL; each block healed at 100 erases, the first 200 healings count; requests, share of "
    "writes, mean gap and mean size of table 2.1, repeated; no size of pages and blocks, no spare "
    "blocks, no places, no k and T of SWL. Ours: 512 blocks of 256 pages of 8 KB in any order, 46 "
    "of them spare, empty at first; chains of 8 blocks at most; exponential gaps and sizes, these "
    "in whole pages, one at least (File Copy and Sensor write 8 KB each), seed 1; over the first "
    "half of the sectors, in order after the request before (File Copy, SD card 90 %, Multimedia, "
    "FTP 95 %, NFS 50 %), else 80 % to the first fifth (SD card 90 % to a tenth, FTP 70 % to "
    "three tenths); Sensor appends, 30 % of its writes go to the first hundredth; DHeating: each "
    "healing, too, makes the most worn young block old, hot data takes the most worn old one"
)
SWL_SETUP = (
    f"; SWL of single blocks (k = 0) at T = {THRESHOLD}, of 2, 4 and 10 the one nearest to table "
    "2.4's SWL, all six together"
)
#: Why a tolerance is as wide as it is.
SEEDS = "to either side: half the range of seeds 1 to 3"


@dataclass(frozen=True)
class Setup:
    """One run: what wears how on which layer."""

    workload: str
    wear: str
    layer: str = "nftl"
    threshold: int = 0
    bar: int = BAR
    period_s: int = 0  # lazy healing; 0: eager
    idle_us: int = 0  # least gap to heal in; 0: as long as a healing takes
    fixed: bool = True  # the period, as in the thesis's tests; else it shrinks as the list grows
    pauses: bool = False  # of half a minute, after each 2,000 requests
    heal_time: str = "3 s"
    block_pages: int = 256
    errors: str = ""  # raw bit errors against erases, as a part's curve; empty: none


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    setup: Setup
    heals: int
    first_s: float  # until the first healing
    interval_s: float  # mean, from the first to the last
    times_s: tuple[float, ...]  # of all healings
    end_s: float
    written: int  # sectors
    requests: int
    copies: int  # by the layer, wear included
    erases: int
    moved: int  # blocks emptied for the policy: an erase each
    wear_copies: int  # and pages copied for that
    hot: int
    healed_idle: int
    most_waiting: int
    worst_s: float  # response
    response_s: float  # all responses added up
    bits_read: int
    bits_flipped: int

    @property
    def error_rate(self) -> float:
        """Raw bit errors a bit read."""
        return self.bits_flipped / self.bits_read

    def per_million(self, count: int) -> float:
        """Of so many, how many for a million sectors written."""
        return 1e6 * count / self.written


@cache
def play(setup: Setup, quick: bool, requests: int = 0) -> Outcome:
    """Until enough blocks were healed, or so many requests."""
    part = _native.Part.named(PART)
    part.set("in_order", "no")
    part.set("heal.time", setup.heal_time)
    part.set("block_pages", str(setup.block_pages))
    if setup.errors:
        part.set("errors", setup.errors)
        part.set("ecc_bits", str(ECC_BITS))
        part.set("ecc_bytes", ECC_BYTES)
    wear = {"heal": 1, "heal_cycles": setup.bar, "threshold": setup.threshold}
    if setup.period_s:
        wear |= {
            "heal_period_s": setup.period_s,
            "heal_idle_us": setup.idle_us,
            "heal_fixed": setup.fixed,
        }
    device = _native.ReplayDevice(
        part,
        setup.layer,
        blocks=(64 if quick else 512) * 256 // setup.block_pages,
        factory_bad=False,
        wear=setup.wear,
        wear_config=wear,
        bit_errors=bool(setup.errors),
    )
    changes = {
        "align": device.sector_bytes,
        "footprint": device.sectors // 2 * device.sector_bytes,
    }
    if setup.pauses:
        changes |= {"burst": 2000, "pause_ns": 30 * 10**9}
    source = _native.Workload(setup.workload, changes)
    replay = _native.Replay(
        device,
        source,
        repeat=0,
        limit=requests or MOST_REQUESTS,
        heals=0 if requests else (25 if quick else HEALS),
        arrivals=True,
        idle=setup.period_s > 0,
    )
    while replay.run(1_000_000):
        pass
    return _outcome(setup, replay, device.errors())


def _outcome(setup: Setup, replay: _native.Replay, errors: dict[str, int]) -> Outcome:
    result = replay.result()
    stats = replay.wear_stats()
    times = replay.heals()
    if result["ended"] < 0:
        raise RuntimeError(f"{setup}: the device refused: {result['ended_text']}")
    kinds = [result["reads"], result["writes"], result["others"]]
    return Outcome(
        setup=setup,
        heals=stats["heals"],
        first_s=times[0] / 1e9 if times else 0.0,
        interval_s=(times[-1] - times[0]) / 1e9 / (len(times) - 1) if len(times) > 1 else 0.0,
        times_s=tuple(time / 1e9 for time in times),
        end_s=result["end_ns"] / 1e9,
        written=result["sectors_written"],
        requests=result["done"],
        copies=result["layer"]["copies"],
        erases=result["layer"]["erases"],
        moved=stats["moved"],
        wear_copies=stats["copies"],
        hot=stats["hot"],
        healed_idle=stats["heals_idle"],
        most_waiting=stats["most_waiting"],
        worst_s=max(kind["max_ns"] for kind in kinds) / 1e9,
        response_s=sum(kind["count"] * kind["mean_ns"] for kind in kinds) / 1e9,
        bits_read=8 * errors["bytes_read"],
        bits_flipped=errors["bits_flipped"],
    )


@dataclass(frozen=True)
class Life:
    """A device without healing, until its first block is given up."""

    layer: str
    wear: str
    host_bytes: int
    evenness: float  # mean erases of a block in those of the most erased one
    moved: int
    wear_copies: int
    copies: int
    erases: int


@cache
def live(layer: str, wear: str, quick: bool) -> Life:
    """A full device, File Copy over half of it, blocks that take about a hundred erases."""
    part = _native.Part.named(PART)
    part.set("in_order", "no")
    part.set("endurance", str(BAR))
    device = _native.ReplayDevice(
        part,
        layer,
        blocks=64 if quick else 256,
        factory_bad=False,
        wear_out=True,
        wear=wear,
        wear_config={"threshold": THRESHOLD} if wear != "none" else {},
    )
    footprint = device.sectors // 2 * device.sector_bytes
    source = _native.Workload("filecopy", {"align": device.sector_bytes, "footprint": footprint})
    replay = _native.Replay(device, source, repeat=0, limit=MOST_REQUESTS, precondition=1000)
    while replay.precondition(1_000_000):
        pass
    while replay.run(1000) and replay.result()["first_death"] is None:
        pass
    result = replay.result()
    erases = replay.wear()
    stats = replay.wear_stats() or {"moved": 0, "copies": 0}
    return Life(
        layer=layer,
        wear=wear,
        host_bytes=result["first_death"]["sectors_written"] * device.sector_bytes,
        evenness=sum(erases) / len(erases) / max(erases),
        moved=stats["moved"],
        wear_copies=stats["copies"],
        copies=result["layer"]["copies"],
        erases=result["layer"]["erases"],
    )


def layers() -> list[str]:
    """Those that take a wear policy."""
    taking = []
    for name, *_ in _native.layers():
        try:
            _native.ReplayDevice(_native.Part.named(PART), name, blocks=64, wear="dynamic")
        except ValueError:
            continue
        taking.append(name)
    return taking
