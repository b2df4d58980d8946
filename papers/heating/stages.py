# SPDX-License-Identifier: Apache-2.0
"""D-2.6: the hot data filter on eight blocks, and the counters that the thesis puts into them.

The device has as many logical blocks as the example has counters; each is filled once, and a write
to one of its pages afterwards is an update. The first block is made hot by 255 updates before. That
pools follow one another as told is tested with eight blocks in tests/unit/test_wear.c, below any
layer: a layer keeps six free, so that eight are too few for one.
"""

import struct
from collections.abc import Iterator

from lab.experiments import OURS, Answer, Report, experiment
from nandwich import _native
from papers.heating._play import PART

COUNTERS = (255, 100, 3, 2, 6, 2, 8, 8)
FULL = 255
SPARE_BLOCKS = 12
WRITE = 1


def _writes(counters: tuple[int, ...]) -> Iterator[int]:
    """Logical blocks in the order in which they are written: filled, the first one made hot, and
    then so often each, the first one last."""
    yield from range(len(counters))
    yield from (0 for _ in range(FULL))
    for block in (*range(1, len(counters)), 0):
        yield from (block for _ in range(counters[block]))


def hot_after(counters: tuple[int, ...], wear: str = "dheating") -> int:
    """Logical blocks found hot when the first one's counter, of a hot block, is full."""
    part = _native.Part.named(PART)
    part.set("in_order", "no")
    device = _native.ReplayDevice(
        part,
        "nftl",
        config={"spare_blocks": SPARE_BLOCKS},
        blocks=SPARE_BLOCKS + len(counters),
        factory_bad=False,
        wear=wear,
    )
    page_bytes = device.sector_bytes
    block_bytes = page_bytes * device.block_pages
    packed = (
        struct.pack("<QQQQBBH4x", 0, block * block_bytes, page_bytes, 0, WRITE, 0, 0)
        for block in _writes(counters)
    )
    replay = _native.Replay(device, _native.Requests(b"".join(packed)))
    while replay.run(1_000_000):
        pass
    return replay.wear_stats()["hot"]


def least_by_rule() -> int:
    """The second counter from which on it is not below the mean of all eight."""
    return next(
        count
        for count in range(max(COUNTERS[2:]) + 1, FULL)
        if count * len(COUNTERS) >= sum(COUNTERS) - COUNTERS[1] + count
    )


def _least() -> int:
    """The least second counter with which its block becomes hot; 0: none."""
    first, _, *rest = COUNTERS
    return next((n for n in range(1, FULL) if hot_after((first, n, *rest)) > 1), 0)


@experiment(
    "D-2.6",
    claim="the hot data filter: counters 255, 100, 3, 2, 6, 2, 8, 8, the first one's block hot "
    "already; hot blocks afterwards",
    published=2,
    unit="blocks",
    judges_quick=True,
    where="figure 2.6 and section 2.3.2",
    setup="published: eight blocks; the mean is 48, the largest counter of a cold block 100, so "
    "that block becomes hot; the figure's own blocks are not in our copy. Ours: NFTL with eight "
    f"logical blocks over {SPARE_BLOCKS + len(COUNTERS)}, each filled, then updated so often page "
    "by page",
)
def filtered(quick: bool) -> Report:  # noqa: ARG001
    """The example itself, and where the filter draws the line."""
    hot, least, rule = hot_after(COUNTERS), _least(), least_by_rule()
    mean = (sum(COUNTERS) - COUNTERS[1] + rule) / len(COUNTERS)
    exact = "none: an exact count"
    return Report(
        answers=[
            Answer(
                hot,
                holds=hot == 2,
                why=f"{COUNTERS[1]} is not below the mean of {sum(COUNTERS) / len(COUNTERS):.0f}",
                part="example",
                tolerance=exact,
            ),
            Answer(
                least,
                holds=least == rule,
                why=f"with {rule} the mean is {mean:.1f}; the hot block counts in it, but cannot "
                "become hot again",
                part="least",
                claim="the least second counter with which its block becomes hot, by the rule",
                published=rule,
                unit="updates",
                where=OURS,
                tolerance=exact,
                must_hold=True,
            ),
        ],
        columns=["second counter", "hot blocks"],
        rows=[[n, hot_after((FULL, n, *COUNTERS[2:]))] for n in (rule - 1, rule, COUNTERS[1])],
    )
