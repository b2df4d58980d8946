# SPDX-License-Identifier: Apache-2.0
"""`nandwich run`: builds a C program with virtual memory, runs it on a twin, says what it cost."""

import functools
import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nandwich import locks, names, paths
from nandwich.cli import config_file, loudness, output, signals
from nandwich.cli.command import Command
from nandwich.cli.options import (
    ADDRESS,
    SIZE,
    json_option,
    timeline_options,
    window_of,
    words,
    writable,
)
from nandwich.compiler import toolchain
from nandwich.errors import InputError, RunError
from nandwich.run import guest as run_guest
from nandwich.run import measure, recipe, report, statics
from nandwich.run import profile as profile_of
from nandwich.twin import config as devices
from nandwich.twin import parts, timelines
from nandwich.twin.config import Device

_DEFAULT = Device()
_HOW_OFTEN = (
    f"nandwich: a short program runs up to {measure.MOST_ROUNDS} times natively and "
    f"{measure.MOST_ROUNDS} times in virtual memory; --once: once each"
)
#: Emulated boards: lab/device/boards.py.
_TARGETS = ("cortex-m3", "rv32", "atmega128")
_TARGET_ONLY = {
    "stack": "belongs to --target, as --target cortex-m3",
    "vm_base": "belongs to --target, as --target cortex-m3",
    "fault": "belongs to --target, as --target cortex-m3",
    "mmap": "belongs to --target, as --target cortex-m3; on the host the file itself is mapped",
    "bus": "belongs to --target, as --target cortex-m3",
    "prefetch": "belongs to --target, as --target cortex-m3",
    "layout": "belongs to --target atmega128; on the host `nandwich cc --layout` builds with one",
    "frames": "belongs to --layout FILE with --target atmega128; on the host it is --ram",
}
_WRITTEN = ("image", "record", "accesses", "timeline")  # options that name files
_NOT_STARTED = 2  # exit status of ports/host/start.c for a device that cannot hold the program
#: Options handed to the compiler as they are, in front of ours: by their beginning, or whole.
_PASSED = ("-O", "-I", "-D", "-U", "-L", "-l", "-W", "-f", "-m", "-g", "-std=", "-pthread")
_PASSED_WHOLE = frozenset(("-ansi", "-pedantic", "-pedantic-errors", "-pipe", "-w"))
#: Refused with the reason, once they are told from options of ours.
_REFUSED = recipe.NO_PROGRAM
#: Of these the value is the next argument.
_PASSED_PAIR = frozenset(
    ("-I", "-D", "-U", "-L", "-l", "-include", "-isystem", "-iquote", "-idirafter", "-mllvm")
)


class _Run(Command):
    """Everything after `--` belongs to the program, and `-O2` and friends to the compiler."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        guest: list[str] = []
        if "--" in args:
            split = args.index("--")
            args, guest = args[:split], args[split + 1 :]
        flags, rest = _split_compiler_flags(args)
        ctx.params["guest_arguments"] = tuple(guest)
        ctx.params["compiler_flags"] = tuple(flags)
        return super().parse_args(ctx, rest)


def _split_compiler_flags(args: list[str]) -> tuple[list[str], list[str]]:
    flags: list[str] = []
    rest: list[str] = []
    pending = iter(args)
    for argument in pending:
        if argument in _PASSED_PAIR:
            flags += [argument, next(pending, "")]
        elif argument == "--cflags":  # its value looks like a flag
            rest += [argument, next(pending, "")]
        elif argument == "-o":
            flags.append(argument)
            next(pending, "")
        elif argument in _PASSED_WHOLE | _REFUSED or (
            argument.startswith(_PASSED) and not argument.startswith("--")
        ):
            flags.append(argument)
        else:
            rest.append(argument)
    return flags, rest


@click.command(
    cls=_Run,
    options_metavar="[OPTIONS] [COMPILER FLAGS]",
    epilog="""Examples:

    \b
      nandwich run examples/hello.c
      nandwich run parser.c -O3 -DLIMIT=100 --cflags '--param foo=1 -x c' -- INPUT
      nandwich run examples/sort.c --ram 16K --ftl tree -- heap 50000
      nandwich run examples/jpeg2bmp.c --chip K9F1G08U0A --ftl lavish --degree 8 \\
          --ram 32K --frame 512 --vm 8M --json out.json -- IN.jpg OUT.bmp
      nandwich run examples/sort.c --record sort.log && \\
          nandwich replay sort.log --ftl tree
      nandwich run examples/sort.c --once --timeline sort.perfetto-trace -- heap 20000
      nandwich run examples/sort.c --target cortex-m3 -- merge 20000
      nandwich run examples/node.c --target atmega128 --layout node.layout
    """,
)
@click.argument("sources", nargs=-1, required=True, metavar="FILE.c...")
@click.option(
    "--config",
    default="",
    is_eager=True,
    callback=config_file.for_run,
    metavar="FILE.toml",
    help="A choice of nandwich tune --out: its part, layer and page frames. What the line says "
    "stands before it.",
)
@click.option(
    "--chip",
    default=_DEFAULT.chip,
    show_default=True,
    metavar="NAME|FILE.toml",
    help="The part to emulate (`nandwich chips` lists them), or a file of your own. A --target "
    "has its own parts (docs/run-target.md).",
)
@click.option(
    "--ftl",
    default=_DEFAULT.ftl,
    show_default=True,
    metavar="NAME",
    help="Translation layer: " + " or ".join(devices.FTLS) + ".",
)
@click.option(
    "--degree",
    default=_DEFAULT.degree,
    show_default=True,
    type=click.IntRange(1, 255),
    help="lavish: physical blocks a lavish block.",
)
@click.option(
    "--maps",
    default=_DEFAULT.maps,
    show_default=True,
    type=click.IntRange(0, 255),
    help="lavish: intra-block maps held in RAM; tree: nodes of its map.",
)
@click.option(
    "--blocks",
    default=_DEFAULT.blocks,
    type=click.IntRange(0, 2**32 - 1),
    help="Of the chip for virtual memory, from the first; 0: all.",
)
@click.option(
    "--spare-blocks",
    default=_DEFAULT.spare_blocks,
    type=click.IntRange(0, 65535),
    help="Kept by the layer for cleaning and bad blocks; 0: its own choice.",
)
@click.option("--vm", default=_DEFAULT.vm, type=SIZE, help="Virtual memory.  [default: 8M]")
@click.option(
    "--ram", default=_DEFAULT.ram, type=SIZE, help="RAM for frames and statics.  [default: 32K]"
)
@click.option(
    "--statics",
    default=_DEFAULT.statics,
    show_default=True,
    type=SIZE,
    help="RAM, out of --ram, for the hottest globals: they have no guards.",
)
@click.option(
    "--frame",
    default=_DEFAULT.frame,
    show_default=True,
    type=SIZE,
    help="Bytes a page frame, a power of two.",
)
@click.option(
    "--slots",
    default=_DEFAULT.slots,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Last-cache buffers the guards use.",
)
@click.option(
    "--lookaside",
    default=_DEFAULT.lookaside,
    show_default=True,
    type=click.IntRange(0, 256),
    help="Look-aside entries, 0 or a power of two: pages found at once without a buffer.",
)
@click.option(
    "--guards",
    default=_DEFAULT.guards,
    show_default=True,
    type=click.Choice(toolchain.GUARD_MODES),
    help="Guards in place, behind a call, or in place in loops only: speed against code size.",
)
@click.option(
    "--scheme",
    default=_DEFAULT.scheme,
    show_default=True,
    type=click.Choice(devices.SCHEMES),
    help="What to do about frames smaller than a flash page.",
)
@click.option(
    "--policy",
    default=_DEFAULT.policy,
    show_default=True,
    type=click.Choice(devices.POLICIES),
    help="Which frame is evicted.",
)
@click.option(
    "--ecc",
    default=_DEFAULT.ecc,
    show_default=True,
    type=click.Choice(devices.ECCS),
    help="Software code over the chip.",
)
@click.option(
    "--seed",
    default=_DEFAULT.seed,
    show_default=True,
    type=click.IntRange(0, 0xFFFFFFFF),
    help="Of everything random in the twin.",
)
@click.option(
    "--image",
    default="",
    metavar="FILE",
    callback=writable,
    help="Chip content and wear: loaded when there, saved at the end.",
)
@click.option(
    "--record",
    default="",
    metavar="FILE",
    callback=writable,
    help="What virtual memory asks of the layer, as an iolog for `nandwich replay`.",
)
@click.option(
    "--record-accesses",
    "accesses",
    default="",
    metavar="FILE",
    callback=writable,
    help="Every access to virtual memory, for `nandwich vmtrace`; the program runs slower. "
    "--target atmega128: to tagged variables, for `nandwich layout`.",
)
@timeline_options
@click.option(
    "--target",
    default="host",
    show_default=True,
    type=click.Choice(["host", *_TARGETS]),
    help="What runs the program: this host, or an emulated board (docs/run-target.md).",
)
@click.option(
    "--layout",
    metavar="FILE",
    help="--target atmega128: only tagged variables are virtual, where this layout says.",
)
@click.option(
    "--frames",
    type=click.IntRange(1, 255),
    help="--layout: pages in RAM.  [default: those it was made for]",
)
@click.option(
    "--stack",
    type=SIZE,
    help="--target: bytes of stack.  [default: 8K, atmega128 1K, --layout 512]",
)
@click.option(
    "--vm-base",
    type=ADDRESS,
    metavar="ADDRESS",
    help="--target: first address of virtual memory.",
)
@click.option(
    "--fault",
    type=click.Choice(["id", "stuck", "ecc"]),
    help="--target: a part that answers a foreign id, never gets ready, or loses what it holds.",
)
@click.option(
    "--bus",
    metavar="single|quad[:MHZ]",
    help="--target: the serial bus; quad reads by four lines and DMA.  [default: single:20]",
)
@click.option(
    "--mmap",
    multiple=True,
    metavar="FILE=flash:OFFSET",
    help="--target: where on the part a file lies that is mapped; by itself at its end.",
)
@click.option(
    "--prefetch/--no-prefetch",
    default=True,
    show_default=True,
    help="--target: the next page of a mapped file is read while the processor works.",
)
@click.option(
    "--native/--no-native", default=True, show_default=True, help="Compare with a native run."
)
@click.option(
    "--once", is_flag=True, help="Run each program once: no repeats for the best wall clock."
)
@click.option(
    "--profile",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Guards go where they pay: by the counts in FILE, which a native run makes if it is not "
    "there.",
)
@click.option(
    "--separate",
    is_flag=True,
    help="Build file by file; by default both programs are optimised as a whole.",
)
@click.option(
    "--cflags",
    multiple=True,
    metavar="'FLAGS'",
    help="More flags for the compiler, of any form; may be repeated.",
)
@click.option(
    "--quiet",
    "-q",
    is_flag=True,
    callback=loudness.choose,
    help="No table: stdout is the program's alone; only errors on stderr.",
)
@json_option
def command(
    sources: tuple[str, ...],
    guest_arguments: tuple[str, ...],
    compiler_flags: tuple[str, ...],
    native: bool,
    once: bool,
    profile: Path | None,
    separate: bool,
    cflags: tuple[str, ...],
    quiet: bool,
    json_target: str | None,
    target: str,
    config: str,
    **choices: Any,
) -> None:
    """Build a C program with virtual memory, run it on a twin of the chip, and say what it cost.

    The program runs natively too: output, exit status and every file it writes are compared byte
    for byte. Exit code 1 when they differ, or when the program itself fails. -O2 (the default), -I,
    -D, -l and such go to the compiler; what follows `--` goes to the program.

    A short program is run up to 7 times natively and 7 times in virtual memory, for the best wall
    clock of each, on the same files and the same stdin every time. With --once it runs once each.
    """
    paths_in = _sources(sources)
    outputs = (*(choices[key] for key in _WRITTEN), json_target)
    counts = () if profile is None else (profile,)
    named = (*paths_in, *parts.files(choices["chip"]), *counts, *([config] if config else ()))
    output.check_apart((*named, "/dev/stdin"), outputs)
    given = [name for name in guest_arguments if _is_file(name)]
    output.check_apart(given, outputs, "which the program is given")
    if target != "host":
        _on_target(paths_in, guest_arguments, (*compiler_flags, *words(cflags)))
        return
    _refuse_target_options()
    if told := config_file.ignored(click.get_current_context()):
        output.talk(told)
    for name in _TARGET_ONLY:
        del choices[name]
    choices["window"] = window_of(choices["timeline"], choices.pop("timeline_window"))
    device = _device(choices)
    devices.check(device)
    flags = recipe.checked_flags(("-O2", *compiler_flags, *words(cflags)))
    subject = report.Subject(paths_in, guest_arguments, device)
    if native and not (once or quiet):
        output.talk(_HOW_OFTEN)
    # Of two runs that load one image, the second would save the wear of its own alone.
    stdin = run_guest.read_input()
    with signals.unwinding(), locks.held(device.image), measure.scratch() as folder:
        if profile is not None:
            native_run = (paths_in, flags, guest_arguments, stdin)
            count = functools.partial(profile_of.on_the_host, *native_run)
            output.talk(profile_of.provide(profile, count, Path(folder), separate=separate))
        programs = functools.partial(recipe.job, compare=native, whole=not separate)
        job = programs(paths_in, flags, device, guest_arguments, profile=profile)
        output.check_apart(job.inputs, outputs, "which the compiler reads")
        result = _measured(job, stdin, folder, once, outputs)
        _show_output(result, to_stderr=json_target == "-")
        value = _payload(subject, job, result)
    _tell_timeline(device, result)
    if json_target != "-" and not quiet:
        click.echo(report.headline(subject, value))
        output.print_table(("what", "how much", "meaning"), report.rows(value))
    if json_target is not None:
        inputs = (*paths_in, *([Path(config)] if config else ()))
        document = output.document("run", 1, value, seed=device.seed, inputs=inputs)
        output.write_json(json_target, document)
    if failure := report.failure(result, job.virtual):
        raise RunError(failure)


def _payload(subject: report.Subject, job: measure.Job, result: measure.Result) -> dict[str, Any]:
    """What the program's run time reported; an error where it did not come so far."""
    if not result.virtual.report and result.virtual.status == _NOT_STARTED:
        raise InputError("the program was not started, for the reason above")
    if not result.virtual.report:
        raise RunError(report.failure(result, job.virtual) or "the program left no report")
    return report.payload(subject, result, statics.read(job.virtual))


def _given() -> frozenset[str]:
    """Names of the options that stood on the command line."""
    context = click.get_current_context()
    return frozenset(
        name
        for name in context.params
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    )


def _refuse_target_options() -> None:
    for option in sorted(_given() & _TARGET_ONLY.keys()):
        raise InputError(f"--{option.replace('_', '-')} {_TARGET_ONLY[option]}")


def _on_target(
    sources: tuple[Path, ...], arguments: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    """The emulated boards are of the lab, as all emulators are."""
    choices = click.get_current_context().params
    if paths.CHECKOUT is None:
        raise InputError(
            f"--target {choices['target']} builds firmware from the sources of a checkout of "
            "Nandwich, and this is an installed package: get the sources and run it there"
        )
    board = importlib.import_module("lab.device.verb_run")
    board.run(sources, arguments, flags, choices, _given())


def _tell_timeline(device: Device, result: measure.Result) -> None:
    if device.timeline and "timeline" in result.virtual.report:
        told = timelines.told(Path(device.timeline), result.virtual.report["timeline"])
        output.talk(told)


def _measured(
    job: measure.Job, stdin: bytes, folder: str, once: bool, outputs: tuple[str | None, ...]
) -> measure.Result:
    """Both programs, run; none may change a file that we write."""
    return measure.measure(
        job,
        stdin,
        Path(folder),
        once=once,
        check=lambda changes: output.check_apart(
            changes.after, outputs, "which the program itself changes"
        ),
    )


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # no name at all: too long, say
        return False


def _sources(given: tuple[str, ...]) -> tuple[Path, ...]:
    for name in given:
        path = Path(name)
        toolchain.refuse_language(name)
        if path.suffix not in (".c", ".i"):
            raise InputError(f"{name}: not a C source; arguments of the program go after `--`")
        if not path.is_file():
            raise InputError(f"{name}: no such file")
    return tuple(Path(name) for name in given)


def _device(choices: dict[str, Any]) -> Device:
    if choices["ftl"] not in devices.FTLS:
        raise names.unknown("translation layer", choices["ftl"], devices.FTLS)
    for key, option in (("record", "--record"), ("accesses", "--record-accesses")):
        folder = Path(choices[key]).parent
        if not folder.is_dir():
            raise InputError(f"{option}: {folder}: no such folder")
    return devices.with_part(Device(**choices))


def _show_output(result: measure.Result, *, to_stderr: bool) -> None:
    """The program's own stdout, before any table."""
    target = sys.stderr if to_stderr else sys.stdout
    target.flush()
    with result.virtual.stdout.open("rb") as source:
        shutil.copyfileobj(source, target.buffer)
    target.flush()
