/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the tier costs what its header says, refuses what it says, and keeps what a failed call
 * left; LRFU lets go what is worth least.
 * ctest: quick
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tier_rig.h"

#define BEGIN(n) ((32U + (n) * 8U + 63U) / 64U * 64U) /* where so many frames begin */
#define FRAMES(n) (BEGIN(n) + (n) * 256U) /* bytes of NVM for so many, 256-byte sectors */

#define LASTING 20U /* failures in a row: more than the tree bears */

static struct tier_rig rig;

static void open_rig(uint32_t slots, uint32_t lambda, uint8_t reads)
{
    tier_rig_open(&rig, &layer_shapes[0], FRAMES(slots + 1U), lambda, reads);
    assert_int_equal(rig.tier.slots, slots);
}

static void write_all(uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(tier_rig_write(&rig, first + i, 1), NW_OK);
    }
}

/* Costs: NVM calls, and what reached flash. */
struct cost {
    uint64_t nvm_reads;
    uint64_t nvm_writes;
    uint64_t flash_reads;
    uint64_t flash_programs;
};

static struct cost cost_so_far(void)
{
    const struct nw_nvm_twin_counts *nvm = nw_nvm_twin_stats(rig.twin);
    const struct nw_nand_counts *nand = nw_nand_stats(rig.below.nand);

    return (struct cost){nvm->reads, nvm->writes, nand->reads, nand->programs + nand->copies};
}

static void assert_cost(struct cost before, struct cost want)
{
    struct cost now = cost_so_far();

    assert_int_equal(now.nvm_reads - before.nvm_reads, want.nvm_reads);
    assert_int_equal(now.nvm_writes - before.nvm_writes, want.nvm_writes);
    assert_int_equal(now.flash_reads - before.flash_reads, want.flash_reads);
    assert_int_equal(now.flash_programs - before.flash_programs, want.flash_programs);
}

static void test_costs(void **state)
{
    struct cost before;

    (void)state;
    open_rig(4, NW_TIER_LRU, 0);
    before = cost_so_far();
    write_all(0, 4); /* new, with room */
    assert_cost(before, (struct cost){.nvm_writes = 8});
    before = cost_so_far();
    write_all(0, 4); /* over what is there */
    assert_cost(before, (struct cost){.nvm_writes = 8});
    before = cost_so_far();
    assert_int_equal(tier_rig_read(&rig, 0, 4), NW_OK);
    assert_cost(before, (struct cost){.nvm_reads = 4});
    before = cost_so_far();
    write_all(4, 1); /* the least recently used leaves: its page, the spare entry, its own */
    assert_cost(before, (struct cost){.nvm_reads = 1, .nvm_writes = 4, .flash_programs = 1});
    before = cost_so_far();
    write_all(5, 1); /* the spare frame is one that was free: nothing to take away there */
    assert_cost(before, (struct cost){.nvm_reads = 1, .nvm_writes = 3, .flash_programs = 1});
    assert_int_equal(rig.tier.stats.moved, 2);
    assert_int_equal(rig.tier.stats.nvm_writes, 10);
    tier_rig_close(&rig);
}

static void test_without_policy(void **state)
{
    (void)state;
    open_rig(4, NW_TIER_LRU, 0);
    write_all(0, 3);
    rig.config.policy = NULL;
    assert_int_equal(tier_rig_mount(&rig), NW_OK);
    write_all(2, 3); /* one is there and stays, two go to flash */
    assert_int_equal(rig.tier.stats.nvm_writes, 1);
    assert_int_equal(rig.tier.stats.flash_writes, 2);
    assert_int_equal(tier_rig_trim(&rig, 0, 5), NW_OK);
    assert_int_equal(tier_rig_check(&rig, 0), 0);
    assert_int_equal(rig.tier.free_count, rig.tier.slots);
    tier_rig_close(&rig);
}

/* Idle keeps one slot in 16 free, within its budget. */
static void test_idle(void **state)
{
    (void)state;
    open_rig(40, NW_TIER_LRU, 0);
    write_all(0, 40);
    assert_int_equal(tier_rig_idle(&rig, 500), 1);
    assert_int_equal(rig.tier.free_count, 0);
    assert_int_equal(tier_rig_idle(&rig, 2500), 1);
    assert_int_equal(rig.tier.free_count, 2);
    assert_true(tier_rig_idle(&rig, 100000) >= 0);
    assert_int_equal(rig.tier.free_count, 3);
    assert_int_equal(rig.tier.stats.moved_ahead, 3);
    assert_int_equal(tier_rig_check(&rig, 0), 0);
    tier_rig_close(&rig);
}

/* A sector that flash had as well, and a trim whose sync fails: it reads as before, and does so
 * when it leaves the NVM later. */
static void test_trim_of_clean(void **state)
{
    (void)state;
    open_rig(4, NW_TIER_LRU, 1);
    write_all(3, 1);
    write_all(10, 4); /* it leaves, */
    assert_int_equal(tier_rig_read(&rig, 3, 1), NW_OK); /* and is there again */
    assert_int_equal(tier_rig_sync(&rig), NW_OK);
    rig.writes = 0;
    rig.fail_at = 0;
    rig.fail_times = LASTING;
    assert_int_equal(tier_rig_trim(&rig, 3, 1), NW_ERR_IO);
    rig.fail_at = UINT32_MAX;
    assert_int_equal(tier_rig_sync(&rig), NW_OK);
    write_all(10, 4);
    assert_int_equal(tier_rig_check(&rig, 0), 0);
    tier_rig_close(&rig);
}

/* The same with one that was written back, and is to leave with the next sync. */
static void test_trim_of_written(void **state)
{
    uint32_t failed = 0;

    (void)state;
    for (uint32_t at = 0; at < 12U; at++) {
        open_rig(40, NW_TIER_LRU, 0);
        write_all(0, 40);
        assert_int_equal(tier_rig_sync(&rig), NW_OK);
        rig.writes = 0;
        rig.fail_at = at;
        rig.fail_times = LASTING;
        failed += tier_rig_idle(&rig, 4000) == NW_ERR_IO;
        for (uint32_t sector = 0; sector < 4U; sector++) {
            rig.writes = 0;
            rig.fail_at = 0;
            (void)tier_rig_trim(&rig, sector, 1);
        }
        rig.fail_at = UINT32_MAX;
        assert_int_equal(tier_rig_check(&rig, 2), 0);
        assert_int_equal(tier_rig_sync(&rig), NW_OK);
        assert_int_equal(tier_rig_check(&rig, 0), 0);
        write_all(40, rig.sectors - 40U);
        assert_int_equal(tier_rig_check(&rig, 0), 0);
        tier_rig_close(&rig);
    }
    assert_true(failed >= 5U);
}

/* Mount */

static int mount_with(struct nw_tier_config *config)
{
    return nw_tier_mount(&rig.tier, config, rig.ram, rig.ram_bytes);
}

static void test_refusals(void **state)
{
    struct nw_tier_config config;
    uint8_t nothing[64] = {0};
    struct nw_nvm_req wipe = {.address = 0, .length = 32, .data = nothing};

    (void)state;
    open_rig(4, NW_TIER_LRU, 0);
    config = rig.config;
    assert_int_equal(nw_tier_mount(&rig.tier, &config, rig.ram, rig.ram_bytes - 1U), NW_ERR_RAM);
    assert_int_equal(nw_tier_mount(&rig.tier, &config, NULL, rig.ram_bytes), NW_ERR_RAM);
    rig.nvm.atomic_bytes = 4;
    assert_int_equal(mount_with(&config), NW_ERR_CONFIG);
    assert_int_equal(nw_tier_ram_bytes(&config), 0);
    rig.nvm.atomic_bytes = 8;
    rig.nvm.bytes = FRAMES(2) - 1U;
    assert_int_equal(mount_with(&config), NW_ERR_CONFIG);
    rig.nvm.bytes = FRAMES(4);
    assert_int_equal(mount_with(&config), NW_ERR_VERSION); /* of another number of frames */
    rig.nvm.bytes = FRAMES(5);
    rig.lrfu.room = 3;
    assert_int_equal(mount_with(&config), NW_ERR_CONFIG);
    rig.lrfu.room = 4;
    rig.below.block->flags = 0;
    assert_int_equal(mount_with(&config), NW_ERR_CONFIG);
    rig.below.block->flags = NW_BLOCK_PERSISTENT;
    assert_int_equal(mount_with(&config), NW_OK);
    wipe.nvm = &rig.nvm;
    assert_int_equal(nw_nvm_write(&wipe), NW_OK);
    assert_int_equal(mount_with(&config), NW_ERR_BLANK);
    nothing[7] = 1;
    assert_int_equal(nw_nvm_write(&wipe), NW_OK);
    assert_int_equal(mount_with(&config), NW_ERR_NOT_FOUND);
    tier_rig_close(&rig);
}

/* What the NVM holds now, or held. */
static void copy_nvm(uint8_t *image, int back)
{
    struct nw_nvm_req req = {
        .nvm = &rig.nvm, .address = 0, .length = rig.nvm.bytes, .data = image};

    assert_int_equal(back ? nw_nvm_write(&req) : nw_nvm_read(&req), NW_OK);
}

/* An NVM of exactly the layout that docs/tier.md tells has room for all of it, with a byte less for
 * a frame less. Once up to 63 bytes more were asked for than the gap before the frames takes. */
static void test_sizes(void **state)
{
    static const uint16_t sectors[] = {32, 56, 256, 264, 2048};
    struct nw_nvm nvm = {.atomic_bytes = 8};
    struct nw_block_ops none = {0};

    (void)state;
    for (unsigned i = 0; i < sizeof sectors / sizeof sectors[0]; i++) {
        struct nw_block flash = {.ops = &none,
                                 .sectors = 100,
                                 .sector_bytes = sectors[i],
                                 .flags = NW_BLOCK_PERSISTENT};
        struct nw_tier_config config = {.flash = &flash, .nvm = &nvm};
        size_t fewer = 0;

        for (uint32_t frames = 2; frames < 40U; frames++) {
            nvm.bytes = BEGIN(frames) + frames * sectors[i] - 1U;
            assert_int_equal(nw_tier_ram_bytes(&config), fewer);
            nvm.bytes++;
            assert_true(nw_tier_ram_bytes(&config) > fewer);
            fewer = nw_tier_ram_bytes(&config);
        }
        nvm.bytes = UINT32_MAX;
        assert_true(nw_tier_ram_bytes(&config) > fewer);
    }
}

/* An NVM that was copied some sessions ago, one of another device, and a flash that is older. */
static void test_pairs(void **state)
{
    static uint8_t old[4096];
    static uint8_t now[4096];
    struct layer_snapshot flash;

    (void)state;
    open_rig(4, NW_TIER_LRU, 0);
    copy_nvm(old, 0);
    layer_snapshot_open(&flash, &rig.below);
    layer_snapshot_take(&flash, &rig.below);
    write_all(0, 4);
    assert_int_equal(tier_rig_mount(&rig), NW_OK);
    assert_int_equal(tier_rig_mount(&rig), NW_OK);
    copy_nvm(now, 0);
    copy_nvm(old, 1);
    assert_int_equal(tier_rig_mount(&rig), NW_ERR_CORRUPT);
    copy_nvm(now, 1);
    assert_int_equal(tier_rig_mount(&rig), NW_OK); /* nothing was touched */
    assert_int_equal(tier_rig_check(&rig, 0), 0);
    copy_nvm(now, 0);
    layer_snapshot_restore(&flash, &rig.below);
    assert_int_equal(tier_rig_mount(&rig), NW_ERR_CORRUPT);
    rig.config.identity = 4712; /* of the format below */
    assert_int_equal(nw_tier_format(&rig.tier, &rig.config, rig.ram, rig.ram_bytes), NW_OK);
    copy_nvm(now, 1);
    assert_int_equal(tier_rig_mount(&rig), NW_ERR_NOT_FOUND);
    layer_snapshot_close(&flash);
    tier_rig_close(&rig);
}

/* How many sectors answer an error; the others read as they did, or all but one. */
static uint32_t count_lost(uint32_t *older)
{
    uint32_t lost = 0;

    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        const struct tier_model *model = &rig.model[sector];
        struct nw_block_req req = {
            .block = &rig.tier.block, .sector = sector, .count = 1, .data = rig.data};
        uint32_t token;

        if (nw_block_read(&req) < 0) {
            lost++;
            continue;
        }
        memcpy(&token, rig.data, sizeof token);
        *older += token != model->value[model->count - 1U];
    }
    return lost;
}

/* Each page of flash in turn rots: the tier mounts, the sector that was there answers an error, and
 * all is well once that is written anew. The page written last of all looks like one that was cut:
 * it costs its sector's newest content. A label that rotted once cost all of the tier. */
static void test_rot(void **state)
{
    static uint8_t nvm[4096];
    struct layer_snapshot flash;
    uint32_t lost = 0;
    uint32_t older = 0;

    (void)state;
    open_rig(4, NW_TIER_LRU, 0);
    write_all(0, rig.sectors);
    layer_snapshot_open(&flash, &rig.below);
    for (uint32_t used = 0; used < 2U; used++) {
        assert_int_equal(tier_rig_mount(&rig), NW_OK); /* the label is the last page */
        write_all(rig.sectors / 2U, used * 20U);
        assert_int_equal(tier_rig_sync(&rig), NW_OK);
        copy_nvm(nvm, 0);
        layer_snapshot_take(&flash, &rig.below);
        uint32_t pages = rig.chip.geometry.blocks * rig.chip.geometry.block_pages;
        for (uint32_t page = 0; page < pages; page++) {
            layer_snapshot_restore(&flash, &rig.below);
            copy_nvm(nvm, 1);
            rig.rotten = page;
            assert_int_equal(tier_rig_mount(&rig), NW_OK);
            uint32_t now = count_lost(&older);
            assert_true(now <= 1U);
            lost += now;
        }
        layer_snapshot_restore(&flash, &rig.below);
        copy_nvm(nvm, 1);
        rig.rotten = UINT32_MAX;
        assert_int_equal(tier_rig_mount(&rig), NW_OK);
    }
    print_message("%u lost, %u older\n", (unsigned)lost, (unsigned)older);
    assert_true(lost > rig.sectors && older <= 1U);
    layer_snapshot_close(&flash);
    tier_rig_close(&rig);
}

/* A format that is cut leaves no tier, or its end was reached. */
static void test_format_cut(void **state)
{
    int result = NW_ERR_POWER;

    (void)state;
    open_rig(4, NW_TIER_LRU, 0);
    for (uint32_t after = 0; result != NW_OK; after++) {
        rig.config.identity++;
        tier_rig_cut(&rig, after, NW_CUT_INSIDE, NW_TORN_ANY);
        result = nw_tier_format(&rig.tier, &rig.config, rig.ram, rig.ram_bytes);
        assert_true(result == NW_OK || result == NW_ERR_POWER);
        rig.blow_at = UINT32_MAX;
        int mounted = tier_rig_mount(&rig);
        if (result != NW_OK && mounted != NW_OK) {
            assert_true(mounted == NW_ERR_NOT_FOUND || mounted == NW_ERR_BLANK);
        } else {
            assert_int_equal(mounted, NW_OK);
        }
        assert_true(after < 50U);
    }
    tier_rig_close(&rig);
}

/* Against the definition, in floating point: the slot that leaves is worth no more than any other,
 * up to what interpolation costs. */
static void check_lrfu(uint32_t lambda)
{
    static struct nw_tier_lrfu lrfu;
    static uint8_t ram[16 * 50 + 64];
    double worth[50] = {0};
    double fade = pow(0.5, lambda / 65536.0);
    struct nw_tier_ask ask = {.write = 1};
    struct nw_random random;

    nw_random_seed(&random, lambda + 1U);
    assert_int_equal(nw_tier_lrfu_open(&lrfu, lambda, 0, 50, ram, sizeof ram), NW_OK);
    const struct nw_tier_policy_ops *ops = lrfu.policy.ops;
    assert_int_equal(ops->start(&lrfu.policy, 50), NW_OK);
    for (uint32_t i = 0; i < 200000U; i++) {
        uint16_t slot = (uint16_t)nw_random_below(&random, 1U + nw_random_below(&random, 50));

        for (uint32_t s = 0; s < 50U; s++) {
            worth[s] *= fade;
        }
        if (worth[slot] == 0) {
            ops->entered(&lrfu.policy, slot, &ask);
        } else {
            ops->touched(&lrfu.policy, slot, &ask);
        }
        worth[slot] += 1;
        if (i % 7U == 0 && i > 1000U) {
            uint16_t victim = ops->victim(&lrfu.policy, &ask);
            for (uint32_t s = 0; s < 50U; s++) {
                assert_true(worth[s] == 0 || worth[s] > 0.93 * worth[victim]);
            }
            ops->left(&lrfu.policy, victim);
            worth[victim] = 0;
        }
    }
}

static void test_lrfu(void **state)
{
    (void)state;
    check_lrfu(NW_TIER_LFU);
    check_lrfu(100);
    check_lrfu(5000);
    check_lrfu(20000);
    check_lrfu(NW_TIER_LRU);
}

static void test_lrfu_open(void **state)
{
    static uint8_t ram[800];
    struct nw_tier_lrfu lrfu;

    (void)state;
    assert_int_equal(nw_tier_lrfu_ram_bytes(100), 800);
    assert_int_equal(nw_tier_lrfu_open(&lrfu, 65537, 0, 100, ram, 800), NW_ERR_CONFIG);
    assert_int_equal(nw_tier_lrfu_open(&lrfu, 0, 0, 100, ram, 799), NW_ERR_RAM);
    assert_int_equal(nw_tier_lrfu_open(&lrfu, 0, 0, 100, ram, 800), NW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),           cmocka_unit_test(test_without_policy),
        cmocka_unit_test(test_idle),            cmocka_unit_test(test_trim_of_clean),
        cmocka_unit_test(test_trim_of_written), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sizes),           cmocka_unit_test(test_rot),
        cmocka_unit_test(test_pairs),           cmocka_unit_test(test_format_cut),
        cmocka_unit_test(test_lrfu),            cmocka_unit_test(test_lrfu_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
