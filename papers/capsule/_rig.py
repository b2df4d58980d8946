# SPDX-License-Identifier: Apache-2.0
"""An object store on an emulated chip of the Capsule node, and what its calls cost there."""

from collections.abc import Callable

from nandwich import _native

#: The chip of Mathur et al., SenSys 2006, at their measured costs of chip and processor.
NAND = "TC58DVG02A1FT00"


def card(published: str, ours: str, *, blocks: int = 128, frames: str = "8 of 16 entries") -> str:
    """A set-up: node and store, which the experiments share, and what each measures."""
    return (
        f"published: a Mica2 with a {NAND} (pages of 512 B, at most 4 programs each), a write "
        f"buffer of 512 B; {published}. Ours: our store on the twin of that NAND, {blocks:,} "
        f"blocks of 32 pages, a page buffer of 512 B, index nodes in RAM: {frames} of 4 B; an "
        "operation costs what the document measured of chip and processor (a program 24.54 uJ and "
        "0.0962 a byte, 274 us and 1.577; a read 4.07 uJ and 0.105, 69 us and 1.759); only what "
        f"is named is counted: {ours}"
    )


#: Why no time is judged, of any call.
CLOCK = (
    "ours is the modelled time of the chip and of the processor's transfers; the document's is "
    "read off a clock on the node, with all that its processor does between them"
)
#: How far a figure may be from the printed one, to either side, in percent of it.
PERCENT = 9
TOLERANCE = (
    f"{PERCENT} % to either side: the document's own table of costs is 8.3 % off its own figures, "
    "0.288 uJ a byte for the 0.314 printed at 128 B"
)


class Meter:
    """Something on a chip; `cost` tells what calls spend."""

    nand: _native.Nand

    def cost(self, *calls: Callable[[], object]) -> tuple[float, float]:
        """Energy in uJ and time in us of some calls."""
        energy, time = self.nand.energy_pj, self.nand.time_ns
        for call in calls:
            call()
        return (self.nand.energy_pj - energy) / 1e6, (self.nand.time_ns - time) / 1e3


class Rig(Meter):
    """A fresh store."""

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

    def flush(self, extra: int = 0) -> None:
        """Makes all durable and fills the page buffer with other things, so that what was written
        before has to be read from the chip; `extra` bytes shift what comes next in its page."""
        self.store.sync()
        for _ in range(4):
            self.store.append(self._filler, bytes(480))
        self.store.append(self._filler, bytes(1 + extra))
        self.store.sync()
