/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_misses.c - what one call of the run time by a guard takes, to the instruction: pages are
 * resident, or memory is plain. A line a case, "name instructions": all from the call to the
 * return, both included. What is counted goes through a pointer, so that a function that does
 * nothing can be taken off. Start-up and ports: cortexm3/vm_start.c, cortexm3/run_m3.c.
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

static void entries(void)
{
    uintptr_t a = page();

    SHOW("load, look-aside entry", nw_guest_load_miss, entry(a), a, 4);
    a = page();
    SHOW("store of 1 byte, look-aside entry", nw_guest_store_miss_1, entry(a), a, 1);
    a = page();
    SHOW("store of 2 bytes, look-aside entry", nw_guest_store_miss_2, entry(a), a, 2);
    a = page();
    SHOW("store of 4 bytes, look-aside entry", nw_guest_store_miss_4, entry(a), a, 4);
    a = page();
    SHOW("span to read, look-aside entry", nw_guest_span_read, entry(a), a, 16);
    a = page();
    SHOW("span to write, look-aside entry", nw_guest_span_write, entry(a), a, 16);
    a = (uintptr_t)&at;
    SHOW("load of plain memory, look-aside entry", nw_guest_load_miss, entry(a), a, 4);
}

static void slots(void)
{
    struct nw_vm_slot *slot = &nw_guest_slot_table[0];
    uintptr_t a = page();

    SHOW("load, slot", nw_guest_load_miss, slot, a, 4);
    SHOW("store, slot that holds the page to read", nw_guest_store_miss_4, slot, a, 4);
    a = page();
    SHOW("store of 1 byte, slot", nw_guest_store_miss_1, slot, a, 1);
    a = page();
    SHOW("store of 2 bytes, slot", nw_guest_store_miss_2, slot, a, 2);
    a = page();
    SHOW("store of 4 bytes, slot", nw_guest_store_miss_4, slot, a, 4);
    SHOW("store to plain memory, slot", nw_guest_store_miss_4, slot, &at, at);
}

/* Of one byte: what is left is nearly all the guard's. */
static void blocks(void)
{
    static uint8_t plain[4], other[4];
    uintptr_t a = page(), b = page();

    SHOW("copy, plain to plain", nw_guest_copy, plain, other, 1);
    SHOW("copy, virtual to plain", nw_guest_copy, plain, a, 1);
    SHOW("copy, plain to virtual", nw_guest_copy, a, plain, 1);
    SHOW("copy, virtual to virtual", nw_guest_copy, a, b, 1);
    SHOW("fill, virtual", nw_guest_fill, a, 7, 1);
    SHOW("compare, virtual and virtual", nw_libc_memcmp, a, b, 1);
    SHOW("the C library's memmove", memmove, other, plain, 1);
    SHOW("the C library's memset", memset, other, 7, 1);
    SHOW("the C library's memcmp", memcmp, other, plain, 1);
}

int main(void)
{
    at = nw_guest_base + 40U * FRAME;
    entries();
    slots();
    blocks();
    return 0;
}
