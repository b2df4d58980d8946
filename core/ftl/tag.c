/* SPDX-License-Identifier: Apache-2.0 */
/* Tags in the spare area, and pages with tags: see tag.h. */
#include "tag.h"

#include <string.h>

#include "nandwich/bytes.h"
#include "nandwich/crc.h"

#define WORD_AT 0U
#define VERSION_AT 4U
#define CRC_AT 9U
#define ERASES_AT 13U

uint8_t nw_tag_bytes(const struct nw_geometry *geometry)
{
    if (geometry->spare_bytes >= NW_TAG_WEAR_BYTES) {
        return NW_TAG_WEAR_BYTES;
    }
    return geometry->spare_bytes >= NW_TAG_BYTES ? NW_TAG_BYTES : 0;
}

/* The check's place in the spare bytes, behind all that it covers. */
static uint8_t *check_at(struct nw_tagged *tagged)
{
    return tagged->spare + tagged->req.spare_length - 2;
}

static uint16_t check_of(const struct nw_tagged *tagged)
{
    return (uint16_t)nw_crc32(NW_CRC32_START, tagged->spare, tagged->req.spare_length - 2U);
}

uint32_t nw_tag_sum(const uint8_t *data, uint16_t length)
{
    return data != NULL && length != 0 ? nw_crc32(NW_CRC32_START, data, length) : 0;
}

/* The tag in the spare bytes: enum nw_tag_state. */
static int parse(struct nw_tagged *tagged)
{
    const uint8_t *from = tagged->spare;
    struct nw_tag *tag = &tagged->tag;
    uint16_t left = tagged->req.spare_length;

    while (from[left - 1] == tagged->req.chip->geometry.erased) {
        if (--left == 0) {
            return NW_TAG_BLANK;
        }
    }
    if (nw_get16(check_at(tagged)) != check_of(tagged)) {
        return NW_TAG_BAD;
    }
    tag->word = nw_get32(from + WORD_AT);
    tag->version = nw_tag_get40(from + VERSION_AT);
    tag->crc = nw_get32(from + CRC_AT);
    tag->erases = NW_TAG_UNTOLD;
    if (tagged->req.spare_length >= NW_TAG_WEAR_BYTES) {
        tag->erases &= nw_get32(from + ERASES_AT);
    }
    return NW_TAG_GOOD;
}

void nw_tagged_open(struct nw_tagged *tagged, struct nw_chip *chip, struct nw_stats *stats)
{
    memset(tagged, 0, sizeof *tagged);
    tagged->stats = stats;
    tagged->req.chip = chip;
    tagged->req.spare = tagged->spare;
    tagged->req.spare_length = nw_tag_bytes(&chip->geometry);
}

/* What the request asks for. */
static int read_once(struct nw_tagged *tagged)
{
    struct nw_stats *stats = tagged->stats;
    int result = nw_chip_read(&tagged->req);

    tagged->corrected = result;
    if (stats != NULL) {
        stats->reads++;
        stats->bytes_read += (uint32_t)tagged->req.length + tagged->req.spare_length;
        if (result > 0) {
            stats->corrected += (uint16_t)result;
        }
    }
    return result;
}

int nw_tagged_read(struct nw_tagged *tagged, uint32_t at, uint16_t length, uint8_t *data)
{
    tagged->req.page = at;
    tagged->req.length = length;
    tagged->req.data = data;
    int result = read_once(tagged);

    if (result == NW_ERR_ECC) { /* it may fail but once */
        result = read_once(tagged);
    }
    return result >= 0 ? parse(tagged) : result == NW_ERR_ECC ? (int)NW_TAG_LOST : result;
}

void nw_tagged_stamp(struct nw_tagged *tagged, uint16_t length)
{
    const struct nw_tag *tag = &tagged->tag;
    uint8_t *to = tagged->spare;
    uint16_t bytes = tagged->req.spare_length;

    nw_put32(to + WORD_AT, tag->word);
    nw_tag_put40(to + VERSION_AT, tag->version);
    nw_put32(to + CRC_AT, tag->crc);
    nw_put32(to + ERASES_AT, tag->erases); /* what is too much of it the check covers */
    nw_put16(check_at(tagged), check_of(tagged));
    if (tagged->stats != NULL) {
        tagged->stats->programs++;
        tagged->stats->bytes_programmed += (uint32_t)length + bytes;
    }
}

int nw_tagged_program(struct nw_tagged *tagged, uint32_t at, uint16_t length, uint8_t *data)
{
    nw_tagged_stamp(tagged, length);
    tagged->req.page = at;
    tagged->req.length = length;
    tagged->req.data = data;
    return nw_chip_program(&tagged->req);
}
