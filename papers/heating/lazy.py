# SPDX-License-Identifier: Apache-2.0
"""D-2.16: what lazy healing saves, under DHeating.

The thesis heals a block in any moment without a request. With the gaps that its table gives (8 to
197 ms in the mean) and arrivals that know nothing of each other there is no gap of three seconds,
and a healing begun in one delays the same requests as any other. So its traces must have had
pauses. Ours get one of half a minute after each 2,000 requests; what happens without is told too.
The replay tells the layer how long a gap will be, which a device would have to guess.
"""

from typing import TYPE_CHECKING

from lab.experiments import Answer, Report, experiment
from nandwich import plots
from papers.heating._play import PUBLISHED, Outcome, Setup, play

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PERIODS_S = (0, 60, 600)
LABELS = {0: "eager", 60: "lazy, 60 s", 600: "lazy, 600 s"}
STEADY_REQUESTS = 100_000
FULL = (
    "with a busy device and few pauses some healings are forced in between, when the period is "
    "over or more than a block in 32 waits"
)


def _run(name: str, period_s: int, quick: bool, heal_time: str = "3 s") -> Outcome:
    """As many requests as the eager policy needs for its healings without pauses."""
    requests = play(Setup(name, "dheating"), quick).requests
    setup = Setup(name, "dheating", period_s=period_s, pauses=True, heal_time=heal_time)
    return play(setup, quick, requests)


def _overhead_s(name: str, period_s: int, quick: bool) -> float:
    """What all responses together take more than with healings that take no time."""
    instant = _run(name, period_s, quick, heal_time="0 s").response_s
    return max(0.0, _run(name, period_s, quick).response_s - instant)


def _change(now: float, before: float) -> float:
    return 100 * (now / before - 1)


def _steady(quick: bool) -> float:
    """Without pauses: what healing in the first idle moment saves of the overhead, %."""
    name = "filecopy"
    responses = [
        play(
            Setup(name, "dheating", period_s=period_s, idle_us=1, heal_time=heal_time),
            quick,
            STEADY_REQUESTS if quick else 10 * STEADY_REQUESTS,
        ).response_s
        for period_s in (0, 600)
        for heal_time in ("3 s", "0 s")
    ]
    return _change(responses[2] - responses[3], responses[0] - responses[1])


def _draw(axes: "Axes", quick: bool) -> None:
    series = {
        LABELS[period_s]: [max(0.1, _overhead_s(name, period_s, quick)) for name in PUBLISHED]
        for period_s in PERIODS_S
    }
    plots.grouped(axes, list(PUBLISHED), series, log=True)
    axes.set_ylabel("responses prolonged by healing, in all (s)")
    axes.legend()


def _answers(quick: bool) -> list[Answer]:
    count = len(PUBLISHED)
    overhead = {
        period_s: [_overhead_s(name, period_s, quick) for name in PUBLISHED]
        for period_s in PERIODS_S
    }
    worst = {
        period_s: [_run(name, period_s, quick).worst_s for name in PUBLISHED]
        for period_s in PERIODS_S
    }
    pairs = list(zip(overhead[600], overhead[0], strict=True))
    saved = sum(_change(lazy, eager) for lazy, eager in pairs) / count
    calmer = (
        sum(_change(lazy, eager) for lazy, eager in zip(worst[600], worst[0], strict=True)) / count
    )
    longer = _change(sum(overhead[600]), sum(overhead[60]))
    steady = _steady(quick)
    return [
        Answer(
            round(calmer, 1),
            holds=calmer <= -45,
            why="one forced healing of 3 s is enough for the worst response to be one; it is "
            "avoided altogether only where no healing is forced",
            part="worst",
            claim="worst response, lazy (600 s) against eager, mean of six",
            published=-49.8,
        ),
        Answer(
            round(saved, 1),
            holds=saved <= -90,
            why=FULL,
            part="overhead",
            claim="overhead of healing, lazy (600 s) against eager, mean of six",
            published=-98.8,
        ),
        Answer(
            round(longer, 1),
            holds=longer <= -30,
            why="how many healings a period forces depends on how pauses fall",
            part="period",
            claim="overhead of healing, a period of 600 s against 60 s, all six",
            published=-43.5,
        ),
        Answer(
            round(steady, 1),
            holds=steady <= -90,
            why="Poisson arrivals leave no gap of 3 s: a healing begun in an idle moment delays as "
            "many requests as any other, only a little fewer at once",
            part="steady",
            claim="the same without pauses, healing in the first idle moment (filecopy)",
            published=-98.8,
        ),
    ]


@experiment(
    "D-2.16",
    claim="lazy healing: worst response and overhead",
    published="-49.8, -98.8",
    unit="%",
)
def lazy(quick: bool) -> Report:
    """Eager, and lazy with periods of 60 and 600 s, on six workloads with pauses."""
    runs = [_run(name, period_s, quick) for name in PUBLISHED for period_s in PERIODS_S]
    return Report(
        answers=_answers(quick),
        columns=[
            "workload",
            "healing",
            "healings",
            "in idle time",
            "most waiting",
            "worst response s",
            "overhead s",
            "requests",
        ],
        rows=[
            [
                run.setup.workload,
                LABELS[run.setup.period_s],
                run.heals,
                run.healed_idle,
                run.most_waiting,
                round(run.worst_s, 3),
                round(_overhead_s(run.setup.workload, run.setup.period_s, quick), 1),
                run.requests,
            ]
            for run in runs
        ],
        draw=lambda axes: _draw(axes, quick),
    )
