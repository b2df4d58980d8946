# SPDX-License-Identifier: Apache-2.0
"""`nandwich papers`: re-runs the published experiments and says what holds."""

import shutil
import sys
import textwrap
from pathlib import Path

import click

from lab import ROOT, discovery, papers_page
from lab.experiments import Experiment, Result, perform
from nandwich import names
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import check_output, json_option, writable
from nandwich.errors import InputError


def _choose(wanted: tuple[str, ...]) -> list[Experiment]:
    known = {one.id.casefold(): one for one in discovery.collect("papers", Experiment)}
    for name in wanted:
        if name.casefold() not in known:
            ids = [one.id for one in known.values()]
            raise names.unknown("experiment", name, ids, list_with="nandwich papers --list")
    if wanted:
        return list(dict.fromkeys(known[name.casefold()] for name in wanted))
    return [one for of in papers_page.documents(list(known.values())).values() for one in of]


def _list(chosen: list[Experiment], json_target: str | None) -> None:
    if json_target is not None:
        listed = [
            {
                "id": one.id,
                "document": one.document,
                "where": one.where,
                "claim": one.claim,
                "setup": one.setup,
                "published": one.published,
                "unit": one.unit,
            }
            for one in chosen
        ]
        output.write_json(json_target, listed)
    if json_target != "-":
        rows = [
            (one.id, one.document, one.where, one.published, one.unit, one.claim) for one in chosen
        ]
        output.print_table(("id", "document", "where", "published", "unit", "claim"), rows)


def _folded(note: str) -> str:
    """At words and in the width of a terminal; elsewhere a line each, for other programs."""
    if not sys.stdout.isatty():
        return note
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        note, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _show(results: list[Result], *, quick: bool) -> None:
    rows = [
        (
            one.id,
            one.claim,
            one.where,
            papers_page.figure(one.published, one.unit),
            papers_page.figure(one.measured, one.unit),
            one.verdict,
        )
        for one in results
    ]
    verdict = "quick verdict" if quick else "verdict"
    output.print_table(("id", "claim", "where", "published", "measured", verdict), rows)
    setup = "set-up of the whole run" if quick else "set-up"
    notes = papers_page.shared(setup, [(one.id.partition("/")[0], one.setup) for one in results])
    notes += papers_page.shared("tolerance", [(one.id, one.tolerance) for one in results])
    notes += [f"{one.id} {one.verdict}: {one.why}" for one in results if one.why]
    if notes:
        click.echo()
    for note in notes:
        click.echo(_folded(note))


@click.command(cls=Command)
@click.argument(
    "ids",
    nargs=-1,
    metavar="[ID]...",
    shell_complete=lambda *_: [one.id for one in _choose(())],
)
@click.option("--list", "only_list", is_flag=True, help="Show the experiments; run none.")
@click.option("--quick", is_flag=True, help="Smaller inputs: seconds instead of minutes.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where CSV files and plots go (default: build/papers, or build/papers-quick).",
)
@click.option(
    "--page",
    metavar="FILE",
    callback=writable,
    help="Also write claims and verdicts as a Markdown page (make papers does).",
)
@json_option
def command(
    ids: tuple[str, ...],
    only_list: bool,
    quick: bool,
    out: Path | None,
    page: str | None,
    json_target: str | None,
) -> None:
    """Run published experiments again: claim, published, measured, and whether it holds.

    Without an ID all of them run. Each writes its numbers as ID.csv and a plot as ID.svg. A
    published claim that comes out otherwise is reported as "differs" with the reason; "not
    reachable" and "not judged" have theirs, too. The exit code is 1 only when an experiment breaks
    or a claim of our own that must hold does not.

    \b
    Examples:
      nandwich papers --list
      nandwich papers T4 --quick
      nandwich papers --quick --json results.json --out plots
      nandwich papers --page papers.md
    """
    chosen = _choose(ids)
    if only_list:
        _list(chosen, json_target)
        return
    if page is not None and quick:
        raise InputError("--page keeps what whole runs found; a quick run finds less")
    if not chosen:
        raise InputError("no experiments in papers/")
    if out is None:
        out = ROOT / "build" / ("papers-quick" if quick else "papers")
    written = [out / f"{one.id}.{kind}" for one in chosen for kind in ("csv", "svg", "md")]
    output.check_apart((), (*written, page, json_target))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}") from error
    for path in written:
        check_output(path)
    results: list[Result] = []
    with output.progress("experiments", len(chosen)) as bar:
        for one in chosen:
            found, trace = perform(one, quick=quick, out=out)
            if trace:
                output.talk(trace)
            results += found
            bar.advance()
    if json_target is not None:
        output.write_json(json_target, [one.as_json() for one in results])
    if page is not None:
        papers_page.write(Path(page), results)
    if json_target != "-":
        _show(results, quick=quick)
        if len(chosen) > 1:
            head, *rows = papers_page.by_document(results)
            click.echo()
            output.print_table(head, rows)
    output.talk(f"numbers and plots: {out}")
    if quick:
        output.talk("a quick run plays smaller inputs: only what it measures whole is judged")
    if any(one.failed for one in results):
        raise SystemExit(1)
