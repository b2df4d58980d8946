# SPDX-License-Identifier: Apache-2.0
"""Tagged mode of `nandwich cc`: only NW_VM variables are virtual.

`--trace` builds a program that records its accesses to them, `--layout FILE` one whose variables
lie where the layout says. The pass is told the layout as a small text (compiler/tagged_plan.cpp),
the run time by tables in C.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from nandwich import files, paths
from nandwich.compiler import link_errors
from nandwich.errors import InputError

#: As core/include/nandwich/small.h has them.
MOST_PAGES = 169
#: Of the twin of a DataFlash that a program runs on.
PAGE_BYTES = 264
_HOST_START, _HOST_ALIGN = 0x7A00_0000_0000, 16


@dataclass(frozen=True)
class Variable:
    """One tagged variable, placed."""

    name: str
    bytes: int
    element_bytes: int
    places: tuple[tuple[int, int], ...]  #: page and byte in it, of each element


@dataclass(frozen=True)
class Placement:
    """A layout, as far as a build needs it."""

    path: str
    page_bytes: int
    whole_bytes: int
    pages: int
    frames: int
    variables: tuple[Variable, ...]


@dataclass(frozen=True)
class Target:
    """Where virtual addresses are free, and how far they go."""

    start: int = _HOST_START
    align: int = _HOST_ALIGN
    end: int = _HOST_START + (1 << 32)


HOST = Target()


def check(layout: Placement, target: Target = HOST) -> None:
    """InputError for a layout that no node's flash or addresses have room for."""
    if layout.page_bytes > PAGE_BYTES:
        raise InputError(
            f"{layout.path}: pages of {layout.page_bytes} B; the DataFlash has {PAGE_BYTES} B a "
            f"page: lay out again with --page {PAGE_BYTES}"
        )
    if layout.pages > MOST_PAGES:
        raise InputError(
            f"{layout.path}: more tagged data than the pool takes: {layout.pages} pages of "
            f"{layout.page_bytes} B, {MOST_PAGES} at most"
        )
    bytes_ = _starts(layout, target)[-1] - target.start
    if target.start + bytes_ > target.end:
        raise InputError(
            f"{layout.path}: more tagged data than addresses: {bytes_} B, "
            f"{target.end - target.start} B at most"
        )


def _starts(layout: Placement, target: Target) -> list[int]:
    """The address of each variable, and the end."""
    starts = [target.start]
    for one in layout.variables:
        starts.append(-(-(starts[-1] + one.bytes) // target.align) * target.align)
    return starts


def _firsts(layout: Placement) -> list[int]:
    firsts = [0]
    for one in layout.variables:
        firsts.append(firsts[-1] + len(one.places))
    return firsts


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _places_text(layout: Placement, target: Target) -> str:
    lines = [str(layout.whole_bytes)]
    starts, firsts = _starts(layout, target), _firsts(layout)
    for number, one in enumerate(layout.variables):
        places = ",".join(f"{page}:{offset}" for page, offset in one.places)
        lines.append(
            f"{number} {one.bytes} {one.element_bytes} {starts[number]} {firsts[number]} {places} "
            f"{one.name}"
        )
    return "".join(line + "\n" for line in lines)


def plan_text(layout: Placement, target: Target = HOST) -> str:
    """What the pass reads."""
    places = _places_text(layout, target)
    path = layout.path.replace("\n", " ")
    return f"{path}\n{_digest(places)}\n{places}"


def tables(layout: Placement, frames: int, target: Target = HOST) -> str:
    """What the run time is linked with, in C."""
    starts, firsts = _starts(layout, target), _firsts(layout)
    frames = min(frames, layout.pages)
    pool = layout.pages + (layout.pages + 1) // 2
    pool = max(pool, 2)
    digest = _digest(_places_text(layout, target))
    lines = ['#include "nandwich-tagged/tagged.h"']
    objects = []
    for number, one in enumerate(layout.variables):
        lines.append(
            f"extern const uint8_t nw_tagged_initial_{number}[] __attribute__((weak));\n"
            f"extern const uint8_t nw_tagged_object_{number}[];"
        )
        objects.append(
            f"{{(uintptr_t){starts[number]:#x}U, {one.bytes}U, {one.element_bytes}U, "
            f"{firsts[number]}U, nw_tagged_initial_{number}, nw_tagged_object_{number}}}"
        )
    places = [
        f"{page}, {offset & 255}, {offset >> 8}"
        for one in layout.variables
        for page, offset in one.places
    ]
    listed = ",\n".join(objects)
    told = ",\n".join(places)
    lines += [
        f"const struct nw_tagged_object nw_tagged_objects[] NW_TAGGED_TABLE = {{\n{listed}}};",
        f"const uint8_t nw_tagged_places[] NW_TAGGED_TABLE = {{\n{told}}};",
        f"const uint8_t nw_tagged_layout_{digest} NW_TAGGED_TABLE = 1;",
        f"uint8_t *nw_tagged_frame_of[{layout.pages}];",
        f"static uint8_t slot_of[{layout.pages}], taken[NW_SMALL_TAKEN_BYTES({pool}U)];",
        f"static uint8_t frames[{frames}U * ({layout.page_bytes}U + NW_SMALL_FRAME_EXTRA)];",
        "uint16_t nw_tagged_configure(struct nw_small_config *config)",
        "{",
        f"    config->page_bytes = {layout.page_bytes};",
        f"    config->pages = {layout.pages};",
        f"    config->frames = {frames};",
        f"    config->pool = {pool};",
        "    config->frame_of = nw_tagged_frame_of;",
        "    config->slot_of = slot_of;",
        "    config->taken = taken;",
        "    config->frame = frames;",
        f"    return {len(objects)};",
        "}",
    ]
    return "\n".join(lines) + "\n"


def kept(text: str, ending: str) -> Path:
    """The text in a file of the cache whose name tells its content."""
    path = paths.cache_dir() / "tagged" / (_digest(text) + ending)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(path, text.encode("utf-8", "surrogateescape"))
    return path


def compile_flags(layout: Placement | None, target: Target = HOST) -> list[str]:
    """Flags of a compilation, to come last; no layout: accesses are recorded."""
    plugin = paths.compiler_plugin()
    options = ["-nw-tagged"]
    if layout is not None:
        options.append(f"-nw-plan={kept(plan_text(layout, target), '.plan')}")
    return [
        "-D__NANDWICH_TAGGED__=1",
        *(f"-I{path}" for path in paths.include_dirs()),
        "-fno-lto",
        "-fno-common",
        "-g",  # the pass reads the types of variables there
        "-gdwarf-4",
        f"-fplugin={plugin}",
        f"-fpass-plugin={plugin}",
        *(word for option in options for word in ("-mllvm", option)),
        "-Wno-unused-command-line-argument",
    ]


def link_flags(layout: Placement | None, frames: int | None) -> list[str]:
    """Flags of a link, to come behind the program's objects."""
    names: tuple[str, ...] = ("nw_recorder", "nw_vmtrace", "nw_twin", "nw_core")
    start: list[str] = []
    if layout is not None:
        source = kept(tables(layout, frames or layout.frames), ".c")
        start = ["-x", "c", str(source), "-x", "none"]
        names = ("nw_tagged", "nw_twin", "nw_core")
    else:
        start = ["-Wl,--wrap=_exit", "-Wl,--wrap=_Exit"]  # the trace is ended there
    first, *others = map(paths.static_library, names)
    return [
        *start,
        "-fuse-ld=lld",
        "-Wl,--whole-archive",
        str(first),
        "-Wl,--no-whole-archive",
        "-Wl,--start-group",
        *map(str, others),
        "-Wl,--end-group",
        "-lm",
    ]


_OTHER = re.compile(r"undefined symbol: nw_tagged_layout_[0-9a-f]+$")
_OBJECT = re.compile(r"(?P<what>undefined|duplicate) symbol: nw_tagged_object_(?P<number>\d+)$")


_CONFLICT = re.compile(r"'(?P<one>\w+)' causes a section type conflict with '(?P<other>\w+)'")


def explain(text: str, layout: Placement | None) -> str:
    """What the compiler or the linker said, with what concerns tagged variables put into words."""
    text = _CONFLICT.sub(
        r"one of '\g<one>' and '\g<other>' is a constant, and constants are not tagged: take NW_VM "
        "off it",
        text,
    )
    if layout is None:
        return link_errors.explain(text)
    told: list[str] = []
    missing: list[str] = []
    skipping = other = False
    for line in text.splitlines():
        found = _OBJECT.search(line)
        if skipping and (line.startswith(">>>") or not line):
            continue
        skipping = found is not None or _OTHER.search(line) is not None
        other = other or (skipping and found is None)
        if not skipping:
            told.append(line)
        elif found is not None:
            name = layout.variables[int(found["number"])].name
            if found["what"] == "undefined":
                missing.append(f"'{name}'")
            else:
                told.append(f"error: the tagged variable '{name}' is defined twice")
    if other:
        told.append(
            f"error: an object was compiled with another layout than {layout.path}; compile all "
            "files again with this one"
        )
    elif missing and "symbol: nw_tagged_note_" not in text:  # else it is an object that records
        told.append(
            f"error: {layout.path} is for another version of the program: nothing linked defines "
            f"{', '.join(missing)}; record and lay out again"
        )
    return link_errors.explain("".join(line + "\n" for line in told))
