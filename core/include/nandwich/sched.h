/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched.h - deadlines for flash I/O: between producers that must not wait and a block device that
 * takes milliseconds. How to use it, policies, figures: docs/sched.md.
 *
 * Interrupts hand in small requests (nw_sched_submit); the main loop asks what to do next
 * (nw_sched_next), does it (nw_sched_transfer) and says that it is done (nw_sched_done). Requests
 * of one flow that fit one sector together are written as one. Policies FIFO, EDF, G-EDF and RG-EDF
 * are those of Dou and Kalogeraki (SEUS 2008); SLACK is ours.
 *
 * TIME is a 32-bit count of ticks of the caller's own clock (us or ms; take one unit throughout).
 * It never goes back and may wrap around. Deadlines, periods and guards are below 2^30 ticks, an
 * operation is NW_SCHED_TICKS_MAX at most; with NW_SCHED_LEARN longer ones are learned as that. For
 * the rest the caller answers: an issue time lies at most 2^29 ticks from the present, and no
 * request still waits 2^29 ticks after its deadline, or it is taken for one that is not due yet.
 *
 * INTERRUPTS. Only nw_sched_submit() may be called from an interrupt, from one that no other
 * submitting interrupt breaks into; it never waits. The event callback runs in the main loop. It
 * may submit, with submitting interrupts held off, and calls nothing else of the scheduler.
 *
 * FLOWS. Requests of one flow are served in the order they were submitted: all have the same
 * relative deadline, and their issue times do not go back. A request is met when nw_sched_done()
 * ends the operation that wrote (or read) it, at its deadline at the latest. Where a device holds
 * writes back until a sync, the caller syncs it before. A device error touches only the group being
 * written.
 *
 * SPLIT REQUESTS are written piece by piece, each in a sector of its own (the last one may share
 * its sector with requests behind it). The first piece that fails or is dropped ends the request,
 * and the pieces before it stay written: cut short, but never with a hole.
 *
 * ON FLASH. Writes go one sector after the other through the log region: requests of a group follow
 * each other from byte 0, the rest of the sector is zero. The event tells where each one went. An
 * opening write (see `unit`) of SLACK may carry no request: all zeros, and no event names it.
 *
 * COST. nw_sched_submit: constant, a split request its pieces. nw_sched_next: constant for each
 * request that has arrived or is dropped, O(log flows) for each flow that was empty or drops, with
 * SLACK O(flows); then the decision: O(flows) for RG-EDF, four flows for SLACK (all with more than
 * half of the slots taken and not all to be met), else constant. nw_sched_done: the requests
 * served, those of the flow's next group, O(log flows), SLACK O(flows). No call takes in or drops
 * more than NW_SCHED_SLOTS_MAX requests. RAM: NW_SCHED_RAM_BYTES plus the struct.
 */
#ifndef NANDWICH_SCHED_H
#define NANDWICH_SCHED_H

#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/space.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_SCHED_SLOTS_MAX 120U /* requests waiting at once */
#define NW_SCHED_FLOWS_MAX 100U
#define NW_SCHED_NONE 0xFFU /* no flow, no slot */
#define NW_SCHED_TICKS_MAX 0x3FFFFFUL /* longest operation: 4 s of us, 70 minutes of ms */

/* Flags of a configuration. */
#define NW_SCHED_DROP_LATE 0x01U /* drop a request that can no longer be met; else write it late */
#define NW_SCHED_SPLIT 0x02U     /* split a request larger than a sector; else refuse it */
#define NW_SCHED_WRAP 0x04U      /* at the end of the log go on at its start, over old data */
#define NW_SCHED_LEARN 0x08U     /* correct the times below by what operations really take; then
                                    nothing is dropped with half of its time or more left, and when
                                    as many as there are slots were dropped with no operation of
                                    their kind, each further one takes a sixteenth off its time */
#define NW_SCHED_SAVE 0x10U      /* SLACK: hold back sectors that are not full, if in time */
#define NW_SCHED_PREOPEN 0x20U   /* SLACK: open the next unit when nothing waits, if a sector of the
                                    unit (and the log) is left behind the opening; who arrives then
                                    waits for its end */

enum nw_sched_direction { NW_SCHED_WRITE = 0, NW_SCHED_READ = 1 };

/* What became of a request; also which count it goes into. */
enum nw_sched_verdict {
    NW_SCHED_MET = 0,     /* in flash (or read) by its deadline */
    NW_SCHED_LATE = 1,    /* written or read, but after it */
    NW_SCHED_DROPPED = 2, /* given up because it could not be met (NW_SCHED_DROP_LATE) */
    NW_SCHED_FAILED = 3,  /* the device answered with an error */
    /* Further counts: */
    NW_SCHED_FULL = 4,    /* lost at the door: no slot was free, or the flow's limit reached */
    NW_SCHED_REFUSED = 5, /* lost at the door: larger than may be taken, or empty */
    NW_SCHED_PAST = 6,    /* deadline over when first looked at (also late, dropped or failed) */
    NW_SCHED_OFFERED = 7, /* all: met + late + dropped + failed + full + refused + still waiting */
    NW_SCHED_KINDS = 8
};

struct nw_sched;

/* Counts of one flow, caller-owned. FULL, REFUSED and OFFERED are written by nw_sched_submit(). */
struct nw_sched_counts {
    uint32_t of[NW_SCHED_KINDS];
    uint32_t response_sum; /* ticks from issue to completion, over met and late; wraps */
    uint32_t response_max;
};

/* A flow. The caller sets the first part before nw_sched_open(), the rest is the scheduler's. */
struct nw_sched_flow {
    uint32_t deadline; /* ticks from issue, > 0, below 2^30 */
    uint32_t period;   /* ticks between requests, below 2^30; 0: not known, then SAVE holds a
                          sector back as long as deadlines allow, whether or not more will come */
    struct nw_sched_counts NW_XDATA *counts; /* NULL: keep none */
    uint8_t direction; /* enum nw_sched_direction */
    uint8_t limit;     /* requests, or pieces of split ones, it may have waiting, so that others
                          find room; 0, or above slot_count: all slots (nw_sched_open() then writes
                          their number here) */

    uint8_t taken; /* requests let in, moved by nw_sched_submit() alone; wraps */
    uint8_t ended; /* requests done with; wraps */
    uint8_t head, tail; /* first and last waiting request, by slot */
    uint8_t place;      /* where in the order of flows; NW_SCHED_NONE: nothing waits */
    uint8_t count;      /* requests waiting */
    uint8_t group;      /* how many of them the next operation takes */
    uint8_t broken;     /* worst verdict of a split request so far; told with its last piece */
    uint16_t bytes;     /* size of the group */
    uint16_t space;     /* bytes that may still join it */
    uint16_t sequence;  /* of the last request offered; 0: none yet */
    uint32_t key;       /* what the flow is ordered by: the deadline of its first request */
    uint32_t next;      /* when a request is expected, by the last one and the period */
};

/* A waiting request: 16 bytes on the 8051. Scheduler's own. */
struct nw_sched_slot {
    uint32_t time;   /* issue time on the way in, then absolute deadline */
    uint32_t sector; /* read: where from; write: the producer's own word */
    uint8_t NW_XDATA *data;
    uint16_t size;
    uint16_t sequence;
    uint8_t flow; /* with NW_SCHED_MORE set: a further piece of the same request follows */
    uint8_t next; /* in its flow */
};

#define NW_SCHED_MORE 0x80U

/* What a producer hands in. Keep one for each source and set `now` (and `data`) each time; the
 * struct may be reused at once, the bytes behind `data` when the event has come. */
struct nw_sched_offer {
    struct nw_sched NW_XDATA *owner;
    uint32_t now;    /* issue time; a sample handed in late carries its own earlier time */
    uint32_t sector; /* read: sector of the device to read; write: handed back in the event */
    uint8_t NW_XDATA *data; /* size bytes; NULL: moves no payload (metadata-only devices) */
    uint16_t size;   /* bytes, > 0; above a sector see NW_SCHED_SPLIT */
    uint8_t flow;
};

/* What the producer is told, once a request (once a piece of a split one: `more`, if not 0, says
 * that another follows; the last one carries the verdict of the whole). Valid during the call only.
 * The slot holds data, size, sequence (it counts the flow's offers, lost ones too: a gap is a loss
 * at the door) and the offer's sector. */
struct nw_sched_event {
    struct nw_sched NW_XDATA *owner;
    const struct nw_sched_slot NW_XDATA *slot;
    uint32_t sector; /* of the device: where it was written or read, if met or late */
    uint16_t offset; /* in that sector, bytes; likewise */
    uint8_t flow;
    uint8_t verdict; /* enum nw_sched_verdict, up to NW_SCHED_FAILED */
    uint8_t more;
    int8_t error; /* verdict NW_SCHED_FAILED: enum nw_error of the operation; else NW_OK */
};

/*
 * On the 8051, where reaching through a pointer costs most of the time and room, there is one
 * scheduler, at a fixed place: pass &nw_sched_only wherever a scheduler is asked for. The words
 * below stand for the parameter that falls away.
 */
#if defined(__SDCC_mcs51)
extern struct nw_sched NW_XDATA nw_sched_only;
#define NW_SCHED_SELF void
#define NW_SCHED_SELF_
#define NW_SCHED_ME
#define NW_SCHED_ME_
#else
#define NW_SCHED_SELF struct nw_sched *sched
#define NW_SCHED_SELF_ struct nw_sched *sched,
#define NW_SCHED_ME sched
#define NW_SCHED_ME_ sched,
#endif

/* How one policy decides. The published four and ours are the constants below. */
struct nw_sched_policy {
    /* The flow to serve now, NW_SCHED_NONE for nothing; may set sched->wake or sched->opening. */
    uint8_t (*choose)(NW_SCHED_SELF);
    uint8_t flags; /* NW_SCHED_BY_... */
};

#define NW_SCHED_BY_GROUP 0x01U  /* requests of one flow share a sector */
#define NW_SCHED_BY_SORTED 0x02U /* keeps the flows fully sorted, not only as a heap */

extern const struct nw_sched_policy NW_CODE nw_sched_fifo;  /* the circular queue itself */
extern const struct nw_sched_policy NW_CODE nw_sched_edf;   /* earliest deadline, one by one */
extern const struct nw_sched_policy NW_CODE nw_sched_gedf;  /* EDF, and its flow's followers */
extern const struct nw_sched_policy NW_CODE nw_sched_rgedf; /* a larger group may go first */
extern const struct nw_sched_policy NW_CODE nw_sched_slack; /* ours, see docs/sched.md */

struct nw_sched {
    /* Set by the caller before nw_sched_open(); zero the rest. */
    const struct nw_sched_policy NW_CODE *policy;
    struct nw_block *block; /* NULL: the caller moves the data itself, no nw_sched_transfer() */
    uint8_t NW_XDATA *buffer; /* one sector, to gather into; NULL: moves no payload */
    void (*event)(struct nw_sched_event NW_XDATA *event); /* NULL: nobody listens */
    struct nw_sched_flow NW_XDATA *flows;
    uint8_t flow_count; /* 1 .. NW_SCHED_FLOWS_MAX */
    uint8_t slot_count; /* 1 .. NW_SCHED_SLOTS_MAX */
    uint8_t flags;
    uint16_t sector_bytes; /* of the device; also without `block` */
    uint16_t unit;         /* sectors the device opens at once: the first write into each costs
                              open_ticks (SD: the paper's "sector" of 256 blocks), and so does the
                              first after nw_sched_open(), wherever in a unit it lies: a device that
                              lost power has none open. 0: no cost */
    uint32_t first;   /* log region: first sector; where units begin, too */
    uint32_t sectors; /* log region: length, >= 1; without `block` 0: no log kept. With
                         NW_SCHED_WRAP and SLACK take a multiple of `unit`: its plan takes the last
                         unit for a whole one, and may not see the opening behind it coming */
    uint32_t position; /* next sector to write, from `first`; where to go on after a restart */
    uint32_t write_ticks; /* one sector written; with LEARN a first guess, 0 is fine. This and the
                             next three up to NW_SCHED_TICKS_MAX */
    uint32_t open_ticks;  /* the same into a new unit. Not checked against write_ticks, as both are
                             learned: less than write_ticks is taken as that, by SLACK's plan and
                             for spare time, and stays here as it was set or learned */
    uint32_t read_ticks;
    uint32_t turn_ticks;  /* between the end of an operation and the next decision; SLACK adds it to
                             each operation it plans for. Learned like the others */
    uint32_t guard_ticks; /* SLACK: kept free before each deadline for what is not foreseen. RG-EDF:
                             the paper's buffer time, after which who is overtaken is still due.
                             Below 2^30 */

    /* Results of nw_sched_next(). */
    uint32_t wake;   /* SLACK: when to ask again at the latest; valid if `waiting` */
    uint8_t waiting;
    uint8_t opening; /* this operation opens a unit without a request */
    uint8_t busy;    /* between next and done */
    uint8_t serving; /* the flow of the group; NW_SCHED_NONE: an opening without a request */

    /* The scheduler's own. */
    struct nw_sched_slot NW_XDATA *slots;
    /* All slot numbers go round in one ring, with one place to spare. From `put` to `back` lie the
     * free ones, from `take` to `put` those handed in. */
    volatile uint8_t NW_XDATA *ring;
    volatile uint8_t put;  /* moved by nw_sched_submit() alone */
    volatile uint8_t back; /* this and the next by the main loop alone */
    volatile uint8_t take;
    uint8_t ring_size;
    uint8_t NW_XDATA *order; /* flows with something waiting: a heap, or sorted */
    uint8_t order_count;
    uint8_t held;       /* requests in all flows */
    uint8_t turning;    /* an operation has ended and more is waiting */
    uint8_t given_up[2]; /* by direction: requests dropped since its time was last learned */
    uint16_t dirty;     /* bytes of the buffer that may be other than zero, from its start */
    uint16_t unit_left; /* sectors left in the open unit; 0: the next write opens one */
    uint16_t unit_next; /* sectors from there to the end of that one: the first may be a rest */
    uint32_t now;       /* of the decision being made or the operation under way */
    struct nw_sched_event told;
};

/* Bytes nw_sched_open() takes, known to the compiler: slots, the ring of their numbers, order. */
#define NW_SCHED_RAM_BYTES(slots, flows) \
    ((slots) * sizeof(struct nw_sched_slot) + ((slots) + 1U) + (flows))

/*
 * Begin. `ram` of `bytes` must be aligned for a uint32_t and a pointer and stays in use. The flows'
 * second part and the scheduler's own are set here. NW_ERR_CONFIG: a field above, or one of a flow,
 * is out of its range, or policy or flows NULL (on the 8051 also: not nw_sched_only); NW_ERR_RAM:
 * `ram` is NULL or too little; NW_ERR_RANGE: the log region leaves the device.
 */
int nw_sched_open(struct nw_sched NW_XDATA *sched, uint8_t NW_XDATA *ram, uint16_t bytes);

/* Hand in a request. NW_ERR_FULL: not enough slots free, of all or of the flow's limit (counted in
 * full); NW_ERR_RANGE: larger than a sector, with NW_SCHED_SPLIT than the flow's limit of sectors,
 * or empty (counted in refused), or no such flow. A split request takes all its slots or none. */
int nw_sched_submit(struct nw_sched_offer NW_XDATA *offer);

/*
 * Decide. 1: do an operation now (nw_sched_transfer(), or your own over nw_sched_member()), then
 * call nw_sched_done(). 0: nothing to do; ask again when something arrives, or at `wake` when
 * `waiting` is set. NW_ERR_CONFIG: the last operation was not ended by nw_sched_done().
 */
int nw_sched_next(struct nw_sched NW_XDATA *sched, uint32_t now);

/* Gather and write (or read) the group chosen. Answers what the device answered; a full log region
 * without NW_SCHED_WRAP is NW_ERR_FULL; no group chosen, or no block: NW_ERR_CONFIG. Of a read the
 * first `size` bytes of its sector are handed over. */
int nw_sched_transfer(struct nw_sched NW_XDATA *sched);

/* The group chosen, for callers that move the data themselves: how many requests, and the first of
 * them (follow `next`). An opening write has none. */
uint8_t nw_sched_members(struct nw_sched NW_XDATA *sched);
const struct nw_sched_slot NW_XDATA *nw_sched_first(struct nw_sched NW_XDATA *sched);

/* The operation ended at `now` with `result` (negative: it failed, nothing is learned from it):
 * events, counts, learning. NW_ERR_CONFIG: there was none. */
int nw_sched_done(struct nw_sched NW_XDATA *sched, uint32_t now, int result);

/* How long the device may be kept busy by other work (nw_block_idle) from `now` on without a
 * request missing its deadline: each one waiting, and one more, issued at `now`, of each flow that
 * has none waiting. 0 when something should be done first: if something has arrived, ask
 * nw_sched_next(). It takes for granted that operations and turns take what write_ticks,
 * open_ticks, read_ticks and turn_ticks say, and for SLACK that a wrapping log is a multiple of
 * `unit`. Cost: O(flows), and a step for each unit that those requests open. */
uint32_t nw_sched_spare_ticks(struct nw_sched NW_XDATA *sched, uint32_t now);

#ifdef __cplusplus
}
#endif

#endif
