/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: serial NOR and DataFlash have a spare area behind nandwich/oob.h, at a price that is
 * counted here, and a power cut at any operation of the chip leaves what chip.h allows: the tree
 * layer lives on it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "memory_chip.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/ftl_tree.h"
#include "nandwich/oob.h"

static struct nw_geometry nor_shape(uint16_t page_bytes, uint16_t block_pages, uint32_t blocks)
{
    return (struct nw_geometry){.blocks = blocks,
                                .block_pages = block_pages,
                                .page_bytes = page_bytes,
                                .program_bytes = 1,
                                .page_programs = NW_PROGRAMS_UNLIMITED,
                                .erased = 0xFF,
                                .flags = NW_CHIP_READ_ERASED | NW_CHIP_REWRITE,
                                .buffers = 2,
                                .heal_life = 9,
                                .endurance = 100000,
                                .read_us = 5,
                                .program_us = 400,
                                .erase_us = 45000};
}

static struct memory_chip memory;
static struct nw_chip_ops no_marks; /* of a real NOR: no mark_bad */

static void memory_open(const struct nw_geometry *shape)
{
    memory_chip_open(&memory, shape, 1, 1);
    no_marks = *memory.chip.ops;
    no_marks.mark_bad = NULL;
}

static void shapes_are_those_of_the_header(void **state)
{
    static const struct {
        uint16_t chip_page;
        uint16_t block_pages;
        uint16_t page_bytes;
        uint16_t join;
        uint16_t pages; /* expected */
    } rows[] = {
        {256, 16, 512, 1, 7},      {256, 16, 512, 2, 15},    {256, 16, 512, 4, 30},
        {256, 16, 512, 8, 61},     {256, 16, 512, 16, 123},  {256, 16, 512, 17, 131},
        {256, 16, 512, 32, 247},   {256, 16, 4096, 2, 1},    {256, 16, 4096, 16, 15},
        {256, 16, 4096, 17, 16},   {256, 16, 4096, 32, 31},  {256, 256, 512, 1, 123},
        {256, 1024, 4096, 1, 63},  {256, 16, 256, 2, 29},    {512, 512, 4096, 1, 63},
        {256, 16, 3840, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nw_geometry shape = nor_shape(rows[i].chip_page, rows[i].block_pages, 256);
        struct nw_chip below = {.geometry = shape};
        struct nw_oob oob;
        const struct nw_geometry *above = &oob.chip.geometry;
        uint32_t span = rows[i].page_bytes / rows[i].chip_page;

        assert_int_equal(nw_oob_open(&oob, &below, rows[i].page_bytes, rows[i].join, NULL), NW_OK);
        assert_int_equal(above->block_pages, rows[i].pages);
        assert_int_equal(above->blocks, 256 / rows[i].join);
        assert_int_equal(above->page_bytes, rows[i].page_bytes);
        assert_int_equal(above->spare_bytes, NW_OOB_BYTES);
        assert_int_equal(above->program_bytes, 1);
        assert_int_equal(above->page_programs, NW_PROGRAMS_UNLIMITED);
        assert_int_equal(above->flags, NW_CHIP_READ_ERASED);
        assert_int_equal(above->buffers, 0);
        assert_int_equal(above->heal_life, 0);
        assert_int_equal(above->endurance, 100000);
        assert_int_equal(above->read_us, 5 * (span + 1));
        assert_int_equal(above->program_us, 400 * (span + 1));
        assert_int_equal(above->erase_us, 45000 * rows[i].join);
        assert_null(oob.chip.ops->copy);
        assert_null(oob.chip.ops->buffer_program);
        assert_null(oob.chip.ops->heal);
        /* Nothing overlaps, and one page more would. */
        uint32_t per = rows[i].chip_page / NW_OOB_BYTES;
        uint32_t chip_pages = (uint32_t)rows[i].join * rows[i].block_pages;
        assert_true(rows[i].pages * span <= oob.spare_page);
        assert_true((rows[i].pages + per - 1U) / per <= chip_pages - oob.spare_page);
        assert_true((rows[i].pages + 1U) * span + (rows[i].pages + per) / per > chip_pages);
    }
}

static void chips_that_cannot_are_refused(void **state)
{
    struct nw_geometry shape = nor_shape(256, 16, 256);
    struct nw_chip below = {.geometry = shape};
    struct nw_oob oob;

    (void)state;
    assert_int_equal(nw_oob_open(&oob, &below, 512, 256, NULL), NW_OK);
    assert_int_equal(nw_oob_open(&oob, &below, 512, 0, NULL), NW_ERR_CONFIG);
    assert_int_equal(nw_oob_open(&oob, &below, 512, 257, NULL), NW_ERR_CONFIG);
    assert_int_equal(nw_oob_open(&oob, &below, 0, 16, NULL), NW_ERR_CONFIG);
    assert_int_equal(nw_oob_open(&oob, &below, 500, 16, NULL), NW_ERR_CONFIG);
    assert_int_equal(nw_oob_open(&oob, &below, 4096, 1, NULL), NW_ERR_CONFIG); /* it is full */
    below.geometry.program_bytes = 2;
    assert_int_equal(nw_oob_open(&oob, &below, 512, 16, NULL), NW_OK);
    below.geometry.program_bytes = 4;
    assert_int_equal(nw_oob_open(&oob, &below, 512, 16, NULL), NW_ERR_CONFIG);
    below.geometry = shape;
    below.geometry.page_programs = 15;
    assert_int_equal(nw_oob_open(&oob, &below, 512, 16, NULL), NW_ERR_CONFIG);
    below.geometry = shape;
    below.geometry.flags |= NW_CHIP_IN_ORDER;
    assert_int_equal(nw_oob_open(&oob, &below, 512, 16, NULL), NW_ERR_CONFIG);
    below.geometry = shape;
    below.geometry.erased = 7;
    assert_int_equal(nw_oob_open(&oob, &below, 512, 16, NULL), NW_ERR_CONFIG);
    below.geometry = nor_shape(16, 256, 256);
    assert_int_equal(nw_oob_open(&oob, &below, 512, 16, NULL), NW_ERR_CONFIG);
    below.geometry = nor_shape(256, 4096, 32);
    assert_int_equal(nw_oob_open(&oob, &below, 512, 16, NULL), NW_ERR_CONFIG);
}

static void parts_that_cannot_are_refused(void **state)
{
    static const struct {
        const char *name;
        uint16_t page_bytes;
        uint8_t whole; /* as DataFlash */
    } rows[] = {
        {"K9F1G08U0A", 4096, 0}, {"K9F1G08U0A", 2032, 1}, {"W25N01GV", 4096, 0},
        {"AT45DB041B", 528, 0},  {"AT45DB041B", 264, 1},  {"AT45DB041B", 514, 1},
        {"AT45DB041B", 768, 1},  {"W25Q128JV", 512, 1},
    };
    static uint8_t tail[2048];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nw_part part;
        struct nw_oob oob;

        assert_int_equal(nw_parts_get(rows[i].name, &part), NW_OK);
        struct nw_nand_config config = {.part = &part, .blocks = 32};
        struct nw_nand *nand;
        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        assert_int_equal(nw_oob_open(&oob, nw_nand_chip(nand), rows[i].page_bytes, 16,
                                     rows[i].whole ? tail : NULL),
                         NW_ERR_CONFIG);
        nw_nand_close(nand);
    }
}

static void pattern(uint8_t *to, uint32_t length, uint32_t seed)
{
    for (uint32_t i = 0; i < length; i++) {
        to[i] = (uint8_t)((i + 1U) * 7U + seed * 31U + (i >> 8));
    }
}

/* Each byte has a place of its own, whatever piece it is read or programmed in, and requests come
 * back as they went in. */
static void bytes_have_places_of_their_own(void **state)
{
    struct nw_geometry shape = nor_shape(256, 16, 8);
    struct nw_oob oob;
    uint8_t data[512];
    uint8_t spare[NW_OOB_BYTES];
    uint8_t read[512 + NW_OOB_BYTES];

    (void)state;
    memory_open(&shape);
    assert_int_equal(nw_oob_open(&oob, &memory.chip, 512, 4, NULL), NW_OK);
    for (uint32_t page = 0; page < 2U * 30U; page++) {
        struct nw_chip_req req = {.chip = &oob.chip, .page = page, .length = 512,
                                  .spare_length = sizeof spare, .data = data, .spare = spare};
        struct nw_chip_req before = req;

        pattern(data, sizeof data, page);
        pattern(spare, sizeof spare, page + 100U);
        assert_int_equal(nw_chip_program(&req), NW_OK);
        assert_memory_equal(&req, &before, sizeof req);
        /* the tag came last */
        assert_int_equal(memory.last.length, sizeof spare);
        assert_int_equal(memory.last.page, page / 30U * 64U + 61U + page % 30U / 14U);
        assert_int_equal(memory.last.offset, page % 30U % 14U * NW_OOB_BYTES);
        assert_int_equal(memory.last.spare_length, 0);
    }
    assert_int_equal(memory.calls[MEMORY_PROGRAM], 2U * 30U * 3U);
    memset(memory.calls, 0, sizeof memory.calls);
    for (uint32_t page = 0; page < 2U * 30U; page++) {
        struct nw_chip_req req = {.chip = &oob.chip, .page = page, .offset = 100, .length = 300,
                                  .spare_offset = 3, .spare_length = 15, .data = read,
                                  .spare = read + 512};

        pattern(data, sizeof data, page);
        pattern(spare, sizeof spare, page + 100U);
        assert_int_equal(nw_chip_read(&req), NW_OK);
        assert_memory_equal(read, data + 100, 300);
        assert_memory_equal(read + 512, spare + 3, 15);
    }
    assert_int_equal(memory.calls[MEMORY_READ], 2U * 30U * 3U);
    assert_int_equal(memory.calls[MEMORY_PROGRAM], 0);
}

/* DataFlash: spare bytes share the last page of the chip, which is programmed once, whole. */
static void spare_shares_the_last_page_of_dataflash(void **state)
{
    static const struct {
        uint16_t chip_page;
        uint16_t page_bytes;
        uint16_t spare; /* expected */
        uint16_t span;
    } rows[] = {{264, 512, 16, 2}, {264, 513, 15, 2}, {264, 1024, 18, 4}, {528, 512, 16, 1},
                {1056, 1024, 18, 1}};
    static uint8_t tail[1056];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nw_geometry shape = nor_shape(rows[i].chip_page, 8, 3);
        struct nw_oob oob;
        uint8_t data[1024];
        uint8_t read[1024 + NW_OOB_BYTES];
        uint8_t spare[NW_OOB_BYTES];

        shape.program_bytes = shape.page_bytes;
        shape.page_programs = 1;
        memory_open(&shape);
        assert_int_equal(nw_oob_open(&oob, &memory.chip, rows[i].page_bytes, 3, tail), NW_OK);
        assert_int_equal(oob.chip.geometry.blocks, 1);
        assert_int_equal(oob.chip.geometry.block_pages, 24 / rows[i].span);
        assert_int_equal(oob.chip.geometry.spare_bytes, rows[i].spare);
        assert_int_equal(oob.chip.geometry.program_bytes, rows[i].page_bytes);
        assert_int_equal(oob.chip.geometry.page_programs, 1);
        assert_int_equal(oob.chip.geometry.program_us, 400 * rows[i].span);
        struct nw_chip_req req = {.chip = &oob.chip, .length = rows[i].page_bytes, .data = data,
                                  .spare_length = rows[i].spare, .spare = spare};
        for (req.page = 0; req.page < 24U / rows[i].span; req.page++) {
            struct nw_chip_req before = req;

            pattern(data, sizeof data, req.page);
            pattern(spare, sizeof spare, req.page + 100U);
            assert_int_equal(nw_chip_program(&req), NW_OK);
            assert_memory_equal(&req, &before, sizeof req);
            assert_int_equal(memory.last.page, (req.page + 1U) * rows[i].span - 1U);
            assert_int_equal(memory.last.length, rows[i].chip_page);
            assert_int_equal(memory.last.spare_length, 0);
        }
        assert_int_equal(memory.calls[MEMORY_PROGRAM], 24);
        req.data = read;
        req.spare = read + 1024;
        for (req.page = 0; req.page < 24U / rows[i].span; req.page++) {
            pattern(data, sizeof data, req.page);
            pattern(spare, sizeof spare, req.page + 100U);
            assert_int_equal(nw_chip_read(&req), NW_OK);
            assert_memory_equal(read, data, rows[i].page_bytes);
            assert_memory_equal(read + 1024, spare, rows[i].spare);
        }
        req.page = 0; /* without data: one program */
        req.length = 0;
        assert_int_equal(nw_chip_program(&req), NW_OK);
        assert_int_equal(memory.calls[MEMORY_PROGRAM], 25);
        req.spare_length = 0;
        assert_int_equal(nw_chip_program(&req), NW_OK);
        assert_int_equal(memory.calls[MEMORY_PROGRAM], 25);
    }
}

/* Operations of the chip that a request takes, as the header has them. */
static void costs_are_those_of_the_header(void **state)
{
    static const struct {
        uint16_t offset;
        uint16_t length;
        uint16_t spare_length;
        unsigned operations;
    } rows[] = {{0, 4096, 18, 17}, {0, 4096, 0, 16}, {0, 0, 18, 1}, {0, 0, 0, 0},
                {0, 256, 0, 1},    {255, 2, 0, 2},   {10, 512, 5, 4}, {4095, 1, 18, 2}};
    uint8_t data[4096 + NW_OOB_BYTES] = {0};
    struct nw_oob oob;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nw_nand_config config = {.blocks = 34};
        struct nw_part part;
        struct nw_nand *nand;

        assert_int_equal(nw_parts_get("W25Q128JV", &part), NW_OK);
        config.part = &part;
        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        assert_int_equal(nw_oob_open(&oob, nw_nand_chip(nand), 4096, 17, NULL), NW_OK);
        struct nw_chip_req req = {.chip = &oob.chip, .page = 17, .offset = rows[i].offset,
                                  .length = rows[i].length, .spare_length = rows[i].spare_length,
                                  .data = data, .spare = data + 4096};
        assert_int_equal(nw_chip_program(&req), NW_OK);
        assert_int_equal(nw_nand_stats(nand)->programs, rows[i].operations);
        assert_int_equal(nw_chip_read(&req), NW_OK);
        assert_int_equal(nw_nand_stats(nand)->reads, rows[i].operations);
        req.block = 1;
        assert_int_equal(nw_chip_erase(&req), NW_OK);
        assert_int_equal(nw_nand_stats(nand)->erases, 17);
        assert_int_equal(nw_chip_is_bad(&req), 0);
        assert_int_equal(nw_nand_stats(nand)->reads, rows[i].operations);
        assert_int_equal(nw_nand_misuse(nand)->error, 0);
        nw_nand_close(nand);
    }
}

/* The last block of the chip is erased first, and an error ends it at once. */
static void erase_begins_with_the_last_block(void **state)
{
    struct nw_geometry shape = nor_shape(256, 16, 8);
    struct nw_oob oob;
    struct nw_chip_req req = {.chip = &oob.chip, .block = 1};

    (void)state;
    memory_open(&shape);
    assert_int_equal(nw_oob_open(&oob, &memory.chip, 512, 4, NULL), NW_OK);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    assert_int_equal(memory.calls[MEMORY_ERASE], 4);
    assert_int_equal(memory.last.block, 4);
    memory.answer = NW_ERR_ERASE;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    assert_int_equal(memory.calls[MEMORY_ERASE], 5);
    assert_int_equal(memory.last.block, 7);
    assert_int_equal(req.block, 1);
}

/* An error of a piece is the answer at once, and no spare byte is programmed behind it. */
static void a_piece_that_fails_ends_the_request(void **state)
{
    struct nw_geometry shape = nor_shape(256, 16, 8);
    uint8_t data[512 + NW_OOB_BYTES] = {0};
    struct nw_oob oob;
    struct nw_chip_req req = {.chip = &oob.chip, .length = 512, .spare_length = NW_OOB_BYTES,
                              .data = data, .spare = data + 512};

    (void)state;
    memory_open(&shape);
    assert_int_equal(nw_oob_open(&oob, &memory.chip, 512, 4, NULL), NW_OK);
    memory.answer = NW_ERR_PROGRAM;
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
    assert_int_equal(memory.calls[MEMORY_PROGRAM], 1);
    memory.answer = 1; /* a bit corrected in each piece */
    assert_int_equal(nw_chip_read(&req), 3);
}

/* Where the chip has marks these are used; else the filter has its own, in a block that no other
 * request of it reaches. */
static void blocks_are_marked(void **state)
{
    struct nw_geometry shape = nor_shape(256, 16, 8);
    struct nw_oob oob;
    struct nw_chip_req req = {.chip = &oob.chip, .block = 1};

    (void)state;
    memory_open(&shape);
    assert_int_equal(nw_oob_open(&oob, &memory.chip, 512, 4, NULL), NW_OK);
    assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    assert_int_equal(memory.calls[MEMORY_MARK_BAD], 4);
    assert_int_equal(memory.calls[MEMORY_READ] + memory.calls[MEMORY_PROGRAM], 0);
    memory.answer = 1;
    assert_int_equal(nw_chip_is_bad(&req), 1);
    assert_int_equal(memory.calls[MEMORY_IS_BAD], 1);

    memory_open(&shape);
    memory.chip.ops = &no_marks;
    assert_int_equal(nw_oob_open(&oob, &memory.chip, 512, 4, NULL), NW_OK);
    for (req.block = 0; req.block < 2U; req.block++) {
        assert_int_equal(nw_chip_is_bad(&req), 0);
    }
    req.block = 1;
    assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    assert_int_equal(memory.calls[MEMORY_ERASE], 1);
    assert_int_equal(memory.last.page, 127);
    assert_int_equal(memory.last.offset, 18);
    assert_int_equal(nw_chip_is_bad(&req), 1);
    req.block = 0;
    assert_int_equal(nw_chip_is_bad(&req), 0);
    memset(memory.data, 0, sizeof memory.data); /* an erase that was cut may leave this */
    assert_int_equal(nw_chip_is_bad(&req), 0);
    memory.answer = NW_ERR_ERASE; /* no mark, and no complaint */
    assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    assert_int_equal(memory.calls[MEMORY_PROGRAM], 1);
    memory.answer = NW_ERR_IO;
    assert_int_equal(nw_chip_mark_bad(&req), NW_ERR_IO);
    assert_int_equal(nw_chip_is_bad(&req), NW_ERR_IO);
}

/* No tag of a layer (core/ftl/tag.h: a check in the last two bytes) is a mark. */
static void no_tag_is_a_mark(void **state)
{
    struct nw_geometry shape = nor_shape(256, 16, 8);
    struct nw_oob oob;
    struct nw_chip_req req = {.chip = &oob.chip, .block = 1};
    uint8_t *mark = memory.data + 127U * 256U + 18U;

    (void)state;
    memory_open(&shape);
    memory.chip.ops = &no_marks;
    assert_int_equal(nw_oob_open(&oob, &memory.chip, 512, 4, NULL), NW_OK);
    assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    assert_int_equal(nw_chip_is_bad(&req), 1);
    for (uint16_t bytes = NW_OOB_LEAST; bytes <= NW_OOB_BYTES; bytes++) {
        uint16_t check = (uint16_t)nw_crc32(NW_CRC32_START, mark, bytes - 2U);

        assert_int_not_equal(nw_get16(mark + bytes - 2U), check);
    }
    mark[3] ^= 0x10U;
    assert_int_equal(nw_chip_is_bad(&req), 0);
}

/* The tree layer on such a chip. */
struct bed {
    struct nw_nand *nand;
    struct nw_oob oob;
    uint8_t tail[1056];
    struct nw_ftl_tree ftl;
    struct nw_ftl_tree_config config;
    void *ram;
    size_t ram_bytes;
    uint32_t sectors;
    uint32_t bytes;    /* of a sector */
    uint32_t *written; /* number of the last write of each sector; 0: none */
    uint32_t coming;   /* the write under way when power went; 0: none */
    uint32_t coming_at;
    uint8_t *data;
    uint8_t *wanted;
};

static void bed_open(struct bed *bed, const char *name, uint32_t blocks, uint16_t page_bytes,
                     uint16_t join, uint32_t seed)
{
    struct nw_nand_config config = {.blocks = blocks, .seed = seed,
                                    .flags = NW_NAND_UNSTABLE | NW_NAND_UNERASED};
    struct nw_part part;

    memset(bed, 0, sizeof *bed);
    assert_int_equal(nw_parts_get(name, &part), NW_OK);
    config.part = &part;
    assert_int_equal(nw_nand_open(&bed->nand, &config), NW_OK);
    assert_int_equal(nw_oob_open(&bed->oob, nw_nand_chip(bed->nand), page_bytes, join,
                                 part.program_bytes > 1U ? bed->tail : NULL),
                     NW_OK);
    bed->ram_bytes = nw_ftl_tree_ram_bytes(&bed->config, &bed->oob.chip.geometry);
    assert_int_not_equal(bed->ram_bytes, 0);
    bed->ram = malloc(bed->ram_bytes);
    assert_int_equal(nw_ftl_tree_format(&bed->ftl, &bed->oob.chip, &bed->config, bed->ram,
                                        bed->ram_bytes), NW_OK);
    bed->sectors = bed->ftl.block.sectors;
    bed->bytes = page_bytes;
    bed->written = calloc(bed->sectors, sizeof *bed->written);
    bed->data = malloc(2U * (size_t)page_bytes);
    bed->wanted = bed->data + page_bytes;
}

static void bed_close(struct bed *bed)
{
    assert_int_equal(nw_nand_misuse(bed->nand)->error, 0);
    nw_nand_close(bed->nand);
    free(bed->ram);
    free(bed->written);
    free(bed->data);
}

static int bed_mount(struct bed *bed)
{
    memset(bed->ram, 0xA5, bed->ram_bytes);
    return nw_ftl_tree_mount(&bed->ftl, &bed->oob.chip, &bed->config, bed->ram, bed->ram_bytes);
}

static void content(const struct bed *bed, uint8_t *to, uint32_t sector, uint32_t number)
{
    memset(to, 0, bed->bytes);
    if (number != 0) {
        pattern(to, bed->bytes, number);
        nw_put32(to, sector);
        nw_put32(to + bed->bytes - 4U, number);
    }
}

static int bed_write(struct bed *bed, uint32_t sector, uint32_t number)
{
    struct nw_block_req req = {.block = &bed->ftl.block, .sector = sector, .count = 1,
                               .data = bed->data};
    int result;

    content(bed, bed->data, sector, number);
    result = nw_block_write(&req);
    if (result == NW_OK) {
        bed->written[sector] = number;
    } else {
        bed->coming = number;
        bed->coming_at = sector;
    }
    return result;
}

/* All that was acknowledged is there; what was under way is old or new, and stays so. */
static void bed_check(struct bed *bed)
{
    for (uint32_t sector = 0; sector < bed->sectors; sector++) {
        struct nw_block_req req = {.block = &bed->ftl.block, .sector = sector, .count = 1,
                                   .data = bed->data};

        assert_int_equal(nw_block_read(&req), NW_OK);
        content(bed, bed->wanted, sector, bed->written[sector]);
        if (bed->coming != 0 && bed->coming_at == sector &&
            memcmp(bed->data, bed->wanted, bed->bytes) != 0) {
            bed->written[sector] = bed->coming;
            content(bed, bed->wanted, sector, bed->coming);
        }
        assert_memory_equal(bed->data, bed->wanted, bed->bytes);
    }
    bed->coming = 0;
}

/* A device of 16 MiB, or a DataFlash of 528 KB: filled, written at random, mounted again. */
static void tree_runs_on_whole_parts(void **state)
{
    static const struct {
        const char *name;
        uint16_t page_bytes;
        uint16_t join;
    } shapes[] = {{"W25Q128JV", 512, 16},  {"W25Q128JV", 512, 4}, {"W25Q128JV", 4096, 17},
                  {"W25Q128JV", 4096, 32}, {"AT45DB041B", 512, 4}, {"AT45DB041B", 512, 8}};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct bed bed;
        uint32_t number = 0;

        bed_open(&bed, shapes[i].name, 0, shapes[i].page_bytes, shapes[i].join, 1);
        for (uint32_t sector = 0; sector < bed.sectors; sector++) {
            assert_int_equal(bed_write(&bed, sector, ++number), NW_OK);
        }
        for (uint32_t j = 0; j < bed.sectors; j++) {
            assert_int_equal(bed_write(&bed, j * 7919U % bed.sectors, ++number), NW_OK);
        }
        bed_check(&bed);
        assert_int_equal(bed_mount(&bed), NW_OK);
        bed_check(&bed);
        bed_close(&bed);
    }
}

/* Cut at the operation of the chip that comes `after` others, and mount, cut there too. */
static void cut(struct bed *bed, uint32_t after, uint32_t round, uint32_t *number)
{
    struct nw_cut cut = {.after = after, .phase = (uint8_t)(round % 3U),
                         .data = (uint8_t)(round / 3U % 2U != 0 ? NW_TORN_ANY : 1U + round % 6U)};
    int result;

    nw_nand_cut(bed->nand, &cut);
    do {
        result = bed_write(bed, (*number * 13U) % bed->sectors, *number + 1U);
        *number += 1U;
    } while (result == NW_OK);
    assert_int_equal(result, NW_ERR_POWER);
    nw_nand_power_up(bed->nand);
    if (round % 4U == 0) {
        cut.after = round % 200U;
        nw_nand_cut(bed->nand, &cut);
        result = bed_mount(bed);
        if (result < 0) {
            assert_int_equal(result, NW_ERR_POWER);
        }
        nw_nand_cut(bed->nand, NULL);
        nw_nand_power_up(bed->nand);
    }
    assert_int_equal(bed_mount(bed), NW_OK);
    bed_check(bed);
}

/* Some hundred writes on small devices, with cuts before, in and behind operations of each kind:
 * data, spare, and each erase of the blocks that are joined. */
static void cuts_cost_nothing_acknowledged(void **state)
{
    static const struct {
        const char *name;
        uint16_t page_bytes;
        uint16_t join;
    } shapes[] = {{"W25Q128JV", 256, 2},
                  {"W25Q128JV", 512, 4},
                  {"W25Q128JV", 1024, 8},
                  {"AT45DB041B", 512, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct bed bed;
        uint32_t number = 0;

        bed_open(&bed, shapes[i].name, 24U * shapes[i].join, shapes[i].page_bytes, shapes[i].join,
                 7);
        for (uint32_t round = 0; round < 400U; round++) {
            cut(&bed, round * 5U % 131U, round, &number);
        }
        bed_close(&bed);
    }
}

/* An erase that is cut, at each of its steps: each page of the block above is blank, is as it was
 * or cannot be told, and from its second step on all are blank. */
static void half_erased_blocks_are_blank_soon(void **state)
{
    (void)state;
    for (uint32_t step = 0; step < 4U; step++) {
        struct nw_nand_config config = {.blocks = 8, .flags = NW_NAND_UNSTABLE};
        struct nw_cut cut = {.after = step, .phase = NW_CUT_INSIDE};
        uint8_t data[512 + NW_OOB_BYTES];
        struct nw_part part;
        struct nw_nand *nand;
        struct nw_oob oob;
        struct nw_chip_req req = {.chip = &oob.chip, .length = 512, .spare_length = NW_OOB_BYTES,
                                  .data = data, .spare = data + 512};

        assert_int_equal(nw_parts_get("W25Q128JV", &part), NW_OK);
        config.part = &part;
        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        assert_int_equal(nw_oob_open(&oob, nw_nand_chip(nand), 512, 4, NULL), NW_OK);
        for (req.page = 0; req.page < 30U; req.page++) {
            memset(data, 0x11, sizeof data);
            assert_int_equal(nw_chip_program(&req), NW_OK);
        }
        nw_nand_cut(nand, &cut);
        assert_int_equal(nw_chip_erase(&req), NW_ERR_POWER);
        nw_nand_power_up(nand);
        for (req.page = 0; req.page < 30U; req.page++) {
            uint32_t blank = 0;

            assert_int_equal(nw_chip_read(&req), NW_OK);
            for (uint32_t i = 512; i < sizeof data; i++) {
                blank += data[i] == 0xFF;
            }
            assert_true(step == 0 || blank == NW_OOB_BYTES);
        }
        nw_nand_close(nand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_those_of_the_header),
        cmocka_unit_test(chips_that_cannot_are_refused),
        cmocka_unit_test(parts_that_cannot_are_refused),
        cmocka_unit_test(bytes_have_places_of_their_own),
        cmocka_unit_test(spare_shares_the_last_page_of_dataflash),
        cmocka_unit_test(costs_are_those_of_the_header),
        cmocka_unit_test(erase_begins_with_the_last_block),
        cmocka_unit_test(a_piece_that_fails_ends_the_request),
        cmocka_unit_test(blocks_are_marked),
        cmocka_unit_test(no_tag_is_a_mark),
        cmocka_unit_test(half_erased_blocks_are_blank_soon),
        cmocka_unit_test(tree_runs_on_whole_parts),
        cmocka_unit_test(cuts_cost_nothing_acknowledged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
