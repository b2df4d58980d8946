/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - the device a program in virtual memory runs on, put together from a configuration:
 *
 *   twin chip -> [ecc] -> [sector-shrink] -> slice -> translation layer -> [timer] -> (vm)
 *
 * The guest's own run time opens the virtual memory over `block`, as the configuration in `vm`
 * says.
 */
#ifndef NW_HOST_STACK_H
#define NW_HOST_STACK_H

#include "config.h"
#include "timer.h"

#include "nandwich-twin/nand.h"
#include "nandwich-twin/part.h"
#include "nandwich/ecc.h"
#include "nandwich/ftl_lavish.h"
#include "nandwich/ftl_page.h"
#include "nandwich/shrink.h"
#include "nandwich/slice.h"
#include "nandwich/vm.h"

struct nw_host_stack {
    struct nw_host_config config;
    struct nw_part part;
    struct nw_nand *nand;
    struct nw_ecc ecc;
    struct nw_shrink shrink;
    struct nw_slice slice;
    struct nw_chip *chip; /* what the translation layer works on */
    struct nw_ftl_page page;
    struct nw_ftl_lavish lavish;
    struct nw_block *layer;
    struct nw_host_timer timer;
    struct nw_block *block; /* what the virtual memory works on */
    struct nw_vm_config vm; /* complete but for slot_table, panic and context */
    uint32_t scheme;        /* as resolved: never NW_HOST_AUTO */
    void *ecc_ram;
    void *layer_ram;
    size_t ecc_ram_bytes;
    size_t layer_ram_bytes;
    struct nw_nand_stats before; /* the chip's counts when the device stood ready */
    uint32_t *erases_before;     /* of each block, then */
};

/* What the compiled program fixes. */
struct nw_host_guest {
    uintptr_t base; /* first virtual address */
    uint16_t frame_bytes;
    uint16_t slots;
};

/* Room for one line that says what went wrong, with the arithmetic and what to change. */
struct nw_host_why {
    char *text;
    size_t bytes;
};

/* Pins the guest's own library takes at most, besides the slots. */
#define NW_HOST_PINS 2U

/*
 * Opens all of it, then forgets what that cost: a device is formatted once, not for each program.
 * Counters, clock and energy start from zero. Memory comes from malloc. NW_OK, or an error
 * with its line in `why`; close it in either case.
 */
int nw_host_stack_open(struct nw_host_stack *stack, const struct nw_host_config *config,
                       const struct nw_host_guest *guest, struct nw_host_why *why);

/* Gives all memory back. A program that runs on the stack leaves that to its end. */
void nw_host_stack_close(struct nw_host_stack *stack);

/* Fills in the line and answers `error`. */
__attribute__((format(printf, 3, 4))) int nw_host_refuse(struct nw_host_why *why, int error,
                                                         const char *format, ...);

#endif
