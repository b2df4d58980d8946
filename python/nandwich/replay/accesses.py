# SPDX-License-Identifier: Apache-2.0
"""Recorded accesses of a program as a source of requests: what a paging policy reads and writes.

The source is `access:FILE,frame=SIZE,ram=SIZE[,policy=NAME]`; FILE is what `nandwich run
--record-accesses` wrote.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nandwich import _native, names, quantities
from nandwich.errors import InputError

PREFIX = "access:"
KEYS = ("frame", "ram", "policy")
_MAGIC = b"NWACCESS"
POLICIES = {name: ways for name, _, ways in _native.paging_policies()}
_POLICY = "vm"
_FRAME_LEAST, _FRAME_MOST = 16, 32768  # what core/vm takes
_MOST_FRAMES = 1 << 24
_READ_COST, _WRITE_COST = 36, 163  # what `belady-cost` weighs: those of `nandwich vmtrace`
_STEP = 1 << 20  # accesses
_LIST = "nandwich vmtrace --policies"


@dataclass(frozen=True)
class Paging:
    """A trace, and the memory that its program is given."""

    path: str
    frame: int  # bytes
    frames: int
    policy: str

    @property
    def ram_bytes(self) -> int:
        """Of its page frames."""
        return self.frame * self.frames


def is_asked(source: str) -> bool:
    """Whether a source is an access trace with a memory."""
    return source.startswith(PREFIX)


def path_of(source: str) -> str:
    """The file of such a source; it may have commas in its name, but no `,WORD=`."""
    return re.split(r",[^,=]*=", source.removeprefix(PREFIX), maxsplit=1)[0]


def is_trace(path: str) -> bool:
    """Whether a file is a recording of accesses, by its first bytes."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


def figures_of(source: str) -> dict[str, str]:
    """The memory that such a source names, by KEYS, or a part of it; InputError."""
    figures: dict[str, str] = {}
    for pair in source.removeprefix(PREFIX + path_of(source)).split(",")[1:]:
        key, _, value = pair.partition("=")
        if key not in KEYS:
            raise names.unknown("key of an access source", key, KEYS)
        if key in figures:
            raise InputError(f"{source}: {key} is there twice")
        figures[key] = value
    return figures


def source_of(path: str, figures: Mapping[str, Any]) -> str:
    """The source that plays a file with the memory of `figures`, by KEYS."""
    return ",".join((PREFIX + path, *(f"{key}={figures[key]}" for key in KEYS if key in figures)))


def _size(source: str, figures: dict[str, str], key: str) -> int:
    if key not in figures:
        raise InputError(
            f"{source}: how large is the {key}? Add ,{key}=SIZE, say ,frame=2K,ram=16K"
        )
    try:
        return quantities.parse(figures[key], "size", bare=True)
    except ValueError as error:
        raise InputError(f"{source}: {key}={figures[key]}: {error}") from error


def _check(source: str, frame: int, ram: int, policy: str) -> None:
    told = quantities.format_size
    if frame & (frame - 1) or not _FRAME_LEAST <= frame <= _FRAME_MOST:
        least, most = told(_FRAME_LEAST), told(_FRAME_MOST)
        raise InputError(f"{source}: frame={frame}: take a power of two from {least} to {most}")
    if ram < frame:
        raise InputError(f"{source}: ram={ram} is less than a frame of {frame} B; take more")
    if ram % frame:
        raise InputError(f"{source}: ram={ram}: take a multiple of a frame of {frame} B")
    if ram // frame > _MOST_FRAMES:
        most = told(_MOST_FRAMES * frame)
        raise InputError(f"{source}: ram={ram}: with frames of {frame} B {most} at most")
    if policy not in POLICIES:
        raise names.unknown("policy", policy, POLICIES, list_with=_LIST)
    ways = POLICIES[policy]
    if ways and ram // frame % ways:
        raise InputError(
            f"{source}: {policy} takes whole sets of {ways} frames: ram is a multiple of "
            f"{told(ways * frame)}"
        )


def parse(source: str) -> Paging:
    """What `access:FILE,KEY=VALUE...` asks for; InputError."""
    figures = figures_of(source)
    frame, ram = (_size(source, figures, key) for key in ("frame", "ram"))
    policy = figures.get("policy", _POLICY)
    _check(source, frame, ram, policy)
    return Paging(path_of(source), frame, ram // frame, policy)


def begin(paging: Paging) -> _native.AccessTrace:
    """The trace, nothing read of it but its head; InputError."""
    try:
        return _native.AccessTrace(paging.path)
    except ValueError as error:
        hint = ""
        if "not an access trace" in str(error):
            hint = f"; `nandwich run --record-accesses {Path(paging.path).name}` writes one"
        raise InputError(f"{error}{hint}") from error


def traffic(source: str, advance: Callable[[int], None] | None = None) -> _native.PageTraffic:
    """The requests of `access:FILE,KEY=VALUE...`; InputError.

    RAM: 4 bytes a reference until the policy has ended, then 4 bytes a request.
    """
    paging = parse(source)
    trace = begin(paging)
    refs = _native.Refs(paging.frame)
    try:
        while refs.load(trace, _STEP):
            if advance is not None:
                advance(_STEP)
    except ValueError as error:
        raise InputError(str(error)) from error
    if refs.accesses == 0:
        raise InputError(f"{paging.path}: no accesses in it; record the program again")
    return _native.PageTraffic(refs, paging.policy, paging.frames, _READ_COST, _WRITE_COST)


def as_json(source: str, made: _native.PageTraffic) -> dict[str, Any]:
    """What the requests were made of, as docs/schemas/replay-1.json has it."""
    paging = parse(source)
    return {
        "policy": paging.policy,
        "frame_bytes": paging.frame,
        "frames": paging.frames,
        "accesses": made.accesses,
        "references": made.references,
        "pages": made.pages,
        "faults": made.faults,
        "writebacks": made.writebacks,
        "cut": made.cut,
    }
