/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - a block device in front of a block device that puts what virtual memory asks of it on a
 * timeline, and with it the fault that asked.
 */
#ifndef NW_HOST_LINE_H
#define NW_HOST_LINE_H

#include "nandwich-stack/stack.h"

struct nw_host_line {
    struct nw_block block; /* give &line.block to the layer above */
    struct nw_block *below;
    const struct nw_stack *device;
    struct nw_timeline *timeline;
    uintptr_t base;         /* first virtual address */
    const nw_count *faults; /* how many there were, set by who opens the virtual memory; NULL */
};

void nw_host_line_open(struct nw_host_line *line, const struct nw_stack *device, uintptr_t base);

/* `ns:FIRST:END` or `requests:FIRST:END`. NW_OK, or NW_ERR_CONFIG. */
int nw_host_line_window(const char *text, struct nw_timeline_config *config);

#endif
