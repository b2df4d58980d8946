/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what the store costs on the workloads by which stores are compared is known to the chip
 * operation, with the energy of chip and processor (the linear model of Mathur et al., SenSys 2006:
 * a read 4.07 uJ + 0.105 uJ a byte, a program 24.54 uJ + 0.0962 uJ a byte; erases apart), and the
 * longest call stays within what the header promises. A change that makes it dearer fails here.
 *   (a) 12,000 readings of 4 bytes in 200 batches to a stream, a sync after each; all read back
 *   (b) create a file, write 10 x 80 bytes, read 10 x 80 bytes
 *   (c) 10,000 random 64-byte overwrites in a 64 KiB array, a sync after each
 *   (d) a mount after little work, and once more, by the number of blocks and of objects
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/random.h"
#include "nandwich/store.h"

/* A workload's exact cost, and what the energy may be at most, in mJ. */
struct cost {
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
    uint32_t most_mj100; /* hundredths of a mJ */
};

enum { APPEND, READ_BACK, SMALL_FILE, OVERWRITE, OVERWRITE_IDLE, WORKLOADS };

struct shape {
    const char *name;
    const char *part;
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint8_t page_programs;
    struct nw_store_config config;
    struct cost cost[WORKLOADS];
    uint32_t worst_us;   /* the longest call of (c) with idle time in between */
    uint32_t most_ram;
};

struct counts {
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
    uint32_t nj; /* reads and programs by the linear model, tens of nanojoules */
};

struct bench {
    const struct shape *shape;
    struct nw_nand *nand;
    struct nw_store *store;
    void *ram;
    size_t ram_bytes;
};

static const struct shape nand512 = {.name = "NAND 512 B",
                                     .part = "TC58DVG02A1FT00",
                                     .blocks = 128,
                                     .block_pages = 32,
                                     .page_bytes = 512,
                                     .page_programs = 4,
                                     .config = {.objects = 5, .frames = 28,
                                                .read_ahead = 1},
                                     .cost = {{0, 261, 0, 1500},
                                              {104, 0, 0, 600},
                                              {6, 6, 0, 50},
                                              {12792, 11165, 0, 100000},
                                              {13026, 11190, 0, 100000}},
                                     .worst_us = 2300,
                                     .most_ram = 4096};
static const struct shape nand2k = {.name = "NAND 2 KiB",
                                    .part = "K9F1G08U0A",
                                    .blocks = 64,
                                    .block_pages = 64,
                                    .page_bytes = 2048,
                                    .page_programs = 4,
                                    .config = {.objects = 5, .frames = 28,
                                               .read_ahead = 1},
                                    .cost = {{0, 200, 0, 6000},
                                             {50, 0, 0, 1100},
                                             {0, 3, 0, 50},
                                             {12393, 10036, 0, 100000},
                                             {12454, 10075, 0, 100000}},
                                    .worst_us = 2300,
                                    .most_ram = 8192};
static const struct shape nor = {.name = "NOR",
                                 .part = "W25Q128JV",
                                 .blocks = 128,
                                 .block_pages = 16,
                                 .page_bytes = 256,
                                 .page_programs = 255,
                                 .config = {.objects = 5, .frames = 32,
                                            .read_ahead = 1},
                                 .cost = {{0, 396, 0, 1600},
                                          {228, 0, 0, 700},
                                          {6, 9, 0, 60},
                                          {19027, 15507, 279, 80000},
                                          {20437, 16122, 317, 90000}},
                                 .worst_us = 3100,
                                 .most_ram = 4096};

static void open_bench(struct bench *bench, const struct shape *shape)
{
    struct nw_part part;

    memset(bench, 0, sizeof *bench);
    bench->shape = shape;
    assert_int_equal(nw_parts_get(shape->part, &part) >= 0, 1);
    part.blocks = shape->blocks;
    part.block_pages = shape->block_pages;
    part.page_bytes = shape->page_bytes;
    part.page_programs = shape->page_programs;
    part.factory_bad = 0;
    struct nw_nand_config config = {.part = &part, .seed = 1};
    assert_int_equal(nw_nand_open(&bench->nand, &config), NW_OK);
    struct nw_chip *chip = nw_nand_chip(bench->nand);
    bench->ram_bytes = nw_store_ram_bytes(&shape->config, &chip->geometry);
    assert_true(bench->ram_bytes > 0 && bench->ram_bytes <= shape->most_ram);
    bench->ram = calloc(1, bench->ram_bytes);
    assert_non_null(bench->ram);
    assert_int_equal(
        nw_store_format(&bench->store, chip, &shape->config, bench->ram, bench->ram_bytes), NW_OK);
}

static void close_bench(struct bench *bench)
{
    assert_int_equal(nw_nand_misuse(bench->nand)->error, 0);
    nw_nand_close(bench->nand);
    free(bench->ram);
}

static struct counts counts_of(const struct bench *bench)
{
    const struct nw_nand_counts *stats = nw_nand_stats(bench->nand);
    uint64_t nj = stats->reads * 4070U + stats->bytes_read * 105U + stats->programs * 24540U +
                  stats->bytes_programmed * 962U / 10U;

    return (struct counts){.reads = (uint32_t)stats->reads,
                           .programs = (uint32_t)stats->programs,
                           .erases = (uint32_t)stats->erases,
                           .nj = (uint32_t)(nj / 10U)};
}

static struct counts since(const struct bench *bench, const struct counts *start)
{
    struct counts now = counts_of(bench);

    now.reads -= start->reads;
    now.programs -= start->programs;
    now.erases -= start->erases;
    now.nj -= start->nj;
    return now;
}

static void expect_cost(const struct bench *bench, unsigned workload, const struct counts *start)
{
    static const char *const names[WORKLOADS] = {"(a)", "(a) read back", "(b)", "(c)",
                                                 "(c) with idle"};
    const struct cost *cost = &bench->shape->cost[workload];
    struct counts took = since(bench, start);

    print_message("%s %s: %u reads, %u programs, %u erases, %u.%02u mJ\n", bench->shape->name,
                  names[workload], (unsigned)took.reads, (unsigned)took.programs,
                  (unsigned)took.erases, (unsigned)(took.nj / 100000U),
                  (unsigned)(took.nj / 1000U % 100U));
    assert_int_equal(took.reads, cost->reads);
    assert_int_equal(took.programs, cost->programs);
    assert_int_equal(took.erases, cost->erases);
    assert_true(took.nj / 1000U <= cost->most_mj100);
}

static void append_readings(struct bench *bench)
{
    struct nw_store_spec spec = {.type = NW_STORE_STREAM, .unit_bytes = 4};
    struct counts start;
    struct nw_store_cursor cursor;
    uint32_t value;
    int stream = nw_store_create(bench->store, "readings", &spec);

    assert_true(stream > 0);
    start = counts_of(bench);
    for (uint32_t i = 0; i < 12000U; i++) {
        value = i * 2654435761U;
        assert_int_equal(nw_store_append(bench->store, stream, &value, 4), NW_OK);
        if (i % 60U == 59U) {
            assert_int_equal(nw_store_sync(bench->store), NW_OK);
        }
    }
    expect_cost(bench, APPEND, &start);
    start = counts_of(bench);
    assert_int_equal(nw_store_first(bench->store, stream, &cursor), NW_OK);
    for (uint32_t i = 0; i < 12000U; i++) {
        assert_int_equal(nw_store_next(bench->store, &cursor, &value, 4), 4);
        assert_int_equal(value, i * 2654435761U);
    }
    assert_int_equal(nw_store_next(bench->store, &cursor, &value, 4), 0);
    expect_cost(bench, READ_BACK, &start);
}

static void small_file(struct bench *bench)
{
    struct nw_store_spec spec = {.type = NW_STORE_FILE};
    struct counts start = counts_of(bench);
    uint8_t data[80];
    int file = nw_store_create(bench->store, "file", &spec);

    assert_true(file > 0);
    for (uint32_t i = 0; i < 10U; i++) {
        memset(data, (int)i, sizeof data);
        assert_int_equal(nw_store_write(bench->store, file, i * 80U, data, 80), 80);
    }
    assert_int_equal(nw_store_sync(bench->store), NW_OK);
    file = nw_store_find(bench->store, "file");
    for (uint32_t i = 0; i < 10U; i++) {
        assert_int_equal(nw_store_read(bench->store, file, i * 80U, data, 80), 80);
        assert_int_equal(data[79], i);
    }
    expect_cost(bench, SMALL_FILE, &start);
}

static void overwrite(struct bench *bench, int idle)
{
    struct nw_store_spec spec = {.type = NW_STORE_ARRAY, .unit_bytes = 64, .count = 1024};
    static uint32_t model[1024];
    struct nw_random random;
    struct counts start;
    uint64_t worst = 0;
    uint32_t worst_programs = 0;
    uint32_t worst_erases = 0;
    uint8_t data[64];
    int array = nw_store_create(bench->store, "array", &spec);

    assert_true(array > 0);
    memset(data, 0, sizeof data);
    for (uint32_t key = 0; key < 1024U; key++) {
        memcpy(data, &key, 4);
        model[key] = key;
        assert_int_equal(nw_store_set(bench->store, array, key, data), NW_OK);
    }
    assert_int_equal(nw_store_sync(bench->store), NW_OK);
    nw_random_seed(&random, 5);
    start = counts_of(bench);
    for (uint32_t i = 0; i < 10000U; i++) {
        uint32_t key = nw_random_below(&random, 1024);
        uint64_t before = nw_nand_meter(bench->nand)->time_ns;
        struct counts call = counts_of(bench);

        model[key] = i;
        memcpy(data, &i, 4);
        assert_int_equal(nw_store_set(bench->store, array, key, data), NW_OK);
        assert_int_equal(nw_store_sync(bench->store), NW_OK);
        uint64_t took_ns = nw_nand_meter(bench->nand)->time_ns - before;
        call = since(bench, &call);
        worst = took_ns > worst ? took_ns : worst;
        worst_programs = call.programs > worst_programs ? call.programs : worst_programs;
        worst_erases = call.erases > worst_erases ? call.erases : worst_erases;
        if (idle) {
            assert_true(nw_store_idle(bench->store, 100) >= 0);
        }
    }
    expect_cost(bench, idle ? OVERWRITE_IDLE : OVERWRITE, &start);
    print_message("  longest call %u us, %u programs, %u erases\n", (unsigned)(worst / 1000U),
                  (unsigned)worst_programs, (unsigned)worst_erases);
    assert_true(worst <= (idle ? bench->shape->worst_us : 50000U) * 1000ULL);
    assert_true(worst_erases <= (idle ? 0U : 1U));
    assert_true(!idle || worst_programs <= 8U);
    for (uint32_t key = 0; key < 1024U; key++) {
        assert_int_equal(nw_store_get(bench->store, array, key, data), NW_OK);
        assert_memory_equal(data, &model[key], 4);
    }
}

static void run_shape(const struct shape *shape)
{
    struct bench bench;

    open_bench(&bench, shape);
    append_readings(&bench);
    close_bench(&bench);
    open_bench(&bench, shape);
    small_file(&bench);
    close_bench(&bench);
    for (int idle = 0; idle < 2; idle++) {
        open_bench(&bench, shape);
        overwrite(&bench, idle);
        close_bench(&bench);
    }
}

static void test_nand_512(void **state)
{
    (void)state;
    run_shape(&nand512);
}

static void test_nand_2k(void **state)
{
    (void)state;
    run_shape(&nand2k);
}

static void test_nor(void **state)
{
    (void)state;
    run_shape(&nor);
}

/* (d) Each doubling of the blocks adds the look at one more; each object what the anchor grows by,
 * and the chunk that made it. After `rounds` of the log the blocks behind its end have headers. */
static void mount_after(const struct shape *shape, uint32_t blocks, unsigned objects, int rounds,
                        const uint32_t *reads)
{
    struct nw_store_spec spec = {.type = NW_STORE_STACK};
    struct shape of = *shape;
    struct bench bench;
    uint8_t data[400] = {0};
    int stack = 0;

    of.blocks = blocks;
    of.config.objects = 8;
    of.config.frames = 8;
    of.config.read_ahead = 0;
    open_bench(&bench, &of);
    for (unsigned i = 0; i < objects; i++) {
        stack = nw_store_create(bench.store, (const char[]){(char)('a' + (int)i), 0}, &spec);
        assert_true(stack > 0);
    }
    uint64_t erases = (uint64_t)blocks * (unsigned)(1 + rounds);
    while (nw_nand_stats(bench.nand)->erases < erases) {
        assert_int_equal(nw_store_push(bench.store, stack, data, sizeof data), NW_OK);
        assert_int_equal(nw_store_pop(bench.store, stack, data, sizeof data), sizeof data);
    }
    assert_int_equal(nw_store_sync(bench.store), NW_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(nw_store_mount(&bench.store, nw_nand_chip(bench.nand), &of.config,
                                        bench.ram, bench.ram_bytes),
                         NW_OK);
        const struct nw_store_stats *stats = nw_store_stats(bench.store);
        print_message("%s, %u blocks, %u objects%s: %u reads, %u bytes read, %u programs\n",
                      shape->name, (unsigned)blocks, objects, again ? ", again" : "",
                      (unsigned)stats->reads, (unsigned)stats->bytes_read,
                      (unsigned)stats->programs);
        assert_int_equal(stats->reads, reads[again]);
        assert_int_equal(stats->programs, 3); /* the image, and the anchor twice */
        assert_int_equal(stats->erases, 1);
    }
    close_bench(&bench);
}

static void test_mount(void **state)
{
    (void)state;
    mount_after(&nand512, 128, 1, 0, (const uint32_t[]){64, 59});
    mount_after(&nand512, 256, 1, 0, (const uint32_t[]){67, 62});
    mount_after(&nand512, 1024, 1, 0, (const uint32_t[]){73, 68});
    mount_after(&nand512, 128, 8, 0, (const uint32_t[]){122, 59});
    mount_after(&nand512, 128, 1, 2, (const uint32_t[]){327, 50});
    mount_after(&nand512, 256, 1, 2, (const uint32_t[]){846, 53});
    mount_after(&nor, 128, 1, 2, (const uint32_t[]){106, 46});
    mount_after(&nor, 256, 1, 2, (const uint32_t[]){155, 48});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nand_512),
                                       cmocka_unit_test(test_nand_2k), cmocka_unit_test(test_nor),
                                       cmocka_unit_test(test_mount)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
