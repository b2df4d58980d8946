# SPDX-License-Identifier: Apache-2.0
"""Results of `nandwich fleet` made from lives that a test gives."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from schemas import validate

from nandwich.fleet import answer


def written(file: Path, lives_days: Sequence[float], horizon_days: float = 3650) -> Path:
    """A result of nodes with these lives, each ended by wear; it stands in `file`."""
    ends = np.full((len(lives_days), 3), np.inf)
    ends[:, 1] = lives_days
    life, cause = answer.ended(ends, horizon_days)
    told = answer.told(life, cause, horizon_days)
    made = {"command": "nandwich fleet x.toml", "nandwich": "1", "commit": "0" * 40, "python": "3",
            "seed": 1, "inputs": {}}  # fmt: skip
    one = {"name": "x", "nodes": len(life), "life": told["life"], "ends": told["ends"]}
    value = {"schema": "nandwich.fleet/1", "provenance": made, "nodes": len(life), "seed": 1,
             "horizon_days": horizon_days, "confidence": answer.CONFIDENCE, **told,
             "workloads": [one], "shapes": []}  # fmt: skip
    file.write_text(json.dumps(value))
    validate("fleet-1", value)
    return file
