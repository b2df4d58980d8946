# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C is never lost."""

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.quick

_CALLED_BACK = """
import os, signal, time, weakref
from nandwich.cli import signals

class Thing:
    pass

def callback(_reference):
    os.kill(os.getpid(), {number})

with signals.unwinding():
    signals.never_swallowed()
    thing = Thing()
    reference = weakref.ref(thing, callback)
    try:
        del thing
        time.sleep(20)
    except {error} as error:
        os._exit(40 + len(error.args))
"""


@pytest.mark.parametrize(
    ("number", "error", "status"),
    [(signal.SIGINT, "KeyboardInterrupt", 40), (signal.SIGTERM, "SystemExit", 41)],
)
def test_an_interrupt_in_a_callback_of_python_counts(
    number: signal.Signals, error: str, status: int
) -> None:
    """Ctrl-C at the moment a compiler was started, or a module loaded, was swallowed twice in 26
    tries: it came inside a callback of Python's own, which prints exceptions and forgets them."""
    text = _CALLED_BACK.format(number=int(number), error=error)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=15, check=False
    )
    assert (done.returncode, done.stderr) == (status, "")
