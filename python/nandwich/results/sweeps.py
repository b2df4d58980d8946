# SPDX-License-Identifier: Apache-2.0
"""What `nandwich sweep --json` wrote: a result for each point and seed. Seeds of one configuration
have one name."""

from collections.abc import Iterator
from typing import Any

from nandwich.results.comparison import Entry
from nandwich.results.figures import Metric, Result, of_verb, origin
from nandwich.results.read import Document

_SEED = "seed"
#: Values that say themselves what they are of.
_SPEAK = frozenset(
    {"source", "sources", "config", "ftl", "chip", "wear", "tier", "nvm-part", "result"}
)
_BOUND = "bound"  # the best possible, among the results of sched


def results(document: Document, name: str) -> tuple[list[Result], list[Metric]]:
    """Of the configurations of which every seed has a result; InputError for what is missing."""
    without = {one.name for one in missing(document, name)}
    common = dict(origin(document))
    found = []
    for row in document.at("rows"):
        told = _name(row, name)
        if told in without:
            continue
        values = dict(row["values"])
        if not all(isinstance(one, int | float) for one in values.values()):
            raise document.changed(f"a number for each figure of {told}")
        best = document.at("verb") == "sched" and row["result"] == _BOUND
        found.append(Result(told, document.path, dict(_config(row)) | common, values, best))
    keys = {key for one in found for key in one.values}
    return found, of_verb(str(document.at("verb")), sorted(keys))


def missing(document: Document, name: str) -> list[Entry]:
    """Configurations of which a seed has no result, with the first reason."""
    found: dict[str, Entry] = {}
    for row in document.at("rows"):
        told, command = _name(row, name), str(row["command"])
        if row["state"] == "no room":
            found.setdefault(told, Entry(told, [], document.path, command, {}, "no room"))
        elif row["state"] != "done":
            why = str(row["why"])
            found.setdefault(told, Entry(told, [], document.path, command, {}, "failed", why))
    return list(found.values())


def _name(row: dict[str, Any], name: str) -> str:
    """What differs between points, but for the seed."""
    words = [
        told if key in _SPEAK else f"{key}={told}" for key, told in _config(row) if key != _SEED
    ]
    return " ".join(word for word in (name, *words) if word)


def _config(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What a point has of what differs, and which of its results this is."""
    for key, value in row["configuration"].items():
        if value is not None:
            yield str(key), text(value)
    if row["result"]:
        yield "result", str(row["result"])


def text(value: Any) -> str:
    """A value of an option as one word, about as the spec has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
