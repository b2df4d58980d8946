/* SPDX-License-Identifier: Apache-2.0 */
/* Tags in the spare area: see tag.h. */
#include "tag.h"

#include "nandwich/bytes.h"
#include "nandwich/crc.h"

#define WORD_AT 0U
#define VERSION_AT 4U
#define CRC_AT 9U
#define ERASES_AT 13U
#define MOST_ERASES 0xFFFFFFUL

uint8_t nw_tag_bytes(const struct nw_geometry *geometry)
{
    if (geometry->spare_bytes >= NW_TAG_WEAR_BYTES) {
        return NW_TAG_WEAR_BYTES;
    }
    return geometry->spare_bytes >= NW_TAG_BYTES ? NW_TAG_BYTES : 0;
}

static uint16_t check_of(const uint8_t *tag, uint8_t covered)
{
    return (uint16_t)(nw_crc32(NW_CRC32_START, tag, covered) & 0xFFFFU);
}

void nw_tag_put40(uint8_t *to, uint64_t value)
{
    nw_put32(to, (uint32_t)(value & 0xFFFFFFFFUL));
    to[4] = (uint8_t)(value >> 32);
}

uint64_t nw_tag_get40(const uint8_t *from)
{
    return nw_get32(from) | ((uint64_t)from[4] << 32);
}

void nw_tag_put(uint8_t *to, uint8_t bytes, const struct nw_tag *tag)
{
    uint8_t covered = (uint8_t)(bytes - 2U);

    nw_put32(to + WORD_AT, tag->word);
    nw_tag_put40(to + VERSION_AT, tag->version);
    nw_put32(to + CRC_AT, tag->crc);
    if (bytes >= NW_TAG_WEAR_BYTES) {
        uint32_t erases = tag->erases < MOST_ERASES ? tag->erases : MOST_ERASES;

        nw_put16(to + ERASES_AT, (uint16_t)(erases & 0xFFFFU));
        to[ERASES_AT + 2U] = (uint8_t)(erases >> 16);
    }
    nw_put16(to + covered, check_of(to, covered));
}

int nw_tag_get(const uint8_t *from, uint8_t bytes, uint8_t erased, struct nw_tag *tag)
{
    uint8_t covered = (uint8_t)(bytes - 2U);
    uint8_t same = 0;

    while (same < bytes && from[same] == erased) {
        same++;
    }
    if (same == bytes) {
        return NW_TAG_BLANK;
    }
    if (nw_get16(from + covered) != check_of(from, covered)) {
        return NW_TAG_BAD;
    }
    tag->word = nw_get32(from + WORD_AT);
    tag->version = nw_tag_get40(from + VERSION_AT);
    tag->crc = nw_get32(from + CRC_AT);
    tag->erases = 0;
    if (bytes >= NW_TAG_WEAR_BYTES) {
        tag->erases = nw_get16(from + ERASES_AT) | ((uint32_t)from[ERASES_AT + 2U] << 16);
    }
    return NW_TAG_GOOD;
}
