# SPDX-License-Identifier: Apache-2.0
"""Pictures of the verbs but replay: deadlines, miss curves, the RAM dial, energy, runs, papers."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from nandwich.report.book import APP, CONFIG, Book, Column, Plan, Row

DEADLINES, PAGING, DIAL = "Deadlines", "Page replacement", "RAM as a dial"
CACHE = "A cache before the flash"
ENERGY, RUNS, BENCH, PAPERS = "Energy of a node", "Programs", "Measured builds", "Papers"

_WHO = Column(CONFIG, "configuration")
_POLICY = Column(CONFIG, "policy")
_RAM = Column("ram", "RAM", "B")
_PARTS = {"x": "share", "y": CONFIG, "colour": "fate", "panel": APP}

FATES = Plan(
    "fates",
    DEADLINES,
    "Deadlines",
    "What became of the requests: in all, and by flow. Only met ones are good.",
    "bars",
    (_POLICY, Column(APP, "flow"), Column("fate", "fate"), Column("share", "share", "%"),
     Column("count", "requests")),
    _PARTS,
)  # fmt: skip
_FATES = ("met", "late", "dropped", "failed", "full", "refused")
_FATE_NAMES = {"full": "no slot", "refused": "too large"}
RESPONSE = Plan(
    "response",
    DEADLINES,
    "Response",
    "From issue to flash, of requests that were done.",
    "bars",
    (_POLICY, Column("which", "which"), Column("ns", "response", "ns")),
    {"x": "ns", "y": CONFIG, "panel": "which", "colour": CONFIG},
)
SPENT = Plan(
    "spent",
    DEADLINES,
    "Energy for deadlines",
    "Of the device, in all runs.",
    "bars",
    (_POLICY, Column("pj", "energy", "pJ")),
    {"x": "pj", "y": CONFIG, "colour": CONFIG},
)
_FRAME = Column("frame", "frames of")
FAULTS = Plan(
    "faults",
    PAGING,
    "Faults",
    "References to a page that is in no frame. belady knows the future: nobody has less.",
    "lines",
    (_POLICY, _FRAME, _RAM, Column("faults", "faults")),
    {"x": "ram", "y": "faults", "colour": CONFIG, "panel": "frame"},
    log="xy",
)
PAID = Plan(
    "paid",
    PAGING,
    "Cost of faults and write-backs",
    "In reads of a page; a write-back weighs as the command was told.",
    "lines",
    (_POLICY, _FRAME, _RAM, Column("cost", "cost"), Column("writebacks", "write-backs")),
    {"x": "ram", "y": "cost", "colour": CONFIG, "panel": "frame"},
    log="xy",
)
MISSES = Plan(
    "misses",
    PAGING,
    "Miss curve of lru",
    "Misses of a reference with any RAM. A knee is RAM worth having.",
    "lines",
    (_FRAME, _RAM, Column("missed", "missed", "%")),
    {"x": "ram", "y": "missed", "colour": "frame"},
    log="xy",
)
_CURVE_MOST = 128
CACHED = Plan(
    "cached",
    CACHE,
    "What a cache would miss",
    "LRU over the pages of a trace. What is missed is read from flash; what is written back is "
    "programmed.",
    "lines",
    (Column("trace", "trace"), Column("what", "what"), Column("cache", "cache", "B"),
     Column("missed", "of pages", "%")),
    {"x": "cache", "y": "missed", "colour": "trace", "panel": "what"},
    log="x",
)  # fmt: skip
RAM = Plan(
    "dial",
    DIAL,
    "Programs a write, by RAM",
    "What RAM buys. To the left and low is better.",
    "dots",
    (_WHO, _RAM, Column("programs", "programs a write"), Column("time", "time a write", "ns"),
     Column("energy", "energy a write", "pJ"), Column("life", "life, bytes written", "B")),
    {"x": "ram", "y": "programs", "colour": CONFIG},
    log="x",
)  # fmt: skip
REFUSED = Plan(
    "refused",
    DIAL,
    "RAM that a layer needs",
    "The least RAM of layers that do not fit, and what those that fit take.",
    "bars",
    (_WHO, Column("fits", "fits"), _RAM),
    {"x": "ram", "y": CONFIG, "colour": "fits"},
    order=("fits", "too much"),
)
_CYCLE = Column("cycle", "a job each", "ns")
CYCLES = Plan(
    "cycles",
    ENERGY,
    "Energy of a duty cycle",
    "By how often the job is done. Where two lines cross, both ways cost the same.",
    "lines",
    (Column(CONFIG, "way"), _CYCLE, Column("pj", "energy a cycle", "pJ")),
    {"x": "cycle", "y": "pj", "colour": CONFIG},
    log="xy",
)
LIVES = Plan(
    "lives",
    ENERGY,
    "Life of the battery",
    "At the duty cycle of the file.",
    "bars",
    (Column(CONFIG, "way"), Column("ns", "life", "ns")),
    {"x": "ns", "y": CONFIG, "colour": CONFIG},
)
SENDING = Plan(
    "sending",
    ENERGY,
    "The job here, or raw data sent",
    "Energy over one hop and more; sleep is left out.",
    "lines",
    (Column("radio", "radio"), Column("what", "what"), Column("hops", "hops"),
     Column("pj", "energy", "pJ")),
    {"x": "hops", "y": "pj", "colour": "what", "panel": "radio"},
)  # fmt: skip
SPLIT = Plan(
    "split",
    RUNS,
    "Time of a run",
    "Emulated time by who took it; the host's processor is not in it.",
    "bars",
    (_WHO, Column("what", "what"), Column("ns", "time", "ns")),
    {"x": "ns", "y": CONFIG, "colour": "what"},
)
MEMORY = Plan(
    "memory",
    RUNS,
    "RAM of a run",
    "What the RAM holds.",
    "bars",
    (_WHO, Column("what", "what"), Column("bytes", "RAM", "B")),
    {"x": "bytes", "y": CONFIG, "colour": "what"},
)
TARGETS = Plan(
    "targets",
    BENCH,
    "Figures and their targets",
    "Measured over target: at 1 the target is just met.",
    "dots",
    (_WHO, Column("name", "figure"), Column("ratio", "of its target"), Column("value", "measured"),
     Column("target", "target"), Column("unit", "unit"), Column("better", "better"),
     Column("ok", "target")),
    {"x": "ratio", "y": "name", "colour": "ok"},
    order=("met", "missed"),
    log="x",
    rule=1,
)  # fmt: skip
_DIAL_NAME = re.compile(r"dial\.(?P<what>.+), (?P<kb>\d+) KB")
TURNED = Plan(
    "turned",
    DIAL,
    "The tree layer, by RAM",
    "Measured by the dial bench.",
    "lines",
    (Column("what", "figure"), _RAM, Column("value", "measured"), Column("unit", "unit")),
    {"x": "ram", "y": "value", "panel": "what", "colour": "what"},
    log="x",
)
_VERDICTS = ("holds", "differs", "not judged", "error")
CLAIMS = Plan(
    "claims",
    PAPERS,
    "Papers against ours",
    "Measured over published, of claims with a number. At 1 both are the same.",
    "dots",
    (Column("id", "experiment"), Column("ratio", "of the published"), Column("verdict", "verdict")),
    {"x": "ratio", "y": "id", "colour": "verdict"},
    log="x",
    rule=1,
    order=_VERDICTS,
)
VERDICTS = Plan(
    "verdicts",
    PAPERS,
    "Claims",
    "How many claims came out as published, by experiment.",
    "bars",
    (Column("part", "experiment"), Column("verdict", "verdict"), Column("count", "claims")),
    {"x": "count", "y": "part", "colour": "verdict"},
    order=_VERDICTS,
    table=(Column("id", "experiment"), Column("claim", "claim"), Column("published", "published"),
           Column("measured", "measured"), Column("unit", "unit"), Column("verdict", "verdict"),
           Column("why", "why")),
)  # fmt: skip


def sched(book: Book, content: dict[str, Any], prefix: str) -> None:
    for one in content["results"]:
        policy = str(one["policy"])
        who = book.choice(f"{prefix} {policy}".strip(), "sched", policy)
        for name, counts in (("", one["total"]), *((flow["name"], flow) for flow in one["flows"])):
            book.add(FATES, _fates(who, name, counts))
        if policy != "bound":
            mean, worst = one["response_us_mean"], one["response_us_max"]
            book.add(RESPONSE, [[who, "mean", 1000 * mean], [who, "worst", 1000 * worst]])
            book.add(SPENT, [[who, one["energy_pj"]]])


def _fates(who: int, flow: str, counts: dict[str, Any]) -> Iterator[Row]:
    offered = counts["offered"]
    for fate in _FATES:
        if offered and counts[fate] > 0:
            share = round(100 * counts[fate] / offered, 4)
            yield [who, flow, _FATE_NAMES.get(fate, fate), share, counts[fate]]


def vmtrace(book: Book, content: dict[str, Any], prefix: str) -> None:
    for one in content["frames"]:
        frame = f"{prefix} {one['frame_bytes']} B".strip()
        for outcome in one["results"]:
            policy = str(outcome["policy"])
            who = book.choice(policy, "vmtrace", policy)
            at = [who, frame, outcome["ram_bytes"]]
            book.add(FAULTS, [[*at, outcome["faults"]]])
            book.add(PAID, [[*at, outcome["cost_reads"], outcome["writebacks"]]])
        curve = list(enumerate(one["lru_faults"], 1))
        each = -(-len(curve) // _CURVE_MOST) or 1
        for frames, faults in curve[::each]:
            missed = round(100 * faults / one["references"], 4)
            book.add(MISSES, [[frame, frames * one["frame_bytes"], missed]])


def cache(book: Book, content: dict[str, Any], name: str) -> None:
    for what, key in (("missed", "missed"), ("written back", "written_back")):
        for one in content["points"]:
            book.add(CACHED, [[name, what, one["cache_bytes"], round(100 * one[key], 4)]])


def fit(book: Book, content: dict[str, Any]) -> None:
    for one in content["layers"]:
        who = book.choice(one["layer"], "fit", one["layer"])
        if one["ram_bytes"] is not None:
            book.add(REFUSED, [[who, "fits" if one["fits"] else "too much", one["ram_bytes"]]])
        keys = ("programs_a_write", "time_ns_a_write", "energy_pj_a_write", "life_bytes")
        if one["fits"] and one["programs_a_write"] is not None:
            book.add(RAM, [[who, one["ram_bytes"], *(one[key] for key in keys)]])


def energy(book: Book, content: dict[str, Any], prefix: str) -> None:
    for one in content["ways"]:
        who = book.choice(f"{prefix} {one['name']}".strip(), "energy", "")
        book.add(CYCLES, ([who, cycle["cycle_ns"], cycle["energy_pj"]] for cycle in one["cycles"]))
        if one["life_ns"] is not None:
            book.add(LIVES, [[who, one["life_ns"]]])
    for one in content["sending"]:
        radio = f"{prefix} {one['radio']}".strip()
        for what, key in (("the job here", "here_pj"), ("raw data", "raw_pj")):
            book.add(SENDING, [[radio, what, one["hops"], one[key]]])


#: Parts of time and RAM that are no part of their sum, or hold others.
_NO_PART = frozenset({"total", "processor_most", "chip"})
_HOLDS = ("frames", "vm_tables", "slots", "ftl", "layer", "ecc", "stack")


def run(book: Book, content: dict[str, Any], who: int) -> None:
    for key, ns in content["time_ns"].items():
        if key not in _NO_PART and ns:
            book.add(SPLIT, [[who, key.removesuffix("_least"), ns]])
    memory = content.get("ram_bytes") or content["bytes"]
    for key in _HOLDS:
        if memory.get(key):
            book.add(MEMORY, [[who, key.replace("_", " "), memory[key]]])


def bench(book: Book, figures: list[dict[str, Any]], who: int) -> None:
    for one in figures:
        name, value, target = str(one["name"]), one["value"], one["target"]
        turned = _DIAL_NAME.fullmatch(name)
        if turned:
            ram = 1024 * int(turned["kb"])
            book.add(TURNED, [[turned["what"], ram, value, one["unit"]]])
        if target and value > 0:
            met = "met" if one["ok"] else "missed"
            ratio = round(value / target, 4)
            book.add(TARGETS, [[who, name, ratio, value, target, one["unit"], one["better"], met]])


def papers(book: Book, claims: list[dict[str, Any]]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for one in claims:
        counts[str(one["id"]).partition("/")[0], str(one["verdict"])] += 1
        published, measured = one["published"], one["measured"]
        if _above_zero(published) and _above_zero(measured):
            ratio = round(measured / published, 4)
            book.add(CLAIMS, [[one["id"], ratio, one["verdict"]]])
    keys = ("id", "claim", "published", "measured", "unit", "verdict", "why")
    told = [[one[key] for key in keys] for one in claims]
    book.add(VERDICTS, ([*key, count] for key, count in counts.items()), told)


def _above_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value > 0
