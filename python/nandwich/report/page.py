# SPDX-License-Identifier: Apache-2.0
"""The page: documents into one file of HTML that asks for nothing.

The same documents give the same bytes. What documents say is data: it is escaped, and the page
forbids itself (Content-Security-Policy) every script but its own and every request.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from nandwich import paths
from nandwich._version import __version__
from nandwich.errors import InputError
from nandwich.report import book, of_figures, of_fleet, of_others, of_replays, of_sweep, of_tune
from nandwich.report.book import Book
from nandwich.report.of_figures import Sheet
from nandwich.results import comparison, figures, read, sweeps
from nandwich.results.figures import Metric, Result
from nandwich.results.read import Document

#: Stands near the beginning of each page, so that one can be told from other files.
MARK = '<meta name="generator" content="nandwich report">'
_HERE = Path(__file__).parent
_LIBRARY = ("d3", "plot")
_INSIDE = ("interval-tree-1d", "binary-search-bounds", "isoformat")  # of plot
_ORDER = (
    of_figures.SECTION,
    of_tune.SECTION,
    of_sweep.SECTION,
    of_replays.SECTION,
    of_others.DEADLINES,
    of_others.RUNS,
    of_others.PAGING,
    of_others.CACHE,
    of_others.DIAL,
    of_others.ENERGY,
    of_fleet.SECTION,
    of_others.BENCH,
    of_others.PAPERS,
)
_WITH_FIGURES = frozenset(read.COMPARED)
#: Their results have names of their own, before which that of the file stands among several.
_NAME_THEIR_OWN = ("sched", "tune", "tune of a program")


@dataclass(frozen=True)
class Source:
    """A result, and the hash of its file."""

    document: Document
    sha256: str


def load(path: str) -> Source:
    """A result in a file, or on stdin for '-'; InputError."""
    data = read.load(path)
    return Source(read.parse(path, data, read.SHOWN), hashlib.sha256(data).hexdigest())


def make(sources: Sequence[Source], title: str = "") -> bytes:
    """The page; InputError for a document that is not as its verb writes it, and for a page that
    would be empty."""
    documents = [one.document for one in sources]
    filled = Book()
    sheets = _fill(filled, documents)
    if not filled.pictures and not any(sheet.lines for sheet in sheets):
        empty = "; ".join(f"{one.path}: {_nothing(one)}" for one in documents)
        raise InputError(f"the page would be empty: {empty}")
    kinds = ", ".join(dict.fromkeys(one.kind for one in documents))
    data = book.as_json(filled, _ORDER) | {"sheets": of_figures.as_json(sheets)}
    return _html(
        title or f"Results of nandwich {kinds}",
        _json(data, documents),
        "".join(_sheet_html(sheet, filled) for sheet in sheets if sheet.lines),
        "".join(_source_html(one) for one in sources),
        "".join(f"<li>{escape(one)}</li>" for one in filled.missing),
    )


def _nothing(document: Document) -> str:
    if not document.content or not any(
        isinstance(value, list) and value for value in document.content.values()
    ):
        return f"a result of nandwich {document.kind} whose lists are all empty"
    return f"no figure and no row to draw in this result of nandwich {document.kind}"


def _fill(filled: Book, documents: Sequence[Document]) -> list[Sheet]:
    """Pictures and headline figures of all documents."""
    sheets: list[Sheet] = []
    compared: dict[str, str] = {}  # the lines that give a configuration of a comparison: its name
    names = read.names(documents)
    for one in documents:
        if one.kind == "compare":
            with one.checked():
                sheets.append(of_figures.of_comparison(filled, one))
                compared |= {
                    entry["command"]: entry["name"]
                    for entry in one.content["configurations"]
                    if entry["command"]
                }
    kinds = [one.kind for one in documents]
    found: dict[str, list[tuple[Result, list[Metric]]]] = {}
    for name, one in zip(names, documents, strict=True):
        with one.checked():
            known = compared.get(_command(one))
            several = name if kinds.count(one.kind) > 1 else ""
            results = _pictures(filled, one, known or name, several)
            if known is None:
                found.setdefault(one.kind, []).extend(results)
    for kind, results in found.items():
        if results:
            sheets.append(of_figures.of_results(filled, kind, results))
    for number, sheet in enumerate(sheets):
        of_figures.side_by_side(filled, sheet, number, alone=len(sheets) == 1)
    return sheets


def _command(document: Document) -> str:
    made = document.content.get("provenance")
    return str(made.get("command", "")) if isinstance(made, dict) else ""


def _pictures(
    filled: Book, document: Document, name: str, several: str
) -> list[tuple[Result, list[Metric]]]:
    """Adds the pictures of a document; its results, where it has figures."""
    content = document.content
    results: list[tuple[Result, list[Metric]]] = []
    if document.schema == "nandwich.sweep/1":
        return _sweep(filled, document, several)
    if document.schema in _WITH_FIGURES:
        own = several if document.kind in _NAME_THEIR_OWN else name
        made, metrics = figures.results(document, own)
        results = [(one, metrics) for one in made]
    match document.kind:
        case "replay":
            who = filled.choice(name, document.kind, of_figures.layer_of(results[0][0].config))
            of_replays.fill(filled, content, who)
        case "run" | "run --target" | "run --layout":
            who = filled.choice(name, document.kind, of_figures.layer_of(results[0][0].config))
            of_others.run(filled, content, who)
        case "sched":
            of_others.sched(filled, content, several)
        case "tune" | "tune of a program":
            of_tune.fill(filled, content, results, document.kind)
        case "vmtrace":
            of_others.vmtrace(filled, content, several)
        case "trace curve":
            of_others.cache(filled, content, name)
        case "fit":
            of_others.fit(filled, content, several)
            results = of_figures.of_fit(document, several)
        case "energy":
            of_others.energy(filled, content, several)
        case "fleet":
            of_fleet.fill(filled, content, filled.choice(name, document.kind))
        case "bench":
            of_others.bench(filled, content["figures"], filled.choice(name, document.kind))
        case "papers":
            of_others.papers(filled, content["figures"])
    return results


def _sweep(filled: Book, document: Document, several: str) -> list[tuple[Result, list[Metric]]]:
    """The same of a sweep, whose results stand side by side where they are few."""
    found, metrics = sweeps.results(document, several)
    entries = comparison.gathered(found)
    if entries:
        of_sweep.fill(filled, several, entries, metrics)
    for one in sweeps.missing(document, several):
        filled.missing.append(f"{one.name}: {one.state}" + f", {one.why}" * bool(one.why))
    if len(entries) <= of_sweep.MOST:
        return [(one, metrics) for one in found]
    filled.missing.append(
        f"figures of {len(entries)} configurations side by side: nandwich compare has them"
    )
    return []


def _json(data: dict[str, object], documents: Sequence[Document]) -> str:
    """The data as a script holds it: nothing in it ends the script."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        names = ", ".join(one.path for one in documents)
        raise InputError(f"{names}: a figure is no number (NaN or Infinity)") from error
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _sheet_html(sheet: Sheet, filled: Book) -> str:
    """A table of headline figures; all others in a part that opens."""
    chief = [line for line in sheet.lines if line.metric.chief]
    rest = [line for line in sheet.lines if not line.metric.chief]
    html = _table_html(sheet, chief or rest, sheet.title, filled, told=True)
    if chief and rest:
        more = _table_html(sheet, rest, f"{sheet.title}, more figures", filled)
        html += f"<details><summary>{len(rest)} more figures</summary>{more}</details>"
    if sheet.equal:
        same = ", ".join(f"{key} {value}" for key, value in sheet.equal)
        head = "all with" if len(sheet.choices) > 1 else "with"
        html += f'<p class="same">{head}: {escape(same)}</p>'
    if sheet.note:
        html += f'<p class="same">{escape(sheet.note)}</p>'
    return f"<div>{html}</div>"


def _table_html(
    sheet: Sheet,
    lines: Sequence[of_figures.Line],
    caption: str,
    filled: Book,
    *,
    told: bool = False,
) -> str:
    """Figures of a sheet, a column for each configuration; `told`: what differs between them
    too."""

    def cells(line: of_figures.Line) -> Iterator[str]:
        for i, (who, text) in enumerate(zip(sheet.choices, line.texts, strict=True)):
            mark = "best" if i == line.best else "worst" if i == line.worst else ""
            told = f' <span class="{mark}">{mark}</span>' if mark else ""
            yield f'<td data-choice="{who}">{escape(text) or "-"}{told}</td>'

    heads = "".join(
        f'<th scope="col" data-choice="{who}">{escape(filled.choices[who].name)}</th>'
        for who in sheet.choices
    )

    def words(texts: Sequence[str]) -> Iterator[str]:
        for who, text in zip(sheet.choices, texts, strict=True):
            yield f'<td class="word" data-choice="{who}">{escape(text) or "-"}</td>'

    rows = "".join(
        f'<tr><th scope="row">{escape(label)}</th>{"".join(made)}</tr>'
        for label, made in (
            *((key, words(texts)) for key, texts in (sheet.differing if told else ())),
            *((line.metric.label, cells(line)) for line in lines),
        )
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption>"
        f'<thead><tr><th scope="col">figure</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        '</div><p class="hint" hidden>More columns to the right: scroll the table.</p>'
    )


def _source_html(source: Source) -> str:
    """What ran: the command that made a result, and of what."""
    made = source.document.content.get("provenance")
    rows = [("file", source.document.path), ("SHA-256", source.sha256)]
    if isinstance(made, dict):
        rows += [
            (label, str(made[key]))
            for label, key in (
                ("command", "command"),
                ("nandwich", "nandwich"),
                ("commit", "commit"),
                ("Python", "python"),
                ("seed", "seed"),
            )
            if made.get(key) is not None
        ]
        inputs = made.get("inputs")
        if isinstance(inputs, dict):
            rows += [(f"input {path}", str(digest)) for path, digest in inputs.items()]
    told = "".join(f"<dt>{escape(key)}</dt><dd>{escape(text)}</dd>" for key, text in rows)
    return f"<h3>nandwich {escape(source.document.kind)}</h3><dl>{told}</dl>"


def _html(title: str, data: str, sheets: str, ran: str, missing: str) -> bytes:
    """The template with everything in it."""
    library = "\n".join(
        f"/*! {_asset(f'{name}.LICENSE').strip()}\n*/\n{_asset(f'{name}.js')}" for name in _LIBRARY
    )
    scripts = [library, _own("forms.js") + _own("page.js")]
    hashes = [hashlib.sha256(text.encode()).digest() for text in scripts]
    allowed = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in hashes)
    others = "\n\n".join(f"{name}\n{_asset(f'{name}.LICENSE').strip()}" for name in _INSIDE)
    page = Template(_own("page.html")).substitute(
        mark=MARK,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}",
        title=escape(title),
        version=escape(__version__),
        style=_own("page.css"),
        data=data,
        library=scripts[0],
        script=scripts[1],
        sheets=sheets,
        ran=ran,
        missing=f"<h3>Not shown</h3><ul>{missing}</ul>" if missing else "",
        licences=escape(
            "\n\n".join(f"{name}\n{_asset(f'{name}.LICENSE').strip()}" for name in _LIBRARY)
            + f"\n\n{others}"
        ),
    )
    return page.encode("utf-8", errors="backslashreplace")


def _own(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _asset(name: str) -> str:
    return paths.page_asset(name).read_text(encoding="utf-8")
