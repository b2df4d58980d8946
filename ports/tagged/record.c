/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - a program that records its accesses to tagged variables: `nandwich cc --trace`. The
 * trace goes to NANDWICH_TRACE, else to nandwich.acc. Variables lie in RAM, all in one section; the
 * trace tells their places in it, so that it is the same wherever the program was loaded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nandwich-tagged/tagged.h"
#include "nandwich-vmtrace/access.h"

#define BASE 0x1000U /* of the trace's addresses */
#define FAILED 125

/* What the pass notes of each variable; change both together. */
struct object {
    const uint8_t *address;
    uintptr_t bytes, element_bytes;
    const char *name;
};

extern const struct object __start_nw_objects[] __attribute__((weak));
extern const struct object __stop_nw_objects[] __attribute__((weak));
extern uint8_t __start_nw_tagged[] __attribute__((weak));
extern uint8_t __stop_nw_tagged[] __attribute__((weak));

static struct nw_access_writer writer;
static pid_t parent; /* 0: nothing is recorded */

static const char *path(void)
{
    const char *given = getenv("NANDWICH_TRACE");

    return given != NULL && given[0] != '\0' ? given : "nandwich.acc";
}

static void fail(void)
{
    fprintf(stderr, "nandwich: %s: %s\n", path(), strerror(errno));
    _exit(FAILED);
}

static void note(const void *address, size_t bytes, int write)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)__start_nw_tagged;

    if (parent != 0 && offset < writer.range_bytes && bytes > 0) {
        nw_access_put(&writer, BASE + offset, (uint32_t)bytes, write);
    }
}

void nw_tagged_note_read(const void *address, size_t bytes)
{
    note(address, bytes, 0);
}

void nw_tagged_note_write(const void *address, size_t bytes)
{
    note(address, bytes, 1);
}

void nw_tagged_get(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    note(from, bytes, 0);
    memcpy(to, from, bytes);
}

void nw_tagged_put(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    note(to, bytes, 1);
    memcpy(to, from, bytes);
}

static int by_address(const void *a, const void *b)
{
    const struct object *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static void put_objects(void)
{
    size_t count = (size_t)(__stop_nw_objects - __start_nw_objects);
    struct object *all = malloc(count * sizeof *all);

    if (all == NULL) {
        fail();
        return;
    }
    memcpy(all, __start_nw_objects, count * sizeof *all);
    qsort(all, count, sizeof *all, by_address);
    for (size_t i = 0; i < count; i++) {
        struct nw_access_object object = {BASE + (uintptr_t)(all[i].address - __start_nw_tagged),
                                          (uint32_t)all[i].bytes, (uint32_t)all[i].element_bytes,
                                          ""};

        strncpy(object.name, all[i].name, sizeof object.name - 1);
        nw_access_put_object(&writer, &object);
    }
    free(all);
}

static void end(void)
{
    if (parent != 0 && parent == getpid() && nw_access_finish(&writer, 1) < 0) {
        fail();
    }
    parent = 0;
}

__attribute__((constructor(101))) static void begin(void)
{
    if (__stop_nw_objects - __start_nw_objects == 0) {
        return; /* no tagged variables */
    }
    if (nw_access_create(&writer, path(), BASE,
                         (uint64_t)(__stop_nw_tagged - __start_nw_tagged)) < 0 ||
        atexit(end) != 0) {
        fail();
    }
    put_objects();
    parent = getpid();
}
