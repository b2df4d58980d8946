# SPDX-License-Identifier: Apache-2.0
"""`nandwich replay`: plays block traces, workloads and a program's paging on a layer."""

import re
import time
from typing import Any

import click
from click.core import ParameterSource

from nandwich import _native, locks
from nandwich.cli import config_file, output
from nandwich.cli.command import Command
from nandwich.cli.options import (
    LAYER_FIGURES,
    TAKEN_BY,
    Count,
    Quantity,
    json_option,
    layer_options,
    overlong_options,
    timeline_options,
    trace_options,
    window_of,
    writable,
)
from nandwich.errors import InputError, RunError
from nandwich.replay import outcome, report, traffic
from nandwich.replay import play as replay
from nandwich.replay.options import LAYERS, TIER_NEEDS, TIERS, WEARS, Options, models_among
from nandwich.twin import parts

_DEFAULT = Options("")
_MOST_ERASES = 2**32 - 2


def _ram(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Callback of --ram: 0 stands for no limit, which nobody means who writes it."""
    if value == 0 and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        raise InputError("--ram 0: no layer works without RAM; leave it out for no limit")
    return value


class _Share(click.ParamType[int]):
    """A fraction of the device like 0.9 or 250%, as permille."""

    name = "fraction"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%?)", str(value))
        if match is None:
            self.fail(f"'{value}' is no fraction; write it like 0.9 or 90%", param, ctx)
        permille = float(match.group(1)) * (10 if match.group(2) else 1000)
        if permille > 100_000:
            self.fail(f"'{value}': at most 100 times the device", param, ctx)
        return round(permille)


class _Lives(click.ParamType[tuple[int, ...]]):
    """Counts of erases, a block each."""

    name = "erases"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        for word in words:
            if re.fullmatch(r"[0-9]{1,10}", word) is None or int(word) > _MOST_ERASES:
                self.fail(f"'{word}' is no count of erases up to {_MOST_ERASES}", param, ctx)
        return tuple(map(int, words))


def _workloads() -> str:
    lines = (f"  {row['name']:<11} {row['what']}" for row in _native.workloads())
    return "\b\nWorkloads, as gen:NAME[,KEY=VALUE...]:\n" + "\n".join(lines)


_EPILOG = f"""{_workloads()}

\b
Keys: {", ".join(traffic.FIGURES)}.
They are shares (70% or 0.7), counts (200K), sizes (4K) and times (2 ms).

access:FILE,frame=SIZE,ram=SIZE,policy=NAME is what a paging policy reads and writes for a
program whose accesses `nandwich run --record-accesses FILE` recorded. The policy is vm if none is
named; `nandwich vmtrace --policies` lists all.

\b
Examples:
  nandwich replay gen:uniform --precondition 2
  nandwich replay gen:zipf,theta=0.8,writes=70%,requests=200K --ftl lavish
  nandwich replay examples/traces/camera.csv --verify
  nandwich replay access:sort.acc,frame=2K,ram=16K,policy=vm --ram 8K
  nandwich replay mine.csv --columns time,op,offset,size --unit us --header
  nandwich replay phone.csv.gz --wrap --chip MLC64G --json out.json
  nandwich replay gen:filecopy --ftl page --chip TLC8G-HEAL --wear dheating --heal
  nandwich replay gen:sensor --nvm 1M --tier lrfu --idle
  nandwich replay phone.csv.gz --chip MLC64G --nvm 16M --tier habit --idle
  nandwich replay disk.blkparse --chip MLC64G --nvm 16M --tier class --classes disk.img
  nandwich replay gen:zipf --ftl tree --timeline zipf.perfetto-trace
  nandwich replay gen:zipf --timeline zipf.perfetto-trace --timeline-window 5000:15000
  nandwich replay gen:zipf,footprint=32M --config choice.toml
  nandwich replay gen:sensor --until-worn --chip worn.toml --blocks 64
"""


_OOB_FIGURES = ("page_bytes", "join")


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("source", metavar="TRACE|gen:NAME|access:FILE")
@click.option(
    "--config",
    default="",
    is_eager=True,
    callback=config_file.for_replay,
    metavar="FILE.toml",
    help="Options by their names, in its [base], as nandwich tune --out writes them.",
)
@click.option(
    "--chip",
    default=_DEFAULT.chip,
    show_default=True,
    metavar="NAME|FILE.toml",
    help="The part (`nandwich chips` lists them), or a file of your own.",
)
@click.option("--ftl", default=_DEFAULT.ftl, show_default=True, help="One of " + ", ".join(LAYERS))
@click.option(
    "--blocks", type=click.IntRange(0, 2**32 - 1), default=0, help="Another number of blocks."
)
@layer_options
@click.option(
    "--page",
    "page_bytes",
    type=Quantity("size", 2**32 - 1),
    default=0,
    metavar="SIZE",
    help="Of a part without a spare area (NOR), which gets one: pages of so many bytes; 512.",
)
@click.option(
    "--join",
    type=click.IntRange(0, 65535),
    default=0,
    help="The same: erase blocks of the part in a block; the fewest that have 30 pages.",
)
@click.option(
    "--ram",
    type=Quantity("size"),
    default=0,
    callback=_ram,
    metavar="SIZE",
    help="What the layer may take, like 16K: its cache or its log blocks are made to fit.",
)
@click.option(
    "--wear",
    default=_DEFAULT.wear,
    show_default=True,
    help="Wear policy: one of " + ", ".join(WEARS),
)
@click.option("--threshold", type=click.IntRange(2, 65535), help="swl: erases a flag.")
@click.option("--heal", is_flag=True, help="Heal worn blocks, on parts that can (TLC8G-HEAL).")
@click.option("--heal-at", type=click.IntRange(1, 100), help="Percent of the life; early healing.")
@click.option("--heal-cycles", type=click.IntRange(1, 65534), help="A bar in erases instead.")
@click.option(
    "--heal-period",
    type=click.IntRange(1, 2**32 - 1),
    help="Lazy healing: in idle time (--idle), or one in so many seconds.",
)
@click.option(
    "--nvm",
    type=Quantity("size"),
    default=0,
    metavar="SIZE",
    help="So much NVM before the layer, like 16M: what is rewritten often stays there.",
)
@click.option("--nvm-part", default=_DEFAULT.nvm_part, show_default=True, help="Which NVM.")
@click.option(
    "--tier",
    default=_DEFAULT.tier,
    show_default=True,
    help="What stays in the NVM: one of " + ", ".join(TIERS),
)
@click.option(
    "--half-life",
    type=click.IntRange(1, 65536),
    default=_DEFAULT.half_life,
    show_default=True,
    help="lrfu: after so many references one counts half.",
)
@click.option("--nvm-reads", is_flag=True, help="What is read goes to the NVM too.")
@click.option(
    "--classes",
    default="",
    metavar="IMAGE",
    help="The raw disk the trace was recorded on: what its sectors hold is found in its ext4.",
)
@click.option(
    "--arrivals/--back-to-back",
    default=True,
    help="Requests come at their times, or each when the one before has ended.",
)
@click.option("--idle", is_flag=True, help="The layer works ahead between requests.")
@click.option(
    "--repeat", type=click.IntRange(1, 2**32 - 1), default=1, show_default=True, help="Passes."
)
@click.option("--until-worn", is_flag=True, help="Plays on until the device refuses.")
@click.option(
    "--limit", type=Count(0), default=0, metavar="COUNT", help="Requests at most; 0: all."
)
@click.option(
    "--precondition",
    type=_Share(),
    default=0,
    metavar="FRACTION",
    help="Writes so much of the device first: up to 1 in order, what is more at random.",
)
@overlong_options
@trace_options
@click.option(
    "--verify",
    is_flag=True,
    help="Each sector carries a token; each read is checked, and every sector at the end.",
)
@click.option(
    "--lives",
    type=_Lives(),
    default=(),
    metavar="ERASES,...",
    help="What each block bears, from block 0 on, instead of drawn lives; 0: bad when new.",
)
@click.option("--no-bad-blocks", is_flag=True, help="A chip without bad blocks from the factory.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Of workload, chip and preconditioning.",
)
@click.option(
    "--snapshot",
    default="",
    metavar="FILE",
    callback=writable,
    help="The chip's state: gone on from when there, saved at the end.",
)
@timeline_options
@json_option
def command(json_target: str | None, **choices: Any) -> None:
    """Play a block trace, a made-up workload or a program's paging on a layer over a twin.

    The layer is the C code that ships; the chip keeps no payload, so gigabytes cost little. Books
    are checked at the end: nothing lost, nothing invented. Exit code 1 when they do not balance,
    when a sector reads wrong, or when the device refuses (unless --until-worn waits for that).
    """
    until_worn = bool(choices["until_worn"])
    options = chosen(**choices)
    inputs = traffic.inputs(options)
    described = (*parts.files(options.chip), *parts.files(options.nvm_part))
    output.check_apart((*inputs, *described), (options.snapshot, options.timeline, json_target))
    with locks.held(options.snapshot):
        play = _prepare(options)
        _play(play)
        play.save()
    broken = outcome.broken_laws(play)  # before the device is read back
    value = _books(play, verify=options.verify)
    if json_target != "-":
        _print(value)
    if json_target is not None:
        document = output.document("replay", 1, value, seed=options.seed, inputs=inputs)
        output.write_json(json_target, document)
    told = play.save_timeline()  # last: a full disk must not take the result with it
    if told:
        output.talk(told)
    faults = outcome.faults(value["result"], broken, until_worn=until_worn)
    if faults:
        raise RunError("\n".join(faults))


def chosen(
    *,
    fit: str | None,
    until_worn: bool,
    repeat: int,
    no_bad_blocks: bool,
    threshold: int | None,
    heal: bool,
    heal_at: int | None,
    heal_cycles: int | None,
    heal_period: int | None,
    timeline: str = "",
    timeline_window: str | None = None,
    **choices: Any,
) -> Options:
    """What the command line asks for; InputError where two options do not go together."""
    layer = {key: choices.pop(key) for key in (*LAYER_FIGURES, *_OOB_FIGURES)}
    figures = {
        "threshold": threshold,
        "heal": int(heal),
        "heal_percent": heal_at,
        "heal_cycles": heal_cycles,
        "heal_period_s": heal_period,
    }
    how = {
        key: choices.pop(key) for key in ("trace_format", "unit", "skip_bad", "columns", "header")
    }
    options = Options(
        layer={key: value for key, value in layer.items() if value},
        wear_figures={key: value for key, value in figures.items() if value},
        fit=fit or "refuse",
        **traffic.reading(**how),
        repeat=0 if until_worn else repeat,
        factory_bad=not no_bad_blocks,
        timeline=timeline,
        window=window_of(timeline, timeline_window),
        **choices,
    )
    _check_layer(options)
    _check_nvm(options)
    return options


def _print(value: dict[str, Any]) -> None:
    click.echo(report.headline(value))
    if models := models_among([value["device"]["ftl"]]):
        output.talk(models)
    output.print_table(("what", "how much", "meaning"), report.rows(value))
    for heads, table in report.share_tables(value):
        click.echo()
        output.print_table(heads, table)


def _check_layer(options: Options) -> None:
    """Refuse a figure that this layer does not take."""
    for figure in options.layer:
        layers = TAKEN_BY.get(figure, (options.ftl,))
        if options.ftl not in layers:
            name = "--" + figure.replace("_", "-")
            raise InputError(f"{name} is for --ftl {', '.join(layers)}; {options.ftl} takes none")


def _check_nvm(options: Options) -> None:
    """Refuse what has no effect without an NVM, or with this policy."""
    chosen = (options.nvm_part, options.tier, options.half_life, options.nvm_reads)
    if not options.nvm and chosen != (_DEFAULT.nvm_part, _DEFAULT.tier, _DEFAULT.half_life, False):
        raise InputError("--nvm-part, --tier, --half-life and --nvm-reads need --nvm SIZE")
    needs = TIER_NEEDS.get(options.tier, frozenset(["lambda"]))
    if "lambda" not in needs and options.half_life != _DEFAULT.half_life:
        raise InputError("--half-life is lrfu's: give --tier lrfu")
    if options.classes and not traffic.is_block_trace(options.source):
        what = "made up" if traffic.is_generated(options.source) else "paged"
        raise InputError(f"--classes is for recorded traces: what is {what} lies on no disk")


def _books(play: replay.Play, *, verify: bool) -> dict[str, Any]:
    """What is told of a replay; with `verify` the whole device is read back first."""
    value = outcome.as_json(play)
    if verify:
        with output.progress("reading back", play.device.sectors) as bar:
            value["result"] |= play.read_back(bar.advance)
    return value


def _prepare(options: Options) -> replay.Play:
    """Trace and device, as old as it is asked for."""
    with output.progress("looking over the source", 0) as bar:
        play = replay.prepare(options, bar.advance)
    if isinstance(play.source, _native.Trace) and play.source.separator:
        output.talk(f"{options.source}: fields apart by {report.SEPARATORS[play.source.separator]}")
    for note in play.class_notes:
        output.talk(f"{options.classes}: {note}")
    wanted = play.device.sectors * options.precondition // 1000
    if wanted:
        with output.progress("preconditioning", wanted) as bar:
            play.precondition(bar.advance)
    return play


def _play(play: replay.Play) -> None:
    start = time.monotonic()
    try:
        with output.progress("replaying", play.total) as bar:
            play.run(bar.advance)
    except KeyboardInterrupt:
        play.replay.end()
        output.talk("interrupted: what follows is of the requests so far")
    took = max(1e-9, time.monotonic() - start)
    report.tell_skipped(play.options.source, play.source, output.talk)
    done = play.replay.result()["done"]
    output.talk(f"{done} requests in {took:.2f} s: {done / took:,.0f} a second")
