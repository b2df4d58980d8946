/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three applications of the object store on an ATmega128, to tell what ROM and RAM they take.
 * APPLICATION: 0 tells through port B how much RAM the store wants (as many writes of 1, then 255);
 * 1 has a stack, a queue, a stream, an index, and a stream with an index of its places; 2 has a
 * stack, a stream and a checkpoint; 3 has files. DATAFLASH: 0, a NAND part of 512-byte pages on the
 * memory bus; 1, an AT45DB041B on SPI. RAM_BYTES: what 0 told.
 */
#include <avr/io.h>
#include <stddef.h>
#include <stdint.h>

#include "nandwich/driver_dataflash.h"
#include "nandwich/store.h"

/* The NAND part hangs on the external memory bus: data, command latch, address latch. */
#define NAND_DATA (*(volatile uint8_t *)0x8000U)
#define NAND_COMMAND (*(volatile uint8_t *)0x8001U)
#define NAND_ADDRESS (*(volatile uint8_t *)0x8002U)
#define NAND_FAILED 0x01U
#define NAND_READY 0x40U
#define NAND_BAD_BYTE 517U /* of a block's first page */

#if DATAFLASH
static const struct nw_geometry geometry = {
    .blocks = 256,
    .block_pages = 8,
    .page_bytes = 264,
    .program_bytes = 264,
    .page_programs = 1,
    .erased = 0xFF,
    .buffers = 2,
    .flags = NW_CHIP_READ_ERASED | NW_CHIP_REWRITE,
};
#else
static const struct nw_geometry geometry = {
    .blocks = 8192,
    .block_pages = 32,
    .page_bytes = 512,
    .spare_bytes = 15,
    .program_bytes = 1,
    .page_programs = 4,
    .erased = 0xFF,
    .flags = NW_CHIP_IN_ORDER,
    .read_us = 32,
    .program_us = 238,
    .erase_us = 2000,
};
#endif

static const struct nw_store_config config = {
    .objects = OBJECTS,
    .name_bytes = 4,
    .frames = FRAMES,
    .fan = FAN,
    .checkpoints = CHECKPOINTS,
};

#if APPLICATION != 0
static uint8_t ram[RAM_BYTES];
#endif

#if APPLICATION != 0 && DATAFLASH
static int bus_select(struct nw_spi *spi, uint8_t on)
{
    (void)spi;
    PORTB = on == NW_SPI_SELECT ? 0 : 1;
    return NW_OK;
}

static int bus_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    (void)spi;
    while (length-- != 0) {
        SPDR = out != NULL ? *out++ : 0xFFU;
        while ((SPSR & (1U << SPIF)) == 0) {
        }
        if (in != NULL) {
            *in++ = SPDR;
        }
    }
    return NW_OK;
}

static int bus_wait(struct nw_spi *spi, uint16_t us)
{
    (void)spi;
    while (us-- != 0) {
        __builtin_avr_delay_cycles(8);
    }
    return NW_OK;
}

static const struct nw_spi_ops bus = {
    .select = bus_select, .transfer = bus_transfer, .wait = bus_wait};

static struct nw_chip *open_chip(void)
{
    static struct nw_spi spi = {.ops = &bus};
    static struct nw_dataflash flash;

    SPCR = (1U << SPE) | (1U << MSTR);
    return nw_dataflash_open(&flash, &spi) < 0 ? NULL : &flash.chip;
}
#elif APPLICATION != 0
static void put_page(uint32_t page)
{
    NAND_ADDRESS = (uint8_t)page;
    NAND_ADDRESS = (uint8_t)(page >> 8);
    NAND_ADDRESS = (uint8_t)(page >> 16);
}

static int finish(int error)
{
    uint8_t status;

    NAND_COMMAND = 0x70;
    do {
        status = NAND_DATA;
    } while ((status & NAND_READY) == 0);
    return (status & NAND_FAILED) != 0 ? error : (int)NW_OK;
}

/* To a column of a page: the first or second half, or the spare bytes, by the command. */
static void go(uint32_t page, uint16_t column)
{
    if (column >= 512U) {
        NAND_COMMAND = 0x50;
    } else {
        NAND_COMMAND = column >= 256U ? 0x01 : 0x00;
    }
    NAND_ADDRESS = (uint8_t)column;
    put_page(page);
}

static void get_bytes(uint32_t page, uint16_t column, uint8_t *data, uint16_t length)
{
    go(page, column);
    (void)finish(NW_OK);
    NAND_COMMAND = 0x00;
    while (length-- != 0) {
        *data++ = NAND_DATA;
    }
}

/* Where the bytes seen above lie: the marker is the sixth of the spare. */
static uint16_t spare_column(uint16_t offset)
{
    return (uint16_t)(512U + offset + (offset >= 5U ? 1U : 0U));
}

static int nand_read(struct nw_chip_req *req)
{
    if (req->length != 0) {
        get_bytes(req->page, req->offset, req->data, req->length);
    }
    for (uint16_t i = 0; i < req->spare_length; i++) {
        get_bytes(req->page, spare_column((uint16_t)(req->spare_offset + i)), req->spare + i, 1);
    }
    return NW_OK;
}

/* One program of the page: what is not named is sent as 0xFF and stays as it is. */
static int nand_program(struct nw_chip_req *req)
{
    NAND_COMMAND = 0x00;
    NAND_COMMAND = 0x80;
    NAND_ADDRESS = 0;
    put_page(req->page);
    for (uint16_t column = 0; column < 512U; column++) {
        uint16_t at = (uint16_t)(column - req->offset);

        NAND_DATA = at < req->length ? req->data[at] : 0xFFU;
    }
    for (uint16_t own = 0; own < 15U; own++) {
        uint16_t at = (uint16_t)(own - req->spare_offset);

        if (own == 5U) {
            NAND_DATA = 0xFF;
        }
        NAND_DATA = at < req->spare_length ? req->spare[at] : 0xFFU;
    }
    NAND_COMMAND = 0x10;
    return finish(NW_ERR_PROGRAM);
}

static int nand_erase(struct nw_chip_req *req)
{
    NAND_COMMAND = 0x60;
    put_page(req->block * geometry.block_pages);
    NAND_COMMAND = 0xD0;
    return finish(NW_ERR_ERASE);
}

static int nand_is_bad(struct nw_chip_req *req)
{
    uint8_t marker;

    get_bytes(req->block * geometry.block_pages, NAND_BAD_BYTE, &marker, 1);
    return marker != 0xFFU;
}

static int nand_mark_bad(struct nw_chip_req *req)
{
    NAND_COMMAND = 0x50;
    NAND_COMMAND = 0x80;
    NAND_ADDRESS = NAND_BAD_BYTE - 512U;
    put_page(req->block * geometry.block_pages);
    NAND_DATA = 0;
    NAND_COMMAND = 0x10;
    return finish(NW_ERR_PROGRAM);
}

static const struct nw_chip_ops ops = {
    .read = nand_read,
    .program = nand_program,
    .erase = nand_erase,
    .is_bad = nand_is_bad,
    .mark_bad = nand_mark_bad,
};

static struct nw_chip *open_chip(void)
{
    static struct nw_chip chip;

    chip.ops = &ops;
    chip.geometry = geometry;
    return &chip;
}
#endif

#if APPLICATION != 0
static struct nw_store *open_store(void)
{
    struct nw_chip *chip = open_chip();
    struct nw_store *store;

    if (chip == NULL || (nw_store_mount(&store, chip, &config, ram, sizeof ram) < 0 &&
                         nw_store_format(&store, chip, &config, ram, sizeof ram) < 0)) {
        return NULL;
    }
    return store;
}

static int make(struct nw_store *store, const char *name, uint8_t type, uint16_t unit_bytes)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = unit_bytes};
    int handle = nw_store_find(store, name);

    spec.count = type == NW_STORE_ARRAY ? 200U : 0U;
    return handle > 0 ? handle : nw_store_create(store, name, &spec);
}
#endif

#if APPLICATION == 0
int main(void)
{
    for (size_t i = nw_store_ram_bytes(&config, &geometry); i != 0; i--) {
        PORTB = 1;
    }
    PORTB = 255;
    return 0;
}
#elif APPLICATION == 1
int main(void)
{
    struct nw_store *store = open_store();
    struct nw_store_cursor cursor = {.handle = 0};
    uint16_t reading = 0;
    int result = 0;

    if (store == NULL) {
        return 1;
    }
    int stack = make(store, "a", NW_STORE_STACK, 0);
    int queue = make(store, "b", NW_STORE_QUEUE, 0);
    int stream = make(store, "c", NW_STORE_STREAM, 2);
    int array = make(store, "d", NW_STORE_ARRAY, 2);
    int places = make(store, "e", NW_STORE_ARRAY, NW_STORE_TAG_BYTES);
    int tagged = make(store, "f", NW_STORE_STREAM, 2);
    while (result >= 0) {
        uint32_t key = reading++ % 200U;

        result |= nw_store_push(store, stack, &reading, sizeof reading);
        result |= nw_store_pop(store, stack, &reading, sizeof reading);
        result |= nw_store_push(store, queue, &reading, sizeof reading);
        result |= nw_store_dequeue(store, queue, &reading, sizeof reading);
        result |= nw_store_append(store, stream, &reading, sizeof reading);
        result |= nw_store_first(store, stream, &cursor);
        result |= nw_store_next(store, &cursor, &reading, sizeof reading);
        result |= nw_store_set(store, array, key, &reading);
        result |= nw_store_get(store, array, key, &reading);
        result |= nw_store_last(store, tagged, &cursor);
        result |= nw_store_tag(store, places, key, &cursor);
        result |= nw_store_append(store, tagged, &reading, sizeof reading);
        result |= nw_store_tagged(store, places, key, tagged, &cursor);
        result |= nw_store_previous(store, &cursor, &reading, sizeof reading);
        result |= nw_store_sync(store);
    }
    return 0;
}
#elif APPLICATION == 3
int main(void)
{
    struct nw_store *store = open_store();
    static uint8_t piece[80];
    uint32_t length = 0;
    int result = 0;

    if (store == NULL) {
        return 1;
    }
    while (result >= 0) {
        int file = make(store, "a", NW_STORE_FILE, 200);

        result = nw_store_length(store, file, &length);
        if (result >= 0 && length >= 800U) {
            result = nw_store_delete(store, file);
            continue;
        }
        result |= nw_store_write(store, file, length, piece, sizeof piece);
        result |= nw_store_sync(store);
        result |= nw_store_read(store, file, length, piece, sizeof piece);
    }
    return 0;
}
#else
int main(void)
{
    struct nw_store *store = open_store();
    struct nw_store_cursor cursor = {.handle = 0};
    uint16_t reading = 0;
    int result = 0;

    if (store == NULL) {
        return 1;
    }
    while (result >= 0) {
        int stack = make(store, "a", NW_STORE_STACK, 0);
        int stream = make(store, "b", NW_STORE_STREAM, 2);

        reading++;
        result |= nw_store_push(store, stack, &reading, sizeof reading);
        result |= nw_store_append(store, stream, &reading, sizeof reading);
        result |= nw_store_checkpoint(store) < 0 ? -1 : 0;
        result |= nw_store_pop(store, stack, &reading, sizeof reading);
        result |= nw_store_first(store, stream, &cursor);
        result |= nw_store_next(store, &cursor, &reading, sizeof reading);
        if (reading == 0) {
            result |= nw_store_rollback(store, 0);
        }
        result |= nw_store_sync(store);
    }
    return 0;
}
#endif
