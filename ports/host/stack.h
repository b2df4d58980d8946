/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - the device a program in virtual memory runs on, put together from a configuration:
 *
 *   twin chip -> [timeline] -> [ecc] -> [sector-shrink] -> slice -> translation layer -> [line]
 *             -> [timer] -> (vm)
 *
 * The guest's own run time opens the virtual memory over `block`, as the configuration in `vm`
 * says.
 */
#ifndef NW_HOST_STACK_H
#define NW_HOST_STACK_H

#include "config.h"
#include "line.h"
#include "timer.h"

#include "nandwich-stack/stack.h"
#include "nandwich/vm.h"

/* What went between files that the program maps and its memory. */
struct nw_host_mapped {
    uint64_t reads, writes; /* of the part's pages, or less of one */
    uint64_t bytes_read, bytes_written;
    uint64_t peak_bytes; /* of virtual memory that mappings took at one time */
};

struct nw_host_stack {
    struct nw_host_config config;
    struct nw_stack device; /* twin to translation layer */
    struct nw_timeline *timeline; /* NULL: none */
    struct nw_host_line line;
    struct nw_host_timer timer;
    struct nw_block *block; /* what the virtual memory works on */
    struct nw_vm_config vm; /* complete but for slot_table, panic and context */
    uint32_t scheme;        /* as resolved: never NW_HOST_AUTO */
    uint32_t statics_bytes; /* of config.ram_bytes, not given to frames */
    struct nw_host_mapped mapped;
};

/* What the compiled program fixes. */
struct nw_host_guest {
    uintptr_t base; /* first virtual address */
    uint16_t frame_bytes;
    uint16_t slots;
    uint32_t statics_bytes; /* globals that live in RAM, not in virtual memory */
};

/* Pins the guest's own library takes at most, besides the slots. */
#define NW_HOST_PINS 2U

/*
 * Opens all of it, then forgets what that cost: a device is formatted once, not for each program.
 * Counters, clock and energy start from zero. Memory comes from malloc. NW_OK, or an error
 * with its line in `why`, NW_ERR_RAM and NW_ERR_FULL where RAM and chip are too small; close it in
 * either case.
 */
int nw_host_stack_open(struct nw_host_stack *stack, const struct nw_host_config *config,
                       const struct nw_host_guest *guest, struct nw_why *why);

/* So many bytes of a mapped file were moved, as from or to flash of the chip's part: its clock and
 * energy go on. Part of a page costs the command and its own bytes. */
void nw_host_stack_moved(struct nw_host_stack *stack, size_t bytes, int to_file);

/* Gives all memory back. A program that runs on the stack leaves that to its end. */
void nw_host_stack_close(struct nw_host_stack *stack);

#endif
