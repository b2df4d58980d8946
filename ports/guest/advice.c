/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c - madvise() and posix_madvise(), over what keeps the mappings: map.c, or a board's. */
#include "internal.h"

#include <errno.h>
#include <sys/mman.h>

NW_LIBC(int, madvise, (void *address, size_t bytes, int advice))
{
    int error = nw_guest_advise(address, bytes, advice);

    if (error != 0) {
        errno = error;
        return -1;
    }
    return 0;
}

/* POSIX_MADV_DONTNEED is a hint that loses nothing. */
NW_LIBC(int, posix_madvise, (void *address, size_t bytes, int advice))
{
    return nw_guest_advise(address, bytes,
                           advice == POSIX_MADV_DONTNEED ? MADV_NORMAL : advice);
}
