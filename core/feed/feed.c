/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/feed.h"

static int read_chunk(struct nw_store *store, int stream, const struct nw_sched_slot *slot)
{
    struct nw_store_cursor cursor;
    int result = nw_store_seek(store, stream, slot->sector, 0, &cursor);

    return result < 0 ? result : nw_store_next(store, &cursor, slot->data, slot->size);
}

int nw_feed_transfer(struct nw_sched *sched, struct nw_store *store, const int *streams)
{
    const struct nw_sched_slot *slot = nw_sched_first(sched);
    uint8_t left = nw_sched_members(sched);

    if (left == 0) {
        return NW_OK;
    }
    int stream = streams[sched->serving];
    int reads = sched->flows[sched->serving].direction == NW_SCHED_READ;
    for (; left > 0; left--) {
        int result = NW_ERR_RANGE;

        if (slot->data != NULL) {
            result = reads ? read_chunk(store, stream, slot)
                           : nw_store_append(store, stream, slot->data, slot->size);
        }
        if (result < 0) {
            return result;
        }
        slot = &sched->slots[slot->next];
    }
    return reads ? NW_OK : nw_store_sync(store);
}
