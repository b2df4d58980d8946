# SPDX-License-Identifier: Apache-2.0
"""`nandwich trace`: what a recorded trace holds, and the same in another format."""

from pathlib import Path
from typing import Any

import click

from nandwich import _native, names
from nandwich.cli import output
from nandwich.cli.command import Group
from nandwich.cli.options import json_option, trace_options, writable
from nandwich.errors import InputError, RunError, not_written
from nandwich.replay import play as replay
from nandwich.replay import report
from nandwich.replay.play import Options

WRITTEN = ("msr", "spc", "android", "fio", "disksim")


def _formats() -> str:
    lines = (f"  {name:<9} {what}" for name, what in _native.trace_formats())
    return "\b\nFormats, told by content, plain or packed with gzip or zstd:\n" + "\n".join(lines)


@click.group(cls=Group, epilog=_formats())
def command() -> None:
    """Look into recorded block traces, or convert them."""


@command.command(
    epilog="""\b
Examples:
  nandwich trace info examples/traces/camera.csv
  nandwich trace info phone.csv.gz --json -
  nandwich trace info mine.csv --columns time,op,offset,size --unit us --header
"""
)
@click.argument("path", metavar="TRACE")
@trace_options
@json_option
def info(path: str, json_target: str | None, **how: Any) -> None:
    """Counts, sizes, reach and times of a trace."""
    options = Options(path, **replay.reading(**how))
    output.check_apart((path,), (json_target,))
    trace = replay.open_trace(path, options)
    facts = replay.survey(trace)
    value = {
        "name": path,
        "format": trace.format,
        "packing": trace.packing,
        "separator": trace.separator or None,
        "lines": trace.lines,
        "skipped_lines": trace.skipped,
        "empty_lines": trace.empty,
        **facts,
        "applications": trace.apps,
    }
    if json_target != "-":
        output.print_table(("what", "how much", "meaning"), report.trace_rows(value))
    if json_target is not None:
        document = output.document("trace", 1, {"trace": value}, inputs=[Path(path)])
        output.write_json(json_target, document)


@command.command(
    epilog="""\b
Examples:
  nandwich trace convert phone.csv.gz phone.fio --to fio
  nandwich trace convert disk.vscsi.gz disk.csv.gz --to msr
  nandwich trace convert gen:tpc,requests=500,footprint=8M tpc.csv --to spc
"""
)
@click.argument("path", metavar="TRACE|gen:NAME")
@click.argument("target", metavar="FILE[.gz]", callback=writable)
@click.option("--to", "wanted", required=True, help="One of " + ", ".join(WRITTEN))
@trace_options
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, help="Of a workload.")
def convert(
    path: str,
    target: str,
    wanted: str,
    seed: int,
    **how: Any,
) -> None:
    """Write a trace, or a made-up workload, in another format; times begin at 0."""
    if wanted not in WRITTEN:
        raise names.unknown("format to write", wanted, WRITTEN)
    output.check_apart(() if replay.is_generated(path) else (path,), (target,))
    source: _native.Source
    options = Options(path, **replay.reading(**how))
    if replay.is_generated(path):
        replay.check_made_up(options)
        if ",footprint=" not in path:
            raise InputError(f"{path}: how large is the device? Add ,footprint=SIZE")
        source = replay.workload(path.removeprefix(replay.GENERATED), 0, seed)
    else:
        source = replay.open_trace(path, options)
    try:
        written, left_out = _native.write_trace(source, target, wanted)
    except ValueError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error
    output.talk(f"{target}: {written} requests")
    if left_out:
        output.talk(f"{left_out} left out: {wanted} has no word for them (trims, syncs, odd sizes)")
    if written == 0:
        raise RunError(f"{target}: nothing of {path} can be said in {wanted}")
