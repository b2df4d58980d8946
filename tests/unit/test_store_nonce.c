/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a sealed store never uses a nonce for two contents, whatever is done to the chip: between
 * calls, between two reads of one call, and by putting the whole image back. A witness at the chip
 * remembers the tag, which is the nonce, and the payload of every chunk the store ever programs.
 * ctest: slow
 * ctest: soak
 *
 * Once cleaning encrypted again what it could not prove: decrypted with whatever tag lay there, and
 * under a nonce made of a digest of zeros, so not of the payload. Who could write to the chip and
 * put an image back had an element whose text was known and another one moved to the same place,
 * and the XOR of both was the text of the other. And what was proven was read again to be
 * encrypted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-seal/seal_sodium.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/random.h"
#include "store_forge.h"

#define CHUNK_HEAD 26U
#define BLOCK_HEAD 40U
#define TAG_AT 10U
#define BLOCK_BYTES (FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES)
#define WITNESSED 32768U /* entries of the table of nonces: a power of two */
#define LONGEST 720U     /* bytes of a chunk */
#define KEPT 4U          /* images to put back */

/* What was seen under one nonce. */
struct use {
    uint8_t bytes[LONGEST]; /* header and payload on the chip */
    uint32_t whole;         /* of these; 0: none yet */
};

static struct forge bed;
static struct forge kept[KEPT];
static struct nw_seal_sodium sealing;
static struct nw_random random_state;
static struct use uses[WITNESSED];
static uint32_t used_count;
static uint32_t read_count;
static uint32_t strike_at; /* the so many-th read from now on */
static uint8_t own[FORGE_BYTES]; /* programmed by the store itself since the last erase */
static uint8_t is_own[FORGE_PAGES];

static uint32_t below(uint32_t limit)
{
    return nw_random_below(&random_state, limit);
}

/* Length of the chunk that begins at a place, its header with it, or 0. */
static uint32_t chunk_at(const uint8_t *data, uint32_t at)
{
    const uint8_t *bytes = data + at;
    uint32_t left = BLOCK_BYTES - at % BLOCK_BYTES;

    if (at % FORGE_PAGE_BYTES + CHUNK_HEAD > FORGE_PAGE_BYTES || (bytes[0] & 15U) < 1U ||
        (bytes[0] & 15U) > 5U ||
        bytes[9] != (uint8_t)(nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU)) {
        return 0;
    }
    uint32_t whole = CHUNK_HEAD + (uint32_t)nw_get16(bytes + 3);
    uint32_t place = at % BLOCK_BYTES;

    if (place < FORGE_PAGE_BYTES && place + whole > FORGE_PAGE_BYTES) {
        return 0; /* a header of the block lies in its midst */
    }
    return whole <= left && whole <= LONGEST ? whole : 0;
}

/* Are they the same, but for an end that was left erased, not encrypted, in one of both? */
static int agree(const uint8_t *left, const uint8_t *right, uint32_t count)
{
    uint32_t blank[2] = {0};
    uint32_t at = 0;

    while (at < count && left[at] == right[at]) {
        at++;
    }
    for (uint32_t i = at; i < count; i++) {
        blank[0] += left[i] == 0xFFU;
        blank[1] += right[i] == 0xFFU;
    }
    return blank[0] == count - at || blank[1] == count - at;
}

/* The nonce of a chunk, with this content: has it been used with another one? */
static void witness(const uint8_t *bytes, uint32_t whole)
{
    uint32_t at = nw_get32(bytes + TAG_AT) & (WITNESSED - 1U);

    assert_true(whole <= LONGEST);
    while (uses[at].whole != 0 &&
           memcmp(uses[at].bytes + TAG_AT, bytes + TAG_AT, NW_SEAL_TAG_BYTES) != 0) {
        at = (at + 1U) & (WITNESSED - 1U);
    }
    struct use *use = &uses[at];
    if (use->whole == 0) {
        memcpy(use->bytes, bytes, whole);
        use->whole = whole;
        assert_true(++used_count < WITNESSED / 2U);
    } else if (use->whole != whole || !agree(use->bytes, bytes, whole)) {
        fail_msg("chunk %u of object %u: its nonce was used before, for another content",
                 (unsigned)nw_get32(bytes + 5), bytes[1]);
    }
}

/* What the store programs, and nobody else. */
static void remember(struct forge *forge, const struct nw_chip_req *req)
{
    (void)forge;
    if (req->data == NULL) {
        memset(own + req->block * BLOCK_BYTES, 0xFF, BLOCK_BYTES);
        memset(is_own + req->block * FORGE_BLOCK_PAGES, 0, FORGE_BLOCK_PAGES);
    } else {
        memcpy(own + req->page * FORGE_PAGE_BYTES + req->offset, req->data, req->length);
        is_own[req->page] = 1;
    }
}

/* Chunks of which all pages are the store's own work. */
static void look_at_all(void)
{
    for (uint32_t block = 0; block < FORGE_BYTES; block += BLOCK_BYTES) {
        uint32_t at = block + BLOCK_HEAD;
        while (at < block + BLOCK_BYTES) {
            if (at == block + BLOCK_HEAD && own[at] == 6U) { /* an image, of what was seen before */
                at = block + FORGE_PAGE_BYTES + 2U * BLOCK_HEAD + CHUNK_HEAD;
            }
            uint32_t whole = chunk_at(own, at);
            uint32_t page = at / FORGE_PAGE_BYTES;
            int all = whole > 0;

            for (; all && page <= (at + whole - 1U) / FORGE_PAGE_BYTES; page++) {
                all = is_own[page];
            }
            if (all) {
                witness(own + at, whole);
            }
            at += all ? whole : 1U;
        }
    }
}

/* What an attacker writes. */
static void strike(void)
{
    uint32_t at = below(FORGE_BYTES);
    uint32_t victim = 0;
    uint32_t other = 0;

    if (below(4) == 0) {
        bed.data[at] ^= (uint8_t)(1U << below(8));
        return;
    }
    for (uint32_t tries = 0; tries < 4000U && (victim == 0 || other == 0); tries++) {
        at = (at + 1U) % (FORGE_BYTES - CHUNK_HEAD);
        if (chunk_at(bed.data, at) > 0 && below(3) == 0) {
            victim = victim == 0 ? at : victim;
            other = at;
        }
    }
    if (victim == 0) {
        return;
    }
    uint32_t most = chunk_at(bed.data, victim) - TAG_AT;
    uint32_t less = chunk_at(bed.data, other) - TAG_AT;
    if (below(2) == 0) { /* another chunk's tag and payload behind this header */
        memcpy(bed.data + victim + TAG_AT, bed.data + other + TAG_AT, most < less ? most : less);
    } else { /* older bytes at the place they had */
        const struct forge *old = &kept[below(KEPT)];
        memcpy(bed.data + victim, old->data + victim, most + TAG_AT);
    }
}

/* In the middle of a call. */
static void strike_at_read(struct forge *forge, uint32_t page)
{
    (void)page;
    if (++read_count == strike_at) {
        strike();
        strike_at = read_count + 1U + below(30);
    }
    (void)forge;
}

static int handle_of(const char *name)
{
    return nw_store_find(bed.store, name);
}

static void compact_all(void)
{
    static const char *const names[] = {"q", "a", "f", "s", "p"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t key = 0;
        (void)nw_store_compact(bed.store, handle_of(names[i]), &key, 40);
    }
}

/* A call of any kind, with data of any kind: only a few, so that places and contents meet. */
static void act(void)
{
    uint8_t data[600];
    uint16_t bytes = (uint16_t)(1U + below(2) * below(599));

    memset(data, (int)below(3), sizeof data);
    switch (below(10)) {
    case 0:
    case 1: (void)nw_store_push(bed.store, handle_of("q"), data, bytes); break;
    case 2: (void)nw_store_push(bed.store, handle_of("s"), data, bytes); break;
    case 3: (void)nw_store_set(bed.store, handle_of("a"), below(20), data); break;
    case 4: (void)nw_store_append(bed.store, handle_of("p"), data, 8); break;
    case 5: {
        uint32_t length = 0;
        (void)nw_store_length(bed.store, handle_of("f"), &length);
        (void)nw_store_write(bed.store, handle_of("f"), below(length + 1U), data, bytes);
        break;
    }
    case 6: (void)nw_store_pop(bed.store, handle_of("s"), NULL, 0);
    /* fall through */
    case 7: (void)nw_store_dequeue(bed.store, handle_of("q"), NULL, 0); break;
    case 8: compact_all(); break;
    default: (void)nw_store_idle(bed.store, 20); break;
    }
    (void)nw_store_sync(bed.store);
}

/* The chip as it was once, all of it, while the store's RAM may be as it is now. */
static void put_back(uint32_t which)
{
    memcpy(bed.data, kept[which].data, sizeof bed.data);
    memcpy(bed.spare, kept[which].spare, sizeof bed.spare);
}

static void new_store(uint8_t chip)
{
    static const uint8_t key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mo";

    forge_open(&bed, chip);
    bed.after_write = remember;
    nw_seal_sodium_open(&sealing, key);
    bed.config.seal = &sealing.seal;
    assert_int_equal(forge_format(&bed), NW_OK);
    for (uint32_t i = 0; i < KEPT; i++) {
        kept[i] = bed;
    }
}

static void run_chip(uint8_t chip)
{
    uint32_t steps = getenv("NW_SOAK") != NULL ? 20000U : 1500U;

    nw_random_seed(&random_state, 5U + chip);
    memset(uses, 0, sizeof uses);
    used_count = 0;
    new_store(chip);
    for (uint32_t step = 0; step < steps && used_count < WITNESSED / 3U; step++) {
        bed.calls = 0;
        bed.before_read = below(2) == 0 ? strike_at_read : NULL;
        strike_at = read_count + 1U + below(30);
        act();
        bed.before_read = NULL;
        look_at_all();
        if (below(8) == 0) {
            strike();
        }
        if (below(20) == 0) {
            kept[below(KEPT)] = bed;
        }
        if (below(25) == 0) {
            put_back(below(KEPT));
        }
        if (below(10) == 0 && forge_mount(&bed) < 0) {
            put_back(below(KEPT));
            if (forge_mount(&bed) < 0) {
                new_store(chip);
            }
        }
        look_at_all();
    }
    print_message("chip %u: %u nonces\n", chip, (unsigned)used_count);
}

/* The newest chunk of data of the queue: its place. */
static uint32_t find_element(void)
{
    uint32_t found = 0;

    for (uint32_t at = 0; at + CHUNK_HEAD < FORGE_BYTES; at++) {
        if (chunk_at(bed.data, at) > 0 && (bed.data[at] & 15U) == 1U &&
            bed.data[at + 1U] == (uint8_t)((handle_of("q") & 127) - 1)) {
            found = at;
        }
    }
    assert_true(found > 0);
    return found;
}

static uint32_t struck; /* the byte that is changed at the read that counts */

static void strike_once(struct forge *forge, uint32_t page)
{
    (void)page;
    if (++read_count == strike_at) {
        forge->data[struck] ^= 0x10U;
    }
}

static uint32_t compact_once(void)
{
    uint32_t key = 0;

    read_count = 0;
    bed.before_read = strike_once;
    (void)nw_store_compact(bed.store, handle_of("q"), &key, 1);
    (void)nw_store_sync(bed.store);
    bed.before_read = NULL;
    look_at_all();
    return read_count;
}

/* An element over several pages is moved; each byte of it in turn changes before each read of that
 * one call, while the first move told what its nonce is for. */
static void test_two_reads(void **state)
{
    uint8_t data[300];

    (void)state;
    for (uint8_t chip = 0; chip < 3U; chip++) {
        memset(uses, 0, sizeof uses);
        used_count = 0;
        new_store(chip);
        memset(data, 7, sizeof data);
        assert_int_equal(nw_store_push(bed.store, handle_of("q"), data, sizeof data), NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        uint32_t at = find_element();
        kept[0] = bed;
        strike_at = 0;
        uint32_t reads = compact_once();
        assert_true(reads >= 6U);
        for (struck = at + TAG_AT; struck < at + CHUNK_HEAD + sizeof data; struck += 7U) {
            for (uint32_t when = 1; when <= reads; when++) {
                bed = kept[0];
                strike_at = when;
                (void)compact_once();
            }
        }
    }
}

/* Three elements of a length. The first one's place gets the tag and the payload of another, and is
 * moved; the image is put back, and it gets those of the third. What the two moves leave must not
 * tell, with the text of one of the others, the text of the other. */
static void test_unproven_moved(void **state)
{
    static const uint8_t texts[3][40] = {"at the first place", "text that is known",
                                         "text nobody knows"};
    uint32_t at[3];

    (void)state;
    for (uint8_t chip = 0; chip < 3U; chip++) {
        memset(uses, 0, sizeof uses);
        used_count = 0;
        new_store(chip);
        for (uint32_t i = 0; i < 3U; i++) {
            assert_int_equal(nw_store_push(bed.store, handle_of("q"), texts[i], 40), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
            at[i] = find_element();
        }
        kept[0] = bed;
        for (uint32_t i = 0; i < 3U; i++) {
            bed = kept[0];
            memcpy(bed.data + at[0] + TAG_AT, kept[0].data + at[i] + TAG_AT,
                   CHUNK_HEAD - TAG_AT + 40U);
            strike_at = 0;
            (void)compact_once();
            assert_int_equal(nw_store_stats(bed.store)->tampered > 0, i > 0);
        }
    }
}

static void test_nonces_nand(void **state)
{
    (void)state;
    run_chip(0);
}

static void test_nonces_nor(void **state)
{
    (void)state;
    run_chip(1);
}

static void test_nonces_read_ahead(void **state)
{
    (void)state;
    run_chip(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unproven_moved),
                                       cmocka_unit_test(test_two_reads),
                                       cmocka_unit_test(test_nonces_nand),
                                       cmocka_unit_test(test_nonces_nor),
                                       cmocka_unit_test(test_nonces_read_ahead)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
