/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the check of what lavish has in RAM (nw_ftl_lavish_check()) finds nothing in devices that
 * are well, and each thing that was overwritten: lost blocks, wrong counts, links and lists, pages
 * that no sector reaches or two do. That of `tree` is looked at in test_tree_rot.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lavish_rig.h"
#include "nandwich/ftl_lavish_check.h"

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
    memset(lavish->bits, 0xFF, 2);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lavish)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
