# SPDX-License-Identifier: Apache-2.0
"""An object store on an emulated chip of the Capsule node, and what its calls cost there."""

from collections.abc import Callable

from nandwich import _native

#: The chip of Mathur et al., SenSys 2006, at their measured costs of chip and processor.
NAND = "TC58DVG02A1FT00"


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
