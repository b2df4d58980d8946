# SPDX-License-Identifier: Apache-2.0
"""tools/setup on machines made up for the purpose: what is there is said by stand-in programs."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nandwich import paths

pytestmark = pytest.mark.quick

Machine = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Runs tools/setup in a copy of its folder; each argument is a stand-in program's script.

    The Python environment counts as ready, and nothing is to be fetched, so that only the packages
    are in question.
    """
    assert paths.CHECKOUT is not None
    root = tmp_path / "checkout"
    (root / "tools").mkdir(parents=True)
    for file in ("tools/setup", "tools/packages.txt", "requirements.lock"):
        shutil.copy(paths.CHECKOUT / file, root / file)
    (root / "tools" / "fetch").symlink_to("/bin/true")
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to("/bin/true")
    lock = subprocess.run(
        ["sha256sum", "requirements.lock"], cwd=root, capture_output=True, text=True, check=True
    )
    (root / ".venv" / ".stamp").write_text(f"{root} {lock.stdout}")
    programs = tmp_path / "bin"
    programs.mkdir()

    def run(level: str, **scripts: str) -> subprocess.CompletedProcess[str]:
        for name, script in scripts.items():
            path = programs / name.replace("_", "-")
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        return subprocess.run(
            ["tools/setup", level],
            cwd=root,
            env={"PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(tmp_path / "log")},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def packages(*levels: str) -> list[str]:
    assert paths.CHECKOUT is not None
    lines = (paths.CHECKOUT / "tools" / "packages.txt").read_text().splitlines()
    words = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [word[0] for word in words if word[1] in levels]


def installed(names: list[str]) -> str:
    return "printf '" + "".join(f"installed={name} " for name in names) + "'"


def test_nothing_is_done_when_all_is_there(machine: Machine) -> None:
    """Goal: a set-up machine is left alone, and quickly: no apt, no talk."""
    done = machine(
        "test",
        dpkg_query=installed(packages("build", "test")),
        id="echo 0",
        apt_get='echo "$@" >>$LOG; exit 1',
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_rights_the_missing_packages_are_listed(machine: Machine) -> None:
    """Goal: no root and no sudo: the exact command to run, exit 2, nothing tried."""
    present = [name for name in packages("build") if name != "clang-19"]
    done = machine("build", dpkg_query=installed(present), id="echo 1000", sudo="exit 1")
    assert done.returncode == 2
    assert "sudo apt-get install clang-19\n" in done.stderr


def test_root_installs_what_the_level_needs_and_no_more(machine: Machine, tmp_path: Path) -> None:
    """Goal: building does not pull in the compilers of the tests; the tests do."""
    log = tmp_path / "log"
    scripts = {
        "dpkg_query": installed(packages("build")),
        "id": "echo 0",
        "apt_get": 'echo "$@" >>$LOG',
    }
    assert machine("build", **scripts).returncode == 0
    assert not log.exists()
    assert machine("test", **scripts).returncode == 0
    update, install = log.read_text().splitlines()
    assert update.startswith("update")
    assert install.split()[-len(packages("test")) :] == packages("test")


def test_sudo_is_used_where_it_asks_for_no_password(machine: Machine, tmp_path: Path) -> None:
    """Goal: an ordinary user with password-less sudo is set up like root."""
    done = machine(
        "build",
        dpkg_query=installed([]),
        id="echo 1000",
        sudo='shift; "$@"',
        apt_get='echo "$@" >>$LOG',
    )
    assert done.returncode == 0
    assert "install" in (tmp_path / "log").read_text()


def test_an_unknown_level_is_refused(machine: Machine) -> None:
    """Goal: a misspelt level is refused rather than taken for the default."""
    done = machine("all", dpkg_query=installed([]))
    assert done.returncode == 2
    assert "unknown level 'all'" in done.stderr
