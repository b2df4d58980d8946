/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: SLACK meets what G-EDF meets. Of what waits, with nothing arriving later and operations
 * that take what the configuration says: whatever G-EDF meets in full SLACK meets in full, and with
 * at most half of the slots taken it misses no more requests than G-EDF in any case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/random.h"
#include "nandwich/sched.h"
#include "sched_rig.h"

#define FLOWS 6U
#define REQUESTS 20U

/* What waits at `start`, and what the device takes. */
struct set {
    struct nw_sched_flow flows[FLOWS];
    struct nw_sched sched; /* its times, unit, position, flags */
    uint8_t flow_of[REQUESTS];
    uint16_t size_of[REQUESTS];
    uint32_t issued[REQUESTS];
    uint32_t start;
    uint8_t requests;
    uint8_t flow_count;
};

static void draw(struct nw_random *random, struct set *set)
{
    uint32_t now;

    memset(set, 0, sizeof *set);
    set->flow_count = (uint8_t)(1U + nw_random_below(random, FLOWS));
    set->requests = (uint8_t)(1U + nw_random_below(random, REQUESTS));
    set->start = nw_random_below(random, 3) == 0 ? 0U - nw_random_below(random, 200)
                                                 : nw_random_next(random);
    set->sched.write_ticks = 5U + nw_random_below(random, 20);
    set->sched.open_ticks = set->sched.write_ticks + nw_random_below(random, 60);
    set->sched.read_ticks = 1U + nw_random_below(random, 50);
    set->sched.turn_ticks = nw_random_below(random, 2) * nw_random_below(random, 6);
    set->sched.guard_ticks = nw_random_below(random, 3) * 2U;
    set->sched.unit = (uint16_t)(nw_random_below(random, 2) * nw_random_below(random, 6));
    set->sched.position = nw_random_below(random, 6);
    set->sched.flags = (uint8_t)((nw_random_below(random, 2) * NW_SCHED_SAVE) |
                                 (nw_random_below(random, 2) * NW_SCHED_DROP_LATE));
    for (size_t i = 0; i < set->flow_count; i++) {
        set->flows[i].deadline = 20U + nw_random_below(random, 250);
        set->flows[i].period = nw_random_below(random, 2) * nw_random_below(random, 100);
        set->flows[i].direction = nw_random_below(random, 4) == 0;
    }
    now = set->start - 10U;
    for (size_t i = 0; i < set->requests; i++) {
        set->flow_of[i] = (uint8_t)nw_random_below(random, set->flow_count);
        set->size_of[i] = (uint16_t)(1U + nw_random_below(random, 512));
        now += now == set->start ? 0 : nw_random_below(random, 2);
        set->issued[i] = now;
    }
}

/* Requests not met when a policy serves the set to its end. */
static uint32_t misses(const struct set *set, const struct nw_sched_policy *policy, uint8_t slots)
{
    struct set copy = *set;
    struct nw_sched *sched = &copy.sched;
    struct nw_sched_counts counts = {{0}, 0, 0};
    uint64_t ram[NW_SCHED_RAM_BYTES(NW_SCHED_SLOTS_MAX, FLOWS) / 8U + 1U];
    uint32_t now = set->start;
    uint32_t open = 0; /* the unit that the device has open, from 1; none after a power-up */
    int todo;

    sched->policy = policy;
    sched->flows = copy.flows;
    sched->flow_count = copy.flow_count;
    sched->slot_count = slots;
    sched->sector_bytes = 512;
    for (size_t i = 0; i < copy.flow_count; i++) {
        copy.flows[i].counts = &counts;
    }
    assert_int_equal(nw_sched_open(sched, (uint8_t *)ram, sizeof ram), NW_OK);
    for (size_t i = 0; i < copy.requests; i++) {
        struct nw_sched_offer offer = {.owner = sched, .now = copy.issued[i],
                                       .size = copy.size_of[i], .flow = copy.flow_of[i]};

        assert_int_equal(nw_sched_submit(&offer), NW_OK);
    }
    while ((todo = nw_sched_next(sched, now)) > 0 || sched->waiting) {
        uint32_t took = sched->write_ticks;

        if (todo == 0) {
            assert_true((int32_t)(sched->wake - now) > 0);
            now = sched->wake;
            continue;
        }
        if (sched->flows[sched->serving].direction == NW_SCHED_READ) {
            took = sched->read_ticks;
        } else if (sched->unit != 0 && sched->position / sched->unit + 1U != open) {
            took = sched->open_ticks > took ? sched->open_ticks : took; /* it writes, too */
            open = sched->position / sched->unit + 1U;
        }
        now += took;
        assert_int_equal(nw_sched_done(sched, now, NW_OK), NW_OK);
        now += sched->turn_ticks;
    }
    assert_int_equal(counts.of[NW_SCHED_MET] + counts.of[NW_SCHED_LATE] +
                     counts.of[NW_SCHED_DROPPED], copy.requests);
    return copy.requests - counts.of[NW_SCHED_MET];
}

/* Its plan took a passing read for a write, knew only the first group of each flow and only an
 * opening by the next write; and it let the longest group open a unit. 3,542 of 20,000 sets came
 * off worse than under G-EDF, 1,288 of them sets that G-EDF meets in full. Later it believed an
 * opening that was cheaper than a write, as a first guess of 0 and a learned time may be: it let
 * groups pass and held them back with ticks it did not have. */
static void slack_misses_no_more_than_gedf(void **state)
{
    struct nw_random random;
    uint32_t met_in_full = 0;

    (void)state;
    nw_random_seed(&random, 8);
    for (int round = 0; round < 20000; round++) {
        struct set set;
        uint32_t theirs;
        uint32_t ours;

        draw(&random, &set);
        if (round % 4 == 0) { /* an opening is not yet known, or has become the cheaper one */
            uint32_t less = set.sched.open_ticks % set.sched.write_ticks;

            set.sched.open_ticks = round % 8 == 0 ? 0 : less;
        }
        theirs = misses(&set, &nw_sched_gedf, 2U * REQUESTS);
        ours = misses(&set, &nw_sched_slack, 2U * REQUESTS);
        assert_true(ours <= theirs);
        met_in_full += theirs == 0;
        if (theirs == 0) {
            assert_int_equal(misses(&set, &nw_sched_slack, REQUESTS), 0);
        }
    }
    assert_true(met_in_full > 5000 && met_in_full < 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slack_misses_no_more_than_gedf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
