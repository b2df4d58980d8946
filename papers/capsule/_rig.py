# SPDX-License-Identifier: Apache-2.0
"""An object store on an emulated chip of the Capsule node, and what its calls cost there."""

from collections.abc import Callable

from nandwich import _native

#: The chip of Mathur et al., SenSys 2006, at their measured costs of chip and processor.
NAND = "TC58DVG02A1FT00"

SETUP = (
    "a Mica2 with a NAND of 512 B pages, a write buffer of 512 B; ours: our store on the twin, "
    "at the document's measured costs of chip and processor"
)
#: How far a figure may be from the printed one, to either side, in percent of it.
PERCENT = 10
TOLERANCE = (
    f"{PERCENT} % to either side: what the document's own table of costs is off its own figures, "
    "0.288 uJ a byte for the 0.314 printed at 128 B"
)


class Rig:
    """A fresh store; `cost` tells what calls spend."""

    def __init__(self, part: str = NAND, blocks: int = 128, **layout: int) -> None:
        self.nand = _native.Nand.open(
            _native.Part.named(part), blocks=blocks, options=["node_costs"]
        )
        self.store = _native.Store(
            self.nand,
            objects=layout.get("objects", 0),
            frames=layout.get("frames", 0),
            fan=layout.get("fan", 0),
            checkpoints=layout.get("checkpoints", 0),
        )
        self.store.format()
        self._filler = self.store.create("filler", "stream")

    def cost(self, *calls: Callable[[], object]) -> tuple[float, float]:
        """Energy in uJ and time in us of some calls."""
        energy, time = self.nand.energy_pj, self.nand.time_ns
        for call in calls:
            call()
        return (self.nand.energy_pj - energy) / 1e6, (self.nand.time_ns - time) / 1e3

    def flush(self, extra: int = 0) -> None:
        """Makes all durable and fills the page buffer with other things, so that what was written
        before has to be read from the chip; `extra` bytes shift what comes next in its page."""
        self.store.sync()
        for _ in range(4):
            self.store.append(self._filler, bytes(480))
        self.store.append(self._filler, bytes(1 + extra))
        self.store.sync()
