/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c - guards on an ATmega128, as calls: what the compiler pass puts in place of an access
 * with -nw-guards=outline, between marks (run_avr.c). Pages of 128 bytes, all resident, as on a
 * mote; the device is never asked.
 *
 *   1 a mark alone       2 load, hit of a slot      3 load, hit of a look-aside entry
 *   4 load, miss of it   5 store, hit of a slot     6 store, miss of a look-aside entry
 */
#include <avr/io.h>

#include "nandwich-guest/guest.h"

#define FRAME_BYTES 128U
#define FRAMES 12U
#define ASIDE NW_GUEST_LOOKASIDE_MAX /* 4, from the command line */
#define VM_BYTES 0xE000U /* 56 KB, behind what a program has for RAM */
#define VM_BASE 0x1800U
#define ROUNDS 40U

/* misses.c, without the rest of ports/guest: its tables are made for larger processors. */
const void *nw_guest_load(struct nw_vm_slot *slot, uintptr_t address, size_t n);
void nw_guest_store_1(struct nw_vm_slot *slot, uintptr_t address, uint8_t value);

struct nw_vm nw_guest_vm;
struct nw_vm_slot nw_guest_lookaside[ASIDE];
uintptr_t nw_guest_frame_word = FRAME_BYTES;
uintptr_t nw_guest_lookaside_mask = ASIDE - 1U;
uint8_t nw_guest_frame_shift = 7;
const uint16_t nw_guest_frame_bytes = FRAME_BYTES;

static struct nw_vm_slot slots[2];
static uint8_t ram[2300];

static int nothing(struct nw_block_req *req)
{
    req->done = req->count;
    return NW_OK;
}

static const struct nw_block_ops ops = {nothing, nothing, nothing, nothing, NULL};
static struct nw_block block = {.ops = &ops, .sectors = VM_BYTES / FRAME_BYTES,
                                .sector_bytes = FRAME_BYTES};

static void end(uint8_t with)
{
    PORTB = with;
    for (;;) {
    }
}

static void panic(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)vm;
    (void)error;
    (void)address;
    end(254);
}

static void open(void)
{
    struct nw_vm_config config = {.base = VM_BASE,
                                  .bytes = VM_BYTES,
                                  .frame_bytes = FRAME_BYTES,
                                  .frames = FRAMES,
                                  .slots = 2,
                                  .scheme = NW_VM_DIRECT,
                                  .block = &block,
                                  .ram = ram,
                                  .ram_bytes = sizeof ram,
                                  .slot_table = slots,
                                  .panic = panic,
                                  .lookaside = nw_guest_lookaside,
                                  .lookaside_entries = ASIDE};

    if (nw_vm_open(&nw_guest_vm, &config) != NW_OK) {
        end(254);
    }
}

#define MEASURE(mark, what)                                                                        \
    PORTB = (mark);                                                                                \
    what;                                                                                          \
    PORTB = 0

int main(void)
{
    const uintptr_t first = VM_BASE, other = VM_BASE + ASIDE * FRAME_BYTES;
    volatile uint8_t sum = 0;

    DDRB = 0xFF;
    open();
    for (uint8_t i = 0; i < 8U; i++) {
        nw_guest_store_1(NULL, VM_BASE + i * FRAME_BYTES, i); /* every page has been there */
    }
    for (uint8_t i = 0; i < ROUNDS; i++) {
        (void)nw_guest_load(&slots[0], first, 1);
        nw_guest_store_1(&slots[1], first + 1, i);
        MEASURE(1, );
        MEASURE(2, sum = *(const uint8_t *)nw_guest_load(&slots[0], first + i, 1));
        MEASURE(5, nw_guest_store_1(&slots[1], first + i, i));
        (void)nw_guest_load(NULL, other, 1);
        MEASURE(4, sum = *(const uint8_t *)nw_guest_load(NULL, first + i, 1));
        MEASURE(3, sum = *(const uint8_t *)nw_guest_load(NULL, first + i, 1));
        (void)nw_guest_load(NULL, other, 1);
        MEASURE(6, nw_guest_store_1(NULL, first + i, i));
    }
    end(nw_guest_vm.stats.sectors_read == 0 ? 255 : 254);
    return sum;
}
