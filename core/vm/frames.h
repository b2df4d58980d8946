/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - inside the virtual-memory run time: what a frame holds, and what its files share.
 * Bottom first; each calls only those above it:
 *   table.c      which frame holds a page, what the look-aside knows; telling of errors
 *   policy.c     the choice of a victim
 *   writeback.c  everything that moves between frames and the device
 *   frames.c     faults
 *   bulk.c       runs of bytes, and pins
 *   slots.c      the slow sides of the guard
 *   vm.c         opening, flush, discard
 *   map.c        ranges that come from elsewhere
 */
#ifndef NANDWICH_VM_FRAMES_H
#define NANDWICH_VM_FRAMES_H

#include "nandwich/vm_map.h"

/* What the short ways of misses and moves are made of. INLINE: in place even where code is built
 * for size, as a call would cost half of what is called. APART: never in place, so that what stands
 * beside it need not save registers. SHARED: apart where code is built for size, else in place. */
#if defined(__GNUC__)
#define NW_VM_INLINE __attribute__((always_inline)) static inline
#define NW_VM_APART __attribute__((noinline)) static
#else
#define NW_VM_INLINE static inline
#define NW_VM_APART static
#endif
#if defined(__OPTIMIZE_SIZE__)
#define NW_VM_SHARED NW_VM_APART
#else
#define NW_VM_SHARED NW_VM_INLINE
#endif

#define NW_VM_NONE 0xFFFFU /* no frame */
#define NW_VM_FRAMES_MAX 65000U

/* The state of a frame: marks, and above them how many pins there are. */
#define NW_VM_PIN 0x100U
#define NW_VM_DIRTY 0x01U
#define NW_VM_REFERENCED 0x02U /* CLOCK: used since the hand came by */
/* nw_vm_pin() handed the page out for writing: it must not become clean. Cleared with the last pin
 * of this kind. Of slots it is not kept: their write tags tell. */
#define NW_VM_WRITER 0x04U
#define NW_VM_FIXED 0x08U /* of a read-only map: it does not get dirty */

struct nw_vm_frame {
    uint32_t tag;   /* where its page begins: the low bits of the address */
    uint16_t next;  /* next frame of the same hash chain, or of the free chain */
    uint16_t state; /* marks, and pins: slots and nw_vm_pin() calls that hold the page here */
};

struct nw_vm_order {
    uint16_t older;
    uint16_t newer;
};

/* How a page is wanted. */
enum nw_vm_want {
    NW_VM_WANT_CONTENT,
    NW_VM_WANT_ROOM /* the caller overwrites all of it at once */
};

static inline int nw_vm_is_virtual(const struct nw_vm *vm, uintptr_t address)
{
    return address - vm->base < vm->bytes;
}

static inline uint32_t nw_vm_page_of(const struct nw_vm *vm, uintptr_t address)
{
    return (uint32_t)((address - vm->base) >> vm->frame_shift);
}

static inline uintptr_t nw_vm_address_of(const struct nw_vm *vm, uint32_t page)
{
    return vm->base + ((uintptr_t)page << vm->frame_shift);
}

static inline uint32_t nw_vm_tag_of(const struct nw_vm *vm, uintptr_t address)
{
    return (uint32_t)(address & vm->no_tag);
}

/* Where the page of a tag begins. */
static inline uintptr_t nw_vm_begin(const struct nw_vm *vm, uint32_t tag)
{
    return vm->base + (uintptr_t)(tag - (uint32_t)vm->base);
}

/* n bytes from an address on lie on more than one page. */
static inline int nw_vm_straddles(const struct nw_vm *vm, uintptr_t address, size_t n)
{
    return n > 0U - (address | vm->no_tag); /* that is to the end of the page */
}

/* The number of a page that is resident. */
static inline uint32_t nw_vm_page_in(const struct nw_vm *vm, const struct nw_vm_frame *held)
{
    return nw_vm_page_of(vm, nw_vm_begin(vm, held->tag));
}

static inline uint8_t *nw_vm_memory_of(const struct nw_vm *vm, uint16_t frame)
{
    return vm->memory + frame * (0U - vm->no_tag); /* the bytes of a frame */
}

/* Where the hash chain of a page begins. Multiplicative (Knuth, vol. 3, 6.4): strides of any power
 * of two spread over the buckets. The factor is a page number's, moved right as far as the number
 * stands left in a tag. */
static inline uint16_t *nw_vm_bucket_of(const struct nw_vm *vm, uint32_t tag)
{
    return &vm->bucket[(uint32_t)(tag * vm->spread) >> vm->bucket_shift];
}

/* What a slot without a page pins: the record behind the last frame's. So nobody has to ask. */
static inline struct nw_vm_frame *nw_vm_no_frame(const struct nw_vm *vm)
{
    return &vm->frame[vm->frames];
}

/* Whether a page is resident, and in which frame. Chains end with the record behind the last
 * frame's, whose tag no page has: the first look needs no test for the end. */
NW_VM_INLINE int nw_vm_look_up(const struct nw_vm *vm, uintptr_t address, uint16_t *frame)
{
    uint32_t tag = nw_vm_tag_of(vm, address);
    uint16_t at = *nw_vm_bucket_of(vm, tag);

    /* Where an address has more bits than a tag, a plain one may have the tag of a page. */
    if (sizeof address > sizeof tag && !nw_vm_is_virtual(vm, address)) {
        return 0;
    }
    while (vm->frame[at].tag != tag) {
        if (at == vm->frames) {
            return 0;
        }
        at = vm->frame[at].next;
    }
    *frame = at;
    return 1;
}

static inline uint32_t nw_vm_unit_pages(const struct nw_vm *vm)
{
    return (uint32_t)1 << vm->unit_shift;
}

/* map.c, once there is a map: firmware without maps links none of it. */
struct nw_vm_mapped {
    struct nw_vm_map *(*find)(const struct nw_vm *vm, uintptr_t address); /* NULL: none is there */
    int (*load)(struct nw_vm *vm, uint32_t page, uint8_t *to); /* a page of a map, by its source */
    /* The sector buffer is zeros, and the device never held the unit: where it lies in a map, its
     * source's content, if not all pages are resident. */
    int (*prepare)(struct nw_vm *vm, uint32_t unit);
    int (*store)(struct nw_vm *vm, uint32_t page); /* to its source; 1: it has none to go to */
    /* Bytes of a page that is not resident, without it; 1: it is to come in. */
    int (*part)(struct nw_vm *vm, uint8_t *to, uintptr_t from, size_t n);
};

/* table.c -------------------------------------------------------------------------------------- */

/* The frame that holds a page, or NW_VM_NONE. */
uint16_t nw_vm_resident(const struct nw_vm *vm, uint32_t page);

/* What the look-aside entry of a resident page knows is forgotten: because the page leaves its
 * frame, or so that its next use is seen. 1: the entry knew the page. */
int nw_vm_aside_forget(struct nw_vm *vm, const struct nw_vm_frame *held);

static inline int nw_vm_is_pinned(const struct nw_vm_frame *held)
{
    return held->state >= NW_VM_PIN;
}

NW_VM_INLINE void nw_vm_frame_pin(struct nw_vm_frame *held)
{
    held->state = (uint16_t)(held->state + NW_VM_PIN);
}

NW_VM_INLINE void nw_vm_frame_unpin(struct nw_vm_frame *held)
{
    held->state = (uint16_t)(held->state - NW_VM_PIN);
}

/* The page in a frame is written from now on, or NW_ERR_READ_ONLY at that address. */
int nw_vm_soil(struct nw_vm *vm, uint16_t frame, uintptr_t address);

/* Tell panic of an error at vm->error_at, and answer it. NW_OK is none. */
int nw_vm_report(struct nw_vm *vm, int error);

/* policy.c ------------------------------------------------------------------------------------- */

void nw_vm_policy_open(struct nw_vm *vm);
void nw_vm_policy_add(struct nw_vm *vm, uint16_t frame);    /* a page came in */
void nw_vm_policy_remove(struct nw_vm *vm, uint16_t frame); /* it left */
void nw_vm_policy_use(struct nw_vm *vm, uint16_t frame);    /* it was asked for again */

/* The frame to empty when all are full, or NW_VM_NONE when every one is pinned. */
uint16_t nw_vm_policy_victim(struct nw_vm *vm);

/* writeback.c ---------------------------------------------------------------------------------- */

/* The content of a page into its frame. */
int nw_vm_page_load(struct nw_vm *vm, uint32_t page, uint16_t frame);

/* Write the unit of a dirty page, and with it every dirty page of the unit. */
int nw_vm_unit_store(struct nw_vm *vm, uint32_t page);

/* The page is on the device now, or at its source. */
void nw_vm_saved(struct nw_vm *vm, uint16_t frame);

/* Forgets what the device holds of a unit: zeros from now on, but for pages still in RAM. */
int nw_vm_unit_trim(struct nw_vm *vm, uint32_t unit);

static inline int nw_vm_unit_written(const struct nw_vm *vm, uint32_t unit)
{
    return (vm->written[unit >> 3] >> (unit & 7U)) & 1;
}

/* frames.c ------------------------------------------------------------------------------------- */

/* The frame of a page of the range, brought in if need be, and marked as used. */
int nw_vm_frame_get(struct nw_vm *vm, uintptr_t address, enum nw_vm_want want, uint16_t *frame);

/* Take a page out of its frame; what it held is gone. */
void nw_vm_frame_drop(struct nw_vm *vm, uint16_t frame);

/* bulk.c --------------------------------------------------------------------------------------- */

/* nw_vm_move() that is not counted. */
int nw_vm_pass(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n);

/* Stores n bytes across two pages, in both or, on an error, in neither. */
int nw_vm_put_across(struct nw_vm *vm, uintptr_t address, const uint8_t *value, size_t n);

/* Whether n bytes from address on all lie in plain memory. */
int nw_vm_is_plain(const struct nw_vm *vm, uintptr_t address, size_t n);

#endif
