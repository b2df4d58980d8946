/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: each line of docs/store-threats.md is true. Where it says that something is not kept, the
 * attack is carried out and succeeds; if it fails one day, the page has to be changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-seal/seal_sodium.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "store_forge.h"

#define CHUNK_HEAD 26U
#define TAG_AT 10U
#define BYTES 24U
#define BLOCK_BYTES (FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES)

static struct forge bed;
static struct forge kept;
static struct nw_seal_sodium sealing;

static const uint8_t key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mo";
static const uint8_t other_key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mO";

static void seal_with(const uint8_t *with)
{
    nw_seal_sodium_open(&sealing, with);
    bed.config.seal = &sealing.seal;
}

static void new_store(void)
{
    forge_open(&bed, 1);
    seal_with(key);
    assert_int_equal(forge_format(&bed), NW_OK);
}

static int handle_of(const char *name)
{
    int handle = nw_store_find(bed.store, name);

    assert_true(handle > 0);
    return handle;
}

static void push(const char *text)
{
    uint8_t bytes[BYTES] = {0};

    memcpy(bytes, text, strlen(text));
    assert_int_equal(nw_store_push(bed.store, handle_of("q"), bytes, BYTES), NW_OK);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

static void set(uint32_t number, const char *text)
{
    assert_int_equal(nw_store_set(bed.store, handle_of("a"), number, text), NW_OK);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

/* An element of the queue: what peek answers, its bytes compared with a text. */
static int peek(uint32_t number, const char *text)
{
    uint8_t wanted[BYTES] = {0};
    uint8_t bytes[BYTES] = {0};
    int result = nw_store_peek(bed.store, handle_of("q"), number, bytes, BYTES);

    memcpy(wanted, text, strlen(text));
    return result == (int)BYTES && memcmp(bytes, wanted, BYTES) != 0 ? (int)NW_ERR_RANGE : result;
}

/* The newest chunk of data of an object with a number. */
static uint8_t *chunk_of(const char *name, uint32_t number)
{
    uint8_t *found = NULL;

    for (uint32_t at = 0; at + CHUNK_HEAD < FORGE_BYTES; at++) {
        uint8_t *bytes = bed.data + at;
        if ((bytes[0] & 15U) == 1U && bytes[1] == (handle_of(name) & 127) - 1 &&
            nw_get32(bytes + 5) == number &&
            bytes[9] == (uint8_t)(nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU)) {
            found = bytes;
        }
    }
    assert_non_null(found);
    return found;
}

static int lies_there(const char *text)
{
    size_t count = strlen(text);

    for (size_t at = 0; at + count <= FORGE_BYTES; at++) {
        if (memcmp(bed.data + at, text, count) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Fills the page buffer, so that what came before is read from the chip. */
static void go_on(void)
{
    for (uint32_t i = 0; i < 6U; i++) {
        push("behind");
    }
}

static uint32_t sequence(void)
{
    struct nw_store_space space;

    nw_store_space(bed.store, &space);
    return space.sequence;
}

/* Kept */

static void test_contents(void **state)
{
    uint32_t ones = 0;

    (void)state;
    new_store();
    push("a text in a queue");
    set(1, "value ");
    assert_int_equal(nw_store_write(bed.store, handle_of("f"), 0, "a text in a file", 16), 16);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    assert_false(lies_there("a text in"));
    assert_false(lies_there("value "));
    for (uint32_t i = 0; i < 64U; i++) { /* zeros look like random bytes: half of the bits */
        push("");
        const uint8_t *bytes = chunk_of("q", 1U + i) + CHUNK_HEAD;
        for (uint32_t bit = 0; bit < 8U * BYTES; bit++) {
            ones += (uint32_t)bytes[bit / 8U] >> (bit % 8U) & 1U;
        }
    }
    assert_in_range(ones, 64U * BYTES * 4U - 400U, 64U * BYTES * 4U + 400U);
}

static uint32_t longest_anchor(void)
{
    uint32_t longest = 0;

    for (uint32_t at = 0; at + CHUNK_HEAD < FORGE_BYTES; at++) {
        const uint8_t *bytes = bed.data + at;
        if (bytes[0] == 4U &&
            bytes[9] == (uint8_t)(nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU)) {
            uint32_t length = nw_get16(bytes + 3);
            longest = length > longest ? length : longest;
        }
    }
    return longest;
}

/* Their bytes are not seen; that one is longer than another is. */
static void test_names(void **state)
{
    (void)state;
    new_store();
    assert_int_equal(nw_store_rename(bed.store, handle_of("q"), "NAME"), NW_OK);
    assert_false(lies_there("NAME"));
    uint32_t four = longest_anchor();
    new_store();
    assert_int_equal(nw_store_rename(bed.store, handle_of("q"), "NA"), NW_OK);
    assert_int_equal(longest_anchor() + 2U, four);
}

static void test_changed(void **state)
{
    static const uint8_t zeros[BYTES];
    uint8_t bytes[BYTES];

    (void)state;
    new_store();
    push("unchanged");
    go_on();
    uint8_t *chunk = chunk_of("q", 0);
    for (uint32_t bit = 8U * TAG_AT; bit < 8U * (CHUNK_HEAD + BYTES); bit++) {
        chunk[bit / 8U] ^= (uint8_t)(1U << (bit % 8U));
        memset(bytes, 0x55, sizeof bytes);
        assert_int_equal(nw_store_peek(bed.store, handle_of("q"), 0, bytes, BYTES),
                         NW_ERR_TAMPERED);
        assert_memory_equal(bytes, zeros, BYTES);
        chunk[bit / 8U] ^= (uint8_t)(1U << (bit % 8U));
    }
    assert_int_equal(peek(0, "unchanged"), BYTES);
}

static void test_places(void **state)
{
    uint8_t between[CHUNK_HEAD + BYTES];

    (void)state;
    new_store();
    push("first");
    push("second");
    go_on();
    uint8_t *left = chunk_of("q", 0);
    uint8_t *right = chunk_of("q", 1);
    memcpy(between, left, sizeof between); /* tags and payloads; the headers stay */
    memcpy(left + TAG_AT, right + TAG_AT, CHUNK_HEAD - TAG_AT + BYTES);
    memcpy(right + TAG_AT, between + TAG_AT, CHUNK_HEAD - TAG_AT + BYTES);
    assert_int_equal(peek(0, "second"), NW_ERR_TAMPERED);
    assert_int_equal(peek(1, "first"), NW_ERR_TAMPERED);
}

/* The attacker at the bus: before the so many-th read of a call the place of a chunk gets what it
 * had in another image; behind the call it gets back what was there. */
static uint8_t theirs[CHUNK_HEAD + 6U];
static uint32_t theirs_at;
static uint32_t reads;
static uint32_t strike_at;

static void swap_theirs(struct forge *forge)
{
    uint8_t before[sizeof theirs];

    memcpy(before, forge->data + theirs_at, sizeof before);
    memcpy(forge->data + theirs_at, theirs, sizeof before);
    memcpy(theirs, before, sizeof before);
}

static void strike_at_read(struct forge *forge, uint32_t page)
{
    (void)page;
    if (++reads == strike_at) {
        swap_theirs(forge);
    }
}

/* get(17) with the place changed before a read of this call, or of one that moves it before. */
static int get_struck(uint8_t *value, int moved)
{
    uint32_t number = 17;

    reads = 0;
    bed.before_read = strike_at_read;
    if (moved) {
        (void)nw_store_compact(bed.store, handle_of("a"), &number, 1);
    } else {
        number = (uint32_t)nw_store_get(bed.store, handle_of("a"), 17, value);
    }
    bed.before_read = NULL;
    if (reads >= strike_at) {
        swap_theirs(&bed);
    }
    if (moved) {
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_int_equal(forge_mount(&bed), NW_OK);
        return nw_store_get(bed.store, handle_of("a"), 17, value);
    }
    return (int)number;
}

/* Value 17 of the array, and at that place in another image value 10, or an element of the queue.
 * Once what seemed damaged was read again, header and payload, and the second header was not looked
 * at: where the place changed between these two reads the other element was handed out under this
 * key, and moved under it, with a right tag from then on. */
static void test_places_within_a_call(void **state)
{
    static struct forge base;
    uint8_t value[6];

    (void)state;
    for (uint32_t way = 0; way < 12U; way++) {
        forge_open(&bed, (uint8_t)(way % 3U));
        seal_with(key);
        assert_int_equal(forge_format(&bed), NW_OK);
        base = bed;
        if (way < 6U) {
            set(10, "theirs");
        } else {
            assert_int_equal(nw_store_push(bed.store, handle_of("q"), "theirs", 6), NW_OK);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        const uint8_t *chunk = way < 6U ? chunk_of("a", 10) : chunk_of("q", 0);
        theirs_at = (uint32_t)(chunk - bed.data);
        memcpy(theirs, chunk, sizeof theirs);
        bed = base;
        set(17, "value ");
        assert_ptr_equal(chunk_of("a", 17), chunk);
        go_on();
        kept = bed;
        strike_at = 0;
        do {
            strike_at++;
            bed = kept;
            int result = get_struck(value, way % 6U >= 3U);
            assert_true(result == NW_ERR_TAMPERED || result == NW_OK);
            assert_true(result < 0 || memcmp(value, "value ", 6) == 0);
        } while (reads >= strike_at);
    }
}

static void test_keys(void **state)
{
    (void)state;
    new_store();
    kept = bed;
    seal_with(other_key);
    assert_int_equal(forge_mount(&bed), NW_ERR_KEY);
    bed.config.seal = NULL;
    assert_int_equal(forge_mount(&bed), NW_ERR_KEY);
    assert_memory_equal(bed.data, kept.data, FORGE_BYTES);
}

/* Not kept */

static void put_back(void)
{
    memcpy(bed.data, kept.data, sizeof bed.data);
    memcpy(bed.spare, kept.spare, sizeof bed.spare);
}

static void test_image_put_back(void **state)
{
    (void)state;
    new_store();
    push("old");
    kept = bed;
    assert_int_equal(nw_store_dequeue(bed.store, handle_of("q"), NULL, 0), BYTES);
    push("new");
    assert_int_equal(forge_mount(&bed), NW_OK);
    uint32_t newest = sequence(); /* what a memory that cannot be put back would hold */
    put_back();
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_int_equal(peek(0, "old"), BYTES);
    assert_int_equal(nw_store_stats(bed.store)->tampered, 0);
    assert_true(sequence() <= newest); /* an honest mount is always higher */
}

static void test_bytes_put_back(void **state)
{
    uint8_t older[CHUNK_HEAD + BYTES];

    (void)state;
    new_store();
    kept = bed;
    push("older");
    uint32_t at = (uint32_t)(chunk_of("q", 0) - bed.data);
    memcpy(older, bed.data + at, sizeof older);
    bed = kept; /* the image is put back, and the device writes something else to that place */
    push("newer");
    go_on();
    assert_ptr_equal(chunk_of("q", 0), bed.data + at);
    assert_int_equal(peek(0, "newer"), BYTES);
    memcpy(bed.data + at, older, sizeof older);
    assert_int_equal(peek(0, "older"), BYTES);
    assert_int_equal(nw_store_stats(bed.store)->tampered, 0);
}

/* A store anew on the same chip, with one object and elements of it. */
static int live(const char *name, uint8_t type, const char *text)
{
    const struct nw_store_spec spec = {.type = type};
    uint8_t bytes[BYTES] = {0};

    memcpy(bytes, text, strlen(text));
    assert_int_equal(
        nw_store_format(&bed.store, &bed.chip, &bed.config, bed.ram, sizeof bed.ram), NW_OK);
    int handle = nw_store_create(bed.store, name, &spec);
    assert_true(handle > 0);
    for (uint32_t i = 0; i < 7U; i++) {
        assert_int_equal(type == NW_STORE_QUEUE
                             ? nw_store_push(bed.store, handle, bytes, BYTES)
                             : nw_store_append(bed.store, handle, bytes, BYTES),
                         NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
    }
    return handle;
}

/* Nothing on the chip tells one life of a key from the next: a chunk of a queue passes for one of
 * the stream that has its slot after a format. With another key it does not. */
static void test_formatted_anew(void **state)
{
    uint8_t before[CHUNK_HEAD + BYTES];
    uint8_t bytes[BYTES];

    (void)state;
    for (uint8_t keys = 1; keys <= 2U; keys++) {
        forge_open(&bed, 1);
        seal_with(key);
        (void)live("q", NW_STORE_QUEUE, "of the first life");
        uint8_t *chunk = chunk_of("q", 0);
        memcpy(before, chunk, sizeof before);
        seal_with(keys == 1U ? key : other_key);
        int handle = live("i", NW_STORE_STREAM, "of the second");
        assert_ptr_equal(chunk_of("i", 0), chunk);
        memcpy(chunk, before, sizeof before);
        int result = nw_store_peek(bed.store, handle, 0, bytes, BYTES);
        assert_int_equal(result, keys == 1U ? (int)BYTES : NW_ERR_TAMPERED);
        assert_int_equal(memcmp(bytes, "of the first life", 17) == 0, keys == 1U);
    }
}

static void test_end_cut_off(void **state)
{
    (void)state;
    new_store();
    push("stays");
    assert_int_equal(nw_store_rename(bed.store, handle_of("s"), "S"), NW_OK); /* an anchor */
    push("goes");
    memset(chunk_of("q", 1), 0xFF, CHUNK_HEAD + BYTES);
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_int_equal(peek(0, "stays"), BYTES);
    assert_int_equal(peek(1, "goes"), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_stats(bed.store)->lost, 0);
    assert_int_equal(nw_store_stats(bed.store)->tampered, 0);
}

/* The mount that meets the damage puts an anchor behind it, and the next one finds nothing. */
static void test_told_to_nobody(void **state)
{
    (void)state;
    new_store();
    set(3, "older ");
    set(3, "newer ");
    chunk_of("a", 3)[CHUNK_HEAD] ^= 4U;
    go_on();
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_true(nw_store_stats(bed.store)->tampered > 0);
    assert_true(nw_store_stats(bed.store)->lost > 0);
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_int_equal(nw_store_stats(bed.store)->tampered, 0);
    assert_int_equal(nw_store_stats(bed.store)->lost, 0);
}

static void test_destroyed(void **state)
{
    (void)state;
    new_store();
    push("gone");
    memset(bed.data, 0x00, sizeof bed.data);
    assert_true(forge_mount(&bed) < 0);
    memset(bed.data, 0xFF, sizeof bed.data);
    assert_int_equal(forge_mount(&bed), NW_ERR_BLANK);
}

static void test_deleted(void **state)
{
    uint8_t before[CHUNK_HEAD + BYTES];

    (void)state;
    new_store();
    push("secret");
    uint32_t at = (uint32_t)(chunk_of("q", 0) - bed.data);
    memcpy(before, bed.data + at, sizeof before);
    kept = bed;
    assert_int_equal(nw_store_delete(bed.store, handle_of("q")), NW_OK);
    assert_memory_equal(bed.data + at, before, sizeof before);
    put_back(); /* and an older image tells that it was there, to who has the key */
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_int_equal(peek(0, "secret"), BYTES);
}

/* Seen */

static void test_lengths(void **state)
{
    (void)state;
    new_store();
    push("one");
    push("two");
    set(7, "value ");
    assert_int_equal(nw_get16(chunk_of("q", 0) + 3), BYTES);
    assert_int_equal(nw_get16(chunk_of("q", 1) + 3), BYTES);
    assert_int_equal(nw_get16(chunk_of("a", 7) + 3), 6);
}

/* The same element at the same place is encrypted alike; at another place it is not. */
static void test_equality(void **state)
{
    uint8_t before[CHUNK_HEAD + BYTES];

    (void)state;
    new_store();
    kept = bed;
    push("same");
    memcpy(before, chunk_of("q", 0), sizeof before);
    bed = kept;
    push("same");
    assert_memory_equal(chunk_of("q", 0), before, sizeof before);
    bed = kept;
    push("else");
    assert_memory_not_equal(chunk_of("q", 0) + CHUNK_HEAD, before + CHUNK_HEAD, BYTES);

    new_store();
    set(3, "equal ");
    memcpy(before, chunk_of("a", 3), CHUNK_HEAD + 6U);
    set(3, "equal ");
    assert_memory_not_equal(chunk_of("a", 3) + CHUNK_HEAD, before + CHUNK_HEAD, 6);
}

/* A write is seen, and how much it was; reading leaves no trace. */
static void test_patterns(void **state)
{
    uint32_t changed = 0;

    (void)state;
    new_store();
    push("first");
    kept = bed;
    assert_int_equal(peek(0, "first"), BYTES);
    assert_memory_equal(bed.data, kept.data, FORGE_BYTES);
    push("second");
    for (uint32_t at = 0; at < FORGE_BYTES; at++) {
        changed += bed.data[at] != kept.data[at];
    }
    assert_in_range(changed, (CHUNK_HEAD + BYTES) / 2U, CHUNK_HEAD + BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_changed),        cmocka_unit_test(test_places),
        cmocka_unit_test(test_keys),           cmocka_unit_test(test_image_put_back),
        cmocka_unit_test(test_bytes_put_back), cmocka_unit_test(test_end_cut_off),
        cmocka_unit_test(test_destroyed),      cmocka_unit_test(test_deleted),
        cmocka_unit_test(test_lengths),        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_patterns),       cmocka_unit_test(test_places_within_a_call),
        cmocka_unit_test(test_formatted_anew), cmocka_unit_test(test_told_to_nobody)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
