/* SPDX-License-Identifier: Apache-2.0 */
#include "store_forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich/bytes.h"
#include "nandwich/crc.h"

#define BLOCK_HEAD 24U
#define CHUNK_HEAD 14U
#define CHUNK_ANCHOR 4U

/* The chip */

static struct forge *asked(const struct nw_chip_req *req)
{
    struct forge *forge = req->chip->context;

    if (++forge->calls > FORGE_MOST_CALLS) {
        (void)fprintf(stderr, "store forge: no end of work on the chip\n");
        abort();
    }
    return forge;
}

static int forge_read(struct nw_chip_req *req)
{
    struct forge *forge = asked(req);

    if (forge->before_read != NULL) {
        forge->before_read(forge, req->page);
    }
    if (req->length > 0) {
        memcpy(req->data, forge->data + req->page * FORGE_PAGE_BYTES + req->offset, req->length);
    }
    if (req->spare_length > 0) {
        *req->spare = forge->spare[req->page];
    }
    return NW_OK;
}

static int forge_program(struct nw_chip_req *req)
{
    struct forge *forge = asked(req);
    uint8_t *to = forge->data + req->page * FORGE_PAGE_BYTES + req->offset;

    if (forge->fail_at > 0 && --forge->fail_at == 0) {
        return NW_ERR_PROGRAM;
    }
    for (uint16_t i = 0; i < req->length; i++) {
        to[i] &= req->data[i];
    }
    if (req->spare_length > 0) {
        forge->spare[req->page] &= *req->spare;
    }
    if (forge->after_write != NULL) {
        forge->after_write(forge, req);
    }
    return NW_OK;
}

static int forge_erase(struct nw_chip_req *req)
{
    struct forge *forge = asked(req);

    memset(forge->data + req->block * FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES, 0xFF,
           FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES);
    memset(forge->spare + req->block * FORGE_BLOCK_PAGES, 0xFF, FORGE_BLOCK_PAGES);
    if (forge->after_write != NULL) {
        forge->after_write(forge, req);
    }
    return NW_OK;
}

static int forge_is_bad(struct nw_chip_req *req)
{
    return asked(req)->bad[req->block];
}

static int forge_mark_bad(struct nw_chip_req *req)
{
    asked(req)->bad[req->block] = 1;
    return NW_OK;
}

void forge_open(struct forge *forge, uint8_t chip)
{
    static const struct nw_chip_ops ops = {.read = forge_read,
                                           .program = forge_program,
                                           .erase = forge_erase,
                                           .is_bad = forge_is_bad,
                                           .mark_bad = forge_mark_bad};

    memset(forge, 0, sizeof *forge);
    forge->chip.ops = &ops;
    forge->chip.context = forge;
    forge->chip.geometry = (struct nw_geometry){
        .blocks = FORGE_BLOCKS,
        .block_pages = FORGE_BLOCK_PAGES,
        .page_bytes = FORGE_PAGE_BYTES,
        .spare_bytes = chip == 1U ? 0 : 1,
        .program_bytes = chip == 1U ? 1 : 32,
        .page_programs = chip == 1U ? NW_PROGRAMS_UNLIMITED : 4,
        .erased = 0xFF,
        .flags = chip == 1U ? NW_CHIP_READ_ERASED : NW_CHIP_IN_ORDER};
    forge->config = (struct nw_store_config){.objects = 6,
                                             .name_bytes = 4,
                                             .frames = 6,
                                             .fan = 8,
                                             .checkpoints = 1,
                                             .read_ahead = chip == 2U,
                                             .anchor_bytes = 512};
    memset(forge->data, 0xFF, sizeof forge->data);
    memset(forge->spare, 0xFF, sizeof forge->spare);
}

static void check_ram(const struct forge *forge)
{
    size_t bytes = nw_store_ram_bytes(&forge->config, &forge->chip.geometry);

    if (bytes == 0 || bytes > sizeof forge->ram) {
        (void)fprintf(stderr, "store forge: %zu bytes of RAM\n", bytes);
        abort();
    }
}

static const struct nw_store_spec specs[] = {
    {.type = NW_STORE_STACK},
    {.type = NW_STORE_QUEUE},
    {.type = NW_STORE_STREAM, .unit_bytes = 4, .count = 6},
    {.type = NW_STORE_STREAM, .flags = NW_STORE_EXPENDABLE},
    {.type = NW_STORE_ARRAY, .unit_bytes = 6, .count = 20},
    {.type = NW_STORE_FILE, .unit_bytes = 40},
};
static const char *const names[] = {"s", "q", "p", "e", "a", "f"};

int forge_format(struct forge *forge)
{
    check_ram(forge);
    int result = nw_store_format(&forge->store, &forge->chip, &forge->config, forge->ram,
                                 sizeof forge->ram);

    for (size_t i = 0; i < sizeof names / sizeof *names && result >= 0; i++) {
        result = nw_store_create(forge->store, names[i], &specs[i]);
    }
    return result < 0 ? result : (int)NW_OK;
}

int forge_mount(struct forge *forge)
{
    check_ram(forge);
    memset(forge->ram, 0xA5, sizeof forge->ram);
    return nw_store_mount(&forge->store, &forge->chip, &forge->config, forge->ram,
                          sizeof forge->ram);
}

/* Checksums */

/* The next chunk at a place of a block or behind it, or NULL. */
static uint8_t *next_chunk(struct forge *forge, uint32_t *at, uint32_t end)
{
    while (*at + CHUNK_HEAD <= end) {
        uint8_t *bytes = forge->data + *at;
        uint32_t left = FORGE_PAGE_BYTES - *at % FORGE_PAGE_BYTES;
        uint32_t whole = CHUNK_HEAD + (uint32_t)nw_get16(bytes + 3);

        if (left < CHUNK_HEAD) {
            *at += left;
        } else if ((bytes[0] & 15U) >= 1U && (bytes[0] & 15U) <= 5U && *at + whole <= end) {
            *at += whole;
            return bytes;
        } else {
            uint32_t unit = forge->chip.geometry.program_bytes;
            *at += unit - *at % unit < left && unit > 1U ? unit - *at % unit : left;
        }
    }
    return NULL;
}

void forge_sign(struct forge *forge)
{
    const uint32_t block_bytes = FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES;

    for (uint32_t start = 0; start < FORGE_BYTES; start += block_bytes) {
        uint32_t at = start + BLOCK_HEAD;
        uint8_t *bytes = forge->data + start;

        if (bytes[0] != 'N') {
            continue;
        }
        nw_put32(bytes + 20, nw_crc32(NW_CRC32_START, bytes, 20));
        while ((bytes = next_chunk(forge, &at, start + block_bytes)) != NULL) {
            uint32_t crc = nw_crc32(NW_CRC32_START, bytes + 1, 8);
            bytes[9] = (uint8_t)(nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU);
            nw_put32(bytes + 10, nw_crc32(crc, bytes + CHUNK_HEAD, nw_get16(bytes + 3)));
        }
    }
}

uint8_t *forge_anchor(struct forge *forge)
{
    const uint32_t block_bytes = FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES;
    uint8_t *newest = NULL;
    uint32_t highest = 0;

    for (uint32_t start = 0; start < FORGE_BYTES; start += block_bytes) {
        uint32_t at = start + BLOCK_HEAD;
        uint32_t sequence = nw_get32(forge->data + start + 4);
        uint8_t *bytes;

        while (forge->data[start] == 'N' &&
               (bytes = next_chunk(forge, &at, start + block_bytes)) != NULL) {
            if ((bytes[0] & 15U) == CHUNK_ANCHOR && sequence >= highest) {
                newest = bytes + CHUNK_HEAD;
                highest = sequence;
            }
        }
    }
    return newest;
}

/* Use */

static void act(struct forge *forge, uint8_t action)
{
    struct nw_store *store = forge->store;
    uint8_t slot = action % 6U;
    int handle = nw_store_find(store, names[slot]);
    uint8_t data[FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES / 3U]; /* the largest value of an array */
    uint16_t bytes = (uint16_t)(1U + action % 150U);

    forge->calls = 0;
    memset(data, action, sizeof data);
    switch (action >= 0xC0U ? 6U + action % 7U : slot) {
    case 0:
    case 1: (void)nw_store_push(store, handle, data, bytes); break;
    case 2:
    case 3: (void)nw_store_append(store, handle, data, (uint16_t)((bytes + 3U) & ~3U)); break;
    case 4: (void)nw_store_set(store, handle, action % 20U, data); break;
    case 5: {
        uint32_t length = 0;
        (void)nw_store_length(store, handle, &length);
        (void)nw_store_write(store, handle, length - (length > action ? action : 0), data, bytes);
        break;
    }
    case 6: (void)nw_store_sync(store); break;
    case 7: (void)nw_store_checkpoint(store); break;
    case 8: (void)nw_store_idle(store, 8); break;
    case 9: (void)nw_store_pop(store, nw_store_find(store, "s"), data, sizeof data); break;
    case 10: (void)nw_store_dequeue(store, nw_store_find(store, "q"), data, sizeof data); break;
    case 11: (void)nw_store_truncate(store, nw_store_find(store, "f"), action); break;
    default: (void)nw_store_rollback(store, 0); break;
    }
}

static void read_object(struct forge *forge, const struct nw_store_about *about)
{
    struct nw_store *store = forge->store;
    static uint8_t data[65535];
    struct nw_store_cursor cursor;
    uint32_t key = about->head;
    uint32_t length = 0;

    forge->calls = 0;
    for (uint32_t i = 0; i < 40U && nw_store_first(store, about->handle, &cursor) == NW_OK; i++) {
        (void)nw_store_seek(store, about->handle, about->head + i / 2U, (uint16_t)(i % 2U * 60000U),
                            &cursor);
        (void)nw_store_previous(store, &cursor, data, sizeof data);
        (void)nw_store_next(store, &cursor, data, sizeof data);
    }
    for (uint32_t i = 0; i < 40U; i++) {
        (void)nw_store_peek(store, about->handle, about->head + i, data, sizeof data);
        (void)nw_store_get(store, about->handle, i, data);
    }
    (void)nw_store_length(store, about->handle, &length);
    (void)nw_store_read(store, about->handle, 0, data, 4000);
    (void)nw_store_read(store, about->handle, length > 50U ? length - 50U : 0, data, 50);
    (void)nw_store_compact(store, about->handle, &key, 20);
}

static void use(struct forge *forge)
{
    struct nw_store_about about;

    for (uint8_t slot = 0; slot < forge->config.objects; slot++) {
        if (nw_store_at(forge->store, slot, &about) == NW_OK) {
            read_object(forge, &about);
        }
    }
    for (uint8_t action = 0; action < 60U; action++) {
        act(forge, (uint8_t)(action * 37U));
    }
    for (uint8_t slot = 0; slot < forge->config.objects; slot++) {
        if (nw_store_at(forge->store, slot, &about) == NW_OK) {
            forge->calls = 0;
            (void)nw_store_trim(forge->store, about.handle, about.tail);
            forge->calls = 0;
            (void)nw_store_delete(forge->store, about.handle);
        }
    }
    (void)nw_store_sync(forge->store);
}

/* What a mount may answer on a chip that itself never fails. */
static void check_answer(int result)
{
    if (result != NW_OK && result != NW_ERR_BLANK && result != NW_ERR_NOT_FOUND &&
        result != NW_ERR_VERSION && result != NW_ERR_KEY &&
        result != NW_ERR_CORRUPT && result != NW_ERR_FULL) {
        (void)fprintf(stderr, "store forge: mount answers %s\n", nw_error_text(result));
        abort();
    }
}

static void change(struct forge *forge, const uint8_t *data, size_t size)
{
    uint8_t *anchor = forge_anchor(forge);

    for (; size >= 4U; data += 4, size -= 4U) {
        uint32_t place = nw_get16(data);

        switch (data[3] % 4U) {
        case 0: forge->data[place % FORGE_BYTES] = data[2]; break;
        case 1: /* a byte of the newest anchor */
            if (anchor != NULL) {
                uint32_t at = (uint32_t)(anchor - forge->data) + place % 400U;
                forge->data[at % FORGE_BYTES] = data[2];
            }
            break;
        case 2: /* of a block's header */
            forge->data[(place / 32U % FORGE_BLOCKS * FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES) +
                        place % 20U] = data[2];
            break;
        default: forge->bad[place % FORGE_BLOCKS] = data[2] & 1U; break;
        }
    }
}

void forge_try(struct forge *forge, const uint8_t *data, size_t size)
{
    uint8_t way = size > 1U ? data[1] % 3U : 0;

    forge_open(forge, size > 0 ? data[0] % 3U : 0);
    data += size > 1U ? 2 : size;
    size -= size > 1U ? 2U : size;
    if (way == 0) {
        memcpy(forge->data, data, size < FORGE_BYTES ? size : FORGE_BYTES);
        memset(forge->spare, 0, sizeof forge->spare);
    } else {
        (void)forge_format(forge);
        for (; size > 0 && *data != 0xFFU; data++, size--) {
            act(forge, *data);
        }
        change(forge, data + (size > 0), size - (size > 0));
        if (way == 2U) {
            forge_sign(forge);
        }
    }
    forge->calls = 0;
    int result = forge_mount(forge);
    check_answer(result);
    if (result == NW_OK) {
        use(forge);
        forge->calls = 0;
        check_answer(forge_mount(forge));
    }
}
