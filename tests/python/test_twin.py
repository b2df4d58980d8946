# SPDX-License-Identifier: Apache-2.0
"""The emulated chip through the binding."""

from pathlib import Path

import pytest

from lab._native import time_chip, time_page_ftl
from nandwich import _native

pytestmark = [pytest.mark.quick, pytest.mark.asan]

OK, POWER, NOT_ERASED = 0, -10, -11


def open_chip(*options: str, blocks: int = 4) -> _native.Nand:
    return _native.Nand.open(
        _native.Part.named("K9F1G08U0A"), blocks=blocks, seed=3, options=list(options)
    )


def test_content_counts_and_costs() -> None:
    """Goal: what is programmed is read, and the bill is the part's."""
    chip = open_chip()
    assert chip.geometry["blocks"] == 4
    assert chip.program(0, b"\xa5" * 2048, b"\x5a" * 62) == OK
    assert chip.read(0, 2047, 1, 60, 2) == (0, b"\xa5", b"\x5a\x5a")
    assert chip.erase(0) == OK
    assert chip.stats["programs"] == chip.stats["reads"] == chip.stats["erases"] == 1
    assert chip.time_ns == 200_000 + 2110 * 30 + 25_000 + 3 * 30 + 2_000_000
    assert chip.energy_pj == 9_900_000 + 2110 * 1485 + 1_237_500 + 3 * 1485 + 99_000_000
    assert chip.block_erases == [1, 0, 0, 0]
    assert sum(chip.page_programs) == 0
    assert chip.misuse is None


def test_misuse_is_told_in_words() -> None:
    """Goal: the first misuse names the call."""
    chip = open_chip()
    assert chip.program(3, b"\x00" * 16) == OK
    assert chip.program(3, b"\x00" * 16, offset=8) == NOT_ERASED
    assert chip.misuse == (
        "operation 1: program of page 3 (block 0), data 8+16, spare 0+0: "
        "data bytes programmed twice"
    )
    chip.forgive()
    assert chip.misuse is None
    assert _native.error_text(NOT_ERASED) == "programmed again without erase"


def test_cuts_forks_and_images(tmp_path: Path) -> None:
    """Goal: a cut strikes, a fork goes its own way, an image brings everything back."""
    chip = open_chip()
    chip.cut(1, "inside", data="half")
    assert chip.program(0, b"\x00" * 2048) == OK
    assert chip.program(1, b"\x00" * 2048) == POWER
    assert chip.is_off
    chip.power_up()
    fork = chip.fork()
    assert fork.read(1, length=2048) == chip.read(1, length=2048)
    assert fork.erase(0) == OK
    assert chip.read(0, length=4) == (0, b"\x00" * 4, b"")
    path = tmp_path / "chip.image"
    chip.save(str(path))
    again = _native.Nand.load(str(path))
    assert again.stats == chip.stats
    assert again.page_programs == chip.page_programs
    assert again.read(1, length=2048) == chip.read(1, length=2048)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="offset 32: a chunk does not match its checksum"):
        _native.Nand.load(str(path))
    with pytest.raises(ValueError, match="No such file"):
        _native.Nand.load(str(tmp_path / "none"))
    with pytest.raises(RuntimeError, match="No such file"):
        chip.save(str(tmp_path / "no" / "where"))


def test_bad_blocks_and_failures() -> None:
    """Goal: marks and failures can be set and seen."""
    chip = open_chip()
    assert chip.mark_bad(2) == OK
    assert chip.is_bad(2) == 1
    assert chip.bad_blocks == [2]
    chip.doom(1, in_program=True)
    assert _native.error_text(chip.program(64, b"\x00" * 16)) == "program failed"
    chip.set_erases(3, 77)
    assert chip.block_erases[3] == 77
    with pytest.raises(IndexError):
        chip.doom(4, in_program=False)


@pytest.mark.parametrize(
    ("part", "options", "message"),
    [
        ("PCM-16M", [], "cannot open PCM-16M"),
        ("MLC64G", ["node_costs"], "cannot open MLC64G"),
        ("MLC64G", ["nodecosts"], "unknown option nodecosts"),
    ],
)
def test_what_cannot_be_opened(part: str, options: list[str], message: str) -> None:
    """Goal: the wrong kind of part, or an option that does not fit, is refused."""
    with pytest.raises(ValueError, match=message):
        _native.Nand.open(_native.Part.named(part), options=options)


def test_arguments_outside_the_chip() -> None:
    """Goal: the checked front of the core stands before every call from Python."""
    chip = open_chip()
    out_of_range = -3
    assert chip.read(4 * 64, length=1)[0] == out_of_range
    assert chip.read(0, 2048, 1)[0] == out_of_range
    assert chip.program(0, b"\x00" * 2049) == out_of_range
    assert chip.program(0, b"\x00" * 70_000) == out_of_range
    assert chip.erase(4) == out_of_range
    with pytest.raises(ValueError, match="unknown phase"):
        chip.cut(0, "during")
    with pytest.raises(ValueError, match="unknown outcome"):
        chip.cut(0, "inside", data="burnt")


def test_speed_script_counts_its_operations() -> None:
    """Goal: the bench's script does what its count says, without a misuse."""
    chip = open_chip("no_payload")
    operations, seconds = time_chip(chip, 256)
    assert operations == 256 + 256 + 4
    assert seconds > 0
    assert chip.misuse is None
    with pytest.raises(ValueError, match="metadata-only"):
        time_chip(open_chip(), 1)
    with pytest.raises(ValueError, match="metadata-only"):
        time_page_ftl(open_chip(), 1)


def test_speed_of_the_page_ftl_counts_chip_operations() -> None:
    """Goal: the other script writes what it says, through a real translation layer."""
    chip = open_chip("no_payload", blocks=64)
    operations, seconds = time_page_ftl(chip, 2000)
    assert operations > 2000
    assert seconds > 0
    assert chip.misuse is None
