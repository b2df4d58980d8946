# SPDX-License-Identifier: Apache-2.0
"""Manual pages in roff, from a walk over the parsers of all verbs: what --help says, for man."""

import inspect
from collections.abc import Iterator

import click

from nandwich._version import __version__

_KEEPS_LINES = "\b"
_EVERYWHERE = ("quiet", "verbose", "help")  # options of the verb, and of each of its parts


def pages(group: click.Group) -> Iterator[tuple[str, str]]:
    """(name, text) of the page of the command, and of one of each verb."""
    context = click.Context(group, info_name="nandwich")
    verbs = [
        (name, command)
        for name in group.list_commands(context)
        if (command := group.get_command(context, name)) is not None
    ]
    yield "nandwich", "\n".join([*_head("nandwich", group), *_body(group, context), *_see(verbs)])
    for name, command in verbs:
        inner = click.Context(command, info_name=name, parent=context)
        text = [*_head(f"nandwich-{name}", command), *_body(command, inner)]
        yield f"nandwich-{name}", "\n".join([*text, ".SH SEE ALSO", ".BR nandwich (1)", ""])


def _plain(text: str) -> str:
    """A line as roff prints it."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _first(command: click.Command) -> str:
    return " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split()).rstrip(".")


def _head(title: str, command: click.Command) -> list[str]:
    return [
        f'.TH {title.upper()} 1 "" "nandwich {__version__}" "Nandwich"',
        ".nh",
        ".SH NAME",
        f"{_plain(title)} \\- {_plain(_first(command))}",
    ]


def _body(command: click.Command, context: click.Context, heading: str = ".SH") -> Iterator[str]:
    """Synopsis, what the command does, its options, examples; then its parts."""
    pieces = command.collect_usage_pieces(context)
    yield f"{heading} SYNOPSIS" if heading == ".SH" else f"{heading} {_plain(context.command_path)}"
    yield f".B {_plain(context.command_path)}"
    yield _plain(" ".join(pieces))
    if heading == ".SH":
        yield ".SH DESCRIPTION"
    yield from _text(command.help or "")
    shared = () if heading == ".SH" else _EVERYWHERE
    records = [
        record
        for one in command.get_params(context)
        if (record := one.get_help_record(context)) and record[1] and one.name not in shared
    ]
    if records:
        yield ".SH OPTIONS" if heading == ".SH" else ".PP"
    for name, what in records:
        yield from (".TP", f".B {_plain(name)}", _plain(" ".join(what.split())))
    if isinstance(command, click.Group) and context.parent is not None:
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            if part is not None:
                inner = click.Context(part, info_name=name, parent=context)
                yield from _body(part, inner, ".SS")
    yield from _text(command.epilog or "")


def _text(text: str) -> Iterator[str]:
    """Paragraphs; those that keep their lines do so, and their heading becomes one."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        if not lines[0]:
            continue
        yield ".PP"
        if lines[0] != _KEEPS_LINES:
            yield _plain(" ".join(line.strip() for line in lines))
            continue
        yield ".nf"
        yield from (_plain(line) for line in lines[1:])
        yield ".fi"


def _see(verbs: list[tuple[str, click.Command]]) -> Iterator[str]:
    yield ".SH VERBS"
    for name, command in verbs:
        yield from (".TP", f".BR nandwich\\-{_plain(name)} (1)", _plain(_first(command)) + ".")
    yield ""
