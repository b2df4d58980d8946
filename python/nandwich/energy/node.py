# SPDX-License-Identifier: Apache-2.0
"""Node files (TOML) of `nandwich energy`, and where each of their figures comes from.

Every error of a file is reported at once, each as `FILE:LINE: error: ...`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nandwich import files, names, quantities
from nandwich.energy.model import Battery, Job, Node, Radio, Storage, other_time_ns
from nandwich.errors import InputError
from nandwich.twin import platforms, tomlfile

_REPORT_SCHEMA = "nandwich.run-target/1"
_REPORT_BYTES = 16 << 20
_TEN_YEARS_NS = 10 * 365 * 86_400 * 10**9


def _quantity(kind: quantities.Kind, example: str) -> BeforeValidator:
    def read(value: object) -> int:
        if not isinstance(value, str):
            raise ValueError(f"a {kind} needs a unit and quotes; write it like '{example}'")
        return quantities.parse(value, kind)

    return BeforeValidator(read)


Time = Annotated[int, _quantity("time", "15 min"), Field(ge=1, le=_TEN_YEARS_NS)]
NoTime = Annotated[int, _quantity("time", "1 s"), Field(ge=0, le=_TEN_YEARS_NS)]
Size = Annotated[int, _quantity("size", "61 KiB"), Field(ge=0, le=1 << 40)]
Voltage = Annotated[int, _quantity("voltage", "3.3 V"), Field(ge=1, le=60_000)]
Current = Annotated[int, _quantity("current", "20 uA"), Field(ge=0, le=100 * 10**9)]
Frequency = Annotated[int, _quantity("frequency", "72 MHz"), Field(ge=1, le=10**12)]
Energy = Annotated[int, _quantity("energy", "1.8 uJ"), Field(ge=0, le=10**12)]
Charge = Annotated[int, _quantity("charge", "2500 mAh"), Field(ge=1, le=10**12)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Sourced(_Table):
    sources: dict[str, str] = {}


class _NodeTable(_Sourced):
    platform: str | None = None
    supply: Voltage | None = None
    active: Current | None = None
    asleep: Current | None = None
    clock: Frequency | None = None


class _OtherTable(_NodeTable):
    awake: Time | None = None


class _StorageTable(_Sourced):
    active: Current
    asleep: Current = 0


class _JobTable(_Table):
    every: Time
    awake: Time | None = None
    storage: NoTime | None = None
    compute: NoTime | None = None
    report: str | None = None
    cycles: Annotated[float, Field(ge=1, le=100)] = 1.5
    raw: Size = 0
    result: Size = 0
    hops: Annotated[int, Field(ge=1, le=20)] = 3


class _RadioTable(_Sourced):
    platform: str | None = None
    send: Energy | None = None
    receive: Energy | None = None


class _BatteryTable(_Sourced):
    voltage: Voltage
    capacity: Charge
    usable: Annotated[float, Field(gt=0, le=1)] = 1.0
    self_discharge: Annotated[float, Field(ge=0, lt=1)] = 0.0


class _File(_Table):
    name: str = "node"
    node: _NodeTable
    storage: _StorageTable | None = None
    job: _JobTable
    other: _OtherTable | None = None
    radio: dict[str, _RadioTable] = {}
    battery: _BatteryTable | None = None


@dataclass(frozen=True)
class Figure:
    """One figure that was used, as it was written, and where it comes from."""

    key: str
    text: str
    source: str


@dataclass(frozen=True)
class Given:
    """What a file says."""

    name: str
    node: Node
    storage: Storage
    job: Job
    every_ns: int
    hops: int
    other: Node | None
    other_ns: int  #: how long that one is awake
    radios: tuple[Radio, ...]
    battery: Battery | None
    figures: tuple[Figure, ...]
    inputs: tuple[Path, ...]  #: the file, and the report it names


#: What a key of a table is called in the table of platforms.
_NODE_KEYS = {"supply": "supply", "active": "active", "asleep": "sleep", "clock": "clock"}
_RADIO_KEYS = {"send": "send.byte_energy", "receive": "receive.byte_energy"}


def read(path: Path) -> Given:
    """Read a node's file; InputError with every fault and its line."""
    file = tomlfile.read(path)
    faults: list[tuple[int, str]] = []
    table: _File | None = None
    times = _Times(0, 0, 0, "")
    try:
        table = _File.model_validate(file.tree)
    except ValidationError as error:
        for fault in error.errors():
            place = tuple(str(part) for part in fault["loc"])
            faults.append((file.line(".".join(place)), _explain(place, fault)))
    if table is not None:
        told = [*_double(table.job), *_contradictions(table)]
        try:
            times = _times(table.job, path.parent)
            told += _time_faults(table, times)
        except _TimesError as error:
            told.append(error.args)
        faults += [(file.line(key), f"{key}: {what}") for key, what in told]
    if faults or table is None:
        messages = [f"{path}:{line}: error: {what}" for line, what in sorted(set(faults))]
        raise InputError("\n".join(messages))
    return _given(file, table, times)


def _explain(place: tuple[str, ...], fault: Any) -> str:
    key = ".".join(place)
    kind = fault["type"]
    if kind == "extra_forbidden":
        close = names.nearest(place[-1], _known(place[:-1]))
        return f"unknown key {key}{f'; did you mean {close[0]}?' if close else ''}"
    if kind == "missing":
        return f"{key} is missing"
    if kind in ("model_type", "dict_type"):
        return f"{key}: must be a table, [{key}]"
    for bound, words in (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below")):
        if bound in fault.get("ctx", {}):
            return f"{key}: must be {words} {_bound(place, fault['ctx'][bound])}"
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{key}: {message[0].lower()}{message[1:]}"


def _bound(place: tuple[str, ...], value: float) -> str:
    """A bound in the unit that its key is written in."""
    key = place[-1]
    units = {"supply": "mV", "voltage": "mV", "active": "nA", "clock": "Hz", "capacity": "uAh"}
    units |= {"asleep": "nA", "send": "pJ", "receive": "pJ"}
    if key in ("every", "awake", "storage", "compute"):
        return quantities.format_time(int(value))
    if key in ("raw", "result"):
        return quantities.format_size(int(value))
    return f"{value:g} {units.get(key, '')}".strip()


def _known(place: tuple[str, ...]) -> list[str]:
    """Keys of the table at a place."""
    tables: dict[str, type[BaseModel]] = {
        "node": _NodeTable,
        "storage": _StorageTable,
        "job": _JobTable,
        "other": _OtherTable,
        "radio": _RadioTable,
        "battery": _BatteryTable,
    }
    model = tables.get(place[0], _File) if place else _File
    return list(model.model_fields)


def _contradictions(table: _File) -> Iterator[tuple[str, str]]:
    """What no single key shows, each with the key to look at."""
    yield from _node_faults("node", table.node)
    if table.other is not None:
        yield from _node_faults("other", table.other)
    for name, radio in table.radio.items():
        yield from _radio_faults(name, radio)
    for place, one in _sourced(table):
        for key in one.sources:
            if key == "sources" or key not in type(one).model_fields:
                yield f"{place}.sources.{key}", "there is no such figure to tell the source of"


@dataclass(frozen=True)
class _Times:
    """What the job takes, in ns."""

    awake: int
    storage: int
    compute: int
    source: str  #: of the report; "": the file says so itself
    clock_hz: Fraction | None = None  #: of the processor of the report


class _TimesError(Exception):
    """A key, and what is wrong there."""


#: Those that a report tells.
_TOLD = ("awake", "storage", "compute")


def _double(job: _JobTable) -> Iterator[tuple[str, str]]:
    """What is said twice, or for nothing."""
    if job.report is not None:
        for key in _TOLD:
            if getattr(job, key) is not None:
                yield f"job.{key}", "the report tells it, too: leave one of them out"
    elif "cycles" in job.model_fields_set:
        yield "job.cycles", "there is no report whose instructions they would count"


def _times(job: _JobTable, folder: Path) -> _Times:
    """The job's times, from the file or from a report of `nandwich run --target`."""
    if job.report is not None:
        return _reported(folder / job.report, job.cycles)
    if job.awake is None:
        raise _TimesError("job", "awake is missing, and no report that would tell it")
    storage = job.storage or 0
    compute = job.awake - storage if job.compute is None else job.compute
    return _Times(job.awake, storage, compute, "")


def _reported(path: Path, cycles: float) -> _Times:
    try:
        value = json.loads(files.read(path, _REPORT_BYTES))
        if value["schema"] != _REPORT_SCHEMA:
            raise KeyError
        end = str(value["end"]["kind"])
        counts, mhz = value["instructions"], Fraction(str(value["target"]["mhz"]))
        total, native = int(counts["total"]), counts["native_total"]
        storage = int(value["time_ns"]["storage"])
        if total < 1 or mhz < 1 or storage < 0 or (native is not None and int(native) < 0):
            raise ValueError
    except OSError as error:
        raise _TimesError("job.report", f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _TimesError(
            "job.report", f"{path} is no JSON of `nandwich run --target` ({_REPORT_SCHEMA})"
        ) from error
    if end != "exit":
        raise _TimesError(
            "job.report", f"{path}: that run broke off ({end}), so its times are not the job's"
        )
    if native is None:
        raise _TimesError("job.report", f"{path}: that run was not compared with the native one")
    clock = Fraction(str(cycles)) * 1000 / mhz
    source = (
        f"{path}: {total} instructions, natively {native}, at {cycles:g} cycles of "
        f"{float(mhz):g} MHz"
    )
    compute = round(native * clock)
    return _Times(round(total * clock) + storage, storage, compute, source, mhz * 10**6)


def _clock_faults(table: _File, times: _Times) -> Iterator[tuple[str, str]]:
    """Times of one processor with the currents of another."""
    node = table.node
    own = node.clock
    if own is None and node.platform is not None and node.platform in platforms.known_names():
        own = platforms.number(node.platform, "clock")
    if own is not None and times.clock_hz is not None and times.clock_hz != own:
        yield (
            "job.report",
            f"its times are of a processor at {float(times.clock_hz / 10**6):g} MHz, the node's "
            f"clock is {own / 1e6:g} MHz: run it on the node's own target, or say awake, storage "
            "and compute",
        )


def _time_faults(table: _File, times: _Times) -> Iterator[tuple[str, str]]:
    yield from _clock_faults(table, times)
    if times.storage > times.awake:
        yield "job.storage", "longer than the node is awake"
    if times.compute > times.awake:
        yield "job.compute", "longer than the node is awake"
    if table.job.every < times.awake:
        awake = quantities.format_time(times.awake)
        yield "job.every", f"the node is awake for {awake} of each cycle, which is longer"
    if times.storage > 0 and table.storage is None:
        key = "job.storage" if table.job.report is None else "job.report"
        yield key, "the storage works, but no [storage] tells its current"


def _sourced(table: _File) -> Iterator[tuple[str, _Sourced]]:
    for place, one in (
        ("node", table.node),
        ("storage", table.storage),
        ("other", table.other),
        ("battery", table.battery),
    ):
        if one is not None:
            yield place, one
    for name, radio in table.radio.items():
        yield f"radio.{name}", radio


def _node_faults(place: str, table: _NodeTable) -> Iterator[tuple[str, str]]:
    yield from _platform_faults(f"{place}.platform", table.platform, "node")
    if table.platform is None:
        for key in _NODE_KEYS:
            if getattr(table, key) is None:
                yield place, f"{key} is missing, and no platform that would tell it"


def _radio_faults(name: str, table: _RadioTable) -> Iterator[tuple[str, str]]:
    place = f"radio.{name}"
    if None not in (table.send, table.receive):
        return
    platform = table.platform if table.platform is not None else name
    key = place if table.platform is None else f"{place}.platform"
    yield from _platform_faults(key, platform, "radio")


def _platform_faults(key: str, name: str | None, kind: str) -> Iterator[tuple[str, str]]:
    if name is None:
        return
    try:
        is_kind = ("node", "radio")[platforms.number(name, "kind")]
    except InputError as error:
        yield key, error.message
        return
    if is_kind != kind:
        yield key, f"{name} is a {is_kind}, no {kind}"


class _Reader:
    """Figures one by one, remembering where each comes from."""

    def __init__(self, file: tomlfile.TomlFile) -> None:
        self.file = file
        self.figures: list[Figure] = []

    def own(self, place: str, key: str, table: _Sourced) -> int:
        """A figure of the file, or its default."""
        text = self.file.values.get(f"{place}.{key}")
        where = self.file.where(f"{place}.{key}") if text is not None else "default"
        source = table.sources.get(key, where)
        value: int = getattr(table, key)
        self.figures.append(Figure(f"{place}.{key}", "0" if text is None else str(text), source))
        return value

    def either(self, place: str, key: str, table: _Sourced, name: str | None, there: str) -> int:
        """A figure of the file, or else of a platform."""
        if getattr(table, key) is not None:
            return self.own(place, key, table)
        assert name is not None
        (found,) = (one for one in platforms.figures(name) if one.field.key == there)
        self.figures.append(Figure(f"{place}.{key}", found.text, f"{name}: {found.source}"))
        return platforms.number(name, there)

    def node(self, place: str, table: _NodeTable) -> Node:
        return Node(
            *(
                self.either(place, key, table, table.platform, there)
                for key, there in _NODE_KEYS.items()
            )
        )

    def radio(self, name: str, table: _RadioTable) -> Radio:
        platform = table.platform if table.platform is not None else name
        energies = (
            self.either(f"radio.{name}", key, table, platform, there)
            for key, there in _RADIO_KEYS.items()
        )
        return Radio(name, *energies)

    def battery(self, table: _BatteryTable) -> Battery:
        self.own("battery", "voltage", table)
        self.own("battery", "capacity", table)
        usable, leak = (Fraction(str(one)) for one in (table.usable, table.self_discharge))
        return Battery(table.voltage, table.capacity, usable, leak)


def _given(file: tomlfile.TomlFile, table: _File, times: _Times) -> Given:
    reader = _Reader(file)
    node = reader.node("node", table.node)
    storage = Storage(0, 0)
    if table.storage is not None:
        active = reader.own("storage", "active", table.storage)
        storage = Storage(active, reader.own("storage", "asleep", table.storage))
    asked = table.job
    job = Job(times.awake, times.storage, times.compute, asked.raw, asked.result)
    for key in _TOLD if times.source else ():
        shown = quantities.format_time(getattr(times, key))
        reader.figures.append(Figure(f"job.{key}", shown, times.source))
    other, other_ns = None, 0
    if table.other is not None:
        other = reader.node("other", table.other)
        other_ns = table.other.awake or other_time_ns(job, node, other)
    return Given(
        name=table.name,
        node=node,
        storage=storage,
        job=job,
        every_ns=asked.every,
        hops=asked.hops,
        other=other,
        other_ns=other_ns,
        radios=tuple(reader.radio(name, radio) for name, radio in table.radio.items()),
        battery=None if table.battery is None else reader.battery(table.battery),
        figures=tuple(reader.figures),
        inputs=(file.path,)
        if asked.report is None
        else (file.path, file.path.parent / asked.report),
    )
