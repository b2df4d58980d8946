/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/parts.h"

struct store_bed bed;

void store_bed_format(void)
{
    assert_int_equal(
        nw_store_format(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes), NW_OK);
}

void store_bed_mount(void)
{
    memset(bed.ram, 0xA5, bed.ram_bytes);
    assert_int_equal(
        nw_store_mount(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes), NW_OK);
}

/* A small NAND, with ECC below if asked. */
void store_bed_open(const struct nw_store_config *config, uint32_t blocks, int ecc)
{
    struct nw_part part;
    struct nw_ecc_config ecc_config = {.parts = 2};

    memset(&bed, 0, sizeof bed);
    assert_true(nw_parts_get("TC58DVG02A1FT00", &part) >= 0);
    part.blocks = blocks;
    part.factory_bad = 0;
    struct nw_nand_config nand = {.part = &part, .seed = 9};
    assert_int_equal(nw_nand_open(&bed.nand, &nand), NW_OK);
    bed.chip = nw_nand_chip(bed.nand);
    if (ecc) {
        assert_int_equal(
            nw_ecc_open(&bed.ecc, bed.chip, &ecc_config, bed.ecc_ram, sizeof bed.ecc_ram), NW_OK);
        bed.chip = &bed.ecc.chip;
    }
    bed.config = *config;
    bed.ram_bytes = nw_store_ram_bytes(&bed.config, &bed.chip->geometry);
    assert_true(bed.ram_bytes > 0);
    bed.ram = calloc(1, bed.ram_bytes);
    assert_non_null(bed.ram);
    store_bed_format();
}

void store_bed_close(void)
{
    assert_int_equal(nw_nand_misuse(bed.nand)->error, 0);
    nw_nand_close(bed.nand);
    free(bed.ram);
}

int store_bed_create(const char *name, uint8_t type, uint16_t unit, uint32_t count)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = unit, .count = count};

    return nw_store_create(bed.store, name, &spec);
}
