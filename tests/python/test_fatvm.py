# SPDX-License-Identifier: Apache-2.0
"""The FaTVM experiments on small inputs: programs end well, layers obey what no layer escapes."""

import pytest
from click.testing import CliRunner

from nandwich.cli.main import main
from papers.fatvm import layers, traffic

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
    rest = layers._at_rest(layer, traffic.record("gray", True).without_trims, True)
    blocks_programmed = rest.counts["programs"] / traffic.BLOCK_PAGES
    assert rest.counts["programs"] >= rest.counts["host_writes"]
    assert rest.counts["erases"] >= 0.95 * blocks_programmed


def test_ram_and_schemes_print_verdicts() -> None:
    """Goal: T8 and F11 run quick, and tell a reason where they differ."""
    result = CliRunner().invoke(main, ["papers", "T8", "F11", "--quick"])
    assert result.exit_code == 0, result.stderr
    assert "T8 holds" in result.stdout
    assert "F11/crossing" in result.stdout
