# SPDX-License-Identifier: Apache-2.0
"""CFLRU: a policy that evicts clean pages first, beside LRU (Lin et al. 2013, section 4.3)."""

from collections.abc import Mapping

from lab.experiments import NOT_JUDGED, Answer, Report, experiment
from papers.ours.replacement import faults_of, in_reads

_JPEG = "jpeg"
_VISIBLE = 5.0

Found = Mapping[tuple[str, int, str], tuple[int, int]]


def gains(found: Found) -> dict[tuple[str, int], float]:
    """By program and RAM: percent of LRU's cost that CFLRU spares."""
    return {
        (program, ram): 100 * (1 - in_reads(*found[program, ram, "cflru"]) / in_reads(*lru))
        for (program, ram, policy), lru in found.items()
        if policy == "lru"
    }


def answers(found: Found) -> list[Answer]:
    """Of the decoder, as in the document, and of the other four."""
    by_case = gains(found)
    own = [gain for (program, _), gain in by_case.items() if program == _JPEG]
    others = [gain for (program, _), gain in by_case.items() if program != _JPEG]
    most = max(by_case, key=lambda case: by_case[case])
    return [
        Answer(
            f"{min(own):.1f} to {max(own):.1f}",
            holds=max(own) < _VISIBLE,
            why="what is spared of write-backs is read again",
            tolerance=f"below {_VISIBLE:g} %: less is not seen in a figure",
        ),
        Answer(
            f"{min(others):.1f} to {max(others):.1f}",
            verdict=NOT_JUDGED,
            why="the document tried its decoder's trace alone; most is spared of "
            f"{most[0]} at {most[1]:,} B",
            part="others",
            claim="the same of gray, fft, huffman and red-black",
        ),
    ]


@experiment(
    "CFLRU",
    claim="CFLRU brings nothing visible over LRU: time of faults and write-backs, jpeg",
    published="nothing visible",
    unit="% less",
    where="section 4.3",
    setup="published: tried, no figure, no window. Ours: the accesses of V-policy in frames of 512 "
    "B, fully associative, 16 and 32 KB; the window is the oldest quarter of the frames; a "
    "write-back counts as 163/36 reads",
)
def clean_first(quick: bool) -> Report:
    """Both policies on five programs."""
    found = faults_of(quick)
    return Report(
        answers=answers(found),
        columns=("program", "RAM KiB", "LRU, in reads", "CFLRU, in reads", "less, %"),
        rows=[
            [
                program,
                ram >> 10,
                *(round(in_reads(*found[program, ram, policy])) for policy in ("lru", "cflru")),
                round(gain, 2),
            ]
            for (program, ram), gain in gains(found).items()
        ],
    )
