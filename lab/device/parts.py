# SPDX-License-Identifier: Apache-2.0
"""The serial NAND parts that a board can carry: what the driver finds and the model is.

Ids and shapes are those of the makers' datasheets, as tests/unit/test_driver_spi_nand.c has them.
"""

from dataclasses import dataclass

from nandwich import names
from nandwich.errors import InputError
from nandwich.twin import parts as twin_parts


@dataclass(frozen=True)
class Part:
    """One part, as struct spi_nand_kind of tests/bus has it, and its times."""

    name: str
    id: str  #: three bytes, hexadecimal
    planes: int
    codes: int  #: of its ECC: 1 over data and spare of 512 bytes, 2 apart
    onfi_row: int  #: of the parameter page; 0: there is none
    blocks: int  #: of 64 pages
    page_bytes: int
    read_us: int
    program_us: int
    erase_us: int
    source: str  #: of the times

    @property
    def spaced_id(self) -> str:
        return " ".join(self.id[at : at + 2].lower() for at in (0, 2, 4))

    @property
    def setting(self) -> str:
        """As the emulator reads it."""
        numbers = (
            self.planes,
            self.codes,
            self.onfi_row,
            self.blocks,
            self.page_bytes,
            self.read_us,
            self.program_us,
            self.erase_us,
        )
        return ",".join((self.id, *map(str, numbers)))


_ALL = (
    Part("W25N01GV", "EFAA21", 1, 2, 1, 1024, 2048, 60, 250, 2000, "tRD, tPP, tBE, typical"),
    Part(
        "GD5F1GQ4UExxG", "C8D100", 1, 1, 4, 1024, 2048, 120, 400, 3000,
        "page read at most with ECC, program and erase typical",
    ),
    Part(
        "MX35LF2GE4AB", "C22200", 2, 1, 1, 2048, 2048, 70, 320, 1000,
        "tRD_ECC at most, tPROG_ECC and tERASE typical, from memory",
    ),
    Part(
        "MT29F4G01ABAFD", "2C3400", 1, 1, 1, 2048, 4096, 115, 240, 2000,
        "page read at most with ECC, program with ECC and erase typical",
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
            f"--chip {name} does not go with --target: its boards have a serial bus for NAND, and "
            f"carry {', '.join(PARTS)}"
        )
    raise names.unknown("part of --target", name, PARTS)
