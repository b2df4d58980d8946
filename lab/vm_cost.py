# SPDX-License-Identifier: Apache-2.0
"""What guards cost: exact instruction counts of kernels, natively and in virtual memory.

Storage is RAM and every page is resident before the count begins, so that the guards alone are
seen. Host: callgrind, from main on. Cortex-M3: unicorn (tests/targets/cortexm3/run_m3.c).
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab import ROOT
from nandwich import paths
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
)
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
class Cost:
    """Instructions of one kernel on one processor."""

    native: int
    virtual: int
    accesses: int  #: guarded ones
    misses: int  #: calls of the run time by guards
    miss: float  #: instructions such a call takes; 0 where it is not known
    text_native: int
    text_virtual: int

    @property
    def ratio(self) -> float:
        return self.virtual / self.native

    @property
    def added(self) -> float:
        """Instructions an access."""
        return (self.virtual - self.native) / self.accesses


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


def _call(command: Sequence[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {"PATH": os.environ["PATH"], **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    if done.returncode:
        raise RunError(f"{Path(command[0]).name}: {(done.stderr or done.stdout).strip()}")
    return done


def _text_bytes(program: Path) -> int:
    """Code of the program's own object."""
    done = _call(["size", "-A", str(program)])
    found = re.findall(r"^\.text\S*\s+(\d+)", done.stdout, re.MULTILINE)
    return sum(map(int, found))


# Host ---------------------------------------------------------------------------------------------


def _start_object(folder: Path) -> Path:
    output = folder / "start.o"
    if not output.exists():
        includes = [f"-I{ROOT / 'core/include'}", f"-I{ROOT / 'ports/guest/include'}"]
        source = ROOT / "tests" / "compiler" / "support" / "start.c"
        _call([toolchain.CLANG, "-O1", "-c", str(source), *includes, "-o", str(output)])
    return output


def _host_build(
    source: Path, folder: Path, flags: Sequence[str], guest: toolchain.Guest | None
) -> tuple[Path, int]:
    """The program, and the bytes of code of its own object. Both are optimised as a whole."""
    stem = f"{source.stem}-{'native' if guest is None else f'virtual{int(guest.count)}'}"
    obj, program = folder / f"{stem}.o", folder / stem
    bitcode, passes = toolchain.native_program_flags(flags)
    command = [toolchain.CLANG, *flags, "-w", str(source), "-c", "-o", str(obj)]
    _call([*command, *(toolchain.compile_flags(guest) if guest else bitcode)])
    link = ["-no-pie", *passes, "-lm"]
    if guest is not None:
        link = toolchain.link_flags(guest, _start_object(folder), flags)
    made = program.with_suffix(".lto.o")
    _call([toolchain.CLANG, str(obj), "-o", str(program), f"-Wl,--lto-obj-path={made}", *link])
    return program, _text_bytes(made)


def _callgrind(program: Path) -> tuple[int, str, Path]:
    """Instructions from main on, standard output, and callgrind's own file."""
    counts = program.with_suffix(".callgrind")
    command = ["setarch", "-R", "valgrind", "--tool=callgrind", "--toggle-collect=main"]
    command += [f"--callgrind-out-file={counts}", str(program)]
    done = _call(command, NW_TEST_FRAMES=str(FRAMES), NW_TEST_WARM="1")
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RunError(f"callgrind: {done.stderr.strip()}")
    return int(found.group(1)), done.stdout, counts


#: What a guard calls; inner functions have other names (thunks_x86_64.S).
_MISS = re.compile(r"nw_guest_((load|modify)_miss|store_miss_\w+|span_(read|write))$")


def _miss_cost(counts: Path) -> float:
    """Instructions of a call of the run time by a guard, itself and all it calls."""
    names: dict[str, str] = {}
    spent = calls = pending = 0
    target = ""
    for line in counts.read_text(encoding="utf-8").splitlines():
        if pending:
            spent += int(line.split()[-1])
            calls += pending
            pending = 0
        for kind, number, name in re.findall(r"^(c?fn)=(\(\d+\))(?: (\S+))?", line):
            names[number] = name or names[number]
            target = names[number] if kind == "cfn" else ""
        if line.startswith("calls=") and _MISS.match(target):
            pending = int(line[6:].split()[0])
    return spent / calls if calls else 0.0


def host(
    name: str, folder: Path, flags: Sequence[str] = ("-O2",), guest: toolchain.Guest | None = None
) -> Cost:
    """One kernel on the host: counting of accesses is off in what is measured."""
    guest = guest or toolchain.Guest()
    quiet = replace(guest, count=False)
    native, text_native = _host_build(kernel(name), folder, flags, None)
    virtual, text_virtual = _host_build(kernel(name), folder, flags, quiet)
    counting, _ = _host_build(kernel(name), folder, flags, guest)
    native_count, wanted, _ = _callgrind(native)
    virtual_count, got, counts = _callgrind(virtual)
    if wanted != got:
        raise RunError(f"{name}: not the native output")
    run = _call([str(counting)], NW_TEST_FRAMES=str(FRAMES), NW_TEST_WARM="1", NW_TEST_STATS="1")
    stats = dict(re.findall(r"^(\w+) (\d+)$", run.stderr, re.MULTILINE))
    return Cost(
        native_count,
        virtual_count,
        int(stats["accesses"]),
        int(stats["misses"]),
        _miss_cost(counts),
        text_native,
        text_virtual,
    )


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
    _call(
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
    _call(
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
    lld = ["ld.lld-19", "-r", "-m", "armelf", "-mllvm", "-internalize-public-api-list=main"]
    passes = ["internalize", level]
    if guest is not None:
        lld.append(f"--load-pass-plugin={paths.compiler_plugin()}")
        passes.insert(0, toolchain.pass_options(guest))
    _call([*lld, f"--lto-newpm-passes={','.join(passes)}", str(bitcode), "-o", str(output)])
    return output


def _arm_link(objects: Sequence[Path], output: Path) -> Path:
    script = ROOT / "tests" / "targets" / "cortexm3" / "vm.ld"
    options = ["-mcpu=cortex-m3", "-mthumb", "-nostartfiles", "--specs=nosys.specs"]
    _call(
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


def _run_arm(emulator: Path, image: Path) -> tuple[int, str]:
    out, _, last = _call([str(emulator), str(image)]).stdout.rpartition("instructions ")
    return int(last), out


def cortex_m3(
    name: str,
    folder: Path,
    emulator: Path,
    library: Sequence[Path],
    accesses: int,
    flags: Sequence[str] = ("-O2",),
) -> Cost:
    """One kernel on the Cortex-M3; the accesses are the host's."""
    start = ROOT / "tests" / "targets" / "cortexm3" / "vm_start.c"
    guest = toolchain.Guest(count=False)
    instrument = [one for one in toolchain.compile_flags(guest) if not one.startswith("-g")]
    bitcode, _ = toolchain.native_program_flags(flags)
    level = toolchain.level(flags)
    native = _arm_object(kernel(name), folder / f"{name}-arm-native.o", *flags, *bitcode)
    native = _arm_whole(native, level)
    virtual = _arm_object(kernel(name), folder / f"{name}-arm-virtual.o", *flags, *instrument)
    virtual = _arm_whole(virtual, level, guest)
    begin = _arm_object(start, folder / "arm-start-native.o", "-O2")
    image = _arm_link([native, begin], folder / f"{name}-native.elf")
    native_count, wanted = _run_arm(emulator, image)
    begin = _arm_object(start, folder / "arm-start-virtual.o", "-O2", "-DVIRTUAL")
    image = _arm_link([virtual, begin, *library], folder / f"{name}-virtual.elf")
    virtual_count, got = _run_arm(emulator, image)
    if wanted != got:
        raise RunError(f"{name} on the Cortex-M3: not the native output")
    return Cost(
        native_count, virtual_count, accesses, 0, 0.0, _text_bytes(native), _text_bytes(virtual)
    )
