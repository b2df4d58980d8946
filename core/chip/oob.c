/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/oob.h"

#include <stddef.h>
#include <string.h>

/* First page of the chip in the block at hand. */
static uint32_t first_page(const struct nw_oob *oob, uint32_t page)
{
    return page / oob->chip.geometry.block_pages * oob->join * oob->below->geometry.block_pages;
}

/* Where a page has its spare bytes. */
static void to_spare(const struct nw_oob *oob, struct nw_chip_req *req, uint32_t page)
{
    const struct nw_geometry *below = &oob->below->geometry;
    uint16_t index = (uint16_t)(page % oob->chip.geometry.block_pages);

    if (oob->tail != NULL) {
        req->page = first_page(oob, page) + (uint32_t)(index + 1U) * oob->span - 1U;
        req->offset = (uint16_t)(below->page_bytes - oob->chip.geometry.spare_bytes);
    } else {
        req->page = first_page(oob, page) + oob->spare_page + index / oob->page_spares;
        req->offset = (uint16_t)(index % oob->page_spares * NW_OOB_BYTES);
    }
}

/* Data piece by piece, then the spare bytes: the last of a program. */
static int moved(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    const struct nw_oob *oob = req->chip->context;
    uint16_t page_bytes = oob->below->geometry.page_bytes;
    uint32_t first = first_page(oob, req->page) +
                     req->page % req->chip->geometry.block_pages * (uint32_t)oob->span;
    struct nw_chip_req asked;
    uint16_t done = 0;
    int sum = 0;
    int result = NW_OK;

    memcpy(&asked, req, sizeof asked);
    req->chip = oob->below;
    req->spare_offset = 0;
    req->spare_length = 0;
    while (done < asked.length && result >= 0) {
        uint16_t at = (uint16_t)(asked.offset + done);
        uint16_t left = (uint16_t)(asked.length - done);

        req->page = first + at / page_bytes;
        req->offset = at % page_bytes;
        req->length = (uint16_t)(page_bytes - req->offset);
        if (req->length > left) {
            req->length = left;
        }
        if (asked.data != NULL) {
            req->data = asked.data + done;
        }
        done = (uint16_t)(done + req->length);
        result = verb(req);
        sum += result;
    }
    if (result >= 0 && asked.spare_length != 0) {
        to_spare(oob, req, asked.page);
        req->offset = (uint16_t)(req->offset + asked.spare_offset);
        req->length = asked.spare_length;
        req->data = asked.spare;
        result = verb(req);
        sum += result;
    }
    memcpy(req, &asked, sizeof asked);
    return result < 0 ? result : sum;
}

static int oob_read(struct nw_chip_req *req)
{
    return moved(req, nw_chip_read);
}

/* The last page of the chip is put together: the end of the data, and the spare bytes. */
static int program_tail(const struct nw_oob *oob, const struct nw_chip_req *req)
{
    uint16_t page_bytes = oob->below->geometry.page_bytes;
    uint16_t before = (uint16_t)((oob->span - 1U) * page_bytes);
    struct nw_chip_req own;

    memset(&own, 0, sizeof own);
    to_spare(oob, &own, req->page);
    memset(oob->tail, oob->below->geometry.erased, page_bytes);
    if (req->length != 0 && req->data != NULL) {
        memcpy(oob->tail, req->data + before, req->length - before);
    }
    if (req->spare_length != 0) {
        memcpy(oob->tail + own.offset + req->spare_offset, req->spare, req->spare_length);
    }
    own.chip = oob->below;
    own.offset = 0;
    own.length = page_bytes;
    own.data = oob->tail;
    return nw_chip_program(&own);
}

static int oob_program(struct nw_chip_req *req)
{
    const struct nw_oob *oob = req->chip->context;
    struct nw_chip_req own;
    int result;

    if (oob->tail == NULL) {
        return moved(req, nw_chip_program);
    }
    memcpy(&own, req, sizeof own);
    if (own.length != 0) {
        own.length = (uint16_t)((oob->span - 1U) * oob->below->geometry.page_bytes);
    }
    own.spare_length = 0;
    result = moved(&own, nw_chip_program);
    return result < 0 || (req->length | req->spare_length) == 0 ? result : program_tail(oob, req);
}

/* The chip's blocks of a block, the last one first, as long as they answer NW_OK. */
static int each(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip *chip = req->chip;
    const struct nw_oob *oob = chip->context;
    uint32_t block = req->block;
    uint16_t left = oob->join;
    int result = NW_OK;

    req->chip = oob->below;
    while (result == NW_OK && left > 0) {
        left--;
        req->block = block * oob->join + left;
        result = verb(req);
    }
    req->chip = chip;
    req->block = block;
    return result;
}

static int oob_erase(struct nw_chip_req *req)
{
    return each(req, nw_chip_erase);
}

/* The mark of a block, in the spare bytes of its last page. No tag of ours has this check, and no
 * erase that was cut leaves it: it has bits of both kinds in each byte. */
static void to_mark(struct nw_chip_req *own, const struct nw_chip_req *req, uint8_t *bytes)
{
    memset(own, 0, sizeof *own);
    own->chip = req->chip;
    own->page = (req->block + 1U) * req->chip->geometry.block_pages - 1U;
    own->spare_length = req->chip->geometry.spare_bytes;
    own->spare = bytes;
}

static uint8_t mark_byte(uint16_t at)
{
    return (uint8_t)(0x5AU + at);
}

static int oob_is_bad(struct nw_chip_req *req)
{
    const struct nw_oob *oob = req->chip->context;
    uint8_t bytes[NW_OOB_BYTES];
    struct nw_chip_req own;
    int result = each(req, nw_chip_is_bad);

    if (result != NW_OK || oob->below->ops->mark_bad != NULL) {
        return result;
    }
    to_mark(&own, req, bytes);
    result = oob_read(&own);
    if (result < 0) {
        return result == NW_ERR_ECC ? 0 : result;
    }
    while (own.spare_length > 0 && bytes[own.spare_length - 1U] ==
                                       mark_byte((uint16_t)(own.spare_length - 1U))) {
        own.spare_length--;
    }
    return own.spare_length == 0;
}

static int oob_mark_bad(struct nw_chip_req *req)
{
    const struct nw_oob *oob = req->chip->context;
    uint8_t bytes[NW_OOB_BYTES];
    struct nw_chip_req own;
    int result;

    if (oob->below->ops->mark_bad != NULL) {
        return each(req, nw_chip_mark_bad);
    }
    for (uint16_t i = 0; i < NW_OOB_BYTES; i++) {
        bytes[i] = mark_byte(i);
    }
    to_mark(&own, req, bytes);
    own.chip = oob->below;
    own.block = (req->block + 1U) * oob->join - 1U;
    result = nw_chip_erase(&own);
    if (result == NW_OK) {
        own.chip = req->chip;
        result = oob_program(&own);
    }
    return result == NW_ERR_ERASE || result == NW_ERR_PROGRAM ? (int)NW_OK : result;
}

static const struct nw_chip_ops oob_ops = {
    oob_read, oob_program, oob_erase, oob_is_bad, oob_mark_bad, NULL, NULL, NULL, NULL, NULL, NULL,
};

/* Spare areas in pages of their own behind the data. Answers pages a block, 0: it cannot. */
static uint32_t lay_behind(struct nw_oob *oob, const struct nw_geometry *geometry, uint32_t pages)
{
    uint32_t count;

    if (geometry->page_programs != NW_PROGRAMS_UNLIMITED ||
        NW_OOB_BYTES % geometry->program_bytes != 0 || geometry->page_bytes < NW_OOB_BYTES ||
        (geometry->flags & NW_CHIP_IN_ORDER) != 0 ||
        oob->chip.geometry.page_bytes % geometry->page_bytes != 0) {
        return 0;
    }
    oob->page_spares = geometry->page_bytes / NW_OOB_BYTES;
    count = pages * oob->page_spares / ((uint32_t)oob->span * oob->page_spares + 1U);
    oob->spare_page = (uint16_t)(pages - (count + oob->page_spares - 1U) / oob->page_spares);
    oob->chip.geometry.spare_bytes = NW_OOB_BYTES;
    oob->tail = NULL;
    return count;
}

/* The spare area at the end of the page's last page of the chip, which programs whole ones. */
static uint32_t lay_beside(struct nw_oob *oob, const struct nw_geometry *geometry, uint32_t pages)
{
    uint32_t room = (uint32_t)oob->span * geometry->page_bytes - oob->chip.geometry.page_bytes;

    if (geometry->program_bytes != geometry->page_bytes || room < NW_OOB_LEAST ||
        geometry->block_pages % oob->span != 0) {
        return 0;
    }
    oob->chip.geometry.spare_bytes = (uint16_t)(room < NW_OOB_BYTES ? room : NW_OOB_BYTES);
    oob->chip.geometry.program_bytes = oob->chip.geometry.page_bytes;
    oob->chip.geometry.page_programs = 1;
    return pages / oob->span;
}

int nw_oob_open(struct nw_oob *oob, struct nw_chip *below, uint16_t page_bytes, uint16_t join,
                uint8_t *tail)
{
    struct nw_geometry *geometry = &oob->chip.geometry;
    uint32_t pages = (uint32_t)join * below->geometry.block_pages;
    uint32_t count; /* pages a block above */

    *geometry = below->geometry;
    if (nw_geometry_check(geometry) != NW_OK || join == 0 || join > geometry->blocks ||
        pages > 0xFFFFUL || page_bytes == 0) {
        return NW_ERR_CONFIG;
    }
    geometry->page_bytes = page_bytes;
    oob->join = join;
    oob->span = (uint16_t)((page_bytes - 1U) / below->geometry.page_bytes + 1U);
    oob->tail = tail;
    count = tail != NULL ? lay_beside(oob, &below->geometry, pages)
                         : lay_behind(oob, &below->geometry, pages);
    if (count == 0) {
        return NW_ERR_CONFIG;
    }
    geometry->blocks /= join;
    geometry->block_pages = (uint16_t)count;
    geometry->buffers = 0;
    geometry->flags &= (uint8_t)~NW_CHIP_REWRITE;
    geometry->read_us *= oob->span + 1U;
    geometry->program_us *= oob->span + (tail == NULL ? 1U : 0U);
    geometry->erase_us *= join;
    geometry->heal_life = 0;
    oob->chip.ops = &oob_ops;
    oob->chip.context = oob;
    oob->below = below;
    return NW_OK;
}
