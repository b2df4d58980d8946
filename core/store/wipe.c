/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a format ends the store that was there. A cut in its midst must not leave an older state that
 * mounts as if it were whole; nor may any number of formats, each of them cut. What a cut has torn
 * may hide when the next format looks, and show when it has been cut.
 *
 * So a format first makes the store unknown, by a void mark: a block whose header is newer than all
 * and knows no anchor. It goes to the block behind the newest one, which the next mount would have
 * erased: that one holds nothing. The same header again, in its second page, shows that the first
 * one is whole. Then all other blocks are erased, on from there round the chip, and the mark's own
 * last.
 *
 * Why that is right however often it is cut.
 *   - A format erases what holds data only when it has itself written both pages of a mark. It
 *     never relies on one that it has found: that may be torn.
 *   - As long as no format came so far the store is whole: what formats wrote to was free.
 *   - The first one that came so far has left a mark that is whole for good. Each format finds it
 *     so, both its pages, and lets it stand until it has written its own: that one goes to a block
 *     that does not look like a whole mark, the first one behind.
 *
 * A mount finds the mark as it finds the newest block. Blocks are erased on from the mark, the
 * oldest first. So those that are left lie behind each other, up to the mark, as bisection expects
 * (newest.c). A mark counts with any key and any fan: who mounts with those of the store there was
 * must not find the rest of it.
 *
 * The limit: each format that is cut while it programs its second page, and whose mark looks whole
 * to the next, takes one more free block, of which a store keeps two and more. If there is none
 * left it takes one with data. That does no harm as long as the first pages of those marks are
 * there, and they are. But later formats may see that those marks are not whole, and be cut as they
 * erase them. It takes five cuts, four blocks that look now so and now otherwise, and a store that
 * had only two blocks free.
 */
#include <string.h>

#include "store.h"

/* Does a block look like a mark, with both its pages? 1, 0 or an error. */
static int is_mark(struct nw_store *store, uint32_t page)
{
    struct block_head head = {.sequence = STORE_VOID};
    int result = NW_OK;

    for (uint8_t i = 0; i < 2U && result == NW_OK && head.sequence == STORE_VOID; i++) {
        result = store_look_at_page(store, page + i, &head);
    }
    if (result == NW_ERR_UNWRITTEN || result == NW_ERR_NOT_FOUND || result == NW_ERR_VERSION) {
        return 0;
    }
    return result < 0 ? result : head.sequence == STORE_VOID;
}

/* A mark to a block: 1; or 0, when that is bad, fails now, or looks like a mark that is whole. */
static int put_mark(struct nw_store *store, uint16_t block)
{
    uint32_t page = store_first_page(store, block);
    int result = store_is_bad(store, block);

    if (result == 0) {
        result = is_mark(store, page);
    }
    if (result != 0) {
        return result < 0 ? result : 0;
    }
    result = store_make_ready(store, block);
    if (result <= 0) {
        return result;
    }
    memset(store->buffer, store->erased, store->page_bytes);
    store->sequence = STORE_VOID - 1U;
    store_put_block_head(store, STORE_NONE, STORE_NONE);
    for (uint8_t i = 0; i < 2U && result >= 0; i++) {
        result = store_program(store, page + i, 0, store_align_up(store, store->block_header));
    }
    if (result == NW_ERR_PROGRAM) {
        result = store_mark_bad(store, block);
        return result < 0 ? result : 0;
    }
    return result < 0 ? result : 1;
}

/* Looks for what was there. Then no mount finds it any more: *mark is the block to be erased last.
 */
int store_end_all(struct nw_store *store, uint16_t *mark)
{
    struct block_head head;

    store->any_head = 1;
    int result = store_find_newest(store, 1, mark, &head);
    if (result == NW_ERR_NOT_FOUND || result == NW_ERR_VERSION) {
        *mark = (uint16_t)(store->blocks - 1U);
        result = 1; /* nothing of ours */
    } else if (result == NW_OK && head.sequence != STORE_VOID) {
        *mark = store_next_block(store, *mark);
    }
    for (uint16_t left = store->blocks; left > 0 && result == 0; left--) {
        result = put_mark(store, *mark);
        if (result == 0) {
            *mark = store_next_block(store, *mark);
        }
    }
    store->any_head = 0;
    return result < 0 ? result : (int)NW_OK;
}
