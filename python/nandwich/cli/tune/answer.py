# SPDX-License-Identifier: Apache-2.0
"""What a search found: the front, the choice with its reason, and the files that hold them."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from nandwich import _native
from nandwich.cli import output
from nandwich.cli.tune import goals
from nandwich.cli.tune.goals import GOALS, Goals
from nandwich.cli.tune.search import Candidate, Found, Search
from nandwich.cli.tune.space import Space
from nandwich.errors import RunError
from nandwich.quantities import format_size, format_time
from nandwich.replay.options import Options, models_among
from nandwich.results.figures import ENDLESS

#: Rows of the table; the exports have all.
SHOWN = 12
#: Of a file with a choice.
BEGINNING = b"# By:"
_BALANCED = "balanced"
BESTS = (*GOALS, _BALANCED)
#: Options whose values say themselves what they are of.
_SPEAK = frozenset({"chip", "ftl", "tier", "wear", "nvm-part"})
_HALF_TOLD = (
    "the NVM held more at the end than it had written back; a longer trace shows how flash wears"
)
_YEAR_DAYS = 365
_MOST_REASONS = 3
#: What the next one of the front is called that is better in a goal.
_NEXT = {"time": "faster", "cost": "cheaper"}
_KEEPS = {name: keeps for name, _, keeps, _ in _native.layers()}


@dataclass(frozen=True)
class Answer:
    """`front` has numbers of what was found, the fastest first; a configuration's place there, from
    1 on, is what people call it by. `shown` and `chosen` are such places, from 0 on."""

    found: list[Found]
    front: list[int]
    shown: list[int]
    chosen: int
    best: str
    daily: int  # host bytes or accesses a day; 0: not known
    accesses: int  # of a run of a program; 0: what is played is none

    def at(self, place: int) -> Found:
        return self.found[self.front[place]]

    def goals(self, place: int) -> Goals:
        found = self.at(place).goals
        assert found is not None
        return found


def of(search: Search, best: str, daily: int, accesses: int) -> Answer:
    """The answer of a search that ended; RunError where nothing is allowed."""
    allowed = [i for i, one in enumerate(search.found) if one.allowed]
    if not allowed:
        raise RunError(_nothing(search))
    vectors = [one.goals.vector for i in allowed if (one := search.found[i]).goals]
    places = goals.front(vectors)
    front = [vectors[i] for i in places]
    chosen = goals.choose(front, best)
    first = [chosen, *(goals.choose(front, goal) for goal in GOALS)]
    near = (goals.neighbour(front, chosen, goal) for goal in _NEXT)
    first += [one for one in near if one is not None]
    shown = goals.spread(front, first, SHOWN)
    places = [allowed[i] for i in places]
    return Answer(search.found, places, shown, chosen, best, daily, accesses)


def _nothing(search: Search) -> str:
    """Why nothing is left: what came nearest, and what was not played at all."""
    told = []
    if search.found:
        near = min(search.found, key=lambda one: one.over)
        what = words(near.candidate)
        told.append(f"  the nearest of {len(search.found)} is {what}: {near.why}")
    if search.nearest:
        what = words(search.nearest)
        told.append(f"  the nearest that was not played is {what}: {_takes(search.nearest)}")
    for why, count in search.impossible.most_common(_MOST_REASONS):
        told.append(f"  not played: {why} (asked {count} times)")
    return "\n".join(("no configuration does what is asked:", *told))


def _takes(candidate: Candidate) -> str:
    """What one that is over a limit asks for."""
    need = candidate.need
    sizes = f"{format_size(need.ram_bytes)} of RAM, {format_size(need.flash_bytes)} of flash"
    return f"{candidate.why}: {sizes}"


def words(candidate: Candidate, without: Collection[str] = ()) -> str:
    """A configuration in words: what is not the layer's own choice."""
    told = []
    for key, value in candidate.point.chosen.items():
        if key in without:
            continue
        if value is True:
            told.append(key)
        elif value not in (None, False, 0, "0"):
            told.append(str(value) if key in _SPEAK else f"{key}={value}")
    return " ".join(told)


def table(answer: Answer) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Heads and rows of the front; `*` is the choice."""
    rows: list[tuple[object, ...]] = []
    alike = same(answer)
    for place in answer.shown:
        one = answer.goals(place)
        mark = "*" if place == answer.chosen else " "
        rows.append(
            (
                f"{place + 1:>3} {mark}",
                f"{one.time_ns:.4g} ns",
                _energy(one.energy_pj),
                life(one.life, answer.daily, answer.accesses) + " ?" * one.half_told,
                format_size(one.ram_bytes),
                format_size(one.flash_bytes),
                format_size(one.cost_bytes),
                words(answer.at(place).candidate, alike),
            )
        )
    return ("", "time", "energy", "life", "RAM", "flash", "cost", "configuration"), rows


def same(answer: Answer) -> list[str]:
    """Axes with one value in all rows of the table."""
    shown = [answer.at(place).candidate.point.chosen for place in answer.shown]
    return [key for key in shown[0] if all(one[key] == shown[0][key] for one in shown)]


def _energy(pj: float) -> str:
    return f"{pj / 1000:.4g} nJ" if pj >= 1000 else f"{pj:.4g} pJ"


def life(life: int, daily: int, accesses: int) -> str:
    """A life for people: years where it is known what is done a day, else bytes or runs."""
    if life >= ENDLESS:
        return "endless"
    if not daily:
        return f"{life / accesses:.3g} runs" if accesses else format_size(life)
    days = goals.days(life, daily)
    return f"{days:.3g} days" if days < _YEAR_DAYS else f"{days / _YEAR_DAYS:.3g} years"


def reasons(answer: Answer) -> list[str]:
    """Why this one, and what it gains and gives up against its neighbours on the front."""
    place = answer.chosen
    if len(answer.front) == 1:
        return [f"{place + 1} is chosen: it is as good as any in all four goals.", *_run(answer)]
    ratios = _ratios(answer, place, [_best(answer, goal) for goal in GOALS])
    told = ", ".join(
        f"{goal} {ratio:.2f}" if ratio >= 0.01 else f"{goal} {ratio:.1g}"
        for goal, ratio in zip(GOALS, ratios, strict=True)
    )
    why = (
        "it lies nearest to the best of all four goals"
        if answer.best == _BALANCED
        else f"it is the best in {answer.best}"
    )
    said = [f"{place + 1} is chosen: {why}. Times the best of each: {told}."]
    for goal, name in _NEXT.items():
        other = goals.neighbour(_vectors(answer), place, goal)
        if other is not None:
            said.append(f"{name[0].upper()}{name[1:]} is {other + 1}: {_against(answer, other)}.")
    return [*said, *_run(answer)]


def _run(answer: Answer) -> list[str]:
    """What a run of a program asks of the choice."""
    if not answer.accesses:
        return []
    one = answer.goals(answer.chosen)
    took = format_time(round(one.time_ns * answer.accesses))
    return [
        f"A run of {answer.accesses:,} accesses reads {one.reads:,} sectors and writes "
        f"{one.writes:,}, which takes the device {took}."
    ]


def _vectors(answer: Answer) -> list[tuple[float, ...]]:
    return [answer.goals(place).vector for place in range(len(answer.front))]


def _best(answer: Answer, goal: str) -> int:
    return goals.choose(_vectors(answer), goal)


def _ratios(answer: Answer, place: int, others: Sequence[int]) -> list[float]:
    """Each goal of one over that of the other that stands for the goal."""
    mine = answer.goals(place).weighed
    return [
        mine[i] / theirs if (theirs := answer.goals(other).weighed[i]) else 1.0
        for i, other in enumerate(others)
    ]


def _against(answer: Answer, other: int) -> str:
    """What changes with another choice."""
    ratios = _ratios(answer, other, [answer.chosen] * len(GOALS))
    return ", ".join(
        f"{goal} {_change(ratio)}"
        for goal, ratio in zip(GOALS, ratios, strict=True)
        if round(ratio, 4) != 1
    )


def _change(ratio: float) -> str:
    if ratio >= 10:
        return f"x {ratio:.3g}"
    return f"{100 * (ratio - 1):+.3g} %" if ratio > 0.01 else f"/ {1 / ratio:.3g}"


def notes(answer: Answer) -> list[str]:
    """What is to be known of the choice beside its figures."""
    told = [_forgets(answer), models_among([_layer(answer)]), _worn(answer)]
    if answer.goals(answer.chosen).half_told:
        told.append(f"its life is too long: {_HALF_TOLD}")
    return [one for one in told if one]


def legend(answer: Answer) -> str:
    """A line where a life of the table has a mark."""
    marked = any(answer.goals(place).half_told for place in answer.shown)
    return f"?: {_HALF_TOLD}" if marked else ""


def _layer(answer: Answer) -> str:
    line = answer.at(answer.chosen).candidate.point.arguments
    return line[line.index("--ftl") + 1] if "--ftl" in line else Options.ftl


def _forgets(answer: Answer) -> str:
    """A line where the choice is a layer that keeps nothing without power."""
    name = _layer(answer)
    return "" if _KEEPS.get(name, True) else f"{name} forgets with power: for swap space alone"


def _worn(answer: Answer) -> str:
    """A line where a life by the block erased most is known."""
    one = answer.goals(answer.chosen)
    if one.worn is None or one.worn >= one.life:
        return ""
    short = life(one.worn, answer.daily, answer.accesses)
    return f"by the block that was erased most its life is {short}; lives are of even wear"


def choice_toml(answer: Answer, space: Space, command: str) -> bytes:
    """The choice as a spec of one point. Figures that were found stand in place of the asked."""
    found = answer.at(answer.chosen)
    need = found.candidate.need
    values = space.values(found.candidate.chosen)
    asked = values.get("ram", 0)
    values |= {"ram": need.layer_bytes, "blocks": need.blocks}
    values.setdefault("chip", Options.chip)
    values.setdefault("ftl", Options.ftl)
    told = [*reasons(answer), *notes(answer)]
    if asked:
        told.append(f"Of the RAM that it may take, {asked}, the layer takes what stands here.")
    lines = [f"{BEGINNING.decode()} {command}", *(f"# {one}" for one in told)]
    lines += ["[sweep]", 'verb = "replay"', "", "[base]"]
    lines += [f"{key} = {_toml(value)}" for key, value in values.items() if key != "source"]
    lines += [f"source = {_toml(values['source'])}"]
    return ("\n".join(" ".join(one.split("\n")) for one in lines) + "\n").encode()


def _toml(value: Any) -> str:
    """Texts, numbers and flags are written alike in JSON."""
    return json.dumps(value, ensure_ascii=False)


def rows(answer: Answer) -> list[dict[str, Any]]:
    """All that was played, in the order in which it was asked."""
    places = {number: place for place, number in enumerate(answer.front)}
    shown = {answer.front[place] for place in answer.shown}
    return [
        {
            "configuration": one.candidate.point.chosen,
            "name": words(one.candidate),
            "place": places[i] + 1 if i in places else None,
            "shown": i in shown,
            "allowed": one.allowed,
            "why": one.why,
            "command": one.candidate.point.command,
            "goals": None if one.goals is None else _goals(one.goals, answer.daily),
        }
        for i, one in enumerate(answer.found)
    ]


def _goals(one: Goals, daily: int) -> dict[str, Any]:
    told = one.as_json()
    told["life_days"] = goals.days(one.life, daily) if daily else None
    return told


def columns(found: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """The rows as columns by name."""
    keys = list(found[0]["configuration"])
    made = {key: [one["configuration"][key] for one in found] for key in keys}
    made["place"] = [one["place"] for one in found]
    made["allowed"] = [one["allowed"] for one in found]
    figures: dict[str, Any] = next((one["goals"] for one in found if one["goals"]), {})
    for key in figures:
        made[key] = [one["goals"][key] if one["goals"] else None for one in found]
    return made


def summary(search: Search, answer: Answer, size: int | None) -> list[str]:
    """How much was looked at, and what is shown of it."""
    played, front, shown = len(search.found), len(answer.front), len(answer.shown)
    whole = "" if size is None else f" of {output.counted(size, 'combination')}"
    beyond = sum(not one.allowed for one in search.found)
    told = [
        f"{played}{whole} played, {beyond} of them over a limit or failed",
        f"{search.repeated} asked again or equal in effect, "
        f"{search.impossible.total()} impossible, not played",
        f"{front} on the front: no other is as good in all" + f"; {shown} shown" * (shown < front),
    ]
    alike = same(answer)
    rest = [key for key in answer.found[0].candidate.point.chosen if key not in alike]
    if text := words(answer.at(answer.chosen).candidate, rest):
        told.append(f"all shown with: {text}")
    return told
