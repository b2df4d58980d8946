/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tree has on a chip, as a state: tags are read as docs/ftl-tree.md tells; versions count by
 * their order. Of data it counts which of the values that
 * its sector may have it is, and whether it fits its checksum.
 */
#include <string.h>

#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "state_block.h"

#define LONGEST_PAGE 8192U
#define TAG 15U
#define TAG_LONG 18U
#define WORD_SECTOR 0x07FFFFFFUL

struct page {
    const struct sim_state_tags *tags;
    const struct nw_geometry *geometry;
    struct sim_state *state;
    uint8_t data[LONGEST_PAGE];
    uint8_t spare[1024];
};

enum { TAG_BLANK, TAG_BAD, TAG_GOOD };

static uint64_t get40(const uint8_t *from)
{
    return nw_get32(from) | ((uint64_t)from[4] << 32);
}

static int is_all(const uint8_t *bytes, uint32_t count, uint8_t value)
{
    uint32_t same = 0;

    while (same < count && bytes[same] == value) {
        same++;
    }
    return same == count;
}

static int tag_state(const struct page *page)
{
    uint8_t bytes = page->geometry->spare_bytes >= TAG_LONG ? TAG_LONG : TAG;
    uint16_t covered = (uint16_t)(bytes - 2U);

    if (is_all(page->spare, bytes, page->geometry->erased)) {
        return TAG_BLANK;
    }
    return nw_get16(page->spare + covered) ==
                   (uint16_t)nw_crc32(NW_CRC32_START, page->spare, covered)
               ? TAG_GOOD
               : TAG_BAD;
}

/* Whose data fits its checksum. */
static void put_data(const struct page *page, uint32_t word)
{
    uint32_t value = page->tags->value(page->tags->context, word & WORD_SECTOR, page->data);

    sim_state_put(page->state, value);
    if (value == SIM_STATE_OTHER) {
        sim_state_put_bytes(page->state, page->data, page->geometry->page_bytes);
    }
}

static void put_page(struct page *page, uint32_t at)
{
    nw_nand_peek(page->tags->nand, at, page->data, page->spare);
    int tag = tag_state(page);
    uint8_t programs = (uint8_t)nw_nand_page_programs(page->tags->nand, at);

    sim_state_put(page->state, (uint64_t)tag << 8 | programs);
    if (tag != TAG_GOOD) {
        return;
    }
    uint32_t word = nw_get32(page->spare);
    uint32_t crc = nw_get32(page->spare + 9);
    sim_state_put(page->state, word);
    sim_state_put_growing(page->state, get40(page->spare + 4));
    if (crc == nw_crc32(NW_CRC32_START, page->data, page->geometry->page_bytes)) {
        put_data(page, word);
    } else {
        sim_state_put(page->state, SIM_STATE_OTHER);
    }
}

void sim_state_put_tags(struct sim_state *state, const struct sim_state_tags *tags)
{
    const struct nw_geometry *geometry = &nw_nand_chip(tags->nand)->geometry;
    static _Thread_local struct page page;

    page.tags = tags;
    page.geometry = geometry;
    page.state = state;
    for (uint32_t block = 0; block < geometry->blocks; block++) {
        sim_state_put(state, (uint64_t)nw_nand_block_bad(tags->nand, block) << 1 |
                                 (uint64_t)nw_nand_block_failed(tags->nand, block));
        for (uint32_t i = 0; i < geometry->block_pages; i++) {
            put_page(&page, block * geometry->block_pages + i);
        }
    }
}
