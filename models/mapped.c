/* SPDX-License-Identifier: Apache-2.0 */
/* page: any sector in any page. What the host writes fills one open block, what a merge moves
 * another; the closed block with the fewest valid pages is emptied first. */
#include <string.h>

#include "chain.h"

#define NONE NW_NO_BLOCK

void nw_mapped_place(struct nw_chain *chain, struct nw_ram *ram)
{
    chain->mapped.map = NW_RAM_TAKE(ram, uint32_t, chain->sectors);
    chain->mapped.valid = NW_RAM_TAKE(ram, uint16_t, chain->blocks.count);
    chain->next = NW_RAM_TAKE(ram, uint16_t, chain->blocks.count);
    chain->flags = NW_RAM_TAKE(ram, uint8_t, chain->blocks.count);
    chain->bits = NW_RAM_TAKE(ram, uint8_t, (size_t)chain->blocks.count * chain->bit_bytes);
}

void nw_mapped_clear(struct nw_chain *chain)
{
    struct nw_mapped *mapped = &chain->mapped;

    memset(mapped->map, 0xFF, sizeof *mapped->map * chain->sectors);
    memset(mapped->valid, 0, sizeof *mapped->valid * chain->blocks.count);
    memset(chain->bits, 0, (size_t)chain->blocks.count * chain->bit_bytes);
    mapped->open[0] = NONE;
    mapped->open[1] = NONE;
    mapped->lowest = chain->block_pages;
}

static int is_open(const struct nw_mapped *mapped, uint16_t block)
{
    return block == mapped->open[0] || block == mapped->open[1];
}

/* A closed block is in the list of its valid pages. */
static void enlist(struct nw_chain *chain, uint16_t block)
{
    uint16_t valid = chain->mapped.valid[block];

    nw_blocks_link(&chain->blocks, block, valid);
    if (valid < chain->mapped.lowest) {
        chain->mapped.lowest = valid;
    }
}

static void close_block(struct nw_chain *chain, uint8_t stream)
{
    uint16_t block = chain->mapped.open[stream];

    chain->mapped.open[stream] = NONE;
    if (block != NONE) {
        enlist(chain, block);
    }
}

/* Nothing needs this page any more. */
static void outdate(struct nw_chain *chain, uint32_t at)
{
    uint16_t block = (uint16_t)(at / chain->block_pages);
    uint32_t page = at % chain->block_pages;
    int listed = !is_open(&chain->mapped, block);

    if (listed) {
        nw_blocks_unlink(&chain->blocks, block);
    }
    nw_chain_bits(chain, block)[page >> 3] &= (uint8_t)~(1U << (page & 7U));
    chain->mapped.valid[block]--;
    if (listed) {
        enlist(chain, block);
    }
}

/* The newest copy of a sector lies in this page; NW_NO_PAGE: nowhere. */
static void point(struct nw_chain *chain, uint32_t sector, uint32_t at)
{
    uint32_t before = chain->mapped.map[sector];

    chain->mapped.map[sector] = at;
    if (at != NW_NO_PAGE) {
        uint16_t block = (uint16_t)(at / chain->block_pages);
        uint32_t page = at % chain->block_pages;

        nw_chain_bits(chain, block)[page >> 3] |= (uint8_t)(1U << (page & 7U));
        chain->mapped.valid[block]++;
    }
    if (before != NW_NO_PAGE) {
        outdate(chain, before);
    }
}

static void mapped_drop(struct nw_chain *chain, uint32_t sector)
{
    point(chain, sector, NW_NO_PAGE);
}

static int mapped_find(struct nw_chain *chain, uint32_t sector, uint32_t *at)
{
    *at = chain->mapped.map[sector];
    return NW_OK;
}

/* To the next page of the stream's block. The page, NW_NO_PAGE when its program failed and its
 * block is closed, or an error. */
static int append(struct nw_chain *chain, const struct nw_chain_put *put, uint32_t *at)
{
    uint8_t stream = put->from != NW_NO_PAGE;
    uint16_t block = chain->mapped.open[stream];

    if (block == NONE) {
        int32_t taken = nw_chain_take(chain, stream != 0 ? NW_WEAR_MOVED : NW_WEAR_HOST);

        if (taken < 0) {
            return (int)taken;
        }
        block = (uint16_t)taken;
        chain->mapped.open[stream] = block;
    }
    *at = nw_chain_first(chain, block) + chain->next[block];
    int result = nw_chain_program(chain, *at, put);
    if (result == NW_ERR_ECC) { /* of a page to be moved: nothing was programmed */
        return result;
    }
    chain->next[block]++;
    if (result < 0) {
        chain->flags[block] |= result == NW_ERR_PROGRAM ? NW_CHAIN_FAILED : 0U;
        close_block(chain, stream);
        *at = NW_NO_PAGE;
    }
    return result == NW_ERR_PROGRAM ? (int)NW_OK : result;
}

/* 1 if blocks failed on the way, 0, or an error. */
static int put_sector(struct nw_chain *chain, const struct nw_chain_put *put)
{
    int failed = 0;

    for (;;) { /* every further turn has cost a block its life */
        uint32_t at;
        int result = append(chain, put, &at);

        if (result < 0) {
            return result;
        }
        if (at != NW_NO_PAGE) {
            uint16_t block = (uint16_t)(at / chain->block_pages);

            /* what was moved without a name is told by its tag */
            point(chain, chain->blocks.tagged.tag.word & ~(uint32_t)NW_CHAIN_DAMAGED, at);
            if (chain->next[block] == chain->block_pages) {
                close_block(chain, put->from != NW_NO_PAGE);
            }
            return failed;
        }
        failed = 1;
    }
}

/* A page whose tag cannot be read is looked for in the map. */
static int move_page(struct nw_chain *chain, uint32_t from)
{
    struct nw_chain_put put = {.sector = NW_NO_PAGE, .from = from};
    int result = put_sector(chain, &put);

    if (result == NW_ERR_ECC) {
        put.sector = 0;
        while (chain->mapped.map[put.sector] != from) {
            put.sector++;
        }
        result = put_sector(chain, &put);
    }
    chain->stats->copies += result >= 0;
    return result < 0 ? result : (int)NW_OK;
}

/* Moves all that a closed block holds, and gives it back. */
static int empty(struct nw_chain *chain, uint16_t block)
{
    int result = NW_OK;

    for (uint16_t page = 0; result == NW_OK && chain->mapped.valid[block] > 0; page++) {
        if (nw_chain_holds(chain, block, page)) {
            result = move_page(chain, nw_chain_first(chain, block) + page);
        }
    }
    if (result == NW_OK) {
        nw_blocks_unlink(&chain->blocks, block);
        nw_chain_give(chain, block);
    }
    return result;
}

static int mapped_merge(struct nw_chain *chain, int step)
{
    struct nw_mapped *mapped = &chain->mapped;

    (void)step; /* a block is one */
    for (; mapped->lowest < chain->block_pages; mapped->lowest++) {
        uint16_t block = nw_blocks_first(&chain->blocks, mapped->lowest);

        if (block != NONE) {
            chain->stats->merges_full += mapped->lowest != 0;
            chain->stats->merges_switch += mapped->lowest == 0;
            return empty(chain, block);
        }
    }
    return NW_ERR_FULL;
}

static int mapped_evict(struct nw_chain *chain, uint16_t block)
{
    for (uint8_t stream = 0; stream < 2U; stream++) {
        if (chain->mapped.open[stream] == block) {
            close_block(chain, stream);
        }
    }
    return empty(chain, block);
}

/* An error is not told: what was to be written is, and the block waits for the next merge. */
static void mend(struct nw_chain *chain)
{
    for (uint16_t block = 0; block < chain->blocks.count; block++) {
        if (chain->blocks.state[block] == NW_BLOCK_USED &&
            (chain->flags[block] & NW_CHAIN_FAILED) != 0) {
            (void)empty(chain, block);
        }
    }
}

static int mapped_write(struct nw_chain *chain, const struct nw_chain_put *put)
{
    int result = chain->mapped.open[0] == NONE ? nw_chain_make_room(chain) : (int)NW_OK;

    if (result == NW_OK) {
        result = put_sector(chain, put);
    }
    if (result > 0) {
        mend(chain);
    }
    return result < 0 ? result : (int)NW_OK;
}

const struct nw_chain_ops nw_mapped_ops = {.find = mapped_find,
                                           .write = mapped_write,
                                           .merge = mapped_merge,
                                           .evict = mapped_evict,
                                           .drop = mapped_drop};
