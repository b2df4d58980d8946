/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.c - malloc and its family, out of the virtual heap. */
#include "internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A heap that was never opened (no room beside the globals) has no memory to give. */
static int is_open(void)
{
    if (nw_guest_heap.bytes == 0) {
        nw_guest_heap.stats.failures++;
        return 0;
    }
    return 1;
}

static void *answer(int result, uintptr_t address)
{
    if (result == NW_ERR_FULL) {
        errno = ENOMEM;
        return NULL;
    }
    nw_guest_must(result, (const void *)address);
    return (void *)address;
}

/* The program handed in `block`: what is wrong with it is the program's fault, and told so. */
static void must_be_block(int result, const void *block)
{
    switch (result) {
    case NW_ERR_NOT_FOUND:
        nw_guest_misuse = "a heap block that is free already was freed or resized";
        break;
    case NW_ERR_RANGE: nw_guest_misuse = "what is no heap block was freed or resized"; break;
    case NW_ERR_CORRUPT:
        nw_guest_misuse = "what is no heap block, or one whose header was overwritten, was freed "
                          "or resized";
        break;
    default: break;
    }
    nw_guest_must(result, block);
}

/* A compiler takes no object for larger than a difference of pointers: of 40,000 bytes where that
 * has 16 bits it lets a loop read zeros. */
static int has_room(size_t bytes)
{
    if (bytes > (size_t)PTRDIFF_MAX) {
        nw_guest_heap.stats.failures++;
        return 0;
    }
    return is_open();
}

static void *allocate(size_t bytes, size_t align)
{
    uintptr_t address = 0;
    int result =
        has_room(bytes) ? nw_heap_alloc(&nw_guest_heap, bytes, align, &address) : NW_ERR_FULL;

    return answer(result, address);
}

NW_LIBC(void *, malloc, (size_t bytes))
{
    return allocate(bytes, 0);
}

NW_LIBC(void *, calloc, (size_t count, size_t bytes))
{
    uintptr_t address = 0;
    size_t all = bytes != 0 && count > SIZE_MAX / bytes ? SIZE_MAX : count * bytes;
    int result = has_room(all) ? nw_heap_alloc_zeroed(&nw_guest_heap, count, bytes, &address)
                               : NW_ERR_FULL;

    return answer(result, address);
}

/* Memory the library itself handed out (getline over a plain buffer, open_memstream) comes from the
 * host's heap. */
NW_LIBC(void, free, (void *block))
{
    if (nw_guest_is_virtual(block)) {
        must_be_block(nw_heap_free(&nw_guest_heap, (uintptr_t)block), block);
    } else {
        free(block);
    }
}
NW_LIBC_ALIAS(void, cfree, free, (void *block));

NW_LIBC(void *, realloc, (void *block, size_t bytes))
{
    uintptr_t address = (uintptr_t)block;

    if (block == NULL) {
        return allocate(bytes, 0);
    }
    if (!nw_guest_is_virtual(block)) {
        return realloc(block, bytes);
    }
    if (bytes == 0) {
        nw_libc_free(block);
        return NULL;
    }
    int result = has_room(bytes) ? nw_heap_resize(&nw_guest_heap, &address, bytes) : NW_ERR_FULL;

    if (result != NW_ERR_FULL) {
        must_be_block(result, block);
    }
    return answer(result, address);
}

NW_LIBC(void *, reallocarray, (void *block, size_t count, size_t bytes))
{
    if (bytes != 0 && count > SIZE_MAX / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return nw_libc_realloc(block, count * bytes);
}

NW_LIBC(void *, aligned_alloc, (size_t align, size_t bytes))
{
    if (align == 0 || (align & (align - 1)) != 0) {
        errno = EINVAL;
        return NULL;
    }
    return allocate(bytes, align);
}
NW_LIBC_ALIAS(void *, memalign, aligned_alloc, (size_t align, size_t bytes));

/* At a page of the host's, and for pvalloc() whole ones. */
NW_LIBC(void *, valloc, (size_t bytes))
{
    return allocate(bytes, (size_t)getpagesize());
}

NW_LIBC(void *, pvalloc, (size_t bytes))
{
    size_t page = (size_t)getpagesize();

    if (bytes > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return allocate((bytes + page - 1) / page * page, page);
}

NW_LIBC(int, posix_memalign, (void **to, size_t align, size_t bytes))
{
    if (align < sizeof(void *) || (align & (align - 1)) != 0) {
        return EINVAL;
    }
    int before = errno;
    void *block = allocate(bytes, align);
    errno = before;
    if (block == NULL) {
        return ENOMEM;
    }
    nw_guest_put(to, &block, sizeof block);
    return 0;
}

NW_LIBC(size_t, malloc_usable_size, (void *block))
{
    size_t bytes = 0;

    if (block != NULL) {
        must_be_block(nw_heap_size(&nw_guest_heap, (uintptr_t)block, &bytes), block);
    }
    return bytes;
}

static char *duplicate(const char *text, size_t length)
{
    char *to = allocate(length + 1, 0);

    if (to != NULL) {
        nw_guest_copy(to, text, length);
        nw_guest_fill(to + length, 0, 1);
    }
    return to;
}

NW_LIBC(char *, strdup, (const char *text))
{
    return duplicate(text, nw_guest_strlen(text, SIZE_MAX));
}
NW_LIBC_ALIAS(char *, __strdup, strdup, (const char *text));

NW_LIBC(char *, strndup, (const char *text, size_t limit))
{
    return duplicate(text, nw_guest_strlen(text, limit));
}
NW_LIBC_ALIAS(char *, __strndup, strndup, (const char *text, size_t limit));
