# SPDX-License-Identifier: Apache-2.0
"""Weights in integers, and the file of them that llm.c reads (its comments tell the numbers).

Every part of the file begins at a multiple of 512 bytes. First the header, 32 bits each: magic,
version, bytes of the file, then the shape. Then the texts of tokens, their lengths, powers of two,
the embedding with two sets of scales, each layer's matrices in the order they are used, and at last
each layer's table: 16 levels and its rows.
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from examples.llm import model, tokens
from examples.llm.model import Array, Ints, Shape, Weights

VERSION = 1
MAGIC = 0x4D4C574E
ALIGNMENT = 512
LEVELS = 16
NORM = 1 << 10
STREAM = 1 << 16
UNIT = 1 << 8
POWER = 1 << 20
RELU_MAX = 2895
SQUARE_SHIFT = 9
MIXED = 1 << 7
HEADROOM = 1.25
"""How far what runs exceeds the largest value of the sample before it is clamped."""


@dataclass
class Ranges:
    """The largest absolute values of one layer over a sample of text."""

    query: float
    key: float
    value: float
    relu: float


@dataclass
class Matrix:
    """Bytes, outputs first; a sum times its output's scale, shifted right, is the output."""

    weights: NDArray[np.int8]
    scale: NDArray[np.uint16]
    shift: int


def ranges(shape: Shape, weights: Weights, numbers: Ints, rows: Ints | None) -> list[Ranges]:
    """What each layer's values reach on `numbers`, (batch, length + 1)."""
    kept = model.losses(shape, weights, numbers, rows)[1]
    factor = HEADROOM * shape.head**0.5  # a kept query is divided by that root
    return [
        Ranges(
            query=factor * float(np.abs(layer.query).max()),
            key=HEADROOM * float(np.abs(layer.key).max()),
            value=HEADROOM * float(np.abs(layer.value).max()),
            relu=HEADROOM * float(layer.relu.max()),
        )
        for layer in kept
    ]


def scales(factors: NDArray[np.float64]) -> tuple[NDArray[np.uint16], int]:
    """Factors as 16-bit numbers and a common shift to the right."""
    shift = int(np.floor(np.log2(65535 / factors.max())))
    return np.round(factors * 2.0**shift).astype(np.uint16), shift


def quantise(weights: Array, factor: float | NDArray[np.float64]) -> Matrix:
    """`weights` is (inputs, outputs); `factor`: units of the output for one of inputs * weights."""
    largest = np.abs(weights).max(0).astype(np.float64)
    step = np.where(largest > 0, largest, 1.0) / 127
    scale, shift = scales(step * factor)
    return Matrix(np.round(weights.T / step[:, None]).astype(np.int8), scale, shift)


def levels_of(table: Array) -> NDArray[np.float64]:
    """Sixteen levels, one of them 0, that are nearest to the weights which are not 0 (Lloyd)."""
    values = np.sort(table[table != 0].astype(np.float64))
    if len(values) < LEVELS:
        return np.linspace(-1, 1, LEVELS + 1)[:-1]
    values = values[:: max(1, len(values) // 100_000)]
    levels: NDArray[np.float64] = np.quantile(values, (np.arange(LEVELS) + 0.5) / LEVELS)
    for _ in range(30):
        ends = np.searchsorted(values, (levels[1:] + levels[:-1]) / 2)
        parts = np.split(values, ends)
        levels = np.array(
            [part.mean() if len(part) else old for part, old in zip(parts, levels, strict=True)]
        )
    levels[int(np.abs(levels).argmin())] = 0
    return levels


def halves(table: Array, levels: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Rows of half bytes: the number of the nearest level, even places in the low half."""
    found = np.searchsorted((levels[1:] + levels[:-1]) / 2, table)
    return (found[:, 0::2] | found[:, 1::2] << 4).astype(np.uint8)


class File:
    """The bytes of a file of weights, part by part."""

    def __init__(self) -> None:
        self.content = bytearray(ALIGNMENT)

    def put(self, part: bytes) -> None:
        """Append `part`, and zeros up to the next multiple of 512."""
        self.content += part + bytes(-len(part) % ALIGNMENT)

    def put_matrix(self, matrix: Matrix) -> None:
        """Append the scales behind their shift, then the weights."""
        self.put_scales(matrix.scale, matrix.shift)
        self.put(matrix.weights.tobytes())

    def put_scales(self, scale: NDArray[np.uint16], shift: int) -> None:
        """Append scales behind the shift that all of them have."""
        self.put(struct.pack("<i", shift) + scale.astype("<u2").tobytes())

    def end(self, shape: Shape) -> bytes:
        """The file, with its header."""
        header = struct.pack("<3I8i", MAGIC, VERSION, len(self.content), *astuple(shape))
        self.content[: len(header)] = header
        return bytes(self.content)


def put_layer(file: File, shape: Shape, weights: Weights, layer: int, reach: Ranges) -> None:
    """The matrices of one layer, each with the units of what it takes and gives."""
    key, value, relu = 127 / reach.key, 127 / reach.value, RELU_MAX / reach.relu
    query = UNIT / np.log(2) / shape.head**0.5 / key
    room = int(np.floor(np.log2(32767 / (query * reach.query))))
    score_shift = min(max(room, 0), 15)
    file.put(struct.pack("<i", score_shift))
    both = np.repeat([key, value], shape.head)
    file.put_matrix(quantise(weights[f"query{layer}"], query * 2.0**score_shift / NORM))
    file.put_matrix(quantise(weights[f"key_value{layer}"], both / NORM))
    file.put_matrix(quantise(weights[f"out{layer}"], STREAM / (value * MIXED)))
    file.put_matrix(quantise(weights[f"up{layer}"], relu / NORM))
    square = relu**2 / (1 << SQUARE_SHIFT)
    file.put_matrix(quantise(weights[f"down{layer}"], STREAM / square))


def export(shape: Shape, weights: Weights, vocabulary: list[bytes], reach: list[Ranges]) -> bytes:
    """The file of a model, for llm.c."""
    file = File()
    file.put(b"".join(text.ljust(tokens.LONGEST_BYTES, b"\0") for text in vocabulary))
    file.put(bytes(len(text) for text in vocabulary))
    powers = np.round(POWER * 2.0 ** (-np.arange(UNIT) / UNIT))
    file.put(powers.astype("<u4").tobytes())
    embedding = weights["embedding"].T
    largest = np.abs(embedding).max(0).astype(np.float64)
    token_scale, token_shift = scales(np.where(largest > 0, largest, 1.0) / 127 * STREAM)
    file.put_scales(token_scale, token_shift)
    file.put_matrix(quantise(embedding, UNIT / np.log(2) / NORM))
    for layer in range(shape.layers):
        put_layer(file, shape, weights, layer, reach[layer])
    for name in shape.tables():
        levels = levels_of(weights[name])
        file.put(np.round(levels * STREAM).astype("<i4").tobytes())
        file.put(halves(weights[name], levels).tobytes())
    return file.end(shape)
