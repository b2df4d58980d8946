/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is on a chip: see identify.h. A layer of ours tells by what each of its mounts writes first
 * (core/ftl/mark.h), a store by the header of each of its blocks.
 */
#include "nandwich/identify.h"

#include <string.h>

#include "../ftl/mark.h"
#include "../ftl/piece.h"
#include "../store/store.h"
#include "nandwich/blank.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"

struct look {
    struct nw_tagged tagged;
    struct nw_identity *found;
    uint8_t bytes[NW_PIECE_BYTES]; /* of data, read last */
    uint64_t ended;       /* the newest void list's version; lists before it do not count */
    uint8_t told;         /* *found holds the answer */
};

static const struct nw_geometry *geometry_of(const struct look *look)
{
    return &look->tagged.req.chip->geometry;
}

/* Bytes of a written page: 1, or 0 when they cannot be read. */
static int read_data(struct look *look, uint32_t page, uint32_t offset, uint16_t length)
{
    if (offset + length > geometry_of(look)->page_bytes) {
        return 0;
    }
    return nw_piece_read(&look->tagged, page, offset, length, look->bytes);
}

/* The tag of a page, as nw_tagged_read(); blank where no layer with tags works. */
static int read_tag(struct look *look, uint32_t page)
{
    return look->tagged.req.spare_length != 0 ? nw_tagged_read(&look->tagged, page, 0, NULL)
                                              : (int)NW_TAG_BLANK;
}

/* A void list is in its block's first page: that is what a format left that was cut. */
static int look_for_void(struct look *look)
{
    const struct nw_geometry *geometry = geometry_of(look);

    for (uint32_t block = 0; block < geometry->blocks; block++) {
        look->tagged.req.block = block;
        int result = nw_chip_is_bad(&look->tagged.req);

        if (result == 0) {
            result = read_tag(look, block * geometry->block_pages);
            if (result == NW_TAG_GOOD && look->tagged.tag.word == NW_MARK_VOID &&
                look->tagged.tag.version > look->ended) {
                look->ended = look->tagged.tag.version;
            }
        }
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

/* In look->bytes a root of the tree layer. */
static int tell_root(struct look *look)
{
    const uint8_t *bytes = look->bytes;
    uint64_t version = look->tagged.tag.version;
    int result = look->ended == 0 ? look_for_void(look) : (int)NW_OK;

    if (version > look->ended && nw_get32(bytes) == NW_MARK_TREE) {
        *look->found = (struct nw_identity){
            .kind = NW_KIND_TREE,
            .version = (uint16_t)(bytes[3] - '0'), /* the magic ends with it */
            .sectors = nw_get32(bytes + 4),
            .blocks = nw_get16(bytes + 8),
            .block_pages = nw_get16(bytes + 10),
            .page_bytes = geometry_of(look)->page_bytes}; /* else it would not be whole */
        look->told = 1;
    }
    return result;
}

/* A block that a mount of one of the layers with tags began? Its list stands behind other pages of
 * that mount. */
static int look_for_session(struct look *look, uint32_t page)
{
    uint32_t end = page + geometry_of(look)->block_pages;
    int state = NW_TAG_BAD;

    for (; look->told == 0 && page < end; page++) {
        state = read_tag(look, page);
        if (state < 0 || state == NW_TAG_BLANK) {
            break;
        }
        if (state == NW_TAG_GOOD) {
            uint32_t word = look->tagged.tag.word;

            if ((word & (uint32_t)NW_MARK_SESSION) == 0) {
                break;
            }
            if (word == NW_MARK_LIST && look->tagged.tag.version > look->ended) {
                state = nw_piece_fits(&look->tagged, page, look->bytes);
                state = state > 0 ? tell_root(look) : state;
            }
        }
        if (state < 0) {
            break;
        }
    }
    return state < 0 ? state : NW_OK;
}

/* The geometry, from an anchor of a store that is not sealed; where none is found it is not told.
 * The anchor is named by a block's header, or follows it. */
static int look_for_anchor(struct look *look, uint32_t page, uint32_t anchor)
{
    const struct nw_geometry *geometry = geometry_of(look);
    uint32_t bytes = geometry->page_bytes;
    uint32_t offset = BLOCK_HEADER;
    uint8_t shift = 1;
    int result;

    while ((bytes >>= 1) != 0) {
        shift++;
    }
    if (anchor != STORE_NONE) {
        page = anchor >> shift;
        offset = anchor & (uint32_t)((1UL << shift) - 1U);
    }
    if (page >= geometry->blocks * geometry->block_pages) {
        return NW_OK;
    }
    result = nw_pages_are_blank(look->tagged.req.chip, page, page + 1U);
    if (result != 0) {
        return result < 0 ? result : NW_OK;
    }
    result = read_data(look, page, offset, CHUNK_HEADER + ANCHOR_SHAPE + 6U);
    if (result > 0 && look->bytes[0] == CHUNK_ANCHOR &&
        look->bytes[CHUNK_WHAT] == (nw_crc16(NW_CRC16_START, look->bytes, CHUNK_WHAT) & 0xFFU)) {
        const uint8_t *shape = look->bytes + CHUNK_HEADER + ANCHOR_SHAPE;

        look->found->page_bytes = nw_get16(shape);
        look->found->block_pages = nw_get16(shape + 2);
        look->found->blocks = nw_get16(shape + 4);
    }
    return result < 0 ? result : NW_OK;
}

/* In look->bytes the header of a store's block: 1, 0 when there is none. */
static int read_store_head(struct look *look, uint32_t page)
{
    int result = NW_TAG_GOOD; /* of a layer, which may hold the image of a store */

    if ((geometry_of(look)->flags & NW_CHIP_NO_PAYLOAD) == 0) {
        result = read_tag(look, page);
    }
    if (result == NW_TAG_GOOD) {
        return 0;
    }
    if (result >= 0) {
        result = read_data(look, page, 0, BLOCK_HEADER);
    }
    return result <= 0 ? result
                       : look->bytes[0] == 'N' && nw_crc32(NW_CRC32_START, look->bytes, 20) ==
                                                      nw_get32(look->bytes + 20);
}

/* A block of a store? One that a format began is its only trace of that if it was cut: what is left
 * of an older store, before it or behind it, is none any more. */
static int look_for_store(struct look *look, uint32_t page)
{
    const uint8_t *bytes = look->bytes;
    int result = read_store_head(look, page);

    if (result <= 0) {
        return result;
    }
    if (nw_get32(bytes + 4) >= STORE_VOID) {
        *look->found = (struct nw_identity){.kind = NW_KIND_UNKNOWN};
        look->told = 1;
        return NW_OK;
    }
    if (look->told != 0) {
        return NW_OK;
    }
    look->told = 1;
    *look->found = (struct nw_identity){.kind = NW_KIND_STORE, .version = bytes[1]};
    look->found->sealed = (bytes[2] & BLOCK_SEALED) != 0;
    return look->found->sealed != 0 || bytes[1] != STORE_FORMAT
               ? NW_OK
               : look_for_anchor(look, page, nw_get32(bytes + 8));
}

/* 1: its first page is written. */
static int look_at_block(struct look *look, uint32_t block)
{
    uint32_t page = block * geometry_of(look)->block_pages;
    look->tagged.req.block = block;
    int result = nw_chip_is_bad(&look->tagged.req);

    if (result == 0) {
        result = nw_pages_are_blank(look->tagged.req.chip, page, page + 1U);
    }
    if (result != 0) {
        return result < 0 ? result : 0;
    }
    int is_store = look->told; /* that is all that is left to be asked */
    result = is_store != 0 ? NW_OK : look_for_session(look, page);
    if (result == NW_OK && look->told == is_store) {
        result = look_for_store(look, page);
    }
    return result < 0 ? result : 1;
}

/* What the blocks tell, one after the other, until one tells; of a store all. 1: a first page is
 * written. */
static int look_at_blocks(struct look *look)
{
    int written = 0;

    for (uint32_t block = 0; block < geometry_of(look)->blocks; block++) {
        int result = look_at_block(look, block);

        if (result < 0 || (look->told != 0 && look->found->kind != NW_KIND_STORE)) {
            return result;
        }
        written |= result;
    }
    return written;
}

/* Lavish's mark? */
static int look_for_mark(struct look *look)
{
    struct nw_chip *chip = look->tagged.req.chip;
    int32_t block = nw_mark_block(chip);
    uint32_t pages = chip->geometry.block_pages;
    int result = nw_pages_are_blank(chip, 0, 0); /* may one ask at all? */

    for (uint32_t i = 0; block >= 0 && result >= 0 && i < 2U && i < pages; i++) {
        result = nw_mark_is(chip, (uint32_t)block * pages + i);
        if (result == NW_ERR_ECC) {
            result = 0; /* torn, or another layer's */
        }
        if (result > 0) {
            *look->found = (struct nw_identity){.kind = NW_KIND_LAVISH,
                                                .version = NW_MARK_LAVISH_FORMAT};
            look->told = 1;
        }
    }
    if (block < 0 && block != NW_ERR_FULL) {
        result = (int)block;
    }
    return result < 0 ? result : NW_OK;
}

int nw_identify(struct nw_chip *chip, struct nw_identity *identity)
{
    struct look look = {.found = identity};
    int result = nw_geometry_check(&chip->geometry);

    memset(identity, 0, sizeof *identity);
    if (result < 0) {
        return result;
    }
    nw_tagged_open(&look.tagged, chip, NULL);
    result = look_for_mark(&look);
    if (result == NW_OK && look.told == 0) {
        result = look_at_blocks(&look);
    }
    if (result < 0 || look.told != 0) {
        return result < 0 ? result : NW_OK;
    }
    if (result == 0) {
        result = nw_chip_is_blank(chip);
        if (result < 0) {
            return result;
        }
        result = result == 0;
    }
    identity->kind = result != 0 ? NW_KIND_UNKNOWN : NW_KIND_BLANK;
    return NW_OK;
}

const char *nw_kind_text(int kind)
{
    switch (kind) {
    case NW_KIND_BLANK: return "blank";
    case NW_KIND_TREE: return "tree";
    case NW_KIND_LAVISH: return "lavish";
    case NW_KIND_STORE: return "store";
    default: return "unknown";
    }
}
