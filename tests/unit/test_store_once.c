/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: one read of a mount that is wrong, but would be right the next time, takes nothing: all
 * that was synced is there, or the mount answers NW_ERR_IO and the next one shows it.
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/crc.h"
#include "effort.h"
#include "store_rig.h"

/* A bit is wrong, two are, nine are (of a mark five), NW_ERR_ECC, NW_ERR_IO; and NW_ERR_ECC when it
 * is read once more, too: what is there is damaged then, but nothing that is blank may be read. */
enum { BIT, TWO, NINE, HIDDEN, BUS, DAMAGED, WAYS };

static struct store_rig rig;
static struct store_snapshot start;
static struct nw_random random_bits;
static struct nw_chip chip; /* in front of the rig's */
static struct nw_chip *below;

/* The read that is wrong. */
static struct {
    uint32_t seen;
    uint32_t number; /* UINT32_MAX: none */
    uint32_t last;   /* the one before */
    unsigned way;
    struct nw_chip_req req;
} wrong;

static int tears; /* power goes in the next program */

/* Turns so many bits. A mount that read two wrong ones in its newest anchor took the log to end
 * before it: a synced delete, rename or element was gone for good, and no error told it. */
static void turn(uint8_t *bytes, uint16_t count, unsigned bits)
{
    uint8_t turned[2112] = {0};

    assert_true(count <= sizeof turned);
    while (bits > 0) {
        uint32_t bit = nw_random_below(&random_bits, 8U * count);
        uint8_t mask = (uint8_t)(1U << bit % 8U);
        if ((turned[bit / 8U] & mask) == 0) {
            turned[bit / 8U] |= mask;
            bytes[bit / 8U] ^= mask;
            bits--;
        }
    }
}

/* Could it be the header of a chunk? Its check has 8 bits, so what is wrong by two bits or more may
 * pass for right (docs/store.md tells how seldom). */
static int is_header(const uint8_t *bytes, uint16_t count)
{
    return count >= 14U && bytes[9] == (nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU);
}

/* What is read so that it is wrong, and that it is shows. */
static void spoil(uint8_t *bytes, uint16_t count, unsigned way)
{
    uint8_t right[2112];
    unsigned bits = way == BIT ? 1U : way == TWO ? 2U : count == 1U ? 5U : 9U;

    assert_true(count <= sizeof right);
    memcpy(right, bytes, count);
    do {
        memcpy(bytes, right, count);
        turn(bytes, count, bits);
    } while (is_header(bytes, count) && memcmp(bytes, right, 10) != 0);
}

static int filter_read(struct nw_chip_req *req)
{
    struct nw_chip_req under = *req;
    uint32_t times = wrong.way == DAMAGED ? 2U : 1U;
    int strikes = wrong.seen - wrong.number < times;

    wrong.seen++;
    under.chip = below;
    wrong.req = strikes ? *req : wrong.req;
    if (strikes && wrong.way > NINE) {
        return wrong.way == BUS ? NW_ERR_IO : NW_ERR_ECC;
    }
    int result = nw_chip_read(&under);
    if (strikes && result >= 0) {
        spoil(req->length > 0 ? req->data : req->spare,
              req->length > 0 ? req->length : req->spare_length, wrong.way);
    }
    return result;
}

#define PASS(name, verb)                         \
    static int name(struct nw_chip_req *req)     \
    {                                            \
        struct nw_chip_req under = *req;         \
        under.chip = below;                      \
        return verb(&under);                     \
    }

static int filter_program(struct nw_chip_req *req)
{
    struct nw_chip_req under = *req;

    if (tears != 0) {
        struct nw_cut cut = {.phase = NW_CUT_INSIDE}; /* it looks anyhow at each power-up */
        nw_nand_cut(rig.nand, &cut);
        tears = 0;
    }
    under.chip = below;
    return nw_chip_program(&under);
}

PASS(filter_erase, nw_chip_erase)
PASS(filter_is_bad, nw_chip_is_bad)
PASS(filter_mark_bad, nw_chip_mark_bad)

static const struct nw_chip_ops filter_ops = {.read = filter_read,
                                              .program = filter_program,
                                              .erase = filter_erase,
                                              .is_bad = filter_is_bad,
                                              .mark_bad = filter_mark_bad};

static void expect(int holds, const char *what)
{
    if (!holds) {
        fail_msg("%s%s, way %u, read %u (page %u, %u + %u): %s: %s", rig.shape->part,
                 rig.shape->sealed ? " sealed" : "", wrong.way, (unsigned)wrong.last,
                 (unsigned)wrong.req.page, wrong.req.offset, wrong.req.length, what, rig.why);
    }
}

/* A mount whose read of that number is wrong; then one on a chip without fault. 0: there was no
 * such read. */
static int mount_wrong(unsigned way, uint32_t number)
{
    store_snapshot_restore(&start, &rig);
    wrong.way = way;
    wrong.number = number;
    wrong.seen = 0;
    int result = store_rig_mount(&rig);
    int struck = wrong.seen > number;

    wrong.number = UINT32_MAX;
    wrong.last = number;
    rig.why[0] = '\0';
    expect(store_rig_clean(&rig) == 0, "misuse");
    if (way == DAMAGED) {
        return struck;
    }
    expect(result == NW_OK || (struck && way == BUS && result == NW_ERR_IO),
           nw_error_text(result));
    if (result == NW_OK) {
        expect(nw_store_stats(rig.store)->lost == 0, "lost");
        expect(store_rig_check(&rig, 0) == 0, "first");
    }
    expect(store_rig_mount(&rig) == NW_OK, "no mount behind it");
    expect(nw_store_stats(rig.store)->lost == 0, "lost behind it");
    expect(store_rig_check(&rig, 0) == 0, "behind it");
    expect(store_rig_clean(&rig) == 0, "misuse");
    return struck;
}

/* Puts the filter in front of the rig's chip. */
static void open_shape(unsigned shape, uint32_t seed)
{
    nw_random_seed(&random_bits, 3);
    store_rig_open(&rig, &store_shapes[shape], seed);
    below = rig.chip;
    chip = *below;
    chip.ops = &filter_ops;
    rig.chip = &chip;
    wrong.number = UINT32_MAX;
    assert_int_equal(store_rig_mount(&rig), NW_OK);
    store_snapshot_open(&start, &rig);
}

static void run_shape(unsigned shape)
{
    struct nw_random random;
    uint32_t reads = 0;

    nw_random_seed(&random, 17U + shape);
    open_shape(shape, 5);
    for (unsigned turns = 0; turns < EFFORT(5U, 2U); turns++) {
        for (uint32_t steps = nw_random_below(&random, 60); steps > 0; steps--) {
            struct store_op op = store_rig_draw(&rig, &random);
            assert_true(store_rig_run(&rig, &op) >= 0);
        }
        struct store_op sync = {.kind = STORE_SYNC};
        assert_int_equal(store_rig_run(&rig, &sync), NW_OK);
        store_snapshot_take(&start, &rig);
        for (unsigned way = 0; way < WAYS; way++) {
            uint32_t number = 0;
            while (mount_wrong(way, number)) {
                number++;
            }
            reads += number;
        }
        wrong.number = UINT32_MAX;
        store_snapshot_restore(&start, &rig);
        if (turns % 3U == 1U) {
            assert_int_equal(store_rig_mount(&rig), NW_OK);
        }
    }
    assert_true(reads > EFFORT(1000U, 300U));
    store_snapshot_close(&start);
    store_rig_close(&rig);
}

#define SHORT 40U /* bytes of an element */

static int push(uint8_t byte, uint16_t bytes)
{
    static uint8_t data[2112];

    assert_true(bytes <= sizeof data);
    memset(data, byte, bytes);
    return nw_store_push(rig.store, nw_store_find(rig.store, "stack"), data, bytes);
}

/* Does the stack show that element? */
static int shows(uint32_t number, uint8_t byte)
{
    static uint8_t data[2112];
    int stack = nw_store_find(rig.store, "stack");

    return nw_store_peek(rig.store, stack, number, data, sizeof data) == (int)SHORT &&
           data[0] == byte && data[SHORT - 1U] == byte;
}

/* A mount whose read of that number is wrong. What it shows, and a sync confirms, is there at each
 * power-up from then on, whatever the torn page looks like. 0: there was no such read. */
static int mount_torn(unsigned way, uint32_t number)
{
    store_snapshot_restore(&start, &rig);
    wrong.way = way;
    wrong.number = number;
    wrong.seen = 0;
    int result = store_rig_mount(&rig);
    int struck = wrong.seen > number;

    wrong.number = UINT32_MAX;
    wrong.last = number;
    rig.why[0] = '\0';
    if (result != NW_OK) {
        expect(struck && way == BUS && result == NW_ERR_IO, nw_error_text(result));
        return struck;
    }
    expect(shows(0, 'A'), "what was synced before");
    int whole = shows(1, 'B');
    expect(push('C', SHORT) == NW_OK && nw_store_sync(rig.store) == NW_OK, "no sync");
    for (unsigned up = 0; up < 6U; up++) {
        nw_nand_power_up(rig.nand);
        expect(store_rig_mount(&rig) == NW_OK, "no mount behind it");
        expect(nw_store_stats(rig.store)->lost == 0, "lost behind it");
        expect(shows(0, 'A') && (!whole || shows(1, 'B')) && shows(whole != 0 ? 2 : 1, 'C'),
               "synced, and gone at a later power-up");
    }
    expect(store_rig_clean(&rig) == 0, "misuse");
    return struck;
}

/*
 * Power goes in the program of a page that then looks complete, and its last element would run on
 * into pages that are still blank. A mount moves what such a page holds. But where one of those
 * blank pages was read wrong, once, NOR and DataFlash took it for the page programmed last, and the
 * torn one was believed: an element was shown, a sync after it answered NW_OK, and at the next
 * power-up it was damaged for good, with `lost` 0.
 */
static void run_torn(unsigned shape)
{
    unsigned played = 0;

    open_shape(shape, 5);
    assert_int_equal(push('A', SHORT), NW_OK);
    assert_int_equal(nw_store_sync(rig.store), NW_OK);
    assert_int_equal(push('B', SHORT), NW_OK);
    tears = 1;
    assert_true(push('X', (uint16_t)(chip.geometry.page_bytes + 60U)) < 0);
    for (unsigned up = 0; up < 200U && played < 2U; up++) {
        nw_nand_power_up(rig.nand);
        store_snapshot_take(&start, &rig);
        assert_int_equal(store_rig_mount(&rig), NW_OK);
        int whole = shows(1, 'B');
        for (unsigned way = 0; whole && way < DAMAGED; way++) {
            uint32_t number = 0;
            while (mount_torn(way, number)) {
                number++;
            }
        }
        played += whole ? 1U : 0U;
        store_snapshot_restore(&start, &rig);
    }
    assert_int_equal(played, 2);
    store_snapshot_close(&start);
    store_rig_close(&rig);
}

int main(void)
{
    return store_each_shape(run_torn) + store_each_shape(run_shape);
}
