# SPDX-License-Identifier: Apache-2.0
"""`nandwich trace`: what a recorded trace holds, and the same in another format."""

from pathlib import Path
from typing import Any

import click

from nandwich import _native, names
from nandwich.cli import output
from nandwich.cli.command import Group
from nandwich.cli.options import SIZE, Number, json_option, trace_options, writable
from nandwich.errors import InputError, RunError, not_written
from nandwich.quantities import format_size
from nandwich.replay import curve as curves
from nandwich.replay import report, traffic
from nandwich.replay.options import Options

WRITTEN = ("msr", "spc", "android", "fio", "disksim", "packed")
_PAGE_LEAST, _PAGE_MOST = 512, 1 << 30


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
    options = Options(path, **traffic.reading(**how))
    output.check_apart((path,), (json_target,))
    trace = traffic.open_trace(path, options)
    facts = traffic.survey(trace)
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


_SEED = click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, help="Of a workload.")
_SAMPLE = click.option(
    "--sample",
    type=Number(0, 1, min_open=True),
    metavar="SHARE",
    help="Only requests to this share of the pages, chosen by a hash: 0.01 is a hundredth.",
)


def _page(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Callback of an option: a page that is one."""
    del ctx, param
    if not _PAGE_LEAST <= value <= _PAGE_MOST:
        least, most = format_size(_PAGE_LEAST), format_size(_PAGE_MOST)
        raise InputError(f"--page {value}: from {least} to {most}")
    return value


_PAGE = click.option(
    "--page",
    type=SIZE,
    default=4096,
    callback=_page,
    help="Bytes that are in a sample, or in a cache, together; 4 KiB if not told.",
)


def _source(path: str, seed: int, **how: Any) -> _native.Source:
    """A recorded trace, or a workload."""
    options = Options(path, seed=seed, **traffic.reading(**how))
    if traffic.is_generated(path) and ",footprint=" not in path:
        raise InputError(f"{path}: how large is the device? Add ,footprint=SIZE")
    return traffic.open_source(options, 0)


@command.command(
    epilog="""\b
Examples:
  nandwich trace curve examples/traces/database.csv
  nandwich trace curve month.csv.zst --sample 0.01 --json curve.json
  nandwich report curve.json -o curve.html
"""
)
@click.argument("path", metavar="TRACE|gen:NAME|access:FILE")
@_SAMPLE
@_PAGE
@trace_options
@_SEED
@json_option
def curve(
    path: str, sample: float | None, page: int, seed: int, json_target: str | None, **how: Any
) -> None:
    """What a cache of any size before the flash would miss: LRU over the pages of a trace.

    A sample of a hundredth of the pages (SHARDS) takes a hundredth of the RAM, and tells the same
    to a percent or two.
    """
    inputs = traffic.inputs(Options(path))
    output.check_apart(inputs, (json_target,))
    source = _source(path, seed, **how)
    with output.progress("reading", 0) as progress:
        found = curves.lru(source, page, sample or 1.0, progress.advance)
    if json_target != "-":
        rows = [
            (format_size(one.cache_bytes), f"{100 * one.missed:.2f}", f"{100 * one.written:.2f}")
            for one in found.points
        ]
        output.print_table(("cache", "missed %", "written back %"), rows)
    report.tell_skipped(path, source, output.talk)
    if curves.is_thin(found):
        pages = output.counted(found.sampled, "page")
        output.talk(f"no more than {pages} in the sample: take a larger --sample")
    if json_target is not None:
        document = output.document(
            "curve",
            1,
            {"trace": path, **curves.as_json(found)},
            seed=seed if traffic.is_generated(path) else None,
            inputs=inputs,
        )
        output.write_json(json_target, document)


@command.command(
    epilog="""\b
Examples:
  nandwich trace convert phone.csv.gz phone.fio --to fio
  nandwich trace convert disk.vscsi.gz disk.csv.gz --to msr
  nandwich trace convert gen:tpc,requests=500,footprint=8M tpc.csv --to spc
  nandwich trace convert month.csv.zst month.packed.gz --to packed
  nandwich trace convert month.csv.zst little.packed --to packed --sample 0.01
"""
)
@click.argument("path", metavar="TRACE|gen:NAME|access:FILE")
@click.argument("target", metavar="FILE[.gz]", callback=writable)
@click.option("--to", "wanted", required=True, help="One of " + ", ".join(WRITTEN))
@trace_options
@_SEED
@_SAMPLE
@_PAGE
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def convert(
    path: str,
    target: str,
    wanted: str,
    force: bool,
    seed: int,
    sample: float | None,
    page: int,
    **how: Any,
) -> None:
    """Write a trace, or a made-up workload, in another format; times begin at 0."""
    if wanted not in WRITTEN:
        raise names.unknown("format to write", wanted, WRITTEN)
    output.check_apart(traffic.inputs(Options(path)), (target,))
    if not force and Path(target).is_file():
        raise InputError(f"{target} exists; --force replaces it")
    whole = _source(path, seed, **how)
    source = whole if sample is None else _native.Sample(whole, page, sample)
    try:
        written, left_out = _native.write_trace(source, target, wanted)
    except ValueError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error
    output.talk(f"{target}: {written} requests")
    report.tell_skipped(path, whole, output.talk)
    if left_out:
        output.talk(f"{left_out} left out: {wanted} has no word for them (trims, syncs, odd sizes)")
    if written == 0:
        raise RunError(f"{target}: nothing of {path} can be said in {wanted}")
