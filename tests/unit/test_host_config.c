/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the key=value configuration of a program on the host means what it says: later words win,
 * sizes take K, M and G, and whatever is wrong is refused with its place and what is allowed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config.h"
#include "json.h"
#include "nandwich/error.h"
#include "nandwich/vm.h"

static struct nw_host_config config;
static char error[512];

static int take(const char *text, int spaces)
{
    nw_host_config_defaults(&config);
    error[0] = '\0';
    return nw_host_config_read(&config, text, spaces, "here", error, sizeof error);
}

static void test_words_are_understood(void **state)
{
    (void)state;
    assert_int_equal(take("chip=ABC\n# a comment\n\nftl=page\nvm=8M\nram=0x8000\npolicy=lru\n", 0),
                     NW_OK);
    assert_string_equal(config.chip, "ABC");
    assert_ptr_equal(config.layer, &nw_layer_page);
    assert_int_equal(config.vm_bytes, 8 << 20);
    assert_int_equal(config.ram_bytes, 32768);
    assert_int_equal(config.policy, NW_VM_LRU);
    assert_int_equal(config.degree, 8);
}

static void test_later_words_win_and_spaces_separate_when_asked(void **state)
{
    (void)state;
    assert_int_equal(take("vm=1M ram=16K  vm=2M\tecc=secded", 1), NW_OK);
    assert_int_equal(config.vm_bytes, 2 << 20);
    assert_int_equal(config.ram_bytes, 16384);
    assert_int_equal(config.ecc, NW_HOST_ECC_SECDED);
    assert_int_equal(take("image=/tmp/a b c\n", 0), NW_OK);
    assert_string_equal(config.image, "/tmp/a b c");
}

static void test_part_keys_are_kept_in_order(void **state)
{
    (void)state;
    assert_int_equal(take("part.name=mine\npart.read.time=25 us\n", 0), NW_OK);
    assert_int_equal(config.part_keys, 2);
    assert_string_equal(config.part_key[1][0], "read.time");
    assert_string_equal(config.part_key[1][1], "25 us");
}

static void test_what_is_wrong_is_told_with_place_and_choice(void **state)
{
    static const struct {
        const char *text, *told;
    } wrong[] = {
        {"vm=1M\nvm=8X\n", "here:2: vm=8X: not a size"},
        {"vm=8G\n", "here:1: vm=8G: allowed are 1 to 4294967295"},
        {"vm=-1\n", "not a size"},
        {"degree=0\n", "allowed are 1 to 255"},
        {"degree=2K\n", "not a number"},
        {"ftl=lavsh\n", "here:1: ftl=lavsh: unknown; allowed are tree, lavish, page"},
        {"colour=red\n", "unknown key 'colour'; known are chip, ftl"},
        {"chip\n", "'chip': write key=value"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(take(wrong[i].text, 0), NW_ERR_CONFIG);
        if (strstr(error, wrong[i].told) == NULL) {
            fail_msg("'%s' does not hold '%s'", error, wrong[i].told);
        }
    }
}

/* A rig had the report written over the program, its image and its recording, in silence. */
static void test_files_are_apart(void **state)
{
    static const char *const wrong[] = {
        "image=/x/a stats=/x/a",
        "record=/x/a stats=/x/a",
        "record=/x/a accesses=/x/a",
        "timeline=/x/a image=/x/a",
        "stats=/proc/self/exe",
        "record=/proc/self/exe",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(take(wrong[i], 1), NW_OK);
        assert_int_equal(nw_host_config_apart(&config, "/proc/self/exe", error, sizeof error),
                         NW_ERR_CONFIG);
        assert_non_null(strstr(error, "would overwrite the "));
    }
    assert_int_equal(take("image=/x/a record=/x/b stats=/dev/null accesses=/dev/null", 1), NW_OK);
    assert_int_equal(nw_host_config_apart(&config, "/proc/self/exe", error, sizeof error), NW_OK);
}

static void test_a_text_too_long_is_refused(void **state)
{
    char text[2 * NW_HOST_WORD_BYTES];

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, "chip=", 5);
    text[sizeof text - 1] = '\0';
    assert_int_equal(take(text, 0), NW_ERR_CONFIG);
    text[5 + NW_HOST_WORD_BYTES - 1] = '\0';
    assert_int_equal(take(text, 0), NW_OK);
}

static void test_json_is_escaped_nested_and_knows_when_it_is_cut(void **state)
{
    char text[80];
    struct nw_json json = {text, sizeof text, 0, 0};

    (void)state;
    nw_json_open(&json, NULL);
    nw_json_text(&json, "a", "q\"\\\n");
    nw_json_open(&json, "b");
    nw_json_number(&json, "c", 18446744073709551615ULL);
    nw_json_signed(&json, "d", INT64_MIN);
    nw_json_close(&json);
    nw_json_bool(&json, "e", 0);
    nw_json_close(&json);
    assert_false(nw_json_whole(&json));

    char room[128];
    struct nw_json whole = {room, sizeof room, 0, 0};

    nw_json_open(&whole, NULL);
    nw_json_text(&whole, "a", "q\"\\\n");
    nw_json_open(&whole, "b");
    nw_json_number(&whole, "c", 18446744073709551615ULL);
    nw_json_signed(&whole, "d", INT64_MIN);
    nw_json_close(&whole);
    nw_json_bool(&whole, "e", 0);
    nw_json_close(&whole);
    assert_true(nw_json_whole(&whole));
    room[whole.used] = '\0';
    assert_string_equal(room, "{\"a\": \"q\\\"\\\\\\u000a\", \"b\": {\"c\": 18446744073709551615, "
                              "\"d\": -9223372036854775808}, \"e\": false}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_understood),
        cmocka_unit_test(test_later_words_win_and_spaces_separate_when_asked),
        cmocka_unit_test(test_part_keys_are_kept_in_order),
        cmocka_unit_test(test_what_is_wrong_is_told_with_place_and_choice),
        cmocka_unit_test(test_files_are_apart),
        cmocka_unit_test(test_a_text_too_long_is_refused),
        cmocka_unit_test(test_json_is_escaped_nested_and_knows_when_it_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
