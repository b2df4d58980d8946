/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_misses.c - what one call of the run time by a guard takes, to the instruction: pages are
 * resident, or memory is plain. A line a case, "name instructions": all from the call to the return,
 * both included. What is counted goes through a pointer, so that a function that does nothing can
 * be taken off. Start-up and ports: cortexm3/vm_start.c, cortexm3/run_m3.c.
 */
#include <stdint.h>
#include <string.h>

#include "nandwich-guest/guest.h"
#include "vm/frames.h"

#define FRAME 512U
#define ENTRIES 64U
#define COUNTER ((volatile uint32_t *)0x40000008UL)
#define CALL_AND_RETURN 2U

/* What the compiler pass writes into every program. */
const uint16_t nw_guest_frame_bytes = FRAME;
const uint16_t nw_guest_slots = 16;
const uint16_t nw_guest_lookaside_entries = ENTRIES;
__attribute__((section("nw_config"), used)) static const uint16_t config[3] = {FRAME, 16, ENTRIES};

int nw_libc_printf(const char *format, ...);
void *nw_libc_memcpy(void *to, const void *from, size_t n);
void *nw_libc_memset(void *to, int byte, size_t n);
int nw_libc_memcmp(const void *a, const void *b, size_t n);
const void *nw_guest_load_miss(struct nw_vm_slot *slot, uintptr_t address, size_t n);
const void *nw_guest_span_read(struct nw_vm_slot *slot, uintptr_t address, size_t n);
void *nw_guest_span_write(struct nw_vm_slot *slot, uintptr_t address, size_t n);
void nw_guest_store_miss_1(struct nw_vm_slot *slot, uintptr_t address, uint8_t value);
void nw_guest_store_miss_2(struct nw_vm_slot *slot, uintptr_t address, uint16_t value);
void nw_guest_store_miss_4(struct nw_vm_slot *slot, uintptr_t address, uint32_t value);

/* All that is called takes up to three words, and its answer is not looked at. */
typedef void guest_call(uintptr_t a, uintptr_t b, uintptr_t c);

static uintptr_t at; /* the page of the last case */

__attribute__((noinline)) static void nothing(uintptr_t a, uintptr_t b, uintptr_t c)
{
    (void)a;
    (void)b;
    (void)c;
    __asm__ volatile("");
}

__attribute__((noinline)) static uint32_t took(guest_call *function, uintptr_t a, uintptr_t b,
                                               uintptr_t c)
{
    uint32_t since = *COUNTER;

    function(a, b, c);
    return *COUNTER - since;
}

static void show(const char *name, guest_call *function, uintptr_t a, uintptr_t b, uintptr_t c)
{
    uint32_t spent = took(function, a, b, c) - took(nothing, a, b, c) + CALL_AND_RETURN;

    nw_libc_printf("%s %u\n", name, (unsigned)spent);
}

static void show_call(const char *name, const void *function, uintptr_t a, uintptr_t b, uintptr_t c)
{
    guest_call *call;

    memcpy(&call, &function, sizeof call);
    show(name, call, a, b, c);
}

#define SHOW(name, function, a, b, c)                                                              \
    show_call(name, (const void *)(uintptr_t)(function), (uintptr_t)(a), (uintptr_t)(b),           \
              (uintptr_t)(c))

/* An address in a resident page that no case has used, the first of its hash chain. */
static uintptr_t page(void)
{
    uint32_t number;

    do {
        at += FRAME;
        number = nw_vm_page_of(&nw_guest_vm, at);
    } while (*nw_vm_bucket_of(&nw_guest_vm, (uint32_t)at) != nw_vm_resident(&nw_guest_vm, number));
    return at + 8;
}

static struct nw_vm_slot *entry(uintptr_t address)
{
    return &nw_guest_lookaside[address / FRAME % ENTRIES];
}

static void misses(void)
{
    uintptr_t a = page(), b = page();
    struct nw_vm_slot *slot = &nw_guest_slot_table[0];

    a = page();
    SHOW("entry load 1", nw_guest_load_miss, entry(a), a, 1);
    a = page();
    SHOW("entry load 4", nw_guest_load_miss, entry(a), a, 4);
    a = page();
    SHOW("entry store 1", nw_guest_store_miss_1, entry(a), a, 1);
    a = page();
    SHOW("entry store 2", nw_guest_store_miss_2, entry(a), a, 2);
    a = page();
    SHOW("entry store 4", nw_guest_store_miss_4, entry(a), a, 4);
    a = page();
    SHOW("entry span read 16", nw_guest_span_read, entry(a), a, 16);
    a = page();
    SHOW("entry span write 16", nw_guest_span_write, entry(a), a, 16);
    SHOW("slot load 4, empty before", nw_guest_load_miss, slot, b, 4);
    a = page();
    SHOW("slot load 1", nw_guest_load_miss, slot, a, 1);
    a = page();
    SHOW("slot load 4", nw_guest_load_miss, slot, a, 4);
    SHOW("slot store 4, page held", nw_guest_store_miss_4, slot, a, 4);
    a = page();
    SHOW("slot store 1", nw_guest_store_miss_1, slot, a, 1);
    a = page();
    SHOW("slot store 2", nw_guest_store_miss_2, slot, a, 2);
    a = page();
    SHOW("slot store 4", nw_guest_store_miss_4, slot, a, 4);
    a = page();
    SHOW("slot load 4, written before", nw_guest_load_miss, slot, a, 4);
    a = page();
    SHOW("plain entry load 4", nw_guest_load_miss, entry((uintptr_t)&at), &at, 4);
    SHOW("plain slot store 4", nw_guest_store_miss_4, slot, &at, at);
    SHOW("slot load 4, plain before", nw_guest_load_miss, slot, a, 4);
}

/* Calls of no bytes but one cost what the guard does, and next to nothing of the copying. */
static void bulk(void)
{
    static uint8_t plain[64], other[64];
    uintptr_t a = page(), b = page();

    SHOW("copy 1, plain to plain", nw_guest_copy, plain, other, 1);
    SHOW("copy 1, virtual to plain", nw_guest_copy, plain, a, 1);
    SHOW("copy 1, plain to virtual", nw_guest_copy, a, plain, 1);
    SHOW("copy 1, virtual to virtual", nw_guest_copy, a, b, 1);
    SHOW("copy 16, virtual to virtual", nw_guest_copy, a, b, 16);
    SHOW("copy 64, virtual to virtual", nw_guest_copy, a, b, 64);
    SHOW("copy 64, within a page", nw_guest_copy, a, a + 64, 64);
    SHOW("fill 1, virtual", nw_guest_fill, a, 7, 1);
    SHOW("fill 64, virtual", nw_guest_fill, a, 7, 64);
    SHOW("memcpy 1, virtual to virtual", nw_libc_memcpy, a, b, 1);
    SHOW("memset 1, virtual", nw_libc_memset, a, 7, 1);
    SHOW("memcmp 1, virtual and virtual", nw_libc_memcmp, a, b, 1);
    SHOW("memcmp 1, virtual and plain", nw_libc_memcmp, a, plain, 1);
    SHOW("memcmp 1, plain and plain", nw_libc_memcmp, other, plain, 1);
    SHOW("libc memcpy 1", memcpy, other, plain, 1);
    SHOW("libc memmove 1", memmove, other, plain, 1);
    SHOW("libc memmove 16", memmove, other, plain, 16);
    SHOW("libc memmove 64", memmove, other, plain, 64);
    SHOW("libc memset 1", memset, other, 7, 1);
    SHOW("libc memcmp 1", memcmp, other, plain, 1);
}

int main(void)
{
    at = nw_guest_base + 40U * FRAME;
    misses();
    bulk();
    return 0;
}
