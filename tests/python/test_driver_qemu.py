# SPDX-License-Identifier: Apache-2.0
"""Drivers as firmware, on the models of parts that QEMU has."""

from pathlib import Path

import pytest

from lab import ROOT, qemu

BASE = ("core/base/block.c", "core/chip/chip.c", "core/chip/chip_more.c")

pytestmark = pytest.mark.skipif(bool(qemu.missing()), reason=f"not installed: {qemu.missing()}")


def build(folder: Path, source: str, drivers: tuple[str, ...], ram_start: int) -> Path:
    """The firmware of one test."""
    sources = [qemu.FIRMWARE / source, *(ROOT / driver for driver in (*drivers, *BASE))]
    return qemu.build(folder, sources, ram_start=ram_start, ram_bytes=0x10000)


def run(program: Path, *board: str) -> list[str]:
    """What the firmware says, line by line."""
    return [f"{word} {number}" for word, number in qemu.run(program, *board)]


@pytest.mark.parametrize(("mebibytes", "shift"), [(8, 9), (4096, 0)])
def test_card(tmp_path: Path, mebibytes: int, shift: int) -> None:
    """Goal: the card driver works on QEMU's card, small and large, and it keeps what it wrote."""
    image = tmp_path / "card.img"
    with image.open("wb") as file:
        file.truncate(mebibytes << 20)
    program = build(tmp_path, "qemu_sd.c", ("core/drivers/sd.c",), 0x20000000)
    drive = f"if=sd,file={image},format=raw"
    first = run(program, "lm3s6965evb", "-drive", drive)
    assert first[:3] == ["open 0", f"sectors {mebibytes * 2048}", f"shift {shift}"]
    assert first[3] != "kept 0"
    assert first[4:] == ["written 0"] * 8 + ["last 0", "trim 0", "sync 0", "end 0"]
    again = run(program, "lm3s6965evb", "-drive", drive)
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
    said = run(program, "ast1030-evb,fmc-model=w25q256,spi-model=w25q256")
    assert said[:4] == ["open 0", f"id {0xEF4019}", "blocks 8192", "address 4"]
    assert said[4:] == ["check 0", "step 0", "tried 17", "end 0"]
