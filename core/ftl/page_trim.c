/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trims that outlive power. A trim page covers 8 * page_bytes sectors and says, a bit a sector,
 * which of them hold nothing at the time of its version: data with a lower version is outdated. It
 * has a slot in the map like a sector; moving it means writing it anew from the map.
 */
#include <string.h>

#include "nandwich/crc.h"
#include "page.h"

static uint32_t span(const struct nw_page *page)
{
    return (uint32_t)page->page_bytes * 8U;
}

void nw_page_doubt_trim(struct nw_page *page, uint32_t slot)
{
    uint32_t chunk = slot < page->sectors ? slot / span(page) : slot - page->sectors;

    if (page->unsaved[chunk] == 0) {
        page->unsaved[chunk] = 1;
        page->unsaved_count++;
    }
}

void nw_page_forget(struct nw_page *page, uint32_t slot)
{
    if (page->map[slot] != NW_PAGE_NONE) {
        nw_page_point(page, slot, NW_PAGE_NONE);
        nw_page_doubt_trim(page, slot);
    }
}

int nw_page_save_trim(struct nw_page *page, struct nw_page_stream *stream, uint32_t slot)
{
    uint32_t chunk = slot - page->sectors;
    uint32_t sector = chunk * span(page);
    uint16_t length = page->page_bytes;
    struct nw_page_put put = {.data = page->buffer, .word = slot, .from = NW_PAGE_NONE};
    uint32_t at;

    memset(page->buffer, 0, length);
    for (uint32_t i = 0; i < span(page) && sector + i < page->sectors; i++) {
        if (page->map[sector + i] == NW_PAGE_NONE) {
            page->buffer[i >> 3] = (uint8_t)(page->buffer[i >> 3] | 1U << (i & 7U));
        }
    }
    put.crc = nw_crc32(NW_CRC32_START, page->buffer, length);
    int result = nw_page_append(page, stream, &put, &at);
    if (result < 0) {
        return result;
    }
    page->stats->map_programs++;
    nw_page_point(page, slot, at);
    if (page->unsaved[chunk] != 0) {
        page->unsaved[chunk] = 0;
        page->unsaved_count--;
    }
    return NW_OK;
}

int nw_page_save_trims(struct nw_page *page)
{
    for (uint32_t slot = page->sectors; page->unsaved_count > 0 && slot < page->slots; slot++) {
        if (page->unsaved[slot - page->sectors] != 0) {
            int result = nw_page_save_trim(page, nw_page_cold(page), slot);
            if (result < 0) {
                return result;
            }
        }
    }
    return NW_OK;
}

/* Mounting: what the trim page in `slot` says, unless data is newer than it. */
int nw_page_load_trim(struct nw_page *page, uint32_t slot)
{
    uint32_t sector = (slot - page->sectors) * span(page);
    uint16_t length = page->page_bytes;
    struct nw_tag trim;
    struct nw_tag tag;
    int state = nw_page_read(page, page->map[slot], length, page->buffer, &trim);

    page->stats->map_reads++;
    if (state < 0 && state != NW_ERR_ECC) {
        return state;
    }
    if (state != NW_TAG_GOOD || trim.crc != nw_crc32(NW_CRC32_START, page->buffer, length)) {
        page->stats->lost++; /* what was trimmed shows again */
        return NW_OK;
    }
    for (uint32_t i = 0; i < span(page) && sector + i < page->sectors; i++) {
        uint32_t at = page->map[sector + i];

        if ((page->buffer[i >> 3] & (1U << (i & 7U))) == 0 || at == NW_PAGE_NONE) {
            continue;
        }
        state = nw_page_read_tag(page, at, &tag);
        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_GOOD && tag.version < trim.version) {
            nw_page_point(page, sector + i, NW_PAGE_NONE);
        }
    }
    return NW_OK;
}
