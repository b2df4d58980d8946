# SPDX-License-Identifier: Apache-2.0
"""Being told to stop: SIGTERM and SIGHUP unwind as Ctrl-C does, so all is cleaned up."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


def _unwind(number: int, _frame: FrameType | None) -> None:
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)  # a second one must not cut the cleaning short
    raise SystemExit(128 + number)  # as a shell tells it


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """While inside, the two signals raise SystemExit here; those that are ignored stay so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
