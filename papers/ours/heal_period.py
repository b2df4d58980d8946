# SPDX-License-Identifier: Apache-2.0
"""heal-period: lazy healing's period, as long as it is set or shrinking as the heating list grows.

The thesis tests periods of 60 and 600 s (D-2.16) and advises one that adapts, without a rule. Ours
shrinks in proportion to the room that is left on the list. It shows where healings are forced: here
blocks are healed in gaps as long as a healing, which hardly any of the six workloads has.
"""

from lab.experiments import Answer, Report, Value, experiment
from papers.heating._play import PUBLISHED, SETUP, Outcome, Setup, play

NAME = "filecopy"
PERIODS_S = (60, 600)


def lazily(name: str, quick: bool, period_s: int, fixed: bool) -> Outcome:
    """As many requests as 200 healings at once take."""
    requests = play(Setup(name, "dheating"), quick).requests
    return play(Setup(name, "dheating", period_s=period_s, fixed=fixed), quick, requests)


def _worst_s(name: str, quick: bool, period_s: int) -> tuple[float, float]:
    """With a fixed period, and with one that shrinks."""
    fixed, shrinks = (lazily(name, quick, period_s, is_fixed).worst_s for is_fixed in (True, False))
    return fixed, shrinks


def _answer(quick: bool, period_s: int) -> Answer:
    worst = {name: _worst_s(name, quick, period_s) for name in PUBLISHED}
    fixed, shrinks = worst[NAME]
    return Answer(
        round(100 * (shrinks / fixed - 1), 1),
        holds=shrinks < fixed,
        why="blocks that wait until the list is full are healed two in a row then; s fixed and "
        "shrinking: "
        + "; ".join(f"{name} {before:.2f}, {now:.2f}" for name, (before, now) in worst.items()),
        part=f"{period_s}-s",
        claim=f"a period of {period_s} s that shrinks as the list grows makes the worst response "
        "to File Copy shorter than a fixed one",
        published="less than 0",
        tolerance="none: an order",
        must_hold=True,
    )


@experiment(
    "heal-period",
    claim="a period that shrinks as the heating list grows, against a fixed one: worst response",
    unit="%",
    where="docs/wear.md",
    setup=SETUP + ". Lazy healing under DHeating, in gaps of 3 s or more, forced after a period "
    "and when more than a block in 32 waits",
)
def period(quick: bool) -> Report:
    """Six workloads, both periods, fixed and shrinking."""
    rows: list[list[Value]] = []
    for name in PUBLISHED:
        for period_s in PERIODS_S:
            for fixed in (True, False):
                run = lazily(name, quick, period_s, fixed)
                rows.append(
                    [
                        name,
                        period_s,
                        "fixed" if fixed else "shrinks",
                        run.heals,
                        run.healed_idle,
                        run.most_waiting,
                        round(run.worst_s, 3),
                        round(run.response_s / run.requests * 1000, 1),
                    ]
                )
    return Report(
        answers=[_answer(quick, period_s) for period_s in PERIODS_S],
        columns=[
            "workload",
            "period s",
            "it",
            "healings",
            "in idle time",
            "most waiting",
            "worst response s",
            "mean response ms",
        ],
        rows=rows,
    )
