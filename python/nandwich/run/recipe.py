# SPDX-License-Identifier: Apache-2.0
"""How `nandwich run` builds the two programs it compares."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nandwich import paths
from nandwich.compiler import outputs, toolchain
from nandwich.errors import InputError
from nandwich.run import build
from nandwich.run.build import Recipe
from nandwich.run.measure import Job
from nandwich.twin.config import Device

#: Flags of a link; all others belong to the compilation.
_LINK_FLAGS = ("-l", "-L", "-Wl,", "-Xlinker")


#: Flags after which there is no program to run.
NO_PROGRAM = frozenset(("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--analyze", "-r"))


def checked_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """The flags, or InputError for those with which no program in virtual memory can be made."""
    toolchain.refuse_flags(flags)
    for flag in flags:
        if flag in NO_PROGRAM or flag.startswith("-o"):
            raise InputError(
                f"{flag}: `nandwich run` makes a program of its own, and runs it; "
                "to build one for yourself, use `nandwich cc`"
            )
        if flag.startswith(("-save-temps", "--save-temps")):
            raise InputError(
                f"{flag}: `nandwich run` builds two programs, whose temporary files would lie one "
                "over the other, and none where a build is kept; use `nandwich cc`"
            )
    return tuple(flags)


def _split(flags: Sequence[str]) -> tuple[list[str], list[str]]:
    compiling: list[str] = []
    linking: list[str] = []
    pending = iter(flags)
    for flag in pending:
        target = linking if flag.startswith(_LINK_FLAGS) else compiling
        target.append(flag)
        if flag in toolchain.TAKES_VALUE:
            target.append(next(pending, ""))
    return compiling, linking


def native(sources: tuple[Path, ...], flags: Sequence[str], *, whole: bool = True) -> Recipe:
    """Plain clang, with only the watching side of the run time."""
    flags, _ = toolchain.pass_words(flags)
    compiling, linking = _split(flags)
    bitcode, passes = toolchain.native_program_flags(flags) if whole else ([], [])
    # Last, as the pass has them: <nandwich/guest.h> is there for both programs.
    ours = [f"-I{path}" for path in paths.include_dirs()]
    watch = paths.static_library("nw_native")
    return Recipe(
        compile_command=(toolchain.CLANG, *compiling, *ours, *bitcode),
        link_command=(toolchain.CLANG, *compiling, *toolchain.wrap_flags(), *passes),
        sources=sources,
        libraries=("-Wl,--whole-archive", str(watch), "-Wl,--no-whole-archive", *linking, "-lm"),
        tools=(_compiler(), watch),
    )


def counting(sources: tuple[Path, ...], flags: Sequence[str]) -> Recipe:
    """The native program that counts what it runs."""
    plain = native(sources, flags)
    linking = (toolchain.CLANG, *_split(flags)[0], *toolchain.wrap_flags())
    return replace(plain, link_command=(*linking, *toolchain.counting_flags(flags)))


def virtual(
    sources: tuple[Path, ...],
    flags: Sequence[str],
    device: Device,
    *,
    whole: bool = True,
    profile: Path | None = None,
) -> Recipe:
    """Clang with the pass, linked with run time, layers and twin."""
    flags, words = toolchain.pass_words(flags)
    compiling, linking = _split(flags)
    guest = toolchain.Guest(
        frame_bytes=device.frame,
        slots=device.slots,
        lookaside=device.lookaside,
        guards=device.guards,
        statics_bytes=device.statics,
        trace=device.accesses != "",
        whole=whole,
        profile="" if profile is None else str(profile),
        words=words,
    )
    return Recipe(
        compile_command=(toolchain.CLANG, *compiling, *toolchain.compile_flags(guest)),
        link_command=(toolchain.CLANG, *compiling),
        sources=sources,
        libraries=(
            *linking,
            *toolchain.wrap_flags(virtual=True),
            *toolchain.link_flags(guest, flags=flags),
        ),
        tools=(_compiler(), *toolchain.tools(), *([] if profile is None else [profile])),
    )


def job(
    sources: tuple[Path, ...],
    flags: Sequence[str],
    device: Device,
    arguments: Sequence[str],
    *,
    compare: bool = True,
    whole: bool = True,
    profile: Path | None = None,
) -> Job:
    """Both programs, built (or found built): ready to be measured."""
    outputs.refuse_over([str(source) for source in sources], flags)
    plain = build.build(native(sources, flags, whole=whole)) if compare else None
    guarded = build.build(virtual(sources, flags, device, whole=whole, profile=profile))
    return Job(
        native=plain.program if plain else None,
        virtual=guarded.program,
        inputs=(*(plain.inputs if plain else ()), *guarded.inputs),
        arguments=(sources[0].stem, *arguments),
        config=device.text(),
    )


def _compiler() -> Path:
    return Path(shutil.which(toolchain.CLANG) or toolchain.CLANG)
