/* SPDX-License-Identifier: Apache-2.0 */
/* Whether map, live pages and counts agree: see ftl_page_check.h. */
#include "nandwich/ftl_page_check.h"

#include "page.h"

static uint32_t is_live(const struct nw_page *page, uint32_t at)
{
    return (uint32_t)page->live[at >> 3] >> (at & 7U) & 1U;
}

/* What a page adds to a sum over pages: two rows of pages that differ have different sums, but for
 * a chance of one in many millions. */
static uint32_t weight(uint32_t at)
{
    return at * at + 1U;
}

/* Live pages of a block, which leave the sum. */
static uint16_t count_live(const struct nw_page *page, uint16_t block, uint32_t *sum)
{
    uint32_t at = nw_page_first(page, block);
    uint16_t count = 0;

    for (uint16_t i = 0; i < page->block_pages; i++, at++) {
        if (is_live(page, at)) {
            *sum -= weight(at);
            count++;
        }
    }
    return count;
}

int nw_ftl_page_check(const struct nw_ftl_page *ftl, uint32_t *where)
{
    const struct nw_page *page = ftl->page;
    uint32_t sum = 0;

    for (*where = 0; *where < page->slots; (*where)++) {
        uint32_t at = page->map[*where];

        if (at == NW_PAGE_NONE || at == NW_PAGE_UNSAVED) {
            continue;
        }
        sum += weight(at);
        if (at >= nw_page_first(page, page->blocks.count) || !is_live(page, at)) {
            return NW_ERR_CORRUPT;
        }
    }
    for (uint16_t block = 0; block < page->blocks.count; block++, (*where)++) {
        uint16_t live = count_live(page, block, &sum);

        if (live != (page->valid[block] & NW_PAGE_COUNT) ||
            (live > 0 && page->blocks.state[block] != NW_BLOCK_USED)) {
            return NW_ERR_CORRUPT;
        }
    }
    return sum == 0 ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

uint32_t nw_ftl_page_free_blocks(const struct nw_ftl_page *ftl)
{
    return ftl->page->blocks.free;
}
