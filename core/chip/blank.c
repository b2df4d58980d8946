/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anything is written on a chip: see blank.h. */
#include "nandwich/blank.h"

/* Room for the pieces of a page. */
struct room {
    uint8_t *start;
    uint16_t bytes;
};

#define ROOM_MOST 32768U /* of a request's 16 bits */

/* A piece of a page: 1 when it is erased. */
static int is_erased(struct nw_chip_req *req, const uint8_t *bytes, uint32_t length)
{
    uint8_t erased = req->chip->geometry.erased;
    int result = nw_chip_read(req);

    while (result >= 0 && length-- > 0) {
        if (bytes[length] != erased) {
            return 0;
        }
    }
    if (result < 0) {
        return result == NW_ERR_ECC ? 0 : result;
    }
    return 1;
}

static int are_pages_blank(struct nw_chip *chip, uint32_t first, uint32_t end,
                           const struct room *room)
{
    const struct nw_geometry *geometry = &chip->geometry;
    uint8_t readable = geometry->flags & (NW_CHIP_READ_ERASED | NW_CHIP_NO_PAYLOAD);
    struct nw_chip_req req;
    uint32_t spare = geometry->spare_bytes; /* asked first: data counts on behind them */
    uint32_t all = readable == NW_CHIP_READ_ERASED ? spare + geometry->page_bytes : spare;
    int result = all != 0 ? 1 : (int)NW_ERR_UNSUPPORTED;

    req.chip = chip;
    req.data = room->start;
    req.spare = room->start;
    for (req.page = first; req.page < end; req.page++) {
        uint32_t length;

        for (uint32_t at = 0; result > 0 && at < all; at += length) {
            length = (at < spare ? spare : all) - at;
            if (length > room->bytes) {
                length = room->bytes;
            }
            req.length = (uint16_t)length;
            req.offset = (uint16_t)(at - spare);
            req.spare_offset = 0;
            req.spare_length = 0;
            if (at < spare) {
                req.length = 0;
                req.offset = 0;
                req.spare_offset = (uint16_t)at;
                req.spare_length = (uint16_t)length;
            }
            result = is_erased(&req, room->start, length);
        }
        if (result <= 0) {
            break;
        }
    }
    return result;
}

static int are_blocks_blank(struct nw_chip *chip, uint32_t end, const struct room *room)
{
    struct nw_chip_req req;
    uint32_t page = 0;
    int result = 1;

    req.chip = chip;
    for (req.block = 0; req.block < end && result > 0; req.block++) {
        uint32_t next = page + chip->geometry.block_pages;

        result = nw_chip_is_bad(&req);
        if (result == 0) {
            result = are_pages_blank(chip, page, next, room);
        }
        page = next;
    }
    return result;
}

int nw_pages_are_blank(struct nw_chip *chip, uint32_t first, uint32_t end)
{
    uint8_t bytes[NW_BLANK_PIECE];
    struct room room;

    room.start = bytes;
    room.bytes = sizeof bytes;
    return are_pages_blank(chip, first, end, &room);
}

int nw_blocks_are_blank(struct nw_chip *chip, uint32_t end)
{
    uint8_t bytes[NW_BLANK_PIECE];
    struct room room;

    room.start = bytes;
    room.bytes = sizeof bytes;
    return are_blocks_blank(chip, end, &room);
}

int nw_chip_is_blank(struct nw_chip *chip)
{
    return nw_blocks_are_blank(chip, chip->geometry.blocks);
}

int nw_chip_not_found(struct nw_chip *chip, void *ram, size_t bytes)
{
    struct room room;
    int result;

    room.start = ram;
    room.bytes = bytes < ROOM_MOST ? (uint16_t)bytes : (uint16_t)ROOM_MOST;
    result = are_blocks_blank(chip, chip->geometry.blocks, &room);

    if (result < 0) {
        return result;
    }
    return result > 0 ? (int)NW_ERR_BLANK : (int)NW_ERR_NOT_FOUND;
}
