# SPDX-License-Identifier: Apache-2.0
"""The parts that a board can carry: what the driver finds, what the model is, and what of the
firmware is theirs.

Ids and shapes are those of the makers' datasheets, as tests/unit/test_driver_*.c have them.
"""

from dataclasses import dataclass

from nandwich import names
from nandwich.errors import InputError
from nandwich.twin import parts as twin_parts


@dataclass(frozen=True)
class Kind:
    """What parts of a kind have in common."""

    name: str  #: as the emulator calls it
    port: str  #: of ports/device; and its bus
    bus: str
    drivers: tuple[str, ...]  #: of core/drivers
    layers: tuple[str, ...]
    faults: tuple[str, ...] = ("id", "stuck", "ecc")
    join: int = 1  #: blocks of the part in one of the layer, as `port` has it
    on_small: bool = False  #: an eight-bit processor has it too
    by_four: bool = False  #: read by four lines where the bus has them
    unknown: str = "the driver's table has no row for it"  #: what an id means that is refused
    held: str = "MISO held high"  #: why it may be busy for ever, beside being broken


SPI_NAND = Kind(
    "spi_nand",
    "part_spi_nand.c",
    "bus.c",
    ("spi", "spi_nand", "spi_nand_ahead", "onfi"),
    ("lavish", "tree"),
    on_small=True,
    by_four=True,
)
SPI_NOR = Kind(
    "spi_nor",
    "part_spi_nor.c",
    "bus.c",
    ("spi", "spi_nor"),
    ("tree",),
    faults=("id", "stuck"),
    join=4,
    unknown="it does not describe itself by SFDP",
)
PARALLEL_NAND = Kind(
    "parallel_nand",
    "part_parallel_nand.c",
    "bus_parallel.c",
    ("parallel_nand", "onfi"),
    ("lavish", "tree"),
    held="its data lines held low",
)


@dataclass(frozen=True)
class Part:
    """One part, and its times."""

    name: str
    kind: Kind
    id: str  #: hexadecimal; the first three bytes are told
    shape: tuple[int, ...]  #: how the kind's model wants it (lab/emulator/part_kinds.c)
    blocks: int
    block_bytes: int
    page_bytes: int  #: of the layer: a sector of virtual memory
    read_us: int
    program_us: int
    erase_us: int
    source: str  #: of the times
    cycle_ns: int = 0  #: of a parallel bus, a byte

    @property
    def spaced_id(self) -> str:
        return " ".join(self.id[at : at + 2].lower() for at in (0, 2, 4))

    @property
    def bytes(self) -> int:
        return self.blocks * self.block_bytes

    @property
    def setting(self) -> str:
        """As the emulator reads it."""
        times = (self.read_us, self.program_us, self.erase_us)
        return ",".join((self.kind.name, self.id, *map(str, (*times, *self.shape))))


def _spi_nand(
    name: str,
    id: str,
    planes: int,
    codes: int,
    onfi_row: int,
    blocks: int,
    page_bytes: int,
    times_us: tuple[int, int, int],
    source: str,
) -> Part:
    """`codes` of its ECC: 1 over data and spare of 512 bytes, 2 apart; `onfi_row` of the parameter
    page, 0: there is none; `blocks` of 64 pages."""
    shape = (planes, codes, onfi_row, blocks, page_bytes)
    return Part(name, SPI_NAND, id, shape, blocks, 64 * page_bytes, page_bytes, *times_us, source)


def _spi_nor(name: str, id: str, log_bytes: int, times_us: tuple[int, int], source: str) -> Part:
    """Erased by 4 KiB; pages with a spare area have 512 bytes."""
    shape = (log_bytes,)
    return Part(name, SPI_NOR, id, shape, 1 << log_bytes - 12, 4096, 512, 0, *times_us, source)


def _parallel_nand(
    name: str,
    id: str,
    shape: tuple[int, int, int],
    times_us: tuple[int, int, int],
    cycle_ns: int,
    source: str,
) -> Part:
    """The shape: address cycles of a row, programs a page, blocks of 64 pages."""
    sizes = (shape[-1], 64 * 2048, 2048)
    return Part(name, PARALLEL_NAND, id, shape, *sizes, *times_us, source, cycle_ns)


_ALL = (
    _spi_nand(
        "W25N01GV", "EFAA21", 1, 2, 1, 1024, 2048, (60, 250, 2000), "tRD, tPP, tBE, typical"
    ),
    _spi_nand(
        "GD5F1GQ4UExxG", "C8D100", 1, 1, 4, 1024, 2048, (120, 400, 3000),
        "page read at most with ECC, program and erase typical",
    ),
    _spi_nand(
        "MX35LF2GE4AB", "C22200", 2, 1, 1, 2048, 2048, (70, 320, 1000),
        "tRD_ECC at most, tPROG_ECC and tERASE typical, from memory",
    ),
    _spi_nand(
        "MT29F4G01ABAFD", "2C3400", 1, 1, 1, 2048, 4096, (115, 240, 2000),
        "page read at most with ECC, program with ECC and erase typical",
    ),
    _spi_nor("W25Q128JV", "EF4018", 24, (400, 45000), "tPP and tSE, typical"),
    _parallel_nand(
        "K9F1G08U0A", "ECF10095", (2, 4, 1024), (25, 200, 2000), 30,
        "tR at most, tPROG and tBERS typical, tRC and tWC, as in `nandwich chips`",
    ),
)  # fmt: skip

PARTS = {part.name: part for part in _ALL}
USUAL = _ALL[0]


def get(name: str) -> Part:
    """The part of that name, whatever the case; InputError says which there are."""
    for part in _ALL:
        if part.name.casefold() == name.casefold():
            return part
    if twin_parts.is_file(name) or name.upper() in twin_parts.known_names():
        raise InputError(
            f"--chip {name} does not go with --target: its boards carry {', '.join(PARTS)}"
        )
    raise names.unknown("part of --target", name, PARTS)
