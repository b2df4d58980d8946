# SPDX-License-Identifier: Apache-2.0
"""Tables that benches write into pages of the docs."""

from collections.abc import Sequence


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def put(page: str, place: tuple[str, str], lines: Sequence[str]) -> str:
    """The page with other lines between two that mark a place."""
    begin, end = place
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return before + "\n".join([begin, *lines, end]) + after
