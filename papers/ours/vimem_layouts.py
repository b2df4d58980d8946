# SPDX-License-Identifier: Apache-2.0
"""V-ours: our layouts against the published heuristic's, on the cases of ViMem's experiments."""

from lab.experiments import Answer, Report, experiment
from papers.vimem import _cases, _rig


@experiment(
    "V-ours",
    claim="our layout has fewer faults than the published heuristic, over cases of more than 100",
    published=">= 10",
    unit="%",
    where="docs/layouts.md",
    setup="the cases of V6 to V9 in which both layouts know the same",
)
def better(quick: bool) -> Report:
    """All cases of V6 to V9 in which both layouts know the same."""
    cases = [*_cases.tinydb(quick), *_cases.mate(quick)]
    for count in (1, 2, 3, 4, 6, 7, 8) if quick else _cases.FRAMES:
        cases += _cases.generated(12, count)
    for count in (36, 60) if quick else _cases.PAGES[1:]:
        cases += _cases.generated(count, 12)
    pairs = [
        (case, other)
        for case in cases
        for other in cases
        if case.method == "published"
        and other.method == "ours"
        and (case.program, case.situation, case.known)
        == (other.program, other.situation, other.known)
        and case.cost.faults > 100
    ]
    theirs = sum(case.cost.faults for case, _ in pairs)
    mine = sum(other.cost.faults for _, other in pairs)
    saved = _rig.fewer(mine, theirs)
    worse = sum(other.cost.faults > case.cost.faults for case, other in pairs)
    return Report(
        answers=[
            Answer(
                round(saved, 1),
                holds=saved >= 10,
                why=f"{len(pairs)} cases, in {worse} of them ours has more",
                tolerance="none: a tenth fewer at least",
                must_hold=True,
            )
        ],
        columns=("program", "situation", "known", "published", "ours", "fewer %"),
        rows=[
            [
                case.program,
                case.situation,
                case.known,
                round(case.cost.faults, 1),
                round(other.cost.faults, 1),
                round(_rig.fewer(other.cost.faults, case.cost.faults), 1),
            ]
            for case, other in pairs
        ],
    )
