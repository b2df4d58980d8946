/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a store can be lived with at its limit for ever. It is filled to a share of limit_bytes, or
 * until a put is refused, and then what it holds is replaced at random: never is one of these
 * calls refused, and the longest one is as the header promises, with idle time and without, with
 * the fewest frames and with the usual ones, whatever the order of the first writes. What
 * nw_store_space() says fits does fit, and after NW_ERR_FULL deleting makes room again.
 * ctest: quick
 * ctest: soak
 *
 * Once a store of 128 blocks, 10,000 values of 64 bytes and 8 frames had a call of 29 s at 73 % of
 * its limit, and refused every second overwrite from then on: each value that was moved cost nodes
 * of the index too, for which nothing was set aside, and what was due was cleaned all at once.
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

#define MOST_CHUNKS 40000U

struct chip_shape {
    const char *part;
    uint32_t blocks;
    uint16_t few; /* programs of a synced overwrite of 64 bytes */
};

static const struct chip_shape chips[] = {
    {"TC58DVG02A1FT00", 128, 10},
    {"TC58DVG02A1FT00", 64, 10},
    {"K9F1G08U0A", 64, 7},
    {"W25Q128JV", 128, 15},
    {"AT45DB041B", 96, 15},
};

enum { ARRAY, FILE_BLOCKS, QUEUE, RING, RENEW, KINDS };

struct turn {
    const struct chip_shape *chip;
    uint8_t frames;
    uint8_t kind;
    uint8_t idle;
    uint8_t shuffled;
    uint16_t unit;
    uint16_t percent; /* of the limit */
    uint32_t steps;
};

static struct {
    struct nw_nand *nand;
    struct nw_store *store;
    void *ram;
    uint32_t order[MOST_CHUNKS];
    uint32_t count;
    struct nw_random random;
    int handle;
} bed;

static uint8_t data[1024];

static void open_bed(const struct turn *turn)
{
    struct nw_store_config config = {.objects = 4, .frames = turn->frames};
    struct nw_part part;

    assert_true(nw_parts_get(turn->chip->part, &part) >= 0);
    part.blocks = turn->chip->blocks;
    part.factory_bad = 0;
    struct nw_nand_config of = {.part = &part, .seed = 3};
    assert_int_equal(nw_nand_open(&bed.nand, &of), NW_OK);
    struct nw_chip *chip = nw_nand_chip(bed.nand);
    size_t bytes = nw_store_ram_bytes(&config, &chip->geometry);
    assert_true(bytes > 0);
    bed.ram = calloc(1, bytes);
    assert_non_null(bed.ram);
    assert_int_equal(nw_store_format(&bed.store, chip, &config, bed.ram, bytes), NW_OK);
    nw_random_seed(&bed.random, 7);
}

static void close_bed(void)
{
    assert_int_equal(nw_nand_misuse(bed.nand)->error, 0);
    nw_nand_close(bed.nand);
    free(bed.ram);
}

static struct nw_store_space space_now(void)
{
    struct nw_store_space space;

    nw_store_space(bed.store, &space);
    return space;
}

static int make(const struct turn *turn, uint32_t count)
{
    static const uint8_t types[KINDS] = {NW_STORE_ARRAY, NW_STORE_FILE, NW_STORE_QUEUE,
                                         NW_STORE_STREAM, NW_STORE_STACK};
    struct nw_store_spec spec = {.type = types[turn->kind]};

    if (turn->kind == ARRAY || turn->kind == FILE_BLOCKS) {
        spec.unit_bytes = turn->unit;
    }
    spec.count = turn->kind == ARRAY ? count : 0;
    if (turn->kind == RENEW) { /* each object counts: this one will come and go */
        static const struct nw_store_spec other = {.type = NW_STORE_QUEUE};
        assert_true(nw_store_create(bed.store, "other", &other) > 0);
    }
    return nw_store_create(bed.store, "object", &spec);
}

/* How many values the array of this turn has: as many as will fit, or the frames allow. */
static uint32_t keys_of(const struct turn *turn)
{
    uint32_t most = turn->frames == 4U ? 4096U : MOST_CHUNKS;
    uint32_t count = space_now().limit_bytes / (turn->unit + 70U);

    return count < most ? count : most;
}

/* In the order of keys, or in any. */
static void draw_order(const struct turn *turn)
{
    bed.count = keys_of(turn);
    for (uint32_t i = 0; i < bed.count; i++) {
        bed.order[i] = i;
    }
    for (uint32_t i = bed.count; turn->shuffled != 0 && i > 1U; i--) {
        uint32_t at = nw_random_below(&bed.random, i);
        uint32_t key = bed.order[i - 1U];
        bed.order[i - 1U] = bed.order[at];
        bed.order[at] = key;
    }
}

static int put(const struct turn *turn, uint32_t number)
{
    int result;

    switch (turn->kind) {
    case ARRAY:
        result = nw_store_set(bed.store, bed.handle, bed.order[number], data);
        break;
    case FILE_BLOCKS:
        result = nw_store_write(bed.store, bed.handle, number * turn->unit, data, turn->unit);
        break;
    case RING:
        result = nw_store_append(bed.store, bed.handle, data, turn->unit);
        break;
    default:
        result = nw_store_push(bed.store, bed.handle, data, turn->unit);
    }
    return result < 0 ? result : nw_store_sync(bed.store);
}

/* Takes one that is there out of the way of the next one. */
static int take(const struct turn *turn)
{
    struct nw_store_about about;
    struct nw_store_spec spec = {.type = NW_STORE_QUEUE};
    int result = NW_OK;

    if (turn->kind == QUEUE) {
        result = nw_store_dequeue(bed.store, bed.handle, data, turn->unit);
    } else if (turn->kind == RING) {
        assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
        result = nw_store_trim(bed.store, bed.handle, about.head + 1U);
    } else if (turn->kind == RENEW) {
        result = nw_store_pop(bed.store, bed.handle, data, turn->unit);
        int other = nw_store_find(bed.store, "other");
        if (result >= 0 && other > 0) {
            result = nw_store_delete(bed.store, other);
        } else if (result >= 0) {
            result = nw_store_create(bed.store, "other", &spec);
        }
    }
    return result;
}

/* Idle time as long as there is something to do. */
static void idle(const struct turn *turn)
{
    int done = turn->idle;

    while (turn->idle != 0 && done == turn->idle) {
        done = nw_store_idle(bed.store, turn->idle);
        assert_true(done >= 0);
    }
}

static void fill(const struct turn *turn)
{
    uint32_t want = space_now().limit_bytes / 100U * turn->percent;
    uint32_t number = 0;
    int result = NW_OK;

    while (number < bed.count && space_now().used_bytes < want && result == NW_OK) {
        struct nw_store_space space = space_now();

        result = put(turn, number);
        assert_true(result == NW_OK || result == NW_ERR_FULL);
        assert_true(result == NW_OK || space.put_bytes < turn->unit); /* it had said so */
        number += result == NW_OK ? 1U : 0U;
        idle(turn);
    }
    bed.count = number;
}

struct worst {
    uint64_t programs;
    uint64_t erases;
    uint64_t reads;
};

static void replace(const struct turn *turn, struct worst *worst)
{
    for (uint32_t step = 0; step < turn->steps; step++) {
        struct nw_nand_counts before = *nw_nand_stats(bed.nand);
        int result = take(turn);

        if (result >= 0) {
            result = put(turn, nw_random_below(&bed.random, bed.count));
        }
        if (result < 0) {
            fail_msg("step %u: %s", (unsigned)step, nw_error_text(result));
        }
        const struct nw_nand_counts *now = nw_nand_stats(bed.nand);
        uint64_t programs = now->programs - before.programs;
        uint64_t erases = now->erases - before.erases;
        uint64_t reads = now->reads - before.reads;
        worst->programs = programs > worst->programs ? programs : worst->programs;
        worst->erases = erases > worst->erases ? erases : worst->erases;
        worst->reads = reads > worst->reads ? reads : worst->reads;
        idle(turn);
        assert_true(space_now().used_bytes <= space_now().limit_bytes);
    }
}

static void run(const struct turn *turn)
{
    struct worst worst = {0};

    open_bed(turn);
    uint64_t page = nw_nand_chip(bed.nand)->geometry.page_bytes;
    draw_order(turn);
    bed.handle = make(turn, bed.count);
    assert_true(bed.handle > 0);
    fill(turn);
    replace(turn, &worst);
    print_message("%s x %u, %u frames, kind %u, %u B, %u %%%s%s: %u chunks, at most %u programs, "
                  "%u erases, %u reads\n",
                  turn->chip->part, (unsigned)turn->chip->blocks, (unsigned)turn->frames,
                  (unsigned)turn->kind, (unsigned)turn->unit, (unsigned)turn->percent,
                  turn->idle != 0 ? ", idle" : "", turn->shuffled != 0 ? ", shuffled" : "",
                  (unsigned)bed.count, (unsigned)worst.programs, (unsigned)worst.erases,
                  (unsigned)worst.reads);
    uint64_t few = turn->chip->few + (turn->unit > 64U ? turn->unit * 10U / page : 0);
    if (turn->kind >= QUEUE) {
        few *= 2U; /* two calls; an anchor more where an object is made, or deleted */
    }
    /* (blocks of 2 KB are used up and come round before idle time has its turn) */
    if (turn->idle != 0 && nw_nand_chip(bed.nand)->geometry.block_pages > 8U) {
        few = 5U + turn->unit * 2U / page + (turn->kind >= QUEUE ? 3U : 0);
        assert_int_equal(worst.erases, 0);
    }
    assert_true(worst.programs <= few);
    assert_true(worst.erases <= 1U + few / nw_nand_chip(bed.nand)->geometry.block_pages);
    close_bed();
}

static void run_chip(const struct chip_shape *chip)
{
    static const uint16_t units[] = {64, 1, 4, 1000};
    int soak = getenv("NW_SOAK") != NULL;
    struct turn turn = {.chip = chip, .steps = soak ? 12000U : 3000U};
    struct nw_part part;

    assert_true(nw_parts_get(chip->part, &part) >= 0);
    for (uint32_t i = 0; i < (soak ? 320U : 12U); i++) {
        uint32_t which = soak ? i : i * 27U + 4U * (uint32_t)(chip - chips);

        turn.kind = (uint8_t)(soak ? i % KINDS : i % 3U == 0 ? 0 : which % KINDS);
        turn.unit = units[which / KINDS % 4U];
        turn.frames = which / 20U % 2U == 0 ? 4 : 8;
        turn.idle = which / 40U % 2U == 0 ? 0 : 100;
        turn.shuffled = (uint8_t)(which / 80U % 2U);
        turn.percent = (uint16_t)(which / 160U % 2U == 0 ? 100U : 75U);
        if (turn.kind == FILE_BLOCKS && turn.unit + 40U > part.page_bytes) {
            turn.unit = 200;
        }
        uint32_t most = (uint32_t)part.block_pages * part.page_bytes / 4U;
        turn.unit = turn.unit < most ? turn.unit : (uint16_t)most;
        if (turn.kind == QUEUE || turn.kind == RING) {
            turn.frames = 8; /* with the fewest they cannot pass number 4096 */
        }
        run(&turn);
    }
}

static void test_chips(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        run_chip(&chips[i]);
    }
}

/* The one that was told of: 64 bytes at random, at the limit, with and without idle time. */
static void test_overwrites(void **state)
{
    struct turn turn = {.chip = &chips[0], .frames = 8, .kind = ARRAY, .unit = 64, .percent = 100};

    (void)state;
    turn.steps = getenv("NW_SOAK") != NULL ? 300000U : 15000U;
    run(&turn);
    turn.shuffled = 1;
    run(&turn);
    turn.idle = 100;
    run(&turn);
}

/* Full, then half of it deleted: there is room again, as often as one likes. */
static void test_again(void **state)
{
    struct turn turn = {.chip = &chips[0], .kind = QUEUE, .unit = 200};

    (void)state;
    open_bed(&turn);
    for (uint32_t round = 0; round < 6U; round++) {
        struct nw_store_spec spec = {.type = NW_STORE_STACK};
        uint32_t count[2] = {0};
        int one = nw_store_create(bed.store, "one", &spec);
        int two = nw_store_create(bed.store, "two", &spec);
        assert_true(one > 0 && two > 0);
        while (nw_store_push(bed.store, one, data, 200) == NW_OK) {
            count[0]++;
            int result = nw_store_push(bed.store, two, data, 200);
            assert_true(result == NW_OK || result == NW_ERR_FULL);
        }
        assert_int_equal(nw_store_delete(bed.store, two), NW_OK);
        while (nw_store_push(bed.store, one, data, 200) == NW_OK) {
            count[1]++;
        }
        assert_true(count[1] > count[0] / 2U && count[0] > 2000U);
        assert_int_equal(nw_store_delete(bed.store, one), NW_OK);
    }
    close_bed();
}

/* What is told at format. */
static void test_limits(void **state)
{
    struct turn turn = {.chip = &(struct chip_shape){"TC58DVG02A1FT00", 128, 10}};
    struct turn large = {.chip = &(struct chip_shape){"TC58DVG02A1FT00", 8192, 10}};

    (void)state;
    open_bed(&turn);
    assert_true(space_now().limit_bytes >= (2UL << 20) / 100U * 70U);
    assert_true(space_now().used_bytes == 0 && space_now().put_bytes > 1000U);
    close_bed();
    open_bed(&large);
    assert_true(space_now().limit_bytes >= (128UL << 20) / 100U * 85U);
    close_bed();
}

/*
 * An append of one unit asks for up to three chunks, but what a put may take was worked out for
 * one: where the index of a packed stream was about to gain a level the unit was NW_ERR_FULL.
 */
static void test_level_of_stream(void **state)
{
    static uint64_t ram[4096];
    static uint8_t bytes[1000];

    (void)state;
    for (uint64_t seed = 1; seed <= 24U; seed++) {
        uint64_t mix = seed * 0x9E3779B97F4A7C15ULL + 3U;
        struct nw_store_config config = {.objects = 8, .read_ahead = 1, .fan = 32};
        struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
        struct nw_store_spec packed = {.type = NW_STORE_STREAM, .unit_bytes = 3};
        struct nw_store_space space;
        struct nw_store *store;
        struct nw_nand *nand;
        struct nw_part part;
        unsigned most = 900;

        assert_true(nw_parts_get("TC58DVG02A1FT00", &part) >= 0);
        part.blocks = 55;
        part.block_pages = 9;
        part.factory_bad = 0;
        struct nw_nand_config nc = {.part = &part, .seed = 7};
        assert_int_equal(nw_nand_open(&nand, &nc), NW_OK);
        assert_int_equal(
            nw_store_format(&store, nw_nand_chip(nand), &config, ram, sizeof ram), NW_OK);
        int q = nw_store_create(store, "q", &queue);
        int x = nw_store_create(store, "x", &packed);
        for (unsigned i = 0; i < 31U; i++) {
            assert_true(nw_store_append(store, x, bytes, 3) >= 0);
            assert_int_equal(nw_store_sync(store), NW_OK);
        }
        while (most > 1U) {
            mix ^= mix << 13;
            mix ^= mix >> 7;
            mix ^= mix << 17;
            if (nw_store_push(store, q, bytes, (uint16_t)(1U + (mix >> 16) % most)) < 0) {
                most = most == 900U ? 9U : 1U;
            }
        }
        do {
            assert_true(nw_store_dequeue(store, q, bytes, sizeof bytes) > 0);
            assert_int_equal(nw_store_sync(store), NW_OK);
            nw_store_space(store, &space);
        } while (space.put_bytes < 20U);
        assert_true(nw_store_append(store, x, bytes, 3) >= 0);
        nw_nand_close(nand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overwrites),
                                       cmocka_unit_test(test_chips), cmocka_unit_test(test_again),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_level_of_stream)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
