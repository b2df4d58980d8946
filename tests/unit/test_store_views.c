/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: every cut and every view, for the store as test_tree_views does it for the tree. A synced
 * write of a value is cut, then each mount behind it in each of its programs and erases, up to so
 * many in a row; and at each power-up what was cut shows itself in each way that it may (views.h).
 * After each of these histories the store mounts, all that was synced is there, the value under way
 * is the old one or the new, and stays so at one more power-up of each view. Before each of these
 * mounts a read-only one shows all that was synced, and changes nothing.
 * ctest: quick
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/bytes.h"
#include "nandwich/random.h"
#include "nandwich/store.h"
#include "views.h"

#define VALUES 30U
#define BYTES 16U

static struct nw_store *store;
static struct nw_store_config config = {.objects = 2, .frames = 8};
static void *ram;
static size_t ram_bytes;
static uint32_t wanted[VALUES];
static uint32_t serial;

static void fill(uint8_t *bytes, uint32_t number, uint32_t token)
{
    memset(bytes, (int)(number + token), BYTES);
    nw_put32(bytes, token);
}

static int write(uint32_t number, uint32_t token)
{
    uint8_t bytes[BYTES];

    fill(bytes, number, token);
    int result = nw_store_set(store, nw_store_find(store, "a"), number, bytes);
    return result == NW_OK ? nw_store_sync(store) : result;
}

static int holds(uint32_t number, uint32_t token)
{
    uint8_t bytes[BYTES];
    uint8_t read[BYTES];

    fill(bytes, number, token);
    return nw_store_get(store, nw_store_find(store, "a"), number, read) == NW_OK &&
           memcmp(bytes, read, BYTES) == 0;
}

static struct views_judged judged;

/* The first program or erase of it would be cut. */
static void look(void)
{
    uint32_t cut_after = views_now->cut_after;

    views_now->cut_after = 1;
    memset(ram, 0xC3, ram_bytes);
    assert_int_equal(
        nw_store_mount_read_only(&store, &views_chip, &config, ram, ram_bytes), NW_OK);
    for (uint32_t number = 0; number < VALUES; number++) {
        assert_true(holds(number, wanted[number]) ||
                    (number == judged.under_way && holds(number, judged.coming)));
    }
    assert_int_equal(write(0, 0), NW_ERR_UNSUPPORTED);
    assert_false(views_now->off);
    views_now->cut_after = cut_after;
}

static int mount(void)
{
    look();
    memset(ram, 0xC3, ram_bytes);
    return nw_store_mount(&store, &views_chip, &config, ram, ram_bytes);
}

static void judge(void)
{
    views_judge(&judged);
}

static void test_views(void **state)
{
    struct nw_store_spec spec = {
        .type = NW_STORE_ARRAY, .unit_bytes = BYTES, .count = VALUES};
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 6U : 2U;
    uint32_t cuts = getenv("NW_SOAK") != NULL ? 3U : 2U;

    (void)state;
    ram_bytes = nw_store_ram_bytes(&config, &views_chip.geometry);
    ram = malloc(ram_bytes);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct nw_random random;
        struct views *device = calloc(1, sizeof *device);

        views_now = device;
        assert_true(ram != NULL && device != NULL);
        assert_int_equal(nw_store_format(&store, &views_chip, &config, ram, ram_bytes), NW_OK);
        assert_true(nw_store_create(store, "a", &spec) > 0);
        nw_random_seed(&random, seed);
        for (uint32_t i = 0; i < VALUES + nw_random_below(&random, 300); i++) {
            uint32_t number = i < VALUES ? i : nw_random_below(&random, VALUES);

            wanted[number] = ++serial;
            assert_int_equal(write(number, serial), NW_OK);
        }
        judged.mount = mount;
        judged.holds = holds;
        judged.wanted = wanted;
        judged.count = VALUES;
        judged.under_way = nw_random_below(&random, VALUES);
        judged.coming = ++serial;
        device->cut_after = 1;
        assert_int_equal(write(judged.under_way, serial), NW_ERR_POWER);
        judged.histories += views_mounts(device, cuts, mount, judge);
        free(device);
    }
    free(ram);
    print_message("%u histories\n", (unsigned)judged.histories);
    assert_true(judged.histories > 500U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
