# SPDX-License-Identifier: Apache-2.0
"""What virtual memory costs real programs, by the RAM that their globals get: the user's page."""

import itertools
import shutil
import statistics
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from lab import ROOT, vm_cost, vm_programs
from lab.benches import Figure, bench, found_pages
from lab.pages import put, row
from lab.vm_programs import BUDGETS, PROGRAMS, Bed, Build, Parts, Program
from nandwich.compiler import profiles
from nandwich.errors import RunError

PAGE = ROOT / "docs" / "vm-what-it-costs.md"
#: What lies between is this bench's.
_IN_SHORT = ("<!-- in short: nandwich bench vm-programs -->", "<!-- end of in short -->")
_FIGURES = ("<!-- figures: nandwich bench vm-programs -->", "<!-- end of figures -->")

#: Of a program its builds: without a profile by budget, then with one.
_Builds = Sequence[Build]


@dataclass(frozen=True)
class _Goal:
    """What was asked of a program's build with GOAL_BUDGET and a profile, times native."""

    program: str
    value: str  #: of Build
    what: str
    limit: float
    aim: float


GOAL_BUDGET = 4 << 10
GOALS = (
    _Goal("lua", "ratio", "instructions", 2.5, 2.0),
    _Goal("bzip2", "ratio", "instructions", 3.2, 2.6),
    _Goal("sqlite", "ratio", "instructions", 3.3, 2.7),
    _Goal("lua", "text", "code", 2.6, 1.9),
    _Goal("sqlite", "text", "code", 2.5, 1.9),
    _Goal("sqlite", "compiling", "compile time", 3.0, 2.5),
)


@bench("vm-programs", "what Lua, bzip2, SQLite and a JPEG decoder cost in virtual memory")
def vm_programs_figures() -> list[Figure]:
    """Exact counts on the host; the tables go to docs/vm-what-it-costs.md."""
    missing = vm_cost.missing()
    if shutil.which(profiles.TOOL) is None:
        missing.append(profiles.TOOL)
    if missing:
        raise RunError(f"not installed: {', '.join(missing)}")
    found = {program.name: _builds(program) for program in PROGRAMS}
    kernels = [_builds(kernel) for kernel in vm_programs.KERNELS]
    found["kernels"] = [_summary(same) for same in zip(*kernels, strict=True)]
    _write_page(found)
    return [figure for name, builds in found.items() for figure in _figures(name, builds)]


def _builds(program: Program) -> _Builds:
    with tempfile.TemporaryDirectory() as folder:
        return list(Bed(program, Path(folder)).builds())


def _summary(builds: _Builds) -> Build:
    """Means of the kernels built in the same way; a ratio below 1 counts as 1."""
    return Build(
        builds[0].budget,
        builds[0].profiled,
        statistics.geometric_mean(max(one.ratio, 1.0) for one in builds),
        statistics.geometric_mean(one.text for one in builds),
        statistics.geometric_mean(one.compiling for one in builds),
        statistics.mean(one.added for one in builds),
        round(statistics.mean(one.kept for one in builds)),
        _mean_parts([one.native_parts for one in builds]),
        _mean_parts([one.parts for one in builds]),
    )


def _mean_parts(each: Sequence[Parts]) -> Parts:
    return Parts(*(statistics.mean(same) for same in zip(*map(astuple, each), strict=True)))


def _limits(name: str, build: Build) -> dict[str, float]:
    """By value of Build, at most."""
    if build.budget != GOAL_BUDGET or not build.profiled:
        return {}
    return {goal.value: goal.limit for goal in GOALS if goal.program == name}


def _figures(name: str, builds: _Builds) -> list[Figure]:
    figures = []
    for one in builds:
        stem = f"vm-programs.{name}.{one.budget >> 10}k{'.profile' if one.profiled else ''}"
        limits, unit = _limits(name, one), "x native"
        figures += [
            Figure(stem, round(one.ratio, 3), unit, limits.get("ratio")),
            Figure(f"{stem}.text", round(one.text, 2), unit, limits.get("text")),
            Figure(f"{stem}.compile", round(one.compiling, 2), unit, limits.get("compiling")),
            Figure(f"{stem}.added", round(one.added, 2), "instructions/access"),
        ]
    return figures


_TITLES = {program.name: program.title for program in PROGRAMS} | {
    "kernels": f"{len(vm_programs.KERNELS)} kernels, mean"
}


def _budget(one: int) -> str:
    return f"{one >> 10}K" if one else "0"


def _split(builds: _Builds) -> tuple[_Builds, _Builds]:
    half = len(builds) // 2
    return builds[:half], builds[half:]


def _cost_table(found: Mapping[str, _Builds]) -> list[str]:
    titles = ["x native", "text x", "added"]
    with_profile = [f"{title}, profile" for title in titles]
    lines = [
        row("program", "`--statics`", *titles, "B in RAM", *with_profile, "B in RAM"),
        "|---|" + "--:|" * 9,
    ]
    for name, builds in found.items():
        for plain, profiled in zip(*_split(builds), strict=True):
            cells = [
                cell
                for one in (plain, profiled)
                for cell in (
                    f"**{one.ratio:.2f}**",
                    f"{one.text:.1f}",
                    f"{one.added:.1f}",
                    f"{one.kept:,}",
                )
            ]
            title = _TITLES[name] if plain.budget == 0 else ""
            lines.append(row(title, _budget(plain.budget), *cells))
    return lines


def _saved(builds: _Builds) -> list[str]:
    """Times native that go for each KB more, between a budget and the next."""
    return [
        f"{(less.ratio - more.ratio) / ((more.budget - less.budget) >> 10):.3f}".replace(
            "-0.000", "0.000"
        )
        for less, more in itertools.pairwise(builds)
    ]


def _kb_table(found: Mapping[str, _Builds]) -> list[str]:
    steps = [f"{_budget(less)} to {_budget(more)}" for less, more in itertools.pairwise(BUDGETS)]
    lines = [
        row("program", *steps, *(f"{step}, profile" for step in steps)),
        "|---|" + "--:|" * (2 * len(steps)),
    ]
    for name, builds in found.items():
        plain, profiled = _split(builds)
        if len(plain) == len(BUDGETS):
            lines.append(row(_TITLES[name], *_saved(plain), *_saved(profiled)))
    return lines


def _goal_table(found: Mapping[str, _Builds]) -> list[str]:
    lines = [
        row("program", "x native", "asked", "aim", "without a profile", "with one", ""),
        "|---|---|" + "--:|" * 4 + "---|",
    ]
    for goal in GOALS:
        plain, profiled = (
            next(getattr(one, goal.value) for one in same if one.budget == GOAL_BUDGET)
            for same in _split(found[goal.program])
        )
        verdict = "reached" if profiled <= goal.limit else "missed"
        cells = [f"{value:.2f}" for value in (goal.limit, goal.aim, plain, profiled)]
        lines.append(row(_TITLES[goal.program], goal.what, *cells, verdict))
    return lines


def _parts_table(found: Mapping[str, _Builds]) -> list[str]:
    titles = ("own code", "calls of guards", "library")
    lines = [
        row("program", *(f"native: {titles[i]}" for i in (0, 2)), *titles),
        "|---|" + "--:|" * 5,
    ]
    for program in PROGRAMS:
        _, profiled = _split(found[program.name])
        one = next(one for one in profiled if one.budget == GOAL_BUDGET)
        cells = (one.native_parts.own, one.native_parts.library, *astuple(one.parts))
        lines.append(row(program.title, *(f"{cell:.2f}" for cell in cells)))
    return lines


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def _in_short(found: Mapping[str, _Builds]) -> list[str]:
    """What to expect, in a few sentences; globals in RAM are of no use to the programs."""
    builds = [_split(found[program.name]) for program in PROGRAMS]
    plain, profiled = [one[0] for one, _ in builds], [one[0] for _, one in builds]
    kernels = {one.budget: one.ratio for one in _split(found["kernels"])[0]}
    better = [min(pair, key=lambda one: one.ratio) for pair in zip(plain, profiled, strict=True)]
    each = [
        f"{one.ratio:.1f} for {program.title}"
        for program, one in zip(PROGRAMS, better, strict=True)
    ]
    text = (
        f"**In short**: a program whose data are on the heap takes "
        f"{_range([one.ratio for one in better])} times the native instructions "
        f"({', '.join(each)}; "
        "the better of a build with a profile and one without). "
        f"The mean of {len(vm_programs.KERNELS)} kernels, from streams to chains of pointers, "
        f"is {kernels[0]:.2f} without a profile, "
        + ", ".join(f"{kernels[one]:.2f} with {_budget(one)}" for one in BUDGETS[2:])
        + " of RAM for globals. "
        f"The programs' code is {_range([one.text for one in plain])} times native, "
        f"with a profile {_range([one.text for one in profiled])} times."
    )
    return textwrap.wrap(text, 100, break_on_hyphens=False)


def _write_page(found: Mapping[str, _Builds]) -> None:
    works = [f"- **{program.title}** {program.work}." for program in PROGRAMS]
    lines = [
        *works,
        f"- **{len(vm_programs.KERNELS)} kernels** are those of [vm-cost.md](figures/vm-cost.md): "
        "means.",
        "",
        *_cost_table(found),
        "",
        "What another KB of statics takes off x native, each KB of the step:",
        "",
        *_kb_table(found),
        "",
        f"What was asked of builds with `--statics {_budget(GOAL_BUDGET)}`. Compile time is the "
        "processor's, front end and",
        "link, beside clang's for the native program; it varies with what else the machine does.",
        "",
        *_goal_table(found),
        "",
        "Where the instructions of the same builds go, with a profile; all of the native program's "
        "are 1:",
        "",
        *_parts_table(found),
    ]
    page = put(PAGE.read_text(encoding="utf-8"), _IN_SHORT, _in_short(found))
    found_pages[PAGE] = put(page, _FIGURES, lines)
