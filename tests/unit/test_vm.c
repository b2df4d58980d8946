// SPDX-License-Identifier: Apache-2.0
// Goal: the corners of virtual memory: what is refused and with which arithmetic, accesses across
// pages and across the end of the range, pins running out, pages that need no reading, and a
// device that fails under every kind of operation.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vm_rig.h"

#define FRAME 64U
#define SIZE 8192U

static struct vm_rig rig;

static void begin(uint16_t frames, uint16_t slots, uint16_t sector)
{
    rig_prepare(&rig, FRAME, frames, sector, SIZE);
    rig.config.slots = slots;
    rig_start(&rig);
}

static uint8_t load(unsigned slot, uint32_t offset)
{
    uint8_t byte;

    rig_load(&rig, slot, RIG_BASE + offset, 1, &byte);
    return byte;
}

static void store(unsigned slot, uint32_t offset, uint8_t byte)
{
    rig_store(&rig, slot, RIG_BASE + offset, 1, &byte);
}

static int refused(struct nw_vm_needs *needs)
{
    struct nw_vm vm;
    int error = nw_vm_check(&rig.config, needs);

    assert_int_equal(nw_vm_open(&vm, &rig.config), error);
    return error;
}

static void expect_reason(int error, unsigned reason)
{
    struct nw_vm_needs needs;

    assert_int_equal(refused(&needs), error);
    assert_int_equal(needs.reason, reason);
}

static void test_wrong_configurations_are_refused_with_the_reason(void **state)
{
    static uint8_t ram[8192];
    struct nw_vm_config good;
    struct nw_vm_needs needs;

    (void)state;
    rig_prepare(&rig, FRAME, 16, 256, SIZE);
    rig.config.slots = 4;
    rig.config.pins = 3;
    rig.config.ram = ram;
    rig.config.ram_bytes = sizeof ram;
    good = rig.config;
    expect_reason(NW_OK, NW_VM_FITS);

    rig.config.frame_bytes = 8;
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_FRAME);
    rig.config.frame_bytes = 96;
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_FRAME);
    rig.config = good;
    rig.config.bytes = SIZE - FRAME; // no multiple of the sector
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_RANGE);
    rig.config = good;
    rig.config.base += 16;
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_RANGE);
    rig.config.base = NW_VM_NO_TAG(FRAME) - SIZE + FRAME; // over the empty tag
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_RANGE);
    rig.config.base = NW_VM_NO_TAG(FRAME) - SIZE;
    expect_reason(NW_OK, NW_VM_FITS);
    rig.config = good;
    rig.config.scheme = NW_VM_DIRECT; // a sector of four frames
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_SECTOR);
    rig.config = good;
    rig.config.policy = 2;
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_CHOICE);
    rig.config = good;
    rig.config.panic = NULL;
    expect_reason(NW_ERR_CONFIG, NW_VM_BAD_CHOICE);
    rig.config = good;
    rig.config.frames = 8;
    expect_reason(NW_ERR_CONFIG, NW_VM_FEW_FRAMES);
    (void)refused(&needs);
    assert_int_equal(needs.frames, 9);
    rig.config.frames = 9;
    expect_reason(NW_OK, NW_VM_FITS);
    rig.config = good;
    rig.config.bytes = SIZE + 256;
    expect_reason(NW_ERR_CONFIG, NW_VM_SMALL_BLOCK);
    (void)refused(&needs);
    assert_int_equal(needs.sectors, SIZE / 256 + 1);
    assert_int_equal(nw_vm_ram_bytes(&rig.config), 0);
    rig.config = good;
    rig.config.ram_bytes = nw_vm_ram_bytes(&good) - 1U;
    expect_reason(NW_ERR_RAM, NW_VM_SMALL_RAM);
    rig.config.ram_bytes++;
    expect_reason(NW_OK, NW_VM_FITS);
    ram_block_close(&rig.ram);
}

// Golden RAM, beyond the frames themselves: 8 bytes a frame, 2 a bucket, a bit a unit; for LRU 4 a
// frame; once 8 for the end of the chains, and 4 for LRU.
static void test_ram_is_what_the_header_says(void **state)
{
    (void)state;
    rig_prepare(&rig, 512, 64, 512, 8UL << 20);
    assert_int_equal(nw_vm_ram_bytes(&rig.config), 64 * (512 + 8 + 2) + 8 + 2048);
    rig.config.policy = NW_VM_LRU;
    assert_int_equal(nw_vm_ram_bytes(&rig.config), 64 * (512 + 8 + 2 + 4) + 8 + 4 + 2048);
    ram_block_close(&rig.ram);
    rig_prepare(&rig, 512, 64, 2048, 8UL << 20);
    assert_int_equal(nw_vm_ram_bytes(&rig.config), 64 * (512 + 8 + 2) + 8 + 2048 + 512);
    ram_block_close(&rig.ram);
}

static void test_access_across_two_pages(void **state)
{
    uint8_t value[16];
    uint8_t got[16];
    unsigned i;

    (void)state;
    begin(4, 1, 256);
    for (i = 0; i < 16; i++) {
        value[i] = (uint8_t)(i + 1U);
    }
    rig_store(&rig, 0, RIG_BASE + 2 * FRAME - 5, 16, value);
    rig_load(&rig, 0, RIG_BASE + 2 * FRAME - 5, 16, got);
    assert_memory_equal(got, value, 16);
    assert_int_equal(load(0, 2 * FRAME - 1), 5);
    assert_int_equal(load(0, 2 * FRAME), 6);
    assert_int_equal(rig.vm.stats.straddles, 2);
    assert_int_equal(rig.panics, 0);
    (void)nw_vm_modify_miss(&rig.vm, &rig.slot[0], RIG_BASE + FRAME - 2, 4);
    assert_int_equal(rig.panics, 1);
    assert_int_equal(rig.error, NW_ERR_ALIGN);
    assert_true(rig.error_at == RIG_BASE + FRAME - 2);
    rig_stop(&rig);
}

static void test_access_across_the_ends_of_the_range(void **state)
{
    uint8_t got[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    (void)state;
    begin(4, 1, 256);
    rig_load(&rig, 0, RIG_BASE - 3, 8, got);
    assert_int_equal(rig.error, NW_ERR_RANGE);
    assert_true(rig.error_at == RIG_BASE - 3);
    assert_int_equal(got[7], 0);
    rig_store(&rig, 0, RIG_BASE + SIZE - 3, 8, got);
    assert_int_equal(rig.panics, 2);
    assert_true(rig.error_at == RIG_BASE + SIZE - 3);
    rig_stop(&rig);
}

static void test_plain_memory_through_slots(void **state)
{
    static _Alignas(FRAME) uint8_t plain[2 * FRAME];
    uint8_t value[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t got[8];
    nw_count misses;

    (void)state;
    begin(4, 1, 256);
    memset(plain, 0, sizeof plain);
    rig_store(&rig, 0, (uintptr_t)plain + 8, 8, value);
    misses = rig.vm.stats.slot_misses;
    rig_load(&rig, 0, (uintptr_t)plain + 8, 8, got);
    rig_store(&rig, 0, (uintptr_t)plain + 16, 8, value);
    assert_int_equal(rig.vm.stats.slot_misses, misses); // the slot holds the plain page
    assert_memory_equal(plain + 8, value, 8);
    assert_memory_equal(got, value, 8);
    rig_store(&rig, 0, (uintptr_t)plain + FRAME - 4, 8, value);
    rig_load(&rig, 0, (uintptr_t)plain + FRAME - 4, 8, got);
    assert_memory_equal(got, value, 8);
    assert_ptr_equal(nw_vm_modify_miss(&rig.vm, &rig.slot[0], (uintptr_t)plain + FRAME - 4, 8),
                     plain + FRAME - 4);
    assert_int_equal(rig.panics, 0);
    assert_int_equal(rig.vm.stats.faults, 0);
    rig_stop(&rig);
}

// A frame held by a slot stays: the other slots may go round all of memory meanwhile.
static void test_a_slot_pins_its_page(void **state)
{
    const uint8_t *at;
    uint32_t page;

    (void)state;
    begin(4, 2, FRAME);
    store(0, 5, 42);
    at = rig.slot[0].base;
    for (page = 1; page < SIZE / FRAME; page++) {
        store(1, page * FRAME, (uint8_t)page);
    }
    assert_int_equal(at[5], 42);
    assert_int_equal(load(0, 5), 42);
    nw_vm_slots_release(&rig.vm);
    for (page = 1; page < SIZE / FRAME; page++) {
        assert_int_equal(load(1, page * FRAME), page);
    }
    assert_int_equal(load(0, 5), 42);
    rig_stop(&rig);
}

/* The short way of a miss finds what is resident, and leaves slot and device alone otherwise. */
static void test_hold_takes_resident_pages_only(void **state)
{
    struct nw_vm_slot *slot = &rig.slot[1];
    struct nw_vm_slot before;
    const uint8_t *at;

    (void)state;
    begin(6, 2, 64);
    store(0, 3 * FRAME + 5, 77);
    at = nw_vm_hold_read(slot, RIG_BASE + 3 * FRAME + 5, &rig.vm);
    assert_non_null(at);
    assert_int_equal(*at, 77);
    assert_int_equal(slot->read_tag, RIG_BASE + 3 * FRAME);
    assert_int_equal(slot->write_tag, NW_VM_NO_TAG(FRAME));
    assert_ptr_equal(nw_vm_hold_write(slot, RIG_BASE + 3 * FRAME, FRAME, &rig.vm), at - 5);
    assert_int_equal(slot->write_tag, RIG_BASE + 3 * FRAME);
    before = *slot;
    assert_null(nw_vm_hold_write(slot, RIG_BASE + 4 * FRAME - 1, 2, &rig.vm)); // two pages
    assert_null(nw_vm_hold_write(slot, RIG_BASE + 9 * FRAME, 1, &rig.vm));     // not resident
    assert_null(nw_vm_hold_read(slot, RIG_BASE + 9 * FRAME, &rig.vm));
    assert_null(nw_vm_hold_write(slot, (uintptr_t)&before, 1, &rig.vm));       // plain
    assert_null(nw_vm_hold_read(slot, (uintptr_t)&before, &rig.vm));
    // plain too, though 32 bits of its page's number are those of the resident page
    assert_null(nw_vm_hold_read(slot, RIG_BASE + 3 * FRAME + ((uintptr_t)FRAME << 32), &rig.vm));
    assert_memory_equal(slot, &before, sizeof before);
    assert_int_equal(rig.vm.stats.faults, 1);
    rig_stop(&rig);
}

static void test_pins_run_out_without_panic(void **state)
{
    size_t span = 0;
    uint8_t *at[3];
    unsigned i;

    (void)state;
    rig_prepare(&rig, FRAME, 7, FRAME, SIZE);
    rig.config.slots = 2;
    rig.config.pins = 3;
    rig_start(&rig);
    for (i = 0; i < 3; i++) {
        at[i] = nw_vm_pin(&rig.vm, RIG_BASE + i * FRAME + 10, 1, &span);
        assert_non_null(at[i]);
        assert_int_equal(span, FRAME - 10);
        at[i][0] = (uint8_t)(i + 1U);
    }
    assert_null(nw_vm_pin(&rig.vm, RIG_BASE + 3 * FRAME, 0, &span));
    assert_ptr_equal(nw_vm_pin(&rig.vm, (uintptr_t)at, 0, &span), at); // plain memory needs none
    assert_int_equal(nw_vm_unpin(&rig.vm, (uintptr_t)at), NW_OK);
    for (i = 3; i < 60; i++) { // both slots and bulk operations still find frames
        store(i % 2, i * FRAME, 1);
        assert_int_equal(nw_vm_move(&rig.vm, RIG_BASE + (i + 1U) * FRAME, RIG_BASE + i * FRAME, 9),
                         NW_OK);
    }
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    at[2][0] = 33; // a page pinned for writing stays dirty over a flush
    for (i = 0; i < 3; i++) {
        assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + i * FRAME), NW_OK);
    }
    for (i = 10; i < 60; i++) {
        (void)load(0, i * FRAME);
    }
    assert_int_equal(load(0, 10), 1);
    assert_int_equal(load(0, 2 * FRAME + 10), 33);
    assert_int_equal(rig.panics, 0);
    assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + 50 * FRAME), NW_ERR_NOT_FOUND);
    assert_int_equal(rig.panics, 1);
    store(0, 50 * FRAME, 1); // held by a slot, but that pin is not ours to undo
    assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + 50 * FRAME), NW_ERR_NOT_FOUND);
    rig_stop(&rig);
}

static void test_a_page_takes_a_bounded_number_of_pins(void **state)
{
    size_t span;
    unsigned pins = 0;

    (void)state;
    begin(400, 4, FRAME);
    while (nw_vm_pin(&rig.vm, RIG_BASE, 0, &span) != NULL) {
        pins++;
    }
    assert_int_equal(pins, 250 - 4);
    while (pins > 0) {
        assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE), NW_OK);
        pins--;
    }
    assert_int_equal(rig.vm.pins_left, 400 - 4 - 2);
    rig_stop(&rig);
}

// Slots that held the page counted as its pins too: when 125 slots or more held it, its first
// nw_vm_pin() failed, against the header's 50. And an unpin too many undid the pin of a slot.
static void test_slots_take_no_pins_of_a_page(void **state)
{
    size_t span;
    unsigned slot;
    unsigned pins = 0;

    (void)state;
    begin(400, NW_VM_SLOTS_MAX, FRAME);
    for (slot = 0; slot < NW_VM_SLOTS_MAX; slot++) {
        (void)load(slot, 0);
    }
    while (nw_vm_pin(&rig.vm, RIG_BASE, 0, &span) != NULL) {
        pins++;
    }
    assert_int_equal(pins, 250 - NW_VM_SLOTS_MAX);
    assert_non_null(nw_vm_pin(&rig.vm, RIG_BASE + FRAME, 0, &span));
    assert_int_equal(nw_vm_move(&rig.vm, RIG_BASE + 8, RIG_BASE, 8), NW_OK); // both ends pinned
    while (pins > 0) {
        assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE), NW_OK);
        pins--;
    }
    assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + FRAME), NW_OK);
    assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + FRAME), NW_ERR_NOT_FOUND);
    rig_stop(&rig);
}

static void test_pages_never_written_are_never_read(void **state)
{
    uint8_t buffer[SIZE / 2];
    uint32_t i;

    (void)state;
    begin(8, 1, 256);
    for (i = 0; i < SIZE; i += FRAME) {
        assert_int_equal(load(0, i), 0);
    }
    assert_int_equal(nw_vm_read(&rig.vm, buffer, RIG_BASE, sizeof buffer), NW_OK);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 0, SIZE), NW_OK); // zeros to zeros
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(rig.ram.reads, 0);
    assert_true(rig.ram.writes <= 3); // what of it was in RAM
    assert_int_equal(rig.vm.stats.zero_pages, rig.vm.stats.faults);
    rig_stop(&rig);
}

static void test_whole_pages_are_overwritten_unread(void **state)
{
    static uint8_t bytes[SIZE];

    (void)state;
    begin(8, 1, FRAME);
    memset(bytes, 7, sizeof bytes);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 1, SIZE), NW_OK);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 2, SIZE), NW_OK);
    assert_int_equal(nw_vm_write(&rig.vm, RIG_BASE, bytes, SIZE), NW_OK);
    assert_int_equal(rig.ram.reads, 0);
    // Each pass evicts what the next one overwrites, so every page of the three is brought in.
    assert_int_equal(rig.vm.stats.covered, 3 * SIZE / FRAME);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE + 3 * FRAME + 1, 3, FRAME - 1U), NW_OK);
    assert_int_equal(rig.ram.reads, 1); // one byte of the page is to be kept
    assert_int_equal(load(0, 3 * FRAME), 7);
    assert_int_equal(load(0, 3 * FRAME + 1), 3);
    rig_stop(&rig);
}

static void test_bulk_ranges_stay_in_their_memory(void **state)
{
    uint8_t byte = 0;
    int order;
    size_t index;

    (void)state;
    begin(4, 1, 256);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE + 1, 0, SIZE), NW_ERR_RANGE);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE - 1, 0, 2), NW_ERR_RANGE);
    assert_int_equal(nw_vm_read(&rig.vm, &byte, RIG_BASE + SIZE - 1, 2), NW_ERR_RANGE);
    assert_int_equal(nw_vm_write(&rig.vm, RIG_BASE + SIZE - 1, &byte, 2), NW_ERR_RANGE);
    assert_int_equal(nw_vm_compare(&rig.vm, RIG_BASE, RIG_BASE + SIZE - 1, 2, &order),
                     NW_ERR_RANGE);
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE, SIZE + 1), NW_ERR_RANGE);
    assert_int_equal(rig.panics, 6);
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE + SIZE, 0), NW_OK);
    assert_int_equal(nw_vm_move(&rig.vm, RIG_BASE, RIG_BASE, 0), NW_OK);
    assert_int_equal(nw_vm_find(&rig.vm, RIG_BASE, 1, SIZE_MAX, &index), NW_ERR_NOT_FOUND);
    store(0, SIZE - 1, 1);
    assert_int_equal(nw_vm_find(&rig.vm, RIG_BASE + 2, 1, SIZE_MAX, &index), NW_OK);
    assert_int_equal(index, SIZE - 3);
    assert_int_equal(rig.panics, 6);
    rig_stop(&rig);
}

static void test_discard_drops_writes_and_trims(void **state)
{
    size_t span;
    uint8_t *pinned;

    (void)state;
    begin(16, 1, 256);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 1, 8 * FRAME), NW_OK); // two sectors
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE + FRAME, 2, 7 * FRAME), NW_OK);
    pinned = nw_vm_pin(&rig.vm, RIG_BASE + 7 * FRAME, 1, &span);
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE, 8 * FRAME), NW_OK);
    assert_int_equal(rig.vm.stats.discards, 4); // the first sector: the other has the pinned page
    assert_int_equal(rig.ram.trims, 1);
    assert_int_equal(pinned[0], 2);
    assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + 7 * FRAME), NW_OK);
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE + 4 * FRAME, 4 * FRAME), NW_OK);
    assert_int_equal(rig.vm.stats.discards, 8);
    assert_int_equal(rig.ram.trims, 2);
    assert_int_equal(rig.vm.stats.sectors_trimmed, 2);
    assert_int_equal(load(0, 0), 0);
    assert_int_equal(load(0, 7 * FRAME), 0); // the device holds garbage there: it was not asked
    assert_int_equal(rig.ram.reads, 0);
    store(0, 9 * FRAME, 3); // in a sector never written: dropped though not all of it is discarded
    nw_vm_slots_release(&rig.vm);
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE + 9 * FRAME, 2 * FRAME), NW_OK);
    assert_int_equal(rig.vm.stats.discards, 9);
    assert_int_equal(load(0, 9 * FRAME), 0);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(rig.ram.writes, 2);
    assert_int_equal(rig.ram.syncs, 2);
    rig_stop(&rig);
}

// A discard dropped a dirty page whose sector it did not cover, and what the device had kept of it
// came back: older than what the page had held last. The heap took a header that had died long ago
// for a live one that way.
static void test_discard_brings_nothing_older_back(void **state)
{
    unsigned page;

    (void)state;
    begin(16, 1, 256);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 1, 8 * FRAME), NW_OK); // two sectors
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 2, 8 * FRAME), NW_OK);
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE + 1, 8 * FRAME - 2U), NW_OK);
    for (page = 1; page < 7; page++) {
        uint8_t byte = load(0, page * FRAME);

        assert_true(byte == 0 || byte == 2);
    }
    assert_int_equal(load(0, 0), 2);
    assert_int_equal(load(0, 7 * FRAME), 2);
    rig_stop(&rig);
}

// A trim that fails leaves every page of its sector as it was.
static void test_failed_discard_keeps_the_pages(void **state)
{
    (void)state;
    begin(16, 1, 256);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 1, 8 * FRAME), NW_OK);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 2, 8 * FRAME), NW_OK);
    rig.ram.fail_after_trims = 1;
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE, 8 * FRAME), NW_ERR_IO);
    assert_int_equal(rig.panics, 1);
    assert_true(rig.error_at == RIG_BASE + 4 * FRAME);
    assert_int_equal(load(0, 0), 0);
    assert_int_equal(load(0, 4 * FRAME), 2);
    assert_int_equal(load(0, 7 * FRAME), 2);
    rig_stop(&rig);
}

// What reads as zeros after a discard stays so when a neighbour is written and all leave RAM.
static void test_discarded_sector_stays_zero(void **state)
{
    (void)state;
    begin(8, 1, 256);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 1, 4 * FRAME), NW_OK);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(nw_vm_discard(&rig.vm, RIG_BASE, 4 * FRAME), NW_OK);
    store(0, 0, 5);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE + 12 * FRAME, 1, 32 * FRAME), NW_OK);
    assert_int_equal(load(0, 0), 5);
    assert_int_equal(load(0, 2 * FRAME), 0);
    rig_stop(&rig);
}

static void test_failed_read_is_told_and_can_be_tried_again(void **state)
{
    (void)state;
    begin(4, 1, FRAME);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 9, SIZE), NW_OK);
    rig.ram.fail_after_reads = 0;
    rig.ram.error = NW_ERR_ECC;
    assert_int_equal(load(0, 3 * FRAME + 7), 0);
    assert_int_equal(rig.panics, 1);
    assert_int_equal(rig.error, NW_ERR_ECC);
    assert_true(rig.error_at == RIG_BASE + 3 * FRAME);
    rig.ram.fail_after_reads = UINT32_MAX;
    assert_int_equal(load(0, 3 * FRAME + 7), 9);
    rig_stop(&rig);
}

// A store across two pages wrote the first before the second was there: when that could not be
// read, half of the store stayed, though a store that fails is to be dropped.
static void test_failed_store_across_pages_is_dropped(void **state)
{
    uint8_t value[8] = {2, 2, 2, 2, 2, 2, 2, 2};
    unsigned reads;

    (void)state;
    begin(4, 1, FRAME);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 1, SIZE), NW_OK);
    for (reads = 0; reads < 2; reads++) { // of the first page, then of the second
        rig.ram.fail_after_reads = reads;
        rig_store(&rig, 0, RIG_BASE + 4 * FRAME - 4, 8, value);
        assert_int_equal(rig.panics, reads + 1U);
        rig.ram.fail_after_reads = UINT32_MAX;
        assert_int_equal(load(0, 4 * FRAME - 1), 1);
        assert_int_equal(load(0, 4 * FRAME), 1);
        nw_vm_slots_release(&rig.vm);
        assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE + 20 * FRAME, 1, 8 * FRAME), NW_OK);
    }
    rig_store(&rig, 0, RIG_BASE + 4 * FRAME - 4, 8, value);
    assert_int_equal(load(0, 4 * FRAME - 1), 2);
    assert_int_equal(load(0, 4 * FRAME), 2);
    rig_stop(&rig);
}

// Calls with an int to answer; page 3 and sector 0 are on the device alone, all frames are dirty.
static int call_number(uint32_t number)
{
    uint8_t bytes[2 * FRAME] = {0};
    size_t index;
    int order;

    switch (number) {
    case 0: return nw_vm_read(&rig.vm, bytes, RIG_BASE, sizeof bytes);
    case 1: return nw_vm_write(&rig.vm, RIG_BASE + 1, bytes, sizeof bytes);
    case 2: return nw_vm_move(&rig.vm, RIG_BASE + 40 * FRAME, RIG_BASE + 3, 2 * FRAME);
    case 3: return nw_vm_fill(&rig.vm, RIG_BASE + 1, 7, FRAME);
    case 4: return nw_vm_compare(&rig.vm, RIG_BASE, RIG_BASE + 3 * FRAME, FRAME, &order);
    case 5: return nw_vm_find(&rig.vm, RIG_BASE, 0x77, SIZE, &index);
    case 6: return nw_vm_flush(&rig.vm);
    default: return nw_vm_discard(&rig.vm, RIG_BASE, SIZE);
    }
}

// Whatever the device answers to a read, a write or a trim goes to the caller and to panic as it
// is, once, from every call.
static void test_errors_of_the_device_come_back(void **state)
{
    (void)state;
    for (int error = -1; error >= NW_ERR_BUSY; error--) {
        for (uint32_t number = 0; number < 3U * 8U; number++) {
            uint32_t *left[] = {&rig.ram.fail_after_reads, &rig.ram.fail_after_writes,
                                &rig.ram.fail_after_trims};

            begin(8, 0, 4 * FRAME);
            assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE, 9, SIZE), NW_OK);
            rig.ram.error = error;
            *left[number % 3U] = 0;
            int result = call_number(number / 3U);

            assert_int_equal(rig.panics, number % 3U == 2U ? number / 3U == 7U
                                                           : number / 3U < 6U + number % 3U);
            assert_int_equal(result == NW_ERR_NOT_FOUND && rig.panics == 0 ? NW_OK : result,
                             rig.panics != 0 ? error : NW_OK);
            assert_int_equal(rig.panics != 0 ? rig.error : error, error);
            rig_stop(&rig);
        }
    }
}

static void test_failed_write_back_keeps_the_page(void **state)
{
    uint32_t page;

    (void)state;
    begin(4, 1, 256);
    for (page = 0; page < 4; page++) {
        store(0, page * 4 * FRAME, (uint8_t)(page + 1U));
    }
    rig.ram.fail_after_writes = 0;
    store(0, 20 * FRAME, 5); // must evict a dirty page, and cannot
    assert_int_equal(rig.panics, 1);
    assert_int_equal(rig.error, NW_ERR_IO);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_ERR_IO);
    for (page = 0; page < 4; page++) {
        assert_int_equal(load(0, page * 4 * FRAME), page + 1U);
    }
    rig.ram.fail_after_writes = UINT32_MAX;
    store(0, 20 * FRAME, 5);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    for (page = 0; page < 4; page++) {
        assert_int_equal(load(0, page * 4 * FRAME), page + 1U);
    }
    assert_int_equal(load(0, 20 * FRAME), 5);
    assert_int_equal(rig.panics, 2);
    rig_stop(&rig);
}

// Without slots there need be no panic: errors are answered only.
static void test_as_a_plain_paged_store(void **state)
{
    uint8_t bytes[3] = {1, 2, 3};

    (void)state;
    rig_prepare(&rig, 16, 2, 64, 256);
    rig.config.panic = NULL;
    rig.config.slot_table = NULL;
    rig_start(&rig);
    assert_int_equal(nw_vm_write(&rig.vm, RIG_BASE + 100, bytes, 3), NW_OK);
    assert_int_equal(nw_vm_move(&rig.vm, RIG_BASE + 14, RIG_BASE + 100, 3), NW_OK);
    memset(bytes, 0, 3);
    assert_int_equal(nw_vm_read(&rig.vm, bytes, RIG_BASE + 14, 3), NW_OK);
    assert_int_equal(bytes[2], 3);
    assert_int_equal(nw_vm_read(&rig.vm, bytes, RIG_BASE + 255, 3), NW_ERR_RANGE);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_configurations_are_refused_with_the_reason),
        cmocka_unit_test(test_ram_is_what_the_header_says),
        cmocka_unit_test(test_access_across_two_pages),
        cmocka_unit_test(test_access_across_the_ends_of_the_range),
        cmocka_unit_test(test_plain_memory_through_slots),
        cmocka_unit_test(test_a_slot_pins_its_page),
        cmocka_unit_test(test_hold_takes_resident_pages_only),
        cmocka_unit_test(test_pins_run_out_without_panic),
        cmocka_unit_test(test_a_page_takes_a_bounded_number_of_pins),
        cmocka_unit_test(test_slots_take_no_pins_of_a_page),
        cmocka_unit_test(test_pages_never_written_are_never_read),
        cmocka_unit_test(test_whole_pages_are_overwritten_unread),
        cmocka_unit_test(test_bulk_ranges_stay_in_their_memory),
        cmocka_unit_test(test_discard_drops_writes_and_trims),
        cmocka_unit_test(test_discard_brings_nothing_older_back),
        cmocka_unit_test(test_failed_discard_keeps_the_pages),
        cmocka_unit_test(test_discarded_sector_stays_zero),
        cmocka_unit_test(test_failed_read_is_told_and_can_be_tried_again),
        cmocka_unit_test(test_failed_store_across_pages_is_dropped),
        cmocka_unit_test(test_errors_of_the_device_come_back),
        cmocka_unit_test(test_failed_write_back_keeps_the_page),
        cmocka_unit_test(test_as_a_plain_paged_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
