# SPDX-License-Identifier: Apache-2.0
"""Figures that differ from node to node: distributions, and how they are drawn.

Each figure has a stream of random numbers of its own, and node i takes the i-th draw of it. So a
node is the same however many there are, and a figure keeps its draws when another one changes.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: The forms a figure may have in a file, and what its numbers are.
FORMS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("least", "most"),
    "normal": ("mean", "deviation"),
    "lognormal": ("median", "sigma"),
    "weibull": ("scale", "shape"),
    "choice": (),
}
#: Of these the second number has no unit.
_PLAIN = ("lognormal", "weibull")
_WEIGHTS = "weights"


@dataclass(frozen=True)
class Draw:
    """A distribution; `numbers` as FORMS has them, of "fixed" one, of "choice" any number."""

    form: str
    numbers: tuple[float, ...]
    weights: tuple[float, ...] = ()

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """The next draws of a stream. The first of many are those that fewer would be."""
        one, *more = self.numbers
        match self.form:
            case "fixed":
                return np.full(count, one)
            case "uniform":
                return one + (more[0] - one) * rng.random(count)
            case "normal":
                return rng.normal(one, more[0], count)
            case "lognormal":
                return one * np.exp(more[0] * rng.standard_normal(count))
            case "weibull":
                return one * rng.weibull(more[0], count)
        return np.array(self.numbers)[chosen(rng, self.weights or (1,) * len(self.numbers), count)]


def fixed(number: float) -> Draw:
    """A figure that is the same for all."""
    return Draw("fixed", (number,))


NOTHING, ONE = fixed(0), fixed(1)


def stream(seed: int, figure: str) -> np.random.Generator:
    """The random numbers of a figure, by its name."""
    return np.random.Generator(np.random.Philox([seed, zlib.crc32(figure.encode())]))


def chosen(rng: np.random.Generator, weights: tuple[float, ...], count: int) -> NDArray[np.int64]:
    """Numbers below that of the weights."""
    edges = np.cumsum(weights) / sum(weights)
    return np.minimum(np.searchsorted(edges, rng.random(count), "right"), len(weights) - 1)


def parse(value: Any, number: Callable[[Any], float]) -> Draw:
    """A figure as a file has it: one value, or a table like { normal = [mean, deviation] };
    ValueError. `number` reads a value with its unit."""
    if not isinstance(value, dict):
        return fixed(number(value))
    forms = [key for key in value if key != _WEIGHTS]
    if len(forms) != 1 or forms[0] not in FORMS:
        raise ValueError(f"wanted a value, or one of these with its list: {', '.join(FORMS)}")
    form, cells = forms[0], value[forms[0]]
    words = FORMS[form]
    if not isinstance(cells, list) or not cells or (words and len(cells) != len(words)):
        listed = ", ".join(words) or "VALUE, ..."
        raise ValueError(f"wanted {form} = [{listed}]")
    readers = [number, plain] if form in _PLAIN else [number] * len(cells)
    numbers = tuple(reader(cell) for reader, cell in zip(readers, cells, strict=True))
    weights = value.get(_WEIGHTS, [])
    if _WEIGHTS in value and form != "choice":
        raise ValueError("weights are of a choice")
    if not isinstance(weights, list) or (_WEIGHTS in value and len(weights) != len(numbers)):
        raise ValueError("weights is a list, one for each value of the choice")
    draw = Draw(form, numbers, tuple(map(plain, weights)))
    _check(draw)
    return draw


def plain(value: Any) -> float:
    """A number without a unit; ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _check(draw: Draw) -> None:
    """ValueError for numbers of which no distribution is made."""
    one, *more = draw.numbers
    if draw.form == "uniform" and one > more[0]:
        raise ValueError("least is above most")
    if draw.form in ("normal", "lognormal") and more[0] < 0:
        raise ValueError(f"{FORMS[draw.form][1]} is below 0")
    if draw.form in _PLAIN and one <= 0:
        raise ValueError(f"{FORMS[draw.form][0]} has to be above 0")
    if draw.form == "weibull" and more[0] <= 0:
        raise ValueError("shape has to be above 0")
    if draw.weights and (min(draw.weights) < 0 or sum(draw.weights) <= 0):
        raise ValueError("weights are 0 or more, and one of them is above 0")
