/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over the whole heap that believes nothing. */
#include "heap_block.h"

/* What the walk of nw_heap_check() has seen of the block before. */
struct sum {
    uint32_t used;
    uint32_t blocks;
    uint32_t large;
    uint32_t before; /* size of the block before when it is large and free, else 0 */
    uint32_t run;    /* free bytes that end here */
};

static int check_block(struct nw_heap *heap, uint32_t offset, const struct nw_heap_mark *mark,
                       struct sum *sum)
{
    uint32_t size = nw_heap_size_of(mark);
    uint32_t foot = 0;

    if (((mark->head & NW_HEAP_AFTER_FREE) != 0) != (sum->before != 0)) {
        return NW_ERR_CORRUPT;
    }
    if (sum->before != 0) {
        int error = nw_heap_foot_get(heap, offset, &foot);

        if (error != NW_OK || foot != sum->before || nw_heap_is_large_free(mark)) {
            return error != NW_OK ? error : NW_ERR_CORRUPT;
        }
    }
    sum->before = 0;
    if ((mark->head & NW_HEAP_USED) != 0) {
        sum->used += size;
        sum->blocks++;
        sum->run = 0;
        return NW_OK;
    }
    if (nw_heap_is_large_free(mark)) {
        sum->before = size;
        sum->large++;
    }
    sum->run += size;
    return sum->run > heap->longest ? (int)NW_ERR_CORRUPT : (int)NW_OK;
}

int nw_heap_check(struct nw_heap *heap, uintptr_t *address)
{
    struct sum sum = {0, 0, 0, 0, 0};
    uint32_t offset = NW_HEAP_FIRST;

    while (offset < heap->top) {
        struct nw_heap_mark mark;
        int error = nw_heap_mark_get(heap, offset, &mark);

        if (error == NW_OK) {
            error = check_block(heap, offset, &mark, &sum);
        }
        if (error != NW_OK) {
            *address = heap->start + (uintptr_t)offset + NW_HEAP_HEADER;
            return error;
        }
        offset += nw_heap_size_of(&mark);
    }
    *address = 0;
    return sum.before != 0 || sum.used != heap->stats.used || sum.blocks != heap->stats.blocks ||
                   sum.large != heap->large_blocks
               ? (int)NW_ERR_CORRUPT
               : (int)NW_OK;
}
