/* SPDX-License-Identifier: Apache-2.0 */
/* The books by application, by class of sectors and by hour of the day. */
#include "replay_internal.h"

#define HOUR_NS 3600000000000U

struct replay_part nw_replay_begin_part(const struct nw_replay *replay)
{
    const struct nw_tier *tier = replay->config.stack->tier;

    return (struct replay_part){.nvm_reads = tier != NULL ? tier->stats.nvm_reads : 0,
                                .nvm_writes = tier != NULL ? tier->stats.nvm_writes : 0,
                                .time_ns = replay->meter->time_ns};
}

/* Sectors from this one on that hold the same, at most `count`; *content becomes what. */
uint32_t nw_replay_same_content(const struct nw_replay *replay, uint32_t sector, uint32_t count,
                                uint8_t *content)
{
    const uint8_t *of = replay->config.content;
    uint32_t same = 1;

    if (of == NULL) {
        *content = replay->content % REPLAY_CONTENTS;
        return count;
    }
    while (same < count && of[sector + same] == of[sector]) {
        same++;
    }
    *content = of[sector] % REPLAY_CONTENTS;
    return same;
}

/* What the tier did since. */
static void add_nvm(const struct nw_replay *replay, const struct replay_part *from,
                    struct nw_replay_share *to)
{
    const struct nw_tier *tier = replay->config.stack->tier;

    if (tier != NULL) {
        to->nvm_read += tier->stats.nvm_reads - from->nvm_reads;
        to->nvm_written += tier->stats.nvm_writes - from->nvm_writes;
        to->held += tier->slots - tier->free_count;
    }
}

void nw_replay_note_piece(struct nw_replay *replay, const struct replay_part *from, uint8_t content,
                          uint8_t kind, uint32_t count)
{
    struct nw_replay_share *share = &replay->by_content[content];

    share->requests++;
    share->read += kind == NW_IO_READ ? count : 0;
    share->written += kind == NW_IO_WRITE ? count : 0;
    share->served_ns += replay->meter->time_ns - from->time_ns;
    add_nvm(replay, from, share);
}

static void add_request(const struct nw_replay *replay, const struct replay_part *from,
                        const struct nw_replay_share *asked, struct nw_replay_share *to)
{
    to->requests++;
    to->read += asked->read;
    to->written += asked->written;
    to->served_ns += asked->served_ns;
    add_nvm(replay, from, to);
}

/* The request has just been done; it arrived then and moved so many sectors. */
void nw_replay_note_request(struct nw_replay *replay, const struct replay_part *from,
                            uint64_t arrival_ns, uint64_t read, uint64_t written)
{
    uint64_t since = arrival_ns > replay->done_ns ? arrival_ns : replay->done_ns;
    struct nw_replay_share asked = {
        .read = read, .written = written, .served_ns = replay->now_ns - since};

    replay->done_ns = replay->now_ns;
    add_request(replay, from, &asked, &replay->by_app[replay->app]);
    add_request(replay, from, &asked, &replay->by_hour[arrival_ns / HOUR_NS % REPLAY_HOURS]);
}

int nw_replay_bound(struct nw_replay *replay, struct nw_tier_bound_result *result)
{
    const struct nw_tier *tier = replay->config.stack->tier;

    if (replay->bound == NULL || tier == NULL) {
        return NW_ERR_NOT_FOUND;
    }
    int status = nw_tier_bound_work_out(replay->bound, tier->slots, result);
    if (status == NW_OK) { /* what was there before may be read once more each */
        uint64_t most = result->most_nvm_reads + replay->held_before;
        result->most_nvm_reads = most < result->reads ? most : result->reads;
    }
    return status;
}

uint32_t nw_replay_shares(const struct nw_replay *replay, enum nw_replay_by by,
                          const struct nw_replay_share **shares)
{
    switch (by) {
    case NW_REPLAY_BY_APP: *shares = replay->by_app; return replay->config.apps + 1U;
    case NW_REPLAY_BY_CONTENT: *shares = replay->by_content; return REPLAY_CONTENTS;
    default: *shares = replay->by_hour; return REPLAY_HOURS;
    }
}
