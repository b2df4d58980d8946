# SPDX-License-Identifier: Apache-2.0
"""Being told to stop: SIGTERM and SIGHUP unwind as Ctrl-C does, so all is cleaned up."""

import contextlib
import signal
import sys
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


#: So much later an exception that Python swallowed is raised again.
_MOMENT_S = 0.001


def never_swallowed() -> None:
    """From now on Ctrl-C and the two signals get through wherever they come.

    Where Python calls back (a weak reference whose object goes, a fork, `__del__`), an exception is
    printed and forgotten, KeyboardInterrupt too: the command went on as if no key had been pressed.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    others = sys.unraisablehook
    swallowed: list[BaseException] = []

    def hook(what: "sys.UnraisableHookArgs") -> None:
        error = what.exc_value
        if isinstance(error, KeyboardInterrupt | SystemExit):
            swallowed.append(type(error)(*error.args))
            signal.setitimer(signal.ITIMER_REAL, _MOMENT_S)
        else:
            others(what)

    def again(_number: int, _frame: FrameType | None) -> None:
        if swallowed:
            raise swallowed.pop()

    signal.signal(signal.SIGALRM, again)
    sys.unraisablehook = hook
