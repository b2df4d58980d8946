/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: an expendable stream gives way where something else would not fit, and only there.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store_bed.h"

/* An expendable stream gives way; what else there is stays. */
static void test_expendable(void **state)
{
    struct nw_store_config config = {.objects = 2, .frames = 12};
    struct nw_store_spec spec = {.type = NW_STORE_STREAM, .flags = NW_STORE_EXPENDABLE};
    struct nw_store_about about;
    struct nw_store_cursor cursor;
    uint8_t data[200] = {0};

    (void)state;
    store_bed_open(&config, 40, 0);
    int stream = nw_store_create(bed.store, "log", &spec);
    int array = store_bed_create("array", NW_STORE_ARRAY, 16, 10);
    assert_int_equal(nw_store_set(bed.store, array, 3, "sixteen letters"), NW_OK);
    for (uint32_t i = 0; i < 20000U; i++) {
        memcpy(data, &i, 4);
        int result = nw_store_append(bed.store, stream, data, 200);
        assert_int_equal(result, NW_OK);
    }
    assert_true(nw_store_stats(bed.store)->dropped > 10000U);
    assert_int_equal(nw_store_get(bed.store, array, 3, data), NW_OK);
    assert_string_equal((char *)data, "sixteen letters");
    assert_int_equal(nw_store_last(bed.store, stream, &cursor), NW_OK);
    for (uint32_t i = 20000U; i-- > 19200U;) {
        uint32_t value;
        assert_int_equal(nw_store_previous(bed.store, &cursor, data, 200), 200);
        memcpy(&value, data, 4);
        assert_int_equal(value, i);
    }
    assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
    assert_int_equal(nw_store_trim(bed.store, stream, about.tail), NW_OK);
    assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
    assert_int_equal(about.bytes, 0); /* of what was dropped nothing stays in the books */
    store_bed_close();
}

/* Where not even all of it would make room it stays: it was emptied, and the put refused. */
static void test_expendable_in_vain(void **state)
{
    struct nw_store_config config = {.objects = 2};
    struct nw_store_spec spec = {.type = NW_STORE_STREAM, .flags = NW_STORE_EXPENDABLE};
    struct nw_store_about about;
    static uint8_t data[1500];

    (void)state;
    store_bed_open(&config, 40, 0);
    int stream = nw_store_create(bed.store, "log", &spec);
    int queue = store_bed_create("queue", NW_STORE_QUEUE, 0, 0);
    while (nw_store_push(bed.store, queue, data, 200) == NW_OK) {
    }
    for (unsigned i = 0; i < 4U; i++) {
        assert_int_equal(nw_store_dequeue(bed.store, queue, data, 200), 200);
    }
    for (unsigned i = 0; i < 3U; i++) {
        assert_int_equal(nw_store_append(bed.store, stream, data, 30), NW_OK);
    }
    assert_int_equal(nw_store_push(bed.store, queue, data, sizeof data), NW_ERR_FULL);
    assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
    assert_int_equal(about.tail - about.head, 3);
    assert_int_equal(nw_store_push(bed.store, queue, data, 200), NW_OK);
    store_bed_close();
}

/* It gives way only where what is put would not fit. A mount moves what the page written last
 * holds, and once took that for cleaning: the stream was empty. So did compaction; and cleaning
 * dropped what it met, in idle time too, when most of the chip was free. */
static void test_expendable_stays(void **state)
{
    struct nw_store_config config = {.objects = 2};
    struct nw_store_spec spec = {.type = NW_STORE_STREAM, .flags = NW_STORE_EXPENDABLE};
    struct nw_store_about about;
    struct nw_store_space space;
    uint32_t key = 0;

    (void)state;
    store_bed_open(&config, 64, 0);
    int stream = nw_store_create(bed.store, "log", &spec);
    int array = store_bed_create("array", NW_STORE_ARRAY, 200, 10);
    for (uint32_t i = 0; i < 50U; i++) {
        assert_int_equal(nw_store_append(bed.store, stream, "thirty letters, more or less..", 30),
                         NW_OK);
        if (i % 10U == 9U) {
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
            store_bed_mount();
        }
    }
    assert_int_equal(nw_store_compact(bed.store, stream, &key, 100), 50);
    store_bed_mount();
    assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
    assert_int_equal(about.tail - about.head, 50);
    assert_int_equal(nw_store_stats(bed.store)->dropped, 0);
    for (uint32_t i = 0; i < 20000U; i++) { /* a few rounds of the log, which move the stream */
        static const uint8_t value[200];
        assert_int_equal(nw_store_set(bed.store, array, i % 10U, value), NW_OK);
        assert_true(nw_store_idle(bed.store, 100) >= 0);
    }
    nw_store_space(bed.store, &space);
    assert_true(space.used_bytes < space.limit_bytes / 2U);
    assert_true(nw_store_stats(bed.store)->moved > 0);
    assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
    assert_int_equal(about.tail - about.head, 50);
    assert_int_equal(nw_store_stats(bed.store)->dropped, 0);
    store_bed_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expendable),
        cmocka_unit_test(test_expendable_stays),
        cmocka_unit_test(test_expendable_in_vain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
