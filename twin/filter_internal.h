/* SPDX-License-Identifier: Apache-2.0 */
/* filter_internal.h - what filters share that treat all verbs alike. */
#ifndef NANDWICH_TWIN_FILTER_INTERNAL_H
#define NANDWICH_TWIN_FILTER_INTERNAL_H

#include "nandwich-twin/nand.h"
#include "nandwich/chip.h"

/* The request done by `below`; req->chip is restored. */
int nw_filter_pass(struct nw_chip_req *req, struct nw_chip *below, uint8_t verb);

/* Sets up `chip` over `below`: its geometry, and those of `all` verbs that are there below, kept in
 * `ops`. */
void nw_filter_open(struct nw_chip *chip, const struct nw_chip *below, void *context,
                    struct nw_chip_ops *ops, const struct nw_chip_ops *all);

/* Defines the eleven verbs of a filter, and their table NAME_ops, from NAME(req, verb). */
#define NW_FILTER_VERB(name, verb, number)             \
    static int name##_##verb(struct nw_chip_req *req)  \
    {                                                  \
        return name(req, number);                      \
    }

#define NW_FILTER_VERBS(name)                                          \
    NW_FILTER_VERB(name, read, NW_VERB_READ)                           \
    NW_FILTER_VERB(name, program, NW_VERB_PROGRAM)                     \
    NW_FILTER_VERB(name, erase, NW_VERB_ERASE)                         \
    NW_FILTER_VERB(name, is_bad, NW_VERB_IS_BAD)                       \
    NW_FILTER_VERB(name, mark_bad, NW_VERB_MARK_BAD)                   \
    NW_FILTER_VERB(name, copy, NW_VERB_COPY)                           \
    NW_FILTER_VERB(name, buffer_load, NW_VERB_BUFFER_LOAD)             \
    NW_FILTER_VERB(name, buffer_read, NW_VERB_BUFFER_READ)             \
    NW_FILTER_VERB(name, buffer_write, NW_VERB_BUFFER_WRITE)           \
    NW_FILTER_VERB(name, buffer_program, NW_VERB_BUFFER_PROGRAM)       \
    NW_FILTER_VERB(name, heal, NW_VERB_HEAL)                           \
    static const struct nw_chip_ops name##_ops = {                     \
        .read = name##_read,                                           \
        .program = name##_program,                                     \
        .erase = name##_erase,                                         \
        .is_bad = name##_is_bad,                                       \
        .mark_bad = name##_mark_bad,                                   \
        .copy = name##_copy,                                           \
        .buffer_load = name##_buffer_load,                             \
        .buffer_read = name##_buffer_read,                             \
        .buffer_write = name##_buffer_write,                           \
        .buffer_program = name##_buffer_program,                       \
        .heal = name##_heal,                                           \
    };

#endif
