/* SPDX-License-Identifier: Apache-2.0 */
/* Samples over time, and the laws that the books of a replay keep. */
#include "nandwich-twin/nand.h"
#include "replay_internal.h"

/* What the chip did since counting started. */
static struct nw_nand_counts chip_work(const struct nw_stack *stack)
{
    struct nw_nand_counts now = *nw_nand_stats(stack->nand);

    now.reads -= stack->before.reads;
    now.programs -= stack->before.programs;
    now.erases -= stack->before.erases;
    now.copies -= stack->before.copies;
    now.failures -= stack->before.failures;
    now.misuses -= stack->before.misuses;
    return now;
}

/* Room is made by leaving out every second one. */
static void thin_out(struct nw_replay *replay)
{
    for (uint32_t i = 0; i < NW_REPLAY_SAMPLES / 2U; i++) {
        uint64_t worst = replay->samples[2U * i].response_max_ns;

        replay->samples[i] = replay->samples[2U * i + 1U];
        if (replay->samples[i].response_max_ns < worst) {
            replay->samples[i].response_max_ns = worst;
        }
    }
    replay->sample_count = NW_REPLAY_SAMPLES / 2U;
    replay->sample_every *= 2U;
}

void nw_replay_take_sample(struct nw_replay *replay)
{
    const struct nw_replay_result *result = &replay->result;
    struct nw_nand_counts chip = chip_work(replay->config.stack);
    const struct nw_stats *stats = replay->layer;

    replay->samples[replay->sample_count++] = (struct nw_replay_sample){
        .time_ns = replay->now_ns,
        .requests = result->requests,
        .written = result->sectors_written,
        .read = result->sectors_read,
        .chip_reads = chip.reads,
        .chip_programs = chip.programs + chip.copies,
        .chip_erases = chip.erases,
        .copies = stats->copies,
        .response_sum_ns = result->reads.sum_ns + result->writes.sum_ns + result->others.sum_ns,
        .response_max_ns = replay->sample_max_ns,
        .energy_pj = replay->meter->energy_pj,
        .retired = stats->retired,
    };
    replay->sample_max_ns = 0;
    if (replay->sample_count == NW_REPLAY_SAMPLES) {
        thin_out(replay);
    }
    replay->sample_next = result->requests - result->requests % replay->sample_every +
                          replay->sample_every;
}

uint32_t nw_replay_samples(struct nw_replay *replay, const struct nw_replay_sample **samples)
{
    *samples = replay->samples;
    return replay->sample_count;
}

static uint64_t block_erases(const struct nw_stack *stack)
{
    uint32_t blocks = nw_nand_chip(stack->nand)->geometry.blocks;
    uint64_t sum = 0;

    for (uint32_t block = 0; block < blocks; block++) {
        sum += nw_nand_block_erases(stack->nand, block) - stack->erases_before[block];
    }
    return sum;
}

/* What a tier keeps in the NVM is nothing that the layer sees, what it writes back is more. */
static struct nw_tier_stats tier_work(const struct nw_replay *replay)
{
    const struct nw_replay_result *result = &replay->result;
    const struct nw_tier *tier = replay->config.stack->tier;

    if (tier != NULL) {
        return tier->stats;
    }
    return (struct nw_tier_stats){.flash_reads = result->sectors_read + result->partial_reads,
                                  .flash_writes = result->sectors_written};
}

int nw_replay_check(struct nw_replay *replay, struct nw_replay_law *laws, uint32_t *count)
{
    const struct nw_replay_result *result = &replay->result;
    const struct nw_tier_stats tier = tier_work(replay);
    const struct nw_stats *stats = replay->layer;
    struct nw_nand_counts chip = chip_work(replay->config.stack);
    /* The request that ended the run may have done anything between nothing and all it asked. */
    uint64_t open = result->requests - result->done;
    uint64_t any = open != 0 ? UINT64_MAX : 0;
    /* Behind the oob filter a page is several of the chip, and so is a block. */
    const struct nw_oob *oob = &replay->config.stack->oob;
    const struct nw_replay_law all[NW_REPLAY_LAWS] = {
        {"requests: timed = completed",
         result->reads.count + result->writes.count + result->others.count, result->done, 0},
        {"requests: taken = completed + refused", result->requests,
         result->done + (result->ended < 0 ? 1U : 0U), 0},
        {"time: busy + ahead + idle = the end", replay->now_ns,
         result->busy_ns + result->ahead_ns + result->idle_ns, 0},
        {"sectors: written to NVM and layer = asked", tier.nvm_writes + tier.flash_writes,
         result->sectors_written, any},
        {"sectors: read from NVM and layer = asked + partial", tier.nvm_reads + tier.flash_reads,
         result->sectors_read + result->partial_reads, any},
        {"sectors: written by the layer = to it + back to it", stats->host_writes,
         tier.flash_writes + tier.moved, any},
        {"sectors: read by the layer = from it", stats->host_reads, tier.flash_reads, any},
        {"sectors: trimmed by the layer = asked", stats->host_trims, result->sectors_trimmed, any},
        {"programs: the layer's = the chip's", stats->programs, chip.programs + chip.copies,
         stats->programs * oob->span},
        {"erases: the layer's = the chip's", stats->erases, chip.erases,
         stats->erases * (oob->join != 0 ? oob->join - 1U : 0U)},
        {"erases: sum over blocks = the chip's", block_erases(replay->config.stack), chip.erases,
         chip.failures},
        {"misuses of the chip = 0", chip.misuses, 0, 0},
    };
    int broken = 0;

    for (uint32_t i = 0; i < NW_REPLAY_LAWS; i++) {
        laws[i] = all[i];
        if (all[i].left > all[i].right || all[i].right - all[i].left > all[i].slack) {
            broken++;
        }
    }
    *count = NW_REPLAY_LAWS;
    return broken;
}
