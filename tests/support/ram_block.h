/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ram_block.h - a block device in plain memory for tests: strict about its contract, counts what is
 * asked of it, and fails on demand. Unwritten and trimmed sectors hold garbage, not zeros, when so
 * told, to show who relies on them.
 */
#ifndef NW_TEST_RAM_BLOCK_H
#define NW_TEST_RAM_BLOCK_H

#include <stdint.h>

#include "nandwich/block.h"

struct ram_block {
    struct nw_block block;
    uint8_t *content; /* sectors * sector_bytes, the device's own */
    uint8_t garbage;  /* what unwritten and trimmed sectors hold */

    uint32_t reads; /* sectors */
    uint32_t writes;
    uint32_t trims;
    uint32_t syncs;

    uint32_t fail_after_reads; /* so many calls succeed, then each fails; UINT32_MAX: never */
    uint32_t fail_after_writes;
    uint32_t fail_after_trims;
    int error; /* what a failing call answers */
};

/* Opens with every byte `garbage`; exits the program when memory is short. */
void ram_block_open(struct ram_block *ram, uint32_t sectors, uint16_t sector_bytes,
                    uint8_t garbage);
void ram_block_close(struct ram_block *ram);

#endif
