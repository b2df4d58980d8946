# SPDX-License-Identifier: Apache-2.0
"""`nandwich papers`: verdicts, exit codes and files of experiments made for the purpose."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from lab import discovery, experiments
from lab.experiments import (
    NOT_GIVEN,
    NOT_JUDGED,
    NOT_REACHABLE,
    OURS,
    Answer,
    Experiment,
    Report,
    experiment,
    near,
)
from nandwich import plots
from nandwich.cli.main import main

pytestmark = pytest.mark.quick


def report(*answers: Answer) -> Report:
    return Report(answers, ["n", "value"], [[1, 2.5], [2, 3]], lambda axes: axes.plot([1, 2]))


@experiment(
    "A1",
    claim="holds as published",
    published=16,
    unit="cycles",
    where="table 1",
    setup="a board of theirs",
)
def holding(quick: bool) -> Report:
    return report(Answer(9 if quick else 10, holds=True, tolerance="none: exact counts"))


@experiment("A2", claim="comes out otherwise", published="14 x", unit="")
def differing(quick: bool) -> Report:
    return report(Answer("13 x", holds=False, why="another chip"))


@experiment("B1", claim="ours, must hold", published=1, unit="")
def failing(quick: bool) -> Report:
    return report(
        Answer(2, holds=False, why="it does not", published=1, where=OURS, must_hold=True)
    )


@experiment("B2", claim="breaks", published=1, unit="")
def breaking(quick: bool) -> Report:
    raise ZeroDivisionError("of its own making")


@experiment("B3", claim="differs without a reason", published=1, unit="")
def unreasoned(quick: bool) -> Report:
    return report(Answer(2, holds=False))


@experiment("C1", claim="two in one", published=1, unit="B")
def double(quick: bool) -> Report:
    one = Answer(1, holds=True, part="one")
    return report(one, Answer(2, holds=True, part="two", claim="another", published=2, unit="s"))


@experiment("D1", claim="beyond what the chip has", published=9, unit="", judges_quick=True)
def unreachable(quick: bool) -> Report:
    return report(Answer(3, verdict=NOT_REACHABLE, why="3 blocks hold 3"))


@pytest.fixture
def papers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    found = [holding, differing, failing, breaking, unreasoned, double, unreachable, mixed]
    monkeypatch.setattr(discovery, "collect", lambda folder, kind: found)

    def run(*arguments: str) -> Result:
        out = ["--out", str(tmp_path)]
        return CliRunner().invoke(main, ["papers", *arguments, *out])

    return run


def test_holding_and_differing_claims_end_well(
    papers: Callable[..., Result], tmp_path: Path
) -> None:
    """Goal: a published claim that differs, with its reason, is a result and no failure."""
    result = papers("A1", "a2")
    assert result.exit_code == 0
    assert "A1, set-up: a board of theirs" in result.stdout
    assert "A1, tolerance: none: exact counts" in result.stdout
    assert "A2 differs: another chip" in result.stdout
    assert (tmp_path / "A1.csv").read_text() == "n,value\n1,2.5\n2,3\n"
    assert not (tmp_path / "A1.md").exists()


def test_a_table_as_a_page(tmp_path: Path) -> None:
    """Goal: an experiment writes its table for the docs itself, under its id and verdict."""
    paged = replace(holding, run=lambda quick: replace(holding.run(quick), page=True))
    experiments.perform(paged, quick=False, out=tmp_path)
    lines = (tmp_path / "A1.md").read_text().splitlines()
    assert (lines[0], lines[-4:]) == (
        "# A1", ["| n | value |", "| --- | --- |", "| 1 | 2.5 |", "| 2 | 3 |"]
    )  # fmt: skip
    assert "holds" in " ".join(lines[2:-4])


@pytest.mark.parametrize("id", ["B1", "B2", "B3"])
def test_broken_promises_and_broken_runs_exit_1(papers: Callable[..., Result], id: str) -> None:
    """Goal: a claim of ours that fails, a crash, and a verdict without a reason are failures."""
    assert papers(id).exit_code == 1


def test_a_crash_does_not_stop_the_others(papers: Callable[..., Result]) -> None:
    """Goal: after an experiment breaks the next one still runs, and the traceback is on stderr."""
    result = papers("B2", "A1", "--json", "-")
    results = json.loads(result.stdout)
    validate("papers-3", results)
    assert [(one["id"], one["verdict"]) for one in results] == [("B2", "error"), ("A1", "holds")]
    assert "ZeroDivisionError: of its own making" in result.stderr


def test_json_is_a_plain_list_and_quick_reaches_the_run(papers: Callable[..., Result]) -> None:
    """Goal: the shape other programs rely on: a list of claims with what was measured."""
    result = papers("A1", "--quick", "--json", "-")
    assert json.loads(result.stdout) == [
        {
            "schema": "nandwich.papers/3",
            "id": "A1",
            "document": "",
            "where": "table 1",
            "claim": "holds as published",
            "setup": "a board of theirs",
            "published": 16,
            "measured": 9,
            "unit": "cycles",
            "tolerance": "",
            "verdict": "not judged",
            "why": "",
        }
    ]


def test_quick_runs_judge_nothing_but_what_they_measure_whole(
    papers: Callable[..., Result],
) -> None:
    """Goal: a smaller run says nothing of a published figure, nor fails a claim of ours."""
    result = papers("A2", "B1", "D1", "--quick", "--json", "-")
    verdicts = [one["verdict"] for one in json.loads(result.stdout)]
    assert verdicts == ["not judged", "not judged", "not reachable"]
    assert result.exit_code == 0


def test_a_row_a_document_sums_up(papers: Callable[..., Result]) -> None:
    """Goal: claims of ours are counted apart from a document's; one experiment has no sum."""
    lines = papers("A1", "A2", "C1", "D1", "B1").stdout.splitlines()
    head = lines.index(next(line for line in lines if line.startswith("document")))
    assert " ".join(lines[head].split()) == (
        "document claims holds differs not reachable not judged"
    )
    assert [line.split() for line in lines[head + 2 : head + 4]] == [
        ["5", "3", "1", "1", "0"],
        ["ours", "1", "0", "1", "0", "0"],
    ]
    assert "document" not in papers("A1").stdout


@experiment("E1", claim="of all verdicts", published="far better", unit="points", where="table 2")
def mixed(quick: bool) -> Report:
    return report(
        Answer(3, holds=True, why="as told", part="a|b"),
        Answer(2, why="another chip", part="b"),
        Answer(1, why="another chip", part="c"),
        Answer("-", verdict=NOT_REACHABLE, why="3 blocks hold 3", part="d", published=4),
        Answer(5, verdict=NOT_JUDGED, why="nobody asked", part="e", where=OURS),
    )


PAGE = r"""
| document | claims | holds | differs | not reachable | not judged |
| --- | --: | --: | --: | --: | --: |
| FaTVM | 5 | 2 | 2 | 1 | 0 |
| ours | 1 | 0 | 0 | 0 | 1 |

## FaTVM

| id | where | claim | published | measured | verdict |
| --- | --- | --- | --- | --- | --- |
| E1/a\|b | table 2 | of all verdicts | far better | 3 points | holds |
| E1/b | table 2 | of all verdicts | far better | 2 points | differs |
| E1/c | table 2 | of all verdicts | far better | 1 points | differs |
| E1/d | table 2 | of all verdicts | 4 points | - | not reachable |
| A1 | table 1 | holds as published | 16 cycles | 10 cycles | holds |

- E1/b, E1/c, differs: another chip
- E1/d, not reachable: 3 blocks hold 3

## ours

| id | where | claim | published | measured | verdict |
| --- | --- | --- | --- | --- | --- |
| E1/e | ours | of all verdicts | not given | 5 points | not judged |

- E1/e, not judged: nobody asked
"""


def test_the_page_tells_each_claim_and_why_it_does_not_hold(
    papers: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a run stays on record, by document and with its reasons; the same run gives the same
    bytes."""
    monkeypatch.setitem(experiments.DOCUMENTS, "", "FaTVM")
    page = tmp_path / "page.md"
    assert papers("E1", "A1", "--page", str(page)).exit_code == 0
    first = page.read_text()
    assert first.startswith("# The published work, measured again\n")
    assert first.endswith(PAGE)
    papers("E1", "A1", "--page", str(page))
    assert page.read_text() == first


def test_a_quick_run_writes_no_page(papers: Callable[..., Result], tmp_path: Path) -> None:
    """Goal: what smaller inputs gave is never taken for the record."""
    page = tmp_path / "page.md"
    result = papers("A1", "--quick", "--page", str(page))
    assert (result.exit_code, result.stdout, page.exists()) == (2, "", False)
    assert "--page keeps what whole runs found" in result.stderr


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer(1, verdict=NOT_JUDGED, why="so", tolerance="2 %"), "not judged has no tolerance"),
        (Answer(1, verdict=NOT_REACHABLE, why="so", tolerance="2 %"), "not reachable has no"),
        (Answer(1, holds=True, must_hold=True), "so where=OURS"),
        (Answer(1, holds=True, published=NOT_GIVEN), "so where=OURS"),
    ],
)
def test_answers_that_contradict_themselves(
    papers: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, answer: Answer, says: str
) -> None:
    """Goal: no claim of ours counts under a document, and what is not judged has no tolerance."""
    wrong = Experiment("F1", "", 1, "", lambda quick: report(answer))
    monkeypatch.setattr(discovery, "collect", lambda folder, kind: [wrong])
    result = papers("F1", "--json", "-")
    [found] = json.loads(result.stdout)
    assert (result.exit_code, found["verdict"]) == (1, "error")
    assert says in found["why"]


def test_what_is_ours_is_told_by_folder_and_place() -> None:
    """Goal: list, table and JSON have one document for a claim, and no experiment of ours lies
    with a document's."""
    found = discovery.collect("papers", Experiment)
    ours = [one for one in found if one.document == OURS]
    assert {one.id for one in ours} >= {"layers", "V-policy", "V-ours", "wear-policies"}
    assert all(one.run.__module__.startswith("papers.ours.") for one in ours)
    others = [one for one in found if one not in ours]
    assert [one.id for one in others if OURS in one.where or "docs/" in one.where] == []
    assert [one.id for one in others if one.published == NOT_GIVEN] == []


def test_near_is_two_sided() -> None:
    """Goal: better than published by more than the tolerance does not hold either."""
    held = [value for value in (9.4, 9.6, 10.4, 10.6) if near(value, 10, percent=5)]
    assert held == [9.6, 10.4]
    assert [near(value, 0, points=0.5) for value in (0.5, -0.6)] == [True, False]


def test_one_run_may_answer_several_claims(papers: Callable[..., Result]) -> None:
    """Goal: parts get ids of their own, and what they leave out comes from the experiment."""
    found = json.loads(papers("C1", "--json", "-").stdout)
    assert [(one["id"], one["claim"], one["unit"]) for one in found] == [
        ("C1/one", "two in one", "B"),
        ("C1/two", "another", "s"),
    ]


def test_plots_repeat_byte_for_byte(papers: Callable[..., Result], tmp_path: Path) -> None:
    """Goal: a plot in the docs changes only when its numbers do."""
    papers("A1")
    first = (tmp_path / "A1.svg").read_bytes()
    assert first.count(b"prefers-color-scheme: dark") == 1
    (tmp_path / "A1.svg").unlink()
    papers("A1")
    assert (tmp_path / "A1.svg").read_bytes() == first
    assert b"<dc:date>" not in first


def test_unknown_experiment_names_the_nearest(papers: Callable[..., Result]) -> None:
    """Goal: a mistyped id is bad input, answered with the ids that were meant."""
    result = papers("A11")
    assert result.exit_code == 2
    assert "unknown experiment 'A11'; did you mean A1" in result.stderr


def test_an_experiment_named_twice_runs_once(papers: Callable[..., Result]) -> None:
    """Goal: it passed for two that write one file, and the answer was to choose another name."""
    result = papers("A1", "a1", "--json", "-")
    assert result.exit_code == 0
    assert [one["id"] for one in json.loads(result.stdout)] == ["A1"]


def test_list_goes_by_document() -> None:
    """Goal: a document's experiments stand together; two chapters of one stood apart."""
    listed = json.loads(CliRunner().invoke(main, ["papers", "--list", "--json", "-"]).stdout)
    together = [document for document, _ in groupby(one["document"] for one in listed)]
    assert len(together) == len(set(together)) == 6
    assert together[-1] == OURS


def test_list_runs_nothing(papers: Callable[..., Result], tmp_path: Path) -> None:
    """Goal: looking at what there is costs nothing and writes nothing."""
    result = papers("--list")
    assert result.exit_code == 0
    assert "comes out otherwise" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_every_experiment_has_a_card() -> None:
    """Goal: who has only the document finds the place and can repeat the set-up."""
    found = discovery.collect("papers", Experiment)
    assert len(found) > 50
    assert [one.id for one in found if not (one.where and one.setup)] == []


def test_modules_are_found_and_helpers_are_not(tmp_path: Path) -> None:
    """Goal: dropping a file into a folder registers it; a file named _x is only for import."""
    folder = tmp_path / "found_papers" / "document"
    folder.mkdir(parents=True)
    text = (
        "from lab.experiments import Report, experiment\n"
        "@experiment('{id}', claim='', published=0, unit='')\n"
        "def run(quick): return Report([], [], [])\n"
    )
    (folder / "table.py").write_text(text.format(id="X1"))
    (folder / "_common.py").write_text(text.format(id="X2"))
    found = discovery.collect_from(tmp_path, "found_papers", Experiment)
    assert [one.id for one in found] == ["X1"]


@pytest.mark.parametrize("out", ["/dev/null", "/dev/null/x", "/proc/x", "file"])
def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(
    papers: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    """The experiment ran, and then there was a traceback of mkdir."""
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    result = CliRunner().invoke(main, ["papers", "A1", "--out", out])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--out" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(
    papers: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "A1.csv").mkdir()
    result = CliRunner().invoke(main, ["papers", "A1", "A2", "--out", str(tmp_path)])
    assert result.exit_code == 2  # before the work
    assert "cannot write" in result.stderr
    assert "A1.csv" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_plot_says_what_was_measured(papers: Callable[..., Result], tmp_path: Path) -> None:
    """Goal: no picture's title claims what its own run has not shown."""
    papers("A2")
    assert "differs, 13 x" in (tmp_path / "A2.svg").read_text()
    papers("A2", "--quick")
    assert "quick run: smaller programs, not judged" in (tmp_path / "A2.svg").read_text()
    papers("E1")
    shown = " ".join((tmp_path / "E1.svg").read_text().split())
    assert "1 of 3 judged hold, 1 not reachable, 1 not judged" in shown


def test_printed_points_stand_over_the_series_they_are_of(tmp_path: Path) -> None:
    """Goal: a document's point is beside ours of the same series, whatever the group's width."""
    places: list[list[float]] = []

    def draw(axes: Any) -> None:
        plots.grouped(axes, ["a", "b"], {str(n): [n + 1, n + 2] for n in range(3)}, log=True)
        plots.printed(axes, [at + plots.offset(2, 3) for at in (0, 1)], [5, 6], "printed")
        places.extend([list(axes.lines[2].get_xdata()), list(axes.lines[-1].get_xdata())])

    plots.write_svg(tmp_path / "points.svg", draw, title="")
    assert places[0] == places[1]


def test_no_two_series_look_alike(tmp_path: Path) -> None:
    """Goal: series differ by more than their colour, also behind the last colour; and points, not
    bars, stand on a logarithmic axis."""
    looks: list[tuple[object, ...]] = []
    bars: list[int] = []

    def draw(axes: Any, *, log: bool) -> None:
        plots.grouped(axes, ["a", "b"], {str(n): [n + 1, None] for n in range(12)}, log=log)
        looks.extend(
            (line.get_color(), line.get_marker())
            for line in axes.lines
            if len(line.get_xdata()) == 1
        )
        bars.append(len(axes.patches))

    plots.write_svg(tmp_path / "log.svg", partial(draw, log=True), title="")
    plots.write_svg(tmp_path / "linear.svg", partial(draw, log=False), title="")
    assert len(looks) == len(set(looks)) == 12
    assert bars == [0, 12]
