# SPDX-License-Identifier: Apache-2.0
"""What is told of the lives of many nodes, and how sure that is: quantiles, shares, survival.

Sure to 95 %: of quantiles by order statistics (David and Nagaraja, Order Statistics, 2003, section
7.1), of shares by Wilson's score interval (1927). Both speak of the nodes that were drawn out of
all that could be; they know nothing of a wrong model or spec.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nandwich.fleet.draws import Array
from nandwich.fleet.nodes import ALIVE, CAUSES

CONFIDENCE = 0.95
_Z = 1.959963984540054
QUANTILES = (1, 10, 50, 90, 99)  # percent of the nodes that have ended
_POINTS = 100  # of the survival curve


def ended(days: Array, horizon_days: float) -> tuple[Array, NDArray[np.int64]]:
    """Life of each node and the number of what ended it; ALIVE and the horizon where nothing did
    till then."""
    life = days.min(axis=1)
    cause = np.where(life <= horizon_days, days.argmin(axis=1), ALIVE)
    return np.minimum(life, horizon_days), cause


def told(life: Array, cause: NDArray[np.int64], horizon_days: float) -> dict[str, Any]:
    """`life`, `ends` and `survival` of docs/schemas/fleet-1.json."""
    count = len(life)
    sure = np.sort(np.where(cause == ALIVE, np.inf, life))
    mean, wide = float(life.mean()), _Z * float(life.std()) / math.sqrt(count)
    return {
        "life": {
            "quantiles": [_quantile(sure, percent) for percent in QUANTILES],
            "mean_days": _rounded(mean),
            "least_days": _rounded(max(0.0, mean - wide)),
            "most_days": _rounded(mean + wide),
        },
        "ends": [
            {"cause": name, **share(int((cause == number).sum()), count)}
            for number, name in enumerate((*CAUSES, "alive"))
        ],
        "survival": _survival(life, cause, horizon_days),
    }


def _survival(life: Array, cause: NDArray[np.int64], horizon_days: float) -> list[dict[str, Any]]:
    last = horizon_days if (cause == ALIVE).any() else float(life.max())
    order = np.sort(life[cause != ALIVE])
    by_cause = [np.sort(life[cause == number]) for number in range(len(CAUSES))]
    points = []
    for day in np.linspace(0, last, _POINTS + 1):
        gone = int(np.searchsorted(order, day, "right"))
        counts = [int(np.searchsorted(one, day, "right")) for one in by_cause]
        alive = share(len(life) - gone, len(life))
        ends = {
            name: _rounded(number / len(life)) for name, number in zip(CAUSES, counts, strict=True)
        }
        points.append({"days": _rounded(float(day)), "alive": alive["share"],
                       "least": alive["least"], "most": alive["most"], **ends})  # fmt: skip
    return points


def share(part: int, whole: int) -> dict[str, Any]:
    """A count with its share of all, and Wilson's interval."""
    rate, square = part / whole, _Z * _Z / whole
    centre = (rate + square / 2) / (1 + square)
    wide = _Z * math.sqrt(rate * (1 - rate) / whole + square / whole / 4) / (1 + square)
    least = 0.0 if part == 0 else max(0.0, centre - wide)
    most = 1.0 if part == whole else min(1.0, centre + wide)
    return {"nodes": part, "share": _rounded(rate), "least": _rounded(least),
            "most": _rounded(most)}  # fmt: skip


def _quantile(order: Array, percent: int) -> dict[str, Any]:
    """By lives in order; None is beyond the horizon, or beyond the last node."""
    count = len(order)
    low, high = ranks(count, percent / 100)

    def at(rank: int) -> float | None:
        if rank < 1:
            return 0.0
        value = float(order[rank - 1]) if rank <= count else math.inf
        return _rounded(value) if math.isfinite(value) else None

    return {
        "percent": percent,
        "days": at(math.ceil(count * percent / 100)),
        "least_days": at(low),
        "most_days": at(high),
    }


def ranks(count: int, part: float) -> tuple[int, int]:
    """The order statistics between which a quantile lies; 0 and count + 1: none is sure enough."""
    numbers = np.arange(count + 1)
    logs = np.cumsum(np.log(np.maximum(numbers, 1)))
    chances = np.exp(
        logs[count] - logs - logs[::-1]
        + numbers * math.log(part) + (count - numbers) * math.log1p(-part)
    )  # fmt: skip
    below = np.cumsum(chances)
    doubt = (1 - CONFIDENCE) / 2
    low = int(np.searchsorted(below, doubt))
    high = int(np.searchsorted(below, 1 - doubt)) + 1
    return low, min(high, count + 1)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
