# SPDX-License-Identifier: Apache-2.0
"""Pictures of `nandwich replay`: latency, work, time and energy, wear, the course of the run, and
who used the NVM."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from nandwich.report.book import APP, CONFIG, Book, Column, Plan, Row

SECTION = "Replays"
_WHO = Column(CONFIG, "configuration")
_WHAT = Column("what", "what")

LATENCY = Plan(
    "latency",
    SECTION,
    "Latency",
    "Of all requests, the share that took so long or longer. A line that falls early is better.",
    "lines",
    (_WHO, Column("way", "kind"), Column("ns", "response", "ns"),
     Column("part", "share of requests", "%")),
    {"x": "ns", "y": "part", "colour": CONFIG, "panel": "way"},
    table=(
        _WHO,
        Column("way", "kind"),
        Column("count", "requests"),
        Column("mean", "mean", "ns"),
        Column("p50", "50 %", "ns"),
        Column("p90", "90 %", "ns"),
        Column("p99", "99 %", "ns"),
        Column("p999", "99.9 %", "ns"),
        Column("max", "worst", "ns"),
        Column("none", "took no time", "%"),
    ),
    note="none",
    log="xy",
    curve="step-before",
)  # fmt: skip
WORK = Plan(
    "work",
    SECTION,
    "Work of the chip",
    "Operations, and what they were for.",
    "bars",
    (_WHO, Column("operation", "operation"), _WHAT, Column("count", "operations")),
    {"x": "count", "y": CONFIG, "colour": "what", "panel": "operation"},
)
TIME = Plan(
    "time",
    SECTION,
    "Time",
    "Emulated time until the last request was done.",
    "bars",
    (_WHO, _WHAT, Column("ns", "time", "ns")),
    {"x": "ns", "y": CONFIG, "colour": "what"},
)
ENERGY = Plan(
    "energy",
    SECTION,
    "Energy",
    "Of the chip, by the part's figures.",
    "bars",
    (_WHO, _WHAT, Column("pj", "energy", "pJ")),
    {"x": "pj", "y": CONFIG, "colour": "what"},
)
#: Kinds of requests by their keys; older results have no others.
_WAYS = (("reads", "reads"), ("writes", "writes"), ("others", "trims and syncs"))
_MAP_WIDE, _MAP_MOST = 64, 1024
WEAR = Plan(
    "wear",
    SECTION,
    "Wear of the blocks",
    "Each cell is a block, or the most erased one of some neighbours; the first is top left.",
    "cells",
    (_WHO, Column("first", "block"), Column("erases", "erases")),
    {"panel": CONFIG, "value": "erases", "place": "first"},
    table=(
        _WHO,
        Column("blocks", "blocks"),
        Column("least", "least erased"),
        Column("mean", "mean"),
        Column("most", "most erased"),
    ),
    wide=_MAP_WIDE,
)
HISTOGRAM = Plan(
    "erases",
    SECTION,
    "Erases a block",
    "How many blocks were erased so often. The narrower, the more even the wear.",
    "columns",
    (_WHO, Column("erases", "erases"), Column("blocks", "blocks")),
    {"x": "erases", "y": "blocks", "panel": CONFIG, "colour": CONFIG},
)
_SAMPLES_MOST = 128
_DONE = Column("requests", "requests done")
PACE = Plan(
    "pace",
    SECTION,
    "Programs a write, over the run",
    "Chip programs for each sector written, since the point before.",
    "lines",
    (_WHO, _DONE, Column("amplification", "programs a write")),
    {"x": "requests", "y": "amplification", "colour": CONFIG},
)
WORST = Plan(
    "worst",
    SECTION,
    "Longest response, over the run",
    "The longest of the requests since the point before.",
    "lines",
    (_WHO, _DONE, Column("ns", "longest response", "ns")),
    {"x": "requests", "y": "ns", "colour": CONFIG},
)
_WHERE = Column("where", "in")
_SECTORS = Column("sectors", "sectors written")
APPLICATIONS = Plan(
    "applications",
    SECTION,
    "Written by each application",
    "Sectors, and where they went at first.",
    "bars",
    (_WHO, Column(APP, "application"), _WHERE, _SECTORS),
    {"x": "sectors", "y": APP, "colour": "where", "panel": CONFIG},
)
SERVED = Plan(
    "served",
    SECTION,
    "Speed by application",
    "Millions of bytes a second of the time its requests took.",
    "bars",
    (_WHO, Column(APP, "application"), Column("speed", "speed", "MB/s")),
    {"x": "speed", "y": APP, "panel": CONFIG, "colour": CONFIG},
)
CLASSES = Plan(
    "classes",
    SECTION,
    "Written by class of data",
    "Sectors by what they hold, and where they went at first.",
    "bars",
    (_WHO, Column("class", "class"), _WHERE, _SECTORS),
    {"x": "sectors", "y": "class", "colour": "where", "panel": CONFIG},
)
HOURS = Plan(
    "hours",
    SECTION,
    "Written by hour",
    "By the hour of arrival, and where it went at first.",
    "columns",
    (_WHO, Column("hour", "hour"), _WHERE, _SECTORS),
    {"x": "hour", "y": "sectors", "colour": "where", "panel": CONFIG},
)


def fill(book: Book, content: dict[str, Any], who: int) -> None:
    """Every picture this result has; KeyError or TypeError where it is not as replay writes it."""
    result = content["result"]
    for key, way in _WAYS:
        times = result.get(key)
        if times is not None and times["count"]:
            book.add(LATENCY, _latency(who, way, times), [_quantiles(who, way, times)])
    book.add(WORK, _work(who, result["layer"]))
    book.add(TIME, _parts(who, result, (("at work", "busy_ns"), ("ahead of requests", "ahead_ns"),
                                        ("idle", "idle_ns"))))  # fmt: skip
    book.add(ENERGY, _parts(who, result, (("operations", "energy_pj"), ("idle", "standby_pj"))))
    if content["wear"]:
        book.add(WEAR, *_wear(who, content["wear"]))
        erased = Counter(content["wear"])
        book.add(HISTOGRAM, ([who, *pair] for pair in sorted(erased.items())))
    _course(book, who, content["samples"])
    for one in content["applications"]:
        name = one["name"] or "not named"
        book.add(APPLICATIONS, _written(one, [who, name]))
        if one["mb_per_s"] is not None:
            book.add(SERVED, [[who, name, one["mb_per_s"]]])
    for one in content["classes"]:
        book.add(CLASSES, _written(one, [who, one["name"] + ", in a guest" * bool(one["guest"])]))
    if any(one["written"] for one in content["hours"]):
        for hour, one in enumerate(content["hours"]):
            nvm, flash = one["nvm_written"], one["written"] - one["nvm_written"]
            book.add(HOURS, [[who, hour, "NVM", nvm], [who, hour, "flash", flash]])


def _latency(who: int, way: str, times: dict[str, Any]) -> Iterator[Row]:
    """Each time above 0 with the share of the requests that took no less."""
    count = times["count"]
    if "histogram" in times:
        before = 0
        for ns, number in times["histogram"]:
            if ns > 0:
                yield [who, way, ns, round(100 * (count - before) / count, 6)]
            before += number
        return
    for key, part in (("p50_ns", 50), ("p90_ns", 10), ("p99_ns", 1), ("p999_ns", 0.1)):
        if times[key] > 0:
            yield [who, way, times[key], part]


def _quantiles(who: int, way: str, times: dict[str, Any]) -> Row:
    keys = ("count", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
    none = sum(number for ns, number in times.get("histogram", ()) if not ns)
    return [who, way, *(times[key] for key in keys), round(100 * none / times["count"], 4)]


def _work(who: int, layer: dict[str, int]) -> Iterator[Row]:
    programs = layer["programs"] - layer["copies"] - layer["map_programs"]
    for operation, what, count in (
        ("programs", "data", programs),
        ("programs", "moved by cleaning", layer["copies"]),
        ("programs", "the layer's map", layer["map_programs"]),
        ("reads", "data", layer["reads"] - layer["map_reads"]),
        ("reads", "the layer's map", layer["map_reads"]),
        ("erases", "blocks", layer["erases"]),
    ):
        if count > 0:
            yield [who, operation, what, count]


def _parts(who: int, result: dict[str, int], parts: tuple[tuple[str, str], ...]) -> Iterator[Row]:
    for what, key in parts:
        if result[key] > 0:
            yield [who, what, result[key]]


def _wear(who: int, wear: list[int]) -> tuple[list[Row], list[Row]]:
    """Cells of the map, and its rows in figures."""
    each = -(-len(wear) // _MAP_MOST)
    cells = [[who, first, max(wear[first : first + each])] for first in range(0, len(wear), each)]
    told = []
    for first in range(0, len(wear), each * _MAP_WIDE):
        some = wear[first : first + each * _MAP_WIDE]
        name = f"{first} to {first + len(some) - 1}"
        told.append([who, name, min(some), round(sum(some) / len(some), 3), max(some)])
    return cells, told


def _course(book: Book, who: int, samples: list[dict[str, int]]) -> None:
    """Differences between samples, some put together where there are many."""
    each = -(-len(samples) // _SAMPLES_MOST)
    before = {"chip_programs": 0, "written": 0}
    for first in range(0, len(samples), each or 1):
        some = samples[first : first + each]
        last = some[-1]
        written = last["written"] - before["written"]
        if written > 0:
            programs = last["chip_programs"] - before["chip_programs"]
            book.add(PACE, [[who, last["requests"], round(programs / written, 4)]])
        longest = max(one["response_max_ns"] for one in some)
        book.add(WORST, [[who, last["requests"], longest]])
        before = last


def _written(one: dict[str, Any], begin: Row) -> Iterator[Row]:
    for where, sectors in (
        ("NVM", one["nvm_written"]),
        ("flash", one["written"] - one["nvm_written"]),
    ):
        if sectors > 0:
            yield [*begin, where, sectors]
