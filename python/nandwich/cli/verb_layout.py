# SPDX-License-Identifier: Apache-2.0
"""`nandwich layout`: which variables share a page, from recorded accesses or from the source."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import SIZE, Number, json_option, words, writable
from nandwich.compiler import tagged
from nandwich.errors import InputError
from nandwich.vmtrace import layout, references

_DEFAULT = layout.Parameters()


@click.command(
    cls=Command,
    epilog="""Examples:

    \b
      nandwich layout node1.acc node2.acc -o app.layout
      nandwich layout node1.acc -o app.layout --method published --writes 20
      nandwich layout node3.acc --play app.layout --frames 1..12
      nandwich layout --from-source app.c radio.c --cflags '-Iinc -DNODE=3' -o app.layout
    """,
)
@click.argument("paths", nargs=-1, required=True, metavar="TRACE...")
@click.option(
    "--from-source",
    is_flag=True,
    help="No traces: count what these C files refer to, all of one program's.",
)
@click.option(
    "--cflags", multiple=True, metavar="'FLAGS'", help="With --from-source: for the compiler."
)
@click.option("-o", "target", metavar="FILE", callback=writable, help="Where the layout goes.")
@click.option("--play", "known", metavar="FILE", help="Decide nothing: what this layout costs.")
@click.option(
    "--method",
    default="ours",
    show_default=True,
    type=click.Choice(layout.METHODS),
    help="A search of our own, the heuristic as published, or the order in memory.",
)
@click.option("--page", default=_DEFAULT.page, show_default=True, type=SIZE, help="Bytes a page.")
@click.option(
    "--frames",
    default="1",
    show_default=True,
    metavar="N|A..B",
    help="Pages in RAM; of several the layout is made for the first.",
)
@click.option("--group", type=SIZE, help="Most bytes a group.  [default: an eighth of a page]")
@click.option("--whole", type=SIZE, help="Arrays up to this stay whole.  [default: the same]")
@click.option("--list", "listed", type=SIZE, help="Bytes thought of as recent.  [default: a page]")
@click.option(
    "--share",
    default=100.0,
    show_default=True,
    type=Number(0, 100),
    help="Stop grouping at this percentage of the accessed elements.",
)
@click.option(
    "--writes",
    type=click.IntRange(0, 1 << 40),
    help="Writes from which on an element is often written.  [default: the mean]",
)
@click.option(
    "--write-cost",
    default=_DEFAULT.write_cost / 10,
    show_default=True,
    type=Number(0, 1000),
    help="A flash write counts as so many faults, in the table and where ours searches.",
)
@click.option("--freeze", is_flag=True, help="A group grows until it is beyond its most bytes.")
@click.option(
    "--seed", default=1, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Of the search."
)
@json_option
def command(
    paths: tuple[str, ...],
    target: str | None,
    known: str | None,
    method: str,
    frames: str,
    json_target: str | None,
    from_source: bool,
    cflags: tuple[str, ...],
    **choices: Any,
) -> None:
    """Decide which variables share a page, so that a small node has few page faults.

    Each TRACE is one node's, with the variables of the program named in it. The table says what the
    layout costs a node with so many pages in RAM and the two buffers of a DataFlash, beside the
    other methods. Long traces are judged by a sample of 262,144 accesses.

    With --from-source there is nothing to judge by: --play shows on a trace what it came to.
    """
    if from_source:
        if known is not None:
            raise InputError("--play wants a trace: a source tells no order of accesses")
        output.check_apart(paths, (target, json_target))
        parameters = _parameters(choices, _counts(frames)[0], None)
        _from_source(paths, words(cflags), _method(method), parameters, (target, json_target))
        return
    if cflags:
        raise InputError("--cflags: a trace is not compiled; they go with --from-source")
    if known is not None:
        _refuse_decisions()
    output.check_apart((*paths, *([known] if known else [])), (target, json_target))
    counts = _counts(frames)
    chosen = layout.load(known) if known is not None else None
    parameters = _parameters(choices, counts[0], chosen)
    program = layout.read(paths, parameters)
    for note in program.notes:
        output.talk(f"nandwich: warning: {note}")
    if not sum(program.graph.accesses):
        raise InputError(f"{', '.join(paths)}: no access to any variable, so nothing to judge by")
    layouts = _others(program, method if chosen is None else "")
    if chosen is not None:
        assert known is not None
        layout.check_fits(known, chosen, program)
        name, pages = Path(known).name, chosen.pages
    else:
        name, pages = method, layout.decide(program, method)
        _warn_of_pool(method, pages, layouts)
    layouts[name] = pages
    file = layout.as_file(program, method, pages)
    results = layout.play(program, layouts, counts)
    inputs = [Path(path) for path in paths]
    document = output.document("layout", 1, {"layout": file}, seed=parameters.seed, inputs=inputs)
    if target is not None:
        layout.save(target, document)
    if json_target != "-":
        _show(program, file, results)
    if json_target is not None:
        value = {
            "accesses": sum(program.graph.accesses),
            "outside": program.graph.outside,
            "elements": program.elements,
            "page_bytes": parameters.page,
            "pages": file["pages"],
            "results": results,
        }
        told = output.document("layout-told", 1, value, seed=parameters.seed, inputs=inputs)
        output.write_json(json_target, told)


def _method(asked: str) -> str:
    """From the source, the heuristic as published unless first fit is asked for."""
    if asked == "ours" and _is_given("method"):
        raise InputError(
            "--method ours searches by playing a trace; from the source: published or first-fit"
        )
    return "published" if asked == "ours" else asked


def _from_source(
    paths: tuple[str, ...],
    flags: list[str],
    method: str,
    parameters: layout.Parameters,
    targets: tuple[str | None, str | None],
) -> None:
    """Nothing is played, so the layout alone is told."""
    target, json_target = targets
    sources = references.read(paths, flags)
    program = references.program(sources, parameters)
    pages = layout.decide(program, method)
    first_fit = {"first-fit": layout.decide(program, "first-fit")}
    _warn_of_pool(method, pages, first_fit, "--method first-fit keeps")
    file = layout.as_file(program, method, pages)
    inputs = [Path(path) for path in paths]
    if target is not None:
        layout.save(target, output.document("layout", 1, {"layout": file}, inputs=inputs))
    count = sum(len(function) for source in sources for function in source.functions)
    if json_target != "-":
        _show_size(program, file)
        click.echo(f"{output.counted(count, 'reference')} in the source; no trace, so no faults")
    if target is None and json_target is None:
        output.talk("the layout is not kept: -o FILE writes it")
    if json_target is not None:
        value = {
            "accesses": 0,
            "outside": 0,
            "references": count,
            "elements": program.elements,
            "page_bytes": parameters.page,
            "pages": file["pages"],
            "results": [],
        }
        output.write_json(json_target, output.document("layout-told", 1, value, inputs=inputs))


#: Nothing of these is asked where a layout is only played.
_DECIDE = {
    "target": "-o",
    **{
        name: f"--{name}"
        for name in ("method", "page", "group", "whole", "share", "writes", "freeze", "seed")
    },
    "listed": "--list",
}


def _refuse_decisions() -> None:
    for name, option in _DECIDE.items():
        if _is_given(name):
            raise InputError(f"--play decides nothing, so there is nothing for {option}")


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def _others(program: layout.Program, method: str) -> dict[str, layout.Pages]:
    """What the chosen layout is shown beside: neither of the two known ones is hidden."""
    both = [name for name in ("first-fit", "published") if name != method]
    return {name: layout.decide(program, name) for name in both}


def _warn_of_pool(
    method: str,
    pages: layout.Pages,
    others: dict[str, layout.Pages],
    keep: str = "--method ours or first-fit keeps",
) -> None:
    """`nandwich cc --layout` refuses more pages; what may be done is said here already."""
    if layout.fits_pool(pages):
        return
    fitting = method != "first-fit" and layout.fits_pool(others["first-fit"])
    output.talk(
        f"nandwich: warning: {method} takes {max(pages) + 1} pages, and a build takes "
        f"{tagged.MOST_PAGES} at most: " + (f"{keep} to them" if fitting else "tag fewer variables")
    )


def _counts(text: str) -> list[int]:
    first, dots, last = text.partition("..")
    try:
        low = int(first)
        high = int(last) if dots else low
    except ValueError as error:
        raise InputError(f"--frames {text}: write a number, or 1..12") from error
    if low > high:
        raise InputError(f"--frames {text}: the range ends before it begins")
    if not (low >= 1 and high <= layout.MOST_FRAMES):
        raise InputError(f"--frames {text}: 1 to {layout.MOST_FRAMES} are allowed")
    return list(range(low, high + 1))


def _parameters(
    choices: dict[str, Any], frames: int, known: layout.Layout | None
) -> layout.Parameters:
    page = choices["page"] if known is None else known.page
    if not 8 <= page < 1 << 31:
        raise InputError(f"--page {page}: 8 bytes or more, and less than 2 GiB")
    group = page // 8 if choices["group"] is None else choices["group"]
    return layout.Parameters(
        page=page,
        group=min(group, page),
        whole=_whole(choices["whole"], group, page) if known is None else known.whole,
        list=page if choices["listed"] is None else choices["listed"],
        share=round(choices["share"] * 10),
        writes=choices["writes"],
        freeze=choices["freeze"],
        write_cost=round(choices["write_cost"] * 10),
        frames=frames,
        seed=choices["seed"],
    )


def _whole(given: int | None, group: int, page: int) -> int:
    return min(group if given is None else given, page)


def _show_size(program: layout.Program, file: dict[str, Any]) -> None:
    click.echo(
        f"{output.counted(len(program.objects), 'variable')}, "
        f"{output.counted(program.elements, 'element')} on "
        f"{output.counted(file['pages'], 'page')} of {file['page_bytes']} B"
    )


def _show(program: layout.Program, file: dict[str, Any], results: list[dict[str, Any]]) -> None:
    _show_size(program, file)
    if program.graph.outside:
        outside = output.counted(program.graph.outside, "access", "accesses")
        click.echo(f"{outside} to no variable, left out")
    click.echo()
    names = ("layout", "pages in RAM", "accesses", "faults", "to buffer", "flash writes")
    columns = (*names, "cost in faults")
    keys = ("layout", "frames", "accesses", "faults", "to_buffer", "flash_writes", "cost")
    output.print_table(columns, [[one[key] for key in keys] for one in results])
