/* SPDX-License-Identifier: Apache-2.0 */
/* map_native.c - mmap() without virtual memory: a copy of the file in RAM. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "map.h"

/* Stands before each mapping. */
struct head {
    struct head *next;
    void *block;
    size_t bytes; /* whole pages */
};

static struct head *heads;

static int fill(uint8_t *to, size_t bytes, int file, off_t offset)
{
    off_t before = lseek(file, 0, SEEK_CUR);
    ssize_t got = 1;

    if (before < 0 || lseek(file, offset, SEEK_SET) < 0) {
        return -1;
    }
    while (bytes > 0 && got > 0) {
        got = read(file, to, bytes);
        if (got > 0) {
            to += got;
            bytes -= (size_t)got;
        }
    }
    return got < 0 || lseek(file, before, SEEK_SET) < 0 ? -1 : 0;
}

void *mmap(void *hint, size_t bytes, int protection, int flags, int file, off_t offset)
{
    int error = map_refusal(bytes, protection, flags, offset);
    int has_file = (flags & MAP_ANONYMOUS) == 0;

    (void)hint;
    if (error != 0 || (has_file && map_size(file) < 0)) {
        errno = error != 0 ? error : errno;
        return MAP_FAILED;
    }
    size_t room = map_up(bytes, MAP_PAGE);
    void *block = calloc(1, room + MAP_PAGE + sizeof(struct head));
    if (block == NULL) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    uint8_t *at = (uint8_t *)map_up((uintptr_t)block + sizeof(struct head), MAP_PAGE);
    if (has_file && fill(at, room, file, offset) < 0) {
        free(block);
        return MAP_FAILED;
    }
    struct head *head = (struct head *)(void *)at - 1;
    *head = (struct head){heads, block, room};
    heads = head;
    return at;
}

int munmap(void *address, size_t bytes)
{
    struct head **link = &heads;

    while (*link != NULL && (void *)(*link + 1) != address) {
        link = &(*link)->next;
    }
    struct head *head = *link;
    if (head == NULL || map_up(bytes, MAP_PAGE) != head->bytes) {
        errno = EINVAL;
        return -1;
    }
    *link = head->next;
    free(head->block);
    return 0;
}

int msync(void *address, size_t bytes, int flags)
{
    (void)bytes;
    return map_sync(address, flags);
}

int madvise(void *address, size_t bytes, int advice)
{
    int error = map_advice(address, advice);

    (void)bytes;
    if (error != 0) {
        errno = error;
        return -1;
    }
    return 0;
}

int posix_madvise(void *address, size_t bytes, int advice)
{
    (void)bytes;
    return map_advice(address, advice == POSIX_MADV_DONTNEED ? MADV_NORMAL : advice);
}
