# SPDX-License-Identifier: Apache-2.0
"""A small transformer in float32, and its gradients written by hand.

Per layer: a row of a table is added (if there are tables), then attention with one key and one
value for all heads and a bias by distance, then a feed-forward step with a squared ReLU. Norms have
no weights, the last matrix is the embedding, so all there is to store are matrices and tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""float32; the test of gradients takes float64."""
Ints = NDArray[np.int64]
Weights = dict[str, Array]

EPSILON = 1e-5
"""Added to the mean square of a norm."""
PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)
"""Multipliers of the hash that chooses a row: of the last three tokens, and of the layer."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a model; all are counts."""

    vocabulary: int = 1024
    width: int = 128
    layers: int = 6
    heads: int = 4
    head: int = 32
    hidden: int = 512
    context: int = 128
    rows: int = 0
    """Rows of each layer's table, a power of two; 0: no tables."""

    def matrices(self) -> dict[str, tuple[int, int]]:
        """Names of the matrices, each with its inputs and outputs (the embedding: tokens first)."""
        shapes = {"embedding": (self.vocabulary, self.width)}
        for layer in range(self.layers):
            shapes[f"query{layer}"] = (self.width, self.heads * self.head)
            shapes[f"key_value{layer}"] = (self.width, 2 * self.head)
            shapes[f"out{layer}"] = (self.heads * self.head, self.width)
            shapes[f"up{layer}"] = (self.width, self.hidden)
            shapes[f"down{layer}"] = (self.hidden, self.width)
        return shapes

    def tables(self) -> dict[str, tuple[int, int]]:
        """Names of the tables, each with its rows and its width."""
        layers = range(self.layers if self.rows else 0)
        return {f"table{layer}": (self.rows, self.width) for layer in layers}

    def parameters(self) -> tuple[int, int]:
        """Parameters in matrices, and in tables."""
        core = sum(rows * columns for rows, columns in self.matrices().values())
        return core, sum(rows * columns for rows, columns in self.tables().values())


def slopes(shape: Shape) -> list[int]:
    """Of each head: its score falls by 2^-slope powers of two for each token between."""
    return [8 * (head + 1) // shape.heads for head in range(shape.heads)]


def table_rows(shape: Shape, numbers: Ints) -> Ints:
    """Which row each token reads in each layer, (layers, tokens): by a hash of the last 2 or 3.

    Layers of even number go by two tokens, the others by three; before the first stands token 0.
    """
    padded = np.concatenate([np.zeros(2, np.int64), numbers]).astype(np.uint64)
    last, before, third = padded[2:], padded[1:-1], padded[:-2]
    found: list[NDArray[Any]] = []
    for layer in range(shape.layers):
        mixed: NDArray[Any] = (last + 1) * PRIMES[0] ^ (before + 1) * PRIMES[1]
        if layer % 2:
            mixed = mixed ^ (third + 1) * PRIMES[2]
        mixed = mixed % 2**32
        mixed = (mixed ^ mixed >> 15) * (PRIMES[3] + 2 * layer) % 2**32
        found.append(mixed >> 8 & (shape.rows - 1))
    return np.array(found).astype(np.int64)


def begin(shape: Shape, seed: int) -> Weights:
    """Random weights; those that write to the stream, and the tables, begin at zero."""
    random = np.random.default_rng(seed)
    weights: Weights = {}
    for name, (inputs, outputs) in shape.matrices().items():
        scale = 0.0 if name.startswith(("out", "down")) else inputs**-0.5
        if name == "embedding":
            scale = 0.05
        weights[name] = (random.standard_normal((inputs, outputs)) * scale).astype(np.float32)
    for name, sizes in shape.tables().items():
        weights[name] = np.zeros(sizes, np.float32)
    return weights


def bias(shape: Shape, length: int) -> Array:
    """What is added to scores, (query, head, key): less by distance, and far less in the future."""
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    falls = np.log(2) * np.array([2.0**-slope for slope in slopes(shape)])
    value = -falls[None, :, None] * distance[:, None, :]
    return np.where(distance[:, None, :] < 0, -1e9, value).astype(np.float32)


def norm(x: Array) -> tuple[Array, Array]:
    """`x` divided by the root of its mean square, and one over that root."""
    scale = 1 / np.sqrt(np.einsum("...i,...i->...", x, x)[..., None] / x.shape[-1] + EPSILON)
    return x * scale, scale


def norm_back(gradient: Array, normed: Array, scale: Array) -> Array:
    """The gradient before a norm, from that behind it."""
    along: Array = np.einsum("...i,...i->...", gradient, normed)[..., None] / normed.shape[-1]
    gradient = gradient - normed * along
    return gradient * scale


@dataclass
class Kept:
    """What the way back of one layer needs of the way there."""

    n1: Array
    scale1: Array
    query: Array
    key: Array
    value: Array
    share: Array
    mixed: Array
    n2: Array
    scale2: Array
    relu: Array
    square: Array


def attention_shares(query: Array, key: Array, extra: Array) -> Array:
    """How much each head of each token takes of each key: a softmax over scores."""
    batch, length, _ = key.shape
    share = (query @ key.transpose(0, 2, 1)).reshape(batch, length, -1, length)
    share += extra
    share -= share.max(-1, keepdims=True)
    np.exp(share, out=share)
    share /= np.einsum("...i->...", share)[..., None]
    return share.reshape(batch, -1, length)


def layer_forward(
    shape: Shape, weights: Weights, layer: int, x: Array, extra: Array
) -> tuple[Array, Kept]:
    """The stream behind one layer; `x` is (batch * length, width)."""
    length = extra.shape[0]
    batch = len(x) // length
    n1, scale1 = norm(x)
    query = (n1 @ weights[f"query{layer}"]).reshape(batch, length * shape.heads, shape.head)
    query *= np.float32(shape.head**-0.5)
    both = (n1 @ weights[f"key_value{layer}"]).reshape(batch, length, 2, shape.head)
    key = np.ascontiguousarray(both[:, :, 0])
    value = np.ascontiguousarray(both[:, :, 1])
    share = attention_shares(query, key, extra)
    mixed = (share @ value).reshape(len(x), -1)
    x = x + mixed @ weights[f"out{layer}"]
    n2, scale2 = norm(x)
    relu = n2 @ weights[f"up{layer}"]
    np.maximum(relu, 0, out=relu)
    square = relu * relu
    x = x + square @ weights[f"down{layer}"]
    return x, Kept(n1, scale1, query, key, value, share, mixed, n2, scale2, relu, square)


def layer_back(
    shape: Shape, weights: Weights, layer: int, dx: Array, kept: Kept, out: Weights
) -> Array:
    """The gradient before one layer; those of its weights go to `out`."""
    batch, length, _ = kept.key.shape
    out[f"down{layer}"] = kept.square.T @ dx
    dh = dx @ weights[f"down{layer}"].T
    dh *= kept.relu
    dh *= 2
    out[f"up{layer}"] = kept.n2.T @ dh
    dx = dx + norm_back(dh @ weights[f"up{layer}"].T, kept.n2, kept.scale2)

    out[f"out{layer}"] = kept.mixed.T @ dx
    dmixed = (dx @ weights[f"out{layer}"].T).reshape(batch, length * shape.heads, shape.head)
    dvalue = kept.share.transpose(0, 2, 1) @ dmixed
    dshare = dmixed @ kept.value.transpose(0, 2, 1)
    dshare -= np.einsum("bij,bij->bi", dshare, kept.share)[..., None]
    dshare *= kept.share
    dkey = dshare.transpose(0, 2, 1) @ kept.query
    dquery = (dshare @ kept.key).reshape(len(dx), -1)
    dquery *= np.float32(shape.head**-0.5)
    dboth = np.concatenate([dkey, dvalue], -1).reshape(len(dx), -1)
    out[f"query{layer}"] = kept.n1.T @ dquery
    out[f"key_value{layer}"] = kept.n1.T @ dboth
    dn = dquery @ weights[f"query{layer}"].T
    dn += dboth @ weights[f"key_value{layer}"].T
    return dx + norm_back(dn, kept.n1, kept.scale1)


@dataclass
class Rows:
    """Gradients of the rows of a table that were read: the rows' numbers, each once."""

    numbers: Ints
    gradient: Array


def sum_rows(numbers: Ints, gradient: Array) -> Rows:
    """Add up what belongs to the same row."""
    order = np.argsort(numbers, kind="stable")
    found, first = np.unique(numbers[order], return_index=True)
    return Rows(found, np.add.reduceat(gradient[order], first, axis=0))


def losses(
    shape: Shape, weights: Weights, numbers: Ints, rows: Ints | None
) -> tuple[Array, list[Kept], Array, Array, Array]:
    """Nats of each token behind the first, (batch, length), and what the way back needs."""
    inputs, wanted = numbers[:, :-1], numbers[:, 1:]
    x = weights["embedding"][inputs.ravel()]
    extra = bias(shape, inputs.shape[1]).astype(x.dtype)
    kept = []
    for layer in range(shape.layers):
        if rows is not None:
            x = x + weights[f"table{layer}"][rows[layer].ravel()]
        x, own = layer_forward(shape, weights, layer, x, extra)
        kept.append(own)
    normed, scale = norm(x)
    logits = normed @ weights["embedding"].T
    logits -= logits.max(-1, keepdims=True)
    target = logits[np.arange(wanted.size), wanted.ravel()]
    np.exp(logits, out=logits)
    total = np.einsum("ij->i", logits)
    logits /= total[:, None]
    nats = np.log(total) - target
    return nats.reshape(wanted.shape), kept, normed, scale, logits


def gradients(
    shape: Shape, weights: Weights, numbers: Ints, rows: Ints | None
) -> tuple[float, Weights, dict[str, Rows]]:
    """Mean nats a token, the gradients of the matrices, and those of the tables' rows.

    `numbers` is (batch, length + 1), `rows` (layers, batch, length) or None without tables.
    """
    nats, kept, normed, scale, logits = losses(shape, weights, numbers, rows)
    inputs, wanted = numbers[:, :-1].ravel(), numbers[:, 1:].ravel()
    out: Weights = {}
    tables: dict[str, Rows] = {}
    logits[np.arange(wanted.size), wanted] -= 1
    logits /= wanted.size
    out["embedding"] = logits.T @ normed
    dx = norm_back(logits @ weights["embedding"], normed, scale)
    for layer in reversed(range(shape.layers)):
        dx = layer_back(shape, weights, layer, dx, kept[layer], out)
        if rows is not None:
            tables[f"table{layer}"] = sum_rows(rows[layer].ravel(), dx)
    found = sum_rows(inputs, dx)
    out["embedding"][found.numbers] += found.gradient
    return float(nats.mean()), out, tables
