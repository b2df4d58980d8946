# SPDX-License-Identifier: Apache-2.0
"""Experiments that re-run a published table or figure: what one is, and how it is run and kept.

An experiment lives in papers/<document>/<name>.py:

    from lab.experiments import Answer, Report, experiment

    @experiment(
        "T4",
        claim="a guard hit adds 16 cycles",
        published=16,
        unit="cycles",
        where="table 4",
        setup="Cortex-M3, everything resident; ours: the same program in the emulator",
    )
    def guard_hit(quick: bool) -> Report:
        cycles = ...
        return Report(
            answers=[
                Answer(
                    cycles,
                    holds=near(cycles, 16, points=0),
                    tolerance="none: both are exact counts",
                    why="our guard keeps tag and base in ...",
                )
            ],
            columns=["kernel", "cycles"],
            rows=[["sum", cycles]],
            draw=lambda axes: axes.bar(["sum"], [cycles]),
        )

`where` names the section, table or figure; `setup` what the document measured on, and where ours
is another: who has only the document can repeat it. `tolerance` says how far a measured value may
be from the published one, to either side, and still hold, and why so far. A claim of order, "less
than", is judged on the document's own set-up alone. What our set-up cannot reach is NOT_REACHABLE,
with the arithmetic in `why`; what says nothing of us, NOT_JUDGED.

One run may answer several claims: give each answer its own `part`, `claim` and `published`; the
result's id is then ID/PART. A claim of our own that must hold is marked `must_hold=True`; a
published one that comes out otherwise is a result like any other, with its reason in `why`.
"""

import csv
import io
import textwrap
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nandwich import files, plots
from nandwich.errors import NandwichError, RunError

#: A plot's title is broken into lines of so many characters.
TITLE_COLUMNS = 74

Value = int | float | str
SCHEMA = "nandwich.papers/3"
HOLDS, DIFFERS, ERROR = "holds", "differs", "error"
NOT_REACHABLE, NOT_JUDGED = "not reachable", "not judged"
VERDICTS = (HOLDS, DIFFERS, NOT_REACHABLE, NOT_JUDGED, ERROR)

#: The document of the experiments in a folder of papers/; that of a claim of our own, as all in
#: papers/ours are, is "ours".
DOCUMENTS = {
    "fatvm": "FaTVM",
    "vimem": "ViMem",
    "capsule": "Capsule",
    "rgedf": "RG-EDF",
    "heating": "NAND codesign",
    "tiering": "NAND codesign",
}
OURS = "ours"


def span(low: float, high: float) -> str:
    """A range that was measured, in two digits."""
    return f"{low:.2g} to {high:.2g}"


def near(measured: float, published: float, *, percent: float = 0.0, points: float = 0.0) -> bool:
    """The rule for one figure: it holds within so many percent of the published one, or within so
    many of its own units, whichever is more, to either side."""
    return abs(measured - published) <= max(abs(published) * percent / 100, points)


def meets(measured: tuple[float, float], published: tuple[float | None, float | None]) -> bool:
    """The rule for ranges: a measured one holds where it meets the published one, both ends of
    which count; None: that end is open."""
    low, high = published
    return (high is None or min(measured) <= high) and (low is None or max(measured) >= low)


@dataclass(frozen=True)
class Answer:
    """What was measured for one claim. Fields left None are those of the experiment."""

    measured: Value
    holds: bool = False
    why: str = ""
    part: str = ""
    claim: str | None = None
    published: Value | None = None
    unit: str | None = None
    must_hold: bool | None = None
    where: str | None = None
    tolerance: str = ""
    verdict: str = ""  # NOT_REACHABLE or NOT_JUDGED, in the place of `holds`


@dataclass(frozen=True)
class Report:
    """What a run gives: an answer for each claim, the table behind it, and how to draw it."""

    answers: Sequence[Answer]
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    draw: plots.Draw | None = None


@dataclass(frozen=True)
class Experiment:
    """One published table, figure or claim and the function that measures it again."""

    id: str
    claim: str
    published: Value
    unit: str
    run: Callable[[bool], Report]
    must_hold: bool = False
    #: A quick run measures the same as the whole one: it may judge.
    judges_quick: bool = False
    where: str = ""
    setup: str = ""

    @property
    def document(self) -> str:
        """What the claim is of."""
        folder = (*self.run.__module__.split("."), "")[1]
        return OURS if self.must_hold else DOCUMENTS.get(folder, folder)


@dataclass(frozen=True)
class Result:
    """One line of `nandwich papers`: a claim and what became of it."""

    id: str
    claim: str
    published: Value
    measured: Value | None
    unit: str
    verdict: str
    why: str
    must_hold: bool
    document: str = ""
    where: str = ""
    setup: str = ""
    tolerance: str = ""

    @property
    def failed(self) -> bool:
        """The run broke, or a claim that must hold does not."""
        return self.verdict == ERROR or (self.must_hold and self.verdict == DIFFERS)

    def as_json(self) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "id": self.id,
            "document": self.document,
            "where": self.where,
            "claim": self.claim,
            "setup": self.setup,
            "published": self.published,
            "measured": self.measured,
            "unit": self.unit,
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "why": self.why,
        }


def experiment(
    id: str,
    *,
    claim: str,
    published: Value,
    unit: str,
    must_hold: bool = False,
    judges_quick: bool = False,
    where: str = "",
    setup: str = "",
) -> Callable[[Callable[[bool], Report]], Experiment]:
    """Decorator that makes an Experiment of a function `run(quick) -> Report`."""

    def register(run: Callable[[bool], Report]) -> Experiment:
        return Experiment(id, claim, published, unit, run, must_hold, judges_quick, where, setup)

    return register


def perform(chosen: Experiment, *, quick: bool, out: Path) -> tuple[list[Result], str]:
    """Run one experiment; write out/ID.csv and out/ID.svg.

    Gives its results and, when it broke without a sentence of its own, the traceback: an error is a
    result too, so that the experiments after it still run.
    """
    try:
        report = chosen.run(quick)
        results = [_result(chosen, answer) for answer in report.answers]
        if quick and not chosen.judges_quick:
            results = [replace(one, verdict=NOT_JUDGED) for one in results]
        try:
            _write_files(chosen, report, out, _title(chosen, results, quick=quick))
        except OSError as error:
            raise RunError(f"{error.filename or out}: {error.strerror}") from error
    except Exception as error:
        told = error.message if isinstance(error, NandwichError) else ""
        reason = told or repr(error)
        broken = Result(
            id=chosen.id,
            claim=chosen.claim,
            published=chosen.published,
            measured=None,
            unit=chosen.unit,
            verdict=ERROR,
            why=reason,
            must_hold=True,
            document=chosen.document,
        )
        return [broken], "" if told else traceback.format_exc()
    return results, ""


def _result(chosen: Experiment, answer: Answer) -> Result:
    verdict = answer.verdict or (HOLDS if answer.holds else DIFFERS)
    must_hold = chosen.must_hold if answer.must_hold is None else answer.must_hold
    if verdict != HOLDS and not answer.why:
        raise ValueError(f"{chosen.id}: an answer that does not hold needs its reason")
    return Result(
        id=f"{chosen.id}/{answer.part}" if answer.part else chosen.id,
        claim=chosen.claim if answer.claim is None else answer.claim,
        published=chosen.published if answer.published is None else answer.published,
        measured=answer.measured,
        unit=chosen.unit if answer.unit is None else answer.unit,
        verdict=verdict,
        why=answer.why,
        must_hold=must_hold,
        document=OURS if must_hold else chosen.document,
        where=chosen.where if answer.where is None else answer.where,
        setup=chosen.setup,
        tolerance=answer.tolerance,
    )


def _title(chosen: Experiment, results: Sequence[Result], *, quick: bool) -> str:
    """The claim and what was measured of it: a picture never says more than its run has shown."""
    run = "quick run: " if quick else ""
    if quick and results and all(one.verdict == NOT_JUDGED for one in results):
        verdict = "smaller programs, not judged"
    elif len(results) == 1:
        verdict = f"{results[0].verdict}, {results[0].measured} {results[0].unit}".strip()
    else:
        judged = [one.verdict for one in results if one.verdict in (HOLDS, DIFFERS)]
        verdict = f"{judged.count(HOLDS)} of {len(judged)} judged hold" if judged else NOT_JUDGED
    return textwrap.fill(f"{chosen.id}: {chosen.claim} ({run}{verdict})", TITLE_COLUMNS)


def _write_files(chosen: Experiment, report: Report, out: Path, title: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(report.columns)
    for row in report.rows:
        if len(row) != len(report.columns):
            raise ValueError(f"{chosen.id}: a row of {len(row)} under {len(report.columns)} heads")
        writer.writerow(row)
    files.replace(out / f"{chosen.id}.csv", text.getvalue().encode())
    if report.draw is not None:
        plots.write_svg(out / f"{chosen.id}.svg", report.draw, title=title)
