# SPDX-License-Identifier: Apache-2.0
"""The firmware examples on an emulated STM32F103: they keep what they acknowledged."""

import random
import re
from pathlib import Path

import pytest

from lab import firmware

pytestmark = pytest.mark.skipif(
    bool(firmware.missing()), reason=f"needs {', '.join(firmware.missing())} (tools/setup test)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects that all examples share."""
    return tmp_path_factory.mktemp("firmware")


@pytest.fixture(scope="module")
def runner(folder: Path) -> Path:
    return firmware.build_runner(folder)


def last_number(lines: tuple[str, ...], word: str) -> int | None:
    """The number behind a word the last time it was said in a whole line."""
    found = [int(line.split()[1]) for line in lines if re.fullmatch(rf"{word} -?\d+", line)]
    return found[-1] if found else None


def check_promises(run: firmware.Run) -> int:
    """What a start acknowledged the next one finds; answers the last that was acknowledged.

    A line that power cut short may lack digits, so the last line of a start does not count.
    """
    assert not run.violations
    kept = 0
    for number, lines in enumerate(run.starts):
        assert "reset" not in lines, lines
        assert len([line for line in lines if line.startswith("found")]) <= 1
        found = last_number(lines[:-1], "found")
        if found is not None:
            assert found >= kept, f"start {number} lost what was kept"
            kept = found
        kept = max(kept, last_number(lines[:-1], "kept") or 0)
    return kept


#: Formatting the part takes 18 million instructions, a mount 0.8.
FORMATTED, MOUNTED = 20_000_000, 800_000


def logger_cuts(seed: int, count: int) -> list[int]:
    """One behind the format, others from the first instruction to some seconds of work."""
    dice = random.Random(seed)
    return [FORMATTED, *(dice.randrange(1, MOUNTED * 3) for _ in range(count))]


def test_logger_keeps_what_it_acknowledged(folder: Path, runner: Path) -> None:
    """Goal: power cut at any instruction takes no record that the logger said it kept, and all
    records are there once, in order, with the sensor's value of their moment."""
    image = firmware.build("logger", folder)
    cuts = logger_cuts(1, 40)
    run = firmware.run(runner, image, firmware.LOGGER, 12_000_000, last=".d", cuts=cuts)
    check_promises(run)
    assert len(run.starts) == 41 + 1
    found = last_number(run.starts[-1], "found")
    assert found is not None
    assert found > 500
    shown = [line.split() for line in run.starts[-1] if line.startswith("record ")]
    # One or two more were written between the start and the command.
    assert [int(words[1]) for words in shown] == list(range(len(shown)))
    assert found <= len(shown) <= found + 3
    assert all(int(words[3]) == int(words[2]) * 37 % 4096 for words in shown)


def test_logger_wants_a_format_of_its_own(folder: Path, runner: Path) -> None:
    """Goal: a format cut in its midst is told, not hidden; nothing formats without being asked."""
    image = firmware.build("logger", folder)
    run = firmware.run(runner, image, firmware.LOGGER, 20_000_000, cuts=[9_000_000])
    told = [line for line in run.starts[1] if line.startswith("no log here")]
    assert told
    assert "found 0" not in run.starts[1]
