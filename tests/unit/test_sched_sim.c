/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the simulator repeats to the bit and loses no request; the bounds are bounds (neither a
 * policy nor any schedule there is beats the exact one, and that one not the relaxed one).
 */
#include "nandwich-replay/sched_sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-replay/sched_bound.h"

#define MS 1000000ULL

static const struct nw_sched_policy *const policies[] = {
    &nw_sched_fifo, &nw_sched_edf, &nw_sched_gedf, &nw_sched_rgedf, &nw_sched_slack};

#define POLICIES (sizeof policies / sizeof policies[0])

/* A card whose only property is its times. */
struct card {
    struct nw_meter meter;
    struct nw_block block;
    uint32_t unit;
    uint32_t open_unit;
    uint64_t open_ns;
};

static int card_write(struct nw_block_req *req)
{
    struct card *card = req->block->context;
    uint32_t unit = card->unit == 0 ? 0 : req->sector / card->unit + 1U;

    card->meter.time_ns += unit != card->open_unit ? card->open_ns : 13U * MS;
    card->open_unit = unit;
    return NW_OK;
}

static int card_read(struct nw_block_req *req)
{
    struct card *card = req->block->context;

    card->meter.time_ns += 11U * MS;
    return NW_OK;
}

static const struct nw_block_ops card_ops = {.read = card_read, .write = card_write};

static void card_set(struct card *card, uint32_t unit, uint64_t open_ns)
{
    memset(card, 0, sizeof *card);
    card->block.ops = &card_ops;
    card->block.context = card;
    card->block.sectors = 1U << 20;
    card->block.sector_bytes = 512;
    card->unit = unit;
    card->open_ns = open_ns;
}

static struct nw_sim_config config_of(struct card *card, const struct nw_arrival_flow *flows,
                                      uint32_t count, const struct nw_sched_policy *policy)
{
    return (struct nw_sim_config){
        .arrivals = {.flows = flows, .flow_count = count, .end_ns = 2000U * MS},
        .policy = policy,
        .block = &card->block,
        .meter = &card->meter,
        .seed = 1,
        .slots = 24,
        .unit = card->unit,
        .write_us = 13000,
        .open_us = 100000,
        .read_us = 11000,
        .guard_us = 1000,
    };
}

static uint64_t accounted(const struct nw_sim_flow_result *flow)
{
    return flow->met + flow->late + flow->dropped + flow->failed + flow->full + flow->refused;
}

static struct nw_arrival_flow random_flow(struct nw_random *random)
{
    struct nw_arrival_flow flow = {
        .period_ns = (8U + nw_random_below(random, 60)) * MS + nw_random_below(random, 1000),
        .deadline_ns = (15U + nw_random_below(random, 150)) * MS,
        .size = 1U + nw_random_below(random, 512),
        .burst_every = nw_random_below(random, 4),
        .burst_size = 1U + nw_random_below(random, 5),
        .direction = nw_random_below(random, 5) == 0 ? NW_SCHED_READ : NW_SCHED_WRITE,
        .phase_random = 1,
    };

    flow.jitter_ns = nw_random_below(random, 2) * (flow.period_ns / 2U);
    return flow;
}

static void every_request_is_accounted_for_and_runs_repeat(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 5);
    for (int round = 0; round < 60; round++) {
        struct nw_arrival_flow flows[4];

        for (size_t i = 0; i < 4; i++) {
            flows[i] = random_flow(&random);
        }
        for (size_t p = 0; p < POLICIES; p++) {
            struct nw_sim_result results[2];

            for (size_t again = 0; again < 2; again++) {
                struct card card;
                struct nw_sim_config config;

                card_set(&card, 32, 100U * MS);
                config = config_of(&card, flows, 4, policies[p]);
                config.seed = (uint32_t)round;
                config.clock_us = 0U - 1000000U; /* the node's clock wraps in the run */
                memset(&results[again], 0x55, sizeof results[again]);
                config.flags = (uint8_t)(round % 2 ? NW_SCHED_DROP_LATE | NW_SCHED_LEARN
                                                   : NW_SCHED_SAVE | NW_SCHED_PREOPEN);
                assert_int_equal(nw_sim_run(&config, &results[again]), NW_OK);
            }
            assert_memory_equal(&results[0], &results[1], sizeof results[0]);
            assert_true(results[0].total.offered > 50);
            for (size_t i = 0; i < 4; i++) {
                assert_int_equal(results[0].flows[i].offered, accounted(&results[0].flows[i]));
            }
        }
    }
}

/* A run of few requests, as a recording. */
static size_t few_requests(struct nw_random *random, const struct nw_arrival_flow *flows,
                           uint32_t count, struct nw_arrival *requests, size_t room)
{
    struct nw_arrivals arrivals = {.flows = flows, .flow_count = count, .end_ns = 90U * MS};
    size_t found = nw_bound_collect(&arrivals, nw_random_next(random), requests, room);

    return found < room ? found : room;
}

static void no_policy_beats_the_bounds(void **state)
{
    struct nw_random random;
    uint64_t reached = 0;
    uint64_t possible = 0;

    (void)state;
    nw_random_seed(&random, 11);
    for (int round = 0; round < 120; round++) {
        struct nw_arrival_flow flows[3];
        struct nw_arrival requests[12];
        struct nw_bound_result exact, relaxed;
        struct nw_bound_config bound = {.flows = flows,
                                        .flow_count = 3,
                                        .requests = requests,
                                        .sector_bytes = 512,
                                        .write_ns = 13U * MS,
                                        .read_ns = 11U * MS,
                                        .unit = round % 3 == 0 ? 0 : 4,
                                        .open_count = 1};

        bound.open_ns[0] = 40U * MS;
        for (size_t i = 0; i < 3; i++) {
            flows[i] = random_flow(&random);
        }
        bound.request_count = few_requests(&random, flows, 3, requests, 12);
        assert_int_equal(nw_bound_exact(&bound, &exact), NW_OK);
        assert_int_equal(nw_bound_relaxed(&bound, &relaxed), NW_OK);
        assert_true(exact.met <= relaxed.met);
        assert_true(relaxed.met <= bound.request_count);
        possible += exact.met;
        for (size_t p = 0; p < POLICIES; p++) {
            struct card card;
            struct nw_sim_config config;
            struct nw_sim_result result;

            card_set(&card, bound.unit, bound.open_ns[0]);
            config = config_of(&card, flows, 3, policies[p]);
            config.arrivals.recorded = requests;
            config.arrivals.recorded_count = bound.request_count;
            config.flags = NW_SCHED_DROP_LATE;
            assert_int_equal(nw_sim_run(&config, &result), NW_OK);
            assert_true(result.total.met <= exact.met);
            reached += policies[p] == &nw_sched_slack ? result.total.met : 0;
        }
    }
    /* And the exact bound is no idle promise: ours comes near it. */
    assert_true(reached * 100U >= possible * 85U);
}

/* A bound found by hand: three reads of 11 ms each due at 22 ms: two can be met, the second one
 * just; with writes that share a sector all three can. */
static void bounds_are_right_by_hand(void **state)
{
    struct nw_arrival_flow flow = {.deadline_ns = 22U * MS, .size = 100};
    struct nw_arrival requests[3] = {{0, 0}, {0, 0}, {0, 0}};
    struct nw_bound_result result;
    struct nw_bound_config bound = {.flows = &flow,
                                    .flow_count = 1,
                                    .requests = requests,
                                    .request_count = 3,
                                    .sector_bytes = 512,
                                    .write_ns = 13U * MS,
                                    .read_ns = 11U * MS};

    (void)state;
    flow.direction = NW_SCHED_READ;
    assert_int_equal(nw_bound_exact(&bound, &result), NW_OK);
    assert_int_equal(result.met, 2);
    assert_int_equal(nw_bound_relaxed(&bound, &result), NW_OK);
    assert_int_equal(result.met, 2);
    flow.direction = NW_SCHED_WRITE;
    assert_int_equal(nw_bound_exact(&bound, &result), NW_OK);
    assert_int_equal(result.met, 3);
    /* The first write opens a unit and takes 30 ms: none is met, the relaxed bound cannot know. */
    bound.unit = 8;
    bound.open_count = 1;
    bound.open_ns[0] = 30U * MS;
    assert_int_equal(nw_bound_exact(&bound, &result), NW_OK);
    assert_int_equal(result.met, 0);
    assert_int_equal(nw_bound_relaxed(&bound, &result), NW_OK);
    assert_int_equal(result.met, 3);
}

/* With one sector a unit no opening was brought forward, and with more none right behind another:
 * costly ones of the first units can be over before the first request comes. */
static void the_exact_bound_opens_units_ahead_of_need(void **state)
{
    struct nw_arrival_flow flow = {.deadline_ns = 15U * MS, .size = 100};
    struct nw_arrival requests[2] = {{100U * MS, 0}, {100U * MS, 0}};
    struct nw_bound_result result;
    struct nw_bound_config bound = {.flows = &flow,
                                    .flow_count = 1,
                                    .requests = requests,
                                    .request_count = 1,
                                    .sector_bytes = 512,
                                    .write_ns = 10U * MS,
                                    .read_ns = 10U * MS,
                                    .open_ns = {40U * MS, 60U * MS, 13U * MS},
                                    .open_count = 3};

    (void)state;
    for (bound.unit = 1; bound.unit <= 3; bound.unit++) {
        assert_int_equal(nw_bound_exact(&bound, &result), NW_OK);
        assert_int_equal(result.met, 1);
    }
    bound.open_ns[1] = 63U * MS; /* too long; with more sectors than one the first unit will do */
    for (bound.unit = 1; bound.unit <= 3; bound.unit++) {
        assert_int_equal(nw_bound_exact(&bound, &result), NW_OK);
        assert_int_equal(result.met, bound.unit > 1);
    }
    /* Two units opened and left, then one write of each kind. */
    bound.unit = 2;
    bound.open_ns[1] = 60U * MS;
    bound.request_count = 2;
    flow.size = 512;
    flow.deadline_ns = 25U * MS;
    assert_int_equal(nw_bound_exact(&bound, &result), NW_OK);
    assert_int_equal(result.met, 2);
}

/* The best there is of a tiny run, by trying everything: at each moment give a request up, serve
 * some of a flow's next ones, or wait for an arrival. */
struct trial {
    const struct nw_bound_config *config;
    uint32_t next[3]; /* place among the run's requests of each flow's next one; beyond: none */
};

static uint32_t next_of(const struct nw_bound_config *config, uint32_t flow, uint32_t place)
{
    while (place < config->request_count && config->requests[place].flow != flow) {
        place++;
    }
    return place;
}

static uint32_t best_by_trying(const struct trial *trial, uint64_t now_ns)
{
    const struct nw_bound_config *config = trial->config;
    uint64_t arrival_ns = UINT64_MAX;
    uint32_t best = 0;

    for (uint32_t f = 0; f < config->flow_count; f++) {
        const struct nw_arrival_flow *flow = &config->flows[f];
        uint8_t reads = flow->direction == NW_SCHED_READ;
        uint64_t end_ns = now_ns + (reads ? config->read_ns : config->write_ns);
        uint32_t room = reads ? 1U : config->sector_bytes / flow->size;
        struct trial branch = *trial;
        uint32_t place = trial->next[f];
        uint32_t met = 0;

        for (; room > 0 && place < config->request_count; room--) {
            uint64_t issue_ns = config->requests[place].time_ns;
            uint32_t found;

            if (issue_ns > now_ns) {
                arrival_ns = issue_ns < arrival_ns ? issue_ns : arrival_ns;
                break;
            }
            branch.next[f] = next_of(config, f, place + 1U);
            if (place == trial->next[f]) {
                found = best_by_trying(&branch, now_ns);
                best = found > best ? found : best;
            }
            met += issue_ns + flow->deadline_ns >= end_ns;
            found = met > 0 ? met + best_by_trying(&branch, end_ns) : 0;
            best = found > best ? found : best;
            place = branch.next[f];
        }
    }
    if (arrival_ns != UINT64_MAX) {
        uint32_t found = best_by_trying(trial, arrival_ns);

        best = found > best ? found : best;
    }
    return best;
}

static int count_down(void *context)
{
    uint32_t *left = context;

    return --*left == 0;
}

/* Goal: the caller is asked as the search goes on, and ends it. */
static void the_bound_can_be_stopped(void **state)
{
    struct nw_arrival_flow flow = {.deadline_ns = 1000U * MS, .size = 64};
    static struct nw_arrival requests[1000];
    struct nw_bound_result result;
    uint32_t left = 3;
    struct nw_bound_config bound = {.flows = &flow,
                                    .flow_count = 1,
                                    .requests = requests,
                                    .request_count = 1000,
                                    .sector_bytes = 64,
                                    .write_ns = 11U * MS,
                                    .ask = count_down,
                                    .context = &left};

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        requests[i].time_ns = i * 2U * MS;
    }
    assert_int_equal(nw_bound_relaxed(&bound, &result), NW_OK);
    assert_int_equal(result.stopped, 1);
    assert_int_equal(result.nodes, 3U * 65536U);
    bound.ask = NULL;
    assert_int_equal(nw_bound_relaxed(&bound, &result), NW_OK);
    assert_int_equal(result.stopped, 0);
}

/* Operations shorter than a step of time once cost the relaxed bound a whole step, so that it was
 * below what really is possible. */
static void no_schedule_beats_the_bounds(void **state)
{
    struct nw_random random;
    uint32_t tight = 0;

    (void)state;
    nw_random_seed(&random, 12);
    for (int round = 0; round < 3000; round++) {
        struct nw_arrival_flow flows[3] = {{0}};
        struct nw_arrival requests[6];
        struct nw_bound_result exact, relaxed;
        struct nw_bound_config bound = {.flows = flows,
                                        .flow_count = 3,
                                        .requests = requests,
                                        .request_count = 1U + nw_random_below(&random, 6),
                                        .sector_bytes = 512,
                                        .write_ns = 1U + nw_random_below(&random, 2000),
                                        .read_ns = 1U + nw_random_below(&random, 2000),
                                        .grid_ns = 1U + nw_random_below(&random, 3000)};
        struct trial trial = {.config = &bound};
        uint64_t time_ns = 0;
        uint32_t best;

        for (uint32_t f = 0; f < 3; f++) {
            flows[f].deadline_ns = 1U + nw_random_below(&random, 5000);
            flows[f].size = 100U + nw_random_below(&random, 400);
            flows[f].direction = nw_random_below(&random, 3) == 0 ? NW_SCHED_READ : NW_SCHED_WRITE;
        }
        for (size_t i = 0; i < bound.request_count; i++) {
            time_ns += nw_random_below(&random, 2) * nw_random_below(&random, 1500);
            requests[i] = (struct nw_arrival){time_ns, nw_random_below(&random, 3)};
        }
        for (uint32_t f = 0; f < 3; f++) {
            trial.next[f] = next_of(&bound, f, 0);
        }
        best = best_by_trying(&trial, 0);
        assert_int_equal(nw_bound_exact(&bound, &exact), NW_OK);
        assert_int_equal(nw_bound_relaxed(&bound, &relaxed), NW_OK);
        assert_int_equal(exact.met, best);
        assert_true(relaxed.met >= best);
        bound.grid_ns = 1; /* what it was told is exact then */
        assert_int_equal(nw_bound_relaxed(&bound, &relaxed), NW_OK);
        assert_int_equal(relaxed.met, best);
        tight += best < bound.request_count;
    }
    assert_true(tight > 500);
}

/* Ten reads of 60 us due in 1 ms can be met, in one step of 1 ms. */
static void short_operations_share_a_step(void **state)
{
    struct nw_arrival_flow flow = {
        .deadline_ns = MS - 1U, .size = 512, .direction = NW_SCHED_READ};
    struct nw_arrival requests[10] = {{0}};
    struct nw_bound_result result;
    struct nw_bound_config bound = {.flows = &flow,
                                    .flow_count = 1,
                                    .requests = requests,
                                    .request_count = 10,
                                    .sector_bytes = 512,
                                    .write_ns = 13U * MS,
                                    .read_ns = 60000};

    (void)state;
    assert_int_equal(nw_bound_relaxed(&bound, &result), NW_OK);
    assert_int_equal(result.met, 10);
    /* A clock of whole us may count what ends within its tick. */
    bound.grid_ns = 1;
    flow.deadline_ns = 599999;
    assert_int_equal(nw_bound_relaxed(&bound, &result), NW_OK);
    assert_int_equal(result.met, 9);
    bound.clock_ns = 1000;
    assert_int_equal(nw_bound_relaxed(&bound, &result), NW_OK);
    assert_int_equal(result.met, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_accounted_for_and_runs_repeat),
        cmocka_unit_test(no_policy_beats_the_bounds),
        cmocka_unit_test(the_bound_can_be_stopped),
        cmocka_unit_test(bounds_are_right_by_hand),
        cmocka_unit_test(the_exact_bound_opens_units_ahead_of_need),
        cmocka_unit_test(no_schedule_beats_the_bounds),
        cmocka_unit_test(short_operations_share_a_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
