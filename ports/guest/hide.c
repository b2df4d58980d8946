/* SPDX-License-Identifier: Apache-2.0 */
/* hide.c - makes unguarded accesses fault, where the processor can. */
#if defined(__linux__)
#include "internal.h"

#include <sys/mman.h>

int nw_guest_hide(uintptr_t base, uint32_t bytes)
{
    /* In place of the image: nothing else may ever be mapped into the range. */
    void *mapped = mmap((void *)base, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

    return mapped == MAP_FAILED ? NW_ERR_IO : NW_OK;
}
#else
#include "internal.h"

int nw_guest_hide(uintptr_t base, uint32_t bytes)
{
    (void)base;
    (void)bytes;
    return NW_OK;
}
#endif
