# SPDX-License-Identifier: Apache-2.0
"""D-2.14: when each of the first 200 healings comes, under SWL and under DHeating.

Figures 2.14 and 2.15 are drawn and not in our copy; of their points the text has Sensor's last
ones, 199 mean intervals after the first.
"""

from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, NOT_REACHABLE, OURS, Answer, Report, Value, experiment
from papers.heating._play import PUBLISHED, SETUP, SWL_SETUP, THRESHOLD, THRESHOLDS, Outcome
from papers.heating.intervals import asked_bytes, dispersed, levelled, most_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "sensor"
LAST_S = {"swl": 31_655, "dheating": 754_195}
WINDOW_S = 600
MARKS = (50, 100, 150, 200)


def since_first_s(run: Outcome) -> list[float]:
    """Of each healing."""
    return [time - run.times_s[0] for time in run.times_s]


def most_within(times_s: list[float], window_s: float = WINDOW_S) -> int:
    """The most healings in so long a time; `times_s` ascend."""
    most = first = 0
    for last, time in enumerate(times_s):
        while time - times_s[first] >= window_s:
            first += 1
        most = max(most, last - first + 1)
    return most


def _peaks(run: Outcome) -> int:
    return most_within(since_first_s(run))


def _last(quick: bool) -> list[Answer]:
    """Sensor's last healing, the only points of the curves that are printed."""
    swl = [since_first_s(levelled(NAME, quick, threshold))[-1] for threshold in THRESHOLDS]
    told = ", ".join(f"{seconds:.0f}" for seconds in swl)
    asked, most = asked_bytes(NAME), most_bytes()
    return [
        Answer(
            round(since_first_s(levelled(NAME, quick))[-1]),
            verdict=NOT_JUDGED,
            why=f"the thesis gives no T; at T = {', '.join(map(str, THRESHOLDS))} it is {told} s",
            part="sensor-swl",
            claim="sensor: the last of 200 healings under SWL, from the first on",
        ),
        Answer(
            round(since_first_s(dispersed(NAME, quick))[-1]),
            verdict=NOT_REACHABLE,
            why=f"till then table 2.1's requests write {asked / 2**30:.0f} GiB, the chip takes "
            f"{most / 2**30:.0f} with no page copied: see D-2.2/sensor-s",
            part="sensor-dheating",
            claim="sensor: the last of 200 healings under DHeating, from the first on",
            published=LAST_S["dheating"],
        ),
    ]


def _dense(quick: bool) -> Answer:
    """How close healings come at worst: what a battery has to bear."""
    peaks = {name: _peaks(dispersed(name, quick)) for name in PUBLISHED}
    swl = {
        name: [_peaks(levelled(name, quick, threshold)) for threshold in THRESHOLDS]
        for name in PUBLISHED
    }
    told = "; ".join(f"{name} {', '.join(map(str, counts))}" for name, counts in swl.items())
    return Answer(
        ", ".join(map(str, peaks.values())),
        holds=all(peaks[name] < min(swl[name]) for name in PUBLISHED),
        why=f"under SWL at T = {', '.join(map(str, THRESHOLDS))}: {told}",
        part="dense",
        claim=f"the most healings within {WINDOW_S} s are fewer under DHeating than under SWL, on "
        "each workload and at each threshold",
        published="fewer",
        unit="healings",
        where=OURS,
        tolerance="none: an order",
        must_hold=True,
    )


def _draw(axes: "Axes", quick: bool) -> None:
    """Healings against time, dashed under SWL."""
    for name in PUBLISHED:
        times = since_first_s(dispersed(name, quick))
        (line,) = axes.plot(times, range(len(times)), marker="", label=name)
        times = since_first_s(levelled(name, quick))
        axes.plot(times, range(len(times)), "--", marker="", color=line.get_color())
    axes.set_xscale("symlog", linthresh=100)
    axes.set_xlabel(f"time since the first healing (s); dashed: SWL, threshold {THRESHOLD}")
    axes.set_ylabel("healings")
    axes.legend(fontsize=7)


@experiment(
    "D-2.14",
    claim="when each of 200 healings comes: DHeating and SWL",
    published=LAST_S["swl"],
    unit="s",
    where="figures 2.14 and 2.15, section 2.4.2",
    setup=SETUP + SWL_SETUP,
)
def curves(quick: bool) -> Report:
    """The curves of all six workloads, and how dense they are at worst."""
    rows: list[list[Value]] = []
    for name in PUBLISHED:
        for policy, run in (("swl", levelled(name, quick)), ("dheating", dispersed(name, quick))):
            times = since_first_s(run)
            marks = [round(times[min(mark, len(times)) - 1]) for mark in MARKS]
            rows.append([name, policy, round(run.first_s), *marks, _peaks(run)])
    return Report(
        answers=[*_last(quick), _dense(quick)],
        columns=["workload", "policy", "first s", *(f"{mark}th, s later" for mark in MARKS),
                 f"most in {WINDOW_S} s"],
        rows=rows,
        draw=lambda axes: _draw(axes, quick),
    )  # fmt: skip
