# SPDX-License-Identifier: Apache-2.0
"""Goal: CFLRU's verdict hangs on what its faults and write-backs cost the decoder, and on nothing
that another program gains."""

import pytest

from papers.fatvm import clean_first

pytestmark = pytest.mark.quick

LRU = (1000, 360)  # 1,000 reads, and 360 x 163 / 36 = 1,630 of them


def _found(jpeg: tuple[int, int], other: tuple[int, int]) -> clean_first.Found:
    cases = [("jpeg", 16384), ("jpeg", 32768), ("fft", 16384)]
    found = {(*case, "lru"): LRU for case in cases}
    found |= {(*case, "cflru"): LRU for case in cases}
    return found | {("jpeg", 32768, "cflru"): jpeg, ("fft", 16384, "cflru"): other}


@pytest.mark.parametrize(
    ("jpeg", "other", "holds", "told"),
    [
        (LRU, LRU, True, "0.0 to 0.0"),
        (LRU, (1000, 36), True, "0.0 to 0.0"),
        ((1100, 324), LRU, True, "0.0 to 2.4"),  # 100 reads more, 163 spared, of 2,630
        ((1000, 324), LRU, False, "0.0 to 6.2"),
        ((3000, 360), LRU, True, "-76.0 to 0.0"),
    ],
)
def test_what_is_spared(
    jpeg: tuple[int, int], other: tuple[int, int], holds: bool, told: str
) -> None:
    own, others = clean_first.answers(_found(jpeg, other))
    assert (own.measured, own.holds) == (told, holds)
    assert others.verdict == "not judged"
