/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: of a sealed store nobody without the key can read anything, nor change anything unnoticed:
 * every bit of an image is flipped, chunks are put in each other's place, old ones are put back,
 * the end is cut off; what is then read is what was written, or an error.
 * ctest: slow
 * ctest: soak
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
#include "effort.h"
#include "store_forge.h"

#define CHUNK_HEAD 26U
#define BLOCK_HEAD 40U
#define TAG_AT 10U
#define KEYS 20U
#define VALUE_BYTES 6U
#define PIECES 10U
#define FILE_BYTES 100U

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

static int handle_of(const char *name)
{
    int handle = nw_store_find(bed.store, name);

    assert_true(handle > 0);
    return handle;
}

static void fill(uint8_t *bytes, uint16_t count, uint32_t what)
{
    for (uint16_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(what * 37U + i * 11U + 5U);
    }
}

static void set(uint32_t number, uint32_t what)
{
    uint8_t value[VALUE_BYTES];

    fill(value, VALUE_BYTES, what);
    assert_int_equal(nw_store_set(bed.store, handle_of("a"), number, value), NW_OK);
}

static void put(const char *name, uint32_t what)
{
    uint8_t piece[24];

    fill(piece, sizeof piece, what);
    assert_int_equal(nw_store_push(bed.store, handle_of(name), piece, sizeof piece), NW_OK);
}

/* Half of the work, a mount, the other half: some of it is told by an anchor and some by the log.
 * The stack takes up the last page, which a power cut might have torn. */
static void make_image(uint8_t chip)
{
    static const struct nw_store_spec packed = {.type = NW_STORE_STREAM, .unit_bytes = 4};
    uint8_t bytes[FILE_BYTES];

    forge_open(&bed, chip);
    seal_with(key);
    assert_int_equal(forge_format(&bed), NW_OK);
    assert_int_equal(nw_store_delete(bed.store, handle_of("p")), NW_OK);
    assert_true(nw_store_create(bed.store, "p", &packed) > 0);
    for (uint32_t i = 0; i < PIECES; i++) {
        if (i == PIECES / 2U) {
            assert_int_equal(nw_store_checkpoint(bed.store), 1);
            assert_int_equal(forge_mount(&bed), NW_OK);
        }
        put("q", i);
        set(i, i);
        fill(bytes, 8, i);
        assert_int_equal(nw_store_append(bed.store, handle_of("p"), bytes, 8), NW_OK);
    }
    fill(bytes, FILE_BYTES, 99);
    assert_int_equal(nw_store_write(bed.store, handle_of("f"), 0, bytes, FILE_BYTES),
                     FILE_BYTES);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    for (uint32_t i = 0; i < 5U; i++) {
        put("s", i);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
    }
}

enum { IN_QUEUE, IN_ARRAY, IN_STREAM, IN_FILE, SIGHTS };

/* What reading all objects shows. */
struct sight {
    uint32_t there[SIGHTS]; /* elements of each that are as written, none missing before them */
    uint32_t wrong;         /* other ones than were written */
    uint32_t errors;        /* elements that cannot be read, and say so */
    uint32_t holes;         /* behind one that is missing */
};

/* An element's turn has come: the answer, its bytes, and those it should have. */
static void look(struct sight *sight, unsigned object, uint32_t number, int result,
                 const uint8_t *bytes, const uint8_t *right, int count)
{
    if (result == 0 || result == NW_ERR_NOT_FOUND) {
        return;
    }
    if (result < 0) {
        sight->errors++;
    } else if (result != count || memcmp(bytes, right, (size_t)count) != 0) {
        sight->wrong++;
    } else if (sight->there[object] != number) {
        sight->holes++;
    } else {
        sight->there[object]++;
    }
}

static struct sight see(void)
{
    struct sight sight = {{0}, 0, 0, 0};
    uint8_t bytes[FILE_BYTES];
    uint8_t right[FILE_BYTES];
    struct nw_store_cursor cursor;

    assert_int_equal(nw_store_first(bed.store, handle_of("p"), &cursor), NW_OK);
    for (uint32_t i = 0; i < PIECES; i++) {
        fill(right, sizeof right, i);
        int result = nw_store_peek(bed.store, handle_of("q"), i, bytes, sizeof bytes);
        look(&sight, IN_QUEUE, i, result, bytes, right, 24);
        result = nw_store_get(bed.store, handle_of("a"), i, bytes);
        result = result == NW_OK ? (int)VALUE_BYTES : result;
        look(&sight, IN_ARRAY, i, result, bytes, right, VALUE_BYTES);
        for (uint32_t half = 0; half < 2U; half++) {
            result = nw_store_next(bed.store, &cursor, bytes, 4);
            look(&sight, IN_STREAM, 2U * i + half, result, bytes, right + 4U * half, 4);
        }
    }
    fill(right, FILE_BYTES, 99);
    for (uint16_t i = 0; i < FILE_BYTES / 20U; i++) {
        int result = nw_store_read(bed.store, handle_of("f"), 20U * i, bytes, 20);
        look(&sight, IN_FILE, i, result == NW_ERR_RANGE ? 0 : result, bytes, right + 20U * i, 20);
    }
    return sight;
}

static int is_whole(const struct sight *sight)
{
    return sight->there[IN_QUEUE] == PIECES && sight->there[IN_ARRAY] == PIECES &&
           sight->there[IN_STREAM] == 2U * PIECES && sight->there[IN_FILE] == FILE_BYTES / 20U;
}

/* Is it what was there a while before? Queue, array and stream were written in turn. */
static int is_earlier(const struct sight *sight)
{
    uint32_t rounds = sight->there[IN_QUEUE];

    return sight->errors == 0 && sight->holes == 0 &&
           (sight->there[IN_ARRAY] == rounds || sight->there[IN_ARRAY] + 1U == rounds) &&
           (sight->there[IN_STREAM] == 2U * sight->there[IN_ARRAY] ||
            sight->there[IN_STREAM] + 2U == 2U * rounds) &&
           (sight->there[IN_FILE] == 0 || rounds == PIECES);
}

/* Mounts what lies there. 0: it is refused; or all that is read is right, and something tells if
 * there is less than was written. `cut`: less may look like a power cut a while before. */
static int stands(uint32_t sequence, int cut)
{
    int result = forge_mount(&bed);
    struct nw_store_space space;

    if (result < 0) {
        return 0;
    }
    struct sight sight = see();
    const struct nw_store_stats *stats = nw_store_stats(bed.store);
    nw_store_space(bed.store, &space);
    if (sight.wrong > 0) {
        return -1;
    }
    return is_whole(&sight) || stats->tampered > 0 || stats->lost > 0 || sight.errors > 0 ||
                   space.sequence <= sequence || (cut && is_earlier(&sight))
               ? 0
               : -1;
}

static uint32_t sequence_now(void)
{
    struct nw_store_space space;

    nw_store_space(bed.store, &space);
    return space.sequence;
}

static int is_blank(uint32_t at)
{
    uint32_t page = at / FORGE_PAGE_BYTES * FORGE_PAGE_BYTES;

    for (uint32_t i = 0; i < FORGE_PAGE_BYTES; i++) {
        if (kept.data[page + i] != 0xFF) {
            return 0;
        }
    }
    return 1;
}

static void expect_stands(uint32_t sequence, uint32_t bit, int cut)
{
    if (stands(sequence, cut) < 0) {
        fail_msg("bit %u of page %u byte %u", (unsigned)(bit % 8U),
                 (unsigned)(bit / 8U / FORGE_PAGE_BYTES), (unsigned)(bit / 8U % FORGE_PAGE_BYTES));
    }
}

static void flip_all(uint8_t chip)
{
    /* Every bit of a byte in turn. */
    uint32_t step = getenv("NW_SOAK") != NULL ? 1U : EFFORT(9U, 25U);
    uint32_t flips = 0;

    make_image(chip);
    uint32_t sequence = sequence_now();
    kept = bed;
    assert_int_equal(stands(sequence, 0), 0);
    struct sight sight = see();
    assert_true(is_whole(&sight));
    assert_int_equal(nw_store_stats(bed.store)->tampered, 0);
    for (uint32_t bit = 0; bit < FORGE_BYTES * 8U; bit += step) {
        if (is_blank(bit / 8U) && bit / step % 64U != 0) {
            continue; /* of these a few */
        }
        bed = kept;
        bed.data[bit / 8U] ^= (uint8_t)(1U << (bit % 8U));
        expect_stands(sequence, bit, 0);
        flips++;
    }
    print_message("chip %u: %u bits flipped\n", chip, (unsigned)flips);
}

static void test_flips_nand(void **state)
{
    (void)state;
    flip_all(0);
}

static void test_flips_nor(void **state)
{
    (void)state;
    flip_all(1);
}

static void test_flips_read_ahead(void **state)
{
    (void)state;
    flip_all(2);
}

/* Who changes a header makes its checksum right again, which needs no key. A length that reaches to
 * the last page looks like a long chunk that a power cut tore. */
static void test_forged_headers(void **state)
{
    uint32_t forged = 0;

    (void)state;
    make_image(0);
    uint32_t sequence = sequence_now();
    kept = bed;
    for (uint32_t bit = 0; bit < (FORGE_BYTES - CHUNK_HEAD) * 8U; bit++) {
        const uint8_t *old = kept.data + bit / 8U;
        int block = bit / 8U % (FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES) == 0 && old[0] == 'N';
        int chunk = (old[0] & 15U) >= 1U && (old[0] & 15U) <= 5U &&
                    old[9] == (uint8_t)(nw_crc16(NW_CRC16_START, old, 9) & 0xFFU);
        for (uint32_t i = 0; i < (block ? 160U : 72U) && (block || chunk); i++) {
            bed = kept;
            uint8_t *bytes = bed.data + bit / 8U;
            bytes[i / 8U] ^= (uint8_t)(1U << (i % 8U));
            if (block) {
                nw_put32(bytes + 20, nw_crc32(NW_CRC32_START, bytes, 20));
            } else {
                bytes[9] = (uint8_t)(nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU);
            }
            expect_stands(sequence, bit + i, chunk);
            forged++;
        }
        bit += 7U;
    }
    print_message("%u headers forged\n", (unsigned)forged);
}

/* The newest chunk of data of an object with a key, or the one before it. */
static uint8_t *find_chunk(const char *name, uint32_t number, int before)
{
    int slot = (handle_of(name) & 127) - 1;
    uint8_t *found[2] = {NULL, NULL};

    for (uint32_t at = 0; at + CHUNK_HEAD < FORGE_BYTES; at++) {
        uint8_t *bytes = bed.data + at;
        if ((bytes[0] & 15U) == 1U && bytes[1] == slot && nw_get32(bytes + 5) == number &&
            bytes[9] == (uint8_t)(nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU)) {
            found[1] = found[0];
            found[0] = bytes;
        }
    }
    assert_non_null(found[before]);
    return found[before];
}

static void expect_tampered(const char *name, uint32_t number)
{
    uint8_t bytes[FILE_BYTES];
    uint32_t before = nw_store_stats(bed.store)->tampered;
    int result = strcmp(name, "a") == 0
                     ? nw_store_get(bed.store, handle_of(name), number, bytes)
                     : nw_store_peek(bed.store, handle_of(name), number, bytes, sizeof bytes);

    assert_int_equal(result, NW_ERR_TAMPERED);
    assert_int_equal(nw_store_stats(bed.store)->tampered, before + 1U);
}

static void test_chunks_exchanged(void **state)
{
    uint8_t *left;
    uint8_t *right;
    uint8_t between[CHUNK_HEAD + 24U];

    (void)state;
    make_image(1);
    left = find_chunk("q", 7, 0) + TAG_AT;
    right = find_chunk("q", 9, 0) + TAG_AT;
    memcpy(between, left, CHUNK_HEAD - TAG_AT + 24U);
    memcpy(left, right, CHUNK_HEAD - TAG_AT + 24U);
    memcpy(right, between, CHUNK_HEAD - TAG_AT + 24U);
    expect_tampered("q", 7);
    expect_tampered("q", 9);

    make_image(1); /* with its header, for another object's element of the same number */
    memcpy(find_chunk("q", 8, 0), find_chunk("a", 8, 0), CHUNK_HEAD + VALUE_BYTES);
    expect_tampered("q", 8);
}

/* Once a bit that kept the header from being read as one was NW_ERR_CORRUPT, and not counted. */
static void test_header(void **state)
{
    uint32_t from = 7;

    (void)state;
    make_image(1);
    uint8_t *chunk = find_chunk("q", 7, 0);
    for (unsigned bit = 0; bit < CHUNK_HEAD * 8U; bit++) {
        chunk[bit / 8U] ^= (uint8_t)(1U << bit % 8U);
        expect_tampered("q", 7);
        chunk[bit / 8U] ^= (uint8_t)(1U << bit % 8U);
    }
    chunk[3] ^= 3U;
    assert_int_equal(nw_store_compact(bed.store, handle_of("q"), &from, 1), NW_ERR_TAMPERED);

    make_image(1); /* and where a mount replays it */
    find_chunk("q", PIECES - 1U, 0)[3] ^= 3U;
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_true(nw_store_stats(bed.store)->tampered > 0);

    make_image(1); /* a header as it is on blank flash */
    memset(find_chunk("q", 7, 0), 0xFF, CHUNK_HEAD);
    expect_tampered("q", 7);
}

/* Once half of a page of 128 bytes was more than a sealed block of a file may have. */
static void test_file_blocks(void **state)
{
    struct nw_store_spec spec = {.type = NW_STORE_FILE};

    (void)state;
    make_image(1);
    assert_int_equal(nw_store_delete(bed.store, handle_of("f")), NW_OK);
    int file = nw_store_create(bed.store, "f", &spec);
    assert_true(file > 0);
    assert_int_equal(nw_store_delete(bed.store, file), NW_OK);
    spec.unit_bytes = FORGE_PAGE_BYTES - CHUNK_HEAD - BLOCK_HEAD + 1U;
    assert_int_equal(nw_store_create(bed.store, "f", &spec), NW_ERR_CONFIG);
    spec.unit_bytes--;
    assert_true(nw_store_create(bed.store, "f", &spec) > 0);
}

static void test_old_chunk_put_back(void **state)
{
    (void)state;
    make_image(1);
    set(3, 1000);
    set(3, 1001);
    for (uint32_t i = 0; i < 8U; i++) { /* so that it is not read from the page buffer */
        put("s", i);
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    memcpy(find_chunk("a", 3, 0), find_chunk("a", 3, 1), CHUNK_HEAD + VALUE_BYTES);
    expect_tampered("a", 3);
}

/* An element that an anchor does not tell of yet is made to look like bytes never written: those
 * behind it cannot be numbered, and that is told. */
static void test_element_left_out(void **state)
{
    (void)state;
    make_image(0);
    assert_int_equal(forge_mount(&bed), NW_OK);
    for (uint32_t i = 0; i < 8U; i++) {
        put("q", PIECES + i);
        assert_int_equal(nw_store_sync(bed.store), NW_OK); /* so each begins at a unit of its own */
    }
    memset(find_chunk("q", PIECES + 2U, 0), 0xFF, CHUNK_HEAD + 24U);
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_true(nw_store_stats(bed.store)->lost > 0);
}

static void test_part_of_a_block(void **state)
{
    static const uint8_t zeros[10];
    uint8_t bytes[10];

    (void)state;
    make_image(1); /* its first block has bytes 0 .. 39 */
    find_chunk("f", 0, 0)[CHUNK_HEAD + 30U] ^= 1U;
    memset(bytes, 0x55, sizeof bytes);
    assert_int_equal(nw_store_read(bed.store, handle_of("f"), 5, bytes, 10), NW_ERR_TAMPERED);
    assert_memory_equal(bytes, zeros, 10);
}

static void test_end_cut_off(void **state)
{
    (void)state;
    make_image(1);
    uint32_t sequence = sequence_now();
    kept = bed;
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_int_equal(sequence_now(), sequence + 1U); /* a mount raises it */
    bed = kept;
    for (uint32_t block = 0; block < FORGE_BLOCKS; block++) {
        uint8_t *head = bed.data + block * FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES;
        if (head[0] == 'N' && nw_get32(head + 4) == sequence) {
            memset(head, 0xFF, FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES);
        }
    }
    int result = forge_mount(&bed);
    assert_true(result < 0 || sequence_now() <= sequence);
}

/* The header of the newest block is put before what the block behind it held a round ago, and the
 * newest block is marked bad: once that old content was taken for the newest. */
static void test_header_elsewhere(void **state)
{
    const uint32_t block_bytes = FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES;
    uint32_t newest = 0;
    uint32_t what = 100;

    (void)state;
    make_image(1);
    while (sequence_now() < 3U * FORGE_BLOCKS) {
        set(3, what++);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
    }
    for (uint32_t start = sequence_now(); sequence_now() == start; what++) {
        set(3, what);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
    }
    uint32_t sequence = sequence_now();
    while (nw_get32(bed.data + newest * block_bytes + 4U) != sequence) {
        newest++;
    }
    uint8_t *behind = bed.data + (newest + 1U) % FORGE_BLOCKS * block_bytes;
    assert_int_equal(behind[0], 'N');
    memcpy(behind, bed.data + newest * block_bytes, BLOCK_HEAD);
    bed.bad[newest] = 1;
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_true(sequence_now() <= sequence); /* as if power had gone before */
}

/* What is not proven is not handed out: of a whole element, too. */
static void test_nothing_unproven(void **state)
{
    static const uint8_t zeros[FILE_BYTES];
    uint8_t bytes[FILE_BYTES];

    (void)state;
    make_image(1);
    find_chunk("q", 7, 0)[CHUNK_HEAD + 3U] ^= 1U;
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(nw_store_peek(bed.store, handle_of("q"), 7, bytes, sizeof bytes),
                     NW_ERR_TAMPERED);
    assert_memory_equal(bytes, zeros, sizeof bytes);
}

static void test_keys(void **state)
{
    (void)state;
    make_image(0);
    kept = bed;
    seal_with(other_key);
    assert_int_equal(forge_mount(&bed), NW_ERR_KEY);
    bed.config.seal = NULL;
    assert_int_equal(forge_mount(&bed), NW_ERR_KEY);
    assert_memory_equal(bed.data, kept.data, FORGE_BYTES); /* a refused mount changes nothing */
    seal_with(key);
    assert_int_equal(forge_mount(&bed), NW_OK);

    forge_open(&bed, 0); /* one that is not sealed */
    assert_int_equal(forge_format(&bed), NW_OK);
    seal_with(key);
    assert_int_equal(forge_mount(&bed), NW_ERR_KEY);
    bed.config.seal = NULL;
    assert_int_equal(forge_mount(&bed), NW_OK);

    forge_open(&bed, 0); /* none at all */
    seal_with(key);
    assert_int_equal(forge_mount(&bed), NW_ERR_BLANK);
}

static int holds(const uint8_t *bytes, size_t count)
{
    for (size_t at = 0; at + count <= FORGE_BYTES; at++) {
        if (memcmp(bed.data + at, bytes, count) == 0) {
            return 1;
        }
    }
    return 0;
}

static void test_nothing_to_read(void **state)
{
    uint8_t bytes[FILE_BYTES];
    struct nw_store_spec spec = {.type = NW_STORE_STACK};

    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        make_image(0);
        if (!sealed) {
            bed.config.seal = NULL;
            assert_int_equal(forge_format(&bed), NW_OK);
        }
        assert_int_equal(nw_store_delete(bed.store, handle_of("e")), NW_OK);
        assert_true(nw_store_create(bed.store, "NAME", &spec) > 0);
        put("q", 77);
        fill(bytes, FILE_BYTES, 99);
        assert_int_equal(nw_store_write(bed.store, handle_of("f"), 0, bytes, 40), 40);
        assert_int_equal(nw_store_write(bed.store, handle_of("f"), 3, bytes, 4), 4);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_int_equal(holds((const uint8_t *)"NAME", 4), !sealed);
        assert_int_equal(holds(bytes + 8, 16), !sealed);
        fill(bytes, 24, 77);
        assert_int_equal(holds(bytes, 24), !sealed);
    }
}

/* The price: 12 bytes a chunk and 32 a block; no operation more while nothing is moved. */
static void test_price(void **state)
{
    struct nw_store_stats stats[2];

    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        forge_open(&bed, 1);
        if (sealed) {
            seal_with(key);
        }
        assert_int_equal(forge_format(&bed), NW_OK);
        struct nw_store_stats before = *nw_store_stats(bed.store);
        for (uint32_t i = 0; i < 3U; i++) {
            put("q", i);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        stats[sealed] = *nw_store_stats(bed.store);
        stats[sealed].programs -= before.programs;
        stats[sealed].bytes_programmed -= before.bytes_programmed;
    }
    assert_int_equal(stats[1].bytes_programmed - stats[0].bytes_programmed, 3 * 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips_nand),       cmocka_unit_test(test_flips_nor),
        cmocka_unit_test(test_flips_read_ahead), cmocka_unit_test(test_forged_headers),
        cmocka_unit_test(test_chunks_exchanged),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_file_blocks),
        cmocka_unit_test(test_old_chunk_put_back), cmocka_unit_test(test_element_left_out),
        cmocka_unit_test(test_part_of_a_block),
        cmocka_unit_test(test_header_elsewhere),
        cmocka_unit_test(test_nothing_unproven), cmocka_unit_test(test_end_cut_off),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_nothing_to_read),  cmocka_unit_test(test_price)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
