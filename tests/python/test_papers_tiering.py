# SPDX-License-Identifier: Apache-2.0
"""Goal: IC-T5 follows from the published counts, cell by cell, and would not from others."""

from dataclasses import replace

from papers.tiering import guests


def test_every_cell_follows() -> None:
    report = guests.saved_energy.run(True)
    assert [answer.holds for answer in report.answers] == [True] * 4
    assert report.answers[0].measured == 44.99
    # By hand: 4 x 8.35 KB / 2^20 of (547 x 1.5 + 2240 + 1060 x 17 + 2040 x 6) J.
    youtube = next(cell for cell in guests.CELLS if cell.name == "YouTube")
    assert round(youtube.tier_mj, 1) == 1061.3
    assert youtube.more_mj == 0


def test_other_counts_do_not_follow() -> None:
    """In cells of more than 10 J; in smaller ones the steps of 10 mJ hide a tenth."""
    large = [cell for cell in guests.CELLS if cell.flash_mj > 10_000]
    assert len(large) == 8
    for cell in large:
        other = replace(cell, nvm_writes=cell.nvm_writes * 8 // 10)
        assert abs(other.share(other.more_mj) - cell.saved) >= guests.ROUNDING, cell.name
