# SPDX-License-Identifier: Apache-2.0
"""Deadline workloads: what a scenario is, how the scheduler does on it, and the best possible."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from nandwich import _native
from nandwich.errors import InputError
from nandwich.sched import cpu as sched_cpu
from nandwich.twin import parts, timelines

MS = 10**6

#: The published policies in the paper's order, then ours.
PUBLISHED = ("fifo", "edf", "g-edf", "rg-edf")
POLICIES = (*PUBLISHED, "slack")

#: What counts of a flow the simulator gives.
COUNTS = ("offered", "met", "late", "dropped", "failed", "full", "refused", "past")


@dataclass(frozen=True)
class Flow:
    """One source of requests; times in ns, sizes in bytes."""

    name: str
    deadline_ns: int
    period_ns: int = 0
    jitter_ns: int = 0
    phase_ns: int | None = None  # None: anywhere in the first period, by the seed
    size: int = 64
    burst_every: int = 0
    burst_size: int = 1
    reads: bool = False

    def native(self) -> tuple[int, int, int, int, int, int, int, bool]:
        """As the binding takes it."""
        phase = -1 if self.phase_ns is None else self.phase_ns
        return (
            self.period_ns,
            self.jitter_ns,
            phase,
            self.deadline_ns,
            self.size,
            self.burst_every,
            self.burst_size,
            self.reads,
        )


@dataclass(frozen=True)
class Scenario:
    """A workload and the node it runs on."""

    flows: tuple[Flow, ...]
    duration_ns: int = 10_000 * MS
    recording: tuple[tuple[int, int], ...] = ()  # time in ns and flow, instead of periods
    device: str = "SANDISK-SD-128M"
    blocks: int = 256  # erase blocks used of a chip under the model `page`; cards are whole
    processor: str = "cc1010"
    filled: bool = False  # a write fetches what its group holds, not a whole sector
    slots: int = 24
    limit: int = 0
    stubs: int = 0  # of the slots, those in which arrivals wait for a decision; 0: any
    guard_ns: int = 2 * MS  # of SLACK
    buffer_ns: int = 0  # of RG-EDF
    drop_late: bool = True
    split: bool = False
    save: bool = True
    preopen: bool = True
    learn: bool = True

    def flags(self) -> int:
        """NW_SCHED_... of the core; SAVE and PREOPEN mean something to `slack` only."""
        chosen = (
            (self.drop_late, _native.SCHED_DROP_LATE),
            (self.split, _native.SCHED_SPLIT),
            (self.save, _native.SCHED_SAVE),
            (self.preopen, _native.SCHED_PREOPEN),
            (self.learn, _native.SCHED_LEARN),
        )
        flags = _native.SCHED_WRAP
        for wanted, flag in chosen:
            flags |= flag if wanted else 0
        return int(flags)


@dataclass(frozen=True)
class Outcome:
    """Sums over the runs of one policy, or of the bound (which has requests and met only)."""

    policy: str
    runs: int
    counts: dict[str, int]
    flows: tuple[dict[str, int], ...] = ()
    operations: int = 0
    openings: int = 0
    cpu_ns: int = 0
    busy_ns: int = 0
    time_ns: int = 0
    energy_pj: int = 0
    response_us_sum: int = 0
    response_us_max: int = 0

    @property
    def share(self) -> float:
        """Requests that met their deadline, in percent of those offered."""
        return 100.0 * self.counts["met"] / max(1, self.counts["offered"])

    @property
    def written(self) -> int:
        """Requests that reached the device, in time or not."""
        return self.counts["met"] + self.counts["late"]

    @property
    def response_ms(self) -> float:
        """Mean time from issue to flash of those."""
        return self.response_us_sum / 1000 / max(1, self.written)


def paper_scenario(
    *,
    periods_ms: Sequence[float] = (40, 40, 40),
    size: int = 64,
    deadline_ms: float = 70,
    bursty: bool = False,
    drop_late: bool = True,
) -> Scenario:
    """The experiment of Dou and Kalogeraki: flows of small records on an SD card.

    As the document has it: all flows fire at the same time; a write takes 9 ms and up to 4 more by
    the bytes fetched; deciding takes no time of its own; RG-EDF keeps the time of one write as its
    buffer. Bursty: every tenth firing of the first flow hands in five requests. The document gives
    no length of the queue: 24 requests of 64 B with 16 B each to keep them fill the 2,024 B of its
    external RAM.
    """
    flows = tuple(
        Flow(
            name=f"flow{number}",
            period_ns=round(period * MS),
            phase_ns=0,
            deadline_ns=round(deadline_ms * MS),
            size=size,
            burst_every=10 if bursty and number == 1 else 0,
            burst_size=5,
        )
        for number, period in enumerate(periods_ms, start=1)
    )
    return Scenario(
        flows=flows,
        drop_late=drop_late,
        processor="none",
        filled=True,
        learn=False,
        buffer_ns=13 * MS,
    )


def node_scenario(
    *,
    periods_ms: Sequence[float] = (40, 40, 40),
    size: int = 64,
    deadline_ms: float = 70,
    bursty: bool = False,
    drop_late: bool = True,
) -> Scenario:
    """The same flows on a node as it would be built: each fires at a time and with a jitter of its
    own, each write fetches a whole sector, and deciding takes the clocks measured on the 8051."""
    as_published = paper_scenario(
        periods_ms=periods_ms,
        size=size,
        deadline_ms=deadline_ms,
        bursty=bursty,
        drop_late=drop_late,
    )
    flows = tuple(
        replace(flow, phase_ns=None, jitter_ns=min(2 * MS, flow.period_ns))
        for flow in as_published.flows
    )
    return Scenario(flows=flows, drop_late=drop_late)


@cache
def device_facts(device: str, blocks: int, filled: bool = False) -> dict[str, Any]:
    """Sector size, unit and times of a part; InputError when the scheduler cannot use it."""
    if device not in parts.known_names():
        raise parts.unknown(device)
    try:
        return dict(_native.sched_device(device, blocks, filled))
    except RuntimeError as error:
        raise InputError(
            f"device: {error}; take an SD card or a NAND part of `nandwich chips`"
        ) from error


def run(
    scenario: Scenario,
    policy: str,
    *,
    runs: int = 1,
    seed: int = 1,
    line: _native.Timeline | None = None,
) -> Outcome:
    """Run a policy `runs` times with seeds from `seed` on, and sum up; `line` sees the first."""
    results = [
        _run_once(scenario, policy, seed + number, line=None if number else line)
        for number in range(runs)
    ]
    total = [result["total"] for result in results]
    flows = zip(*(result["flows"] for result in results), strict=True)
    return Outcome(
        policy=policy,
        runs=runs,
        counts=_sum_counts(total),
        flows=tuple(_sum_counts(list(parts)) for parts in flows),
        operations=sum(result["operations"] for result in results),
        openings=sum(result["openings"] for result in results),
        cpu_ns=sum(result["cpu_ns"] for result in results),
        busy_ns=sum(result["busy_ns"] for result in results),
        time_ns=sum(result["end_ns"] for result in results),
        energy_pj=sum(result["energy_pj"] for result in results),
        response_us_sum=sum(part["response_us_sum"] for part in total),
        response_us_max=max(part["response_us_max"] for part in total),
    )


def _sum_counts(parts: Sequence[dict[str, int]]) -> dict[str, int]:
    return {name: sum(part[name] for part in parts) for name in COUNTS}


def save_timeline(line: _native.Timeline, path: Path, scenario: Scenario, policy: str) -> str:
    """The trace of a run; what it holds, in lines."""
    names = [flow.name for flow in scenario.flows]
    title = f"{policy}, {len(names)} flow{'s' if len(names) > 1 else ''}"
    return timelines.save(line, path, title, f"device {scenario.device}", names)


def _run_once(
    scenario: Scenario,
    policy: str,
    seed: int,
    log: int = 0,
    line: _native.Timeline | None = None,
) -> dict[str, Any]:
    device_facts(scenario.device, scenario.blocks, scenario.filled)
    return _native.sched_run(
        flows=[flow.native() for flow in scenario.flows],
        recording=list(scenario.recording),
        duration_ns=scenario.duration_ns,
        part=scenario.device,
        blocks=scenario.blocks,
        filled=scenario.filled,
        policy=policy,
        flags=scenario.flags(),
        slots=scenario.slots,
        limit=scenario.limit,
        stubs=scenario.stubs,
        guard_us=(scenario.buffer_ns if policy == "rg-edf" else scenario.guard_ns) // 1000,
        clock_us=0,
        cpu=sched_cpu.costs_ns(scenario.processor, policy),
        seed=seed,
        log=log,
        timeline=line,
    )


def events(scenario: Scenario, policy: str, *, seed: int = 1, room: int) -> dict[str, Any]:
    """One run with its log: the result's `events` are (time, flow, sequence, verdict, sector)."""
    return _run_once(scenario, policy, seed, room)


#: The bound's step of time is at least this part of a run, so that it stays quick.
_STEPS = 500_000


def _grid_ns(scenario: Scenario, facts: dict[str, Any]) -> int:
    """A step of time: thirteen to the shortest operation in use, where that is not too fine."""
    kinds = {"read_ns" if flow.reads else "write_ns" for flow in scenario.flows}
    shortest = min(int(facts[kind]) for kind in kinds)
    longest = scenario.duration_ns + max(flow.deadline_ns for flow in scenario.flows)
    return max(1000, longest // _STEPS, min(MS, shortest // 13))


def bound(scenario: Scenario, *, runs: int = 1, seed: int = 1) -> Outcome:
    """The relaxed bound over the same arrivals as `run` (see sched_bound.h for what is relaxed)."""
    facts = device_facts(scenario.device, scenario.blocks, scenario.filled)
    offered = met = 0
    for number in range(runs):
        result = _native.sched_bound(
            flows=[flow.native() for flow in scenario.flows],
            recording=list(scenario.recording),
            duration_ns=scenario.duration_ns,
            seed=seed + number,
            sector_bytes=facts["sector_bytes"],
            write_ns=facts["write_ns"],
            read_ns=facts["read_ns"],
            grid_ns=_grid_ns(scenario, facts),
            clock_ns=1000,
        )
        offered += result["requests"]
        met += result["met"]
    counts = dict.fromkeys(COUNTS, 0) | {"offered": offered, "met": met}
    return Outcome(policy="bound", runs=runs, counts=counts)
