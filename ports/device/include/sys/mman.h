/* SPDX-License-Identifier: Apache-2.0 */
/* sys/mman.h - what a board has of POSIX's memory mapping, which small C libraries have not. */
#ifndef NW_DEVICE_SYS_MMAN_H
#define NW_DEVICE_SYS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4

#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_TYPE 15
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32
#define MAP_ANON MAP_ANONYMOUS
#define MAP_FAILED ((void *)-1)

#define MS_ASYNC 1
#define MS_INVALIDATE 2
#define MS_SYNC 4

#define MADV_NORMAL 0
#define MADV_RANDOM 1
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4
#define POSIX_MADV_NORMAL MADV_NORMAL
#define POSIX_MADV_RANDOM MADV_RANDOM
#define POSIX_MADV_SEQUENTIAL MADV_SEQUENTIAL
#define POSIX_MADV_WILLNEED MADV_WILLNEED
#define POSIX_MADV_DONTNEED MADV_DONTNEED

#ifdef __cplusplus
extern "C" {
#endif

void *mmap(void *hint, size_t bytes, int protection, int flags, int file, off_t offset);
int munmap(void *address, size_t bytes);
int msync(void *address, size_t bytes, int flags);
int madvise(void *address, size_t bytes, int advice);
int posix_madvise(void *address, size_t bytes, int advice);

#ifdef __cplusplus
}
#endif

#endif
