/* SPDX-License-Identifier: Apache-2.0 */
/* part_kinds.h - which part hangs on the board's bus: a model of tests/bus. */
#ifndef NW_LAB_PART_KINDS_H
#define NW_LAB_PART_KINDS_H

#include "emulator.h"
#include "nandwich/driver_parallel_nand.h"

struct part {
    struct bus *bus;
    struct nw_spi *spi;            /* one of the two is NULL */
    struct nw_parallel_bus *lanes;
    struct nw_chip *files;  /* what files are put on the part through; NULL: it takes none */
    void (*lose)(void);     /* from now on it has lost what it held; NULL: it cannot tell */
    uint32_t byte_ns;       /* least time from byte to byte */
    bool is_own_time;       /* the clock of its bus leaves the processor's time out */
};

/* The part that the settings name. */
void part_kind_open(struct part *part, const struct settings *settings);

#endif
