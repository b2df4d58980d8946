/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-guest/guest.h"

#include "internal.h"

#include <string.h>

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define NW_GUEST_FROM_IMAGE memcpy_P /* code flash is another space */
#else
#define NW_GUEST_FROM_IMAGE memcpy
#endif

struct nw_vm nw_guest_vm;
struct nw_heap nw_guest_heap;
struct nw_vm_slot nw_guest_slot_table[NW_GUEST_SLOTS_MAX];
struct nw_vm_slot nw_guest_lookaside[NW_GUEST_LOOKASIDE_MAX];
nw_count nw_guest_accesses;
const char *nw_guest_misuse;
int nw_guest_signal;
/* What the thunks would otherwise reckon at every call; see open_guards(). */
uintptr_t nw_guest_frame_word;
uintptr_t nw_guest_lookaside_mask;
uint8_t nw_guest_frame_shift;

/* From the linker script: where globals lie in virtual memory. */
extern uint8_t nw_vm_start[], nw_vm_data_end[], nw_vm_globals_end[];
/* Where their initial contents lie: in the same place on the host, in code flash on a device. */
extern const uint8_t nw_vm_image[];
/* One entry an object file, gathered by the linker: frame bytes, slots, look-aside entries. */
extern const uint16_t __start_nw_config[][3], __stop_nw_config[][3];

const uintptr_t nw_guest_base = (uintptr_t)nw_vm_start;
const uint32_t nw_guest_bytes_max = NW_GUEST_RANGE_BYTES;

uint32_t nw_guest_globals_bytes(void)
{
    /* Not by a difference of pointers: where those have 16 bits, that is negative from 32 KB on. */
    return (uint32_t)((uintptr_t)nw_vm_globals_end - (uintptr_t)nw_vm_start);
}

static int objects_agree(void)
{
    for (const uint16_t(*note)[3] = __start_nw_config; note < __stop_nw_config; note++) {
        if ((*note)[0] != nw_guest_frame_bytes || (*note)[1] != nw_guest_slots ||
            (*note)[2] != nw_guest_lookaside_entries) {
            return 0;
        }
    }
    return 1;
}

/* The image may lie where the virtual memory will be: it goes through a buffer, since a pointer to
 * it would be taken for a virtual one. */
static int load_globals(void)
{
    uint8_t piece[256];
    uintptr_t end = (uintptr_t)nw_vm_data_end;

    for (uintptr_t at = nw_guest_base; at < end;) {
        size_t n = end - at < sizeof piece ? (size_t)(end - at) : sizeof piece;

        NW_GUEST_FROM_IMAGE(piece, nw_vm_image + (at - nw_guest_base), n);
        int result = nw_vm_write(&nw_guest_vm, at, piece, n);
        if (result < 0) {
            return result;
        }
        at += n;
    }
    return NW_OK;
}

static int open_heap(void)
{
    uint32_t mask = NW_HEAP_ALIGN > nw_guest_frame_bytes ? NW_HEAP_ALIGN - 1U
                                                         : nw_guest_frame_bytes - 1U;
    uint32_t used = (nw_guest_globals_bytes() + mask) & ~mask;

    if (used > nw_guest_vm.bytes) {
        return NW_ERR_CONFIG;
    }
    /* A program may have no room for a heap and not need one; malloc then answers NULL. */
    uint32_t left = (uint32_t)(nw_guest_vm.bytes - used);
    left = left < NW_HEAP_BYTES_MAX ? left : (uint32_t)NW_HEAP_BYTES_MAX;
    return left < 64U ? NW_OK
                      : nw_heap_open(&nw_guest_heap, &nw_guest_vm, nw_guest_base + used, left);
}

static void open_guards(void)
{
    nw_guest_frame_word = nw_guest_frame_bytes;
    nw_guest_lookaside_mask = nw_guest_lookaside_entries - (uintptr_t)1;
    nw_guest_frame_shift = nw_guest_vm.frame_shift;
}

int nw_guest_open(const struct nw_vm_config *config)
{
    struct nw_vm_config own = *config;

    own.base = own.base != 0 ? own.base : nw_guest_base;
    own.frame_bytes = own.frame_bytes != 0 ? own.frame_bytes : nw_guest_frame_bytes;
    own.slots = own.slots != 0 ? own.slots : nw_guest_slots;
    own.slot_table = own.slot_table != NULL ? own.slot_table : nw_guest_slot_table;
    own.lookaside = nw_guest_lookaside;
    own.lookaside_entries = nw_guest_lookaside_entries;
    if (!objects_agree() || own.base != nw_guest_base ||
        own.frame_bytes != nw_guest_frame_bytes || own.slots != nw_guest_slots ||
        own.slot_table != nw_guest_slot_table || own.bytes < nw_guest_globals_bytes() ||
        own.bytes > nw_guest_bytes_max) {
        return NW_ERR_CONFIG;
    }
    int result = nw_vm_open(&nw_guest_vm, &own);
    open_guards();
    if (result >= 0) {
        result = load_globals();
    }
    if (result >= 0) {
        result = open_heap();
    }
    if (result >= 0) {
        result = nw_guest_hide(nw_guest_base, nw_guest_bytes_max);
    }
    return result;
}

const struct nw_vm_stats *nw_guest_stats(void)
{
    nw_guest_vm.stats.accesses = nw_guest_accesses;
    return &nw_guest_vm.stats;
}
