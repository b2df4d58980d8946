/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - malloc and its family over a stretch of virtual memory (vm.h).
 *
 * What costs here is not instructions but pages: touching a header in a page that left RAM is a
 * page fault. So the heads of all free lists lie in RAM, and a small block is allocated and freed
 * by touching that block alone. Small free blocks wait in lists of their exact size (quick fit:
 * Weinstock and Wulf 1988) and are merged by one walk over the heap when a request could not be met
 * otherwise. Large ones are merged at once and lie in segregated lists with boundary tags (good
 * fit: Masmano et al. 2004, TLSF). More: docs/vm.md.
 *
 * SIZES. A block begins with a header of 8 bytes, right before its address. A request of n bytes
 * takes R(n) = n + 8, rounded up to NW_HEAP_ALIGN, and 16 at least. It gets that or 8 more; with an
 * alignment, or made smaller by nw_heap_resize(), up to 63 more. nw_heap_size() + 8 is what a block
 * takes.
 *
 * FULL. A request is refused only when no R(n) free bytes lie side by side, whatever blocks they
 * were part of and whenever those were freed; with an alignment above NW_HEAP_ALIGN no R(n) + align
 * + 16. nw_heap_resize() is refused only when in addition the block and the free bytes behind it
 * are together less than R(n).
 *
 * WRONG ADDRESSES. Each header carries a check word made of its content, its place and its heap. An
 * address that is no block, a second free and an overwritten header are told, not obeyed: always,
 * as long as the program writes only to blocks it holds and copies no bytes from outside them.
 * Other bytes pass for a header by chance, one time in 2^32. An address that meanwhile was handed
 * out again is a block.
 *
 * Whole pages inside freed large blocks are given back to the VM: they are not written to the
 * device.
 *
 * COST, in page touches: alloc and free of a block of up to NW_HEAP_QUICK_MAX bytes, header
 * included: its own page, seldom one or two more; a larger one: the ends of it and its neighbours,
 * up to two of the same free list, and up to four free blocks that turn out too small. When all
 * that fails: each free block of nearly this size; then the walk, which touches every page with a
 * header in it, unless too little was freed since the last walk to make the request possible.
 *
 * Addresses are virtual: hand them to guarded code or nw_vm_...(). Errors of the device go to the
 * VM's panic and come back here too, whatever they are; after one the heap is to be used no more.
 * NW_ERR_FULL without a panic is the heap's own: no room.
 */
#ifndef NANDWICH_HEAP_H
#define NANDWICH_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/vm.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* The caller owns the struct, reads stats, and leaves the rest alone. About 550 bytes. */
struct nw_heap {
    struct nw_heap_stats stats;
    struct nw_vm *vm;
    uintptr_t start;
    uint32_t bytes;
    uint32_t top;           /* above it nothing is allocated */
    uint32_t carve;         /* free block small requests are cut from ... */
    uint32_t carve_bytes;   /* ... and its size; 0: there is none */
    uint32_t large_blocks;  /* blocks in the lists of `large` */
    uint32_t gap;           /* after the last walk no free run below the top was longer ... */
    uint32_t longest;       /* ... and now none is longer than this */
    uint32_t salt;          /* in the check words of this heap */
    uint32_t quick[NW_HEAP_QUICK_MAX / NW_HEAP_ALIGN + 1U];
    uint32_t large[80];
};

/* A heap over bytes of virtual memory from start on; what they hold is not looked at. At both ends
 * up to NW_HEAP_ALIGN bytes stay unused, none at a start that is a multiple of it. NW_ERR_CONFIG
 * for a range outside the VM, under 64 bytes or over NW_HEAP_BYTES_MAX. Touches no page. */
int nw_heap_open(struct nw_heap *heap, struct nw_vm *vm, uintptr_t start, uint32_t bytes);

/* *address becomes that of a block of at least `bytes` (0 counts as 1), aligned to `align`, a
 * power of two (0: NW_HEAP_ALIGN), else NW_ERR_ALIGN. NW_ERR_FULL, see above: *address is 0,
 * nothing changed. NW_ERR_CORRUPT: a header was overwritten; the heap is to be used no more. */
int nw_heap_alloc(struct nw_heap *heap, size_t bytes, size_t align, uintptr_t *address);

/* count * bytes, filled with zeros; NW_ERR_FULL when the product does not fit a size_t. Pages never
 * written stay so. */
int nw_heap_alloc_zeroed(struct nw_heap *heap, size_t count, size_t bytes, uintptr_t *address);

/* Make a block larger or smaller, moving it (to *address) when it must; content up to the smaller
 * size is kept. address 0: allocates. NW_ERR_FULL: the block stays as it was. Errors as
 * nw_heap_free(). */
int nw_heap_resize(struct nw_heap *heap, uintptr_t *address, size_t bytes);

/* NW_ERR_RANGE: an address that cannot be a block of this heap. NW_ERR_NOT_FOUND: free already.
 * NW_ERR_CORRUPT: not the start of a block (a block freed and merged may answer this too), or its
 * header or that of the block behind it was overwritten. Nothing is changed then; but when the
 * program wrote into a free block, the heap may have lost that one. address 0 is NW_OK. */
int nw_heap_free(struct nw_heap *heap, uintptr_t address);

/* Bytes the block at address has room for, in *bytes; 0 on an error. Errors as nw_heap_free(). */
int nw_heap_size(struct nw_heap *heap, uintptr_t address, size_t *bytes);

/* Walks the whole heap: NW_OK, or NW_ERR_CORRUPT with the bad block in *address, 0 when the blocks
 * are good and do not add up. For tests and for hunting an overwritten header; touches every page
 * with a header. */
int nw_heap_check(struct nw_heap *heap, uintptr_t *address);

#ifdef __cplusplus
}
#endif

#endif
