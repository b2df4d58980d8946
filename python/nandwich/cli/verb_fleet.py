# SPDX-License-Identifier: Apache-2.0
"""`nandwich fleet`: how long many nodes live that are not alike, and what ends each."""

import importlib.util
from pathlib import Path

import click

from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option, scheduler_option
from nandwich.cli.sweep import export
from nandwich.cli.sweep.engine import places
from nandwich.errors import InputError, RunError

_EPILOG = """\b
SPEC.toml:
  [fleet]
  nodes = 1000
  [replay]
  chip = "K9F1G08U0A"
  precondition = 1
  [[workload]]
  source = "gen:sensor,requests=20K"
  [node]
  duty = { uniform = [0.2, 0.8] }
  [battery]
  voltage = "3 V"
  capacity = { normal = ["2500 mAh", "100 mAh"] }
A figure is one value, or { uniform = [least, most] }, { normal = [mean, deviation] },
{ lognormal = [median, sigma] }, { weibull = [scale, shape] }, { choice = [...], weights = [...] }.

\b
Examples:
  nandwich fleet field.toml
  nandwich fleet field.toml --dry-run
  nandwich fleet field.toml --export nodes.csv --json field.json
  nandwich report field.json -o field.html
  nandwich fleet field.toml --node 17
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="SPEC.toml")
@click.option("--jobs", type=click.IntRange(1, 256), help="Replays at a time. [default: all cores]")
@scheduler_option
@click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where replays are kept and found again. [default: SPEC.sqlite]",
)
@click.option(
    "--export",
    "table",
    metavar="FILE",
    callback=export.asked,
    help="A row for each node: FILE.csv, .json or .parquet.",
)
@click.option("--again", is_flag=True, help="Plays replays again that failed.")
@click.option("--dry-run", is_flag=True, help="Only counts nodes, and the replays they take.")
@click.option(
    "--node",
    type=click.IntRange(0),
    help="Only prints the command that plays this node by itself, until its flash is worn.",
)
@json_option
def command(
    file: Path,
    jobs: int | None,
    scheduler: str,
    store: Path | None,
    table: str | None,
    again: bool,
    dry_run: bool,
    node: int | None,
    json_target: str | None,
) -> None:
    """Draw many nodes that are not alike, and tell how long they live and what ends them.

    A node ends when its battery is empty, when blocks that are worn out have eaten the spare of
    its layer, or when its data fill the device. Nodes share replays: one pair for each workload
    and number of bad blocks tells how all blocks wear; the rest is arithmetic on what was drawn.
    What is known is not played again. Exports have the same bytes, whatever --jobs and --scheduler
    are.
    """
    if importlib.util.find_spec("numpy") is None:
        raise RunError("nandwich fleet needs numpy: pip install numpy")
    from nandwich.cli.fleet import spec, work

    target = store or file.with_suffix(".sqlite")
    read = spec.read(file)
    output.check_apart([file], (target, table, json_target))
    if (dry_run or node is not None) and (table or json_target):
        raise InputError("--dry-run and --node play nothing: leave out --export and --json")
    workers = places(jobs, scheduler)
    if node is not None:
        if node >= read.fleet.count:
            raise InputError(f"--node {node}: the nodes are 0 to {read.fleet.count - 1}")
        click.echo(work.line_of(read, node))
        return
    if dry_run:
        work.tell_plan(read, target, workers)
        return
    end = work.lived(read, target, workers, again=again, scheduler=scheduler)
    work.write(read, end, file, table, json_target)
    if json_target != "-":
        work.show(read, end)
