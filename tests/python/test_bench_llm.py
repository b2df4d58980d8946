# SPDX-License-Identifier: Apache-2.0
"""The page of `nandwich bench llm`: its verdicts, and the program that pages by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from runs import own_cache as own_cache

from bench import llm
from examples.llm import model, tokens, untrained
from lab.device import boards, figures, play
from nandwich import paths

_SHAPE = model.Shape(
    vocabulary=280, width=24, layers=3, heads=2, head=8, hidden=40, context=16, rows=64
)
_COUNTS = ("instructions", "least", "most", "storage_ns", "chip_ns", "bus_bytes", "reads",
           "programs", "erases", "mapped")  # fmt: skip
_TOKEN = llm.Token(100, 160, 20, 1, 1000, 0, 0, 0)


def _found(ours: llm.Token) -> dict[tuple[str, llm.Case], llm.Token]:
    board = boards.CORTEX_M3
    ram, hand = llm.without_flash(board)
    waits = next(case for case in llm._cases(board) if case.name.endswith("no prefetch"))
    return {
        (shape, case): one
        for shape in ("table", "dense")
        for case, one in (
            (ram, replace(_TOKEN, least_ms=80, instructions=900)),
            (hand, _TOKEN),
            (waits, replace(_TOKEN, storage_ms=50, chip_ms=50)),
            (llm.best(board), ours),
        )
    }


@pytest.mark.quick
def test_numbers_are_judged_by_their_limits() -> None:
    """Goal: a speed counts at the band's slow end; shares and ratios are of the right two."""
    by_name = {line.what: line for line in llm.numbers(_found(_TOKEN))}
    assert by_name["dense: tokens a second"].measured == "6.2 to 10.0"
    assert by_name["dense: tokens a second"].reached
    assert not by_name["table: tokens a second"].reached
    assert by_name["dense: ours, of tiled by hand"].measured == "1.00"
    assert by_name["dense: tiled by hand, of compute and bus"].measured == "1.00"
    assert by_name["dense: virtual memory's share of instructions"].measured == "0.10"
    assert by_name["dense: part's time that prefetch spares"].measured == "0.60"
    slow = {line.what: line for line in llm.numbers(_found(replace(_TOKEN, most_ms=170)))}
    assert not slow["dense: tokens a second"].reached
    rows = llm.table(_found(_TOKEN), boards.CORTEX_M3)
    assert len(rows) == 2 + 8
    assert rows[2].startswith("| table: weights in RAM, no flash | 6.2 to 12.5 |")


@pytest.mark.quick
def test_energy_is_of_the_part_and_its_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: an operation takes what the table says of the row's part, a byte what it says for as
    long as it takes on the row's bus; virtual memory and a file of 4 MB fit into each part."""
    found = {}
    weights = Path("weights.bin")
    for case in llm._cases(boards.CORTEX_M3):
        wanted = llm._wanted(case, weights, 1)
        play.check(wanted)
        assert wanted.vm + 4_000_000 <= wanted.part.bytes
        for one in ("bus_bytes", "reads", "programs", "erases"):

            def run(
                _case: llm.Case, _weights: Path, tokens: int, one: str = one
            ) -> tuple[dict[str, int], bytes]:
                return {**dict.fromkeys(_COUNTS, 0), one: 1000 * tokens}, b""

            monkeypatch.setattr(llm, "_run", run)
            found[case.name, one] = round(llm.token(case, weights, b"").energy_mj * 1e6)
    nor, parallel = (f"{llm._BEST}, {what}" for what in llm._OTHERS)
    rows = (llm._BEST, f"{llm._BEST}, one line at 20 MHz", nor, parallel)
    assert [found[row, "bus_bytes"] for row in rows] == [1587, 33009, 3808, 1485]
    assert [found[row, "reads"] for row in rows] == [4_950_000, 4_950_000, 9504, 1_237_500]
    assert [found[row, "erases"] for row in rows] == [165e6, 165e6, 2.97e9, 99e6]


def test_paging_by_hand_reads_the_part(tmp_path: Path) -> None:
    """Goal: tiled.c on a board writes the text of llm.c there, and reads its weights from flash."""
    assert paths.CHECKOUT is not None
    weights = tmp_path / "weights.bin"
    text = b"the page of a block is read; the block of the page is erased. " * 3
    weights.write_bytes(untrained.file(_SHAPE, tokens.learn([text], _SHAPE.vocabulary)))
    told = []
    for name in ("llm", "tiled"):
        source = paths.CHECKOUT / "examples" / "llm" / f"{name}.c"
        folder = tmp_path / name
        folder.mkdir()
        wanted = figures.wanted(boards.CORTEX_M3, source, weights, "the page", "12", "1")
        told.append(play.alone(wanted, folder, by_hand=name == "tiled"))
    assert told[0].stdout.read_bytes() == told[1].stdout.read_bytes()
    assert told[0].report["run_flash"]["reads"] == 0
    pages = weights.stat().st_size // 2048
    assert told[1].report["run_flash"]["reads"] > 12 * pages / 2
