# SPDX-License-Identifier: Apache-2.0
"""The lavish layer through the binding, and the experiment on its bounds."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from lab import discovery
from lab._native import Lavish
from lab.experiments import Experiment, perform
from nandwich import _native
from papers.fatvm import lavish_bounds


def open_chip(blocks: int = 0) -> _native.Nand:
    return _native.Nand.open(
        _native.Part.named("K9F1G08U0A"), blocks=blocks, options=["no_payload"]
    )


@pytest.mark.quick
def test_refusal_tells_the_arithmetic() -> None:
    """Goal: a device too big for its chip is refused with both numbers."""
    with pytest.raises(ValueError, match="needs at least 2065 blocks, has 1024"):
        Lavish.open(open_chip(), sectors=16384)
    chip = _native.Nand.open(_native.Part.named("K9F1G08U0A"), blocks=64)
    with pytest.raises(ValueError, match="metadata-only"):
        Lavish.open(chip, sectors=64)


@pytest.mark.quick
def test_counts_agree_with_the_chip() -> None:
    """Goal: what the binding asks for arrives once, and both counts of it agree."""
    chip = open_chip(64)
    device = Lavish.open(chip, sectors=128, degree=4, maps=1)
    opened = chip.stats
    device.write([0, 1, 64, 0])
    device.read([0, 127])
    device.trim([1])
    stats = device.stats
    assert (stats["host_writes"], stats["host_reads"], stats["host_trims"]) == (4, 2, 1)
    assert stats["map_programs"] == 3  # two maps take turns in RAM: of 0, of 64, of 0
    assert (stats["programs"], stats["erases"]) == (7, 2)
    since = {name: chip.stats[name] - opened[name] for name in ("programs", "copies", "erases")}
    assert since["programs"] + since["copies"] == stats["programs"]
    assert since["erases"] == stats["erases"]
    assert chip.misuse is None
    with pytest.raises(RuntimeError, match="sector 128"):
        device.write([128])


def test_published_bounds_hold(tmp_path: Path) -> None:
    """Goal: the experiment runs; in ample space both bounds hold, in little space one does not, and
    has its reason. A quick run judges nothing."""
    found = {one.id: one for one in discovery.collect("papers", Experiment)}
    results, trouble = perform(found["lavish-bounds"], quick=True, out=tmp_path)
    assert not trouble
    assert {one.verdict for one in results} == {"not judged"}
    assert (tmp_path / "lavish-bounds.svg").stat().st_size > 0
    assert _held() == [True, True, False]


def _held() -> list[bool]:
    return [one.holds for one in lavish_bounds.lavish_bounds.run(True).answers]


def test_bounds_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: a layer of degree 1, whatever degree it is asked for, breaks them all."""

    def open(
        chip: _native.Nand, *, sectors: int, degree: int, maps: int, lavish_blocks: int
    ) -> Lavish:
        assert degree > 1
        more = lavish_blocks + 1 if lavish_blocks else 0  # it needs one more
        return Lavish.open(chip, sectors=sectors, degree=1, maps=maps, lavish_blocks=more)

    monkeypatch.setattr(lavish_bounds, "Lavish", SimpleNamespace(open=open))
    assert not any(_held())
