# SPDX-License-Identifier: Apache-2.0
"""The nodes and radios around the storage, for the energy of a whole device."""

from nandwich import _native, names
from nandwich.errors import InputError
from nandwich.twin.parts import Field, Figure


def known_names() -> list[str]:
    """Names of nodes and radios."""
    return _native.platform_names()


def unknown(name: str) -> InputError:
    """The error for a name that is in no table: the nearest ones."""
    return names.unknown("platform", name, known_names(), list_with="nandwich chips --platforms")


def number(name: str, key: str) -> int:
    """A figure of a platform in base units (nA, mV, Hz, pJ, ...); InputError for unknown names."""
    try:
        return _native.platform_value(name, key)[1]
    except KeyError:
        raise unknown(name) from None


def figures(name: str) -> list[Figure]:
    """Every figure of a node or radio, with its source; KeyError."""
    known = {
        key: Field(key, text, form, kind, tuple(words))
        for key, text, form, kind, words in _native.platform_fields()
    }
    found = []
    for key, text, source in _native.platform_rows(name):
        field = known[key]
        value = _native.platform_value(name, key)[1] if field.is_number else None
        found.append(Figure(field, text, value, source))
    return found
