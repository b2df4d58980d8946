/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_parallel_nand.h - NAND on an eight-bit bus, with pages of 2,048 bytes and more by ONFI
 * or by id (K9F1G08, MT29F2G08 and the like), and with pages of 512 bytes by id (K9F1208,
 * TC58DVG02A1 and the like), as a chip (chip.h). No error correction: put nw_ecc (ecc.h) in
 * front of it.
 *
 * THE BUS. Five functions of the board; each answers NW_OK or a negative error, which the verb
 * under way passes on. The ready line is not needed: the driver asks for the status.
 *
 * WHAT THE PART TELLS. If 90h 20h answers "ONFI", its parameter page (ECh; three copies, the first
 * whose checksum is right) tells shape, spare bytes, address cycles, programs a page and endurance.
 * The id (90h 00h) is looked up in a small table, by device code. What is in both must agree, and
 * where a large part tells its page and block in the fourth byte of the id, that too.
 *
 *   device   73    75    76    79    F1     DA     DC     D3
 *   blocks   1024  2048  4096  8192  1024   2048   4096   8192
 *   pages    32 of 512 bytes         64 of 2,048 bytes
 *   cycles   2     2     3     3     2      3      3      3     of the row in an address
 *   programs 1     1     1     4     4      4      4      4     a page between erases
 *
 * PAGES. program_bytes 1. Large pages are programmed in order within a block. Spare bytes are all
 * but the bad-block mark: 62 of 64, behind the first two; 15 of 16, around the sixth.
 *
 * BAD BLOCKS. A block is bad when the mark (first, or sixth, spare byte) of page 0 or 1 is not FF.
 * mark_bad writes zero to both.
 *
 * ERRORS of the verbs, beside those of chip.h: NW_ERR_PROGRAM and NW_ERR_ERASE as the status tells;
 * NW_ERR_IO when the status says that the WP pin is low (the block is not at fault); NW_ERR_BUSY
 * after 1,000 waits of 20 us (20 ms where `wait` is exact; the slowest erases take 10 ms); what the
 * bus answers.
 *
 * COST. RAM: sizeof(struct nw_parallel_nand). Stack on a Cortex-M3: 130 B, 340 B while opening. Bus
 * cycles of a large page's read: 2 commands, 4 or 5 of address, 2 and a byte for each question
 * of status, a command, the data; with spare bytes 2 commands and 2 of address more. A program
 * sends FF for the bytes between its data and its spare bytes, which leaves them as they are.
 *
 * Source: ONFI 1.0, sections 5.1 to 5.15; datasheets K9F1G08U0A ("read", "page program", "invalid
 * blocks"), K9F1208U0B ("pointer operation", "read status"), TC58DVG02A1FT00.
 */
#ifndef NANDWICH_DRIVER_PARALLEL_NAND_H
#define NANDWICH_DRIVER_PARALLEL_NAND_H

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_parallel_bus;

struct nw_parallel_bus_ops {
    /* CE: on 1 selects the part. */
    int (*select)(struct nw_parallel_bus *bus, uint8_t on);
    /* Write cycles with CLE high (address 0: a command of one byte) or ALE high (address 1). Then
     * waits tWB or tWHR, 100 ns. */
    int (*latch)(struct nw_parallel_bus *bus, uint8_t address, const uint8_t *bytes,
                 uint8_t length);
    int (*write)(struct nw_parallel_bus *bus, const uint8_t *out, uint16_t length); /* NULL: FF */
    int (*read)(struct nw_parallel_bus *bus, uint8_t *in, uint16_t length);
    int (*wait)(struct nw_parallel_bus *bus, uint16_t us); /* that long or longer, 1 .. 1,000 */
};

struct nw_parallel_bus {
    const struct nw_parallel_bus_ops *ops;
    void *context;    /* the board's own */
    uint16_t byte_ns; /* of a data cycle, for the times that a geometry tells; 0: not counted */
};

struct nw_parallel_nand_part {
    uint8_t device;      /* second byte of the id */
    uint8_t page_shift;  /* 9: 512 bytes, 32 a block; 11: 2,048 bytes, 64 a block */
    uint8_t row_cycles;
    uint8_t page_programs;
    uint16_t blocks;
};

struct nw_parallel_nand {
    struct nw_parallel_bus *bus;
    int error;             /* first error of the verb under way */
    uint16_t at;           /* column behind the bytes moved last in this verb */
    uint8_t column_cycles; /* 1: pages of 512 bytes */
    uint8_t row_cycles;
    uint8_t hole_at;       /* the bad-block mark in the spare: where, and how many bytes */
    uint8_t hole_bytes;
    uint8_t busy;
    uint8_t status;        /* the last one, for a look after an error */
    uint8_t id[4];
    struct nw_chip chip;   /* for the layers; its context is this struct */
};

/*
 * Opens the part: resets it, reads id and parameter page. Call it 5 ms or more after the supply is
 * up, and after every loss of power. part NULL: look it up; else the row this board's part must
 * match.
 *
 * NW_ERR_NOT_FOUND: nothing answers (id all 00 or FF). NW_ERR_UNSUPPORTED: no parameter page, or
 * one of a part on 16 wires, and an id that is not in the table; nand->id tells. NW_ERR_CONFIG:
 * parameter page, id and table differ, or the page contradicts itself: no room for the mark, more
 * rows than its address cycles tell apart. NW_ERR_BUSY; what the bus answers. Nothing is written or
 * erased, but a reset ends an operation under way, as a loss of power does.
 */
int nw_parallel_nand_open(struct nw_parallel_nand *nand, struct nw_parallel_bus *bus,
                          const struct nw_parallel_nand_part *part);

#ifdef __cplusplus
}
#endif

#endif
