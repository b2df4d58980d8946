# SPDX-License-Identifier: Apache-2.0
"""`nandwich report`: results as one page with pictures, to be shown to others."""

import sys
from pathlib import Path

import click

from nandwich import files
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import writable
from nandwich.errors import InputError, not_written
from nandwich.report import page
from nandwich.results import read

_LOOK_AT = 1024


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  nandwich replay gen:zipf --ftl tree --json tree.json
  nandwich report tree.json -o tree.html
  nandwich compare gen:zipf --ftl page,tree --keep results --json layers.json
  nandwich report layers.json results/*.json -o layers.html --title "Two layers"
""",
)
@click.argument("sources", nargs=-1, metavar="RESULT...")
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE.html",
    required=True,
    callback=writable,
    help="The page; '-' is stdout.",
)
@click.option("--title", default="", metavar="TEXT", help="Over the page.")
@click.option("--force", is_flag=True, help="Replace a file that is no page of this verb.")
def command(sources: tuple[str, ...], target: str, title: str, force: bool) -> None:
    """Make one page of results: figures, pictures and tables, in one file that needs no network.

    A result is JSON written by --json of replay, run, sched, compare, vmtrace, fit, sweep, tune,
    fleet, energy, torture, bench or papers; any number of them, of any verbs. The page shows what
    ran, headline figures side by side, and a picture of whatever the results hold. What is chosen
    on it holds for every picture. The same results give the same page, byte for byte.
    """
    if not sources:
        raise InputError(
            "name a result, a file that --json of a verb wrote: nandwich report --help"
        )
    if sources.count(read.STDIN) > 1:
        raise InputError("- is given twice, and stdin is read once")
    output.check_apart([one for one in sources if one != read.STDIN], (target,))
    if target != "-" and not force:
        _check_page(Path(target))
    made = page.make([page.load(name) for name in sources], title)
    if target == "-":
        sys.stdout.buffer.write(made)
        return
    try:
        files.replace(Path(target), made)
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error
    output.talk(f"{target}: {len(made) / 1e6:.2f} MB, opens in any browser")


def _check_page(target: Path) -> None:
    """Refuse to replace a file with something else in it."""
    if not target.is_file():
        return
    try:
        with target.open("rb") as stream:
            begin = stream.read(_LOOK_AT)
    except OSError:
        return  # nothing of it can be read; to write may go well
    if begin and page.MARK.encode() not in begin:
        raise InputError(
            f"{target} is no page of nandwich report: give another name, or --force to replace it"
        )
