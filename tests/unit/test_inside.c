/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the checks of what layers have in RAM (nw_ftl_page_check() and
 * nw_ftl_lavish_check()) find nothing in devices that are well, and each thing that was
 * overwritten: lost blocks, wrong counts, links and lists, pages that no sector reaches or two do.
 * That of `tree` is looked at in test_tree_rot.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../core/ftl/page.h"
#include "lavish_rig.h"
#include "layer_rig.h"
#include "nandwich/ftl_lavish_check.h"
#include "nandwich/ftl_page_check.h"

#define OPERATIONS 170U
#define SEEDS 6U

static struct layer_rig rig;
static uint8_t *copy; /* of its RAM while that is well */

static const struct layer_shape shape = {
    .part = "K9F1G08U0A", .blocks = 24, .block_pages = 8, .page_bytes = 512, .spare_blocks = 12};

static int ask(uint32_t *where)
{
    return nw_ftl_page_check(rig.site.state, where);
}

static void open_used(const struct nw_layer_kind *kind, uint32_t seed)
{
    struct nw_random random;
    uint32_t where;

    nw_random_seed(&random, seed);
    layer_rig_open(&rig, kind, &shape, seed);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        struct layer_op op = layer_rig_draw(&rig, &random);

        assert_int_equal(layer_rig_run(&rig, &op) < 0, 0);
        assert_int_equal(ask(&where), NW_OK);
        if (i % 32U == 31U) {
            assert_int_equal(layer_rig_mount(&rig), NW_OK);
            assert_int_equal(ask(&where), NW_OK);
        }
    }
    copy = malloc(rig.site.ram_bytes);
    assert_non_null(copy);
    memcpy(copy, rig.site.ram, rig.site.ram_bytes);
}

static void close_used(void)
{
    free(copy);
    layer_rig_close(&rig);
}

/* Overwrites something: 0 when this device has no such thing. */
typedef int spoil(void);

/* Each that applies is found, and well is found well behind it. How many did: a bit for each. */
static uint32_t spoil_all(spoil *const *spoils, uint32_t count)
{
    uint32_t done = 0;
    uint32_t where;

    for (uint32_t i = 0; i < count; i++) {
        if (spoils[i]()) {
            if (ask(&where) != NW_ERR_CORRUPT) {
                fail_msg("%s: spoil %u is not found", rig.kind->name, (unsigned)i);
            }
            done |= 1U << i;
        }
        memcpy(rig.site.ram, copy, rig.site.ram_bytes);
        assert_int_equal(ask(&where), NW_OK);
    }
    return done;
}

/* page */

static struct nw_page *page_of(void)
{
    return ((struct nw_ftl_page *)rig.site.state)->page;
}

/* A sector that is mapped, from `from` on. */
static uint32_t mapped(uint32_t from)
{
    while (page_of()->map[from] >= page_of()->blocks.count * 8U) {
        from++;
    }
    return from;
}

static int page_of_a_free_block(void)
{
    uint16_t block = 0;

    while (page_of()->blocks.state[block] != NW_BLOCK_FREE) {
        block++;
    }
    page_of()->map[mapped(0)] = nw_page_first(page_of(), block);
    return 1;
}

static int page_beyond_the_chip(void)
{
    page_of()->map[mapped(0)] = nw_page_first(page_of(), page_of()->blocks.count);
    return 1;
}

static int page_of_two_sectors(void)
{
    uint32_t first = mapped(0);

    page_of()->map[mapped(first + 1U)] = page_of()->map[first];
    return 1;
}

static int page_of_nobody(void)
{
    page_of()->map[mapped(0)] = NW_PAGE_NONE;
    return 1;
}

static void test_page(void **state)
{
    static spoil *const spoils[] = {page_of_a_free_block, page_beyond_the_chip,
                                    page_of_two_sectors, page_of_nobody};

    (void)state;
    open_used(&nw_layer_page, 1);
    assert_int_equal(spoil_all(spoils, 4), 15);
    close_used();
}

/* Lavish */

static struct lavish_rig small;

typedef void spoil_lavish(struct nw_ftl_lavish *lavish);

static uint8_t *entry_at(struct nw_ftl_lavish *lavish, uint32_t sector)
{
    return lavish->map_bytes + (size_t)lavish->maps[0].slot * lavish->map_slot + sector * 2U;
}

static void lavish_free_count(struct nw_ftl_lavish *lavish)
{
    lavish->free++;
}

static void lavish_good_count(struct nw_ftl_lavish *lavish)
{
    lavish->good--;
}

static void lavish_valid_count(struct nw_ftl_lavish *lavish)
{
    lavish->logical[lavish->maps[0].logical].valid++;
}

static void lavish_lost_block(struct nw_ftl_lavish *lavish)
{
    uint16_t block = 0;

    while (lavish->state[block] != 0) {
        block++;
    }
    lavish->state[block] = 1;
    lavish->free--;
}

static void lavish_block_of_two(struct nw_ftl_lavish *lavish)
{
    lavish->logical[0].data = lavish->logical[1].data;
}

static void lavish_page_of_two(struct nw_ftl_lavish *lavish)
{
    memcpy(entry_at(lavish, 1), entry_at(lavish, 0), 2);
}

static void lavish_page_to_come(struct nw_ftl_lavish *lavish)
{
    entry_at(lavish, 1)[0] = (uint8_t)lavish->logical[lavish->maps[0].logical].next;
}

static void lavish_map_twice(struct nw_ftl_lavish *lavish)
{
    lavish->maps[1].slot = lavish->maps[0].slot;
}

static void lavish_spare_in_use(struct nw_ftl_lavish *lavish)
{
    lavish->spares[0].block = lavish->logical[0].data;
}

static void lavish_erased_in_use(struct nw_ftl_lavish *lavish)
{
    memset(lavish->erased, 0xFF, 2);
}

static void test_lavish(void **state)
{
    static spoil_lavish *const spoils[] = {
        lavish_free_count, lavish_good_count, lavish_valid_count, lavish_lost_block,
        lavish_block_of_two, lavish_page_of_two, lavish_page_to_come, lavish_map_twice,
        lavish_spare_in_use, lavish_erased_in_use};
    struct lavish_shape chip = lavish_shape_tiny;
    uint32_t where;

    (void)state;
    chip.lavish.maps = 2;
    assert_int_equal(lavish_rig_open(&small, &chip, 0, 1), NW_OK);
    for (uint32_t i = 0; i < 60U; i++) {
        assert_int_equal(lavish_rig_write(&small, i * 5U % 8U, 1), NW_OK);
        assert_int_equal(nw_ftl_lavish_check(&small.lavish, &where), NW_OK);
    }
    struct nw_ftl_lavish well = small.lavish;
    uint8_t *ram = malloc(small.ram_bytes);
    assert_non_null(ram);
    memcpy(ram, small.ram, small.ram_bytes);
    for (uint32_t i = 0; i < sizeof spoils / sizeof spoils[0]; i++) {
        spoils[i](&small.lavish);
        if (nw_ftl_lavish_check(&small.lavish, &where) != NW_ERR_CORRUPT) {
            fail_msg("lavish: spoil %u is not found", (unsigned)i);
        }
        small.lavish = well;
        memcpy(small.ram, ram, small.ram_bytes);
        assert_int_equal(nw_ftl_lavish_check(&small.lavish, &where), NW_OK);
    }
    free(ram);
    lavish_rig_finish(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page), cmocka_unit_test(test_lavish)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
