/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a tier mounts again whatever became of the mounts before, over flash that holds writes back
 * until a sync, as block.h lets it: each change of a mount may be cut, fail once, done or not, or
 * be the last before the processor starts anew, which forgets its RAM while flash goes on holding
 * what it holds; and a cut may keep any of the contents that a sector had since the last sync.
 * Every story of three such troubles is tried.
 *
 * A mount once counted a session up while the label of the one before was not synced. Two mounts
 * that came to that, and a cut, left flash two sessions behind, and the tier was refused for good.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/bytes.h"
#include "nandwich/tier.h"
#include "nandwich/tier_lrfu.h"

#define SECTOR 32U
#define SECTORS 5U /* the last one is the label */
#define SLOTS 2U
#define NVM_BYTES (64U + (SLOTS + 1U) * SECTOR)
#define PAST 8U /* contents of a sector since the last sync, and the one before */
#define TROUBLES 3U
#define STEPS 64U

enum fate { DONE, FAILS, FAILS_DONE, CUT, CUT_DONE, RESET, RESET_DONE, FATES };

static struct nw_tier tier;
static struct nw_tier_lrfu lrfu;
static uint8_t ram[512];
static uint8_t lrfu_ram[SLOTS * 16U];

static uint8_t past[SECTORS][PAST][SECTOR];
static uint8_t past_count[SECTORS];
static uint8_t cells[NVM_BYTES];
static uint8_t off; /* enum fate of the change at which all ended, or DONE */
static uint8_t troubles; /* that may still come */

/* The story: at each step one of so many ways. */
static uint8_t way[STEPS];
static uint8_t ways[STEPS];
static uint32_t steps;
static uint32_t step;

static uint8_t pick(uint8_t count)
{
    if (step == steps) {
        assert_true(steps < STEPS);
        way[steps] = 0;
        ways[steps++] = count;
    }
    assert_int_equal(ways[step], count);
    return way[step++];
}

/* The next story; 0: that was the last one. */
static int next_story(void)
{
    while (steps > 0 && way[steps - 1U] + 1U == ways[steps - 1U]) {
        steps--;
    }
    if (steps > 0) {
        way[steps - 1U]++;
    }
    step = 0;
    return steps > 0;
}

/* The parts */

static uint8_t *shown(uint32_t sector)
{
    return past[sector][past_count[sector] - 1U];
}

/* What a request to a part answers; *acts: it is done. */
static int meet(int changes, int *acts)
{
    uint8_t fate = off == DONE && changes && troubles > 0 ? pick(FATES) : (uint8_t)DONE;

    *acts = off == DONE && (fate == DONE || fate == FAILS_DONE || fate == CUT_DONE ||
                            fate == RESET_DONE);
    if (fate != DONE) {
        troubles--;
        off = fate >= CUT ? fate : off;
    }
    if (off != DONE) {
        return NW_ERR_POWER;
    }
    return fate == DONE ? (int)NW_OK : NW_ERR_IO;
}

static int flash_read(struct nw_block_req *req)
{
    int acts;
    int result = meet(0, &acts);

    for (; acts && req->done < req->count; req->done++) {
        memcpy(req->data + (size_t)req->done * SECTOR, shown(req->sector + req->done), SECTOR);
    }
    return result;
}

static int change(struct nw_block_req *req, const uint8_t *data)
{
    int acts;
    int result = meet(1, &acts);

    assert_int_equal(req->count, 1);
    if (acts) {
        assert_true(past_count[req->sector] < PAST);
        memcpy(past[req->sector][past_count[req->sector]++], data, SECTOR);
    }
    req->done = result == NW_OK;
    return result;
}

static int flash_write(struct nw_block_req *req)
{
    return change(req, req->data);
}

static int flash_trim(struct nw_block_req *req)
{
    static const uint8_t zeros[SECTOR];

    return change(req, zeros);
}

/* A sector is left with one of its contents. */
static void settle(uint32_t sector, uint8_t which)
{
    memmove(past[sector][0], past[sector][which], SECTOR);
    past_count[sector] = 1;
}

static int flash_sync(struct nw_block_req *req)
{
    int acts;
    int result = meet(1, &acts);

    (void)req;
    for (uint32_t sector = 0; acts && sector < SECTORS; sector++) {
        settle(sector, (uint8_t)(past_count[sector] - 1U));
    }
    return result;
}

static int nvm_read(struct nw_nvm_req *req)
{
    int acts;
    int result = meet(0, &acts);

    if (acts) {
        memcpy(req->data, cells + req->address, req->length);
    }
    return result;
}

static int nvm_write(struct nw_nvm_req *req)
{
    int acts;
    int result = meet(1, &acts);

    if (acts) {
        memcpy(cells + req->address, req->data, req->length);
    }
    return result;
}

static const struct nw_block_ops flash_ops = {flash_read, flash_write, flash_trim, flash_sync,
                                              NULL};
static const struct nw_nvm_ops nvm_ops = {nvm_read, nvm_write};
static struct nw_block flash = {.ops = &flash_ops,
                                .sectors = SECTORS,
                                .sector_bytes = SECTOR,
                                .flags = NW_BLOCK_PERSISTENT};
static struct nw_nvm nvm = {.ops = &nvm_ops, .bytes = NVM_BYTES, .atomic_bytes = 8};
static const struct nw_tier_config config = {
    .flash = &flash, .nvm = &nvm, .policy = &lrfu.policy, .identity = 7};

static void cut_power(void)
{
    for (uint32_t sector = 0; sector < SECTORS; sector++) {
        if (past_count[sector] > 1U) {
            settle(sector, pick(past_count[sector]));
        }
    }
}

/* The processor starts anew, behind a cut or with flash as it is. */
static void start_anew(void)
{
    if (off == CUT || off == CUT_DONE) {
        cut_power();
    }
    off = DONE;
}

/* The tier */

static int open_tier(int (*verb)(struct nw_tier *, const struct nw_tier_config *, void *, size_t))
{
    memset(ram, 0xA5, sizeof ram);
    assert_int_equal(
        nw_tier_lrfu_open(&lrfu, NW_TIER_LRU, 0, SLOTS, lrfu_ram, sizeof lrfu_ram), NW_OK);
    return verb(&tier, &config, ram, sizeof ram);
}

static void write_sector(uint32_t sector)
{
    uint8_t data[SECTOR];
    struct nw_block_req req = {.block = &tier.block, .sector = sector, .count = 1, .data = data};

    memset(data, (int)sector + 1, sizeof data);
    assert_int_equal(nw_block_write(&req), NW_OK);
}

/* Sectors read as acknowledged, in the NVM or on flash, and both parts are in one session. */
static void check_tier(void)
{
    uint8_t data[SECTOR];

    for (uint32_t sector = 0; sector < SECTORS - 1U; sector++) {
        struct nw_block_req req = {
            .block = &tier.block, .sector = sector, .count = 1, .data = data};
        uint8_t kept = troubles;

        troubles = 0;
        assert_int_equal(nw_block_read(&req), NW_OK);
        troubles = kept;
        assert_int_equal(data[SECTOR - 1U], sector + 1U);
    }
    assert_int_equal(past_count[SECTORS - 1U], 1);
    assert_int_equal(nw_get32(shown(SECTORS - 1U) + 24), nw_get32(cells + 24));
}

/* A new tier with all its sectors written: two in the NVM, the others on flash. */
static void fill_tier(void)
{
    memset(past, 0, sizeof past);
    memset(past_count, 1, sizeof past_count);
    memset(cells, 0, sizeof cells);
    troubles = 0;
    off = DONE;
    assert_int_equal(open_tier(nw_tier_format), NW_OK);
    for (uint32_t sector = 0; sector < SECTORS - 1U; sector++) {
        write_sector(sector);
    }
    struct nw_block_req req = {.block = &tier.block};
    assert_int_equal(nw_block_sync(&req), NW_OK);
    assert_int_equal(tier.free_count, 0);
}

/* A mount or format came to its end, or to another one; then the next begins, at once or not. */
static void go_on(int result)
{
    if (off != DONE) {
        assert_int_equal(result, NW_ERR_POWER);
        start_anew();
    } else if (result != NW_OK) {
        assert_int_equal(result, NW_ERR_IO);
        if (pick(2) != 0) {
            cut_power();
        }
    }
}

static void test_mounts(void **state)
{
    uint32_t stories = 0;

    (void)state;
    do {
        fill_tier();
        troubles = TROUBLES;
        for (uint32_t mount = 0; mount < 4U && troubles > 0; mount++) {
            int result = open_tier(nw_tier_mount);
            if (result == NW_OK) {
                check_tier();
            }
            go_on(result);
        }
        troubles = 0;
        cut_power();
        assert_int_equal(open_tier(nw_tier_mount), NW_OK);
        check_tier();
        stories++;
    } while (next_story());
    assert_true(stories > 10000U);
}

/* Over a tier of the same identity: the new one is there, the old one, or none. */
static void test_formats(void **state)
{
    uint32_t stories = 0;

    (void)state;
    do {
        fill_tier();
        assert_int_equal(open_tier(nw_tier_mount), NW_OK);
        assert_int_equal(open_tier(nw_tier_mount), NW_OK);
        troubles = 2;
        for (uint32_t format = 0; format < 2U && troubles > 0; format++) {
            go_on(open_tier(nw_tier_format));
        }
        troubles = 0;
        cut_power();
        int result = open_tier(nw_tier_mount);
        assert_true(result == NW_OK || result == NW_ERR_BLANK || result == NW_ERR_NOT_FOUND);
        stories++;
    } while (next_story());
    assert_true(stories > 300U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mounts),
                                       cmocka_unit_test(test_formats)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
