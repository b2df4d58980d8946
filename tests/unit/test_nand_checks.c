/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the emulated chip refuses every breach of chip.h with the right error and a record that
 * names the call, and lets every legal use through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nand_rig.h"

static void legal_use_passes(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "k9f1g08u0a", 0);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 0, 512, 0, 14), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 512, 512, 14, 14), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 1024, 512, 28, 14), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 1536, 512, 42, 14), NW_OK);
    assert_int_equal(rig_program(&rig, 9, 0, 0, 0, 14), NW_OK); /* skipping upwards is allowed */
    assert_int_equal(rig_read(&rig, 0, 2048, 62), 0);
    assert_int_equal(rig.data[2047], 0xA5);
    assert_int_equal(rig.spare[61], 0x5A);
    assert_int_equal(rig_read(&rig, 5, 0, 62), 0); /* spare of an unwritten page */
    assert_int_equal(rig.spare[0], 0xFF);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
    rig_close_clean(&rig);
}

static void bytes_twice(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_program(&rig, 3, 0, 2048, 0, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 3, 0, 1, 0, 0), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 3);
    assert_int_equal(rig_program(&rig, 3, 0, 0, 4, 4), NW_OK);
    assert_int_equal(rig_program(&rig, 3, 0, 0, 7, 4), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 3);
    assert_int_equal(rig_program(&rig, 4, 100, 100, 0, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 4, 199, 10, 0, 0), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 4);
    assert_int_equal(rig_program(&rig, 4, 0, 2048, 0, 0), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 4);
    assert_int_equal(rig_program(&rig, 4, 200, 10, 0, 0), NW_OK);
    rig_close_clean(&rig);
}

static void too_many_programs(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    for (uint16_t i = 0; i < 4; i++) {
        assert_int_equal(rig_program(&rig, 0, (uint16_t)(16U * i), 16, 0, 0), NW_OK);
    }
    assert_int_equal(rig_program(&rig, 0, 64, 16, 0, 0), NW_ERR_PROGRAMS);
    rig_expect_misuse(&rig, NW_ERR_PROGRAMS, NW_VERB_PROGRAM, 0);
    rig_close_clean(&rig);
}

static void out_of_order(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_program(&rig, 64 + 5, 0, 16, 0, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 64 + 4, 0, 16, 0, 0), NW_ERR_ORDER);
    rig_expect_misuse(&rig, NW_ERR_ORDER, NW_VERB_PROGRAM, 68);
    assert_int_equal(rig_program(&rig, 64 + 5, 16, 16, 0, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 0, 0, 16, 0, 0), NW_OK); /* another block */
    rig_close_clean(&rig);
    rig_open(&rig, "TC58DVG02A1FT00", 0); /* this one does not ask for order */
    assert_int_equal(rig_program(&rig, 5, 0, 16, 0, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 4, 0, 16, 0, 0), NW_OK);
    rig_close_clean(&rig);
}

static void unwritten_read(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_read(&rig, 2, 1, 0), NW_ERR_UNWRITTEN);
    rig_expect_misuse(&rig, NW_ERR_UNWRITTEN, NW_VERB_READ, 2);
    assert_int_equal(rig_program(&rig, 2, 0, 16, 0, 0), NW_OK);
    assert_int_equal(rig_read(&rig, 2, 2048, 0), 0);
    assert_int_equal(rig.data[15], 0xA5);
    assert_int_equal(rig.data[16], 0xFF);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(rig_read(&rig, 2, 1, 0), NW_ERR_UNWRITTEN);
    rig_expect_misuse(&rig, NW_ERR_UNWRITTEN, NW_VERB_READ, 2);
    rig_close_clean(&rig);
}

static void bad_block_touched(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_program(&rig, 64, 0, 16, 0, 0), NW_OK);
    rig.req.block = 1;
    assert_int_equal(nw_chip_is_bad(&rig.req), 0);
    assert_int_equal(nw_chip_mark_bad(&rig.req), NW_OK);
    assert_int_equal(nw_chip_is_bad(&rig.req), 1);
    assert_int_equal(rig_program(&rig, 65, 0, 16, 0, 0), NW_ERR_BAD_BLOCK);
    rig_expect_misuse(&rig, NW_ERR_BAD_BLOCK, NW_VERB_PROGRAM, 65);
    assert_int_equal(rig_erase(&rig, 1), NW_ERR_BAD_BLOCK);
    rig_expect_misuse(&rig, NW_ERR_BAD_BLOCK, NW_VERB_ERASE, 64);
    assert_int_equal(rig_read(&rig, 64, 16, 0), 0); /* what is there may be read */
    rig_close_clean(&rig);
}

static void never_erased_shows(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", NW_NAND_UNERASED);
    assert_int_equal(rig_read(&rig, 0, 0, 62), 0);
    assert_int_equal(rig.spare[0], 0x55);
    assert_int_equal(rig_read(&rig, 0, 16, 0), 0); /* whose spare bytes look written */
    assert_int_equal(rig_program(&rig, 0, 0, 16, 0, 0), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 0);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(rig_read(&rig, 0, 0, 62), 0);
    assert_int_equal(rig.spare[0], 0xFF);
    assert_int_equal(rig_program(&rig, 0, 0, 16, 0, 0), NW_OK);
    rig_close_clean(&rig);
}

static void off_the_unit(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "W25N01GV", 0);
    assert_int_equal(rig_program(&rig, 0, 0, 511, 0, 0), NW_ERR_ALIGN);
    assert_int_equal(rig_program(&rig, 0, 512, 512, 0, 0), NW_OK);
    rig.req.offset = 100;
    assert_int_equal(rig.req.chip->ops->program(&rig.req), NW_ERR_ALIGN);
    rig_expect_misuse(&rig, NW_ERR_ALIGN, NW_VERB_PROGRAM, 0);
    rig_close_clean(&rig);
}

static void metadata_only(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", NW_NAND_NO_PAYLOAD);
    rig.req.data = NULL;
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 14), NW_OK);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 14), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 0);
    assert_int_equal(rig_read(&rig, 0, 2048, 14), 0);
    assert_int_equal(rig.spare[13], 0x5A); /* spare bytes are kept */
    rig.req.data = rig.data;
    assert_int_equal(rig_read(&rig, 0, 2048, 14), NW_ERR_UNSUPPORTED);
    rig_expect_misuse(&rig, NW_ERR_UNSUPPORTED, NW_VERB_READ, 0);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 14), NW_OK); /* payload given is kept */
    memset(rig.data, 0, sizeof rig.data);
    assert_int_equal(rig_read(&rig, 1, 2048, 14), 0);
    assert_int_equal(rig.data[100], 0xA5);
    rig_close_clean(&rig);
    rig_open(&rig, "K9F1G08U0A", 0);
    rig.req.data = NULL;
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 14), NW_ERR_UNSUPPORTED);
    rig_expect_misuse(&rig, NW_ERR_UNSUPPORTED, NW_VERB_PROGRAM, 0);
    rig_close_clean(&rig);
}

static void copy_is_checked(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    rig.req.page = 0;
    rig.req.to_page = 64;
    assert_int_equal(nw_chip_copy(&rig.req), NW_ERR_UNWRITTEN);
    rig_expect_misuse(&rig, NW_ERR_UNWRITTEN, NW_VERB_COPY, 0);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 14), NW_OK);
    memset(rig.spare, 0x33, sizeof rig.spare);
    assert_int_equal(nw_chip_copy(&rig.req), NW_OK);
    memset(rig.data, 0, sizeof rig.data);
    assert_int_equal(rig_read(&rig, 64, 2048, 14), 0);
    assert_int_equal(rig.data[2047], 0xA5);
    assert_int_equal(rig.spare[13], 0x33);
    rig.req.page = 0;
    assert_int_equal(nw_chip_copy(&rig.req), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_COPY, 64);
    rig_close_clean(&rig);
}

static void the_first_misuse_is_told(void **state)
{
    struct nand_rig rig;
    char text[200];

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_program(&rig, 70, 0, 2048, 0, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 70, 32, 16, 2, 3), NW_ERR_NOT_ERASED);
    assert_int_equal(rig_read(&rig, 2, 1, 0), NW_ERR_UNWRITTEN);
    assert_int_equal(nw_nand_stats(rig.nand)->misuses, 2);
    assert_true(nw_misuse_text(nw_nand_misuse(rig.nand), text, sizeof text) > 0);
    assert_string_equal(text, "operation 1: program of page 70 (block 1), data 32+16, spare 2+3: "
                              "data bytes programmed twice");
    assert_int_equal(nw_misuse_text(nw_nand_misuse(rig.nand), text, 12), 11);
    nw_nand_close(rig.nand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legal_use_passes),  cmocka_unit_test(bytes_twice),
        cmocka_unit_test(too_many_programs), cmocka_unit_test(out_of_order),
        cmocka_unit_test(unwritten_read),    cmocka_unit_test(bad_block_touched),
        cmocka_unit_test(never_erased_shows), cmocka_unit_test(off_the_unit),
        cmocka_unit_test(metadata_only),     cmocka_unit_test(copy_is_checked),
        cmocka_unit_test(the_first_misuse_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
