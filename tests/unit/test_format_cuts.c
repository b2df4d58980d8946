/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a format that is cut leaves the device there was, nothing that mounts, or an empty device.
 * Blocks with lists were erased in the order of their numbers. A list has data behind it: where an
 * older list or a newer one was still there, half of a device mounted as if it were whole, after a
 * format of its own layer as after those of others.
 *
 * Nor do two or three formats, each of them cut, leave half of it. What the first one tore may hide
 * when the second looks, and show when that has been cut, or the other way round. A format believed
 * a void list that it found, wrote none, and erased: the void list hid, and half of a device
 * mounted.
 *
 * Nor do four. The void lists of formats stood in two blocks in turn, and the older one was erased
 * once the newer one showed its second page. Where that was torn the next format took the other one
 * for the whole one, whose erase had been cut, and erased the newer one; then neither showed. And
 * nw_identify() took what was left for a device.
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
#include "nandwich/identify.h"

#define SESSIONS 4U
#define SPOILS 3U
#define MOST_OPS 2048U
#define AGAIN 24U
#define PLAYS 400U

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

/* A device of some sessions, with data behind each list, the newest of which is a session's. */
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
        if (session + 1U < SESSIONS) {
            assert_int_equal(layer_rig_mount(&old), NW_OK);
        }
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
        cut_format(kind);
        assert_int_equal(layer_rig_clean(&old), 0);
        nw_nand_close(used);
        layer_rig_close(&old);
    }
    assert_true(kept > 0 && gone > 0);
}

static void test_tree(void **state)
{
    (void)state;
    cut_formats_over(&nw_layer_tree);
}

/* Chip operations of a format of the device that there was, and which of them write. */
static uint32_t find_writes(const struct nw_layer_kind *kind, uint8_t writes[MOST_OPS])
{
    uint32_t ops = 0;
    uint64_t last = 0;

    for (int off = 1; off != 0; ops++) {
        struct nw_cut cut = {.after = ops, .phase = NW_CUT_AFTER};

        assert_int_equal(nw_nand_assign(old.nand, used), NW_OK);
        nw_nand_cut(old.nand, &cut);
        (void)format(kind);
        off = nw_nand_is_off(old.nand);
        const struct nw_nand_counts *counts = nw_nand_stats(old.nand);
        uint64_t now = counts->programs + counts->erases;

        assert_true(ops < MOST_OPS);
        writes[ops] = ops > 0 && now != last;
        last = now;
    }
    return ops - 1U;
}

/* A format that is cut at one of its operations. */
static void cut_at(const struct nw_layer_kind *kind, uint32_t at, uint8_t phase)
{
    struct nw_cut cut = {.after = at, .phase = phase};

    nw_nand_cut(old.nand, &cut);
    (void)format(kind);
    nw_nand_power_up(old.nand);
}

/* Each cut inside a write of a format, and then one or two formats that are cut somewhere: what is
 * torn reads otherwise at each power-up. */
static void cut_formats_again(const struct nw_layer_kind *first, struct nw_random *random)
{
    static uint8_t writes[MOST_OPS];
    uint32_t ops = find_writes(first, writes);

    for (uint32_t i = 0; i < ops * AGAIN; i++) {
        uint32_t at = i / AGAIN;

        if (writes[at] == 0) {
            continue;
        }
        assert_int_equal(nw_nand_assign(old.nand, used), NW_OK);
        for (uint32_t up = nw_random_below(random, 16); up > 0; up--) {
            nw_nand_power_up(old.nand); /* other draws */
        }
        cut_at(first, at, NW_CUT_INSIDE);
        for (uint32_t again = 1U + nw_random_below(random, 2U); again > 0; again--) {
            cut_at(first, nw_random_below(random, ops),
                   nw_random_below(random, 2) != 0 ? NW_CUT_INSIDE : NW_CUT_BEFORE);
        }
        check_mounts(first != NULL ? first->name : "lavish", at, i % AGAIN);
    }
}

/* Formats of the device's own layer, and of lavish. */
static void test_again(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 9);
    use(&nw_layer_tree, 1);
    cut_formats_again(&nw_layer_tree, &random);
    cut_formats_again(NULL, &random);
    assert_int_equal(layer_rig_clean(&old), 0);
    nw_nand_close(used);
    layer_rig_close(&old);
}

/* The chip of `old`, under a format of lavish. Power goes inside the so many-th request that
 * changes it from now on. */
static struct nw_chip chip;
static uint32_t changes_left;

static void count_change(void)
{
    struct nw_cut cut = {.phase = NW_CUT_INSIDE};

    if (changes_left-- == 0) {
        nw_nand_cut(old.nand, &cut);
    }
}

static int count_program(struct nw_chip_req *req)
{
    count_change();
    return nw_nand_chip(old.nand)->ops->program(req);
}

static int count_erase(struct nw_chip_req *req)
{
    count_change();
    return nw_nand_chip(old.nand)->ops->erase(req);
}

static void cut_in_change(uint32_t change)
{
    struct nw_chip_ops ops = *nw_nand_chip(old.nand)->ops;

    chip = *nw_nand_chip(old.nand);
    chip.ops = &ops;
    ops.program = count_program;
    ops.erase = count_erase;
    old.site.chip = &chip;
    changes_left = change;
    (void)format(NULL);
    old.site.chip = nw_nand_chip(old.nand);
    assert_true(nw_nand_is_off(old.nand));
    nw_nand_power_up(old.nand);
}

static uint8_t identity(void)
{
    struct nw_identity found;

    assert_int_equal(nw_identify(nw_nand_chip(old.nand), &found), NW_OK);
    return found.kind;
}

/* The device that was there, and what is torn from now on shows otherwise in each play. */
static void begin_play(struct nw_random *random, unsigned play)
{
    nw_random_seed(random, play);
    assert_int_equal(nw_nand_assign(old.nand, used), NW_OK);
    for (uint32_t up = nw_random_below(random, 64); up > 0; up--) {
        nw_nand_power_up(old.nand);
    }
}

/* The four formats told above, and once more from the second on: one that has begun to erase, one
 * that is cut in the second page of its void list, and two in their first erase. */
static void cut_void_lists(unsigned play)
{
    struct nw_random random;

    begin_play(&random, play);
    cut_in_change(4U + nw_random_below(&random, 10));
    assert_int_equal(identity(), NW_KIND_UNKNOWN);
    for (unsigned twice = 0; twice < 2U; twice++) {
        cut_in_change(2);
        cut_in_change(0);
        cut_in_change(0);
        assert_int_equal(identity(), NW_KIND_UNKNOWN);
        check_mounts("formats of void lists", play, twice);
    }
}

/* Four formats, each of them cut in one of its first changes. */
static void cut_four(unsigned play)
{
    struct nw_random random;

    begin_play(&random, play);
    for (unsigned left = 4; left > 0; left--) {
        cut_in_change(nw_random_below(&random, 7));
    }
    check_mounts("four formats", play, 0);
}

static void test_four(void **state)
{
    (void)state;
    use(&nw_layer_tree, 0);
    assert_int_equal(identity(), NW_KIND_TREE);
    for (unsigned play = 0; play < PLAYS; play++) {
        cut_void_lists(play);
        cut_four(play);
    }
    assert_int_equal(layer_rig_clean(&old), 0);
    nw_nand_close(used);
    layer_rig_close(&old);
}

/* One request of a format fails, whatever it does to the chip. The device is new all the same. */
static int fail_in_format(const struct nw_fault *what)
{
    struct nw_fault fault = *what;
    struct nw_faults faults;

    assert_int_equal(nw_nand_assign(old.nand, used), NW_OK);
    nw_faults_open(&faults, nw_nand_chip(old.nand), &fault, 1, 1);
    old.site.chip = &faults.chip;
    assert_int_equal(format(old.kind), NW_OK);
    old.site.chip = nw_nand_chip(old.nand);
    assert_int_equal(layer_rig_mount(&old), NW_OK);
    assert_true(is_empty());
    return fault.hits > 0;
}

/* A void list, or an older device's root, stood in a block that had failed and was marked bad. The
 * tree layer found it there, newer than its own root: the new device did not mount any more. */
static void test_failures(void **state)
{
    (void)state;
    use(&nw_layer_tree, 1);
    struct nw_fault fault = {.verb = NW_VERB_PROGRAM, .error = NW_ERR_PROGRAM, .times = 1};

    while (fail_in_format(&fault)) {
        fault.acts ^= 1U;
        fault.skip += fault.acts == 0;
    }
    assert_true(fault.skip > 1);
    fault = (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE, .times = 1};
    while (fail_in_format(&fault)) {
        fault.skip++;
    }
    assert_true(fault.skip > 0);
    nw_nand_close(used);
    layer_rig_close(&old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tree), cmocka_unit_test(test_again),
                                       cmocka_unit_test(test_four),
                                       cmocka_unit_test(test_failures)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
