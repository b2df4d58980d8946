/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: every row of the parts table is read, makes a whole part and has a source; field text goes
 * in and out without a rounding, and wrong text is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"

static void every_row_is_sound(void **state)
{
    (void)state;
    assert_true(nw_parts_count() >= 15);
    for (uint32_t i = 0; i < nw_parts_count(); i++) {
        const struct nw_part_entry *entry = nw_parts_at(i);
        struct nw_part part;

        assert_string_equal(entry->rows[0].key, "name");
        assert_string_equal(entry->rows[1].key, "note");
        assert_string_equal(entry->rows[2].key, "kind");
        assert_int_equal(nw_parts_find(entry->rows[0].value), (int)i);
        nw_part_init(&part);
        for (uint32_t j = 0; j < entry->count; j++) {
            assert_int_equal(nw_part_set(&part, entry->rows[j].key, entry->rows[j].value), NW_OK);
            assert_true(strlen(entry->rows[j].source) >= strlen("class"));
            for (uint32_t k = 0; k < j; k++) {
                assert_string_not_equal(entry->rows[j].key, entry->rows[k].key);
            }
        }
        assert_int_equal(nw_part_check(&part, NULL), NW_OK);
        assert_true(part.chip.read.fixed_ns > 0 && part.chip.program.fixed_ns > 0);
    }
}

/* A part written out and read back is the same part: what a saved image relies on. */
static void parts_survive_their_text(void **state)
{
    size_t count;
    const struct nw_field *fields = nw_part_fields(&count);

    (void)state;
    for (uint32_t i = 0; i < nw_parts_count(); i++) {
        struct nw_part part;
        struct nw_part again;

        assert_int_equal(nw_parts_get(nw_parts_at(i)->rows[0].value, &part), NW_OK);
        nw_part_init(&again);
        for (size_t j = 0; j < count; j++) {
            char text[256];

            assert_true(nw_field_text(&fields[j], &part, text, sizeof text) >= 0);
            if (nw_field_number(&fields[j], &part) != 0 || fields[j].kind == NW_FIELD_TEXT ||
                fields[j].kind == NW_FIELD_CURVE) {
                assert_int_equal(nw_part_set(&again, fields[j].key, text), NW_OK);
            }
        }
        assert_memory_equal(&part, &again, sizeof part);
    }
}

static uint64_t read_back(const char *key, const char *value, int expected)
{
    struct nw_part part;
    size_t count;
    const struct nw_field *fields = nw_part_fields(&count);

    nw_part_init(&part);
    assert_int_equal(nw_part_set(&part, key, value), expected);
    return nw_field_number(nw_field_find(fields, count, key), &part);
}

static void quantities_are_exact(void **state)
{
    (void)state;
    assert_int_equal(read_back("read.byte_time", "1.761 us", NW_OK), 1761000);
    assert_int_equal(read_back("read.byte_energy", "0.0322 uJ", NW_OK), 32200);
    assert_int_equal(read_back("read.time", "25us", NW_OK), 25000);
    assert_int_equal(read_back("read.time", "0.25 us", NW_OK), 250);
    assert_int_equal(read_back("heal.time", "3 s", NW_OK), 3000000000ULL);
    assert_int_equal(read_back("page_bytes", "1.5 KiB", NW_OK), 1536);
    assert_int_equal(read_back("nvm_bytes", "16 MiB", NW_OK), 1U << 24);
    assert_int_equal(read_back("erased", "0xfF", NW_OK), 255);
    assert_int_equal(read_back("page_programs", "unlimited", NW_OK), 255);
    assert_int_equal(read_back("in_order", "yes", NW_OK), 1);
    assert_int_equal(read_back("kind", "sdcard", NW_OK), NW_PART_SDCARD);
}

static void wrong_text_is_refused(void **state)
{
    static const struct {
        const char *key;
        const char *value;
        int error;
    } cases[] = {
        { "read.time", "25", NW_ERR_CONFIG },          /* no unit */
        { "read.time", "25 uS", NW_ERR_CONFIG },       /* no such unit */
        { "read.time", "0.1 ns", NW_ERR_CONFIG },      /* not whole */
        { "read.time", "-1 ns", NW_ERR_CONFIG },
        { "read.time", "us", NW_ERR_CONFIG },
        { "read.time", "1. us", NW_ERR_CONFIG },
        { "read.time", "1 us x", NW_ERR_CONFIG },
        { "read.time", "", NW_ERR_CONFIG },
        { "read.time", "99999999999999999999 us", NW_ERR_CONFIG }, /* beyond 64 bits */
        { "read.time", "99999999999 s", NW_ERR_CONFIG },
        { "read.time", "3601 s", NW_ERR_RANGE },
        { "blocks", "0", NW_ERR_RANGE },
        { "blocks", "4294967296", NW_ERR_RANGE },
        { "blocks", "18446744073709551617", NW_ERR_CONFIG }, /* 2^64 + 1 */
        { "blocks", "10 B", NW_ERR_CONFIG },
        { "blocks", "0x", NW_ERR_CONFIG },
        { "page_bytes", "1.3 KiB", NW_ERR_CONFIG },    /* not whole */
        { "page_bytes", "64 KiB", NW_ERR_RANGE },
        { "in_order", "true", NW_ERR_CONFIG },
        { "kind", "tape", NW_ERR_CONFIG },
        { "errors", "0:1 0:2", NW_ERR_RANGE },         /* not ascending */
        { "errors", "0:10000000001", NW_ERR_RANGE },   /* above one in a hundred */
        { "errors", "0", NW_ERR_CONFIG },
        { "errors", "0:1,2:3", NW_ERR_CONFIG },
        { "errors", "0:1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1", NW_ERR_CONFIG }, /* too many */
        { "name", "a\nb", NW_ERR_CONFIG },
        { "name", "a name that does not fit into the forty-eight bytes of it", NW_ERR_RANGE },
        { "colour", "blue", NW_ERR_NOT_FOUND },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nw_part part;
        struct nw_part before;

        nw_part_init(&part);
        before = part;
        print_message("%s = %s\n", cases[i].key, cases[i].value);
        assert_int_equal(nw_part_set(&part, cases[i].key, cases[i].value), cases[i].error);
        assert_memory_equal(&part, &before, sizeof part);
    }
}

static void names_in_any_case(void **state)
{
    struct nw_part part;

    (void)state;
    assert_int_equal(nw_parts_get("k9F1g08u0A", &part), NW_OK);
    assert_string_equal(part.name, "K9F1G08U0A");
    assert_int_equal(nw_parts_get("K9F1G08U0", &part), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_parts_get("K9F1G08U0AA", &part), NW_ERR_NOT_FOUND);
}

static void broken_parts_are_not_opened(void **state)
{
    static const struct {
        const char *key;
        const char *value;
    } breaks[] = {
        { "blocks", "4294967295" }, { "program_bytes", "100 B" }, { "erased", "1" },
        { "factory_bad", "1024" },  { "ecc_bits", "1" },          { "rewrite", "yes" },
        { "kind", "nvm" },          { "kind", "sdcard" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++) {
        struct nw_part part;
        struct nw_nand_config config = { .part = &part };
        struct nw_nand *nand;
        const char *why = NULL;

        assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
        assert_int_equal(nw_part_set(&part, breaks[i].key, breaks[i].value), NW_OK);
        assert_int_equal(nw_part_check(&part, &why), NW_ERR_CONFIG);
        assert_non_null(why);
        assert_int_equal(nw_nand_open(&nand, &config), NW_ERR_CONFIG);
        assert_null(nand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_sound),    cmocka_unit_test(parts_survive_their_text),
        cmocka_unit_test(quantities_are_exact),  cmocka_unit_test(wrong_text_is_refused),
        cmocka_unit_test(names_in_any_case),     cmocka_unit_test(broken_parts_are_not_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
