# SPDX-License-Identifier: Apache-2.0
"""The page of `nandwich papers --page`: every claim and what became of it, by document."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from lab.experiments import ERROR, HOLDS, OURS, VERDICTS, Experiment, Result, Value
from lab.pages import row
from nandwich import files

Claimed = TypeVar("Claimed", Experiment, Result)

_HEAD = """# The published work, measured again

`make papers` writes this page from whole runs of all experiments. What they count and model hangs
on no clock, so the same sources give the same page. `nandwich papers ID` runs one of them, and says
on which set-up and how near a figure has to come.

*Not reachable*: by nobody on our set-up, by the arithmetic in the reason. *Not judged*: it would
say nothing of us. *ours*: no document makes the claim."""


def figure(value: Value | None, unit: str) -> str:
    """What a cell says; words have no unit."""
    if value is None:
        return "-"
    counted = any(letter.isdigit() for letter in str(value))
    return f"{value} {unit}".strip() if counted else str(value)


def documents(results: Sequence[Claimed]) -> dict[str, list[Claimed]]:
    """The claims of each, ours last."""
    names = sorted(dict.fromkeys(one.document for one in results), key=lambda name: name == OURS)
    return {name: [one for one in results if one.document == name] for name in names}


def by_document(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A head, and a row a document: its claims, and how many came to each verdict."""
    verdicts = [
        one for one in VERDICTS if one != ERROR or any(of.verdict == ERROR for of in results)
    ]
    rows = [("document", "claims", *verdicts)]
    for document, claims in documents(results).items():
        found = [one.verdict for one in claims]
        rows.append((document, str(len(found)), *(str(found.count(one)) for one in verdicts)))
    return rows


def shared(what: str, told: Sequence[tuple[str, str]]) -> list[str]:
    """One line for each text, with all that it is said of."""
    of: dict[str, list[str]] = {}
    for id, text in told:
        ids = of.setdefault(text, [])
        if id not in ids:
            ids.append(id)
    return [f"{', '.join(ids)}, {what}: {text}" for text, ids in of.items() if text]


def _claims(results: Sequence[Result]) -> list[str]:
    """A table of claims, and the reasons of those that do not hold."""
    lines = [row("id", "where", "claim", "published", "measured", "verdict")]
    lines.append(row(*["---"] * 6))
    for one in results:
        cells = (
            one.id,
            one.where,
            one.claim,
            figure(one.published, one.unit),
            figure(one.measured, one.unit),
            one.verdict,
        )
        lines.append(row(*(cell.replace("|", "\\|") for cell in cells)))
    reasons: list[str] = []
    for kind in VERDICTS:
        told = [(one.id, one.why) for one in results if one.verdict == kind != HOLDS]
        reasons += [f"- {line}" for line in shared(kind, told)]
    return [*lines, "", *reasons] if reasons else lines


def write(path: Path, results: Sequence[Result]) -> None:
    """Of whole runs only."""
    head, *rows = by_document(results)
    lines = [_HEAD, "", row(*head), row("---", *["--:"] * (len(head) - 1))]
    lines += [row(*cells) for cells in rows]
    for document, claims in documents(results).items():
        lines += ["", f"## {document}", "", *_claims(claims)]
    files.replace(path, ("\n".join(lines) + "\n").encode())
