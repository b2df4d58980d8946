/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "memory_chip.h"
#include "nandwich/shrink.h"
#include "nandwich/slice.h"

static const struct nw_geometry shape = {
    .blocks = 16,
    .block_pages = 4,
    .page_bytes = 256,
    .spare_bytes = 13,
    .program_bytes = 64,
    .page_programs = 4,
    .erased = 0xFF,
    .flags = NW_CHIP_IN_ORDER,
    .endurance = 1000,
    .erase_us = 2000,
};

static struct memory_chip memory;

typedef int (*verb)(struct nw_chip_req *req);

static const verb verbs[MEMORY_VERBS] = {
    nw_chip_read,        nw_chip_program,     nw_chip_erase,        nw_chip_is_bad,
    nw_chip_mark_bad,    nw_chip_copy,        nw_chip_buffer_load,  nw_chip_buffer_read,
    nw_chip_buffer_write, nw_chip_buffer_program,
};

/* Goal: each verb reaches the block and page it means, with its answer, and the request comes back
 * as it went in. */
static void slice_moves_and_restores(void **state)
{
    uint8_t data[64] = {0};
    uint8_t spare[4] = {0};
    struct nw_slice slice;
    unsigned i;

    (void)state;
    memory_chip_open(&memory, &shape, 1, 1);
    assert_int_equal(nw_slice_open(&slice, &memory.chip, 3, 5), NW_OK);
    assert_int_equal(slice.chip.geometry.blocks, 5);
    for (i = 0; i < MEMORY_VERBS; i++) {
        struct nw_chip_req req = {.chip = &slice.chip,
                                  .block = 4,
                                  .page = 19,
                                  .to_page = 2,
                                  .offset = 64,
                                  .length = 64,
                                  .spare_offset = 5,
                                  .spare_length = 4,
                                  .data = data,
                                  .spare = spare,
                                  .buffer = 1};
        struct nw_chip_req before = req;

        memory.answer = (int)i - 5;
        assert_int_equal(verbs[i](&req), (int)i - 5);
        assert_int_equal(memory.calls[i], 1);
        assert_ptr_equal(memory.last.chip, &memory.chip);
        assert_int_equal(memory.last.block, 7);
        assert_int_equal(memory.last.page, 12 + 19);
        assert_int_equal(memory.last.to_page, 12 + 2);
        assert_int_equal(memory.last.offset, 64);
        assert_int_equal(memory.last.buffer, 1);
        assert_memory_equal(&req, &before, sizeof req);
    }
}

/* Goal: nothing outside the slice can be reached through it. */
static void slice_has_edges(void **state)
{
    struct nw_slice slice;
    struct nw_chip_req req = {.chip = &slice.chip};

    (void)state;
    memory_chip_open(&memory, &shape, 1, 0);
    assert_int_equal(nw_slice_open(&slice, &memory.chip, 0, 0), NW_ERR_RANGE);
    assert_int_equal(nw_slice_open(&slice, &memory.chip, 16, 1), NW_ERR_RANGE);
    assert_int_equal(nw_slice_open(&slice, &memory.chip, 12, 5), NW_ERR_RANGE);
    assert_int_equal(nw_slice_open(&slice, &memory.chip, 1, 0xFFFFFFFFUL), NW_ERR_RANGE);
    assert_int_equal(nw_slice_open(&slice, &memory.chip, 12, 4), NW_OK);
    req.block = 4;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_RANGE);
    req.page = 16;
    assert_int_equal(nw_chip_read(&req), NW_ERR_RANGE);
    req.page = 0;
    req.to_page = 16;
    assert_int_equal(nw_chip_copy(&req), NW_ERR_RANGE);
    assert_int_equal(memory.calls[MEMORY_READ] + memory.calls[MEMORY_ERASE], 0);
}

/* Goal: a verb the chip lacks is missing in the slice, so that callers who look see it. */
static void slice_lacks_what_the_chip_lacks(void **state)
{
    struct nw_slice slice;
    int kind;

    (void)state;
    for (kind = 0; kind < 4; kind++) {
        memory_chip_open(&memory, &shape, kind & 1, kind & 2);
        assert_int_equal(nw_slice_open(&slice, &memory.chip, 0, 16), NW_OK);
        assert_int_equal(slice.chip.ops->copy != NULL, kind & 1);
        assert_int_equal(slice.chip.ops->buffer_load != NULL, kind >> 1);
        assert_int_equal(slice.chip.ops->buffer_program != NULL, kind >> 1);
    }
}

/* Goal: slices stack: a slice of a slice is a slice. */
static void slices_stack(void **state)
{
    struct nw_slice outer;
    struct nw_slice inner;
    struct nw_chip_req req = {.chip = &inner.chip, .block = 1};

    (void)state;
    memory_chip_open(&memory, &shape, 0, 0);
    assert_int_equal(nw_slice_open(&outer, &memory.chip, 4, 8), NW_OK);
    assert_int_equal(nw_slice_open(&inner, &outer.chip, 2, 2), NW_OK);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    assert_int_equal(memory.last.block, 7);
}

/* Goal: small pages tile the large ones: every data and spare byte has one place, in page order. */
static void shrink_tiles_the_page(void **state)
{
    struct nw_shrink shrink;
    uint8_t data[64];
    uint8_t spare[3];
    uint32_t page;

    (void)state;
    memory_chip_open(&memory, &shape, 0, 0);
    assert_int_equal(nw_shrink_open(&shrink, &memory.chip, 4), NW_OK);
    assert_int_equal(shrink.chip.geometry.blocks, 16);
    assert_int_equal(shrink.chip.geometry.block_pages, 16);
    assert_int_equal(shrink.chip.geometry.page_bytes, 64);
    assert_int_equal(shrink.chip.geometry.spare_bytes, 3);
    assert_int_equal(shrink.chip.geometry.page_programs, 1);
    assert_int_equal(shrink.chip.geometry.program_bytes, 64);
    for (page = 0; page < 16 * 16; page++) {
        struct nw_chip_req req = {.chip = &shrink.chip,
                                  .page = page,
                                  .length = sizeof data,
                                  .spare_length = sizeof spare,
                                  .data = data,
                                  .spare = spare};
        struct nw_chip_req before = req;

        memset(data, (int)page, sizeof data);
        memset(spare, (int)page, sizeof spare);
        assert_int_equal(nw_chip_program(&req), NW_OK);
        assert_memory_equal(&req, &before, sizeof req);
        assert_int_equal(memory.last.page, page / 4);
        assert_int_equal(memory.last.offset, page % 4 * 64);
        assert_int_equal(memory.last.spare_offset, page % 4 * 3);
    }
    for (page = 0; page < 16 * 16; page++) {
        struct nw_chip_req req = {.chip = &shrink.chip,
                                  .page = page,
                                  .offset = 10,
                                  .length = 54,
                                  .spare_offset = 2,
                                  .spare_length = 1,
                                  .data = data,
                                  .spare = spare};
        uint8_t want[54];

        memset(want, (int)page, sizeof want);
        assert_int_equal(nw_chip_read(&req), NW_OK);
        assert_memory_equal(data, want, sizeof want);
        assert_int_equal(spare[0], (uint8_t)page);
    }
}

/* Goal: blocks pass through untouched; there is no copy and there are no buffers. */
static void shrink_passes_blocks(void **state)
{
    struct nw_shrink shrink;
    struct nw_chip_req req = {.chip = &shrink.chip, .block = 9};

    (void)state;
    memory_chip_open(&memory, &shape, 1, 1);
    assert_int_equal(nw_shrink_open(&shrink, &memory.chip, 2), NW_OK);
    memory.answer = 1;
    assert_int_equal(nw_chip_is_bad(&req), 1);
    assert_int_equal(memory.last.block, 9);
    memory.answer = NW_ERR_ERASE;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    assert_int_equal(memory.last.block, 9);
    assert_int_equal(nw_chip_mark_bad(&req), NW_ERR_ERASE);
    assert_ptr_equal(req.chip, &shrink.chip);
    assert_int_equal(nw_chip_copy(&req), NW_ERR_UNSUPPORTED);
    assert_int_equal(nw_chip_buffer_load(&req), NW_ERR_UNSUPPORTED);
    assert_int_equal(shrink.chip.geometry.buffers, 0);
    assert_int_equal(shrink.chip.geometry.flags, NW_CHIP_IN_ORDER);
}

static int shrink_answer(struct nw_geometry geometry, uint8_t parts)
{
    struct nw_shrink shrink;

    memory_chip_open(&memory, &geometry, 0, 0);
    return nw_shrink_open(&shrink, &memory.chip, parts);
}

/* Goal: what the part cannot do is refused when opened, not found out by a ruined page. */
static void shrink_refuses(void **state)
{
    struct nw_geometry geometry = shape;

    (void)state;
    assert_int_equal(shrink_answer(shape, 1), NW_OK);
    assert_int_equal(shrink_answer(shape, 0), NW_ERR_CONFIG);
    assert_int_equal(shrink_answer(shape, 3), NW_ERR_CONFIG);
    assert_int_equal(shrink_answer(shape, 8), NW_ERR_CONFIG);
    geometry.page_programs = 3;
    assert_int_equal(shrink_answer(geometry, 4), NW_ERR_CONFIG);
    assert_int_equal(shrink_answer(geometry, 2), NW_OK);
    geometry = shape;
    geometry.program_bytes = 128;
    assert_int_equal(shrink_answer(geometry, 4), NW_ERR_CONFIG);
    geometry = shape;
    geometry.block_pages = 16384;
    assert_int_equal(shrink_answer(geometry, 4), NW_ERR_CONFIG);
    geometry.block_pages = 16383;
    assert_int_equal(shrink_answer(geometry, 4), NW_OK);
    geometry.blocks = 0x10000;
    assert_int_equal(shrink_answer(geometry, 4), NW_OK);
    geometry.blocks = 0x10005;
    assert_int_equal(shrink_answer(geometry, 4), NW_ERR_CONFIG);
    geometry = shape;
    geometry.page_programs = NW_PROGRAMS_UNLIMITED;
    geometry.program_bytes = 1;
    assert_int_equal(shrink_answer(geometry, 128), NW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice_moves_and_restores),
        cmocka_unit_test(slice_has_edges),
        cmocka_unit_test(slice_lacks_what_the_chip_lacks),
        cmocka_unit_test(slices_stack),
        cmocka_unit_test(shrink_tiles_the_page),
        cmocka_unit_test(shrink_passes_blocks),
        cmocka_unit_test(shrink_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
