# SPDX-License-Identifier: Apache-2.0
"""The experiments on self-healing NAND: what must come out on any chip in quick form, what follows
from the printed figures, and that a broken model turns a verdict."""

import pytest

from lab.experiments import NOT_REACHABLE
from papers.heating import intervals
from papers.heating._play import BAR, PUBLISHED, Outcome, Setup, play


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


def test_what_the_published_intervals_ask_of_the_chip() -> None:
    """By hand: 199 x 4152 s at 8.40 ms are 98.4 million requests of NFS, 2463 GiB written, of 139
    that (512 + 200) x 100 erases of 2 MiB take; only FTP asks for less than that."""
    assert round(intervals.asked_bytes("nfs") / 2**30) == 2463
    assert round(intervals.most_bytes() / 2**30) == 139
    over = {name for name in PUBLISHED if intervals.asked_bytes(name) > intervals.most_bytes()}
    assert over == set(PUBLISHED) - {"ftp"}
    answers = {answer.part: answer for answer in intervals.intervals.run(True).answers}
    assert {name for name in PUBLISHED if answers[f"{name}-s"].verdict == NOT_REACHABLE} == over
    assert not any(answers[name].verdict for name in PUBLISHED)


def test_the_printed_product_is_ten_times_too_large() -> None:
    assert round(intervals.equation_s(), 2) == 83.03


def test_a_broken_model_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """What DHeating erases on the SD card holds against table 2.4; wear levelling in its place,
    set to move less than ours does elsewhere, does not."""

    def change() -> bool:
        parts = {answer.part: answer for answer in intervals._counts("erases", "sdcard", False)}
        return parts["sdcard"].holds

    def levelling(workload: str, quick: bool, _bar: int = BAR) -> Outcome:
        return play(Setup(workload, "swl", threshold=10), quick)

    assert change()
    monkeypatch.setattr(intervals, "_dheating", levelling)
    assert not change()
