# SPDX-License-Identifier: Apache-2.0
"""Scenario files (TOML) and recorded arrivals (CSV) of `nandwich sched`.

Every error of a file is reported at once, each as `FILE:LINE: error: ...`.
"""

import csv
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nandwich import names, quantities
from nandwich.errors import InputError
from nandwich.sched.cpu import PROCESSORS
from nandwich.sched.play import Flow, Scenario, device_facts
from nandwich.twin import tomlfile

_SHOWN = 20
_WORD = 40  # of a wrong one no more is shown
_TIME_KEYS = {"deadline", "period", "jitter", "phase", "duration", "guard", "buffer"}
_TIMES = {"time_ns": 1, "time_us": 10**3, "time_ms": 10**6, "time_s": 10**9}


def _quantity(kind: quantities.Kind) -> BeforeValidator:
    def read(value: object) -> int:
        if not isinstance(value, str):
            example = "'64 B'" if kind == "size" else "'40 ms'"
            raise ValueError(f"a {kind} needs a unit and quotes; write it like {example}")
        return quantities.parse(value, kind)

    return BeforeValidator(read)


Time = Annotated[int, _quantity("time")]
Size = Annotated[int, _quantity("size")]

#: The core counts deadlines and guards in us and keeps them below 2**30.
_LONGEST_NS = 1073 * 10**9

#: No run goes on for longer than a year; what does not happen in one is given as that.
_YEAR_NS = 365 * 24 * 3600 * 10**9


class _FlowTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    deadline: Annotated[Time, Field(ge=1000, le=_LONGEST_NS)]
    period: Annotated[Time, Field(ge=1000, le=_YEAR_NS)] | None = None
    jitter: Annotated[Time, Field(ge=0, le=_YEAR_NS)] = 0
    phase: Annotated[Time, Field(ge=0, le=_YEAR_NS)] | None = None
    size: Annotated[Size, Field(ge=1, le=65535)] = 64
    burst_every: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    burst_size: Annotated[int, Field(ge=1, le=255)] = 5
    direction: Literal["write", "read"] = "write"


class _ScenarioTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    flow: Annotated[dict[str, _FlowTable], Field(min_length=1, max_length=64)]
    duration: Annotated[Time, Field(ge=1000, le=_YEAR_NS)] = 10 * 10**9
    device: str = "SANDISK-SD-128M"
    blocks: Annotated[int, Field(ge=0, le=2**32 - 1)] = 256
    processor: Literal["cc1010", "none"] = "cc1010"
    slots: Annotated[int, Field(ge=1, le=120)] = 24
    limit: Annotated[int, Field(ge=0, le=120)] = 0
    guard: Annotated[Time, Field(ge=0, le=_LONGEST_NS)] = 2 * 10**6
    buffer: Annotated[Time, Field(ge=0, le=_LONGEST_NS)] = 0
    drop_late: bool = True
    split: bool = False
    save: bool = True
    preopen: bool = True


def read_scenario(path: Path) -> Scenario:
    """Read a scenario; InputError with every fault and its line."""
    file = tomlfile.read(path)
    faults: list[tuple[int, str]] = []
    table: _ScenarioTable | None = None
    try:
        table = _ScenarioTable.model_validate(file.tree)
    except ValidationError as error:
        for fault in error.errors():
            place = tuple(str(part) for part in fault["loc"])
            faults.append((file.line(".".join(place)), _explain(place, fault)))
    faults.extend(_cross_checks(file))
    if faults or table is None:
        messages = [f"{path}:{line}: error: {what}" for line, what in sorted(set(faults))]
        raise InputError("\n".join(messages))
    return _scenario(table)


def _explain(place: tuple[str, ...], fault: Any) -> str:
    key = ".".join(place)
    kind = fault["type"]
    if kind == "extra_forbidden":
        model = _FlowTable if place[0] == "flow" and len(place) > 2 else _ScenarioTable
        close = names.nearest(place[-1], model.model_fields)
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"unknown key {key}{hint}"
    if kind == "too_long":
        return f"{key}: {len(fault['input'])} tables, at most {fault['ctx']['max_length']}"
    if kind in ("missing", "too_short"):
        what = "a [flow.NAME] table" if key == "flow" else key
        return f"{what} is missing"
    if kind in ("model_type", "dict_type"):
        return f"{key}: must be a table, [{'flow.NAME' if key == 'flow' else key}]"
    for bound, words in (("ge", "at least"), ("le", "at most")):
        if bound in fault.get("ctx", {}):
            return f"{key}: must be {words} {_shown(place[-1], fault['ctx'][bound])}"
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{key}: {message[0].lower()}{message[1:]}"


def _shown(key: str, value: int) -> str:
    """A bound in the unit that its key is written in."""
    if key == "size":
        return f"{value} B"
    return quantities.format_time(value) if key in _TIME_KEYS else str(value)


def _cross_checks(file: tomlfile.TomlFile) -> list[tuple[int, str]]:
    """What no single key shows."""
    faults = []
    flows = file.tree.get("flow")
    for name, flow in flows.items() if isinstance(flows, dict) else ():
        if not isinstance(flow, dict):
            continue
        jitter, period = (_time(flow.get(key)) for key in ("jitter", "period"))
        if jitter is not None and period is not None and jitter > period:
            line = file.line(f"flow.{name}.jitter")
            faults.append((line, f"flow.{name}.jitter: longer than the period"))
    slots, limit = file.tree.get("slots", 24), file.tree.get("limit", 0)
    if isinstance(slots, int) and isinstance(limit, int) and 1 <= slots < limit:
        faults.append((file.line("limit"), "limit: more than there are slots"))
    device, blocks = file.tree.get("device"), file.tree.get("blocks", 256)
    if isinstance(device, str) and isinstance(blocks, int) and 0 <= blocks < 2**32:
        try:
            device_facts(device, blocks)
        except InputError as error:
            faults.append((file.line("device"), error.message))
    return faults


def _time(value: object) -> int | None:
    try:
        return quantities.parse(value, "time") if isinstance(value, str) else None
    except ValueError:
        return None


def _scenario(table: _ScenarioTable) -> Scenario:
    assert table.processor in PROCESSORS
    flows = tuple(
        Flow(
            name=name,
            deadline_ns=flow.deadline,
            period_ns=flow.period or 0,
            jitter_ns=flow.jitter,
            phase_ns=flow.phase,
            size=flow.size,
            burst_every=flow.burst_every,
            burst_size=flow.burst_size,
            reads=flow.direction == "read",
        )
        for name, flow in table.flow.items()
    )
    return Scenario(
        flows=flows,
        duration_ns=table.duration,
        device=table.device,
        blocks=table.blocks,
        processor=table.processor,
        slots=table.slots,
        limit=table.limit,
        guard_ns=table.guard,
        buffer_ns=table.buffer,
        drop_late=table.drop_late,
        split=table.split,
        save=table.save,
        preopen=table.preopen,
    )


def read_arrivals(path: Path, flows: tuple[Flow, ...]) -> tuple[tuple[int, int], ...]:
    """Read recorded arrivals: a header `time_ms,flow` (or _us, _ns, _s), then a request a line.

    `flow` is a flow's name. Times may not go backwards.
    """
    rows = csv.reader(tomlfile.read_text(path).splitlines(), strict=True)
    try:
        return _arrivals(path, rows, flows)
    except csv.Error as error:
        raise InputError(f"{path}:{max(1, rows.line_num)}: error: {error}") from error


def _arrivals(path: Path, rows: Any, flows: tuple[Flow, ...]) -> tuple[tuple[int, int], ...]:
    header = [cell.strip() for cell in next(rows, [])]
    if len(header) != 2 or header[0] not in _TIMES or header[1] != "flow":
        wanted = "the first line must be 'time_ms,flow' (or _us, _ns, _s)"
        raise InputError(f"{path}:1: error: {wanted}")
    unit = _TIMES[header[0]]
    numbers = {flow.name: number for number, flow in enumerate(flows)}
    found: list[tuple[int, int]] = []
    faults = []
    for cells in rows:
        if not cells:
            continue
        fault = _arrival(cells, unit, numbers, found)
        if fault:
            faults.append(f"{path}:{rows.line_num}: error: {fault}")
    if faults:
        more = [f"{path}: {len(faults) - _SHOWN} more faults"] if len(faults) > _SHOWN else []
        raise InputError("\n".join(faults[:_SHOWN] + more))
    if not found:
        raise InputError(f"{path}: no arrivals in it")
    return tuple(found)


def _arrival(
    cells: list[str], unit: int, numbers: dict[str, int], found: list[tuple[int, int]]
) -> str | None:
    """Adds one line to `found`; what is wrong with it, or None."""
    if len(cells) != 2:
        return f"{len(cells)} fields, not 2"
    if not re.fullmatch(r"\s*[0-9]{1,20}(\.[0-9]{1,20})?\s*", cells[0]):
        return f"'{cells[0][:_WORD]}' is no time"
    whole, _, part = cells[0].strip().partition(".")
    digits = len(str(unit)) - 1
    time_ns = int(whole) * unit + int((part + "0" * digits)[:digits] or 0)
    name = cells[1].strip()
    if name not in numbers:
        close = names.nearest(name, numbers)
        return f"no flow '{name[:_WORD]}' in the scenario" + (
            f"; did you mean {close[0]}?" if close else ""
        )
    if found and time_ns < found[-1][0]:
        return "earlier than the line before"
    if time_ns >= 1 << 62:
        return "later than any clock goes"
    found.append((time_ns, numbers[name]))
    return None
