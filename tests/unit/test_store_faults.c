/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what fails in the middle of the store's work leaves neither its books nor its promises
 * wrong: blocks that failed are counted once, a torn chunk is none.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/random.h"
#include "nandwich/store.h"

#define BLOCKS 32U
#define BLOCK_PAGES 8U

struct bed {
    struct nw_nand *nand;
    struct nw_fault fault;
    struct nw_faults filter;
    struct nw_chip *chip;
    struct nw_store *store;
    struct nw_store_config config;
    uint8_t *ram;
    size_t ram_bytes;
};

static struct bed bed;

static int mount(void)
{
    memset(bed.ram, 0xA5, bed.ram_bytes);
    return nw_store_mount(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes);
}

static void open_shape(const struct nw_store_config *config, uint32_t blocks, uint16_t pages)
{
    struct nw_part part;

    memset(&bed, 0, sizeof bed);
    assert_true(nw_parts_get("TC58DVG02A1FT00", &part) >= 0);
    part.blocks = blocks;
    part.block_pages = pages;
    part.factory_bad = 0;
    struct nw_nand_config nand = {.part = &part, .seed = 9};
    assert_int_equal(nw_nand_open(&bed.nand, &nand), NW_OK);
    bed.fault = (struct nw_fault){.verb = NW_VERB_ERASE, .skip = UINT32_MAX};
    nw_faults_open(&bed.filter, nw_nand_chip(bed.nand), &bed.fault, 1, 1);
    bed.chip = &bed.filter.chip;
    bed.config = *config;
    bed.ram_bytes = nw_store_ram_bytes(&bed.config, &bed.chip->geometry);
    assert_true(bed.ram_bytes > 0);
    bed.ram = calloc(1, bed.ram_bytes);
    assert_non_null(bed.ram);
    assert_int_equal(
        nw_store_format(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes), NW_OK);
}

static void open_bed(const struct nw_store_config *config)
{
    open_shape(config, BLOCKS, BLOCK_PAGES);
}

static void close_bed(void)
{
    assert_int_equal(nw_nand_misuse(bed.nand)->error, 0);
    nw_nand_close(bed.nand);
    free(bed.ram);
}

static int create(const char *name, uint8_t type, uint16_t unit, uint32_t count)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = unit, .count = count};

    return nw_store_create(bed.store, name, &spec);
}

/* Work until a fault strikes, or without one until there is a new anchor. */
static void work(int stack, int wait)
{
    const struct nw_store_stats *stats = nw_store_stats(bed.store);
    uint32_t anchors = stats->anchors;
    uint8_t data[300] = {0};

    while (wait ? bed.fault.hits == 0 : stats->anchors == anchors) {
        anchors = wait ? stats->anchors : anchors;
        assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        if (wait && bed.fault.hits > 0) {
            break;
        }
        assert_int_equal(nw_store_pop(bed.store, stack, data, sizeof data), sizeof data);
        assert_true(wait || nw_store_idle(bed.store, 10) >= 0);
    }
    assert_true(!wait || stats->anchors == anchors);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

/* Power goes after a block has failed and before an anchor tells of it: the mount takes one block
 * and counts the others as they were. Otherwise the log would run into what is still needed, some
 * power cuts later. */
static void test_counts(void **state)
{
    struct nw_store_config config = {.objects = 2};
    struct nw_store_space before;
    struct nw_store_space after;

    (void)state;
    for (uint32_t way = 0; way < 2U + BLOCK_PAGES; way++) { /* none, in an erase, in each page */
        open_bed(&config);
        int stack = create("s", NW_STORE_STACK, 0, 0);
        while (nw_nand_stats(bed.nand)->erases < 2U * BLOCKS) { /* blocks are erased as they come */
            work(stack, 0);
        }
        if (way > 0) {
            bed.fault = way == 1U ? (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE}
                                  : (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                                      .skip = way - 2U,
                                                      .error = NW_ERR_PROGRAM};
            bed.fault.times = 1;
        }
        work(stack, way > 0);
        nw_store_space(bed.store, &before);
        assert_true(before.free_blocks > 0);
        assert_int_equal(mount(), NW_OK);
        nw_store_space(bed.store, &after);
        assert_int_equal(after.good_blocks, before.good_blocks);
        /* with little room it gains two, too */
        assert_true(after.free_blocks + 1U == before.free_blocks ||
                    after.free_blocks == before.free_blocks + 1U);
        close_bed();
    }
}

/* All mounts show so many elements, also one behind a mount in which a read failed once: that was
 * the mount's answer, or was no harm. Answers how many reads there are. */
static uint32_t expect_after_errors(uint32_t count)
{
    struct nw_store_about about;
    struct nw_nand *saved;
    uint32_t skip = 0;
    uint32_t hits;

    assert_int_equal(nw_nand_fork(&saved, bed.nand), NW_OK);
    do {
        int error = skip % 2U == 0 ? NW_ERR_IO : NW_ERR_BUSY;
        bed.fault = (struct nw_fault){
            .verb = NW_VERB_READ, .skip = skip / 2U, .times = 1, .error = error};
        int result = mount();
        hits = bed.fault.hits;
        assert_true(result == NW_OK || (hits > 0 && result == error));
        bed.fault = (struct nw_fault){.verb = NW_VERB_HEAL};
        assert_int_equal(mount(), NW_OK);
        assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
        assert_int_equal(about.tail, count);
        assert_int_equal(nw_nand_assign(bed.nand, saved), NW_OK);
        skip++;
    } while (hits > 0);
    nw_nand_close(saved);
    return skip / 2U;
}

/* A program fails in the block that a mount has begun, once it is over, and perhaps the first one
 * of the block behind it: its stand-in did not tell that, and so all since that mount was once
 * gone. Then it was only where the bus failed as the failed block's header was read: that was taken
 * for a header that is none. */
static void test_fails_after_mount(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint8_t data[300] = {0};

    (void)state;
    for (uint32_t way = 0; way < BLOCK_PAGES * 2U; way++) {
        uint32_t page = way / 2U;
        uint32_t fails = 1U + way % 2U;

        open_bed(&config);
        int stack = create("s", NW_STORE_STACK, 0, 0);
        assert_int_equal(mount(), NW_OK);
        if (fails > 1U) {
            assert_int_equal(nw_store_idle(bed.store, 1), 1); /* erases it: */
            nw_nand_doom(bed.nand, 2, 1); /* behind those of the format and of the mount */
        }
        bed.fault = (struct nw_fault){
            .verb = NW_VERB_PROGRAM, .skip = page, .times = 1, .error = NW_ERR_PROGRAM};
        for (uint32_t i = 0; i <= page; i++) {
            assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        assert_int_equal(nw_store_stats(bed.store)->swapped, fails);
        bed.fault = (struct nw_fault){.verb = NW_VERB_HEAL};
        assert_true(expect_after_errors(page + 1U) > 10U);
        for (int again = 0; again < 2; again++) {
            struct nw_store_about about;
            assert_int_equal(mount(), NW_OK);
            assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
            assert_int_equal(about.tail, page + 1U);
        }
        close_bed();
    }
}

/* A program fails in a mount. As long as all since lay in the mount's first page, the next mount
 * took that page for one that its stand-in had not taken over yet, found no header there, and went
 * back before the mount: what was synced since was gone without a word. */
static void test_program_fails_in_mount(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint8_t data[100] = {0};

    (void)state;
    for (uint32_t skip = 0; skip < 3U; skip++) {
        for (uint32_t pushes = 1; pushes <= 4U; pushes++) {
            struct nw_store_about about;

            open_bed(&config);
            int stack = create("s", NW_STORE_STACK, 0, 0);
            assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
            bed.fault = (struct nw_fault){
                .verb = NW_VERB_PROGRAM, .skip = skip, .times = 1, .error = NW_ERR_PROGRAM};
            assert_int_equal(mount(), NW_OK);
            for (uint32_t i = 0; i < pushes; i++) {
                assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
                assert_int_equal(nw_store_sync(bed.store), NW_OK);
            }
            bed.fault = (struct nw_fault){.verb = NW_VERB_HEAL};
            for (int again = 0; again < 2; again++) {
                assert_int_equal(mount(), NW_OK);
                assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
                assert_int_equal(about.tail, pushes + 1U);
            }
            close_bed();
        }
    }
}

/* Elements that a sync made durable, and perhaps one more. */
static void expect_durable(uint32_t count)
{
    uint8_t data[20];

    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(nw_store_peek(bed.store, nw_store_find(bed.store, "s"), i, data, 20), 20);
        assert_int_equal(data[0], i);
    }
}

/* A page takes a second program, which fails; power goes before the block that stands in holds what
 * the page had before. */
static void test_cut_stand_in(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint8_t data[20] = {0};

    (void)state;
    for (uint32_t way = 0; way < 12U * 8U * 8U; way++) {
        uint32_t count = way % 12U;
        uint8_t kind = (uint8_t)(way / 12U % 8U); /* before, after, or torn in six ways */
        struct nw_cut cut = {.after = way / 96U, .phase = NW_CUT_BEFORE};
        if (kind > 0) {
            cut.phase = kind == 1U ? NW_CUT_AFTER : NW_CUT_INSIDE;
            cut.data = kind == 1U ? 0 : (uint8_t)(kind - 2U);
            cut.spare = cut.data;
        }
        open_bed(&config);
        int stack = create("s", NW_STORE_STACK, 0, 0);
        for (uint32_t i = 0; i < count; i++) {
            data[0] = (uint8_t)i;
            assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        nw_nand_doom(bed.nand, 0, 1);
        nw_nand_cut(bed.nand, &cut);
        data[0] = (uint8_t)count;
        (void)nw_store_push(bed.store, stack, data, sizeof data);
        int result = nw_store_sync(bed.store);
        assert_true(result == NW_OK || result == NW_ERR_POWER);
        for (int again = 0; again < 3; again++) {
            nw_nand_power_up(bed.nand);
            assert_int_equal(mount(), NW_OK);
            expect_durable(result == NW_OK ? count + 1U : count);
        }
        close_bed();
    }
}

/* A page takes a second program, which fails, as does every other one after it: those of the pages
 * that stand in for it, not of their headers; or every one, so that no block but the last has a
 * header. Power goes in between, or the sixth block that stands in is the last. Only the last of
 * these was once taken for none, and the page of the one before has nothing either: what a sync had
 * put into the first was gone without a word. So was it behind three blocks without a header: a
 * mount looked behind two. And each failed block that stood in took two of the six swaps. */
static void test_stand_ins_fail(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint8_t data[20] = {0};
    uint32_t most = 0;

    (void)state;
    for (uint32_t way = 0; way < 6U * 7U * 2U * 16U; way++) {
        uint32_t count = 1U + way % 6U;
        uint32_t fails = 1U + way / 6U % 7U;
        uint32_t every = way / 42U % 2U * 2U;
        struct nw_cut cut = {.after = way / 84U, .phase = NW_CUT_BEFORE};

        open_bed(&config);
        int stack = create("s", NW_STORE_STACK, 0, 0);
        for (uint32_t i = 0; i < count; i++) {
            data[0] = (uint8_t)i;
            assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        bed.fault = (struct nw_fault){
            .verb = NW_VERB_PROGRAM, .every = every, .times = fails, .error = NW_ERR_PROGRAM};
        if (cut.after < 15U) { /* else power stays */
            nw_nand_cut(bed.nand, &cut);
        }
        data[0] = (uint8_t)count;
        (void)nw_store_push(bed.store, stack, data, sizeof data);
        int result = nw_store_sync(bed.store);
        if (!nw_nand_is_off(bed.nand)) {
            assert_int_equal(result, bed.fault.hits <= 6U ? NW_OK : NW_ERR_PROGRAM);
            most = bed.fault.hits > most ? bed.fault.hits : most;
        }
        bed.fault = (struct nw_fault){.verb = NW_VERB_HEAL};
        for (int again = 0; again < 3; again++) {
            nw_nand_cut(bed.nand, NULL);
            nw_nand_power_up(bed.nand);
            assert_int_equal(mount(), NW_OK);
            expect_durable(result == NW_OK ? count + 1U : count);
        }
        close_bed();
    }
    assert_int_equal(most, 7);
}

/* Blocks fail of which the newest anchor tells, the log comes round to them, and while they are
 * passed others fail: the six swaps of these and those in the anchor were once too many for the
 * next mount, which answered NW_ERR_CORRUPT ever after. */
static void test_fails_round(void **state)
{
    struct nw_store_config config = {.objects = 2};
    static const struct nw_fault failing = {
        .verb = NW_VERB_PROGRAM, .every = 2, .error = NW_ERR_PROGRAM};
    uint8_t data[300] = {0};
    struct nw_nand *saved;
    uint32_t passed = 0;

    (void)state;
    open_bed(&config);
    int stack = create("s", NW_STORE_STACK, 0, 0);
    uint8_t *ram = malloc(bed.ram_bytes);
    assert_non_null(ram);
    bed.fault = failing;
    bed.fault.times = 3;
    for (uint32_t step = 0; step < 600U; step++) {
        assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        if (bed.fault.verb == NW_VERB_PROGRAM && bed.fault.hits < 3U) {
            continue;
        }
        memcpy(ram, bed.ram, bed.ram_bytes);
        assert_int_equal(nw_nand_fork(&saved, bed.nand), NW_OK);
        uint32_t retired = nw_store_stats(bed.store)->retired;
        bed.fault = failing;
        data[0] = 1;
        (void)nw_store_push(bed.store, stack, data, 20);
        (void)nw_store_sync(bed.store);
        retired += bed.fault.hits - 2U; /* which were to stand in; the last is tried no more */
        passed += nw_store_stats(bed.store)->retired > retired;
        data[0] = 0;
        bed.fault = (struct nw_fault){.verb = NW_VERB_HEAL};
        assert_int_equal(mount(), NW_OK);
        assert_int_equal(nw_store_peek(bed.store, stack, 0, data, sizeof data), sizeof data);
        memcpy(bed.ram, ram, bed.ram_bytes);
        assert_int_equal(nw_nand_assign(bed.nand, saved), NW_OK);
        nw_nand_close(saved);
        assert_int_equal(nw_store_pop(bed.store, stack, data, sizeof data), sizeof data);
    }
    assert_true(passed > 0);
    free(ram);
    close_bed();
}

/* A read of the chip fails once while the next key of an array is looked for: that was once NW_OK,
 * with a key that was never set. */
static void test_next_key_fails(void **state)
{
    struct nw_store_config config = {.objects = 2, .frames = 4, .fan = 8};
    uint8_t data[16] = {0};
    uint32_t failed = 0;

    (void)state;
    open_bed(&config);
    int array = create("a", NW_STORE_ARRAY, sizeof data, 400);
    for (uint32_t key = 100; key < 400U; key += 10) {
        assert_int_equal(nw_store_set(bed.store, array, key, data), NW_OK);
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    for (uint32_t skip = 0; skip < 8U; skip++) {
        assert_int_equal(mount(), NW_OK);
        uint32_t key = 1;
        bed.fault = (struct nw_fault){
            .verb = NW_VERB_READ, .skip = skip, .times = 1, .error = NW_ERR_IO};
        int result = nw_store_next_key(bed.store, array, &key);
        assert_int_equal(result, bed.fault.hits > 0 ? NW_ERR_IO : NW_OK);
        failed += bed.fault.hits;
        bed.fault = (struct nw_fault){.verb = NW_VERB_HEAL};
        assert_int_equal(nw_store_next_key(bed.store, array, &key), NW_OK);
        assert_int_equal(key, 100);
    }
    assert_true(failed > 0);
    close_bed();
}

/* All keys of an array tell what was set last, and so does the walk from key to key. */
static void expect_values(int array, const uint8_t *values, uint32_t count)
{
    uint8_t data[16];
    uint32_t next = 0;

    for (uint32_t key = 0; key < count; key += 2) {
        assert_int_equal(nw_store_get(bed.store, array, key, data), NW_OK);
        assert_int_equal(data[0], values[key]);
        assert_int_equal(nw_store_next_key(bed.store, array, &next), NW_OK);
        assert_int_equal(next++, key);
        assert_int_equal(nw_store_get(bed.store, array, key + 1U, data), NW_ERR_NOT_FOUND);
    }
    assert_int_equal(nw_store_next_key(bed.store, array, &next), NW_ERR_NOT_FOUND);
}

/* Reading goes on when nothing can be written any more: an error of the chip was answered, or so
 * many blocks have failed that none is free. It once needed a frame for each node on its way, and
 * where all hold what is not written yet it answered the error of writing one of them. */
static void test_reading_goes_on(void **state)
{
    struct nw_store_config config = {.objects = 2, .frames = 4, .fan = 8};
    uint8_t values[400] = {0};
    uint8_t data[16] = {0};
    uint32_t passed[2] = {0};

    (void)state;
    for (int full = 0; full < 2; full++) {
        for (uint32_t skip = 0; skip < 30U; skip++) {
            open_bed(&config);
            int array = create("a", NW_STORE_ARRAY, sizeof data, sizeof values);
            memset(values, 0, sizeof values);
            data[0] = 0;
            for (uint32_t key = 0; key < sizeof values; key += 2) {
                assert_int_equal(nw_store_set(bed.store, array, key, data), NW_OK);
            }
            bed.fault =
                full ? (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE}
                     : (struct nw_fault){.verb = NW_VERB_PROGRAM, .error = NW_ERR_IO, .times = 1};
            bed.fault.skip = skip;
            int result = NW_OK;
            for (uint32_t step = 0; result == NW_OK; step++) {
                uint32_t key = step * 130U % sizeof values;
                data[0] = (uint8_t)(values[key] + 1U);
                result = nw_store_set(bed.store, array, key, data);
                values[key] = (uint8_t)(values[key] + (result == NW_OK));
            }
            assert_true(full ? result == NW_ERR_FULL || result == NW_ERR_PROGRAM
                             : result == NW_ERR_IO);
            passed[full] += result == (full ? NW_ERR_FULL : NW_ERR_IO);
            expect_values(array, values, sizeof values);
            assert_int_equal(nw_store_set(bed.store, array, 0, data), result);
            expect_values(array, values, sizeof values);
            close_bed();
        }
    }
    assert_true(passed[0] > 0 && passed[1] > 0);
}

/* Bytes that look like chunks of an object's first element, of two bytes each. */
static void forge(uint8_t *data, uint16_t bytes, int handle)
{
    uint8_t chunk[16] = {0x11, (uint8_t)((handle & 127) - 1), (uint8_t)(handle >> 7), 2};

    chunk[9] = (uint8_t)(nw_crc16(NW_CRC16_START, chunk, 9) & 0xFFU);
    uint32_t crc = nw_crc32(NW_CRC32_START, chunk + 1, 8);
    nw_put32(chunk + 10, nw_crc32(crc, chunk + 14, 2));
    for (uint16_t i = 0; i < bytes; i++) {
        data[i] = chunk[i % 16U];
    }
}

/* Power goes while a chunk over three pages is written: the second one, which is all payload, was
 * once taken for chunks, so what lay there came true, and what was moved was lost. */
static void test_torn_over_pages(void **state)
{
    struct nw_store_config config = {.objects = 2, .fan = 8, .checkpoints = 1};
    struct nw_store_about about;
    static uint8_t data[1000];
    static uint8_t back[1000];

    (void)state;
    for (uint16_t first = 1; first < 512U; first++) { /* moves the page ends along */
        uint32_t key = 0;
        open_bed(&config);
        int stack = create("s", NW_STORE_STACK, 0, 0);
        int queue = create("q", NW_STORE_QUEUE, 0, 0);
        forge(data, sizeof data, queue);
        assert_int_equal(nw_store_push(bed.store, stack, data, first), NW_OK);
        assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
        assert_true(nw_store_checkpoint(bed.store) > 0);
        if (first % 2U == 0) {
            assert_int_equal(nw_store_compact(bed.store, stack, &key, 2), 2);
        } else {
            assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
        }
        assert_int_equal(mount(), NW_OK); /* without a sync */
        assert_int_equal(nw_store_peek(bed.store, stack, 1, back, sizeof back), sizeof back);
        assert_memory_equal(back, data, sizeof back);
        assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
        assert_int_equal(about.tail, 2);
        assert_int_equal(nw_store_at(bed.store, 1, &about), NW_OK);
        assert_int_equal(about.tail, 0);
        close_bed();
    }
}

/* Cleaning meets the top of an index just when nothing but one of its children is needed any more:
 * that was once NW_ERR_NOT_FOUND, which no write got over until the next mount. */
static void test_top_given_up(void **state)
{
    struct nw_store_config config = {.objects = 2, .fan = 8};
    struct nw_random random;
    uint8_t data[200] = {0};
    uint32_t first = 0;
    uint32_t count = 0;

    (void)state;
    nw_random_seed(&random, 1);
    open_bed(&config);
    int queue = create("q", NW_STORE_QUEUE, 0, 0);
    int ring = create("r", NW_STORE_STREAM, 0, 6);
    for (uint32_t step = 0; step < 600000U; step++) {
        if (nw_random_below(&random, 300) == 0) {
            nw_put32(data, count++);
            assert_int_equal(nw_store_push(bed.store, queue, data, 20), NW_OK);
            if (count - first > 6U) {
                assert_int_equal(nw_store_dequeue(bed.store, queue, data, sizeof data), 20);
                assert_int_equal(nw_get32(data), first++);
            }
        }
        assert_int_equal(nw_store_append(bed.store, ring, data, 190), NW_OK);
    }
    close_bed();
}

/* Blocks fail until what is stored hardly fits any more: that it does not is found out once, not
 * with every call, each of which went four times round the chip. */
static void test_stuck(void **state)
{
    struct nw_store_config config = {.objects = 2};
    struct nw_store_space space;
    uint8_t data[300] = {0};
    int result = NW_OK;

    (void)state;
    open_bed(&config);
    int queue = create("q", NW_STORE_QUEUE, 0, 0);
    const struct nw_store_stats *stats = nw_store_stats(bed.store);
    while (result == NW_OK) {
        result = nw_store_push(bed.store, queue, data, sizeof data);
    }
    assert_int_equal(result, NW_ERR_FULL);
    nw_store_space(bed.store, &space);
    uint32_t limit = space.limit_bytes;
    bed.fault = (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE, .times = 1};
    uint32_t refused = 0;
    uint32_t erases = 0;
    for (uint32_t step = 0; refused < 1000U; step++) {
        uint32_t before = stats->erases;
        int taken = nw_store_dequeue(bed.store, queue, data, sizeof data);
        result = nw_store_push(bed.store, queue, data, sizeof data);
        if (taken < 0 || result < 0) {
            refused++;
            erases += stats->erases - before;
        } else {
            refused = 0;
            erases = 0;
            bed.fault.times += step % 50U == 0 ? 1U : 0U; /* one more */
        }
    }
    nw_store_space(bed.store, &space);
    print_message("%u blocks bad, %u erases by refused calls, limit %u of %u\n",
                  (unsigned)stats->retired, (unsigned)erases, (unsigned)space.limit_bytes,
                  (unsigned)limit);
    assert_true(erases < 5U * BLOCKS && space.limit_bytes < limit);
    close_bed();
}

/* A store that is mounted again and again keeps few blocks free, and of these many fail in a mount.
 * What was left were fewer than cleaning began with, so that a store of one element was full for
 * good, though hardly any block held anything. */
static void test_wins_back(void **state)
{
    struct nw_store_config config = {.objects = 4};
    struct nw_store_space space;
    uint8_t data[5] = {0};
    uint32_t mounted = 0;

    (void)state;
    for (uint32_t fails = 0; mounted == fails; fails++) {
        open_shape(&config, 64, 32);
        int stack = create("s", NW_STORE_STACK, 0, 0);
        do {
            assert_int_equal(mount(), NW_OK);
            (void)nw_store_pop(bed.store, stack, data, sizeof data);
            assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
            nw_store_space(bed.store, &space);
        } while (space.free_blocks > 3U);
        bed.fault = (struct nw_fault){
            .verb = NW_VERB_ERASE, .times = fails, .error = fails > 0 ? NW_ERR_ERASE : NW_OK};
        if (mount() == NW_OK) {
            mounted++;
            bed.fault = (struct nw_fault){.verb = NW_VERB_HEAL};
            assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        close_bed();
    }
    assert_true(mounted > 12U); /* nine failed blocks were once too many */
}

/* At the limit a set looks whether it replaces a value. Where that read failed the value counted
 * as a new one, and the set answered NW_ERR_FULL in place of the chip's error. */
static void test_look_up_fails(void **state)
{
    static const int errors[] = {NW_ERR_IO, NW_ERR_ECC};
    struct nw_store_config config = {.objects = 2, .frames = 6, .fan = 8};
    uint8_t value[100] = {0};
    uint32_t failed = 0;

    (void)state;
    open_bed(&config);
    int array = create("a", NW_STORE_ARRAY, sizeof value, 3000);
    uint32_t count = 0;
    int result = NW_OK;
    while (result == NW_OK) {
        result = nw_store_set(bed.store, array, count, value);
        count += result == NW_OK ? 1U : 0U;
    }
    assert_int_equal(result, NW_ERR_FULL);
    assert_true(count > 64U && count < 3000U);
    for (uint32_t i = 0; i < 200U; i++) {
        bed.fault = (struct nw_fault){
            .verb = NW_VERB_READ, .skip = i % 4U, .times = 2, .error = errors[i & 1U]};
        result = nw_store_set(bed.store, array, i * 37U % count, value);
        assert_true(result == NW_OK || (bed.fault.hits > 0 && result == bed.fault.error));
        failed += result < 0 ? 1U : 0U;
        bed.fault.times = bed.fault.hits = 1; /* no more */
        if (result == NW_ERR_IO) {
            assert_int_equal(mount(), NW_OK);
        }
    }
    assert_true(failed > 50U);
    close_bed();
}

/* A mount answered NW_ERR_CORRUPT when a look at a mark failed by which it tells whether a block
 * that had failed has been given up. */
static void test_mark_fails(void **state)
{
    struct nw_store_config config = {.objects = 2};
    uint32_t skip = 0;
    uint32_t told = 0;

    (void)state;
    open_bed(&config);
    int stack = create("s", NW_STORE_STACK, 0, 0);
    bed.fault = (struct nw_fault){
        .verb = NW_VERB_PROGRAM, .skip = 12, .times = 1, .error = NW_ERR_PROGRAM};
    work(stack, 1);
    work(stack, 0); /* an anchor tells of it */
    do { /* where a mount bisects it can do without */
        bed.fault = (struct nw_fault){
            .verb = NW_VERB_IS_BAD, .skip = skip++, .times = 1, .error = NW_ERR_IO};
        int result = mount();
        assert_true(result == NW_OK || (bed.fault.hits > 0 && result == NW_ERR_IO));
        told += result < 0 ? 1U : 0U;
    } while (bed.fault.hits > 0);
    assert_true(told > 0);
    close_bed();
}

/* A bit of the anchor's first page that only one read had wrong was turned in the next one, which
 * was right: the page had stayed in RAM until then. The mount answered NW_ERR_VERSION, or
 * NW_ERR_CORRUPT. */
static void test_anchor_reads_once(void **state)
{
    struct nw_store_config config = {.objects = 16, .name_bytes = 32};
    char name[33] = "an object whose name is long - A";
    uint32_t seed = 0;

    (void)state;
    open_bed(&config);
    for (uint32_t i = 0; i < 16U; i++, name[31]++) {
        assert_true(create(name, NW_STORE_STACK, 0, 0) > 0);
    }
    for (uint32_t skip = 0; seed == skip * 40U; skip++) {
        for (uint32_t time = 0; time < 40U; time++, seed += bed.fault.hits) {
            nw_faults_open(&bed.filter, nw_nand_chip(bed.nand), &bed.fault, 1, seed + 1U);
            bed.fault = (struct nw_fault){
                .verb = NW_VERB_READ, .skip = skip, .times = 1, .flips = 1};
            assert_int_equal(mount(), NW_OK);
            assert_true(nw_store_find(bed.store, "an object whose name is long - A") > 0);
        }
    }
    assert_true(seed > 400U);
    close_bed();
}

/* A ring that drops a chunk looks for it without needing a frame: where a program failed on the way
 * it went on, and the append programmed the same page again. */
static void test_nothing_after_error(void **state)
{
    struct nw_store_config config = {.objects = 2, .frames = 6, .fan = 8};
    struct nw_random random;
    uint8_t data[900] = {0};
    uint32_t failed = 0;

    (void)state;
    nw_random_seed(&random, 5);
    open_bed(&config);
    int ring = create("r", NW_STORE_STREAM, 10, 30);
    int array = create("a", NW_STORE_ARRAY, 10, 64);
    for (uint32_t i = 0; i < 10000U; i++) {
        bed.fault = (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                      .acts = i & 1U,
                                      .skip = nw_random_below(&random, 20),
                                      .times = i < 500U ? 0 : 1,
                                      .error = i < 500U ? NW_OK : NW_ERR_IO};
        int result = nw_random_below(&random, 2) == 0
                         ? nw_store_append(bed.store, ring, data, sizeof data)
                         : nw_store_set(bed.store, array, nw_random_below(&random, 64), data);
        if (bed.fault.hits > 0 && bed.fault.error < 0) {
            assert_int_equal(nw_store_idle(bed.store, 1), NW_ERR_IO);
            assert_int_equal(nw_store_sync(bed.store), NW_ERR_IO);
            assert_int_equal(bed.fault.seen, bed.fault.skip + 1U);
            assert_int_equal(mount(), NW_OK);
            assert_int_equal(nw_store_stats(bed.store)->lost, 0);
            failed++;
        } else {
            assert_true(result >= 0);
        }
    }
    assert_true(failed > 100U);
    close_bed();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_fails_after_mount),
        cmocka_unit_test(test_program_fails_in_mount),
        cmocka_unit_test(test_cut_stand_in),
        cmocka_unit_test(test_stand_ins_fail),
        cmocka_unit_test(test_fails_round),
        cmocka_unit_test(test_next_key_fails),
        cmocka_unit_test(test_reading_goes_on),
        cmocka_unit_test(test_torn_over_pages),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_wins_back),
        cmocka_unit_test(test_top_given_up),
        cmocka_unit_test(test_look_up_fails),
        cmocka_unit_test(test_mark_fails),
        cmocka_unit_test(test_nothing_after_error),
        cmocka_unit_test(test_anchor_reads_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
