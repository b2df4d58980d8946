# SPDX-License-Identifier: Apache-2.0
"""The Rust crate: its C interface is what the headers say, and its own tests pass."""

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pack
import pytest
import rust_bindings

from nandwich import __version__, paths

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
CRATE = ROOT / "packages" / "rust"


def cargo(*arguments: str, folder: Path = CRATE) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "build" / "rust")}
    return subprocess.run(
        ["cargo", *arguments], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def registry() -> None:
    """The few crates that the crate stands on."""
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo (rustup)")
    done = cargo("fetch", "--locked")
    if done.returncode != 0:
        assert re.search(r"download|network|resolve host|timed out|connect", done.stderr)
        pytest.skip("crates.io cannot be reached")


@pytest.mark.quick
def test_bindings_are_fresh() -> None:
    """Goal: a header that changed does not leave Rust with the struct it had before."""
    assert rust_bindings.TARGET.read_text() == rust_bindings.Bindings().rust()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("c_type", "rust"),
    [
        ("const void *", "*const c_void"),
        ("struct nw_store **", "*mut *mut nw_store"),
        ("const char *", "*const c_char"),
        ("uint8_t[4]", "[u8; 4]"),
        ("int (*)(struct nw_spi *, const uint8_t *, uint8_t *, uint16_t)",
         'Option<unsafe extern "C" fn(*mut nw_spi, *const u8, *mut u8, u16) -> c_int>'),
        ("void (*)(void)", 'Option<unsafe extern "C" fn()>'),
        ("const struct nw_chip_ops *", "*const nw_chip_ops"),
    ],
)  # fmt: skip
def test_types(c_type: str, rust: str) -> None:
    """Goal: each form of type in the headers becomes the right one."""
    assert rust_bindings.rust_type(c_type) == rust


@pytest.mark.quick
def test_version() -> None:
    """Goal: the crate has the version of all."""
    assert f'\nversion = "{__version__}"\n' in (CRATE / "Cargo.toml").read_text()
    assert f'name = "nandwich"\nversion = "{__version__}"\n' in (CRATE / "Cargo.lock").read_text()


def test_crate(registry: None) -> None:
    """Goal: layers, store, embedded-storage and embedded-hal work together: cargo test."""
    done = cargo("test", "--locked", "--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.findall(r"test result: ok\. (\d+) passed; 0 failed; 0 ignored", done.stdout)
    assert sum(map(int, passed)) >= 7
    assert "warning:" not in done.stderr


@pytest.mark.soak
def test_packed_crate_builds(registry: None, tmp_path: Path) -> None:
    """Goal: the packed crate needs nothing of the checkout."""
    with tarfile.open(pack.pack("rust", tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    done = cargo("build", "--locked", "--offline", folder=tmp_path / f"nandwich-rust-{__version__}")
    assert done.returncode == 0, done.stderr
