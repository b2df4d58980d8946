/* SPDX-License-Identifier: Apache-2.0 */
/* map_native.c - mmap() without virtual memory: a copy of the file in RAM. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "map.h"

/* Stands before each mapping. */
struct head {
    void *block;
    size_t bytes; /* whole pages */
};

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
    ((struct head *)(void *)at)[-1] = (struct head){block, room};
    if (has_file && fill(at, room, file, offset) < 0) {
        free(block);
        return MAP_FAILED;
    }
    return at;
}

int munmap(void *address, size_t bytes)
{
    const struct head *head = (const struct head *)address - 1;

    if (((uintptr_t)address & (MAP_PAGE - 1U)) != 0 || map_up(bytes, MAP_PAGE) != head->bytes) {
        errno = EINVAL;
        return -1;
    }
    free(head->block);
    return 0;
}

int msync(void *address, size_t bytes, int flags)
{
    (void)address;
    (void)bytes;
    (void)flags;
    return 0;
}

int madvise(void *address, size_t bytes, int advice)
{
    (void)address;
    (void)bytes;
    (void)advice;
    return 0;
}

int posix_madvise(void *address, size_t bytes, int advice)
{
    return madvise(address, bytes, advice);
}
