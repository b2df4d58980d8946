# SPDX-License-Identifier: Apache-2.0
"""The part of `nandwich run --target atmega128` for programs with NW_VM variables:
--record-accesses records them on the board, --layout runs a program laid out."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lab.device import build, play, tagged
from lab.device.tagged import Outcome
from nandwich import _native, files
from nandwich.cli import output, signals
from nandwich.compiler import outputs as written
from nandwich.compiler.tagged import Placement
from nandwich.errors import InputError, RunError, not_written
from nandwich.quantities import format_time
from nandwich.run import measure, recipe
from nandwich.vmtrace import layout

Row = tuple[str, str, str]

#: What a run may be told beside --target and the compiler's flags.
_KNOWN = {
    "layout": frozenset(("layout", "frames", "stack", "native", "once", "quiet", "json_target")),
    "accesses": frozenset(("accesses", "once", "quiet", "json_target")),
}
_ALWAYS = frozenset(("sources", "target", "cflags", "guest_arguments", "compiler_flags"))
_LEAST_STACK = 128
#: Owners of cycles: name in the report, in the JSON, and what it is.
_OWNERS = (
    ("vm", "run_time", "of tagged variables: resident accesses, who leaves, where to"),
    ("driver", "driver", "DataFlash driver and the loop that moves its bytes"),
    ("library", "library", "C library and compiler's helpers"),
    ("board", "board", "start-up, calls of the host"),
)
_COUNTS = {
    "faults": ("faults", "pages that came to RAM, from a buffer of the chip or from flash"),
    "buffer_reads": ("  from a buffer", ""),
    "to_buffer": ("to a buffer", "dirty pages that left RAM"),
    "flash_writes": ("flash writes", "of a buffer that another page wanted"),
}


@dataclass(frozen=True)
class _Request:
    sources: tuple[Path, ...]
    arguments: tuple[str, ...]
    flags: tuple[str, ...]
    choices: dict[str, Any]

    @property
    def words(self) -> tuple[str, ...]:
        return (self.sources[0].stem, *self.arguments)


def wants(given: frozenset[str], choices: dict[str, Any]) -> bool:
    """Whether the command line asks for a program with tagged variables."""
    on_node = choices["target"] == tagged.BOARD.name
    return bool(given & {"layout", "frames"}) or (on_node and "accesses" in given)


def run(
    sources: tuple[Path, ...],
    arguments: tuple[str, ...],
    flags: tuple[str, ...],
    choices: dict[str, Any],
    given: frozenset[str],
) -> None:
    """As verb_run.run()."""
    _check(given, choices)
    request = _Request(sources, arguments, recipe.checked_flags(("-O2", *flags)), choices)
    written.refuse_over(list(map(str, sources)), request.flags)
    with signals.unwinding(), measure.scratch() as folder:
        value, failed = (_laid_out if "layout" in given else _recorded)(request, Path(folder))
    target = choices["json_target"]
    if target is not None:
        inputs = [*sources, *([Path(choices["layout"])] if "layout" in given else [])]
        output.write_json(target, output.document("run-tagged", 1, value, inputs=inputs))
    if failed:
        raise RunError(failed)


def _check(given: frozenset[str], choices: dict[str, Any]) -> None:
    """InputError for what does not go together."""
    board = tagged.BOARD
    if choices["target"] != board.name:
        option = "layout" if "layout" in given else "frames"
        raise InputError(
            f"--{option} is of programs with tagged variables, whose firmware is for a DataFlash "
            f"beside an {board.model}: --target {board.name}"
        )
    if "layout" not in given and "frames" in given:
        raise InputError("--frames belongs to --layout FILE")
    if {"layout", "accesses"} <= given:
        raise InputError("a run either records its accesses or has a layout: give one of them")
    mode = "layout" if "layout" in given else "accesses"
    for name in sorted(given - _ALWAYS - _KNOWN[mode]):
        option = "--" + name.replace("_", "-")
        what = "--layout" if mode == "layout" else "--record-accesses on the node"
        raise InputError(
            f"{option} does not go with {what}: only tagged variables are virtual there "
            "(docs/tagged.md)"
        )
    stack = choices["stack"]
    if stack is not None and not _LEAST_STACK <= stack <= board.ram.bytes:
        raise InputError(
            f"--stack {stack}: {_LEAST_STACK} to the node's RAM of {board.ram.bytes} B are allowed"
        )
    missing = board.missing()
    if missing:
        raise InputError(f"--target {board.name} needs {', '.join(missing)}")


def _check_apart(request: _Request, image: build.Image) -> None:
    written_here = (request.choices["accesses"], request.choices["json_target"])
    output.check_apart(image.inputs, written_here, "which the compiler reads")


def _show(request: _Request, outcome: Outcome) -> None:
    """What the program itself says, before any table."""
    sink = sys.stderr if request.choices["json_target"] == "-" else sys.stdout
    sink.flush()
    sink.buffer.write(outcome.output)
    sink.flush()
    sys.stderr.buffer.write(outcome.said)
    sys.stderr.flush()


def _tables(request: _Request, headline: str, rows: list[Row]) -> None:
    if request.choices["json_target"] != "-" and not request.choices["quiet"]:
        click.echo(headline)
        output.print_table(("what", "how much", "meaning"), rows)


# ---- recording ----


def _recorded(request: _Request, folder: Path) -> tuple[dict[str, Any], str]:
    trace, target = folder / "trace.acc", request.choices["accesses"]
    image = tagged.recorder(request.sources, request.flags)
    _check_apart(request, image)
    outcome = tagged.record(image, folder, trace, request.words)
    _show(request, outcome)
    known = _native.AccessTrace(str(trace))
    if not known.objects:
        output.talk(f"nandwich: {target}: this program has no tagged variable that it uses")
    try:
        with trace.open("rb") as whole, files.replacing(Path(target)) as stream:
            shutil.copyfileobj(whole, stream)  # it may be larger than this machine's RAM
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error
    told = {"variables": len(known.objects), "accesses": outcome.report["recorded"]}
    if request.choices["json_target"] is None and not request.choices["quiet"]:
        accesses = output.counted(told["accesses"], "access", "accesses")
        output.talk(f"{target}: {accesses} to {output.counted(told['variables'], 'variable')}")
    return _payload(request, outcome, recorded=told), _failure(outcome)


# ---- with a layout ----


def _laid_out(request: _Request, folder: Path) -> tuple[dict[str, Any], str]:
    choices = request.choices
    output.check_apart((choices["layout"],), (choices["json_target"],))
    places = layout.placement(choices["layout"])
    frames = _frames(places, choices["frames"])
    stack = choices["stack"] or tagged.BOARD.stack
    image = tagged.program(request.sources, request.flags, places, frames, stack)
    _check_apart(request, image)
    reference = None
    if choices["native"]:
        plain = tagged.plain(request.sources, request.flags)
        reference = tagged.play(plain, folder, request.words)
    outcome = tagged.play(image, folder, request.words)
    _show(request, outcome)
    differences = [] if reference is None else _differences(reference, outcome)
    value = _payload(request, outcome, reference, differences, places, frames)
    same = {None: "not compared with the plain program", True: "identical to the plain program"}
    headline = same.get(value["identical"], "NOT identical to the plain program")
    _tables(request, f"{headline}; {tagged.BOARD.model} at {tagged.BOARD.mhz} MHz", _rows(value))
    return value, _failure(outcome, differences)


def _frames(places: Placement, given: int | None) -> int:
    return min(given or places.frames, places.pages)


def _differences(plain: Outcome, outcome: Outcome) -> list[str]:
    found = []
    ends = [(one.report["end"], one.report["status"]) for one in (plain, outcome)]
    if ends[0] != ends[1]:
        told = [f"status {status}" if end == "exit" else end for end, status in ends]
        found.append(f"exit: plain {told[0]}, with the layout {told[1]}")
    if plain.output != outcome.output:
        pairs = zip(plain.output, outcome.output, strict=False)
        shorter = min(len(plain.output), len(outcome.output))
        at = next((at for at, (a, b) in enumerate(pairs) if a != b), shorter)
        found.append(f"stdout: differs at byte {at}")
    return found


# ---- what is told ----


def _payload(
    request: _Request,
    outcome: Outcome,
    reference: Outcome | None = None,
    differences: list[str] | None = None,
    places: Placement | None = None,
    frames: int = 0,
    recorded: dict[str, int] | None = None,
) -> dict[str, Any]:
    """docs/schemas/run-tagged-1.json."""
    board, report, sizes = tagged.BOARD, outcome.report, outcome.image.sizes
    cycles, room = outcome.cycles, outcome.image.layout
    whole = report["end"] == "exit"
    processor_ns = round(sum(cycles.values()) * 1000 / board.mhz)
    total_ns = report["run_flash"]["storage_ns"]
    return {
        "identical": None if reference is None else not differences,
        "differences": differences or [],
        "program": {
            "sources": [str(source) for source in request.sources],
            "arguments": list(request.arguments),
        },
        "target": {"name": board.name, "model": board.model, "mhz": board.mhz},
        "layout": places
        and {
            "file": places.path,
            "pages": places.pages,
            "page_bytes": places.page_bytes,
            "frames": frames,
        },
        "recorded": recorded,
        "exit": {
            "plain": None if reference is None else reference.report["status"],
            "tagged": report["status"] if whole else None,
        },
        "end": report["end"],
        "counts": {name: report["told"][name] for name in _COUNTS} if places and whole else None,
        "cycles": {
            "total": sum(cycles.values()),
            "program": cycles["program"],
            **{key: cycles[name] for name, key, _ in _OWNERS},
            "plain_total": None if reference is None else sum(reference.cycles.values()),
        },
        "time_ns": {
            "total": total_ns,
            "processor": processor_ns,
            "storage": max(total_ns - processor_ns, 0),
        },
        "bytes": {
            "code": sizes.code,
            "run_time": sizes.text["vm"],
            "driver": sizes.text["driver"],
            "stack": room.stack_bytes,
            "stack_peak": report["stack"],
            "variables": sizes.static_ram,
            "ram": room.ram.bytes,
        },
        "violations": report["violations"],
    }


def _rows(value: dict[str, Any]) -> list[Row]:
    return [*_time_rows(value), *_byte_rows(value["bytes"])]


def _time_rows(value: dict[str, Any]) -> Iterator[Row]:
    times, cycles = value["time_ns"], value["cycles"]
    yield "time", format_time(times["total"]), "of the run, on the node"
    yield "  processor", format_time(times["processor"]), "its cycles"
    yield "  storage", format_time(times["storage"]), "the bus, and waits for the DataFlash"
    for name, (row, meaning) in _COUNTS.items():
        if value["counts"] is not None:
            yield row, str(value["counts"][name]), meaning
    yield "cycles", str(cycles["total"]), "of the processor, exact"
    yield "  program", str(cycles["program"]), "its own code"
    for _, key, meaning in _OWNERS:
        yield f"  {key.replace('_', ' ')}", str(cycles[key]), meaning
    if cycles["plain_total"] is not None:
        yield "  plain", str(cycles["plain_total"]), "the same source with all variables in RAM"


def _byte_rows(size: dict[str, int]) -> Iterator[Row]:
    ours = size["run_time"] + size["driver"]
    yield "code", f"{size['code']} B", f"run time and driver {ours}"
    told = size["stack"] + size["variables"]
    yield "RAM", f"{told} B", f"of {size['ram']}: stack, variables, pages in RAM and tables"
    yield "  stack", f"{size['stack_peak']} B", f"at most in use, of {size['stack']}"


def _failure(outcome: Outcome, differences: list[str] | None = None) -> str:
    """Why the run counts as failed, in a line; empty when it does not."""
    report = outcome.report
    if report["violations"]:
        return f"the driver broke the part's rules: {report['violation']}"
    if report["end"] == "refused":
        why, needs, has = report["detail"]
        if why == play.REFUSED_ARGUMENTS:
            return f"the arguments take {needs}, the board has room for {has}"
        return f"the memory of tagged variables does not open: {play.error_text(needs)}"
    if report["end"] == "panic":
        error, page, _ = report["detail"]
        return f"page {page} of tagged variables is lost: {play.error_text(error)}"
    function = build.function_at(outcome.image.path, report["pc"])
    where = f" in function {function}" if function else ""
    if report["end"] == "stack":
        return (
            f"the stack is too small{where}: {report['detail'][1]} B were needed by then, of "
            f"{outcome.image.layout.stack_bytes}; give more --stack"
        )
    if report["end"] == "fault":
        return f"an access to nothing at {report['address']:#06x}{where}"
    if differences:
        return "not identical to the plain program: " + "; ".join(differences)
    return f"the program ended with status {report['status']}" if report["status"] else ""
