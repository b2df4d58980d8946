/* SPDX-License-Identifier: Apache-2.0 */
#include "views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHANGES 9U /* in a mount: hardly one has more */

enum kind { SETTLED, OPEN, CONTENT, EMPTY }; /* of what a cut left: EMPTY shows blank */
enum view { WHOLE, BLANK, LOST };

struct views *views_now;

static int view_of(uint32_t page)
{
    uint32_t block = page / VIEWS_BLOCK_PAGES;
    int view = views_now->page_kind[page] != SETTLED ? views_now->page_view[page] : (int)WHOLE;

    if (views_now->block_kind[block] != SETTLED && view != BLANK) {
        view = views_now->block_view[block] != WHOLE ? views_now->block_view[block] : view;
    }
    return view;
}

static int chip_read(struct nw_chip_req *req)
{
    static uint8_t nowhere[VIEWS_BYTES];
    const uint8_t *page = views_now->bytes[req->page];
    uint8_t *data = req->length != 0 ? req->data : nowhere;
    uint8_t *spare = req->spare_length != 0 ? req->spare : nowhere;
    int view = view_of(req->page);

    if (views_now->off) {
        return NW_ERR_POWER;
    }
    if (view == LOST) {
        return NW_ERR_ECC;
    }
    assert_true(req->length == 0 || views_now->written[req->page]);
    if (view == BLANK || !views_now->written[req->page]) {
        memset(data, 0xFF, req->length);
        memset(spare, 0xFF, req->spare_length);
        return 0;
    }
    memcpy(data, page + req->offset, req->length);
    memcpy(spare, page + VIEWS_BYTES + req->spare_offset, req->spare_length);
    return 0;
}

/* 1: this change is the one that is cut. */
static int is_cut(void)
{
    if (views_now->cut_after != 0 && --views_now->cut_after == 0) {
        views_now->off = 1;
    }
    return views_now->off;
}

static int chip_program(struct nw_chip_req *req)
{
    uint8_t *page = views_now->bytes[req->page];

    if (views_now->off) {
        return NW_ERR_POWER;
    }
    assert_true(!views_now->written[req->page] &&
                views_now->block_kind[req->page / VIEWS_BLOCK_PAGES] == SETTLED);
    memset(page, 0xFF, VIEWS_BYTES + VIEWS_SPARE);
    memcpy(page + req->offset, req->length != 0 ? req->data : page, req->length);
    memcpy(page + VIEWS_BYTES + req->spare_offset, req->spare, req->spare_length);
    views_now->written[req->page] = 1;
    views_now->page_kind[req->page] = is_cut() ? (uint8_t)OPEN : (uint8_t)SETTLED;
    return views_now->off ? (int)NW_ERR_POWER : (int)NW_OK;
}

static int chip_erase(struct nw_chip_req *req)
{
    uint32_t first = req->block * VIEWS_BLOCK_PAGES;

    if (views_now->off) {
        return NW_ERR_POWER;
    }
    if (is_cut()) {
        views_now->block_kind[req->block] = OPEN;
        return NW_ERR_POWER;
    }
    views_now->block_kind[req->block] = SETTLED;
    memset(views_now->written + first, 0, VIEWS_BLOCK_PAGES);
    memset(views_now->page_kind + first, SETTLED, VIEWS_BLOCK_PAGES);
    return NW_OK;
}

static int chip_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return views_now->off ? (int)NW_ERR_POWER : 0;
}

static const struct nw_chip_ops chip_ops = {.read = chip_read,
                                            .program = chip_program,
                                            .erase = chip_erase,
                                            .is_bad = chip_is_bad,
                                            .mark_bad = chip_is_bad};

struct nw_chip views_chip = {.ops = &chip_ops,
                             .geometry = {.blocks = VIEWS_BLOCKS,
                                          .block_pages = VIEWS_BLOCK_PAGES,
                                          .page_bytes = VIEWS_BYTES,
                                          .spare_bytes = VIEWS_SPARE,
                                          .program_bytes = VIEWS_BYTES,
                                          .page_programs = 1,
                                          .erased = 0xFF,
                                          .flags = NW_CHIP_IN_ORDER}};

static int nvm_read(struct nw_nvm_req *req)
{
    if (views_now->off) {
        return NW_ERR_POWER;
    }
    memcpy(req->data, views_now->nvm + req->address, req->length);
    return NW_OK;
}

static int nvm_write(struct nw_nvm_req *req)
{
    if (views_now->off) {
        return NW_ERR_POWER;
    }
    if (is_cut()) {
        memcpy(views_now->nvm_new, req->data, req->length);
        views_now->nvm_at = req->address;
        views_now->nvm_length = req->length;
        return NW_ERR_POWER;
    }
    memcpy(views_now->nvm + req->address, req->data, req->length);
    return NW_OK;
}

static const struct nw_nvm_ops nvm_ops = {nvm_read, nvm_write};

struct nw_nvm views_nvm = {
    .ops = &nvm_ops, .bytes = VIEWS_NVM_BYTES, .atomic_bytes = VIEWS_NVM_UNIT};

/* One of the views that what was cut may have: the next digit of `number`. */
static void show(uint8_t *kind, uint8_t *view, uint32_t *number)
{
    uint8_t choices = *kind == OPEN ? 3U : 2U;
    uint8_t choice = (uint8_t)(*number % choices);

    *number /= choices;
    *view = (uint8_t)(choice == 0 ? LOST : choice == 2U || *kind == EMPTY ? BLANK : WHOLE);
    if (*view != LOST) {
        *kind = *view == WHOLE ? (uint8_t)CONTENT : (uint8_t)EMPTY;
    }
}

static void show_nvm(struct views *lit, uint32_t *number)
{
    uint32_t choices = lit->nvm_length > VIEWS_NVM_UNIT ? 3U : 2U;
    uint32_t choice = *number % choices;

    *number /= choices;
    for (uint32_t i = 0; choice != 0 && i < lit->nvm_length; i++) {
        if (choice == 1U || i / VIEWS_NVM_UNIT % 2U != 0) {
            lit->nvm[lit->nvm_at + i] = lit->nvm_new[i];
        }
    }
    lit->nvm_length = 0;
}

/* A copy with power; *number loses its digits. */
static struct views *show_all(const struct views *dark, uint32_t *number)
{
    struct views *lit = malloc(sizeof *lit);

    assert_non_null(lit);
    memcpy(lit, dark, sizeof *lit);
    lit->off = 0;
    lit->cut_after = 0;
    for (uint32_t page = 0; page < VIEWS_PAGES; page++) {
        if (lit->page_kind[page] != SETTLED &&
            lit->block_kind[page / VIEWS_BLOCK_PAGES] == SETTLED) {
            show(&lit->page_kind[page], &lit->page_view[page], number);
        }
    }
    for (uint32_t block = 0; block < VIEWS_BLOCKS; block++) {
        if (lit->block_kind[block] != SETTLED) {
            show(&lit->block_kind[block], &lit->block_view[block], number);
        }
    }
    if (lit->nvm_length != 0) {
        show_nvm(lit, number);
    }
    return lit;
}

struct views *views_show(const struct views *dark, uint32_t number)
{
    struct views *lit = show_all(dark, &number);

    if (number != 0) {
        free(lit);
        lit = NULL;
    }
    return lit;
}

void views_lose(struct views *lit)
{
    memset(lit->page_view, LOST, sizeof lit->page_view);
    memset(lit->block_view, LOST, sizeof lit->block_view);
}

static struct views *draw(const struct views *dark, struct nw_random *random)
{
    uint32_t number = nw_random_next(random);

    return show_all(dark, &number);
}

uint32_t views_mounts(const struct views *dark, uint32_t cuts, int (*mount)(void),
                      void (*mounted)(void))
{
    struct views *tried = malloc(sizeof *tried);
    struct views *lit;
    uint32_t count = 0;

    assert_non_null(tried);
    for (uint32_t number = 0; (lit = views_show(dark, number)) != NULL; number++) {
        uint32_t at = 0;
        int is_whole;

        do {
            memcpy(tried, lit, sizeof *tried);
            tried->cut_after = cuts != 0 ? ++at : 0U;
            views_now = tried;
            int result = mount();
            is_whole = tried->off == 0;
            count++;
            if (is_whole) {
                assert_int_equal(result, NW_OK);
                tried->cut_after = 0;
                mounted();
            } else {
                count += views_mounts(tried, cuts - 1U, mount, mounted);
            }
        } while (!is_whole);
        free(lit);
    }
    free(tried);
    return count;
}

void views_walk(const struct views *dark, struct nw_random *random, uint32_t cuts,
                int (*mount)(void), void (*mounted)(void))
{
    struct views *lit = draw(dark, random);
    int is_whole = 0;

    while (!is_whole) {
        struct views *before = lit;

        lit->cut_after = cuts != 0 ? 1U + nw_random_below(random, CHANGES) : 0U;
        cuts -= cuts != 0;
        views_now = lit;
        int result = mount();
        is_whole = lit->off == 0;
        if (is_whole) {
            assert_int_equal(result, NW_OK);
            lit->cut_after = 0;
            mounted();
        }
        lit = draw(before, random);
        free(before);
    }
    free(lit);
}

void views_judge(struct views_judged *judged)
{
    uint32_t at = judged->under_way;
    struct views *mounted = views_now;
    struct views *next;
    uint32_t shown = judged->holds(at, judged->coming) ? judged->coming : judged->wanted[at];

    for (uint32_t number = 0; number < judged->count; number++) {
        if (!judged->holds(number, number == at ? shown : judged->wanted[number])) {
            fail_msg("number %u is lost", (unsigned)number);
        }
    }
    for (uint32_t number = 0; number == 0 || judged->random == NULL; number++) {
        next = judged->random != NULL ? draw(mounted, judged->random) : views_show(mounted, number);
        if (next == NULL) {
            break;
        }
        views_now = next;
        judged->histories++;
        assert_int_equal(judged->mount(), NW_OK);
        assert_true(judged->holds(at, shown));
        free(next);
    }
    views_now = mounted;
}

void views_fill(uint8_t *bytes, uint32_t token)
{
    for (uint32_t i = 0; i < VIEWS_BYTES; i++) {
        bytes[i] = (uint8_t)(token == 0 ? 0 : (token >> (i & 3U) * 8U) + i);
    }
}

int views_write(struct nw_block *block, uint32_t sector, uint32_t token)
{
    uint8_t bytes[VIEWS_BYTES];
    struct nw_block_req req = {.block = block, .sector = sector, .count = 1, .data = bytes};

    views_fill(bytes, token);
    return nw_block_write(&req);
}

int views_holds(struct nw_block *block, uint32_t sector, uint32_t token)
{
    uint8_t bytes[VIEWS_BYTES];
    uint8_t read[VIEWS_BYTES];
    struct nw_block_req req = {.block = block, .sector = sector, .count = 1, .data = read};

    views_fill(bytes, token);
    return nw_block_read(&req) == NW_OK && memcmp(bytes, read, VIEWS_BYTES) == 0;
}
