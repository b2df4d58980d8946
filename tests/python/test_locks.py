# SPDX-License-Identifier: Apache-2.0
"""Goal: an image is worked on by one command at a time, whichever verbs they are of.

`store` refused the second one. Two runs, or two replays, over one image both loaded it and both
saved it: the wear of one was lost, and both ended with 0. An image that is not there yet counts:
both would make it.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nandwich import locks
from nandwich.cli.main import main

pytestmark = pytest.mark.quick
COMMAND = Path(sys.executable).with_name("nandwich")

#: Says that it runs, and ends when it is told to.
WAITING = """\
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    FILE *file = fopen("started", "w");

    fclose(file);
    for (int i = 0; i < 600 && access("go", F_OK) != 0; i++) {
        usleep(50000);
    }
    return 0;
}
"""


@pytest.fixture(autouse=True)
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("waiting.c").write_text(WAITING)
    Path("hello.c").write_text("int main(void) { return 0; }\n")
    return tmp_path


def _call(line: str) -> Result:
    return CliRunner().invoke(main, line.split())


def _is_refused(line: str) -> bool:
    result = _call(line)
    return result.exit_code == 1 and "image: in use by another command" in result.stderr


def _wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} never came")


@pytest.mark.parametrize("is_there", [False, True])
def test_of_two_runs_one_is_refused(ground: Path, is_there: bool) -> None:
    run = "run hello.c --once -q --image image"
    if is_there:
        assert _call(run).exit_code == 0
    words = [str(COMMAND), "run", "waiting.c", "--once", "--no-native", "-q", "--image", "image"]
    first = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        _wait_for(ground / "started")
        assert _is_refused(run)
        assert _is_refused("replay gen:sensor,requests=9 --snapshot image")
    finally:
        (ground / "go").touch()
        assert first.wait() == 0
    assert _call(run).exit_code == 0


@pytest.mark.parametrize(
    "line",
    [
        "run hello.c --once -q --image {}",
        "replay gen:sensor,requests=9 --snapshot {}",
        "store {} format --chip K9F1G08U0A --blocks 32 --force",
    ],
)
def test_every_name_of_an_image_counts(ground: Path, line: str) -> None:
    with locks.held("image"):
        assert _is_refused(line.format("image"))
        Path("folder").mkdir()
        assert _is_refused(line.format("folder/../image"))
        Path("link-to-image").symlink_to("image")
        assert _is_refused(line.format("link-to-image"))
    assert _call(line.format("image")).exit_code == 0
    os.link("image", "other-image")
    with locks.held("image"):
        assert _is_refused(line.format("other-image"))


def test_a_lock_leaves_nothing_and_is_free_again(ground: Path) -> None:
    before = sorted(ground.iterdir())
    for _ in range(3):
        with locks.held("image"):
            pass
    assert sorted(ground.iterdir()) == before
    with locks.held(""), locks.held(""):
        pass  # no image, no lock
