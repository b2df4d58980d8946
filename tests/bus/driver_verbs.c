/* SPDX-License-Identifier: Apache-2.0 */
/* Every verb of a driver's chip beside a plain copy of what it must hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver_trials.h"

struct copy {
    struct nw_chip *chip;
    uint32_t first; /* page */
    uint8_t *data;  /* page after page, data and spare */
    uint32_t page;  /* bytes of both */
    struct nw_random random;
};

static uint8_t *place(const struct copy *copy, uint32_t page)
{
    return copy->data + (size_t)(page - copy->first) * copy->page;
}

static uint32_t draw(struct copy *copy, uint32_t limit)
{
    return limit == 0 ? 0 : nw_random_below(&copy->random, limit);
}

static void erase(struct copy *copy, uint32_t block)
{
    const struct nw_geometry *geometry = &copy->chip->geometry;
    struct nw_chip_req req = {.chip = copy->chip, .block = block};

    assert_int_equal(nw_chip_is_bad(&req), 0);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    memset(place(copy, block * geometry->block_pages), geometry->erased,
           (size_t)geometry->block_pages * copy->page);
}

/* In one program or, where the part takes more, in two: first part of the data with all the spare,
 * then the rest of the data. */
static void program(struct copy *copy, uint32_t page)
{
    const struct nw_geometry *geometry = &copy->chip->geometry;
    uint8_t *at = place(copy, page);
    uint8_t kept[8448];
    struct nw_chip_req req = {.chip = copy->chip, .page = page, .data = at,
                              .length = geometry->page_bytes,
                              .spare = at + geometry->page_bytes,
                              .spare_length = geometry->spare_bytes};
    uint32_t units = geometry->page_bytes / geometry->program_bytes;

    for (uint32_t i = 0; i < copy->page; i++) {
        at[i] = (uint8_t)nw_random_next(&copy->random);
    }
    memcpy(kept, at, copy->page);
    if (geometry->page_programs > 1 && units > 1 && draw(copy, 2) == 0) {
        req.length = (uint16_t)((1U + draw(copy, units - 1U)) * geometry->program_bytes);
        assert_int_equal(nw_chip_program(&req), NW_OK);
        req.offset = req.length;
        req.data = at + req.offset;
        req.length = (uint16_t)(geometry->page_bytes - req.offset);
        req.spare_length = 0;
    }
    assert_int_equal(nw_chip_program(&req), NW_OK);
    assert_memory_equal(kept, at, copy->page); /* program does not write through its pointers */
}

static void read(struct copy *copy, uint32_t page)
{
    const struct nw_geometry *geometry = &copy->chip->geometry;
    uint8_t data[8192];
    uint8_t spare[256];
    struct nw_chip_req req = {.chip = copy->chip, .page = page, .data = data, .spare = spare};

    req.offset = (uint16_t)draw(copy, geometry->page_bytes);
    req.length = (uint16_t)draw(copy, geometry->page_bytes - req.offset + 1U);
    req.spare_offset = (uint16_t)draw(copy, geometry->spare_bytes);
    req.spare_length = (uint16_t)draw(copy, geometry->spare_bytes - req.spare_offset + 1U);
    if (geometry->spare_bytes == 0 || draw(copy, 4) == 0) {
        req.spare_length = 0;
    } else if (draw(copy, 4) == 0) {
        req.length = 0;
    }
    assert_int_equal(nw_chip_read(&req), 0);
    assert_memory_equal(data, place(copy, page) + req.offset, req.length);
    assert_memory_equal(spare, place(copy, page) + geometry->page_bytes + req.spare_offset,
                        req.spare_length);
}

/* A page through a buffer: loaded, changed in part, and programmed over itself. */
static void buffers(struct copy *copy, uint32_t page)
{
    const struct nw_geometry *geometry = &copy->chip->geometry;
    uint8_t data[8192];
    struct nw_chip_req req = {.chip = copy->chip, .page = page, .data = data};

    req.buffer = (uint8_t)draw(copy, geometry->buffers);
    assert_int_equal(nw_chip_buffer_load(&req), NW_OK);
    req.offset = (uint16_t)draw(copy, geometry->page_bytes);
    req.length = (uint16_t)(1U + draw(copy, geometry->page_bytes - req.offset));
    for (uint32_t i = 0; i < req.length; i++) {
        data[i] = (uint8_t)nw_random_next(&copy->random);
    }
    memcpy(place(copy, page) + req.offset, data, req.length);
    assert_int_equal(nw_chip_buffer_write(&req), NW_OK);
    assert_int_equal(nw_chip_buffer_program(&req), NW_OK);
    req.offset = 0;
    req.length = geometry->page_bytes;
    assert_int_equal(nw_chip_buffer_read(&req), NW_OK);
    assert_memory_equal(data, place(copy, page), req.length);
}

void driver_trial_verbs(struct nw_chip *chip, uint32_t first, uint32_t count, uint32_t seed)
{
    const struct nw_geometry *geometry = &chip->geometry;
    struct copy copy = {.chip = chip, .first = first * geometry->block_pages,
                        .page = (uint32_t)geometry->page_bytes + geometry->spare_bytes};
    uint32_t pages = count * geometry->block_pages;

    nw_random_seed(&copy.random, seed);
    copy.data = malloc((size_t)pages * copy.page);
    assert_non_null(copy.data);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t block = first; block < first + count; block++) {
            erase(&copy, block);
        }
        for (uint32_t page = copy.first; page < copy.first + pages; page++) {
            program(&copy, page);
            read(&copy, copy.first + draw(&copy, page - copy.first + 1U));
        }
        for (uint32_t i = 0; geometry->buffers > 0 && i < pages; i++) {
            buffers(&copy, copy.first + draw(&copy, pages));
        }
        for (uint32_t i = 0; i < 4U * pages; i++) {
            read(&copy, copy.first + draw(&copy, pages));
        }
    }
    free(copy.data);
}
