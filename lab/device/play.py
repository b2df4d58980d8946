# SPDX-License-Identifier: Apache-2.0
"""Runs a program on an emulated board, natively and in virtual memory, and compares."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lab.device import build, parts
from lab.device.boards import USUAL_BUS, Board, Bus, Range
from lab.device.build import Image
from lab.device.layout import Layout
from lab.device.parts import Part
from nandwich import _native
from nandwich.compiler import toolchain
from nandwich.errors import InputError, RunError
from nandwich.quantities import format_size, format_time
from nandwich.run import changed_files, guest
from nandwich.run.guest import Outcome
from nandwich.run.watcher import UnwatchedError

POLICIES = ("clock", "lru")
FAULTS = ("id", "stuck", "ecc")

_REFUSED_PART, _REFUSED_BLOCKS, _REFUSED_RAM, _REFUSED_LAYER = 1, 2, 3, 4
REFUSED_ARGUMENTS = 6
_BUSY = -28  # of nandwich/error.h

Check = Callable[[changed_files.Changes], None]


class Stage(Protocol):
    """Says what is done meanwhile; `shared`: while the program writes on stderr."""

    def __call__(self, what: str, /, *, shared: bool = False) -> AbstractContextManager[None]: ...


def silent(_what: str, *, shared: bool = False) -> AbstractContextManager[None]:
    """Nobody looks."""
    del shared
    return nullcontext()


@dataclass(frozen=True)
class Wanted:
    """What was asked for."""

    board: Board
    sources: tuple[Path, ...]
    arguments: tuple[str, ...]
    flags: tuple[str, ...]
    layer: str | None  #: None: the board's first that has room
    vm: int
    vm_start: int
    ram: int
    frame: int
    slots: int
    guards: str
    policy: str
    stack: int
    seed: int
    fault: str
    compare: bool
    part: Part = parts.USUAL
    bus: Bus = USUAL_BUS
    prefetch: bool = True  #: of mapped files
    places: tuple[tuple[Path, int], ...] = ()  #: files that lie on the part, each from a block on
    #: How guards are made, beside `slots` and `guards`; a small processor has none of these.
    lookaside: int = 64
    windows: bool = True
    count: bool = False  #: guards count accesses
    separate: bool = False  #: built file by file
    statics: int = 0  #: of `ram`, for the hottest globals
    profile: Path | None = None  #: what a native run counted


@dataclass
class Result:
    """What came of it."""

    wanted: Wanted
    layer: str
    image: Image
    virtual: Outcome
    native: Outcome | None
    differences: list[str]

    @property
    def report(self) -> dict[str, Any]:
        return self.virtual.report


def usual_vm(board: Board, part: Part) -> int:
    """Of virtual memory where nobody chose."""
    return min(board.vm, part.bytes // 4)


def _layers(wanted: Wanted) -> tuple[str, ...]:
    """As they are tried where nobody chose."""
    return tuple(one for one in wanted.board.layers if one in wanted.part.kind.layers)


def _check_part(wanted: Wanted) -> None:
    board, part = wanted.board, wanted.part
    if board.is_small and not part.kind.on_small:
        carried = ", ".join(one.name for one in parts.PARTS.values() if one.kind.on_small)
        raise InputError(
            f"--chip {part.name} does not go with --target {board.name}: it carries {carried}"
        )
    if wanted.layer and wanted.layer not in part.kind.layers:
        raise InputError(
            f"--ftl {wanted.layer} does not go with --chip {part.name}: its firmware has "
            f"{' and '.join(part.kind.layers)}"
        )
    if wanted.fault and wanted.fault not in part.kind.faults:
        raise InputError(
            f"--fault {wanted.fault} does not go with --chip {part.name}, which cannot tell: it "
            f"has {' and '.join(part.kind.faults)}"
        )


def check(wanted: Wanted) -> None:
    """InputError for what cannot work on the board, before anything is compiled."""
    board = wanted.board
    missing = board.missing()
    if missing:
        raise InputError(f"--target {board.name} needs {', '.join(missing)}")
    _check_part(wanted)
    vm = Range(wanted.vm_start, wanted.vm)
    last = board.address_end - wanted.frame
    if vm.end > last:
        raise InputError(
            f"virtual memory at {vm.start:#010x} with --vm {format_size(wanted.vm)} ends at "
            f"{vm.end:#x}: the addresses of {board.name} end at {board.address_end:#x}, and the "
            f"last page of {wanted.frame} B stays empty"
        )
    if board.is_small and wanted.guards != "outline":
        raise InputError(
            f"--guards {wanted.guards} does not go with {board.name}: guards are calls"
        )
    for name, other in _memories(board):
        if vm.meets(other):
            shared = min(vm.end, other.end) - max(vm.start, other.start)
            raise InputError(
                f"virtual memory at {vm} collides with the {name} of {board.name} at {other}, by "
                f"{shared} B: give another --vm-base or less --vm"
            )
    if vm.start % wanted.frame or wanted.vm % wanted.frame or wanted.vm % wanted.part.page_bytes:
        raise InputError(
            f"--vm-base {vm.start:#x} and --vm {wanted.vm} must be multiples of --frame "
            f"{wanted.frame}, --vm of a page of {wanted.part.name} ({wanted.part.page_bytes} B) too"
        )
    frames, rest = divmod(wanted.ram, wanted.frame)
    if rest or frames < wanted.slots + 2 or frames > 65000:
        raise InputError(
            f"--ram {wanted.ram} / --frame {wanted.frame} = {wanted.ram / wanted.frame:g} frames: "
            f"a whole number from {wanted.slots + 2} ({wanted.slots} slots + 2) to 65000 is needed"
        )
    if wanted.statics >= wanted.ram:
        raise InputError(
            f"--statics {wanted.statics} come out of --ram {wanted.ram}, and frames need some of it"
        )
    if wanted.stack % 16 or not 1024 <= wanted.stack <= board.ram.bytes:
        raise InputError(
            f"--stack {wanted.stack}: a multiple of 16 from 1024 to the board's RAM of "
            f"{board.ram.bytes} B is allowed"
        )


def play(
    wanted: Wanted,
    stdin: bytes,
    folder: Path,
    check_changes: Check,
    check_inputs: Callable[[tuple[Path, ...]], None] = lambda _inputs: None,
    stage: Stage = silent,
) -> Result:
    """Build and run below `folder`; InputError when the board does not take the program.

    The checks see what the compiler read and what each run changed; they may raise.
    """
    layers = (wanted.layer,) if wanted.layer else _layers(wanted)
    with stage("building firmware"):
        emulator = build.emulator(wanted.board)
        image = _build(wanted, layers[0])
        check_inputs(image.inputs)
        plain = _plain(wanted) if wanted.compare else None
    native = None
    if plain is not None:
        with stage("running natively"):
            native = _native_run(emulator, wanted, plain, _sub(folder, "native"), stdin)
    if native is not None:
        check_changes(native.changes)
    for layer in layers:
        below = _sub(folder, layer)
        image = image if layer == layers[0] else _build(wanted, layer)
        try:
            with stage(_next(native), shared=True):
                return _virtual(emulator, wanted, image, layer, native, stdin, below, check_changes)
        except _NoRoomError:
            if layer == layers[-1]:
                raise
    raise AssertionError


def _next(native: Outcome | None) -> str:
    """What a run in virtual memory may take, said before it."""
    if native is None or not native.report:
        return "running in virtual memory"
    return f"natively {instructions(native)} instructions; running in virtual memory"


def instructions(outcome: Outcome) -> int:
    """From main on."""
    return sum(spent[0] for spent in outcome.report["run"].values())


def _memories(board: Board) -> Iterator[tuple[str, Range]]:
    """All that lies somewhere among the board's addresses."""
    if not board.is_small:  # whose code flash is another space
        yield "code flash", board.code
    yield "RAM", board.ram
    yield "registers", board.port
    yield from board.taken


class _NoRoomError(InputError):
    """The board's RAM or its part does not hold this layer."""


def _build(wanted: Wanted, layer: str) -> Image:
    layout = Layout(
        wanted.board.code,
        wanted.board.ram,
        wanted.board.port,
        Range(wanted.vm_start, wanted.vm),
        wanted.stack,
        wanted.ram,
        POLICIES.index(wanted.policy),
        wanted.board.data_offset,
    )
    small = wanted.board.is_small
    flags, words = toolchain.pass_words(wanted.flags)
    shape = toolchain.Guest(
        wanted.frame,
        wanted.slots,
        lookaside=0 if small else wanted.lookaside,
        guards=wanted.guards,
        count=wanted.count,
        windows=wanted.windows and not small,
        whole=not wanted.separate,
        statics_bytes=wanted.statics,
        profile="" if wanted.profile is None else str(wanted.profile),
        words=words,
    )
    port = build.Port(wanted.bus, layer, prefetch=wanted.prefetch, part=wanted.part)
    return build.virtual(wanted.board, wanted.sources, flags, shape, port, layout)


def _plain(wanted: Wanted) -> Image:
    return build.native(wanted.board, wanted.sources, wanted.flags, whole=not wanted.separate)


def _native_run(
    emulator: Path, wanted: Wanted, plain: Image, folder: Path, stdin: bytes
) -> Outcome | None:
    """None: files cannot be watched here, so the program must not run twice."""
    try:
        native = _run(emulator, wanted, plain, folder, stdin, quiet=True)
    except UnwatchedError:
        return None
    native.put_back()
    return native


def record(wanted: Wanted, folder: Path, to: Path) -> int:
    """Runs the program natively; `to` gets every load and store to its globals and its heap from
    `main` on, as a trace for `nandwich vmtrace`. What it writes itself stays. Its instructions."""
    image = _plain(wanted)
    emulator = build.emulator(wanted.board)
    outcome = _run(emulator, wanted, image, folder, b"", quiet=True, watch=False, accesses=to)
    outcome.keep()
    if outcome.status != 0 or not outcome.report:
        raise RunError(f"{wanted.sources[0].name} failed natively: status {outcome.status}")
    return instructions(outcome)


def alone(wanted: Wanted, folder: Path, *, by_hand: bool = False) -> Outcome:
    """Runs the program without virtual memory, with RAM for all of it; `by_hand`: its pread() reads
    the part."""
    port = build.Port(wanted.bus, by_hand=by_hand, part=wanted.part)
    image = build.native(wanted.board, wanted.sources, wanted.flags, port=port)
    outcome = _run(build.emulator(wanted.board), wanted, image, folder, b"", quiet=True)
    outcome.put_back()
    if outcome.report.get("end") != "exit" or outcome.status != 0:
        raise RunError(f"{wanted.sources[0].name} failed on {wanted.board.name}")
    return outcome


def counted(wanted: Wanted, stdin: bytes, folder: Path) -> Path:
    """Runs the program natively, its files put back; a raw profile of what it counted.

    RunError where it did not end by itself."""
    board = wanted.board
    image = build.native(board, wanted.sources, wanted.flags, counting=True)
    outcome = _run(build.emulator(board), wanted, image, folder, stdin, quiet=True)
    outcome.put_back()
    if outcome.report.get("end") != "exit" or image.counted is None:
        raise RunError(
            f"--profile: the native run on {board.name} counted nothing: only a program that ends "
            "by exit() or a return from main does"
        )
    profile = folder / "counts.profraw"
    profile.write_bytes(image.counted.profile((folder / "counted").read_bytes()))
    return profile


def _virtual(
    emulator: Path,
    wanted: Wanted,
    image: Image,
    layer: str,
    native: Outcome | None,
    stdin: bytes,
    folder: Path,
    check_changes: Check,
) -> Result:
    try:
        outcome = _run(emulator, wanted, image, folder, stdin)
    except UnwatchedError:
        outcome = _run(emulator, wanted, image, _sub(folder, "alone"), stdin, watch=False)
        native = None
    try:
        check_changes(outcome.changes)
        if not outcome.report:
            raise RunError("the emulator left no report")
        _refuse(wanted, image, layer, outcome.report)
        _check_places(wanted, outcome.report)
        differences = [] if native is None else guest.differences(native, outcome)
        outcome.keep()
    except BaseException:
        outcome.put_back()
        raise
    return Result(wanted, layer, image, outcome, native, differences)


def _sub(folder: Path, name: str) -> Path:
    below = folder / name
    below.mkdir()
    return below


def _settings(wanted: Wanted, image: Image, folder: Path, accesses: Path | None) -> str:
    layout = image.layout
    lines = [
        f"arch={wanted.board.arch}",
        f"image={image.path}",
        f"report={folder / 'report.json'}",
        f"fault={wanted.fault}",
        f"part={wanted.part.setting}",
        f"port={layout.port.start}",
        f"code={layout.code.start},{(image.sizes.code + 0xFFFF) & ~0xFFFF}",
        f"ram={layout.ram.start},{layout.ram.bytes}",
        f"stack={layout.stack_bytes}",
        f"seed={wanted.seed}",
        f"hz={round(wanted.board.mhz * 1_000_000)}",
        f"bus_ps={wanted.bus.byte_ps}",
        f"bus_four={int(wanted.bus.lines == 4)}",
    ]
    lines += [f"owner={name},{one.start},{one.end}" for name, one in image.owners.items()]
    if image.counted is not None:
        counts = image.counted.all
        lines += [f"counts={counts.start},{counts.bytes}", f"counted={folder / 'counted'}"]
    lines += [f"place={block},{file.resolve()}" for file, block in wanted.places]
    if accesses is not None:
        lines.append(f"accesses={accesses}")
    return "".join(line + "\n" for line in lines)


def _run(
    emulator: Path,
    wanted: Wanted,
    image: Image,
    folder: Path,
    stdin: bytes,
    *,
    quiet: bool = False,
    watch: bool = True,
    accesses: Path | None = None,
) -> Outcome:
    settings = _settings(wanted, image, folder, accesses)
    (folder / "settings").write_text(settings)
    arguments = (wanted.sources[0].stem, *wanted.arguments)
    environment = {"NANDWICH_DEVICE": str(folder / "settings")}
    if not quiet:
        return guest.run(emulator, arguments, folder, environment, stdin=stdin, watch=watch)
    with (folder / "stderr").open("wb") as talk:
        return guest.run(emulator, arguments, folder, environment, stdin=stdin, stderr=talk)


def signed(number: int) -> int:
    """A number of 32 bits as the firmware meant it."""
    return number - (1 << 32) if number >> 31 else number


def error_text(number: int) -> str:
    """What an error of ours means."""
    return _native.error_text(signed(number))


def _no_part(wanted: Wanted, error: int, id: int, waited_ns: int) -> str:
    """Why the driver did not open the part: what came of its id, and of the wait for it."""
    told = error_text(error)
    if signed(error) == _BUSY:
        return (
            f"the driver cannot use the part: {told} ({format_time(waited_ns)} waited for it to be "
            f"ready, before its id could be read): {wanted.part.kind.held}, or a broken part"
        )
    bytes_ = " ".join(f"{id >> shift & 255:02x}" for shift in (16, 8, 0))
    return (
        f"the driver cannot use the part: {told} (it answers id {bytes_}, where {wanted.part.name} "
        f"answers {wanted.part.spaced_id}: {wanted.part.kind.unknown})"
    )


def _check_places(wanted: Wanted, report: dict[str, Any]) -> None:
    """RunError for a file among the layer's blocks, of which only the firmware knows how many."""
    blocks = report["told"]["blocks"] * wanted.part.kind.join
    for file, block in wanted.places:
        if block < blocks:
            raise RunError(
                f"--mmap {file}: virtual memory has the part's first {blocks} blocks: give an "
                f"offset from {format_size(blocks * wanted.part.block_bytes)} on"
            )


def _refuse(wanted: Wanted, image: Image, layer: str, report: dict[str, Any]) -> None:
    """InputError when the device was not opened."""
    if report["end"] != "refused":
        return
    why, needs, has = report["detail"]
    board, room, join = wanted.board, image.layout, wanted.part.kind.join
    if why == _REFUSED_PART:
        raise InputError(_no_part(wanted, needs, has, report["run_flash"]["storage_ns"]))
    if why == _REFUSED_BLOCKS:
        raise _NoRoomError(
            f"--vm {format_size(wanted.vm)} needs {needs * join} blocks of {wanted.part.name} "
            f"under the {layer} layer, which has {has * join}: give less --vm"
        )
    if why == _REFUSED_RAM:
        used = room.stack_bytes + image.sizes.static_ram
        raise _NoRoomError(
            f"the program is too big for {board.name} under the {layer} layer: it needs "
            f"{used + needs} B of RAM (stack {room.stack_bytes} + variables "
            f"{image.sizes.static_ram} + frames, tables, layer and heap {needs}), the "
            f"{board.model} has {board.ram.bytes} B: give less --ram or --vm"
        )
    if why == _REFUSED_LAYER:
        raise InputError(f"the {layer} layer does not open on the part: {error_text(needs)}")
    if why == REFUSED_ARGUMENTS:
        raise InputError(f"the arguments take {needs}, the board has room for {has}")
    raise InputError(
        f"{format_size(wanted.vm)} of virtual memory does not open: {error_text(needs)}"
    )
