# SPDX-License-Identifier: Apache-2.0
"""A test that does not come to its end fails, by name, and the others go on."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

#: No test takes a third of it, on a machine with other work.
TEST_S = 900.0


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Fails the test that is inside for longer. One may stand within another."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"not at its end after {seconds:g} s")

    handler = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)  # 0: none
        signal.signal(signal.SIGALRM, handler)
