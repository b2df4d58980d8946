# SPDX-License-Identifier: Apache-2.0
"""Goal: from the blocks of a disk alone, in whatever order they come, core/content tells what each
one is, exactly as dumpe2fs, debugfs and qemu-img do; formats, resizes and replays keep it right."""

import shutil
from pathlib import Path

import pytest

from bench.tier import judge
from lab.ext4_disks import (
    IMAGES,
    PRESENT,
    Hosted,
    Judged,
    answer,
    call,
    debug,
    differences,
    fill,
    gpt,
    make,
    mbr,
    show,
)
from nandwich._native import Content

pytestmark = pytest.mark.skipif(not PRESENT, reason="needs e2fsprogs (tools/setup test)")
needs_images = pytest.mark.skipif(not IMAGES, reason="needs qemu-img (tools/setup test)")

SHAPES = {
    "4k": ("600M", "-b", "4096"),
    "2k": ("140M", "-b", "2048"),
    "1k": ("90M", "-b", "1024"),
    "sparse_super2": ("90M", "-b", "1024", "-O", "sparse_super2,^resize_inode"),
    "sparse_super2 4k": ("600M", "-b", "4096", "-O", "sparse_super2"),
    "32bit": ("90M", "-b", "1024", "-O", "^64bit"),
    "64bit": ("90M", "-b", "1024", "-O", "64bit"),
    "meta_bg": ("300M", "-b", "1024", "-O", "meta_bg,^resize_inode"),
    "no flex_bg": ("90M", "-b", "1024", "-O", "^flex_bg"),
    "all copies": ("90M", "-b", "1024", "-O", "^sparse_super,^resize_inode"),
    "small inodes": ("90M", "-b", "1024", "-I", "128"),
    "no journal": ("90M", "-b", "4096", "-O", "^has_journal"),
}


def recogniser(disk: Path, images: int = 2) -> Content:
    size = disk.stat().st_size
    return Content(size, groups=512, images=images, clusters=32768, l1=2048)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_every_shape(tmp_path: Path, shape: tuple[str, ...]) -> None:
    disk = make(tmp_path / "disk.img", *shape)
    judged = Judged(disk)
    written = recogniser(disk)
    show(written, disk)
    assert differences(written, judged) == []
    # One that is asked about a disk it never saw written reads a few blocks.
    asked = recogniser(disk)
    assert answer(asked, disk) <= 8
    assert differences(asked, judged) == []
    assert written.refused == asked.refused == 0


def test_directories(tmp_path: Path) -> None:
    disk = make(tmp_path / "disk.img", "60M", "-b", "1024")
    fill(disk, tmp_path, 9, 100_000)
    names = "\n".join(f"write {tmp_path / 'content.bin'} d0/{'n' * 200}{i}" for i in range(12))
    debug(disk, names)
    content = recogniser(disk)
    show(content, disk)
    judged = Judged(disk)
    folders = {
        block
        for name in ("/", "d0", *(f"d{i}" for i in range(1, 9)), "lost+found")
        for block in judged.blocks(disk, name)
    }
    files = {block for i in range(9) for block in judged.blocks(disk, f"d{i}/file")}
    assert len(folders) > 20
    assert len(files) > 800
    with disk.open("rb") as device:
        for block in folders | files:
            device.seek(block * judged.block)
            data = device.read(judged.block)
            told = content.classify(block * judged.block, data)
            want = "directory" if block in folders else "data"
            assert told == (want, False, judged.block), block
            assert content.classify(block * judged.block)[0] == "data"


@pytest.mark.parametrize("sizes", [("90M", "40M"), ("20M", "200M")])
def test_resize(tmp_path: Path, sizes: tuple[str, str]) -> None:
    disk = make(tmp_path / "disk.img", sizes[0], "-b", "1024")
    fill(disk, tmp_path, 4, 200_000)
    call("truncate", "-s", "200M", disk)
    before = tmp_path / "before.img"
    content = recogniser(disk)
    show(content, disk)
    shutil.copy(disk, before)
    call("e2fsck", "-fy", disk)
    call("resize2fs", disk, sizes[1])
    show(content, disk, before=before)
    assert differences(content, Judged(disk)) == []


def test_format_over_another(tmp_path: Path) -> None:
    disk = make(tmp_path / "disk.img", "90M", "-b", "1024")
    content = recogniser(disk)
    show(content, disk)
    for options in (("-b", "4096"), ("-b", "2048", "-O", "^flex_bg"), ("-b", "2048")):
        before = tmp_path / "before.img"
        shutil.copy(disk, before)
        call("mke2fs", "-q", "-F", "-t", "ext4", *options, disk)
        show(content, disk, before=before)
        assert differences(content, Judged(disk)) == [], options


def test_no_file_system_any_more(tmp_path: Path) -> None:
    disk = make(tmp_path / "disk.img", "40M", "-b", "4096")
    content = recogniser(disk)
    show(content, disk)
    assert content.classify(4096)[0] == "descriptors"
    content.see(0, bytes(4096))
    assert content.classify(4096)[0] == "unknown"


@pytest.mark.parametrize("table", ["mbr", "gpt"])
def test_partitions(tmp_path: Path, table: str) -> None:
    first = make(tmp_path / "a.img", "40M", "-b", "1024")
    second = make(tmp_path / "b.img", "60M", "-b", "4096")
    sectors = 160 * 2048
    parts = ((2048, 40 * 2048), (2048 * 50, 60 * 2048))
    disk = tmp_path / "disk.img"
    call("truncate", "-s", "160M", disk)
    with disk.open("r+b") as file:
        file.write(mbr(*parts) if table == "mbr" else gpt(sectors, *parts))
    for part, (start, _) in zip((first, second), parts, strict=True):
        call("dd", f"if={part}", f"of={disk}", "bs=1M", f"seek={start // 2048}", "conv=notrunc")
    content = recogniser(disk)
    show(content, disk)
    for part, (start, _) in zip((first, second), parts, strict=True):
        assert differences(content, Judged(part), start * 512) == []
    assert content.classify(0) == ("partitions", False, 512)
    assert content.classify(1024)[0] == ("partitions" if table == "gpt" else "unknown")
    assert content.classify(2048 * 49 * 512)[0] == "unknown"  # between them
    # The table is written anew without the first one.
    content.see(0, mbr(parts[1]) if table == "mbr" else gpt(sectors, parts[1]))
    answer(content, disk)
    assert content.classify(2048 * 512 + 1024)[0] == "unknown"
    assert differences(content, Judged(second), parts[1][0] * 512) == []


GUESTS = {
    "4k in 4k": (["-b", "4096"], ["-b", "4096"], "65536"),
    "1k in 4k": (["-b", "1024"], ["-b", "4096"], "65536"),
    "4k in 1k": (["-b", "4096"], ["-b", "1024"], "65536"),
    "small clusters": (["-b", "4096"], ["-b", "4096"], "4096"),
    "large clusters": (["-b", "2048"], ["-b", "2048"], "2M"),
}


@needs_images
@pytest.mark.parametrize("shape", GUESTS.values(), ids=GUESTS.keys())
def test_guests(tmp_path: Path, shape: tuple[list[str], list[str], str]) -> None:
    hosted = Hosted(tmp_path, *shape)
    for shown in (True, False):
        content = recogniser(hosted.disk)
        if shown:
            show(content, hosted.disk)
        answer(content, hosted.disk)
        hosted.open_image(content)
        assert differences(content, Judged(hosted.disk)) == []
        wrong, metadata = hosted.differences(content)
        assert wrong == []
        assert metadata > 10


@needs_images
def test_guest_written_on(tmp_path: Path) -> None:
    """The guest's tables change, the image lies elsewhere, then it is gone."""
    hosted = Hosted(tmp_path, ["-b", "1024"], ["-b", "4096"], "65536")
    content = recogniser(hosted.disk)
    show(content, hosted.disk)
    hosted.open_image(content)
    before = tmp_path / "before.img"
    for size in ("24M", "64M"):
        shutil.copy(hosted.disk, before)
        make(hosted.guest, size, "-b", "2048", "-O", "^flex_bg")
        fill(hosted.guest, tmp_path, 3, 300_000)
        hosted.store()
        show(content, hosted.disk, before=before)
        hosted.open_image(content)
        assert hosted.differences(content)[0] == []
        assert differences(content, Judged(hosted.disk)) == []
    places = hosted.places(Judged(hosted.disk))
    shutil.copy(hosted.disk, before)
    debug(hosted.disk, "rm guest.qcow2")
    show(content, hosted.disk, before=before)
    assert not any(content.classify(place)[1] for place in places.values())


@needs_images
@pytest.mark.parametrize("between", [False, True], ids=["in order", "another is written first"])
def test_images_side_by_side(tmp_path: Path, between: bool) -> None:
    """Files in many stretches, whose inodes name a block of extents each: of those in one block of
    inodes the first alone was looked at, and none before one that was written meanwhile."""
    hosted = Hosted(tmp_path, ["-b", "4096"], ["-b", "4096"], "65536")
    debug(hosted.disk, "rm guest.qcow2")
    small = tmp_path / "small"
    small.write_bytes(b"content")
    names = ["first", "second", "guest.qcow2", *(f"small{i}" for i in range(16)), "last"]
    debug(hosted.disk, *(f"write {small if 'small' in one else hosted.image} {one}"
                         for one in names))  # fmt: skip
    assert " 1/ 1 " in call("debugfs", "-R", "ex guest.qcow2", hosted.disk)
    hosted.inode = "<14>"
    content = recogniser(hosted.disk)
    answer(content, hosted.disk)
    if between:
        table = min(b for b, name in Judged(hosted.disk).classes.items() if name == "inodes")
        with hosted.disk.open("rb") as disk:
            for place in (hosted.header(), (table + 1) * 4096):
                disk.seek(place)
                content.see(place, disk.read(4096))
        answer(content, hosted.disk)
    else:
        hosted.open_image(content)
    wrong, metadata = hosted.differences(content)
    assert wrong == []
    assert metadata > 10


@needs_images
def test_what_the_bench_counts(tmp_path: Path) -> None:
    """One that was shown nothing misses all; one that saw the disk misses nothing."""
    hosted = Hosted(tmp_path, ["-b", "4096"], ["-b", "4096"], "65536")
    content = recogniser(hosted.disk)
    missed, false, metadata, others = judge(content, hosted)
    assert missed == metadata > 100
    assert false == 0
    assert others > 20_000
    show(content, hosted.disk)
    hosted.open_image(content)
    assert judge(content, hosted) == (0, 0, metadata, others)


@needs_images
def test_journal_replay(tmp_path: Path) -> None:
    """A replay writes home what stood in the journal: here the inodes of an image's host."""
    hosted = Hosted(tmp_path, ["-b", "4096"], ["-b", "4096"], "65536")
    content = recogniser(hosted.disk)
    show(content, hosted.disk)
    hosted.open_image(content)
    table = min(b for b, name in Judged(hosted.disk).classes.items() if name == "inodes")
    block = tmp_path / "block.bin"
    with hosted.disk.open("rb") as disk:
        disk.seek(table * 4096)
        block.write_bytes(disk.read(4096))
    debug(hosted.disk, "rm guest.qcow2")  # at home it is gone, in the journal it is there
    before = tmp_path / "before.img"
    shutil.copy(hosted.disk, before)
    debug(hosted.disk, "jo", f"jw -b {table} {block}", "jc")
    show(content, hosted.disk, before=before)
    shutil.copy(hosted.disk, before)
    debug(hosted.disk, "jr")
    show(content, hosted.disk, before=before)
    hosted.open_image(content)
    wrong, metadata = hosted.differences(content)
    assert wrong == []
    assert metadata > 10


def _seen(disk: Path) -> Content:
    content = recogniser(disk)
    show(content, disk)
    return content


def _image(folder: Path, options: str, *host: str) -> Hosted:
    """A guest's image made with other options; a host's file system with others."""
    hosted = Hosted(folder, ["-b", "4096"], ["-b", "4096", *host], "65536")
    call("qemu-img", "convert", "-O", "qcow2", *options.split(), hosted.guest, hosted.image)
    debug(hosted.disk, "rm guest.qcow2", f"write {hosted.image} guest.qcow2")
    return hosted


@pytest.mark.parametrize("features", ["^extents", "extents"])
def test_a_journal_in_indirect_blocks_is_named(tmp_path: Path, features: str) -> None:
    """ext3's: its blocks passed as data, and nobody said so."""
    disk = make(tmp_path / "disk.img", "90M", "-b", "1024", "-O", f"{features},^64bit")
    content = _seen(disk)
    named = ["a journal without extents or on another device"]
    assert content.unknown == (named if features == "^extents" else [])
    wrong = {told for _, told, _ in differences(content, Judged(disk))}
    assert wrong == ({"journal"} if features == "^extents" else set())


NOT_KNOWN = {
    "compressed clusters": ("-c", ()),
    "an image with clusters of 512 bytes": ("-o cluster_size=512", ()),
    "an image with a data file": ("-o data_file={}/data", ()),
    "an image in a file with indirect blocks": ("", ("-O", "^extents,^64bit,^has_journal")),
}


@needs_images
@pytest.mark.parametrize("name", NOT_KNOWN)
def test_what_is_not_known_is_named(tmp_path: Path, name: str) -> None:
    options, host = NOT_KNOWN[name]
    hosted = _image(tmp_path, options.format(tmp_path), *host)
    content = _seen(hosted.disk)
    hosted.open_image(content)
    assert content.unknown == [name]


@needs_images
def test_extended_l2(tmp_path: Path) -> None:
    """Entries of two words: every second one passed for another cluster's."""
    hosted = _image(tmp_path, "-o extended_l2=on,cluster_size=16384")  # three of them
    content = _seen(hosted.disk)
    hosted.open_image(content)
    assert content.unknown == []
    wrong, metadata = hosted.differences(content)
    assert wrong == []
    assert metadata > 10


@needs_images
def test_an_encrypted_image_is_named(tmp_path: Path) -> None:
    """Its header says LUKS; QEMU takes time to make a key, and now and then fails at it."""
    hosted = Hosted(tmp_path, ["-b", "4096"], ["-b", "4096"], "65536")
    with hosted.image.open("r+b") as image:
        image.seek(32)
        image.write((2).to_bytes(4, "big"))
    debug(hosted.disk, "rm guest.qcow2", f"write {hosted.image} guest.qcow2")
    content = _seen(hosted.disk)
    hosted.open_image(content)
    assert content.unknown == ["an encrypted image"]


@needs_images
def test_snapshots_are_named(tmp_path: Path) -> None:
    hosted = Hosted(tmp_path, ["-b", "4096"], ["-b", "4096"], "65536")
    call("qemu-img", "snapshot", "-c", "first", hosted.image)
    debug(hosted.disk, "rm guest.qcow2", f"write {hosted.image} guest.qcow2")
    content = _seen(hosted.disk)
    hosted.open_image(content)
    assert content.unknown == ["tables of snapshots"]


def test_logical_partitions_are_named(tmp_path: Path) -> None:
    disk = tmp_path / "disk.img"
    disk.write_bytes(mbr((2048, 2048), kind=5).ljust(1 << 20, b"\0"))
    assert _seen(disk).unknown == ["logical partitions"]


def test_numbers_out_of_range() -> None:
    for wrong in ({"volumes": 0}, {"groups": 0}, {"groups": 2_000_000}, {"clusters": 0}):
        with pytest.raises(ValueError, match="out of range"):
            Content(1 << 30, **wrong)
    host = Content(64 << 30, images=0, volumes=1, groups=512, extents=64)
    assert host.ram_bytes < 32_000
