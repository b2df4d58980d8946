# SPDX-License-Identifier: Apache-2.0
"""The experiments on self-healing NAND in quick form: what must come out on any chip."""

from papers.heating._play import BAR, PUBLISHED, Setup, play


def test_dispersed_heating_disperses() -> None:
    """Later healings under SWL, further apart under DHeating, with fewer blocks moved."""
    for name in PUBLISHED:
        swl = play(Setup(name, "swl", threshold=4), quick=True)
        dheating = play(Setup(name, "dheating"), quick=True)
        assert swl.heals >= 25
        assert dheating.heals >= 25
        assert dheating.first_s < swl.first_s
        assert dheating.interval_s > 2 * swl.interval_s
        assert dheating.moved < swl.moved or name == "ftp"


def test_even_wear_brings_all_healings_together() -> None:
    """25 of 64 blocks at 100 erases each: under SWL no block is healed before most are near."""
    swl = play(Setup("sensor", "swl", threshold=2), quick=True)
    assert swl.erases > 0.8 * 64 * BAR


def test_lazy_healing_uses_pauses() -> None:
    requests = play(Setup("filecopy", "dheating"), quick=True).requests
    eager = play(Setup("filecopy", "dheating", pauses=True), True, requests)
    lazy = play(Setup("filecopy", "dheating", pauses=True, period_s=600), True, requests)
    assert eager.healed_idle == 0
    assert lazy.healed_idle > 0.9 * lazy.heals > 0
    assert eager.worst_s > 3
    assert eager.worst_s > 1.5 * lazy.worst_s
