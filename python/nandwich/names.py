# SPDX-License-Identifier: Apache-2.0
"""Help with a name somebody mistyped."""

import difflib
from collections.abc import Iterable

from nandwich.errors import InputError


def shown(name: str) -> str:
    """A name on one line, whatever is in it."""
    return "".join(one if one.isprintable() else escaped(one) for one in name)


def escaped(text: str) -> str:
    r"""Text in ASCII: a byte of a path that is no UTF-8 as \xff, as a shell's $'...' takes it."""
    return "".join(
        f"\\x{ord(one) - 0xDC00:02x}"
        if "\udc80" <= one <= "\udcff"
        else one.encode("unicode_escape").decode()
        for one in text
    )


def nearest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names closest to `name`, best first; letter case does not count.

    Close is what is spelled alike, then what contains the name: `W25` is meant to find W25Q128JV.
    """
    folded = name.casefold()
    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(folded, by_folded, n=limit, cutoff=0.5)
    if folded:
        found += [other for other in by_folded if folded in other and other not in found]
    return [by_folded[other] for other in found[:limit]]


def unknown(kind: str, name: str, known: Iterable[str], *, list_with: str = "") -> InputError:
    """The error for a name that is not known: the nearest ones, and where to see them all.

    `list_with` is the command that lists them, say "nandwich chips".
    """
    candidates = list(known)
    close = nearest(name, candidates)
    if close:
        hint = "did you mean " + " or ".join(close) + "?"
    elif len(candidates) <= 12:
        hint = "known: " + ", ".join(sorted(candidates))
    else:
        hint = ""
    text = f"unknown {kind} '{name}'"
    if hint:
        text += f"; {hint}"
    if list_with:
        text += f" ({list_with} lists all)"
    return InputError(text)
