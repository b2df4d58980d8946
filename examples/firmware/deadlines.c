/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sensors that must not wait, over a card that sometimes makes them: the deadline scheduler.
 *
 * The tick's interrupt takes a record of vibration each 20 ms and one of the node's state each
 * 500 ms and hands them in; it never waits. The main loop writes what the scheduler chooses, as
 * many records to a sector as are due together, and says "kept N" for N sectors of the card. Once a
 * second it says how many records met their deadlines.
 *
 * ON THE CARD sectors follow each other from 1 on, each full of records from its byte 0 on. Sector
 * 0 has the log's number, which all records carry: what an older log left is told by it. So the
 * first sector without a record of this log is where to go on. The card is the node's own, without
 * a file system. Console: `f` in the first tenth of a second begins a new log.
 */
#include <stdint.h>
#include <string.h>

#include "board.h"
#include "nandwich/crc.h"
#include "nandwich/driver_sd.h"
#include "nandwich/sched.h"

#define SECTOR_BYTES 512U
#define UNIT 8192U /* sectors that the card opens at once: 4 MiB, its allocation unit */
#define SLOTS 32U
#define MAGIC 0x4C44U

enum flow { VIBRATION, STATE, FLOWS };

struct record {
    uint16_t magic;
    uint16_t crc; /* of all behind it */
    uint16_t log;
    uint16_t flow;
    uint32_t number; /* in its flow, since the start */
    uint32_t ms;
    uint16_t values[24];
};

#define HEADED ((uint32_t)offsetof(struct record, log))

/* Records wait here until the event tells that they are written: as many as a flow may have
 * waiting, and one that is being made. */
#define VIBRATIONS 21U
#define STATES 5U
static struct record vibrations[VIBRATIONS], states[STATES];
static struct record *const rings[FLOWS] = {vibrations, states};
static const uint8_t ring_size[FLOWS] = {VIBRATIONS, STATES};
static uint8_t ring_at[FLOWS];
static uint32_t numbers[FLOWS];

static struct nw_sd card;
static struct nw_sched sched;
static struct nw_sched_counts counts[FLOWS];
static struct nw_sched_flow flows[FLOWS] = {
    [VIBRATION] = {.deadline = 150, .period = 20, .counts = &counts[VIBRATION],
                   .limit = VIBRATIONS - 1U},
    [STATE] = {.deadline = 1000, .period = 500, .counts = &counts[STATE], .limit = STATES - 1U},
};
static struct nw_sched_offer offer = {.owner = &sched, .size = sizeof(struct record)};
static uint32_t ram[NW_SCHED_RAM_BYTES(SLOTS, FLOWS) / 4U + 1U];
static uint8_t sector[SECTOR_BYTES];
static volatile uint8_t recording;
static uint16_t log_number;

/* IN THE INTERRUPT */

/* One record into the ring, and its place to the scheduler. When it is not let in the place is
 * free for the next one; the number goes on, so a reader sees the loss. */
static void take(uint8_t flow, uint32_t ms)
{
    struct record *record = &rings[flow][ring_at[flow]];

    record->magic = MAGIC;
    record->log = log_number;
    record->flow = flow;
    record->number = numbers[flow]++;
    record->ms = ms;
    for (uint32_t i = 0; i < sizeof record->values / sizeof record->values[0]; i++) {
        record->values[i] = board_sample();
    }
    record->crc = nw_crc16(NW_CRC16_START, &record->log, sizeof *record - HEADED);
    offer.flow = flow;
    offer.now = ms;
    offer.data = (uint8_t *)record;
    if (nw_sched_submit(&offer) == NW_OK) {
        ring_at[flow] = (uint8_t)((ring_at[flow] + 1U) % ring_size[flow]);
    }
}

void board_tick(uint32_t ms)
{
    if (recording == 0) {
        return;
    }
    if (ms % 20U == 0) {
        take(VIBRATION, ms);
    }
    if (ms % 500U == 0) {
        take(STATE, ms);
    }
}

/* IN THE MAIN LOOP */

static int move_sector(uint32_t at, int (*verb)(struct nw_block_req *req))
{
    struct nw_block_req req = {.block = &card.block, .sector = at, .count = 1, .data = sector};

    return verb(&req);
}

/* Whether a sector begins with a record of this log: 1 or 0, or the card's error. */
static int is_ours(uint32_t at)
{
    struct record record;
    int result = move_sector(at, nw_block_read);

    if (result < 0) {
        return result;
    }
    memcpy(&record, sector, sizeof record);
    return record.magic == MAGIC && record.log == log_number &&
           record.crc == nw_crc16(NW_CRC16_START, &record.log, sizeof record - HEADED);
}

/* The log's number from sector 0, or the next one when a new log is wanted. */
static void open_log(int anew)
{
    int result = move_sector(0, nw_block_read);
    int known = sector[0] == 'D' && sector[1] == 'L';

    if (result >= 0 && !known && !anew) {
        board_fail("no log here; send f at the start for a new one", NW_ERR_NOT_FOUND);
    }
    log_number = known ? (uint16_t)(sector[2] | sector[3] << 8) : 0;
    if (result >= 0 && anew) {
        log_number++;
        memset(sector, 0, sizeof sector);
        sector[0] = 'D';
        sector[1] = 'L';
        sector[2] = (uint8_t)log_number;
        sector[3] = (uint8_t)(log_number >> 8);
        result = move_sector(0, nw_block_write);
    }
    if (result < 0) {
        board_fail("card", result);
    }
}

/* How many sectors behind the first one are written, by halves. */
static uint32_t find_end(void)
{
    uint32_t low = 1, high = card.block.sectors;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2U;
        int ours = is_ours(middle);

        if (ours < 0) {
            board_fail("card", ours);
        }
        if (ours != 0) {
            low = middle + 1U;
        } else {
            high = middle;
        }
    }
    return low;
}

static void open_scheduler(uint32_t position)
{
    int result;

    sched.policy = &nw_sched_slack;
    sched.block = &card.block;
    sched.buffer = sector;
    sched.flows = flows;
    sched.flow_count = FLOWS;
    sched.slot_count = SLOTS;
    sched.flags = NW_SCHED_DROP_LATE | NW_SCHED_LEARN | NW_SCHED_SAVE;
    sched.sector_bytes = SECTOR_BYTES;
    sched.unit = UNIT;
    sched.sectors = card.block.sectors;
    sched.position = position;
    sched.write_ticks = 2; /* guesses; it learns */
    sched.open_ticks = 100;
    sched.guard_ticks = 5;
    result = nw_sched_open(&sched, (uint8_t *)ram, sizeof ram);
    if (result < 0) {
        board_fail("scheduler", result);
    }
}

static void tell_counts(void)
{
    static const char *const names[FLOWS] = {"vibration", "state"};

    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        board_say(names[flow]);
        for (uint32_t kind = NW_SCHED_MET; kind <= NW_SCHED_FULL; kind++) {
            board_say_number((int32_t)counts[flow].of[kind]);
        }
        board_say_line("", (int32_t)counts[flow].response_max);
    }
}

static void write_group(void)
{
    int result = nw_sched_transfer(&sched);

    (void)nw_sched_done(&sched, board_ms(), result);
    if (result == NW_ERR_FULL) {
        board_fail("the card is full", result);
    }
    if (result < 0) {
        board_fail("card", result); /* the same sector is tried again behind the reset */
    }
    board_say_line("kept", (int32_t)sched.position);
}

int main(void)
{
    uint32_t position, told = 0;
    int result;

    board_open();
    board_say("deadlines\n");
    result = nw_sd_open(&card, &board_spi);
    if (result < 0) {
        board_fail("card", result);
    }
    open_log(board_heard_first('f'));
    position = find_end();
    board_say_line("found", (int32_t)position);
    board_say_line("ram", (int32_t)sizeof ram);
    open_scheduler(position);
    /* A card may be busy for 1 s: nandwich/driver_sd.h. Vibration comes always, so a loop that has
     * written nothing for 3 s is stuck. */
    board_watch(3000);
    recording = 1;
    for (;;) {
        if (nw_sched_next(&sched, board_ms()) > 0) {
            write_group();
            board_alive();
        } else {
            board_sleep();
        }
        if (board_ms() - told >= 1000U) {
            told = board_ms();
            tell_counts();
        }
    }
}
