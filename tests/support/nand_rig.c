/* SPDX-License-Identifier: Apache-2.0 */
#include "nand_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void rig_use(struct nand_rig *rig, struct nw_nand *nand)
{
    rig->nand = nand;
    rig->req.chip = nw_nand_chip(nand);
    rig->req.data = rig->data;
    rig->req.spare = rig->spare;
}

void rig_fill(struct nand_rig *rig, uint8_t data, uint8_t spare)
{
    memset(rig->data, data, sizeof rig->data);
    memset(rig->spare, spare, sizeof rig->spare);
}

void rig_open_config(struct nand_rig *rig, const struct nw_nand_config *config)
{
    struct nw_nand *nand;

    memset(rig, 0, sizeof *rig);
    assert_int_equal(nw_nand_open(&nand, config), NW_OK);
    rig_use(rig, nand);
    rig_fill(rig, 0xA5, 0x5A);
}

void rig_open(struct nand_rig *rig, const char *name, uint32_t flags)
{
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 7, .flags = flags };

    config.blocks = RIG_BLOCKS;
    assert_int_equal(nw_parts_get(name, &part), NW_OK);
    rig_open_config(rig, &config);
}

int rig_program(struct nand_rig *rig, uint32_t page, uint16_t offset, uint16_t length,
                uint16_t spare_offset, uint16_t spare_length)
{
    rig->req.page = page;
    rig->req.offset = offset;
    rig->req.length = length;
    rig->req.spare_offset = spare_offset;
    rig->req.spare_length = spare_length;
    return nw_chip_program(&rig->req);
}

int rig_read(struct nand_rig *rig, uint32_t page, uint16_t length, uint16_t spare_length)
{
    rig->req.page = page;
    rig->req.offset = 0;
    rig->req.length = length;
    rig->req.spare_offset = 0;
    rig->req.spare_length = spare_length;
    return nw_chip_read(&rig->req);
}

int rig_erase(struct nand_rig *rig, uint32_t block)
{
    rig->req.block = block;
    return nw_chip_erase(&rig->req);
}

void rig_expect_misuse(struct nand_rig *rig, int error, uint8_t verb, uint32_t page)
{
    const struct nw_misuse *misuse = nw_nand_misuse(rig->nand);

    assert_int_equal(misuse->error, error);
    assert_int_equal(misuse->verb, verb);
    assert_int_equal(misuse->page, page);
    assert_non_null(misuse->why);
    nw_nand_forgive(rig->nand);
}

void rig_close_clean(struct nand_rig *rig)
{
    char text[200];

    assert_true(nw_misuse_text(nw_nand_misuse(rig->nand), text, sizeof text) > 0);
    assert_string_equal(text, "no misuse");
    nw_nand_close(rig->nand);
    rig->nand = NULL;
}
