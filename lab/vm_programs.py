# SPDX-License-Identifier: Apache-2.0
"""What virtual memory costs real programs: exact instructions on the host, as for kernels.

Storage is RAM and every page is resident before main, so that what is counted is guards and the run
time behind them.
"""

import re
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lab import ROOT, callgrind_file, crates, vm_cost
from lab.photo import photo
from nandwich.compiler import profiles, toolchain
from nandwich.errors import RunError
from nandwich.run import statics

#: RAM for globals.
BUDGETS = (0, 1 << 10, 4 << 10, 16 << 10)


@dataclass(frozen=True)
class Program:
    """One program and its work; both are fetched."""

    name: str
    title: str
    work: str
    sources: Callable[[], list[Path]]
    flags: Callable[[], list[str]]
    arguments: Callable[[], list[str]]
    written: tuple[str, ...] = ()  #: files it leaves in its folder
    frames: int = 40_000  #: of 512 bytes that are resident: more than it takes
    budgets: tuple[int, ...] = BUDGETS


@dataclass(frozen=True)
class Parts:
    """Where a run's instructions went."""

    own: float  #: the program's functions, with guards in place
    guards: float  #: what guards call
    library: float  #: the C library, the heap and block operations


@dataclass(frozen=True)
class Build:
    """One way it was built, beside native."""

    budget: int
    profiled: bool
    ratio: float
    text: float  #: times native
    compiling: float  #: processor time of front end and link, times native
    added: float  #: instructions an access
    kept: int  #: bytes of globals in RAM
    native_parts: Parts  #: of 1
    parts: Parts  #: of `ratio`


def _lua() -> Path:
    return crates.fetch(crates.LUA) / "lua-5.4.7"


def _bzip2() -> Path:
    return crates.fetch(crates.BZIP2) / "bzip2-1.0.8"


def _bzip2_sources() -> list[Path]:
    names = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")
    return [_bzip2() / f"{name}.c" for name in (*names, "bzip2")]


def _sqlite() -> Path:
    return crates.fetch(crates.SQLITE) / "sqlite3"


_GUESTS = ROOT / "tests" / "guests"
PROGRAMS = (
    Program(
        "lua",
        "Lua 5.4.7",
        "runs the script of `tests/guests`, which uses every standard library",
        lambda: [*sorted(_lua().glob("*.c")), _GUESTS / "lua_main.c"],
        # Lua mixes the time and addresses into its hashes.
        lambda: ["-I", str(_lua()), "-Dluai_makeseed(state)=7"],
        lambda: [str(_GUESTS / "script.lua"), "numbers"],
        ("numbers",),
    ),
    Program(
        "bzip2",
        "bzip2 1.0.8",
        "packs a source file of Lua, 60 KB",
        _bzip2_sources,
        lambda: ["-D_FILE_OFFSET_BITS=64"],
        lambda: ["-c", str(_lua() / "lvm.c")],
    ),
    Program(
        "sqlite",
        "SQLite 3.46.0",
        "builds a table of 1,500 rows in memory, an index, joins and a rollback",
        lambda: [_sqlite() / "sqlite3.c", _GUESTS / "sqlite_main.c"],
        lambda: [
            *("-I", str(_sqlite())),
            *("-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"),
        ],
        list,
        budgets=(0, 4 << 10),  # a link takes a minute
    ),
    Program(
        "jpeg",
        "`examples/jpeg2bmp.c`",
        "decodes a photograph of 512 by 600, with stb_image",
        lambda: [ROOT / "examples" / "jpeg2bmp.c"],
        list,
        lambda: [str(photo()), "photo.bmp", "gray.bmp"],
        ("photo.bmp", "gray.bmp"),
    ),
)
#: Those of docs/figures/vm-cost.md, for what statics bring where there are any.
KERNELS = tuple(
    Program(
        name,
        name,
        "",
        partial(lambda name: [vm_cost.kernel(name)], name),
        list,
        list,
        frames=vm_cost.FRAMES,
    )
    for name in vm_cost.KERNELS
)


@dataclass(frozen=True)
class _Objects:
    """Bitcode of a program."""

    paths: list[Path]
    seconds: float  #: of the processor's, that the front end took


@dataclass(frozen=True)
class _Linked:
    program: Path
    text: int
    seconds: float  #: with those of its objects


@dataclass(frozen=True)
class _Counted:
    instructions: int
    came: list[bytes | str]  #: output and files
    parts: Parts


#: What guards call.
_GUARD = re.compile(r"nw_guest_(load|store|modify|span|window|dirty)")


def parts(counts: Path, own: set[str], unit: int) -> Parts:
    """Of what callgrind counted, in `unit`s; `own` are the program's functions."""
    total = within = guards = 0
    for one in callgrind_file.read(counts):
        total += 0 if one.callee else one.instructions
        if one.function in own:
            within += 0 if one.callee else one.instructions
            guards += one.instructions if _GUARD.match(one.callee) else 0
    return Parts(within / unit, guards / unit, (total - within - guards) / unit)


def _functions(obj: Path) -> set[str]:
    words = [line.split() for line in vm_cost.call(["nm", obj]).stdout.splitlines()]
    return {name for *_, kind, name in words if kind in "tTwW"}


def _processor_s() -> float:
    """What all processes took that this one started."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bed:
    """Builds and counts one program in a folder."""

    def __init__(self, program: Program, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._flags = ["-O2", *program.flags()]
        self._arguments = program.arguments()
        self._start = vm_cost.start_object(folder)
        self._native = self._bitcode("native", None)
        self._virtual = self._bitcode("virtual", toolchain.Guest())

    def _bitcode(self, stem: str, guest: toolchain.Guest | None) -> _Objects:
        began = _processor_s()
        made = [
            vm_cost.compile_to_bitcode(
                source, self._folder / f"{source.stem}-{stem}.o", self._flags, guest
            )
            for source in self._program.sources()
        ]
        return _Objects(made, _processor_s() - began)

    def _count(self, program: Path, unit: int = 0) -> _Counted:
        """Parts are in units of so many instructions, else of all."""
        command: list[str | Path] = [program, *self._arguments]
        counted = vm_cost.callgrind(command, self._folder, self._program.frames)
        instructions, output, counts = counted
        files = [(self._folder / name).read_bytes() for name in self._program.written]
        own = _functions(vm_cost.own_object(program))
        return _Counted(instructions, [output, *files], parts(counts, own, unit or instructions))

    def _profile(self) -> Path:
        """What a native run of the same work counts."""
        program = self._folder / "counting"
        objects = map(str, self._native.paths)
        link = [*toolchain.counting_flags(self._flags), "-no-pie", "-lm", "-o", str(program)]
        vm_cost.call([toolchain.CLANG, *objects, *link])
        raw, merged = self._folder / "counts.profraw", self._folder / "counts.profdata"
        told = {"LLVM_PROFILE_FILE": str(raw)}
        # Where memory lies may steer a program that hashes addresses.
        vm_cost.call(["setarch", "-R", program, *self._arguments], self._folder, told)
        vm_cost.call([profiles.TOOL, "merge", str(raw), "-o", str(merged)])
        return merged

    def _linked(self, stem: str, guest: toolchain.Guest | None) -> _Linked:
        objects = self._native if guest is None else self._virtual
        program, began = self._folder / stem, _processor_s()
        text = vm_cost.link_whole(objects.paths, program, self._flags, guest, self._start)
        return _Linked(program, text, objects.seconds + _processor_s() - began)

    def _accesses(self) -> int:
        linked = self._linked("accesses", toolchain.Guest())
        told = {"NW_TEST_STATS": "1", **vm_cost.warm(self._program.frames)}
        run = vm_cost.call([linked.program, *self._arguments], self._folder, told)
        return vm_cost.stats_of(run.stderr)["accesses"]

    def builds(self) -> Iterator[Build]:
        """Each budget, without and with a profile; RunError where the output is not native."""
        native = self._linked("native", None)
        plain = self._count(native.program)
        accesses, profile = self._accesses(), str(self._profile())
        for profiled in (False, True):
            kept, counted = None, plain
            for budget in self._program.budgets:
                guest = toolchain.Guest(count=False, statics_bytes=budget)
                guest = replace(guest, profile=profile if profiled else "")
                linked = self._linked(f"virtual{budget}-{int(profiled)}", guest)
                told = statics.read(linked.program) or {"bytes": 0, "kept": []}
                if told["kept"] != kept:  # else the program is the one before
                    kept = told["kept"]
                    counted = self._count(linked.program, plain.instructions)
                    if counted.came != plain.came:
                        raise RunError(f"{self._program.name}: not the native output")
                yield Build(
                    budget,
                    profiled,
                    counted.instructions / plain.instructions,
                    linked.text / native.text,
                    linked.seconds / native.seconds,
                    (counted.instructions - plain.instructions) / accesses,
                    told["bytes"],
                    plain.parts,
                    counted.parts,
                )
