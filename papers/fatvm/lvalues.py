# SPDX-License-Identifier: Apache-2.0
"""The lvalues of a C program, and which of their accesses local images leave out (Lin et al. 2013,
section 5.2, Algorithms 1 and 2).

A program is read as clang's unoptimised IR, where each load and store is one access that a source
line spells out. A virtual lvalue is one in a mutable global, or behind a pointer; an image of it is
named by the expression of its address. The bodies of the algorithms are lost in our copy: these are
theirs by their description, with the readings of the card at the begin of each function.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

_NAME = r"[%@](?:[\w.$-]+|\"[^\"]+\")"
_ADDRESS = rf"ptr ({_NAME}|getelementptr .*?\))(?=, align|, !|$)"
_TYPE = r"([<{\[].*?[>}\]]|\S+)"
_LOAD = re.compile(rf"load (?:volatile )?{_TYPE}, {_ADDRESS}")
_STORE = re.compile(rf"store (?:volatile )?{_TYPE} .*, {_ADDRESS}")
_RESULT = re.compile(r"(%[\w.]+) = (.*)")
_CALLED = re.compile(r"(?:call|invoke) .*?(@[\w.$]+)\(")
_LABEL = re.compile(r"([\w.]+):")
_TARGET = re.compile(r"label %([\w.]+)")
_COPIED = re.compile(rf"ptr (?:align \d+ )?({_NAME}|getelementptr .*?\))")
_GLOBAL = re.compile(r"(@[\w.$]+) = .*?\b(global|constant) ")

#: How an address was come by: a local or a constant is no virtual lvalue, a call is no address.
LOCAL, CONSTANT, GLOBAL, POINTER = "local", "constant", "global", "pointer"


@dataclass(frozen=True)
class Value:
    """What an instruction gives: an expression over locals and memory."""

    text: str
    kind: str = ""  # of an address
    base: str = ""  # the local or the global
    locals: frozenset[str] = frozenset()  # read on the way
    memory: bool = False  # so were virtual lvalues
    age: tuple[int, ...] = ()  # when: block, and changes before it there


@dataclass(frozen=True)
class Event:
    """One thing that matters to images, in the order of the program."""

    what: str  # "read" or "assign" of an lvalue, "set" of a local, "call"
    lvalue: Value


@dataclass
class Block:
    """A basic block: its events, and where it goes on."""

    events: list[Event] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Function:
    """Basic blocks by label, the entry first."""

    name: str
    blocks: dict[str, Block]


# Reading -----------------------------------------------------------------------------------------


class _Reader:
    """One function's instructions, turned into events."""

    def __init__(self, globals_: dict[str, str]) -> None:
        self._globals = globals_
        self._values: dict[str, Value] = {}
        self._age: dict[str, int] = {}  # changes of each local, and of memory
        self._block = 0
        self.block = Block()

    def begin(self) -> Block:
        """The next basic block."""
        self._block += 1
        self._age = {}
        self.block = Block()
        return self.block

    def line(self, text: str) -> None:
        """One instruction."""
        found = _RESULT.match(text)
        name, code = found.groups() if found else ("", text)
        if code.startswith("alloca"):
            self._values[name] = Value(name, LOCAL, name)
        elif load := _LOAD.match(code):
            self._values[name] = self._load(*load.groups())
        elif store := _STORE.match(code):
            self._store(*store.groups())
        elif "call " in code.split("(")[0] or code.startswith("invoke "):
            self._call(code)
            self._values[name] = Value(name, POINTER)
        elif name:
            self._values[name] = self._operation(name, code)
        self.block.targets += _TARGET.findall(code) if code.startswith(("br ", "switch ")) else []

    def _operation(self, name: str, code: str) -> Value:
        """An expression of its operands; what joins paths, and what comes from another block, is a
        value by itself."""
        if code.startswith(("phi", "select")):
            return Value(name, POINTER)
        parts = [self._operand(one) for one in re.findall(_NAME, code)]
        address = parts[0] if code.startswith("getelementptr") and parts else Value("", POINTER)
        text = re.sub(_NAME, lambda one: f"({self._operand(one.group()).text})", code)
        return Value(
            text,
            address.kind or POINTER,
            address.base,
            frozenset().union(*(one.locals for one in parts)),
            any(one.memory for one in parts),
        )

    def _operand(self, name: str) -> Value:
        if name.startswith("@"):
            return Value(name, self._globals.get(name, CONSTANT), name)
        value = self._values.get(name, Value(name, POINTER))
        return value if self._fresh(value) else Value(name, value.kind, value.base)

    def _fresh(self, value: Value) -> bool:
        """Nothing that its expression reads has changed since; else it stands for itself alone."""
        return not value.age or value.age == self._now(value)

    def _now(self, value: Value) -> tuple[int, ...]:
        names = sorted(value.locals) + (["memory"] if value.memory else [])
        return (self._block, *(self._age.get(name, 0) for name in names))

    def _address(self, text: str) -> Value:
        if text.startswith("getelementptr"):
            return replace(self._operand(re.findall(_NAME, text)[0]), text=text)
        return self._operand(text)

    def _load(self, kind: str, text: str) -> Value:
        address = self._address(text)
        if address.kind in (LOCAL, CONSTANT):
            read = frozenset({address.base}) if address.kind == LOCAL else frozenset()
            value = Value(f"*{address.text}", POINTER, "", address.locals | read, address.memory)
        else:
            self.block.events.append(Event("read", _typed(kind, address)))
            value = Value(f"*{address.text}", POINTER, "", address.locals, True)
        return replace(value, age=self._now(value))

    def _store(self, kind: str, text: str) -> None:
        address = self._address(text)
        if address.kind == LOCAL:
            self._changed(address.base)
            self.block.events.append(Event("set", address))
        elif address.kind != CONSTANT:
            self._changed("memory")
            self.block.events.append(Event("assign", _typed(kind, address)))

    def _call(self, code: str) -> None:
        called = _CALLED.search(code)
        name = called.group(1) if called else ""
        if name.startswith("@llvm.mem"):  # a struct assigned, or set to zero
            to, *source = _COPIED.findall(code)
            for one in source:
                self._load(code, one)
            self._store(code, to)
        if name.startswith("@llvm."):
            return
        self._changed("memory")
        self.block.events.append(Event("call", Value(name)))

    def _changed(self, name: str) -> None:
        self._age[name] = self._age.get(name, 0) + 1


def _typed(kind: str, address: Value) -> Value:
    """An lvalue: at one place lie a union's fields, and a struct and its first."""
    return replace(address, text=f"{kind} {address.text}")


def _globals(lines: Sequence[str]) -> dict[str, str]:
    found = (_GLOBAL.match(line) for line in lines)
    return {one.group(1): GLOBAL if one.group(2) == "global" else CONSTANT for one in found if one}


def functions(ir: str) -> Iterator[Function]:
    """The functions that a module of textual IR defines."""
    lines = ir.splitlines()
    known = _globals(lines)
    at = 0
    while at < len(lines):
        if lines[at].startswith("define "):
            end = lines.index("}", at)
            yield _function(lines[at], _joined(lines[at + 1 : end]), known)
            at = end
        at += 1


def _joined(lines: Sequence[str]) -> list[str]:
    """A switch is one line."""
    text = "\n".join(lines)
    text = re.sub(
        r"\[\n(.*?)\n\s*\]", lambda one: one.group(1).replace("\n", " "), text, flags=re.S
    )
    return text.splitlines()


def _function(head: str, lines: Sequence[str], known: dict[str, str]) -> Function:
    reader = _Reader(known)
    blocks = {"entry": reader.begin()}
    for line in lines:
        if label := _LABEL.match(line):
            blocks[label.group(1)] = reader.begin()
        elif line.strip():
            reader.line(line.strip())
    name = re.search(r"@([\w.$]+)\(", head)
    return Function(name.group(1) if name else "", blocks)


def counted(ir: str) -> str:
    """The module with a counter in each basic block, in the order of functions(); see
    block_counts.c."""
    out: list[str] = []
    inside = waiting = False
    number = 0
    for line in ir.splitlines():
        label = inside and _LABEL.match(line) is not None
        if waiting and not label and " = phi " not in line and line.strip():
            place = f"ptr getelementptr (i64, ptr @nw_counts, i64 {number})"
            out += [
                f"  %nw.{number} = load i64, {place}",
                f"  %nw.{number}.more = add i64 %nw.{number}, 1",
                f"  store i64 %nw.{number}.more, {place}",
            ]
            number += 1
            waiting = False
        out.append(line)
        begins = line.startswith("define ")
        inside = begins or (inside and line != "}")
        waiting = waiting or begins or label
    out += [f"@nw_counts = global [{number} x i64] zeroinitializer"]
    out += [f"@nw_blocks = constant i64 {number}", ""]
    return "\n".join(out)


# Judging -----------------------------------------------------------------------------------------


def _overlaps(lvalue: Value, other: Value) -> bool:
    """Assigning `other` may change `lvalue`: a pointer may point to anything."""
    if POINTER in (lvalue.kind, other.kind) or lvalue.memory:
        return True
    return lvalue.base == other.base


def _after(event: Event, known: frozenset[Value]) -> frozenset[Value]:
    """The images in step with memory behind an event."""
    lvalue = event.lvalue
    if event.what == "call":
        return frozenset()
    if event.what == "set":
        return frozenset(one for one in known if lvalue.base not in one.locals)
    if event.what == "read":
        return known | {lvalue}
    return frozenset(one for one in known if not _overlaps(one, lvalue)) | {lvalue}


def _before(event: Event, dead: frozenset[Value]) -> frozenset[Value]:
    """The lvalues that are assigned again, before an event, ere anything depends on them."""
    lvalue = event.lvalue
    if event.what == "call" or (event.what != "set" and lvalue.kind == POINTER):
        return frozenset()
    if event.what == "set":
        return frozenset(one for one in dead if lvalue.base not in one.locals)
    if event.what == "read":
        return frozenset(one for one in dead if one == lvalue or not _overlaps(one, lvalue))
    return dead | {lvalue}


def _key(event: Event) -> Event:
    return replace(event, lvalue=replace(event.lvalue, age=()))


@dataclass(frozen=True)
class Count:
    """Accesses of one basic block; of them, those that the algorithms leave out."""

    reads: int
    writes: int
    reads_out: int
    writes_out: int


def counts(function: Function) -> list[Count]:
    """For each basic block, in the order of the function.

    Algorithm 1: function entry and every call desynchronise; reading or assigning an lvalue
    synchronises its image, and setting a local that its address reads ends it. Algorithm 2: a
    write-back is left out only if on every path the same lvalue is assigned again before a call, an
    end, a dereference, or a read of the same object elsewhere; behind a pointer none is.
    """
    events = {name: [_key(one) for one in block.events] for name, block in function.blocks.items()}
    targets = {name: block.targets for name, block in function.blocks.items()}
    sources: dict[str, list[str]] = {name: [] for name in events}
    for name, ways in targets.items():
        for way in ways:
            sources[_named(way, events)].append(name)
    ways_on = {name: [_named(way, events) for way in ways] for name, ways in targets.items()}
    synced = _solve(events, sources, forward=True)
    dead = _solve(events, ways_on, forward=False)
    return [_count(events[name], synced[name], dead[name]) for name in events]


def _named(label: str, events: dict[str, list[Event]]) -> str:
    return label if label in events else "entry"


def _solve(
    events: dict[str, list[Event]], neighbours: dict[str, list[str]], *, forward: bool
) -> dict[str, frozenset[Value]]:
    """What holds on every path to each block's begin, or from each one's end. A path that is not
    looked at yet rules nothing out, so what is found only shrinks from round to round."""
    begins = dict.fromkeys(events, frozenset[Value]())
    ends: dict[str, frozenset[Value]] = {}
    names = list(events) if forward else list(events)[::-1]
    changed = True
    while changed:
        changed = False
        for name in names:
            known = [ends[one] for one in neighbours[name] if one in ends]
            start = not neighbours[name] or (forward and name == "entry")
            if not known and not start:
                continue
            begins[name] = frozenset() if start else frozenset.intersection(*known)
            end = begins[name]
            for event in events[name] if forward else reversed(events[name]):
                end = _after(event, end) if forward else _before(event, end)
            changed = changed or ends.get(name) != end
            ends[name] = end
    return begins


def _count(events: Sequence[Event], synced: frozenset[Value], dead: frozenset[Value]) -> Count:
    reads_out = writes_out = 0
    for event in events:
        reads_out += event.what == "read" and event.lvalue in synced
        synced = _after(event, synced)
    for event in reversed(events):
        writes_out += event.what == "assign" and event.lvalue in dead
        dead = _before(event, dead)
    kinds = [event.what for event in events]
    return Count(kinds.count("read"), kinds.count("assign"), reads_out, writes_out)
