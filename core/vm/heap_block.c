/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, lists of free blocks, and merging: see heap_block.h. */
#include "heap_block.h"

#include <string.h>

#include "frames.h"

#define USED NW_HEAP_USED
#define AFTER_FREE NW_HEAP_AFTER_FREE
#define QUICK NW_HEAP_QUICK
#define BLOCK_MIN NW_HEAP_BLOCK_MIN
#define FOOT 4U /* a large free block's size once more, at its end */

#define NEXT 8U /* where the links lie in a block */
#define PREVIOUS 12U

static int get(struct nw_heap *heap, uint32_t offset, void *to, size_t n)
{
    return nw_vm_pass(heap->vm, (uintptr_t)to, heap->start + (uintptr_t)offset, n);
}

static int put(struct nw_heap *heap, uint32_t offset, const void *from, size_t n)
{
    return nw_vm_pass(heap->vm, heap->start + (uintptr_t)offset, (uintptr_t)from, n);
}

/* Each heap of a VM signs in its own way: one opened where another was takes no header of it. */
static uint32_t check_word(const struct nw_heap *heap, uint32_t offset, uint32_t head)
{
    return (uint32_t)((head ^ heap->salt) * 0x9E3779B1UL) ^ (uint32_t)(offset * 0x85EBCA6BUL);
}

int nw_heap_foot_get(struct nw_heap *heap, uint32_t end, uint32_t *size)
{
    return get(heap, end - FOOT, size, FOOT);
}

int nw_heap_mark_get(struct nw_heap *heap, uint32_t offset, struct nw_heap_mark *mark)
{
    int error;

    if (offset < NW_HEAP_FIRST || offset >= heap->top || heap->top - offset < BLOCK_MIN) {
        return NW_ERR_CORRUPT;
    }
    error = get(heap, offset, mark, sizeof *mark);
    if (error == NW_OK &&
        (mark->check != check_word(heap, offset, mark->head) ||
         nw_heap_size_of(mark) < BLOCK_MIN || nw_heap_size_of(mark) > heap->top - offset)) {
        error = NW_ERR_CORRUPT;
    }
    return error;
}

int nw_heap_mark_put(struct nw_heap *heap, uint32_t offset, uint32_t head, uint32_t next)
{
    struct nw_heap_mark mark;

    mark.head = head;
    mark.check = check_word(heap, offset, head);
    mark.next = next;
    mark.previous = 0;
    return put(heap, offset, &mark, (head & USED) != 0 ? NW_HEAP_HEADER : BLOCK_MIN);
}

uint8_t nw_heap_list_of(uint32_t size)
{
    uint8_t level = 0;

    size /= NW_HEAP_QUICK_MAX / 4U;
    while (size >= 8U) {
        size >>= 1;
        level++;
    }
    return (uint8_t)(4U * level + size - 4U);
}

int nw_heap_tell_after_free(struct nw_heap *heap, uint32_t offset, uint32_t after_free)
{
    struct nw_heap_mark mark;
    int error;

    if (offset == heap->top) {
        return NW_OK;
    }
    error = nw_heap_mark_get(heap, offset, &mark);
    if (error == NW_OK && (mark.head & AFTER_FREE) != after_free) {
        mark.head ^= AFTER_FREE;
        mark.check = check_word(heap, offset, mark.head);
        error = put(heap, offset, &mark, NW_HEAP_HEADER);
    }
    return error;
}

int nw_heap_large_get(struct nw_heap *heap, uint32_t offset, struct nw_heap_mark *mark)
{
    int error = nw_heap_mark_get(heap, offset, mark);

    return error == NW_OK && (mark->head & (USED | QUICK)) != 0 ? (int)NW_ERR_CORRUPT : error;
}

static int put_previous(struct nw_heap *heap, uint32_t offset, const uint32_t *previous)
{
    struct nw_heap_mark mark;
    int error = nw_heap_large_get(heap, offset, &mark);

    return error == NW_OK ? put(heap, offset + PREVIOUS, previous, sizeof *previous) : error;
}

int nw_heap_large_take(struct nw_heap *heap, uint32_t offset, uint32_t *size)
{
    struct nw_heap_mark mark;
    struct nw_heap_mark other;
    uint32_t *list;
    int error = nw_heap_large_get(heap, offset, &mark);

    if (error != NW_OK) {
        return error;
    }
    *size = nw_heap_size_of(&mark);
    heap->large_blocks--;
    list = &heap->large[nw_heap_list_of(*size)];
    if (*list == offset) {
        *list = mark.next;
        return NW_OK;
    }
    error = nw_heap_large_get(heap, mark.previous, &other);
    if (error == NW_OK && other.next != offset) {
        error = NW_ERR_CORRUPT;
    }
    if (error == NW_OK) {
        error = put(heap, mark.previous + NEXT, &mark.next, sizeof mark.next);
    }
    return error == NW_OK && mark.next != 0 ? put_previous(heap, mark.next, &mark.previous) : error;
}

int nw_heap_large_put(struct nw_heap *heap, uint32_t offset, uint32_t size)
{
    uint8_t list = nw_heap_list_of(size);
    uint32_t next = heap->large[list];
    int error = nw_heap_mark_put(heap, offset, size, next);

    if (error == NW_OK) {
        error = put(heap, offset + size - FOOT, &size, FOOT);
    }
    if (error == NW_OK && next != 0) {
        error = put_previous(heap, next, &offset);
    }
    if (error == NW_OK) {
        heap->large[list] = offset;
        heap->large_blocks++;
    }
    return error;
}

int nw_heap_quick_put(struct nw_heap *heap, uint32_t offset, uint32_t size, uint32_t head)
{
    uint32_t *list = &heap->quick[size / NW_HEAP_ALIGN];
    int error = nw_heap_mark_put(heap, offset, size | QUICK | (head & AFTER_FREE), *list);

    if (error == NW_OK) {
        *list = offset;
    }
    return error;
}

/* Gives back the whole pages inside a block that was freed. Pages with a header stay, also when
 * merging makes it a dead one: by it a second free is found out. */
static int discard(struct nw_heap *heap, uint32_t start, uint32_t end)
{
    uintptr_t from = heap->start + (uintptr_t)(start + BLOCK_MIN);

    return nw_vm_discard(heap->vm, from, (size_t)(end - FOOT - start - BLOCK_MIN));
}

/* Takes the large free block that ends at *offset out of its list: *offset becomes its start. */
static int take_before(struct nw_heap *heap, uint32_t *offset)
{
    uint32_t foot;
    uint32_t size = 0;
    int error = nw_heap_foot_get(heap, *offset, &foot);

    if (error == NW_OK) {
        error = nw_heap_large_take(heap, *offset - foot, &size);
    }
    *offset -= size;
    return error == NW_OK && size != foot ? (int)NW_ERR_CORRUPT : error;
}

int nw_heap_release(struct nw_heap *heap, uint32_t offset, uint32_t size, uint32_t head)
{
    uint32_t start = offset;
    uint32_t end = offset + size;
    struct nw_heap_mark after = {0, 0, 0, 0};
    int error = NW_OK;

    if (size <= NW_HEAP_QUICK_MAX && end != heap->top) {
        return nw_heap_quick_put(heap, offset, size, head);
    }
    if (end != heap->top) {
        error = nw_heap_mark_get(heap, end, &after); /* wrong: told while nothing is changed */
    }
    if (error == NW_OK && (head & AFTER_FREE) != 0) {
        error = take_before(heap, &start);
    }
    if (error == NW_OK && size > NW_HEAP_QUICK_MAX) {
        error = discard(heap, offset, end);
    }
    /* A second free of this block must find it free, also when it is the middle of another then. */
    if (error == NW_OK) {
        error = nw_heap_mark_put(heap, offset, size | QUICK, 0);
    }
    if (error != NW_OK) {
        return error;
    }
    if (end == heap->top) {
        heap->top = start;
        return NW_OK;
    }
    if (nw_heap_is_large_free(&after)) {
        error = nw_heap_large_take(heap, end, &size);
        end += size;
    } else {
        error = nw_heap_tell_after_free(heap, end, AFTER_FREE);
    }
    return error == NW_OK ? nw_heap_large_put(heap, start, end - start) : error;
}

/* One free run found by the walk, from `run` up to the block at `end`. */
static int close_run(struct nw_heap *heap, uint32_t run, uint32_t end)
{
    uint32_t size = end - run;

    return size > NW_HEAP_QUICK_MAX ? nw_heap_large_put(heap, run, size)
                                    : nw_heap_quick_put(heap, run, size, 0);
}

int nw_heap_walk(struct nw_heap *heap, uint32_t keep, uint32_t least, uint32_t *kept)
{
    uint32_t offset = NW_HEAP_FIRST;
    uint32_t run = NW_HEAP_FIRST; /* where the bytes free up to `offset` begin */

    memset(heap->quick, 0, sizeof heap->quick);
    memset(heap->large, 0, sizeof heap->large);
    heap->large_blocks = 0;
    heap->carve_bytes = 0;
    heap->gap = 0;
    heap->stats.walks++;
    while (offset < heap->top) {
        uint32_t size = offset - run;
        struct nw_heap_mark mark;
        int error = nw_heap_mark_get(heap, offset, &mark);

        if (error == NW_OK && (mark.head & USED) != 0) {
            error = nw_heap_tell_after_free(heap, offset,
                                            size > NW_HEAP_QUICK_MAX ? AFTER_FREE : 0);
            heap->gap = size > heap->gap ? size : heap->gap;
            if (run == keep && size >= least) {
                *kept = size;
            } else if (error == NW_OK && size != 0) {
                error = close_run(heap, run, offset);
            }
            run = offset + nw_heap_size_of(&mark);
        }
        if (error != NW_OK) {
            return error;
        }
        offset += nw_heap_size_of(&mark);
    }
    heap->top = run;
    heap->longest = heap->gap;
    return NW_OK;
}
