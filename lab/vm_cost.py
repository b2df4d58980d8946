# SPDX-License-Identifier: Apache-2.0
"""What guards cost: exact instruction counts of kernels, natively and in virtual memory.

Storage is RAM and every page is resident before the count begins, so that the guards alone are
seen; with RAM of a given size faults are counted too. Both programs are optimised as a whole. Host:
callgrind, from main on. Cortex-M3: unicorn (tests/targets/cortexm3/run_m3.c).
"""

import functools
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab import ROOT, callgrind_file
from nandwich.compiler import toolchain
from nandwich.errors import RunError

#: tests/compiler/kernels, in the order of the table.
KERNELS = (
    "gray",
    "sobel",
    "sum",
    "fft",
    "matrix",
    "columns",
    "bubble",
    "quicksort",
    "tree",
    "huffman",
    "list",
    "crc",
    "hash",
    "parser",
    "network",
    "search",
    "records",
    "bytecode",
    "sieve",
    "distance",
)
#: Globals that stay in RAM, in the series that have them.
STATICS_BYTES = 4 << 10
#: Pages of 512 bytes that are resident: more than any kernel takes.
FRAMES = 4000

_NEWLIB = Path("/usr/include/newlib")
_ARM = ("--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", "-mfloat-abi=soft", "-fshort-enums")
_ARM_CORE = (
    *("table", "policy", "writeback", "frames", "bulk", "slots", "vm"),
    *("heap", "heap_block"),
)
_ARM_BASE = ("block", "error", "ram")
_ARM_GUEST = ("guest", "misses", "memory", "alloc", "string", "hide")


@dataclass(frozen=True)
class Run:
    """One program that ran."""

    instructions: int  #: from main on
    output: str
    text: int  #: bytes of code of the program's own object
    miss: float = 0.0  #: instructions of a call of the run time by a guard; 0: not known
    stats: Mapping[str, int] = field(default_factory=dict)  #: of virtual memory


@dataclass(frozen=True)
class Cost:
    """One kernel in virtual memory beside itself in plain memory."""

    native: Run
    virtual: Run
    accesses: int  #: that may touch virtual memory where no global stays in RAM

    @property
    def ratio(self) -> float:
        return self.virtual.instructions / self.native.instructions

    @property
    def text(self) -> float:
        """Times native."""
        return self.virtual.text / self.native.text

    @property
    def added(self) -> float:
        """Instructions an access."""
        return (self.virtual.instructions - self.native.instructions) / self.accesses


def mean(costs: Iterable[Cost]) -> float:
    """Geometric, of times native; a kernel below 1 counts as 1."""
    return statistics.geometric_mean(max(cost.ratio, 1.0) for cost in costs)


def missing() -> list[str]:
    """Debian and Python packages that are not here."""
    return [
        package
        for present, package in (
            (shutil.which("valgrind"), "valgrind"),
            (shutil.which("arm-none-eabi-gcc"), "gcc-arm-none-eabi"),
            (_NEWLIB.exists(), "libnewlib-dev"),
            (importlib.util.find_spec("unicorn"), "unicorn (PyPI)"),
        )
        if not present
    ]


def kernel(name: str) -> Path:
    return ROOT / "tests" / "compiler" / "kernels" / f"{name}.c"


def call(
    command: Sequence[str | Path],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Done in `folder`, with PATH and `environment` alone; RunError where it fails."""
    plain = {"PATH": os.environ["PATH"], **(environment or {})}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
        env=plain,
        cwd=folder,
    )
    if done.returncode:
        raise RunError(f"{Path(command[0]).name}: {(done.stderr or done.stdout).strip()}")
    return done


def _text_bytes(program: Path) -> int:
    """Code of the program's own object."""
    done = call(["size", "-A", str(program)])
    found = re.findall(r"^\.text\S*\s+(\d+)", done.stdout, re.MULTILINE)
    return sum(map(int, found))


#: What comes behind the program's own output on the Cortex-M3.
_STATS_FOLLOW = "\f"


def stats_of(told: str) -> dict[str, int]:
    return {key: int(value) for key, value in re.findall(r"^(\w+) (\d+)$", told, re.MULTILINE)}


def _compared(name: str, native: Run, virtual: Run, accesses: int) -> Cost:
    if native.output != virtual.output:
        raise RunError(f"{name}: not the native output")
    return Cost(native, virtual, accesses)


# Host ---------------------------------------------------------------------------------------------


def warm(frames: int = FRAMES) -> dict[str, str]:
    """The environment in which so many pages are resident before main."""
    return {"NW_TEST_FRAMES": str(frames), "NW_TEST_WARM": "1"}


def start_object(folder: Path) -> Path:
    output = folder / "start.o"
    if not output.exists():
        includes = [f"-I{ROOT / 'core/include'}", f"-I{ROOT / 'ports/guest/include'}"]
        source = ROOT / "tests" / "compiler" / "support" / "start.c"
        call([toolchain.CLANG, "-O1", "-c", str(source), *includes, "-o", str(output)])
    return output


def own_object(program: Path) -> Path:
    """The object of the whole program, beside what `link_whole` made of it."""
    return program.with_suffix(".lto.o")


def link_whole(
    objects: Sequence[Path],
    program: Path,
    flags: Sequence[str],
    guest: toolchain.Guest | None,
    start: Path,
) -> int:
    """Makes the program of bitcode, native without `guest`; bytes of code of its own object."""
    if guest is None:
        link = ["-no-pie", *toolchain.native_program_flags(flags)[1], "-lm"]
    else:
        link = toolchain.link_flags(guest, start, flags)
    made = own_object(program)
    objects_first = [toolchain.CLANG, *map(str, objects), "-o", str(program)]
    call([*objects_first, f"-Wl,--lto-obj-path={made}", *link])
    return _text_bytes(made)


def compile_to_bitcode(
    source: Path, obj: Path, flags: Sequence[str], guest: toolchain.Guest | None
) -> Path:
    """Of a native program without `guest`."""
    ours = toolchain.native_program_flags(flags)[0]
    if guest is not None:
        ours = toolchain.compile_flags(guest)
    call([toolchain.CLANG, *flags, "-w", str(source), "-c", "-o", str(obj), *ours])
    return obj


def _host_build(
    source: Path, folder: Path, flags: Sequence[str], guest: toolchain.Guest | None
) -> tuple[Path, int]:
    """The program, and the bytes of code of its own object."""
    stem = f"{source.stem}-native"
    if guest is not None:
        stem = f"{source.stem}-virtual{guest.statics_bytes}-{int(guest.count)}"
    obj = compile_to_bitcode(source, folder / f"{stem}.o", flags, guest)
    program = folder / stem
    return program, link_whole([obj], program, flags, guest, start_object(folder))


def callgrind(
    command: Sequence[str | Path], folder: Path | None = None, frames: int = FRAMES
) -> tuple[int, str, Path]:
    """Instructions from main on, standard output, and callgrind's own file; run in `folder`."""
    counts = Path(command[0]).with_suffix(".callgrind")
    tool = ["setarch", "-R", "valgrind", "--tool=callgrind", "--toggle-collect=main"]
    tool += [f"--callgrind-out-file={counts}"]
    done = call([*tool, *command], folder, warm(frames))
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RunError(f"callgrind: {done.stderr.strip()}")
    return int(found.group(1)), done.stdout, counts


#: What a guard calls; inner functions have other names (thunks_x86_64.S).
_MISS = re.compile(r"nw_guest_((load|modify)_miss|store_miss_\w+|span_(read|write))$")


def _miss_cost(counts: Path) -> float:
    """Instructions of a call of the run time by a guard, itself and all it calls."""
    found = [one for one in callgrind_file.read(counts) if _MISS.match(one.callee)]
    calls = sum(one.calls for one in found)
    return sum(one.instructions for one in found) / calls if calls else 0.0


@dataclass(frozen=True)
class Host:
    """Builds and counts on the host; what is built stays in `folder`."""

    folder: Path
    flags: tuple[str, ...] = ("-O2",)

    @functools.cache  # noqa: B019 - a few, which end with the process
    def expected(self, name: str) -> str:
        """The native output."""
        program, _ = _host_build(kernel(name), self.folder, self.flags, None)
        return call([str(program)]).stdout

    @functools.cache  # noqa: B019 - as above
    def native(self, name: str) -> Run:
        program, text = _host_build(kernel(name), self.folder, self.flags, None)
        instructions, output, _ = callgrind([program])
        return Run(instructions, output, text)

    def virtual(self, name: str, guest: toolchain.Guest) -> Run:
        """Accesses are not counted in what is measured."""
        quiet = replace(guest, count=False)
        program, text = _host_build(kernel(name), self.folder, self.flags, quiet)
        instructions, output, counts = callgrind([program])
        return Run(instructions, output, text, _miss_cost(counts))

    @functools.cache  # noqa: B019 - as above
    def stats(self, name: str, statics_bytes: int = 0) -> dict[str, int]:
        """Accesses and misses, of a build that counts them."""
        guest = toolchain.Guest(statics_bytes=statics_bytes)
        program, _ = _host_build(kernel(name), self.folder, self.flags, guest)
        return stats_of(call([program], environment={"NW_TEST_STATS": "1", **warm()}).stderr)

    def cost(self, name: str, guest: toolchain.Guest) -> Cost:
        virtual = replace(self.virtual(name, guest), stats=self.stats(name, guest.statics_bytes))
        return _compared(name, self.native(name), virtual, self.stats(name)["accesses"])


# Cortex-M3 ----------------------------------------------------------------------------------------


def build_emulator(folder: Path) -> Path:
    """tests/targets/cortexm3/run_m3.c against the library in unicorn's package."""
    found = importlib.util.find_spec("unicorn")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    program = folder / "run_m3"
    source = ROOT / "tests" / "targets" / "cortexm3" / "run_m3.c"
    library = next((package / "lib").glob("libunicorn.so*"))
    call(
        [
            "cc",
            "-std=gnu11",
            "-O2",
            f"-I{package / 'include'}",
            str(source),
            str(library),
            f"-Wl,-rpath,{package / 'lib'}",
            "-o",
            str(program),
        ]
    )
    return program


def _arm_object(source: Path, output: Path, *flags: str) -> Path:
    includes = [f"-I{ROOT / 'core/include'}", f"-I{ROOT / 'ports/guest/include'}"]
    call(
        [
            toolchain.CLANG,
            *_ARM,
            "-isystem",
            str(_NEWLIB),
            "-ffunction-sections",
            "-w",
            "-D_GNU_SOURCE",
            *includes,
            *flags,
            "-c",
            str(source),
            "-o",
            str(output),
        ]
    )
    return output


def arm_library(folder: Path) -> list[Path]:
    """Objects of the run time for the Cortex-M3, as small as on a device."""
    core, guest = ROOT / "core", ROOT / "ports" / "guest"
    files = [core / "vm" / f"{one}.c" for one in _ARM_CORE]
    files += [core / "base" / f"{one}.c" for one in _ARM_BASE]
    files += [guest / f"{one}.c" for one in _ARM_GUEST]
    return [
        _arm_object(one, folder / f"arm-{one.parent.name}-{one.stem}.o", "-Os") for one in files
    ]


def _arm_whole(bitcode: Path, level: str, guest: toolchain.Guest | None = None) -> Path:
    """One object of a program that only `main` is called of, for a linker that is not lld."""
    output = bitcode.with_suffix(".whole.o")
    link = [toolchain.CLANG, _ARM[0], *toolchain.one_object_flags(level, guest)]
    call([*link, str(bitcode), "-o", str(output)])
    return output


def _arm_link(objects: Sequence[Path], output: Path) -> Path:
    script = ROOT / "tests" / "targets" / "cortexm3" / "vm.ld"
    options = ["-mcpu=cortex-m3", "-mthumb", "-nostartfiles", "--specs=nosys.specs"]
    call(
        [
            "arm-none-eabi-gcc",
            *options,
            "-Wl,--gc-sections",
            f"-Wl,-T,{script}",
            *map(str, objects),
            "-lm",
            "-o",
            str(output),
        ]
    )
    return output


def _statics_bytes(obj: Path) -> int:
    """Bytes of globals in RAM, as the pass noted them (compiler/statics.h)."""
    note = obj.with_suffix(".statics")
    call(["arm-none-eabi-objcopy", f"--dump-section=.nw_statics={note}", str(obj), os.devnull])
    told = json.loads(note.read_bytes())
    return int(told["bytes"])


@dataclass(frozen=True)
class CortexM3:
    """Builds and counts on the emulated Cortex-M3; `open` makes one."""

    folder: Path
    emulator: Path
    library: tuple[Path, ...]
    flags: tuple[str, ...] = ("-O2",)

    @classmethod
    def open(cls, folder: Path) -> "CortexM3":
        return cls(folder, build_emulator(folder), tuple(arm_library(folder)))

    def _start(self, name: str, *flags: str) -> Path:
        source = ROOT / "tests" / "targets" / "cortexm3" / "vm_start.c"
        return _arm_object(source, self.folder / f"arm-start-{name}.o", "-O2", *flags)

    def _run(self, image: Path, text: int) -> Run:
        out, _, last = call([str(self.emulator), str(image)]).stdout.rpartition("instructions ")
        out, _, told = out.partition(_STATS_FOLLOW)
        return Run(int(last), out, text, stats=stats_of(told))

    @functools.cache  # noqa: B019 - a few, which end with the process
    def native(self, name: str) -> Run:
        bitcode, _ = toolchain.native_program_flags(self.flags)
        obj = self.folder / f"{name}-arm-native.o"
        obj = _arm_object(kernel(name), obj, *self.flags, *bitcode)
        obj = _arm_whole(obj, toolchain.level(self.flags))
        image = _arm_link([obj, self._start("native")], self.folder / f"{name}-native.elf")
        return self._run(image, _text_bytes(obj))

    def virtual(self, name: str, guest: toolchain.Guest, ram_bytes: int = 0) -> Run:
        """With `ram_bytes` frames, tables and globals in RAM have so much; else all is resident."""
        guest = replace(guest, count=False)
        stem = f"{name}-arm-virtual{guest.statics_bytes}-{ram_bytes}"
        ours = [one for one in toolchain.compile_flags(guest) if not one.startswith("-g")]
        obj = _arm_object(kernel(name), self.folder / f"{stem}.o", *self.flags, *ours)
        obj = _arm_whole(obj, toolchain.level(self.flags), guest)
        start, statics = ["-DVIRTUAL"], 0
        if ram_bytes:
            statics = _statics_bytes(obj)
            start.append(f"-DRAM_BYTES={ram_bytes - statics}U")
        objects = [obj, self._start(stem, *start), *self.library]
        run = self._run(_arm_link(objects, self.folder / f"{stem}.elf"), _text_bytes(obj))
        return replace(run, stats={**run.stats, "statics": statics})

    def cost(self, name: str, guest: toolchain.Guest, accesses: int, ram_bytes: int = 0) -> Cost:
        """The accesses are the host's."""
        virtual = self.virtual(name, guest, ram_bytes)
        return _compared(name, self.native(name), virtual, accesses)


# Series -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """The same builds of all kernels."""

    name: str  #: of its figures
    title: str
    guest: toolchain.Guest = field(default_factory=toolchain.Guest)
    ram_bytes: int = 0  #: of frames, tables and globals; 0: every page is resident

    @property
    def on_host(self) -> bool:
        return self.name.startswith("host")

    def cost(self, name: str, host: Host, arm: CortexM3) -> Cost:
        if self.on_host:
            return host.cost(name, self.guest)
        return arm.cost(name, self.guest, host.stats(name)["accesses"], self.ram_bytes)


_KEEPING = toolchain.Guest(statics_bytes=STATICS_BYTES)
#: In 16 KB: half for globals, tables as small as serves the kernels.
_SMALL = toolchain.Guest(statics_bytes=8 << 10, slots=8, lookaside=32)
SERIES = (
    Series("host", "host"),
    Series("host-4k", "host, 4 KB of statics", _KEEPING),
    Series("cortex-m3", "Cortex-M3"),
    Series("cortex-m3-4k", "Cortex-M3, 4 KB of statics", _KEEPING),
    Series("cortex-m3-16k", "Cortex-M3, 16 KB of RAM in all", _SMALL, 16 << 10),
)
