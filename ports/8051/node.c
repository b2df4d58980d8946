/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sensor node: three timers hand in a record of 64 bytes every 40 ms, to be in flash 70 ms later
 * (the defaults of Dou and Kalogeraki, SEUS 2008). Runs for RUN_MS, ends what waits, halts.
 *
 * A record is its flow, its number, a mark and a check byte, so that whoever reads the card can see
 * that none is lost, doubled or out of order. -DPOLICY=nw_sched_... chooses the policy.
 */
#include "cc1010.h"
#include "nandwich/sched.h"
#include "sd_spi.h"

#ifndef POLICY
#define POLICY nw_sched_rgedf
#endif
#ifndef RUN_MS
#define RUN_MS 10000UL
#endif

#define FLOWS 3U
#define RECORDS 3U /* of each flow, in RAM at once */
#define SLOTS (FLOWS * RECORDS)
#define RECORD_BYTES 64U

static __xdata uint8_t ram[NW_SCHED_RAM_BYTES(SLOTS, FLOWS)];
static __xdata uint8_t sector[512];
static __xdata uint8_t records[FLOWS][RECORDS][RECORD_BYTES];
static __xdata struct nw_sched_flow flows[FLOWS];
static __xdata struct nw_block card;
__xdata struct nw_sched_counts counts[FLOWS];
__xdata int status;

static __xdata struct nw_sched_offer offer;
static volatile __xdata uint32_t now_ms;
static __xdata uint8_t countdown[FLOWS];
static __xdata uint8_t turn[FLOWS]; /* which record buffer is next */
static __xdata uint16_t number[FLOWS];

/*
 * A flow never has more requests waiting than record buffers, so a buffer is free when its turn
 * comes again; otherwise the door refuses and the record is not looked at. No function of its own:
 * every call costs two of the few bytes of stack.
 */
void timer_interrupt(void) __interrupt(1)
{
    static __xdata uint8_t flow;

    TH0 = (uint8_t)(TIMER_RELOAD >> 8);
    TL0 = (uint8_t)TIMER_RELOAD;
    now_ms++;
    if (now_ms > RUN_MS) {
        return;
    }
    for (flow = 0; flow < FLOWS; flow++) {
        if (--countdown[flow] != 0) {
            continue;
        }
        countdown[flow] = 40;
        number[flow]++;
        offer.flow = flow;
        offer.now = now_ms;
        offer.data = records[flow][turn[flow]];
        if (nw_sched_submit(&offer) == NW_OK) {
            offer.data[0] = flow;
            offer.data[1] = (uint8_t)number[flow];
            offer.data[2] = (uint8_t)(number[flow] >> 8);
            offer.data[3] = 0xA5U;
            offer.data[RECORD_BYTES - 1U] = (uint8_t)(flow ^ offer.data[1]);
            turn[flow] = turn[flow] == RECORDS - 1U ? 0 : (uint8_t)(turn[flow] + 1U);
        }
    }
}

static uint32_t now(void)
{
    uint32_t time;

    EA = 0;
    time = now_ms;
    EA = 1;
    return time;
}

static int start(void)
{
    struct nw_sched __xdata *sched = &nw_sched_only;
    uint8_t flow;
    int result = sd_open(&card, 262144UL);

    if (result < 0) {
        return result;
    }
    sched->policy = &POLICY;
    sched->block = &card;
    sched->buffer = sector;
    sched->flows = flows;
    sched->flow_count = FLOWS;
    sched->slot_count = SLOTS;
    sched->flags = NW_SCHED_DROP_LATE | NW_SCHED_LEARN | NW_SCHED_SAVE | NW_SCHED_PREOPEN;
    sched->sector_bytes = 512;
    sched->unit = 256;
    sched->sectors = card.sectors;
    sched->write_ticks = 15;
    sched->open_ticks = 100;
    sched->guard_ticks = 3;
    offer.owner = sched;
    offer.size = RECORD_BYTES;
    for (flow = 0; flow < FLOWS; flow++) {
        flows[flow].deadline = 70;
        flows[flow].period = 40;
        flows[flow].limit = RECORDS;
        flows[flow].counts = &counts[flow];
        countdown[flow] = (uint8_t)(1U + 13U * flow);
    }
    return nw_sched_open(sched, ram, sizeof ram);
}

void main(void)
{
    CKCON = 0;
    TMOD = 1;
    status = start();
    ET0 = 1;
    TR0 = 1;
    EA = 1;
    while (status >= 0) {
        int todo = nw_sched_next(&nw_sched_only, now());

        if (todo > 0) {
            int result = nw_sched_transfer(&nw_sched_only);

            status = nw_sched_done(&nw_sched_only, now(), result);
        } else if (!nw_sched_only.waiting && now() > RUN_MS) {
            break;
        }
    }
    EA = 0;
    for (;;) {
    }
}
