/* SPDX-License-Identifier: Apache-2.0 */
/*
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
 */
#include "nandwich/heap.h"

#include <string.h>

#include "frames.h"

#define USED 1U
#define AFTER_FREE 2U
#define QUICK 4U
#define STATE 7U

#define HEADER 8U
#define FIRST 8U      /* offset of the first block: its content is aligned */
#define BLOCK_MIN 16U /* header and both links */
#define SPLIT_MIN 64U /* a resized block gives back no less */
#define TRIES 4U      /* blocks looked at in a list that holds smaller ones too */

struct mark {
    uint32_t head; /* size | state */
    uint32_t check;
    uint32_t next;     /* free blocks only: offset, 0 ends the list */
    uint32_t previous; /* large free blocks only */
};

#define LISTS (sizeof((struct nw_heap *)0)->large / sizeof((struct nw_heap *)0)->large[0])

static int get(struct nw_heap *heap, uint32_t offset, void *to, size_t n)
{
    return nw_vm_pass(heap->vm, (uintptr_t)to, heap->start + (uintptr_t)offset, n);
}

static int put(struct nw_heap *heap, uint32_t offset, const void *from, size_t n)
{
    return nw_vm_pass(heap->vm, heap->start + (uintptr_t)offset, (uintptr_t)from, n);
}

static uint32_t check_word(uint32_t offset, uint32_t head)
{
    return (uint32_t)((head ^ 0x5A17C0DEUL) * 0x9E3779B1UL) ^ (uint32_t)(offset * 0x85EBCA6BUL);
}

static uint32_t size_of(const struct mark *mark)
{
    return mark->head & ~(uint32_t)STATE;
}

static int is_large_free(const struct mark *mark)
{
    return (mark->head & (USED | QUICK)) == 0;
}

/* Reads a mark and verifies its header. Links beyond it are whatever lies there. */
static int get_mark(struct nw_heap *heap, uint32_t offset, struct mark *mark)
{
    int error;

    if (offset < FIRST || offset >= heap->top || heap->top - offset < BLOCK_MIN) {
        return NW_ERR_CORRUPT;
    }
    error = get(heap, offset, mark, sizeof *mark);
    if (error == NW_OK &&
        (mark->check != check_word(offset, mark->head) || size_of(mark) < BLOCK_MIN ||
         size_of(mark) > heap->top - offset)) {
        error = NW_ERR_CORRUPT;
    }
    return error;
}

static int put_mark(struct nw_heap *heap, uint32_t offset, uint32_t head, uint32_t next)
{
    struct mark mark;

    mark.head = head;
    mark.check = check_word(offset, head);
    mark.next = next;
    mark.previous = 0;
    return put(heap, offset, &mark, (head & USED) != 0 ? HEADER : BLOCK_MIN);
}

/* The large list of a size: four to each power of two. */
static uint8_t list_of(uint32_t size)
{
    uint8_t level = 0;

    size /= NW_HEAP_QUICK_MAX / 4U;
    while (size >= 8U) {
        size >>= 1;
        level++;
    }
    return (uint8_t)(4U * level + size - 4U);
}

/* Says in a block's head whether the block before it is large and free. */
static int tell_after_free(struct nw_heap *heap, uint32_t offset, uint32_t after_free)
{
    struct mark mark;
    int error;

    if (offset == heap->top) {
        return NW_OK;
    }
    error = get_mark(heap, offset, &mark);
    if (error == NW_OK && (mark.head & AFTER_FREE) != after_free) {
        mark.head ^= AFTER_FREE;
        mark.check = check_word(offset, mark.head);
        error = put(heap, offset, &mark, HEADER);
    }
    return error;
}

/* Takes a large free block out of its list. */
static int take_large(struct nw_heap *heap, uint32_t offset, const struct mark *mark)
{
    uint8_t list = list_of(size_of(mark));
    struct mark other;
    int error;

    heap->large_blocks--;
    if (heap->large[list] == offset) {
        heap->large[list] = mark->next;
        return NW_OK;
    }
    error = get_mark(heap, mark->previous, &other);
    if (error == NW_OK && other.next != offset) {
        error = NW_ERR_CORRUPT;
    }
    if (error == NW_OK) {
        error = put(heap, mark->previous + 8U, &mark->next, 4);
    }
    if (error == NW_OK && mark->next != 0) {
        error = get_mark(heap, mark->next, &other);
        if (error == NW_OK) {
            error = put(heap, mark->next + 12U, &mark->previous, 4);
        }
    }
    return error;
}

/* Puts a block into its large list. The block after it is the caller's care. */
static int link_large(struct nw_heap *heap, uint32_t offset, uint32_t size)
{
    uint8_t list = list_of(size);
    uint32_t next = heap->large[list];
    int error = put_mark(heap, offset, size, next);

    if (error == NW_OK) {
        error = put(heap, offset + size - 4U, &size, 4);
    }
    if (error == NW_OK && next != 0) {
        struct mark other;

        error = get_mark(heap, next, &other);
        if (error == NW_OK) {
            error = put(heap, next + 12U, &offset, 4);
        }
    }
    if (error == NW_OK) {
        heap->large[list] = offset;
        heap->large_blocks++;
    }
    return error;
}

static int link_quick(struct nw_heap *heap, uint32_t offset, uint32_t size, uint32_t after_free)
{
    uint32_t *list = &heap->quick[size / NW_HEAP_ALIGN];
    int error = put_mark(heap, offset, size | QUICK | after_free, *list);

    if (error == NW_OK) {
        *list = offset;
        heap->unmerged = 1;
    }
    return error;
}

/* Gives back the whole pages inside a block that was freed. Pages with a header stay, also when
 * merging makes it a dead one: by it a second free is found out. */
static int discard(struct nw_heap *heap, uint32_t start, uint32_t end)
{
    uintptr_t from = heap->start + (uintptr_t)(start + BLOCK_MIN);

    return nw_vm_discard(heap->vm, from, (size_t)(end - 4U - start - BLOCK_MIN));
}

/* Makes [offset, offset + size) free, merging where that is due. Its head need not be valid. */
static int release(struct nw_heap *heap, uint32_t offset, uint32_t size, uint32_t after_free)
{
    uint32_t start = offset;
    uint32_t end = offset + size;
    struct mark mark;
    int error;

    if (size <= NW_HEAP_QUICK_MAX && end != heap->top) {
        return link_quick(heap, offset, size, after_free);
    }
    if (size > NW_HEAP_QUICK_MAX) {
        error = discard(heap, start, end);
        if (error != NW_OK) {
            return error;
        }
    }
    /* A second free of this block must find it free, also when it is the middle of another then. */
    error = put_mark(heap, offset, size | QUICK, 0);
    if (error == NW_OK && after_free != 0) {
        uint32_t before;

        error = get(heap, offset - 4U, &before, 4);
        if (error == NW_OK) {
            error = get_mark(heap, offset - before, &mark);
        }
        if (error == NW_OK && (!is_large_free(&mark) || size_of(&mark) != before)) {
            error = NW_ERR_CORRUPT;
        }
        if (error == NW_OK) {
            offset -= before;
            size += before;
            error = take_large(heap, offset, &mark);
        }
    }
    if (error != NW_OK) {
        return error;
    }
    if (end == heap->top) {
        heap->top = offset;
        return NW_OK;
    }
    error = get_mark(heap, end, &mark);
    if (error == NW_OK && is_large_free(&mark)) {
        size += size_of(&mark);
        error = take_large(heap, end, &mark);
    } else if (error == NW_OK) {
        error = tell_after_free(heap, end, AFTER_FREE);
    }
    return error == NW_OK ? link_large(heap, offset, size) : error;
}

/* Hands out the first `need` bytes of a block of `size` that ends before a head marked
 * AFTER_FREE; the rest goes back to the lists. Answers in *size what was handed out. */
static int cut_large(struct nw_heap *heap, uint32_t offset, uint32_t *size, uint32_t need,
                     uint32_t after_free)
{
    uint32_t rest = *size - need;
    uint32_t end = offset + *size;
    int error;

    if (rest < BLOCK_MIN) {
        need = *size;
    }
    *size = need;
    error = put_mark(heap, offset, need | USED | after_free, 0);
    if (error == NW_OK && rest > NW_HEAP_QUICK_MAX) {
        return link_large(heap, offset + need, rest);
    }
    if (error == NW_OK) {
        error = tell_after_free(heap, end, 0);
    }
    if (error == NW_OK && rest >= BLOCK_MIN) {
        error = link_quick(heap, offset + need, rest, 0);
    }
    return error;
}

/* The same from the carve block. The block before it may have been freed since it was chosen. */
static int cut_carve(struct nw_heap *heap, uint32_t *size, uint32_t need)
{
    uint32_t offset = heap->carve;
    struct mark mark;
    int error = get_mark(heap, offset, &mark);

    if (error != NW_OK) {
        return error;
    }
    if (heap->carve_bytes - need < BLOCK_MIN) {
        need = heap->carve_bytes;
        heap->carve = 0;
    } else {
        heap->carve += need;
    }
    heap->carve_bytes -= need;
    if (heap->carve != 0) {
        error = put_mark(heap, heap->carve, heap->carve_bytes | QUICK, 0);
    }
    *size = need;
    return error == NW_OK ? put_mark(heap, offset, need | USED | (mark.head & AFTER_FREE), 0)
                          : error;
}

/* A large free block of at least `need` bytes, taken out of its list; 0: none. */
static int find_large(struct nw_heap *heap, uint32_t need, uint32_t *offset, struct mark *mark)
{
    uint8_t list = 0;
    uint8_t tries;
    int error;

    *offset = 0;
    if (heap->large_blocks == 0) {
        return NW_OK;
    }
    if (need > NW_HEAP_QUICK_MAX) {
        /* The list of this very size holds smaller ones too: only its first few are looked at. */
        uint32_t at = heap->large[list = list_of(need)];

        for (tries = 0; at != 0 && tries < TRIES; tries++) {
            error = get_mark(heap, at, mark);
            if (error != NW_OK) {
                return error;
            }
            if (size_of(mark) >= need) {
                *offset = at;
                return take_large(heap, at, mark);
            }
            at = mark->next;
        }
        list++;
    }
    while (list < LISTS && heap->large[list] == 0) {
        list++;
    }
    if (list == LISTS) {
        return NW_OK;
    }
    *offset = heap->large[list];
    error = get_mark(heap, *offset, mark);
    return error == NW_OK ? take_large(heap, *offset, mark) : error;
}

/* One free run found by the walk, up to `end`; the block at `end` is told by the walk itself. */
static int close_run(struct nw_heap *heap, uint32_t run, uint32_t end)
{
    if (end - run <= NW_HEAP_QUICK_MAX) {
        return link_quick(heap, run, end - run, 0);
    }
    return link_large(heap, run, end - run);
}

/* Merges all free neighbours, small ones too, and sorts them anew. */
static int walk(struct nw_heap *heap)
{
    uint32_t offset = FIRST;
    uint32_t run = 0;
    int error = NW_OK;

    memset(heap->quick, 0, sizeof heap->quick);
    memset(heap->large, 0, sizeof heap->large);
    heap->large_blocks = 0;
    heap->carve = 0;
    heap->carve_bytes = 0;
    heap->stats.walks++;
    while (error == NW_OK && offset < heap->top) {
        struct mark mark;
        uint32_t after_free = 0;

        error = get_mark(heap, offset, &mark);
        if (error != NW_OK) {
            return error;
        }
        if ((mark.head & USED) == 0) {
            run = run != 0 ? run : offset;
        } else {
            if (run != 0) {
                error = close_run(heap, run, offset);
                after_free = offset - run > NW_HEAP_QUICK_MAX ? AFTER_FREE : 0;
                run = 0;
            }
            if (error == NW_OK) {
                error = tell_after_free(heap, offset, after_free);
            }
        }
        offset += size_of(&mark);
    }
    if (error == NW_OK && run != 0) {
        heap->top = run;
    }
    heap->unmerged = 0;
    return error;
}

/* Moves the top up; 0: no room. */
static int raise_top(struct nw_heap *heap, uint32_t need)
{
    if (need > heap->bytes - heap->top) {
        return 0;
    }
    heap->top += need;
    if (heap->top > heap->stats.reach) {
        heap->stats.reach = heap->top;
    }
    return 1;
}

static int from_top(struct nw_heap *heap, uint32_t need, uint32_t *offset)
{
    *offset = heap->top;
    return raise_top(heap, need) ? put_mark(heap, *offset, need | USED, 0) : NW_ERR_FULL;
}

static int small_block(struct nw_heap *heap, uint32_t need, uint32_t *offset, uint32_t *size)
{
    uint32_t *list = &heap->quick[need / NW_HEAP_ALIGN];
    struct mark mark;
    int error;

    *size = need;
    if (*list != 0) {
        *offset = *list;
        error = get_mark(heap, *offset, &mark);
        if (error == NW_OK && (mark.head & ~(uint32_t)AFTER_FREE) != (need | QUICK)) {
            error = NW_ERR_CORRUPT;
        }
        if (error == NW_OK) {
            *list = mark.next;
            error = put_mark(heap, *offset, (mark.head ^ QUICK) | USED, 0);
        }
        return error;
    }
    if (heap->carve_bytes < need) {
        uint32_t old = heap->carve;
        uint32_t old_bytes = heap->carve_bytes;
        uint32_t found;

        error = find_large(heap, need, &found, &mark);
        if (error != NW_OK) {
            return error;
        }
        if (found == 0) {
            return from_top(heap, need, offset);
        }
        heap->carve = found;
        heap->carve_bytes = size_of(&mark);
        error = put_mark(heap, found, heap->carve_bytes | QUICK, 0);
        if (error == NW_OK) {
            error = tell_after_free(heap, found + heap->carve_bytes, 0);
        }
        if (error == NW_OK && old != 0) {
            error = get_mark(heap, old, &mark);
            if (error == NW_OK) {
                error = release(heap, old, old_bytes, mark.head & AFTER_FREE);
            }
        }
        if (error != NW_OK) {
            return error;
        }
    }
    *offset = heap->carve;
    return cut_carve(heap, size, need);
}

static int any_block(struct nw_heap *heap, uint32_t need, uint32_t *offset, uint32_t *size)
{
    struct mark mark;
    int error;

    if (need <= NW_HEAP_QUICK_MAX) {
        return small_block(heap, need, offset, size);
    }
    error = find_large(heap, need, offset, &mark);
    if (error != NW_OK) {
        return error;
    }
    if (*offset != 0) {
        *size = size_of(&mark);
        return cut_large(heap, *offset, size, need, 0);
    }
    *size = need;
    return from_top(heap, need, offset);
}

static void count_used(struct nw_heap *heap, uint32_t more, uint32_t less)
{
    heap->stats.used += more - less;
    if (heap->stats.used > heap->stats.peak) {
        heap->stats.peak = heap->stats.used;
    }
}

/* Gives back what a block has beyond `need`, if that is worth a block. */
static int shorten(struct nw_heap *heap, uint32_t offset, uint32_t *size, uint32_t need,
                   uint32_t after_free)
{
    uint32_t rest = *size - need;
    int error;

    if (rest < SPLIT_MIN) {
        return NW_OK;
    }
    *size = need;
    error = put_mark(heap, offset, need | USED | after_free, 0);
    return error == NW_OK ? release(heap, offset + need, rest, 0) : error;
}

/* Bytes of the block for a request; 0: larger than any heap. */
static uint32_t block_bytes(size_t bytes)
{
    uint32_t size = (uint32_t)bytes;

    if (size != bytes || size > NW_HEAP_BYTES_MAX) {
        return 0;
    }
    size = (size + HEADER + NW_HEAP_ALIGN - 1U) & ~(uint32_t)(NW_HEAP_ALIGN - 1U);
    return size < BLOCK_MIN ? BLOCK_MIN : size;
}

/* Moves the start of a fresh block up so that its content is aligned, and gives back both ends. */
static int align_block(struct nw_heap *heap, uint32_t *offset, uint32_t *size, uint32_t need,
                       size_t align)
{
    uintptr_t content = heap->start + (uintptr_t)*offset + HEADER;
    uint32_t gap = (uint32_t)((align - (content & (align - 1U))) & (align - 1U));
    uint32_t front = *offset;
    struct mark mark;
    int error;

    if (gap > 0 && gap < BLOCK_MIN) {
        gap += (uint32_t)align;
    }
    error = get_mark(heap, front, &mark);
    if (error == NW_OK && gap > 0) {
        *offset += gap;
        *size -= gap;
        error = put_mark(heap, *offset, *size | USED, 0);
        if (error == NW_OK) {
            error = release(heap, front, gap, mark.head & AFTER_FREE);
        }
        mark.head = gap > NW_HEAP_QUICK_MAX ? AFTER_FREE : 0;
    }
    return error == NW_OK ? shorten(heap, *offset, size, need, mark.head & AFTER_FREE) : error;
}

int nw_heap_open(struct nw_heap *heap, struct nw_vm *vm, uintptr_t start, uint32_t bytes)
{
    uint8_t skip = (uint8_t)((16U - (start & 15U)) & 15U);

    memset(heap, 0, sizeof *heap);
    if (bytes < 64U || bytes > NW_HEAP_BYTES_MAX || start - vm->base >= vm->bytes ||
        bytes > vm->bytes - (start - vm->base)) {
        return NW_ERR_CONFIG;
    }
    heap->vm = vm;
    heap->start = start + skip;
    heap->bytes = bytes - skip;
    heap->top = FIRST;
    return NW_OK;
}

int nw_heap_alloc(struct nw_heap *heap, size_t bytes, size_t align, uintptr_t *address)
{
    uint32_t need = block_bytes(bytes);
    uint32_t ask = need;
    uint32_t offset = 0;
    uint32_t size = 0;
    int error = NW_ERR_FULL;

    *address = 0;
    if (align > NW_HEAP_ALIGN) {
        ask = align < heap->bytes ? need + (uint32_t)align + BLOCK_MIN : 0;
    }
    if ((align & (align - 1U)) != 0) {
        return NW_ERR_ALIGN;
    }
    if (need != 0 && ask != 0 && ask < heap->bytes) {
        error = any_block(heap, ask, &offset, &size);
        if (error == NW_ERR_FULL && (heap->unmerged || heap->carve != 0)) {
            error = walk(heap);
            if (error == NW_OK) {
                error = any_block(heap, ask, &offset, &size);
            }
        }
        if (error == NW_OK && ask != need) {
            error = align_block(heap, &offset, &size, need, align);
        }
    }
    if (error == NW_OK) {
        count_used(heap, size, 0);
        heap->stats.blocks++;
        heap->stats.allocs++;
        *address = heap->start + (uintptr_t)offset + HEADER;
    } else if (error == NW_ERR_FULL) {
        heap->stats.failures++;
    }
    return error;
}

int nw_heap_alloc_zeroed(struct nw_heap *heap, size_t count, size_t bytes, uintptr_t *address)
{
    int error;

    *address = 0;
    if (bytes != 0 && count > SIZE_MAX / bytes) {
        heap->stats.failures++;
        return NW_ERR_FULL;
    }
    error = nw_heap_alloc(heap, count * bytes, 0, address);
    return error == NW_OK ? nw_vm_fill(heap->vm, *address, 0, count * bytes) : error;
}

/* The block whose content begins at address. */
static int find_block(struct nw_heap *heap, uintptr_t address, uint32_t *offset, struct mark *mark)
{
    int error;

    if (address - heap->start < FIRST + HEADER || address - heap->start >= heap->bytes ||
        address % NW_HEAP_ALIGN != 0) {
        return NW_ERR_RANGE;
    }
    *offset = (uint32_t)(address - heap->start) - HEADER;
    if (*offset >= heap->top) {
        return NW_ERR_NOT_FOUND;
    }
    error = get_mark(heap, *offset, mark);
    if (error == NW_OK && (mark->head & USED) == 0) {
        error = NW_ERR_NOT_FOUND;
    }
    return error;
}

int nw_heap_free(struct nw_heap *heap, uintptr_t address)
{
    uint32_t offset;
    struct mark mark;
    int error;

    if (address == 0) {
        return NW_OK;
    }
    error = find_block(heap, address, &offset, &mark);
    if (error == NW_OK) {
        error = release(heap, offset, size_of(&mark), mark.head & AFTER_FREE);
    }
    if (error == NW_OK) {
        count_used(heap, 0, size_of(&mark));
        heap->stats.blocks--;
        heap->stats.frees++;
    }
    return error;
}

int nw_heap_size(struct nw_heap *heap, uintptr_t address, size_t *bytes)
{
    uint32_t offset;
    struct mark mark;
    int error = find_block(heap, address, &offset, &mark);

    *bytes = error == NW_OK ? (size_t)(size_of(&mark) - HEADER) : 0;
    return error;
}

/* Grows a block where it lies, if what follows is free and large enough; *size tells. */
static int extend(struct nw_heap *heap, uint32_t offset, uint32_t *size, uint32_t need,
                  uint32_t after_free)
{
    uint32_t end = offset + *size;
    uint32_t more = need - *size;
    struct mark mark;
    int error;

    if (end == heap->top) {
        if (!raise_top(heap, more)) {
            return NW_OK;
        }
        *size = need;
    } else if (end == heap->carve && heap->carve_bytes >= more) {
        error = cut_carve(heap, &more, more);
        if (error != NW_OK) {
            return error;
        }
        *size += more;
    } else {
        error = get_mark(heap, end, &mark);
        if (error != NW_OK || !is_large_free(&mark) || size_of(&mark) < more) {
            return error;
        }
        error = take_large(heap, end, &mark);
        if (error != NW_OK) {
            return error;
        }
        *size += size_of(&mark);
        return cut_large(heap, offset, size, need, after_free);
    }
    return put_mark(heap, offset, *size | USED | after_free, 0);
}

static int move_block(struct nw_heap *heap, uintptr_t *address, size_t bytes, size_t content)
{
    uintptr_t to;
    int error = nw_heap_alloc(heap, bytes, 0, &to);

    if (error == NW_OK) {
        error = nw_vm_pass(heap->vm, to, *address, content);
    }
    if (error == NW_OK) {
        error = nw_heap_free(heap, *address);
    }
    if (error == NW_OK) {
        *address = to;
    }
    return error;
}

int nw_heap_resize(struct nw_heap *heap, uintptr_t *address, size_t bytes)
{
    uint32_t need = block_bytes(bytes);
    uint32_t offset;
    uint32_t size;
    uint32_t old;
    struct mark mark;
    int error;

    if (*address == 0) {
        return nw_heap_alloc(heap, bytes, 0, address);
    }
    error = find_block(heap, *address, &offset, &mark);
    if (error != NW_OK) {
        return error;
    }
    if (need == 0) {
        heap->stats.failures++;
        return NW_ERR_FULL;
    }
    old = size_of(&mark);
    size = old;
    if (need <= size) {
        error = shorten(heap, offset, &size, need, mark.head & AFTER_FREE);
    } else {
        error = extend(heap, offset, &size, need, mark.head & AFTER_FREE);
    }
    if (error == NW_OK) {
        count_used(heap, size, old);
        if (size < need) {
            error = move_block(heap, address, bytes, (size_t)(old - HEADER));
        }
    }
    return error;
}

/* What the walk of nw_heap_check() has seen of the block before. */
struct sum {
    uint32_t used;
    uint32_t blocks;
    uint16_t large;
    uint32_t before; /* size of the block before when it is large and free, else 0 */
};

static int check_block(struct nw_heap *heap, uint32_t offset, const struct mark *mark,
                       struct sum *sum)
{
    uint32_t size = size_of(mark);
    uint32_t foot = 0;

    if (((mark->head & AFTER_FREE) != 0) != (sum->before != 0)) {
        return NW_ERR_CORRUPT;
    }
    if (sum->before != 0) {
        int error = get(heap, offset - 4U, &foot, 4);

        if (error != NW_OK || foot != sum->before || is_large_free(mark)) {
            return error != NW_OK ? error : NW_ERR_CORRUPT;
        }
    }
    sum->before = 0;
    if ((mark->head & USED) != 0) {
        sum->used += size;
        sum->blocks++;
    } else if (is_large_free(mark)) {
        sum->before = size;
        sum->large++;
    }
    return NW_OK;
}

int nw_heap_check(struct nw_heap *heap, uintptr_t *address)
{
    struct sum sum = {0, 0, 0, 0};
    uint32_t offset = FIRST;
    int error = NW_OK;

    while (error == NW_OK && offset < heap->top) {
        struct mark mark;

        *address = heap->start + (uintptr_t)offset + HEADER;
        error = get_mark(heap, offset, &mark);
        if (error == NW_OK) {
            error = check_block(heap, offset, &mark, &sum);
            offset += size_of(&mark);
        }
    }
    if (error == NW_OK &&
        (offset != heap->top || sum.before != 0 || sum.used != heap->stats.used ||
         sum.blocks != heap->stats.blocks || sum.large != heap->large_blocks)) {
        error = NW_ERR_CORRUPT;
    }
    return error;
}
