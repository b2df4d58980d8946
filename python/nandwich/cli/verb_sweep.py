# SPDX-License-Identifier: Apache-2.0
"""`nandwich sweep`: plays a grid, a list or a sample of configurations, and keeps each result."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from nandwich import files
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option, scheduler_option
from nandwich.cli.sweep import engine, export, spec
from nandwich.cli.sweep.kept import Kept
from nandwich.cli.sweep.point import Keys, Point, is_file
from nandwich.cli.sweep.verbs import VERBS
from nandwich.errors import InputError, RunError, not_written
from nandwich.replay.options import models_among
from nandwich.results import sweeps

_MOST_NAME = 100
_SHOWN = {"done": "done", "no room": "with no room", "failed": "failed"}

_EPILOG = f"""\b
SPEC.toml, with the options of the verb by their names (verbs: {", ".join(VERBS)}):
  [sweep]
  verb = "replay"
  seeds = [1, 2, 3]
  [base]
  source = "gen:zipf,requests=100K"
  [axes]
  ftl = ["tree", "lavish"]
  ram = {{from = "8K", to = "64K", steps = 4, scale = "log"}}
With `sample = N` and `seed = S` in [sweep] so many of the combinations are drawn; instead of [axes]
points may stand one by one, each a table [[point]].

\b
Examples:
  nandwich sweep ram.toml --export ram.csv
  nandwich sweep ram.toml --dry-run
  nandwich sweep ram.toml --jobs 8 --store /data/ram.sqlite --export ram.parquet
  nandwich sweep ram.toml --scheduler tcp://lab:8786 --export ram.csv
  nandwich sweep ram.toml --keep results && nandwich report results/*.json -o ram.html
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="SPEC.toml")
@click.option("--jobs", type=click.IntRange(1, 256), help="Points at a time. [default: all cores]")
@scheduler_option
@click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where results are kept and found again. [default: SPEC.sqlite]",
)
@click.option(
    "--export",
    "table",
    metavar="FILE",
    callback=export.asked,
    help="A row for each result: FILE.csv, .json or .parquet.",
)
@click.option(
    "--keep",
    metavar="FOLDER",
    default="",
    help="The results as files there, for nandwich compare and report.",
)
@click.option("--again", is_flag=True, help="Plays points again that failed.")
@click.option("--dry-run", is_flag=True, help="Only counts points, and those that are known.")
@json_option
def command(
    file: Path,
    jobs: int | None,
    scheduler: str,
    store: Path | None,
    table: str | None,
    keep: str,
    again: bool,
    dry_run: bool,
    json_target: str | None,
) -> None:
    """Play many points: a grid, a list or a sample of configurations, workloads and seeds.

    Each result is kept as soon as it is there, under its command line, the version of the code and
    its input files; what is known is not played again. Ctrl-C, or the end of this process by
    whatever signal, loses only the points that were being played. One whose process dies is played
    once more. Exports have the same bytes, whatever --jobs and --scheduler are. Exit code 1 when a
    point failed; it is listed with the line that repeats it.
    """
    target = store or file.with_suffix(".sqlite")
    asked = spec.read(file).points
    inputs = [file, *_files(asked)]
    output.check_apart(inputs, (target, table, json_target))
    workers = engine.places(jobs, scheduler)
    if dry_run:
        if table or keep or json_target:
            raise InputError("--dry-run plays nothing: leave out --export, --keep and --json")
        _tell_plan(asked, target, workers)
        return
    with engine.opened(target, workers, again=again, scheduler=scheduler) as one:
        played = one.play(asked)
    _write(inputs, asked, played, table, json_target)
    if keep:
        _keep(Path(keep), asked, played)
    if json_target != "-":
        click.echo(_summary(asked, played))
        if models := models_among({word for one in asked for word in one.arguments}):
            output.talk(models)
    _judge(asked, played)


def _files(asked: Sequence[Point]) -> list[Path]:
    """What the points name and is a file."""
    named = {word for one in asked for word in one.texts}
    return [Path(word) for word in sorted(named) if is_file(word)]


def _tell_plan(asked: Sequence[Point], store: Path, jobs: int) -> None:
    """How much there is to do, and how long that may take."""
    keys = Keys()
    names = [keys.of(one) for one in asked]
    known, time = engine.planned(store, names, asked[0].verb, jobs)
    rows = [
        ("points", str(len(asked))),
        ("known", str(len([name for name in names if name in known]))),
        ("to play", str(len(set(names) - known))),
        ("time", time),
    ]
    output.print_table(("what", "how much"), rows)


def _write(
    inputs: Sequence[Path],
    asked: Sequence[Point],
    played: Sequence[Kept],
    table: str | None,
    json_target: str | None,
) -> None:
    if table is None and json_target is None:
        return
    rows = export.rows(asked, played)
    line = shlex.join(("nandwich", "sweep", str(inputs[0])))
    value = {"verb": asked[0].verb, "points": len(asked), "rows": rows}
    document = output.document("sweep", 1, value, inputs=inputs, command=line)
    for target in (json_target, table):
        if target is None:
            continue
        if target == json_target or target.endswith(".json"):
            output.write_json(target, document)
            continue
        export.write(target, export.table(rows))


def _keep(folder: Path, asked: Sequence[Point], played: Sequence[Kept]) -> None:
    """Each result in a file of its own, as --json of the verb writes it."""
    names = _file_names(asked)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, kept in zip(names, played, strict=True):
            if kept.state == "done":
                data = kept.document.encode("utf-8", "backslashreplace")
                files.replace(folder / f"{name}.json", data)
    except OSError as error:
        raise not_written(f"cannot keep results in {folder}: {error.strerror}", error) from error
    if without := sum(kept.state != "done" for kept in played):
        output.talk(f"{folder}: no file of {output.counted(without, 'point')} without a result")


def _file_names(asked: Sequence[Point]) -> list[str]:
    """What differs between points, where that makes names of its own."""
    told = (
        " ".join(f"{key}={sweeps.text(value)}" for key, value in one.chosen.items())
        for one in asked
    )
    names = [re.sub(r"[^A-Za-z0-9._=%-]+", "_", text)[:_MOST_NAME] for text in told]
    alike = Counter(names)
    return [
        name if name and alike[name] == 1 else f"{name}#{number}"
        for number, name in enumerate(names, start=1)
    ]


def _summary(asked: Sequence[Point], played: Sequence[Kept]) -> str:
    states = Counter(one.state for one in played)
    told = ", ".join(f"{states[state]} {word}" for state, word in _SHOWN.items() if states[state])
    return f"{output.counted(len(asked), 'point')} of nandwich {asked[0].verb}: {told}"


def _judge(asked: Sequence[Point], played: Sequence[Kept]) -> None:
    """Exit code 1 where a point failed: each reason with the first line that has it."""
    failed: dict[str, list[str]] = {}
    for one, kept in zip(asked, played, strict=True):
        if kept.state == "failed":
            failed.setdefault(kept.why, []).append(one.command)
    if failed:
        told = (_failure(why, lines) for why, lines in failed.items())
        raise RunError("\n".join(" ".join(line.split("\n")) for line in told))


def _failure(why: str, lines: Sequence[str]) -> str:
    more = f"; so did {len(lines) - 1} more, which --export names" if len(lines) > 1 else ""
    return f"failed: {why}; to repeat it: {lines[0]}{more}"
