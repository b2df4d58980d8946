# SPDX-License-Identifier: Apache-2.0
"""IC-grow: which of a guest's metadata is told right while its image grows, by flag and without.

Chen, PhD thesis, PolyU 2016, chapter 4: the virtual machine knows a guest's blocks by their virtual
address before it gives them a cluster, and passes one bit with each request. The recogniser below
the host knows neither; what it is told too late it tells again. How the traffic is made:
papers/tiering/_growth.py.
"""

from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment
from lab.ext4_disks import IMAGES, PRESENT
from nandwich.errors import RunError
from papers.tiering import _growth
from papers.tiering._growth import Growth, Shape, Told

ROUNDS, QUICK_ROUNDS = 10, 4
SHAPES = {
    "4k": Shape(),
    "1k": Shape(block=1024),
    "synced": Shape(cluster=4096, idle=True, synced=True),
}
#: Percent of a guest's metadata that is to be right after one correction at most.
ASKED = 99
NAMES = {
    "4k": "blocks of 4 KiB",
    "1k": "blocks of 1 KiB",
    "synced": "blocks of 4 KiB, clusters of 4 KiB, QEMU flushing after each write, the superblock "
    "last, time to read after each",
}


def share(part: int, told: Told) -> float:
    """Percent of the metadata that was written."""
    return 100 * part / told.written


def _of_shape(name: str, growth: Growth) -> list[Answer]:
    told, wrong = growth.all, growth.rest_wrong
    later = share(told.later, told)
    enough = later >= ASKED and told.often == 0 and told.false == 0 and wrong == 0
    return [
        Answer(
            round(later, 2),
            holds=enough,
            must_hold=True,
            tolerance=f"at least {ASKED} %, each piece corrected once at most, none that is no "
            "metadata taken for it, all right at rest",
            why=f"{told.often} pieces were corrected more than once, {told.false} others told to "
            f"be metadata; at rest {wrong} of {growth.rest_metadata} are wrong",
            part="" if name == "4k" else name,
            claim="guest's metadata written to a growing image that is told right after one "
            f"correction at most: {NAMES[name]}",
        ),
        Answer(
            round(share(told.flagged, told), 2),
            verdict=NOT_JUDGED,
            why="the thesis gives no figure; the machine reads superblock and descriptors as they "
            "are written, so what a guest's mkfs writes before them has no flag: "
            f"{share(growth.made.flagged, growth.made):.0f} % then, "
            f"{share(growth.filled.flagged, growth.filled):.0f} % afterwards; nothing corrects it",
            part=f"{name}-flag",
            claim=f"the same by the flag that the machine passes, with the write: {NAMES[name]}",
        ),
        Answer(
            round(share(growth.filled.at_once, growth.filled), 2),
            verdict=NOT_JUDGED,
            why="a new cluster comes before the entry of L2 that tells of it; the share is that of "
            "writes to clusters known before, which files and rounds set; "
            f"{share(growth.made.at_once, growth.made):.0f} % while the file system is made",
            part=f"{name}-at-once",
            claim=f"the same by the recogniser, with the write, file system made: {NAMES[name]}",
        ),
    ]


@experiment(
    "IC-grow",
    claim="guest's metadata told right while its image grows",
    unit="%",
    where="docs/papers/codesign.md",
    setup=f"mke2fs, then {ROUNDS} rounds (a quick run {QUICK_ROUNDS}, of the first alone) of six "
    "files of half a MiB in the mean, each in a new folder, without flex_bg, in a guest's ext4 of "
    "96 MiB; a qcow2 of clusters of 64 KiB that begins empty, a flush at the end of a round; "
    "writes to its file in QEMU's order (blklogwrites); that file grows on a host's ext4 of 4 KiB, "
    "whose inode and bitmaps are written behind the round's data; counted in pieces of 1 KiB, the "
    "zeros that QEMU fills clusters with among them; no journal, no kernel",
)
def growing(quick: bool) -> Report:
    """By shape: told at once, by the flag, and after what is told again."""
    if not (PRESENT and IMAGES):
        raise RunError("e2fsprogs or qemu-utils is missing; `nandwich doctor` tells how to get it")
    shapes = {"4k": SHAPES["4k"]} if quick else SHAPES
    grown = {
        name: _growth.grow(shape, QUICK_ROUNDS if quick else ROUNDS)
        for name, shape in shapes.items()
    }
    answers = [answer for name, growth in grown.items() for answer in _of_shape(name, growth)]
    rows: list[list[Value]] = [
        [name, when, told.written, told.at_once, told.flagged, told.later, told.often, told.false]
        for name, growth in grown.items()
        for when, told in (("made", growth.made), ("filled", growth.filled))
    ]
    columns = ["shape", "while it is", "written", "at once", "flag", "later", "often", "false"]
    return Report(answers, columns, rows)
