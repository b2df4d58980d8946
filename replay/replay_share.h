/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_share.h - the books by application, class of sectors and hour of the day. What each
 * request needs is inline: calls would take a tenth of the time of one.
 */
#ifndef NW_REPLAY_SHARE_H
#define NW_REPLAY_SHARE_H

#include "replay_internal.h"

#define REPLAY_HOUR_NS 3600000000000U

/* A request, or a part of it. */
struct replay_part {
    uint64_t nvm_reads; /* of the tier when it began */
    uint64_t nvm_writes;
    uint64_t read; /* sectors asked for by then */
    uint64_t written;
    uint64_t time_ns; /* of the meter */
};

/* Sectors from this one on that hold the same, at most `count`; *content becomes what. */
uint32_t nw_replay_same_content(const struct nw_replay *replay, uint32_t sector, uint32_t count,
                                uint8_t *content);
void nw_replay_note_piece(struct nw_replay *replay, const struct replay_part *from, uint8_t content,
                          uint8_t kind, uint32_t count);

static inline struct replay_part nw_replay_begin_part(const struct nw_replay *replay)
{
    const struct nw_tier *tier = replay->config.stack->tier;

    return (struct replay_part){.nvm_reads = tier != NULL ? tier->stats.nvm_reads : 0,
                                .nvm_writes = tier != NULL ? tier->stats.nvm_writes : 0,
                                .read = replay->result.sectors_read + replay->result.partial_reads,
                                .written = replay->result.sectors_written,
                                .time_ns = replay->meter->time_ns};
}

/* What the tier did since. */
static inline void nw_replay_add_nvm(const struct nw_replay *replay,
                                     const struct replay_part *from, struct nw_replay_share *to)
{
    const struct nw_tier *tier = replay->config.stack->tier;

    if (tier != NULL) {
        to->nvm_read += tier->stats.nvm_reads - from->nvm_reads;
        to->nvm_written += tier->stats.nvm_writes - from->nvm_writes;
        to->held += tier->slots - tier->free_count;
    }
}

static inline void nw_replay_add_share(const struct nw_replay_share *asked,
                                       struct nw_replay_share *to)
{
    to->requests += asked->requests;
    to->read += asked->read;
    to->written += asked->written;
    to->nvm_read += asked->nvm_read;
    to->nvm_written += asked->nvm_written;
    to->served_ns += asked->served_ns;
    to->held += asked->held;
}

/* Of the hour in which it arrived; divisions only when that is another one. */
static inline struct nw_replay_share *nw_replay_hour_of(struct nw_replay *replay,
                                                        uint64_t arrival_ns)
{
    if (replay->hour == NULL || arrival_ns - replay->hour_ns >= REPLAY_HOUR_NS) {
        uint64_t hour = arrival_ns / REPLAY_HOUR_NS;

        replay->hour_ns = hour * REPLAY_HOUR_NS;
        replay->hour = &replay->by_hour[hour % REPLAY_HOURS];
    }
    return replay->hour;
}

/* The request has just been done; it arrived then. */
static inline void nw_replay_note_request(struct nw_replay *replay,
                                          const struct replay_part *from, uint64_t arrival_ns)
{
    uint64_t since = arrival_ns > replay->done_ns ? arrival_ns : replay->done_ns;
    const struct nw_replay_result *result = &replay->result;
    struct nw_replay_share asked = {
        .requests = 1,
        .read = result->sectors_read + result->partial_reads - from->read,
        .written = result->sectors_written - from->written,
        .served_ns = replay->now_ns - since};

    nw_replay_add_nvm(replay, from, &asked);
    replay->done_ns = replay->now_ns;
    nw_replay_add_share(&asked, nw_replay_hour_of(replay, arrival_ns));
    if (replay->config.apps != 0) { /* else all are nobody's: the sum over the hours */
        nw_replay_add_share(&asked, &replay->by_app[replay->app]);
    }
}

#endif
