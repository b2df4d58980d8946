// SPDX-License-Identifier: Apache-2.0
// Goal: a map shows its source until it is written to; private writes go to the device and shared
// ones to the source, whatever leaves when; a read-only map is never written, and each way to store
// to it is refused with nothing changed; a fault reads a frame of the source and no more, and a
// move out of a page that is not resident reads its own bytes where the map takes it.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/vm_map.h"
#include "vm_rig.h"

#define FRAME 64U
#define SIZE 16384U
#define SLOTS 2U
#define FRAMES 8U
#define MAPS 3U
#define MAP_BYTES 2048U

struct source {
    struct nw_vm_map map;
    uint8_t bytes[MAP_BYTES]; /* what it holds now */
    uint8_t first[MAP_BYTES]; /* and held before */
    unsigned read, reads, written;
    int fails;
};

static struct vm_rig rig;
static struct source source[MAPS];
static uint8_t model[SIZE];
static uint32_t dice;

static uint32_t roll(uint32_t below)
{
    dice = dice * 1664525U + 1013904223U;
    return (dice >> 8) % below;
}

static struct source *source_of(struct nw_vm_map *map)
{
    return (struct source *)map;
}

static int source_read(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n)
{
    struct source *from = source_of(map);

    assert_true(offset <= MAP_BYTES && n <= MAP_BYTES - offset);
    if (from->fails) {
        return NW_ERR_IO;
    }
    memcpy(to, from->bytes + offset, n);
    from->read += (unsigned)n;
    from->reads++;
    return NW_OK;
}

/* Every second 256 bytes are read in parts. */
static int source_part(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n)
{
    return offset % 512U < 256U ? source_read(map, offset, to, n) : 1;
}

static int source_write(struct nw_vm_map *map, uintptr_t offset, const uint8_t *from, size_t n)
{
    struct source *to = source_of(map);

    assert_int_equal(n, FRAME);
    assert_true(offset <= MAP_BYTES - n);
    if (to->fails) {
        return NW_ERR_IO;
    }
    memcpy(to->bytes + offset, from, n);
    to->written++;
    return NW_OK;
}

/* A private, a shared and a read-only map at 4 KB each, with zeros between. */
static uint32_t place_of(unsigned kind)
{
    return 2048U + 4096U * kind;
}

static void begin(uint16_t sector, uint8_t policy)
{
    rig_prepare(&rig, FRAME, FRAMES, sector, SIZE);
    rig.config.slots = SLOTS;
    rig.config.policy = policy;
    rig_start(&rig);
    memset(model, 0, sizeof model);
    dice = sector + policy;
    for (unsigned kind = 0; kind < MAPS; kind++) {
        struct source *one = &source[kind];

        memset(one, 0, sizeof *one);
        for (uint32_t i = 0; i < MAP_BYTES; i++) {
            one->bytes[i] = (uint8_t)roll(256);
        }
        memcpy(one->first, one->bytes, MAP_BYTES);
        memcpy(model + place_of(kind), one->bytes, MAP_BYTES);
        one->map = (struct nw_vm_map){.address = RIG_BASE + place_of(kind),
                                      .bytes = MAP_BYTES,
                                      .read = source_read,
                                      .write = kind == NW_VM_MAP_SHARED ? source_write : NULL,
                                      .part = kind == NW_VM_MAP_READ_ONLY ? source_part : NULL,
                                      .kind = (uint8_t)kind};
        assert_int_equal(nw_vm_map(&rig.vm, &one->map), NW_OK);
    }
}

static int is_fixed(uint32_t at, uint32_t n)
{
    uint32_t begin = place_of(NW_VM_MAP_READ_ONLY);

    return at < begin + MAP_BYTES && at + n > begin;
}

static void check_all(void)
{
    static uint8_t found[SIZE];

    assert_int_equal(nw_vm_read(&rig.vm, found, RIG_BASE, SIZE), NW_OK);
    assert_memory_equal(found, model, SIZE);
}

/* One change of the range, or a look at it, in one of the ways there are. */
static void step(void)
{
    uint32_t n = 1U + roll(roll(8) == 0 ? 400U : 16U);
    uint32_t at = roll(SIZE - n);
    uint8_t bytes[512];
    int fixed = is_fixed(at, n);
    unsigned slot = roll(SLOTS);
    size_t span;
    int result = NW_OK;

    for (uint32_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)roll(256);
    }
    rig.panics = 0;
    switch (roll(7)) {
    case 0:
        result = nw_vm_write(&rig.vm, RIG_BASE + at, bytes, n);
        break;
    case 1:
        memset(bytes, 0, n);
        result = nw_vm_fill(&rig.vm, RIG_BASE + at, 0, n);
        break;
    case 2:
        n = n < 8U ? n : 8U;
        fixed = is_fixed(at, n);
        rig_store(&rig, slot, RIG_BASE + at, n, bytes);
        break;
    case 3:
        n = 1;
        fixed = is_fixed(at, n);
        uint8_t *pinned = nw_vm_pin(&rig.vm, RIG_BASE + at, 1, &span);

        if (pinned != NULL) {
            *pinned = bytes[0];
            assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + at), NW_OK);
        }
        break;
    case 4:
        n = n < 8U ? n : 8U;
        rig_load(&rig, slot, RIG_BASE + at, n, bytes);
        assert_memory_equal(bytes, model + at, n);
        return;
    case 5:
        n = 0;
        assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
        return;
    default:
        assert_int_equal(nw_vm_read(&rig.vm, bytes, RIG_BASE + at, n), NW_OK);
        assert_memory_equal(bytes, model + at, n);
        return;
    }
    assert_int_equal(rig.panics, fixed);
    if (!fixed) {
        assert_int_equal(result, NW_OK);
        memcpy(model + at, bytes, n);
    } else { /* a long write may have come up to the map, and a store to another page none */
        assert_int_equal(rig.error, NW_ERR_READ_ONLY);
        assert_int_equal(nw_vm_read(&rig.vm, bytes, RIG_BASE + at, n), NW_OK);
        for (uint32_t i = 0; i < n; i++) {
            model[at + i] = is_fixed(at + i, 1) ? model[at + i] : bytes[i];
        }
    }
}

static void test_each_byte_is_what_was_last_written(void **state)
{
    static const uint16_t sectors[] = {16, 64, 256};

    (void)state;
    for (unsigned i = 0; i < 3U * 2U; i++) {
        begin(sectors[i / 2U], i % 2U ? NW_VM_LRU : NW_VM_CLOCK);
        for (unsigned round = 0; round < 3000U; round++) {
            step();
        }
        check_all();
        struct source *shared = &source[NW_VM_MAP_SHARED];

        assert_int_equal(nw_vm_map_sync(&rig.vm, &shared->map, 0, MAP_BYTES), NW_OK);
        assert_memory_equal(shared->bytes, model + place_of(NW_VM_MAP_SHARED), MAP_BYTES);
        for (unsigned kind = 0; kind < MAPS; kind += 2U) {
            assert_memory_equal(source[kind].bytes, source[kind].first, MAP_BYTES);
        }
        check_all();
        for (unsigned kind = 0; kind < MAPS; kind++) {
            assert_int_equal(nw_vm_unmap(&rig.vm, &source[kind].map), NW_OK);
            memset(model + place_of(kind), 0, MAP_BYTES);
        }
        check_all();
        rig_stop(&rig);
    }
}

static void test_a_fault_reads_a_frame(void **state)
{
    uint8_t byte;

    (void)state;
    begin(256, NW_VM_CLOCK);
    rig_load(&rig, 0, source[NW_VM_MAP_READ_ONLY].map.address + 100U, 1, &byte);
    assert_int_equal(source[NW_VM_MAP_READ_ONLY].read, FRAME);
    assert_int_equal(rig.vm.stats.mapped, 1);
    assert_int_equal(rig.vm.stats.sectors_read, 0);
    /* The first write-back of a private page takes its unit, once. */
    byte = 1;
    rig_store(&rig, 0, source[NW_VM_MAP_PRIVATE].map.address, 1, &byte);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(source[NW_VM_MAP_PRIVATE].read, FRAME + 256U);
    assert_int_equal(rig.vm.stats.merges, 1);
    assert_int_equal(rig.vm.stats.sectors_written, 1);
    /* One of a shared map goes alone. */
    rig_store(&rig, 0, source[NW_VM_MAP_SHARED].map.address, 1, &byte);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(source[NW_VM_MAP_SHARED].written, 1);
    assert_int_equal(rig.vm.stats.sectors_written, 1);
    rig_stop(&rig);
}

static void test_a_move_reads_a_part(void **state)
{
    struct source *from = &source[NW_VM_MAP_READ_ONLY];
    uint8_t found[FRAME];

    (void)state;
    begin(256, NW_VM_CLOCK);
    assert_int_equal(nw_vm_read(&rig.vm, found, from->map.address + 70U, 10), NW_OK);
    assert_memory_equal(found, from->bytes + 70, 10);
    assert_int_equal(from->read, 10);
    assert_int_equal(rig.vm.stats.faults, 0);
    /* Over the end of a page, where the map wants pages, and into virtual memory: pages come in. */
    assert_int_equal(nw_vm_read(&rig.vm, found, from->map.address + 124U, 8), NW_OK);
    assert_memory_equal(found, from->bytes + 124, 8);
    assert_int_equal(nw_vm_read(&rig.vm, found, from->map.address + 300U, 8), NW_OK);
    assert_int_equal(nw_vm_move(&rig.vm, RIG_BASE, from->map.address + 200U, 8), NW_OK);
    assert_int_equal(rig.vm.stats.mapped, 4);
    assert_int_equal(from->read, 10U + 4U * FRAME);
    /* A resident page has its bytes already. */
    assert_int_equal(nw_vm_read(&rig.vm, found, from->map.address + 70U, 10), NW_OK);
    assert_memory_equal(found, from->bytes + 70, 10);
    assert_int_equal(from->read, 10U + 4U * FRAME);
    from->fails = 1;
    assert_int_equal(nw_vm_read(&rig.vm, found, from->map.address + 530U, 2), NW_ERR_IO);
    assert_int_equal(rig.error, NW_ERR_IO);
    assert_int_equal(rig.error_at, from->map.address + 530U);
    rig_stop(&rig);
}

static void test_what_is_synced(void **state)
{
    struct nw_vm_map *map = &source[NW_VM_MAP_SHARED].map;
    uint8_t byte = 7;

    (void)state;
    begin(64, NW_VM_CLOCK);
    for (uint32_t page = 0; page < 4U; page++) {
        assert_int_equal(nw_vm_write(&rig.vm, map->address + page * FRAME, &byte, 1), NW_OK);
    }
    /* From the last byte of page 1 to the first of page 2. */
    assert_int_equal(nw_vm_map_sync(&rig.vm, map, 2U * FRAME - 1U, 2), NW_OK);
    assert_int_equal(source[NW_VM_MAP_SHARED].written, 2);
    assert_int_equal(source[NW_VM_MAP_SHARED].bytes[FRAME], 7);
    assert_int_equal(source[NW_VM_MAP_SHARED].bytes[2U * FRAME], 7);
    assert_int_equal(nw_vm_map_sync(&rig.vm, map, 0, 0), NW_OK);
    assert_int_equal(source[NW_VM_MAP_SHARED].written, 2);
    rig_stop(&rig);
}

static void test_a_source_that_fails(void **state)
{
    struct source *shared = &source[NW_VM_MAP_SHARED];
    uint8_t byte = 9;

    (void)state;
    begin(64, NW_VM_CLOCK);
    shared->fails = 1;
    assert_int_equal(nw_vm_read(&rig.vm, &byte, shared->map.address + 70U, 1), NW_ERR_IO);
    assert_int_equal(rig.error, NW_ERR_IO);
    assert_int_equal(rig.error_at, shared->map.address + FRAME);
    shared->fails = 0;
    byte = 9;
    assert_int_equal(nw_vm_write(&rig.vm, shared->map.address, &byte, 1), NW_OK);
    shared->fails = 1;
    assert_int_equal(nw_vm_flush(&rig.vm), NW_ERR_IO);
    shared->fails = 0; /* the page is dirty still */
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(shared->bytes[0], 9);
    rig_stop(&rig);
}

static void test_wrong_maps_are_refused(void **state)
{
    struct nw_vm_map map = {.address = RIG_BASE, .bytes = 256, .read = source_read};
    size_t span;

    (void)state;
    begin(256, NW_VM_CLOCK);
    assert_int_equal(nw_vm_map_unit(&rig.vm), 256);
    map.address += FRAME;
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_ERR_CONFIG);
    map.address = RIG_BASE;
    map.bytes = 0;
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_ERR_CONFIG);
    map.bytes = 256;
    map.kind = NW_VM_MAP_SHARED;
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_ERR_CONFIG);
    map.kind = NW_VM_MAP_PRIVATE;
    map.part = source_part;
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_ERR_CONFIG);
    map.part = NULL;
    map.address = RIG_BASE + SIZE - 256U;
    map.bytes = 512;
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_ERR_RANGE);
    map.address = source[0].map.address - 256U;
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_ERR_EXISTS);
    map.bytes = 256;
    assert_non_null(nw_vm_pin(&rig.vm, map.address, 0, &span));
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_ERR_PINNED);
    assert_int_equal(nw_vm_unpin(&rig.vm, map.address), NW_OK);
    assert_int_equal(nw_vm_map(&rig.vm, &map), NW_OK);
    assert_int_equal(nw_vm_unmap(&rig.vm, &map), NW_OK);
    assert_int_equal(nw_vm_unmap(&rig.vm, &map), NW_ERR_NOT_FOUND);
    rig_stop(&rig);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_byte_is_what_was_last_written),
        cmocka_unit_test(test_a_fault_reads_a_frame),
        cmocka_unit_test(test_a_move_reads_a_part),
        cmocka_unit_test(test_what_is_synced),
        cmocka_unit_test(test_a_source_that_fails),
        cmocka_unit_test(test_wrong_maps_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
