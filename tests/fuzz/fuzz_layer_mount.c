/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: whatever lies on a chip, the tree layer mounts it or refuses it, and what mounts can
 * be used and mounted again. nw_identify() has an answer to it and writes nothing.
 *
 * Byte 0 odd: the layer made the chip. Byte 1 even: tags and data are changed as they are; odd: all
 * checksums are made right again. Then one byte an action of that layer up to a 0xFF, then five
 * bytes a change: place (2), value, place counts in, how many more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/ftl_tree.h"
#include "nandwich/identify.h"

#include "tree.h"

#define BLOCKS 20U
#define BLOCK_PAGES 16U
#define PAGE_BYTES 256U
#define SPARE_BYTES 18U
#define PAGES (BLOCKS * BLOCK_PAGES)
#define MOST_CALLS 200000UL /* of the chip in one call of a layer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct flash {
    uint8_t data[PAGES][PAGE_BYTES];
    uint8_t spare[PAGES][SPARE_BYTES];
    uint8_t bad[BLOCKS];
} flash;

static unsigned long calls, changes;
static uint64_t ram[8192];

#define must(holds) judge(holds, __LINE__)

static void judge(int holds, int line)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_layer_mount.c:%d does not hold\n", line);
        abort();
    }
}

static int flash_read(struct nw_chip_req *req)
{
    must(++calls < MOST_CALLS);
    if (req->length > 0) {
        memcpy(req->data, flash.data[req->page] + req->offset, req->length);
    }
    if (req->spare_length > 0) {
        memcpy(req->spare, flash.spare[req->page] + req->spare_offset, req->spare_length);
    }
    return NW_OK;
}

static int flash_program(struct nw_chip_req *req)
{
    must(++calls < MOST_CALLS);
    changes++;
    for (uint16_t i = 0; i < req->length; i++) {
        flash.data[req->page][req->offset + i] &= req->data[i];
    }
    for (uint16_t i = 0; i < req->spare_length; i++) {
        flash.spare[req->page][req->spare_offset + i] &= req->spare[i];
    }
    return NW_OK;
}

static int flash_erase(struct nw_chip_req *req)
{
    must(++calls < MOST_CALLS);
    changes++;
    memset(flash.data[req->block * BLOCK_PAGES], 0xFF, sizeof flash.data[0] * BLOCK_PAGES);
    memset(flash.spare[req->block * BLOCK_PAGES], 0xFF, sizeof flash.spare[0] * BLOCK_PAGES);
    return NW_OK;
}

static int flash_is_bad(struct nw_chip_req *req)
{
    must(++calls < MOST_CALLS);
    return flash.bad[req->block];
}

static int flash_mark_bad(struct nw_chip_req *req)
{
    changes++;
    flash.bad[req->block] = 1;
    return NW_OK;
}

static struct nw_chip *chip(void)
{
    static const struct nw_chip_ops ops = {.read = flash_read,
                                           .program = flash_program,
                                           .erase = flash_erase,
                                           .is_bad = flash_is_bad,
                                           .mark_bad = flash_mark_bad};
    static struct nw_chip made = {.ops = &ops,
                                  .geometry = {.blocks = BLOCKS,
                                               .block_pages = BLOCK_PAGES,
                                               .page_bytes = PAGE_BYTES,
                                               .spare_bytes = SPARE_BYTES,
                                               .program_bytes = PAGE_BYTES,
                                               .page_programs = 1,
                                               .erased = 0xFF,
                                               .flags = NW_CHIP_READ_ERASED | NW_CHIP_IN_ORDER}};

    calls = 0;
    return &made;
}

static struct nw_ftl_tree layer;

static struct nw_block *block(void)
{
    return &layer.block;
}

/* Formats or mounts. */
static int start(int format)
{
    static const struct nw_ftl_tree_config config = {.spare_blocks = 12};

    memset(ram, 0xA5, sizeof ram);
    must(nw_ftl_tree_ram_bytes(&config, &chip()->geometry) <= sizeof ram);
    return format ? nw_ftl_tree_format(&layer, chip(), &config, ram, sizeof ram)
                  : nw_ftl_tree_mount(&layer, chip(), &config, ram, sizeof ram);
}

static void act(uint8_t action)
{
    uint8_t bytes[PAGE_BYTES];
    struct nw_block_req req = {.block = block(), .data = bytes, .count = 1};

    memset(bytes, action, sizeof bytes);
    req.sector = (uint32_t)action * 7U % block()->sectors;
    calls = 0;
    switch (action >> 5) {
    case 0: (void)nw_block_trim(&req); break;
    case 1: (void)nw_block_sync(&req); break;
    case 2: (void)nw_block_read(&req); break;
    case 3:
        req.budget_us = 1000000;
        (void)nw_block_idle(&req);
        break;
    default: (void)nw_block_write(&req); break;
    }
}

/* Tags and the checksums in them made right: docs/ftl-tree.md tells where they lie. */
static void sign(void)
{
    for (uint32_t page = 0; page < PAGES; page++) {
        uint8_t *tag = flash.spare[page];

        if (tag[0] != 0xFFU || tag[SPARE_BYTES - 1U] != 0xFFU) {
            uint16_t covered = SPARE_BYTES - 2U;

            nw_put32(tag + 9, nw_crc32(NW_CRC32_START, flash.data[page], PAGE_BYTES));
            nw_put16(tag + covered, (uint16_t)nw_crc32(NW_CRC32_START, tag, covered));
        }
    }
}

static void change(const uint8_t *at)
{
    uint32_t place = nw_get16(at);

    for (uint32_t i = 0; i <= at[4] % 8U; i++, place++) {
        switch (at[3] % 4U) {
        case 0: flash.data[place / PAGE_BYTES % PAGES][place % PAGE_BYTES] = at[2]; break;
        case 1: /* of what mounts write: the start of the data */
            flash.data[place / 32U % PAGES][place % 32U] = at[2];
            break;
        case 2: flash.spare[place / SPARE_BYTES % PAGES][place % SPARE_BYTES] = at[2]; break;
        default: flash.bad[place % BLOCKS] = at[2] & 1U; break;
        }
    }
}

/* Whether a block that the map reaches is marked bad. The layer marks none before a root without it
 * counts, so it promises nothing of such a chip. */
static int is_marked_in_use(void)
{
    int found = 0;

    for (unsigned block = 0; block < BLOCKS; block++) {
        unsigned pages = layer.tree->floor.counts[block];

        found |= flash.bad[block] && pages > 0 && pages <= BLOCK_PAGES;
    }
    return found;
}

/* Reads as they are now, and whether they stay so over a mount. */
static void use(void)
{
    uint8_t bytes[PAGE_BYTES];
    int is_marked = is_marked_in_use();

    for (uint8_t action = 0; action < 60U; action++) {
        act((uint8_t)(action * 37U));
    }
    for (uint32_t sector = 0; sector < block()->sectors; sector++) {
        struct nw_block_req req = {.block = block(), .data = bytes, .count = 1, .sector = sector};

        calls = 0;
        (void)nw_block_read(&req);
    }
    int result = start(0);
    must(result == NW_OK || result == NW_ERR_FULL || is_marked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nw_identity identity;

    if (size < 2U) {
        return 0;
    }
    int made = data[0] % 2U != 0;
    int signs = data[1] & 1;
    memset(&flash, 0xFF, sizeof flash);
    memset(flash.bad, 0, sizeof flash.bad);
    data += 2;
    size -= 2;
    if (made) {
        must(start(1) == NW_OK);
        for (; size > 0 && *data != 0xFFU; data++, size--) {
            act(*data);
        }
        data += size > 0;
        size -= size > 0;
    }
    for (; size >= 5U; data += 5, size -= 5U) {
        change(data);
    }
    if (signs) {
        sign();
    }
    changes = 0;
    must(nw_identify(chip(), &identity) == NW_OK);
    must(identity.kind <= NW_KIND_TREE && changes == 0);
    int result = start(0);
    if (result == NW_OK) {
        use();
    } else {
        must(nw_error_text(result)[0] != '\0');
        must((result != NW_ERR_BLANK && result != NW_ERR_NOT_FOUND) || changes == 0);
    }
    return 0;
}
