# SPDX-License-Identifier: Apache-2.0
"""IC-13, IC-14, IC-7: guests' metadata in a little NVM, on traffic recorded with real tools.

Chen, PhD thesis, PolyU 2016, chapter 4: 16 MB of PCM that writes a 64 B line in 1 us, flash of
chapter 3. How the traffic is made, and what it has not: _guest.py. Nothing is read in it, so the
published gain of reads (12.48 %) is not tried.
"""

from typing import TYPE_CHECKING

from lab.experiments import Answer, Report, Value, experiment
from lab.ext4_disks import IMAGES, METADATA, PRESENT
from nandwich import plots
from nandwich.errors import RunError
from nandwich.replay import classes
from papers.tiering import _guest, _phone
from papers.tiering._guest import Outcome, Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GUESTS = (1, 2, 3)
ROUNDS, TOGETHER = 20, 4
QUICK_ROUNDS = 5
BLOCKS = 600  # of the chip
PUBLISHED_WRITES, PUBLISHED_ENERGY, PUBLISHED_ABSORBED = 45.21, 44.99, 67.03
LEAST_ABSORBED = 67
#: What a hint calls metadata.
IN_NVM = (*sorted(METADATA), "image", "partitions")


def _recordings(quick: bool) -> dict[int, Recording]:
    if not (PRESENT and IMAGES):
        raise RunError("e2fsprogs or qemu-utils is missing; `nandwich doctor` tells how to get it")
    guests, rounds = ((1,), QUICK_ROUNDS) if quick else (GUESTS, ROUNDS)
    return {number: _guest.record(number, rounds, TOGETHER) for number in guests}


def _played(recording: Recording, tier: str) -> Outcome:
    return _guest.replay(recording, _phone.part(_phone.Model(blocks=BLOCKS)), tier)


def _gain(flash: Outcome, tier: Outcome) -> float:
    """Percent of speed."""
    return 100 * (flash.served_ns / tier.served_ns - 1)


@experiment(
    "IC-13",
    claim="write speed gained by metadata in the NVM, one machine",
    published=PUBLISHED_WRITES,
    unit="%",
)
def write_speed(quick: bool) -> Report:
    """Speed and energy of writes with their real lengths, one to three guests."""
    pairs = {
        number: (_played(recording, ""), _played(recording, "class"))
        for number, recording in _recordings(quick).items()
    }
    answers = []
    rows: list[list[Value]] = []
    for number, (flash, tier) in pairs.items():
        gain, saved = _gain(flash, tier), 100 * (1 - tier.energy_pj / flash.energy_pj)
        answers += [
            Answer(
                round(gain, 1),
                holds=gain > 0,
                why="holds when it gains at all: by the stated costs a page takes 64 us instead of "
                "500, and the published gain does not follow from them",
                part="" if number == 1 else f"{number}-guests",
                claim=None if number == 1 else f"the same with {number} machines at once",
                published=None if number == 1 else "holds too",
            ),
            Answer(
                round(saved, 1),
                holds=saved > 0,
                why="of operations, requests of metadata as short as they are",
                part=f"energy-{number}",
                claim=f"energy of writes saved, machines at once: {number}",
                published=PUBLISHED_ENERGY if number == 1 else "46",
            ),
        ]
        rows.append([number, flash.served_ns // 1000, tier.served_ns // 1000, round(gain, 1),
                     round(saved, 1)])  # fmt: skip
    columns = ["guests", "flash alone, us", "with NVM, us", "faster, %", "energy saved, %"]

    def draw(axes: "Axes") -> None:
        names = [f"{number} guests" if number > 1 else "1 guest" for number in pairs]
        series = {
            "flash alone": [flash.served_ns / 1e6 for flash, _ in pairs.values()],
            "metadata in the NVM": [tier.served_ns / 1e6 for _, tier in pairs.values()],
        }
        plots.grouped(axes, names, series)
        axes.set_ylabel("time of all writes, ms")
        axes.legend(fontsize=7)

    return Report(answers, columns, rows, draw)


@experiment(
    "IC-14",
    claim="writes that the NVM absorbs, of all writes, one machine",
    published=PUBLISHED_ABSORBED,
    unit="%",
)
def absorbed(quick: bool) -> Report:
    """How many sectors written went to the NVM, and of which class they were."""
    recordings = _recordings(quick)
    outcomes = {number: _played(recording, "class") for number, recording in recordings.items()}
    answers = []
    rows: list[list[Value]] = []
    for number, outcome in outcomes.items():
        share = 100 * outcome.absorbed / outcome.written
        answers.append(
            Answer(
                round(share, 1),
                holds=share >= LEAST_ABSORBED,
                why=f"holds at {LEAST_ABSORBED} %; hangs on how large files are and how many "
                "operations reach the disk together: here some 5 blocks a file, 4 operations",
                part="" if number == 1 else f"{number}-guests",
                claim=None if number == 1 else f"the same, machines at once: {number}",
                published=None if number == 1 else "about the same",
            )
        )
        updates = recordings[number].updates
        share = 100 * sum(updates[name] for name in IN_NVM) / sum(updates.values())
        answers.append(
            Answer(
                round(share, 1),
                holds=share >= LEAST_ABSORBED,
                why=f"holds at {LEAST_ABSORBED} %; of blocks that were written before",
                part=f"updates-{number}",
                claim=f"updates that the NVM absorbs, of all updates, machines at once: {number}",
                published="not given",
            )
        )
        for content, counts in enumerate(outcome.by_content):
            if counts["written"]:
                name = classes.name(content)
                rows.append([number, name, counts["written"], counts["nvm_written"]])

    alone = _played(_guest.record(1, QUICK_ROUNDS if quick else ROUNDS, 1), "class")
    answers.append(
        Answer(
            round(100 * alone.absorbed / alone.written, 1),
            holds=100 * alone.absorbed / alone.written >= LEAST_ABSORBED,
            why="as with a program that syncs after each change",
            part="each-alone",
            claim="of all writes, one machine, when each operation goes to the disk by itself",
            published="not given",
        )
    )

    def draw(axes: "Axes") -> None:
        last = max(outcomes)
        shares = [row for row in rows if row[0] == last]
        series = {"to flash or NVM": [float(row[2]) for row in shares],
                  "of these to the NVM": [float(row[3]) for row in shares]}  # fmt: skip
        plots.grouped(axes, [str(row[1]).replace(" ", "\n") for row in shares], series)
        axes.tick_params(axis="x", labelsize=7)
        axes.set_ylabel(f"sectors written, {last} guests" if last > 1 else "sectors written")
        axes.legend(fontsize=7)

    return Report(answers, ["guests", "class", "written", "in the NVM"], rows, draw)


@experiment(
    "IC-7",
    claim="writes of the most written metadata block over the mean of all blocks, host's",
    published="143 / 1.41",
    unit="times",
)
def most_written(quick: bool) -> Report:
    """How often single blocks of metadata are written again."""
    recording = _recordings(quick)[1]
    mean = sum(recording.all_counts.values()) / len(recording.all_counts)
    most = {guest: max(recording.counts[guest].values()) for guest in (False, True)}
    answers = [
        Answer(
            f"{most[guest]} / {mean:.2f}",
            holds=most[guest] > 2 * mean,
            why="holds above twice the mean: each time operations reach the disk the same few "
            "blocks are written; the published run was longer",
            part="guest" if guest else "",
            claim="the same of the guest's" if guest else None,
            published="103 / 1.41" if guest else None,
        )
        for guest in (False, True)
    ]
    rows: list[list[Value]] = [
        ["guest" if guest else "host", block, count]
        for guest in (False, True)
        for block, count in recording.counts[guest].most_common(20)
    ]
    return Report(answers, ["whose", "block", "writes"], rows)
