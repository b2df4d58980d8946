# SPDX-License-Identifier: Apache-2.0
"""What a linker misses on a board, put into words: a function that its C library does not have, or
has but cannot do there. All else stays as `nandwich cc` tells it."""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lab.device.boards import Board
from nandwich.compiler import link_errors

#: A message of lld with its lines of places, and one of GNU's linker with the line above it.
_LLD = re.compile(
    r"^ld\.lld: error: undefined symbol: (?P<name>\S+)\n(?P<places>(?:^>>> .*\n?)*)\n?",
    re.MULTILINE,
)
_GNU = re.compile(
    r"^(?:\S+: In function .*:\n)?(?P<places>\S+): undefined reference to .(?P<name>\S+).\n?",
    re.MULTILINE,
)
_AT = re.compile(r">>> referenced by (\S+)")
_END = re.compile(
    r"^(clang-19: error: (ld\.lld|linker) command failed|collect2: error:).*\n?", re.M
)
_ALONE = "the program is alone on the board"
#: A constant that avr-libc has the program define.
_CLOCK = "CLOCKS_PER_SEC"
#: What is said of a function whose counts do not fit, and what it may come from here: headers of
#: another C library make another function of the same source, of each that has an assert().
_STALE = "has changed since the profile:"
_STALE_HERE = "has changed since the profile, or that is of another processor:"
#: What there is instead, by the function's name.
_INSTEAD = (
    (r"fork|vfork|exec.*|wait.*|system|popen|pipe|posix_spawn.*|link|kill", _ALONE),
    (r"times|getrusage|clock_get.*|timespec_get", "clock() tells the board's own time"),
    (r"sleep|usleep|nanosleep|pause|alarm", "nothing else runs meanwhile; clock() tells the time"),
    (r"open|openat|creat|p?readv?|p?writev?|close|lseek|fcntl|dup2?|ioctl",
     "fopen(), fread(), fwrite() and fputs() reach the host's files, stdout and stderr"),
    (r"[fl]?stat|access|opendir|readdir|mkdir|rmdir|chdir|getcwd|glob|realpath",
     "fopen() answers NULL for a file that is not there; give names as arguments"),
)  # fmt: skip
#: The same on a processor whose library is small.
_SMALL = (
    (r"v?f?scanf|fgets|getline|fopen|fread|getchar|fgetc|rename|remove|tmpfile|tmpnam",
     "it has no files and no stdin; give arguments, and read them with strtoul()"),
    (r"v?sscanf", "its library is small; read numbers with strtoul()"),
    (r"open|creat|read|write|close|lseek", "printf(), puts() and fputs() reach stdout and stderr"),
    (r"time|clock|gettimeofday|strftime|CLOCKS_PER_SEC",
     "it has no clock; the report tells the cycles"),
)  # fmt: skip


@dataclass(frozen=True)
class _Absent:
    """A function that is not there, and what is."""

    place: str
    name: str
    instead: str


def explain(board: Board, text: str) -> str:
    """What compiler and linker said of a program for the board."""
    found = list(_absent(board, text))
    if not found:
        return link_errors.explain(text).replace(_STALE, _STALE_HERE)

    def keep(match: re.Match[str]) -> str:
        return "" if _function(match) and _is_of_a_library(_function(match)) else match[0]

    rest = _GNU.sub(keep, _LLD.sub(keep, text))
    if not _LLD.search(rest) and not _GNU.search(rest):
        rest = _END.sub("", rest)
    told = dict.fromkeys(_sentence(board, one) for one in found)
    return "".join(f"{line}\n" for line in told) + link_errors.explain(rest.lstrip("\n"))


def _function(match: re.Match[str]) -> str:
    """The function as the program calls it; small C libraries put a _ before what they ask for."""
    return match["name"].removeprefix("nw_libc_").strip("_")


def _is_of_a_library(name: str) -> bool:
    return (
        name == _CLOCK
        or hasattr(ctypes.CDLL(None), name)
        or hasattr(ctypes.CDLL("libm.so.6"), name)
    )


def _absent(board: Board, text: str) -> Iterator[_Absent]:
    for pattern in (_LLD, _GNU):
        for match in pattern.finditer(text):
            name = _function(match)
            if name and _is_of_a_library(name):
                yield _Absent(_place(match["places"]), name, _instead(board, name))


def _place(places: str) -> str:
    """Where the program calls it; "" where the C library does."""
    if ".a\n" in places or places.endswith(".a") or "lib_a-" in places:
        return ""
    found = _AT.search(places)
    return found[1] if found else places.strip()


def _instead(board: Board, name: str) -> str:
    for pattern, there in (_SMALL if board.is_small else ()) + _INSTEAD:
        if re.fullmatch(pattern, name):
            return there
    if board.is_small:
        return "its library is small: docs/run-target.md lists what is there"
    return "neither its C library nor the board has it"


def _sentence(board: Board, one: _Absent) -> str:
    place = f"{one.place}: " if one.place else ""
    called = one.name if one.name == _CLOCK else f"{one.name}()"
    return f"{place}error: {called} is not there on {board.name}: {one.instead}"
