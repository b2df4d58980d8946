# SPDX-License-Identifier: Apache-2.0
"""Goal: the simulation stays strong: each defect of tests/defects, put back into today's code, is
found by its judge within two minutes of one processor."""

import re
import subprocess
import sys

import pytest

from nandwich import paths


@pytest.mark.soak
def test_each_defect_is_found() -> None:
    assert paths.CHECKOUT is not None
    strength = paths.CHECKOUT / "tools" / "strength"
    done = subprocess.run(
        [sys.executable, strength, "--seconds", "120"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "NOT FOUND" not in done.stdout


def test_the_copy_has_what_is_built() -> None:
    """A folder that was new to the build once stopped tools/strength and tools/mutate, unseen."""
    assert paths.CHECKOUT is not None
    built = (paths.CHECKOUT / "CMakeLists.txt").read_text(encoding="utf-8")
    copied = (paths.CHECKOUT / "tools" / "trial_tree.py").read_text(encoding="utf-8")
    folders = {name.split("/")[0] for name in re.findall(r"^add_subdirectory\((.*)\)", built, re.M)}
    assert len(folders) > 4
    for folder in folders:
        assert f'"{folder}"' in copied, folder


def test_each_defect_still_applies() -> None:
    """A patch that no longer fits the code it spoils measures nothing."""
    assert paths.CHECKOUT is not None
    patches = sorted((paths.CHECKOUT / "tests" / "defects").glob("*.patch"))
    assert len(patches) >= 13
    for patch in patches:
        assert patch.read_text(encoding="utf-8").startswith("subjects: "), patch
        subprocess.run(
            ["patch", "-p1", "--dry-run", "-s", "-i", patch], cwd=paths.CHECKOUT, check=True
        )
