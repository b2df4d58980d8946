# SPDX-License-Identifier: Apache-2.0
"""What `nandwich cc` makes of a compiler command line.

The command goes to clang-19 as it stands, with the pass plugin added where something is compiled
and the run time where something is linked. With --trace or --layout only NW_VM variables are
virtual (tagged.py).
"""

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nandwich import _native, paths, quantities
from nandwich.compiler import link_errors, outputs, profiles, tagged, toolchain
from nandwich.errors import InputError
from nandwich.twin import config, parts

#: Options after which what comes out is no object: the pass shows there what it does.
_READABLE = frozenset(["-S", "-E", "-M", "-MM", "-fsyntax-only", "--analyze", "-fno-lto"])
#: Options after which nothing is linked.
_NO_LINK = frozenset(["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--analyze", "-r"])
#: The compile-time choices; every other key describes the device.
_COMPILED_IN = frozenset(("frame", "slots", "lookaside", "guards", "statics"))
#: Options after which no code is made.
_NO_CODE = frozenset(["-E", "-M", "-MM", "-fsyntax-only", "--analyze"])


@dataclass
class Plan:
    """A command to run, and the choices taken out of it."""

    command: list[str]
    explains: bool = False
    choices: dict[str, str] = field(default_factory=dict)
    #: What the compiler or the linker said, put into words.
    explain: Callable[[str], str] = link_errors.explain


def plan(
    arguments: Sequence[str],
    environment: str = "",
    layout_of: Callable[[str], tagged.Placement] | None = None,
) -> Plan:
    """Read a command line; `environment` holds KEY=VALUE words, overridden by --nw-KEY=VALUE.

    `layout_of` reads the file given by --layout.
    """
    arguments, records, layouts = _tagged_words(arguments)
    if records or layouts:
        if records and layouts:
            raise InputError("--trace records what --layout needs: give one of them")
        if len(layouts) > 1:
            raise InputError(f"--layout: one layout, not {len(layouts)}")
        layout = layout_of(layouts[0]) if layouts and layout_of is not None else None
        return _tagged_plan(arguments, environment, layout)
    choices = dict(_choice(word, "NANDWICH_CC") for word in environment.split())
    plain, separate, profile = _our_words(arguments, choices)
    plain, words = toolchain.pass_words(plain)
    files = inputs(plain)
    if not files:
        return Plan([toolchain.CLANG, *plain])
    toolchain.refuse_flags(plain)
    outputs.refuse_over([*files, *([profile] if profile else [])], plain)
    for name in files:
        toolchain.refuse_language(name)
    if "-shared" in plain:
        raise InputError(
            "-shared: a program in virtual memory is linked in one piece at fixed addresses; "
            "build a static library instead"
        )
    if "-r" in plain:
        _refuse_bitcode(files)
    _check(choices)
    links = not _NO_LINK.intersection(plain)
    guest = toolchain.Guest(
        frame_bytes=_number(choices, "frame", 512),
        slots=_number(choices, "slots", 16),
        lookaside=_number(choices, "lookaside", 64),
        guards=choices.get("guards", "inline"),
        whole=not separate and not _READABLE.intersection(plain),
        statics_bytes=0 if _NO_CODE.intersection(plain) else _statics(choices),
        profile=profile,
        words=words,
    )
    command = [toolchain.CLANG, *plain]
    if "-r" not in plain:
        command += toolchain.compile_flags(guest)
    if links:
        device = _device(choices)
        command += ["-x", "none"]  # whatever language the user's own files were declared to be
        command += [*_defaults_object(device), *toolchain.wrap_flags(virtual=True)]
        command += toolchain.link_flags(guest, flags=plain)
    return Plan(command, explains=links, choices=choices)


def _our_words(arguments: Sequence[str], choices: dict[str, str]) -> tuple[list[str], bool, str]:
    """The arguments that are clang's, whether --separate was there, the --profile; more choices."""
    plain = []
    separate = False
    profile = ""
    pending = iter(arguments)
    for argument in pending:
        if argument == "--profile" or argument.startswith("--profile="):
            _, equals, profile = argument.partition("=")
            profile = profile if equals else next(pending, "")
            if not profile:
                raise InputError("--profile wants a FILE; `nandwich run --profile FILE` makes one")
            profiles.check(Path(profile))
        elif argument == "--separate":
            separate = True
        elif argument.startswith("--nw-"):
            key, value = _choice(argument.removeprefix("--nw-"), "nandwich cc")
            choices[key] = value
        else:
            plain.append(argument)
    if profile and separate:
        raise InputError(profiles.NOT_SEPARATE)
    return plain, separate, profile


def _refuse_bitcode(names: Sequence[str]) -> None:
    """InputError for an object without code, of which a linker would make some without guards."""
    for name in names:
        with contextlib.suppress(OSError), open(name, "rb") as source:  # noqa: PTH123 - as typed
            if source.read(4) == b"BC\xc0\xde":
                raise InputError(
                    f"-r: {name} gets its guards at the link of the program; put it into an "
                    "archive, or compile it with --separate"
                )


def _tagged_words(arguments: Sequence[str]) -> tuple[list[str], bool, list[str]]:
    """The arguments without --trace and --layout, and what these say."""
    rest, layouts = [], []
    records = waits = False
    for argument in arguments:
        if waits:
            layouts.append(argument)
            waits = False
        elif argument == "--layout":
            waits = True
        elif argument.startswith("--layout="):
            layouts.append(argument.removeprefix("--layout="))
        elif argument == "--trace":
            records = True
        else:
            rest.append(argument)
    if waits:
        raise InputError("--layout: which file?")
    return rest, records, layouts


def _tagged_plan(
    arguments: Sequence[str], environment: str, layout: tagged.Placement | None
) -> Plan:
    """A command in tagged mode; no layout: a program that records."""
    words = [f"--nw-{word}" for word in environment.split()]
    words = [word for word in words if layout is not None and word.startswith("--nw-frames=")]
    frames: int | None = None
    plain = []
    for argument in [*words, *arguments]:
        if not argument.startswith("--nw-"):
            plain.append(argument)
            continue
        key, value = _choice(argument.removeprefix("--nw-"), "nandwich cc")
        if key != "frames" or layout is None:
            raise InputError(f"--nw-{key}: of tagged variables only --nw-frames=N, with --layout")
        frames = _number({key: value}, key, 0)
        if not 1 <= frames <= tagged.MOST_PAGES:
            raise InputError(f"--nw-frames={value}: 1 to {tagged.MOST_PAGES} pages in RAM")
    files = inputs(plain)
    if not files:
        return Plan([toolchain.CLANG, *plain])
    outputs.refuse_over(files + ([layout.path] if layout is not None else []), plain)
    for name in files:
        toolchain.refuse_language(name)
    if "-shared" in plain:
        raise InputError("-shared: tagged variables belong to a program; build a static library")
    if layout is not None:
        tagged.check(layout)
    links = not _NO_LINK.intersection(plain)
    command = [toolchain.CLANG, *plain, *tagged.compile_flags(layout)]
    if links:
        command += ["-x", "none", *tagged.link_flags(layout, frames)]
    return Plan(command, explains=True, explain=lambda text: tagged.explain(text, layout))


def inputs(arguments: Sequence[str]) -> list[str]:
    """The input files among clang's arguments ('-' is one)."""
    found = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in toolchain.TAKES_VALUE:
            skip = True
        elif argument == "-" or not argument.startswith("-"):
            found.append(argument)
    return found


def execute(todo: Plan) -> int:
    """Run the command; its exit status. Errors about guards and tagged variables are explained."""
    try:
        if not todo.explains:
            return subprocess.run(todo.command, check=False).returncode
        done = subprocess.run(
            todo.command, stderr=subprocess.PIPE, text=True, errors="surrogateescape", check=False
        )
    except FileNotFoundError as error:
        raise InputError(f"{todo.command[0]} is not there; `nandwich doctor` says more") from error
    sys.stderr.write(todo.explain(done.stderr))
    return done.returncode


def _choice(word: str, place: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not key:
        raise InputError(f"{place}: '{word}': write KEY=VALUE, say frame=256")
    return key, value


def _device(choices: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in choices.items() if key not in _COMPILED_IN}


def _check(choices: dict[str, str]) -> None:
    """Refuse keys and values no program would take; what fits together is known when it starts."""
    device = _device(choices)
    if not device:
        return
    if "chip" in device and "part.name" not in device:
        parts.resolve(device["chip"])
    lines = [f"{key}={value}" for key, value in device.items()]
    try:
        _native.host_check("\n".join([*lines, "image="]), 512, 16)
    except ValueError as error:
        told = config.without_place(str(error))
        if told != str(error):
            raise InputError(f"nandwich cc: {told}") from error


def _number(choices: dict[str, str], key: str, default: int) -> int:
    text = choices.get(key)
    if text is None:
        return default
    if not text.isdecimal():
        raise InputError(f"{key}={text}: not a number")
    return int(text)


def _statics(choices: dict[str, str]) -> int:
    try:
        return quantities.parse(choices.get("statics", "0"), "size", bare=True)
    except ValueError as error:
        raise InputError(f"statics: {error}") from error


def _defaults_object(device: dict[str, str]) -> list[str]:
    """An object file that carries the device chosen at build time; none when nothing was chosen."""
    if not device:
        return []
    words = "\\n".join(f"{key}={value}" for key, value in sorted(device.items()))
    if '"' in words:
        raise InputError('a device key or value must not hold "')
    source = f'extern const char nw_host_defaults[];\nconst char nw_host_defaults[] = "{words}";\n'
    kept = paths.cache_dir() / "defaults"
    kept.mkdir(parents=True, exist_ok=True)
    target = kept / (hashlib.sha256(os.fsencode(source)).hexdigest()[:32] + ".o")
    if not target.exists():
        handle, partial = tempfile.mkstemp(dir=kept, suffix=".partial")
        os.close(handle)
        command = [toolchain.CLANG, "-c", "-x", "c", "-", "-o", partial]
        subprocess.run(command, input=os.fsencode(source), check=True)
        Path(partial).replace(target)
    return [str(target)]
