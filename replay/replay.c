/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a replay, preconditioning, and the loop over requests. */
#include "nandwich-replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "replay_internal.h"
#include "scale.h"

#define FIRST_SPACING 64U /* requests between samples, to begin with */

static int fits(const struct nw_replay_config *config)
{
    const struct nw_block *block = config->stack->block;
    const struct nw_block *layer = config->stack->layer;
    int carries = (config->stack->chip->geometry.flags & NW_CHIP_NO_PAYLOAD) == 0;
    int verifies = (config->flags & NW_REPLAY_VERIFY) != 0;

    if (block == NULL || layer->stats == NULL || carries != verifies ||
        block->sector_bytes % 8U != 0) {
        return 0;
    }
    return config->fit != NW_REPLAY_SCALE || config->extent > 0;
}

static int take_memory(struct nw_replay *replay)
{
    if ((replay->config.flags & NW_REPLAY_ARRIVALS) != 0) {
        replay->queue = malloc(NW_REPLAY_QUEUE_MOST * sizeof *replay->queue);
        if (replay->queue == NULL) {
            return NW_ERR_RAM;
        }
    }
    replay->by_app = calloc(replay->config.apps + 1U, sizeof *replay->by_app);
    if (replay->by_app == NULL) {
        return NW_ERR_RAM;
    }
    if ((replay->config.flags & NW_REPLAY_BOUND) != 0) {
        int result = nw_tier_bound_open(&replay->bound, replay->block->sectors);

        if (result < 0) {
            return result;
        }
    }
    if ((replay->config.flags & NW_REPLAY_VERIFY) != 0) {
        replay->versions = calloc(replay->block->sectors, sizeof *replay->versions);
        if (replay->versions == NULL) {
            return NW_ERR_RAM;
        }
    }
    return NW_OK;
}

int nw_replay_open(struct nw_replay **replay, const struct nw_replay_config *config)
{
    struct nw_replay *made;
    int result;

    *replay = NULL;
    if (!fits(config)) {
        return NW_ERR_CONFIG;
    }
    made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NW_ERR_RAM;
    }
    made->config = *config;
    made->block = config->stack->block;
    made->timeline = config->stack->timeline;
    made->layer = config->stack->layer->stats;
    made->meter = nw_nand_meter(config->stack->nand);
    made->standby_nw = config->stack->part.standby_nw;
    made->shift = 255;
    for (uint8_t bit = 0; bit < 16U; bit++) {
        if (made->block->sector_bytes == 1UL << bit) {
            made->shift = bit;
        }
    }
    made->random = (uint64_t)config->seed << 1 | 1U;
    made->wanted = (uint64_t)made->block->sectors * config->precondition / 1000U;
    made->sample_every = FIRST_SPACING;
    made->keeps_shares = config->stack->tier != NULL || config->apps != 0;
    made->from_start = 1;
    result = take_memory(made);
    if (result < 0) {
        nw_replay_close(made);
        return result;
    }
    *replay = made;
    return NW_OK;
}

void nw_replay_close(struct nw_replay *replay)
{
    if (replay != NULL) {
        free(replay->queue);
        free(replay->by_app);
        nw_tier_bound_close(replay->bound);
        free(replay->versions);
        free(replay->payload);
        free(replay);
    }
}

/* Multiplicative congruence, 64 bit, upper half (Knuth, TAOCP 2, 3.3.4, table 1, line 26). */
static uint32_t any_sector(struct nw_replay *replay)
{
    replay->random = replay->random * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(((replay->random >> 32) * replay->block->sectors) >> 32);
}

int nw_replay_precondition(struct nw_replay *replay, uint64_t sectors)
{
    for (; sectors > 0 && replay->written < replay->wanted; sectors--) {
        uint32_t sector = replay->written < replay->block->sectors ? (uint32_t)replay->written
                                                                   : any_sector(replay);
        int result = nw_replay_write(replay, sector, 1);

        if (result < 0) {
            return result;
        }
        replay->written++;
    }
    return replay->written < replay->wanted ? 1 : 0;
}

static int start_counting(struct nw_replay *replay)
{
    char text[128];
    struct nw_why why = {text, sizeof text};
    int result = nw_stack_start_counting(replay->config.stack, &why);

    if (result < 0) {
        return result;
    }
    memset(&replay->result, 0, sizeof replay->result);
    if (replay->config.stack->wear != NULL) {
        replay->heals_before = replay->config.stack->wear->stats.heals;
    }
    if (replay->config.stack->tier != NULL) {
        const struct nw_tier *tier = replay->config.stack->tier;
        replay->held_before = tier->slots - (uint32_t)tier->free_count;
    }
    replay->counting = 1;
    replay->sample_next = replay->sample_every;
    return replay->config.source->ops->rewind(replay->config.source);
}

/* The source has ended: 1 when it begins anew. */
static int next_pass(struct nw_replay *replay)
{
    struct nw_replay_result *result = &replay->result;
    uint64_t span = replay->arrival_ns - replay->pass_ns;
    int status;

    if (replay->from_start != 0) {
        return 0; /* an empty source stays empty */
    }
    result->passes++;
    if (result->passes == replay->config.repeat) {
        return 0;
    }
    status = replay->config.source->ops->rewind(replay->config.source);
    if (status < 0) {
        return status;
    }
    replay->from_start = 1;
    replay->pass_ns = replay->arrival_ns +
                      (replay->pass_requests > 1U ? span / (replay->pass_requests - 1U) : 0);
    replay->arrival_ns = replay->pass_ns;
    replay->pass_requests = 0;
    return 1;
}

/* The next batch: 1, 0 when there is none any more, or an error. */
static int refill(struct nw_replay *replay)
{
    struct nw_io_source *source = replay->config.source;

    for (;;) {
        int count = source->ops->fill(source, replay->batch, REPLAY_BATCH);

        if (count < 0) {
            return count;
        }
        replay->batch_at = 0;
        replay->batch_count = (uint32_t)count;
        if (count > 0) {
            replay->from_start = 0;
            return 1;
        }
        count = next_pass(replay);
        if (count <= 0) {
            return count;
        }
    }
}

static int finish(struct nw_replay *replay)
{
    struct nw_replay_result *result = &replay->result;

    replay->over = 1;
    result->end_ns = replay->now_ns;
    result->energy_pj = replay->meter->energy_pj;
    /* nW x ns is a millionth of a pJ. */
    result->standby_pj = nw_scale(result->idle_ns, replay->standby_nw, 1000000U);
    nw_replay_take_sample(replay);
    return 0;
}

int nw_replay_run(struct nw_replay *replay, uint64_t requests)
{
    struct nw_replay_result *result = &replay->result;
    int status = replay->counting != 0 ? NW_OK : start_counting(replay);

    if (status < 0 || replay->over != 0) {
        return status;
    }
    for (; requests > 0; requests--) {
        if ((replay->config.limit != 0 && result->requests == replay->config.limit) ||
            (replay->config.heals != 0 && replay->heals >= replay->config.heals)) {
            return finish(replay);
        }
        if (replay->batch_at == replay->batch_count) {
            status = refill(replay);
            if (status < 0) {
                return status;
            }
            if (status == 0) {
                return finish(replay);
            }
        }
        result->requests++;
        replay->pass_requests++;
        status = nw_replay_serve(replay, &replay->batch[replay->batch_at++]);
        if (status < 0) {
            result->ended = status;
            return finish(replay);
        }
        result->done++;
        if (result->requests == replay->sample_next) {
            nw_replay_take_sample(replay);
        }
    }
    return 1;
}

uint32_t nw_replay_heals(const struct nw_replay *replay, const uint64_t **times)
{
    *times = replay->heal_ns;
    return replay->heals < NW_REPLAY_HEALS ? (uint32_t)replay->heals : NW_REPLAY_HEALS;
}

void nw_replay_end(struct nw_replay *replay)
{
    if (replay->counting != 0 && replay->over == 0) {
        (void)finish(replay);
    }
}

const struct nw_replay_result *nw_replay_outcome(struct nw_replay *replay)
{
    return &replay->result;
}
