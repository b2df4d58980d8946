# SPDX-License-Identifier: Apache-2.0
"""The house itself: what the configuration says covers what there is."""

import tomllib

import pytest
from tidy.tree import sources

from nandwich import paths

pytestmark = pytest.mark.quick

assert paths.CHECKOUT is not None
PYPROJECT = tomllib.loads((paths.CHECKOUT / "pyproject.toml").read_text())


def test_every_python_file_is_type_checked() -> None:
    """Goal: a new folder of Python cannot slip past mypy; add it to [tool.mypy] files."""
    assert paths.CHECKOUT is not None
    named = PYPROJECT["tool"]["mypy"]["files"]
    folders = tuple(name if name.endswith(".py") else f"{name}/" for name in named)
    files = [source.path for source in sources(paths.CHECKOUT) if source.is_python]
    assert [path for path in files if not path.startswith(folders)] == []


def test_what_is_declared_is_pinned() -> None:
    """Goal: a dependency added to pyproject.toml is in the lock too: run make lock."""
    assert paths.CHECKOUT is not None
    project = PYPROJECT["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {line.split(">")[0].lower() for group in groups for line in group}
    locked = {
        line.split("==")[0]
        for line in (paths.CHECKOUT / "requirements.lock").read_text().splitlines()
        if "==" in line and not line.startswith(" ")
    }
    assert names - locked == set()
