/* SPDX-License-Identifier: Apache-2.0 */
/* A chip whose cut pages and blocks show themselves in each way that they may: a page its new
 * content, or blank, or nothing; a block that was being erased what it held, or blank, or nothing.
 * What showed whole never turns blank. Which view it is, is told at power-up. */
#ifndef VIEW_CHIP_H
#define VIEW_CHIP_H

#include <stdint.h>

#include "nandwich/chip.h"

#define VIEW_BLOCKS 40U
#define VIEW_BLOCK_PAGES 16U
#define VIEW_BYTES 256U
#define VIEW_SPARE 18U
#define VIEW_PAGES (VIEW_BLOCKS * VIEW_BLOCK_PAGES)

struct view_chip {
    uint8_t bytes[VIEW_PAGES][VIEW_BYTES + VIEW_SPARE]; /* also before an erase that was cut */
    uint8_t written[VIEW_PAGES];
    uint8_t page_kind[VIEW_PAGES];
    uint8_t block_kind[VIEW_BLOCKS];
    uint8_t page_view[VIEW_PAGES];
    uint8_t block_view[VIEW_BLOCKS];
    uint32_t cut_after; /* changes; 0: never */
    uint8_t off;
};

/* The one that requests go to. */
extern struct view_chip *view_chip;

void view_chip_open(struct nw_chip *chip);
struct view_chip *view_chip_fork(const struct view_chip *from);
/* Power comes back, and what was cut shows itself. 0: there is no such view. */
int view_chip_power_up(uint32_t pick);

#endif
