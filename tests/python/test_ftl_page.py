# SPDX-License-Identifier: Apache-2.0
"""The page-mapped layer through the binding, driven by Hypothesis against a plain model."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lab._native import PageFtl
from nandwich import _native

pytestmark = pytest.mark.asan

OK, POWER, FULL, BLANK = 0, -10, -15, -27
PARTS = ("K9F1G08U0A", "W25N01GV", "TC58DVG02A1FT00")
TORN = ("any", "old", "new", "half", "mostly_old", "mostly_new")


def open_chip(part: str, blocks: int, seed: int = 1) -> _native.Nand:
    description = _native.Part.named(part)
    description.set("block_pages", "8")
    return _native.Nand.open(description, blocks=blocks, seed=seed)


class PageModel(RuleBasedStateMachine):
    """Goal: whatever is done in whatever order, each sector reads as the model allows."""

    @initialize(part=st.sampled_from(PARTS), seed=st.integers(0, 9))
    def start(self, part: str, seed: int) -> None:
        self.chip = open_chip(part, 20, seed)
        self.device = PageFtl(self.chip, spare_blocks=10)
        assert self.device.mount() == BLANK
        assert self.device.format() == OK
        self.size = self.device.sector_bytes
        #: Contents each sector may show after a cut; the last one is what it shows now.
        self.may: list[list[int]] = [[0] for _ in range(self.device.sectors)]
        self.written = 0
        self.doomed = 0

    def content(self, number: int) -> bytes:
        return number.to_bytes(4, "little") * (self.size // 4)

    def power_back(self) -> None:
        self.chip.power_up()
        assert self.device.mount() == OK
        for sector, allowed in enumerate(self.may):
            result, done, data = self.device.read(sector)
            assert (result, done) == (OK, 1)
            number = int.from_bytes(data[:4], "little")
            assert data == self.content(number)
            assert number in allowed, (sector, number, allowed)
            self.may[sector] = [number]

    def did(self, result: int) -> bool:
        """True when power stayed on; else it is back, and what came back was checked."""
        if self.chip.is_off:
            self.power_back()
            return False
        assert result >= OK, _native.error_text(result)
        return True

    @rule(where=st.integers(0, 78), count=st.integers(1, 12))
    def write(self, where: int, count: int) -> None:
        count = min(count, len(self.may) - where)
        first = self.written + 1
        self.written += count
        data = b"".join(self.content(first + i) for i in range(count))
        result, done = self.device.write(where, data)
        for i in range(count):
            number = first + i
            if i < done:
                self.may[where + i] = [number]
            elif i == done:
                self.may[where + i].insert(0, number)
        self.did(result)

    @rule(where=st.integers(0, 78), count=st.integers(1, 30))
    def trim(self, where: int, count: int) -> None:
        count = min(count, len(self.may) - where)
        assert self.device.trim(where, count) == OK
        for sector in range(where, where + count):
            self.may[sector].append(0)

    @rule()
    def sync(self) -> None:
        if self.did(self.device.sync()):
            self.may = [allowed[-1:] for allowed in self.may]

    @rule(budget_us=st.integers(0, 20_000))
    def idle(self, budget_us: int) -> None:
        self.did(self.device.idle(budget_us))

    @rule()
    def remount(self) -> None:
        self.power_back()

    @rule(
        after=st.integers(0, 40),
        phase=st.sampled_from(("before", "inside", "after")),
        data=st.sampled_from(TORN),
        spare=st.sampled_from(TORN),
    )
    def arm_cut(self, after: int, phase: str, data: str, spare: str) -> None:
        self.chip.cut(after, phase, data=data, spare=spare)

    @rule(after=st.integers(0, 400), phase=st.sampled_from(("before", "inside", "after")))
    def cut_mount(self, after: int, phase: str) -> None:
        self.chip.power_up()
        self.chip.cut(after, phase)
        self.device.mount()
        self.power_back()

    @rule(block=st.integers(0, 19), in_program=st.booleans())
    def doom(self, block: int, in_program: bool) -> None:
        if self.doomed < 2:
            self.doomed += 1
            self.chip.doom(block, in_program)

    @invariant()
    def never_misused(self) -> None:
        if hasattr(self, "chip"):
            assert self.chip.misuse is None

    def teardown(self) -> None:
        if hasattr(self, "chip"):
            self.power_back()


class LongPageModel(PageModel):
    """The same, at length."""


TestPageModel = pytest.mark.quick(PageModel.TestCase)
TestPageModel.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestLongPageModel = pytest.mark.soak(LongPageModel.TestCase)
TestLongPageModel.settings = settings(
    max_examples=1500,
    stateful_step_count=80,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.quick
def test_refusals_and_ram() -> None:
    """Goal: what does not fit is refused; the RAM is what the header says."""
    chip = _native.Nand.open(_native.Part.named("K9F1G08U0A"), options=["no_payload"])
    with pytest.raises(ValueError, match="spares"):
        PageFtl(chip, spare_blocks=9)
    device = PageFtl(chip, spare_blocks=72)
    with pytest.raises(ValueError, match="not mounted"):
        device.sync()
    assert 4 * device.sectors < device.ram_bytes < 4.5 * device.sectors


@pytest.mark.quick
def test_write_amplification() -> None:
    """Goal: uniform random writes over a full device cost what greedy cleaning costs, not more.

    At 7 % over-provisioning published greedy figures lie between 7.0 and 7.8 (Desnoyers, "Analytic
    Modeling of SSD Write Performance", 2012: 7.8 without choice of victim); a bound with room for
    the blocks the layer keeps free.
    """
    chip = _native.Nand.open(_native.Part.named("K9F1G08U0A"), blocks=1024, options=["no_payload"])
    device = PageFtl(chip, spare_blocks=67 + 8)
    assert device.format() == OK
    for sector in range(0, device.sectors, 512):
        count = min(512, device.sectors - sector)
        assert device.write(sector, b"\0" * (count * device.sector_bytes))[0] == OK
    assert device.random_writes(150_000, 1) == OK
    before = device.stats
    assert device.random_writes(150_000, 2) == OK
    programs = device.stats["programs"] - before["programs"]
    assert 5.5 < programs / 150_000 < 8.0
