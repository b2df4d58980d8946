# SPDX-License-Identifier: Apache-2.0
"""The linker's messages about a program in virtual memory, put into words with what fits instead.

The pass leaves a reference `nw_instrumented.NAME` where a pointer that may be virtual goes to the
function NAME; a file it compiled defines that name for each of its own functions. So what the
linker misses tells which functions would follow such a pointer unguarded (compiler/markers.h).
"""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nandwich.compiler import toolchain

_UNDEFINED = re.compile(r"undefined symbol: (?P<name>.+)$")
_DUPLICATE = re.compile(r"duplicate symbol: (?P<name>\S+)")
_MARKER = "nw_instrumented."
_WRAPPER = "nw_libc_"
_STALE = re.compile(r"function control flow change detected \(hash mismatch\) (?P<name>\S+) ")
_NEW_PROFILE = "`nandwich run --profile FILE` makes a new one"
_OTHERS_PROFILE = re.compile(r"error: .*the profile is of another program")
#: clang's, behind the linker's own: nobody needs to see the linker's command.
_SUMMARY = re.compile(r"^clang-\d+: error: linker command failed with exit code 1 ")
_PLACE = re.compile(
    r"\(\.nw_from\.(?P<file>.*?)(?::(?P<line>\d+))?(?: in (?P<user>[^)+]*))?"
    r"(?:\+0x[0-9a-f]+)?\)"
)
_OBJECT = re.compile(r">>>\s+(?P<file>\S.*?):\(")
_DEFINED = re.compile(r">>> defined (?P<place>(at|in) \S+)")
_CXX = re.compile(r"operator (new|delete)|(typeinfo|vtable) for |std::|__cxa_|__gxx_personality_v0")
#: Where nothing is missing but what a program's own function hides: symbols of bitcode are resolved
#: before the pass gives the function its name in virtual memory.
_OUR_ARCHIVE = re.compile(r" in archive \S*/libnw_\w+\.a$")
#: What headers put before a name to ask for the one of a standard.
_SPELLING = re.compile(r"^__isoc\d\d_")
_SANITIZER = re.compile(r"__(?P<which>asan|hwasan|msan|tsan|ubsan)_")
_SANITIZERS = {
    "asan": "address", "hwasan": "hwaddress", "msan": "memory", "tsan": "thread", "ubsan": ""
}  # fmt: skip
#: What fits where the C library's function cannot be given virtual memory.
_INSTEAD = (
    (r"str(lcpy|lcat)", 'snprintf(to, size, "%s", from)'),
    (r"v?(f|s)?wprintf", "printf with %ls, or fputws()"),
    (r"v?(f|s)?wscanf", "fgetws(), then wcstol() and the like"),
    (r"send|sendto", "write() on a connected socket"),
    (r"recv|recvfrom", "read() on a connected socket"),
    (r".*_l", "uselocale() and the function without a locale"),
    (r"initstate(_r)?|setstate(_r)?|random_r|srandom_r", "srandom() and random(), or rand_r()"),
    (r"gets|gets_s", "fgets()"),
    (r"readdir(64)?_r", "readdir()"),
    (r"sigvec|sigset", "signal()"),
    (r"clone|pthread_.*|thrd_.*", "one thread: virtual memory has no others"),
)


@dataclass(frozen=True)
class _Message:
    """One of the linker's, with the lines `>>> ...` that belong to it."""

    line: str
    block: tuple[str, ...]

    @property
    def missing(self) -> str:
        """The symbol it misses, else nothing."""
        found = _UNDEFINED.search(self.line)
        return found["name"] if found else ""


def explain(text: str) -> str:
    """What linker (or compiler) said, with what concerns virtual memory put into words."""
    messages = list(_messages(text.splitlines()))
    nowhere = {message.missing for message in messages} - {""}
    told: list[str] = []
    seen: set[tuple[str, ...]] = {()}
    for message in messages:
        lines = tuple(_told(message, nowhere))
        if lines == ("",):
            told += lines if told and told[-1] else ()
        elif lines not in seen:  # a run time's many names make one sentence
            seen.add(lines)
            told += lines
    return "".join(line + "\n" for line in told)


def _messages(lines: list[str]) -> Iterator[_Message]:
    position = 0
    while position < len(lines):
        end = position + 1
        while end < len(lines) and lines[end].startswith(">>>"):
            end += 1
        yield _Message(lines[position], tuple(lines[position + 1 : end]))
        position = end


def _told(message: _Message, nowhere: set[str]) -> list[str]:
    name = message.missing
    if _SUMMARY.search(message.line):
        return []
    if _OTHERS_PROFILE.search(message.line):
        return [
            "error: the profile is of another program: it knows no function of this one as it is; "
            f"delete its file, and {_NEW_PROFILE}"
        ]
    stale = _STALE.search(message.line)
    if stale:
        function = stale["name"].rpartition(";")[2]
        return [
            f"warning: '{function}' has changed since the profile: built without its counts; "
            f"delete the profile's file, and {_NEW_PROFILE}"
        ]
    if name.startswith(_MARKER):
        callee = name.removeprefix(_MARKER)
        if callee in nowhere:
            return []  # told by the linker: nobody defines it at all
        places = [found for found in map(_PLACE.search, message.block) if found]
        told = [_uninstrumented(callee, place) for place in places]
        return told or [message.line, *message.block]
    if name.startswith(_WRAPPER):
        callee = name.removeprefix(_WRAPPER)
        return [message.line.replace(name, callee), *message.block]
    if name:
        return _missing(name, message)
    duplicate = _DUPLICATE.search(message.line)
    if duplicate:
        return [message.line, *message.block, _twice(duplicate["name"], message)]
    return [message.line, *message.block]


def _missing(name: str, message: _Message) -> list[str]:
    """A function or variable that no file and no library has."""
    users = [found["file"] for found in map(_OBJECT.search, message.block) if found]
    user = users[0] if users else "the program"
    if name.startswith("nw_tagged_"):
        return [
            f"{user}: error: compiled with --trace or --layout, for tagged variables; link it with "
            "the same option"
        ]
    sanitizer = _SANITIZER.match(name)
    if sanitizer:
        which = _SANITIZERS[sanitizer["which"]]
        reason = toolchain.SHADOWED.get(which, "its run time reads its own tables")
        return [
            f"{user}: error: compiled with -fsanitize={which or 'undefined'}, which does not work "
            f"in virtual memory: {reason}; compile it without"
        ]
    if _CXX.search(name):
        return [f"{user}: error: {toolchain.NO_CXX}"]
    if any(_OUR_ARCHIVE.search(line) for line in message.block):
        return [
            f"error: the program defines '{name}' itself, and the run time calls the C library's; "
            "compile the file that defines it with --separate"
        ]
    told = [message.line, *message.block]
    fits = _instead(name)
    if fits:
        told.append(f">>> instead of '{name}': {fits}")
    return told


def _twice(name: str, message: _Message) -> str:
    places = [found["place"] for found in map(_DEFINED.search, message.block) if found]
    where = " and ".join(places) or "at two places"
    return (
        f"error: '{name}' is defined {where}; keep one definition and write `extern` in front "
        "of the others. -fcommon, which would merge variables without a value, has no effect: in "
        "virtual memory each variable needs a place of its own"
    )


def _uninstrumented(callee: str, place: re.Match[str]) -> str:
    callee = _SPELLING.sub("", callee)
    where = place["file"] + (f":{place['line']}" if place["line"] else "")
    user = f"in '{place['user']}': " if place["user"] else ""
    start = f"{where}: error: {user}'{callee}' is given a pointer that may be virtual, and "
    if callee.startswith("_Z"):
        return f"{start}is compiled C++; {toolchain.NO_CXX}"
    if not _is_of_the_library(callee):
        return (
            f"{start}no file compiled by `nandwich cc` defines it; compile the file that does, or "
            f"declare '{callee}' NW_PLAIN (nandwich/guest.h) if it never follows such pointers"
        )
    fits = _instead(callee)
    return (
        f"{start}the C library's function is not wrapped for virtual memory; "
        + (f"use {fits}, or " if fits else "")
        + "give it a copy in a local variable, which is plain memory"
    )


def _instead(name: str) -> str:
    for pattern, fits in _INSTEAD:
        if re.fullmatch(pattern, name):
            return fits
    return ""


def _is_of_the_library(name: str) -> bool:
    return hasattr(ctypes.CDLL(None), name)
