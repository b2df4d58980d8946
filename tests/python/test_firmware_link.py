# SPDX-License-Identifier: Apache-2.0
"""The linker scripts of the firmware examples refuse what does not fit."""

import subprocess
from pathlib import Path

import pytest

from lab import cross
from nandwich import paths

assert paths.CHECKOUT is not None
BOARD = paths.CHECKOUT / "examples" / "firmware" / "board"
PROGRAM = """
__attribute__((section(".nw_vm.data.x"), used)) unsigned char x[2048] = {1};
unsigned char y[256] = {1};
void start(void);
void start(void)
{
    for (;;) {
        y[0]++;
    }
}
"""


@pytest.mark.skipif(not cross.CORTEX_M3.present, reason="no compiler for the Cortex-M3")
@pytest.mark.parametrize(
    ("flash_bytes", "virtual", "fits"),
    [
        (0x80, True, False),
        (0x800, True, False),
        (0x1000, True, True),
        (0x80, False, False),
        (0x800, False, True),
    ],
)
def test_first_values_of_virtual_memory_take_flash(
    flash_bytes: int, virtual: bool, fits: bool, tmp_path: Path
) -> None:
    """Goal: 2 KiB of first values in flash count. The script looked at .data alone: the camera's
    image could be longer than the flash it was made for, and the end of it was not programmed."""
    program = (
        PROGRAM if virtual else PROGRAM.replace(".nw_vm.data.x", ".data.x").replace("2048", "1")
    )
    (tmp_path / "program.c").write_text(program, encoding="utf-8")
    scripts = ("virtual.ld", "stm32f103.ld") if virtual else ("stm32f103.ld",)
    sizes = {"flash_bytes": flash_bytes, "ram_bytes": 0x1000, "stack_bytes": 0x100}
    done = subprocess.run(
        [
            cross.CORTEX_M3.compiler, "-mcpu=cortex-m3", "-mthumb", "-nostdlib", "program.c",
            *(f"-T{BOARD / script}" for script in scripts), "-o", "program.elf",
            *(f"-Wl,--defsym={name}={value:#x}" for name, value in sizes.items()),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode == 0) == fits, done.stderr
    assert fits or "flash is full" in done.stderr
