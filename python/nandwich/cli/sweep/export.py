# SPDX-License-Identifier: Apache-2.0
"""The points of a sweep as rows, in the order of the spec: CSV, JSON, parquet.

Nothing in them hangs on the run: no time of the host, no number of processes, nothing of what was
known before.
"""

import csv
import importlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from nandwich import files
from nandwich.cli.options import writable
from nandwich.cli.sweep.kept import Kept
from nandwich.cli.sweep.point import Point
from nandwich.errors import InputError, RunError, not_written
from nandwich.results import figures, read, sweeps

KINDS = (".csv", ".json", ".parquet")


def asked(ctx: click.Context, param: click.Parameter, target: str | None) -> str | None:
    """Callback of --export: as writable(), of a kind that can be written."""
    if target is None:
        return None
    _check(target)
    return writable(ctx, param, target)


def _check(target: str) -> None:
    """InputError or RunError where nothing could be written by that name."""
    kind = Path(target).suffix
    if kind not in KINDS:
        raise InputError(f"--export {target}: the name ends in one of {', '.join(KINDS)}")
    if kind == ".parquet":
        try:
            importlib.import_module("pyarrow.parquet")
        except ModuleNotFoundError as error:
            raise RunError(
                f"--export {target} needs pyarrow: pip install pyarrow; .csv and .json need nothing"
            ) from error


def rows(points: Sequence[Point], played: Sequence[Kept]) -> list[dict[str, Any]]:
    """A row for each result: `sched` has one for each policy. What failed has one without values.

    `configuration` is what differs between points, `values` are figures in base units.
    """
    found = []
    for point, kept in zip(points, played, strict=True):
        common = {
            "configuration": point.chosen,
            "result": "",
            "state": kept.state,
            "why": kept.why,
            "command": point.command,
            "values": {},
        }
        if kept.state != "done":
            found.append(common)
            continue
        for name, values in _results(kept):
            found.append(common | {"result": name, "values": values})
    return found


def _results(kept: Kept) -> list[tuple[str, dict[str, float]]]:
    content = json.loads(kept.document)
    document = read.Document("", str(content["schema"]), content)
    results, metrics = figures.results(document, "")
    by_clock = {one.key for one in metrics if one.wall}
    return [
        (one.name, {key: value for key, value in one.values.items() if key not in by_clock})
        for one in results
    ]


def table(found: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns by name; None where a row has nothing."""
    keys = list(dict.fromkeys(key for one in found for key in one["configuration"]))
    metrics = list(dict.fromkeys(key for one in found for key in one["values"]))
    columns: dict[str, list[Any]] = {}
    for key in keys:
        columns[key] = [one["configuration"].get(key) for one in found]
    if any(one["result"] for one in found):
        columns["result"] = [one["result"] for one in found]
    columns["state"] = [one["state"] for one in found]
    for key in metrics:
        # A figure and an option of one name: the option stands first.
        columns[f"{key} told" if key in columns else key] = [
            one["values"].get(key) for one in found
        ]
    return columns


def as_csv(columns: dict[str, list[Any]]) -> bytes:
    """A heading and a line for each row."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if one is None else sweeps.text(one) for one in row])
    return stream.getvalue().encode("utf-8", errors="backslashreplace")


def write(target: str, columns: dict[str, list[Any]]) -> None:
    """Columns as the CSV or parquet that --export asked for; RunError or InputError."""
    make = as_csv if target.endswith(".csv") else as_parquet
    try:
        files.replace(Path(target), make(columns))
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error


def as_parquet(columns: dict[str, list[Any]]) -> bytes:
    """The same columns with types: numbers where all of a column are, else texts."""
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    typed = {}
    for name, values in columns.items():
        there = [one for one in values if one is not None]
        if all(isinstance(one, int | float) for one in there):
            kind = arrow.int64() if all(isinstance(one, int) for one in there) else arrow.float64()
            typed[name] = arrow.array(values, kind)
        else:
            texts = [None if one is None else sweeps.text(one) for one in values]
            typed[name] = arrow.array(texts, arrow.string())
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(typed), sink)
    return bytes(sink.getvalue())
