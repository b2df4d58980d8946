// SPDX-License-Identifier: Apache-2.0
// Goal: a map of a chip's pages shows the content and zeros behind it, whatever the frames, reads
// what a frame needs and no more, and asks for the next page where that helps and only there.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/chip_map.h"

#define PAGE 512U
#define PAGES 16U
#define FIRST 8U /* page of the content */
#define BYTES (3U * PAGE + 100U)
#define NEVER 0xFFFFFFFFU

static uint8_t content[PAGES * PAGE];
static uint32_t reads, bytes_read, asked, asks;
static int answer;

static int part_read(struct nw_chip_req *req)
{
    assert_true(req->offset + req->length <= PAGE);
    assert_int_equal(req->block, req->page / 8U);
    reads++;
    bytes_read += req->length;
    memcpy(req->data, content + req->page * PAGE + req->offset, req->length);
    return answer;
}

static int part_ahead(struct nw_chip_req *req)
{
    asks++;
    asked = req->page;
    return NW_ERR_IO; /* nobody hears of it */
}

static const struct nw_chip_ops ops = {.read = part_read};
static struct nw_chip chip = {
    .ops = &ops,
    .geometry = {.blocks = 2, .block_pages = 8, .page_bytes = PAGE, .program_bytes = PAGE}};
static struct nw_chip_map map;

static int begin(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof content; i++) {
        content[i] = (uint8_t)(i * 31U + i / 256U + 1U);
    }
    map = (struct nw_chip_map){.chip = &chip, .page = FIRST, .bytes = BYTES,
                                  .ahead = part_ahead};
    reads = bytes_read = asks = 0;
    asked = NEVER;
    answer = 1; /* a bit was repaired */
    return 0;
}

static void expect(uintptr_t offset, size_t n)
{
    uint8_t found[2 * PAGE];

    memset(found, 0xEE, sizeof found);
    assert_int_equal(nw_chip_map_read(&map.map, offset, found, n), NW_OK);
    for (size_t i = 0; i < n; i++) {
        size_t at = map.offset + offset + i;

        assert_int_equal(found[i], at < BYTES ? content[FIRST * PAGE + at] : 0);
    }
}

static void content_and_zeros_behind(void **state)
{
    static const uint32_t frames[] = {64, 128, 512, 1024};

    (void)state;
    for (uint32_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        for (uint32_t from = 0; from < 3U; from++) {
            map.offset = from * 192U;
            bytes_read = 0;
            for (uint32_t at = 0; at < 5U * PAGE; at += frames[i]) {
                expect(at, frames[i]);
            }
            assert_int_equal(bytes_read, BYTES - map.offset);
        }
    }
    reads = 0;
    map.offset = 0;
    expect(128, 128);
    assert_int_equal(reads, 1);
}

static void an_error_of_the_chip(void **state)
{
    uint8_t found[64];

    (void)state;
    answer = NW_ERR_ECC;
    assert_int_equal(nw_chip_map_read(&map.map, 0, found, sizeof found), NW_ERR_ECC);
}

static void the_next_page_is_asked_for(void **state)
{
    (void)state;
    expect(0, 256);
    assert_int_equal(asks, 0); /* the page's second half is still wanted */
    expect(256, 256);
    assert_int_equal(asked, FIRST + 1U);
    expect(1280, 256); /* elsewhere: no order */
    assert_int_equal(asks, 1);
    expect(1024, 512);
    assert_int_equal(asks, 1);
    expect(1536, 512); /* in order, but nothing stands behind it */
    assert_int_equal(asks, 1);
}

static void a_part_leaves_the_order(void **state)
{
    uint8_t found[32];

    (void)state;
    expect(0, 256);
    assert_int_equal(nw_chip_map_part(&map.map, 1100, found, sizeof found), NW_OK);
    assert_memory_equal(found, content + FIRST * PAGE + 1100, sizeof found);
    assert_int_equal(bytes_read, 256U + sizeof found);
    expect(256, 256);
    assert_int_equal(asked, FIRST + 1U);
}

static void advice(void **state)
{
    (void)state;
    map.advice = NW_CHIP_MAP_SEQUENTIAL;
    expect(512, 512);
    assert_int_equal(asked, FIRST + 2U);
    map.advice = NW_CHIP_MAP_RANDOM;
    expect(0, 512);
    expect(512, 512);
    assert_int_equal(asks, 1);
    nw_chip_map_ahead(&map, 1024);
    assert_int_equal(asked, FIRST + 2U);
    nw_chip_map_ahead(&map, 4U * PAGE); /* behind the content */
    map.ahead = NULL;
    map.advice = NW_CHIP_MAP_SEQUENTIAL;
    nw_chip_map_ahead(&map, 0);
    expect(0, 512);
    assert_int_equal(asks, 2);
}

static int on_reads;

static int read_on(struct nw_chip_req *req)
{
    on_reads++;
    return part_read(req);
}

static void a_read_of_its_own(void **state)
{
    (void)state;
    map.read = read_on;
    expect(0, 1024);
    assert_int_equal(on_reads, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(content_and_zeros_behind, begin),
        cmocka_unit_test_setup(an_error_of_the_chip, begin),
        cmocka_unit_test_setup(the_next_page_is_asked_for, begin),
        cmocka_unit_test_setup(a_part_leaves_the_order, begin),
        cmocka_unit_test_setup(advice, begin),
        cmocka_unit_test_setup(a_read_of_its_own, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
