/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_calls.c SEED CALLS - random calls of mmap() and its family over three files in the current
 * folder, with reads and writes of what is mapped and of the files themselves. What they answer
 * goes to stdout, and what the files hold in the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILES = 3, HELD = 6, PAGE = 4096, MOST_PAGES = 6 };

struct held {
    uint8_t *at;
    size_t inside; /* bytes that the file has; what is stored behind them is anything */
    int pages, file, writes, is_shared;
};

static uint64_t state;
static int file[FILES];
static struct held held[HELD];

static uint32_t below(uint32_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state * 2685821657736338717U) >> 33) % bound;
}

static int pages_of(int which)
{
    return (int)(lseek(file[which], 0, SEEK_END) + PAGE - 1) / PAGE;
}

/* Two mappings of a file see each other's writes on the host alone; so there is one at a time that
 * writes, and it is the only one. */
static int is_held(int which)
{
    int found = 0;

    for (int i = 0; i < HELD; i++) {
        found |= held[i].at != NULL && held[i].file == which;
    }
    return found;
}

static void map(struct held *one)
{
    int which = (int)below(FILES + 1) - 1;
    int pages = which < 0 ? MOST_PAGES : pages_of(which);
    int first = pages > 0 ? (int)below((uint32_t)pages) : 0;
    int is_shared = (int)below(2);
    int writes = (int)below(2);

    if (which >= 0 && (is_held(which) || pages == 0)) {
        return;
    }
    one->pages = pages - first;
    one->inside = which < 0 ? (size_t)pages * PAGE : (size_t)lseek(file[which], 0, SEEK_END);
    one->inside -= (size_t)first * PAGE;
    one->file = which;
    one->writes = writes;
    one->is_shared = is_shared && which >= 0;
    size_t bytes = (size_t)one->pages * PAGE - below(PAGE);
    one->at = mmap(NULL, bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ,
                   (is_shared ? MAP_SHARED : MAP_PRIVATE) | (which < 0 ? MAP_ANONYMOUS : 0),
                   which < 0 ? -1 : file[which], (off_t)first * PAGE);
    printf("map %d+%d of %d: %d\n", first, one->pages, which, one->at != MAP_FAILED);
    if (one->at == MAP_FAILED) {
        one->at = NULL;
    }
}

static void touch(const struct held *one)
{
    size_t all = (size_t)one->pages * PAGE;
    all = one->inside < all ? one->inside : all;
    size_t at = below((uint32_t)all);
    size_t n = 1 + below((uint32_t)(all - at < 3000 ? all - at : 3000));
    uint32_t sum = 0;

    switch (one->writes ? below(4) : below(2)) {
    case 0:
        for (size_t i = 0; i < n; i++) {
            sum = sum * 31U + one->at[at + i];
        }
        printf("sum %08x\n", sum);
        break;
    case 1:
        printf("find %d\n", memchr(one->at + at, 7, n) != NULL);
        break;
    case 2: memset(one->at + at, (int)below(256), n); break;
    default: one->at[at] = (uint8_t)below(256); break;
    }
}

static void unmap(struct held *one)
{
    int from = (int)below((uint32_t)one->pages), n = 1 + (int)below((uint32_t)(one->pages - from));

    if (from > 0 && n < one->pages - from) { /* a hole would leave two */
        n = one->pages - from;
    }
    printf("unmap %d+%d: %d\n", from, n, munmap(one->at + from * PAGE, (size_t)n * PAGE));
    if (from == 0) {
        one->at += n * PAGE;
        one->inside -= one->pages > n ? (size_t)n * PAGE : 0;
    }
    one->pages -= n;
    if (one->pages == 0) {
        one->at = NULL;
    }
}

static void call_file(void)
{
    int which = (int)below(FILES);
    uint8_t bytes[600];
    off_t at = below(4 * PAGE);
    size_t n = 1 + below(sizeof bytes);

    if (below(2)) {
        memset(bytes, (int)below(256), n);
        for (int i = 0; i < HELD; i++) { /* what a private mapping then shows is left open */
            if (held[i].at != NULL && held[i].file == which && held[i].writes &&
                !held[i].is_shared) {
                return;
            }
        }
        printf("write %zd\n", pwrite(file[which], bytes, n, at));
    } else {
        ssize_t got = pread(file[which], bytes, n, at);
        uint32_t sum = 0;

        for (ssize_t i = 0; i < got; i++) {
            sum = sum * 31U + bytes[i];
        }
        printf("read %zd %08x\n", got, sum);
    }
}

static void advise(const struct held *one)
{
    static const int advice[] = {MADV_NORMAL, MADV_SEQUENTIAL, MADV_RANDOM, MADV_WILLNEED,
                                 MADV_DONTNEED, 77};
    int which = (int)below(6);

    errno = 0;
    int result = madvise(one->at, (size_t)one->pages * PAGE, advice[which]);
    printf("advise %d: %d %d\n", which, result, errno);
    printf("sync %d\n", msync(one->at, (size_t)one->pages * PAGE, MS_SYNC));
}

static void refuse(void)
{
    size_t bytes = below(2);
    int flags = (int)below(4);
    int from = below(2) ? file[0] : 77;
    void *to = mmap(NULL, bytes, PROT_READ, flags, from, (off_t)below(3) * 100);

    printf("refuse %d %d\n", to == MAP_FAILED, to == MAP_FAILED ? errno : 0);
    if (to != MAP_FAILED) {
        munmap(to, 1);
    }
}

int main(int count, char **words)
{
    state = strtoull(count > 1 ? words[1] : "1", NULL, 10) * 2 + 1;
    long calls = count > 2 ? strtol(words[2], NULL, 10) : 100;

    for (int i = 0; i < FILES; i++) {
        char name[] = "mapped-0";
        uint8_t bytes[PAGE];

        name[7] = (char)('0' + i);
        file[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        for (int part = 0; part < 4 * i; part++) {
            memset(bytes, part + 1, sizeof bytes);
            if (write(file[i], bytes, part == 4 * i - 1 ? 1000 : sizeof bytes) < 0) {
                return 2;
            }
        }
    }
    while (calls-- > 0) {
        struct held *one = &held[below(HELD)];

        if (one->at == NULL) {
            map(one);
        } else if (below(12) == 0) {
            unmap(one);
        } else if (below(12) == 0) {
            advise(one);
        } else {
            touch(one);
        }
        if (below(4) == 0) {
            call_file();
        }
        if (below(20) == 0) {
            refuse();
        }
    }
    return 0; /* what is mapped still goes to the files */
}
