/* SPDX-License-Identifier: Apache-2.0 */
/* Tagged pages, and the blocks that are free only after the next program: see hybrid.h. */
#include "hybrid.h"

#include <string.h>

int nw_hybrid_read(struct nw_hybrid *hybrid, uint32_t at, uint16_t length, uint8_t *data,
                   struct nw_tag *tag)
{
    int state = nw_tagged_read(&hybrid->blocks.tagged, at, length, data);

    if (state == NW_TAG_GOOD) {
        *tag = hybrid->blocks.tagged.tag;
    }
    return state;
}

int nw_hybrid_read_tag(struct nw_hybrid *hybrid, uint32_t at, struct nw_tag *tag)
{
    return nw_hybrid_read(hybrid, at, 0, NULL, tag);
}

/* A page on its way: what its tag will say and where its bytes come from. */
struct page_image {
    struct nw_tag tag;
    uint8_t *data;
    uint32_t from; /* NW_NO_PAGE, or copied inside the chip from there */
};

static uint8_t *own_buffer(struct nw_hybrid *hybrid)
{
    return hybrid->payload != 0 ? hybrid->buffer : NULL;
}

/* Reads page `from` to the buffer, what of it can be read: lost content stays marked for ever. */
static int fetch(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put,
                 struct page_image *image)
{
    struct nw_tag tag = {0};
    int state = nw_hybrid_read(hybrid, put->from, hybrid->page_bytes, own_buffer(hybrid), &tag);

    if (state < 0) {
        return state;
    }
    image->data = own_buffer(hybrid);
    image->from = NW_NO_PAGE;
    if (state != NW_TAG_GOOD) {
        image->tag.word |= NW_HYBRID_DAMAGED;
        hybrid->stats->lost++;
    } else {
        image->tag.word |= tag.word & NW_HYBRID_DAMAGED;
        image->tag.crc = tag.crc;
    }
    return NW_OK;
}

static int make_image(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put,
                      struct page_image *image)
{
    image->tag.word = put->sector | put->flags;
    image->tag.crc = 0;
    image->from = NW_NO_PAGE;
    image->data = put->data;
    if (put->from != NW_NO_PAGE) {
        struct nw_tag tag;

        if (hybrid->copy == 0) {
            return fetch(hybrid, put, image);
        }
        int state = nw_hybrid_read_tag(hybrid, put->from, &tag);
        if (state != NW_TAG_GOOD) {
            return state < 0 ? state : fetch(hybrid, put, image);
        }
        image->from = put->from;
        image->tag.word |= tag.word & NW_HYBRID_DAMAGED;
        image->tag.crc = tag.crc;
        return NW_OK;
    }
    if (hybrid->payload != 0 && put->data == NULL) {
        memset(hybrid->buffer, 0, hybrid->page_bytes);
        image->data = hybrid->buffer;
    }
    image->tag.crc = nw_tag_sum(image->data, hybrid->page_bytes); /* records always have data */
    return NW_OK;
}

static int program(struct nw_hybrid *hybrid, uint32_t at, struct page_image *image)
{
    struct nw_tagged *tagged = &hybrid->blocks.tagged;

    image->tag.version = hybrid->version++;
    image->tag.erases = hybrid->blocks.erases[nw_hybrid_block_of(hybrid, at)];
    tagged->tag = image->tag;
    if (image->from != NW_NO_PAGE) {
        nw_tagged_stamp(tagged, 0);
        tagged->req.page = image->from;
        tagged->req.to_page = at;
        return nw_chip_copy(&tagged->req);
    }
    return nw_tagged_program(tagged, at, hybrid->page_bytes, image->data);
}

/* A program has ended: what was given back before it is free now. A block that cannot be marked is
 * not used again in this session, and fails again in the next. */
static int end_limbo(struct nw_hybrid *hybrid)
{
    struct nw_blocks *blocks = &hybrid->blocks;
    uint16_t block;
    int result = NW_OK;

    while ((block = nw_blocks_first(blocks, NW_HYBRID_LIMBO)) != NW_NO_BLOCK) {
        nw_blocks_unlink(blocks, block);
        nw_blocks_give(blocks, block);
        hybrid->limbo--;
    }
    while (result != NW_ERR_POWER &&
           (block = nw_blocks_first(blocks, NW_HYBRID_RETIRE)) != NW_NO_BLOCK) {
        nw_blocks_unlink(blocks, block);
        result = nw_blocks_retire(blocks, block);
    }
    return result == NW_ERR_POWER ? result : (int)NW_OK;
}

/* After a program of the host or a merge: whether its page may hold anything. */
static void note_doubt(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put, int result)
{
    if ((put->sector & NW_HYBRID_SESSION) == 0) {
        if (result < 0) {
            hybrid->doubt = put->sector;
        } else if (hybrid->doubt == put->sector) {
            hybrid->doubt = NW_NO_PAGE;
        }
    }
}

/* 1 if what was fetched is what once was written. */
static int is_sound(const struct nw_hybrid *hybrid, const struct page_image *image)
{
    return image->data == NULL || image->tag.crc == nw_tag_sum(image->data, hybrid->page_bytes);
}

int nw_hybrid_program(struct nw_hybrid *hybrid, uint32_t at, const struct nw_hybrid_put *put)
{
    struct page_image image;
    int result = make_image(hybrid, put, &image);

    if (result < 0) {
        return result;
    }
    result = program(hybrid, at, &image);
    if (result == NW_ERR_ECC && image.from != NW_NO_PAGE) {
        /* By the copy verb, which programmed nothing: keep what can be read. What can be read, and
         * fits its check, is whole. */
        result = fetch(hybrid, put, &image);
        if (result == NW_OK) {
            if ((image.tag.word & NW_HYBRID_DAMAGED) == 0 && !is_sound(hybrid, &image)) {
                image.tag.word |= NW_HYBRID_DAMAGED;
                hybrid->stats->lost++;
            }
            result = program(hybrid, at, &image);
        }
    }
    note_doubt(hybrid, put, result);
    hybrid->failed = (uint16_t)(hybrid->failed + (result == NW_ERR_PROGRAM ? 1U : 0U));
    if (result < 0) {
        return result;
    }
    hybrid->stats->copies += (put->flags & NW_HYBRID_COPY) != 0;
    return end_limbo(hybrid);
}

int nw_hybrid_find(struct nw_hybrid *hybrid, uint32_t sector, uint32_t *at)
{
    if (sector == hybrid->saved) {
        *at = hybrid->saved_at;
        return NW_OK;
    }
    return hybrid->kind->find(hybrid, sector, at);
}

void nw_hybrid_drop(struct nw_hybrid *hybrid, uint16_t block, int failed)
{
    nw_blocks_link(&hybrid->blocks, block, failed ? NW_HYBRID_RETIRE : NW_HYBRID_LIMBO);
    hybrid->limbo = (uint16_t)(hybrid->limbo + (failed ? 0U : 1U));
}

void nw_hybrid_spoil(struct nw_hybrid *hybrid, uint16_t block)
{
    nw_blocks_give(&hybrid->blocks, block);
    hybrid->spoiled = block;
}

void nw_hybrid_doom(struct nw_hybrid *hybrid, uint16_t block)
{
    nw_blocks_link(&hybrid->blocks, block, NW_HYBRID_RETIRE);
    hybrid->doomed++;
    hybrid->owes = 1;
}

/* The doomed blocks are the last of their list: no other block joins it before they are gone. */
static int wipe_doomed(struct nw_hybrid *hybrid)
{
    struct nw_blocks *blocks = &hybrid->blocks;
    int result = NW_OK;

    while (result == NW_OK && hybrid->doomed > 0) {
        uint16_t block = nw_blocks_list(blocks, NW_HYBRID_RETIRE);

        for (uint8_t i = hybrid->doomed; i > 0; i--) {
            block = blocks->prev[block];
        }
        result = nw_blocks_erase(blocks, block);
        if (result == NW_OK) {
            result = nw_blocks_retire(blocks, block);
        }
        if (blocks->state[block] == NW_BLOCK_BAD) {
            nw_blocks_unlink(blocks, block);
            hybrid->doomed--;
            result = result == NW_ERR_POWER ? result : (int)NW_OK;
        }
    }
    return result;
}

int nw_hybrid_wipe_spoiled(struct nw_hybrid *hybrid)
{
    uint16_t block = hybrid->spoiled;
    int result = NW_OK;

    if (block != NW_NO_BLOCK) {
        result = nw_blocks_wipe(&hybrid->blocks, block);
        if (result == NW_OK || hybrid->blocks.state[block] == NW_BLOCK_BAD) {
            hybrid->spoiled = NW_NO_BLOCK;
        }
    }
    return result == NW_OK ? wipe_doomed(hybrid) : result;
}
