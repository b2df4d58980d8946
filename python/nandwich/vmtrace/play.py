# SPDX-License-Identifier: Apache-2.0
"""Replacement policies on a recorded trace: which, with how many frames, and what came out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nandwich import _native, names, quantities
from nandwich.errors import InputError

POLICIES = {name: ways for name, _, ways in _native.paging_policies()}
_MOST_FRAMES = 1 << 24
_STEP = 1 << 20  # accesses


@dataclass(frozen=True)
class Cost:
    """Of reading and of writing a page, in any unit."""

    read: int = 36
    write: int = 163


@dataclass(frozen=True)
class Outcome:
    """A policy with one number of frames."""

    frame: int
    ram: int
    policy: str
    faults: int
    writebacks: int
    cost: float  # of the faults' reads and the victims' writes, in reads

    @property
    def frames(self) -> int:
        return self.ram // self.frame


@dataclass(frozen=True)
class Played:
    """A trace with frames of one size: all outcomes, and LRU's faults at every number of frames."""

    frame: int
    accesses: int
    references: int
    pages: int
    lru_faults: list[int]
    outcomes: list[Outcome]
    cut: str


def chosen_policies(text: str) -> list[str]:
    """The policies of a comma-separated list, or all."""
    if text == "all":
        return list(POLICIES)
    chosen = text.split(",")
    for name in chosen:
        if name not in POLICIES:
            raise names.unknown("policy", name, POLICIES, list_with="nandwich vmtrace --policies")
    return list(dict.fromkeys(chosen))


def sizes(text: str, option: str) -> list[int]:
    """Sizes of a comma-separated list; A..B stands for A, twice A, and so on up to B."""
    found: list[int] = []
    for word in text.split(","):
        first, dots, last = word.partition("..")
        try:
            low = quantities.parse(first, "size", bare=True)
            high = quantities.parse(last, "size", bare=True) if dots else low
        except ValueError as error:
            raise InputError(f"{option} {text}: {error}") from error
        if not 0 < low <= high:
            raise InputError(f"{option} {text}: '{word}' is empty")
        while low < high:
            found.append(low)
            low *= 2
        found.append(high)
    return sorted(set(found))


def check(frames: Sequence[int], rams: Sequence[int]) -> None:
    """InputError for sizes that make no frames."""
    for frame in frames:
        if frame >= 1 << 31:
            raise InputError(f"--frames {frame}: less than 2 GiB is allowed")
        for ram in rams:
            if ram % frame:
                raise InputError(f"--ram {ram} is not a multiple of a frame of {frame} B")
            if ram // frame > _MOST_FRAMES:
                raise InputError(f"--ram {ram}: {ram // frame} frames; {_MOST_FRAMES} at most")


def play(
    trace: _native.AccessTrace, frame: int, rams: Sequence[int], policies: Sequence[str], cost: Cost
) -> Played:
    """Reads the trace once and plays every policy with every amount of RAM."""
    refs = _native.Refs(frame)
    trace.rewind()
    while refs.load(trace, _STEP):
        pass
    cut = trace.cut
    curve, written = refs.lru_curve(rams[-1] // frame)
    outcomes = []
    for policy in policies:
        for ram in rams:
            frames = ram // frame
            if POLICIES[policy] and frames % POLICIES[policy]:
                continue
            if policy == "lru":
                faults, writebacks = curve[frames - 1], written[frames - 1]
            else:
                faults, writebacks = refs.run(policy, frames, cost.read, cost.write)
            reads = (faults * cost.read + writebacks * cost.write) / max(cost.read, 1)
            outcomes.append(Outcome(frame, ram, policy, faults, writebacks, round(reads, 1)))
    return Played(frame, refs.accesses, refs.references, refs.pages, curve, outcomes, cut)


def rows(played: Played, what: str, rams: Sequence[int]) -> list[list[Any]]:
    """A line a policy, a column an amount of RAM; '-' where the policy takes no such number."""
    found = {(one.policy, one.ram): getattr(one, what) for one in played.outcomes}
    policies = dict.fromkeys(one.policy for one in played.outcomes)
    return [[policy, *(found.get((policy, ram), "-") for ram in rams)] for policy in policies]


def as_json(played: Played) -> dict[str, Any]:
    """As docs/schemas/vmtrace-1.json has it."""
    return {
        "frame_bytes": played.frame,
        "references": played.references,
        "pages": played.pages,
        "lru_faults": played.lru_faults,
        "results": [
            {
                "policy": one.policy,
                "ram_bytes": one.ram,
                "frames": one.frames,
                "faults": one.faults,
                "writebacks": one.writebacks,
                "cost_reads": one.cost,
            }
            for one in played.outcomes
        ],
    }
