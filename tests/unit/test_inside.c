/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the checks of what layers have in RAM (nw_ftl_page_check(), nw_ftl_hybrid_check() and
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

#include "../../core/ftl/fast.h"
#include "../../core/ftl/page.h"
#include "lavish_rig.h"
#include "layer_rig.h"
#include "nandwich/ftl_hybrid_check.h"
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
    return rig.kind == &nw_layer_page ? nw_ftl_page_check(rig.site.state, where)
                                      : nw_ftl_hybrid_check(rig.block, where);
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

/* Hybrids */

static struct nw_chain *chain_of(void)
{
    return rig.block->context;
}

/* A unit with a chain of so many blocks or more; NW_NO_BLOCK. */
static uint16_t unit_of(uint16_t least)
{
    const struct nw_chain *chain = chain_of();

    for (uint16_t unit = 0; unit < chain->units; unit++) {
        if (chain->newest[unit] != NW_NO_BLOCK && chain->length[unit] >= least) {
            return unit;
        }
    }
    return NW_NO_BLOCK;
}

static uint16_t free_block(void)
{
    const struct nw_blocks *blocks = &chain_of()->hybrid.blocks;
    uint16_t block = blocks->next[blocks->count];

    return block < blocks->count ? block : blocks->next[blocks->count + 1U];
}

static int lost_block(void)
{
    nw_blocks_claim(&chain_of()->hybrid.blocks, free_block());
    return 1;
}

static int free_count(void)
{
    chain_of()->hybrid.blocks.free++;
    return 1;
}

static int bad_count(void)
{
    chain_of()->hybrid.blocks.bad++;
    return 1;
}

static int limbo_count(void)
{
    chain_of()->hybrid.limbo++;
    return 1;
}

static int session_in_a_chain(void)
{
    chain_of()->hybrid.session = chain_of()->newest[unit_of(1)];
    return 1;
}

static int free_block_in_a_chain(void)
{
    chain_of()->older[chain_of()->newest[unit_of(1)]] = free_block();
    return 1;
}

static int length_of_a_chain(void)
{
    chain_of()->length[unit_of(1)]++;
    return 1;
}

static int chain_without_end(void)
{
    uint16_t block = chain_of()->newest[unit_of(1)];

    chain_of()->older[block] = block;
    return 1;
}

static int chain_of_nobody(void)
{
    chain_of()->newest[unit_of(1)] = NW_NO_BLOCK;
    return 1;
}

static int blocks_out_of_order(void)
{
    struct nw_chain *chain = chain_of();
    uint16_t unit = unit_of(2);

    if (unit == NW_NO_BLOCK) {
        return 0;
    }
    uint16_t first = chain->newest[unit];
    uint16_t second = chain->older[first];
    nw_chain_unlist(chain, unit);
    chain->older[first] = chain->older[second];
    chain->older[second] = first;
    chain->newest[unit] = second;
    nw_chain_enlist(chain, unit);
    return 1;
}

static int chain_in_no_list(void)
{
    nw_chain_unlist(chain_of(), unit_of(1));
    return 1;
}

static int chain_in_another_list(void)
{
    uint16_t unit = unit_of(1);
    uint16_t list = nw_chain_list_of(chain_of(), unit);

    nw_chain_unlist(chain_of(), unit);
    nw_blocks_link(&chain_of()->hybrid.blocks, chain_of()->newest[unit],
                   list > NW_HYBRID_LISTS ? NW_HYBRID_LISTS : NW_HYBRID_LISTS + 1U);
    return 1;
}

/* A sector that a block of the unit holds not, as held. */
static int sector_that_is_not_there(void)
{
    struct nw_chain *chain = chain_of();

    for (uint16_t unit = 0; unit < chain->units; unit++) {
        uint16_t block = chain->newest[unit];

        for (uint16_t i = 0; block != NW_NO_BLOCK && i < chain->span; i++) {
            if (!nw_chain_holds(chain, block, i)) {
                nw_chain_bits(chain, block)[i >> 3] |= (uint8_t)(1U << (i & 7U));
                return 1;
            }
        }
    }
    return 0;
}

/* A mapped block with a list in RAM; NW_NO_BLOCK. */
static uint16_t listed_block(void)
{
    const struct nw_chain *chain = chain_of();

    for (uint16_t slot = 0; slot < chain->slots; slot++) {
        uint16_t block = chain->listed[slot];

        if (block != NW_NO_BLOCK && chain->next[block] > 0 &&
            (chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
            return block;
        }
    }
    return NW_NO_BLOCK;
}

static int entry_of_a_list(void)
{
    uint16_t block = listed_block();

    if (block == NW_NO_BLOCK) {
        return 0;
    }
    nw_chain_list_at(chain_of(), chain_of()->slot[block])[0] ^= 1U;
    return 1;
}

static int live_sector_of_a_mapped_block(void)
{
    uint16_t block = listed_block();

    if (block == NW_NO_BLOCK) {
        return 0;
    }
    memset(nw_chain_bits(chain_of(), block), 0, chain_of()->bit_bytes);
    return 1;
}

/* Of a block that was written in this session. */
static int live_sector_in_place(void)
{
    struct nw_chain *chain = chain_of();

    for (uint16_t unit = 0; unit < chain->units; unit++) {
        uint16_t block = chain->newest[unit];

        if (block != NW_NO_BLOCK &&
            (chain->flags[block] & (NW_CHAIN_CLOSED | NW_CHAIN_MAPPED)) == 0) {
            memset(nw_chain_bits(chain, block), 0, chain->bit_bytes);
            return 1;
        }
    }
    return 0;
}

static int count_of_mapped(void)
{
    chain_of()->logs++;
    return 1;
}

/* An entry of a shared log block; NW_NO_BLOCK. */
static uint16_t shared_entry(void)
{
    const struct nw_fast *fast = chain_of()->fast;

    for (uint16_t entry = 0; fast != NULL && entry < fast->slots * 8U; entry++) {
        if (fast->sector[entry] != NW_NO_PAGE) {
            return entry;
        }
    }
    return NW_NO_BLOCK;
}

static int entry_of_another_sector(void)
{
    uint16_t entry = shared_entry();

    if (entry == NW_NO_BLOCK) {
        return 0;
    }
    chain_of()->fast->sector[entry] ^= 1U;
    return 1;
}

static int entry_that_nothing_reaches(void)
{
    uint16_t entry = shared_entry();

    if (entry == NW_NO_BLOCK) {
        return 0;
    }
    chain_of()->fast->head[chain_of()->fast->sector[entry] / chain_of()->span] = NW_NO_BLOCK;
    return 1;
}

static int count_of_entries(void)
{
    uint16_t entry = shared_entry();

    if (entry == NW_NO_BLOCK) {
        return 0;
    }
    chain_of()->fast->valid[entry / 8U]++;
    return 1;
}

static void test_hybrids(void **state)
{
    static const struct nw_layer_kind *const kinds[] = {&nw_layer_nftl, &nw_layer_log,
                                                        &nw_layer_superblock, &nw_layer_fast};
    static spoil *const spoils[] = {
        lost_block, free_count, bad_count, limbo_count, session_in_a_chain, free_block_in_a_chain,
        length_of_a_chain, chain_without_end, chain_of_nobody, chain_in_no_list,
        chain_in_another_list, sector_that_is_not_there, count_of_mapped, blocks_out_of_order,
        entry_of_a_list, live_sector_of_a_mapped_block, entry_of_another_sector,
        entry_that_nothing_reaches, count_of_entries, live_sector_in_place};
    uint32_t done = 0;

    (void)state;
    for (uint32_t kind = 0; kind < 4U; kind++) {
        for (uint32_t seed = 1; seed <= SEEDS; seed++) {
            open_used(kinds[kind], seed);
            done |= spoil_all(spoils, sizeof spoils / sizeof spoils[0]);
            close_used();
        }
    }
    assert_int_equal(done, (1U << sizeof spoils / sizeof spoils[0]) - 1U);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page), cmocka_unit_test(test_hybrids),
                                       cmocka_unit_test(test_lavish)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
