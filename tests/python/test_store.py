# SPDX-License-Identifier: Apache-2.0
"""The object store through its binding: every call once, errors with their numbers, a power cut,
and the targets of the bench."""

from pathlib import Path

import pytest

from bench import _store_page
from lab import discovery
from lab.benches import Bench, found_pages
from lab.peers import WORKS, Counts, NotMeasuredError, Shape
from nandwich import _native
from nandwich.store import dump

NOT_FOUND, RANGE, EXISTS, NAME, TYPE, TAG = -18, -3, -22, -23, -21, -24


@pytest.fixture
def nand() -> _native.Nand:
    return _native.Nand.open(_native.Part.named("TC58DVG02A1FT00"), blocks=64)


@pytest.fixture
def store(nand: _native.Nand) -> _native.Store:
    made = _native.Store(nand, checkpoints=2)
    made.format()
    return made


def error_of(caught: pytest.ExceptionInfo[RuntimeError]) -> int:
    number: int = caught.value.args[0]
    return number


@pytest.mark.quick
@pytest.mark.asan
def test_lists_give_back_what_they_took(store: _native.Store) -> None:
    stack, queue = store.create("stack", "stack"), store.create("queue", "queue")
    for i in range(300):
        store.push(stack, b"s%d" % i)
        store.push(queue, b"q%d" % i)
    assert [store.pop(stack) for _ in range(3)] == [b"s299", b"s298", b"s297"]
    assert [store.dequeue(queue) for _ in range(3)] == [b"q0", b"q1", b"q2"]
    assert store.peek(queue, 3) == b"q3"
    about = {one["name"]: (one["type"], one["head"], one["tail"]) for one in store.objects()}
    assert about == {"stack": ("stack", 0, 297), "queue": ("queue", 3, 300)}


@pytest.mark.quick
@pytest.mark.asan
def test_a_stream_is_read_both_ways_and_from_a_tag(store: _native.Store) -> None:
    stream = store.create("log", "stream", unit_bytes=4)
    readings = [i.to_bytes(4, "little") for i in range(500)]
    for i in range(0, 500, 25):
        store.append(stream, b"".join(readings[i : i + 25]))
        store.sync()
    cursor = store.first(stream)
    found = b""
    while piece := store.next(cursor, 48):
        if len(found) == 0:
            tag = (cursor.chunk, cursor.offset)
        found += piece
    assert found == b"".join(readings)
    assert (
        store.next(store.seek(stream, *tag), 4)
        == readings[len(store.next(store.first(stream), 48)) // 4]
    )
    cursor = store.last(stream)
    assert [store.previous(cursor) for _ in range(3)] == readings[:-4:-1]


@pytest.mark.quick
@pytest.mark.asan
def test_a_stream_index_finds_its_tags_again(nand: _native.Nand, store: _native.Store) -> None:
    """Goal: places under tags, after a power-up too; a tag beyond the last, one never set, a place
    dropped since, and an array of other values are told apart."""
    stream = store.create("log", "stream", unit_bytes=1)
    marks = store.create("marks", "array", unit_bytes=_native.STORE_TAG_BYTES, count=10)
    other = store.create("other", "array", unit_bytes=8, count=10)
    for i in range(9):
        store.tag(marks, i, store.last(stream))
        store.append(stream, b"%d" % i * 1000)
        store.sync()
    again = _native.Store(nand, checkpoints=2)
    again.mount()
    for i in range(9):
        assert again.next(again.tagged(marks, i, stream), 3) == b"%d" % i * 3
    again.trim(stream, again.tagged(marks, 1, stream).chunk + 1)
    for array, tag, error in (
        (marks, 10, TAG),
        (marks, 9, NOT_FOUND),
        (marks, 0, NOT_FOUND),
        (other, 0, TYPE),
        (stream, 0, TYPE),
    ):
        with pytest.raises(_native.StoreError) as caught:
            again.tagged(array, tag, stream)
        assert error_of(caught) == error
    with pytest.raises(_native.StoreError) as caught:
        again.tag(marks, 10, again.last(stream))
    assert error_of(caught) == TAG


@pytest.mark.quick
@pytest.mark.asan
def test_an_array_and_its_errors(store: _native.Store) -> None:
    array = store.create("levels", "array", unit_bytes=8, count=100)
    store.set(array, 99, b"12345678")
    assert store.get(array, 99) == b"12345678"
    for wrong, key, error in ((b"123", 0, RANGE), (b"12345678", 100, RANGE)):
        with pytest.raises(_native.StoreError) as caught:
            store.set(array, key, wrong)
        assert error_of(caught) == error
    with pytest.raises(_native.StoreError) as caught:
        store.get(array, 5)
    assert error_of(caught) == NOT_FOUND


@pytest.mark.quick
@pytest.mark.asan
def test_an_array_behind_a_free_slot(store: _native.Store) -> None:
    """Goal: what an empty slot leaves unsaid is not taken for the array's size."""
    first = store.create("first", "array", unit_bytes=4, count=10)
    array = store.create("levels", "array", unit_bytes=8, count=10)
    store.delete(first)
    for key in range(10):
        store.set(array, key, b"12345678")
        assert store.get(array, key) == b"12345678"


@pytest.mark.quick
@pytest.mark.asan
def test_a_file_is_changed_anywhere(store: _native.Store) -> None:
    file = store.create("notes", "file", unit_bytes=100)
    assert store.write(file, 0, bytes(range(250))) == 250
    store.write(file, 95, b"across")
    store.sync()
    store.truncate(file, 200)
    right = bytearray(range(200))
    right[95:101] = b"across"
    assert store.length(file) == 200
    assert store.read(file, 0) == bytes(right)
    assert store.read(file, 190, 100) == bytes(right[190:])
    assert store.read(file, 200) == b""
    with pytest.raises(_native.StoreError) as caught:
        store.write(file, 201, b"a hole")
    assert error_of(caught) == RANGE


@pytest.mark.quick
@pytest.mark.asan
def test_each_mistake_has_its_error(store: _native.Store) -> None:
    store.create("one", "stack")
    mistakes = (
        (lambda: store.find("two"), NOT_FOUND),
        (lambda: store.create("one", "queue"), EXISTS),
        (lambda: store.create("a name too long", "queue"), NAME),
        (lambda: store.append(store.find("one"), b"x"), TYPE),
        (lambda: store.rollback(), NOT_FOUND),
    )
    for call, error in mistakes:
        with pytest.raises(_native.StoreError) as caught:
            call()
        assert error_of(caught) == error
        assert caught.value.args[1] == _native.error_text(error)
    with pytest.raises(ValueError, match="unknown type heap"):
        store.create("two", "heap")
    with pytest.raises(ValueError, match="not mounted"):
        _native.Store(_native.Nand.open(_native.Part.named("TC58DVG02A1FT00"), blocks=64)).sync()


@pytest.mark.quick
@pytest.mark.asan
def test_rollback_brings_back_what_a_checkpoint_saw(store: _native.Store) -> None:
    stack = store.create("stack", "stack")
    store.push(stack, b"first")
    number = store.checkpoint()
    store.push(stack, b"second")
    store.delete(stack)
    assert store.kept() == [number]
    store.rollback(number)
    assert store.pop(store.find("stack")) == b"first"
    store.drop(number)
    assert store.kept() == []


@pytest.mark.quick
@pytest.mark.asan
def test_compaction_goes_on_from_the_key_it_told(store: _native.Store) -> None:
    stream = store.create("log", "stream")
    for i in range(10):
        store.append(stream, b"%d" % i)
    assert [store.compact(stream, key, 4) for key in (0, 4, 8, 10)] == [
        (4, 4),
        (4, 8),
        (2, 10),
        (0, 10),
    ]
    assert store.stats["moved"] == 10
    cursor = store.first(stream)
    assert [store.next(cursor) for _ in range(10)] == [b"%d" % i for i in range(10)]


@pytest.mark.quick
@pytest.mark.asan
def test_a_code_below_repairs_a_flipped_bit() -> None:
    nand = _native.Nand.open(_native.Part.named("TC58DVG02A1FT00"), blocks=64)
    store = _native.Store(nand, ecc=True)
    store.format()
    stack = store.create("stack", "stack")
    store.push(stack, bytes(range(200)))
    store.sync()
    programmed = [page for page, count in enumerate(nand.page_programs) if count > 0]
    for page in programmed:
        nand.flip(page, 100)
    again = _native.Store(nand, ecc=True)
    again.mount()
    assert again.pop(again.find("stack")) == bytes(range(200))
    assert again.stats["corrected"] > 0


@pytest.mark.asan
def test_what_was_synced_survives_a_cut(nand: _native.Nand, store: _native.Store) -> None:
    stream = store.create("log", "stream")
    for i in range(50):
        store.append(stream, b"%d" % i)
        store.sync()
    nand.cut(0, "inside")
    store.append(stream, b"lost or not")
    with pytest.raises(_native.StoreError):
        store.sync()
    nand.power_up()
    again = _native.Store(nand, checkpoints=2)
    again.mount()
    cursor = again.first(again.find("log"))
    assert [again.next(cursor) for _ in range(50)] == [b"%d" % i for i in range(50)]
    assert nand.misuse is None


@pytest.mark.asan
@pytest.mark.parametrize("read_ahead", [False, True])
def test_what_is_torn_behind_it_does_not_hide_a_deletion(read_ahead: bool) -> None:
    """Goal: reading ahead over a code, a mount does not lose good chunks to a torn program behind
    them in the same page."""

    def over(nand: _native.Nand) -> _native.Store:
        return _native.Store(nand, fan=8, checkpoints=2, read_ahead=read_ahead, ecc=True)

    for number in range(12):
        nand = _native.Nand.open(_native.Part.named("TC58DVG02A1FT00"), blocks=32)
        store = over(nand)
        store.format()
        for name in ("a", "b", "c", "d", "e", "f"):
            store.create(name, "stack")
        for _ in range(number):
            store.checkpoint()
        store.delete(store.find("f"))
        nand.cut(0, "inside")
        with pytest.raises(_native.StoreError):
            store.checkpoint()
        nand.power_up()
        again = over(nand)
        again.mount()
        assert [one["name"] for one in again.objects()] == ["a", "b", "c", "d", "e"]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of docs/store-cost.md that the bench writes to."""
    copy = tmp_path / "page.md"
    copy.write_bytes(_store_page.PAGE.read_bytes())
    monkeypatch.setattr("bench._store_page.PAGE", copy)
    return copy


def test_the_targets_are_reached(monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    """`nandwich bench store`: ours meets every target, and docs/store-cost.md has our rows as they
    are now. (If not, `nandwich bench store --page docs/figures/bench.md` writes them.)"""
    shown = page.read_text().splitlines()

    def others(shape: Shape) -> list[Counts]:
        return [Counts("other", shape.name, work, 1, 1, 1, 1, 1) for work in WORKS]

    monkeypatch.setattr("lab.peers.measure", others)
    (bench,) = (one for one in discovery.collect("bench", Bench) if one.name == "store")
    figures = bench.run()
    assert sum(one.target is not None for one in figures) == 16
    ecc = {one.name: one.value for one in figures if ".ecc." in one.name}
    assert 6 < ecc["store.nand-512.ecc.read-back.energy"] < 6.6  # whole units of 256 bytes
    sealed = {one.name: one.value for one in figures if ".sealed." in one.name}
    assert 12 < sealed["store.nand-512.sealed.append.energy"] < 13  # a tag of 12 bytes more
    assert [one for one in figures if not one.ok] == []
    written = found_pages.pop(page).splitlines()
    assert sum("| other |" in line for line in written) == 3
    assert [line for line in written if line not in shown and "| other |" not in line] == []


@pytest.mark.quick
def test_without_the_others_the_page_stays(
    monkeypatch: pytest.MonkeyPatch, page: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`nandwich bench store` where peers cannot be had says so and writes no page."""

    def refuse(shape: object) -> None:
        raise NotMeasuredError("not in this test")

    before = page.read_bytes()
    monkeypatch.setattr("lab.peers.measure", refuse)
    monkeypatch.setattr("bench.store.ours", lambda shape, **_: [])
    (bench,) = (one for one in discovery.collect("bench", Bench) if one.name == "store")
    bench.run()
    assert "nor-256: peers not measured (not in this test)" in capfd.readouterr().err
    assert page not in found_pages
    assert page.read_bytes() == before


@pytest.mark.quick
def test_dump_reads_either_header(nand: _native.Nand, store: _native.Store) -> None:
    """Goal: the reader that knows none of the store's code shows the same with one of a block's two
    headers damaged, as docs/spec-store.md says."""
    queue = store.create("queue", "queue")
    for i in range(40):
        store.push(queue, b"element %d" % i)
    store.sync()
    names = {(0, 1): "queue"}
    whole = list(dump.lines(nand, names))
    reader = dump.Reader(nand)
    for block in reader.blocks:
        for page in range(2):
            for bit in range(0, 24 * 8, 3):
                damaged = nand.fork()
                damaged.flip(block.number * reader.block_pages + page, bit)
                assert list(dump.lines(damaged, names)) == whole
