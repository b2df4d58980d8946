# SPDX-License-Identifier: Apache-2.0
"""The object store through the binding, driven by Hypothesis against a plain model: all objects,
checkpoints, cuts in calls and mounts, failing blocks, flipped bits within and beyond the code."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nandwich import _native

pytestmark = pytest.mark.asan

POWER, NOT_FOUND, FULL, ECC, CORRUPT = -10, -18, -15, -9, -16
TORN = ("any", "old", "new", "half", "mostly_old", "mostly_new")
BLOCKS, BLOCK_PAGES = 32, 8
UNIT = 60  # bytes of a file's block
KEYS, RING = 20, 6
#: name: type, unit, count.
KINDS = {
    "stack": ("stack", 0, 0),
    "queue": ("queue", 0, 0),
    "stream": ("stream", 0, 0),
    "ring": ("stream", 0, RING),
    "array": ("array", 8, KEYS),
    "file": ("file", UNIT, 0),
}
LISTS = ("stack", "queue", "stream", "ring")

#: What objects hold: elements; values by key, empty if never set; a file's blocks.
Objects = dict[str, tuple[bytes, ...]]


class State(NamedTuple):
    """Objects now, and as each kept checkpoint, by its number, saw them, oldest first."""

    objects: Objects
    kept: tuple[tuple[int, Objects], ...] = ()
    serial: int = 0

    def shows(self, objects: Objects, kept: list[int]) -> bool:
        return self.objects == objects and [number for number, _ in self.kept] == kept

    def brief(self) -> str:
        """Each element's first four bytes, as a number, and its length."""
        parts = [
            f"{name}: "
            + " ".join(f"{int.from_bytes(one[:4], 'little')}/{len(one)}" for one in items)
            for name, items in sorted(self.objects.items())
        ]
        return f"{'; '.join(parts)}; kept {[number for number, _ in self.kept]}"


def chip(seed: int) -> _native.Nand:
    part = _native.Part.named("TC58DVG02A1FT00")
    part.set("block_pages", str(BLOCK_PAGES))
    return _native.Nand.open(part, blocks=BLOCKS, seed=seed)


def blocks_of(data: bytes) -> tuple[bytes, ...]:
    return tuple(data[at : at + UNIT] for at in range(0, len(data), UNIT))


def number_of(error: _native.StoreError) -> int:
    number: int = error.args[0]
    return number


class StoreModel(RuleBasedStateMachine):
    """Goal: after any work, cut anywhere, the store shows one of the states since the last durable
    one, whole; damage is told, never passed off as data."""

    @initialize(seed=st.integers(0, 9), ecc=st.booleans())
    def start(self, seed: int, ecc: bool) -> None:
        self.nand, self.ecc = chip(seed), ecc
        self.store = self.fresh(self.nand)
        self.store.format()
        self.state = State({})
        #: What a cut now may leave.
        self.may: list[State] = [self.state]
        #: Everything an object ever held, by name and place (of elements: one place).
        self.ever: set[tuple[str, int, bytes]] = set()
        self.written = self.doomed = 0
        self.flipped: set[tuple[int, int, int]] = set()
        for name in KINDS:
            self.make(name)

    def fresh(self, nand: _native.Nand) -> _native.Store:
        return _native.Store(
            nand, objects=len(KINDS), fan=8, checkpoints=2, read_ahead=True, ecc=self.ecc
        )

    # What is there

    def item(self, get: Callable[[], bytes], damaged: list[int]) -> bytes:
        """One element; where damage may be, its error is noted instead."""
        try:
            return get()
        except _native.StoreError as error:
            if number_of(error) == NOT_FOUND:
                return b""
            damaged.append(number_of(error))
            return b""

    def read_object(
        self, store: _native.Store, about: dict[str, object], damaged: list[int]
    ) -> tuple[bytes, ...]:
        name, handle = str(about["name"]), int(str(about["handle"]))
        if name == "array":
            gets = [lambda key=key: store.get(handle, key) for key in range(KEYS)]
        elif name == "file":
            length = store.length(handle)
            gets = [
                lambda at=at: store.read(handle, at, min(UNIT, length - at))
                for at in range(0, length, UNIT)
            ]
        elif name in ("stream", "ring") and not damaged:
            return self.read_stream(store, handle, damaged)
        else:
            head, tail = int(str(about["head"])), int(str(about["tail"]))
            gets = [lambda key=key: store.peek(handle, key) for key in range(head, tail)]
        return tuple(self.item(get, damaged) for get in gets)

    def read_stream(
        self, store: _native.Store, handle: int, damaged: list[int]
    ) -> tuple[bytes, ...]:
        cursor = store.first(handle)
        found: list[bytes] = []
        while piece := self.item(lambda: store.next(cursor), damaged):
            found.append(piece)
        return tuple(found)

    def contents(self, store: _native.Store, damaged: list[int]) -> Objects:
        return {
            str(about["name"]): self.read_object(store, about, damaged) for about in store.objects()
        }

    # What happens

    def come_back(self) -> None:
        """Power is there again: some state since the last durable one, and it stays."""
        self.nand.power_up()
        self.store = self.fresh(self.nand)
        self.store.mount()
        damaged: list[int] = []
        found, kept = self.contents(self.store, damaged), self.store.kept()
        assert damaged == []
        fitting = [one for one in self.may if one.shows(found, kept)]
        shown = State(found, tuple((number, {}) for number in kept))
        assert fitting, "\n".join(one.brief() for one in (shown, *self.may))
        self.state = fitting[-1]
        self.may = [self.state]

    def remember(self, objects: Objects) -> None:
        for name, items in objects.items():
            for place, item in enumerate(items):
                self.ever.add((name, 0 if name in LISTS else place, item))

    def was(self, name: str, place: int, item: bytes) -> bool:
        """Whether that was ever there; of a file's block the start, for its length may be older."""
        if name == "file":
            blocks = [was for one, at, was in self.ever if (one, at) == (name, place)]
            return any(was.startswith(item) for was in blocks)
        return (name, 0 if name in LISTS else place, item) in self.ever

    def run(
        self, call: Callable[[], object], *after: State, durable: bool = False
    ) -> object | None:
        """A call that goes through the states `after`; None when there was no room, or no power."""
        before = len(self.may)
        self.may += after
        for state in after:
            self.remember(state.objects)
        try:
            answer = call()
        except _native.StoreError as error:
            if self.nand.is_off:
                self.come_back()
                return None
            if number_of(error) != FULL:
                raise
            del self.may[before:]
            return None
        if after:
            self.state = after[-1]
        if durable:
            self.may = [self.state]
        if self.nand.is_off:
            self.come_back()
            return None
        return answer

    def with_object(self, name: str, items: tuple[bytes, ...]) -> State:
        return self.state._replace(objects={**self.state.objects, name: items})

    def fresh_data(self, size: int) -> bytes:
        self.written += 1
        return (self.written.to_bytes(4, "little") * (size // 4 + 1))[:size]

    def has(self, name: str) -> bool:
        return name in self.state.objects

    def make(self, name: str) -> None:
        kind, unit, count = KINDS[name]
        empty = (b"",) * KEYS if name == "array" else ()
        self.run(
            lambda: self.store.create(name, kind, unit_bytes=unit, count=count),
            self.with_object(name, empty),
            durable=True,
        )

    @rule(name=st.sampled_from(sorted(KINDS)))
    def create_or_delete(self, name: str) -> None:
        if not self.has(name):
            self.make(name)
            return
        rest = {one: items for one, items in self.state.objects.items() if one != name}
        self.run(
            lambda: self.store.delete(self.store.find(name)),
            self.state._replace(objects=rest),
            durable=True,
        )

    @rule(name=st.sampled_from(LISTS), sizes=st.lists(st.integers(4, 600), min_size=1, max_size=30))
    def put(self, name: str, sizes: list[int]) -> None:
        for size in sizes:
            if not self.has(name):
                return
            data = self.fresh_data(size)
            items = (*self.state.objects[name], data)
            handle = self.store.find(name)
            put = self.store.append if name in ("stream", "ring") else self.store.push
            kept = items[-RING:] if name == "ring" else items
            self.run(partial(put, handle, data), self.with_object(name, kept))

    @rule(name=st.sampled_from(("stack", "queue")), count=st.integers(1, 20))
    def take(self, name: str, count: int) -> None:
        for _ in range(count):
            items = self.state.objects.get(name, ())
            if not items:
                return
            call = self.store.pop if name == "stack" else self.store.dequeue
            handle = self.store.find(name)
            right, rest = (items[-1], items[:-1]) if name == "stack" else (items[0], items[1:])
            found = self.run(partial(call, handle), self.with_object(name, rest))
            assert found in (None, right)

    @rule(keys=st.lists(st.integers(0, KEYS - 1), min_size=1, max_size=40))
    def set_values(self, keys: list[int]) -> None:
        for key in keys:
            if not self.has("array"):
                return
            handle, value = self.store.find("array"), self.fresh_data(8)
            items = self.state.objects["array"]
            after = self.with_object("array", (*items[:key], value, *items[key + 1 :]))
            self.run(partial(self.store.set, handle, key, value), after)

    @rule(where=st.integers(0, 100), size=st.integers(1, 400))
    def write(self, where: int, size: int) -> None:
        """Anywhere up to the end; a cut may leave the first blocks of it."""
        if not self.has("file"):
            return
        old, data = b"".join(self.state.objects["file"]), self.fresh_data(size)
        at = where * len(old) // 100
        ends = [*range(at // UNIT * UNIT + UNIT, at + size, UNIT), at + size]
        steps = [old[:at] + data[: end - at] + old[end:] for end in ends]
        handle = self.store.find("file")
        after = [self.with_object("file", blocks_of(step)) for step in steps]
        done = self.run(lambda: self.store.write(handle, at, data), *after)
        if done is not None and done != size:
            cut = old[:at] + data[: int(str(done))] + old[at + int(str(done)) :]
            self.state = self.with_object("file", blocks_of(cut))

    @rule(percent=st.integers(0, 100))
    def truncate(self, percent: int) -> None:
        if self.has("file"):
            old = b"".join(self.state.objects["file"])
            size, handle = percent * len(old) // 100, self.store.find("file")
            after = self.with_object("file", blocks_of(old[:size]))
            self.run(lambda: self.store.truncate(handle, size), after)

    @rule()
    def checkpoint(self) -> None:
        objects, kept, serial = self.state
        after = State(objects, (*kept[-1:], (serial + 1, objects)), serial + 1)
        self.run(self.store.checkpoint, after, durable=True)

    @precondition(lambda self: self.state.kept)
    @rule(newest=st.booleans())
    def rollback(self, newest: bool) -> None:
        number, objects = self.state.kept[-1 if newest else 0]
        after = self.state._replace(objects=objects)
        self.run(partial(self.store.rollback, number), after, durable=True)

    @precondition(lambda self: self.state.kept)
    @rule(newest=st.booleans())
    def drop(self, newest: bool) -> None:
        kept = self.state.kept
        number, _ = kept[-1 if newest else 0]
        after = self.state._replace(kept=kept[:-1] if newest else kept[1:])
        self.run(partial(self.store.drop, number), after, durable=True)

    @rule()
    def sync(self) -> None:
        self.run(self.store.sync, self.state, durable=True)

    @rule(budget=st.integers(1, 200))
    def idle(self, budget: int) -> None:
        self.run(lambda: self.store.idle(budget))

    @rule(name=st.sampled_from(sorted(KINDS)))
    def compact(self, name: str) -> None:
        key, moved = 0, 1
        while moved and self.has(name):
            handle = self.store.find(name)
            answer = self.run(partial(self.store.compact, handle, key, 20))
            if not isinstance(answer, tuple):
                return
            moved, key = answer

    # What goes wrong

    @rule()
    def remount(self) -> None:
        self.come_back()

    @rule(
        after=st.integers(0, 40),
        phase=st.sampled_from(("before", "inside", "after")),
        data=st.sampled_from(TORN),
        spare=st.sampled_from(TORN),
    )
    def arm_cut(self, after: int, phase: str, data: str, spare: str) -> None:
        self.nand.cut(after, phase, data=data, spare=spare)

    @rule(after=st.integers(0, 200), phase=st.sampled_from(("before", "inside", "after")))
    def cut_mount(self, after: int, phase: str) -> None:
        self.nand.power_up()
        self.nand.cut(after, phase)
        try:
            self.fresh(self.nand).mount()
        except _native.StoreError as error:
            if number_of(error) != POWER:
                raise
        self.come_back()

    @rule(block=st.integers(0, BLOCKS - 1), in_program=st.booleans())
    def doom(self, block: int, in_program: bool) -> None:
        if self.doomed < 2:
            self.doomed += 1
            self.nand.doom(block, in_program)

    def programmed(self) -> list[int]:
        return [page for page, count in enumerate(self.nand.page_programs) if count > 0]

    @precondition(lambda self: self.ecc)
    @rule(choice=st.integers(0, 999), half=st.integers(0, 1), bit=st.integers(0, 2047))
    def flip_within(self, choice: int, half: int, bit: int) -> None:
        """One bit of a code word, which nobody notices."""
        pages = self.programmed()
        page = pages[choice % len(pages)]
        word = (page, half, self.nand.block_erases[page // BLOCK_PAGES])
        if word not in self.flipped:
            self.flipped.add(word)
            self.nand.flip(page, 2048 * half + bit)

    @rule(
        choices=st.lists(st.integers(0, 999), min_size=1, max_size=8),
        half=st.integers(0, 1),
        bits=st.lists(st.integers(0, 2047), min_size=2, max_size=4, unique=True),
    )
    def flip_beyond(self, choices: list[int], half: int, bits: list[int]) -> None:
        """More bits than the code corrects, on a copy: told, or what once was there."""
        pages, copy = self.programmed(), self.nand.fork()
        copy.power_up()
        for choice in choices:
            for bit in bits:
                copy.flip(pages[choice % len(pages)], 2048 * half + bit)
        store = self.fresh(copy)
        damaged: list[int] = []
        try:
            store.mount()
            found = self.contents(store, damaged)
        except _native.StoreError as error:
            if number_of(error) not in (ECC, CORRUPT, NOT_FOUND):
                raise
            return
        assert set(damaged) <= {ECC, CORRUPT}
        for name, items in found.items():
            for place, item in enumerate(items):
                assert item == b"" or self.was(name, place, item), (name, place, item[:8])

    @invariant()
    def never_misused(self) -> None:
        if hasattr(self, "nand"):
            assert self.nand.misuse is None

    def teardown(self) -> None:
        if hasattr(self, "state"):
            self.come_back()
            del self.store, self.nand


class LongStoreModel(StoreModel):
    """The same, at length."""


def effort(examples: int, steps: int) -> settings:
    """The same examples each time, any host's pace."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


TestStoreModel = StoreModel.TestCase
TestStoreModel.settings = effort(400, 50)
TestLongStoreModel = pytest.mark.soak(LongStoreModel.TestCase)
TestLongStoreModel.settings = effort(3000, 80)
