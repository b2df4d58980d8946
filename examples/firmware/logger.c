/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sensor's log on serial NAND: the object store straight on the driver, no file system.
 *
 * Ten records a second go into one stream; each eighth is followed by a sync, and from then on the
 * records so far survive whatever happens: "kept N" says so. When the part is full the oldest
 * records give way.
 *
 * Console: `f` in the first tenth of a second formats the part, which is needed once. `d` prints
 * the log.
 *
 * To change it for a node of yours: struct record, SAMPLE_MS, and board/ for your board.
 */
#include <stdint.h>

#include "board.h"
#include "nandwich/driver_spi_nand.h"
#include "nandwich/store.h"

#define SAMPLE_MS 100U
#define RECORDS_A_SYNC 8U /* what a power cut may cost, at most */

struct record {
    uint32_t number; /* from 0, over all starts */
    uint32_t ms;     /* since the start */
    uint16_t value;
    uint16_t start; /* low bits of the number of the first record of this start */
};

/* Few objects, no checkpoints: the least RAM. */
static const struct nw_store_config config = {.objects = 2, .name_bytes = 8, .frames = 5};
static const struct nw_store_spec spec = {
    .type = NW_STORE_STREAM,
    .flags = NW_STORE_EXPENDABLE,
    .unit_bytes = sizeof(struct record),
};

static struct nw_spi_nand nand;
static struct nw_store *store;
static uint32_t ram[RAM_BYTES / 4]; /* what nw_store_ram_bytes() told: see open_store() */
static int readings;
static struct record next;

/* The log itself, after a look whether the RAM set aside for it is enough. */
static void open_store(int format)
{
    size_t needed;
    int result = nw_spi_nand_open(&nand, &board_spi, NULL);

    if (result < 0) {
        board_fail("flash", result); /* wires, supply, another part */
    }
    needed = nw_store_ram_bytes(&config, &nand.chip.geometry);
    board_say_line("ram", (int32_t)needed);
    if (needed == 0 || needed > sizeof ram) {
        board_fail("RAM_BYTES is not enough", (int)sizeof ram);
    }
    result = format ? nw_store_format(&store, &nand.chip, &config, ram, sizeof ram)
                    : nw_store_mount(&store, &nand.chip, &config, ram, sizeof ram);
    if (result == NW_ERR_BLANK || result == NW_ERR_NOT_FOUND) {
        board_fail("no log here; send f at the start to format", result);
    }
    if (result < 0) {
        board_fail("store", result); /* there may be records: keep an image before you format */
    }
}

/* Goes on behind the newest record. */
static void open_log(void)
{
    struct nw_store_cursor cursor;
    int result = nw_store_find(store, "readings");

    if (result == NW_ERR_NOT_FOUND) {
        result = nw_store_create(store, "readings", &spec);
    }
    readings = result;
    if (result >= 0) {
        result = nw_store_last(store, readings, &cursor);
    }
    if (result >= 0) {
        result = nw_store_previous(store, &cursor, &next, sizeof next);
    }
    if (result < 0) {
        board_fail("log", result);
    }
    next.number = result > 0 ? next.number + 1U : 0; /* 0: an empty stream */
    next.start = (uint16_t)next.number;
    board_say_line("found", (int32_t)next.number);
}

static void show_record(const struct record *record)
{
    board_say("record");
    board_say_number((int32_t)record->number);
    board_say_number((int32_t)record->ms);
    board_say_line("", record->value);
}

/* All records, oldest first. Takes as long as the console does: the watchdog is told. */
static void show_log(void)
{
    struct nw_store_cursor cursor;
    struct record record;
    int result = nw_store_first(store, readings, &cursor);

    while (result >= 0) {
        result = nw_store_next(store, &cursor, &record, sizeof record);
        if (result <= 0) {
            break;
        }
        show_record(&record);
        board_alive();
    }
    board_say_line("end", result);
}

static void keep_record(uint32_t ms)
{
    int result;

    next.ms = ms;
    next.value = board_sample();
    result = nw_store_append(store, readings, &next, sizeof next);
    next.number++;
    if (result >= 0 && next.number % RECORDS_A_SYNC == 0) {
        result = nw_store_sync(store);
        if (result >= 0) {
            board_say_line("kept", (int32_t)next.number);
        }
    }
    if (result < 0) {
        /* NW_ERR_FULL cannot be, since old records give way. After an error of the part the store
         * wants to be mounted again, which a new start does. */
        board_fail("append", result);
    }
}

int main(void)
{
    uint32_t due;

    board_open();
    board_say("logger\n");
    /* Not watched yet: a format erases each block, 4 s for 128 MiB. And on a part that holds no
     * store the mount reads all of it, some minutes, before it says that it is blank. */
    open_store(board_heard_first('f'));
    open_log();
    board_watch(2000); /* an append takes 0.1 s at most, cleaning and all: nandwich/store.h, COST */
    due = board_ms();
    for (;;) {
        if ((int32_t)(board_ms() - due) >= 0) {
            keep_record(board_ms());
            due += SAMPLE_MS;
            board_alive(); /* here alone: a loop that keeps nothing does not live */
        } else if (nw_store_idle(store, 1) <= 0) { /* cleaning ahead, a piece at a time */
            board_sleep();
        }
        if (board_heard() == 'd') {
            show_log();
        }
    }
}
