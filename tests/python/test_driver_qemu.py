# SPDX-License-Identifier: Apache-2.0
"""Drivers as firmware, on the models of parts that QEMU has."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lab import cross

ROOT = Path(__file__).parent.parent.parent
FIRMWARE = ROOT / "tests" / "targets" / "cortexm3"
BASE = ("core/base/block.c", "core/chip/chip.c", "core/chip/chip_more.c")

pytestmark = pytest.mark.skipif(
    shutil.which("qemu-system-arm") is None or not cross.CORTEX_M3.present,
    reason="needs qemu-system-arm and arm-none-eabi-gcc (tools/setup test)",
)


def build(folder: Path, source: str, drivers: tuple[str, ...], ram_start: int) -> Path:
    """The firmware of one test."""
    program = folder / "firmware.elf"
    command = [
        cross.CORTEX_M3.compiler,
        *(option for option in cross.CORTEX_M3.options if option != "-Wpedantic"),
        f"-I{ROOT / 'core/include'}",
        "-nostartfiles",
        "--specs=nosys.specs",
        f"-T{FIRMWARE / 'firmware.ld'}",
        f"-Wl,--gc-sections,--defsym=ram_start={ram_start},--defsym=ram_bytes=0x10000",
        str(FIRMWARE / "firmware.c"),
        str(FIRMWARE / source),
        *(str(ROOT / driver) for driver in (*drivers, *BASE)),
        f"-o{program}",
    ]
    subprocess.run(command, check=True, timeout=120)
    return program


def run(program: Path, *options: str) -> list[str]:
    """What the firmware says, line by line."""
    command = ["qemu-system-arm", "-nographic", "-monitor", "none", "-serial", "none"]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(program)]
    # Semihosting writes to stderr.
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120)
    return [line for line in (done.stdout + done.stderr).splitlines() if "Timer" not in line]


@pytest.mark.parametrize(("mebibytes", "shift"), [(8, 9), (4096, 0)])
def test_card(tmp_path: Path, mebibytes: int, shift: int) -> None:
    """Goal: the card driver works on QEMU's card, small and large, and it keeps what it wrote."""
    image = tmp_path / "card.img"
    with image.open("wb") as file:
        file.truncate(mebibytes << 20)
    program = build(tmp_path, "qemu_sd.c", ("core/drivers/sd.c",), 0x20000000)
    drive = f"if=sd,file={image},format=raw"
    first = run(program, "-M", "lm3s6965evb", "-drive", drive)
    assert first[:3] == ["open 0", f"sectors {mebibytes * 2048}", f"shift {shift}"]
    assert first[3] != "kept 0"
    assert first[4:] == ["written 0"] * 8 + ["last 0", "trim 0", "sync 0", "end 0"]
    again = run(program, "-M", "lm3s6965evb", "-drive", drive)
    assert again[3] == "kept 0"
    assert again[-1] == "end 0"
    with image.open("rb") as file:
        file.seek(800 * 512)
        sector = file.read(512)
        assert sector == bytes((800 * 31 + i * 7 + i // 256) & 0xFF for i in range(512))
        assert file.read(3 * 512) == bytes(3 * 512)  # trimmed


def test_nor(tmp_path: Path) -> None:
    """Goal: the driver of serial NOR passes nw_chip_check on QEMU's W25Q256."""
    drivers = ("core/drivers/spi_nor.c", "core/drivers/spi.c", "core/drivers/check.c")
    program = build(tmp_path, "qemu_nor.c", drivers, 0x80000)
    said = run(program, "-M", "ast1030-evb,fmc-model=w25q256,spi-model=w25q256")
    assert said[:4] == ["open 0", f"id {0xEF4019}", "blocks 8192", "address 4"]
    assert said[4:] == ["check 0", "step 0", "tried 17", "end 0"]
