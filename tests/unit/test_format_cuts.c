/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a format that is cut leaves the device there was, nothing that mounts, or an empty device.
 * Blocks with lists were erased in the order of their numbers. A list of the page layer has data
 * behind it: where an older list or a newer one was still there, half of a page device mounted as
 * if it were whole, after a format of its own layer as after those of all others.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"
#include "nandwich/ftl_lavish.h"

#define SESSIONS 4U
#define SPOILS 3U

static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                         .blocks = 17,
                                         .block_pages = 16,
                                         .page_bytes = 256,
                                         .spare_blocks = 12};

static struct layer_rig old;
static struct nw_nand *used; /* as it was before the format */
static unsigned kept;        /* mounts that found the device there was */
static unsigned gone;        /* ... and no device */

/* The format under test, on the chip of `old`: NULL is lavish, told to erase. */
static int format(const struct nw_layer_kind *kind)
{
    struct nw_layer_site site = old.site;
    struct nw_block *block;
    int result;

    if (kind == NULL) {
        struct nw_ftl_lavish_config config = {.sectors = 20, .degree = 2, .erase = 1};
        struct nw_ftl_lavish lavish;
        size_t bytes = nw_ftl_lavish_ram_bytes(&config, old.site.chip);
        void *ram = calloc(1, bytes);

        assert_true(bytes > 0);
        result = nw_ftl_lavish_open(&lavish, old.site.chip, &config, ram, bytes);
        free(ram);
        return result;
    }
    site.state = calloc(1, kind->state_bytes);
    site.ram_bytes = kind->ram_bytes(&site);
    site.ram = calloc(1, site.ram_bytes);
    result = kind->format(&site, &block);
    free(site.ram);
    free(site.state);
    return result;
}

static int is_empty(void)
{
    uint8_t zeros[256] = {0};

    for (uint32_t sector = 0; sector < old.sectors; sector++) {
        struct nw_block_req req = {
            .block = old.block, .sector = sector, .count = 1, .data = old.data};

        if (nw_block_read(&req) < 0 || memcmp(old.data, zeros, sizeof zeros) != 0) {
            return 0;
        }
    }
    return 1;
}

/* The first mount must find all or nothing, and so must the next ones, whatever shows then. */
static void check_mounts(const char *what, uint32_t at, unsigned spoil)
{
    for (unsigned up = 0; up < 3U; up++) {
        nw_nand_power_up(old.nand);
        int result = layer_rig_mount(&old);

        if (result == NW_OK && layer_rig_check(&old, 0) < 0 && !is_empty()) {
            fail_msg("%s over %s, cut at %u (%u), power-up %u: %s", what, old.kind->name,
                     (unsigned)at, spoil, up, old.why);
        }
        kept += result == NW_OK;
        gone += result != NW_OK;
        assert_true(result == NW_OK || result == NW_ERR_NOT_FOUND || result == NW_ERR_BLANK);
    }
}

/* Cuts the format at each of its operations, inside it in several ways. */
static void cut_format(const struct nw_layer_kind *kind)
{
    static const uint8_t torn[SPOILS] = {NW_TORN_OLD, NW_TORN_HALF, NW_TORN_NEW};
    const char *what = kind != NULL ? kind->name : "lavish";

    for (uint32_t at = 0;; at++) {
        for (unsigned spoil = 0; spoil < SPOILS; spoil++) {
            struct nw_cut cut = {.after = at,
                                 .phase = NW_CUT_INSIDE,
                                 .data = torn[spoil],
                                 .spare = torn[spoil]};

            assert_int_equal(nw_nand_assign(old.nand, used), NW_OK);
            nw_nand_cut(old.nand, &cut);
            int result = format(kind);

            if (!nw_nand_is_off(old.nand)) {
                assert_int_equal(result, NW_OK);
                return;
            }
            check_mounts(what, at, spoil);
            assert_int_equal(format(kind), NW_OK);
        }
    }
}

/* A device of some sessions, with data behind each list. */
static void use(const struct nw_layer_kind *kind, uint32_t seed)
{
    struct nw_random random;

    nw_random_seed(&random, seed);
    layer_rig_open(&old, kind, &shape, seed);
    for (unsigned session = 0; session < SESSIONS; session++) {
        for (uint32_t i = 0; i < old.sectors / 2U; i++) {
            struct layer_op op = {
                .kind = OP_WRITE, .sector = nw_random_below(&random, old.sectors), .count = 1};

            assert_true(layer_rig_run(&old, &op) >= 0);
        }
        assert_int_equal(layer_rig_mount(&old), NW_OK);
    }
    assert_int_equal(nw_nand_fork(&used, old.nand), NW_OK);
}

static void cut_formats_over(const struct nw_layer_kind *kind)
{
    kept = 0;
    gone = 0;
    for (uint32_t seed = 1; seed <= 3U; seed++) {
        use(kind, seed);
        cut_format(NULL);
        for (uint32_t i = 0; i < nw_layer_kind_count; i++) {
            if (nw_layer_kinds[i]->mount != NULL) {
                cut_format(nw_layer_kinds[i]);
            }
        }
        assert_int_equal(layer_rig_clean(&old), 0);
        nw_nand_close(used);
        layer_rig_close(&old);
    }
    assert_true(kept > 0 && gone > 0);
}

static void test_page(void **state)
{
    (void)state;
    cut_formats_over(&nw_layer_page);
}

static void test_hybrid(void **state)
{
    (void)state;
    cut_formats_over(&nw_layer_nftl);
}

static void test_tree(void **state)
{
    (void)state;
    cut_formats_over(&nw_layer_tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page), cmocka_unit_test(test_hybrid),
                                       cmocka_unit_test(test_tree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
