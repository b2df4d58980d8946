/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a good chip whose store is full mounts, whenever power goes, and objects can be deleted
 * then; nothing a caller may do takes a store over its limit, checkpoints and rollbacks neither:
 * what would is refused and changes nothing. What put_bytes tells of is never refused.
 * ctest: slow
 * ctest: soak
 *
 * Once idle time went on cleaning a full store in vain, with anchors that used up the free blocks a
 * mount needs: after a cut every mount answered NW_ERR_FULL, for ever. So it did when a checkpoint
 * had been made in a store that was full: it took the store to three times its limit.
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

#define KEYS 2000U
#define REFUSALS 40U /* the store is full when so many writes were refused */
#define ROUNDS 24U   /* of idle time, each cut everywhere */
#define WRITES 100U  /* before each */
#define PIECES 8U
#define SHORTEST 4000U /* of a random history */

static struct nw_nand *nand;
static struct nw_nand *start;
static struct nw_nand *end;
static struct nw_chip *chip;
static struct nw_store_config config;
static struct nw_store *store;
static struct nw_random dice;
static uint8_t *ram;
static uint8_t *start_ram;
static uint8_t *end_ram;
static size_t ram_bytes;

static uint32_t below(uint32_t limit)
{
    return nw_random_below(&dice, limit);
}

static int handle_of(const char *name)
{
    return nw_store_find(store, name);
}

static int step(void)
{
    static const uint8_t data[200];
    uint32_t length = 0;

    switch (below(8)) {
    case 0:
    case 1:
    case 2: return nw_store_set(store, handle_of("a"), below(KEYS), data);
    case 3:
    case 4: return nw_store_push(store, handle_of("q"), data, (uint16_t)(1U + below(199)));
    case 5:
        (void)nw_store_length(store, handle_of("f"), &length);
        return nw_store_write(store, handle_of("f"), below(length + 1U), data, 64);
    case 6: return nw_store_sync(store);
    default:
        return config.checkpoints > 0 && below(60) == 0 ? nw_store_checkpoint(store)
                                                        : nw_store_idle(store, 5);
    }
}

static void fill(uint32_t seed)
{
    static const struct nw_store_spec array = {
        .type = NW_STORE_ARRAY, .unit_bytes = 16, .count = KEYS};
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    static const struct nw_store_spec file = {.type = NW_STORE_FILE, .unit_bytes = 64};
    uint32_t refused = 0;

    nw_random_seed(&dice, seed);
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
    assert_true(nw_store_create(store, "a", &array) > 0);
    assert_true(nw_store_create(store, "q", &queue) > 0);
    assert_true(nw_store_create(store, "f", &file) > 0);
    for (uint32_t i = 0; i < 20000U && refused < REFUSALS; i++) {
        int result = step();
        refused += result == NW_ERR_FULL;
        assert_true(result >= 0 || result == NW_ERR_FULL);
    }
    assert_int_equal(refused, REFUSALS);
    assert_int_equal(nw_store_sync(store), NW_OK);
}

/* Power goes at an operation of the idle time that begins at `start`; then the store mounts, is
 * readable, and what is deleted is gone. */
static void cut_at(uint32_t operation, uint8_t phase)
{
    struct nw_cut cut = {.after = operation, .phase = phase};
    uint32_t key = 0;
    uint8_t value[16];

    assert_int_equal(nw_nand_assign(nand, start), NW_OK);
    memcpy(ram, start_ram, ram_bytes);
    nw_nand_cut(nand, &cut);
    (void)nw_store_idle(store, PIECES);
    nw_nand_power_up(nand);
    int result = nw_store_mount(&store, chip, &config, ram, ram_bytes);
    if (result != NW_OK) {
        fail_msg("operation %u phase %u: %s", (unsigned)operation, phase, nw_error_text(result));
    }
    assert_int_equal(nw_store_next_key(store, handle_of("a"), &key), NW_OK);
    assert_int_equal(nw_store_get(store, handle_of("a"), key, value), NW_OK);
    assert_int_equal(nw_store_delete(store, handle_of("q")), NW_OK);
    assert_int_equal(handle_of("q"), NW_ERR_NOT_FOUND);
}

static uint32_t cut_idle(void)
{
    uint32_t cuts = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct nw_store *now = store;

        for (uint32_t i = 0; i < WRITES; i++) {
            int result = step();
            assert_true(result >= 0 || result == NW_ERR_FULL);
        }
        assert_int_equal(nw_nand_assign(start, nand), NW_OK);
        memcpy(start_ram, ram, ram_bytes);
        uint64_t before = nw_nand_operations(nand);
        assert_true(nw_store_idle(store, PIECES) >= 0);
        uint32_t operations = (uint32_t)(nw_nand_operations(nand) - before);
        assert_int_equal(nw_nand_assign(end, nand), NW_OK);
        memcpy(end_ram, ram, ram_bytes);
        for (uint32_t at = 0; at < operations; at++) {
            cut_at(at, NW_CUT_BEFORE);
            cut_at(at, NW_CUT_INSIDE);
            cut_at(at, NW_CUT_AFTER);
        }
        assert_int_equal(nw_nand_assign(nand, end), NW_OK);
        memcpy(ram, end_ram, ram_bytes);
        store = now;
        cuts += operations;
    }
    return cuts;
}

static void open_bed(const char *name, uint32_t blocks, uint32_t pages, uint32_t seed)
{
    struct nw_part part;

    assert_int_equal(nw_parts_get(name, &part), NW_OK);
    part.blocks = blocks;
    part.block_pages = (uint16_t)pages;
    part.factory_bad = 0;
    struct nw_nand_config nand_config = {.part = &part, .seed = seed};
    assert_int_equal(nw_nand_open(&nand, &nand_config), NW_OK);
    chip = nw_nand_chip(nand);
    ram_bytes = nw_store_ram_bytes(&config, &chip->geometry);
    ram = malloc(ram_bytes);
}

static void close_bed(void)
{
    free(ram);
    nw_nand_close(nand);
}

static uint32_t run(uint8_t frames, uint8_t checkpoints, uint32_t seed)
{
    config = (struct nw_store_config){.frames = frames, .checkpoints = checkpoints};
    open_bed("W25Q128JV", 30, 15, seed);
    assert_int_equal(nw_nand_fork(&start, nand), NW_OK);
    assert_int_equal(nw_nand_fork(&end, nand), NW_OK);
    start_ram = malloc(ram_bytes);
    end_ram = malloc(ram_bytes);
    fill(seed);
    uint32_t cuts = cut_idle();
    free(start_ram);
    free(end_ram);
    nw_nand_close(start);
    nw_nand_close(end);
    close_bed();
    return cuts;
}

static void test_full_and_idle(void **state)
{
    uint32_t cuts = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 6U; seed++) {
        cuts += run(8, 3, seed) + run(24, 3, seed) + run(8, 1, seed) + run(8, 0, seed);
    }
    assert_true(cuts > 200U);
}

/* Random histories of random stores */

struct history {
    struct nw_store_spec array;
    struct nw_store_spec file;
    uint32_t longest; /* element of the queue */
    uint32_t drain;   /* one in so many of the queue's turns takes */
    uint32_t calm;    /* one in so many of the checkpoints' turns is one */
    uint8_t cut;      /* power goes now and then */
    uint32_t refused; /* checkpoints and rollbacks */
};

static struct nw_store_space space_now(void)
{
    struct nw_store_space space;

    nw_store_space(store, &space);
    return space;
}

/* One of all that concerns checkpoints. What is refused has changed nothing, and what is not does
 * not take the store over its limit. */
static int keep(struct history *history)
{
    struct nw_store_space before = space_now();
    uint32_t way = below(4);
    int number = nw_store_kept(store, (uint8_t)below(3));
    int result = NW_OK;

    if (way < 2U) {
        result = nw_store_checkpoint(store);
        result = result == NW_ERR_UNSUPPORTED ? (int)NW_OK : result;
    } else if (number != 0) {
        result = way == 2U ? nw_store_rollback(store, number) : nw_store_drop(store, number);
    }
    if (nw_nand_is_off(nand)) {
        return result;
    }
    struct nw_store_space after = space_now();
    if (result == NW_ERR_FULL) {
        history->refused++;
        assert_int_equal(after.used_bytes, before.used_bytes);
    }
    assert_true(after.used_bytes <= after.limit_bytes || after.used_bytes <= before.used_bytes);
    return result;
}

static int put(const struct history *history)
{
    static const uint8_t data[1024];
    uint32_t bytes = 1U + below(history->longest);
    uint32_t key = below(history->array.count);
    uint32_t most = space_now().put_bytes;
    int result;

    if (below(2) == 0) {
        result = nw_store_push(store, handle_of("q"), data, (uint16_t)bytes);
    } else {
        bytes = history->array.unit_bytes;
        result = nw_store_set(store, handle_of("a"), key, data);
    }
    assert_true(result != NW_ERR_FULL || bytes > most);
    return result;
}

static int live(struct history *history)
{
    static const uint8_t data[64];
    uint32_t length = 0;
    int result = NW_OK;

    switch (below(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return put(history);
    case 5:
        (void)nw_store_length(store, handle_of("f"), &length);
        return nw_store_write(store, handle_of("f"), below(length + 1U), data, sizeof data);
    case 6: return nw_store_sync(store);
    case 7: return nw_store_idle(store, (uint16_t)below(40));
    case 8:
        result = below(history->drain) == 0 ? nw_store_dequeue(store, handle_of("q"), NULL, 0) : 0;
        return result == NW_ERR_NOT_FOUND ? (int)NW_OK : result;
    default: return below(history->calm) == 0 ? keep(history) : (int)NW_OK;
    }
}

/* Until one is not cut. */
static void mount_again(const struct history *history, uint32_t seed)
{
    int result = NW_ERR_POWER;

    while (result == NW_ERR_POWER) {
        struct nw_cut cut = {.after = below(60), .phase = (uint8_t)below(3)};

        nw_nand_power_up(nand);
        nw_nand_cut(nand, history->cut && below(2) == 0 ? &cut : NULL);
        memset(ram, 0xA5, ram_bytes);
        result = nw_store_mount(&store, chip, &config, ram, ram_bytes);
    }
    nw_nand_cut(nand, NULL);
    if (result != NW_OK || nw_store_stats(store)->lost != 0) {
        fail_msg("seed %u: %s, %u lost", (unsigned)seed, nw_error_text(result),
                 result == NW_OK ? (unsigned)nw_store_stats(store)->lost : 0);
    }
}

/* All there was goes, and something else comes. */
static void renew(void)
{
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    static const char *const names[] = {"q", "f", "a"};
    static const uint8_t data[100];

    for (uint32_t i = 0; i < 3U; i++) {
        assert_int_equal(nw_store_delete(store, handle_of(names[i])), NW_OK);
    }
    for (uint8_t place = 0; place < NW_STORE_CHECKPOINTS; place++) {
        int number = nw_store_kept(store, place);
        assert_true(number == 0 || nw_store_drop(store, number) == NW_OK);
    }
    assert_int_equal(space_now().used_bytes, 0);
    int handle = nw_store_create(store, "new", &queue);
    assert_true(handle > 0);
    for (uint32_t i = 0; i < 30U && space_now().put_bytes >= sizeof data; i++) {
        assert_int_equal(nw_store_push(store, handle, data, sizeof data), NW_OK);
    }
}

static void draw(struct history *history)
{
    static const char *const names[] = {"W25Q128JV", "TC58DVG02A1FT00", "AT45DB041B"};
    uint32_t seed = below(1000);

    *history = (struct history){
        .array = {.type = NW_STORE_ARRAY,
                  .unit_bytes = (uint16_t)(1U + below(60)),
                  .count = 200U + below(3000)},
        .file = {.type = NW_STORE_FILE, .unit_bytes = 64},
        .longest = below(3) == 0 ? 600U : 200U,
        .drain = 2U + below(20),
        .calm = 5U + below(100),
        .cut = below(3) != 0,
    };
    do {
        config = (struct nw_store_config){
            .objects = (uint8_t)(3U + below(10)),
            .frames = (uint8_t)(5U + below(40)),
            .fan = (uint8_t)(8U << below(3)),
            .checkpoints = (uint8_t)below(4),
            .anchor_bytes = below(2) == 0 ? 0 : 1024U + below(3000)};
        uint32_t which = below(3);
        uint32_t blocks = which == 2U ? 60U + below(100) : 30U + below(30);
        open_bed(names[which], blocks, which == 2U ? 8U : 12U + below(20), seed);
        if (ram_bytes == 0) { /* more than such a chip can hold */
            close_bed();
        }
    } while (ram_bytes == 0);
}

static uint32_t run_history(uint32_t seed)
{
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    struct history history;

    nw_random_seed(&dice, seed * 7919U);
    draw(&history);
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
    assert_true(nw_store_create(store, "a", &history.array) > 0);
    assert_true(nw_store_create(store, "q", &queue) > 0);
    assert_true(nw_store_create(store, "f", &history.file) > 0);
    for (uint32_t left = SHORTEST + below(SHORTEST); left > 0; left--) {
        struct nw_cut cut = {.after = below(12), .phase = (uint8_t)below(3)};
        int armed = history.cut && below(150) == 0;

        nw_nand_cut(nand, armed ? &cut : NULL);
        int result = live(&history);
        if (nw_nand_is_off(nand) || below(1000) == 0) {
            mount_again(&history, seed);
        } else if (result < 0 && result != NW_ERR_FULL) {
            fail_msg("seed %u: %s", (unsigned)seed, nw_error_text(result));
        }
    }
    mount_again(&history, seed);
    renew();
    close_bed();
    return history.refused;
}

static void test_histories(void **state)
{
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 30000U : 40U;
    uint32_t refused = run_history(2438); /* an anchor for each block cleaned took all it gained */

    (void)state;
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        refused += run_history(seed);
    }
    assert_true(refused > seeds);
}

/* What is taken, or made, never lifts what is in use above the limit. Once the end that a block
 * leaves blank was reckoned by the mean of an object's chunks, and to take a small one made all the
 * others count more; and a new object's levels were not asked for. */
static void test_mixed_lengths(void **state)
{
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    static const struct nw_store_spec array = {
        .type = NW_STORE_ARRAY, .unit_bytes = 16, .count = 60000};
    static const uint8_t data[2000];

    (void)state;
    for (uint32_t seed = 1; seed <= 6U; seed++) {
        uint32_t number = 0;

        nw_random_seed(&dice, seed);
        config = (struct nw_store_config){.objects = 20, .frames = 8};
        open_bed(seed % 2U == 0 ? "W25Q128JV" : "TC58DVG02A1FT00", 40, 20, seed);
        assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
        int handle = nw_store_create(store, "q", &queue);
        assert_true(handle > 0);
        uint32_t longest = chip->geometry.page_bytes * 6U;
        longest = longest < sizeof data ? longest : (uint32_t)sizeof data;
        while (nw_store_push(store, handle, data,
                             (uint16_t)(below(3) == 0 ? longest - 200U : 1U)) == NW_OK) {
            number++;
        }
        assert_true(number > 40U);
        for (; number > 0; number--) {
            char name[4] = {'a', (char)('a' + number % 18U), '\0'};
            uint32_t before = space_now().used_bytes;

            assert_true(nw_store_dequeue(store, handle, NULL, 0) > 0);
            assert_true(space_now().used_bytes <= before);
            int made = nw_store_create(store, name, number % 2U == 0 ? &array : &queue);
            assert_true(space_now().used_bytes <= space_now().limit_bytes);
            assert_true(made > 0 || made == NW_ERR_FULL || made == NW_ERR_EXISTS);
        }
        close_bed();
    }
}

/* So for packed streams, whose chunks end where no whole element fits the page. */
static void test_packed_at_the_limit(void **state)
{
    static const uint8_t data[6000];

    (void)state;
    for (uint16_t unit = 1; unit < 200U; unit = (uint16_t)(unit * 3U + 7U)) {
        struct nw_store_spec stream = {.type = NW_STORE_STREAM, .unit_bytes = unit};

        config = (struct nw_store_config){.objects = 3, .frames = 8};
        open_bed("W25Q128JV", 40, 20, 1);
        nw_random_seed(&dice, unit);
        assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
        int handle = nw_store_create(store, "s", &stream);
        for (uint32_t refused = 0; refused < 20U;) {
            uint16_t bytes = (uint16_t)((1U + below(1600U / unit)) * unit);
            int result = nw_store_append(store, handle, data, bytes);

            assert_true(result == NW_OK || result == NW_ERR_FULL);
            refused += result == NW_ERR_FULL;
            assert_true(space_now().used_bytes <= space_now().limit_bytes);
        }
        close_bed();
    }
}

/* Mounts with nothing but resets between them meet no damage. A checkpoint has a queue as it was
 * when it was empty; the index it names is long gone. Once a mount went there for each node of the
 * queue that lay in the page written last. */
static void test_empty_in_a_checkpoint(void **state)
{
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    static const struct nw_store_spec stack = {.type = NW_STORE_STACK};
    static const uint8_t data[60];

    (void)state;
    config = (struct nw_store_config){.objects = 3, .frames = 6, .checkpoints = 1};
    open_bed("W25Q128JV", 30, 16, 1);
    nw_random_seed(&dice, 1);
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
    assert_true(nw_store_create(store, "q", &queue) > 0);
    assert_true(nw_store_create(store, "s", &stack) > 0);
    for (uint32_t i = 0; i < 20U; i++) {
        assert_int_equal(nw_store_push(store, handle_of("q"), data, 20), NW_OK);
    }
    assert_int_equal(nw_store_checkpoint(store), 1);
    for (uint32_t i = 0; i < 20U; i++) {
        assert_int_equal(nw_store_dequeue(store, handle_of("q"), NULL, 0), 20);
    }
    assert_int_equal(nw_store_checkpoint(store), 2);
    for (uint32_t i = 0; i < 8U; i++) {
        assert_int_equal(nw_store_push(store, handle_of("q"), data, 20), NW_OK);
    }
    for (uint32_t i = 0; i < 6000U; i++) {
        assert_int_equal(nw_store_push(store, handle_of("s"), data, sizeof data), NW_OK);
        assert_int_equal(nw_store_pop(store, handle_of("s"), NULL, 0), sizeof data);
        assert_true(nw_store_idle(store, (uint16_t)below(8)) >= 0);
        if (below(3) == 0) {
            assert_int_equal(nw_store_sync(store), NW_OK);
            assert_int_equal(nw_store_mount(&store, chip, &config, ram, ram_bytes), NW_OK);
            assert_int_equal(nw_store_stats(store)->lost, 0);
            assert_int_equal(nw_nand_misuse(nand)->error, 0);
        }
    }
    close_bed();
}

/*
 * What is refused as full leaves expendable streams alone: they give way only where that makes room
 * for all that is needed. Once they were taken to leave nothing behind, not their place in anchors
 * and not what a checkpoint goes on holding of them: all of a stream was dropped, and the push was
 * NW_ERR_FULL all the same.
 */
static void refuse(uint8_t checkpoints, uint16_t bytes, uint32_t *refused, uint32_t *gave)
{
    static const struct nw_store_spec gives = {.type = NW_STORE_STREAM,
                                               .flags = NW_STORE_EXPENDABLE};
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    static const uint8_t data[2700];
    struct nw_store_about about;

    config = (struct nw_store_config){.objects = 4, .checkpoints = 1, .anchor_bytes = 4096};
    open_bed("TC58DVG02A1FT00", 24, 16, 1);
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
    int stream = nw_store_create(store, "gives", &gives);
    assert_true(nw_store_create(store, "q", &queue) > 0);
    for (uint32_t i = 0; i < 5U; i++) {
        assert_int_equal(nw_store_append(store, stream, data, 100), NW_OK);
    }
    if (checkpoints > 0) {
        assert_int_equal(nw_store_checkpoint(store), 1);
    }
    while (space_now().used_bytes + 600U <= space_now().limit_bytes) {
        assert_int_equal(nw_store_push(store, handle_of("q"), data, 100), NW_OK);
    }
    assert_int_equal(nw_store_sync(store), NW_OK);
    assert_int_equal(nw_store_at(store, 0, &about), NW_OK);
    uint32_t head = about.head;
    int result = nw_store_push(store, handle_of("q"), data, bytes);
    assert_int_equal(nw_store_at(store, 0, &about), NW_OK);
    if (result == NW_ERR_FULL) {
        assert_int_equal(about.head, head);
        ++*refused;
    } else {
        assert_int_equal(result, NW_OK);
        *gave += about.head > head;
    }
    assert_true(space_now().used_bytes <= space_now().limit_bytes);
    close_bed();
}

static void test_refused_drops_nothing(void **state)
{
    uint32_t refused[2] = {0, 0};
    uint32_t gave[2] = {0, 0};

    (void)state;
    for (uint16_t bytes = 50; bytes <= 2700U; bytes = (uint16_t)(bytes + 50U)) {
        refuse(0, bytes, &refused[0], &gave[0]);
        refuse(1, bytes, &refused[1], &gave[1]);
    }
    assert_true(refused[0] > 10U && refused[1] > 10U && gave[0] > 5U);
}

/* A chip so small that nothing fits is not formatted. Once the limit went round below zero, and
 * the store took all it was given until no mount was possible. */
static void test_too_small(void **state)
{
    (void)state;
    config = (struct nw_store_config){.frames = 4, .fan = 32};
    open_bed("W25Q128JV", 26, 8, 1);
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_ERR_FULL);
    close_bed();
    for (uint32_t blocks = 26; blocks < 44U; blocks++) {
        open_bed("W25Q128JV", blocks, 8, 1);
        int result = nw_store_format(&store, chip, &config, ram, ram_bytes);
        if (result == NW_OK) {
            assert_in_range(space_now().limit_bytes, 1, blocks * 8U * 256U);
        } else {
            assert_int_equal(result, NW_ERR_FULL);
        }
        close_bed();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_and_idle),
                                       cmocka_unit_test(test_refused_drops_nothing),
                                       cmocka_unit_test(test_too_small),
                                       cmocka_unit_test(test_mixed_lengths),
                                       cmocka_unit_test(test_packed_at_the_limit),
                                       cmocka_unit_test(test_empty_in_a_checkpoint),
                                       cmocka_unit_test(test_histories)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
