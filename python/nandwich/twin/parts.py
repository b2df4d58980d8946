# SPDX-License-Identifier: Apache-2.0
"""The parts that a twin can be opened as: the table, and a user's own TOML files.

A user's file sets the fields that `nandwich chips NAME` shows, tables standing for dots:

    name = "MYCHIP"
    based_on = "K9F1G08U0A"     # optional: start from a part of the table
    blocks = 2048               # counts are numbers,
    page_bytes = "4 KiB"        # quantities are texts with a unit,
    in_order = true             # flags are true or false
    [read]
    time = "45 us"
    byte_time = "20 ns"
    [sources]                   # optional: where figures, or groups of them, come from;
    read = "datasheet rev. C, table 9"      # `sources = "..."` is one text for them all
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nandwich import _native, names
from nandwich.errors import InputError
from nandwich.twin import tomlfile

#: Kinds of parts that have blocks to erase.
FLASH = ("nand", "nor", "dataflash")
#: The source of a figure that a file tells no source of: typical for parts of its class.
CLASS = "class"

#: enum nw_field_kind of nandwich-twin/fields.h: what a field's number counts, "" for none.
UNITS = ("", "", "", "B", "ns", "ps", "pJ", "nW", "nA", "mV", "Hz", "bit/s", "", "")
_COUNT, _FLAG, _TEXT, _CURVE, _CHOICE = 0, 1, 2, 12, 13


@dataclass(frozen=True)
class Field:
    """One thing that can be said of a part (or platform)."""

    key: str
    help: str
    form: str
    kind: int
    words: tuple[str, ...]

    @property
    def unit(self) -> str:
        return UNITS[self.kind]

    @property
    def is_number(self) -> bool:
        return self.kind not in (_TEXT, _CURVE, _CHOICE)

    def to_text(self, value: Any) -> str:
        """A TOML value as the text the twin reads; ValueError says what is wanted instead."""
        if self.kind == _FLAG:
            if isinstance(value, bool):
                return "yes" if value else "no"
            raise ValueError("must be true or false")
        if self.kind == _COUNT:
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                return str(value)
            if value == "unlimited":
                return "unlimited"
            raise ValueError("must be a whole number")
        if self.kind == _CHOICE:
            if value in self.words:
                return str(value)
            raise ValueError("must be one of " + ", ".join(f'"{word}"' for word in self.words))
        if not isinstance(value, str):
            raise ValueError(f"must be {self.form}, as a text in quotes")
        return value.replace("µ", "u")


@dataclass(frozen=True)
class Figure:
    """One field's value in a part, with its source."""

    field: Field
    text: str
    number: int | None
    source: str


def _fields(described: list[tuple[str, str, str, int, list[str]]]) -> dict[str, Field]:
    return {
        key: Field(key, text, form, kind, tuple(words))
        for key, text, form, kind, words in described
    }


def fields() -> dict[str, Field]:
    """Every field of a part, by key, in the order to show them."""
    return _fields(_native.part_fields())


def known_names() -> list[str]:
    """Names of the parts table."""
    return _native.part_names()


def unknown(name: str) -> InputError:
    """The error for a name that is in no table: the nearest ones."""
    return names.unknown("chip", name, known_names(), list_with="nandwich chips")


def is_file(name: str) -> bool:
    """Whether a chip is told by a file rather than by a name."""
    return name.endswith(".toml") or "/" in name


def files(name: str) -> list[Path]:
    """The files that `resolve` reads for this name."""
    return [Path(name)] if is_file(name) else []


def resolve(name: str) -> _native.Part:
    """The part of a name or of a user's TOML file; InputError names the nearest or every fault."""
    if is_file(name):
        return load(Path(name))
    try:
        return _native.Part.named(name)
    except (KeyError, TypeError):  # the other one of a name that is no UTF-8
        raise unknown(name) from None


def load(path: Path) -> _native.Part:
    """A part from a user's file. All its errors come in one InputError, `FILE:LINE: error: ...`."""
    file = tomlfile.read(path)
    errors: list[str] = []
    part = _start(file, errors)
    known = fields()
    for key, value in file.values.items():
        if key == "based_on":
            continue
        if key.partition(".")[0] == "sources":
            fault = _source_fault(known, key, value)
        else:
            fault = _set(part, known, key, value)
        if fault is not None:
            errors.append(f"{file.where(key)}: error: {key} {fault}")
    if not errors:
        why = part.check()
        if why is not None:
            errors.append(f"{path}:1: error: {why}")
    if errors:
        raise InputError("\n".join(errors))
    return part


def _start(file: tomlfile.TomlFile, errors: list[str]) -> _native.Part:
    base = file.values.get("based_on")
    if base is None:
        return _native.Part()
    try:
        part = _native.Part.named(str(base))
    except KeyError:
        errors.append(f"{file.where('based_on')}: error: {unknown(str(base)).message}")
        return _native.Part()
    if "name" not in file.values:
        errors.append(f"{file.path}:1: error: name must be given, another than {part.name}")
    return part


def _set(part: _native.Part, known: dict[str, Field], key: str, value: Any) -> str | None:
    """Sets one field; what is wrong, or None."""
    field = known.get(key)
    if field is None:
        close = names.nearest(key, known)
        return "is no field of a part" + (f"; did you mean {' or '.join(close)}?" if close else "")
    try:
        part.set(key, field.to_text(value))
    except ValueError as error:
        return f"= {value!r}: {error}"
    return None


def _source_fault(known: dict[str, Field], key: str, value: Any) -> str | None:
    """What is wrong with a source that a file tells, or None."""
    told = key.partition(".")[2]
    if told and not any(one == told or one.startswith(f"{told}.") for one in known):
        return "tells the source of no figure of a part"
    if not isinstance(value, str) or not value.isprintable() or not value.strip():
        return f"= {value!r}: must be a line of text in quotes"
    return None


def _source(values: Mapping[str, Any], key: str) -> str:
    """What a file tells of where a figure comes from: of itself, its group or all of the file."""
    name = f"sources.{key}"
    while name not in values and "." in name:
        name = name.rpartition(".")[0]
    return str(values.get(name, CLASS))


def figures(name: str) -> list[Figure]:
    """Every figure of a part of the table, with its source; KeyError."""
    part = _native.Part.named(name)
    return list(_figures(part, _native.part_rows(name)))


def _figures(part: _native.Part, rows: list[tuple[str, str, str]]) -> Iterator[Figure]:
    known = fields()
    for key, text, source in rows:
        field = known[key]
        yield Figure(field, text, part.number(key) if field.is_number else None, source)


def file_figures(path: Path) -> list[Figure]:
    """Every figure of a user's part that is set: where in the file, and the source it tells."""
    file = tomlfile.read(path)
    part = load(path)
    rows = []
    base = file.values.get("based_on")
    based = {key: source for key, _, source in _native.part_rows(base)} if base else {}
    for key in fields():
        if key in file.values:
            source = f"{file.where(key)}: {_source(file.values, key)}"
            rows.append((key, part.text(key), source))
        elif key in based:
            rows.append((key, part.text(key), f"{base}: {based[key]}"))
    return list(_figures(part, rows))


def as_text(part: _native.Part) -> str:
    """The part as `key = value` lines, what nw_part_set() of the C side takes."""
    empty = _native.Part()
    return "".join(
        f"{key} = {part.text(key)}\n" for key in fields() if part.text(key) != empty.text(key)
    )
