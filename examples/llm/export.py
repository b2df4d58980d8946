# SPDX-License-Identifier: Apache-2.0
"""Weights in integers, and the file of them that llm.c reads (its comments tell the numbers).

Every part of the file begins at a multiple of 512 bytes. First the header, 32 bits each: magic,
version, bytes of the file, then the shape. Then the texts of tokens, their lengths, powers of two,
all scales with the levels of tables, the embedding, each layer's matrices in the order they are
used, and at last each layer's table.
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
    """Bytes, outputs first; a sum times `factor`, shifted right, is the output."""

    weights: NDArray[np.int8]
    factor: int
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


def scale(factor: float) -> tuple[int, int]:
    """`factor` as a number of 16 bits and a shift to the right."""
    shift = int(np.floor(np.log2(65535 / factor)))
    return round(factor * 2.0**shift), shift


def quantise(weights: Array, factor: float) -> Matrix:
    """`weights` is (inputs, outputs); `factor`: units of the output for one of inputs * weights."""
    step = float(np.abs(weights).max()) / 127 or 1.0
    return Matrix(np.round(weights.T / step).astype(np.int8), *scale(step * factor))


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

    def end(self, shape: Shape) -> bytes:
        """The file, with its header."""
        header = struct.pack("<3I8i", MAGIC, VERSION, len(self.content), *astuple(shape))
        self.content[: len(header)] = header
        return bytes(self.content)


def quantise_layer(
    shape: Shape, weights: Weights, layer: int, reach: Ranges
) -> tuple[list[Matrix], int]:
    """The matrices of one layer in the order they are used, and the shift of its scores."""
    key, value, relu = 127 / reach.key, 127 / reach.value, RELU_MAX / reach.relu
    query = UNIT / np.log(2) / shape.head**0.5 / key
    room = int(np.floor(np.log2(32767 / (query * reach.query))))
    score_shift = min(max(room, 0), 15)
    square = relu**2 / (1 << SQUARE_SHIFT)
    both = weights[f"key_value{layer}"]
    matrices = [
        quantise(weights[f"query{layer}"], query * 2.0**score_shift / NORM),
        quantise(both[:, : shape.head], key / NORM),
        quantise(both[:, shape.head :], value / NORM),
        quantise(weights[f"out{layer}"], STREAM / (value * MIXED)),
        quantise(weights[f"up{layer}"], relu / NORM),
        quantise(weights[f"down{layer}"], STREAM / square),
    ]
    return matrices, score_shift


def export(shape: Shape, weights: Weights, vocabulary: list[bytes], reach: list[Ranges]) -> bytes:
    """The file of a model, for llm.c."""
    embedding = quantise(weights["embedding"].T, UNIT / np.log(2) / NORM)
    step = float(np.abs(weights["embedding"]).max()) / 127
    numbers = [*scale(step * STREAM), embedding.factor, embedding.shift]
    matrices, tables = [embedding], []
    for layer in range(shape.layers):
        own, score_shift = quantise_layer(shape, weights, layer, reach[layer])
        matrices += own
        numbers += [number for matrix in own for number in (matrix.factor, matrix.shift)]
        numbers.append(score_shift)
        if shape.rows:
            levels = levels_of(weights[f"table{layer}"])
            tables.append(halves(weights[f"table{layer}"], levels))
            numbers += [round(level * STREAM) for level in levels]
    file = File()
    file.put(b"".join(text.ljust(tokens.LONGEST_BYTES, b"\0") for text in vocabulary))
    file.put(bytes(len(text) for text in vocabulary))
    file.put(np.round(POWER * 2.0 ** (-np.arange(UNIT) / UNIT)).astype("<u4").tobytes())
    file.put(np.array(numbers, dtype="<i4").tobytes())
    for matrix in matrices:
        file.put(matrix.weights.tobytes())
    for table in tables:
        file.put(table.tobytes())
    return file.end(shape)
