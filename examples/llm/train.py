# SPDX-License-Identifier: Apache-2.0
"""Trains one of two shapes on the corpus, a fixed number of steps from a fixed seed.

    OPENBLAS_NUM_THREADS=1 python -m examples.llm.train dense|table|core WEIGHTS

*core* is *table* without its tables: what these are worth is the difference.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from examples.llm import corpus, export, model, tokens
from examples.llm.model import Array, Ints, Rows, Shape, Weights


@dataclass(frozen=True)
class Plan:
    """A shape and how it is trained."""

    shape: Shape
    steps: int
    batch: int = 16
    rate: float = 3e-3
    seed: int = 1


SMALL = Shape(vocabulary=2048, width=64, layers=6, heads=2, head=32, hidden=256)
PLANS = {
    "dense": Plan(Shape(vocabulary=2048, width=128, layers=5, heads=4, head=32, hidden=512), 1300),
    "table": Plan(replace(SMALL, rows=16384), 1800),
    "core": Plan(SMALL, 1800),
}
WARM_UP, COOL_DOWN = 0.03, 0.6
"""Shares of the steps in which the rate rises and falls."""
SAMPLE = 16
"""Windows of the training text by which the ranges of integers are chosen."""


@dataclass
class Adam:
    """Adam for matrices (0.9, 0.99); rows of tables, read now and then, keep a sum of squares."""

    rate: float
    steps: int = 0
    mean: Weights = field(default_factory=dict)
    square: Weights = field(default_factory=dict)

    def step(
        self, weights: Weights, gradients: Weights, tables: dict[str, Rows], share: float
    ) -> None:
        """Change `weights` in place; `share` of the rate is used."""
        self.steps += 1
        for name, gradient in gradients.items():
            mean = self.mean.setdefault(name, np.zeros_like(gradient))
            square = self.square.setdefault(name, np.zeros_like(gradient))
            mean += np.float32(0.1) * (gradient - mean)
            square += np.float32(0.01) * (gradient * gradient - square)
            root = np.sqrt(square / np.float32(1 - 0.99**self.steps)) + np.float32(1e-10)
            factor = np.float32(self.rate * share / (1 - 0.9**self.steps))
            weights[name] -= factor * mean / root
        for name, rows in tables.items():
            square = self.square.setdefault(name, np.zeros_like(weights[name]))
            square[rows.numbers] += rows.gradient**2
            root = np.sqrt(square[rows.numbers]) + np.float32(1e-10)
            weights[name][rows.numbers] -= np.float32(self.rate * share) * rows.gradient / root


def share_of_rate(done: float) -> float:
    """The rate's course: up, level, and down to a hundredth; `done` is from 0 to 1."""
    return min(1.0, done / WARM_UP, (1 - done) / COOL_DOWN + 0.01)


def windows(starts: Ints, text: Ints, rows: Ints | None, length: int) -> tuple[Ints, Ints | None]:
    """Pieces of `length` tokens and one more, and the rows that the first `length` read."""
    places = starts[:, None] + np.arange(length + 1)
    return text[places], None if rows is None else rows[:, places[:, :-1]]


def train(plan: Plan, text: Ints, name: str) -> Weights:
    """Weights after all steps; a line of progress goes to stderr now and then."""
    shape = plan.shape
    weights = model.begin(shape, plan.seed)
    rows = model.table_rows(shape, text) if shape.rows else None
    random = np.random.default_rng(plan.seed)
    adam = Adam(plan.rate)
    begun, nats, said = time.monotonic(), 0.0, 0
    for step in range(1, plan.steps + 1):
        starts = random.integers(0, len(text) - shape.context - 1, plan.batch)
        pieces, read = windows(starts, text, rows, shape.context)
        loss, gradients, tables = model.gradients(shape, weights, pieces, read)
        adam.step(weights, gradients, tables, share_of_rate(step / plan.steps))
        nats += loss
        if step * 20 % plan.steps < 20:
            took = time.monotonic() - begun
            bits = nats / (step - said) / np.log(2)
            left = took / step * (plan.steps - step)
            print(
                f"{name}: step {step} of {plan.steps}, {bits:.2f} bits a token, "
                f"{took:.0f} s, {left:.0f} s to go",
                file=sys.stderr,
                flush=True,
            )
            nats, said = 0.0, step
    return weights


def make(name: str, texts: corpus.Corpus) -> bytes:
    """The file of weights of a plan: tokens, training, integers."""
    plan = PLANS[name]
    shape = plan.shape
    vocabulary = tokens.learn(texts.training, shape.vocabulary)
    cut = [[tokens.BEGIN, *tokens.encode(vocabulary, text)] for text in texts.training]
    text = np.array([number for numbers in cut for number in numbers], dtype=np.int64)
    weights: dict[str, Array] = train(plan, text, name)
    starts = np.arange(SAMPLE) * ((len(text) - shape.context - 1) // SAMPLE)
    rows = model.table_rows(shape, text) if shape.rows else None
    reach = export.ranges(shape, weights, *windows(starts, text, rows, shape.context))
    return export.export(shape, weights, vocabulary, reach)


def main(name: str, path: str) -> None:
    """Write the file as a whole or not at all."""
    content = make(name, corpus.load())
    partial = Path(f"{path}.partial")
    partial.write_bytes(content)
    partial.rename(path)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in PLANS:
        sys.exit(f"usage: train {'|'.join(PLANS)} WEIGHTS")
    main(sys.argv[1], sys.argv[2])
