/* SPDX-License-Identifier: Apache-2.0 */
/* The books by application, by class of sectors and by hour of the day. */
#include <string.h>

#include "replay_share.h"

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

void nw_replay_note_piece(struct nw_replay *replay, const struct replay_part *from, uint8_t content,
                          uint8_t kind, uint32_t count)
{
    struct nw_replay_share *share = &replay->by_content[content];

    share->requests++;
    share->read += kind == NW_IO_READ ? count : 0;
    share->written += kind == NW_IO_WRITE ? count : 0;
    share->served_ns += replay->meter->time_ns - from->time_ns;
    nw_replay_add_nvm(replay, from, share);
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

uint32_t nw_replay_shares(struct nw_replay *replay, enum nw_replay_by by,
                          const struct nw_replay_share **shares)
{
    if (replay->config.apps == 0) {
        memset(replay->by_app, 0, sizeof *replay->by_app);
        for (uint32_t hour = 0; hour < REPLAY_HOURS; hour++) {
            nw_replay_add_share(&replay->by_hour[hour], replay->by_app);
        }
    }
    switch (by) {
    case NW_REPLAY_BY_APP: *shares = replay->by_app; return replay->config.apps + 1U;
    case NW_REPLAY_BY_CONTENT: *shares = replay->by_content; return REPLAY_CONTENTS;
    default: *shares = replay->by_hour; return REPLAY_HOURS;
    }
}
