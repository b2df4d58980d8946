# SPDX-License-Identifier: Apache-2.0
"""`nandwich bench`: measures this build against its promises."""

import re
from pathlib import Path

import click

from lab import benches, discovery, pages
from lab.benches import Bench, Figure
from nandwich import files, names
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option, writable


def _choose(wanted: tuple[str, ...]) -> list[Bench]:
    known = {one.name: one for one in discovery.collect("bench", Bench)}
    for name in wanted:
        if name not in known:
            raise names.unknown("bench", name, known, list_with="nandwich bench --list")
    return [known[name] for name in wanted or known]


def _rows(figures: list[Figure]) -> list[tuple[str, str, str, str, str]]:
    def number(value: int | float) -> str:
        return str(value) if isinstance(value, int) else f"{value:.4g}"

    rows = []
    for one in figures:
        target = ""
        if one.target is not None:
            sign = "<=" if one.better == "lower" else ">="
            target = f"{sign} {number(one.target)}"
        verdict = "" if one.target is None else "ok" if one.ok else "MISSED"
        rows.append((one.name, number(one.value), one.unit, target, verdict))
    return rows


_HEAD = (
    "# Figures of this build",
    "",
    "Written by `make figures` on the machine the release was made on.",
    "",
    "| figure | value | unit | target | |",
    "|---|--:|---|--:|---|",
)


def _write_page(path: Path, figures: list[Figure], *, among_others: bool) -> None:
    """The table as a page of the docs; with `among_others` rows of other benches stay on it."""
    lines = path.read_text().splitlines() if among_others and path.exists() else []
    table: dict[str, list[str]] = {}  # by bench
    for line in lines[len(_HEAD) :]:
        table.setdefault(_bench_of(line), []).append(line)
    new = [pages.row(*row) for row in _rows(figures)]
    table |= {_bench_of(line): [] for line in new}
    for line in new:
        table[_bench_of(line)].append(line)
    rows = [line for name in sorted(table) for line in table[name]]
    files.replace(path, ("\n".join([*_HEAD, *rows]) + "\n").encode())


def _bench_of(line: str) -> str:
    """The bench that a row of the table is of."""
    return re.split(r"[. ]", line.removeprefix("| "), maxsplit=1)[0]


@click.command(cls=Command)
@click.argument(
    "wanted",
    nargs=-1,
    metavar="[NAME]...",
    shell_complete=lambda *_: [one.name for one in _choose(())],
)
@click.option("--list", "only_list", is_flag=True, help="Show the benches; run none.")
@click.option(
    "--page",
    metavar="FILE",
    callback=writable,
    help="Also write the table as a Markdown page (make figures does), with a NAME only its rows; "
    "and the benches' own pages under docs.",
)
@json_option
def command(
    wanted: tuple[str, ...], only_list: bool, page: str | None, json_target: str | None
) -> None:
    """Measure this build: code size, operation counts, speed, ratios against peers.

    Without a NAME all benches run. A figure with a target that misses it makes the exit code 1.

    \b
    Examples:
      nandwich bench --list
      nandwich bench size
      nandwich bench --json - | jq '.[] | select(.ok | not)'
    """
    chosen = _choose(wanted)
    output.check_apart((), (page, json_target))
    if only_list:
        if json_target is not None:
            listed = [{"name": one.name, "what": one.what} for one in chosen]
            output.write_json(json_target, listed)
        if json_target != "-":
            output.print_table(("name", "measures"), [(one.name, one.what) for one in chosen])
        return
    figures: list[Figure] = []
    benches.found_pages.clear()
    with output.progress("benches", len(chosen)) as bar:
        for one in chosen:
            figures += one.run()
            bar.advance()
    if json_target is not None:
        output.write_json(json_target, [one.as_json() for one in figures])
    if page is not None:
        _write_page(Path(page), figures, among_others=bool(wanted))
        for path, text in benches.found_pages.items():
            files.replace(path, text.encode())
    elif benches.found_pages:
        names_left = ", ".join(path.name for path in benches.found_pages)
        output.talk(f"not written without --page: {names_left}")
    if json_target != "-":
        output.print_table(("figure", "value", "unit", "target", ""), _rows(figures))
    if not all(one.ok for one in figures):
        raise SystemExit(1)
