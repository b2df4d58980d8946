/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - a program with a layout on the host: the twin of a DataFlash below it, from before its
 * constructors to its end. NANDWICH_TAGGED=FILE asks for the counts, as JSON. Whatever happens to
 * the program, its output stays its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nandwich-tagged/tagged.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"

#define FAILED 125

static struct nw_nand *nand;
static pid_t parent;

static _Noreturn void fail(const char *what, int error)
{
    fprintf(stderr, "nandwich: %s: %s\n", what, nw_error_text(error));
    _exit(FAILED);
}

static void panic(struct nw_small *small, int error, uint8_t page)
{
    (void)small;
    (void)page;
    fail("a page of tagged variables is lost", error);
}

static void tell(void)
{
    const struct nw_small_stats *stats = &nw_tagged_small.stats;
    const char *path = getenv("NANDWICH_TAGGED");

    if (path == NULL || getpid() != parent) {
        return;
    }
    FILE *file = fopen(path, "w");
    if (file == NULL ||
        fprintf(file,
                "{\"pages\": %u, \"frames\": %u, \"faults\": %lu, \"buffer_reads\": %lu, "
                "\"to_buffer\": %lu, \"flash_writes\": %lu}\n",
                nw_tagged_small.config.pages, nw_tagged_small.config.frames,
                (unsigned long)stats->faults, (unsigned long)stats->buffer_reads,
                (unsigned long)stats->to_buffer, (unsigned long)stats->flash_writes) < 0 ||
        fclose(file) != 0) {
        fprintf(stderr, "nandwich: %s: %s\n", path, strerror(errno));
        (void)fflush(NULL);
        _exit(FAILED);
    }
}

__attribute__((constructor(101))) static void begin(void)
{
    struct nw_part part;
    struct nw_nand_config twin = {.part = &part, .seed = 1};
    struct nw_small_config config = {.panic = panic};
    int result = nw_parts_get("AT45DB041B", &part);

    result = result < 0 ? result : nw_nand_open(&nand, &twin);
    if (result < 0) {
        fail("the twin of a DataFlash does not open", result);
    }
    config.chip = nw_nand_chip(nand);
    result = nw_tagged_open(&config);
    if (result < 0) {
        fail("the memory of tagged variables does not open", result);
    }
    parent = getpid();
    if (atexit(tell) != 0) {
        fail("atexit", NW_ERR_RAM);
    }
}
