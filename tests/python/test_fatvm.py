# SPDX-License-Identifier: Apache-2.0
"""The FaTVM experiments on small inputs: programs end well, layers obey what no layer escapes."""

import pytest
from click.testing import CliRunner

from lab import qemu
from nandwich.cli.main import main
from papers.fatvm import layer_ram, layers, schemes, traffic

VM = 8 << 20


@pytest.mark.parametrize("program", ["fft", "huffman", "red-black"])
def test_programs_end_as_they_should(program: str) -> None:
    """Goal: each program checks its own result; a wrong byte of memory makes it fail."""
    recording = traffic.record(program, True)
    assert recording.report["ftl"]["host_writes"] > 0
    assert recording.without_trims.path.read_text().count(" write ") > 0
    assert " trim " not in recording.without_trims.path.read_text()


@pytest.mark.parametrize("layer", traffic.LAYERS)
def test_a_layer_at_rest_erases_what_it_programs(layer: str) -> None:
    """Goal: in the long run a block is erased for each block programmed, under any layer."""
    rest = layers.at_rest(layer, traffic.record("gray", True).without_trims, True)
    blocks_programmed = rest.counts["programs"] / traffic.BLOCK_PAGES
    assert rest.counts["programs"] >= rest.counts["host_writes"]
    assert rest.counts["erases"] >= 0.95 * blocks_programmed


#: Erases spared against superblock, %: measured apart from this code, with the clock policy.
SPARED = {"jpeg": 42.8, "red-black": 45.8, "fft": 9.0, "huffman": -2.3, "gray": -1.9}


@pytest.mark.parametrize("program", SPARED)
def test_erases_spared_are_those_of_another_run(program: str) -> None:
    """Goal: the document's set-up, 16 KB of frames of a sector, and nothing else: 512 B in 32 KB
    gave -3.7 % on JPEG where this gives 43."""
    cells = (layers.Cell(program, layer, "clock") for layer in ("lavish", "superblock"))
    spared = layers.saving(*(layers.measured(cell, False) for cell in cells))
    assert spared == pytest.approx(SPARED[program], abs=3)


def _verdict(part: str) -> bool:
    layers.measured.cache_clear()
    answers = {one.part: one for one in layers.small_cache.run(True).answers}
    return answers[part].holds


def test_lavish_without_its_space_spares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: T6's verdict on JPEG turns where lavish has a block in the place of eight."""
    monkeypatch.setattr(traffic, "PROGRAMS", {"jpeg": traffic.PROGRAMS["jpeg"]})
    assert _verdict("jpeg")
    lavish = ("lavish", {"degree": 1}, 1.1)
    monkeypatch.setattr(traffic, "LAYERS", {**traffic.LAYERS, "lavish": lavish})
    assert not _verdict("jpeg")
    layers.measured.cache_clear()


@pytest.mark.skipif(bool(qemu.missing()), reason=f"not installed: {qemu.missing()}")
def test_ram_is_that_of_a_small_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: T8 counts pointers of four bytes, and turns where lavish keeps 255 maps of 132 bytes in
    RAM and superblock two lists."""
    assert layers._left("lavish") == schemes.ALL_KB << 10  # F11's
    played = traffic.play("log", traffic.record("gray", True), vm_bytes=VM, repeat=1)
    assert layer_ram.of_layers(VM)["log"] < int(played["device"]["ram_bytes"])
    assert layers.ram.run(False).answers[0].holds
    many = ("lavish", {"degree": 8, "maps": 255}, 15)
    few = ("superblock", {"degree": 8, "log_blocks": 4, "maps": 2}, 0.5)
    monkeypatch.setattr(traffic, "LAYERS", {**traffic.LAYERS, "lavish": many, "superblock": few})
    layer_ram.of_layers.cache_clear()
    assert not layers.ram.run(False).answers[0].holds
    layer_ram.of_layers.cache_clear()


def test_schemes_print_verdicts() -> None:
    """Goal: F11 runs quick, and tells a reason where it differs."""
    result = CliRunner().invoke(main, ["papers", "F11", "--quick"])
    assert result.exit_code == 0, result.stderr
    assert "F11/crossing" in result.stdout
