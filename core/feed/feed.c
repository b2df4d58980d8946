/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/feed.h"

/* Reads one chunk; the slot, which its event shows, then has the bytes delivered as its size. */
static int read_chunk(struct nw_store *store, int stream, struct nw_sched_slot *slot)
{
    struct nw_store_cursor cursor;
    int result = nw_store_seek(store, stream, slot->sector, 0, &cursor);

    if (result < 0) {
        return result;
    }
    result = nw_store_next(store, &cursor, slot->data, slot->size);
    if (result == 0) {
        return NW_ERR_RANGE; /* the cursor stands behind the last chunk */
    }
    if (result > 0) {
        slot->size = (uint16_t)result;
    }
    return result < 0 ? result : NW_OK;
}

int nw_feed_transfer(struct nw_sched *sched, struct nw_store *store, const int *streams)
{
    uint8_t left = nw_sched_members(sched);

    if (!sched->busy) {
        return NW_ERR_CONFIG;
    }
    if (left == 0) {
        return NW_OK;
    }
    int stream = streams[sched->serving];
    int reads = sched->flows[sched->serving].direction == NW_SCHED_READ;
    uint8_t number = sched->flows[sched->serving].head;
    for (; left > 0; left--) {
        struct nw_sched_slot *slot = &sched->slots[number];
        int result = NW_ERR_RANGE;

        if (slot->data != NULL) {
            result = reads ? read_chunk(store, stream, slot)
                           : nw_store_append(store, stream, slot->data, slot->size);
        }
        if (result < 0) {
            return result;
        }
        number = slot->next;
    }
    return reads ? NW_OK : nw_store_sync(store);
}
