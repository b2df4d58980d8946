/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/oob.h"

#include <stddef.h>
#include <string.h>

#define MOST_UNIT 2U /* bytes: what spare areas and the mark are multiples of */
#define MARK_BYTES 4U

/* Bits of both kinds: no erase that was cut leaves them all, no chip erases to them. */
static const uint8_t mark[MARK_BYTES] = {0x42, 0xAD, 0xB1, 0x0C};

/* First page of a block above, below. */
static uint32_t first_page(const struct nw_oob *oob, uint32_t block)
{
    return block * oob->join * oob->below->geometry.block_pages;
}

/* Data piece by piece, then the spare bytes: the last of a program. */
static int moved(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    const struct nw_oob *oob = req->chip->context;
    uint16_t page_bytes = oob->below->geometry.page_bytes;
    uint32_t block = req->page / req->chip->geometry.block_pages;
    uint16_t index = (uint16_t)(req->page % req->chip->geometry.block_pages);
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

        req->page = first_page(oob, block) + (uint32_t)index * oob->span + at / page_bytes;
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
        req->page = first_page(oob, block) + oob->spare_page + index / oob->page_spares;
        req->offset = (uint16_t)(index % oob->page_spares * NW_OOB_BYTES + asked.spare_offset);
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

static int oob_program(struct nw_chip_req *req)
{
    return moved(req, nw_chip_program);
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

/* A verb for the mark of a block, or for the chip's block that holds it. */
static int at_mark(struct nw_chip_req *req, uint8_t *bytes, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip_req own;
    const struct nw_oob *oob = req->chip->context;

    memset(&own, 0, sizeof own);
    own.chip = oob->below;
    own.block = (req->block + 1U) * oob->join - 1U;
    own.page = first_page(oob, req->block + 1U) - 1U;
    own.offset = (uint16_t)(oob->below->geometry.page_bytes - MARK_BYTES);
    own.length = MARK_BYTES;
    own.data = bytes;
    return verb(&own);
}

static int oob_is_bad(struct nw_chip_req *req)
{
    const struct nw_oob *oob = req->chip->context;
    uint8_t bytes[MARK_BYTES];
    int result = each(req, nw_chip_is_bad);

    if (result != NW_OK || oob->below->ops->mark_bad != NULL) {
        return result;
    }
    result = at_mark(req, bytes, nw_chip_read);
    return result < 0 && result != NW_ERR_ECC ? result
                                              : result >= 0 && memcmp(bytes, mark, MARK_BYTES) == 0;
}

static int oob_mark_bad(struct nw_chip_req *req)
{
    const struct nw_oob *oob = req->chip->context;
    uint8_t bytes[MARK_BYTES];
    int result;

    if (oob->below->ops->mark_bad != NULL) {
        return each(req, nw_chip_mark_bad);
    }
    memcpy(bytes, mark, MARK_BYTES);
    result = at_mark(req, bytes, nw_chip_erase);
    if (result == NW_OK) {
        result = at_mark(req, bytes, nw_chip_program);
    }
    return result == NW_ERR_ERASE || result == NW_ERR_PROGRAM ? (int)NW_OK : result;
}

static const struct nw_chip_ops oob_ops = {
    oob_read, oob_program, oob_erase, oob_is_bad, oob_mark_bad, NULL, NULL, NULL, NULL, NULL, NULL,
};

int nw_oob_open(struct nw_oob *oob, struct nw_chip *below, uint16_t page_bytes, uint16_t join)
{
    struct nw_geometry *geometry = &oob->chip.geometry;
    uint32_t pages = (uint32_t)join * below->geometry.block_pages;
    uint32_t count; /* pages a block above */

    *geometry = below->geometry;
    if (nw_geometry_check(geometry) != NW_OK || join == 0 || join > geometry->blocks ||
        pages > 0xFFFFUL || page_bytes == 0 || page_bytes % geometry->page_bytes != 0 ||
        geometry->page_bytes < NW_OOB_BYTES + MARK_BYTES ||
        geometry->program_bytes > MOST_UNIT ||
        geometry->page_programs != NW_PROGRAMS_UNLIMITED ||
        (geometry->flags & NW_CHIP_IN_ORDER) != 0) {
        return NW_ERR_CONFIG;
    }
    oob->join = join;
    oob->span = page_bytes / geometry->page_bytes;
    oob->page_spares = (uint16_t)((geometry->page_bytes - MARK_BYTES) / NW_OOB_BYTES);
    count = pages * oob->page_spares / ((uint32_t)oob->span * oob->page_spares + 1U);
    if (count == 0) {
        return NW_ERR_CONFIG;
    }
    oob->spare_page = (uint16_t)(pages - (count + oob->page_spares - 1U) / oob->page_spares);
    geometry->blocks /= join;
    geometry->block_pages = (uint16_t)count;
    geometry->page_bytes = page_bytes;
    geometry->spare_bytes = NW_OOB_BYTES;
    geometry->buffers = 0;
    geometry->flags &= NW_CHIP_READ_ERASED | NW_CHIP_NO_PAYLOAD;
    geometry->read_us *= oob->span + 1U;
    geometry->program_us *= oob->span + 1U;
    geometry->erase_us *= join;
    geometry->heal_life = 0;
    oob->chip.ops = &oob_ops;
    oob->chip.context = oob;
    oob->below = below;
    return NW_OK;
}
