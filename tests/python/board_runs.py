# SPDX-License-Identifier: Apache-2.0
"""What the tests of `nandwich run --target` share, beside runs.py."""

from pathlib import Path
from typing import Any

import pytest
import runs
from click.testing import Result

from lab.device import boards
from nandwich import paths

assert paths.CHECKOUT is not None
EXAMPLES = paths.CHECKOUT / "examples"

needs_boards = pytest.mark.skipif(
    any(board.missing() for board in boards.BOARDS.values()),
    reason=f"not installed: {[board.missing() for board in boards.BOARDS.values()]}",
)


def invoke(source: str | Path, *arguments: str | Path, target: str = "cortex-m3") -> Result:
    return runs.invoke(source, "--target", target, *arguments)


def run_json(
    source: str | Path, *arguments: str | Path, target: str = "cortex-m3", code: int = 0
) -> dict[str, Any]:
    return runs.run_json(source, "--target", target, *arguments, code=code, schema="run-target-1")
