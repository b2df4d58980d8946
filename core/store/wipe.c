/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a format ends the store that was there. A cut in its midst must not leave an older state that
 * mounts as if it were whole; nor may any number of formats, each of them cut. What a cut has torn
 * may hide when the next format looks, and show when it has been cut.
 *
 * So a format first makes the store unknown, by a void mark: a block whose header is newer than all
 * and knows no anchor. It goes to the block behind the newest one, which the next mount would have
 * erased: that one holds nothing. The same header again, in its second page, shows that the first
 * is whole. The mark names the block behind it, where the next format may write its own. Then all
 * other blocks are erased, and last those two.
 *
 * Why that is right however often it is cut. Call the two blocks A and B.
 *   - A format erases what may hold data only when it has itself written both pages of a mark. It
 *     never relies on one that it has found: that may be torn.
 *   - As long as no format came so far, the store is whole, and A and B hold nothing of it.
 *   - From then on one of the two has a mark that is whole for good. A format keeps the newest one
 *     whose second page is there, and writes its own to the other block. The one it keeps is the
 *     whole one: the other block was being erased, and shows what is older; or its mark was being
 *     programmed, and has no second page; or that one is whole as well.
 *   - The marks go only when one and the same format has erased all other blocks to the end.
 *
 * A mount finds the mark as it finds the newest block. Blocks are erased on from the marks, the
 * oldest first. So those that are left lie behind each other, up to the marks, as bisection expects
 * (newest.c). A mark is not sealed, and its header counts with any key and any fan: who mounts with
 * those of the store there was must not find the rest of it.
 */
#include <string.h>

#include "nandwich/crc.h"
#include "store.h"

struct wipe {
    uint32_t sequence; /* of the newest block that is no mark; 0: there is none */
    uint32_t mark;     /* of the newest mark with both pages; 0: there is none */
    uint16_t newest;   /* that block */
    uint16_t kept;     /* the block of that mark, */
    uint16_t other;    /* and the one that it names */
};

/* A mark was read: notes it when its second page is there, and it is the newest one. Two differ by
 * one; their numbers go round. */
static int meet_mark(struct nw_store *store, struct wipe *wipe, uint16_t block,
                     const struct block_head *mark)
{
    struct block_head again;
    int result = store_read_any_head(store, store_first_page(store, block) + 1U, &again);

    if (result == NW_OK && again.sequence == mark->sequence && again.first == mark->first &&
        (wipe->mark == 0 || ((mark->sequence - wipe->mark) & STORE_VOIDS) == 1U)) {
        wipe->mark = mark->sequence;
        wipe->kept = block;
        wipe->other = mark->first;
    }
    return result;
}

/* What a block begins with. A bad one is not to be read, and one that is blank need not be asked
 * whether it is bad. */
static int look_at(struct nw_store *store, struct wipe *wipe, uint16_t block)
{
    uint32_t page = store_first_page(store, block);
    struct block_head head;
    int result = store_written(store, page);
    int bad = result > 0 ? store_is_bad(store, block) : 1;

    if (bad == 0) {
        result = store_read_any_head(store, page, &head);
        if (result == NW_OK && head.sequence >= STORE_VOID) {
            result = meet_mark(store, wipe, block, &head);
        } else if (result == NW_OK && head.sequence > wipe->sequence) {
            wipe->sequence = head.sequence;
            wipe->newest = block;
        }
    }
    int none = result >= 0 || result == NW_ERR_UNWRITTEN || result == NW_ERR_NOT_FOUND ||
               result == NW_ERR_VERSION || store_is_damage(result);
    return bad < 0 ? bad : none ? (int)NW_OK : result;
}

/* Both pages of a mark to a good block. */
static int put_mark(struct nw_store *store, uint16_t block, uint16_t other, uint32_t sequence)
{
    uint32_t page = store_first_page(store, block);
    uint8_t *bytes = store->buffer;

    memset(bytes, store->erased, store->page_bytes);
    bytes[0] = 'N';
    bytes[1] = STORE_FORMAT;
    bytes[2] = 0;
    bytes[3] = store->fan_shift;
    nw_put32(bytes + 4, sequence);
    nw_put32(bytes + 8, STORE_NONE);
    nw_put32(bytes + 12, other);
    nw_put32(bytes + 16, STORE_NONE);
    nw_put32(bytes + 20, nw_crc32(NW_CRC32_START, bytes, 20));
    uint16_t length = store_align_up(store, BLOCK_HEADER);
    int result = store_program(store, page, 0, length);

    return result < 0 ? result : store_program(store, page + 1U, 0, length);
}

/* A mark to a block, or where that fails to one behind it: *own. */
static int mark_void(struct nw_store *store, const struct wipe *wipe, uint16_t *own)
{
    uint32_t sequence =
        wipe->mark != 0 ? STORE_VOID | ((wipe->mark + 1U) & STORE_VOIDS) : STORE_VOID;
    int result = 0;

    for (uint16_t left = store->blocks; left > 0 && result == 0; left--) {
        uint16_t other = wipe->kept;
        int bad = *own != wipe->kept ? store_is_bad(store, *own) : 1;

        if (bad == 0) {
            result = store_make_ready(store, *own);
        }
        if (bad == 0 && result > 0 && other == STORE_NO_BLOCK) {
            other = *own;
            bad = store_good_after(store, &other);
        }
        if (bad == 0 && result > 0) {
            bad = put_mark(store, *own, other, sequence);
        }
        if (bad == NW_ERR_PROGRAM) {
            bad = store_mark_bad(store, *own);
            result = 0;
        }
        if (bad < 0) {
            return bad;
        }
        if (result == 0) {
            *own = store_next_block(store, *own);
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/* Looks for what was there. Then no mount finds it any more: the marks' blocks go last, *kept (or
 * none) before *own. */
int store_end_all(struct nw_store *store, uint16_t *kept, uint16_t *own)
{
    struct wipe wipe = {.kept = STORE_NO_BLOCK};
    int result = NW_OK;

    for (uint16_t block = 0; block < store->blocks && result == NW_OK; block++) {
        result = look_at(store, &wipe, block);
    }
    *kept = wipe.kept;
    *own = (uint16_t)(store->blocks - 1U);
    if (result < 0 || (wipe.mark == 0 && wipe.sequence == 0)) {
        return result;
    }
    *own = wipe.mark != 0 && wipe.other < store->blocks
               ? wipe.other
               : store_next_block(store, wipe.mark != 0 ? wipe.kept : wipe.newest);
    return mark_void(store, &wipe, own);
}
