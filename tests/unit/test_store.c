/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: each call of the store does what its header says, refuses what it must, and what only shows
 * over time holds: both ends are reached at the same cost however long an object is, wear is even,
 * a full store can still be read and emptied, damage is repaired or told.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/bytes.h"
#include "nandwich/random.h"
#include "nandwich/store_seal.h"

#include "store_bed.h"

/* Anchors too far apart for the chip, more blocks than numbers. */
static void test_shapes_refused(void **state)
{
    struct nw_store_config config = {.objects = 3};

    (void)state;
    store_bed_open(&config, 64, 0);
    uint32_t chip_bytes = 64U * 32U * 512U;
    config.anchor_bytes = chip_bytes / 16U;
    assert_true(nw_store_ram_bytes(&config, &bed.chip->geometry) > 0);
    config.anchor_bytes++;
    assert_int_equal(nw_store_ram_bytes(&config, &bed.chip->geometry), 0);
    struct nw_geometry geometry = bed.chip->geometry;
    geometry.blocks = 65535UL; /* block numbers have 16 bits */
    assert_true(nw_store_ram_bytes(&config, &geometry) > 0);
    geometry.blocks++;
    assert_int_equal(nw_store_ram_bytes(&config, &geometry), 0);
    config.anchor_bytes = 0x40000000UL; /* four times this is 0 */
    assert_int_equal(nw_store_ram_bytes(&config, &bed.chip->geometry), 0);
    store_bed_close();
}

static void test_refusals(void **state)
{
    struct nw_store_config config = {.objects = 3};
    struct nw_store_spec odd = {.type = NW_STORE_QUEUE, .flags = NW_STORE_EXPENDABLE};
    struct nw_store_cursor cursor;
    struct nw_store *other;
    uint8_t data[64] = {0};

    (void)state;
    store_bed_open(&config, 64, 0);
    int stack = store_bed_create("stack", NW_STORE_STACK, 0, 0);
    int array = store_bed_create("array", NW_STORE_ARRAY, 8, 10);
    assert_true(stack > 0 && array > 0 && stack != array);
    assert_int_equal(store_bed_create("stack", NW_STORE_QUEUE, 0, 0), NW_ERR_EXISTS);
    assert_int_equal(store_bed_create("", NW_STORE_QUEUE, 0, 0), NW_ERR_NAME);
    assert_int_equal(store_bed_create("thirteen chars", NW_STORE_QUEUE, 0, 0), NW_ERR_NAME);
    assert_int_equal(store_bed_create("a", NW_STORE_ARRAY, 0, 10), NW_ERR_CONFIG);
    assert_int_equal(store_bed_create("a", NW_STORE_ARRAY, 8, 0), NW_ERR_CONFIG);
    /* too many levels for its frames: once NW_ERR_CONFIG, as if it contradicted itself */
    assert_int_equal(store_bed_create("a", NW_STORE_ARRAY, 8, UINT32_MAX), NW_ERR_RANGE);
    assert_int_equal(store_bed_create("a", 0, 8, 0), NW_ERR_CONFIG);
    assert_int_equal(store_bed_create("a", NW_STORE_FILE, 500, 0), NW_ERR_CONFIG);
    assert_int_equal(nw_store_create(bed.store, "a", &odd), NW_ERR_CONFIG);
    assert_true(store_bed_create("twelve chars", NW_STORE_QUEUE, 0, 0) > 0);
    assert_int_equal(store_bed_create("b", NW_STORE_QUEUE, 0, 0), NW_ERR_FULL);

    assert_int_equal(nw_store_find(bed.store, "nothing"), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_find(bed.store, "stack"), stack);
    assert_int_equal(nw_store_dequeue(bed.store, stack, data, 64), NW_ERR_TYPE);
    assert_int_equal(nw_store_push(bed.store, array, data, 8), NW_ERR_TYPE);
    assert_int_equal(nw_store_append(bed.store, stack, data, 8), NW_ERR_TYPE);
    assert_int_equal(nw_store_first(bed.store, stack, &cursor), NW_ERR_TYPE);
    assert_int_equal(nw_store_push(bed.store, 0, data, 8), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_push(bed.store, -1, data, 8), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_pop(bed.store, stack, data, 64), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_set(bed.store, array, 10, data), NW_ERR_RANGE);
    assert_int_equal(nw_store_get(bed.store, array, 9, data), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_push(bed.store, stack, data, 0), NW_ERR_RANGE);
    assert_int_equal(nw_store_push(bed.store, stack, data, 60), NW_OK);
    assert_int_equal(nw_store_pop(bed.store, stack, data, 59), NW_ERR_RANGE);
    assert_int_equal(nw_store_pop(bed.store, stack, data, 60), 60);
    assert_int_equal(nw_store_rollback(bed.store, 0), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_checkpoint(bed.store), NW_ERR_UNSUPPORTED);

    assert_int_equal(nw_store_delete(bed.store, stack), NW_OK);
    assert_int_equal(nw_store_push(bed.store, stack, data, 8), NW_ERR_NOT_FOUND);
    int again = store_bed_create("stack", NW_STORE_STACK, 0, 0);
    assert_true(again > 0 && again != stack); /* the old handle stays void */

    bed.config.objects = 4; /* room for one more needs RAM that was not given */
    assert_int_equal(nw_store_mount(&other, bed.chip, &bed.config, bed.ram, bed.ram_bytes),
                     NW_ERR_RAM);
    bed.config.objects = 2;
    assert_int_equal(nw_store_mount(&other, bed.chip, &bed.config, bed.ram, bed.ram_bytes),
                     NW_ERR_VERSION);
    bed.config.objects = 3;
    store_bed_mount();
    store_bed_close();
}

/* Each call that writes answers the one error and does nothing; sync and idle, too. */
static void test_read_only(void **state)
{
    struct nw_store_config config = {.objects = 6, .checkpoints = 1};
    struct nw_store_spec spec = {.type = NW_STORE_QUEUE};
    struct nw_store_cursor cursor;
    uint8_t data[32] = {1};
    uint32_t key = 0;

    (void)state;
    store_bed_open(&config, 64, 0);
    int stack = store_bed_create("stack", NW_STORE_STACK, 0, 0);
    int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    int stream = store_bed_create("stream", NW_STORE_STREAM, 0, 0);
    int array = store_bed_create("array", NW_STORE_ARRAY, 32, 10);
    int file = store_bed_create("file", NW_STORE_FILE, 32, 0);
    int kept = nw_store_checkpoint(bed.store);
    assert_int_equal(nw_store_push(bed.store, stack, data, 32), NW_OK);
    assert_int_equal(nw_store_push(bed.store, queue, data, 32), NW_OK);
    assert_int_equal(nw_store_append(bed.store, stream, data, 32), NW_OK);
    assert_int_equal(nw_store_set(bed.store, array, 3, data), NW_OK);
    assert_int_equal(nw_store_write(bed.store, file, 0, data, 32), 32);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    struct nw_nand_counts before = *nw_nand_stats(bed.nand);
    memset(bed.ram, 0xA5, bed.ram_bytes);
    assert_int_equal(nw_store_mount_read_only(&bed.store, bed.chip, &bed.config, bed.ram,
                                              bed.ram_bytes),
                     NW_OK);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(nw_store_peek(bed.store, stack, 0, data, 32), 32);
        assert_int_equal(nw_store_peek(bed.store, queue, 0, data, 32), 32);
        assert_int_equal(nw_store_first(bed.store, stream, &cursor), NW_OK);
        assert_int_equal(nw_store_next(bed.store, &cursor, data, 32), 32);
        assert_int_equal(nw_store_get(bed.store, array, 3, data), NW_OK);
        assert_int_equal(nw_store_read(bed.store, file, 0, data, 32), 32);
        assert_int_equal(nw_store_find(bed.store, "new"), NW_ERR_NOT_FOUND);
        assert_int_equal(nw_store_kept(bed.store, 0), kept);
        const int answers[] = {nw_store_create(bed.store, "new", &spec),
                               nw_store_delete(bed.store, queue),
                               nw_store_rename(bed.store, queue, "new"),
                               nw_store_push(bed.store, stack, data, 32),
                               nw_store_pop(bed.store, stack, data, 32),
                               nw_store_dequeue(bed.store, queue, NULL, 0),
                               nw_store_append(bed.store, stream, data, 32),
                               nw_store_trim(bed.store, stream, 1),
                               nw_store_set(bed.store, array, 3, data),
                               nw_store_write(bed.store, file, 0, data, 32),
                               nw_store_truncate(bed.store, file, 0),
                               nw_store_checkpoint(bed.store),
                               nw_store_rollback(bed.store, 0),
                               nw_store_drop(bed.store, kept),
                               nw_store_compact(bed.store, stack, &key, 1),
                               nw_store_idle(bed.store, 1),
                               nw_store_sync(bed.store)};
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
            assert_int_equal(answers[i], NW_ERR_UNSUPPORTED);
        }
    }
    assert_int_equal(nw_nand_stats(bed.nand)->programs, before.programs);
    assert_int_equal(nw_nand_stats(bed.nand)->erases, before.erases);
    store_bed_mount();
    assert_int_equal(nw_store_peek(bed.store, stack, 0, data, 32), 32);
    store_bed_close();
}

/* Where no block is free a mount that writes is refused; one that only reads shows what was synced.
 */
static void test_read_only_when_full(void **state)
{
    struct nw_store_config config = {.objects = 4};
    uint8_t data[32] = {1};

    (void)state;
    store_bed_open(&config, 64, 0);
    int stack = store_bed_create("stack", NW_STORE_STACK, 0, 0);
    assert_int_equal(nw_store_push(bed.store, stack, data, 32), NW_OK);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    for (uint32_t block = 1; block < 64U; block++) {
        struct nw_chip_req req = {.chip = bed.chip, .block = block};

        assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    }
    assert_int_equal(
        nw_store_mount(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes), NW_ERR_FULL);
    assert_int_equal(nw_store_mount_read_only(&bed.store, bed.chip, &bed.config, bed.ram,
                                              bed.ram_bytes),
                     NW_OK);
    assert_int_equal(nw_store_peek(bed.store, stack, 0, data, 32), 32);
    assert_int_equal(data[0], 1);
    store_bed_close();
}

/* How many objects a block allows is no guess: half of it has to hold an anchor that tells of all
 * of them. */
static void test_most_objects(void **state)
{
    struct nw_geometry geometry = {.blocks = 512,
                                   .block_pages = 16,
                                   .page_bytes = 256,
                                   .program_bytes = 1,
                                   .page_programs = NW_PROGRAMS_UNLIMITED,
                                   .erased = 0xFF,
                                   .flags = NW_CHIP_READ_ERASED};
    struct nw_seal seal = {.verbs = NULL};

    (void)state;
    for (uint32_t way = 0; way < 12U; way++) {
        struct nw_store_config config = {.checkpoints = (uint8_t)(way % 3U),
                                         .name_bytes = way % 2U == 0 ? 12 : 32,
                                         .seal = way < 6U ? NULL : &seal};
        uint32_t room = 4096U / 2U - (way < 6U ? 137U : 165U);
        uint32_t most = room / ((config.checkpoints + 1U) * (31U + config.name_bytes));

        if (way == 0) {
            assert_int_equal(most, 44);
        }
        config.objects = (uint8_t)most;
        assert_true(nw_store_ram_bytes(&config, &geometry) > 0);
        config.objects++;
        assert_int_equal(nw_store_ram_bytes(&config, &geometry), 0);
    }
}

/* What is this mount's own matter, and no part of the format. */
static void test_other_config(void **state)
{
    struct nw_store_config config = {.objects = 2, .frames = 12, .read_ahead = 1};
    struct nw_store_space space;
    uint8_t value[8] = {7};
    uint32_t key = 12;

    (void)state;
    store_bed_open(&config, 64, 0);
    int array = store_bed_create("a", NW_STORE_ARRAY, 8, 10);
    assert_int_equal(nw_store_set(bed.store, array, 3, value), NW_OK);
    for (uint32_t way = 0; way < 8U; way++) {
        bed.config.frames = way % 2U == 0 ? 12 : 4;
        bed.config.read_ahead = way % 4U < 2U;
        bed.config.anchor_bytes = way < 4U ? 1024 : 16384;
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        store_bed_mount();
        nw_store_space(bed.store, &space);
        assert_true(space.limit_bytes > 0);
        memset(value, 0, sizeof value);
        assert_int_equal(nw_store_get(bed.store, array, 3, value), NW_OK);
        assert_int_equal(value[0], 7);
        assert_int_equal(nw_store_set(bed.store, array, 3, value), NW_OK);
    }
    assert_int_equal(nw_store_next_key(bed.store, array, &key), NW_ERR_NOT_FOUND);
    assert_int_equal(key, 12);
    assert_int_equal(nw_store_find(bed.store, ""), NW_ERR_NAME);
    assert_int_equal(nw_store_find(bed.store, "thirteen or more"), NW_ERR_NAME);
    store_bed_close();
}

static void test_not_a_store(void **state)
{
    struct nw_store_config config = {.objects = 1};
    struct nw_store *other;

    (void)state;
    store_bed_open(&config, 64, 0);
    for (uint32_t block = 0; block < 64U; block++) {
        struct nw_chip_req req = {.chip = bed.chip, .block = block};
        assert_int_equal(nw_chip_erase(&req), NW_OK);
    }
    assert_int_equal(nw_store_mount(&other, bed.chip, &config, bed.ram, bed.ram_bytes),
                     NW_ERR_BLANK);
    config.fan = 12;
    assert_int_equal(nw_store_ram_bytes(&config, &bed.chip->geometry), 0);
    assert_int_equal(nw_store_mount(&other, bed.chip, &config, bed.ram, bed.ram_bytes),
                     NW_ERR_CONFIG);
    store_bed_close();
}

/* Random writes, cuts and reads against plain memory, with remounts. */
static void test_files(void **state)
{
    struct nw_store_config config = {.objects = 2, .anchor_bytes = 4096};
    static uint8_t model[6000];
    static uint8_t data[700];
    uint32_t length = 0;
    uint32_t told = 0;
    struct nw_random random;

    (void)state;
    store_bed_open(&config, 64, 0);
    nw_random_seed(&random, 4);
    assert_true(store_bed_create("file", NW_STORE_FILE, 100, 0) > 0);
    for (uint32_t step = 0; step < 3000U; step++) {
        int file = nw_store_find(bed.store, "file");
        uint32_t offset = nw_random_below(&random, 3) == 0 ? length
                                                           : nw_random_below(&random, length + 1U);
        uint16_t bytes = (uint16_t)(1U + nw_random_below(&random, step % 7U == 0 ? 700 : 60));

        if (offset + bytes > sizeof model) {
            length = nw_random_below(&random, length + 1U);
            assert_int_equal(nw_store_truncate(bed.store, file, length), NW_OK);
            continue;
        }
        for (uint16_t i = 0; i < bytes; i++) {
            data[i] = (uint8_t)nw_random_next(&random);
        }
        memcpy(model + offset, data, bytes);
        length = offset + bytes > length ? offset + bytes : length;
        assert_int_equal(nw_store_write(bed.store, file, offset, data, bytes), bytes);
        if (step % 5U == 0) {
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        if (step % 100U == 50U) {
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
            store_bed_mount();
            file = nw_store_find(bed.store, "file");
        }
        offset = nw_random_below(&random, length);
        bytes = (uint16_t)nw_random_below(&random, 700);
        uint32_t there = length - offset < bytes ? length - offset : bytes;
        assert_int_equal(nw_store_read(bed.store, file, offset, data, bytes), there);
        assert_memory_equal(data, model + offset, there);
        assert_int_equal(nw_store_length(bed.store, file, &told), NW_OK);
        assert_int_equal(told, length);
    }
    assert_int_equal(nw_store_write(bed.store, nw_store_find(bed.store, "file"), length + 1U, data,
                                    1),
                     NW_ERR_RANGE);
    store_bed_close();
}

static uint32_t reads(void)
{
    return (uint32_t)nw_nand_stats(bed.nand)->reads;
}

/* Dequeue and forward traversal: at most two reads of a chunk (header and payload) and a share of a
 * node, for ten elements as for a thousand. */
static void test_front_is_near(void **state)
{
    struct nw_store_config config = {.objects = 2};
    static const uint32_t sizes[2] = {10, 1000};
    uint8_t data[64] = {0};

    (void)state;
    for (unsigned i = 0; i < 2U; i++) {
        struct nw_store_cursor cursor;
        uint32_t count = sizes[i];

        store_bed_open(&config, 128, 0);
        int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
        int stream = store_bed_create("stream", NW_STORE_STREAM, 0, 0);
        for (uint32_t k = 0; k < count; k++) {
            memcpy(data, &k, 4);
            assert_int_equal(nw_store_push(bed.store, queue, data, 64), NW_OK);
            assert_int_equal(nw_store_append(bed.store, stream, data, 64), NW_OK);
        }
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        uint32_t before = reads();
        assert_int_equal(nw_store_first(bed.store, stream, &cursor), NW_OK);
        for (uint32_t k = 0; k < count; k++) {
            assert_int_equal(nw_store_next(bed.store, &cursor, data, 64), 64);
            assert_memory_equal(data, &k, 4);
        }
        uint32_t walked = reads() - before;
        before = reads();
        for (uint32_t k = 0; k < count; k++) {
            assert_int_equal(nw_store_dequeue(bed.store, queue, data, 64), 64);
            assert_memory_equal(data, &k, 4);
        }
        uint32_t taken = reads() - before;
        print_message("%u elements: forward %u reads, dequeue %u\n", (unsigned)count,
                      (unsigned)walked, (unsigned)taken);
        /* a chunk that lies over a page end takes one more */
        assert_true(walked <= count * 5U / 2U && taken <= count * 5U / 2U);
        store_bed_close();
    }
}

/* Ten device-fills of mixed work. */
static void test_wear(void **state)
{
    struct nw_store_config config = {.objects = 4, .frames = 16, .checkpoints = 1};
    uint8_t data[200] = {0};
    uint64_t bytes = 0;
    uint32_t most = 0;
    uint64_t sum = 0;
    struct nw_random random;

    (void)state;
    store_bed_open(&config, 64, 0);
    nw_random_seed(&random, 3);
    int array = store_bed_create("array", NW_STORE_ARRAY, 64, 500);
    int stream = store_bed_create("stream", NW_STORE_STREAM, 0, 300);
    int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    for (uint32_t key = 0; key < 500U; key++) {
        assert_int_equal(nw_store_set(bed.store, array, key, data), NW_OK);
    }
    for (uint32_t step = 0; bytes < 10ULL * 64U * 32U * 512U; step++) {
        uint16_t length = (uint16_t)(20U + nw_random_below(&random, 180));
        uint32_t hot = nw_random_below(&random, 20);

        assert_int_equal(nw_store_append(bed.store, stream, data, length), NW_OK);
        assert_int_equal(nw_store_set(bed.store, array, hot, data), NW_OK);
        assert_int_equal(nw_store_push(bed.store, queue, data, 100), NW_OK);
        assert_int_equal(nw_store_dequeue(bed.store, queue, data, 200), 100);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        bytes += length + 64U + 100U;
        if (step % 4096U == 0) {
            assert_true(nw_store_checkpoint(bed.store) > 0);
        }
    }
    for (uint32_t block = 0; block < 64U; block++) {
        uint32_t erases = nw_nand_block_erases(bed.nand, block);
        most = erases > most ? erases : most;
        sum += erases;
    }
    print_message("wear: most %u, mean %u.%02u\n", (unsigned)most, (unsigned)(sum / 64U),
                  (unsigned)(sum * 100U / 64U % 100U));
    assert_true(sum > 640U && most * 640ULL <= sum * 12U); /* most <= 1.2 x mean */
    store_bed_close();
}

/* A full store says so before it writes, stays readable, and has room again after a delete. */
/* Values far apart take an index of their own each, no more; keys between them take nothing. */
static void test_sparse(void **state)
{
    struct nw_store_config config = {.objects = 3, .frames = 12};
    const uint32_t step = UINT32_MAX / 2000U;
    struct nw_store_space space;
    uint8_t data[200] = {0};
    uint32_t set = 0;
    int result = NW_OK;

    (void)state;
    store_bed_open(&config, 64, 0);
    int array = store_bed_create("array", NW_STORE_ARRAY, 4, UINT32_MAX);
    int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    nw_put32(data, 0);
    assert_int_equal(nw_store_set(bed.store, array, 0, data), NW_OK);
    nw_put32(data, UINT32_MAX - 1U);
    assert_int_equal(nw_store_set(bed.store, array, UINT32_MAX - 1U, data), NW_OK);
    nw_store_space(bed.store, &space);
    assert_true(space.used_bytes < 8U * 3U * 80U); /* eight levels of at most three nodes */
    uint32_t key = 0;
    assert_int_equal(nw_store_next_key(bed.store, array, &key), NW_OK);
    assert_int_equal(key++, 0);
    assert_int_equal(nw_store_next_key(bed.store, array, &key), NW_OK);
    assert_int_equal(key++, UINT32_MAX - 1U);
    assert_int_equal(nw_store_next_key(bed.store, array, &key), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_next_key(bed.store, queue, &key), NW_ERR_TYPE);
    key = 0; /* a step for each entry of the nodes on both ways, and the two values */
    assert_int_equal(nw_store_compact(bed.store, array, &key, 8U * 2U * 16U + 2U), 2);
    assert_int_equal(key, UINT32_MAX);
    assert_true(nw_store_push(bed.store, queue, data, 200) == NW_OK);
    while (result == NW_OK) {
        set++;
        nw_put32(data, set * step);
        result = nw_store_set(bed.store, array, set * step, data);
        nw_store_space(bed.store, &space);
        assert_true(space.used_bytes <= space.limit_bytes);
    }
    assert_int_equal(result, NW_ERR_FULL);
    print_message("full with %u values of 4 bytes far apart\n", (unsigned)set);
    assert_true(set > 500U && set < 2000U);
    assert_int_equal(nw_store_dequeue(bed.store, queue, data, 200), 200);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    store_bed_mount();
    array = nw_store_find(bed.store, "array");
    key = 0;
    for (uint32_t i = 0; i < set; i++, key++) {
        assert_int_equal(nw_store_next_key(bed.store, array, &key), NW_OK);
        assert_int_equal(key, i * step);
        assert_int_equal(nw_store_get(bed.store, array, key, data), NW_OK);
        assert_int_equal(nw_get32(data), key);
    }
    assert_int_equal(nw_store_get(bed.store, array, set * step, data), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_delete(bed.store, array), NW_OK);
    assert_true(store_bed_create("again", NW_STORE_ARRAY, 4, 1000) > 0);
    store_bed_close();
}

/* An index that grows by levels is asked for before it does. */
static void test_far_key(void **state)
{
    struct nw_store_config config = {.objects = 2, .frames = 12};
    struct nw_store_space space;
    uint8_t value[4];
    uint32_t key = 0;
    int result = NW_OK;

    (void)state;
    store_bed_open(&config, 32, 0);
    int array = store_bed_create("array", NW_STORE_ARRAY, 4, UINT32_MAX);
    for (; result == NW_OK && key < 3000U; key++) {
        nw_put32(value, key);
        result = nw_store_set(bed.store, array, key, value);
        if (result == NW_OK) {
            result = nw_store_set(bed.store, array, UINT32_MAX - 1U, value);
            assert_true(result == NW_OK || result == NW_ERR_FULL);
        }
        nw_store_space(bed.store, &space);
        assert_true(space.used_bytes <= space.limit_bytes);
    }
    assert_int_equal(result, NW_ERR_FULL);
    assert_int_equal(nw_store_get(bed.store, array, 0, value), NW_OK);
    assert_int_equal(nw_store_delete(bed.store, array), NW_OK);
    store_bed_close();
}

static void test_full(void **state)
{
    struct nw_store_config config = {.objects = 2, .frames = 12};
    uint8_t data[200];
    uint32_t count = 0;
    struct nw_store_space space;

    (void)state;
    store_bed_open(&config, 32, 0);
    int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    int result = NW_OK;
    while (result == NW_OK) {
        memset(data, (int)count, sizeof data);
        result = nw_store_push(bed.store, queue, data, 200);
        count += result == NW_OK ? 1U : 0U;
    }
    assert_int_equal(result, NW_ERR_FULL);
    nw_store_space(bed.store, &space);
    print_message("full with %u x 200 bytes of %u\n", (unsigned)count, 32U * 32U * 512U);
    assert_true(space.used_bytes <= space.limit_bytes && count * 200U > space.limit_bytes / 2U);
    assert_int_equal(nw_store_push(bed.store, queue, data, 200), NW_ERR_FULL);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    store_bed_mount();
    queue = nw_store_find(bed.store, "queue");
    for (uint32_t i = 0; i < count / 2U; i++) {
        assert_int_equal(nw_store_dequeue(bed.store, queue, data, 200), 200);
        assert_int_equal(data[77], i & 0xFFU);
    }
    for (uint32_t i = 0; i < 5000U; i++) { /* the room of those taken is used again and again */
        assert_int_equal(nw_store_push(bed.store, queue, data, 200), NW_OK);
        assert_int_equal(nw_store_dequeue(bed.store, queue, data, 200), 200);
    }
    assert_int_equal(nw_store_delete(bed.store, queue), NW_OK);
    queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(nw_store_push(bed.store, queue, data, 200), NW_OK);
    }
    store_bed_close();
}

/* A flipped bit is repaired and counted; two in a unit are an error with the place. */
static void test_damage(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint8_t data[100];
    uint8_t back[100];

    (void)state;
    store_bed_open(&config, 64, 1);
    int array = store_bed_create("array", NW_STORE_ARRAY, 100, 40);
    for (uint32_t key = 0; key < 40U; key++) {
        memset(data, (int)key, sizeof data);
        assert_int_equal(nw_store_set(bed.store, array, key, data), NW_OK);
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    nw_nand_flip(bed.nand, 4, 8U * 30U + 1U);
    for (uint32_t key = 0; key < 40U; key++) {
        assert_int_equal(nw_store_get(bed.store, array, key, back), NW_OK);
        assert_int_equal(back[50], key);
    }
    assert_true(nw_store_stats(bed.store)->corrected > 0);
    nw_nand_flip(bed.nand, 4, 8U * 200U + 1U);
    uint32_t lost = 0;
    for (uint32_t key = 0; key < 40U; key++) {
        int result = nw_store_get(bed.store, array, key, back);
        lost += result == NW_ERR_ECC ? 1U : 0U;
        assert_true(result == NW_ERR_ECC || (result == NW_OK && back[50] == key));
    }
    assert_true(lost >= 1U && lost <= 3U);
    assert_int_equal(nw_store_stats(bed.store)->place >> 10, 4);
    store_bed_close();
}

/* Without ECC below, what the chip does not notice the chunk's checksum does. */
static void test_checksum(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint8_t data[100] = {0};
    uint32_t bad = 0;

    (void)state;
    store_bed_open(&config, 64, 0);
    int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    for (uint32_t i = 0; i < 30U; i++) {
        assert_int_equal(nw_store_push(bed.store, queue, data, 100), NW_OK);
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    nw_nand_flip(bed.nand, 3, 8U * 100U);
    for (uint32_t i = 0; i < 30U; i++) {
        int result = nw_store_peek(bed.store, queue, i, data, 100);
        bad += result == NW_ERR_CORRUPT ? 1U : 0U;
        assert_true(result == 100 || result == NW_ERR_CORRUPT);
    }
    assert_int_equal(bad, 1);
    assert_int_equal(nw_store_stats(bed.store)->place >> 10, 3);
    store_bed_close();
}

/* Damaged elements are in the way until they are taken unread. */
static void test_past_damage(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint8_t data[100];
    uint8_t back[100];

    (void)state;
    for (int stack = 0; stack < 2; stack++) {
        int (*take)(struct nw_store *, int, void *, uint16_t) =
            stack ? nw_store_pop : nw_store_dequeue;
        uint32_t damaged = 0;

        store_bed_open(&config, 64, 0);
        int handle = store_bed_create("it", stack ? NW_STORE_STACK : NW_STORE_QUEUE, 0, 0);
        for (uint8_t i = 0; i < 30U; i++) {
            memset(data, i, sizeof data);
            assert_int_equal(nw_store_push(bed.store, handle, data, 100), NW_OK);
        }
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        store_bed_mount(); /* whose anchor makes what came before no part of any redo */
        handle = nw_store_find(bed.store, "it");
        for (uint32_t byte = 0; byte < 500U; byte += 9U) {
            nw_nand_flip(bed.nand, 3, 8U * byte); /* in each header, too */
        }
        for (uint8_t i = 0; i < 30U; i++) {
            int result = take(bed.store, handle, back, 100);
            memset(data, stack ? 29 - i : i, sizeof data);
            if (result != 100) {
                assert_int_equal(result, NW_ERR_CORRUPT);
                assert_int_equal(take(bed.store, handle, back, 100), NW_ERR_CORRUPT);
                assert_true(take(bed.store, handle, NULL, 0) >= 0);
                damaged++;
            } else {
                assert_memory_equal(back, data, 100);
            }
        }
        assert_true(damaged >= 4U && damaged <= 6U);
        assert_int_equal(take(bed.store, handle, back, 100), NW_ERR_NOT_FOUND);
        assert_int_equal(take(bed.store, handle, NULL, 0), NW_ERR_NOT_FOUND);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        store_bed_mount();
        handle = nw_store_find(bed.store, "it");
        assert_int_equal(take(bed.store, handle, NULL, 0), NW_ERR_NOT_FOUND);
        store_bed_close();
    }
}

/* Tags find their places again, over a power-up and after the stream was moved; what the ring has
 * dropped is not there. */
static void test_stream_index(void **state)
{
    struct nw_store_config config = {.objects = 2};
    struct nw_store_cursor cursor;
    uint32_t value;
    uint32_t key = 0;
    uint32_t inside = 0; /* tags of places behind the first element of a chunk */

    (void)state;
    store_bed_open(&config, 64, 0);
    int stream = store_bed_create("stream", NW_STORE_STREAM, 4, 60);
    int tags = store_bed_create("tags", NW_STORE_ARRAY, NW_STORE_TAG_BYTES, 100);
    int other = nw_store_find(bed.store, "stream");
    for (uint32_t i = 0; i < 5000U; i++) {
        if (i % 100U == 0) {
            assert_int_equal(nw_store_last(bed.store, stream, &cursor), NW_OK);
            assert_int_equal(nw_store_tag(bed.store, tags, i / 100U, &cursor), NW_OK);
        }
        assert_int_equal(nw_store_append(bed.store, stream, &i, 4), NW_OK);
    }
    assert_int_equal(nw_store_tag(bed.store, tags, 100, &cursor), NW_ERR_TAG);
    assert_int_equal(nw_store_tagged(bed.store, tags, 100, stream, &cursor), NW_ERR_TAG);
    assert_int_equal(nw_store_tag(bed.store, other, 1, &cursor), NW_ERR_TYPE);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    store_bed_mount();
    uint32_t before = nw_store_stats(bed.store)->moved;
    while (nw_store_compact(bed.store, stream, &key, 10) > 0) {
    }
    assert_int_equal(nw_store_stats(bed.store)->moved - before, 60);
    for (uint32_t tag = 0; tag < 50U; tag++) {
        int result = nw_store_tagged(bed.store, tags, tag, stream, &cursor);
        if (tag < 10U) {
            assert_int_equal(result, NW_ERR_NOT_FOUND);
        } else if (result == NW_OK) {
            inside += cursor.offset != 0;
            assert_int_equal(nw_store_next(bed.store, &cursor, &value, 4), 4);
            assert_int_equal(value, tag * 100U);
        }
    }
    assert_true(inside > 0);
    assert_int_equal(nw_store_tagged(bed.store, tags, 49, stream, &cursor), NW_OK);
    assert_int_equal(nw_store_tagged(bed.store, tags, 60, stream, &cursor), NW_ERR_NOT_FOUND);
    assert_true(nw_store_idle(bed.store, 30000) > 0); /* it tells its steps, also the last time */
    assert_int_equal(nw_store_idle(bed.store, 30000), 0);
    store_bed_close();
}

/* Any image is mounted, or refused, in bounded time, and a mounted one can be read and written. */
static void test_rubbish(void **state)
{
    struct nw_store_config config = {.objects = 3, .checkpoints = 1, .anchor_bytes = 4096};
    struct nw_nand *good;
    struct nw_random random;
    uint8_t data[100] = {0};
    unsigned mounted = 0;

    (void)state;
    store_bed_open(&config, 48, 0);
    nw_random_seed(&random, 21);
    int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    assert_true(store_bed_create("array", NW_STORE_ARRAY, 30, 200) > 0);
    for (uint32_t i = 0; i < 3000U; i++) {
        assert_int_equal(nw_store_push(bed.store, queue, data, 90), NW_OK);
        if (i >= 100U) {
            assert_int_equal(nw_store_dequeue(bed.store, queue, data, 100), 90);
        }
        assert_int_equal(
            nw_store_set(bed.store, nw_store_find(bed.store, "array"), i % 200U, data), NW_OK);
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    assert_int_equal(nw_nand_fork(&good, bed.nand), NW_OK);
    for (unsigned round = 0; round < 300U; round++) {
        assert_int_equal(nw_nand_assign(bed.nand, good), NW_OK);
        for (unsigned i = 0; i <= round; i++) {
            nw_nand_flip(bed.nand, nw_random_below(&random, 48U * 32U),
                         nw_random_below(&random, 8U * (i % 2U == 0 ? 20U : 512U)));
        }
        uint64_t before = nw_nand_operations(bed.nand);
        int result =
            nw_store_mount(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes);
        assert_true(nw_nand_operations(bed.nand) - before < 60000U);
        if (result < 0) {
            continue;
        }
        mounted++;
        queue = nw_store_find(bed.store, "queue");
        for (unsigned i = 0; i < 150U; i++) {
            (void)nw_store_get(bed.store, nw_store_find(bed.store, "array"), i, data);
            (void)nw_store_dequeue(bed.store, queue, data, 100);
            (void)nw_store_push(bed.store, queue, data, 90);
        }
        (void)nw_store_sync(bed.store);
    }
    print_message("%u of 300 damaged images mounted\n", mounted);
    nw_nand_close(good);
    nw_nand_forgive(bed.nand); /* damaged books may lead to pages in use */
    store_bed_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_refused),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_read_only_when_full),
        cmocka_unit_test(test_most_objects),  cmocka_unit_test(test_other_config),
        cmocka_unit_test(test_not_a_store),
        cmocka_unit_test(test_files),         cmocka_unit_test(test_front_is_near),
        cmocka_unit_test(test_wear),          cmocka_unit_test(test_full),
        cmocka_unit_test(test_sparse),        cmocka_unit_test(test_far_key),
        cmocka_unit_test(test_damage),        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_past_damage),
        cmocka_unit_test(test_stream_index),  cmocka_unit_test(test_rubbish)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
