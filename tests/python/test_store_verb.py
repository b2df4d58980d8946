# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE ...` as a user meets it."""

import json
import os
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich import _native
from nandwich.cli.main import main
from nandwich.store import image as store_image

Run = Callable[..., Result]

pytestmark = [pytest.mark.quick, pytest.mark.asan]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "mote.nand"
    store_image.format_image(path, "TC58DVG02A1FT00", 64, None)
    return path


@pytest.fixture
def run(image: Path) -> Run:
    def call(*words: str, input: bytes | None = None) -> Result:
        return CliRunner().invoke(main, ["store", str(image), *words], input=input)

    return call


def test_all_names_in_use(tmp_path: Path) -> None:
    """Goal: the refusal says that names ran out, not room, and what to do; once of bytes."""
    words = ["store", str(tmp_path / "small.nand")]

    def call(*more: str) -> Result:
        return CliRunner().invoke(main, [*words, *more])

    small = ("--chip", "TC58DVG02A1FT00", "--blocks", "64", "--layout", "3,8,0,16")
    assert call("format", *small).exit_code == 0
    for name in "abc":
        assert call("create", name, "queue").exit_code == 0
    refused = call("create", "d", "queue")
    assert refused.exit_code == 1
    assert "all 3 names are in use; nothing was changed (rm frees one" in refused.stderr
    assert "--layout has up to 60" in refused.stderr


def test_room_that_ran_out_is_not_told_as_names(tmp_path: Path) -> None:
    """Goal: a file too large for the store is refused for its bytes. The name that it was about to
    take was counted, and the refusal said that all names were in use, also of a replaced file."""
    words = ["store", str(tmp_path / "small.nand")]

    def call(*more: str, input: bytes | None = None) -> Result:
        return CliRunner().invoke(main, [*words, *more], input=input)

    small = ("--chip", "TC58DVG02A1FT00", "--blocks", "64", "--layout", "3,8,0,16")
    assert call("format", *small).exit_code == 0
    for name in "ab":
        assert call("create", name, "queue").exit_code == 0
    for first in (True, False):
        refused = call("put", "c", input=bytes(9_000_000))
        assert refused.exit_code == 1
        assert "names are in use" not in refused.stderr
        assert "3 of 3 objects in use; nothing was changed" in refused.stderr
        assert not first or call("put", "c", "--text", "small").exit_code == 0
    assert call("get", "c").stdout == "small"


def test_the_image_is_no_file_to_put_into_itself(run: Run, image: Path) -> None:
    """Goal: the refusal names the mistake; it said that the image would overwrite the image."""
    before = image.read_bytes()
    refused = run("put", "notes", str(image))
    assert refused.exit_code == 2
    assert f"{image} is the image itself, which this would overwrite" in refused.stderr
    assert image.read_bytes() == before


def test_the_folder_of_the_image_is_no_place_to_show_it(run: Run, tmp_path: Path) -> None:
    """Goal: the first save would wait for the mount it comes from, for ever."""
    for folder in (tmp_path, tmp_path.parent):
        refused = run("mount", str(folder))
        assert refused.exit_code == 2
        assert "choose another folder" in refused.stderr


@pytest.mark.parametrize("text", ["", "é", "\udcff", "a\udc80\udcfe", "\n"])
def test_a_text_is_the_bytes_that_were_typed(run: Run, text: str) -> None:
    """Bytes that are no UTF-8 ended in an internal error (UnicodeEncodeError)."""
    assert run("put", "note", "--text", text).exit_code == 0
    assert run("get", "note").stdout_bytes == os.fsencode(text)


def test_files_come_back_whole_and_are_replaced(run: Run, tmp_path: Path) -> None:
    """Goal: put and get of more than a block, by file and by pipe; the second put wins."""
    data = bytes(i * 7 % 251 for i in range(50_000))
    (tmp_path / "in").write_bytes(data)
    assert run("put", "photo", str(tmp_path / "in")).exit_code == 0
    assert run("get", "photo", str(tmp_path / "out")).exit_code == 0
    assert (tmp_path / "out").read_bytes() == data
    assert run("put", "photo", input=b"short").exit_code == 0
    assert run("get", "photo").stdout_bytes == b"short"
    assert run("put", "empty", input=b"").exit_code == 0
    assert run("get", "empty").stdout_bytes == b""


def test_a_stream_grows_and_is_read_from_a_tag(run: Run) -> None:
    run("create", "log", "stream", "--unit", "1")
    run("append", "log", "--text", "one ")
    place = run("tag", "log").stdout.strip()
    run("append", "log", "--text", "two ")
    run("append", "log", input=b"three")
    assert run("seek", "log", place).stdout == "two three"
    assert run("get", "log").stdout == "one two three"
    assert run("seek", "log", "x").exit_code == 2
    assert "'x' is no place" in run("seek", "log", "x").stderr
    for place in ("99:0", "0:99999", "99999999999:0"):
        wrong = run("seek", "log", place)
        assert (wrong.exit_code, "no place" in wrong.stderr) == (2, True)


def test_tags_are_kept_in_the_store(run: Run) -> None:
    """Goal: a stream-index over several commands, a tag set anew, and each mistake with a reason
    of its own: exhausted, never set, no tags, no stream."""
    run("create", "log", "stream", "--unit", "1")
    run("create", "marks", "tags", "--count", "3")
    for number, text in enumerate(("one ", "two ", "three ")):
        assert run("tag", "log", str(number), "--in", "marks").exit_code == 0
        run("append", "log", "--text", text)
    assert run("seek", "log", "1", "--in", "marks").stdout == "two three "
    run("tag", "log", "1", "--in", "marks")
    run("append", "log", "--text", "four")
    assert run("seek", "log", "1", "--in", "marks").stdout == "four"
    assert run("seek", "log", "0", "--in", "marks").stdout == "one two three four"
    run("create", "more", "tags", "--count", "1")
    run("create", "jobs", "queue")
    mistakes = {
        "marks has no tag 3: they are 0 to 2": ("tag", "log", "3", "--in", "marks"),
        "marks has no tag x": ("seek", "log", "x", "--in", "marks"),
        "tag 0 in more was never set": ("seek", "log", "0", "--in", "more"),
        "jobs holds no tags": ("tag", "log", "0", "--in", "jobs"),
        "jobs is of type queue, not stream": ("tag", "jobs", "0", "--in", "marks"),
        "a tag is a NUMBER --in TAGS": ("tag", "log", "0"),
        "tags need --count": ("create", "few", "tags"),
        "unit of their own": ("create", "few", "tags", "--count", "3", "--unit", "4"),
    }
    for reason, words in mistakes.items():
        wrong = run(*words)
        assert (wrong.exit_code, reason in wrong.stderr) == (2, True), wrong.stderr


def test_an_object_that_cannot_be_is_refused_with_the_reason(run: Run) -> None:
    mistakes = {
        "an array needs --unit": ("array", "--count", "3"),
        "--count is for arrays": ("queue", "--count", "3"),
        "--expendable is for streams": ("file", "--expendable"),
        "--unit is not for a stack": ("stack", "--unit", "4"),
        "unit or count too large": ("stream", "--unit", "5448"),  # no element would fit
    }
    for reason, words in mistakes.items():
        wrong = run("create", "x", *words)
        assert (wrong.exit_code, reason in wrong.stderr) == (2, True), wrong.stderr


def test_a_long_stream_is_appended_on_small_blocks(tmp_path: Path) -> None:
    """Goal: what is more than a third of a block goes in by pieces."""
    words = ["store", str(tmp_path / "mote.nor")]
    call = CliRunner().invoke
    assert call(main, [*words, "format", "--chip", "W25Q128JV", "--blocks", "64"]).exit_code == 0
    assert call(main, [*words, "create", "log", "stream", "--unit", "3"]).exit_code == 0
    data = bytes(i * 5 % 256 for i in range(9000))
    assert call(main, [*words, "append", "log"], input=data).exit_code == 0
    assert call(main, [*words, "get", "log"]).stdout_bytes == data


def test_a_file_grows(run: Run) -> None:
    run("put", "notes", "--text", "one ")
    run("append", "notes", "--text", "two")
    assert run("get", "notes").stdout == "one two"
    assert "7 B" in run("ls").stdout
    assert run("tag", "notes").exit_code == 2


def test_names_change_and_may_be_any_bytes(run: Run) -> None:
    """Goal: mv over another object and to a new name; a name that is no text is shown, and found
    by the same bytes."""
    run("put", "new", "--text", "new")
    run("put", "notes", "--text", "old")
    assert run("mv", "new", "notes").exit_code == 0
    assert run("get", "notes").stdout == "new"
    assert run("get", "new").exit_code == 2
    odd = b"odd\xff".decode(errors="surrogateescape")
    assert run("mv", "notes", odd).exit_code == 0
    assert "odd\\xff" in run("ls").stdout
    assert run("get", odd).stdout == "new"
    assert run("mv", odd, "x" * 33).exit_code == 2
    assert run("mv", odd, "").exit_code == 2


def test_a_name_of_several_lines_is_told_in_one(run: Run) -> None:
    """A newline in an object's name made two errors of one, the second without a beginning."""
    two = "two\nlines"
    run("put", two, "--text", "new")
    for refused in (run("get", two, "--key", "1"), run("get", "other\nname"), run("pop", two)):
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
        assert "two\\nlines" in refused.stderr


def test_stacks_and_queues_give_their_ends(run: Run) -> None:
    run("create", "jobs", "queue")
    run("create", "undo", "stack")
    for name in ("jobs", "undo"):
        for word in ("a", "b", "c"):
            run("push", name, "--text", word)
    assert [run("pop", "jobs").stdout for _ in range(3)] == ["a", "b", "c"]
    assert [run("pop", "undo").stdout for _ in range(3)] == ["c", "b", "a"]
    for data in (b"", bytes(5448)):
        wrong = run("push", "jobs", input=data)
        assert (wrong.exit_code, "has 1 to 5447 B" in wrong.stderr) == (2, True)
    assert run("push", "undo", input=bytes(5447)).exit_code == 0
    empty = run("pop", "jobs")
    assert (empty.exit_code, empty.stderr) == (1, "nandwich: error: jobs is empty\n")


def test_arrays_take_values_of_their_unit(run: Run) -> None:
    run("create", "levels", "array", "--unit", "4", "--count", "10")
    assert run("set", "levels", "9", "--text", "abcd").exit_code == 0
    assert run("get", "levels", "--key", "9").stdout == "abcd"
    wrong = run("set", "levels", "9", "--text", "abc")
    assert wrong.exit_code == 2
    assert "takes values of 4 B, not 3" in wrong.stderr
    assert "levels has no key 10: they are 0 to 9" in run("get", "levels", "--key", "10").stderr
    assert "levels has no key 10" in run("set", "levels", "10", "--text", "abcd").stderr
    unset = run("get", "levels", "--key", "0")
    assert (unset.exit_code, "no value under key 0" in unset.stderr) == (2, True)
    assert run("create", "sparse", "array", "--unit", "4", "--count", "4000000000").exit_code == 0
    assert run("set", "sparse", "70000", "--text", "abcd").exit_code == 0
    assert "0 elements lost" in run("fsck").stderr
    assert run("create", "x", "array", "--unit", "4", "--count", "99999999999").exit_code == 2
    assert "cannot hold" in run("create", "x", "file", "--unit", "5000").stderr


def test_rollback_undoes_what_came_after(run: Run) -> None:
    run("put", "notes", "--text", "before")
    assert run("checkpoint").stdout == "1\n"
    run("put", "notes", "--text", "after")
    run("put", "more", "--text", "x")
    assert run("rollback").exit_code == 0
    assert run("get", "notes").stdout == "before"
    assert run("get", "more").exit_code == 2
    missing = run("rollback", "7")
    assert (missing.exit_code, "no checkpoint 7 (kept: 1)" in missing.stderr) == (2, True)
    assert run("drop", "7").exit_code == 2
    assert run("drop", "1").exit_code == 0
    assert "no checkpoint is kept" in run("rollback").stderr


def test_compact_moves_an_object(run: Run) -> None:
    """Goal: all chunks of the object named go to the end of the log, each still readable."""
    run("create", "log", "stream")
    for i in range(20):
        run("append", "log", "--text", f"element {i} " * 20)
    before = run("get", "log").stdout
    done = run("compact", "log")
    assert (done.exit_code, "20 chunks of log moved" in done.stderr) == (0, True)
    assert run("get", "log").stdout == before
    assert run("compact").exit_code == 0
    assert run("compact", "nothing").exit_code == 2
    run("create", "sparse", "array", "--unit", "4", "--count", "4294967295")
    run("set", "sparse", "4294967294", "--text", "abcd")
    assert "1 chunks of sparse moved" in run("compact", "sparse").stderr
    assert "2 objects read, 0 elements lost" in run("fsck").stderr


def test_a_chip_that_no_store_fits_is_refused(run: Run) -> None:
    for words, said in (
        (("--chip", "PCM-16M"), "PCM-16M: not a flash chip"),
        (("--blocks", "65536"), "at most 65535 blocks"),
        (("--chip", "K9WAG08U1A"), "at most 16383 blocks"),
    ):
        refused = run("format", "--force", *words)
        assert (refused.exit_code, said in refused.stderr) == (2, True)


def test_json_keeps_its_schema(run: Run) -> None:
    run("put", "notes", "--text", "x")
    run("checkpoint")
    for words in (("ls",), ("info",), ("fsck",)):
        found = json.loads(run(*words, "--json", "-").stdout)
        validate("store-1", found)
    info = json.loads(run("info", "--json", "-").stdout)
    assert (info["checkpoints"], [one["name"] for one in info["objects"]]) == ([1], ["notes"])
    assert info["spent"]["energy_pj"] > 0


def test_reading_leaves_the_image_as_it_is(run: Run, image: Path) -> None:
    run("put", "notes", "--text", "x")
    before = image.read_bytes()
    for words in (("ls",), ("info",), ("fsck",), ("dump",), ("get", "notes")):
        assert run(*words).exit_code == 0
    assert image.read_bytes() == before
    assert run("get", "nothing").exit_code == 2
    assert run("push", "notes", "--text", "x").exit_code == 2
    assert image.read_bytes() == before


def test_a_chip_that_takes_no_program_any_more_is_read(run: Run, image: Path) -> None:
    """Goal: a look needs no block of its own: it once failed as a mount does."""
    run("put", "notes", "--text", "x")
    nand = _native.Nand.load(str(image))
    for block in range(64):
        nand.doom(block, in_program=True)
    nand.save(str(image))
    assert run("put", "notes", "--text", "y").exit_code == 1
    assert run("get", "notes").stdout == "x"
    assert run("fsck").exit_code == 0


def test_fsck_names_what_is_damaged(run: Run, image: Path) -> None:
    """Goal: one bit flipped for good in the middle of a stream: that element is told, with its
    page, and the others are still read."""
    run("create", "log", "stream")
    for i in range(8):
        run("append", "log", "--text", f"element {i} " * 40)
    assert run("fsck").exit_code == 0
    nand = _native.Nand.load(str(image))
    hit = [
        page
        for page in range(64 * 32)
        if nand.page_programs[page] and b"element 5 " * 9 in nand.fork().read(page, 0, 512)[1]
    ]
    for page in hit:  # copies that cleaning left behind too
        nand.flip(page, nand.fork().read(page, 0, 512)[1].index(b"element 5") * 8)
    nand.save(str(image))
    found = run("fsck", "--json", "-")
    (damage,) = json.loads(found.stdout)["damages"]
    assert found.exit_code == 1
    assert (damage["name"], damage["element"]) == ("log", 5)
    assert damage["page"] in {one for page in hit for one in (page, page - 1)}  # its beginning
    assert "1 elements lost" in found.stderr


def test_damage_in_what_a_mount_replays_never_shortens_a_file(run: Run, image: Path) -> None:
    """Goal: one unreadable page of what came since the last anchor: the file keeps its length, fsck
    names the blocks it hit and no others, get fails."""
    ecc = image.with_name("ecc.nand")
    ecc_run = partial(CliRunner().invoke, main)
    whole = image.with_name("5k")
    whole.write_bytes(bytes(range(250)) * 20)
    for words in (("format", "--blocks", "64", "--ecc"), ("put", "f", str(whole))):
        assert ecc_run(["store", str(ecc), *words]).exit_code == 0
    nand = _native.Nand.load(str(ecc))
    for bit in (800, 808):  # beyond the code
        nand.flip(36, bit)
    nand.save(str(ecc))
    found = ecc_run(["store", str(ecc), "fsck", "--json", "-"])
    report = json.loads(found.stdout)
    assert found.exit_code == 1
    assert report["lost_in_mount"] > 0
    assert {(one["name"], one["page"]) for one in report["damages"]} == {("f", 36)}
    assert 1 <= len(report["damages"]) <= 2
    listed = ecc_run(["store", str(ecc), "ls", "--json", "-"])
    assert [one["length"] for one in json.loads(listed.stdout)["objects"]] == [5000]
    assert f"{ecc}: damage was met in the log; fsck tells what it has hit" in listed.stderr
    assert ecc_run(["store", str(ecc), "get", "f", str(image.with_name("back"))]).exit_code == 1


def test_dump_shows_every_chunk_as_the_spec_says(run: Run, image: Path) -> None:
    """Goal: docs/spec-store.md is enough to find all that was written, checksums included; damage
    shows."""
    run("create", "log", "stream")
    for i in range(25):
        run("append", "log", "--text", f"element {i:02} " * 8)
    run("create", "levels", "array", "--unit", "8", "--count", "99")
    run("set", "levels", "98", "--text", "12345678")
    run("put", "gone", "--text", "x")
    run("rm", "gone")
    run("put", "here", "--text", "y")
    lines = run("dump").stdout.splitlines()
    assert any("data of slot 2 (deleted)" in line and "key 0: 78" in line for line in lines)
    assert any("data of here" in line and "key 0: 79" in line for line in lines)
    assert [line for line in lines if "DAMAGED" in line or "kind " in line] == []
    last = {}
    for line in lines:
        words = line.split()
        if words[1:4] in (["data", "of", "log"], ["moved", "of", "log"]):
            last[int(words[words.index("key") + 1].rstrip(":"))] = bytes.fromhex(
                line.split(": ")[1].removesuffix(" ...")
            )
    for i in range(25):
        assert last[i] == f"element {i:02} eleme".encode()
    assert any("data of levels" in line and "key 98: 31 32 33 34" in line for line in lines)
    assert any("node of log" in line for line in lines)
    assert sum("anchor" in line for line in lines) > 25  # one for each mount at least
    nand = _native.Nand.load(str(image))
    sevens = [line.split()[0] for line in lines if "of log" in line and "key 7:" in line]
    page, offset = map(int, sevens[0].split("+"))
    nand.flip(page, (offset + 20) * 8)
    nand.save(str(image))
    (damaged,) = [line for line in run("dump").stdout.splitlines() if "DAMAGED" in line]
    assert f"{page}+{offset}" in damaged


def test_an_image_in_use_is_refused(run: Run, image: Path) -> None:
    with store_image.opened(image):
        busy = run("put", "notes", "--text", "x")
    assert (busy.exit_code, "in use" in busy.stderr) == (1, True)
    assert run("put", "notes", "--text", "x").exit_code == 0


def test_a_store_that_a_device_made_is_opened(tmp_path: Path) -> None:
    """Goal: however a device set its store up, over a code or not, its anchor tells; what the
    command writes the device reads."""
    path = tmp_path / "device.nand"
    layouts: list[dict[str, Any]] = [
        {"checkpoints": 1},
        {"objects": 5, "name_bytes": 7, "fan": 8},
        {"objects": 3, "ecc": True},
    ]
    for layout in layouts:
        nand = _native.Nand.open(_native.Part.named("TC58DVG02A1FT00"), blocks=64)
        device = _native.Store(nand, **layout)
        device.format()
        device.push(device.create("jobs", "queue"), b"from a device")
        device.sync()
        nand.save(str(path))
        popped = CliRunner().invoke(main, ["store", str(path), "pop", "jobs"])
        assert (popped.exit_code, popped.stdout) == (0, "from a device")
        CliRunner().invoke(main, ["store", str(path), "push", "jobs", "--text", "back"])
        nand = _native.Nand.load(str(path))
        device = _native.Store(nand, **layout)
        device.mount()
        assert device.dequeue(device.find("jobs")) == b"back"


def test_a_store_of_another_format_or_geometry_is_refused(tmp_path: Path) -> None:
    """Goal: which format, and what of the geometry, is said."""
    path = tmp_path / "other.nand"
    nand = _native.Nand.open(_native.Part.named("W25Q128JV"), blocks=64)
    _native.Store(nand).format()
    first = [nand.read(page, 0, 256)[1] for page in range(16)]
    larger = _native.Nand.open(_native.Part.named("W25Q128JV"), blocks=65)
    for page, data in enumerate(first):
        larger.program(page, data)
    larger.save(str(path))
    refused = CliRunner().invoke(main, ["store", str(path), "ls"])
    assert (refused.exit_code, "blocks 64, the chip's 65" in refused.stderr) == (2, True)
    newer = _native.Nand.open(_native.Part.named("W25Q128JV"), blocks=64)
    number = first[0][1] + 1
    head = first[0][:1] + bytes([number]) + first[0][2:20]
    newer.program(0, head + (zlib.crc32(head) ^ 0xFFFFFFFF).to_bytes(4, "little"))
    newer.save(str(path))
    refused = CliRunner().invoke(main, ["store", str(path), "ls"])
    assert (refused.exit_code, f"a store of format {number}" in refused.stderr) == (2, True)


def test_format_as_a_device_is_set_up(tmp_path: Path) -> None:
    """Goal: --layout and --ecc; with a code a flipped bit is repaired and counted."""
    path = tmp_path / "mote.nand"

    def call(*words: str) -> Result:
        return CliRunner().invoke(main, ["store", str(path), *words])

    for layout in ("1,2", "x,12,0,16", "61,12,0,16", "8,33,0,16", "8,12,4,16", "8,12,0,17"):
        assert call("format", "--layout", layout).exit_code == 2
    assert call("format", "--blocks", "64", "--layout", "2,5,0,16", "--ecc").exit_code == 0
    assert call("put", "notes", "--text", "precious" * 10).exit_code == 0
    too_long = call("put", "notes2", "--text", "x")
    assert (too_long.exit_code, "a name has 1 to 5 bytes" in too_long.stderr) == (2, True)
    assert "keep no checkpoints" in call("checkpoint").stderr
    nand = _native.Nand.load(str(path))
    for page in range(64 * 32):
        if nand.page_programs[page] and (at := nand.fork().read(page, 0, 512)[1].find(b"prec")) > 0:
            nand.flip(page, at * 8)
    nand.save(str(path))
    assert call("get", "notes").stdout == "precious" * 10
    checked = call("fsck").stderr
    assert "0 elements lost" in checked
    assert " 0 bits repaired" not in checked
    assert call("create", "jobs", "queue").exit_code == 0
    full = call("create", "more", "queue")
    assert (full.exit_code, "all 2 names are in use" in full.stderr) == (1, True)


def test_what_is_no_store_is_refused(run: Run, image: Path, tmp_path: Path) -> None:
    """Goal: an existing image, a missing one, one without a store, no image at all, too few
    blocks: each with its reason and exit code 2."""
    wrong = {
        "exists": ["store", str(image), "format"],
        "No such file": ["store", str(tmp_path / "none"), "ls"],
        "did you mean": ["store", str(tmp_path / "new"), "format", "--chip", "TC58DVG02A1FT0"],
        "cannot hold": ["store", str(tmp_path / "new"), "format", "--chip", "W25Q128JV"],
    }
    (tmp_path / "text").write_text("no image")
    wrong["text"] = ["store", str(tmp_path / "text"), "ls"]
    _native.Nand.open(_native.Part.named("W25Q128JV"), blocks=64).save(str(tmp_path / "raw"))
    wrong["no store on this chip"] = ["store", str(tmp_path / "raw"), "ls"]
    wrong["cannot hold"] += ["--blocks", "16"]
    for reason, words in wrong.items():
        result = CliRunner().invoke(main, words)
        assert (result.exit_code, reason in result.stderr) == (2, True), result.stderr
    assert run("format", "--force").exit_code == 0


def test_a_full_store_says_so_and_stays_readable(run: Run) -> None:
    run("put", "kept", "--text", "precious")
    full = run("put", "big", input=bytes(2_000_000))
    assert (full.exit_code, "full: " in full.stderr) == (1, True)
    assert run("get", "kept").stdout == "precious"
    assert run("get", "big").exit_code == 2
