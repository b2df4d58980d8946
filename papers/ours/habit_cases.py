# SPDX-License-Identifier: Apache-2.0
"""habit-cases: when vFlash's habits are faster than LRFU that makes room in idle time.

On the month by model (papers/tiering/_phone.py) they are not. Here each assumption of that month is
switched alone: room in the NVM, applications' tags, the order in which an application's pages come
back, pauses in which room can be made, and habits that are kept and known. Then the last two, with
which habits win, hold together, and the others are switched on top.

Speed has two means. That of applications is the thesis's; an application that writes little and
always the same is a hundred times as fast in an NVM and decides it. Of all requests together those
decide that write most.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment
from papers.tiering import _phone
from papers.tiering._phone import FLASH, Model, Way

USER = 1
LEARNT_DAYS = 7

WAYS = {
    "LRFU on demand": _phone.LRFU,
    "LRFU in idle time": _phone.LRFU_IDLE,
    "vFlash": _phone.VFLASH,
    "vFlash and room": _phone.ROOM,
    "vFlash and LRU": _phone.HABIT_LRU,
}


@dataclass(frozen=True)
class Case:
    """What is otherwise than in the month by model."""

    nvm_bytes: int = _phone.NVM_BYTES
    tags: str = "carried"
    order: str = "skewed"
    pauses: bool = True
    learnt: bool = False  # each hour of habit is kept, and a week has passed

    def model(self, base: Model) -> Model:
        model = replace(base, tags=self.tags, order=self.order)
        if not self.pauses:
            model = replace(model, gap_ms=0.1, pause_s=0.001)
        return replace(model, regular=1.0, stray=0.0) if self.learnt else model


AS_IS = Case()
FAVOUR = Case(pauses=False, learnt=True)
ROOM_BYTES = 4 * _phone.NVM_BYTES
BY_MODEL, FAVOURED = "the month by model", "no pauses, and habits known"
CASES = {
    BY_MODEL: AS_IS,
    "room: 64 MB of NVM": replace(AS_IS, nvm_bytes=ROOM_BYTES),
    "tags: all writes are the flusher's": replace(AS_IS, tags="lost"),
    "order: pages come back in turn": replace(AS_IS, order="in turn"),
    "gaps: no pauses in a session": replace(AS_IS, pauses=False),
    "habits: kept each day, a week known": replace(AS_IS, learnt=True),
    FAVOURED: FAVOUR,
    "these, and 64 MB": replace(FAVOUR, nvm_bytes=ROOM_BYTES),
    "these, but the flusher's": replace(FAVOUR, tags="lost"),
    "these, but in turn": replace(FAVOUR, order="in turn"),
}


@dataclass(frozen=True)
class Speed:
    """Over flash alone."""

    apps: float  # mean of applications; means nothing where nobody knows whose writes are
    together: float  # of all requests


def speed(case: Case, way: Way, user: int = USER) -> Speed:
    """Of ten days."""
    model = case.model(_phone.shorter(_phone.BASE))
    after = LEARNT_DAYS if case.learnt else 0
    flash = _phone.run(user, model, FLASH, after)
    outcome = _phone.run(user, model, replace(way, nvm_bytes=case.nvm_bytes), after)
    return Speed(outcome.mean_ratio(flash), outcome.total_speed / flash.total_speed)


RIVAL, VFLASH, BOTH = "LRFU in idle time", "vFlash", "vFlash and LRU"
Found = Mapping[str, Mapping[str, Speed]]


def _gain(name: str, user: int) -> float:
    """vFlash over its rival, mean of applications."""
    vflash, rival = (speed(CASES[name], WAYS[way], user).apps for way in (VFLASH, RIVAL))
    return vflash / rival


def _one(users: Sequence[int], name: str, *, wins: bool) -> Answer:
    gains = [_gain(name, user) for user in users]
    why = (
        "a session asks for more than LRFU keeps free, and nothing makes room in it"
        if wins
        else "what nobody predicted goes to flash, and in pauses LRFU makes room for all"
    )
    return Answer(
        f"{min(gains):.2f} to {max(gains):.2f}",
        holds=all((gain > 1) == wins for gain in gains),
        why=why,
        part="" if wins else "by-model",
        claim="vFlash over LRFU that makes room in idle time, mean of applications, by user: "
        + name,
        published=f"{'more' if wins else 'less'} than 1",
        tolerance="none: an order",
    )


def _most(
    found: Found, part: str, claim: str, ahead: Callable[[Mapping[str, Speed]], bool]
) -> Answer:
    """In how many cases somebody is ahead."""
    names = [name for name, speeds in found.items() if ahead(speeds)]
    return Answer(
        f"{len(names)} of {len(found)}",
        holds=len(names) > len(found) / 2,
        verdict=NOT_JUDGED,
        why="which cases there are is our choice; ahead in " + "; ".join(names),
        part=part,
        claim=f"cases in which {claim}, all requests together",
        unit="",
    )


def _answers(found: Found, users: Sequence[int]) -> list[Answer]:
    return [
        _one(users, FAVOURED, wins=True),
        _one(users, BY_MODEL, wins=False),
        _most(
            found,
            "together",
            "vFlash is faster than LRFU that makes room in idle time",
            lambda speeds: speeds[VFLASH].together > speeds[RIVAL].together,
        ),
        _most(
            found,
            "lru",
            "vFlash with LRU in what is not reserved is faster than both",
            lambda speeds: (
                speeds[BOTH].together > max(speeds[VFLASH].together, speeds[RIVAL].together)
            ),
        ),
    ]


def _told(name: str, one: Speed) -> str:
    apps = f"{one.apps:.2f}" if CASES[name].tags == "carried" else "-"
    return f"{apps} / {one.together:.2f}"


@experiment(
    "habit-cases",
    claim="vFlash over LRFU in idle time",
    unit="times",
    where=OURS,
    setup="as VF-10, but ten days, by case those of the first user; where habits are known "
    f"{LEARNT_DAYS} days pass before what counts. Each mean is over flash alone on the same days",
)
def cases(quick: bool) -> Report:
    """Cases by policies."""
    names = (BY_MODEL, FAVOURED) if quick else tuple(CASES)
    users = (USER,) if quick else _phone.USERS
    found = {name: {told: speed(CASES[name], way) for told, way in WAYS.items()} for name in names}
    rows: list[list[Value]] = [
        [name, *(_told(name, one) for one in speeds.values())] for name, speeds in found.items()
    ]
    columns = ["times flash alone: mean of applications / all requests together", *WAYS]
    return Report(_answers(found, users), columns, rows, page=True)
