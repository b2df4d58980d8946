# SPDX-License-Identifier: Apache-2.0
"""A second writing of examples/llm/llm.c, in plain numpy integers."""

from __future__ import annotations

import math
import struct

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class Reader:
    """Parts of a file of weights, each at a multiple of 512 bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 512

    def take(self, kind: str, count: int) -> Numbers:
        values = np.frombuffer(self.content, kind, count, self.at)
        self.at += -(-values.nbytes // 512) * 512
        return values.astype(np.int64)


Scale = tuple[int, int]


def scaled(sums: Numbers, scale: Scale) -> Numbers:
    factor, shift = scale
    return (sums * factor + (1 << (shift - 1))) >> shift


def apply(matrix: tuple[Numbers, Scale], inputs: Numbers) -> Numbers:
    weights, scale = matrix
    sums = weights @ inputs
    assert np.abs(sums).max() < 2**31
    return scaled(sums, scale)


def norm(stream: Numbers) -> Numbers:
    root = math.isqrt(int((stream * stream).sum()) // len(stream) + 42950)
    return (stream * ((1 << 40) // root) + (1 << 29)) >> 30


class Reference:
    """A model that takes tokens one by one."""

    def __init__(self, content: bytes) -> None:
        sizes = struct.unpack_from("<8i", content, 12)
        self.vocabulary, self.width, layers, self.heads, self.head, hidden = sizes[:6]
        self.context, self.rows = sizes[6:]
        file = Reader(content)
        texts = file.take("u1", 16 * self.vocabulary).reshape(-1, 16).astype(np.uint8)
        lengths = file.take("u1", self.vocabulary)
        self.texts = [bytes(text[:length]) for text, length in zip(texts, lengths, strict=True)]
        self.powers = file.take("<u4", 256)
        numbers = iter(file.take("<i4", 4 + layers * (29 if self.rows else 13)).tolist())

        def scale() -> Scale:
            return next(numbers), next(numbers)

        def matrix(inputs: int, outputs: int, scale: Scale) -> tuple[Numbers, Scale]:
            return file.take("i1", inputs * outputs).reshape(outputs, inputs), scale

        self.token_scale = scale()
        self.embedding = matrix(self.width, self.vocabulary, scale())
        across = self.heads * self.head
        self.layers = []
        levels = []
        for _ in range(layers):
            query = matrix(self.width, across, scale())
            key = matrix(self.width, self.head, scale())
            value = matrix(self.width, self.head, scale())
            out = matrix(across, self.width, scale())
            up = matrix(self.width, hidden, scale())
            down = matrix(hidden, self.width, scale())
            self.layers.append((next(numbers), query, key, value, out, up, down))
            levels.append(np.array([next(numbers) for _ in range(16 if self.rows else 0)]))
        self.tables = []
        for own in levels if self.rows else []:
            pairs = file.take("u1", self.rows * self.width // 2).reshape(self.rows, -1)
            self.tables.append(own[np.stack([pairs & 15, pairs >> 4], -1).reshape(self.rows, -1)])
        assert file.at == len(content)
        self.caches: list[list[Numbers]] = [[] for _ in range(layers)]
        self.last = [0, 0, 0]

    def row(self, layer: int) -> int:
        one, two, three = ((token + 1) % 2**32 for token in self.last)
        mixed = one * 0x9E3779B1 ^ two * 0x85EBCA77
        if layer % 2:
            mixed ^= three * 0xC2B2AE3D
        mixed %= 2**32
        mixed = (mixed ^ mixed >> 15) * (0x27D4EB2F + 2 * layer) % 2**32
        return int((mixed >> 8) % self.rows)

    def power(self, below: Numbers) -> Numbers:
        whole = np.minimum(below >> 8, 62)
        return np.where(whole > 20, 0, self.powers[below & 255] >> whole)

    def attend(self, layer: int, normed: Numbers) -> Numbers:
        score_shift, query, key, value = self.layers[layer][:4]
        cache = self.caches[layer]
        both = np.concatenate([apply(key, normed), apply(value, normed)])
        cache.append(np.clip(both, -127, 127))
        del cache[: -self.context]
        kept = np.array(cache)
        keys, values = kept[:, : self.head], kept[:, self.head :]
        wanted = np.clip(apply(query, normed), -32767, 32767).reshape(self.heads, self.head)
        away = np.arange(len(kept))[::-1]
        mixed = []
        for head in range(self.heads):
            scores = (keys @ wanted[head] >> score_shift) - (
                away * 256 >> 8 * (head + 1) // self.heads
            )
            shares = self.power(scores.max() - scores) >> 6
            mixed.append((shares @ values) * (2**31 // int(shares.sum())) >> 24)
        return np.concatenate(mixed)

    def forward(self, token: int) -> Numbers:
        """The logits behind `token`."""
        self.last = [token, *self.last[:2]]
        own = self.embedding[0][token]
        stream = scaled(own, self.token_scale)
        for layer, (*_, out, up, down) in enumerate(self.layers):
            if self.rows:
                stream = stream + self.tables[layer][self.row(layer)]
            stream = stream + apply(out, self.attend(layer, norm(stream)))
            relu = np.clip(apply(up, norm(stream)), 0, 2895)
            stream = stream + apply(down, relu * relu >> 9)
        return apply(self.embedding, norm(stream))

    def generate(self, prompt: list[int], count: int, seed: int) -> list[int]:
        """`count` tokens behind `prompt`, chosen as llm.c chooses them."""
        state = (seed * 2 + 1) * 0x9E3779B1 % 2**32
        for token in [0, *prompt]:
            logits = self.forward(token)
        found: list[int] = []
        for _ in range(count):
            shares = self.power((logits.max() - logits) * 3 >> 1)
            shares[0] = 0
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
            sums = np.cumsum(shares)
            found.append(int(np.searchsorted(sums, state * int(sums[-1]) >> 32, side="right")))
            logits = self.forward(found[-1])
        return found
