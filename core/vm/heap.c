/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handing out blocks and taking them back. Room is looked for where it costs the fewest page
 * touches first: the quick list of the very size, the carve block, the large lists, above the top;
 * then all that is free but lies badly; and at last a walk merges what has not been merged.
 */
#include "nandwich/heap.h"

#include <string.h>

#include "frames.h"
#include "heap_block.h"

#define USED NW_HEAP_USED
#define AFTER_FREE NW_HEAP_AFTER_FREE
#define QUICK NW_HEAP_QUICK
#define HEADER NW_HEAP_HEADER
#define FIRST NW_HEAP_FIRST
#define BLOCK_MIN NW_HEAP_BLOCK_MIN
#define SPLIT_MIN 64U /* a resized block gives back no less */
#define TRIES 4U      /* blocks looked at in a list that holds smaller ones too */
#define NO_ROOM 1     /* the heap's own refusal: the device's NW_ERR_FULL is another matter */

#define QUICK_LISTS (NW_HEAP_QUICK_MAX / NW_HEAP_ALIGN + 1U)
#define LISTS (sizeof((struct nw_heap *)0)->large / sizeof((struct nw_heap *)0)->large[0])

/* Makes a block one handed out; of `head` it keeps what was known of the block before. */
static int use(struct nw_heap *heap, uint32_t offset, uint32_t size, uint32_t head)
{
    return nw_heap_mark_put(heap, offset, size | USED | (head & AFTER_FREE), 0);
}

/* Hands out the first `need` bytes of a block of *size; the rest goes to the lists. If that is
 * large, the head after it must say AFTER_FREE already. *size becomes what was handed out. */
static int cut_large(struct nw_heap *heap, uint32_t offset, uint32_t *size, uint32_t need,
                     uint32_t head)
{
    uint32_t rest = *size - need;
    uint32_t end = offset + *size;
    int error;

    if (rest < BLOCK_MIN) {
        need = *size;
    }
    *size = need;
    error = use(heap, offset, need, head);
    if (error == NW_OK && rest > NW_HEAP_QUICK_MAX) {
        return nw_heap_large_put(heap, offset + need, rest);
    }
    if (error == NW_OK) {
        error = nw_heap_tell_after_free(heap, end, 0);
    }
    if (error == NW_OK && rest >= BLOCK_MIN) {
        error = nw_heap_quick_put(heap, offset + need, rest, 0);
    }
    return error;
}

/* Takes the first *need bytes, or a little more, off the carve block. Its header stays where it
 * was, a free one: whoever takes the bytes writes a header of its own. */
static int take_carve(struct nw_heap *heap, uint32_t *need)
{
    if (heap->carve_bytes - *need < BLOCK_MIN) {
        *need = heap->carve_bytes;
    }
    heap->carve += *need;
    heap->carve_bytes -= *need;
    return heap->carve_bytes != 0
               ? nw_heap_mark_put(heap, heap->carve, heap->carve_bytes | QUICK, 0)
               : (int)NW_OK;
}

/* The same as a block. The block before the carve may have been freed since it was chosen. */
static int cut_carve(struct nw_heap *heap, uint32_t *offset, uint32_t *size)
{
    struct nw_heap_mark mark;
    int error;

    *offset = heap->carve;
    error = nw_heap_mark_get(heap, *offset, &mark);
    if (error == NW_OK) {
        error = take_carve(heap, size);
    }
    return error == NW_OK ? use(heap, *offset, *size, mark.head) : error;
}

/* A large free block of at least `need` bytes, taken out of its list; *offset 0: none. The list of
 * this very size holds smaller ones too: so many of it are looked at. */
static int find_large(struct nw_heap *heap, uint32_t need, uint32_t tries, uint32_t *offset,
                      uint32_t *size)
{
    uint8_t list = 0;
    uint32_t at = 0;

    *offset = 0;
    if (heap->large_blocks == 0) {
        return NW_OK;
    }
    if (need > NW_HEAP_QUICK_MAX) {
        list = nw_heap_list_of(need);
        at = heap->large[list++];
    }
    for (; at != 0 && tries > 0; tries--) {
        struct nw_heap_mark mark;
        int error = nw_heap_large_get(heap, at, &mark);

        if (error != NW_OK) {
            return error;
        }
        if (nw_heap_size_of(&mark) >= need) {
            break;
        }
        at = mark.next;
    }
    if (at == 0 || tries == 0) {
        while (list < LISTS && heap->large[list] == 0) {
            list++;
        }
        at = list < LISTS ? heap->large[list] : 0;
    }
    *offset = at;
    return at != 0 ? nw_heap_large_take(heap, at, size) : (int)NW_OK;
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
    return raise_top(heap, need) ? use(heap, *offset, need, 0) : NO_ROOM;
}

/* Hands out the first block of a quick list of blocks of `bytes`, or the first *size of it. */
static int from_quick(struct nw_heap *heap, uint32_t bytes, uint32_t *offset, uint32_t *size)
{
    uint32_t *list = &heap->quick[bytes / NW_HEAP_ALIGN];
    struct nw_heap_mark mark;
    int error;

    *offset = *list;
    error = nw_heap_mark_get(heap, *offset, &mark);
    if (error == NW_OK && (mark.head & ~(uint32_t)AFTER_FREE) != (bytes | QUICK)) {
        error = NW_ERR_CORRUPT;
    }
    if (error != NW_OK) {
        return error;
    }
    *list = mark.next;
    if (bytes - *size < BLOCK_MIN) {
        *size = bytes;
    } else {
        error = nw_heap_quick_put(heap, *offset + *size, bytes - *size, 0);
    }
    return error == NW_OK ? use(heap, *offset, *size, mark.head) : error;
}

/* A large free block becomes the one small requests are cut from. */
static int change_carve(struct nw_heap *heap, uint32_t found, uint32_t bytes)
{
    uint32_t old = heap->carve;
    uint32_t old_bytes = heap->carve_bytes;
    struct nw_heap_mark mark;
    int error = nw_heap_mark_put(heap, found, bytes | QUICK, 0);

    heap->carve = found;
    heap->carve_bytes = bytes;
    if (error == NW_OK) {
        error = nw_heap_tell_after_free(heap, found + bytes, 0);
    }
    if (error == NW_OK && old_bytes != 0) {
        error = nw_heap_mark_get(heap, old, &mark);
        if (error == NW_OK) {
            error = nw_heap_release(heap, old, old_bytes, mark.head);
        }
    }
    return error;
}

static int small_block(struct nw_heap *heap, uint32_t *offset, uint32_t *size)
{
    uint32_t need = *size;

    if (heap->quick[need / NW_HEAP_ALIGN] != 0) {
        return from_quick(heap, need, offset, size);
    }
    if (heap->carve_bytes < need) {
        uint32_t found;
        uint32_t bytes;
        int error = find_large(heap, need, 0, &found, &bytes);

        if (error == NW_OK && found != 0) {
            error = change_carve(heap, found, bytes);
        } else if (error == NW_OK) {
            return from_top(heap, need, offset);
        }
        if (error != NW_OK) {
            return error;
        }
    }
    return cut_carve(heap, offset, size);
}

static int large_block(struct nw_heap *heap, uint32_t tries, uint32_t *offset, uint32_t *size)
{
    uint32_t need = *size;
    int error = find_large(heap, need, tries, offset, size);

    if (error == NW_OK && *offset != 0) {
        error = cut_large(heap, *offset, size, need, 0);
    } else if (error == NW_OK) {
        error = from_top(heap, need, offset);
    }
    return error;
}

/* A block of *size bytes or a little more out of what is free as it lies; NO_ROOM: none. */
static int any_block(struct nw_heap *heap, uint32_t *offset, uint32_t *size)
{
    int small = *size <= NW_HEAP_QUICK_MAX;
    uint32_t list = *size / NW_HEAP_ALIGN;
    int error = small ? small_block(heap, offset, size) : large_block(heap, TRIES, offset, size);

    if (error != NO_ROOM) {
        return error;
    }
    if (heap->carve_bytes >= *size) {
        return cut_carve(heap, offset, size);
    }
    if (!small) {
        return large_block(heap, heap->large_blocks, offset, size);
    }
    while (list < QUICK_LISTS && heap->quick[list] == 0) {
        list++;
    }
    return list < QUICK_LISTS ? from_quick(heap, list * NW_HEAP_ALIGN, offset, size) : NO_ROOM;
}

/* The same with a walk before NO_ROOM, where one may help. If it finds `more` free bytes at
 * `keep`, their number comes back in *kept, and NO_ROOM. */
static int find_room(struct nw_heap *heap, uint32_t keep, uint32_t more, uint32_t *kept,
                     uint32_t *offset, uint32_t *size)
{
    uint32_t most = heap->longest + (heap->bytes - heap->top);
    int error = NO_ROOM;

    if (most > heap->bytes - FIRST) {
        most = heap->bytes - FIRST; /* for larger ones there is no list */
    }
    if (*size <= most) {
        error = any_block(heap, offset, size);
    }
    *kept = 0;
    if (error != NO_ROOM || more > most ||
        (heap->longest == heap->gap && (keep == 0 || more > NW_HEAP_QUICK_MAX))) {
        return error; /* nothing has come free since the last walk that is not in its list alone */
    }
    error = nw_heap_walk(heap, keep, more, kept);
    if (error == NW_OK) {
        error = *kept == 0 && *size <= most ? any_block(heap, offset, size) : NO_ROOM;
    }
    return error;
}

/* What came free may join a run on either side: the longest one may be longer now by itself, and
 * by one that was there at the last walk. */
static void count_freed(struct nw_heap *heap, uint32_t size)
{
    heap->longest += heap->gap + size;
    if (heap->longest > heap->bytes) {
        heap->longest = heap->bytes;
    }
}

/* A block of `less` bytes became one of `more`; 0: none. */
static void count_used(struct nw_heap *heap, uint32_t more, uint32_t less)
{
    heap->stats.used += more - less;
    if (heap->stats.used > heap->stats.peak) {
        heap->stats.peak = heap->stats.used;
    }
    if (less > more) {
        count_freed(heap, less - more);
    }
}

static void count_alloc(struct nw_heap *heap, uint32_t size)
{
    count_used(heap, size, 0);
    heap->stats.blocks++;
    heap->stats.allocs++;
}

/* Gives back what a block has beyond `need`, if that is worth a block. */
static int shorten(struct nw_heap *heap, uint32_t offset, uint32_t *size, uint32_t need,
                   uint32_t head)
{
    uint32_t rest = *size - need;
    int error;

    if (rest < SPLIT_MIN) {
        return NW_OK;
    }
    *size = need;
    error = use(heap, offset, need, head);
    return error == NW_OK ? nw_heap_release(heap, offset + need, rest, 0) : error;
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
    struct nw_heap_mark mark;
    int error;

    if (gap > 0 && gap < BLOCK_MIN) {
        gap += (uint32_t)align;
    }
    error = nw_heap_mark_get(heap, front, &mark);
    if (error == NW_OK && gap > 0) {
        *offset += gap;
        *size -= gap;
        error = use(heap, *offset, *size, 0);
        if (error == NW_OK) {
            error = nw_heap_release(heap, front, gap, mark.head);
        }
        mark.head = gap > NW_HEAP_QUICK_MAX ? AFTER_FREE : 0U;
    }
    return error == NW_OK ? shorten(heap, *offset, size, need, mark.head) : error;
}

int nw_heap_open(struct nw_heap *heap, struct nw_vm *vm, uintptr_t start, uint32_t bytes)
{
    uint8_t skip = (uint8_t)((0U - start) & 15U);

    memset(heap, 0, sizeof *heap);
    if (bytes < 64U || bytes > NW_HEAP_BYTES_MAX || start - vm->base >= vm->bytes ||
        bytes > vm->bytes - (start - vm->base)) {
        return NW_ERR_CONFIG;
    }
    heap->vm = vm;
    heap->start = start + skip;
    heap->bytes = bytes - skip;
    heap->top = FIRST;
    heap->salt = 0x5A17C0DEUL + ++vm->heaps;
    return NW_OK;
}

/* What the caller is told. */
static int told(struct nw_heap *heap, int error)
{
    if (error == NO_ROOM) {
        heap->stats.failures++;
        error = NW_ERR_FULL;
    }
    return error;
}

int nw_heap_alloc(struct nw_heap *heap, size_t bytes, size_t align, uintptr_t *address)
{
    uint32_t need = block_bytes(bytes);
    uint32_t size = need;
    uint32_t offset = 0;
    uint32_t kept;
    int error = NO_ROOM;

    *address = 0;
    if ((align & (align - 1U)) != 0) {
        return NW_ERR_ALIGN;
    }
    if (align > NW_HEAP_ALIGN) {
        size = need + (uint32_t)align + BLOCK_MIN;
    }
    if (need != 0 && align < heap->bytes) {
        error = find_room(heap, 0, size, &kept, &offset, &size);
        if (error == NW_OK && align > NW_HEAP_ALIGN) {
            count_freed(heap, size); /* at both ends */
            error = align_block(heap, &offset, &size, need, align);
        }
    }
    if (error == NW_OK) {
        count_alloc(heap, size);
        *address = heap->start + (uintptr_t)offset + HEADER;
    }
    return told(heap, error);
}

int nw_heap_alloc_zeroed(struct nw_heap *heap, size_t count, size_t bytes, uintptr_t *address)
{
    int fits = bytes == 0 || count <= SIZE_MAX / bytes;
    size_t all = fits ? count * bytes : SIZE_MAX; /* more than any heap has */
    int error = nw_heap_alloc(heap, all, 0, address);

    return error == NW_OK ? nw_vm_fill(heap->vm, *address, 0, all) : error;
}

/* The block whose content begins at address. */
static int find_block(struct nw_heap *heap, uintptr_t address, uint32_t *offset,
                      struct nw_heap_mark *mark)
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
    error = nw_heap_mark_get(heap, *offset, mark);
    if (error == NW_OK && (mark->head & USED) == 0) {
        error = NW_ERR_NOT_FOUND;
    }
    return error;
}

int nw_heap_free(struct nw_heap *heap, uintptr_t address)
{
    uint32_t offset;
    struct nw_heap_mark mark;
    int error;

    if (address == 0) {
        return NW_OK;
    }
    error = find_block(heap, address, &offset, &mark);
    if (error == NW_OK) {
        error = nw_heap_release(heap, offset, nw_heap_size_of(&mark), mark.head);
    }
    if (error == NW_OK) {
        count_used(heap, 0, nw_heap_size_of(&mark));
        heap->stats.blocks--;
        heap->stats.frees++;
    }
    return error;
}

int nw_heap_size(struct nw_heap *heap, uintptr_t address, size_t *bytes)
{
    uint32_t offset;
    struct nw_heap_mark mark;
    int error = find_block(heap, address, &offset, &mark);

    *bytes = error == NW_OK ? (size_t)(nw_heap_size_of(&mark) - HEADER) : 0;
    return error;
}

/* Grows a block where it lies, if what follows is free and large enough; *size tells. */
static int extend(struct nw_heap *heap, uint32_t offset, uint32_t *size, uint32_t need,
                  uint32_t head)
{
    uint32_t end = offset + *size;
    uint32_t more = need - *size;
    struct nw_heap_mark mark;
    int error;

    if (end == heap->top) {
        if (!raise_top(heap, more)) {
            return NW_OK;
        }
        *size = need;
    } else if (end == heap->carve && heap->carve_bytes >= more) {
        error = take_carve(heap, &more);
        if (error != NW_OK) {
            return error;
        }
        *size += more;
    } else {
        error = nw_heap_mark_get(heap, end, &mark);
        if (error != NW_OK || !nw_heap_is_large_free(&mark) || nw_heap_size_of(&mark) < more) {
            return error;
        }
        error = nw_heap_large_take(heap, end, &more);
        if (error != NW_OK) {
            return error;
        }
        *size += more;
        return cut_large(heap, offset, size, need, head);
    }
    return use(heap, offset, *size, head);
}

/* Where no room is elsewhere: a block grows into the `kept` bytes a walk left behind it, or up
 * to the end of the heap. */
static int stretch(struct nw_heap *heap, uint32_t offset, uint32_t *size, uint32_t need,
                   uint32_t kept)
{
    struct nw_heap_mark mark;
    int error = nw_heap_mark_get(heap, offset, &mark);

    if (error != NW_OK) {
        return error;
    }
    if (kept != 0) {
        *size += kept;
        return cut_large(heap, offset, size, need, mark.head);
    }
    error = extend(heap, offset, size, need, mark.head);
    return error == NW_OK && *size < need ? NO_ROOM : error;
}

/* Moves a block; the room for it was found. */
static int move_block(struct nw_heap *heap, uintptr_t *address, uint32_t offset, uint32_t size,
                      size_t content)
{
    uintptr_t to = heap->start + (uintptr_t)offset + HEADER;
    int error = nw_vm_pass(heap->vm, to, *address, content);

    if (error == NW_OK) {
        count_alloc(heap, size);
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
    struct nw_heap_mark mark;
    int error;

    if (*address == 0) {
        return nw_heap_alloc(heap, bytes, 0, address);
    }
    error = find_block(heap, *address, &offset, &mark);
    if (error != NW_OK) {
        return error;
    }
    old = nw_heap_size_of(&mark);
    size = old;
    if (need == 0) {
        error = NO_ROOM;
    } else if (need <= size) {
        error = shorten(heap, offset, &size, need, mark.head);
    } else {
        error = extend(heap, offset, &size, need, mark.head);
    }
    if (error == NW_OK && size < need) {
        uint32_t to;
        uint32_t to_size = need;
        uint32_t kept;

        error = find_room(heap, offset + size, need - size, &kept, &to, &to_size);
        if (error == NW_OK) {
            return move_block(heap, address, to, to_size, (size_t)(old - HEADER));
        }
        if (error == NO_ROOM) {
            error = stretch(heap, offset, &size, need, kept);
        }
    }
    if (error == NW_OK) {
        count_used(heap, size, old);
    }
    return told(heap, error);
}
