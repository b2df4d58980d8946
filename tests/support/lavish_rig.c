/* SPDX-License-Identifier: Apache-2.0 */
#include "lavish_rig.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct lavish_shape lavish_shape_tiny = {
    .blocks = 17,
    .block_pages = 4,
    .page_bytes = 64,
    .in_order = 1,
    .lavish = {.sectors = 8, .degree = 2, .maps = 2, .lavish_blocks = 4},
};

static void fill(uint8_t *bytes, uint32_t length, uint32_t sector, uint32_t version)
{
    uint32_t at;

    for (at = 0; at < length; at++) {
        uint32_t word = version == 0 ? 0 : version * 2654435761U + sector * 40503U + at / 4U;

        bytes[at] = (uint8_t)(word >> (at % 4U * 8U));
    }
}

int lavish_rig_open_on(struct lavish_rig *rig, struct nw_chip *chip,
                       const struct nw_ftl_lavish_config *config)
{
    free(rig->ram);
    rig->chip = chip;
    rig->ram_bytes = nw_ftl_lavish_ram_bytes(config, chip);
    rig->ram = malloc(rig->ram_bytes > 0 ? rig->ram_bytes : 1);
    assert_non_null(rig->ram);
    memset(rig->version, 0, sizeof rig->version);
    assert_true(config->sectors <= LAVISH_RIG_SECTORS);
    int result = nw_ftl_lavish_open(&rig->lavish, chip, config, rig->ram, rig->ram_bytes);
    rig->opened = *nw_nand_stats(rig->nand);
    return result;
}

int lavish_rig_open(struct lavish_rig *rig, const struct lavish_shape *shape, uint32_t flags,
                    uint32_t seed)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .seed = seed, .flags = flags};

    nw_part_init(&part);
    memcpy(part.name, "SMALL", sizeof "SMALL");
    part.blocks = shape->blocks;
    part.block_pages = shape->block_pages;
    part.page_bytes = shape->page_bytes;
    part.program_bytes = shape->program_bytes != 0 ? shape->program_bytes : shape->page_bytes;
    part.page_programs = 1;
    part.spare_bytes = 16;
    part.in_order = shape->in_order;
    part.copy = shape->copy;
    part.endurance = shape->endurance;
    part.factory_bad = shape->factory_bad;
    memset(rig, 0, sizeof *rig);
    assert_int_equal(nw_nand_open(&rig->nand, &config), NW_OK);
    return lavish_rig_open_on(rig, nw_nand_chip(rig->nand), &shape->lavish);
}

void lavish_rig_close(struct lavish_rig *rig)
{
    char text[200];

    nw_misuse_text(nw_nand_misuse(rig->nand), text, sizeof text);
    if (nw_nand_misuse(rig->nand)->error != 0) {
        fail_msg("%s", text);
    }
    nw_nand_close(rig->nand);
    free(rig->ram);
}

static int payload(const struct lavish_rig *rig)
{
    return (rig->chip->geometry.flags & NW_CHIP_NO_PAYLOAD) == 0;
}

int lavish_rig_write(struct lavish_rig *rig, uint32_t sector, uint32_t count)
{
    uint32_t bytes = rig->lavish.block.sector_bytes;
    struct nw_block_req req = {.block = &rig->lavish.block, .sector = sector, .count = count};
    uint32_t i;
    int result;

    if (payload(rig)) {
        req.data = rig->buffer;
        assert_true(count * bytes <= sizeof rig->buffer);
        for (i = 0; i < count; i++) {
            fill(rig->buffer + i * bytes, bytes, sector + i, rig->writes + 1U + i);
        }
    }
    result = nw_block_write(&req);
    for (i = 0; i < req.done; i++) {
        rig->version[sector + i] = rig->writes + 1U + i;
    }
    rig->writes += count;
    assert_true(result < 0 || req.done == count);
    return result;
}

int lavish_rig_trim(struct lavish_rig *rig, uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {.block = &rig->lavish.block, .sector = sector, .count = count};
    int result = nw_block_trim(&req);
    uint32_t i;

    for (i = 0; i < req.done; i++) {
        rig->version[sector + i] = 0;
    }
    assert_true(result < 0 || req.done == count);
    return result;
}

int lavish_rig_read(struct lavish_rig *rig, uint32_t sector, uint32_t count)
{
    uint32_t bytes = rig->lavish.block.sector_bytes;
    struct nw_block_req req = {.block = &rig->lavish.block, .sector = sector, .count = count};
    uint8_t want[8192];
    uint32_t i;
    int result;

    req.data = payload(rig) ? rig->buffer : NULL;
    assert_true(bytes <= sizeof want && count * bytes <= sizeof rig->buffer);
    result = nw_block_read(&req);
    for (i = 0; req.data != NULL && i < req.done; i++) {
        fill(want, bytes, sector + i, rig->version[sector + i]);
        if (memcmp(want, rig->buffer + i * bytes, bytes) != 0) {
            fail_msg("sector %u is not its version %u", (unsigned)(sector + i),
                     (unsigned)rig->version[sector + i]);
        }
    }
    assert_true(result < 0 || req.done == count);
    return result;
}

void lavish_rig_read_all(struct lavish_rig *rig)
{
    uint32_t sector;

    for (sector = 0; sector < rig->lavish.block.sectors; sector++) {
        assert_int_equal(lavish_rig_read(rig, sector, 1), NW_OK);
    }
}

void lavish_rig_repeat(struct lavish_rig *rig, uint32_t sector, unsigned times)
{
    while (times-- > 0) {
        assert_int_equal(lavish_rig_write(rig, sector, 1), NW_OK);
    }
}

void lavish_rig_expect(const struct lavish_rig *rig, const char *counts)
{
    const struct nw_stats *stats = &rig->lavish.stats;
    char got[200];

    snprintf(got, sizeof got,
             "read %u program %u erase %u copy %u map %u/%u switch %u I %u II %u III %u",
             (unsigned)stats->reads, (unsigned)stats->programs, (unsigned)stats->erases,
             (unsigned)stats->copies, (unsigned)stats->map_reads, (unsigned)stats->map_programs,
             (unsigned)(stats->merges_switch - rig->lavish.merges_1),
             (unsigned)rig->lavish.merges_1, (unsigned)stats->merges_partial,
             (unsigned)stats->merges_full);
    assert_string_equal(got, counts);
}

void lavish_rig_finish(struct lavish_rig *rig)
{
    const struct nw_nand_counts *chip = nw_nand_stats(rig->nand);
    const struct nw_nand_counts *opened = &rig->opened;
    const struct nw_stats *stats = &rig->lavish.stats;

    assert_int_equal(chip->reads + chip->copies - opened->reads, stats->reads);
    assert_int_equal(chip->programs + chip->copies - opened->programs, stats->programs);
    assert_int_equal(chip->erases - opened->erases, stats->erases);
    assert_int_equal(chip->bytes_read - opened->bytes_read, stats->bytes_read);
    assert_int_equal(chip->bytes_programmed - opened->bytes_programmed, stats->bytes_programmed);
    lavish_rig_read_all(rig);
    lavish_rig_close(rig);
}
