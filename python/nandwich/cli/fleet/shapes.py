# SPDX-License-Identifier: Apache-2.0
"""The replays that answer for all nodes: of each workload one as it is asked for, and for some
numbers of bad blocks the pair of `nandwich.fleet.wear`."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nandwich.cli import points
from nandwich.cli.fleet.spec import Spec
from nandwich.cli.sweep.kept import Kept
from nandwich.cli.sweep.point import Point
from nandwich.errors import RunError
from nandwich.fleet import nodes, wear
from nandwich.fleet.nodes import Nodes, Shape
from nandwich.fleet.wear import Table

#: Numbers of bad blocks that are played; those between them are worked out.
_MOST_PLAYED = 5
#: Erases a block, at most, by which preconditioning a device once wears it.
_WORN_BY_FILLING = 4
_DAY_NS = 86_400e9

Play = Callable[[Sequence[Point]], list[Kept]]
Document = Mapping[str, Any]


def played(drawn: Nodes) -> list[int]:
    """The numbers of bad blocks to play, the least and the most among them."""
    found = sorted({int(one) for one in drawn["bad_blocks"]})
    if len(found) <= _MOST_PLAYED:
        return found
    low, high = found[0], found[-1]
    last = _MOST_PLAYED - 1
    return sorted({low + round((high - low) * i / last) for i in range(_MOST_PLAYED)})


def plan(spec: Spec) -> list[Point]:
    """All replays, as far as one can know: where the source wears blocks too little to tell how
    evenly, it takes more passes."""
    pairs = [(one, bad) for one in range(len(spec.options)) for bad in played(spec.nodes)]
    evens = [_even(spec, one, bad, 1) for one, bad in pairs]
    return [*evens, *(_stair(spec, one, bad) for one, bad in pairs)]


def found(spec: Spec, engine: Play) -> list[Shape]:
    """A shape for each workload. The engine is asked for each of them first, then for all."""
    bads = played(spec.nodes)
    workloads = range(len(spec.options))
    asked = [_even(spec, one, bads[0], 1) for one in workloads]
    told = _documents(spec, engine(asked), asked, [bads[0]] * len(asked))
    rated = spec.chip.rating
    wearing = [one for one in workloads if rated and told[one]["result"]["layer"]["programs"]]
    pairs = [(one, bad) for one in wearing for bad in bads]
    evens = [_even(spec, one, bad, _passes(told[one])) for one, bad in pairs]
    stairs = [_stair(spec, one, bad) for one, bad in pairs]
    both = [*evens, *stairs]
    documents = _documents(spec, engine(both), both, [bad for _, bad in [*pairs, *pairs]])
    tables: dict[int, list[Table]] = {one: [] for one in workloads}
    for (one, bad), even, stair in zip(pairs, documents, documents[len(pairs) :], strict=False):
        tables[one].append(wear.table(even, stair, bad))
    return [_shape(document, tables[one]) for one, document in enumerate(told)]


def _even(spec: Spec, workload: int, bad: int, passes: int) -> Point:
    """Without losses."""
    lives = wear.laid_out([1] * (spec.chip.blocks - bad), bad)  # 1: not bad; nothing wears out here
    more = {"repeat": passes} if passes > 1 else {}
    return spec.point(workload, lives=lives, **more)


def _stair(spec: Spec, workload: int, bad: int) -> Point:
    options = points.parsed(spec.point(workload).arguments)
    before = _WORN_BY_FILLING * options.precondition / 1000
    lives = wear.stair(spec.chip.blocks, bad, before)
    return spec.point(workload, lives=lives, **{"until-worn": True})


def alone(spec: Spec, workload: int, lives: str) -> Point:
    """One node by itself, until its device refuses."""
    return spec.point(workload, lives=lives, **{"until-worn": True})


def _passes(document: Document) -> int:
    """Passes after which the wear of blocks tells how even it is."""
    device, layer = document["device"], document["result"]["layer"]
    pages = int(device["blocks"]) * int(device["block_pages"])
    return max(1, math.ceil(wear.ERASES_SHOWN * pages / int(layer["programs"])))


def _documents(
    spec: Spec, kept: Iterable[Kept], asked: Iterable[Point], bads: Iterable[int]
) -> list[Document]:
    """What replays told, of parts with so many blocks bad each; RunError where one failed."""
    found = []
    for one, point, bad in zip(kept, asked, bads, strict=True):
        if one.state != "done":
            place = spec.file.where("node.bad_blocks")
            of = f"{place}: with {bad} of {spec.chip.blocks} blocks bad: " if bad else ""
            raise RunError(f"{of}{one.state}: {one.why}; to repeat it: {_short(point)}")
        found.append(json.loads(one.document))
    return found


def _short(point: Point) -> str:
    return " ".join(point.command.split("\n"))


def _rate(document: Document) -> float | None:
    """Requests a day by the times of the source."""
    source = document["source"]
    if not document["options"]["arrivals"] or not source["duration_ns"]:
        return None
    return float(source["requests"] * _DAY_NS / source["duration_ns"])


def _shape(document: Document, tables: list[Table]) -> Shape:
    result, device = document["result"], document["device"]
    done = max(1, result["done"])
    return Shape(
        _rate(document),
        result["busy_ns"] / done,
        device["sectors"] * device["sector_bytes"],
        tables,
        result["energy_pj"] / done,
    )


def overloaded(spec: Spec, shapes: Sequence[Shape]) -> str:
    """Workloads that ask more than their device can do in a day, a line each; "" for none."""
    found = []
    for number, (one, shape) in enumerate(zip(spec.fleet.workloads, shapes, strict=True)):
        here = spec.nodes["workload"] == number
        some = {key: column[here] for key, column in spec.nodes.items()}
        most = float(nodes.requests_a_day(some, shape).max(initial=0))
        if most * shape.busy_ns > _DAY_NS:
            found.append(
                f"{spec.file.where(f'workload.{number}.requests_a_day')}: workload {one.name}: "
                f"{most:.4g} requests a day keep the device busy for "
                f"{most * shape.busy_ns / _DAY_NS:.3g} days: it cannot do them"
            )
    return "\n".join(found)
