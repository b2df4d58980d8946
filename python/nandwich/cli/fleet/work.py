# SPDX-License-Identifier: Apache-2.0
"""`nandwich fleet` step by step: read, draw, play, work out, tell."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from nandwich import quantities
from nandwich.cli import output
from nandwich.cli.fleet import shapes
from nandwich.cli.fleet.spec import Spec
from nandwich.cli.sweep import engine, export
from nandwich.cli.sweep.kept import Kept
from nandwich.cli.sweep.point import Keys, Point, is_file
from nandwich.errors import InputError
from nandwich.fleet import answer, nodes
from nandwich.fleet.draws import Array
from nandwich.fleet.nodes import ALIVE, CAUSES, DAYS_A_YEAR, Shape
from nandwich.replay.options import models_among

_SCHEMA_VERSION = 1
_PJ_A_J = 1e12


@dataclass(frozen=True)
class Lived:
    """What became of them."""

    shapes: Sequence[Shape]
    days: Array  # until each cause
    life: Array
    cause: NDArray[np.int64]


def lived(spec: Spec, store: Path, jobs: int, *, again: bool, scheduler: str = "") -> Lived:
    """Plays what is not known, and works out all nodes."""
    keys = Keys()
    names: set[str] = set()
    steps = len(shapes.plan(spec)) + len(spec.options)
    with (
        engine.opened(store, jobs, again=again, scheduler=scheduler) as player,
        output.progress("replays", steps, rate="replays") as bar,
    ):

        def play_all(points: Sequence[Point]) -> list[Kept]:
            names.update(map(keys.of, points))
            return player.play(points, bar)

        found = shapes.found(spec, play_all)
        if known := len(names) - player.played:
            output.talk(f"{output.counted(known, 'point')} known already")
    if why := shapes.overloaded(spec, found):
        raise InputError(why)
    days = nodes.days(spec.fleet, spec.chip, spec.nodes, found)
    life, cause = answer.ended(days, spec.fleet.horizon_days)
    return Lived(found, days, life, cause)


def tell_plan(spec: Spec, store: Path, jobs: int) -> None:
    """How much there is to play, and how long that may take."""
    keys = Keys()
    wanted = [keys.of(point) for point in shapes.plan(spec)]
    known, time = engine.planned(store, wanted, "replay", jobs)
    bads = shapes.played(spec.nodes)
    rows = [
        ("nodes", str(spec.fleet.count)),
        ("shapes", f"{len(spec.options) * len(bads)}, two replays each"),
        ("known", str(len(known))),
        ("to play", str(len(set(wanted) - known))),
        ("time", time),
    ]
    output.print_table(("what", "how much"), rows)


def value(spec: Spec, end: Lived) -> dict[str, Any]:
    """docs/schemas/fleet-1.json, without schema and provenance."""
    fleet = spec.fleet
    which = spec.nodes["workload"]
    workloads = []
    for number, workload in enumerate(fleet.workloads):
        here = which == number
        if here.any():
            told = answer.told(end.life[here], end.cause[here], fleet.horizon_days)
            whole = {"name": workload.name, "nodes": int(here.sum())}
            workloads.append(whole | {"life": told["life"], "ends": told["ends"]})
    return {
        "nodes": fleet.count,
        "seed": fleet.seed,
        "horizon_days": fleet.horizon_days,
        "confidence": answer.CONFIDENCE,
        **answer.told(end.life, end.cause, fleet.horizon_days),
        "workloads": workloads,
        "shapes": [
            _shape(workload.name, table)
            for workload, shape in zip(fleet.workloads, end.shapes, strict=True)
            for table in shape.tables
        ],
    }


def _shape(name: str, table: Any) -> dict[str, Any]:
    return {
        "workload": name,
        "bad_blocks": table.bad,
        "blocks_in_use": table.used,
        "losses_borne": table.bears,
        "erases_a_request": float(f"{table.erases[0]:.6g}"),
        "energy_pj_a_request": float(f"{table.energy_pj[0]:.6g}"),
    }


def columns(spec: Spec, end: Lived) -> dict[str, list[Any]]:
    """A row for each node: what it is, and what becomes of it."""
    drawn, fleet = spec.nodes, spec.fleet
    which = drawn["workload"].astype(np.int64)
    rate = np.zeros(fleet.count)
    for number, shape in enumerate(end.shapes):
        here = which == number
        some = {key: column[here] for key, column in drawn.items()}
        rate[here] = nodes.on_duty(some, shape)
    battery = {}
    if fleet.battery is not None:
        charge = drawn["battery_pj"] * drawn["usable"] / _PJ_A_J
        battery = {"battery_j": _cells(charge), "self_discharge": _cells(drawn["self_discharge"])}
    names = [workload.name for workload in fleet.workloads]
    ends = [*CAUSES, "alive"]
    return {
        "node": list(range(fleet.count)),
        "workload": [names[number] for number in which],
        "requests_a_day": _cells(rate),
        **{key: _cells(drawn[key]) for key in ("duty", "temperature_c", "base_nw", "endurance")},
        "bad_blocks": [int(number) for number in drawn["bad_blocks"]],
        "data": _cells(drawn["data"]),
        "growth": _cells(drawn["growth"]),
        **battery,
        "life_days": _cells(end.life),
        "end": [ends[number] for number in end.cause],
        **{f"{name}_days": _cells(end.days[:, at]) for at, name in enumerate(CAUSES)},
    }


def _cells(numbers: Array) -> list[float | None]:
    """Six digits of each; None: never."""
    return [float(f"{number:.6g}") if number < np.inf else None for number in numbers.tolist()]


def write(spec: Spec, end: Lived, file: Path, table: str | None, json_target: str | None) -> None:
    """What --export and --json ask for."""
    if table is None and json_target is None:
        return
    line = shlex.join(("nandwich", "fleet", str(file)))
    told, seed = value(spec, end), spec.fleet.seed
    document = output.document(
        "fleet", _SCHEMA_VERSION, told, seed=seed, inputs=[file, *_files(spec)], command=line
    )
    if json_target is not None:
        output.write_json(json_target, document)
    if table is None:
        return
    rows = columns(spec, end)
    if table.endswith(".json"):
        cells = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        output.write_json(table, document | {"rows": cells})
        return
    export.write(table, rows)


def _files(spec: Spec) -> list[Path]:
    """What the replays read."""
    points = (spec.point(number) for number in range(len(spec.options)))
    texts = {text for point in points for text in point.texts}
    return [Path(text) for text in sorted(texts) if is_file(text)]


def show(spec: Spec, end: Lived) -> None:
    """The tables of stdout."""
    told = answer.told(end.life, end.cause, spec.fleet.horizon_days)
    horizon = _years(spec.fleet.horizon_days)
    beyond = f"over {horizon}" if (end.cause == ALIVE).any() else "-"
    nothing = "-" if end.life.min() > 0 else _years(0)  # a bound of 0: too few nodes, or a life
    rows = [
        (f"{line['percent']} % have ended",
         *(beyond if line[key] is None else _years(line[key]) if line[key] else nothing
           for key in ("days", "least_days", "most_days")))
        for line in told["life"]["quantiles"]
    ]  # fmt: skip
    output.print_table(("life", "after", "at least", "at most"), rows)
    ends = [
        (
            f"alive after {horizon}" if line["cause"] == "alive" else line["cause"],
            line["nodes"],
            *(f"{100 * line[key]:.2f} %" for key in ("share", "least", "most")),
        )
        for line in told["ends"]
    ]
    click.echo()
    output.print_table(("end", "nodes", "share", "at least", "at most"), ends)
    if crowded := "\n".join(_crowded(spec, end)):
        click.echo(f"\n{crowded}")
    every = range(len(spec.options))
    if models := models_among({word for i in every for word in spec.point(i).arguments}):
        output.talk(models)


def _crowded(spec: Spec, end: Lived) -> Iterator[str]:
    """A line for each workload of which some nodes have no room for what they keep when new."""
    which = spec.nodes["workload"]
    none = end.days[:, CAUSES.index("space")] == 0
    for number, (workload, shape) in enumerate(zip(spec.fleet.workloads, end.shapes, strict=True)):
        here = which == number
        if count := int((none & here).sum()):
            room = quantities.format_size(shape.room_bytes)
            yield (
                f"no room from the first day: {count} of {int(here.sum())} nodes of "
                f"{workload.name}; a new device has {room}"
            )


def _years(days: float) -> str:
    return f"{days / DAYS_A_YEAR:.3g} y" if days >= DAYS_A_YEAR else f"{days:.3g} d"


def line_of(spec: Spec, number: int) -> str:
    """The command that plays a node by itself until its device refuses."""
    lives = nodes.lives_of(spec.fleet, spec.chip, spec.nodes, number)
    return shapes.alone(spec, int(spec.nodes["workload"][number]), lives).command
