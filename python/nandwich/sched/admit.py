# SPDX-License-Identifier: Apache-2.0
"""May all flows of a scenario join: the core's admission test, with the node's processor in it."""

from dataclasses import dataclass
from typing import Any

from nandwich import _native
from nandwich.errors import InputError
from nandwich.sched import cpu
from nandwich.sched.play import Flow, Scenario, device_facts

#: Which question is asked for a policy. Nothing is promised about the others.
_ORDERS = {
    "edf": _native.SCHED_SINGLES,
    "g-edf": _native.SCHED_GROUPS,
    "rg-edf": _native.SCHED_PASSING,
    "slack": _native.SCHED_PASSING,
}

#: What the core takes, in microseconds.
_OPERATION_US = 1 << 20
_FAR_US = 1 << 30


@dataclass(frozen=True)
class Interrupts:
    """What requests cost the processor when they come, whoever is being served."""

    share: float  # of its time
    at_once_us: int  # when all flows fire together, those with jitter twice


def admit(scenario: Scenario, policy: str = "g-edf") -> dict[str, Any]:
    """The answer and its arithmetic, in microseconds; InputError when it cannot be asked.

    Interrupts take a share of all time, which makes operations longer by as much, and once the time
    of all flows firing together, which is taken off the deadlines.
    """
    facts = device_facts(scenario.device, scenario.blocks)
    if policy not in _ORDERS:
        raise InputError(
            f"nothing is promised about {policy}; ask with one of {', '.join(_ORDERS)}"
        )
    if facts["longest_write_ns"] == 0:
        raise InputError(
            f"{scenario.device}: its longest write is not known, for its layer cleans and erases "
            "in between; take an SD card"
        )
    for flow in scenario.flows:
        _check(scenario, flow, facts["sector_bytes"])
    interrupts = _interrupts(scenario, policy)
    longest = [
        _ticks(facts[f"longest_{kind}_ns"], scenario, policy, facts, interrupts)
        for kind in ("write", "open", "read")
    ]
    loads = [
        (
            min(_FAR_US, max(1, flow.period_ns // 1000)),
            min(_FAR_US, -(-flow.jitter_ns // 1000)),
            max(1, flow.deadline_ns // 1000 - interrupts.at_once_us),
            flow.size,
            _burst(flow),
            flow.reads,
        )
        for flow in scenario.flows
    ]
    guard_ns = scenario.buffer_ns if policy == "rg-edf" else scenario.guard_ns
    answer = dict(
        _native.sched_admit(
            loads=loads,
            sector_bytes=facts["sector_bytes"],
            unit=facts["unit"],
            write_ticks=longest[0],
            open_ticks=longest[1],
            read_ticks=longest[2],
            order=_ORDERS[policy],
            flags=_native.SCHED_SPLIT,
            guard_ticks=max(0, guard_ns // 1000 - interrupts.at_once_us),
        )
    )
    answer["wait_ticks"] = min(_FAR_US, answer["wait_ticks"] + interrupts.at_once_us)
    return answer


def lacks(scenario: Scenario, policy: str, needed: int) -> list[str]:
    """What a yes takes for granted and the scenario does not give, in sentences."""
    told = []
    if policy == "slack":
        needed *= 2
    if needed > scenario.slots:
        told.append(f"{needed} slots are needed, the scenario has {scenario.slots}")
    for flow in scenario.flows if scenario.limit else ():
        sector_bytes = device_facts(scenario.device, scenario.blocks)["sector_bytes"]
        waiting = _waiting(flow) * -(-flow.size // sector_bytes)
        if waiting > scenario.limit:
            told.append(
                f"flow {flow.name} may have {waiting} waiting, the limit is {scenario.limit}"
            )
    return told


def _burst(flow: Flow) -> int:
    return flow.burst_size if flow.burst_every else 1


def _waiting(flow: Flow) -> int:
    """Requests that may wait at once while none is late."""
    return ((flow.deadline_ns + flow.jitter_ns) // flow.period_ns + 1) * _burst(flow)


def _check(scenario: Scenario, flow: Flow, sector_bytes: int) -> None:
    if flow.period_ns == 0:
        raise InputError(f"flow {flow.name} has no period: nothing is promised about it")
    if flow.size > sector_bytes and not scenario.split:
        raise InputError(
            f"flow {flow.name}: requests of {flow.size} B are refused, a sector has "
            f"{sector_bytes} B; 'split = true' would split them"
        )
    pieces = -(-flow.size // sector_bytes)
    if pieces > scenario.slots:
        raise InputError(
            f"flow {flow.name}: a request of {flow.size} B takes {pieces} slots, there are "
            f"{scenario.slots}"
        )


def _interrupts(scenario: Scenario, policy: str) -> Interrupts:
    submit, _, _, _, arrival, _, _ = cpu.costs_ns(scenario.processor, policy)
    share = 0.0
    at_once_ns = 0
    sector_bytes = device_facts(scenario.device, scenario.blocks)["sector_bytes"]
    for flow in scenario.flows:
        pieces = -(-flow.size // sector_bytes)
        firing_ns = (submit + arrival * pieces) * _burst(flow)
        # In any time t a flow fires t / period + jitter / period + 1 times at most.
        share += firing_ns / flow.period_ns
        at_once_ns += firing_ns * (1 + -(-flow.jitter_ns // flow.period_ns))
    if share >= 0.99:
        raise InputError(
            f"the processor is busy for {100 * share:.0f} % of the time with requests coming in: "
            "nothing is left to promise"
        )
    return Interrupts(share, int(at_once_ns / (1 - share)) // 1000 + 1 if at_once_ns else 0)


def _ticks(
    device_ns: int,
    scenario: Scenario,
    policy: str,
    facts: dict[str, Any],
    interrupts: Interrupts,
) -> int:
    """One operation of the device with the processor's work on it, 1 us for the clock's grain."""
    _, decide, per_flow, pressed, _, done, end = cpu.costs_ns(scenario.processor, policy)
    members = max(
        min(max(1, facts["sector_bytes"] // flow.size), _waiting(flow)) for flow in scenario.flows
    )
    deciding = max(decide + per_flow * len(scenario.flows), pressed)
    handled_ns = device_ns + deciding + done + end * members
    ticks = int(handled_ns / (1 - interrupts.share)) // 1000 + 1
    if ticks >= _OPERATION_US:
        raise InputError(
            f"an operation takes {ticks / 1e6:.2f} s; admission reckons with less than 1.04 s"
        )
    return ticks
