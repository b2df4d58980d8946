/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest block, from which a mount finds the end of the log.
 *
 * Beginning at any block with a header and going round the chip, sequences rise up to the newest
 * block; those behind it are blank, or older than the block begun with. For the log erases what it
 * takes, each block begun has a higher sequence than all before, and what a mount leaves behind the
 * log's end when it is cut is erased by the next one, the newest first, before that one writes
 * (erase_leftovers() in mount.c). In between lie blocks that are bad, and one at a time that failed
 * before it had a header: those that fail behind it are bad at once (swap_block()), but for one
 * where power went or that was tried last. So the newest is found by bisection. Whatever cannot be
 * read where that looks, and every end that the log turns out not to have, leads to a look at all
 * headers.
 */
#include "store.h"

#define HEADLESS 3U /* most blocks in a row that have no header, and one */

enum { BLOCK_OLDER, BLOCK_NEWER, BLOCK_BLANK, BLOCK_BAD };

/* What a block is beside the newest one met so far, whose header is *head: a newer one takes its
 * place. An error: that cannot be told. */
static int compare(struct nw_store *store, uint16_t block, struct block_head *head)
{
    struct block_head other;
    int bad = store_is_bad(store, block);

    if (bad != 0) {
        return bad < 0 ? bad : (int)BLOCK_BAD;
    }
    int result = store_look_at_head(store, store_first_page(store, block), &other);
    if (result < 0) {
        return result == NW_ERR_UNWRITTEN ? (int)BLOCK_BLANK : result;
    }
    if (other.sequence <= head->sequence) {
        return BLOCK_OLDER;
    }
    *head = other;
    return BLOCK_NEWER;
}

/* A block with a header, from which to bisect: the first, unless it was erased ahead. */
static int find_start(struct nw_store *store, uint16_t *start, struct block_head *head)
{
    int result = BLOCK_BLANK;

    *start = 0;
    for (uint8_t i = 0; i < 8U; i++) {
        result = compare(store, *start, head);
        if (result < 0 || result == BLOCK_NEWER) {
            break;
        }
        uint16_t ahead = result == BLOCK_BAD ? 1U : (uint16_t)(store->blocks / 8U * 5U);
        *start = store_block_ahead(store, *start, ahead);
    }
    return result == BLOCK_NEWER || result < 0 ? result : (int)NW_ERR_NOT_FOUND;
}

static int bisect(struct nw_store *store, uint16_t *newest, struct block_head *head)
{
    uint16_t low = 0;
    uint16_t high = store->blocks;
    uint16_t start;
    int result = find_start(store, &start, head);

    while (result >= 0 && high - low > 1) {
        uint16_t middle = (uint16_t)(low + (high - low) / 2U);
        uint16_t at = middle;
        do {
            result = compare(store, store_block_ahead(store, start, at), head);
        } while (result == BLOCK_BAD && ++at < high);
        if (result == BLOCK_NEWER) {
            low = at;
        } else {
            high = middle;
        }
    }
    uint16_t block = store_block_ahead(store, start, low);
    *newest = block;
    for (uint8_t blank = 0; result >= 0 && blank <= HEADLESS;) {
        block = store_next_block(store, block);
        if (block == *newest) {
            break; /* once round */
        }
        result = compare(store, block, head);
        if (result == BLOCK_NEWER) { /* behind blocks that have none */
            *newest = block;
            blank = 0;
        } else if (result == BLOCK_OLDER) {
            break;
        } else if (result == BLOCK_BAD) {
            store->passed_bad = 1;
        }
        blank = (uint8_t)(blank + (result == BLOCK_BLANK ? 1U : 0U));
    }
    return result < 0 ? result : (int)NW_OK;
}

/* The block with the highest sequence, and its header; `all`: no bisection. NW_ERR_NOT_FOUND: there
 * is none; NW_ERR_VERSION, NW_ERR_KEY: those there are cannot be read by this program, with this
 * key. */
int store_find_newest(struct nw_store *store, int all, uint16_t *newest, struct block_head *head)
{
    int found = NW_ERR_NOT_FOUND;

    head->sequence = 0;
    head->anchor = STORE_NONE;
    if (!all) {
        return bisect(store, newest, head);
    }
    for (uint16_t block = 0; block < store->blocks; block++) {
        int result = compare(store, block, head);
        if (result == BLOCK_NEWER) {
            *newest = block;
            found = NW_OK;
        } else if (result == NW_ERR_VERSION || result == NW_ERR_KEY) {
            found = found < 0 ? result : found;
        } else if (result < 0 && result != NW_ERR_NOT_FOUND) {
            return result;
        }
    }
    return found;
}
