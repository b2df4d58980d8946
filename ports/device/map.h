/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - mmap() on the board: what a mapping in virtual memory and a native one share. */
#ifndef NW_DEVICE_MAP_H
#define NW_DEVICE_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MAP_PAGE 4096U /* offsets and lengths are in these, as on the host */

static inline size_t map_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1U) & ~(unit - 1U);
}

/* What POSIX says of the arguments: 0, or errno. A file is read alone: nobody writes its flash. */
int map_refusal(size_t bytes, int protection, int flags, off_t offset);

/* Bytes of a regular file; -1 and errno. */
off_t map_size(int file);

/* msync(): 0, or -1 and errno. Nothing is written to a file. */
int map_sync(const void *address, int flags);

/* What POSIX says of an advice: 0, or errno. MADV_DONTNEED would lose content, and is none here. */
int map_advice(const void *address, int advice);

#endif
