/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the few frames of a small node over a DataFlash keep every byte, cost exactly what they
 * promise, send the chip what the simulator of layouts says to the last page, wear all of their
 * pool alike, and lose nothing when a page of flash fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dataflash_model.h"
#include "nandwich-vmtrace/layout.h"
#include "nandwich/driver_dataflash.h"
#include "nandwich/random.h"
#include "nandwich/small.h"

#define PAGE_BYTES 32U
#define PAGES 20U
#define POOL NW_SMALL_POOL(PAGES)
#define FIRST 40U /* page of the chip */
#define ACCESSES 20000U

struct calls {
    unsigned reads, from_buffer, to_buffer, programs, loads;
};

struct rig {
    struct nw_chip chip;
    uint8_t cells[POOL][PAGE_BYTES], buffer[2][PAGE_BYTES];
    struct calls calls;
    uint32_t programs[POOL];
    uint32_t total;       /* programs of all of them */
    uint32_t last[POOL];  /* of that total, when the page was programmed last */
    uint32_t rest;        /* the most programs that a page has seen the others have meanwhile */
    uint8_t fails[POOL];
    uint8_t reads_fail; /* so many more */
    struct nw_small small;
    struct nw_small_config config;
    uint8_t *frame_of[PAGES];
    uint8_t slot_of[PAGES], taken[NW_SMALL_TAKEN_BYTES(NW_SMALL_POOL_MAX)];
    uint8_t frames[PAGES * (264U + NW_SMALL_FRAME_EXTRA)];
};

static struct rig rig;
static jmp_buf on_panic;
static int panic_error;

static const struct nw_geometry geometry = {.blocks = 128, .block_pages = 8,
                                            .page_bytes = PAGE_BYTES, .program_bytes = PAGE_BYTES,
                                            .page_programs = 1, .erased = 0xFF, .buffers = 2,
                                            .flags = NW_CHIP_REWRITE};

static void initial(struct nw_small *small, uint8_t page, uint8_t *to)
{
    memset(to, page, small->config.page_bytes);
}

static void panic(struct nw_small *small, int error, uint8_t page)
{
    (void)small;
    (void)page;
    panic_error = error;
    longjmp(on_panic, 1);
}

/* A chip of the verbs that are wanted and no others. */

static int read_page(struct nw_chip_req *req)
{
    rig.calls.reads++;
    if (rig.reads_fail > 0) {
        rig.reads_fail--;
        return NW_ERR_IO;
    }
    memcpy(req->data, rig.cells[req->page - FIRST], req->length);
    return NW_OK;
}

static int buffer_read(struct nw_chip_req *req)
{
    rig.calls.from_buffer++;
    memcpy(req->data, rig.buffer[req->buffer], req->length);
    return NW_OK;
}

static int buffer_load(struct nw_chip_req *req)
{
    rig.calls.loads++;
    memcpy(rig.buffer[req->buffer], rig.cells[req->page - FIRST], PAGE_BYTES);
    return NW_OK;
}

static int buffer_write(struct nw_chip_req *req)
{
    rig.calls.to_buffer++;
    memcpy(rig.buffer[req->buffer], req->data, req->length);
    return NW_OK;
}

static int buffer_program(struct nw_chip_req *req)
{
    uint32_t slot = req->page - FIRST;

    assert_in_range(req->page, FIRST, FIRST + POOL - 1U);
    rig.calls.programs++;
    rig.programs[slot]++;
    rig.last[slot] = ++rig.total;
    for (uint32_t i = 0; i < POOL; i++) {
        rig.rest = rig.total - rig.last[i] > rig.rest && rig.fails[i] == 0 ? rig.total - rig.last[i]
                                                                           : rig.rest;
    }
    memcpy(rig.cells[req->page - FIRST], rig.buffer[req->buffer], PAGE_BYTES);
    return rig.fails[req->page - FIRST] ? (int)NW_ERR_PROGRAM : (int)NW_OK;
}

static const struct nw_chip_ops ops = {.read = read_page, .buffer_read = buffer_read,
                                       .buffer_write = buffer_write, .buffer_load = buffer_load,
                                       .buffer_program = buffer_program};

static void prepare(uint8_t frames)
{
    memset(&rig, 0, sizeof rig);
    rig.chip = (struct nw_chip){.ops = &ops, .geometry = geometry};
    rig.config = (struct nw_small_config){.chip = &rig.chip, .first_page = FIRST,
                                          .page_bytes = PAGE_BYTES, .pages = PAGES,
                                          .frames = frames, .pool = POOL,
                                          .frame_of = rig.frame_of, .slot_of = rig.slot_of,
                                          .taken = rig.taken, .frame = rig.frames,
                                          .initial = initial, .panic = panic};
}

static void begin(uint8_t frames)
{
    prepare(frames);
    assert_int_equal(nw_small_open(&rig.small, &rig.config), NW_OK);
}

static uint8_t *access_page(uint8_t page, uint8_t marks)
{
    uint8_t *frame = rig.frame_of[page];

    if (frame == NULL) {
        frame = nw_small_fault(&rig.small, page);
    }
    assert_int_equal(frame[0], page);
    frame[1] |= marks;
    return frame + NW_SMALL_FRAME_EXTRA;
}

static void store(uint8_t page, uint8_t value)
{
    *access_page(page, NW_SMALL_USED | NW_SMALL_DIRTY) = value;
}

static uint8_t load(uint8_t page)
{
    return *access_page(page, NW_SMALL_USED);
}

/* Calls of the chip since the last time: reads, buffer reads, buffer writes, programs. */
static void expect_calls(unsigned reads, unsigned from_buffer, unsigned to_buffer,
                         unsigned programs)
{
    assert_int_equal(rig.calls.reads, reads);
    assert_int_equal(rig.calls.from_buffer, from_buffer);
    assert_int_equal(rig.calls.to_buffer, to_buffer);
    assert_int_equal(rig.calls.programs, programs);
    memset(&rig.calls, 0, sizeof rig.calls);
}

static void a_page_costs_what_it_has_to(void **state)
{
    (void)state;
    begin(1);
    assert_int_equal(load(0), 0);
    expect_calls(0, 0, 0, 0); /* in RAM from the start, and opening asks for nothing */
    assert_int_equal(load(1), 1);
    expect_calls(0, 0, 0, 0); /* never written, so nowhere but in `initial` */
    store(1, 11);
    store(2, 12);
    expect_calls(0, 0, 1, 0); /* 1 to a buffer */
    assert_int_equal(load(3), 3);
    expect_calls(0, 0, 1, 0); /* 2 to the other one */
    assert_int_equal(load(1), 11);
    expect_calls(0, 1, 0, 0);
    assert_int_equal(load(2), 12);
    expect_calls(0, 1, 0, 0); /* 1 was not sent again: its buffer had kept it */
    store(1, 21);
    expect_calls(0, 1, 0, 0);
    assert_int_equal(load(4), 4);
    expect_calls(0, 0, 1, 0); /* changed, so sent to its own buffer; no flash */
    store(5, 15);
    assert_int_equal(load(6), 6);
    expect_calls(0, 0, 1, 1); /* 5 wants a buffer: 2's, used longer ago, goes to flash */
    assert_int_equal(load(2), 12);
    expect_calls(1, 0, 0, 0); /* from flash, past the buffers */
    assert_int_equal(load(1), 21);
    expect_calls(0, 1, 0, 0);
    assert_int_equal(load(5), 15);
    expect_calls(0, 1, 0, 0);
    assert_int_equal(rig.small.stats.faults, 12);
    assert_int_equal(rig.small.stats.buffer_reads, 5);
    assert_int_equal(rig.small.stats.to_buffer, 4);
    assert_int_equal(rig.small.stats.flash_writes, 1);
}

static void the_lowest_class_leaves(void **state)
{
    (void)state;
    begin(4);
    (void)load(0);
    store(1, 1);
    *access_page(2, NW_SMALL_DIRTY) = 2; /* as if its use had been taken back */
    (void)load(3);
    (void)load(4); /* 0 and 1 are used: 2 goes, though it is dirty */
    assert_null(rig.frame_of[2]);
    (void)access_page(5, 0); /* the hand stands at 3, used; the marks of 0 and 1 are gone */
    assert_null(rig.frame_of[0]);
    assert_non_null(rig.frame_of[1]);
    assert_non_null(rig.frame_of[3]);
    (void)load(6); /* 5 was never used */
    assert_null(rig.frame_of[5]);
}

/* Hot pages, cold ones, and phases of writing; half of all to a quarter of the pages. */
static uint32_t any_access(struct nw_random *random, uint32_t at)
{
    uint32_t page = nw_random_below(random, nw_random_below(random, 2) ? PAGES : PAGES / 4U);
    uint32_t write = nw_random_below(random, at / 1000U % 2U != 0 ? 3 : 20) == 0;

    return page << 1 | write;
}

static void play_and_compare(uint8_t frames, uint32_t seed)
{
    static uint32_t accesses[ACCESSES], page[PAGES];
    uint8_t expected[PAGES];
    struct nw_node_result told;
    struct nw_random random;

    nw_random_seed(&random, seed);
    for (uint8_t i = 0; i < PAGES; i++) {
        page[i] = expected[i] = i;
    }
    begin(frames);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        uint8_t at = (uint8_t)((accesses[i] = any_access(&random, i)) >> 1);

        if ((accesses[i] & 1U) != 0) {
            store(at, expected[at] = (uint8_t)i);
        } else {
            assert_int_equal(load(at), expected[at]);
        }
    }
    assert_int_equal(nw_node_run(accesses, ACCESSES, 1, page, PAGES, frames, &told), NW_OK);
    assert_int_equal(rig.small.stats.faults, told.faults);
    assert_int_equal(rig.small.stats.buffer_reads, told.buffer_reads);
    assert_int_equal(rig.small.stats.to_buffer, told.to_buffer);
    assert_int_equal(rig.small.stats.flash_writes, told.flash_writes);
}

static void simulator_and_run_time_agree(void **state)
{
    (void)state;
    for (uint8_t frames = 1; frames <= PAGES; frames++) {
        play_and_compare(frames, frames);
    }
}

static void the_pool_wears_alike(void **state)
{
    uint32_t least = UINT32_MAX, most = 0;

    (void)state;
    begin(1);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        store((uint8_t)(i % 4U), (uint8_t)i); /* four pages of twenty */
    }
    for (uint32_t i = 0; i < POOL; i++) {
        least = rig.programs[i] < least ? rig.programs[i] : least;
        most = rig.programs[i] > most ? rig.programs[i] : most;
    }
    assert_in_range(most - least, 0, 1);
    assert_in_range(least, rig.total / POOL - 1U, rig.total / POOL);
}

/* DataFlash wants every page of a sector written again within 10,000 programs and erases there. The
 * pool went round its free pages only: one that held a page which was read and never stored to kept
 * its charge from the first day on, through any number of programs beside it. */
static void a_page_that_is_only_read_moves(void **state)
{
    uint32_t failing[] = {POOL, 5}; /* none; this one */

    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        begin(1);
        for (uint8_t page = 0; page < PAGES; page++) {
            store(page, (uint8_t)(page + 100U));
        }
        (void)load(0);
        (void)load(1); /* all of them have left for the chip */
        if (failing[round] < POOL) {
            rig.fails[failing[round]] = 1;
        }
        for (uint32_t i = 0; i < ACCESSES; i++) {
            store((uint8_t)(i % 4U), (uint8_t)i);
        }
        assert_in_range(rig.rest, 2, PAGES * 33U + POOL);
        assert_in_range(rig.total - rig.small.stats.flash_writes,
                        rig.small.stats.flash_writes / 33U, rig.small.stats.flash_writes / 31U);
        for (uint8_t page = 4; page < PAGES; page++) {
            assert_int_equal(load(page), page + 100U);
        }
    }
}

static void a_failed_page_is_left_out(void **state)
{
    uint8_t expected[PAGES];

    (void)state;
    begin(2);
    rig.fails[0] = rig.fails[3] = rig.fails[4] = rig.fails[POOL - 1U] = 1;
    for (uint32_t i = 0; i < 2000U; i++) {
        uint8_t page = (uint8_t)(i * 7U % PAGES);

        store(page, expected[page] = (uint8_t)(i >> 3));
    }
    for (uint8_t page = 0; page < PAGES; page++) {
        assert_int_equal(load(page), expected[page]);
    }
    for (uint32_t i = 0; i < POOL; i++) {
        assert_true(rig.fails[i] ? rig.programs[i] == 1U : rig.programs[i] > 20U);
    }
}

/* A page does not move where no other is left: that is no reason to stop the program. */
static void the_last_free_page_is_not_moved_to(void **state)
{
    (void)state;
    for (volatile uint32_t before = PAGES; before < 3U * PAGES; before++) {
        begin(1);
        memset(rig.fails, 1, POOL - PAGES); /* as many are left as there are pages */
        panic_error = 0;
        if (setjmp(on_panic) == 0) {
            for (uint32_t i = 0; i < before; i++) {
                store((uint8_t)(i % (PAGES - 1U)), (uint8_t)i);
            }
            store(PAGES - 1U, 77); /* takes the last one, three pages later */
            store(0, 1);
            store(1, 2);
            (void)load(2);
        }
        assert_int_equal(panic_error, 0);
        assert_int_equal(load(PAGES - 1U), 77);
    }
}

static void no_page_left_is_a_panic(void **state)
{
    (void)state;
    begin(1);
    memset(rig.fails, 1, sizeof rig.fails);
    panic_error = 0;
    if (setjmp(on_panic) == 0) {
        for (uint8_t page = 0; page < PAGES; page++) {
            store(page, 1);
        }
    }
    assert_int_equal(panic_error, NW_ERR_FULL);
    assert_int_equal(rig.small.stats.flash_writes, POOL);
}

static void a_read_is_tried_twice(void **state)
{
    (void)state;
    begin(1);
    for (uint8_t page = 0; page < 5; page++) {
        store(page, (uint8_t)(page + 50U));
    }
    rig.reads_fail = 1;
    assert_int_equal(load(0), 50);
    rig.reads_fail = 2;
    panic_error = 0;
    if (setjmp(on_panic) == 0) {
        (void)load(1);
    }
    assert_int_equal(panic_error, NW_ERR_IO);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        prepare(3);                                                                                \
        (change);                                                                                  \
        assert_int_equal(nw_small_open(&rig.small, &rig.config), NW_ERR_CONFIG);                   \
    } while (0)
    REFUSED(rig.config.frames = 0);
    REFUSED(rig.config.frames = PAGES + 1U);
    REFUSED(rig.config.pages = 0);
    REFUSED(rig.config.pages = POOL);
    REFUSED(rig.config.pool = 255);
    REFUSED(rig.config.page_bytes = 0);
    REFUSED(rig.config.page_bytes = PAGE_BYTES + 1U);
    REFUSED(rig.config.first_page = 1024U - POOL + 1U);
    REFUSED(rig.chip.geometry.buffers = 1);
    REFUSED(rig.chip.geometry.flags = 0);
    prepare(3);
    rig.config.first_page = 1024U - POOL;
    assert_int_equal(nw_small_open(&rig.small, &rig.config), NW_OK);
}

/* The driver and the part at command level: bytes, and no command it must not have. */
static void it_runs_on_a_dataflash(void **state)
{
    static const struct dataflash_kind kind = {{0xFF, 0xFF, 0xFF, 0xFF}, 7, 0, 2, 264, 2048};
    static struct dataflash_model model;
    static struct nw_dataflash flash;
    uint8_t expected[PAGES];
    struct nw_random random;

    (void)state;
    prepare(3);
    dataflash_model_open(&model, &kind, 7);
    assert_int_equal(nw_dataflash_open(&flash, &model.spi.spi), NW_OK);
    rig.config.chip = &flash.chip;
    rig.config.page_bytes = 264;
    assert_int_equal(nw_small_open(&rig.small, &rig.config), NW_OK);
    nw_random_seed(&random, 5);
    for (uint8_t i = 0; i < PAGES; i++) {
        expected[i] = i;
    }
    for (uint32_t i = 0; i < 600U; i++) {
        uint32_t one = any_access(&random, i + 1000U);
        uint8_t page = (uint8_t)(one >> 1);
        uint8_t *data = access_page(page, (uint8_t)(NW_SMALL_USED + (one & 1U) * NW_SMALL_DIRTY));

        assert_int_equal(data[263], expected[page]);
        if ((one & 1U) != 0) {
            data[263] = expected[page] = (uint8_t)i;
        }
    }
    assert_in_range(rig.small.stats.flash_writes, 20, 600);
    dataflash_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_costs_what_it_has_to),
        cmocka_unit_test(the_lowest_class_leaves),
        cmocka_unit_test(simulator_and_run_time_agree),
        cmocka_unit_test(the_pool_wears_alike),
        cmocka_unit_test(a_page_that_is_only_read_moves),
        cmocka_unit_test(the_last_free_page_is_not_moved_to),
        cmocka_unit_test(a_failed_page_is_left_out),
        cmocka_unit_test(no_page_left_is_a_panic),
        cmocka_unit_test(a_read_is_tried_twice),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(it_runs_on_a_dataflash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
