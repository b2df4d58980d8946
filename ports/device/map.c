/* SPDX-License-Identifier: Apache-2.0 */
#include "map.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

int map_refusal(size_t bytes, int protection, int flags, off_t offset)
{
    int kind = flags & MAP_TYPE;

    if (((size_t)offset & (MAP_PAGE - 1U)) != 0 || bytes == 0 ||
        (kind != MAP_PRIVATE && kind != MAP_SHARED)) {
        return EINVAL;
    }
    if (offset < 0 || bytes > SIZE_MAX / 2U) { /* no difference of pointers counts more */
        return offset < 0 ? EOVERFLOW : ENOMEM;
    }
    if ((flags & MAP_FIXED) != 0) {
        return ENOTSUP;
    }
    return kind == MAP_SHARED && (protection & PROT_WRITE) != 0 && (flags & MAP_ANONYMOUS) == 0
               ? EACCES
               : 0;
}

off_t map_size(int file)
{
    struct stat now;

    if (fstat(file, &now) != 0) {
        return -1;
    }
    if (!S_ISREG(now.st_mode)) {
        errno = ENODEV;
        return -1;
    }
    return now.st_size;
}

static int is_aligned(const void *address)
{
    return ((uintptr_t)address & (MAP_PAGE - 1U)) == 0;
}

int map_sync(const void *address, int flags)
{
    int both = MS_ASYNC | MS_SYNC;

    if (!is_aligned(address) || (flags & ~(both | MS_INVALIDATE)) != 0 || (flags & both) == both) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

int map_advice(const void *address, int advice)
{
    return is_aligned(address) && advice >= MADV_NORMAL && advice <= MADV_WILLNEED ? 0 : EINVAL;
}
