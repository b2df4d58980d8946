# SPDX-License-Identifier: Apache-2.0
"""Weights by chance, for tests and for `nandwich bench llm`: a token takes what it takes with
trained ones, within what another text brings, and none of them has to be made first."""

from __future__ import annotations

import numpy as np

from examples.llm import export, model


def weights(shape: model.Shape) -> model.Weights:
    """Of a fixed seed; tables are drawn a little wider than matrices."""
    random = np.random.default_rng(5)
    sizes = {**shape.matrices(), **shape.tables()}
    return {
        name: (random.standard_normal(size) * size[0] ** -0.5 * 3).astype(np.float32)
        if name in shape.matrices()
        else random.standard_normal(size).astype(np.float32)
        for name, size in sizes.items()
    }


def file(shape: model.Shape, vocabulary: list[bytes]) -> bytes:
    """A file of such weights; `vocabulary` has as many tokens as the shape."""
    drawn = weights(shape)
    numbers = np.random.default_rng(6).integers(0, shape.vocabulary, (2, 17))
    rows = np.zeros((shape.layers, 2, 16), np.int64) if shape.rows else None
    reach = export.ranges(shape, drawn, numbers, rows)
    return export.export(shape, drawn, vocabulary, reach)
