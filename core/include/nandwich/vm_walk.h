/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_walk.h - a page window by hand: goes over a range of bytes a page at a time, for C code that
 * the compiler pass does not see (a library, a driver, a function marked NW_PLAIN).
 *
 *     struct nw_vm_walk walk;
 *
 *     nw_vm_walk_begin(&walk, &nw_guest_vm, (uintptr_t)samples, bytes, 0);
 *     while (nw_vm_walk_next(&walk)) {
 *         sum = add(sum, walk.at, walk.n);
 *     }
 *     return walk.result;
 *
 * Each piece lies in one page, pinned from its nw_vm_walk_next() to the following one, so the
 * pointer is an ordinary one meanwhile. A value that lies across two pages is cut at the page's
 * end: a walk is for bytes, or for elements whose size divides the page and the start. A walk takes
 * one pin, so two of them side by side (from one place to another) take two.
 *
 * COST. What nw_vm_pin() and nw_vm_unpin() cost, once a page. No code of its own but where it is
 * used.
 */
#ifndef NANDWICH_VM_WALK_H
#define NANDWICH_VM_WALK_H

#include "nandwich/vm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller owns it, reads at, n and result, and leaves the rest alone. */
struct nw_vm_walk {
    uint8_t *at; /* the piece: plain memory, until the next nw_vm_walk_next() */
    size_t n;    /* its bytes, at least 1; 0: there is none */
    int result;  /* NW_OK; or why the walk ended early */

    struct nw_vm *vm;
    uintptr_t address; /* of the piece */
    size_t left;       /* bytes from there on */
    int write;
};

/* A walk over n bytes, which may be 0, from a virtual or plain address on; write: the bytes may be
 * stored to, and their pages are dirty from then on. A range that begins in one kind of memory and
 * runs into the other has no pieces, and NW_ERR_RANGE for its result (no panic). */
static inline void nw_vm_walk_begin(struct nw_vm_walk *walk, struct nw_vm *vm, uintptr_t address,
                                    size_t n, int write)
{
    uintptr_t end = address - vm->base < vm->bytes ? vm->base + vm->bytes
                    : address < vm->base           ? vm->base
                                                   : 0;

    walk->at = NULL;
    walk->n = 0;
    walk->result = n <= (uintptr_t)(end - address) ? NW_OK : NW_ERR_RANGE;
    walk->vm = vm;
    walk->address = address;
    walk->left = walk->result == NW_OK ? n : 0;
    walk->write = write;
}

/* Lets go of the piece there is: for a walk that ends before its end. Else nw_vm_walk_next() has
 * done it. May be called any number of times. */
static inline void nw_vm_walk_end(struct nw_vm_walk *walk)
{
    if (walk->n > 0) {
        (void)nw_vm_unpin(walk->vm, walk->address); /* pinned by us: it is there */
    }
    walk->n = 0;
    walk->left = 0;
}

/* 1: at and n are the next piece. 0: there is none any more, and nothing is pinned; result tells
 * why: NW_OK at the end, NW_ERR_PINNED when no pin is left, NW_ERR_IO when the page could not be
 * brought in, of which panic was told the reason. */
static inline int nw_vm_walk_next(struct nw_vm_walk *walk)
{
    uintptr_t address = walk->address + walk->n;
    size_t left = walk->left - walk->n, span = 0;
    nw_count faults = walk->vm->stats.faults;

    nw_vm_walk_end(walk);
    if (left == 0) {
        return 0;
    }
    walk->at = nw_vm_pin(walk->vm, address, walk->write, &span);
    if (walk->at == NULL) {
        /* Without a pin left nothing is brought in. */
        walk->result = walk->vm->stats.faults == faults ? NW_ERR_PINNED : NW_ERR_IO;
        return 0;
    }
    walk->address = address;
    walk->left = left;
    walk->n = span < left ? span : left;
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
