# SPDX-License-Identifier: Apache-2.0
"""habit-days: vFlash before it has learnt: six days of a phone, of which four in a row are unused.

Published, nothing leaves the NVM before habits are known, so what is written then goes to flash.
`habit-lru` reserves the same and leaves the rest to LRU's order.
"""

from dataclasses import replace

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment
from papers.tiering import _phone
from papers.tiering._phone import FLASH, Model, Outcome, Way

DAYS, UNUSED = 6, range(1, 5)
SPANS = {"first day": 1, "six days": DAYS}
LRU = Way("lru")
WAYS = {"LRU": LRU, "vFlash": _phone.VFLASH, "vFlash and LRU": _phone.HABIT_LRU}


def _model(quick: bool, days: int) -> Model:
    base = _phone.quick(_phone.BASE) if quick else _phone.BASE
    return replace(base, days=days, unused=UNUSED)


def to_flash(outcome: Outcome) -> float:
    """Percent of what was written: at once and later."""
    return 100 * outcome.written_to_flash / outcome.result["sectors_written"]


def _mean_to_flash(quick: bool, days: int, way: Way) -> float:
    shares = [to_flash(_phone.run(user, _model(quick, days), way)) for user in _phone.USERS]
    return sum(shares) / len(shares)


def _more(quick: bool, days: int) -> int:
    """Sectors that vFlash and LRU writes to flash beyond LRU; the most of three users."""
    model = _model(quick, days)
    return max(
        _phone.run(user, model, _phone.HABIT_LRU).written_to_flash
        - _phone.run(user, model, LRU).written_to_flash
        for user in _phone.USERS
    )


@experiment(
    "habit-days",
    claim="sectors that vFlash with LRU in what is not reserved writes to flash beyond LRU, on a "
    "first day",
    published="at most 0",
    unit="sectors",
    where=OURS,
    setup=f"as VF-10, three users, but {DAYS} days of which {UNUSED.start + 1} to {UNUSED.stop} "
    "are unused; LRU keeps one slot in 16 free in idle time; a sector that is in the NVM at the "
    "end counts for nobody",
)
def days(quick: bool) -> Report:
    """The first day, and all of them."""
    shares = {
        name: {span: _mean_to_flash(quick, count, way) for span, count in SPANS.items()}
        for name, way in WAYS.items()
    }
    answers = [
        Answer(
            _more(quick, SPANS["first day"]),
            holds=_more(quick, SPANS["first day"]) <= 0,
            why="nothing is predicted, so it does what LRU does",
            tolerance="none: both are counts",
            must_hold=True,
        ),
        *(
            Answer(
                f"{of['first day']:.1f}, {of['six days']:.1f}",
                verdict=NOT_JUDGED,
                why="the model's numbers decide how much comes back; on a phone's trace of this "
                "shape it was 99.7 % (vFlash) and 85.9 % (LRU)",
                part=name.lower().replace(" ", "-"),
                claim=f"written to flash on the first day and in six: {name}",
                published="not given",
                unit="%",
            )
            for name, of in shares.items()
        ),
    ]
    rows: list[list[Value]] = []
    for span, count in SPANS.items():
        model = _model(quick, count)
        for user in _phone.USERS:
            flash = _phone.run(user, model, FLASH)
            for name, way in WAYS.items():
                outcome = _phone.run(user, model, way)
                faster = outcome.total_speed / flash.total_speed
                rows.append([span, user, name, round(to_flash(outcome), 2), round(faster, 3)])
    columns = ["span", "user", "policy", "written to flash, %", "speed over flash alone, times"]
    return Report(answers, columns, rows)
