/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler itself costs, without a card: 16 requests wait, one group is taken and as many
 * requests are handed in again. It runs on an 8051, an ATmega128 and a Cortex-M3; a port (or an
 * address) tells the emulator what runs: 1 submit, 2 next with nothing new, 3 next that takes in
 * what was handed in, 4 done, 0 in between, 255 all is over.
 *
 * The scheduler holds 24 requests. -DFLOWS=n -DPOLICY=nw_sched_... -DFLAGS=...
 */
#include "nandwich/sched.h"

#if defined(__SDCC_mcs51)
#include "cc1010.h"
#define MARK(what) (P1 = (what))
#elif defined(__AVR__)
#include <avr/io.h>
#define MARK(what) (PORTB = (what))
#else
#define MARK(what) (*(volatile uint32_t *)0x40000000UL = (what))
#endif

#if !defined(__SDCC_mcs51)
static struct nw_sched nw_sched_only;
#endif

#ifndef POLICY
#define POLICY nw_sched_rgedf
#endif
#ifndef FLOWS
#define FLOWS 3U
#endif
#ifndef FLAGS
#define FLAGS (NW_SCHED_DROP_LATE | NW_SCHED_LEARN)
#endif

#ifndef SLOTS
#define SLOTS 24U
#endif
#define WAITING 16U
#define ROUNDS 60U

#if defined(__GNUC__)
__attribute__((aligned(4)))
#endif
NW_XDATA uint8_t ram[NW_SCHED_RAM_BYTES(SLOTS, FLOWS)];
NW_XDATA struct nw_sched_flow flows[FLOWS];
NW_XDATA struct nw_sched_counts counts[FLOWS];
NW_XDATA int status;

static NW_XDATA struct nw_sched_offer offer;
static NW_XDATA uint32_t time_us;

static void hand_in(uint8_t count)
{
    static NW_XDATA uint8_t flow;

    for (; count > 0; count--) {
        offer.flow = flow;
        offer.now = time_us;
        time_us += 150;
        flow = flow == FLOWS - 1U ? 0 : (uint8_t)(flow + 1U);
        MARK(1);
        status |= nw_sched_submit(&offer);
        MARK(0);
    }
}

static int start(void)
{
    struct nw_sched NW_XDATA *sched = &nw_sched_only;
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

int main(void)
{
    uint8_t round;

#if defined(__SDCC_mcs51)
    CKCON = 0;
#elif defined(__AVR__)
    DDRB = 0xFF;
#endif
    status = start();
    hand_in(WAITING);
    for (round = 0; round < ROUNDS && status == NW_OK; round++) {
        uint8_t waiting = 0;
        uint8_t i;
        int todo;

        MARK(3);
        todo = nw_sched_next(&nw_sched_only, time_us);
        MARK(0);
        if (todo > 0 && nw_sched_only.take == nw_sched_only.put) {
            /* Undo the choice and make it again: now nothing has to be taken in. */
            nw_sched_only.busy = 0;
            MARK(2);
            todo = nw_sched_next(&nw_sched_only, time_us);
            MARK(0);
        }
        if (todo > 0) {
            time_us += 13000;
            MARK(4);
            status |= nw_sched_done(&nw_sched_only, time_us, NW_OK);
            MARK(0);
        } else {
            time_us = nw_sched_only.wake;
        }
        for (i = 0; i < FLOWS; i++) {
            waiting = (uint8_t)(waiting + (uint8_t)(flows[i].taken - flows[i].ended));
        }
        hand_in((uint8_t)(WAITING - waiting));
    }
    MARK(255);
    for (;;) {
    }
}
