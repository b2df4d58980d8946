# SPDX-License-Identifier: Apache-2.0
"""Shared by every Python test: a stale build is refused before the first test runs."""

import pytest

from nandwich import paths


def pytest_sessionstart(session: pytest.Session) -> None:
    paths.check_fresh()
