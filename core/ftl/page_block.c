/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open blocks: where the next pages go. Each stream fills one, and a mount holds two blocks in
 * reserve for the next mounts.
 */
#include "page.h"

/* Is this block, of those in reserve, not in use? */
int nw_page_is_spare(const struct nw_page *page, uint16_t block)
{
    return block < page->blocks.count && block != page->session && block != page->host.block &&
           block != page->cold.block && page->blocks.state[block] == NW_BLOCK_USED;
}

/* ... and not in reserve either? */
int nw_page_is_filled(const struct nw_page *page, uint16_t block)
{
    return nw_page_is_spare(page, block) && block != page->reserve[0] &&
           block != page->reserve[1];
}

/* How many of the reserves are none, bad, or taken by this mount. */
unsigned nw_page_lacks(const struct nw_page *page)
{
    return (nw_page_is_spare(page, page->reserve[0]) ? 0U : 1U) +
           (nw_page_is_spare(page, page->reserve[1]) ? 0U : 1U);
}

/* New blocks in reserve for those in use; whoever stays goes first. */
void nw_page_hold_reserves(struct nw_page *page)
{
    for (uint8_t i = 0; i <= NW_PAGE_RESERVES; i++) {
        uint16_t block = page->reserve[0];

        page->reserve[0] = page->reserve[1];
        page->reserve[1] =
            nw_page_is_spare(page, block) ? block : nw_blocks_hold(&page->blocks);
    }
}

/* From now on a block takes no more pages. But for the session's it joins the candidates for
 * cleaning, those with as many valid pages. */
void nw_page_close(struct nw_page *page, uint16_t block)
{
    if (block != page->session) {
        uint16_t valid = page->valid[block] & NW_PAGE_COUNT;

        page->valid[block] = valid | NW_PAGE_CLOSED;
        nw_blocks_link(&page->blocks, block, valid);
        if (valid < page->lowest) {
            page->lowest = valid;
        }
    }
}

/* Start `stream` in an erased block. */
void nw_page_open(struct nw_page *page, struct nw_page_stream *stream, uint16_t block)
{
    if (stream->block != NW_NO_BLOCK) {
        nw_page_close(page, stream->block);
    }
    stream->block = block;
    stream->page = nw_page_first(page, block);
    stream->left = page->block_pages;
}

/* A mount without a free block uses one in reserve, which a cut gives back. The next mount may need
 * the other one; but a list takes even that, for without it nothing that was moved counts. */
static int lend(struct nw_page *page, const struct nw_page_stream *stream)
{
    for (uint8_t i = NW_PAGE_RESERVES; i-- > 0;) {
        uint16_t block = page->reserve[i];

        if (nw_page_is_spare(page, block) && page->valid[block] == 0 &&
            (stream == &page->host || nw_page_lacks(page) == 0)) {
            page->reserve[i] = NW_NO_BLOCK;
            nw_blocks_give(&page->blocks, block);
            return 1;
        }
    }
    return 0;
}

int nw_page_begin(struct nw_page *page, struct nw_page_stream *stream)
{
    int32_t block = nw_blocks_take_for(&page->blocks,
                                       stream == &page->cold ? NW_WEAR_MOVED : NW_WEAR_HOST);

    if (block == NW_ERR_FULL && page->mounting == NW_RENEWING && lend(page, stream)) {
        block = nw_blocks_take_for(&page->blocks, NW_WEAR_HOST);
    }
    if (block < 0) {
        return (int)block;
    }
    nw_page_open(page, stream, (uint16_t)block);
    return NW_OK;
}

/* A stream leaves the block of a program that failed: the page may be blank, and a mount looks no
 * further than that. A good block that holds nothing else is free again: so an error that lasts
 * does not use up all blocks. */
void nw_page_leave(struct nw_page *page, struct nw_page_stream *stream, int failed)
{
    uint16_t left = stream->left;

    stream->left = 0;
    if (failed) {
        page->valid[stream->block] |= NW_PAGE_FAILED;
        nw_blocks_link(&page->blocks, stream->block, nw_page_failed(page));
    } else if (left + 1U == page->block_pages) {
        nw_blocks_give(&page->blocks, stream->block);
    } else {
        return;
    }
    stream->block = NW_NO_BLOCK;
}
