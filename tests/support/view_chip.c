/* SPDX-License-Identifier: Apache-2.0 */
#include "view_chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SETTLED, OPEN, CONTENT, EMPTY }; /* of what a cut left: EMPTY shows blank */
enum { WHOLE, BLANK, LOST };

struct view_chip *view_chip;
static uint8_t rest[VIEW_BYTES]; /* of what nobody asked for */

static int view_of(uint32_t page)
{
    uint32_t block = page / VIEW_BLOCK_PAGES;
    int view = view_chip->page_kind[page] != SETTLED ? view_chip->page_view[page] : (int)WHOLE;

    if (view_chip->block_kind[block] != SETTLED && view != BLANK) {
        view = view_chip->block_view[block] != WHOLE ? view_chip->block_view[block] : view;
    }
    return view;
}

static int chip_read(struct nw_chip_req *req)
{
    int view = view_of(req->page);

    if (view_chip->off) {
        return NW_ERR_POWER;
    }
    if (view == LOST) {
        return NW_ERR_ECC;
    }
    assert_true(req->length == 0 || view_chip->written[req->page]);
    if (view == BLANK || !view_chip->written[req->page]) {
        memset(req->length != 0 ? req->data : rest, 0xFF, req->length);
        memset(req->spare_length != 0 ? req->spare : rest, 0xFF, req->spare_length);
        return 0;
    }
    memcpy(req->length != 0 ? req->data : rest, view_chip->bytes[req->page] + req->offset, req->length);
    memcpy(req->spare_length != 0 ? req->spare : rest,
           view_chip->bytes[req->page] + VIEW_BYTES + req->spare_offset, req->spare_length);
    return 0;
}

/* 1: this change is the one that is cut. */
static int is_cut(void)
{
    if (view_chip->cut_after != 0 && --view_chip->cut_after == 0) {
        view_chip->off = 1;
    }
    return view_chip->off;
}

static int chip_program(struct nw_chip_req *req)
{
    uint8_t *page = view_chip->bytes[req->page];

    if (view_chip->off) {
        return NW_ERR_POWER;
    }
    assert_true(!view_chip->written[req->page] && view_chip->block_kind[req->page / VIEW_BLOCK_PAGES] == SETTLED);
    memset(page, 0xFF, VIEW_BYTES + VIEW_SPARE);
    memcpy(page + req->offset, req->length != 0 ? req->data : page, req->length);
    memcpy(page + VIEW_BYTES + req->spare_offset, req->spare, req->spare_length);
    view_chip->written[req->page] = 1;
    view_chip->page_kind[req->page] = is_cut() ? (uint8_t)OPEN : (uint8_t)SETTLED;
    return view_chip->off ? (int)NW_ERR_POWER : (int)NW_OK;
}

static int chip_erase(struct nw_chip_req *req)
{
    uint32_t first = req->block * VIEW_BLOCK_PAGES;

    if (view_chip->off) {
        return NW_ERR_POWER;
    }
    if (is_cut()) {
        view_chip->block_kind[req->block] = OPEN;
        return NW_ERR_POWER;
    }
    view_chip->block_kind[req->block] = SETTLED;
    memset(view_chip->written + first, 0, VIEW_BLOCK_PAGES);
    memset(view_chip->page_kind + first, SETTLED, VIEW_BLOCK_PAGES);
    return NW_OK;
}

static int chip_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return view_chip->off ? (int)NW_ERR_POWER : 0;
}

static const struct nw_chip_ops ops = {.read = chip_read,
                                       .program = chip_program,
                                       .erase = chip_erase,
                                       .is_bad = chip_is_bad,
                                       .mark_bad = chip_is_bad};

/* One of the views that what was cut may have: the next digit of `pick`. */
static void show(uint8_t *kind, uint8_t *view, uint32_t *pick)
{
    uint8_t choices = *kind == OPEN ? 3U : 2U;
    uint8_t choice = (uint8_t)(*pick % choices);

    *pick /= choices;
    *view = (uint8_t)(choice == 0 ? LOST : choice == 2U || *kind == EMPTY ? BLANK : WHOLE);
    if (*view != LOST) {
        *kind = *view == WHOLE ? (uint8_t)CONTENT : (uint8_t)EMPTY;
    }
}

int view_chip_power_up(uint32_t pick)
{
    view_chip->off = 0;
    view_chip->cut_after = 0;
    for (uint32_t page = 0; page < VIEW_PAGES; page++) {
        if (view_chip->page_kind[page] != SETTLED && view_chip->block_kind[page / VIEW_BLOCK_PAGES] == SETTLED) {
            show(&view_chip->page_kind[page], &view_chip->page_view[page], &pick);
        }
    }
    for (uint32_t block = 0; block < VIEW_BLOCKS; block++) {
        if (view_chip->block_kind[block] != SETTLED) {
            show(&view_chip->block_kind[block], &view_chip->block_view[block], &pick);
        }
    }
    return pick == 0;
}

void view_chip_open(struct nw_chip *chip)
{
    *chip = (struct nw_chip){.ops = &ops,
                             .geometry = {.blocks = VIEW_BLOCKS,
                                          .block_pages = VIEW_BLOCK_PAGES,
                                          .page_bytes = VIEW_BYTES,
                                          .spare_bytes = VIEW_SPARE,
                                          .program_bytes = VIEW_BYTES,
                                          .page_programs = 1,
                                          .erased = 0xFF,
                                          .flags = NW_CHIP_IN_ORDER}};
}

struct view_chip *view_chip_fork(const struct view_chip *from)
{
    struct view_chip *copy = malloc(sizeof *copy);

    assert_non_null(copy);
    memcpy(copy, from, sizeof *copy);
    return copy;
}
