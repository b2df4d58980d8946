# SPDX-License-Identifier: Apache-2.0
"""The object store on an emulated 8-bit processor: tests/targets/store_run.c on simavr."""

import subprocess
from pathlib import Path

import pytest

from nandwich import paths
from papers.capsule.memory import SMALLEST


def _call(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("options", [(), SMALLEST], ids=["plain", "smallest"])
def test_the_store_works_where_int_has_16_bits(options: tuple[str, ...], tmp_path: Path) -> None:
    """1,500 calls and 24 mounts answer right, at -Os and with the options that make it smallest."""
    assert paths.CHECKOUT is not None
    core, targets = paths.CHECKOUT / "core", paths.CHECKOUT / "tests" / "targets"
    runner, image = tmp_path / "run_avr", tmp_path / "store.elf"
    harness = targets / "avr" / "run_avr.c"
    _call("cc", "-std=gnu11", "-O2", harness, "-lsimavr", "-lelf", "-o", runner)
    base = [core / "base" / name for name in ("crc.c", "crc16.c", "ram.c")]
    chip = [core / "chip" / name for name in ("chip.c", "blank.c")]
    files = [targets / "store_run.c", *chip, *base]
    files += sorted((core / "store").glob("*.c"))
    flags = ("-std=c11", "-Os", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", *options)
    compiler = ("avr-gcc", "-mmcu=atmega1284p", *flags, f"-I{core / 'include'}")
    _call(*compiler, *files, "-Wl,--gc-sections", "-o", image)
    told = _call(runner, image, "atmega1284p").splitlines()
    marks = {line.split()[0]: int(line.split()[1]) for line in told if line.startswith("marker")}
    assert marks == {"marker1": 24, "marker2": 1}
