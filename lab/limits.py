# SPDX-License-Identifier: Apache-2.0
"""What no translation layer that cleans greedily can beat, under uniform random writes."""

from fractions import Fraction


def greedy_amplification(share: float, block_pages: int) -> float:
    """Programs a write of greedy cleaning in the limit of many blocks.

    `share` is sectors / physical pages. The mean-field (fluid) limit: Desnoyers, "Analytic modeling
    of SSD write performance", SYSTOR 2012; Van Houdt, "A mean field model for a class of garbage
    collection algorithms in flash-based SSDs", SIGMETRICS 2013 (d-choices with d unbounded).

    Worked out for n pages a block: a block is filled whole, then loses valid pages one by one, each
    at the same rate, until it is the one with the fewest. In equilibrium as many blocks pass each
    level, so those at level i are a share a / i of all, for i = n down to j + 1; level j holds the
    rest x, from which victims are taken, some just as they fall to j - 1. Then

        a (H_n - H_j) + x = 1                  all blocks           (H: harmonic numbers)
        a (n - j) + j x = share n              all valid pages

    and the one j with 0 <= x and j x <= a is the answer; victims have v = j - j x / a valid pages,
    and n / (n - v) pages are programmed for each one written.
    """
    pages = block_pages
    harmonic = [Fraction(0)]
    for i in range(1, pages + 1):
        harmonic.append(harmonic[-1] + Fraction(1, i))
    for j in range(pages - 1, -1, -1):
        above = float(harmonic[pages] - harmonic[j])
        a = (share * pages - j) / (pages - j - j * above)
        x = 1 - a * above
        if a > 0 and x >= -1e-12 and j * x <= a + 1e-12:
            return pages / (pages - (j - j * x / a))
    raise ValueError(f"no equilibrium for a share of {share}")
