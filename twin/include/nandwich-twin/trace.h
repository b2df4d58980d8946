/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a filter that tells each operation of a chip, after it was done, to a function or a
 * file.
 */
#ifndef NANDWICH_TWIN_TRACE_H
#define NANDWICH_TWIN_TRACE_H

#include <stdio.h>

#include "nandwich-twin/meter.h"
#include "nandwich-twin/nand.h"
#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_trace_event {
    uint64_t number;               /* operations told before */
    uint64_t time_ns;              /* of the meter, after the operation; 0 without a meter */
    const struct nw_chip_req *req; /* as the caller gave it */
    uint8_t verb;                  /* enum nw_nand_verb */
    int result;
};

struct nw_trace {
    struct nw_chip chip; /* give this one to the layer above */
    struct nw_chip_ops ops;
    struct nw_chip *below;
    const struct nw_meter *meter;
    void (*tell)(void *context, const struct nw_trace_event *event);
    void *context;
    uint64_t count;
};

/* Stacks the filter on `below`; meter may be NULL. */
void nw_trace_open(struct nw_trace *filter, struct nw_chip *below, const struct nw_meter *meter,
                   void (*tell)(void *context, const struct nw_trace_event *event), void *context);

/* A `tell` whose context is a FILE: one line an operation,
 *   number time_ns verb place offset+length spare_offset+spare_length result
 * (zeros where the verb moves no such bytes),
 * where place is a page ("p17", copies "p17>p64"), a block ("b3") or a buffer ("f1", with its page
 * "f1p17"). A write that fails shows in ferror(). */
void nw_trace_to_file(void *context, const struct nw_trace_event *event);

/* The line without its end; answers its length, cut to `bytes`. */
int nw_trace_text(const struct nw_trace_event *event, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
