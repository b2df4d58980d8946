/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - drives a block device on a twin with the requests of a source, and keeps the books.
 *
 *   nw_stack_chip(), filters, nw_stack_layer()     the device (nandwich-stack/stack.h), with an NVM
 *                                                  before it: nw_stack_tier()
 *   nw_replay_open()
 *   nw_replay_precondition() until it answers 0    the device as an old one, not counted
 *   nw_replay_run() until it answers 0             the requests
 *   nw_replay_read_back() until it answers 0       with VERIFY: every sector, not counted
 *   nw_replay_check()                              nothing was lost or invented
 *   nw_replay_close()
 *
 * TIME. The chip's meter is the clock. Back to back, each request begins when the one before it
 * ended. With NW_REPLAY_ARRIVALS it begins at its arrival, or when the one before it ended if that
 * is later: one queue, served in order; response is completion less arrival. Between requests the
 * device is idle, which costs standby energy, and with NW_REPLAY_IDLE its layer may work ahead for
 * as long as the gap lasts. A request that arrives before its predecessor counts as one of that
 * predecessor's time (`stepped_back`).
 *
 * SECTORS. A request is rounded out to whole sectors. A sector written in part is read first
 * (`partial_reads`): a device with larger sectors than the trace has to.
 *
 * WHO AND WHAT. A source may say which application asks and what a sector holds (io.h), and
 * config.content may say the latter for each sector of the device. Both reach the layers with the
 * request, which is split where the class changes, and the books are kept by both and by the hour
 * of the day: nw_replay_shares(); by class only what somebody tells a class of, by the others with
 * a tier or with applications. The clock begins at midnight.
 *
 * PASSES. With config.repeat the source is played again, one mean gap behind its last request; 0
 * plays it until the device refuses (`ended` tells with what). Any other refusal ends the run too.
 *
 * VERIFY. Each sector written gets a token of its own, each sector read is compared with the one
 * last written there, or zeros. A trace that only writes proves nothing so: read the device back
 * when the run has ended. The device must carry payload: a twin with payload, or tokens.h
 * over one without. 4 bytes a sector.
 *
 * MEMORY. Constant in the number of requests, but with BOUND (tier_bound.h); of malloc. Cost: some
 * 20 ns a request of our own.
 */
#ifndef NANDWICH_REPLAY_REPLAY_H
#define NANDWICH_REPLAY_REPLAY_H

#include "nandwich-replay/io.h"
#include "nandwich-replay/latency.h"
#include "nandwich-replay/tier_bound.h"
#include "nandwich-stack/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_REPLAY_ARRIVALS 0x01U /* requests come at their times, else back to back */
#define NW_REPLAY_IDLE 0x02U     /* with ARRIVALS: the layer works ahead between requests */
#define NW_REPLAY_VERIFY 0x04U   /* tokens, and each read checked */
#define NW_REPLAY_BOUND 0x08U    /* requests are kept for nw_replay_bound() */

/* What becomes of requests beyond the device's end. */
enum nw_replay_fit {
    NW_REPLAY_REFUSE, /* the run ends with NW_ERR_RANGE */
    NW_REPLAY_WRAP,   /* sectors count modulo the device */
    NW_REPLAY_SCALE   /* offsets shrink by device / extent, lengths stay */
};

/* When room is made in the NVM before it is wanted. */
enum nw_replay_prepare {
    NW_REPLAY_WHEN_IDLE, /* with IDLE in gaps, else not */
    NW_REPLAY_AT_ONCE,   /* before the next request, which waits for it */
    NW_REPLAY_UNSEEN     /* so too, but it takes no time: the ideal */
};

struct nw_replay_config {
    struct nw_stack *stack; /* with its layer open; nw_replay_run() starts its counting */
    struct nw_io_source *source;
    uint64_t extent;       /* with SCALE: bytes the source reaches, at least */
    uint64_t limit;        /* requests after which to end; 0: none */
    uint64_t heals;        /* healings after which to end; 0: none */
    uint32_t repeat;       /* passes over the source; 0: until the device refuses */
    const uint8_t *content; /* of each sector of the device what it holds, as io.h has it; NULL: as
                             * the source says. Stays the caller's */
    uint16_t apps;         /* applications told apart, 1 .. apps; others count as 0, nobody */
    uint32_t seed;         /* of the random part of preconditioning */
    uint32_t precondition; /* sectors written before counting starts, in permille of the device: up
                            * to 1000 in order from the first, what is more at random */
    uint8_t fit;           /* enum nw_replay_fit */
    uint8_t flags;         /* NW_REPLAY_... */
    uint8_t prepare;       /* enum nw_replay_prepare; with a tier */
};

/* State at one time of the run, everything since counting started. */
struct nw_replay_sample {
    uint64_t time_ns;
    uint64_t requests;
    uint64_t written; /* sectors */
    uint64_t read;
    uint64_t chip_reads;
    uint64_t chip_programs; /* copies included */
    uint64_t chip_erases;
    uint64_t copies;
    uint64_t response_sum_ns; /* of all requests so far */
    uint64_t response_max_ns; /* of those since the sample before */
    uint64_t energy_pj;
    uint64_t retired; /* blocks */
};

#define NW_REPLAY_SAMPLES 512U
#define NW_REPLAY_HEALS 1024U /* the first healings whose times are kept */
#define NW_REPLAY_QUEUE_MOST 65536U

struct nw_replay_result {
    uint64_t requests; /* taken from the source */
    uint64_t done;     /* completed; the rest is the one that ended the run */
    uint64_t passes;   /* whole ones */
    uint64_t syncs;
    uint64_t sectors_read; /* asked for, partial reads not among them */
    uint64_t sectors_written;
    uint64_t sectors_trimmed;
    uint64_t partial_reads;
    uint64_t wrapped; /* requests moved by WRAP, or cut short at the end by SCALE */
    uint64_t stepped_back;
    uint64_t bytes_read;    /* as asked, before rounding */
    uint64_t bytes_written;
    uint64_t busy_ns;    /* the device worked for a request */
    uint64_t ahead_ns;   /* ... worked ahead between requests */
    uint64_t idle_ns;    /* ... did nothing */
    uint64_t end_ns;     /* emulated time of the whole */
    uint64_t energy_pj;  /* of operations */
    uint64_t standby_pj; /* of idle time */
    uint64_t queue_max;  /* requests waiting or served when one arrived, itself too; at most
                          * NW_REPLAY_QUEUE_MOST */
    uint64_t worst_request;  /* which was served longest, from 0 */
    uint64_t worst_call_ns;  /* ... and how long, waiting apart */
    uint64_t tokens_checked; /* sectors */
    uint64_t read_back;      /* sectors, by nw_replay_read_back() */
    uint64_t violations;     /* sectors that did not read as written */
    uint64_t violation_request; /* the first; `requests`: it showed when read back */
    uint64_t violation_sector;
    uint64_t death_request; /* at which the first block was given up, from 0 */
    uint64_t death_written; /* sectors written until then */
    uint64_t death_ns;
    uint8_t dead;           /* 1: a block was given up */
    int ended;              /* NW_OK: the source ended or the limit was reached; else the error */
    uint64_t ended_sector;
    struct nw_latency reads;  /* responses */
    struct nw_latency writes;
    struct nw_latency others; /* trims and syncs */
};

struct nw_replay;

/* NW_ERR_CONFIG: a layer without statistics, VERIFY on a device without payload, SCALE without
 * extent; NW_ERR_RAM. */
int nw_replay_open(struct nw_replay **replay, const struct nw_replay_config *config);
void nw_replay_close(struct nw_replay *replay); /* NULL is fine; the stack stays open */

/* Writes at most `sectors` more before counting: 1: more to do, 0: done, else the device's
 * error. */
int nw_replay_precondition(struct nw_replay *replay, uint64_t sectors);

/* At most `requests` more: 1: more to come, 0: ended (result.ended tells how), else an error of the
 * source, or NW_ERR_RAM. */
int nw_replay_run(struct nw_replay *replay, uint64_t requests);

/*
 * With VERIFY, after the run: reads at most `sectors` more of the device, from its first to its
 * last, and compares. A sector that cannot be read is a violation too. Left out is the sector that
 * ended the run: it holds the old content or the new. Chip, layer and clock count these reads, so
 * take everything else of the result first. 1: more to do, 0: done (at once without VERIFY),
 * NW_ERR_RAM.
 */
int nw_replay_read_back(struct nw_replay *replay, uint64_t sectors);

/* Ends the run as if the source had ended here; nothing when it has ended or not begun. */
void nw_replay_end(struct nw_replay *replay);

const struct nw_replay_result *nw_replay_outcome(struct nw_replay *replay);

/* What the requests of one application, of one class of sectors or in one hour of the day asked
 * for, and what became of them. */
struct nw_replay_share {
    uint64_t requests; /* by class: parts of requests */
    uint64_t read;     /* sectors, partial reads among them */
    uint64_t written;
    uint64_t nvm_read; /* of these in the NVM */
    uint64_t nvm_written;
    uint64_t served_ns; /* from arrival, or when the one before it was done if that is later, to
                         * completion; by class: the device's time for these sectors */
    uint64_t held;      /* slots of the NVM in use when each request was done, added up */
};

enum nw_replay_by { NW_REPLAY_BY_APP, NW_REPLAY_BY_CONTENT, NW_REPLAY_BY_HOUR };

/* By application from 0, nobody; by class as io.h numbers them; by hour from 0: how many. */
uint32_t nw_replay_shares(struct nw_replay *replay, enum nw_replay_by by,
                          const struct nw_replay_share **shares);

/* With BOUND, after the run: what its tier could have done at best. NW_ERR_NOT_FOUND: no tier, or
 * without BOUND; NW_ERR_FULL: more requests than are kept; NW_ERR_RAM. */
int nw_replay_bound(struct nw_replay *replay, struct nw_tier_bound_result *result);

/* At most NW_REPLAY_SAMPLES, evenly spaced in requests: how many. The last one is the end. */
uint32_t nw_replay_samples(struct nw_replay *replay, const struct nw_replay_sample **samples);

/* When each of the first NW_REPLAY_HEALS healings had ended, ns: how many are told. Those done for
 * one request, or in one gap, have the same time. */
uint32_t nw_replay_heals(const struct nw_replay *replay, const uint64_t **times);

/* One law the books must keep. */
struct nw_replay_law {
    const char *name;
    uint64_t left; /* the two sides; with `slack` != 0 right may be larger by up to that */
    uint64_t right;
    uint64_t slack;
};

#define NW_REPLAY_LAWS 12U

/* Works out every law: how many are broken (0: all hold). `laws` has room for NW_REPLAY_LAWS,
 * *count tells how many there are. */
int nw_replay_check(struct nw_replay *replay, struct nw_replay_law *laws, uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif
