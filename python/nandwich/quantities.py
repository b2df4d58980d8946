# SPDX-License-Identifier: Apache-2.0
"""Quantities with units, read exactly into the integers the twin counts in.

=========  ========  ==========================================
kind       counts    units
=========  ========  ==========================================
size       bytes     B, K, k or KiB, M or MiB, G or GiB, T or TiB
time       ns        ns, us, ms, s, min, h, d, y (365 days)
energy     pJ        pJ, nJ, uJ, mJ, J
power      nW        nW, uW, mW, W
frequency  Hz        Hz, kHz, MHz, GHz
voltage    mV        mV, V
current    nA        nA, uA, mA, A
charge     uAh       uAh, mAh, Ah
=========  ========  ==========================================

A fraction is fine as long as the result is whole ("1.5 ms", but not "0.5 ns").
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

Kind = Literal["size", "time", "energy", "power", "frequency", "voltage", "current", "charge"]

_UNITS: Mapping[Kind, Mapping[str, int]] = {
    "size": {
        "B": 1,
        **dict.fromkeys(("K", "KiB", "k"), 1 << 10),
        **dict.fromkeys(("M", "MiB"), 1 << 20),
        **dict.fromkeys(("G", "GiB"), 1 << 30),
        **dict.fromkeys(("T", "TiB"), 1 << 40),
    },
    "time": {
        "ns": 1,
        "us": 10**3,
        "µs": 10**3,
        "ms": 10**6,
        "s": 10**9,
        "min": 60 * 10**9,
        "h": 3600 * 10**9,
        "d": 86_400 * 10**9,
        "y": 365 * 86_400 * 10**9,
    },
    "energy": {"pJ": 1, "nJ": 10**3, "uJ": 10**6, "µJ": 10**6, "mJ": 10**9, "J": 10**12},
    "power": {"nW": 1, "uW": 10**3, "µW": 10**3, "mW": 10**6, "W": 10**9},
    "frequency": {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9},
    "voltage": {"mV": 1, "V": 10**3},
    "current": {"nA": 1, "uA": 10**3, "µA": 10**3, "mA": 10**6, "A": 10**9},
    "charge": {"uAh": 1, "µAh": 1, "mAh": 10**3, "Ah": 10**6},
}
_BASE: Mapping[Kind, str] = {
    "size": "bytes",
    "time": "ns",
    "energy": "pJ",
    "power": "nW",
    "frequency": "Hz",
    "voltage": "mV",
    "current": "nA",
    "charge": "uAh",
}
_EXAMPLE: Mapping[Kind, str] = {
    "size": "'32K' or '16 MiB'",
    "time": "'45 ms'",
    "energy": "'2.5 uJ'",
    "power": "'33 mW'",
    "frequency": "'72 MHz'",
    "voltage": "'3.3 V'",
    "current": "'20 uA'",
    "charge": "'2500 mAh'",
}
_PATTERN = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-zµ]*)\s*\Z")
_MOST_DIGITS = 60
_DECIMAL_SIZES = {"KB": "K", "MB": "M", "GB": "G", "TB": "T", "kB": "K"}


def parse(text: str, kind: Kind, *, bare: bool = False) -> int:
    """Read `text` as a quantity; ValueError says what is allowed.

    A number without a unit is refused unless `bare`, and then counts in the base unit.
    """
    match = _PATTERN.match(text)
    if match is None:
        raise ValueError(f"'{text}' is no quantity of {kind}; write it like {_EXAMPLE[kind]}")
    number, unit = match.group(1), match.group(2)
    if len(number) > _MOST_DIGITS:
        raise ValueError(f"'{number[:12]}...' has {len(number)} digits, {_MOST_DIGITS} at most")
    units = _UNITS[kind]
    if not unit:
        if not bare:
            raise ValueError(f"'{text}' has no unit; write it like {_EXAMPLE[kind]}")
        factor = 1
    elif unit in units:
        factor = units[unit]
    elif kind == "size" and unit in _DECIMAL_SIZES:
        plain = _DECIMAL_SIZES[unit]
        raise ValueError(
            f"'{text}': {unit} may mean 1000 or 1024; write {plain} or {plain}iB (1024)"
        )
    else:
        allowed = ", ".join(name for name in units if not name.startswith("µ"))
        raise ValueError(f"'{text}': unknown unit '{unit}' of {kind}; allowed: {allowed}")
    value = Fraction(number.replace("_", "")) * factor
    if value.denominator != 1:
        raise ValueError(f"'{text}' is not a whole number of {_BASE[kind]}")
    return int(value)


#: Of every figure that the C side is given.
MOST = 2**64 - 1


def count(text: str) -> int:
    """A count like 5000, 200K or 1.5M (thousands); ValueError."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMG]?)", text)
    if match is None:
        raise ValueError(f"'{text}' is no count; write it like 5000, 200K or 1.5M")
    value = Fraction(match.group(1)) * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}[match.group(2)]
    if value.denominator != 1:
        raise ValueError(f"'{text}' is no whole number")
    return within(int(value))


def within(value: int) -> int:
    """A number that the C side can be given; ValueError."""
    if value > MOST:
        raise ValueError(f"at most {MOST}")
    return value


def format_size(count: int) -> str:
    """Bytes for people, in the largest binary unit that fits ("32 KiB", "1.5 MiB", "100 B")."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= factor:
            return f"{_short(count / factor)} {unit}"
    return f"{count} B"


def format_time(count_ns: int) -> str:
    """Nanoseconds for people, four significant digits ("13.2 ms")."""
    return _scaled(count_ns, "ns", (("us", 10**3), ("ms", 10**6), ("s", 10**9)))


def format_energy(count_pj: int) -> str:
    """Picojoules for people, four significant digits ("2.5 uJ")."""
    steps = (("nJ", 10**3), ("uJ", 10**6), ("mJ", 10**9), ("J", 10**12))
    return _scaled(count_pj, "pJ", steps)


def _scaled(count: int, base: str, steps: tuple[tuple[str, int], ...]) -> str:
    for unit, factor in reversed(steps):
        if abs(count) >= factor:
            return f"{_short(count / factor)} {unit}"
    return f"{count} {base}"


def _short(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"
