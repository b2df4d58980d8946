# SPDX-License-Identifier: Apache-2.0
"""Other people's C programs, fetched as packages when something wants them; none is kept in the
tree.

A package is a crate of crates.io (they carry the C sources as released), pinned by version and
checksum, kept unpacked below build/third-party.
"""

import hashlib
import io
import os
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from lab import ROOT
from nandwich.errors import RunError

_STORE = ROOT / "build" / "third-party"


class UnreachableError(RunError):
    """The registry cannot be reached."""


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

    @property
    def folder(self) -> Path:
        """Where it is unpacked, or will be."""
        return _STORE / f"{self.name}-{self.version}"


LITTLEFS = Crate(
    "littlefs2-sys", "0.3.1", "32f7d54a8325846d818335f6e0a3ce4d4ff1d6a5cea7be989a76913dcb73afdc"
)
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
# With the shell, which the one above lacks.
SQLITE_SHELL = Crate(
    "sqlite3-src", "0.7.1", "2739bac4e1ca6527391698167b1392332d00123c9fc11eca16311291db6829f3"
)


def fetch(crate: Crate) -> Path:
    """The unpacked package; UnreachableError without it and without a network."""
    folder = crate.folder
    if folder.is_dir():
        return folder
    packed = _download(crate)
    if hashlib.sha256(packed).hexdigest() != crate.sha256:
        raise RunError(f"{crate.url} is not what was pinned")
    _STORE.mkdir(parents=True, exist_ok=True)
    partial = _STORE / f".{folder.name}-{os.getpid()}"
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(partial, filter="data")
    try:
        (partial / folder.name).rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was quicker
            raise
    return folder


def _download(crate: Crate) -> bytes:
    request = urllib.request.Request(crate.url, headers={"User-Agent": "nandwich"})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            content: bytes = reply.read()
            return content
    except urllib.error.HTTPError as error:  # reached, and it said no
        raise RunError(f"{crate.url}: {error}") from error
    except OSError as error:
        raise UnreachableError(f"{crate.url} cannot be reached ({error})") from error
