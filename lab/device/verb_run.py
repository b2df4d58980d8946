# SPDX-License-Identifier: Apache-2.0
"""The part of `nandwich run` behind --target."""

import functools
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from lab.device import boards, parts, play, report, verb_tagged
from lab.device.boards import BOARDS, USUAL_BUS, Board, Bus
from lab.device.parts import Part
from nandwich import quantities
from nandwich.cli import output, signals
from nandwich.compiler import outputs as written
from nandwich.errors import InputError, RunError
from nandwich.run import guest as run_guest
from nandwich.run import measure, profile, recipe

#: Options of the host's run that mean nothing here, and why.
_HOST_ONLY = {
    "degree": "is of the lavish layer",
    "maps": "is of the lavish layer",
    "blocks": "is of the host's run",
    "spare_blocks": "is of the host's run",
    "config": "is of the host's run; name its options",
    "scheme": "is chosen by the firmware: direct for frames of a page or more, else multi-cache",
    "ecc": "is the part's, or goes with it",
    "image": "is not kept: a part is fresh in each run on a target",
    "record": "is of the host's run",
    "timeline": "is of the host's run",
    "timeline_window": "is of the host's run",
    "record_accesses": "is of the host's run, and of tagged variables on atmega128",
    "once": "is what a target does anyway",
}


def run(
    sources: tuple[Path, ...],
    arguments: tuple[str, ...],
    flags: tuple[str, ...],
    choices: dict[str, Any],
    given: frozenset[str],
) -> None:
    """`choices` by option; `given` are those that stood on the command line."""
    if verb_tagged.wants(given, choices):
        verb_tagged.run(sources, arguments, flags, choices, given)
        return
    wanted = _wanted(sources, arguments, flags, choices, given)
    outputs = (choices["json_target"],)
    play.check(wanted)
    written.refuse_over(list(map(str, sources)), wanted.flags)
    stdin = run_guest.read_input()
    with signals.unwinding(), measure.scratch() as folder:
        if wanted.profile is not None:
            count = functools.partial(play.counted, wanted, stdin)
            with output.stage("counting a native run"):
                below = Path(folder)
                told = profile.provide(wanted.profile, count, below, separate=wanted.separate)
            output.talk(told)
        result = play.play(
            wanted,
            stdin,
            Path(folder),
            lambda changes: output.check_apart(
                changes.after, outputs, "which the program itself changes"
            ),
            lambda inputs: output.check_apart(inputs, outputs, "which the compiler reads"),
            output.stage,
        )
        _show(result, to_stderr=choices["json_target"] == "-")
        value = report.payload(result)
    if choices["json_target"] != "-" and not choices["quiet"]:
        click.echo(report.headline(value))
        output.print_table(("what", "how much", "meaning"), report.rows(value))
    if choices["json_target"] is not None:
        document = output.document("run-target", 1, value, seed=wanted.seed, inputs=sources)
        output.write_json(choices["json_target"], document)
    failed = report.failure(result, value)
    if failed:
        raise RunError(failed)


def _wanted(
    sources: tuple[Path, ...],
    arguments: tuple[str, ...],
    flags: tuple[str, ...],
    choices: dict[str, Any],
    given: frozenset[str],
) -> play.Wanted:
    named = {"record_accesses" if name == "accesses" else name for name in given}
    for name in sorted(named & _HOST_ONLY.keys()):
        option = "--" + name.replace("_", "-")
        raise InputError(f"{option} does not go with --target: it {_HOST_ONLY[name]}")
    board = BOARDS[choices["target"]]
    if "ftl" in given and choices["ftl"] not in board.layers:
        raise InputError(
            f"--ftl {choices['ftl']} does not go with --target {board.name}: its firmware has "
            f"{' and '.join(board.layers)}"
        )
    if "lookaside" in given and board.is_small:
        raise InputError(f"--lookaside does not go with --target {board.name}: it has no entries")

    if "profile" in given and board.is_small:
        raise InputError(
            f"--profile does not go with --target {board.name}: its memory has no room for counters"
        )

    def chosen(name: str, otherwise: Any) -> Any:
        return choices[name] if name in given else otherwise

    part = parts.get(choices["chip"]) if "chip" in given else parts.USUAL
    return play.Wanted(
        board=board,
        sources=sources,
        arguments=arguments,
        flags=recipe.checked_flags(("-O2", *flags)),
        layer=choices["ftl"] if "ftl" in given else None,
        vm=chosen("vm", play.usual_vm(board, part)),
        vm_start=chosen("vm_base", board.vm_start),
        ram=chosen("ram", board.frames),
        frame=chosen("frame", board.frame),
        slots=chosen("slots", board.slots),
        guards=chosen("guards", board.guards),
        policy=choices["policy"],
        stack=chosen("stack", board.stack),
        seed=choices["seed"],
        fault=choices["fault"] or "",
        compare=choices["native"],
        lookaside=choices["lookaside"],
        separate=choices["separate"],
        statics=choices["statics"],
        profile=choices["profile"],
        part=part,
        bus=_bus(board, part, choices["bus"]),
        places=tuple(_place(board, part, text) for text in choices["mmap"]),
        prefetch=choices["prefetch"],
    )


def _place(board: Board, part: Part, text: str) -> tuple[Path, int]:
    """`FILE=flash:OFFSET`: the file, and the block of the part that it begins with."""
    name, _, where = text.rpartition("=flash:")
    file = Path(name)
    if board.is_small:
        raise InputError(f"--mmap does not go with --target {board.name}: it has no files")
    if not name or not file.is_file():
        raise InputError(
            f"--mmap {text}: a file that is there, and where on the part it shall lie, is needed, "
            "as weights.bin=flash:120M"
        )
    try:
        block, rest = divmod(quantities.parse(where, "size", bare=True), part.block_bytes)
    except ValueError as error:
        raise InputError(f"--mmap {text}: {error}") from None
    blocks = -(-file.stat().st_size // part.block_bytes)
    if rest or block + blocks > part.blocks:
        raise InputError(
            f"--mmap {text}: a multiple of {part.name}'s blocks of {part.block_bytes} B is needed, "
            f"and room for the file's {blocks} before the end at {part.blocks}"
        )
    return file, block


def _bus(board: Board, part: Part, text: str | None) -> Bus:
    if part.cycle_ns != 0:
        bus = boards.parallel_bus(part.cycle_ns)
        if text is not None:
            raise InputError(
                f"--bus {text} does not go with --chip {part.name}: it has a {bus.told}"
            )
        return bus
    bus = USUAL_BUS if text is None else boards.bus(text)
    if bus.lines == 4 and board.is_small:
        raise InputError(f"--bus {text} does not go with {board.name}: its bus has one line")
    return bus


def _show(result: play.Result, *, to_stderr: bool) -> None:
    """The program's own stdout, before any table."""
    target = sys.stderr if to_stderr else sys.stdout
    target.flush()
    with result.virtual.stdout.open("rb") as source:
        shutil.copyfileobj(source, target.buffer)
    target.flush()
