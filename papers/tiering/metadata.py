# SPDX-License-Identifier: Apache-2.0
"""IC-13, IC-14, IC-7: guests' metadata in a little NVM, on traffic recorded with real tools.

Chen, PhD thesis, PolyU 2016, chapter 4: 16 MB of PCM that writes a 64 B line in 1 us, flash of
chapter 3. How the traffic is made, and what it has not: _guest.py. How long files are, what is read
and how many operations reach the disk together is ours, and each share hangs on it, so no share is
judged: the table has it for files of other lengths.
"""

from dataclasses import replace
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, NOT_REACHABLE, Answer, Report, Value, experiment
from lab.ext4_disks import IMAGES, METADATA, PRESENT
from nandwich import plots
from nandwich.errors import RunError
from nandwich.replay import classes
from papers.tiering import _guest, _phone
from papers.tiering._guest import READ, WRITE, Habits, Outcome, Recording
from papers.tiering.guests import BLOCKS, CELLS, CHECK, FLASH_READ_US, FLASH_WRITE_US, speed_gain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GUESTS = (1, 2, 3)
ROUNDS = 20
HABITS = Habits()
READING = Habits(reads=3)
#: By blocks of a file in the mean, about.
FILES = {1: Habits(more_blocks=0), 17: Habits(more_blocks=16)}
QUICK_ROUNDS = 5
PUBLISHED_WRITES, PUBLISHED_READS = 45.21, 12.48
PUBLISHED_ENERGY = {1: 44.99, 2: 46.0, 3: 46.2}
PUBLISHED_ABSORBED, PUBLISHED_EARTH = 67.03, 63.88
#: Writes of the most written block of the host's and the guest's metadata, and the mean.
PUBLISHED_MOST, PUBLISHED_MEAN = {False: 143, True: 103}, 1.41
PUBLISHED_SIZE = 0.42
#: What a hint calls metadata.
IN_NVM = (*sorted(METADATA), "image", "partitions")
TRAFFIC = (
    f"{ROUNDS} rounds (a quick run {QUICK_ROUNDS}, of one machine) of {HABITS.together} operations "
    "a guest, drawn with its number as the seed: of 11 three make a file of 1 block and as many "
    "more as an exponential number of mean 4, rounded down, has, two let one grow by as much, four "
    "overwrite a block of one, two remove one, all alike to be drawn; debugfs does them in an ext4 "
    "of 32 MB, qemu-io writes what changed into a qcow2 of clusters of 64 KB, a file of 36 MB with "
    "all its blocks on the host's ext4 of 24 MB and 40 MB a guest, whose inode gets its new time; "
    "blocks of 4 KB; a request is a run of changed blocks of a class, a guest's round comes 30 ms "
    "after the one before; no journal, no reads, no kernel; tables of qcow2 and of partitions "
    "count as metadata"
)
SETUP = (
    "published: Exynos5250, 64 Gbit eMMC, Android 4.2 in QEMU on Android 4.2, qcow2 on ext4, 11 "
    "applications, 1 to 3 machines; flash 25 us a read, 500 us a program, 1.5 ms an erase, PCM 50 "
    "ns a read and 1 us a write of a line of 64 B; 1.5, 17 and 10 J/GB, PCM 1 and 6 J/GB; no size "
    f"of the PCM. Ours: the same costs, {BLOCKS} blocks of 128 pages of 4 KB half full, mapped by "
    "page; 16 MB of PCM, where metadata stays once written; "
) + TRAFFIC


def _recordings(quick: bool) -> dict[int, Recording]:
    if not (PRESENT and IMAGES):
        raise RunError("e2fsprogs or qemu-utils is missing; `nandwich doctor` tells how to get it")
    guests, rounds = ((1,), QUICK_ROUNDS) if quick else (GUESTS, ROUNDS)
    return {number: _guest.record(number, rounds, HABITS) for number in guests}


def _one_guest(habits: Habits, quick: bool) -> Recording:
    return _guest.record(1, QUICK_ROUNDS if quick else ROUNDS, habits)


def _played(recording: Recording, tier: str) -> Outcome:
    return _guest.replay(recording, _phone.part(_phone.Model(blocks=BLOCKS)), tier)


def _gain(flash: Outcome, tier: Outcome, kind: int = WRITE) -> float:
    """Percent of speed."""
    return 100 * (flash.served_ns[kind] / tier.served_ns[kind] - 1)


def _writes_calculated() -> float:
    return mean(speed_gain(cell, writes=True) for cell in CELLS)


def _software_us(*, writes: bool) -> float:
    """What each request would have to take beside the device for the published gain."""
    flash = FLASH_WRITE_US if writes else FLASH_READ_US
    tier = mean(flash / (1 + speed_gain(cell, writes=writes) / 100) for cell in CELLS)
    gain = 1 + (PUBLISHED_WRITES if writes else PUBLISHED_READS) / 100
    return (flash - gain * tier) / (gain - 1)


def _calculated() -> list[Answer]:
    """What printed counts and costs come to."""
    reads = mean(speed_gain(cell, writes=False) for cell in CELLS)
    return [
        Answer(
            round(gain, 1),
            verdict=NOT_JUDGED,
            why=CHECK + "a page takes 500 or 64 us to write, 25 or 3.2 us to read, the NVM takes "
            "the share that table 4.3 prints; mean of 11 applications, one machine",
            part=f"{kind}-calculated",
            claim=f"speed of {kind} gained, from the printed counts and costs",
            published=published,
        )
        for kind, gain, published in (
            ("writes", _writes_calculated(), PUBLISHED_WRITES),
            ("reads", reads, PUBLISHED_READS),
        )
    ]


def _gains(number: int, flash: Outcome, tier: Outcome) -> list[Answer]:
    gain, saved = _gain(flash, tier), 100 * (1 - tier.energy_pj / flash.energy_pj)
    return [
        Answer(
            round(gain, 1),
            verdict=NOT_JUDGED,
            why=f"{100 * tier.absorbed / tier.written:.0f} % of writes go to the NVM, a share that "
            "our files and rounds set, and the gain follows from it; printed counts and costs come "
            f"to {_writes_calculated():.0f} %, and the published gain needs "
            f"{_software_us(writes=True):.0f} us a write beside the device, which no cost names"
            if number == 1
            else "the thesis prints no figure, it says that the gain stays: an order, on another "
            f"set-up; here {100 * tier.absorbed / tier.written:.0f} % of writes go to the NVM, and "
            "machines write in turn",
            part="" if number == 1 else f"{number}-guests",
            claim=None if number == 1 else f"the same with {number} machines at once",
            published=None if number == 1 else "a gain",
        ),
        Answer(
            round(saved, 1),
            verdict=NOT_JUDGED,
            why="another measure: of writes alone, collection and erases included, requests of "
            "metadata as short as they are; table 4.5 is of reads and writes, all as long as the "
            "mean",
            part=f"energy-{number}",
            claim=f"energy of writes saved, machines at once: {number}",
            published=PUBLISHED_ENERGY[number],
            where="table 4.5",
        ),
    ]


def _reads(quick: bool) -> Answer:
    """Of a guest that reads."""
    recording = _one_guest(READING, quick)
    flash, tier = _played(recording, ""), _played(recording, "class")
    return Answer(
        round(_gain(flash, tier, READ), 1),
        verdict=NOT_JUDGED,
        why=f"{100 * tier.read_absorbed / tier.read:.0f} % of blocks read come from the NVM, by "
        f"table 4.3 {mean(100 * cell.nvm_reads / cell.reads for cell in CELLS):.0f} % of requests: "
        f"which files a guest reads is ours ({READING.reads} in 14 operations read a whole one; "
        "caches are cold each round); the published gain needs "
        f"{_software_us(writes=False):.0f} us a read beside the device, which no cost names",
        part="reads",
        claim="read speed gained by metadata in the NVM, one machine",
        published=PUBLISHED_READS,
    )


@experiment(
    "IC-13",
    claim="write speed gained by metadata in the NVM, one machine",
    published=PUBLISHED_WRITES,
    unit="%",
    where="figure 4.13",
    setup=SETUP,
)
def write_speed(quick: bool) -> Report:
    """Speed and energy of writes with their real lengths, one to three guests."""
    pairs = {
        number: (_played(recording, ""), _played(recording, "class"))
        for number, recording in _recordings(quick).items()
    }
    answers = [
        answer for number, (flash, tier) in pairs.items() for answer in _gains(number, flash, tier)
    ]
    rows: list[list[Value]] = [
        [
            number,
            flash.served_ns[WRITE] // 1000,
            tier.served_ns[WRITE] // 1000,
            round(_gain(flash, tier), 1),
            round(100 * (1 - tier.energy_pj / flash.energy_pj), 1),
        ]
        for number, (flash, tier) in pairs.items()
    ]
    columns = ["guests", "flash alone, us", "with NVM, us", "faster, %", "energy saved, %"]

    def draw(axes: "Axes") -> None:
        names = [f"{number} guests" if number > 1 else "1 guest" for number in pairs]
        series = {
            "flash alone": [flash.served_ns[WRITE] / 1e6 for flash, _ in pairs.values()],
            "metadata in the NVM": [tier.served_ns[WRITE] / 1e6 for _, tier in pairs.values()],
        }
        plots.grouped(axes, names, series)
        axes.set_ylabel("time of all writes, ms")
        axes.legend(fontsize=7)

    return Report([*answers, _reads(quick), *_calculated()], columns, rows, draw)


def updates_absorbed(recording: Recording) -> float:
    """Percent of all blocks written that had been written before and go to the NVM."""
    updates = sum(recording.updates[name] for name in IN_NVM)
    return 100 * updates / sum(recording.all_counts.values())


@experiment(
    "IC-14",
    claim="writes to blocks already written that the NVM absorbs, of all writes, one machine",
    published=PUBLISHED_ABSORBED,
    unit="%",
    where="figure 4.14",
    setup=SETUP + "; a block counts as written from its first write in the recording on",
)
def absorbed(quick: bool) -> Report:
    """How many blocks written went to the NVM again, and of which class all were."""
    recordings = _recordings(quick)
    outcomes = {number: _played(recording, "class") for number, recording in recordings.items()}
    shares = {number: updates_absorbed(recording) for number, recording in recordings.items()}
    rows: list[list[Value]] = [
        [number, classes.name(content), counts["written"], counts["nvm_written"]]
        for number, outcome in outcomes.items()
        for content, counts in enumerate(outcome.by_content)
        if counts["written"]
    ]
    of_all = [100 * outcome.absorbed / outcome.written for outcome in outcomes.values()]
    by_table = mean(100 * cell.nvm_writes / cell.writes for cell in CELLS)
    answers = [
        Answer(
            round(shares[1], 1),
            verdict=NOT_JUDGED,
            why=f"of all writes {of_all[0]:.0f} % go to the NVM, by table 4.3 {by_table:.0f} %; it "
            "hangs on how large files are and how many operations reach the disk together, which "
            f"is ours: here some 5 blocks a file, {HABITS.together} operations",
        ),
        *(
            Answer(
                round(updates_absorbed(_one_guest(habits, quick)), 1),
                verdict=NOT_JUDGED,
                why="as above: what our choice of files moves it to",
                part=f"files-{blocks}",
                claim=f"the same, blocks of a file in the mean: {blocks}",
                published=PUBLISHED_ABSORBED,
            )
            for blocks, habits in FILES.items()
        ),
        Answer(
            round(mean(shares.values()), 1),
            verdict=NOT_JUDGED,
            why="no Google Earth runs here: it is the traffic of the claim above again, mean of "
            f"{len(shares)} recordings",
            part="earth",
            claim="the same of Google Earth, mean of one to three machines",
            published=PUBLISHED_EARTH,
        ),
    ]
    draw = partial(_draw_absorbed, shares)
    return Report(answers, ["guests", "class", "written", "in the NVM"], rows, draw)


def _draw_absorbed(shares: dict[int, float], axes: "Axes") -> None:
    """Figure 4.14: by machines, with the two means that are printed."""
    names = [f"{number} guests" if number > 1 else "1 guest" for number in shares]
    plots.grouped(axes, [*names, "mean"], {"measured": [*shares.values(), mean(shares.values())]})
    told = {"11 applications": (0, PUBLISHED_ABSORBED), "Earth": (len(names), PUBLISHED_EARTH)}
    places, values = zip(*told.values(), strict=True)
    plots.printed(axes, places, values, f"printed: {', '.join(told)}")
    axes.set_ylim(0, 100)
    axes.set_ylabel("updates that the NVM absorbs, % of all writes")
    axes.legend(fontsize=7)


def _most(most: int, published: int, rounds: int) -> Answer:
    """Of the most written block: no more than there are rounds, which we choose."""
    return Answer(
        most,
        verdict=NOT_REACHABLE,
        why=f"a round writes a block once at most: {rounds} rounds are {rounds} writes of "
        f"{published} at most, and {published} rounds would make it {published} by construction",
        published=published,
    )


def size_again(recording: Recording) -> float:
    """Percent of all blocks written that are metadata written before."""
    again = sum(recording.updates[name] for name in METADATA)
    return 100 * again / sum(recording.all_counts.values())


def content_asked(recording: Recording, operations: int) -> float:
    """Blocks of content that each operation would have to write for the published share of size,
    with as much metadata as here."""
    again = sum(recording.updates[name] for name in METADATA)
    metadata = sum(sum(counts.values()) for counts in recording.counts.values())
    return (100 * again / PUBLISHED_SIZE - metadata) / operations


def _not_ours(measured: float, published: float, why: str) -> Answer:
    return Answer(round(measured, 2), verdict=NOT_JUDGED, why=why, published=published)


@experiment(
    "IC-7",
    claim="writes of the most written block of metadata, the host's",
    published=PUBLISHED_MOST[False],
    unit="writes",
    where="figure 4.7",
    setup="published: Facebook in Android in QEMU, 1.65 million writes of 512 B. Ours: " + TRAFFIC,
)
def most_written(quick: bool) -> Report:
    """How often single blocks of metadata are written again, and how much that is."""
    recording = _recordings(quick)[1]
    counts = recording.counts
    written = sum(recording.all_counts.values())
    most = {guest: max(counts[guest].values()) for guest in (False, True)}
    rounds = QUICK_ROUNDS if quick else ROUNDS
    other = {blocks: _one_guest(habits, quick) for blocks, habits in FILES.items()}
    means = [sum(one.all_counts.values()) / len(one.all_counts) for one in other.values()]
    sizes = [size_again(one) for one in other.values()]
    asked = content_asked(recording, rounds * HABITS.together)
    lengths = " and ".join(map(str, FILES))
    answers = [
        _most(most[False], PUBLISHED_MOST[False], rounds),
        replace(
            _most(most[True], PUBLISHED_MOST[True], rounds),
            part="guest",
            claim="the same of the guest's",
        ),
        replace(
            _not_ours(
                written / len(recording.all_counts),
                PUBLISHED_MEAN,
                f"{rounds} rounds and files of some 5 blocks are our choice: with files of "
                f"{lengths} blocks it is {means[0]:.2f} and {means[1]:.2f}",
            ),
            part="mean",
            claim="writes of a block, mean of all",
        ),
        replace(
            _not_ours(
                size_again(recording),
                PUBLISHED_SIZE,
                f"with files of {lengths} blocks it is {sizes[0]:.1f} and {sizes[1]:.1f} %; for "
                f"the printed share each operation would have to write {asked:.0f} blocks of "
                "content, 4 KB each: in the published run nearly all is data that is written once",
            ),
            part="size",
            claim="metadata written again, of all that is written",
            unit="%",
        ),
    ]
    rows: list[list[Value]] = [
        ["guest" if guest else "host", block, count]
        for guest in (False, True)
        for block, count in counts[guest].most_common(20)
    ]
    return Report(answers, ["whose", "block", "writes"], rows)
