# SPDX-License-Identifier: Apache-2.0
"""The *Numbers to reach* on the page of `nandwich bench device`: verdicts and shortfalls."""

import pytest

from bench import _numbers
from lab import cross
from lab.benches import Figure
from lab.device.figures import Cost
from papers.fatvm import on_board

pytestmark = pytest.mark.quick


def _costs(hit: float, miss: float) -> dict[str, Cost]:
    return {
        f"{kind}.{verb}": Cost(miss, hit - 1, hit)
        for kind in ("buffer", "miss")
        for verb in ("load", "store")
    }


def test_an_access_is_judged_by_the_band_s_upper_end() -> None:
    """Goal: ten cycles at most are reached, eleven are not, and a miss counts instructions."""
    for hit, reached in ((10, True), (11, False)):
        lines = list(_numbers.accesses(_costs(hit, 60), {"slot.load": 72}))
        assert [line.reached for line in lines] == [reached, reached, True, True, True]
        assert lines[0].measured == f"{hit - 1} to {hit}"
    lines = list(_numbers.accesses(_costs(7, 99), {"slot.load": 100}))
    assert [line.reached for line in lines] == [True, True, False, False, False]


def test_every_number_is_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: what the page tells of layers, camera, F14 and F15 the terminal tells, too."""
    (tree,) = _numbers.stacks({"tree": 20000})
    assert tree.figures == (Figure("device.stack.tree", 20000, "B", _numbers.STACK_LIMIT),)
    time = {"storage": 10**9, "processor_least": 2 * 10**9, "processor_most": 3 * 10**9}
    (camera,) = _numbers.camera({"time_ns": time, "identical": True})
    assert [one.value for one in camera.figures] == [3, 4]
    run = on_board.Run(360_000_000, 72_000_000, 36_000_000, 2 * 10**9, 72)
    monkeypatch.setattr(on_board, "run", lambda *_: run)
    lines = list(_numbers.energies())
    assert all(len(line.figures) == 2 for line in lines)
    least, most = lines[0].figures
    assert (least.unit, most.unit) == ("min", "min")
    assert least.value < most.value


def test_shortfalls_are_named() -> None:
    """Goal: the page ends with each line that is missed or not there, with both numbers."""
    page = _numbers.table(
        [
            _numbers.Line("one", "<= 3 B", "3 B", True),
            _numbers.Line("two", "<= 3 B", "4 B", False),
            _numbers.Line("three", "equal", "no program yet", None),
            _numbers.Line("four", "2 x", "1 x", False, is_published=True),
        ]
    )
    assert "| one | <= 3 B | 3 B | reached |" in page
    assert "| two | <= 3 B | 4 B | **missed** |" in page
    assert "| four | 2 x | 1 x | differs |" in page
    assert page[-4:-1] == [
        "Short: 2 of 3 that were asked.",
        "- two: 4 B, asked <= 3 B.",
        "- three: no program yet, asked equal.",
    ]


@pytest.mark.skipif(not cross.CORTEX_M3.present, reason="needs arm-none-eabi-gcc")
def test_every_driver_has_a_line() -> None:
    """Goal: five drivers with their limits, no static RAM, and what they share named."""
    lines = list(_numbers.drivers())
    assert [line.asked for line in lines] == [
        "<= 1,536 B", "<= 1,229 B", "<= 1,229 B", "<= 1,229 B", "<= 2,048 B", "none",
    ]  # fmt: skip
    assert lines[-1].reached
    # The page had them, the terminal and the JSON had not.
    names = [figure.name for line in lines for figure in line.figures]
    assert names[0] == "device.driver-spi-nand"
    assert len(names) == 6
    assert "spi.c " in lines[-1].what
    assert "onfi.c " in lines[-1].what
