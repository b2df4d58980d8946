/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - malloc and its family over a stretch of virtual memory (vm.h).
 *
 * What costs here is not instructions but pages: touching a header in a page that left RAM is a
 * page fault. So the heads of all free lists lie in RAM, a small block is allocated and freed by
 * touching that block alone, and neighbours are merged at once only where blocks are large. Small
 * free blocks wait in lists of their exact size (quick fit: Weinstock and Wulf 1988) and are
 * merged by one walk over the heap when a request could not be met otherwise. Large ones lie in
 * segregated lists with boundary tags, a bounded number of steps to find and free (good fit:
 * Masmano et al. 2004, TLSF).
 *
 * A block costs 8 bytes beyond what was asked, rounded up to NW_HEAP_ALIGN. Each header carries a
 * check word: a pointer that is no block, a second free and an overwritten header are told, not
 * obeyed. Whole pages inside freed large blocks are given back to the VM: they are not written to
 * the device.
 *
 * COST, in page touches: alloc and free of a block of up to NW_HEAP_QUICK_MAX bytes, header
 * included: its own page, seldom one or two more; a larger one: the ends of it and its
 * neighbours, and up to two of the same free list. The walk: every page with a header in it.
 *
 * Addresses are virtual: hand them to guarded code or nw_vm_...(). Errors of the device go to the
 * VM's panic and come back here too; after one the heap is to be used no more.
 */
#ifndef NANDWICH_HEAP_H
#define NANDWICH_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/vm.h"

/* Every address answered is a multiple of this: what the widest basic type needs. */
#if UINTPTR_MAX > 0xFFFFFFFFUL
#define NW_HEAP_ALIGN 16U
#else
#define NW_HEAP_ALIGN 8U
#endif

#define NW_HEAP_QUICK_MAX (32U * NW_HEAP_ALIGN) /* largest quick block, header included, bytes */
#define NW_HEAP_BYTES_MAX 0x10000000UL          /* largest heap, bytes */

struct nw_heap_stats {
    uint32_t used;  /* bytes in blocks handed out, headers and rounding included */
    uint32_t peak;  /* the most `used` has been */
    uint32_t reach; /* bytes from the start of the heap ever handed out at once: its footprint */
    uint32_t blocks; /* blocks handed out now */
    nw_count allocs;
    nw_count frees;
    nw_count failures; /* requests refused for want of room */
    nw_count walks;    /* times all small free blocks were merged */
};

/* The caller owns the struct, reads stats, and leaves the rest alone. About 500 bytes. */
struct nw_heap {
    struct nw_heap_stats stats;
    struct nw_vm *vm;
    uintptr_t start;
    uint32_t bytes;
    uint32_t top;           /* above it nothing is allocated */
    uint32_t carve;         /* free block small requests are cut from; 0: none */
    uint32_t carve_bytes;
    uint8_t unmerged;       /* small blocks were freed since the last walk */
    uint16_t large_blocks;  /* blocks in the lists of `large` */
    uint32_t quick[NW_HEAP_QUICK_MAX / NW_HEAP_ALIGN + 1U];
    uint32_t large[80];
};

/* A heap over bytes of virtual memory from start on; what they hold is not looked at. NW_ERR_CONFIG
 * for a range outside the VM, under 64 bytes or over NW_HEAP_BYTES_MAX. Touches no page. */
int nw_heap_open(struct nw_heap *heap, struct nw_vm *vm, uintptr_t start, uint32_t bytes);

/* *address becomes that of a block of at least `bytes` (0 counts as 1), aligned to `align`, a
 * power of two (0: NW_HEAP_ALIGN), else NW_ERR_ALIGN. NW_ERR_FULL: no room, *address is 0,
 * nothing changed. */
int nw_heap_alloc(struct nw_heap *heap, size_t bytes, size_t align, uintptr_t *address);

/* count * bytes, filled with zeros. Pages never written stay so. */
int nw_heap_alloc_zeroed(struct nw_heap *heap, size_t count, size_t bytes, uintptr_t *address);

/* Make a block larger or smaller, moving it (to *address) when it must; content up to the smaller
 * size is kept. address 0: allocates. NW_ERR_FULL: the block stays as it was. Errors as
 * nw_heap_free(). */
int nw_heap_resize(struct nw_heap *heap, uintptr_t *address, size_t bytes);

/* NW_ERR_RANGE: an address that cannot be a block of this heap. NW_ERR_NOT_FOUND: free already.
 * NW_ERR_CORRUPT: not the start of a block, or a header was overwritten. Nothing is changed then.
 * address 0 is NW_OK. */
int nw_heap_free(struct nw_heap *heap, uintptr_t address);

/* Bytes the block at address has room for, in *bytes. Errors as nw_heap_free(). */
int nw_heap_size(struct nw_heap *heap, uintptr_t address, size_t *bytes);

/* Walks the whole heap: NW_OK, or NW_ERR_CORRUPT with the bad block in *address. For tests and for
 * hunting an overwritten header; touches every page with a header. */
int nw_heap_check(struct nw_heap *heap, uintptr_t *address);

#endif
