# SPDX-License-Identifier: Apache-2.0
"""Builds what a run on a board takes: the emulator, our objects, the program twice.

Everything goes through the store of `nandwich run`, so that a second run starts at once. Our own
code is compiled by the target's gcc. The program becomes bitcode, and one object of all of it in a
first link by lld, with the pass; file by file clang-19 runs the pass. A second link puts both
together, by lld where it knows the processor: `nandwich cc` can put its messages into words.
"""

import functools
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.device import absent, counts, parts
from lab.device.boards import USUAL_BUS, Board, Bus, Range
from lab.device.layout import Layout
from lab.device.parts import Part
from nandwich import paths
from nandwich.compiler import toolchain
from nandwich.errors import InputError
from nandwich.quantities import format_size
from nandwich.run import statics
from nandwich.run.build import Built, Recipe, build

#: Files of ports/guest that carry the guards; the others wrap functions of the C library.
_GUARDS = ("guest", "misses", "memory", "hide")
_WRAPPERS = (
    "alloc",
    "format",
    "getopt",
    "jump",
    "locale",
    "math",
    "printf",
    "scanf",
    "search",
    "signal",
    "stdio",
    "stdlib",
    "string",
    "time",
    "wide",
)
_LAYERS = ("base", "chip", "wear", "ftl")
#: Functions of the C library that a native program gets from the wrappers.
_FORMATTED = tuple(
    first + kind + "f"
    for kind in ("print", "scan")
    for first in ("", "f", "s", "v", "vf", "vs", *(("sn", "vsn") if kind == "print" else ()))
)
#: Flags of a link; all others belong to the compilation.
_LINK_FLAGS = ("-l", "-L", "-Wl,")
#: Into one relocatable object. Functions of one name in two files must not share a section there:
#: the linker drops what is not used by sections.
_JOIN = (
    "-r",
    "-nostdlib",
    *(f"-Wl,--unique={kind}.*" for kind in (".text", ".rodata", ".data", ".bss")),
    "-Wl,--unique=.vectors",
)
#: Virtual memory of a program that has none.
NOWHERE = Range(0x7000_0000, 0x1000)
#: The tables of ports/guest on a small processor: slots, and no look-aside entries.
_SMALL = (16, 1)
_OWN_FLAGS = ("-std=gnu11", "-Os", "-ffunction-sections", "-fdata-sections", "-g1", "-w")


class NoRamError(InputError):
    """A program that needs more RAM than the board has."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of one linked program."""

    text: dict[str, int]  #: code and constants, by owner
    code: int  #: all of code flash, initial values included
    data: int
    bss: int
    globals: int  #: of the program, in virtual memory

    @property
    def static_ram(self) -> int:
        return self.data + self.bss


@dataclass(frozen=True)
class Image:
    """A program for a board, linked."""

    path: Path
    layout: Layout
    sizes: Sizes
    owners: dict[str, Range]
    inputs: tuple[Path, ...] = ()
    statics: dict[str, Any] | None = None  #: globals in RAM (nandwich.run.statics)
    counted: counts.Counted | None = None  #: where a program that counts its blocks does so


def _formatted(board: Board) -> tuple[str, ...]:
    return ("printf", "fprintf", "vfprintf") if board.is_small else _FORMATTED


def _tool(name: str) -> Path:
    return Path(shutil.which(name) or name)


def relocatable(board: Board, sources: Sequence[Path], *flags: str) -> Path:
    """One relocatable object of several files, each function in a section of its own."""
    include = [f"-I{ROOT / one}" for one in ("core/include", "ports/guest/include")]
    include += [f"-I{ROOT / one}" for one in ("ports/guest", "ports/device/include")]
    command = (*board.gcc, *board.specs, *_OWN_FLAGS, "-D_GNU_SOURCE", *include, *flags)
    recipe = Recipe(
        compile_command=command,
        link_command=(*board.gcc, *_JOIN),
        sources=tuple(sources),
        libraries=(),
        tools=(_tool(board.gcc[0]),),
    )
    return build(recipe).program


def _folder(name: str) -> list[Path]:
    return sorted((ROOT / "core" / name).glob("*.c"))


def _tables(board: Board, guest: toolchain.Guest) -> tuple[str, ...]:
    """The tables of ports/guest are as long as the program was compiled for."""
    slots, entries = _SMALL if board.is_small else (guest.slots, max(1, guest.lookaside))
    return (f"-DNW_GUEST_SLOTS_MAX={slots}U", f"-DNW_GUEST_LOOKASIDE_MAX={entries}U")


@dataclass(frozen=True)
class Port:
    """What the firmware is made for, beside the program."""

    bus: Bus = USUAL_BUS
    layer: str = ""  #: "": none, of a native program
    by_hand: bool = False  #: a native program that reads the part by pread()
    prefetch: bool = True
    part: Part = parts.USUAL


def objects(board: Board, to: Port, guest: toolchain.Guest) -> dict[str, Path]:
    """Our code by owner."""
    port, ours = ROOT / "ports" / "device", ROOT / "ports" / "guest"
    names = ["start.c", "calls.c", "ram.c", "streams.c", "end.c"]
    begin = [port / one for one in names]
    if not board.is_small:
        begin += [port / "files.c", port / "map.c"]
    wrappers = [ours / f"{one}.c" for one in _WRAPPERS]
    if board.is_small:
        wrappers = [ours / f"{one}.c" for one in ("alloc", "format", "jump")]
        wrappers.append(port / "small_library.c")
    vm = _folder("vm") + _folder("map") + [ours / f"{one}.c" for one in _GUARDS]
    both = {
        "vm": relocatable(board, vm, *_tables(board, guest)),
        "wrapper": relocatable(board, wrappers),
        "layer": relocatable(board, [one for name in _LAYERS for one in _folder(name)]),
    }
    kind = to.part.kind
    drivers = [ROOT / "core/drivers" / f"{one}.c" for one in kind.drivers]
    driver = {"driver": relocatable(board, [*drivers, port / kind.bus], *to.bus.flags)}
    if not to.layer:
        native = [port / "memory_native.c"]
        if to.by_hand:
            native = [port / "memory_part.c", port / kind.port]
        native += [] if board.is_small else [port / "map_native.c"]
        own = {"board": relocatable(board, [*begin, *native])}
        return {**both, **own, **(driver if to.by_hand else {})}
    other = ["-DNW_BOARD_TREE"] if to.layer == "tree" else []
    other += [] if to.prefetch else ["-DNW_BOARD_NO_PREFETCH"]
    memory = [port / "memory_flash.c", port / kind.port]
    memory += [] if board.is_small else [port / "map_flash.c", ours / "advice.c"]
    return {
        **driver,
        **both,
        "board": relocatable(board, [*begin, *memory], *other),
    }


def _compile(board: Board, flags: Sequence[str], instrument: Sequence[str]) -> tuple[str, ...]:
    """The command that compiles the program. Behind clang's own headers come the C library's, as
    clang wants them, and the host's last of all: for libraries that are headers alone."""
    host = () if board.is_small else ("-idirafter", "/usr/include")
    ours = ("-isystem", str(ROOT / "ports/device/include"))
    headers = (*ours, "-idirafter", str(board.headers), *host, "-D_GNU_SOURCE")
    given = (one for one in flags if not one.startswith(_LINK_FLAGS))
    sections = ("-ffunction-sections", "-fdata-sections")
    return (toolchain.CLANG, *board.clang, *headers, *given, *sections, *instrument)


def _one_object(
    board: Board,
    sources: tuple[Path, ...],
    compile_command: tuple[str, ...],
    link_command: tuple[str, ...],
    *read: Path,
) -> Built:
    """The program's files in one object; it is made anew when a file of `read` has changed."""
    return build(
        Recipe(
            compile_command=compile_command,
            link_command=link_command,
            sources=sources,
            libraries=(),
            tools=(_tool(toolchain.CLANG), _tool(board.gcc[0]), paths.compiler_plugin(), *read),
            explain=functools.partial(absent.explain, board),
        )
    )


def _link(board: Board, script: Path) -> tuple[str, ...]:
    options = ("-nostdlib", "-static", "-fuse-ld=lld", "-Wl,--gc-sections", "-Wl,-e,device_reset")
    if board.is_small:  # lld does not know all of its relocations
        return (
            *board.gcc,
            "-nostdlib",
            "-Wl,--gc-sections",
            "-Wl,-e,device_begin",
            f"-Wl,-T,{script}",
        )
    return (toolchain.CLANG, board.clang[0], *options, f"-Wl,-T,{script}")


def _libraries(board: Board, flags: Sequence[str], ours: Mapping[str, Path]) -> tuple[str, ...]:
    archives = (str(board.library(name)) for name in board.archives)
    given = (one for one in flags if one.startswith(_LINK_FLAGS) and one != "-lm")
    group = ("-Wl,--start-group", *archives, "-Wl,--end-group")
    return (*map(str, ours.values()), *given, *group)


def _symbols(image: Path) -> dict[str, int]:
    done = subprocess.run(["nm", str(image)], capture_output=True, text=True, check=True)
    found = re.findall(r"^([0-9a-f]+) \w (\S+)$", done.stdout, re.MULTILINE)
    return {name: int(value, 16) for value, name in found}


def _look(built: Built, layout: Layout) -> Image:
    known = _symbols(built.program)
    owners = {
        name.removeprefix("text_").removesuffix("_start"): Range(
            start, known[name.removesuffix("_start") + "_end"] - start
        )
        for name, start in known.items()
        if name.startswith("text_") and name.endswith("_start")
    }
    data = known["data_end"] - known["data_start"]
    image = known["nw_vm_data_end"] - known["nw_vm_start"]
    sizes = Sizes(
        text={name: one.bytes for name, one in owners.items()},
        code=max(known["nw_vm_image"] + image, known["data_image"] + data) - layout.code.start,
        data=data,
        bss=known["bss_end"] - known["bss_start"],
        globals=known["nw_vm_globals_end"] - known["nw_vm_start"],
    )
    return Image(built.program, layout, sizes, owners, built.inputs, counted=counts.of(known))


def _linked(
    board: Board,
    program: Built,
    flags: Sequence[str],
    ours: Mapping[str, Path],
    layout: Layout,
    *more: str,
) -> Image:
    """One object of a program with objects of ours."""
    linked = build(
        Recipe(
            compile_command=(),
            link_command=_link(board, layout.file(ours)),
            sources=(),
            libraries=(str(program.program), *_libraries(board, flags, ours), *more),
            tools=(program.program, *ours.values()),
            explain=functools.partial(absent.explain, board),
        )
    )
    return _look(Built(linked.program, program.inputs), layout)


def _joined(
    board: Board,
    flags: Sequence[str],
    guest: toolchain.Guest | None,
    *,
    counting: bool = False,
) -> tuple[str, ...]:
    """The command that makes one object of a program's bitcode; `guest` None: a native one."""
    if board.is_small and guest is None:
        guest = toolchain.native_guest()
    options = toolchain.one_object_flags(toolchain.level(flags), guest, counting=counting)
    return (toolchain.CLANG, *board.clang, *board.joining, *options)


def native(
    board: Board,
    sources: tuple[Path, ...],
    flags: Sequence[str],
    *,
    whole: bool = True,
    counting: bool = False,
    port: Port | None = None,
) -> Image:
    """The program as it is, on a board with RAM for all of it; a whole one may count its blocks.

    Its formatted output and input are our wrappers', as they are in virtual memory: small C
    libraries know neither %zu nor %lld.
    """
    flags, _ = toolchain.pass_words(flags)
    include = [f"-I{path}" for path in paths.include_dirs()]
    if whole:
        joined = _joined(board, flags, None, counting=counting)
        needs, _ = toolchain.native_program_flags(flags)
    else:
        joined = (*board.gcc, *_JOIN)
        needs = toolchain.native_flags() if board.is_small else []
    wrapped = (f"-Wl,--wrap={name}" for name in _formatted(board))
    compiled = _compile(board, flags, [*include, *needs])
    program = _one_object(board, sources, compiled, (*joined, *wrapped))
    layout = Layout(
        board.code,
        board.native_ram,
        board.port,
        NOWHERE,
        board.native_stack,
        0,
        0,
        board.data_offset,
    )
    symbols = {f"__wrap_{name}": f"nw_libc_{name}" for name in _formatted(board)}
    if counting:
        symbols[counts.RUN_TIME] = "0"
    defined = (f"-Wl,--defsym={name}={value}" for name, value in symbols.items())
    ours = objects(board, port or Port(), toolchain.Guest())
    return _linked(board, program, flags, ours, layout, *defined)


def fixed(
    board: Board,
    sources: tuple[Path, ...],
    flags: Sequence[str],
    instrument: Sequence[str],
    ours: Mapping[str, Path],
    layout: Layout,
) -> Image:
    """The program, file by file, with objects of ours and no wrappers; InputError where it does not
    fit."""
    built = build(
        Recipe(
            compile_command=_compile(board, flags, instrument),
            link_command=_link(board, layout.file(ours)),
            sources=sources,
            libraries=_libraries(board, flags, ours),
            tools=(_tool(toolchain.CLANG), paths.compiler_plugin(), *ours.values()),
            explain=functools.partial(absent.explain, board),
        )
    )
    image = _look(built, layout)
    _check_fits(board, image)
    return image


def virtual(
    board: Board,
    sources: tuple[Path, ...],
    flags: Sequence[str],
    guest: toolchain.Guest,
    port: Port,
    layout: Layout,
) -> Image:
    """The program in virtual memory over the part; InputError where it does not fit the board.
    Its layout has RAM for frames and statics; that of the image, for frames alone."""
    ours = objects(board, port, guest)
    instrument = toolchain.compile_flags(guest)
    if not guest.whole:
        return fixed(board, sources, flags, instrument, ours, layout)
    read = (Path(guest.profile),) if guest.profile else ()
    compiled = _compile(board, flags, instrument)
    program = _one_object(board, sources, compiled, _joined(board, flags, guest), *read)
    image = _without_statics(_linked(board, program, flags, ours, layout), guest)
    _check_fits(board, image)
    return image


def _without_statics(image: Image, guest: toolchain.Guest) -> Image:
    """The image as its start-up (ports/device/memory_flash.c) deals the RAM: frames get what the
    globals in RAM leave."""
    told = statics.read(image.path)
    if told is None:
        return image
    given, taken, least = image.layout.frames_bytes, told["bytes"], guest.slots + 2
    frames = max(0, given - taken) // guest.frame_bytes
    if frames < least:
        raise InputError(
            f"(--ram {given} - {taken} of statics) / --frame {guest.frame_bytes} = {frames} "
            f"frames: at least {least} ({guest.slots} slots + 2) are needed"
        )
    layout = replace(image.layout, frames_bytes=frames * guest.frame_bytes)
    return replace(image, layout=layout, statics=told)


def _check_fits(board: Board, image: Image) -> None:
    sizes = image.sizes
    if sizes.globals > image.layout.vm.bytes:
        given = image.layout.vm.bytes
        raise InputError(
            f"the program is too big for --vm {format_size(given)} on {board.name}: its globals "
            f"take {sizes.globals} B of virtual memory, which has {given} B"
        )
    _check_objects(board, image)
    if sizes.code > board.code.bytes:
        raise InputError(
            f"the program is too big for {board.name}: it needs {sizes.code} B of code flash "
            f"({sum(sizes.text.values())} B of code and constants, the rest initial values), the "
            f"{board.model} has {board.code.bytes} B"
        )
    stack, frames = image.layout.stack_bytes, image.layout.frames_bytes
    needs = stack + sizes.static_ram + frames
    if needs > image.layout.ram.bytes:
        more = f" + frames {frames}, before tables and layer" if frames else ""
        raise NoRamError(
            f"the program is too big for {board.name}: it needs {needs} B of RAM (stack {stack} + "
            f"variables {sizes.static_ram}{more}), the {board.model} has "
            f"{image.layout.ram.bytes} B"
        )


def _check_objects(board: Board, image: Image) -> None:
    """Compilers take no object for larger than a difference of pointers."""
    most = board.address_end // 2 - 1
    done = subprocess.run(["nm", "-S", str(image.path)], capture_output=True, text=True, check=True)
    for size, name in re.findall(r"^\S+ ([0-9a-f]+) [bBdD] (\S+)$", done.stdout, re.MULTILINE):
        if int(size, 16) > most:
            raise InputError(
                f"'{name}' has {int(size, 16)} B: on {board.name} a variable may have {most} B, "
                "for a difference of pointers has 16 bits; make two of it"
            )


def function_at(image: Path, address: int) -> str:
    """The function that an address lies in; empty when none does."""
    done = subprocess.run(["nm", "-n", str(image)], capture_output=True, text=True, check=True)
    found = ""
    for value, name in re.findall(r"^([0-9a-f]+) [tTwW] ([^$.\s]\S*)$", done.stdout, re.MULTILINE):
        if int(value, 16) & ~1 > address:
            break
        found = found if name.startswith("text_") else name
    return found.partition(".")[0]  # parts of a function that the compiler made have its name


def emulator(board: Board) -> Path:
    """lab/emulator over simavr, or over the library in unicorn's package."""
    bus, own = ROOT / "tests" / "bus", ROOT / "lab" / "emulator"
    folders = ("lab/emulator", "tests/bus", "ports/device", "ports/watch/include")
    include = [ROOT / one for one in (*folders, "vmtrace/include", "twin/include", "core/include")]
    ours = [paths.static_library(name) for name in ("nw_vmtrace", "nw_twin", "nw_core")]
    names = ["main.c", "machine.c", "host.c", "part.c", "part_kinds.c", "recording.c"]
    libraries: tuple[str, ...] = ("-lsimavr", "-lelf")
    tools = [_tool("cc"), *ours]
    if board.is_small:
        names.append("machine_avr.c")
    else:
        package, library = _unicorn()
        include.append(package / "include")
        names += ["machine_unicorn.c", "cycles.c", "accesses.c"]
        libraries = (str(library), f"-Wl,-rpath,{library.parent}")
        tools.append(library)
    sources = [own / name for name in names]
    kinds = ("spi_nand", "spi_nor", "parallel_nand", "dataflash")
    models = [f"{kind}_model.c" for kind in kinds]
    sources += [bus / name for name in ("bus.c", "onfi_page.c", *models)]
    recipe = Recipe(
        compile_command=("cc", "-std=gnu11", "-O2", "-w", *(f"-I{one}" for one in include)),
        link_command=("cc",),
        sources=tuple(sources),
        libraries=(*map(str, ours), *libraries, "-lm"),
        tools=tuple(tools),
    )
    return build(recipe).program


def _unicorn() -> tuple[Path, Path]:
    """Where its package is, and its library."""
    spec = importlib.util.find_spec("unicorn")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    return package, next((package / "lib").glob("libunicorn.so*"))
