# SPDX-License-Identifier: Apache-2.0
"""The very first of the `nandwich` command. Loading a verb takes a third of a second, and Ctrl-C
meanwhile ended in a traceback: so nothing that takes time is imported up here."""

import os
import signal
import sys
from types import FrameType

_INTERRUPTED = 128 + signal.SIGINT  # as a shell tells it


def main(prog_name: str | None = None) -> None:
    """The command; it ends in SystemExit."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # ignored, it stays so
        signal.signal(signal.SIGINT, _leave)
    from nandwich.cli import signals
    from nandwich.cli.main import main as command

    try:
        signals.never_swallowed()
        signal.signal(signal.SIGINT, before)
        command(prog_name=prog_name)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Nothing has been done yet that wants an end. An exception may not get through a half loaded
    module."""
    os._exit(_INTERRUPTED)
