/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_spi_nor.h - serial NOR that describes itself by SFDP (JESD216): W25Q, MX25, IS25, N25Q and
 * others, as a chip (chip.h).
 *
 * WHAT THE PART TELLS. Its basic table (SFDP, command 5Ah) tells the size, the smallest block it
 * erases and the command for that, the page, typical times, and how a part above 16 MiB is put into
 * addresses of four bytes. Its id (9Fh) is checked against it: the third byte of the makers in the
 * table is the logarithm of the size (20h and up: less 6). A part without SFDP is refused. A
 * table of nine words, as W25Q256FV has, tells no times: 0.4 ms and 45 ms are taken. A part that
 * erases 4 KiB in some of its sectors only (the table says so, a sector map where) is refused.
 *
 * PAGES. Usually 256 bytes, 16 a block of 4 KiB. program_bytes 1, programs unlimited, no spare
 * bytes, erased bytes may be read. Reads take the fast command (0Bh), good for any clock.
 *
 * FAILURES. How a part tells that a program or an erase failed differs by maker:
 *   Macronix  security register (2Bh), P_FAIL 20h, E_FAIL 40h
 *   ISSI      extended read register (81h), P_ERR 04h, E_ERR 08h, cleared by 82h
 *   Micron    flag status register (70h), 10h, 20h, cleared by 50h
 *   Winbond   no bits
 * With every maker: where the write-enable latch stays set the part may not have taken the command
 * in (protected, say). The driver then reads back, and what differs is a failure. A register that
 * reads FF is none.
 *
 * BAD BLOCKS. There are no marks: is_bad answers 0, mark_bad NW_ERR_UNSUPPORTED, and so does a
 * layer that had to retire a block. Such parts are rated for 100,000 erases and have no bad
 * blocks new.
 *
 * ERRORS of the verbs, beside those of chip.h: NW_ERR_PROGRAM, NW_ERR_ERASE; NW_ERR_BUSY after
 * 30,000 waits of 100 us (3 s, where the slowest erases of 4 KiB take 0.4 s; LIMITS in
 * driver_spi.h); what the bus answers.
 *
 * COST. RAM: sizeof(struct nw_spi_nor). Stack on a Cortex-M3: 160 B, 180 B while opening. A read
 * moves 5 bytes (6 above 16 MiB) and the data; a program 1, 4 (5) and the data, and 2 a question of
 * status.
 *
 * Source: JESD216B, sections 6.4.1 to 6.4.19; datasheets W25Q128JV, MX25L12835F, IS25LP128F,
 * N25Q128A.
 */
#ifndef NANDWICH_DRIVER_SPI_NOR_H
#define NANDWICH_DRIVER_SPI_NOR_H

#include "nandwich/chip.h"
#include "nandwich/driver_spi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a maker's parts tell failures and protection. */
struct nw_spi_nor_maker {
    uint8_t maker;          /* first byte of the id */
    uint8_t failed_code;    /* command that reads the register; 0: there is none */
    uint8_t program_failed; /* bits of it */
    uint8_t erase_failed;
    uint8_t clear_code;     /* command that clears them; 0: the next success does */
    uint8_t protection;     /* bits of the status that say which blocks are protected */
};

struct nw_spi_nor {
    struct nw_spi *spi;
    const struct nw_spi_nor_maker *maker; /* NULL: unknown, told by the latch alone */
    uint8_t address_bytes; /* 3 or 4 */
    uint8_t erase_code;
    uint8_t id[3];
    struct nw_chip chip; /* for the layers; its context is this struct */
};

/*
 * Opens the part: waits until it is ready, wakes it (ABh), resets it (66h, 99h), reads id and SFDP.
 * A part in deep power-down tells no status: where the line reads FF it is woken first.
 * Call it 5 ms or more after the supply is up, and after every loss of power. maker NULL: look
 * it up.
 *
 * NW_ERR_NOT_FOUND: nothing answers (id all 00 or FF), within 1 ms.
 * NW_ERR_UNSUPPORTED: no SFDP, or one without an erase, of two sector sizes, or of pages and blocks
 * no chip has; or more than 16 MiB and no command (B7h) for addresses of four bytes. NW_ERR_CONFIG:
 * SFDP and id tell different sizes, another maker than `maker`, or blocks that are protected (BP0
 * to BP3: status bits 2 to 5, with Micron 2, 3, 4 and 6): lifting that is for the board to decide,
 * for it is kept without power. NW_ERR_BUSY; what the bus answers. Nothing is written or erased.
 */
int nw_spi_nor_open(struct nw_spi_nor *nor, struct nw_spi *spi,
                    const struct nw_spi_nor_maker *maker);

#ifdef __cplusplus
}
#endif

#endif
