/* SPDX-License-Identifier: Apache-2.0 */
/* nand_rig.h - an emulated chip with a request and buffers at hand, for tests of the twin. */
#ifndef NANDWICH_TESTS_NAND_RIG_H
#define NANDWICH_TESTS_NAND_RIG_H

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"

#define RIG_BLOCKS 8U

struct nand_rig {
    struct nw_nand *nand;
    struct nw_chip_req req;
    uint8_t data[8192];
    uint8_t spare[640];
};

/* Opens RIG_BLOCKS blocks of the named part (seed 7); data is filled with 0xA5, spare with 0x5A. */
void rig_open(struct nand_rig *rig, const char *name, uint32_t flags);
/* The same from a configuration whose part is set. */
void rig_open_config(struct nand_rig *rig, const struct nw_nand_config *config);
/* Lets the rig work on another chip; the one before stays open. */
void rig_use(struct nand_rig *rig, struct nw_nand *nand);
void rig_fill(struct nand_rig *rig, uint8_t data, uint8_t spare);

int rig_program(struct nand_rig *rig, uint32_t page, uint16_t offset, uint16_t length,
                uint16_t spare_offset, uint16_t spare_length);
/* From the start of data and spare. */
int rig_read(struct nand_rig *rig, uint32_t page, uint16_t length, uint16_t spare_length);
int rig_erase(struct nand_rig *rig, uint32_t block);

/* The recorded misuse is this one; it is forgiven. */
void rig_expect_misuse(struct nand_rig *rig, int error, uint8_t verb, uint32_t page);
/* There was no (further) misuse; closes the chip. */
void rig_close_clean(struct nand_rig *rig);

#endif
