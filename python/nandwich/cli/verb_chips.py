# SPDX-License-Identifier: Apache-2.0
"""`nandwich chips`: the parts a twin can be, each figure with its source."""

from pathlib import Path
from typing import Any

import click

from nandwich import _native, names
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option
from nandwich.quantities import format_size
from nandwich.twin import parts, platforms
from nandwich.twin.parts import Figure


def _as_json(name: str, size: int | None, figures: list[Figure]) -> dict[str, Any]:
    return {
        "name": name,
        "bytes": size,
        "figures": [
            {
                "key": figure.field.key,
                "text": figure.text,
                "number": figure.number,
                "unit": figure.field.unit,
                "source": figure.source,
                "help": figure.field.help,
            }
            for figure in figures
        ],
    }


def _print_parts() -> None:
    rows = []
    for name in parts.known_names():
        part = _native.Part.named(name)
        page = part.number("page_bytes")
        block = page * part.number("block_pages")
        rows.append(
            (
                name,
                part.text("kind"),
                format_size(part.bytes),
                format_size(page) if page else "-",
                format_size(block) if block else "-",
                part.text("endurance") if part.number("endurance") else "-",
                part.text("note"),
            )
        )
    output.print_table(("name", "kind", "size", "page", "block", "erases", "what"), rows)


def _print_platforms() -> None:
    rows = []
    for name in platforms.known_names():
        figures = {figure.field.key: figure.text for figure in platforms.figures(name)}
        awake = figures.get("active") or f"{figures['send']} / {figures['receive']}"
        rows.append((name, figures["kind"], awake, figures["sleep"], figures["note"]))
    output.print_table(("name", "kind", "awake (radio: send / receive)", "asleep", "what"), rows)


def _print_figures(figures: list[Figure]) -> None:
    rows = [(figure.field.key, figure.text, figure.source) for figure in figures]
    output.print_table(("figure", "value", "source"), rows)


def _find(name: str) -> tuple[dict[str, Any], list[Figure], list[Path]]:
    """One part or platform by name or file: as JSON, its figures, and the files read."""
    if parts.is_file(name):
        path = Path(name)
        part = parts.load(path)
        figures = parts.file_figures(path)
        return _as_json(part.name, part.bytes, figures), figures, [path]
    folded = {known.casefold(): known for known in (*parts.known_names(), *platforms.known_names())}
    known = folded.get(name.casefold())
    if known is None:
        raise names.unknown("chip", name, folded.values(), list_with="nandwich chips")
    if known in parts.known_names():
        figures = parts.figures(known)
        return _as_json(known, _native.Part.named(known).bytes, figures), figures, []
    figures = platforms.figures(known)
    return _as_json(known, None, figures), figures, []


def _all_as_json(what: str) -> list[dict[str, Any]]:
    if what == "platforms":
        return [_as_json(name, None, platforms.figures(name)) for name in platforms.known_names()]
    return [
        _as_json(name, _native.Part.named(name).bytes, parts.figures(name))
        for name in parts.known_names()
    ]


@click.command(cls=Command)
@click.argument("name", required=False, metavar="[NAME|FILE.toml]")
@click.option("--platforms", "show_platforms", is_flag=True, help="List nodes and radios instead.")
@json_option
def command(name: str | None, show_platforms: bool, json_target: str | None) -> None:
    """List the parts table; show one part with the source of each figure; check a file of your own.

    \b
    Examples:
      nandwich chips
      nandwich chips K9F1G08U0A
      nandwich chips my-chip.toml
      nandwich chips --platforms
      nandwich chips --json - | jq -r '.items[].name'

    A file that is wrong is answered with all its errors, file and line each, and exit code 2.
    """
    if name is not None:
        output.check_apart(parts.files(name), (json_target,))
        item, figures, inputs = _find(name)
        items = [item]
    else:
        figures, inputs = [], []
        items = _all_as_json("platforms" if show_platforms else "parts")
    if json_target is not None:
        output.write_json(json_target, output.document("chips", 1, {"items": items}, inputs=inputs))
    if json_target == "-":
        return
    if name is not None:
        _print_figures(figures)
    elif show_platforms:
        _print_platforms()
    else:
        _print_parts()
