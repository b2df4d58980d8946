# SPDX-License-Identifier: Apache-2.0
"""`nandwich sched`: deadline workloads through the scheduler's policies."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nandwich import _native
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option, timeline_options, window_of
from nandwich.errors import InputError
from nandwich.sched import admit as sched_admit
from nandwich.sched import play as sched
from nandwich.sched import scenario as sched_scenario
from nandwich.sched.play import Outcome, Scenario
from nandwich.twin import parts, timelines

_HEADERS = (
    "policy",
    "met %",
    "offered",
    "met",
    "late",
    "dropped",
    "full",
    "refused",
    "failed",
    "mean ms",
    "writes",
    "mJ",
)

#: The key of a scenario that holds back those who pass others.
_GUARDS = {"rg-edf": "buffer", "slack": "guard"}


def _row(outcome: Outcome) -> tuple[object, ...]:
    counts = outcome.counts
    if outcome.policy == "bound":
        return ("bound", f"{outcome.share:.2f}", counts["offered"], counts["met"], *[""] * 8)
    return (
        outcome.policy,
        f"{outcome.share:.2f}",
        *(counts[name] for name in _HEADERS[2:9]),
        f"{outcome.response_ms:.1f}",
        outcome.operations,
        outcome.energy_pj // 10**9,
    )


def _as_json(scenario: Scenario, outcome: Outcome) -> dict[str, Any]:
    named = zip(scenario.flows, outcome.flows, strict=True) if outcome.flows else ()
    return {
        "policy": outcome.policy,
        "met_percent": round(outcome.share, 4),
        "total": outcome.counts,
        "flows": [{"name": flow.name, **counts} for flow, counts in named],
        "response_us_mean": outcome.response_us_sum // max(1, outcome.written),
        "response_us_max": outcome.response_us_max,
        "operations": outcome.operations,
        "openings": outcome.openings,
        "cpu_ns": outcome.cpu_ns,
        "busy_ns": outcome.busy_ns,
        "time_ns": outcome.time_ns,
        "energy_pj": outcome.energy_pj,
    }


def _load(scenario: Path | None, arrivals: Path | None, drop_late: bool | None) -> Scenario:
    loaded = sched.node_scenario() if scenario is None else sched_scenario.read_scenario(scenario)
    if arrivals is not None:
        recording = sched_scenario.read_arrivals(arrivals, loaded.flows)
        loaded = replace(loaded, recording=recording, duration_ns=recording[-1][0] + 1)
    elif any(flow.period_ns == 0 for flow in loaded.flows):
        lacking = next(flow.name for flow in loaded.flows if flow.period_ns == 0)
        raise InputError(f"flow {lacking} has no period; give one, or --arrivals FILE.csv")
    return loaded if drop_late is None else replace(loaded, drop_late=drop_late)


#: Requests of one run: some GB of memory and minutes.
_REQUESTS_MOST = 10**7


def _check_length(scenario: Scenario) -> None:
    """Refuses runs that would not end in anybody's patience."""
    if scenario.recording:
        return
    requests = 0
    for flow in scenario.flows:
        firings = scenario.duration_ns // flow.period_ns + 1
        extra = firings // flow.burst_every * (flow.burst_size - 1) if flow.burst_every else 0
        requests += firings + extra
    if requests > _REQUESTS_MOST:
        raise InputError(
            f"about {requests:,} requests in a run, at most {_REQUESTS_MOST:,} are simulated; "
            "give a shorter duration"
        )


def _tell_size(scenario: Scenario) -> None:
    """Says what happens to requests larger than a sector."""
    sector = sched.device_facts(scenario.device, scenario.blocks)["sector_bytes"]
    for flow in scenario.flows:
        if flow.size > sector:
            fate = "split" if scenario.split else "refused; 'split = true' would split them"
            output.talk(
                f"flow {flow.name}: requests of {flow.size} B, sectors of {sector} B: {fate}"
            )


@click.command(cls=Command)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    type=click.Choice([*sched.POLICIES, "all"]),
    help="Which policy; several times for several.  [default: all]",
)
@click.option(
    "--scenario",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Flows and node, as TOML; without it the defaults of the RG-EDF paper.",
)
@click.option(
    "--arrivals",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Recorded arrivals, as CSV (time_ms,flow), instead of the flows' periods.",
)
@click.option(
    "--runs",
    type=click.IntRange(1, 10_000),
    default=10,
    show_default=True,
    help="Simulations of each policy, each with the next seed.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 10_001),
    default=1,
    show_default=True,
    help="Of the first run: fixes jitter and bursts.",
)
@click.option("--drop-late/--keep-late", default=None, help="Overrides the scenario's drop_late.")
@click.option("--bound/--no-bound", default=True, help="Find the best possible, too.")
@click.option(
    "--admit", is_flag=True, help="Only the admission test, for one policy.  [default: g-edf]"
)
@timeline_options
@json_option
def command(
    policies: tuple[str, ...],
    scenario: Path | None,
    arrivals: Path | None,
    runs: int,
    seed: int,
    drop_late: bool | None,
    bound: bool,
    admit: bool,
    timeline: str,
    timeline_window: str | None,
    json_target: str | None,
) -> None:
    """Run a deadline workload on a twin: who meets how many deadlines, and how many could be met.

    The device core's own scheduler decides; the device and its clock are the twin's. The bound is
    the relaxed one: openings, deciding and the length of the queue cost it nothing.

    \b
    Examples:
      nandwich sched
      nandwich sched --policy slack --policy rg-edf --scenario node.toml
      nandwich sched --scenario node.toml --arrivals log.csv --runs 1 --json -
      nandwich sched --scenario node.toml --admit
      nandwich sched --policy slack --timeline slack.perfetto-trace
    """
    loaded = _load(scenario, arrivals, drop_late)
    inputs = [path for path in (scenario, arrivals) if path is not None]
    output.check_apart((*inputs, *parts.files(loaded.device)), (timeline, json_target))
    line = _line(timeline, timeline_window, policies, admit=admit)
    if admit:
        _admit(loaded, policies, inputs, json_target)
        return
    _check_length(loaded)
    _tell_size(loaded)
    chosen = [name for name in sched.POLICIES if name in policies]
    if not policies or "all" in policies:
        chosen = list(sched.POLICIES)
    outcomes = []
    with output.progress("policies", len(chosen) + bound) as bar:
        for name in chosen:
            outcomes.append(_run(loaded, name, runs, seed, line))
            bar.advance()
        if bound and all(flow.size <= _sector(loaded) for flow in loaded.flows):
            outcomes.append(_bound(loaded, runs, seed))
        elif bound:
            output.talk("no bound: it knows no requests larger than a sector")
        bar.advance(int(bound))
    if line is not None:
        output.talk(sched.save_timeline(line, Path(timeline), loaded, chosen[0]))
    if json_target is not None:
        payload = {
            "device": loaded.device,
            "runs": runs,
            "drop_late": loaded.drop_late,
            "results": [_as_json(loaded, one) for one in outcomes],
        }
        document = output.document("sched", 1, payload, seed=seed, inputs=inputs)
        output.write_json(json_target, document)
    if json_target != "-":
        output.print_table(_HEADERS, [_row(one) for one in outcomes])


def _sector(scenario: Scenario) -> int:
    return int(sched.device_facts(scenario.device, scenario.blocks)["sector_bytes"])


def _line(
    target: str, window: str | None, policies: tuple[str, ...], *, admit: bool
) -> _native.Timeline | None:
    """The timeline asked for; it shows one policy, in its first run. InputError."""
    chosen = window_of(target, window)
    if not target:
        return None
    if admit:
        raise InputError("--timeline: the admission test runs nothing")
    if timelines.is_waves(target):
        raise InputError(
            "--timeline FILE.vcd: only run and replay: sched has no chip's bus"
        )
    if len(set(policies)) != 1 or "all" in policies:
        raise InputError("--timeline shows one policy: add one, like --policy slack")
    return timelines.begin(chosen)


def _run(
    scenario: Scenario, policy: str, runs: int, seed: int, line: _native.Timeline | None
) -> Outcome:
    try:
        return sched.run(scenario, policy, runs=runs, seed=seed, line=line)
    except RuntimeError as error:
        raise InputError(str(error)) from error


def _bound(scenario: Scenario, runs: int, seed: int) -> Outcome:
    try:
        return sched.bound(scenario, runs=runs, seed=seed)
    except RuntimeError as error:
        raise InputError(f"{error}; --no-bound leaves it out") from error


def _admit(
    scenario: Scenario, policies: tuple[str, ...], inputs: list[Path], json_target: str | None
) -> None:
    if len(policies) > 1 or "all" in policies:
        raise InputError("--admit asks about one policy at a time")
    policy = policies[0] if policies else "g-edf"
    answer = sched_admit.admit(scenario, policy)
    flow = scenario.flows[answer["flow"]]
    if answer["answer"] == "no" and policy in _GUARDS:
        key = _GUARDS[policy]
        output.talk(f"{policy} lets others pass: a yes needs a {key} as long as the deadlines")
    if answer["answer"] != "no":
        for lack in sched_admit.lacks(scenario, policy, answer["slots"]):
            output.talk(f"requests may be lost at the door: {lack}")
    shown = {
        "policy": policy,
        "answer": answer["answer"],
        "flow": flow.name,
        "deadline_us": flow.deadline_ns // 1000,
        "wait_us": answer["wait_ticks"],
        "room_us": answer["room_ticks"],
        "slots": answer["slots"],
        "load_permille": answer["load_permille"],
    }
    if json_target is not None:
        payload = {"device": scenario.device, "admission": shown}
        output.write_json(json_target, output.document("sched", 1, payload, inputs=inputs))
    if json_target != "-":
        texts = {
            "yes": "yes: no request is ever late",
            "but openings": "yes, but for requests around the opening of a unit",
            "no": "no: a request may be late",
        }
        wait = f"{answer['wait_ticks'] / 1000:g} ms"
        rows = [
            ("may all flows join", texts[answer["answer"]]),
            ("served by", policy),
            ("least room has flow", flow.name),
            ("its deadline", f"{flow.deadline_ns / 1e6:g} ms"),
            ("worst wait", wait if answer["wait_ticks"] < 2**30 else "no limit found"),
            ("room left", f"{answer['room_ticks'] / 1000:g} ms"),
            ("slots needed", answer["slots"]),
            ("load when grouped", f"{answer['load_permille'] / 10:g} %"),
        ]
        output.print_table(("question", "answer"), rows)
