/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a chip keeps its contract, tried on the part itself. */
#include "nandwich/check.h"

#include <string.h>

#define ENDS 2U /* good blocks at either end, and in the middle */

size_t nw_check_ram_bytes(const struct nw_geometry *geometry)
{
    return ((size_t)geometry->page_bytes + geometry->spare_bytes) * 2U;
}

const char *nw_check_step_name(uint8_t step)
{
    static const char *const names[] = {
        "passed",     "geometry", "is_bad",        "erase",  "erased bytes", "program",
        "read",       "data",     "spare bytes",   "request", "address lines", "page buffer",
        "copy",       "range",    "cut by hand",   "mark",
    };

    return step < sizeof names / sizeof names[0] ? names[step] : "unknown";
}

static int fail(struct nw_check *check, uint8_t step, const struct nw_chip_req *req, int error)
{
    check->step = step;
    check->error = (int16_t)(error < 0 ? error : 0);
    check->block = req->block;
    check->page = req->page;
    return error < 0 ? error : (int)NW_ERR_CORRUPT;
}

/* Whether a verb left the request as the caller had filled it in. */
static int is_same(const struct nw_chip_req *a, const struct nw_chip_req *b)
{
    return a->chip == b->chip && a->page == b->page && a->block == b->block &&
           a->to_page == b->to_page && a->offset == b->offset && a->length == b->length &&
           a->spare_offset == b->spare_offset && a->spare_length == b->spare_length &&
           a->data == b->data && a->spare == b->spare && a->buffer == b->buffer;
}

/* A verb that has to leave the request alone: what it answers; where it fails, `step`. */
static int run(struct nw_check *check, int (*verb)(struct nw_chip_req *), struct nw_chip_req *req,
               uint8_t step)
{
    struct nw_chip_req asked = *req;
    int result = verb(req);

    if (result < 0) {
        return fail(check, step, &asked, result);
    }
    return is_same(req, &asked) ? result : fail(check, NW_CHECK_REQUEST, &asked, NW_OK);
}

/* The byte that belongs at a place of a page: no two pages are alike, nor two passes. */
static uint8_t byte_of(const struct nw_check *check, uint32_t page, uint16_t at)
{
    uint32_t x = (page ^ (check->seed << 16) ^ ((uint32_t)check->pass << 28)) * 2654435761UL;

    x ^= ((uint32_t)at + 1U) * 40503UL;
    x ^= x >> 15;
    x *= 2246822519UL;
    return (uint8_t)((x >> 13) & 0xFFU);
}

/* A request for a whole page in the first half of the RAM, the spare behind the data. */
static struct nw_chip_req page_request(struct nw_check *check, uint32_t page)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req req = {.chip = check->chip, .page = page};

    req.block = page / geometry->block_pages;
    req.data = check->ram;
    req.length = geometry->page_bytes;
    req.spare = req.data + geometry->page_bytes;
    req.spare_length = geometry->spare_bytes;
    return req;
}

static uint32_t now(const struct nw_check *check)
{
    return check->now_us != NULL ? check->now_us(check->context) : 0;
}

static void count_time(struct nw_check_time *time, uint32_t us)
{
    if (time->count == 0 || us < time->least_us) {
        time->least_us = us;
    }
    if (us > time->most_us) {
        time->most_us = us;
    }
    time->sum_us += us;
    time->count++;
}

static int erase(struct nw_check *check, uint32_t block)
{
    struct nw_chip_req req =
        page_request(check, block * check->chip->geometry.block_pages);
    uint32_t start = now(check);
    int result = run(check, nw_chip_erase, &req, NW_CHECK_ERASE);

    if (result < 0) {
        return result;
    }
    count_time(&check->erase, now(check) - start);
    return NW_OK;
}

static void fill(struct nw_check *check, uint32_t page)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    uint8_t *data = check->ram;
    uint16_t bytes = (uint16_t)(geometry->page_bytes + geometry->spare_bytes);

    for (uint16_t i = 0; i < bytes; i++) {
        data[i] = byte_of(check, page, i);
    }
}

/* Part `part` of a page that is programmed in `parts`: so many units of data with their share of
 * the spare, as a filter (ecc.h) takes it, and with the last one what is left of both. Where units
 * are so small that none has a byte of the spare, each part has a share. */
static void take_part(struct nw_chip_req *req, uint16_t part, uint16_t parts)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    uint16_t units = geometry->page_bytes / geometry->program_bytes;
    uint16_t share = geometry->spare_bytes / units;
    uint8_t *data = req->data - req->offset;
    uint8_t *spare = req->spare - req->spare_offset;
    int last = part + 1U == parts;

    share = (uint16_t)(share != 0 ? units / parts * share : geometry->spare_bytes / parts);

    req->offset = (uint16_t)(units / parts * part * geometry->program_bytes);
    req->length = (uint16_t)(last ? geometry->page_bytes - req->offset
                                  : units / parts * geometry->program_bytes);
    req->data = data + req->offset;
    req->spare_offset = (uint16_t)(part * share);
    req->spare_length = last ? (uint16_t)(geometry->spare_bytes - req->spare_offset) : share;
    req->spare = spare + req->spare_offset;
}

/* Programs a page: at once, or every third one in parts. */
static int program(struct nw_check *check, uint32_t page)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req req = page_request(check, page);
    struct nw_chip_req asked = req;
    uint16_t units = geometry->page_bytes / geometry->program_bytes;
    uint16_t parts = page % 3U == 1U ? geometry->page_programs : 1U;
    uint32_t start;
    int result;

    if (parts > units || parts > 8U) {
        parts = units < 8U ? units : 8U;
    }
    fill(check, page);
    memcpy(req.spare + req.spare_length, check->ram, nw_check_ram_bytes(geometry) / 2U);
    for (uint16_t part = 0; part < parts; part++) {
        take_part(&req, part, parts);
        start = now(check);
        asked = parts == 1U ? req : asked;
        result = nw_chip_program(&req);
        if (result < 0) {
            return fail(check, NW_CHECK_PROGRAM, &req, result);
        }
        if (parts == 1U) {
            count_time(&check->program, now(check) - start);
        }
    }
    /* Neither the bytes nor, in a program at once, the request may have changed. */
    if (memcmp(check->ram, asked.spare + geometry->spare_bytes,
               nw_check_ram_bytes(geometry) / 2U) != 0 ||
        (parts == 1U && !is_same(&req, &asked))) {
        return fail(check, NW_CHECK_REQUEST, &req, NW_OK);
    }
    return NW_OK;
}

/* Reads a part of a page and compares it with what belongs there; erased: with erased bytes. */
static int read_part(struct nw_check *check, struct nw_chip_req *req, uint8_t step, int erased)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req asked = *req;
    uint32_t start;
    int result;

    memset(check->ram, 0xA5, nw_check_ram_bytes(geometry) / 2U);
    start = now(check);
    result = nw_chip_read(req);
    start = now(check) - start;
    if (result < 0) {
        return fail(check, step == NW_CHECK_CUT ? step : (uint8_t)NW_CHECK_READ, req, result);
    }
    if (req->length == geometry->page_bytes && req->spare_length == geometry->spare_bytes) {
        count_time(&check->read, start);
    } else if (req->length == 1U && req->spare_length == 0) {
        count_time(&check->read_one, start);
    }
    check->corrected_bits += (uint32_t)result;
    if (!is_same(req, &asked)) {
        return fail(check, NW_CHECK_REQUEST, req, NW_OK);
    }
    for (uint16_t i = 0; i < req->length + req->spare_length; i++) {
        uint8_t of_spare = i >= req->length;
        uint16_t at = (uint16_t)(of_spare ? geometry->page_bytes + req->spare_offset + i -
                                                req->length
                                          : req->offset + i);
        uint8_t found = of_spare ? req->spare[i - req->length] : req->data[i];
        uint8_t expected = erased ? geometry->erased : byte_of(check, req->page, at);

        if (found != expected) {
            check->offset = at;
            check->expected = expected;
            check->found = found;
            return fail(check, of_spare && step == NW_CHECK_DATA ? NW_CHECK_SPARE : step, req,
                        NW_OK);
        }
    }
    return NW_OK;
}

/* The spare alone, all of it and from its fourth byte on. */
static int read_spare(struct nw_check *check, uint32_t page)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req req = page_request(check, page);
    int result;

    req.length = 0;
    result = read_part(check, &req, NW_CHECK_SPARE, 0);
    if (result >= 0 && geometry->spare_bytes > 3U) {
        req.spare_offset = 3;
        req.spare_length = (uint16_t)(geometry->spare_bytes - 3U);
        result = read_part(check, &req, NW_CHECK_SPARE, 0);
    }
    return result;
}

/* A page read whole, in the middle at odd places, its last byte, and its spare alone. */
static int read_page(struct nw_check *check, uint32_t page)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req req = page_request(check, page);
    int result = read_part(check, &req, NW_CHECK_DATA, 0);

    if (result >= 0) {
        req.offset = (uint16_t)(geometry->page_bytes / 3U | 1U);
        req.length = (uint16_t)((geometry->page_bytes - req.offset) / 2U);
        req.spare_offset = geometry->spare_bytes > 3U ? 3U : 0;
        req.spare_length = (uint16_t)((geometry->spare_bytes - req.spare_offset) / 2U);
        result = read_part(check, &req, NW_CHECK_DATA, 0);
    }
    if (result >= 0) {
        req = page_request(check, page);
        req.offset = (uint16_t)(geometry->page_bytes - 1U);
        req.length = 1;
        req.spare_length = 0;
        result = read_part(check, &req, NW_CHECK_DATA, 0);
    }
    return result >= 0 && geometry->spare_bytes > 0 ? read_spare(check, page) : result;
}

/* A page that is erased reads so, as far as it may be asked. */
static int read_erased_page(struct nw_check *check, uint32_t page, uint8_t step)
{
    struct nw_chip_req req = page_request(check, page);

    if ((check->chip->geometry.flags & NW_CHIP_READ_ERASED) == 0) {
        req.length = 0;
    }
    return read_part(check, &req, step, 1);
}

static int read_erased(struct nw_check *check, uint32_t block)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    int result = NW_OK;

    for (uint16_t i = 0; result >= 0 && i < geometry->block_pages; i++) {
        result = read_erased_page(check, block * geometry->block_pages + i, NW_CHECK_ERASED);
    }
    return result;
}

static int write_block(struct nw_check *check, uint32_t block)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    uint32_t first = block * geometry->block_pages;
    int result = erase(check, block);

    if (result >= 0) {
        result = read_erased(check, block);
    }
    for (uint16_t i = 0; result >= 0 && i < geometry->block_pages; i++) {
        result = program(check, first + i);
        if (result >= 0) {
            result = read_page(check, first + i);
        }
    }
    return result;
}

/* The same block once more: its bytes are still there. `step` names what is wrong when not. */
static int look_again(struct nw_check *check, uint32_t block, uint8_t step)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    int result = NW_OK;

    for (uint16_t i = 0; result >= 0 && i < geometry->block_pages; i++) {
        struct nw_chip_req req = page_request(check, block * geometry->block_pages + i);

        result = read_part(check, &req, step, 0);
    }
    return result;
}

static int is_good(struct nw_check *check, uint32_t block)
{
    struct nw_chip_req req = {.chip = check->chip, .block = block};
    int result = run(check, nw_chip_is_bad, &req, NW_CHECK_IS_BAD);

    return result < 0 ? result : result == 0;
}

/* Whether a block is one of those that are tried: powers of two, two from the start, the middle and
 * the end. Bad ones are not, and nothing takes their place. */
static int is_chosen(const struct nw_check *check, uint32_t block)
{
    uint32_t blocks = check->chip->geometry.blocks;

    return block < ENDS || blocks - block <= ENDS || (block - blocks / 2U) < ENDS ||
           (block & (block - 1U)) == 0;
}

typedef int (*block_verb)(struct nw_check *check, uint32_t block);

static int each_chosen(struct nw_check *check, block_verb verb)
{
    int result = NW_OK;

    check->tried = 0;
    for (uint32_t block = 0; result >= 0 && block < check->chip->geometry.blocks; block++) {
        if (is_chosen(check, block)) {
            result = is_good(check, block);
            if (result > 0) {
                check->tried++;
                result = verb(check, block);
            }
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

static int addresses(struct nw_check *check, uint32_t block)
{
    return look_again(check, block, NW_CHECK_ADDRESS);
}

/* Every other one of the chosen blocks is erased; the others keep their bytes. */
static int erase_half(struct nw_check *check, uint32_t block)
{
    return check->tried % 2U == 0 ? erase(check, block) : (int)NW_OK;
}

static int look_half(struct nw_check *check, uint32_t block)
{
    return check->tried % 2U == 0 ? read_erased(check, block)
                                  : look_again(check, block, NW_CHECK_ADDRESS);
}

/* How many buffers are tried: as many as a block has pages. */
static uint8_t count_buffers(const struct nw_geometry *geometry)
{
    uint16_t pages = geometry->block_pages;

    return (uint8_t)(pages < geometry->buffers ? pages : geometry->buffers);
}

/* Where a buffer has a byte of its own: at 1, or at 0 where there is no more. */
static uint16_t own_place(const struct nw_check *check)
{
    return check->chip->geometry.page_bytes > 1U;
}

/* That byte: another one in each buffer, and never that of the page it was loaded from. */
static uint8_t own_byte(const struct nw_check *check, uint32_t from, uint8_t buffer)
{
    return (uint8_t)(byte_of(check, from, own_place(check)) ^ (0xFFU - buffer));
}

/* All of a buffer, or of the page that was programmed from it, by one of the two verbs. */
static int look_buffer(struct nw_check *check, int (*verb)(struct nw_chip_req *),
                       struct nw_chip_req *req, uint32_t from)
{
    int result;

    memset(req->data, 0xA5, req->length);
    result = run(check, verb, req, NW_CHECK_BUFFER);
    for (uint16_t i = 0; result >= 0 && i < req->length; i++) {
        uint8_t expected =
            i == own_place(check) ? own_byte(check, from, req->buffer) : byte_of(check, from, i);

        if (req->data[i] != expected) {
            result = fail(check, NW_CHECK_BUFFER, req, NW_OK);
        }
    }
    return result;
}

/* A page through each buffer: loaded into all of them and changed at one place, another change in
 * each; then read from there, and programmed to a page each. */
static int try_buffers(struct nw_check *check, uint32_t from, uint32_t to)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req req = page_request(check, from);
    uint8_t buffers = count_buffers(geometry);
    int result = NW_OK;

    req.spare_length = 0;
    for (req.buffer = 0; result >= 0 && req.buffer < buffers; req.buffer++) {
        req.offset = 0;
        req.length = geometry->page_bytes;
        result = run(check, nw_chip_buffer_load, &req, NW_CHECK_BUFFER);
        req.offset = own_place(check);
        req.length = 1;
        req.data[0] = own_byte(check, from, req.buffer);
        result = result < 0 ? result : run(check, nw_chip_buffer_write, &req, NW_CHECK_BUFFER);
    }
    req.offset = 0;
    req.length = geometry->page_bytes;
    for (req.buffer = 0; result >= 0 && req.buffer < buffers; req.buffer++) {
        req.page = to + req.buffer;
        result = look_buffer(check, nw_chip_buffer_read, &req, from);
        result = result < 0 ? result : run(check, nw_chip_buffer_program, &req, NW_CHECK_BUFFER);
        result = result < 0 ? result : look_buffer(check, nw_chip_read, &req, from);
    }
    return result;
}

static int try_copy(struct nw_check *check, uint32_t from, uint32_t to)
{
    struct nw_chip_req req = page_request(check, from);
    struct nw_chip_req asked;
    int result;

    fill(check, to);
    req.to_page = to;
    asked = req;
    result = nw_chip_copy(&req);
    if (result == NW_ERR_UNSUPPORTED) {
        return NW_OK;
    }
    if (result >= 0 && !is_same(&req, &asked)) {
        return fail(check, NW_CHECK_REQUEST, &asked, NW_OK);
    }
    if (result >= 0) {
        req = page_request(check, to);
        result = nw_chip_read(&req);
    }
    if (result < 0) {
        return fail(check, NW_CHECK_COPY, &req, result);
    }
    for (uint16_t i = 0; i < req.length + req.spare_length; i++) {
        if (req.data[i] != byte_of(check, i < req.length ? from : to, i)) {
            return fail(check, NW_CHECK_COPY, &req, NW_OK);
        }
    }
    return NW_OK;
}

static int try_ranges(struct nw_check *check)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req req = page_request(check, 0);

    req.page = geometry->blocks * geometry->block_pages;
    req.block = geometry->blocks;
    if (nw_chip_read(&req) != NW_ERR_RANGE || nw_chip_program(&req) != NW_ERR_RANGE ||
        nw_chip_erase(&req) != NW_ERR_RANGE || nw_chip_is_bad(&req) != NW_ERR_RANGE) {
        return fail(check, NW_CHECK_RANGE, &req, NW_OK);
    }
    return NW_OK;
}

/* The first good block from there on, backwards with step -1; `blocks`: none. An error of the chip
 * is the answer: a block that it could not tell of is not the last good one. */
static int find_good(struct nw_check *check, uint32_t from, int32_t step, uint32_t *block)
{
    uint32_t blocks = check->chip->geometry.blocks;
    int good = 0;

    while (from < blocks && (good = is_good(check, from)) == 0) {
        from = (uint32_t)(from + (uint32_t)step);
    }
    *block = from < blocks ? from : blocks;
    return good < 0 ? good : (int)NW_OK;
}

static int begin(struct nw_check *check)
{
    if (check->ram_bytes < nw_check_ram_bytes(&check->chip->geometry)) {
        return NW_ERR_RAM;
    }
    check->step = NW_CHECK_PASSED;
    check->error = NW_OK;
    check->offset = 0;
    check->bad_blocks = 0;
    check->corrected_bits = 0;
    memset(&check->read, 0, sizeof check->read);
    memset(&check->read_one, 0, sizeof check->read_one);
    memset(&check->program, 0, sizeof check->program);
    memset(&check->erase, 0, sizeof check->erase);
    check->pass = 0;
    return NW_OK;
}

static int count_bad(struct nw_check *check)
{
    int good = 1;

    for (uint32_t block = 0; good >= 0 && block < check->chip->geometry.blocks; block++) {
        good = is_good(check, block);
        check->bad_blocks += good == 0 ? 1U : 0U;
    }
    return good < 0 ? good : (int)NW_OK;
}

/* The spare alone in an erased page, as layers mark one; the block is erased again. */
static int try_spare(struct nw_check *check, uint32_t page)
{
    struct nw_chip_req req = page_request(check, page);
    int result;

    if (req.spare_length == 0) {
        return NW_OK;
    }
    fill(check, page);
    req.length = 0;
    result = run(check, nw_chip_program, &req, NW_CHECK_PROGRAM);
    if (result >= 0) {
        result = read_spare(check, page);
    }
    return result >= 0 ? erase(check, req.block) : result;
}

int nw_chip_check(struct nw_check *check)
{
    static const block_verb verbs[] = {write_block, addresses, erase_half, look_half};
    const struct nw_geometry *geometry = &check->chip->geometry;
    struct nw_chip_req nothing = {.chip = check->chip};
    int result = begin(check);
    uint32_t from;
    uint32_t to;

    if (result < 0) {
        return result;
    }
    if (nw_geometry_check(geometry) < 0) {
        return fail(check, NW_CHECK_GEOMETRY, &nothing, NW_ERR_CONFIG);
    }
    result = count_bad(check);
    for (uint8_t i = 0; result >= 0 && i < sizeof verbs / sizeof verbs[0]; i++) {
        result = each_chosen(check, verbs[i]);
    }
    if (result >= 0) {
        result = find_good(check, 0, 1, &from);
    }
    if (result >= 0) {
        result = find_good(check, geometry->blocks - 1U, -1, &to);
    }
    if (result < 0) {
        return result;
    }
    if (from >= to || to == geometry->blocks) {
        return fail(check, NW_CHECK_GEOMETRY, &nothing, NW_OK);
    }
    check->pass = 1;
    result = write_block(check, from);
    if (result >= 0) {
        result = erase(check, to);
    }
    from *= geometry->block_pages;
    to *= geometry->block_pages;
    if (result >= 0) {
        result = try_spare(check, to);
    }
    if (result >= 0) {
        result = try_buffers(check, from, to);
    }
    if (result >= 0 && geometry->buffers >= geometry->block_pages) {
        result = erase(check, to / geometry->block_pages); /* its last page is taken */
    }
    if (result >= 0) {
        result = try_copy(check, from + (geometry->block_pages > 1U ? 1U : 0U),
                          to + geometry->block_pages - 1U);
    }
    return result < 0 ? result : try_ranges(check);
}

/* The block that cuts hit, and the one beside it that must not suffer. */
static int cut_blocks(struct nw_check *check, uint32_t *hit, uint32_t *kept)
{
    uint32_t blocks = check->chip->geometry.blocks;
    struct nw_chip_req nothing = {.chip = check->chip};
    int result = begin(check);

    *kept = blocks;
    if (result >= 0) {
        result = find_good(check, blocks - 1U, -1, hit);
    }
    if (result >= 0 && *hit < blocks && *hit > 0) {
        result = find_good(check, *hit - 1U, -1, kept);
    }
    if (result < 0) {
        return result;
    }
    check->pass = 2;
    return *kept >= blocks ? fail(check, NW_CHECK_GEOMETRY, &nothing, NW_OK) : (int)NW_OK;
}

int nw_check_cut_begin(struct nw_check *check)
{
    uint16_t block_pages = check->chip->geometry.block_pages;
    uint32_t hit;
    uint32_t kept;
    int result = cut_blocks(check, &hit, &kept);

    if (result >= 0) {
        result = erase(check, kept);
    }
    /* The block beside tells how far it went: a page before each erase and one behind it. */
    for (uint16_t note = 0; result >= 0 && note + 1U < block_pages; note = (uint16_t)(note + 2U)) {
        result = program(check, kept * block_pages + note);
        if (result >= 0) {
            result = erase(check, hit);
        }
        if (result >= 0) {
            result = program(check, kept * block_pages + note + 1U);
        }
        for (uint16_t i = 0; result >= 0 && i < block_pages; i++) {
            result = program(check, hit * block_pages + i);
        }
    }
    return result;
}

/* Whether a page holds its bytes. Its spare is asked first: data that was not programmed is not to
 * be read from every chip. */
static int is_whole(struct nw_check *check, uint32_t page)
{
    struct nw_chip_req req = page_request(check, page);

    req.length = 0;
    if (req.spare_length > 0 && read_part(check, &req, NW_CHECK_CUT, 0) < 0) {
        return 0;
    }
    req.length = check->chip->geometry.page_bytes;
    return read_part(check, &req, NW_CHECK_CUT, 0) >= 0;
}

/* How many pages of a block are whole, from the first one on. */
static uint16_t count_whole(struct nw_check *check, uint32_t block)
{
    uint16_t block_pages = check->chip->geometry.block_pages;
    uint16_t whole = 0;

    while (whole < block_pages && is_whole(check, block * block_pages + whole)) {
        whole++;
    }
    return whole;
}

/* A block whose pages were programmed in order until power went: whole ones, one that may hold
 * anything, and erased ones. Answers how many are whole. */
static int look_torn(struct nw_check *check, uint32_t block)
{
    uint16_t block_pages = check->chip->geometry.block_pages;
    uint32_t first = block * block_pages;
    uint16_t whole = count_whole(check, block);
    int result = NW_OK;

    for (uint16_t i = (uint16_t)(whole + 1U); result >= 0 && i < block_pages; i++) {
        result = read_erased_page(check, first + i, NW_CHECK_CUT);
    }
    return result < 0 ? result : (int)whole;
}

/* Whether power may have gone in the erase of the block beside, which leaves anything there: begin
 * erases it first, when it holds no note, or all rounds of a run before have ended or been looked
 * at. The block that is hit is whole then. */
static int is_beside_erased(struct nw_check *check, uint32_t hit, uint32_t kept)
{
    uint16_t block_pages = check->chip->geometry.block_pages;
    uint16_t page = 0;

    while (page < block_pages && !is_whole(check, kept * block_pages + page)) {
        page++;
    }
    return page == block_pages || count_whole(check, hit) == block_pages;
}

int nw_check_cut_end(struct nw_check *check)
{
    uint32_t hit;
    uint32_t kept;
    int result = cut_blocks(check, &hit, &kept);

    if (result >= 0 && !is_beside_erased(check, hit, kept)) {
        result = look_torn(check, kept);
        if (result > 0 && result % 2 == 0) { /* no other erase: one page at most may be torn */
            result = look_torn(check, hit);
        }
    }
    if (result < 0) {
        return result;
    }
    check->step = NW_CHECK_PASSED;
    check->error = NW_OK;
    return write_block(check, hit);
}

int nw_check_mark(struct nw_check *check)
{
    uint32_t blocks = check->chip->geometry.blocks;
    struct nw_chip_req req = {.chip = check->chip};
    int result = begin(check);

    if (result >= 0) {
        result = find_good(check, blocks - 1U, -1, &req.block);
    }
    if (result < 0) {
        return result;
    }
    result = req.block < blocks ? run(check, nw_chip_mark_bad, &req, NW_CHECK_MARK)
                                : (int)NW_ERR_RANGE;
    if (result >= 0) {
        result = is_good(check, req.block);
        result = result == 0 ? (int)NW_OK : result < 0 ? result : (int)NW_ERR_CORRUPT;
    }
    return result < 0 ? fail(check, NW_CHECK_MARK, &req, result) : (int)NW_OK;
}
