/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_block.h - inside the heap: what a block looks like, and the lists of free ones.
 *
 * Blocks lie side by side from offset 8 up to `top`; offsets are from heap->start. A block begins
 * with a head (size and state) and a check word, the caller's bytes follow. Block sizes are
 * multiples of NW_HEAP_ALIGN, so a head has three bits to spare:
 *
 *   USED        handed out
 *   QUICK       free, but not to be merged: in a quick list, or the carve block
 *   (neither)   free, in a large list; its last four bytes repeat its size
 *   AFTER_FREE  the block before is of that last kind, so its size stands right before this head
 *
 * Each list is last in, first out. A large block links both ways to leave its list in one step; the
 * backward link of a list's first block is not kept up, which spares a page touch.
 *
 * DEAD HEADERS. A merged or lengthened block still holds the headers of the blocks it swallowed.
 * None of them says USED: a block's header is made a free one before it dies. That is how a second
 * free is found out, and it holds as nw_vm_discard() never brings an older content back.
 */
#ifndef NANDWICH_VM_HEAP_BLOCK_H
#define NANDWICH_VM_HEAP_BLOCK_H

#include "nandwich/heap.h"

#define NW_HEAP_USED 1U
#define NW_HEAP_AFTER_FREE 2U
#define NW_HEAP_QUICK 4U
#define NW_HEAP_STATE 7U

#define NW_HEAP_HEADER 8U
#define NW_HEAP_FIRST 8U      /* offset of the first block: its content is aligned */
#define NW_HEAP_BLOCK_MIN 16U /* header and both links */

struct nw_heap_mark {
    uint32_t head; /* size | state */
    uint32_t check;
    uint32_t next;     /* free blocks only: offset, 0 ends the list */
    uint32_t previous; /* large free blocks only */
};

static inline uint32_t nw_heap_size_of(const struct nw_heap_mark *mark)
{
    return mark->head & ~(uint32_t)NW_HEAP_STATE;
}

static inline int nw_heap_is_large_free(const struct nw_heap_mark *mark)
{
    return (mark->head & (NW_HEAP_USED | NW_HEAP_QUICK)) == 0;
}

/* heap_block.c --------------------------------------------------------------------------------- */

/* The size of a block that is large and free, repeated before `end`, where it ends. */
int nw_heap_foot_get(struct nw_heap *heap, uint32_t end, uint32_t *size);

/* Reads a mark and verifies its header. Links beyond it are whatever lies there. */
int nw_heap_mark_get(struct nw_heap *heap, uint32_t offset, struct nw_heap_mark *mark);

/* Writes a header and, for a free block, its forward link. */
int nw_heap_mark_put(struct nw_heap *heap, uint32_t offset, uint32_t head, uint32_t next);

/* Says in a block's head whether the block before it is large and free. */
int nw_heap_tell_after_free(struct nw_heap *heap, uint32_t offset, uint32_t after_free);

/* The large list of a size: four to each power of two. */
uint8_t nw_heap_list_of(uint32_t size);

/* nw_heap_mark_get() of a block that must be large and free. */
int nw_heap_large_get(struct nw_heap *heap, uint32_t offset, struct nw_heap_mark *mark);

/* Takes a large free block out of its list. */
int nw_heap_large_take(struct nw_heap *heap, uint32_t offset, uint32_t *size);

/* Puts a block into its large list. The block after it is the caller's care. */
int nw_heap_large_put(struct nw_heap *heap, uint32_t offset, uint32_t size);

/* Puts a block into the quick list of its size; of `head` it keeps AFTER_FREE. */
int nw_heap_quick_put(struct nw_heap *heap, uint32_t offset, uint32_t size, uint32_t head);

/* Makes [offset, offset + size) free, merging where that is due. What lies there need be no block;
 * AFTER_FREE in `head` tells of the block before it.
 * NW_ERR_CORRUPT for a neighbour's header; nothing was changed then. */
int nw_heap_release(struct nw_heap *heap, uint32_t offset, uint32_t size, uint32_t head);

/* Merges all free neighbours, small ones too, and sorts them anew. A run of `least` bytes or more
 * that begins at `keep` goes into no list: its size comes back in *kept. */
int nw_heap_walk(struct nw_heap *heap, uint32_t keep, uint32_t least, uint32_t *kept);

#endif
