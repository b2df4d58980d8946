# SPDX-License-Identifier: Apache-2.0
"""`nandwich fit`: what the tree costs on a part with a RAM, and what more RAM brings."""

from collections.abc import Callable, Iterator
from typing import Any

import click

from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import SIZE, Count, json_option, overlong_options, trace_options
from nandwich.errors import InputError
from nandwich.quantities import format_energy, format_size, format_time
from nandwich.replay import fit, traffic
from nandwich.replay.options import models_among
from nandwich.twin import parts

#: Nobody asks for less; who does has left out a letter.
_LEAST_RAM = 256
_WORKLOAD = "zipf"
_REQUESTS = 100_000


@click.command(cls=Command)
@click.option(
    "--chip",
    default="K9F1G08U0A",
    show_default=True,
    metavar="NAME|FILE.toml",
    help="The part (`nandwich chips` lists them), or a file of your own.",
)
@click.option(
    "--ram",
    type=SIZE,
    required=True,
    metavar="SIZE",
    help="What the layer may take, like 64K.",
)
@click.option(
    "--workload",
    metavar="NAME[,KEY=VALUE...]",
    help="What will be asked of the device, as in `nandwich replay gen:NAME`. "
    f"[default: {_WORKLOAD}]",
)
@click.option(
    "--trace",
    metavar="TRACE|gen:NAME|access:FILE",
    help="The same from a recording: whatever `nandwich replay` takes.",
)
@trace_options
@overlong_options
@click.option(
    "--requests",
    type=Count(1),
    help="Counted on each layer once it is at rest, like 400K. "
    f"[default: {_REQUESTS}, of a trace all]",
)
@click.option(
    "--blocks", type=click.IntRange(0, 2**32 - 1), default=0, help="Another number of blocks."
)
@click.option("--models", is_flag=True, help="Also published layers, to compare with.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Of workload and chip.",
)
@json_option
def command(
    chip: str,
    ram: int,
    workload: str | None,
    trace: str | None,
    requests: int | None,
    blocks: int,
    models: bool,
    seed: int,
    json_target: str | None,
    **how: Any,
) -> None:
    """What the tree layer costs on a part with a RAM, and what less and more RAM bring.

    The layer is formatted on a twin of the part, written full once and played with the workload or
    the trace until it is at rest: until the writes of a whole device take as many programs as those
    before. Then it is counted: with the least RAM that it works with, with the RAM there is, and
    with twice as much. Beyond the least RAM is a cache of its map, up to the whole of it. When
    there is less, the answer says what it needs, and how much of the part the RAM could serve. Exit
    code 1 when nothing fits.

    A second table tells the most that a change and a mount take, whatever the device went through:
    computed, not met.

    \b
    Examples:
      nandwich fit --ram 64K
      nandwich fit --chip W25N01GV --ram 16K --workload uniform
      nandwich fit --chip W25N01GV --ram 16K --blocks 256
      nandwich fit --ram 300K --workload sensorlog,writes=90% --json -
      nandwich fit --ram 64K --trace examples/traces/camera.csv
      nandwich fit --ram 64K --trace mine.csv --columns time,op,offset,size --unit us --header
      nandwich fit --ram 64K --models
    """
    if 0 < ram < _LEAST_RAM:
        raise InputError(f"--ram {ram} is {ram} bytes: did you mean {ram}K?")
    source = _source(workload, trace)
    recorded = not traffic.is_generated(source)
    question = fit.Question(
        chip, ram, source, requests or (0 if recorded else _REQUESTS), blocks, seed, models,
        _reading(**how),
    )  # fmt: skip
    inputs = traffic.inputs(question.options)
    output.check_apart((*inputs, *parts.files(chip)), (json_target,))
    with output.progress("layers", len(question.layers) + 1) as bar:
        value = fit.answer(question, bar.advance)
    if json_target != "-":
        _show(value)
    if json_target is not None:
        asked = {
            "chip": parts.resolve(chip).name,
            "ram_bytes": ram,
            "workload": None if recorded else source.removeprefix(traffic.GENERATED),
            "trace": source if recorded else None,
            "requests": question.requests,
            "blocks": blocks,
        }
        payload = {"question": asked, **value}
        document = output.document("fit", 1, payload, seed=seed, inputs=inputs)
        output.write_json(json_target, document)
    if not any(row["fits"] for row in value["layers"]):
        raise SystemExit(1)


def _source(workload: str | None, trace: str | None) -> str:
    if workload is not None and trace is not None:
        raise InputError("either --workload or --trace, not both")
    return f"{traffic.GENERATED}{workload or _WORKLOAD}" if trace is None else trace


def _reading(*, fit: str | None, **how: Any) -> dict[str, Any]:
    return {"fit": fit or "refuse", **traffic.reading(**how)}


def _show(value: dict[str, Any]) -> None:
    fitting = [row for row in value["layers"] if row["fits"]]
    if fitting:
        heads = (
            "layer", "RAM", "code", "room for data", "programs a write", "erases a write", "energy",
            "time", "reads a read", "longest call", "mount", "life",
        )  # fmt: skip
        shown = [one for row in fitting for one in _beside(row, value)]
        output.print_table(heads, [_cells(row, how) for how, row in shown])
        _show_longest(fitting)
        for text in _remarks([row for _, row in shown], value):
            output.talk(text)
    rest = [row for row in value["layers"] if not row["fits"]]
    if rest:
        click.echo("\nwhat does not fit:" if fitting else "no layer fits:")
    alike: dict[str, list[str]] = {}
    for row in rest:
        alike.setdefault(row["why"], []).append(row["layer"])
    for why, layers in alike.items():
        click.echo(f"  {', '.join(layers):<10}  {why}")
    if value["store_ram_bytes"] is not None:
        size = format_size(value["store_ram_bytes"])
        click.echo(f"\nan object store keeps no map of sectors: {size} of RAM on this part")


def _remarks(rows: list[dict[str, Any]], value: dict[str, Any]) -> Iterator[str]:
    """What one has to know to read the table."""
    if models := models_among([row["layer"] for row in rows]):
        yield models
    yield (
        "energy and time are of a write; life: host bytes until all blocks are worn evenly; "
        "code: Cortex-M3"
    )
    yield (
        "of a chip with as many bad blocks as the part may have when new; another seed tells some "
        "2 % more or less"
    )
    restless = dict.fromkeys(row["layer"] for row in rows if not row["at_rest"])
    if restless:
        yield f"{', '.join(restless)}: not at rest: programs a write were still changing"
    if value["untold"]:
        yield f"-: the part tells no {' and no '.join(value['untold'])}"
    if value["below"] is not None:
        yield _below(value["below"])
    yield "swap may forget with power: for that there is lavish, which is not asked here"


def _below(below: dict[str, Any]) -> str:
    takes = (
        f"takes {format_size(below['code_bytes'])} of code and {format_size(below['ram_bytes'])} "
        "of RAM, not counted above"
    )
    if below["filter"] == "ecc":
        return f"the part corrects no bits: nw_ecc below, unless its controller does, {takes}"
    return (
        f"the part has no spare area: nw_oob below makes pages of {below['page_bytes']} B and "
        f"joins {below['joined_blocks']} of its blocks to one; it {takes}"
    )


def _show_longest(rows: list[dict[str, Any]]) -> None:
    """What no call takes more than, of the layers that compute it."""
    heads = ("never more than", "reads", "programs", "erases", "at typical times")
    told = [
        (f"{row['layer']}: {name}", f"{most['reads']:,}", f"{most['programs']:,}",
         f"{most['erases']:,}", _shown(most, "time_ns", format_time))
        for row in rows
        for name, most in (
            ("write, trim or sync", row["longest_change"]),
            ("mount", row["longest_mount"]),
        )
        if most is not None
    ]  # fmt: skip
    if told:
        click.echo()
        output.print_table(heads, told)


def _beside(row: dict[str, Any], value: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Of the tree also what less RAM and more of it bring."""
    if row["layer"] != fit.LAYER:
        return [("", row)]
    beside = value[fit.LAYER]
    named = (("the least RAM", beside["least"]), ("", row), ("twice the RAM", beside["twice"]))
    return [(how, one) for how, one in named if one is not None]


def _shown(row: dict[str, Any], key: str, form: Callable[[int], str]) -> str:
    """A figure by three digits: the next ones hang on the seed."""
    if row[key] is None:
        return "-"
    number, unit = form(row[key]).split()
    return f"{number if float(number) >= 1000 else f'{float(number):.3g}'} {unit}"


def _cells(row: dict[str, Any], how: str = "") -> tuple[object, ...]:
    name = f"{row['layer']}, {how}" if how else row["layer"]
    if row["config"]:
        name += " (" + ", ".join(f"{key} {size}" for key, size in row["config"].items()) + ")"

    def sized(key: str) -> str:
        return "-" if row[key] is None else format_size(row[key])

    def ratio(key: str, digits: int) -> str:
        return "-" if row[key] is None else f"{row[key]:.{digits}f}"

    return (
        name.replace("log_blocks", "log blocks"),
        sized("ram_bytes"),
        sized("code_bytes"),
        sized("device_bytes"),
        ratio("programs_a_write", 2),
        ratio("erases_a_write", 4),
        _shown(row, "energy_pj_a_write", format_energy),
        _shown(row, "time_ns_a_write", format_time),
        ratio("reads_a_read", 2),
        _shown(row, "longest_call_ns", format_time),
        _shown(row, "mount_ns", format_time),
        _shown(row, "life_bytes", format_size),
    )
