/* SPDX-License-Identifier: Apache-2.0 */
#include "store_forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich/bytes.h"
#include "nandwich/crc.h"

#define CHUNK_ANCHOR 4U
#define PROVEN 512U /* bytes looked at where a read has failed */

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
    if (forge->has_rot && req->page == forge->rotten) {
        return NW_ERR_ECC;
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
    if (forge->rotten / FORGE_BLOCK_PAGES == req->block) {
        forge->has_rot = 0;
    }
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

    int nor = chip == 1U || chip == 4U;

    memset(forge, 0, sizeof *forge);
    forge->sealed = chip > 2U;
    forge->chunk_head = forge->sealed ? 26U : 14U;
    forge->block_head = forge->sealed ? 40U : 24U;
    forge->chip.ops = &ops;
    forge->chip.context = forge;
    forge->chip.geometry = (struct nw_geometry){
        .blocks = FORGE_BLOCKS,
        .block_pages = FORGE_BLOCK_PAGES,
        .page_bytes = FORGE_PAGE_BYTES,
        .spare_bytes = nor ? 0 : 1,
        .program_bytes = nor ? 1 : 32,
        .page_programs = nor ? NW_PROGRAMS_UNLIMITED : 4,
        .erased = 0xFF,
        .flags = nor ? NW_CHIP_READ_ERASED : NW_CHIP_IN_ORDER};
    forge->config = (struct nw_store_config){.objects = FORGE_OBJECTS,
                                             .name_bytes = 4,
                                             .frames = 6,
                                             .fan = 8,
                                             .checkpoints = 1,
                                             .read_ahead = chip == 2U,
                                             .anchor_bytes = 512};
    memset(forge->data, 0xFF, sizeof forge->data);
    memset(forge->spare, 0xFF, sizeof forge->spare);
}

/* Power is there again: nothing in RAM is as it was, not even the seal. */
static void begin(struct forge *forge)
{
    static const uint8_t key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mo";

    if (forge->sealed) {
        nw_seal_open(&forge->seal, &toy_seal_library, &forge->hash, key);
        forge->config.seal = &forge->seal;
    }
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
    begin(forge);
    int result = nw_store_format(&forge->store, &forge->chip, &forge->config, forge->ram,
                                 sizeof forge->ram);

    for (size_t i = 0; i < sizeof names / sizeof *names && result >= 0; i++) {
        result = nw_store_create(forge->store, names[i], &specs[i]);
    }
    return result < 0 ? result : (int)NW_OK;
}

int forge_mount(struct forge *forge)
{
    begin(forge);
    memset(forge->ram, 0xA5, sizeof forge->ram);
    return nw_store_mount(&forge->store, &forge->chip, &forge->config, forge->ram,
                          sizeof forge->ram);
}

/* Checksums */

/* Bytes of the block's second page that a chunk of so many bytes passes by: its header. */
static uint32_t gap_in(const struct forge *forge, uint32_t at, uint32_t whole)
{
    uint32_t place = at % (FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES);

    return place < FORGE_PAGE_BYTES && place + whole > FORGE_PAGE_BYTES ? forge->block_head : 0;
}

/* The next chunk at a place of a block or behind it, or NULL. */
static uint8_t *next_chunk(struct forge *forge, uint32_t *at, uint32_t end)
{
    while (*at + forge->chunk_head <= end) {
        if (*at % (FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES) == FORGE_PAGE_BYTES) {
            *at += forge->block_head;
        }
        uint8_t *bytes = forge->data + *at;
        uint32_t left = FORGE_PAGE_BYTES - *at % FORGE_PAGE_BYTES;
        uint32_t whole = forge->chunk_head + (uint32_t)nw_get16(bytes + 3);

        whole += gap_in(forge, *at, whole);
        if (left < forge->chunk_head) {
            *at += left;
        } else if ((bytes[0] & 15U) >= 1U && (bytes[0] & 15U) <= 6U && *at + whole <= end) {
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
        uint32_t at = start + forge->block_head;
        uint8_t *bytes = forge->data + start;

        if (bytes[0] != 'N') {
            continue;
        }
        nw_put32(bytes + 20, nw_crc32(NW_CRC32_START, bytes, 20));
        if (bytes[FORGE_PAGE_BYTES] == 'N') {
            memcpy(bytes + FORGE_PAGE_BYTES, bytes, forge->block_head);
        }
        while ((bytes = next_chunk(forge, &at, start + block_bytes)) != NULL) {
            bytes[9] = (uint8_t)(nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU);
            if (!forge->sealed) {
                uint32_t crc = nw_crc32(NW_CRC32_START, bytes + 1, 8);
                uint32_t from = (uint32_t)(bytes - forge->data);
                uint16_t length = nw_get16(bytes + 3);
                uint32_t gap = gap_in(forge, from, length + (uint32_t)forge->chunk_head);
                uint32_t payload = from + forge->chunk_head;
                uint16_t before = length;

                if (gap > 0) {
                    before = (uint16_t)(FORGE_PAGE_BYTES - payload % FORGE_PAGE_BYTES);
                    before %= FORGE_PAGE_BYTES;
                }
                crc = nw_crc32(crc, forge->data + payload, before);
                crc = nw_crc32(crc, forge->data + payload + before + gap,
                               (uint16_t)(length - before));
                nw_put32(bytes + 10, crc);
            }
        }
    }
}

uint8_t *forge_anchor(struct forge *forge, uint8_t copy)
{
    const uint32_t block_bytes = FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES;
    uint8_t *newest = NULL;
    uint32_t highest = 0;

    for (uint32_t start = 0; start < FORGE_BYTES; start += block_bytes) {
        uint32_t at = start + forge->block_head;
        uint32_t sequence = nw_get32(forge->data + start + 4);
        uint8_t *bytes;

        while (forge->data[start] == 'N' &&
               (bytes = next_chunk(forge, &at, start + block_bytes)) != NULL) {
            if (bytes[0] == (CHUNK_ANCHOR | (unsigned)copy << 4) && sequence >= highest) {
                newest = bytes + forge->chunk_head;
                highest = sequence;
            }
        }
    }
    return newest;
}

/* What a sealed store may tell */

static void tell_wrong(uint8_t slot, const char *what)
{
    (void)fprintf(stderr, "store forge: sealed object %u: %s\n", slot, what);
    abort();
}

static uint16_t length_of(uint8_t action)
{
    return (uint16_t)(1U + action % 150U);
}

/* Bytes of an element of which each is its action. */
static uint16_t element_of(uint8_t slot, uint8_t action)
{
    uint16_t bytes = length_of(action);

    return slot == 3U ? (uint16_t)((bytes + 3U) & ~3U) : slot == 4U ? 6U : bytes;
}

/* Bytes that were read: each is of what was put, in pieces of `unit` of the same. */
static void check_put(const struct forge *forge, uint8_t slot, const uint8_t *data, size_t bytes,
                      size_t unit)
{
    for (size_t i = 0; i < bytes; i++) {
        if (!forge->put[slot][data[i]] || (i % unit != 0 && data[i] != data[i - 1U])) {
            tell_wrong(slot, "bytes that were never written");
        }
    }
}

/* A failed read has told nothing that is not proven: zeros lie where it may have been. */
static void check_failed(const struct forge *forge, uint8_t slot, const uint8_t *data)
{
    static const uint8_t zeros[PROVEN];

    if (memcmp(data, zeros, PROVEN) == 0) {
        return;
    }
    for (size_t i = 0; i < PROVEN; i++) {
        if (data[i] != 0 && !forge->put[slot][data[i]]) {
            tell_wrong(slot, "an error, and bytes that were never written");
        }
    }
}

/* An element, or what a read of one answers; wipes the bytes for the next one. */
static void check_element(const struct forge *forge, uint8_t slot, int result, uint8_t *data)
{
    if (forge->sealed && result <= 0) {
        check_failed(forge, slot, data);
    } else if (forge->sealed) {
        size_t bytes = (size_t)result;
        check_put(forge, slot, data, bytes, slot == 2U ? 4U : slot == 5U ? 1U : bytes);
        if (slot == 2U ? bytes % 4U != 0 : slot < 5U && bytes != element_of(slot, data[0])) {
            tell_wrong(slot, "an element of another length");
        }
    }
    memset(data, 0, result > (int)PROVEN ? (size_t)result : PROVEN);
}

/* Use */

static void act(struct forge *forge, uint8_t action)
{
    struct nw_store *store = forge->store;
    uint8_t kind = action >= 0xC0U ? (uint8_t)(6U + action % 7U) : action % 6U;
    int handle = kind < 6U ? nw_store_find(store, names[kind]) : 0;
    uint8_t data[FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES / 3U]; /* the largest value of an array */
    uint16_t bytes = length_of(action);
    int result;

    forge->calls = 0;
    memset(data, kind < 6U ? action : 0, sizeof data);
    if (kind < 6U) {
        forge->put[kind][action] = 1;
    }
    switch (kind) {
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
    case 9:
        result = nw_store_pop(store, nw_store_find(store, "s"), data, sizeof data);
        check_element(forge, 0, result, data);
        break;
    case 10:
        result = nw_store_dequeue(store, nw_store_find(store, "q"), data, sizeof data);
        check_element(forge, 1, result, data);
        break;
    case 11: (void)nw_store_truncate(store, nw_store_find(store, "f"), action); break;
    default: (void)nw_store_rollback(store, 0); break;
    }
}

/* An array's value: of its own key, as they are put. */
static void check_value(const struct forge *forge, uint32_t key, int result, uint8_t *data)
{
    if (forge->sealed && result == NW_OK && data[0] % 20U != key) {
        tell_wrong(4, "the value of another key");
    }
    check_element(forge, 4, result == NW_OK ? 6 : result, data);
}

static void read_object(struct forge *forge, uint8_t slot, const struct nw_store_about *about)
{
    struct nw_store *store = forge->store;
    static uint8_t data[65535];
    struct nw_store_cursor cursor;
    uint32_t key = about->head;
    uint32_t length = 0;
    int result;

    if (forge->sealed && (about->spec.type != specs[slot].type || about->name[0] != *names[slot])) {
        tell_wrong(slot, "another object");
    }
    forge->calls = 0;
    memset(data, 0, sizeof data);
    for (uint32_t i = 0; i < 40U && nw_store_first(store, about->handle, &cursor) == NW_OK; i++) {
        (void)nw_store_seek(store, about->handle, about->head + i / 2U, (uint16_t)(i % 2U * 60000U),
                            &cursor);
        result = nw_store_previous(store, &cursor, data, sizeof data);
        check_element(forge, slot, result, data);
        result = nw_store_next(store, &cursor, data, sizeof data);
        check_element(forge, slot, result, data);
    }
    for (uint32_t i = 0; i < 40U; i++) {
        result = nw_store_peek(store, about->handle, about->head + i, data, sizeof data);
        check_element(forge, slot, result, data);
        result = nw_store_get(store, about->handle, i, data);
        if (about->spec.type == NW_STORE_ARRAY) {
            check_value(forge, i, result, data);
        }
    }
    (void)nw_store_length(store, about->handle, &length);
    result = nw_store_read(store, about->handle, 0, data, 4000);
    check_element(forge, slot, result, data);
    result = nw_store_read(store, about->handle, length > 50U ? length - 50U : 0, data, 50);
    check_element(forge, slot, result, data);
    (void)nw_store_compact(store, about->handle, &key, 20);
}

static void read_all(struct forge *forge)
{
    struct nw_store_about about;

    for (uint8_t slot = 0; slot < forge->config.objects; slot++) {
        if (nw_store_at(forge->store, slot, &about) == NW_OK) {
            read_object(forge, slot, &about);
        }
    }
}

static void use(struct forge *forge)
{
    struct nw_store_about about;

    read_all(forge);
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
static void check_answer(const struct forge *forge, int result)
{
    if (forge->sealed && result == NW_ERR_TAMPERED) {
        return;
    }
    if (result != NW_OK && result != NW_ERR_BLANK && result != NW_ERR_NOT_FOUND &&
        result != NW_ERR_VERSION && result != NW_ERR_KEY &&
        result != NW_ERR_CORRUPT && result != NW_ERR_FULL) {
        (void)fprintf(stderr, "store forge: mount answers %s\n", nw_error_text(result));
        abort();
    }
}

static void refuse(struct forge *forge, const struct nw_chip_req *req)
{
    (void)forge;
    (void)req;
    (void)fprintf(stderr, "store forge: a look has written\n");
    abort();
}

/* Reads all there is, mounted read-only. */
static void look(struct forge *forge)
{
    begin(forge);
    memset(forge->ram, 0xA5, sizeof forge->ram);
    forge->after_write = refuse;
    forge->calls = 0;
    int result = nw_store_mount_read_only(&forge->store, &forge->chip, &forge->config, forge->ram,
                                          sizeof forge->ram);
    check_answer(forge, result);
    if (result == NW_OK) {
        read_all(forge);
    }
    forge->after_write = NULL;
}

static void change(struct forge *forge, const uint8_t *data, size_t size)
{
    uint8_t *anchor = forge_anchor(forge, 1);

    for (; size >= 4U; data += 4, size -= 4U) {
        uint32_t place = nw_get16(data);

        switch (data[3] % (forge->sealed ? 5U : 4U)) {
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
        case 3: forge->bad[place % FORGE_BLOCKS] = data[2] & 1U; break;
        default: /* a page of another place */
            memcpy(forge->data + place % FORGE_PAGES * FORGE_PAGE_BYTES,
                   forge->data + (place + data[2]) % FORGE_PAGES * FORGE_PAGE_BYTES,
                   FORGE_PAGE_BYTES);
            forge->spare[place % FORGE_PAGES] = 0;
            break;
        }
    }
}

void forge_try(struct forge *forge, const uint8_t *data, size_t size)
{
    uint8_t way = size > 1U ? data[1] % 3U : 0;
    uint8_t chip = size > 0 ? data[0] : 0;

    forge_open(forge, chip < 0xC0U ? chip % 3U : (uint8_t)(3U + chip % 2U));
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
    look(forge);
    forge->calls = 0;
    int result = forge_mount(forge);
    check_answer(forge, result);
    if (result == NW_OK) {
        use(forge);
        forge->calls = 0;
        check_answer(forge, forge_mount(forge));
    }
}
