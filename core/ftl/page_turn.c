/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of the fences: a mount moves what counts away from where a torn page may lie, a share
 * of the blocks at a time. Why, and when a turn is due: page_fence.c.
 */
#include "page.h"

/* With the list in the buffer: may a page that a cut has torn be left in this block? It was the
 * last one programmed there. So the last page of such a block is blank, or its tag does not count.
 * What this mount has written to has none. A block that waits to be healed may have one, too. */
static int may_be_torn(struct nw_page *page, uint16_t block)
{
    uint8_t kind = page->blocks.state[block];

    if (page->valid[block] < NW_PAGE_CLOSED && kind != NW_BLOCK_FREE && kind != NW_BLOCK_WORN) {
        return 0;
    }
    int state = nw_page_read_tag(page, nw_page_first(page, block) + page->block_pages - 1U);

    if (state == NW_TAG_GOOD) {
        return page->blocks.tagged.tag.version < page->limit && nw_page_is_void(page);
    }
    return state < 0 ? state : 1;
}

/* What a closed block holds goes elsewhere; one that holds nothing is erased. No other victim is
 * being cleaned: each one so far was cleaned to its end. */
static int renew(struct nw_page *page, uint16_t block)
{
    int result;

    if (page->blocks.state[block] != NW_BLOCK_USED) {
        return nw_blocks_wipe(&page->blocks, block);
    }
    nw_page_start_victim(page, block);
    do {
        result = nw_page_clean_step(page);
    } while (result == NW_OK && page->cleaning != 0);
    return result == NW_OK ? nw_page_load_list(page) : result;
}

/* The turn that belongs to a fence: of each so many blocks one, if a torn page may be in it. */
static int renew_turn(struct nw_page *page, uint32_t fence)
{
    uint8_t turns = page->fences / 2U;
    int result = NW_OK;

    for (fence -= fence < turns ? 0U : turns; result >= 0 && fence < page->blocks.count;
         fence += turns) {
        uint16_t block = (uint16_t)fence;

        result = may_be_torn(page, block);
        if (result > 0) {
            result = renew(page, block);
        }
    }
    return result;
}

/* The turns that are due, when there is room. */
int nw_page_renew_turns(struct nw_page *page)
{
    int result = nw_page_load_list(page);
    uint32_t last = (uint32_t)page->buffer[NW_PAGE_LAST_AT] + page->fences + 1U;

    while (result >= 0 && page->turn > 0 && page->blocks.free > page->floor) {
        uint32_t fence = last - page->turn;

        result = renew_turn(page, fence < page->fences ? fence : fence - page->fences);
        if (result >= 0) {
            page->turn--;
        }
    }
    return result;
}
