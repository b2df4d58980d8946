# SPDX-License-Identifier: Apache-2.0
"""`nandwich compare`: results side by side, or one workload over lists of configurations."""

import copy
import re
import shlex
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from nandwich import files
from nandwich.cli import output, points
from nandwich.cli.command import Command
from nandwich.cli.options import json_option, writable
from nandwich.cli.points import Point
from nandwich.cli.series import Series
from nandwich.errors import InputError, RunError, not_written
from nandwich.quantities import format_size
from nandwich.replay import pool, traffic
from nandwich.replay.options import models_among
from nandwich.results import comparison, figures, read, sweeps, tables
from nandwich.results.comparison import Comparison, Entry
from nandwich.results.figures import Metric
from nandwich.twin import parts

_LOOK_AT = 4096
_JOBS = (".ini", ".job", ".fio")
#: Devices so many times larger than others are other work for a workload.
_UNLIKE = 2
_SECTION = re.compile(rb"(?:[;#][^\n]*\n\s*)*\[[^][\n]+\]\s*(?:\n|\Z)")
#: Configurations without figures, and what is said over them.
_STATES = (
    ("no room", "does not fit"),
    ("failed", "failed"),
    ("not played", "not played"),
)


def _folded(words: list[str]) -> str:
    return textwrap.fill(
        " ".join(words), 76, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


_LISTS = _folded([option.opts[0] for option in points.options() if not option.is_flag])
_FLAGS = _folded(
    [
        name
        for option in points.options()
        if option.is_flag
        for name in (*option.opts, *option.secondary_opts)
    ]
)
_EPILOG = f"""\b
With a workload, these options of `nandwich replay` take one value or several:
{_LISTS}
and these hold for all:
{_FLAGS}

\b
A job file has a [global] section and one for each job; keys are the same
options without dashes, and source:
  [global]
  source=gen:zipf,requests=200K
  [small]
  ftl=tree
  ram=4K
  [large]
  ftl=page

\b
Examples:
  nandwich compare gen:zipf --ftl tree,page,fast --spare 120,240 --ram 8K,300K
  nandwich compare examples/traces/camera.csv --ftl page,superblock
  nandwich compare gen:uniform,requests=200K --ftl log,fast --seeds 5
  nandwich compare gen:zipf --ftl page,fast --keep results --csv layers.csv
  nandwich compare examples/compare/layers.ini
  nandwich compare results/*.json
"""


def _list_options(verb: click.Command) -> None:
    """Adds what replay takes: a value may be a list here, so what it is of is checked later."""
    for option in points.options():
        mine = copy.copy(option)
        mine.hidden = True
        if not mine.is_flag:
            mine.type, mine.default, mine.show_default = click.STRING, None, False
        if mine.name == "config":
            mine.callback, mine.is_eager = None, False  # what it says is of its points
        if mine.name == "spare_blocks":
            mine.opts = [*mine.opts, "--spare"]
        verb.params.append(mine)


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("sources", nargs=-1, metavar="RESULT...|WORKLOAD|JOBS.ini")
@click.option("--jobs", type=click.IntRange(1, 256), help="Replays at a time. [default: all cores]")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Plays each configuration with so many seeds; their spread is the noise.",
)
@click.option(
    "--keep",
    metavar="FOLDER",
    default="",
    help="Keeps the result of each replay there, and takes what is there already.",
)
@click.option("--all", "every", is_flag=True, help="Every figure that differs, not the chief ones.")
@click.option("--csv", "csv_target", metavar="FILE", callback=writable, help="Also as CSV.")
@json_option
def command(
    sources: tuple[str, ...],
    jobs: int | None,
    seeds: int,
    keep: str,
    every: bool,
    csv_target: str | None,
    json_target: str | None,
    **choices: Any,
) -> None:
    """Lay results side by side, or play one workload on many configurations.

    Takes two or more results, JSON written by --json of run, replay, sched, energy, fleet, torture
    or bench, or one of sweep or tune, which has several; or one trace or gen:NAME with lists of
    values, of which all combinations are played; or a file of jobs. Best and worst of each figure
    are marked where the next one is apart from them. Two runs of the same question give the same
    bytes, whatever --jobs is. Exit code 1 when a replay failed; the others are shown.
    """
    if not sources:
        raise InputError("name two results, or one workload with lists: nandwich compare --help")
    if _are_results(sources):
        _refuse_options(choices, jobs=jobs, seeds=seeds > 1, keep=keep)
        output.check_apart(sources, (csv_target, json_target))
        result, kind = _of_results(sources)
        inputs = [Path(name) for name in sources if name != read.STDIN]
        if json_target != "-":
            _tell(result, kind, every=every)
        _write(result, kind, inputs, csv_target, json_target)
        return
    asked = _points(sources[0], choices)
    inputs = list(dict.fromkeys(path for one in asked for path in traffic.inputs(one.options)))
    jobs_file = [Path(sources[0])] if asked[0].chosen.keys() == {"job"} else []
    described = [path for one in asked for path in parts.files(one.options.chip)]
    output.check_apart((*inputs, *jobs_file, *described), (csv_target, json_target))
    series = Series(asked, seeds, keep)
    whole = series.play(jobs or pool.processors())
    result = comparison.compare(series.entries, figures.METRICS["nandwich.replay/1"])
    if not whole and not result.done:
        raise KeyboardInterrupt
    alike = _why_all_failed(result)
    if json_target != "-" and not alike:
        _tell(result, "replay", every=every)
    _write(result, "replay", [*inputs, *jobs_file], csv_target, json_target)
    if alike:
        names = ", ".join(entry.name for entry in result.entries)
        raise InputError(f"{alike}\nso with all of them: {names}")
    if not whole:
        _say_how_to_go_on(result, keep)
    _judge(result)


_list_options(command)


def _are_results(sources: tuple[str, ...]) -> bool:
    """Whether these are files of results; one workload or file of jobs otherwise."""
    if len(sources) > 1:
        made_up = [name for name in sources if not traffic.is_block_trace(name)]
        if made_up:
            raise InputError(
                f"{made_up[0]} is a workload: compare takes one workload with lists of options, or "
                "several results"
            )
        return True
    name = sources[0]
    if name == read.STDIN or name.endswith(".json"):
        return True
    return traffic.is_block_trace(name) and _begins(name).startswith((b"{", b"[\n", b"[{"))


def _begins(name: str) -> bytes:
    """The first line of a file that is not blank; it may be anything, or missing."""
    try:
        with Path(name).open("rb") as stream:
            return stream.read(_LOOK_AT).lstrip()
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error


def _refuse_options(choices: dict[str, Any], **others: Any) -> None:
    """Results were played already."""
    given = [f"--{name}" for name, value in others.items() if value]
    for option in points.options():
        if choices.get(str(option.name)) not in (None, option.default, False):
            given.append(option.opts[0])
    if given:
        raise InputError(f"{given[0]} is for a workload that is to be played; these are results")


def _points(source: str, choices: dict[str, Any]) -> list[Point]:
    """The replays asked for; InputError, also when there is only one."""
    is_jobs = traffic.is_block_trace(source) and (
        source.endswith(_JOBS) or _SECTION.match(_begins(source)) is not None
    )
    if not is_jobs:
        asked = points.from_lists(source, choices)
        for one in asked[:1]:
            traffic.check_source(one.options)
        missing = "give an option several values, say --ftl page,tree"
    else:
        _refuse_options(choices)
        asked = points.from_jobs(source)
        missing = f"{source} has one job: add another section"
    if len(asked) < 2:
        raise InputError(f"nothing to compare {asked[0].name} with: {missing}")
    return asked


def _of_results(sources: tuple[str, ...]) -> tuple[Comparison, str]:
    if sources.count(read.STDIN) > 1:
        raise InputError("- is given twice, and stdin is read once")
    documents = [read.read(name) for name in sources]
    read.check_alike(documents)
    entries: list[Entry] = []
    metrics: list[Metric] = []
    for name, document in zip(read.names(documents), documents, strict=True):
        prefix = name if len(documents) > 1 else ""
        with document.checked():
            if document.schema == "nandwich.sweep/1":
                found, measured = sweeps.results(document, prefix)
                entries += sweeps.missing(document, prefix)
            else:
                found, measured = figures.results(document, prefix)
        entries += comparison.gathered(found)
        metrics += measured
    if entries and all(one.state != "done" for one in entries):
        why = entries[0].why or entries[0].state
        raise InputError(f"{sources[0]}: no configuration has figures; of {entries[0].name}: {why}")
    if len(entries) < 2:
        raise InputError(
            f"nothing to compare {sources[0]} with: give another result of nandwich "
            f"{documents[0].kind}"
        )
    return comparison.compare(entries, metrics), documents[0].kind


def _tell(result: Comparison, kind: str, *, every: bool) -> None:
    click.echo(f"{output.counted(len(result.done), 'configuration')} of nandwich {kind}")
    rows = tables.differing(result)
    made = ([rows] if rows else []) + tables.tables(result, every=every)
    for line in tables.legend(result, made):
        click.echo(line)
    for heads, table in made:
        click.echo()
        output.print_table(heads, table)
    same = tables.equal_figures(result) if len(result.done) > 1 else ""
    for head, text in (("the same", same), ("all with", _equal(result))):
        if text:
            click.echo()
            click.echo(textwrap.fill(f"{head}: {text}", tables.WIDTH, break_on_hyphens=False))
    if len(result.done) > 1:
        click.echo()
        click.echo(textwrap.fill(tables.LEGEND, tables.WIDTH))
    layers = {one.config.get("ftl", "") for entry in result.done for one in entry.results}
    if models := models_among(layers):
        click.echo(models)
    for note in filter(None, (_unlike(result), tables.unjudged(result))):
        click.echo(textwrap.fill(note, tables.WIDTH))
    for state, head in _STATES:
        entries = [entry for entry in result.entries if entry.state == state]
        if entries:
            click.echo(f"\n{head}:")
        for entry in entries:
            click.echo(f"  {entry.name}: {entry.why}" if entry.why else f"  {entry.name}")


def _unlike(result: Comparison) -> str:
    """That devices are of very different sizes, "" where they are not."""
    rooms = [line for line in result.lines if line.metric.key == "device_bytes"]
    sizes = [spread.mean for line in rooms for spread in line.spreads if spread is not None]
    if not sizes or max(sizes) < _UNLIKE * min(sizes):
        return ""
    least, most = (format_size(round(size)) for size in (min(sizes), max(sizes)))
    return (
        f"not comparable: the devices have from {least} to {most}, and a workload covers the one "
        "it is played on; footprint=SIZE gives all the same"
    )


def _equal(result: Comparison) -> str:
    """What all share; of the versions only a difference is worth a word."""
    told = [key for key in result.equal if key not in ("version", "commit")]
    return ", ".join(f"{key} {result.equal[key]}" for key in told)


def _write(
    result: Comparison,
    kind: str,
    inputs: list[Path],
    csv_target: str | None,
    json_target: str | None,
) -> None:
    if csv_target is not None:
        try:
            files.replace(Path(csv_target), tables.as_csv(result))
        except OSError as error:
            text = f"cannot write {csv_target}: {error.strerror}"
            raise not_written(text, error) from error
    if json_target is not None:
        value = comparison.as_json(result, kind)
        line = _without_jobs(sys.argv[1:])
        document = output.document("compare", 1, value, inputs=inputs, command=line)
        output.write_json(json_target, document)


def _without_jobs(arguments: list[str]) -> str:
    """The command line but for --jobs, which changes nothing of the result."""
    kept = list(arguments)
    for i, word in enumerate(arguments):
        if word == "--jobs":
            kept = arguments[:i] + arguments[i + 2 :]
        elif word.startswith("--jobs="):
            kept = arguments[:i] + arguments[i + 1 :]
    return shlex.join(["nandwich", *kept])


def _say_how_to_go_on(result: Comparison, keep: str) -> None:
    left = [entry for entry in result.entries if entry.state == "not played"]
    output.talk(f"interrupted: {output.counted(len(left), 'configuration')} not played")
    if keep:
        output.talk(f"the same line goes on: what is done lies in {keep}")
        return
    output.talk("--keep FOLDER would have the same line go on; the rest one by one:")
    for entry in left:
        output.talk(f"  {entry.command}")


def _why_all_failed(result: Comparison) -> str:
    """What they share, a wrong line of the trace say: no table is worth having then. "" where they
    did not fail alike."""
    failed = [entry for entry in result.entries if entry.state == "failed"]
    reasons = {entry.why for entry in failed}
    return reasons.pop() if len(failed) == len(result.entries) and len(reasons) == 1 else ""


def _judge(result: Comparison) -> None:
    """Exit code 1 where a replay failed, or no configuration fits."""
    failed = [entry for entry in result.entries if entry.state == "failed"]
    if failed:
        raise RunError(
            "\n".join(f"{one.name} failed; to repeat it: {one.command}" for one in failed)
        )
    if not result.done:
        raise RunError("no configuration fits")
