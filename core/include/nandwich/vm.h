/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm.h - software virtual memory: an address range larger than RAM, cached in page frames over a
 * block device, reached by guards the compiler puts before each access (compiler/).
 *
 * Words: a page is frame_bytes of virtual memory, a frame the RAM that holds one page, a sector the
 * block device's unit. A slot is a last-cache buffer (Lin et al. 2013, section 4): it remembers
 * where one page lies and pins it there, so nothing has to be invalidated. A page outside the
 * virtual range is an identity page: a slot may hold it too, with its own address as base, so the
 * fast path needs no range check.
 *
 * The guard, for an access of n bytes at address a through slot s:
 *   load:  o = a - s->read_tag;  if (o <= frame_bytes - n) use s->base + o
 *          else use nw_vm_load_miss(vm, s, a, n)
 *   store: o = a - s->write_tag; if (o <= frame_bytes - n) store to s->base + o
 *          else nw_vm_store_miss(vm, s, a, n, &value)
 * A valid write tag means the page is already marked dirty: stores cost no dirty tracking.
 */
#ifndef NANDWICH_VM_H
#define NANDWICH_VM_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/stats.h"

/* An empty tag: the last page of the address space, where nothing lives. */
#define NW_VM_NO_TAG(frame_bytes) ((uintptr_t)0 - (uintptr_t)(frame_bytes))

/* The layout is known to the compiler pass: change both together. */
struct nw_vm_slot {
    uintptr_t read_tag;  /* first address of the page held, or empty */
    uintptr_t write_tag; /* the same once the page is dirty, else empty */
    uint8_t *base;       /* where the page lies in RAM; meaningless while read_tag is empty */
    uintptr_t frame;     /* frame pinned by this slot + 1; 0: none (empty or identity page) */
};

enum nw_vm_policy {
    NW_VM_CLOCK = 0, /* second chance, clean victims preferred within one turn of the hand */
    NW_VM_LRU = 1    /* exact order of misses and slot refills */
};

enum nw_vm_scheme {
    NW_VM_MULTI_CACHE = 0, /* on write-back gather the dirty frames of the sector, fill the rest */
    NW_VM_DIRECT = 1       /* one frame is one sector: plain, or sector-shrink over nw_shrink */
};

#endif
