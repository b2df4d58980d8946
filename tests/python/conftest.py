# SPDX-License-Identifier: Apache-2.0
"""Shared by every Python test: a stale build is refused before the first test runs."""

import pytest

from nandwich import paths
from nandwich.errors import InputError


def pytest_sessionstart(session: pytest.Session) -> None:
    try:
        paths.check_fresh()
    except InputError as error:
        pytest.exit(error.message, returncode=error.exit_code)
