/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: every cut and every view, of a tier over the tree. A call is cut in each of its changes of
 * flash and of the NVM, then each mount behind it likewise, up to so many in a row; and at each
 * power-up what was cut shows itself in each way that it may (views.h). After each of these
 * histories the tier mounts, all that was acknowledged is there, the sectors under way hold the old
 * content or the new, and keep what they showed at one more power-up of each view.
 * ctest: slow
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/ftl_tree.h"
#include "nandwich/random.h"
#include "nandwich/tier.h"
#include "nandwich/tier_lrfu.h"
#include "views.h"

#define SLOTS 3U
#define PAIR 2U /* sectors of a request, at most */
#define MOST_SECTORS 256U

/* Told a few times each, so that an entry's generation comes round and the spare frame moves. */
enum story { OVERWRITE, ENTER, PAIR_OF_BOTH, TRIM_THERE, TRIM_BELOW, TRIM_BOTH, IDLE, STORIES };

static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config below = {.spare_blocks = 12};
static struct nw_tier tier;
static struct nw_tier_lrfu lrfu;
static struct nw_tier_config config = {
    .nvm = &views_nvm, .policy = &lrfu.policy, .identity = 4711, .move_us = 1};
static uint32_t lrfu_ram[SLOTS * 2U];
static void *below_ram;
static size_t below_bytes;
static void *ram;
static size_t ram_bytes;
static uint32_t wanted[MOST_SECTORS]; /* tokens: 0 are zeros */
static uint32_t first;                /* of the sectors under way */
static uint32_t count;
static uint32_t coming[PAIR];
static uint32_t serial;
static uint32_t histories;

static int start(int format)
{
    memset(below_ram, 0xC3, below_bytes);
    int result = format ? nw_ftl_tree_format(&ftl, &views_chip, &below, below_ram, below_bytes)
                        : nw_ftl_tree_mount(&ftl, &views_chip, &below, below_ram, below_bytes);

    if (result == NW_OK) {
        memset(ram, 0xC3, ram_bytes);
        config.flash = &ftl.block;
        result = format ? nw_tier_format(&tier, &config, ram, ram_bytes)
                        : nw_tier_mount(&tier, &config, ram, ram_bytes);
    }
    return result;
}

static int mount(void)
{
    return start(0);
}

/* What is under way is known from now on; what is done is wanted. */
static int change(uint32_t sector, uint32_t sectors, int is_trim)
{
    uint8_t bytes[PAIR * VIEWS_BYTES];
    struct nw_block_req req = {
        .block = &tier.block, .sector = sector, .count = sectors, .data = bytes};

    first = sector;
    count = sectors;
    for (uint32_t i = 0; i < sectors; i++) {
        coming[i] = is_trim ? 0U : ++serial;
        views_fill(bytes + (size_t)i * VIEWS_BYTES, coming[i]);
    }
    int result = is_trim ? nw_block_trim(&req) : nw_block_write(&req);

    uint32_t done = req.done;
    if (is_trim) { /* durable behind a sync */
        req = (struct nw_block_req){.block = &tier.block};
        result = result == NW_OK ? nw_block_sync(&req) : result;
        done = result == NW_OK ? sectors : 0U;
    }
    for (uint32_t i = 0; i < done; i++) {
        wanted[sector + i] = coming[i];
    }
    return result;
}

static int holds(uint32_t sector, uint32_t token)
{
    return views_holds(&tier.block, sector, token);
}

/* The tier has mounted: all is there, and stays. */
static void judge(void)
{
    struct views *mounted = views_now;
    struct views *next;
    uint32_t shown[PAIR];

    for (uint32_t i = 0; i < count; i++) {
        shown[i] = holds(first + i, coming[i]) ? coming[i] : wanted[first + i];
    }
    for (uint32_t sector = 0; sector < tier.block.sectors; sector++) {
        uint32_t at = sector - first;

        if (!holds(sector, at < count ? shown[at] : wanted[sector])) {
            fail_msg("sector %u is lost", (unsigned)sector);
        }
    }
    for (uint32_t number = 0; (next = views_show(mounted, number)) != NULL; number++) {
        views_now = next;
        histories++;
        assert_int_equal(mount(), NW_OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(holds(first + i, shown[i]));
        }
        free(next);
    }
    views_now = mounted;
}

static int is_there(uint32_t sector)
{
    return tier.sector[0] == sector || tier.sector[1] == sector || tier.sector[2] == sector;
}

/* A sector that the NVM has or not, and behind it likewise. */
static uint32_t find(int there, int next_there)
{
    uint32_t sector = 0;

    while (is_there(sector) != there || is_there(sector + 1U) != next_there) {
        sector++;
        assert_true(sector + 1U < tier.block.sectors);
    }
    return sector;
}

static int tell(enum story story)
{
    struct nw_block_req idle = {.block = &tier.block, .budget_us = 1};
    uint32_t sector = find(1, 0);

    switch (story) {
    case OVERWRITE: return change(sector, 1, 0);
    case ENTER: return change(find(0, 0), 1, 0);
    case PAIR_OF_BOTH: return change(sector, 2, 0);
    case TRIM_THERE: /* the spare frame tells of the same sector then */
        return change(sector, 1, 0) == NW_OK ? change(sector, 1, 1) : NW_ERR_POWER;
    case TRIM_BELOW: return change(find(0, 0), 1, 1);
    case TRIM_BOTH: return change(find(0, 1), 2, 1);
    default: count = 0; return nw_block_idle(&idle) < 0 ? (int)NW_ERR_POWER : NW_OK;
    }
}

/* A story, with the first cut in each of its changes. */
static void play(const struct views *dark, enum story story, uint32_t times, uint32_t cuts)
{
    static uint32_t before[MOST_SECTORS];
    uint32_t after = 0;
    int is_cut;

    memcpy(before, wanted, sizeof before);
    do {
        struct views *lit = views_show(dark, 0);

        views_now = lit;
        assert_int_equal(mount(), NW_OK);
        lit->cut_after = ++after;
        int result = NW_OK;
        for (uint32_t i = 0; i < times && result == NW_OK; i++) {
            result = tell(story);
        }
        is_cut = lit->off != 0;
        assert_int_equal(result, is_cut ? NW_ERR_POWER : NW_OK);
        if (is_cut) {
            histories += views_mounts(lit, cuts, mount, judge);
        }
        free(lit);
        memcpy(wanted, before, sizeof wanted);
    } while (is_cut);
}

/* A device in use, whose NVM is full. */
static void use(void)
{
    struct nw_block_req sync = {.block = &tier.block};
    struct nw_random random;

    assert_int_equal(start(1), NW_OK);
    assert_true(tier.slots == SLOTS && tier.block.sectors <= MOST_SECTORS);
    nw_random_seed(&random, 1);
    memset(wanted, 0, sizeof wanted);
    for (uint32_t i = 0; i < 2U * tier.block.sectors + nw_random_below(&random, 100); i++) {
        uint32_t sector = i < tier.block.sectors ? i : nw_random_below(&random, tier.block.sectors);

        assert_int_equal(change(sector, 1, 0), NW_OK);
    }
    assert_int_equal(change(nw_random_below(&random, tier.block.sectors), 1, 1), NW_OK);
    assert_int_equal(nw_block_sync(&sync), NW_OK);
}

static void test_views(void **state)
{
    int soak = getenv("NW_SOAK") != NULL;
    uint32_t cuts = soak ? 2U : 1U;
    uint32_t times = soak ? 1U : 3U; /* each cut more is a hundred times the histories */

    (void)state;
    struct nw_block shape = {
        .sectors = MOST_SECTORS, .sector_bytes = VIEWS_BYTES, .flags = NW_BLOCK_PERSISTENT};
    below_bytes = nw_ftl_tree_ram_bytes(&below, &views_chip.geometry);
    below_ram = malloc(below_bytes);
    config.flash = &shape;
    ram_bytes = nw_tier_ram_bytes(&config);
    ram = malloc(ram_bytes);
    assert_true(below_ram != NULL && ram != NULL && ram_bytes != 0);
    assert_int_equal(nw_tier_lrfu_open(&lrfu, NW_TIER_LRU, 0, SLOTS, lrfu_ram, sizeof lrfu_ram),
                     NW_OK);
    struct views *device = calloc(1, sizeof *device);
    assert_non_null(device);
    views_now = device;
    use();
    count = 0; /* nothing is under way */
    histories += views_mounts(device, cuts + 1U, mount, judge);
    for (unsigned story = 0; story < STORIES; story++) {
        play(device, (enum story)story, times, cuts);
    }
    free(device);
    free(ram);
    free(below_ram);
    print_message("%u histories\n", (unsigned)histories);
    assert_true(histories > 500U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
