# SPDX-License-Identifier: Apache-2.0
"""Flags with which clang-19 builds a program into virtual memory.

`docs/compiler-reference.md` explains each flag. Everything that compiles or links a guest
(`nandwich cc`, `nandwich run`, the tests) takes its flags from here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nandwich import paths
from nandwich.errors import InputError

CLANG = "clang-19"
#: Ways a guard is put into code: see docs/compiler.md.
GUARD_MODES = ("inline", "outline", "hybrid")

#: The most RAM for globals, as much as virtual memory may be on the host.
MOST_STATICS_BYTES = 1 << 30

#: Options whose value is the next argument.
TAKES_VALUE = frozenset(
    [
        "-o",
        "-x",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-T",
        "-u",
        "-z",
        "-e",
        "-A",
        "-include",
        "-imacros",
        "-iprefix",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-isysroot",
        "-MF",
        "-MJ",
        "-serialize-diagnostics",
        "--serialize-diagnostics",
        "-MT",
        "-MQ",
        "-Xlinker",
        "-Xclang",
        "-Xpreprocessor",
        "-Xassembler",
        "-mllvm",
        "-target",
        "--param",
        "-arch",
        "-dumpbase",
        "-dumpdir",
        "--sysroot",
        "-B",
    ]
)


NO_CXX = (
    "C++ is not supported: its library (new, exceptions, containers) is not built for virtual "
    "memory and would follow virtual pointers; write the program in C"
)
#: Sanitizers with a run time of their own, and what it would have to know.
SHADOWED = {
    "address": "it keeps a shadow of plain memory and takes every virtual address for a wild one",
    "hwaddress": "it tags pointers, and a tagged pointer is no virtual address",
    "memory": "it keeps a shadow of plain memory and takes virtual memory for uninitialised",
    "thread": "it keeps a shadow of plain memory, and virtual memory has one thread",
    "leak": "it looks for blocks of the host's heap, and the heap here is virtual",
}
#: What moves bytes of virtual memory without a guard: recorded by ports/host/accesses.c.
_RECORDED = ("nw_vm_move", "nw_vm_fill", "nw_vm_compare", "nw_vm_find", "nw_vm_pass")
#: Calls the run time listens to (ports/host/wrap.c), in the native program as in the virtual one.
_WRAPPED = ("execve", "execvpe", "_exit", "_Exit", "quick_exit")


def refuse_language(name: str) -> None:
    """InputError for a source of a language that cannot live in virtual memory."""
    if name.endswith((".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".ii")):
        raise InputError(f"{name}: {NO_CXX}")


def refuse_flags(flags: Sequence[str]) -> None:
    """InputError for a compiler flag that cannot be combined with virtual memory."""
    for flag, following in zip(flags, (*flags[1:], ""), strict=True):
        language = following if flag == "-x" else flag.removeprefix("-x")
        if flag.startswith("-x") and language.startswith("c++"):
            raise InputError(f"-x {language}: {NO_CXX}")
        if flag in ("-lstdc++", "-lc++"):
            raise InputError(f"{flag}: {NO_CXX}")
        if flag.startswith("-fsanitize="):
            _refuse_sanitizers(flag, any(each.startswith("-fsanitize-trap") for each in flags))


def _refuse_sanitizers(flag: str, traps: bool) -> None:
    names = flag.removeprefix("-fsanitize=").split(",")
    for name in names:
        if name in SHADOWED:
            raise InputError(
                f"-fsanitize={name} does not work in virtual memory: {SHADOWED[name]}; run the "
                "program natively with it (clang-19 alone), and here without"
            )
    if not traps and names != ["none"]:
        raise InputError(
            f"{flag}: the sanitizer's run time would read its tables from virtual memory; add "
            "-fsanitize-trap=all, which needs no run time"
        )


@dataclass(frozen=True)
class Guest:
    """What is fixed when a program is compiled; the same for every object of a program."""

    frame_bytes: int = 512
    slots: int = 16
    #: Slots that pin nothing, chosen by the page's number.
    lookaside: int = 64
    guards: str = "inline"
    count: bool = True
    #: Loops run on raw pointers a page at a time.
    windows: bool = True
    #: Every access is told to the run time, which records them; without windows.
    trace: bool = False
    #: Functions that touch no virtual memory, as if declared NW_PLAIN.
    plain: Sequence[str] = field(default_factory=tuple)
    #: Objects are bitcode, and the pass runs once, at the link, over all of them.
    whole: bool = True
    #: RAM for the hottest globals; of a whole program only.
    statics_bytes: int = 0
    #: What a native run counted (profiles.py); it decides where guards stand.
    profile: str = ""
    #: More for the pass, as key=value.
    words: Sequence[str] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if not 16 <= self.frame_bytes <= 32768 or self.frame_bytes & (self.frame_bytes - 1):
            raise InputError(
                f"frame of {self.frame_bytes} bytes: a power of two from 16 to 32768 is allowed"
            )
        if not 1 <= self.slots <= 64:
            raise InputError(f"{self.slots} slots: 1 to 64 are allowed")
        if self.lookaside > 256 or self.lookaside & (self.lookaside - 1):
            raise InputError(
                f"{self.lookaside} look-aside entries: 0 or a power of two up to 256 is allowed"
            )
        if self.guards not in GUARD_MODES:
            raise InputError(f"guards '{self.guards}': one of {', '.join(GUARD_MODES)} is allowed")
        asked = any(re.fullmatch(r"statics=0*[1-9a-fA-Fx].*", word) for word in self.words)
        if not self.whole and (self.statics_bytes or asked):
            raise InputError(
                "statics: a budget is the whole program's, and a file built by itself "
                "(--separate, -fno-lto, -S) would take one of its own; build without them, or with "
                "statics=0"
            )
        if not 0 <= self.statics_bytes <= MOST_STATICS_BYTES:
            raise InputError(f"statics of {self.statics_bytes} bytes: at most 1G is allowed")


def _plugin(*options: str) -> list[str]:
    """Loaded twice: once for its options, once for its passes."""
    plugin = paths.compiler_plugin()
    named = [f"-fplugin={plugin}", f"-fpass-plugin={plugin}"]
    return [*named, *(word for option in options for word in ("-mllvm", option))]


def native_flags() -> list[str]:
    """No virtual memory, but what LLVM's code for an AVR needs (compiler/stack_pass.cpp)."""
    return _plugin("-nw-native")


def native_guest() -> Guest:
    """The same for a whole program."""
    return Guest(words=("native=1",))


def _options(guest: Guest) -> list[str]:
    """What the pass is told, words key=value: what is not its default."""
    usual = Guest()
    chosen = {
        "frame": (guest.frame_bytes, usual.frame_bytes),
        "slots": (guest.slots, usual.slots),
        "lookaside": (guest.lookaside, usual.lookaside),
        "guards": (guest.guards, usual.guards),
        "count": (int(guest.count), int(usual.count)),
        "windows": (int(guest.windows), int(usual.windows)),
        "trace": (int(guest.trace), int(usual.trace)),
        "statics": (guest.statics_bytes, usual.statics_bytes),
    }
    words = [f"{key}={value}" for key, (value, default) in chosen.items() if value != default]
    return [*words, *(f"plain={name}" for name in guest.plain), *guest.words]


#: What the pass can be told (compiler/options.cpp), and the form of each value.
_WORDS = {
    **dict.fromkeys(("frame", "slots", "lookaside", "merge", "statics"), r"0[xX][0-9a-fA-F]+|\d+"),
    **dict.fromkeys(("windows", "trace", "count", "native", "tagged"), r"0|1|true|false|"),
    "guards": "|".join(GUARD_MODES),
    "plain": r".+",
    "plan": r".*",
}


def _checked_word(word: str) -> str:
    """The linker would answer a word that the pass does not take with a stack dump."""
    key, _, value = word.partition("=")
    if not re.fullmatch(_WORDS.get(key, r"(?!)"), value):
        known = ", ".join(sorted(_WORDS))
        raise InputError(f"-nw-{word}: no option of the pass, or no value of it; it takes {known}")
    return word


def pass_words(flags: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Flags without `-mllvm -nw-KEY=VALUE`, and the words KEY=VALUE in them."""
    rest: list[str] = []
    words: list[str] = []
    pending = iter(flags)
    for flag in pending:
        value = next(pending, "") if flag == "-mllvm" else ""
        if value.startswith("-nw-"):
            words.append(_checked_word(value.removeprefix("-nw-")))
        else:
            rest += [flag, value] if flag == "-mllvm" else [flag]
    return rest, tuple(words)


#: Objects as they come from the front end: bitcode that no optimiser has seen.
_BITCODE = ("-flto=full", "-Xclang", "-disable-llvm-passes")


def _bitcode(guest: Guest) -> list[str]:
    """What the object asks of the pass is in the command line that it keeps (recorded.cpp)."""
    words = ";".join(_options(guest))
    kept = ["-frecord-command-line", f"-D__NANDWICH_PASS__={words}"] if words else []
    return [*_BITCODE, *kept]


def _separate(guest: Guest) -> list[str]:
    return ["-fno-lto", *_plugin(*(f"-nw-{word}" for word in _options(guest)))]


def compile_flags(guest: Guest) -> list[str]:
    """Flags of a compilation; they go last, so that they win over the project's own."""
    return [
        "-D__NANDWICH__=1",
        *(f"-I{path}" for path in paths.include_dirs()),
        # Fixed addresses: virtual memory begins where the linker script says.
        "-fno-pic",
        "-fno-pie",
        # Every global needs a place, and calls must be to the functions the pass knows.
        "-fno-common",
        "-U_FORTIFY_SOURCE",
        # Diagnostics and crash reports name lines; valgrind 3.19 reads DWARF 4.
        "-gline-tables-only",
        "-gdwarf-4",
        # Behind the guards the linker's optimiser would move accesses past them: either all of
        # them run there, or none.
        *(_bitcode(guest) if guest.whole else _separate(guest)),
        "-Wno-unused-command-line-argument",
    ]


def native_program_flags(flags: Sequence[str]) -> tuple[list[str], list[str]]:
    """A native program optimised as a whole, as the virtual one is: flags of a compilation and of
    the link."""
    return [*_BITCODE], ["-fuse-ld=lld", *_linker_passes(level(flags))]


def program_flags(guest: Guest, *passes: str) -> list[str]:
    """Flags of a link by lld that run the pass over the program's bitcode; what is none is left.

    Counts of a profile are put in before the last of `passes`, the pipeline of clang's -O."""
    load = f"-Wl,--load-pass-plugin={paths.compiler_plugin()}"
    if not guest.profile:
        return [load, *_linker_passes(pass_options(guest), *passes)]
    # Small code only where the profile saw none run. LLVM's threshold is the count of the last
    # block in a million, which in a small program is that of a hot loop.
    options = (f"-pgo-test-profile-file={guest.profile}", "-profile-summary-cold-count=0")
    found = [word for option in options for word in ("-Xlinker", "-mllvm", "-Xlinker", option)]
    *before, pipeline = passes
    return [
        load,
        *found,
        *_linker_passes(pass_options(guest), *before, "pgo-instr-use", pipeline),
    ]


def one_object_flags(
    level: str, guest: Guest | None = None, *, counting: bool = False
) -> list[str]:
    """Flags of a link by lld that makes one object of a program's bitcode, for a link with what
    only calls `main` of it; without `guest` a native one, which may count what it runs."""
    passes = ("internalize", *(_COUNTERS if counting else ()), level)
    return [
        "-r",
        "-nostdlib",
        "-fuse-ld=lld",
        "-Wl,-mllvm,-internalize-public-api-list=main",
        # Values, unlike blocks, are counted by a run time of LLVM's.
        "-Wl,-mllvm,-disable-vp",
        *(_linker_passes(*passes) if guest is None else program_flags(guest, *passes)),
    ]


#: Put counters into bitcode, where `program_flags` looks for them.
_COUNTERS = ("pgo-instr-gen", "instrprof")


def counting_flags(flags: Sequence[str]) -> list[str]:
    """Flags of a link of native bitcode whose program counts what it runs, into LLVM_PROFILE_FILE.

    Counters go where `program_flags` looks for them: into bitcode that no optimiser has seen.
    """
    passes = _linker_passes(*_COUNTERS, level(flags))
    return ["-fuse-ld=lld", "-fprofile-generate", *passes]


def pass_options(guest: Guest) -> str:
    """What goes in front of a pipeline that runs the pass."""
    return f"nw-options<{';'.join(_options(guest))}>"


def _linker_passes(*passes: str) -> list[str]:
    return ["-Xlinker", f"--lto-newpm-passes={','.join(passes)}"]


def level(flags: Sequence[str]) -> str:
    """How the linked program is optimised: as the last -O says, else as -O2. What a file was
    compiled with (-Os, -O0) its functions keep."""
    levels = [flag for flag in flags if re.fullmatch(r"-O([0-3sz]|fast)?", flag)]
    last = levels[-1].removeprefix("-O") if levels else "2"
    return "default<O" + {"": "1", "fast": "3", "s": "2", "z": "2"}.get(last, last) + ">"


def libraries(start: Path | None = None) -> list[Path]:
    """Archives of a link in their order; `start` takes the place of the host's own start-up."""
    host = ("nw_host", "nw_guest", "nw_vmtrace", "nw_stack", "nw_models", "nw_twin", "nw_core")
    names = ("nw_guest", "nw_core") if start else host
    return [*([start] if start else []), *map(paths.static_library, names)]


def wrap_flags(*, virtual: bool = False) -> list[str]:
    """The linker flags that let wrap.c listen and, in a virtual program, main.c start it."""
    names = (*_WRAPPED, "main") if virtual else _WRAPPED
    return [f"-Wl,--wrap={name}" for name in names]


def link_flags(guest: Guest, start: Path | None = None, flags: Sequence[str] = ()) -> list[str]:
    """Flags of a link, to come behind the program's objects; `start` as for `libraries`, `flags`
    the user's own."""
    first, *others = libraries(start)
    return [
        "-no-pie",
        "-fuse-ld=lld",
        *program_flags(guest, level(flags)),
        *(f"-Wl,--wrap={name}" for name in (_RECORDED if guest.trace else ())),
        f"-Wl,-T,{paths.linker_script()}",
        # The start-up is reached by no symbol.
        "-Wl,--whole-archive",
        str(first),
        "-Wl,--no-whole-archive",
        "-Wl,--start-group",
        *map(str, others),
        "-Wl,--end-group",
        "-lm",
    ]


def tools() -> list[Path]:
    """Files of ours that decide what a build makes: for caches of builds."""
    return [paths.compiler_plugin(), paths.linker_script(), *libraries()]
