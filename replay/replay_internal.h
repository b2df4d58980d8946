/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_internal.h - the state of a replay, shared by its files:
 *   replay.c        open, close, precondition, the loop over requests
 *   replay_serve.c  one request on the device: sectors, tokens, time
 *   replay_share.c  the books by application, class and hour
 *   replay_books.c  samples, and the laws the books keep
 */
#ifndef NW_REPLAY_INTERNAL_H
#define NW_REPLAY_INTERNAL_H

#include "nandwich-replay/replay.h"

#include "nandwich/content.h"

#define REPLAY_BATCH 256U
#define REPLAY_CONTENTS 32U /* classes, and the same of a guest */
#define REPLAY_HOURS 24U

struct nw_replay {
    struct nw_replay_config config;
    struct nw_replay_result result;
    struct nw_block *block;
    struct nw_timeline *timeline; /* the stack's; NULL: none */
    const struct nw_stats *layer; /* what the translation layer did */
    struct nw_meter *meter;
    uint64_t standby_nw;

    /* The batch being played. */
    struct nw_io batch[REPLAY_BATCH];
    uint32_t batch_at;
    uint32_t batch_count;

    /* Time. */
    uint64_t pass_ns;    /* where this pass began */
    uint64_t arrival_ns; /* of the last request */
    uint64_t pass_requests;
    uint64_t worked_ns;  /* of the meter, seen so far */
    uint64_t now_ns;     /* when the device was last done */
    uint64_t *queue;     /* completions, a ring; NULL when back to back */
    uint32_t queue_head;
    uint32_t queue_count;

    /* Who and what. */
    struct nw_replay_share *by_app; /* config.apps and nobody */
    struct nw_replay_share by_content[REPLAY_CONTENTS];
    struct nw_replay_share by_hour[REPLAY_HOURS];
    uint64_t done_ns; /* when the request before it was done */
    uint64_t hour_ns; /* when the hour of that one began */
    struct nw_replay_share *hour; /* NULL: none so far */
    struct nw_tier_bound *bound; /* NULL: nobody asked for it */

    /* Tokens. */
    uint32_t *versions; /* by sector; 0: zeros */
    uint8_t *payload;
    uint64_t payload_bytes;

    /* Preconditioning. */
    uint64_t written;
    uint64_t wanted;
    uint64_t random;

    struct nw_replay_sample samples[NW_REPLAY_SAMPLES + 1U];
    uint32_t sample_count;
    uint64_t sample_every;
    uint64_t sample_next;
    uint64_t sample_max_ns;
    uint64_t heal_ns[NW_REPLAY_HEALS];
    uint64_t heals_before; /* the policy's count when counting started */
    uint64_t heals;
    uint8_t counting;
    uint8_t over;
    uint8_t from_start; /* rewound, nothing taken yet */

    /* Small ones of the above. */
    uint8_t shift;        /* log2 of the sector's bytes; 255: they are no power of two */
    uint8_t content;      /* of the request being served, as its source says */
    uint16_t app;         /* and who asks */
    uint8_t keeps_shares; /* 1: there is a tier, or applications are told apart */
    uint32_t held_before; /* slots in use when counting started */
    uint32_t read_back;   /* sectors read back so far, those left out among them */
};

/* replay_serve.c: NW_OK, or what ended the run. */
int nw_replay_serve(struct nw_replay *replay, const struct nw_io *io);
int nw_replay_write(struct nw_replay *replay, uint32_t sector, uint32_t count);

/* replay_books.c */
void nw_replay_take_sample(struct nw_replay *replay);

#endif
