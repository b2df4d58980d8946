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
with the arithmetic in `why`; what says nothing of us, NOT_JUDGED; neither has a tolerance.

One run may answer several claims: give each answer its own `part`, `claim` and `published`; the
result's id is then ID/PART. A claim counts under the document of its folder. One that no document
makes is ours: its experiment lies in papers/ours, or the answer has `where=OURS`. Of ours some
must hold (`must_hold=True`); a published one that comes out otherwise is a result like any other,
with its reason in `why`.
"""

import csv
import io
import textwrap
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.pages import row
from nandwich import files, plots
from nandwich.errors import NandwichError, RunError

#: A plot's title is broken into lines of so many characters.
TITLE_COLUMNS = 74

Value = int | float | str
SCHEMA = "nandwich.papers/3"
HOLDS, DIFFERS, ERROR = "holds", "differs", "error"
NOT_REACHABLE, NOT_JUDGED = "not reachable", "not judged"
VERDICTS = (HOLDS, DIFFERS, NOT_REACHABLE, NOT_JUDGED, ERROR)

#: The document of the experiments in a folder of papers/.
DOCUMENTS = {
    "fatvm": "FaTVM",
    "vimem": "ViMem",
    "capsule": "Capsule",
    "rgedf": "RG-EDF",
    "heating": "NAND codesign",
    "tiering": "NAND codesign",
}
#: The folder, the document and the place of a claim that no document makes.
OURS = "ours"
#: Published of such a claim, unless it names what it wants.
NOT_GIVEN = "not given"


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
    """What was measured for one claim. Fields left None are those of the experiment; a claim of our
    own in a document's experiment has nothing published unless it says so."""

    measured: Value
    holds: bool = False
    why: str = ""
    part: str = ""
    claim: str | None = None
    published: Value | None = None
    unit: str | None = None
    where: str | None = None
    tolerance: str = ""
    must_hold: bool = False  # of a claim of our own
    verdict: str = ""  # NOT_REACHABLE or NOT_JUDGED, in the place of `holds`


@dataclass(frozen=True)
class Report:
    """What a run gives: an answer for each claim, the table behind it, and how to draw it."""

    answers: Sequence[Answer]
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    draw: plots.Draw | None = None
    page: bool = False  # the table as a page of the docs too


@dataclass(frozen=True)
class Experiment:
    """One published table, figure or claim and the function that measures it again."""

    id: str
    claim: str
    published: Value
    unit: str
    run: Callable[[bool], Report]
    #: A quick run measures the same as the whole one: it may judge.
    judges_quick: bool = False
    where: str = ""
    setup: str = ""

    @property
    def document(self) -> str:
        """What the claim is of."""
        folder = (*self.run.__module__.split("."), "")[1]
        return DOCUMENTS.get(folder, folder)


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
    document: str = ""
    where: str = ""
    setup: str = ""
    tolerance: str = ""
    must_hold: bool = False

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
    published: Value = NOT_GIVEN,
    unit: str,
    judges_quick: bool = False,
    where: str = "",
    setup: str = "",
) -> Callable[[Callable[[bool], Report]], Experiment]:
    """Decorator that makes an Experiment of a function `run(quick) -> Report`."""

    def register(run: Callable[[bool], Report]) -> Experiment:
        return Experiment(id, claim, published, unit, run, judges_quick, where, setup)

    return register


def perform(chosen: Experiment, *, quick: bool, out: Path) -> tuple[list[Result], str]:
    """Run one experiment; write out/ID.csv, and what its report has of out/ID.svg and out/ID.md.

    Gives its results and, when it broke without a sentence of its own, the traceback: an error is a
    result too, so that the experiments after it still run.
    """
    try:
        report = chosen.run(quick)
        results = [_result(chosen, answer) for answer in report.answers]
        if quick and not chosen.judges_quick:
            results = [replace(one, verdict=NOT_JUDGED, tolerance="") for one in results]
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
            document=chosen.document,
        )
        return [broken], "" if told else traceback.format_exc()
    return results, ""


def _result(chosen: Experiment, answer: Answer) -> Result:
    where = chosen.where if answer.where is None else answer.where
    usual = NOT_GIVEN if answer.where == OURS else chosen.published
    result = Result(
        id=f"{chosen.id}/{answer.part}" if answer.part else chosen.id,
        claim=chosen.claim if answer.claim is None else answer.claim,
        published=usual if answer.published is None else answer.published,
        measured=answer.measured,
        unit=chosen.unit if answer.unit is None else answer.unit,
        verdict=answer.verdict or (HOLDS if answer.holds else DIFFERS),
        why=answer.why,
        document=OURS if where == OURS else chosen.document,
        where=where,
        setup=chosen.setup,
        tolerance=answer.tolerance,
        must_hold=answer.must_hold,
    )
    if result.verdict != HOLDS and not result.why:
        raise ValueError(f"{result.id}: an answer that does not hold needs its reason")
    if result.verdict not in (HOLDS, DIFFERS) and result.tolerance:
        raise ValueError(f"{result.id}: what is {result.verdict} has no tolerance")
    if (result.must_hold or result.published == NOT_GIVEN) and result.document != OURS:
        raise ValueError(f"{result.id}: no claim of {result.document}'s, so where=OURS")
    return result


def _title(chosen: Experiment, results: Sequence[Result], *, quick: bool) -> str:
    """The claim and what was measured of it: a picture never says more than its run has shown."""
    run = "quick run: " if quick else ""
    if quick and results and all(one.verdict == NOT_JUDGED for one in results):
        verdict = "smaller programs, not judged"
    elif len(results) == 1:
        verdict = f"{results[0].verdict}, {results[0].measured} {results[0].unit}".strip()
    else:
        counts = Counter(one.verdict for one in results)
        judged = counts[HOLDS] + counts[DIFFERS]
        told = [f"{counts[HOLDS]} of {judged} judged hold"] if judged else []
        told += [f"{counts[one]} {one}" for one in (NOT_REACHABLE, NOT_JUDGED) if counts[one]]
        verdict = ", ".join(told)
    return textwrap.fill(f"{chosen.id}: {chosen.claim} ({run}{verdict})", TITLE_COLUMNS)


def _write_files(chosen: Experiment, report: Report, out: Path, title: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(report.columns)
    for cells in report.rows:
        if len(cells) != len(report.columns):
            raise ValueError(
                f"{chosen.id}: a row of {len(cells)} under {len(report.columns)} heads"
            )
        writer.writerow(cells)
    files.replace(out / f"{chosen.id}.csv", text.getvalue().encode())
    if report.page:
        lines = [row(*report.columns), row(*["---"] * len(report.columns))]
        lines += [row(*cells) for cells in report.rows]
        text_of_page = "\n".join([f"# {chosen.id}", "", title, "", *lines, ""])
        files.replace(out / f"{chosen.id}.md", text_of_page.encode())
    if report.draw is not None:
        plots.write_svg(out / f"{chosen.id}.svg", report.draw, title=title)
