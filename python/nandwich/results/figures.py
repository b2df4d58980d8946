# SPDX-License-Identifier: Apache-2.0
"""What of a result can be laid beside another: its configuration, and figures that know whether
less or more of them is better.

A document gives one result, or several: `sched` one for each policy.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nandwich.results.read import Document

#: A life that nothing ends, in bytes or accesses; the most that `nandwich tune` tells.
ENDLESS = 1 << 63
Better = Literal["less", "more", ""]
#: How a value reads: "ns", "pJ" and "B" are scaled, the rest are words behind the number.
Unit = str


@dataclass(frozen=True)
class Metric:
    """A figure. Without `better` it is neither good nor bad."""

    key: str  # in JSON and CSV
    label: str
    unit: Unit
    better: Better
    chief: bool = False  # shown where there is little room
    wall: bool = False  # measured with the host's clock: it does not repeat
    goes_by: str = ""  # a key of configurations; where these differ in it, nothing is judged


@dataclass(frozen=True)
class Result:
    """A configuration and its figures, those that it has."""

    name: str
    path: str
    config: dict[str, str]
    values: dict[str, float]
    reference: bool = False  # what the best possible would do: neither best nor worst
    #: By keys of `values`, those that are a sample's: bounds of the truth. inf: none is known.
    between: dict[str, tuple[float, float]] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)  # of these the value is more than `values` has


Path = tuple[str, ...]
Row = tuple[Metric, Path | Callable[[dict[str, Any]], float | None]]


def _counted(way: str, key: str) -> Callable[[dict[str, Any]], float | None]:
    """A time of reads or writes; nothing where there were none."""

    def value(content: dict[str, Any]) -> float | None:
        times = content["result"][way]
        return int(times[key]) if times["count"] else None

    return value


_DAYS = 365  # of a year, as replay counts them
_DAY_NS = 86_400 * 10**9


def _life_bytes(content: dict[str, Any], years: str) -> float | None:
    """What the host writes in so many years of a life, however fast it wrote here."""
    life = content["derived"].get("life")
    if life is None:
        return None
    writes = float(life[years]) * _DAYS * float(life["writes_a_day"])
    return round(writes * int(content["device"]["sector_bytes"]))


def _life_if_even(content: dict[str, Any]) -> float | None:
    return _life_bytes(content, "most_years")


def _life_as_worn(content: dict[str, Any]) -> float | None:
    """By the block that was erased most; None where too few erases tell how blocks wear."""
    life = content["derived"].get("life")
    known = life is not None and life["spread_known"]
    return _life_bytes(content, "years") if known else None


def _room(content: dict[str, Any]) -> float:
    return int(content["device"]["sectors"] * content["device"]["sector_bytes"])


def _to_flash(content: dict[str, Any]) -> float | None:
    tier = content["tier"]
    return None if tier is None else int(tier["flash_writes"] + tier["moved"])


_REPLAY: tuple[Row, ...] = (
    (
        Metric("write_amplification", "programs a write", "", "less", True),
        ("derived", "write_amplification"),
    ),
    (Metric("busy_ns", "time at work", "ns", "less", True), ("result", "busy_ns")),
    (Metric("write_p99_ns", "write, 99 %", "ns", "less", True), _counted("writes", "p99_ns")),
    (Metric("worst_call_ns", "longest call", "ns", "less", True), ("result", "worst_call_ns")),
    (Metric("energy_pj", "energy", "pJ", "less", True), ("result", "energy_pj")),
    (Metric("erases", "erases", "", "less", True), ("result", "layer", "erases")),
    (
        Metric("life_bytes_if_even", "life if even", "B", "more", True),
        _life_if_even,
    ),
    (Metric("life_bytes", "life as worn", "B", "more", True), _life_as_worn),
    (Metric("ram_bytes", "RAM", "B", "less", True), ("device", "ram_bytes")),
    (Metric("device_bytes", "room for data", "B", "more", True), _room),
    (Metric("read_p99_ns", "read, 99 %", "ns", "less"), _counted("reads", "p99_ns")),
    (Metric("write_mean_ns", "write, mean", "ns", "less"), _counted("writes", "mean_ns")),
    (Metric("write_max_ns", "write, worst", "ns", "less"), _counted("writes", "max_ns")),
    (Metric("read_mean_ns", "read, mean", "ns", "less"), _counted("reads", "mean_ns")),
    (Metric("read_max_ns", "read, worst", "ns", "less"), _counted("reads", "max_ns")),
    (Metric("chip_programs", "chip programs", "", "less"), ("result", "layer", "programs")),
    (Metric("copies", "copies", "", "less"), ("result", "layer", "copies")),
    (Metric("chip_reads", "chip reads", "", "less"), ("result", "layer", "reads")),
    (Metric("erases_max", "most erased block", "", "less"), ("derived", "erases_max")),
    (Metric("erases_mean", "erases a block", "", "less"), ("derived", "erases_mean")),
    (
        Metric("energy_pj_per_host_byte", "energy a byte", "pJ", "less"),
        ("derived", "energy_pj_per_host_byte"),
    ),
    (Metric("queue_mean", "queue, mean", "", "less"), ("derived", "queue_mean")),
    (Metric("queue_max", "queue, longest", "", "less"), ("result", "queue_max")),
    (Metric("to_flash", "writes to flash", "", "less"), _to_flash),
    (Metric("wrong_sectors", "wrong content", "", "less"), ("result", "violations")),
    (Metric("done", "requests done", "", ""), ("result", "done")),
    (Metric("end_ns", "emulated time", "ns", ""), ("result", "end_ns")),
)

_RUN: tuple[Row, ...] = (
    (Metric("storage_ns", "storage time", "ns", "less", True), ("time_ns", "storage")),
    (Metric("energy_pj", "energy", "pJ", "less", True), ("energy_pj",)),
    (Metric("faults", "faults", "", "less", True), ("vm", "faults")),
    (Metric("writebacks", "write-backs", "", "less", True), ("vm", "writebacks")),
    (
        Metric("write_amplification", "programs a write", "", "less", True),
        ("write_amplification",),
    ),
    (Metric("ram_bytes", "RAM", "B", "less", True), ("ram_bytes", "total")),
    (
        Metric("runs_as_worn", "runs in a life", "", "more", True),
        ("life", "runs_as_worn"),
    ),
    (
        Metric("host_ns", "wall clock", "ns", "less", True, wall=True),
        lambda content: (content["host_ns"] or {}).get("virtual"),
    ),
    (Metric("slot_misses", "slot misses", "", "less"), ("vm", "slot_misses")),
    (Metric("evictions", "evictions", "", "less"), ("vm", "evictions")),
    (Metric("sectors_read", "sectors read", "", "less"), ("vm", "sectors_read")),
    (Metric("sectors_written", "sectors written", "", "less"), ("vm", "sectors_written")),
    (Metric("chip_programs", "chip programs", "", "less"), ("chip", "programs")),
    (Metric("chip_reads", "chip reads", "", "less"), ("chip", "reads")),
    (Metric("erases", "erases", "", "less"), ("chip", "erases")),
    (Metric("heap_peak_bytes", "heap, peak", "B", "less"), ("heap", "peak_bytes")),
    (Metric("accesses", "guarded accesses", "", "less"), ("vm", "accesses")),
)

_TARGET: tuple[Row, ...] = (
    (Metric("instructions", "instructions", "", "less", True), ("instructions", "total")),
    (
        Metric("processor_ns", "processor time", "ns", "less", True),
        ("time_ns", "processor_least"),
    ),
    (Metric("storage_ns", "storage time", "ns", "less", True), ("time_ns", "storage")),
    (Metric("guards", "guard instructions", "", "less", True), ("instructions", "guards")),
    (Metric("faults", "faults", "", "less", True), ("vm", "faults")),
    (Metric("ram_bytes", "RAM", "B", "less", True), ("bytes", "ram")),
    (Metric("code_bytes", "code", "B", "less", True), ("bytes", "code_flash")),
    (Metric("programs", "chip programs", "", "less"), ("flash", "programs")),
    (Metric("reads", "chip reads", "", "less"), ("flash", "reads")),
    (Metric("erases", "erases", "", "less"), ("flash", "erases")),
    (Metric("bus_bytes", "on the bus", "B", "less"), ("flash", "bus_bytes")),
    (Metric("stack_peak_bytes", "stack, peak", "B", "less"), ("bytes", "stack_peak")),
)

_TAGGED: tuple[Row, ...] = (
    (Metric("cycles", "cycles", "", "less", True), ("cycles", "total")),
    (Metric("time_ns", "time", "ns", "less", True), ("time_ns", "total")),
    (Metric("storage_ns", "storage time", "ns", "less", True), ("time_ns", "storage")),
    (
        Metric("faults", "faults", "", "less", True),
        lambda content: (content["counts"] or {}).get("faults"),
    ),
    (
        Metric("flash_writes", "flash writes", "", "less", True),
        lambda content: (content["counts"] or {}).get("flash_writes"),
    ),
    (Metric("ram_bytes", "RAM", "B", "less", True), ("bytes", "ram")),
    (Metric("code_bytes", "code", "B", "less", True), ("bytes", "code")),
)

_TORTURE: tuple[Row, ...] = (
    (
        Metric("found", "promises broken", "", "less", True),
        lambda content: int(content["result"]["found"] is not None),
    ),
    (Metric("runs", "runs", "", "more", True), ("result", "runs")),
    (Metric("cuts", "power cuts", "", "", True), ("result", "cuts")),
    (Metric("steps", "steps", "", "", True), ("result", "steps")),
    (Metric("mounts", "mounts", "", ""), ("result", "mounts")),
    (Metric("changes", "changes", "", ""), ("result", "changes")),
)

_PAGING: tuple[Row, ...] = (
    (Metric("faults", "faults", "", "less", True), ("faults",)),
    (Metric("writebacks", "write-backs", "", "less", True), ("writebacks",)),
    (Metric("cost_reads", "cost in reads", "", "less", True), ("cost_reads",)),
)

_POLICY: tuple[Row, ...] = (
    (Metric("met_percent", "deadlines met", "%", "more", True), ("met_percent",)),
    (Metric("late", "late", "", "less", True), ("total", "late")),
    (Metric("dropped", "dropped", "", "less", True), ("total", "dropped")),
    (Metric("full", "no slot", "", "less", True), ("total", "full")),
    (Metric("response_us_mean", "response, mean", "us", "less", True), ("response_us_mean",)),
    (Metric("response_us_max", "response, worst", "us", "less", True), ("response_us_max",)),
    (Metric("energy_pj", "energy", "pJ", "less", True), ("energy_pj",)),
    (Metric("busy_ns", "device busy", "ns", "less"), ("busy_ns",)),
    (Metric("cpu_ns", "scheduler's time", "ns", "less"), ("cpu_ns",)),
    (Metric("operations", "operations", "", "less"), ("operations",)),
    (Metric("openings", "openings", "", "less"), ("openings",)),
)

_ADMISSION: tuple[Row, ...] = (
    (Metric("wait_us", "worst wait", "us", "less", True), ("admission", "wait_us")),
    (Metric("room_us", "room to deadline", "us", "more", True), ("admission", "room_us")),
    (Metric("slots", "slots", "", "less", True), ("admission", "slots")),
    (Metric("load_permille", "load", "permille", "less", True), ("admission", "load_permille")),
)

_ROWS = {
    "nandwich.replay/1": _REPLAY,
    "nandwich.run/1": _RUN,
    "nandwich.run-target/1": _TARGET,
    "nandwich.run-tagged/1": _TAGGED,
    "nandwich.torture/1": _TORTURE,
}
#: What is measured of each kind of document that has the same figures always.
METRICS = {schema: tuple(metric for metric, _ in rows) for schema, rows in _ROWS.items()}
#: Where in a document its configuration lies.
_CONFIG = {
    "nandwich.replay/1": ("device", "options"),
    "nandwich.run/1": ("program", "device"),
    "nandwich.run-target/1": ("program", "target", "device"),
    "nandwich.run-tagged/1": ("program", "target", "layout"),
    "nandwich.torture/1": ("options",),
}
_FLEET_ENDS: tuple[tuple[str, Better], ...] = (
    ("battery", "less"),
    ("wear", "less"),
    ("space", "less"),
    ("alive", "more"),
)
_JOB: tuple[Row, ...] = (
    (Metric("job_pj", "a job", "pJ", "less", True), ("job", "energy_pj")),
    (Metric("awake_ns", "awake", "ns", "less", True), ("job", "awake_ns")),
    (Metric("storage_ns", "storage time", "ns", "less", True), ("job", "storage_ns")),
    (Metric("compute_ns", "computing", "ns", "less"), ("job", "compute_ns")),
)
_OF_A_WAY: tuple[tuple[str, str, Better], ...] = (
    ("life_ns", "life", "more"),
    ("break_even_ns", "even at", ""),
)
#: These are figures of a result, although they stand among its configuration.
_NO_CONFIG = frozenset({"device.sectors", "device.ram_bytes"})
_SHOWN_OF_A_HASH = 12


def results(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    """The results in a document, and what is measured of them; InputError for what is missing."""
    if document.schema == "nandwich.sched/1":
        return _sched(document, name)
    if document.schema == "nandwich.energy/1":
        return _energy(document, name)
    if document.schema == "nandwich.bench/1":
        return _bench(document, name)
    if document.schema == "nandwich.tune/1":
        return _tune(document, name)
    if document.schema == "nandwich.vmtrace/1":
        return _vmtrace(document, name)
    if document.schema == "nandwich.fleet/1":
        return _fleet(document, name)
    rows = _ROWS[document.schema]
    config = dict(_config(document))
    return [_result(document, name, config, rows)], list(METRICS[document.schema])


def of_verb(verb: str, keys: Collection[str]) -> list[Metric]:
    """Those of these keys that are figures of a verb that is swept."""
    rows = {"sched": (*_POLICY, *_ADMISSION), "vmtrace": _PAGING, "energy": _JOB}
    own = rows.get(verb) or _ROWS[f"nandwich.{verb}/1"]
    ways = [key for key in keys if key.partition(" ")[0] in {one for one, *_ in _OF_A_WAY}]
    return [one for one, _ in own if one.key in keys] + [_of_a_way(key) for key in ways]


def _result(document: Document, name: str, config: dict[str, str], rows: tuple[Row, ...]) -> Result:
    values = {}
    for metric, where in rows:
        try:
            value = where(document.content) if callable(where) else document.at(*where)
        except (KeyError, TypeError, AttributeError) as error:
            raise document.changed(str(error)) from error
        if value is None:
            continue
        if not isinstance(value, int | float):
            raise document.changed(f"a number for `{metric.label}`")
        values[metric.key] = value
    return Result(name, document.path, config, values)


def _config(document: Document) -> Iterator[tuple[str, str]]:
    """What a result was made of, by flat names: those of an option where it is one."""
    if document.schema == "nandwich.replay/1":
        yield "source", str(document.at("source", "name"))
        tier = document.at("tier")
        for key in ("nvm", "policy", "half_life", "reads", "nvm_bytes") if tier else ():
            yield f"tier {key}".replace("tier nvm", "nvm"), _text(tier.get(key))
    for section in _CONFIG[document.schema]:
        part = document.at(section)
        for key, value in (part or {}).items():
            if f"{section}.{key}" in _NO_CONFIG:
                continue
            if key == "ram_bytes":
                yield "ram", _text(value)
            elif key in ("layer", "settings"):
                yield from ((inner, _text(number)) for inner, number in value.items())
            elif isinstance(value, dict):
                yield from ((f"{key} {inner}", _text(number)) for inner, number in value.items())
            else:
                yield key, _text(value)
    yield from origin(document)


def origin(document: Document) -> Iterator[tuple[str, str]]:
    """Seed, version and inputs: results of two builds may differ by that alone."""
    made = document.at("provenance")
    if not isinstance(made, dict):
        raise document.changed("provenance")
    if made.get("seed") is not None:
        yield "seed", _text(made["seed"])
    yield "version", _text(made.get("nandwich"))
    commit = _text(made.get("commit"))
    yield "commit", commit[:_SHOWN_OF_A_HASH] + "+" * commit.endswith("+")
    hashes = sorted(str(one)[:_SHOWN_OF_A_HASH] for one in (made.get("inputs") or {}).values())
    if hashes:
        yield "inputs (sha256)", " ".join(hashes)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)


def _sched(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    config = {"device": _text(document.at("device")), **dict(origin(document))}
    if "admission" in document.content:
        for key in ("policy", "answer", "flow"):
            config[key] = _text(document.at("admission", key))
        metrics = [metric for metric, _ in _ADMISSION]
        return [_result(document, name, config, _ADMISSION)], metrics
    config |= {key: _text(document.at(key)) for key in ("runs", "drop_late")}
    found = []
    for one in document.at("results"):
        policy = str(one.get("policy"))
        part = Document(document.path, document.schema, one)
        rows = _POLICY[:1] if policy == "bound" else _POLICY
        whole = _result(part, f"{name} {policy}".strip(), config | {"policy": policy}, rows)
        found.append(Result(whole.name, whole.path, whole.config, whole.values, policy == "bound"))
    return found, [metric for metric, _ in _POLICY]


def _vmtrace(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    """A result for each policy with each RAM and size of frames."""
    found = []
    for size in document.at("frames"):
        for one in size["results"]:
            config = {
                "policy": str(one["policy"]),
                "ram": str(one["ram_bytes"]),
                "frame": str(size["frame_bytes"]),
            }
            words = " ".join(f"{key}={value}" for key, value in list(config.items())[1:])
            part = Document(document.path, document.schema, one)
            whole = f"{name} {one['policy']} {words}".strip()
            found.append(_result(part, whole, config, _PAGING))
    return found, [metric for metric, _ in _PAGING]


_COSTS: tuple[Row, ...] = (
    (Metric("cost_bytes", "cost", "B", "less", True), ("goals", "cost_bytes")),
    (Metric("ram_bytes", "RAM", "B", "less", True), ("goals", "ram_bytes")),
    (Metric("flash_bytes", "flash", "B", "less", True), ("goals", "flash_bytes")),
    (Metric("nvm_bytes", "NVM", "B", "less"), ("goals", "nvm_bytes")),
)
#: By the unit of the first three goals.
_TUNE: dict[str, tuple[Row, ...]] = {
    "byte": (
        (Metric("time_ns", "time a byte", "ns", "less", True), ("goals", "time_ns")),
        (Metric("energy_pj", "energy a byte", "pJ", "less", True), ("goals", "energy_pj")),
        (Metric("life_bytes", "life", "B", "more", True), ("goals", "life")),
        *_COSTS,
    ),
    "access": (
        (Metric("time_ns", "time an access", "ns", "less", True), ("goals", "time_ns")),
        (Metric("energy_pj", "energy an access", "pJ", "less", True), ("goals", "energy_pj")),
        (Metric("life_accesses", "life", "accesses", "more", True), ("goals", "life")),
        *_COSTS,
    ),
}


def _tune(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    """A result for each configuration of the front that the verb's table shows."""
    found = []
    told = _TUNE[_text(document.at("question", "unit"))]
    shown = [one for one in document.at("rows") if one["shown"]]
    for one in sorted(shown, key=lambda row: int(row["place"])):
        part = Document(document.path, document.schema, one)
        whole = f"{name} {one['place']} {one['name']}".strip()
        config = {str(key): _text(value) for key, value in one["configuration"].items()}
        if config.get("blocks") == "none":
            config["blocks"] = "all"
        config |= {"source": _text(document.at("question", "source")), **dict(origin(document))}
        found.append(_result(part, whole, config, told))
    return found, [metric for metric, _ in told]


def _of_a_way(key: str) -> Metric:
    """The figure of a way to power a node: `life_ns NAME`, say."""
    kind, _, way = key.partition(" ")
    label, better = next((told, good) for one, told, good in _OF_A_WAY if one == kind)
    return Metric(key, f"{label}, {way}", "ns", better, True)


def _energy(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    config = {str(one["key"]): str(one["value"]) for one in document.at("figures")}
    metrics = [metric for metric, _ in _JOB]
    result = _result(document, name, config | dict(origin(document)), _JOB)
    for way in document.at("ways"):
        name_of_way = str(way["name"])
        for key, *_ in _OF_A_WAY:
            metric = _of_a_way(f"{key} {name_of_way}")
            metrics.append(metric)
            if isinstance(way[key], int | float):
                result.values[metric.key] = way[key]
            elif way[key] is not None:
                raise document.changed(f"a number for `{metric.label}`")
    return [result], metrics


def _fleet(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    """Lives and ends, with their intervals. Of a life beyond the horizon only that is known."""
    horizon = document.at("horizon_days")
    if not isinstance(horizon, int | float):
        raise document.changed("a number of horizon_days")
    config = {"nodes": _text(document.at("nodes")), "horizon": f"{horizon / _DAYS:g} years"}
    metrics: list[Metric] = []
    result = Result(name, document.path, config | dict(origin(document)), {})

    def put(metric: Metric, told: Sequence[Any], factor: float, end: float | None = None) -> None:
        """A figure and its bounds; None stands for what is beyond `end`."""
        numbers: list[float] = []
        for one in told:
            number = end if one is None else one
            if not isinstance(number, int | float):
                raise document.changed(f"a number for `{metric.label}`")
            numbers.append(round(number * factor, 6))
        metrics.append(metric)
        result.values[metric.key] = numbers[0]
        result.between[metric.key] = (numbers[1], math.inf if told[2] is None else numbers[2])
        if told[0] is None:
            result.over.add(metric.key)

    for one in document.at("life", "quantiles"):
        metric = Metric(
            f"life_p{one['percent']}_ns", f"{one['percent']} % have ended", "ns", "more", True
        )
        put(metric, [one[f"{key}days"] for key in ("", "least_", "most_")], _DAY_NS, horizon)
    life = document.at("life")
    mean = Metric("life_mean_ns", "life, mean", "ns", "more", goes_by="horizon")
    put(mean, [life[f"{key}_days"] for key in ("mean", "least", "most")], _DAY_NS)
    ends = {str(one["cause"]): one for one in document.at("ends")}
    for cause, better in _FLEET_ENDS:
        label = "alive at the horizon" if cause == "alive" else f"ended by {cause}"
        metric = Metric(f"{cause}_percent", label, "%", better, True, goes_by="horizon")
        put(metric, [ends[cause][key] for key in ("share", "least", "most")], 100)
    return [result], metrics


def _bench(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    metrics, values = [], {}
    for one in document.content["figures"]:
        try:
            better: Better = "less" if one["better"] == "lower" else "more"
            name_of_it, unit = str(one["name"]), str(one["unit"])
            metric = Metric(name_of_it, name_of_it, unit, better, True, wall="/s" in unit)
            values[metric.key] = float(one["value"]) if one["value"] % 1 else int(one["value"])
        except (KeyError, TypeError) as error:
            raise document.changed(str(error)) from error
        metrics.append(metric)
    return [Result(name, document.path, {}, values)], metrics
