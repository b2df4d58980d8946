/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the fault filter strikes exactly where and when it was told, the trace tells every
 * operation, and both leave the request and the chip below as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nand_rig.h"
#include "nandwich-twin/faults.h"
#include "nandwich-twin/trace.h"

static struct nw_faults *faults_on(struct nand_rig *rig, struct nw_fault *list, uint32_t count)
{
    static struct nw_faults filter;

    nw_faults_open(&filter, nw_nand_chip(rig->nand), list, count, 1);
    rig->req.chip = &filter.chip;
    return &filter;
}

static void errors_where_and_when_told(void **state)
{
    struct nw_fault list[] = {
        { .verb = NW_VERB_PROGRAM, .first = 3, .last = 9, .skip = 2, .every = 3, .times = 2,
          .error = NW_ERR_PROGRAM },
        { .verb = NW_VERB_ERASE, .first = 1, .last = 1, .error = NW_ERR_ERASE },
    };
    static const int expected[] = { 0, 0, 0, 0, 0, NW_ERR_PROGRAM, 0, 0, NW_ERR_PROGRAM, 0, 0, 0 };
    struct nand_rig rig;
    struct nw_chip *chip;

    (void)state;
    rig_open(&rig, "K9LBG08U0M", 0);
    chip = &faults_on(&rig, list, 2)->chip;
    for (uint32_t page = 0; page < 12; page++) { /* strikes at 5, 8; 11 is out of the range */
        assert_int_equal(rig_program(&rig, page, 0, 4096, 0, 14), expected[page]);
        assert_ptr_equal(rig.req.chip, chip); /* the request came back as it was */
    }
    assert_int_equal(nw_nand_page_programs(rig.nand, 5), 0); /* never reached the chip */
    assert_int_equal(nw_nand_page_programs(rig.nand, 6), 1);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(rig_erase(&rig, 1), NW_ERR_ERASE);
    assert_int_equal(rig_erase(&rig, 1), NW_ERR_ERASE);
    assert_int_equal(nw_nand_block_erases(rig.nand, 1), 0);
    assert_int_equal(list[0].seen, 7);
    assert_int_equal(list[0].hits, 2);
    assert_int_equal(list[1].hits, 2);
    rig_close_clean(&rig);
}

static void an_error_after_the_deed(void **state)
{
    struct nw_fault list[] = {
        { .verb = NW_VERB_PROGRAM, .acts = 1, .times = 1, .error = NW_ERR_PROGRAM } };
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9LBG08U0M", 0);
    (void)faults_on(&rig, list, 1);
    assert_int_equal(rig_program(&rig, 0, 0, 4096, 0, 14), NW_ERR_PROGRAM);
    assert_int_equal(nw_nand_page_programs(rig.nand, 0), 1);
    assert_int_equal(rig_program(&rig, 1, 0, 4096, 0, 14), NW_OK);
    rig_close_clean(&rig);
}

static void flips_are_as_many_as_told(void **state)
{
    struct nw_fault list[] = { { .verb = NW_VERB_READ, .flips = 5, .every = 2 } };
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9LBG08U0M", 0);
    (void)faults_on(&rig, list, 1);
    assert_int_equal(rig_program(&rig, 0, 0, 4096, 0, 14), NW_OK);
    for (int round = 0; round < 20; round++) {
        uint32_t flips = 0;

        assert_int_equal(rig_read(&rig, 0, 4096, 14), 0);
        for (uint32_t i = 0; i < 4096; i++) {
            flips += (uint32_t)__builtin_popcount(rig.data[i] ^ 0xA5);
        }
        assert_int_equal(flips, round % 2 == 0 ? 5 : 0);
    }
    rig_close_clean(&rig);
}

static void verbs_that_are_not_there_stay_away(void **state)
{
    struct nand_rig rig;
    struct nw_faults *filter;

    (void)state;
    rig_open(&rig, "K9LBG08U0M", 0);
    filter = faults_on(&rig, NULL, 0);
    assert_null(filter->chip.ops->copy);
    assert_null(filter->chip.ops->buffer_load);
    rig_close_clean(&rig);
    rig_open(&rig, "K9F1G08U0A", 0);
    filter = faults_on(&rig, NULL, 0);
    assert_non_null(filter->chip.ops->copy);
    assert_memory_equal(&filter->chip.geometry, &nw_nand_chip(rig.nand)->geometry,
                        sizeof filter->chip.geometry);
    rig_close_clean(&rig);
}

/* A script through all verbs of a DataFlash and of a chip with copy, told to a file. */
static void a_trace_tells_all(void **state)
{
    static const char expected[] = "0 2261860 program p1 0+2048 0+14 0\n"
                                   "1 2487280 copy p1>p64 0+0 0+14 0\n"
                                   "2 2513030 read p64 100+20 3+5 0\n"
                                   "3 4513030 erase b0 0+0 0+0 0\n"
                                   "4 4538060 is_bad b7 0+0 0+0 0\n"
                                   "5 4738090 mark_bad b7 0+0 0+0 0\n"
                                   "6 4738090 erase b7 0+0 0+0 -6\n";
    struct nand_rig rig;
    struct nw_trace trace;
    char text[600];
    FILE *file = tmpfile();
    size_t bytes;

    (void)state;
    assert_non_null(file);
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_erase(&rig, 0), NW_OK); /* before the trace was put on */
    nw_trace_open(&trace, nw_nand_chip(rig.nand), nw_nand_meter(rig.nand), nw_trace_to_file, file);
    rig.req.chip = &trace.chip;
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 14), NW_OK);
    rig.req.to_page = 64;
    assert_int_equal(nw_chip_copy(&rig.req), NW_OK);
    rig.req.page = 64;
    rig.req.offset = 100;
    rig.req.length = 20;
    rig.req.spare_offset = 3;
    rig.req.spare_length = 5;
    assert_int_equal(nw_chip_read(&rig.req), 0);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    rig.req.block = 7;
    assert_int_equal(nw_chip_is_bad(&rig.req), 0);
    assert_int_equal(nw_chip_mark_bad(&rig.req), NW_OK);
    assert_int_equal(rig_erase(&rig, 7), NW_ERR_BAD_BLOCK);
    assert_int_equal(trace.count, 7);
    rewind(file);
    bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, expected);
    nw_nand_close(rig.nand);
}

static void keep_line(void *context, const struct nw_trace_event *event)
{
    assert_true(nw_trace_text(event, context, 200) > 0);
}

static void a_trace_of_buffers(void **state)
{
    struct nand_rig rig;
    struct nw_trace trace;
    char line[200];

    (void)state;
    rig_open(&rig, "AT45DB041B", 0);
    nw_trace_open(&trace, nw_nand_chip(rig.nand), NULL, keep_line, line);
    rig.req.chip = &trace.chip;
    rig.req.buffer = 1;
    rig.req.page = 9;
    rig.req.length = 264;
    assert_int_equal(nw_chip_buffer_write(&rig.req), NW_OK);
    assert_string_equal(line, "0 0 buffer_write f1 0+264 0+0 0");
    assert_int_equal(nw_chip_buffer_program(&rig.req), NW_OK);
    assert_string_equal(line, "1 0 buffer_program f1p9 0+0 0+0 0");
    assert_int_equal(nw_chip_buffer_load(&rig.req), NW_OK);
    assert_string_equal(line, "2 0 buffer_load f1p9 0+0 0+0 0");
    assert_int_equal(nw_chip_buffer_read(&rig.req), NW_OK);
    assert_string_equal(line, "3 0 buffer_read f1 0+264 0+0 0");
    rig_close_clean(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_where_and_when_told),
        cmocka_unit_test(an_error_after_the_deed),
        cmocka_unit_test(flips_are_as_many_as_told),
        cmocka_unit_test(verbs_that_are_not_there_stay_away),
        cmocka_unit_test(a_trace_tells_all),
        cmocka_unit_test(a_trace_of_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
