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

    def take(self, kind: str, count: int, skip: int = 0) -> Numbers:
        """Numbers of one part, behind its first `skip` bytes."""
        values = np.frombuffer(self.content, kind, count, self.at + skip)
        self.at += -(-(values.nbytes + skip) // 512) * 512
        return values.astype(np.int64)

    def scales(self, outputs: int) -> tuple[Numbers, int]:
        (shift,) = struct.unpack_from("<i", self.content, self.at)
        return self.take("<u2", outputs, skip=4), shift

    def matrix(self, inputs: int, outputs: int) -> tuple[Numbers, Numbers, int]:
        scale, shift = self.scales(outputs)
        return self.take("i1", inputs * outputs).reshape(outputs, inputs), scale, shift


def scaled(sums: Numbers, scale: Numbers, shift: int) -> Numbers:
    return (sums * scale + (1 << (shift - 1))) >> shift


def apply(matrix: tuple[Numbers, Numbers, int], inputs: Numbers) -> Numbers:
    weights, scale, shift = matrix
    sums = weights @ inputs
    assert np.abs(sums).max() < 2**31
    return scaled(sums, scale, shift)


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
        texts = file.take("u1", 16 * self.vocabulary)
        lengths = file.take("u1", self.vocabulary)
        self.texts = [
            bytes(texts[16 * i : 16 * i + int(length)].astype(np.uint8))
            for i, length in enumerate(lengths)
        ]
        self.powers = file.take("<u4", 256)
        self.token_scale, self.token_shift = file.scales(self.vocabulary)
        self.embedding = file.matrix(self.width, self.vocabulary)
        across = self.heads * self.head
        self.layers = []
        for _ in range(layers):
            score_shift = int(file.take("<i4", 1)[0])
            query = file.matrix(self.width, across)
            key_value = file.matrix(self.width, 2 * self.head)
            out = file.matrix(across, self.width)
            up = file.matrix(self.width, hidden)
            self.layers.append(
                (score_shift, query, key_value, out, up, file.matrix(hidden, self.width))
            )
        self.tables = []
        for _ in range(layers if self.rows else 0):
            levels = file.take("<i4", 16)
            pairs = file.take("u1", self.rows * self.width // 2).reshape(self.rows, -1)
            self.tables.append(
                levels[np.stack([pairs & 15, pairs >> 4], -1).reshape(self.rows, -1)]
            )
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
        score_shift, query, key_value = self.layers[layer][:3]
        cache = self.caches[layer]
        cache.append(np.clip(apply(key_value, normed), -127, 127))
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
        stream = scaled(own, self.token_scale[token], self.token_shift)
        for layer, (_, _, _, out, up, down) in enumerate(self.layers):
            if self.rows:
                stream = stream + self.tables[layer][self.row(layer)]
            stream = stream + apply(out, self.attend(layer, norm(stream)))
            relu = np.clip(apply(up, norm(stream)), 0, 2895)
            stream = stream + apply(down, relu * relu >> 9)
        return apply(self.embedding, norm(stream))

    def generate(self, prompt: list[int], count: int, seed: int) -> list[int]:
        """`count` tokens behind `prompt`, chosen as llm.c chooses them."""
        state = seed * 2 + 1
        for token in [0, *prompt]:
            logits = self.forward(token)
        found: list[int] = []
        for _ in range(count):
            shares = self.power((logits.max() - logits) * 5 >> 2)
            shares[0] = 0
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
            sums = np.cumsum(shares)
            found.append(int(np.searchsorted(sums, state * int(sums[-1]) >> 32, side="right")))
            logits = self.forward(found[-1])
        return found
