/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_part.c - the board without virtual memory, but with its part: pread() reads a file that
 * lies there, for programs that do by hand what virtual memory does by itself. Nothing is read
 * ahead.
 */
#include <errno.h>
#include <unistd.h>

#include "part.h"

static struct nw_chip_map part;

void device_memory_open(void)
{
    (void)part_open();
    (void)part_map(&part, 0);
    part.ahead = NULL;
}

void device_memory_tell(void)
{
}

ssize_t pread(int file, void *to, size_t bytes, off_t offset)
{
    int32_t block = device_call(CALL_PLACE, (uintptr_t)file, 0, 0);

    part.page = (uint32_t)block * part.chip->geometry.block_pages;
    part.bytes = (uint32_t)offset + (uint32_t)bytes;
    if (block < 0 || nw_chip_map_read(&part.map, (uintptr_t)offset, to, bytes) < 0) {
        errno = EIO;
        return -1;
    }
    return (ssize_t)bytes;
}
