# SPDX-License-Identifier: Apache-2.0
"""Layouts where nothing was recorded: the compiler pass tells what each file refers to
(compiler/tagged_references.cpp), and references stand for accesses (Lachenmann et al. 2007, 4.1).

A reference counts as LOOP_WEIGHT to the power of the loops around it in its function. Where the
pass knows a part of the address alone, what it may reach shares that weight.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nandwich.compiler import driver, tagged, toolchain
from nandwich.errors import InputError, RunError
from nandwich.vmtrace import layout

#: How often a loop is taken to go round: as register allocators weigh loops too.
LOOP_WEIGHT = 10
#: Deeper loops count as so many.
_MOST_DEPTH = 4
#: Flags with which nothing is compiled.
_NO_OBJECT = frozenset(["-E", "-M", "-MM", "-S", "-c", "-fsyntax-only", "--analyze"])
_SUMMARY = re.compile(r"\d+ errors? generated\.")
#: The weight of a reference outside all loops: so many elements can share it.
_UNIT = 64
#: Of all references together; with more all count less. The graph takes twice that, for what counts
#: least still counts.
_MOST_WEIGHT = 1 << 31


@dataclass(frozen=True)
class Reference:
    """One place in a source that reads or writes a tagged variable."""

    writes: bool
    depth: int  #: loops around it
    first: int  #: byte in the variable
    step: int  #: or that plus a multiple of so many; 0: that
    bytes: int  #: 0: nobody knows
    name: str
    place: str


@dataclass(frozen=True)
class Source:
    """What one file defines and refers to."""

    path: str
    objects: list[tuple[int, int, str]]  #: bytes, bytes an element, name
    functions: list[list[Reference]]


def read(paths: Sequence[str], flags: Sequence[str]) -> list[Source]:
    """Compile each file and take its references; InputError where it does not compile, with what
    the compiler said, or does with a tagged variable what cannot be."""
    for path in paths:
        toolchain.refuse_language(path)
        if not Path(path).is_file():
            raise InputError(f"{path}: no such file")
        if Path(path).suffix not in (".c", ".i"):
            raise InputError(f"{path}: --from-source reads C files, whose names end in .c")
    if driver.inputs(flags):
        raise InputError(f"--cflags: '{driver.inputs(flags)[0]}' is no flag; files come before")
    for flag in flags:
        if flag in _NO_OBJECT or flag.startswith(("-o", "-save-temps", "--save-temps")):
            raise InputError(f"--cflags: {flag}: nothing is built that would be kept")
    with tempfile.TemporaryDirectory(prefix="nandwich-source-") as folder:
        return [_one(path, flags, Path(folder)) for path in paths]


def _one(path: str, flags: Sequence[str], folder: Path) -> Source:
    told = folder / "references"
    told.write_bytes(b"")  # a file without tagged variables writes none
    command = [toolchain.CLANG, *flags, *tagged.compile_flags(None), "-w"]
    command += ["-mllvm", f"-nw-references={told}", "-c", path, "-o", str(folder / "object")]
    try:
        done = subprocess.run(
            command, stderr=subprocess.PIPE, text=True, errors="surrogateescape", check=False
        )
    except FileNotFoundError as error:
        raise RunError(f"{command[0]} is not there; `nandwich doctor` says more") from error
    if done.returncode:
        said = tagged.explain(done.stderr, None).splitlines()
        raise InputError("\n".join(one for one in said if not _SUMMARY.fullmatch(one)))
    return parse(path, os.fsdecode(told.read_bytes()))


def parse(path: str, text: str) -> Source:
    """The pass's own text."""
    source = Source(path, [], [])
    for line in text.splitlines():
        kind, *words = line.split("\t")
        if kind == "object":
            source.objects.append((int(words[0]), int(words[1]), words[2]))
        elif kind == "function":
            source.functions.append([])
        else:
            depth, first, step, bytes_ = map(int, words[:4])
            one = Reference(kind == "write", depth, first, step, bytes_, words[4], words[5])
            source.functions[-1].append(one)
    return source


def program(sources: Sequence[Source], parameters: layout.Parameters) -> layout.Program:
    """Its variables in the order of files and of declaration, and what refers to them. Nothing is
    there to be played: only the heuristic as published and first fit can lay it out."""
    objects = _objects(sources)
    _refuse_undefined(sources, {name for *_, name in objects})
    if not objects:
        files = ", ".join(one.path for one in sources)
        raise InputError(
            f"{files}: no tagged variable is used; NW_VM tags one, or give all files of the program"
        )
    graph = layout.layouter(sources[0].path, objects, parameters)
    at = _numbered(objects, parameters)
    functions = [
        [_weighed(at[reference.name], reference) for reference in function]
        for source in sources
        for function in source.functions
    ]
    whole = sum(len(one.elements) * one.weight for function in functions for one in function)
    scale = whole // _MOST_WEIGHT + 1
    for function in functions:
        graph.begin()
        for one in function:
            for element in one.elements:
                graph.refer(element, one.writes, max(1, one.weight // scale))
    return layout.Program(objects, graph, parameters, [])


def _refuse_undefined(sources: Sequence[Source], names: set[str]) -> None:
    for source in sources:
        for function in source.functions:
            for one in function:
                if one.name not in names:
                    raise InputError(
                        f"{one.place}: '{one.name}' is defined in none of the files given: give "
                        "all of the program's"
                    )


def _objects(sources: Sequence[Source]) -> list[layout.Object]:
    found: list[layout.Object] = []
    where: dict[str, str] = {}
    address = 0
    for source in sources:
        for bytes_, element, name in source.objects:
            if name in where:
                raise InputError(
                    f"{where[name]} and {source.path} have one tagged variable '{name}' each, "
                    "which a layout could not tell apart; rename one"
                )
            where[name] = source.path
            found.append((address, bytes_, element, name))
            address += bytes_
    return found


@dataclass(frozen=True)
class _Elements:
    """Of one variable: numbers from `first` on, `count` of `size` bytes."""

    first: int
    count: int
    size: int

    def reached(self, reference: Reference) -> Iterator[int]:
        """Numbers of those that a reference may reach."""
        whole = self.count * self.size
        bytes_ = reference.bytes or whole
        if 0 < reference.step <= max(bytes_, self.size):  # from there on it leaves none out
            touched = set(range(reference.first // self.size, self.count))
        else:
            touched = {
                byte // self.size
                for start in range(reference.first, whole, reference.step or whole)
                for byte in (*range(start, start + bytes_, self.size), start + bytes_ - 1)
            }
        return (self.first + one for one in sorted(touched) if one < self.count)


def _numbered(
    objects: Sequence[layout.Object], parameters: layout.Parameters
) -> dict[str, _Elements]:
    found, first = {}, 0
    for _, bytes_, element, name in objects:
        size = bytes_ if bytes_ <= parameters.whole else element
        found[name] = _Elements(first, bytes_ // size, size)
        first += bytes_ // size
    return found


@dataclass(frozen=True)
class _Weighed:
    """What a reference counts for: each of these elements so often."""

    writes: bool
    elements: list[int]
    weight: int


def _weighed(elements: _Elements, reference: Reference) -> _Weighed:
    reached = list(elements.reached(reference))
    weight = _UNIT * LOOP_WEIGHT ** min(reference.depth, _MOST_DEPTH)
    if reference.step:
        weight = max(1, weight // max(1, len(reached)))
    return _Weighed(reference.writes, reached, weight)
