# SPDX-License-Identifier: Apache-2.0
"""What virtual memory costs real programs: exact instructions on the host, as for kernels.

Storage is RAM and every page is resident before main, so that what is counted is guards and the run
time behind them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lab import ROOT, crates, vm_cost
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


@dataclass(frozen=True)
class Build:
    """One way it was built, beside native."""

    budget: int
    profiled: bool
    ratio: float
    text: float  #: times native
    added: float  #: instructions an access
    kept: int  #: bytes of globals in RAM


def _lua() -> Path:
    return crates.fetch(crates.LUA) / "lua-5.4.7"


def _bzip2() -> Path:
    return crates.fetch(crates.BZIP2) / "bzip2-1.0.8"


def _bzip2_sources() -> list[Path]:
    names = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")
    return [_bzip2() / f"{name}.c" for name in (*names, "bzip2")]


def _photo() -> str:
    from matplotlib.cbook import get_sample_data

    return str(get_sample_data("grace_hopper.jpg", asfileobj=False))


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
        "jpeg",
        "`examples/jpeg2bmp.c`",
        "decodes a photograph of 512 by 600, with stb_image",
        lambda: [ROOT / "examples" / "jpeg2bmp.c"],
        list,
        lambda: [_photo(), "photo.bmp", "gray.bmp"],
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

    def _bitcode(self, stem: str, guest: toolchain.Guest | None) -> list[Path]:
        return [
            vm_cost.compile_to_bitcode(
                source, self._folder / f"{source.stem}-{stem}.o", self._flags, guest
            )
            for source in self._program.sources()
        ]

    def _count(self, program: Path) -> tuple[int, list[bytes | str]]:
        """Instructions, and all that came of the run."""
        command: list[str | Path] = [program, *self._arguments]
        instructions, output, _ = vm_cost.callgrind(command, self._folder, self._program.frames)
        files = [(self._folder / name).read_bytes() for name in self._program.written]
        return instructions, [output, *files]

    def _profile(self) -> Path:
        """What a native run of the same work counts."""
        program = self._folder / "counting"
        objects = map(str, self._native)
        link = [*toolchain.counting_flags(self._flags), "-no-pie", "-lm", "-o", str(program)]
        vm_cost.call([toolchain.CLANG, *objects, *link])
        raw, merged = self._folder / "counts.profraw", self._folder / "counts.profdata"
        told = {"LLVM_PROFILE_FILE": str(raw)}
        # Where memory lies may steer a program that hashes addresses.
        vm_cost.call(["setarch", "-R", program, *self._arguments], self._folder, told)
        vm_cost.call([profiles.TOOL, "merge", str(raw), "-o", str(merged)])
        return merged

    def _linked(self, stem: str, guest: toolchain.Guest | None) -> tuple[Path, int]:
        objects = self._native if guest is None else self._virtual
        program = self._folder / stem
        text = vm_cost.link_whole(objects, program, self._flags, guest, self._start)
        return program, text

    def _accesses(self) -> int:
        program, _ = self._linked("accesses", toolchain.Guest())
        told = {"NW_TEST_STATS": "1", **vm_cost.warm(self._program.frames)}
        run = vm_cost.call([program, *self._arguments], self._folder, told)
        return vm_cost.stats_of(run.stderr)["accesses"]

    def builds(self) -> Iterator[Build]:
        """Each budget, without and with a profile; RunError where the output is not native."""
        program, plain_text = self._linked("native", None)
        plain, wanted = self._count(program)
        accesses, profile = self._accesses(), str(self._profile())
        for profiled in (False, True):
            kept, instructions = None, 0
            for budget in BUDGETS:
                guest = toolchain.Guest(count=False, statics_bytes=budget)
                guest = replace(guest, profile=profile if profiled else "")
                program, text = self._linked(f"virtual{budget}-{int(profiled)}", guest)
                told = statics.read(program) or {"bytes": 0, "kept": []}
                if told["kept"] != kept:  # else the program is the one before
                    kept = told["kept"]
                    instructions, got = self._count(program)
                    if got != wanted:
                        raise RunError(f"{self._program.name}: not the native output")
                yield Build(
                    budget,
                    profiled,
                    instructions / plain,
                    text / plain_text,
                    (instructions - plain) / accesses,
                    told["bytes"],
                )
