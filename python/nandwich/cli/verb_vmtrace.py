# SPDX-License-Identifier: Apache-2.0
"""`nandwich vmtrace`: replacement policies on the recorded accesses of a program."""

from pathlib import Path

import click

from nandwich import _native, files, quantities
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option
from nandwich.cli.options import picture as svg_name
from nandwich.errors import InputError, not_written
from nandwich.vmtrace import play, plot


def _list_policies(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        output.print_table(
            ("policy", "what it is"), [(name, what) for name, what, _ in _native.paging_policies()]
        )
        ctx.exit()


@click.command(
    cls=Command,
    epilog="""Examples:

    \b
      nandwich run examples/sort.c --record-accesses sort.acc
      nandwich vmtrace sort.acc --frames 256,512 --ram 4K..64K --policy all
      nandwich vmtrace sort.acc --policy lru,vm,belady --plot curves.svg --json -
    """,
)
@click.argument("path", metavar="TRACE")
@click.option(
    "--frames", default="512", show_default=True, metavar="SIZES", help="Bytes a page frame."
)
@click.option(
    "--ram",
    default="4K..64K",
    show_default=True,
    metavar="SIZES",
    help="RAM for frames; A..B stands for A, twice A, and so on up to B.",
)
@click.option(
    "--policy", default="all", show_default=True, metavar="NAMES", help="Which page leaves."
)
@click.option(
    "--policies",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_policies,
    help="List the policies, and stop.",
)
@click.option(
    "--read-cost",
    default=play.Cost.read,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Of reading a page, in any unit; the default is a DataFlash's, in 0.1 ms.",
)
@click.option(
    "--write-cost",
    default=play.Cost.write,
    show_default=True,
    type=click.IntRange(0, 1_000_000),
    help="Of writing a page that was changed, in the same unit.",
)
@click.option("--plot", "picture", metavar="FILE.svg", callback=svg_name, help="Miss curves.")
@json_option
def command(
    path: str,
    frames: str,
    ram: str,
    policy: str,
    read_cost: int,
    write_cost: int,
    picture: str | None,
    json_target: str | None,
) -> None:
    """Play replacement policies on the accesses a program made, and count faults and writes.

    TRACE is what `nandwich run --record-accesses` wrote. No chip and no layer takes part: this is
    about which page leaves, from Belady's optimum, which knows the future, to a single frame a set.
    """
    output.check_apart((path,), (picture, json_target))
    frame_sizes, rams = play.sizes(frames, "--frames"), play.sizes(ram, "--ram")
    policies = play.chosen_policies(policy)
    play.check(frame_sizes, rams)
    cost = play.Cost(read_cost, write_cost)
    try:
        trace = _native.AccessTrace(path)
        played = [play.play(trace, frame, rams, policies, cost) for frame in frame_sizes]
    except ValueError as error:
        raise InputError(str(error)) from error
    if played[0].cut:
        output.talk(f"nandwich: warning: {path}: {played[0].cut}")
    if played[0].accesses == 0:
        raise InputError(f"{path}: no accesses in it")
    if not all(one.outcomes for one in played):
        raise InputError(f"--ram {ram}: too few frames, or not whole sets, for --policy {policy}")
    if json_target != "-":
        _show(played, rams)
    if picture is not None:
        _write_picture(Path(picture), plot.svg(played, f"{Path(path).name}: page faults"))
    if json_target is not None:
        value = {
            "trace": {"name": path, "accesses": played[0].accesses, "cut": played[0].cut},
            "cost": {"read": cost.read, "write": cost.write},
            "frames": [play.as_json(one) for one in played],
        }
        document = output.document("vmtrace", 1, value, inputs=[Path(path)])
        output.write_json(json_target, document)


def _write_picture(target: Path, content: bytes) -> None:
    try:
        files.replace(target, content)
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error


def _show(played: list[play.Played], rams: list[int]) -> None:
    columns = [quantities.format_size(ram) for ram in rams]
    for one in played:
        click.echo(
            f"{one.accesses} accesses, {one.references} references to {one.pages} pages of "
            f"{one.frame} B"
        )
        for what, name in (("faults", "faults"), ("cost", "cost in reads")):
            click.echo()
            output.print_table((name, *columns), play.rows(one, what, rams))
        click.echo()
