/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler itself costs, without a card: 16 requests wait, one group is taken and as many
 * requests are handed in again. Port P1 tells the simulator what runs: 1 submit, 2 next with
 * nothing new, 3 next that takes in what was handed in, 4 done; 0 in between.
 *
 * The scheduler holds 24 requests. -DFLOWS=n -DPOLICY=nw_sched_... -DSLACK_FLAGS=...
 */
#include "cc1010.h"
#include "nandwich/sched.h"

#ifndef POLICY
#define POLICY nw_sched_rgedf
#endif
#ifndef FLOWS
#define FLOWS 3U
#endif
#ifndef FLAGS
#define FLAGS (NW_SCHED_DROP_LATE | NW_SCHED_LEARN)
#endif

#define SLOTS 24U
#define WAITING 16U
#define ROUNDS 60U

__xdata uint8_t ram[NW_SCHED_RAM_BYTES(SLOTS, FLOWS)];
__xdata struct nw_sched_flow flows[FLOWS];
__xdata struct nw_sched_counts counts[FLOWS];
__xdata int status;

static __xdata struct nw_sched_offer offer;
static __xdata uint32_t time_us;

static void hand_in(uint8_t count)
{
    static __xdata uint8_t flow;

    for (; count > 0; count--) {
        offer.flow = flow;
        offer.now = time_us;
        time_us += 150;
        flow = flow == FLOWS - 1U ? 0 : (uint8_t)(flow + 1U);
        P1 = 1;
        status |= nw_sched_submit(&offer);
        P1 = 0;
    }
}

static int start(void)
{
    struct nw_sched __xdata *sched = &nw_sched_only;
    uint8_t i;

    sched->policy = &POLICY;
    sched->flows = flows;
    sched->flow_count = FLOWS;
    sched->slot_count = SLOTS;
    sched->flags = FLAGS;
    sched->sector_bytes = 512;
    sched->unit = 256;
    sched->write_ticks = 13000;
    sched->open_ticks = 100000UL;
    sched->guard_ticks = 2000;
    offer.owner = sched;
    offer.size = 64;
    for (i = 0; i < FLOWS; i++) {
        flows[i].deadline = 400000UL + i * 1000UL;
        flows[i].period = 40000UL;
        flows[i].counts = &counts[i];
    }
    return nw_sched_open(sched, ram, sizeof ram);
}

void main(void)
{
    uint8_t round;

    CKCON = 0;
    status = start();
    hand_in(WAITING);
    for (round = 0; round < ROUNDS && status == NW_OK; round++) {
        uint8_t waiting = 0;
        uint8_t i;
        int todo;

        P1 = 3;
        todo = nw_sched_next(&nw_sched_only, time_us);
        P1 = 0;
        if (todo > 0 && (POLICY.flags & NW_SCHED_BY_ARRIVAL) == 0) {
            /* Undo the choice and make it again: now nothing has to be taken in. */
            nw_sched_only.busy = 0;
            P1 = 2;
            todo = nw_sched_next(&nw_sched_only, time_us);
            P1 = 0;
        }
        if (todo > 0) {
            time_us += 13000;
            P1 = 4;
            status |= nw_sched_done(&nw_sched_only, time_us, NW_OK);
            P1 = 0;
        } else {
            time_us = nw_sched_only.wake;
        }
        for (i = 0; i < FLOWS; i++) {
            waiting += flows[i].taken - flows[i].ended;
        }
        hand_in((uint8_t)(WAITING - waiting));
    }
    for (;;) {
    }
}
