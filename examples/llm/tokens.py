# SPDX-License-Identifier: Apache-2.0
"""Tokens: strings of bytes found by joining frequent neighbours, and text cut into them.

Token 0 to 255 is the byte of that number, so every text can be written; token 0 also begins a text.
Text is cut greedily: at each place the longest token that fits, as llm.c does it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

BEGIN = 0
"""The token before the first of a text."""
LONGEST_BYTES = 16
"""No token is longer."""
WORD = re.compile(rb" ?[A-Za-z_]+|[0-9]| ?[^\sA-Za-z0-9_]+|\n+ *| +|\s")
"""Tokens do not reach across the ends of such words."""


class Merger:
    """Words as lists of tokens, and how often each two tokens stand side by side in all of them."""

    def __init__(self, texts: list[bytes]) -> None:
        counts = Counter(word for text in texts for word in WORD.findall(text))
        self.words = [(list(word), often) for word, often in counts.items()]
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.places: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for place in range(len(self.words)):
            self._add(place, 1)

    def _add(self, place: int, sign: int) -> None:
        word, often = self.words[place]
        for pair in pairwise(word):
            self.pairs[pair] += sign * often
            self.places[pair].add(place)

    def merge(self, pair: tuple[int, int], token: int) -> None:
        """Write `token` wherever `pair` stands."""
        for place in sorted(self.places.pop(pair)):
            self._add(place, -1)
            word, often = self.words[place]
            joined: list[int] = []
            at = 0
            while at < len(word):
                found = tuple(word[at : at + 2]) == pair
                joined.append(token if found else word[at])
                at += 2 if found else 1
            self.words[place] = (joined, often)
            self._add(place, 1)


def learn(texts: list[bytes], count: int) -> list[bytes]:
    """The `count` tokens (at least 256) that byte-pair encoding finds in `texts`."""
    tokens = [bytes([byte]) for byte in range(256)]
    merger = Merger(texts)
    while len(tokens) < count:
        fits = (
            (often, pair)
            for pair, often in merger.pairs.items()
            if often > 0 and len(tokens[pair[0]]) + len(tokens[pair[1]]) <= LONGEST_BYTES
        )
        _, pair = max(fits)
        text = tokens[pair[0]] + tokens[pair[1]]
        merger.merge(pair, len(tokens))
        tokens.append(text)
    return tokens


def encode(tokens: list[bytes], text: bytes) -> list[int]:
    """Cut `text` into the numbers of tokens."""
    numbers = {token: number for number, token in reversed(list(enumerate(tokens)))}
    found: list[int] = []
    at = 0
    while at < len(text):
        length = next(n for n in range(LONGEST_BYTES, 0, -1) if text[at : at + n] in numbers)
        length = min(length, len(text) - at)
        found.append(numbers[text[at : at + length]])
        at += length
    return found


def decode(tokens: list[bytes], numbers: list[int]) -> bytes:
    """The text that `numbers` stand for."""
    return b"".join(tokens[number] for number in numbers)
