# SPDX-License-Identifier: Apache-2.0
"""Which variables share a page: decided from recorded accesses, kept in a file, played again."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nandwich import _native, files
from nandwich.compiler import tagged
from nandwich.errors import InputError, not_written

Object = tuple[int, int, int, str]  # address, bytes, bytes an element, name
Pages = list[int]  # of each element

METHODS = ("ours", "published", "first-fit")
MOST_FRAMES = 64
#: Tenths of a fault: 16.3 ms over 3.6 ms, what the DataFlash of the published node takes.
WRITE_COST = 45
_STEP = 1 << 20
#: What the search may cost, in accesses played.
_MOST_WORK, _WORK_AN_ACCESS = 400_000_000, 50_000
_MOST_FILE_BYTES = 64 << 20


@dataclass(frozen=True)
class Parameters:
    """Of the heuristic as published, and of the small node."""

    page: int = 264
    group: int = 33
    whole: int = 33
    list: int = 264
    share: int = 1000  # per mille
    writes: int | None = None  # None: the mean writes an element
    freeze: bool = False
    frames: int = 1
    seed: int = 1
    write_cost: int = WRITE_COST  # of a flash write, in tenths of a fault


@dataclass
class Program:
    """The elements of a program, and the accesses of one or more nodes to them."""

    objects: list[Object]
    graph: _native.Layouter
    parameters: Parameters
    notes: list[str]  # what is missing of which trace

    @property
    def elements(self) -> int:
        return len(self.graph.bytes)


def read(paths: Sequence[str], parameters: Parameters) -> Program:
    """Read the traces one after another, each of them a node's."""
    objects: list[Object] = []
    graph: _native.Layouter | None = None
    notes = []
    for path in paths:
        trace = _opened(path)
        if not trace.objects:
            raise InputError(_nothing_named(path, trace))
        if graph is None:
            objects = trace.objects
            graph = layouter(path, objects, parameters)
        elif trace.objects != objects:
            changed = differences(_shapes(objects), _shapes(trace.objects)) or "other addresses"
            raise InputError(f"{path}: of another program than {paths[0]}: {changed}")
        graph.begin()
        try:
            while graph.load(trace, _STEP):
                pass
        except ValueError as error:
            raise InputError(str(error)) from error
        if trace.cut:
            notes.append(f"{path}: {trace.cut}")
    assert graph is not None
    return Program(objects, graph, parameters, notes)


def _opened(path: str) -> _native.AccessTrace:
    try:
        return _native.AccessTrace(path)
    except ValueError as error:
        raise InputError(str(error)) from error


def _nothing_named(path: str, trace: _native.AccessTrace) -> str:
    """Why there is nothing to place: a cut may have taken the variables. It shows once read."""
    try:
        _native.Refs(512).load(trace, 1)
    except ValueError as error:
        return str(error)
    return f"{path}: {trace.cut or 'the trace names no variables'}, so there is nothing to place"


def layouter(path: str, objects: list[Object], parameters: Parameters) -> _native.Layouter:
    for _, bytes_, element, name in objects:
        size = bytes_ if bytes_ <= parameters.whole else element
        if size > parameters.page:
            raise InputError(
                f"{path}: an element of {name} has {size} B and does not fit a page of "
                f"{parameters.page} B: split it, or leave it in RAM"
            )
    try:
        return _native.Layouter(objects, parameters.whole, parameters.list)
    except ValueError as error:
        count = sum(
            1 if bytes_ <= parameters.whole else bytes_ // element
            for _, bytes_, element, _ in objects
        )
        raise InputError(
            f"{path}: {count} elements; at most 8192 can be placed: tag fewer variables, or make "
            "structs of small ones"
        ) from error


def decide(program: Program, method: str) -> Pages:
    """The page of each element."""
    graph, parameters = program.graph, program.parameters
    if method == "first-fit":
        return graph.first_fit(parameters.page)
    if method == "published":
        return published(program)
    return ours(program)


def published(program: Program) -> Pages:
    """The heuristic of Lachenmann et al. 2007."""
    graph, parameters = program.graph, program.parameters
    mean = sum(graph.writes) // program.elements
    threshold = mean if parameters.writes is None else parameters.writes
    return graph.published(
        parameters.page, parameters.group, parameters.share, threshold, parameters.freeze
    )


def ours(program: Program) -> Pages:
    """A search from the best of a few layouts that the other methods give. On the accesses kept it
    never has more faults than the better of these two; of what is left, the least cost."""
    graph, parameters = program.graph, program.parameters
    usual = [graph.first_fit(parameters.page), published(program)]
    usual = [pages for pages in usual if fits_pool(pages)] or usual[:1]
    never = (1 << 62) // program.elements
    groups = (parameters.page // 8, parameters.page // 4, parameters.page // 2)
    grouped = [graph.published(parameters.page, size, 1000, never) for size in groups]
    starts = usual + [pages for pages in grouped if fits_pool(pages)]
    played = [graph.play(pages, parameters.frames) for pages in starts]
    work = min(_MOST_WORK, _WORK_AN_ACCESS * max(graph.sampled, 1))
    # Few faults lie on the way to a low cost, and the other way round: half of the time for each.
    for write_cost in (10, parameters.write_cost):
        found = _searched(program, starts, played, write_cost, work // 2)
        starts.append(found)
        played.append(graph.play(found, parameters.frames))
    fewest = min(one["faults"] for one in played[: len(usual)])
    allowed = [number for number, one in enumerate(played) if one["faults"] <= fewest]
    return starts[min(allowed, key=lambda number: cost(played[number], parameters.write_cost))]


def _searched(
    program: Program,
    starts: Sequence[Pages],
    played: Sequence[dict[str, int]],
    write_cost: int,
    work: int,
) -> Pages:
    """From the best of the starts, by the cost that the search itself goes by."""
    parameters = program.parameters
    costs = [cost(one, write_cost) for one in played]
    return program.graph.search(
        starts[costs.index(min(costs))],
        parameters.page,
        parameters.frames,
        work,
        parameters.seed,
        fault_cost=10,
        write_cost=write_cost,
    )


def cost(result: dict[str, int], write_cost: int) -> int:
    """What a search makes small: faults and flash writes, in tenths of a fault."""
    return 10 * result["faults"] + write_cost * result["flash_writes"]


def fits_pool(pages: Pages) -> bool:
    """The DataFlash of the small node has so many pages, with those to rotate."""
    return max(pages) < tagged.MOST_PAGES


# ---- the file ----


class _Placed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    bytes: int = Field(ge=1, lt=1 << 32)
    element_bytes: int = Field(ge=1, lt=1 << 32)
    places: list[tuple[int, int]]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    method: str
    page_bytes: int = Field(ge=1, lt=1 << 31)
    whole_bytes: int = Field(ge=0, lt=1 << 31)
    pages: int = Field(ge=1, le=8192)
    frames: int = Field(ge=1, le=MOST_FRAMES)
    program: str = Field(pattern=r"^[0-9a-f]{16}$")
    objects: list[_Placed] = Field(min_length=1, max_length=8192)


Shape = tuple[str, int, int]  # name, bytes, bytes an element


def _shapes(objects: Sequence[Object]) -> list[Shape]:
    return [(name, bytes_, element) for _, bytes_, element, name in objects]


def fingerprint(objects: Sequence[Object]) -> str:
    """Of the variables: their names, sizes and order."""
    return _digest(_shapes(objects))


def _digest(shapes: Sequence[Shape]) -> str:
    return hashlib.sha256(json.dumps(shapes).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def differences(old: Sequence[Shape], new: Sequence[Shape]) -> str:
    """What changed from one version of a program to another, in words."""
    before, after = {one[0]: one for one in old}, {one[0]: one for one in new}
    told = []
    for words, names in (
        ("gone", [name for name in before if name not in after]),
        ("new", [name for name in after if name not in before]),
        (
            "of another size",
            [name for name in before if name in after and before[name] != after[name]],
        ),
    ):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            told.append(f"{', '.join(names[:3])}{more} {words}")
    if not told and list(old) != list(new):
        told.append("in another order")
    return "; ".join(told)


def as_file(program: Program, method: str, pages: Pages) -> dict[str, Any]:
    """The layout as docs/schemas/layout-1.json has it."""
    used = [0] * (max(pages) + 1)
    offsets = []
    for page, size in zip(pages, program.graph.bytes, strict=True):
        offsets.append(used[page])
        used[page] += size
    places = list(zip(pages, offsets, strict=True))
    objects: list[dict[str, Any]] = []
    for _, bytes_, element, name in program.objects:
        count = 1 if bytes_ <= program.parameters.whole else bytes_ // element
        objects.append(
            {
                "name": name,
                "bytes": bytes_,
                "element_bytes": bytes_ // count,
                "places": [list(place) for place in places[:count]],
            }
        )
        del places[:count]
    return {
        "method": method,
        "page_bytes": program.parameters.page,
        "whole_bytes": program.parameters.whole,
        "pages": len(used),
        "frames": program.parameters.frames,
        "program": _digest([(one["name"], one["bytes"], one["element_bytes"]) for one in objects]),
        "objects": objects,
    }


@dataclass(frozen=True)
class Layout:
    """A layout file, checked: each element lies on one page and over no other."""

    page: int
    whole: int
    shapes: list[Shape]
    pages: Pages
    offsets: list[int]  # in its page, of each element
    frames: int  # pages in RAM it was made for


def load(path: str) -> Layout:
    """Read a layout file; InputError says what is wrong with it and where."""
    try:
        with Path(path).open("rb") as stream:
            text = stream.read(_MOST_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if len(text) > _MOST_FILE_BYTES:
        raise InputError(f"{path}: larger than a layout can be")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no layout of `nandwich layout`: {_short(error)}") from error
    if not isinstance(value, dict) or value.get("schema") != "nandwich.layout/1":
        raise InputError(f"{path}: no layout of `nandwich layout`: its schema is another")
    try:
        file = _File.model_validate_json(json.dumps(value.get("layout")))
    except (ValidationError, ValueError) as error:
        raise InputError(f"{path}: {_first(error)}") from error
    return _checked(path, file)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120]


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return _short(error)
    fault = error.errors()[0]
    where = ".".join(str(part) for part in ("layout", *fault["loc"]))
    return f"{where}: {fault['msg']}"


def _checked(path: str, file: _File) -> Layout:
    shapes: list[Shape] = []
    pages: Pages = []
    offsets: list[int] = []
    taken: dict[int, list[tuple[int, int, str]]] = {}
    for one in file.objects:
        if not one.name.isprintable() or not one.name:
            raise InputError(f"{path}: {one.name!r} is no name of a variable")
        if one.element_bytes * len(one.places) != one.bytes:
            raise InputError(
                f"{path}: {one.name}: {len(one.places)} places of {one.element_bytes} B for "
                f"{one.bytes} B"
            )
        for page, offset in one.places:
            if not (0 <= page < file.pages and 0 <= offset <= file.page_bytes - one.element_bytes):
                raise InputError(f"{path}: {one.name}: [{page}, {offset}] lies on no page")
            taken.setdefault(page, []).append((offset, offset + one.element_bytes, one.name))
            pages.append(page)
            offsets.append(offset)
        shapes.append((one.name, one.bytes, one.element_bytes))
    if len(pages) > 8192:
        raise InputError(f"{path}: {len(pages)} elements; at most 8192")
    for page, ranges in sorted(taken.items()):
        ranges.sort()
        for (_, end, first), (begin, _, second) in pairwise(ranges):
            if begin < end:
                raise InputError(f"{path}: {first} and {second} overlap on page {page}")
    if _digest(shapes) != file.program:
        raise InputError(f"{path}: the fingerprint {file.program} is not that of its variables")
    return Layout(file.page_bytes, file.whole_bytes, shapes, pages, offsets, file.frames)


def placement(path: str) -> tagged.Placement:
    """A layout file, as far as a build needs it."""
    known = load(path)
    places = list(zip(known.pages, known.offsets, strict=True))
    variables = []
    for name, bytes_, element in known.shapes:
        count = bytes_ // element
        variables.append(tagged.Variable(name, bytes_, element, tuple(places[:count])))
        del places[:count]
    pages = max(known.pages) + 1
    return tagged.Placement(path, known.page, known.whole, pages, known.frames, tuple(variables))


def check_fits(path: str, layout: Layout, program: Program) -> None:
    """InputError when the layout is for another version of the program, with what changed."""
    whole = program.parameters.whole
    now = [
        (name, bytes_, bytes_ if bytes_ <= whole else element)
        for _, bytes_, element, name in program.objects
    ]
    changed = differences(layout.shapes, now)
    if changed:
        raise InputError(f"{path}: for another version of the program: {changed}")


def play(
    program: Program, layouts: dict[str, Pages], frames: Sequence[int]
) -> list[dict[str, Any]]:
    """What each layout costs with each number of pages in RAM, on the accesses kept as a sample."""
    return [
        _told(name, count, program.graph.play(pages, count), program.parameters)
        for name, pages in layouts.items()
        for count in frames
    ]


def _told(name: str, frames: int, result: dict[str, int], parameters: Parameters) -> dict[str, Any]:
    whole = round(cost(result, parameters.write_cost) / 10)
    return {"layout": name, "frames": frames, **result, "cost": whole}


def save(path: str, document: dict[str, Any]) -> None:
    """Write a layout file; a line an object, so that a diff shows what moved."""
    layout = document["layout"]
    head = json.dumps({**document, "layout": {**layout, "objects": []}}, indent=2)
    lines = ",\n".join("      " + json.dumps(one, ensure_ascii=False) for one in layout["objects"])
    text = head.replace('"objects": []', f'"objects": [\n{lines}\n    ]', 1) + "\n"
    try:
        files.replace(Path(path), text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise not_written(f"cannot write {path}: {error.strerror}", error) from error
