# SPDX-License-Identifier: Apache-2.0
"""Sweeps of the RG-EDF experiments: every policy and the bound over one changing quantity."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab.experiments import OURS, Answer, Value
from nandwich.plots import COLOURS, MARKS
from nandwich.sched import play as sched
from nandwich.sched.play import Outcome, Scenario

RUNS = 10
QUICK_RUNS = 2


def card(varied: str) -> str:
    """A set-up: what the experiments share, and what each varies."""
    return (
        "published: CC1010 node, SD card: a block takes 9 ms and up to 4 more by the bytes "
        "fetched, the first in a sector of 256 blocks 60 to 140 ms; three flows injected at the "
        "same time, defaults 40 ms, 64 B, deadline 70 ms; bursty: every tenth firing of flow 1 "
        "hands in 5 requests; 10 runs of 10 s a point; the queue's length, RG-EDF's buffer time "
        f"and the time of deciding are not told. Ours: {varied}; that buffer time 13 ms in series "
        "node; an opening takes any time "
        f"from 60 to 140 ms alike; seeds 1 to {RUNS}; a queue of 24 requests at every size, which "
        "with 16 B each to keep them fill the 2,024 B of RAM at 64 B (12 KB at 512 B); deciding "
        "takes no time in series node = paper, in decides the clocks of our code on an 8051, the "
        "document's processor; in ours those, each flow has its own phase and fires up to 2 ms "
        "late, a write fetches the whole block (13 ms), and RG-EDF's buffer time is 0"
    )


#: Regular or bursty, late requests dropped or kept: the four panels of a figure.
VARIANTS = tuple((bursty, drop) for bursty in (False, True) for drop in (True, False))

#: How near the best possible ours must come, and at how large a part of the points.
NEAR_POINTS = 5.0
NEAR_PART = 0.8

COLUMNS = (
    "node",
    "x",
    "bursty",
    "drop_late",
    "policy",
    "met_percent",
    "offered",
    "met",
    "late",
    "dropped",
    "full",
    "written_per_s",
    "response_ms",
    "writes",
)

#: play.paper_scenario or play.node_scenario.
Make = Callable[..., Scenario]
Build = Callable[[Make, float, bool, bool], Scenario]

#: The series of an experiment, by the name in the table.
SERIES: dict[str, Make] = {
    "paper": sched.paper_scenario,
    "decides": lambda **of: replace(sched.paper_scenario(**of), processor="cc1010"),
    "ours": sched.node_scenario,
}


@dataclass(frozen=True)
class Point:
    """One place of a sweep: an outcome for each policy and for the bound."""

    node: str
    x: float
    bursty: bool
    drop_late: bool
    outcomes: dict[str, Outcome]

    def share(self, policy: str) -> float:
        """Percent of requests that met their deadline."""
        return self.outcomes[policy].share

    @property
    def best_published(self) -> float:
        """The best of the four published policies."""
        return max(self.share(policy) for policy in sched.PUBLISHED)


def sweep(values: Sequence[float], build: Build, quick: bool, node: str = "paper") -> list[Point]:
    """All variants, policies and the bound at each value. Arrivals do not depend on the policy."""
    make = SERIES[node]
    runs = QUICK_RUNS if quick else RUNS
    points = []
    for bursty, drop in VARIANTS:
        for x in values:
            scenario = build(make, x, bursty, drop)
            outcomes = {name: sched.run(scenario, name, runs=runs) for name in sched.POLICIES}
            points.append(Point(node, x, bursty, drop, outcomes))
    bounds = {
        (x, bursty): sched.bound(build(make, x, bursty, True), runs=runs)
        for bursty in (False, True)
        for x in values
    }
    for point in points:
        point.outcomes["bound"] = bounds[point.x, point.bursty]
    return points


def chosen(points: Sequence[Point], *, bursty: bool = False, drop: bool = True) -> list[Point]:
    """The points of one panel."""
    return [one for one in points if one.bursty == bursty and one.drop_late == drop]


def rows(points: Sequence[Point]) -> list[list[Value]]:
    """The table behind a figure."""
    table: list[list[Value]] = []
    for point in points:
        for name, outcome in point.outcomes.items():
            counts = outcome.counts
            seconds = 10 * outcome.runs
            table.append(
                [
                    point.node,
                    point.x,
                    int(point.bursty),
                    int(point.drop_late),
                    name,
                    round(outcome.share, 3),
                    counts["offered"],
                    counts["met"],
                    counts["late"],
                    counts["dropped"],
                    counts["full"],
                    round(outcome.written / seconds, 2),
                    round(outcome.response_ms, 2),
                    outcome.operations,
                ]
            )
    return table


def panels(bursty: bool) -> tuple[str, str]:
    """What the parts and claims of a panel end with: regular flows, or a bursty first one."""
    return ("-bursty", ", first flow bursty") if bursty else ("", "")


def ours(points: Sequence[Point], within: Callable[[Point], bool], words: str) -> list[Answer]:
    """The two claims of our own, on one node: never behind the published four, near the bound."""
    light = [one for one in points if within(one)]
    end = "" if points[0].node == "paper" else "-ours"
    node = "" if points[0].node == "paper" else ", on our node"
    return [
        _not_behind(
            f"lead-defaults{end}", light, f"SLACK meets at least as many, {words}{node}", must=True
        ),
        _not_behind(
            f"lead-all{end}",
            points,
            f"SLACK meets at least as many at every point{node}",
            must=False,
        ),
        _near(
            f"bound-defaults{end}",
            light,
            f"SLACK is within 5 points of the best, {words}{node}",
            must=True,
        ),
        _near(
            f"bound-all{end}",
            points,
            f"SLACK is within 5 points of the best possible{node}",
            must=False,
        ),
    ]


def _not_behind(part: str, points: Sequence[Point], claim: str, *, must: bool) -> Answer:
    gains = [one.share("slack") - one.best_published for one in points]
    behind = [gain for gain in gains if gain < 0]
    least = min(gains)
    worst = points[gains.index(least)]
    kind = f"{'bursty' if worst.bursty else 'regular'}, {'drop' if worst.drop_late else 'keep'}"
    why = f"least lead at x = {worst.x:g} ({kind}): {least:+.2f} points"
    if behind:
        cost = "" if worst.node == "paper" else ": deciding costs SLACK more time"
        why += f"; behind at {len(behind)} of {len(points)} points{cost}"
    return Answer(
        len(points) - len(behind),
        holds=not behind,
        why=why,
        part=part,
        claim=claim,
        published=len(points),
        unit="points",
        must_hold=must,
        where=OURS,
        tolerance="none",
    )


def _near(part: str, points: Sequence[Point], claim: str, *, must: bool) -> Answer:
    gaps = [one.share("bound") - one.share("slack") for one in points]
    near = sum(gap <= NEAR_POINTS for gap in gaps)
    percent = 100 * near / len(points)
    return Answer(
        round(percent, 1),
        holds=near >= NEAR_PART * len(points),
        why=f"{near} of {len(points)} points; the largest gap is {max(gaps):.1f}. The bound is "
        "relaxed: openings, deciding and the length of the queue cost it nothing",
        part=part,
        claim=claim,
        published=100 * NEAR_PART,
        unit="% of points",
        must_hold=must,
        where=OURS,
        tolerance=f"{NEAR_POINTS:g} points at {100 * NEAR_PART:g} % of the points: for openings",
    )


def draw_panels(
    axes: Any,
    points: Sequence[Point],
    label: str,
    value: Callable[[Outcome], float] = lambda outcome: outcome.share,
    what: str = "met, %",
    *,
    with_bound: bool = True,
) -> None:
    """Four panels in the place of one pair of axes: regular and bursty, drop and keep."""
    figure = axes.figure
    title = axes.get_title(loc="left")
    axes.remove()
    figure.set_size_inches(8.0, 5.6)
    figure.suptitle(title, fontsize=9, x=0.01, ha="left", wrap=True)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for panel, (bursty, drop) in zip(panels.flat, VARIANTS, strict=True):
        part = chosen(points, bursty=bursty, drop=drop)
        names = (*sched.POLICIES, "bound") if with_bound else sched.POLICIES
        for number, name in enumerate(names):
            panel.plot(
                [one.x for one in part],
                [value(one.outcomes[name]) for one in part],
                label=name,
                color=COLOURS[number],
                marker=MARKS[number] if name != "bound" else "",
                markersize=6 if name == "fifo" else 3,  # EDF often lies on it
                fillstyle="none" if name == "fifo" else "full",
                linestyle="--" if name == "bound" else "-",
                linewidth=1.8 if name == "slack" else 1.1,
            )
        panel.set_title(
            f"{'bursty' if bursty else 'regular'}, late ones {'dropped' if drop else 'kept'}",
            fontsize=9,
        )
    for panel in panels[1]:
        panel.set_xlabel(label)
    for panel in panels[:, 0]:
        panel.set_ylabel(what)
    panels[0, 0].legend(fontsize=7)
