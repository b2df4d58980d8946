/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trims that outlive power. A trim page covers 8 * page_bytes sectors and says, a bit a sector,
 * which of them hold nothing at the time of its version: data with a lower version is outdated. It
 * has a slot in the map like a sector; moving it means writing it anew from the map.
 */
#include <string.h>

#include "page.h"

static uint32_t span(const struct nw_page *page)
{
    return (uint32_t)page->page_bytes * 8U;
}

/* The trim page that covers a sector, or the slot itself. */
uint32_t nw_page_trim_of(const struct nw_page *page, uint32_t slot)
{
    return slot < page->sectors ? page->sectors + slot / span(page) : slot;
}

void nw_page_forget(struct nw_page *page, uint32_t slot)
{
    if (page->map[slot] != NW_PAGE_NONE) {
        nw_page_point(page, slot, NW_PAGE_NONE);
        nw_page_point(page, nw_page_trim_of(page, slot), NW_PAGE_UNSAVED);
        page->unsaved = 1;
    }
}

int nw_page_save_trim(struct nw_page *page, uint32_t slot)
{
    uint32_t sector = (slot - page->sectors) * span(page);

    memset(page->buffer, 0, page->page_bytes);
    for (uint32_t i = 0; i < span(page) && sector + i < page->sectors; i++) {
        if (page->map[sector + i] == NW_PAGE_NONE) {
            page->buffer[i >> 3] = (uint8_t)(page->buffer[i >> 3] | 1U << (i & 7U));
        }
    }
    page->blocks.tagged.stats->map_programs++;
    return nw_page_write(page, &page->cold, slot, page->buffer);
}

int nw_page_save_trims(struct nw_page *page)
{
    for (uint32_t slot = page->sectors; page->unsaved != 0 && slot < page->slots; slot++) {
        if (page->map[slot] == NW_PAGE_UNSAVED) {
            int result = nw_page_save_trim(page, slot);
            if (result < 0) {
                return result;
            }
        }
    }
    page->unsaved = 0;
    return NW_OK;
}

/* Mounting: what the trim page in `slot` says, unless data is newer than it. */
int nw_page_load_trim(struct nw_page *page, uint32_t slot)
{
    uint32_t sector = (slot - page->sectors) * span(page);
    int state;

    if (page->map[slot] == NW_PAGE_NONE) {
        return NW_OK;
    }
    state = nw_page_read_whole(page, page->map[slot]);
    page->blocks.tagged.stats->map_reads++;
    if (state != NW_TAG_GOOD) {
        page->blocks.tagged.stats->lost++; /* what was trimmed shows again */
        return state < 0 ? state : (int)NW_OK;
    }
    uint64_t version = page->blocks.tagged.tag.version;

    for (uint32_t i = 0; i < span(page) && sector + i < page->sectors; i++) {
        uint32_t at = page->map[sector + i];

        if ((page->buffer[i >> 3] & (1U << (i & 7U))) == 0 || at == NW_PAGE_NONE) {
            continue;
        }
        state = nw_page_read_tag(page, at);
        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_GOOD && page->blocks.tagged.tag.version < version) {
            nw_page_point(page, sector + i, NW_PAGE_NONE);
        }
    }
    return NW_OK;
}
