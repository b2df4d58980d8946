# SPDX-License-Identifier: Apache-2.0
"""The peers' harness: what it counts, and what is said when it cannot run."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from lab import peers
from lab.peers import Counts, NotMeasuredError

LINE = (
    '{"peer":"littlefs 2.9","work":"append","reads":9405,"bytes_read":4815360,"programs":3513,'
    '"bytes_programmed":1798656,"erases":206,"time_ns":1,"worst_ns":2,"programmed_again":0,'
    '"page_programs":1}'
)


@pytest.mark.quick
def test_a_line_becomes_counts_and_energy() -> None:
    """Capsule's prices: 4.07 uJ + 0.105 uJ/B a read, 24.54 uJ + 0.0962 uJ/B a program."""
    (counts,) = peers.parse("nand-512", LINE + "\n")
    assert (counts.store, counts.shape, counts.erases) == ("littlefs 2.9", "nand-512", 206)
    assert counts.energy_mj == pytest.approx(803.1, abs=0.05)  # 803 in shared measurements


@pytest.mark.quick
def test_one_page_costs_what_the_paper_says() -> None:
    page = Counts("x", "y", "append", 0, 0, 1, 512, 0)
    assert page.energy_pj == 24_540_000 + 512 * 96_200


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    peers.program.cache_clear()
    return monkeypatch


@pytest.mark.quick
def test_without_cargo_the_reason_is_told(unbuilt: pytest.MonkeyPatch) -> None:
    unbuilt.setenv("PATH", "/nowhere")
    with pytest.raises(NotMeasuredError, match="no cargo"):
        peers.measure(peers.SHAPES[0])


@pytest.mark.quick
def test_a_failed_build_tells_cargos_reason(unbuilt: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 101, "", "note\nerror: no such crate\nmore\n")

    (tmp_path / "cargo").touch(mode=0o755)
    unbuilt.setenv("PATH", str(tmp_path))
    unbuilt.setattr(subprocess, "run", fail)
    with pytest.raises(NotMeasuredError, match="error: no such crate"):
        peers.measure(peers.SHAPES[0])
