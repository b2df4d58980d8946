/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_spi_nand.h - NAND on a serial bus with error correction inside: W25N01GV, GD5F1GQ4 and Q5,
 * MX35LF1GE4AB and 2GE4AB, MT29F1G01, 2G01 and 4G01, and others of this class, as a chip (chip.h).
 * Use: docs/device.md.
 *
 * WHAT THE PART TELLS. Its id (command 9Fh) is looked up in a small table: blocks, pages, planes,
 * what its ECC status bits mean, which spare bytes it protects. Its parameter page (ONFI, in the
 * OTP area at row 1 or 4) has to tell the same shape, and tells the endurance (0 where there is
 * none). An id that is not in the table, or a part with more than one die, is refused.
 *
 * PAGES. 2,048 or 4,096 data bytes, and 4 spare bytes for each 512, protected by the part's ECC and
 * free of its codes: bytes 4 to 7 of each 16; of a Micron part bytes 20h to 23h, 28h to 2Bh, and so
 * on (with pages of 4 KiB 40h, 48h, ..). A page is programmed whole and once. Only W25N01GV has a
 * code of its own for each 4 spare bytes: there program_bytes is 512, a page takes 4 programs, and
 * spare bytes are programmed from a multiple of 4 on (NW_ERR_ALIGN).
 *
 * ECC. A read answers the most bits repaired in any unit of the page; where the status tells a
 * range only, its upper end:
 *   W25N01GV      00: 0    01: 1      10, 11: NW_ERR_ECC   (bit 6 is another matter)
 *   GD5F1GQ4      00: 0    01: 1 to 7, told as 7    11: 8    10: NW_ERR_ECC
 *   GD5F1GQ5      00: 0    01: 1 to 4, told as 4    11: 4    10: NW_ERR_ECC
 *   MX35LF        00: 0    01: 1 to 4, told as 4    10, 11: NW_ERR_ECC
 *   MT29F         000: 0   001: 3   011: 6   101: 8    all else: NW_ERR_ECC
 * The status is of the whole page: a read of a few bytes answers NW_ERR_ECC too where another unit
 * is lost. The bytes are delivered as they are.
 *
 * BAD BLOCKS. A block is bad when the first spare byte of its page 0 or 1 is not 0xFF, whatever ECC
 * says. mark_bad writes zeros there, in both pages.
 *
 * ERRORS of the verbs, beside those of chip.h: NW_ERR_PROGRAM and NW_ERR_ERASE as the part's status
 * tells; NW_ERR_BUSY after 1,000 waits of 20 us (20 ms, twice what the slowest erase takes; LIMITS
 * in driver_spi.h); what the bus answers.
 *
 * COST. RAM: sizeof(struct nw_spi_nand). Stack on a Cortex-M3: 150 B, 400 B while opening. A read
 * moves 4 bytes of command, 3 a question of status, and 4 and the data for each piece; a whole page
 * with its 16 spare bytes is five pieces.
 *
 * Source: datasheets W25N01GV, GD5F1GQ4xExxG, GD5F1GQ5xExxG, MX35LF1GE4AB, MT29F1G01ABAFD,
 * MT29F2G01ABAGD, MT29F4G01ABAFD.
 */
#ifndef NANDWICH_DRIVER_SPI_NAND_H
#define NANDWICH_DRIVER_SPI_NAND_H

#include "nandwich/chip.h"
#include "nandwich/driver_spi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the two to three bits of ECC status mean: nibble i for value i; 15: lost. */
#define NW_SPI_NAND_ECC_W25N 0xFF10FF10UL
#define NW_SPI_NAND_ECC_GD5F_Q4 0x8F708F70UL
#define NW_SPI_NAND_ECC_GD5F_Q5 0x4F404F40UL
#define NW_SPI_NAND_ECC_MX35 0xFF40FF40UL
#define NW_SPI_NAND_ECC_MT29 0xFF8F6F30UL

/* What else sets a part apart. Its reads go on behind the page while bit 0 of its configuration
 * register is set (Micron), or stop there only while bit 3 is set (Winbond): opening sees to it. */
#define NW_SPI_NAND_BIT_0_GOES_ON 0x20U
#define NW_SPI_NAND_BIT_3_STOPS 0x08U
/* Odd blocks are reached with a bit of the column set, the one above those of a page and its spare:
 * bit 12; with pages of 4,096 bytes bit 13. */
#define NW_SPI_NAND_TWO_PLANES 0x02U
/* Spare bytes have codes of their own: a page takes four programs. */
#define NW_SPI_NAND_FOUR_PROGRAMS 0x04U
/* The protected spare bytes stand further up and closer together: see PAGES. */
#define NW_SPI_NAND_SPARE_HIGH 0x10U
/* Bit 0 of its configuration register gives the WP and HOLD pins to data (GigaDevice, Macronix).
 * On a bus with read4() opening sets it, and the data of reads comes in by four lines (6Bh). */
#define NW_SPI_NAND_BIT_0_QUAD 0x01U

struct nw_spi_nand_part {
    uint8_t maker;       /* first byte of the id */
    uint8_t device;      /* second byte */
    uint8_t third;       /* third byte; 0: it is not looked at */
    uint8_t flags;       /* NW_SPI_NAND_... */
    uint16_t blocks;     /* of 64 pages */
    uint16_t page_bytes; /* 2,048 or 4,096 */
    uint32_t ecc;        /* NW_SPI_NAND_ECC_... */
};

struct nw_spi_nand {
    struct nw_spi *spi;
    const struct nw_spi_nand_part *part; /* its row */
    uint8_t id[4];       /* as read, the first byte being what came while the part was asked */
    struct nw_chip chip; /* for the layers; its context is this struct */
    uint32_t held;       /* the page in the part's cache, or on its way there, + 1; 0: none */
};

/*
 * Opens the part: waits until it is ready, resets it, reads its id and parameter page, lifts its
 * protection and switches its ECC on. Call it 5 ms or more after the supply is up, and after every
 * loss of power. part NULL: look it up; else the row that this board's part must match, which stays
 * the caller's and is used for as long as the chip is.
 *
 * NW_ERR_NOT_FOUND: nothing answers (id all 00 or FF). NW_ERR_UNSUPPORTED: an id that is not in the
 * table (nand->id tells), or a part with several dice. NW_ERR_CONFIG: another part than `part`, a
 * parameter page that differs from the row, protection that stays, or ECC that stays off.
 * NW_ERR_BUSY; what the bus answers. On an error the chip must not be used.
 * Nothing is written or erased.
 */
int nw_spi_nand_open(struct nw_spi_nand *nand, struct nw_spi *spi,
                     const struct nw_spi_nand_part *part);

#ifdef __cplusplus
}
#endif

#endif
