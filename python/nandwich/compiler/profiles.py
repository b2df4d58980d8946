# SPDX-License-Identifier: Apache-2.0
"""Profiles: files of LLVM's that say how often each block of a program ran."""

from pathlib import Path

from nandwich.errors import InputError

#: Merges counts of runs into a profile, and profiles into one.
TOOL = "llvm-profdata-19"
_MERGED, _RAW = b"\xfflprofi\x81", b"\xfflprofr\x81"
#: In the eighth byte of the version, which follows: counted in bitcode, not by the front end.
_IN_BITCODE = 1
NOT_SEPARATE = (
    "--profile: leave --separate out; counts are read where a program is optimised as a whole"
)


def check(path: Path) -> None:
    """InputError for a file that is no profile."""
    try:
        with path.open("rb") as source:
            start, version = source.read(8), source.read(8)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if start in (_RAW, _RAW[::-1]):
        raise InputError(
            f"{path}: counts of one run; `{TOOL} merge {path} -o FILE` makes a profile"
        )
    if start not in (_MERGED, _MERGED[::-1]):
        raise InputError(f"{path}: no profile; `nandwich run --profile` makes one")
    if not version[7:] or version[7] & _IN_BITCODE == 0:
        raise InputError(
            f"{path}: a profile of -fprofile-instr-generate, whose counts do not fit bitcode; "
            "`nandwich run --profile` makes one that does"
        )
