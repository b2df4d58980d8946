# SPDX-License-Identifier: Apache-2.0
"""How large a cache before the flash would have to be: LRU at every size, by a sample of pages.

A page is in the sample by a hash of its number. A cache of a hundredth of the pages then misses in
a sample of a hundredth as often as the whole cache misses in all (SHARDS, Waldspurger et al., FAST
2015; hits that the sample has too few or too many are put right as there).
"""

from dataclasses import dataclass
from typing import Any

from nandwich import _native
from nandwich.errors import InputError
from nandwich.replay.traffic import STEP, Advance

_LEAST = 1000  # pages in a sample, below which a curve means little


@dataclass(frozen=True)
class Point:
    """One size of cache."""

    cache_bytes: int
    missed: float  # share of the pages asked for
    written: float  # pages written back, share of the pages written


@dataclass(frozen=True)
class Curve:
    """What a cache of each size makes of a trace."""

    page_bytes: int
    share: float  # of the pages
    read: int  # pages asked for, in the sample or not
    written: int
    sampled: int  # pages in the sample
    points: list[Point]


def lru(
    source: _native.Source, page_bytes: int, share: float, advance: Advance | None = None
) -> Curve:
    """LRU over pages, with caches of 16 pages, twice as many, and so on up to all of them; none
    smaller than what a page of the sample stands for."""
    refs = _native.Refs(page_bytes)
    sample = _native.Sample(source, page_bytes, share)
    try:
        while refs.load_requests(sample, STEP):
            if advance is not None:
                advance(STEP)
    except ValueError as error:
        raise InputError(str(error)) from error
    if refs.pages == 0:
        raise InputError("no page of the sample is read or written: take a larger --sample")
    faults, written = refs.lru_curve(refs.pages)
    asked, writes = sample.pages_read + sample.pages_written, sample.pages_written
    points = []
    pages = 16
    while pages * share < 1:
        pages *= 2
    while True:
        frames = min(round(pages * share), refs.pages)
        missed = min(1.0, faults[frames - 1] / share / asked)
        back = min(1.0, written[frames - 1] / share / writes) if writes else 0.0
        points.append(Point(pages * page_bytes, missed, back))
        if pages * share >= refs.pages:
            break
        pages *= 2
    return Curve(page_bytes, share, sample.pages_read, writes, refs.pages, points)


def is_thin(curve: Curve) -> bool:
    """Are so few pages in the sample that the curve means little?"""
    return curve.share < 1 and curve.sampled < _LEAST


def as_json(curve: Curve) -> dict[str, Any]:
    """As docs/schemas/curve-1.json has it."""
    return {
        "page_bytes": curve.page_bytes,
        "share": curve.share,
        "pages_read": curve.read,
        "pages_written": curve.written,
        "pages_sampled": curve.sampled,
        "points": [
            {
                "cache_bytes": one.cache_bytes,
                "missed": round(one.missed, 6),
                "written_back": round(one.written, 6),
            }
            for one in curve.points
        ],
    }
