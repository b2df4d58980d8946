/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misses.c - what a guard calls when its slot does not hold the page. On x86-64 the pass calls
 * thunks_x86_64.S, which spares the caller's registers and comes here; elsewhere it comes directly.
 */
#include "internal.h"

#include <string.h>

#if defined(__x86_64__)
#define NW_MISS(name) nw_guest_c_##name
#define NW_SLOT(slot, address) slot_of(slot, address)
#else
#define NW_MISS(name) nw_guest_##name
#define NW_SLOT(slot, address) (slot) /* the guard has found it */
#endif

const void *NW_MISS(load_miss)(struct nw_vm_slot *slot, uintptr_t address, size_t n);
void *NW_MISS(modify_miss)(struct nw_vm_slot *slot, uintptr_t address, size_t n);
const void *NW_MISS(span_read)(struct nw_vm_slot *slot, uintptr_t address, size_t n);
void *NW_MISS(span_write)(struct nw_vm_slot *slot, uintptr_t address, size_t n);
void NW_MISS(store_miss_1)(struct nw_vm_slot *slot, uintptr_t address, uint8_t value);
void NW_MISS(store_miss_2)(struct nw_vm_slot *slot, uintptr_t address, uint16_t value);
void NW_MISS(store_miss_4)(struct nw_vm_slot *slot, uintptr_t address, uint32_t value);
void NW_MISS(store_miss_8)(struct nw_vm_slot *slot, uintptr_t address, uint64_t value);
void NW_MISS(store_miss_n)(struct nw_vm_slot *slot, uintptr_t address, size_t n,
                           const void *value);
void NW_MISS(window_read)(struct nw_vm_slot *slot, uintptr_t address);
void NW_MISS(window_write)(struct nw_vm_slot *slot, uintptr_t address);
void NW_MISS(dirty)(struct nw_vm_slot *slot);

/* No slot means the look-aside entry of the address. */
static struct nw_vm_slot *slot_of(struct nw_vm_slot *slot, uintptr_t address)
{
    return slot != NULL ? slot
                        : &nw_guest_lookaside[address >> nw_guest_frame_shift &
                                              nw_guest_lookaside_mask];
}

const void *NW_MISS(load_miss)(struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    return nw_vm_load_miss(NW_SLOT(slot, address), address, n, &nw_guest_vm);
}

void *NW_MISS(modify_miss)(struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    return nw_vm_modify_miss(&nw_guest_vm, NW_SLOT(slot, address), address, n);
}

static int straddles(uintptr_t address, size_t n)
{
    return n > nw_guest_frame_word - (size_t)(address & (nw_guest_frame_word - 1U));
}

/* A span of neighbours need not be one access: where it fits a page the first byte brings it all,
 * where it does not the caller falls back to a guard an access. */
const void *NW_MISS(span_read)(struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    return straddles(address, n)
               ? NULL
               : nw_vm_load_miss(NW_SLOT(slot, address), address, 1, &nw_guest_vm);
}

void *NW_MISS(span_write)(struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    return straddles(address, n)
               ? NULL
               : nw_vm_write_miss(NW_SLOT(slot, address), address, 1, &nw_guest_vm);
}

/* A scalar aligned to its size lies on one page. Where scalars need not be (AVR), pages count. */
#define AWKWARD(address, type)                                                                     \
    (_Alignof(type) == sizeof(type) ? ((address) & (sizeof(type) - 1U)) != 0                       \
                                    : straddles(address, sizeof(type)))

#define NW_STORE_MISS(bits, bytes)                                                                 \
    static __attribute__((noinline)) void store_unaligned_##bytes(                                 \
        struct nw_vm_slot *slot, uintptr_t address, uint##bits##_t value)                          \
    {                                                                                              \
        nw_vm_store_miss(&nw_guest_vm, slot, address, bytes, &value);                              \
    }                                                                                              \
                                                                                                   \
    void NW_MISS(store_miss_##bytes)(struct nw_vm_slot *slot, uintptr_t address,                   \
                                     uint##bits##_t value)                                         \
    {                                                                                              \
        slot = NW_SLOT(slot, address);                                                             \
        if (AWKWARD(address, uint##bits##_t)) {                                                    \
            store_unaligned_##bytes(slot, address, value);                                         \
        } else {                                                                                   \
            void *at = nw_vm_write_miss(slot, address, bytes, &nw_guest_vm);                       \
                                                                                                   \
            memcpy(__builtin_assume_aligned(at, _Alignof(uint##bits##_t)), &value, bytes);         \
        }                                                                                          \
    }

NW_STORE_MISS(8, 1)
NW_STORE_MISS(16, 2)
NW_STORE_MISS(32, 4)
NW_STORE_MISS(64, 8)

void NW_MISS(store_miss_n)(struct nw_vm_slot *slot, uintptr_t address, size_t n, const void *value)
{
    nw_vm_store_miss(&nw_guest_vm, slot_of(slot, address), address, n, value);
}

/* What a page window asks for at a strip's entry. Never a fault, and never plain memory, which may
 * not be there: the guarded copy of the loop touches both first, when the program comes to them. */
void NW_MISS(window_read)(struct nw_vm_slot *slot, uintptr_t address)
{
    (void)nw_vm_hold_read(slot, address, &nw_guest_vm);
}

void NW_MISS(window_write)(struct nw_vm_slot *slot, uintptr_t address)
{
    (void)nw_vm_hold_write(slot, address, 1, &nw_guest_vm);
}

void NW_MISS(dirty)(struct nw_vm_slot *slot)
{
    (void)nw_vm_write_miss(slot, slot->read_tag, 1, &nw_guest_vm);
}

#if !defined(__x86_64__)
/* The outlined guards: check and, if need be, miss in one call. */
const void *nw_guest_load(struct nw_vm_slot *slot, uintptr_t address, size_t n);
void nw_guest_store_1(struct nw_vm_slot *slot, uintptr_t address, uint8_t value);
void nw_guest_store_2(struct nw_vm_slot *slot, uintptr_t address, uint16_t value);
void nw_guest_store_4(struct nw_vm_slot *slot, uintptr_t address, uint32_t value);
void nw_guest_store_8(struct nw_vm_slot *slot, uintptr_t address, uint64_t value);

const void *nw_guest_load(struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    slot = slot_of(slot, address);
    uintptr_t offset = address - slot->read_tag;

    return offset <= nw_guest_frame_bytes - n ? slot->base + offset
                                              : nw_guest_load_miss(slot, address, n);
}

static int store_hits(const struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    return address - slot->write_tag <= nw_guest_frame_bytes - n;
}

#define NW_STORE(bits, bytes)                                                                      \
    void nw_guest_store_##bytes(struct nw_vm_slot *slot, uintptr_t address, uint##bits##_t value)  \
    {                                                                                              \
        slot = slot_of(slot, address);                                                             \
        if (store_hits(slot, address, sizeof value)) {                                             \
            memcpy(slot->base + (address - slot->write_tag), &value, sizeof value);                \
        } else {                                                                                   \
            nw_guest_store_miss_##bytes(slot, address, value);                                     \
        }                                                                                          \
    }

NW_STORE(8, 1)
NW_STORE(16, 2)
NW_STORE(32, 4)
NW_STORE(64, 8)
#endif
