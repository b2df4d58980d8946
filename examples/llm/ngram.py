# SPDX-License-Identifier: Apache-2.0
"""What counting alone reaches: n-grams of bytes, smoothed after Witten and Bell.

python -m examples.llm.ngram [ORDER...]
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict

from examples.llm import corpus

Counts = list[dict[bytes, Counter[int]]]


def count(texts: list[bytes], order: int) -> Counts:
    """For each length of context, 0 to `order` - 1 bytes: how often each byte follows it."""
    counts: Counts = [defaultdict(Counter) for _ in range(order)]
    for text in texts:
        for at, byte in enumerate(text):
            for length in range(min(order, at + 1)):
                counts[length][text[at - length : at]][byte] += 1
    return counts


def probability(counts: Counts, context: bytes, byte: int) -> float:
    """Of `byte` behind `context`: each length is mixed with what the next shorter one says."""
    value = 1 / 256
    for length, table in enumerate(counts):
        if length > len(context):
            break
        seen = table.get(context[len(context) - length :])
        if seen:
            total, kinds = seen.total(), len(seen)
            value = (seen[byte] + kinds * value) / (total + kinds)
    return value


def bits_per_character(training: list[bytes], held_out: list[bytes], order: int) -> float:
    """Mean bits for each character (not byte) of `held_out`; each text begins without context."""
    counts = count(training, order)
    bits, characters = 0.0, 0
    for text in held_out:
        characters += len(text.decode())
        for at, byte in enumerate(text):
            bits -= math.log2(probability(counts, text[max(0, at - order + 1) : at], byte))
    return bits / characters


def main(orders: list[str]) -> None:
    """Print a line for each order."""
    texts = corpus.load()
    for order in map(int, orders or ["4"]):
        bits = bits_per_character(texts.training, texts.held_out, order)
        print(f"n-gram of order {order}: {bits:.3f} bits a character")


if __name__ == "__main__":
    main(sys.argv[1:])
