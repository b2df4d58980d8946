/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: no cut takes what the tier acknowledged, whichever side held it: cuts at any change of
 * either part, in mounts too, over work that fills the NVM; what they leave on the chip is drawn
 * anew at each read. Nor do writes that fail, done or not.
 * ctest: slow
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tier_rig.h"

struct campaign {
    struct tier_rig rig;
    struct nw_random random;
    uint32_t seed;
    uint32_t step;
};

static void expect(struct campaign *campaign, int holds, const char *where, int result)
{
    if (!holds) {
        fail_msg("seed %u, step %u, %s: %s %s", (unsigned)campaign->seed, (unsigned)campaign->step,
                 where, nw_error_text(result), campaign->rig.why);
    }
}

/* One call on the tier. */
static int act(struct campaign *campaign)
{
    struct tier_rig *rig = &campaign->rig;
    struct nw_random *random = &campaign->random;
    uint32_t hot = nw_random_below(random, 3) != 0 ? 24U : rig->sectors;
    uint32_t sector = nw_random_below(random, hot);
    uint32_t count = nw_random_below(random, 3) == 0 ? 1U + nw_random_below(random, 8) : 1U;
    uint32_t dice = nw_random_below(random, 100);

    count = count > rig->sectors - sector ? rig->sectors - sector : count;
    if (dice < 70U) {
        return tier_rig_write(rig, sector, count);
    }
    if (dice < 82U) {
        return tier_rig_trim(rig, sector, count);
    }
    if (dice < 86U) {
        return tier_rig_read(rig, sector, count);
    }
    return dice < 92U ? tier_rig_idle(rig, nw_random_below(random, 6000)) : tier_rig_sync(rig);
}

/* Up to ten calls and a sync, which the model needs. */
static int work(struct campaign *campaign)
{
    int result = NW_OK;

    for (uint32_t i = nw_random_below(&campaign->random, 11); i > 0 && result >= 0; i--) {
        result = act(campaign);
    }
    return result < 0 ? result : tier_rig_sync(&campaign->rig);
}

static void arm(struct campaign *campaign, uint32_t reach)
{
    struct nw_random *random = &campaign->random;

    tier_rig_cut(&campaign->rig, nw_random_below(random, reach),
                 (uint8_t)nw_random_below(random, 3), (uint8_t)nw_random_below(random, 6));
}

/* Power is back, perhaps not for long. */
static uint32_t come_back(struct campaign *campaign)
{
    struct tier_rig *rig = &campaign->rig;
    uint32_t cuts = 0;
    int result;

    while (nw_random_below(&campaign->random, 4) == 0) {
        arm(campaign, 12);
        result = tier_rig_mount(rig);
        cuts++;
        expect(campaign, result == NW_OK || rig->off != 0, "mount to be cut", result);
    }
    rig->blow_at = UINT32_MAX;
    result = tier_rig_mount(rig);
    expect(campaign, result == NW_OK, "mount", result);
    expect(campaign, tier_rig_check(rig, 1) == 0, "behind the mount", NW_OK);
    expect(campaign, layer_rig_clean(&rig->below) == 0, rig->below.why, NW_OK);
    return cuts;
}

static uint32_t run(uint32_t seed, uint32_t steps)
{
    static struct campaign campaign;
    struct tier_rig *rig = &campaign.rig;
    uint32_t cuts = 0;

    campaign.seed = seed;
    nw_random_seed(&campaign.random, seed);
    tier_rig_open(rig, &layer_shapes[seed / 2U % 4U], seed % 3U == 0 ? 900U : 4096U,
                  seed % 2U == 0 ? NW_TIER_LRU : 300U, seed % 7U < 3U);
    for (campaign.step = 0; campaign.step < steps; campaign.step++) {
        arm(&campaign, nw_random_below(&campaign.random, 2) == 0 ? 8U : 60U);
        int result = work(&campaign);
        expect(&campaign, result >= 0 || rig->off != 0, "work", result);
        cuts += rig->off != 0;
        if (rig->off == 0) {
            rig->blow_at = UINT32_MAX;
            expect(&campaign, tier_rig_check(rig, 0) == 0, "in a session", NW_OK);
        }
        cuts += come_back(&campaign);
    }
    tier_rig_close(rig);
    return cuts;
}

static void test_cuts(void **state)
{
    int soak = getenv("NW_SOAK") != NULL;
    uint32_t cuts = 0;

    (void)state;
    for (uint32_t seed = 0; seed < (soak ? 3000U : 60U); seed++) {
        cuts += run(seed, 400);
    }
    print_message("%u cuts\n", (unsigned)cuts);
    assert_true(cuts > (soak ? 1000000U : 20000U));
}

/* What reads show behind a failed call stays: through a sync, and a mount. */
static void test_errors(void **state)
{
    static struct campaign campaign;
    struct tier_rig *rig = &campaign.rig;

    (void)state;
    for (campaign.seed = 0; campaign.seed < 100U; campaign.seed++) {
        nw_random_seed(&campaign.random, campaign.seed);
        tier_rig_open(rig, &layer_shapes[0], 1800, NW_TIER_LRU, campaign.seed % 2U);
        for (campaign.step = 0; campaign.step < 100U; campaign.step++) {
            rig->writes = 0;
            rig->fail_at = nw_random_below(&campaign.random, 40);
            rig->fail_times = nw_random_below(&campaign.random, 2) == 0 ? 1U : 20U;
            rig->fail_acts = (uint8_t)nw_random_below(&campaign.random, 2);
            int result = work(&campaign);
            expect(&campaign, result >= 0 || result == NW_ERR_IO, "work", result);
            rig->fail_at = UINT32_MAX;
            expect(&campaign, tier_rig_check(rig, 2) == 0, "behind the error", result);
            if (nw_random_below(&campaign.random, 2) == 0) {
                result = tier_rig_sync(rig);
                expect(&campaign, result == NW_OK, "sync", result);
            }
            if (nw_random_below(&campaign.random, 3) == 0) {
                result = tier_rig_mount(rig);
                expect(&campaign, result == NW_OK && tier_rig_check(rig, 1) == 0, "mount", result);
            }
        }
        tier_rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts),
                                       cmocka_unit_test(test_errors)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
