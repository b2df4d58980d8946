# SPDX-License-Identifier: Apache-2.0
"""Shared by every Python test: a stale build is refused before the first test runs, and programs
that a test starts hear signals, also where the tests run in the background. No test hangs."""

import signal
from collections.abc import Iterator

import pytest
from time_limit import TEST_S, time_limit

from nandwich import paths
from nandwich.errors import InputError


def pytest_sessionstart(session: pytest.Session) -> None:
    for ignored, usual in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(ignored) is signal.SIG_IGN:
            signal.signal(ignored, usual)
    try:
        paths.check_fresh()
    except InputError as error:
        pytest.exit(error.message, returncode=error.exit_code)


@pytest.fixture(autouse=True)
def _comes_to_its_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """A program below `run --target` that went round for good held up the whole run of pytest."""
    if request.node.get_closest_marker("soak"):  # which ends by its own clock
        yield
        return
    with time_limit(TEST_S):
        yield
