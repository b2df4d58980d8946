/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: headers of blocks lead a mount to the end of the log and nowhere else. One that is damaged
 * or was never written leaves all that was durable in its place, or the mount says so. And so for
 * each page: one that rots costs what it alone held.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/random.h"
#include "store_forge.h"

#define BLOCK_BYTES (FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES)
#define ELEMENT_BYTES 60U
#define KEPT 30U
#define FEW 10U

static struct forge bed;
static struct forge kept;

static uint32_t pushed;

static int handle_of(const char *name)
{
    int handle = nw_store_find(bed.store, name);

    assert_true(handle > 0);
    return handle;
}

static void push(void)
{
    uint8_t data[ELEMENT_BYTES];

    memset(data, (int)(pushed % 251U), sizeof data);
    nw_put32(data, pushed);
    assert_int_equal(nw_store_push(bed.store, handle_of("q"), data, sizeof data), NW_OK);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    pushed++;
}

static void take(void)
{
    uint8_t data[ELEMENT_BYTES];

    assert_int_equal(nw_store_dequeue(bed.store, handle_of("q"), data, sizeof data),
                     ELEMENT_BYTES);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

/* Elements of the queue that are as they were pushed. */
static uint32_t count_there(uint32_t from)
{
    uint8_t data[ELEMENT_BYTES];
    uint32_t there = 0;

    for (uint32_t i = from; i < pushed; i++) {
        there += nw_store_peek(bed.store, handle_of("q"), i, data, sizeof data) ==
                         (int)ELEMENT_BYTES &&
                 nw_get32(data) == i;
    }
    return there;
}

static void open_bed(uint8_t chip)
{
    pushed = 0;
    forge_open(&bed, chip);
    bed.config.anchor_bytes = 3072;
    assert_int_equal(forge_format(&bed), NW_OK);
}

static uint32_t newest_block(void)
{
    uint32_t newest = 0;
    uint32_t highest = 0;

    for (uint32_t block = 0; block < FORGE_BLOCKS; block++) {
        const uint8_t *head = bed.data + block * BLOCK_BYTES;
        if (head[0] == 'N' && nw_get32(head + 4) > highest) {
            highest = nw_get32(head + 4);
            newest = block;
        }
    }
    return newest;
}

/* One of the two headers of a block is damaged, of any block: nothing is lost. Both are: that of
 * the newest may look like a power cut; behind any other the log goes on, which was once forgotten,
 * and erased. */
static void damage(uint32_t block, uint32_t page)
{
    uint8_t *head = bed.data + block * BLOCK_BYTES + page * FORGE_PAGE_BYTES;

    if (head[0] == 'N') {
        head[6] ^= 0x18U;
    }
}

static void check_one_damaged(uint32_t block, uint32_t newest, uint32_t first)
{
    for (uint32_t page = 0; page < 2U; page++) {
        bed = kept;
        if (block == newest && bed.data[block * BLOCK_BYTES + FORGE_PAGE_BYTES] != 'N') {
            continue; /* its only page */
        }
        damage(block, page);
        assert_int_equal(forge_mount(&bed), NW_OK);
        assert_int_equal(count_there(first), pushed - first);
        assert_int_equal(nw_store_stats(bed.store)->lost, 0);
    }
}

static int check_both_damaged(uint32_t block, uint32_t first)
{
    bed = kept;
    damage(block, 0);
    damage(block, 1);
    int result = forge_mount(&bed);
    if (result < 0) {
        assert_int_equal(result, NW_ERR_CORRUPT);
        damage(block, 0); /* nothing is lost yet */
        damage(block, 1);
        assert_int_equal(forge_mount(&bed), NW_OK);
        assert_int_equal(count_there(first), pushed - first);
    } else {
        assert_true(count_there(first) == pushed - first || nw_store_stats(bed.store)->lost > 0);
    }
    return result < 0;
}

static void test_damaged(void **state)
{
    uint32_t refused = 0;
    uint32_t whole = 0;

    (void)state;
    for (uint8_t chip = 0; chip < 2U; chip++) {
        open_bed(chip);
        for (uint32_t step = 0; step < 400U; step++) {
            push();
            if (step >= KEPT) {
                take();
            }
            if (step % 3U != 0) {
                continue;
            }
            uint32_t first = step >= KEPT ? step + 1U - KEPT : 0;
            uint32_t newest = newest_block();
            kept = bed;
            for (uint32_t block = 0; block < FORGE_BLOCKS; block++) {
                if (kept.data[block * BLOCK_BYTES] == 'N') {
                    check_one_damaged(block, newest, first);
                    uint32_t is = block != newest && check_both_damaged(block, first) ? 1U : 0;

                    refused += is;
                    whole += 1U - is;
                }
            }
            bed = kept;
        }
    }
    print_message("%u mounts refused, %u found all\n", (unsigned)refused, (unsigned)whole);
    assert_true(refused > 0 && whole > refused);
}

/* Up to three blocks in a row fail before they have a header, from each page of the first on: what
 * lies in the one behind them was durable, and was once not found. */
static void test_headless(void **state)
{
    struct nw_fault faults[3];
    struct nw_faults filter;

    (void)state;
    for (uint32_t page = 0; page < FORGE_BLOCK_PAGES; page++) {
        for (uint32_t count = 1; count <= 3U; count++) {
            open_bed(0);
            while (newest_block() != 3U) {
                push();
                if (pushed > FEW) {
                    take();
                }
            }
            uint32_t first = pushed - FEW;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t at = (4U + i) * FORGE_BLOCK_PAGES + (i == 0 ? page : 0);
                faults[i] = (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                              .first = at,
                                              .last = at,
                                              .error = NW_ERR_PROGRAM};
            }
            struct nw_chip below = bed.chip;
            nw_faults_open(&filter, &below, faults, count, 1);
            for (uint32_t i = 0; i < 44U; i++) {
                bed.chip = filter.chip;
                push();
                bed.chip = below;
                kept = bed;
                assert_int_equal(forge_mount(&bed), NW_OK);
                if (count_there(first) != pushed - first) {
                    fail_msg("page %u, %u in a row, push %u: %u of %u", (unsigned)page,
                             (unsigned)count, (unsigned)i, (unsigned)count_there(first),
                             (unsigned)(pushed - first));
                }
                bed = kept;
            }
            assert_int_equal(nw_store_stats(bed.store)->swapped, count);
        }
    }
}

/* The first anchor of a mount is damaged: its header. The second one shows that the mount had
 * ended. Once it was taken for one that was cut, and all that was synced since was forgotten
 * without a word, and erased. */
static void test_mounts_anchor(void **state)
{
    (void)state;
    for (uint8_t number = 0; number < 2U; number++) {
        uint32_t at = 0;

        open_bed(number);
        for (uint32_t i = 0; i < 2U * FEW; i++) {
            if (i == FEW / 2U) { /* of those behind it some begin a page */
                assert_int_equal(forge_mount(&bed), NW_OK);
                at = newest_block() * BLOCK_BYTES;
            }
            push();
        }
        kept = bed;
        while ((bed.data[at] & 15U) != 4U || bed.data[at + 9U] !=
               (uint8_t)(nw_crc16(NW_CRC16_START, bed.data + at, 9) & 0xFFU)) {
            at++;
        }
        for (uint32_t bit = 0; bit < 9U * 8U; bit++) {
            bed = kept;
            bed.data[at + bit / 8U] ^= (uint8_t)(1U << bit % 8U);
            assert_int_equal(forge_mount(&bed), NW_OK);
            assert_int_equal(count_there(0), pushed);
            assert_int_equal(forge_mount(&bed), NW_OK);
            assert_int_equal(count_there(0), pushed);
        }
    }
}

/* A format is cut: what it has not yet erased was once mounted, an old state without a word. */
static void test_cut_format(void **state)
{
    struct nw_fault fault = {.verb = NW_VERB_ERASE, .error = NW_ERR_POWER};
    struct nw_faults filter;

    (void)state;
    for (uint8_t number = 0; number < 2U; number++) {
        open_bed(number);
        while (newest_block() != 3U || pushed < 10U * FORGE_BLOCKS) { /* round the chip */
            push();
            if (pushed > KEPT) {
                take();
            }
        }
        kept = bed;
        for (uint32_t skip = 1; skip <= FORGE_BLOCKS; skip++) {
            bed = kept;
            struct nw_chip below = bed.chip;
            fault.seen = 0;
            fault.skip = skip;
            nw_faults_open(&filter, &below, &fault, 1, 1);
            bed.chip = filter.chip;
            assert_int_equal(forge_format(&bed), NW_ERR_POWER);
            bed.chip = below;
            assert_int_equal(forge_mount(&bed), NW_ERR_NOT_FOUND);
        }
        bed = kept;
        assert_int_equal(forge_format(&bed), NW_OK);
        assert_int_equal(forge_mount(&bed), NW_OK);
    }
}

#define KEYS 20U
#define VALUE 6U
#define QUEUE_SLOT 1U
#define ARRAY_SLOT 4U
#define DATA_HEAD 14U

/* What of the image that is kept lies in each page: the current content of elements, queue first,
 * and nodes of the two indexes. */
static struct {
    uint8_t of[KEPT + KEYS];
    uint8_t node[FORGE_OBJECTS];
    uint8_t begins; /* with a chunk */
} holds[FORGE_PAGES];
static uint32_t values[KEYS];
static uint32_t first;
static uint32_t last_page;

static void note_last(struct forge *forge, const struct nw_chip_req *req)
{
    (void)forge;
    last_page = req->data != NULL ? req->page : last_page;
}

static int set(uint32_t key)
{
    uint8_t value[VALUE] = {0, 0, 0, 0, (uint8_t)key, 0xA5};

    nw_put32(value, ++values[key]);
    int result = nw_store_set(bed.store, handle_of("a"), key, value);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    return result;
}

/* A chunk's payload: `from` bytes of it on; where pages have headers these are passed by. */
static uint32_t payload_at(uint32_t at, uint32_t from)
{
    for (uint32_t left = DATA_HEAD + from; left > 0; left--, at++) {
        if (at % BLOCK_BYTES == FORGE_PAGE_BYTES) {
            at += bed.block_head;
        }
    }
    return at % BLOCK_BYTES == FORGE_PAGE_BYTES ? at + bed.block_head : at;
}

static void note_chunk(uint32_t at)
{
    const uint8_t *head = bed.data + at;
    uint32_t key = nw_get32(head + 5);
    uint32_t end = payload_at(at, nw_get16(head + 3) - 1U);
    uint8_t kind = head[0] & 15U;

    if (end >= FORGE_BYTES || head[1] >= FORGE_OBJECTS) {
        return;
    }
    for (uint32_t page = at / FORGE_PAGE_BYTES; page <= end / FORGE_PAGE_BYTES; page++) {
        uint32_t value = nw_get32(bed.data + payload_at(at, 0));

        if (kind == 2U) {
            holds[page].node[head[1]] = 1;
        } else if (head[1] == QUEUE_SLOT && key - first < KEPT) {
            holds[page].of[key - first] = 1;
        } else if (head[1] == ARRAY_SLOT && key < KEYS && value == values[key]) {
            holds[page].of[KEPT + key] = 1;
        }
    }
}

static void note_all(void)
{
    memset(holds, 0, sizeof holds);
    for (uint32_t at = 0; at + DATA_HEAD < FORGE_BYTES; at++) {
        const uint8_t *head = bed.data + at;
        uint8_t kind = head[0] & 15U;

        if (kind == 0 || head[9] != (uint8_t)(nw_crc16(NW_CRC16_START, head, 9) & 0xFFU)) {
            continue;
        }
        if ((kind == 1U || kind == 2U || kind == 5U) && nw_get16(head + 3) > 0) {
            note_chunk(at);
        }
        uint32_t start = at % BLOCK_BYTES < 2U * FORGE_PAGE_BYTES ? bed.block_head : 0;
        holds[at / FORGE_PAGE_BYTES].begins |= at % FORGE_PAGE_BYTES == start;
    }
}

/* May a page that rots cost the element? Where a mount replays what is behind it, it goes on in the
 * next page that a chunk begins. */
static int may_cost(uint32_t page, uint32_t element)
{
    int may = page == last_page || holds[page].node[element < KEPT ? QUEUE_SLOT : ARRAY_SLOT];

    do {
        may |= holds[page].of[element];
        page++;
    } while (page % FORGE_BLOCK_PAGES != 0 && !holds[page].begins);
    return may;
}

enum { IS_THERE, IS_OLDER, IS_ERROR };

static int look_at(uint32_t element)
{
    uint8_t data[ELEMENT_BYTES];
    uint32_t key = element - KEPT;
    int result = element < KEPT ? nw_store_peek(bed.store, handle_of("q"), first + element, data,
                                                sizeof data)
                                : nw_store_get(bed.store, handle_of("a"), key, data);

    if (result < 0) {
        return IS_ERROR;
    }
    if (element < KEPT) {
        assert_int_equal(nw_get32(data), first + element);
        assert_int_equal(data[ELEMENT_BYTES - 1U], (first + element) % 251U);
        return IS_THERE;
    }
    assert_true(data[4] == key && data[5] == 0xA5 && nw_get32(data) <= values[key]);
    return nw_get32(data) == values[key] ? IS_THERE : IS_OLDER;
}

static uint32_t told;  /* elements, by an error */
static uint32_t older; /* or shown as they were, and stats.lost tells */

static void rot(uint32_t page, struct nw_random *random)
{
    int shown[KEPT + KEYS];

    bed = kept;
    bed.after_write = NULL;
    bed.rotten = page;
    bed.has_rot = bed.chip.geometry.flags & NW_CHIP_READ_ERASED ? 0 : 1;
    for (uint32_t i = 0; i < FORGE_PAGE_BYTES && bed.has_rot == 0; i++) {
        bed.data[page * FORGE_PAGE_BYTES + i] = (uint8_t)nw_random_next(random);
    }
    for (int time = 0; time < 2; time++) {
        int result = forge_mount(&bed);
        uint32_t lost = result == NW_OK ? nw_store_stats(bed.store)->lost : 0;

        if (result != NW_OK) {
            fail_msg("page %u, mount %d: %s", (unsigned)page, time, nw_error_text(result));
        }
        for (uint32_t i = 0; i < KEPT + KEYS; i++) {
            int now = look_at(i);
            int may = may_cost(page, i);
            int silent = now == IS_OLDER && lost == 0 && page != last_page;

            if (now != IS_THERE && (time == 0 ? !may || silent : shown[i] == IS_THERE)) {
                fail_msg("page %u, mount %d, element %u: %d, lost %u", (unsigned)page, time,
                         (unsigned)i, now, (unsigned)lost);
            }
            told += time == 0 && now == IS_ERROR;
            older += time == 0 && now == IS_OLDER;
            shown[i] = now;
        }
    }
    int result = set(0);
    assert_true(result == NW_OK || holds[page].node[ARRAY_SLOT]); /* which it would change */
    assert_int_equal(forge_mount(&bed), NW_OK);
    assert_true(result != NW_OK || look_at(KEPT) == IS_THERE);
    values[0]--;
}

/* Each page in turn, one at a time: of chip 0 none of its bytes can be read; of chip 1, which has
 * no code, other bytes are. Nothing is made up, what lies elsewhere is read, and it goes on. An
 * index does not stand twice: a node may take what is under it. */
static void test_each_page(void **state)
{
    struct nw_random random;
    uint32_t pages = 0;

    (void)state;
    nw_random_seed(&random, 3);
    for (uint8_t chip = 0; chip < 2U; chip++) {
        memset(values, 0, sizeof values);
        open_bed(chip);
        bed.after_write = note_last;
        for (uint32_t step = 0; step < 400U; step++) {
            push();
            assert_int_equal(set(step % KEYS * 7U % KEYS), NW_OK);
            if (step >= KEPT) {
                take();
            }
            if (step % 50U != 49U) {
                continue;
            }
            first = pushed - KEPT;
            kept = bed;
            note_all();
            for (uint32_t page = 0; page < FORGE_PAGES; page++) {
                const uint8_t *bytes = kept.data + page * FORGE_PAGE_BYTES;

                if (bytes[0] != 0xFF || memcmp(bytes, bytes + 1, FORGE_PAGE_BYTES - 1U) != 0) {
                    rot(page, &random);
                    pages++;
                }
            }
            bed = kept;
        }
    }
    print_message("%u pages: %u elements told of, %u older\n", (unsigned)pages, (unsigned)told,
                  (unsigned)older);
    assert_true(pages > 1000U && told > pages / 4U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_headless),
                                       cmocka_unit_test(test_mounts_anchor),
                                       cmocka_unit_test(test_cut_format),
                                       cmocka_unit_test(test_each_page)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
