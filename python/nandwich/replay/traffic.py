# SPDX-License-Identifier: Apache-2.0
"""Where requests come from.

A source is the path of a trace; or `gen:NAME[,KEY=VALUE...]`: a workload by name with figures of
its row changed; or `access:FILE,KEY=VALUE...`: what a paging policy makes of recorded accesses.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from nandwich import _native, names, quantities
from nandwich.errors import InputError
from nandwich.replay import accesses
from nandwich.replay.options import Options

GENERATED = "gen:"
STEP = 1 << 16  # requests between two signs of progress
_THETA_MOST = 4000  # thousandths

#: What a workload's figures count: "count", "share" (of thousand), "theta", "size" or "time".
FIGURES = {
    "requests": "count",
    "footprint": "size",
    "size": "size",
    "align": "size",
    "gap": "time",
    "burst": "count",
    "pause": "time",
    "writes": "share",
    "run": "share",
    "hot_share": "share",
    "hot_space": "share",
    "meta": "share",
    "theta": "theta",
}

#: Columns of a csv of one's own: numbers of enum nw_iotrace_column.
COLUMNS = {"-": 0, "time": 1, "op": 2, "offset": 3, "size": 4, "sector": 5, "sectors": 6}
#: A time of 1 in ns: so many zeros.
TIME_PLACES = {"ns": 0, "us": 3, "ms": 6, "s": 9}
_PASSED_OVER = "-"
_MOST_COLUMNS = 32
_CSV = "csv"
#: What helps with a trace in no known format.
HINT = "of another csv name the columns, say --columns time,op,offset,size --unit us"

Advance = Callable[[int], None]


def _fraction(key: str, text: str) -> Fraction:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%?)", text)
    if match is None:
        raise InputError(f"{key}={text}: wanted a share like 0.7 or 70%")
    return Fraction(match.group(1)) / (100 if match.group(2) else 1)


def _figure(key: str, text: str) -> int:
    kind = FIGURES[key]
    try:
        if kind == "size":
            return quantities.within(quantities.parse(text, "size", bare=True))
        if kind == "time":
            return quantities.within(quantities.parse(text, "time"))
        if kind == "count":
            return quantities.count(text)
    except ValueError as error:
        raise InputError(f"{key}={text}: {error}") from error
    value = _fraction(key, text) * 1000
    if kind == "share" and value > 1000:
        raise InputError(f"{key}={text}: a share is at most 1")
    if kind == "theta" and value > _THETA_MOST:
        raise InputError(f"{key}={text}: at most {_THETA_MOST // 1000}")
    return round(value)


def _changes(text: str) -> tuple[str, dict[str, int]]:
    """`NAME,KEY=VALUE...` taken apart."""
    name, *pairs = text.split(",")
    known = [row["name"] for row in _native.workloads()]
    if name not in known:
        raise names.unknown("workload", name, known, list_with="nandwich replay --help")
    changes: dict[str, int] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in FIGURES:
            raise names.unknown("figure of a workload", key, FIGURES)
        changes[f"{key}_ns" if FIGURES[key] == "time" else key] = _figure(key, value)
    return name, changes


def workload(text: str, device_bytes: int, seed: int) -> _native.Workload:
    """The generator of `NAME[,KEY=VALUE...]`; it covers the device unless it says otherwise."""
    name, changes = _changes(text)
    row = next(row for row in _native.workloads() if row["name"] == name)
    size = changes.get("size", row["size"])
    if "align" not in changes and 0 < size < row["align"]:
        changes["align"] = size & -size  # the largest power of two that divides it
    align = changes.get("align", row["align"])
    changes.setdefault("footprint", device_bytes // max(1, align) * align)
    try:
        return _native.Workload(name, changes, seed)
    except ValueError as error:
        raise InputError(f"{GENERATED}{text}: {error}") from error


def endless(options: Options, device_bytes: int) -> _native.Workload | None:
    """A workload that goes on and on; None for a recording, which can only be repeated."""
    if not is_generated(options.source):
        return None
    text = f"{options.source.removeprefix(GENERATED)},requests={quantities.MOST}"
    return workload(text, device_bytes, options.seed)


def is_generated(source: str) -> bool:
    """Whether a source is made up rather than recorded."""
    return source.startswith(GENERATED)


def is_block_trace(source: str) -> bool:
    """Whether a source is the path of a block trace."""
    return not is_generated(source) and not accesses.is_asked(source)


def path_of(source: str) -> str:
    """The file that a source is read from, "" for none."""
    if is_generated(source):
        return ""
    return accesses.path_of(source) if accesses.is_asked(source) else source


def inputs(options: Options) -> list[Path]:
    """The files that a replay reads, parts apart."""
    named = (path_of(options.source), options.classes, options.config)
    return [Path(path) for path in named if path]


def check_no_trace(options: Options) -> None:
    """InputError for options that say how to read a block trace, where none is read."""
    given = {
        "--format": bool(options.format),
        "--unit": options.unit is not None,
        "--skip-bad": options.skip_bad != 0,
        "--columns": bool(options.columns),
        "--header": options.header,
    }
    for name in (name for name, is_given in given.items() if is_given):
        what = "made up" if is_generated(options.source) else "no block trace"
        raise InputError(f"{name} is for recorded traces; {options.source} is {what}")


def reading(
    *,
    trace_format: str = "",
    unit: int | str | None = None,
    skip_bad: int = 0,
    columns: str = "",
    header: bool = False,
) -> dict[str, Any]:
    """The fields of Options that say how a trace is read, from the command line; InputError."""
    if columns and trace_format not in ("", _CSV):
        raise InputError(f"--columns is for a csv of one's own, not for --format {trace_format}")
    if trace_format == _CSV and not columns:
        raise InputError("--format csv: name its columns, say --columns time,op,offset,size")
    if columns and isinstance(unit, int):
        raise InputError(f"--unit {unit}: with --columns it is that of times: ns, us, ms or s")
    if not columns and isinstance(unit, str):
        raise InputError(f"--unit {unit}: times have one with --columns; a device is a number")
    if header and not columns:
        raise InputError("--header is for a csv whose columns are named: --columns")
    csv_columns(columns)
    return {
        "format": trace_format,
        "unit": unit if isinstance(unit, int) else None,
        "skip_bad": skip_bad,
        "columns": columns,
        "time_unit": unit if isinstance(unit, str) else "s",
        "header": header,
    }


def csv_columns(text: str) -> list[int]:
    """What `time,op,offset,size` is for the reader; InputError. Nothing for nothing."""
    if not text:
        return []
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in COLUMNS:
            raise names.unknown("column", word, COLUMNS)
        if word != _PASSED_OVER and words.count(word) > 1:
            raise InputError(f"--columns {text}: {word} is there twice")
    for either in (("op",), ("offset", "sector"), ("size", "sectors")):
        if len([word for word in words if word in either]) != 1:
            raise InputError(f"--columns {text}: wanted one column {' or '.join(either)}")
    if len(words) > _MOST_COLUMNS:
        raise InputError(f"--columns: {_MOST_COLUMNS} at most")
    return [COLUMNS[word] for word in words]


def open_trace(path: str, options: Options) -> _native.Trace:
    """A trace with the options' format, unit and patience; InputError."""
    known = [name for name, _ in _native.trace_formats()]
    if options.format and options.format not in known:
        raise names.unknown("trace format", options.format, known)
    try:
        return _native.Trace(
            path,
            format=options.format,
            skip_bad=options.skip_bad,
            unit=options.unit,
            columns=csv_columns(options.columns),
            time_places=TIME_PLACES[options.time_unit],
            header=options.header,
        )
    except ValueError as error:
        hint = ""
        if "of no known format" in str(error):
            hint = f"\nknown: {', '.join(known)}; {HINT}"
        raise InputError(str(error) + hint) from error


def open_source(
    options: Options, device_bytes: int, advance: Advance | None = None
) -> _native.Source:
    """Where the requests come from; a workload covers so large a device. InputError."""
    if is_block_trace(options.source):
        return open_trace(options.source, options)
    check_no_trace(options)
    if accesses.is_asked(options.source):
        return accesses.traffic(options.source, advance)
    return workload(options.source.removeprefix(GENERATED), device_bytes, options.seed)


def check_name(source: str) -> None:
    """InputError for a workload that nobody knows, or figures that it has not."""
    if is_generated(source):
        _changes(source.removeprefix(GENERATED))
    elif accesses.is_asked(source):
        accesses.parse(source)


def check_source(options: Options) -> None:
    """InputError for a recording that cannot be opened; most of it is not read."""
    if is_block_trace(options.source):
        open_trace(options.source, options)
    elif accesses.is_asked(options.source):
        accesses.begin(accesses.parse(options.source))


def survey(
    source: _native.Source, advance: Advance | None = None, *, limit: int = 0
) -> dict[str, Any]:
    """What a source asks for; InputError for a bad line.

    With a `limit` it ends at the first multiple of STEP that reaches it: 0 looks at everything.
    """
    looked = _native.Survey(source)
    seen = 0
    try:
        while looked.run(STEP):
            seen += STEP
            if 0 < limit <= seen:
                break
            if advance is not None:
                advance(STEP)
    except ValueError as error:
        raise InputError(str(error)) from error
    return dict(looked.result())
