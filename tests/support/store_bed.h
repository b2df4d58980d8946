/* SPDX-License-Identifier: Apache-2.0 */
/* A store on a small NAND, for tests of single calls. One at a time. */
#ifndef NANDWICH_TESTS_STORE_BED_H
#define NANDWICH_TESTS_STORE_BED_H

#include "nandwich-twin/nand.h"
#include "nandwich/ecc.h"
#include "nandwich/store.h"

struct store_bed {
    struct nw_nand *nand;
    struct nw_chip *chip;
    struct nw_ecc ecc;
    uint8_t ecc_ram[1024];
    struct nw_store *store;
    struct nw_store_config config;
    uint8_t *ram;
    size_t ram_bytes;
};

extern struct store_bed bed;

/* With ECC below if asked; formatted. */
void store_bed_open(const struct nw_store_config *config, uint32_t blocks, int ecc);

/* Fails where the chip was misused. */
void store_bed_close(void);

void store_bed_format(void);

/* Once more, in RAM that holds nothing. */
void store_bed_mount(void);

/* What nw_store_create() answers. */
int store_bed_create(const char *name, uint8_t type, uint16_t unit, uint32_t count);

#endif
