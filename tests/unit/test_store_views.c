/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: every cut and every view, for the store as test_tree_views does it for the tree. A synced
 * write of an array's value is cut, then each mount behind it in each of its programs and erases, up
 * to so many in a row; and at each power-up what was cut shows itself in each way that it may. After
 * each of these histories the store mounts, all that was synced is there, the value under way is
 * the old one or the new, and stays so at one more power-up of each view.
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
#include "view_chip.h"

#define VALUES 30U
#define BYTES 16U
#define OPERATIONS 14U

static struct nw_store *store;
static struct nw_store_config config = {.objects = 2, .frames = 8};
static void *ram;
static size_t ram_bytes;
static struct nw_chip chip;
static uint32_t wanted[VALUES];
static uint32_t under_way;
static uint32_t serial;
static uint32_t histories;

static int mount(void)
{
    memset(ram, 0xC3, ram_bytes);
    return nw_store_mount(&store, &chip, &config, ram, ram_bytes);
}

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

/* The store has mounted: all is there, and stays. */
static void judge(uint32_t old, uint32_t new)
{
    struct view_chip *mounted = view_chip;
    uint32_t shown = holds(under_way, new) ? new : old;

    for (uint32_t number = 0; number < VALUES; number++) {
        if (!holds(number, number == under_way ? shown : wanted[number])) {
            fail_msg("value %u is lost", (unsigned)number);
        }
    }
    for (uint32_t pick = 0;; pick++) {
        view_chip = view_chip_fork(mounted);
        int is = view_chip_power_up(pick);

        if (is) {
            histories++;
            assert_int_equal(mount(), NW_OK);
            assert_true(holds(under_way, shown));
        }
        free(view_chip);
        if (!is) {
            break;
        }
    }
    view_chip = mounted;
}

/* Each view of a chip without power, and from each of them a mount, whole or cut. */
static void mounts(const struct view_chip *dark, uint32_t cuts, uint32_t old, uint32_t new)
{
    for (uint32_t pick = 0;; pick++) {
        struct view_chip *lit = view_chip_fork(dark);

        view_chip = lit;
        if (!view_chip_power_up(pick)) {
            free(lit);
            return;
        }
        for (uint32_t at = cuts != 0 ? OPERATIONS : 0U;; at--) {
            struct view_chip *here = view_chip_fork(lit);

            view_chip = here;
            here->cut_after = at;
            int result = mount();

            histories++;
            if (at == 0) {
                assert_int_equal(result, NW_OK);
                judge(old, new);
            } else if (here->off) {
                mounts(here, cuts - 1U, old, new);
            }
            free(here);
            if (at == 0) {
                break;
            }
        }
        free(lit);
    }
}

static void test_views(void **state)
{
    struct nw_store_spec spec = {
        .type = NW_STORE_ARRAY, .unit_bytes = BYTES, .count = VALUES};
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 6U : 2U;
    uint32_t cuts = getenv("NW_SOAK") != NULL ? 3U : 2U;

    (void)state;
    view_chip_open(&chip);
    ram_bytes = nw_store_ram_bytes(&config, &chip.geometry);
    ram = malloc(ram_bytes);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct nw_random random;
        struct view_chip *device = calloc(1, sizeof *device);

        view_chip = device;
        assert_true(ram != NULL && device != NULL);
        assert_int_equal(nw_store_format(&store, &chip, &config, ram, ram_bytes), NW_OK);
        assert_true(nw_store_create(store, "a", &spec) > 0);
        nw_random_seed(&random, seed);
        for (uint32_t i = 0; i < VALUES + nw_random_below(&random, 300); i++) {
            uint32_t number = i < VALUES ? i : nw_random_below(&random, VALUES);

            wanted[number] = ++serial;
            assert_int_equal(write(number, serial), NW_OK);
        }
        under_way = nw_random_below(&random, VALUES);
        device->cut_after = 1;
        assert_int_equal(write(under_way, ++serial), NW_ERR_POWER);
        mounts(device, cuts, wanted[under_way], serial);
        free(device);
    }
    free(ram);
    print_message("%u histories\n", (unsigned)histories);
    assert_true(histories > 500U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
