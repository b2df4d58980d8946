/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pages show whose program, or the erase of whose block, did not end: drawn at each power-up
 * or, with NW_NAND_UNSTABLE, at each read. There the cut decides, once, whether a page shows
 * content or blank, and each read whether it can be read at all.
 */
#include "nand_internal.h"

enum { OF_DATA, OF_SPARE, OF_BLOCK };
enum { KIND_KEY = 0x5500, BLOCK_KEY, OFTEN_KEY, HIDDEN_KEY, RUBBISH_KEY };

/* One byte of a torn write: each bit is taken from `fresh` where the drawn mask says so. */
static uint8_t torn_byte(uint8_t torn, uint8_t old, uint8_t fresh, uint64_t draw)
{
    uint8_t a = (uint8_t)draw;
    uint8_t b = (uint8_t)(draw >> 8);
    uint8_t c = (uint8_t)(draw >> 16);
    uint8_t mask;

    switch (torn) {
    case NW_TORN_OLD: return old;
    case NW_TORN_NEW: return fresh;
    case NW_TORN_MOSTLY_OLD: mask = a & b & c; break;
    case NW_TORN_MOSTLY_NEW: mask = a | b | c; break;
    case NW_TORN_RANDOM: return a;
    default: mask = a; break;
    }
    return (uint8_t)((fresh & mask) | (old & (uint8_t)~mask));
}

static const struct nand_torn *torn_record(const struct nw_nand *nand, uint32_t page)
{
    uint32_t at = nand->torn_count;

    while (at > 0 && nand->torn[at - 1U].page != page) {
        at--;
    }
    return at > 0 ? &nand->torn[at - 1U] : NULL;
}

/* Shows `length` bytes from `offset` of a page's data or spare as its torn program left them. */
static void show_torn_page(const struct nw_nand *nand, uint32_t page, int what, uint16_t offset,
                           uint16_t length, uint8_t *to)
{
    const struct nand_torn *record = torn_record(nand, page);
    uint64_t when = (uint64_t)nand->pages[page].lifetime << 32 | nand->power_ups;

    if (record == NULL) {
        return;
    }
    uint32_t first = what == OF_DATA ? record->offset : record->spare_offset;
    uint32_t last = first + (what == OF_DATA ? record->length : record->spare_length);
    uint8_t torn = what == OF_DATA ? record->data_torn : record->spare_torn;

    if (torn == NW_TORN_ANY) {
        uint64_t kinds = record->rewrite != 0 ? 6U : 5U;

        torn = (uint8_t)(1U + nand_key(nand, page, when, (uint64_t)what) % kinds);
    }
    for (uint32_t i = 0; i < length; i++) {
        uint32_t at = offset + i;

        if (at >= first && at < last) {
            to[i] = torn_byte(torn, nand->chip.geometry.erased, to[i],
                              nand_key(nand, page, when, 16U + (uint64_t)what + 2U * at));
        }
    }
}

/* Shows bytes of a page in a block whose erase was cut: for an erase the fresh byte is `erased`. */
static void show_torn_block(const struct nw_nand *nand, uint32_t page, int what, uint16_t offset,
                            uint16_t length, uint8_t *to)
{
    static const uint8_t kinds[] = { NW_TORN_OLD, NW_TORN_NEW, NW_TORN_HALF, NW_TORN_RANDOM };
    uint32_t block_at = nand_block_of(nand, page);
    const struct nand_block *block = &nand->blocks[block_at];
    uint64_t when = (uint64_t)block->erases << 32 | nand->power_ups;
    uint8_t torn = block->torn;

    if (torn == NW_TORN_ANY) {
        uint64_t draw = nand_key(nand, block_at, when, OF_BLOCK) % 5U;

        /* One cut in five leaves each page, and its spare, in a state of its own. */
        torn = kinds[draw < 4U ? draw : nand_key(nand, page, when, 4U + (uint64_t)what) % 4U];
    }
    for (uint32_t i = 0; i < length; i++) {
        to[i] = torn_byte(torn, to[i], nand->chip.geometry.erased,
                          nand_key(nand, page, when, 16U + (uint64_t)what + 2U * (offset + i)));
    }
}

/* Unstable ones */

/* A kind once drawn as blank stays so: cells that an erase has reached lose more with the next. */
static void draw_kind(struct nw_nand *nand, uint32_t page, uint8_t torn, uint8_t blank, bool all)
{
    uint64_t erases = nand->blocks[nand_block_of(nand, page)].erases;
    uint64_t when = (uint64_t)nand->pages[page].lifetime << 32 | erases;
    bool drawn = all || (nand_key(nand, page, when, KIND_KEY) & 1U) != 0;

    if (torn == blank || (torn == NW_TORN_ANY && drawn)) {
        nand->pages[page].flags |= PAGE_BLANK;
    }
}

void nw_nand_unsettle_page(struct nw_nand *nand, uint32_t page, uint8_t torn)
{
    if ((nand->flags & NW_NAND_UNSTABLE) != 0) {
        draw_kind(nand, page, torn, NW_TORN_OLD, false);
    }
}

/* One block in four is blank throughout and one in four shows all it held; in the others each page
 * is of a kind of its own. Pages that hold nothing are blank anyway. */
void nw_nand_unsettle_block(struct nw_nand *nand, uint32_t block, uint8_t torn)
{
    uint32_t count = nand->chip.geometry.block_pages;
    uint64_t draw = nand_key(nand, block, nand->blocks[block].erases, BLOCK_KEY) & 3U;

    if ((nand->flags & NW_NAND_UNSTABLE) == 0 || (torn == NW_TORN_ANY && draw == 0)) {
        return;
    }
    for (uint32_t page = block * count; page < (block + 1U) * count; page++) {
        if (nand->pages[page].programs > 0) {
            draw_kind(nand, page, torn, NW_TORN_NEW, draw == 1U);
        }
    }
}

static bool never_reads(uint8_t torn)
{
    return torn != NW_TORN_ANY && torn != NW_TORN_OLD && torn != NW_TORN_NEW;
}

/* Can the page not be read by the operation at hand? Some pages never can, some always. */
static bool is_hidden(const struct nw_nand *nand, uint32_t page, const struct nand_torn *record)
{
    static const uint8_t shares[] = {0, 1, 4, 7, 8}; /* of 8 reads */
    const struct nand_block *block = &nand->blocks[nand_block_of(nand, page)];
    uint64_t when = (uint64_t)nand->pages[page].lifetime << 32 | block->erases;

    if ((record != NULL && never_reads(record->data_torn)) ||
        ((block->flags & BLOCK_TORN) != 0 && never_reads(block->torn))) {
        return true;
    }
    return nand_key(nand, page, nand->operations, HIDDEN_KEY) % 8U <
           shares[nand_key(nand, page, when, OFTEN_KEY) % sizeof shares];
}

static bool overlap(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length)
{
    return a_length > 0 && b_length > 0 && a < b + b_length && b < a + a_length;
}

/* Does the request ask for bytes that are not settled, and is this not their time? */
static bool meets_hidden(const struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page)
{
    bool all = (nand->blocks[nand_block_of(nand, page)].flags & BLOCK_TORN) != 0;
    const struct nand_torn *record = (nand->pages[page].flags & PAGE_TORN) != 0
                                         ? torn_record(nand, page)
                                         : NULL;

    if (!all &&
        (record == NULL ||
         (!overlap(req->offset, req->length, record->offset, record->length) &&
          !overlap(req->spare_offset, req->spare_length, record->spare_offset,
                   record->spare_length)))) {
        return false;
    }
    return is_hidden(nand, page, record);
}

int nw_nand_try_read(const struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page)
{
    return (nand->flags & NW_NAND_UNSTABLE) != 0 && nand->part.ecc_bits > 0 &&
                   meets_hidden(nand, req, page)
               ? (int)NW_ERR_ECC
               : (int)NW_OK;
}

static void show_unstable(const struct nw_nand *nand, uint32_t page, bool spare, uint16_t offset,
                          uint16_t length, uint8_t *to)
{
    static const uint8_t mixes[] = {NW_TORN_HALF, NW_TORN_MOSTLY_OLD, NW_TORN_MOSTLY_NEW};
    const struct nand_page *state = &nand->pages[page];
    const struct nand_torn *record =
        (state->flags & PAGE_TORN) != 0 ? torn_record(nand, page) : NULL;
    uint64_t key = nand_key(nand, page, nand->operations, RUBBISH_KEY + (spare ? 1U : 0U));
    uint8_t torn = (state->flags & PAGE_BLANK) != 0 ? NW_TORN_OLD : NW_TORN_NEW;
    uint32_t first = 0;
    uint32_t last = UINT32_MAX;

    if (record != NULL && (nand->blocks[nand_block_of(nand, page)].flags & BLOCK_TORN) == 0) {
        first = spare ? record->spare_offset : record->offset;
        last = first + (spare ? record->spare_length : record->length);
    }
    if (is_hidden(nand, page, record)) {
        torn = state->programs > 0 ? mixes[key % 3U] : (uint8_t)NW_TORN_RANDOM;
    }
    for (uint32_t i = 0; i < length; i++) {
        if (offset + i >= first && offset + i < last) {
            to[i] = torn_byte(torn, nand->chip.geometry.erased, to[i],
                              nand_mix(key + offset + i));
        }
    }
}

void nw_nand_show_torn(const struct nw_nand *nand, uint32_t page, bool spare, uint16_t offset,
                       uint16_t length, uint8_t *to)
{
    int what = spare ? OF_SPARE : OF_DATA;
    uint8_t torn_page = nand->pages[page].flags & PAGE_TORN;
    uint8_t torn_block = nand->blocks[nand_block_of(nand, page)].flags & BLOCK_TORN;

    if ((nand->flags & NW_NAND_UNSTABLE) != 0) {
        show_unstable(nand, page, spare, offset, length, to);
        return;
    }
    if (torn_page != 0) {
        show_torn_page(nand, page, what, offset, length, to);
    }
    if (torn_block != 0) {
        show_torn_block(nand, page, what, offset, length, to);
    }
}
