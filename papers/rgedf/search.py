# SPDX-License-Identifier: Apache-2.0
"""R-idea: where letting a larger group go first pays (Dou and Kalogeraki, SEUS 2008, RG-EDF).

RG-EDF chooses otherwise than G-EDF only while the group with the earliest deadline is the smaller
one. Flows that are alike have groups that are alike, so this search makes them unlike: in periods,
sizes, deadlines, bursts, or any of these together. It takes some ten seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log
from random import Random
from statistics import mean
from typing import TYPE_CHECKING, Any

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment
from nandwich.sched import play as sched
from nandwich.sched.play import MS, Flow, Outcome, Scenario
from papers.rgedf.periods import ALIKE, ALIKE_WHY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCENARIOS, QUICK_SCENARIOS = 20_000, 1_000
#: A run of the search; what it finds is played again for as long as the document plays.
_SEARCH_MS = 5_000
#: The arrivals do not hang on the seed, the openings of the card do. Those that chose a scenario
#: are not played again: it was not chosen for its luck.
_SEARCH_SEED, _FRESH_SEED, _CHOICE_SEED = 1, 2, 102

_RUNS, _QUICK_RUNS = 10, 2

AXES = ("periods", "sizes", "deadlines", "bursts")
_PERIODS_MS, _DEADLINES_MS = (5.0, 100.0), (30.0, 300.0)
_SIZES = (16, 32, 64, 128, 192, 256)
#: Each so many-th firing hands in so many requests; the document's is the second.
_BURSTS = ((0, 1), (10, 5), (4, 5), (2, 8), (1, 2))
#: The queue that fills the node's RAM, and the longest that the scheduler has.
QUEUE, LONG_QUEUE = 24, 120
_BUFFERS_MS = (0, 13, 26)


@dataclass(frozen=True)
class Played:
    """G-EDF and RG-EDF on the same arrivals of a scenario that a seed has drawn."""

    drawn: int
    scenario: Scenario
    gedf: Outcome
    rgedf: Outcome

    @property
    def lead(self) -> float:
        """Points of a hundred by which RG-EDF meets more deadlines."""
        return self.rgedf.share - self.gedf.share

    @property
    def same(self) -> bool:
        """Both wrote the same at the same times, as far as counts and sums of times tell."""
        return replace(self.rgedf, policy=self.gedf.policy) == self.gedf

    @property
    def full(self) -> int:
        """Requests that either lost at the door."""
        return self.gedf.counts["full"] + self.rgedf.counts["full"]


def _between(random: Random, ends: tuple[float, float]) -> float:
    """Log-uniform: as many between 5 and 10 as between 50 and 100."""
    return exp(random.uniform(log(ends[0]), log(ends[1])))


def draw_scenario(seed: int) -> Scenario:
    """Three flows that fire together on the document's node, unlike in what the seed says."""
    random = Random(seed)
    periods, sizes, deadlines, bursts = (random.random() < 0.5 for _ in AXES)
    periods_ms = [round(_between(random, _PERIODS_MS), 1) for _ in range(3)]
    size = [random.choice(_SIZES) for _ in range(3)]
    deadlines_ms = [round(_between(random, _DEADLINES_MS)) for _ in range(3)]
    burst = [random.choice(_BURSTS) if bursts else _BURSTS[0] for _ in range(3)]
    flows = tuple(
        Flow(
            name=f"flow{number + 1}",
            period_ns=round(periods_ms[number * periods] * MS),
            phase_ns=0,
            deadline_ns=deadlines_ms[number * deadlines] * MS,
            size=size[number * sizes],
            burst_every=burst[number][0],
            burst_size=burst[number][1],
        )
        for number in range(3)
    )
    return replace(
        sched.paper_scenario(drop_late=random.random() < 0.5),
        flows=flows,
        slots=random.choice((QUEUE, LONG_QUEUE)),
        buffer_ns=random.choice(_BUFFERS_MS) * MS,
    )


def unlike(scenario: Scenario) -> tuple[str, ...]:
    """In what its flows differ, of AXES."""
    each = [
        (flow.period_ns, flow.size, flow.deadline_ns, (flow.burst_every, flow.burst_size))
        for flow in scenario.flows
    ]
    return tuple(
        axis
        for axis, values in zip(AXES, zip(*each, strict=True), strict=True)
        if len(set(values)) > 1
    )


def _play(seed: int, scenario: Scenario, run: int) -> Played:
    gedf, rgedf = (sched.run(scenario, policy, seed=run) for policy in ("g-edf", "rg-edf"))
    return Played(seed, scenario, gedf, rgedf)


def search(scenarios: int) -> list[Played]:
    """A short run of each policy for each of the scenarios 0 and up."""
    return [
        _play(seed, replace(draw_scenario(seed), duration_ns=_SEARCH_MS * MS), _SEARCH_SEED)
        for seed in range(scenarios)
    ]


def again(seed: int, runs: int, *, first: int = _FRESH_SEED, **changes: Any) -> list[Played]:
    """Whole runs of a scenario, one by one, by the seeds from `first` on."""
    scenario = replace(draw_scenario(seed), **changes)
    return [_play(seed, scenario, first + run) for run in range(runs)]


def least(played: Sequence[Played]) -> float:
    """The smallest lead of some runs."""
    return min(one.lead for one in played)


def best(found: Sequence[Played]) -> Played:
    """Where RG-EDF is farthest ahead; of equals the first."""
    return max(found, key=lambda one: (one.lead, -one.drawn))


# What is told of it ------------------------------------------------------------------------------

_COLUMNS = (
    "queue",
    "unlike in",
    "scenarios",
    "written the same, %",
    "RG-EDF ahead, %",
    "behind, %",
    "mean lead",
    "least lead",
    "best",
    "its flows",
    "late ones",
    "buffer time, ms",
    *sched.POLICIES,
    "least lead of a run",
    "the same, deciding on an 8051",
)


def told(scenario: Scenario) -> str:
    """The flows of a scenario: only what differs is said of each."""
    ms = [f"{flow.period_ns / MS:g}" for flow in scenario.flows]
    deadlines = [f"{flow.deadline_ns / MS:g}" for flow in scenario.flows]
    sizes = [f"{flow.size}" for flow in scenario.flows]
    bursts = [
        f"{flow.burst_size} each {flow.burst_every}." if flow.burst_every else "none"
        for flow in scenario.flows
    ]

    def one(values: Sequence[str]) -> str:
        return values[0] if len(set(values)) == 1 else ", ".join(values)

    return (
        f"periods {one(ms)} ms; {one(sizes)} B; deadlines {one(deadlines)} ms; bursts {one(bursts)}"
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1)


def _row(queue: int, axes: Sequence[str], found: Sequence[Played], runs: int) -> list[Value]:
    chosen = best(found)
    scenario = draw_scenario(chosen.drawn)
    shares = [
        round(sched.run(scenario, policy, runs=runs, seed=_FRESH_SEED).share, 1)
        for policy in sched.POLICIES
    ]
    count = len(found)
    return [
        queue,
        " ".join(axes) or "nothing",
        count,
        _percent(sum(one.same for one in found), count),
        _percent(sum(one.lead > ALIKE for one in found), count),
        _percent(sum(one.lead < -ALIKE for one in found), count),
        round(mean(one.lead for one in found), 2),
        round(least(found), 1),
        chosen.drawn,
        told(scenario),
        "dropped" if scenario.drop_late else "kept",
        scenario.buffer_ns // MS,
        *shares,
        round(least(again(chosen.drawn, runs)), 1),
        round(least(again(chosen.drawn, runs, processor="cc1010")), 1),
    ]


def _rows(found: Sequence[Played], runs: int) -> list[list[Value]]:
    groups: dict[tuple[int, tuple[str, ...]], list[Played]] = {}
    for one in found:
        groups.setdefault((one.scenario.slots, unlike(one.scenario)), []).append(one)
    return [_row(queue, axes, groups[queue, axes], runs) for queue, axes in sorted(groups)]


def _slack(rows: Sequence[Sequence[Value]]) -> Answer:
    """Ours, where the idea shows most."""
    place = {name: _COLUMNS.index(name) for name in ("slack", "rg-edf")}
    leads = [float(row[place["slack"]]) - float(row[place["rg-edf"]]) for row in rows]
    behind = [lead for lead in leads if lead < -ALIKE]
    return Answer(
        len(rows) - len(behind),
        holds=not behind,
        why=f"behind by up to {-min(leads):.1f} points, ahead by up to {max(leads):.1f}: where not "
        "all that waits can be met SLACK is G-EDF, while RG-EDF still lets the larger group go",
        part="slack",
        claim=f"SLACK meets at least as many as RG-EDF at the {len(rows)} best",
        published=len(rows),
        unit="scenarios",
        where=OURS,
        tolerance=ALIKE_WHY,
    )


def _ahead(part: str, where: str, chosen: Played, runs: int) -> Answer:
    """A scenario in which the idea shows, by runs that did not choose it."""
    scenario = draw_scenario(chosen.drawn)
    fresh = again(chosen.drawn, runs)
    ends = [mean(getattr(one, of).share for one in fresh) for of in ("gedf", "rgedf")]
    writes = [
        mean(getattr(one, of).written / getattr(one, of).operations for one in fresh)
        for of in ("gedf", "rgedf")
    ]
    decides = least(again(chosen.drawn, runs, processor="cc1010"))
    roomy = least(again(chosen.drawn, runs, slots=LONG_QUEUE))
    return Answer(
        round(least(fresh), 1),
        holds=least(fresh) > ALIKE,
        why=f"seed {chosen.drawn}: {told(scenario)}; late ones "
        f"{'dropped' if scenario.drop_late else 'kept'}, buffer time {scenario.buffer_ns // MS} "
        f"ms, a queue of {scenario.slots}. G-EDF meets {ends[0]:.1f} %, RG-EDF {ends[1]:.1f}, "
        f"with {writes[0]:.2f} and {writes[1]:.2f} requests a write. Deciding as long as on our "
        f"8051, RG-EDF leads by {decides:.1f}; with a queue of {LONG_QUEUE} by {roomy:.1f}",
        part=part,
        claim=f"RG-EDF's idea shows: RG-EDF - G-EDF, {where}",
        must_hold=True,
        where=OURS,
        tolerance=f"by more than {ALIKE_WHY}, in the least of the runs",
    )


def _alike(found: Sequence[Played]) -> Answer:
    regular = [
        one for one in found if not unlike(one.scenario) and one.scenario.flows[0].burst_every == 0
    ]
    same = _percent(sum(one.same for one in regular), len(regular))
    most = max(abs(one.lead) for one in regular)
    return Answer(
        round(most, 2),
        holds=most <= ALIKE,
        why=f"{len(regular)} scenarios, of which both write {same} % the same: groups are alike, "
        "so the one that is due first is not the smaller",
        part="alike",
        claim="where flows are alike and regular RG-EDF is G-EDF: RG-EDF - G-EDF at most",
        where=OURS,
        must_hold=True,
        tolerance=ALIKE_WHY,
    )


def _told_by(buffer_ms: int, found: Sequence[Played]) -> str:
    """What a buffer time does to all scenarios that have it."""
    mine = [one for one in found if one.scenario.buffer_ns == buffer_ms * MS]
    worst = min(mine, key=lambda one: one.lead)
    ahead, behind = (
        _percent(sum(sign * one.lead > ALIKE for one in mine), len(mine)) for sign in (1, -1)
    )
    return (
        f"{buffer_ms} ms: {mean(one.lead for one in mine):+.2f}, ahead in {ahead} %, behind in "
        f"{behind}, by {-worst.lead:.1f} at most (seed {worst.drawn}: {told(worst.scenario)})"
    )


def _drawn(found: Sequence[Played]) -> Answer:
    buffers = "; ".join(_told_by(buffer_ms, found) for buffer_ms in _BUFFERS_MS)
    return Answer(
        round(mean(one.lead for one in found), 2),
        verdict=NOT_JUDGED,
        why=f"what nodes ask for is not what a search draws. By the buffer time, {buffers}. One "
        "shorter than a write leaves who was overtaken none for its own",
        part="drawn",
        claim="over all that the search draws: RG-EDF - G-EDF",
        unit="points in the mean",
        where=OURS,
    )


#: Places of a line in the picture.
_STEPS = 400


def _draw(axes: "Axes", found: Sequence[Played]) -> None:
    """Leads in their order: how many scenarios have how large a one."""
    shown = range(_STEPS + 1)
    for queue in (QUEUE, LONG_QUEUE):
        leads = sorted((one.lead for one in found if one.scenario.slots == queue), reverse=True)
        axes.plot(
            [100 * step / _STEPS for step in shown],
            [leads[step * (len(leads) - 1) // _STEPS] for step in shown],
            label=f"a queue of {queue}",
        )
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.set_xlabel("scenarios, %, by the lead")
    axes.set_ylabel("RG-EDF - G-EDF, points")
    axes.legend(fontsize=7)


@experiment(
    "R-idea",
    claim="a larger group first meets more deadlines: RG-EDF - G-EDF, where flows differ",
    published="> 0",
    unit="points",
    where="the policy RG-EDF",
    setup="published: the idea alone, no scenario for it. Ours: the document's node, "
    "deciding in no time; three flows that fire together, each of which differs "
    "from the others in nothing, or in periods (5 to 100 ms), sizes (16 to 256 B), "
    "deadlines (30 to 300 ms), bursts (none; 5 requests each 10th or 4th firing; 8 each 2nd; 2 "
    "each), or in several of them; a queue of 24 requests or of 120; late ones dropped or kept; "
    f"buffer time 0, 13 or 26 ms. {SCENARIOS} scenarios by the seeds 0 and up, each run for "
    f"{_SEARCH_MS // 1000} s with one seed for the card's openings; what is told of the best of "
    f"them is of {_RUNS} runs of 10 s with other seeds; of the best of either queue it is told of "
    f"that one whose least lead in {_RUNS} more runs, by seeds of their own, is larger",
)
def idea(quick: bool) -> Report:
    """Searches all scenarios and plays the best ones again."""
    found = search(QUICK_SCENARIOS if quick else SCENARIOS)
    runs = _QUICK_RUNS if quick else _RUNS
    rows = _rows(found, runs)
    room = best([one for one in found if one.full == 0])
    answers = [
        _alike(found),
        *(
            _ahead(axis, f"{axis} alone unlike", _one_axis(found, axis, runs), runs)
            for axis in AXES
        ),
        _ahead("room", "none lost at the door", room, runs),
        _drawn(found),
        _slack(rows),
    ]
    return Report(answers, _COLUMNS, rows, lambda axes: _draw(axes, found))


def _one_axis(found: Sequence[Played], axis: str, runs: int) -> Played:
    """Flows unlike in this alone: of the best for each queue the one that leads in as many runs of
    seeds that nothing else has."""
    chosen = [
        best(
            [
                one
                for one in found
                if unlike(one.scenario) == (axis,) and one.scenario.slots == queue
            ]
        )
        for queue in (QUEUE, LONG_QUEUE)
    ]
    return max(chosen, key=lambda one: least(again(one.drawn, runs, first=_CHOICE_SEED)))
