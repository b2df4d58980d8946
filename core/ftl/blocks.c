/* SPDX-License-Identifier: Apache-2.0 */
/* Free, ready, used and bad blocks: see blocks.h. */
#include "blocks.h"

#define FREE_LIST 0U
#define READY_LIST 1U
#define OWN_LISTS 2U
#define MOST_PLACES 65530U

static uint16_t list_at(const struct nw_blocks *blocks, uint16_t list)
{
    return (uint16_t)(blocks->count + list);
}

void nw_blocks_unlink(struct nw_blocks *blocks, uint16_t block)
{
    uint16_t before = blocks->prev[block];
    uint16_t after = blocks->next[block];

    blocks->next[before] = after;
    blocks->prev[after] = before;
}

void nw_blocks_link(struct nw_blocks *blocks, uint16_t block, uint16_t list)
{
    uint16_t at = nw_blocks_list(blocks, list);
    uint16_t last = blocks->prev[at];

    blocks->next[block] = at;
    blocks->prev[block] = last;
    blocks->next[last] = block;
    blocks->prev[at] = block;
}

static void append(struct nw_blocks *blocks, uint16_t block, uint16_t list)
{
    /* The two lists here lie just below the owner's first one. */
    nw_blocks_link(blocks, block, (uint16_t)(list - OWN_LISTS));
}

int nw_blocks_place(struct nw_blocks *blocks, struct nw_chip *chip, struct nw_stats *stats,
                    uint16_t lists, struct nw_ram *ram)
{
    uint32_t places = chip->geometry.blocks + OWN_LISTS + lists;

    if (chip->geometry.blocks > MOST_PLACES || places > MOST_PLACES) {
        return NW_ERR_CONFIG;
    }
    blocks->chip = chip;
    blocks->stats = stats;
    blocks->count = (uint16_t)chip->geometry.blocks;
    blocks->lists = (uint16_t)(lists + OWN_LISTS);
    blocks->erases = NW_RAM_TAKE(ram, uint32_t, blocks->count);
    blocks->next = NW_RAM_TAKE(ram, uint16_t, (uint16_t)places);
    blocks->prev = NW_RAM_TAKE(ram, uint16_t, (uint16_t)places);
    blocks->state = NW_RAM_TAKE(ram, uint8_t, blocks->count);
    return NW_OK;
}

int nw_blocks_load(struct nw_blocks *blocks)
{
    struct nw_chip_req req = {.chip = blocks->chip};

    blocks->free = 0;
    blocks->ready = 0;
    blocks->bad = 0;
    for (uint16_t i = 0; i < blocks->lists; i++) {
        blocks->next[list_at(blocks, i)] = list_at(blocks, i);
        blocks->prev[list_at(blocks, i)] = list_at(blocks, i);
    }
    for (uint16_t block = 0; block < blocks->count; block++) {
        req.block = block;
        int bad = nw_chip_is_bad(&req);
        if (bad < 0) {
            return bad;
        }
        blocks->erases[block] = 0;
        if (bad > 0) {
            blocks->state[block] = NW_BLOCK_BAD;
            blocks->bad++;
        } else {
            nw_blocks_give(blocks, block);
        }
    }
    return NW_OK;
}

/* The wear policy's place: which of the blocks in a free list goes next. */
static uint16_t choose(const struct nw_blocks *blocks, uint16_t list)
{
    uint16_t at = blocks->next[list_at(blocks, list)];
    uint16_t best = at;

    for (uint16_t i = 0; i < NW_BLOCKS_LOOK && at < blocks->count; i++) {
        if (blocks->erases[at] < blocks->erases[best]) {
            best = at;
        }
        at = blocks->next[at];
    }
    return best;
}

/* Erase a used block: NW_OK, NW_ERR_ERASE when it is bad now, or the chip's error. */
static int erase(struct nw_blocks *blocks, uint16_t block)
{
    struct nw_chip_req req = {.chip = blocks->chip, .block = block};
    int result = nw_chip_erase(&req);

    blocks->stats->erases++;
    blocks->erases[block]++;
    if (result == NW_ERR_ERASE) {
        int marked = nw_blocks_retire(blocks, block);
        return marked < 0 ? marked : result;
    }
    return result < 0 ? result : NW_OK;
}

/* Take the next block out of the free list and erase it: its number, NW_ERR_FULL, or an error. */
static int32_t erase_one(struct nw_blocks *blocks)
{
    while (blocks->free > blocks->ready) {
        uint16_t block = choose(blocks, FREE_LIST);
        nw_blocks_claim(blocks, block);
        int result = erase(blocks, block);
        if (result == NW_OK) {
            return block;
        }
        if (blocks->state[block] == NW_BLOCK_USED) {
            nw_blocks_give(blocks, block);
        }
        if (result != NW_ERR_ERASE) {
            return result;
        }
    }
    return NW_ERR_FULL;
}

int32_t nw_blocks_take(struct nw_blocks *blocks)
{
    if (blocks->ready > 0) {
        uint16_t block = choose(blocks, READY_LIST);
        nw_blocks_claim(blocks, block);
        return block;
    }
    return erase_one(blocks);
}

int nw_blocks_prepare(struct nw_blocks *blocks)
{
    int32_t block = erase_one(blocks);

    if (block < 0) {
        return block == NW_ERR_FULL ? 0 : (int)block;
    }
    append(blocks, (uint16_t)block, READY_LIST);
    blocks->state[block] = NW_BLOCK_READY;
    blocks->free++;
    blocks->ready++;
    return 1;
}

void nw_blocks_claim(struct nw_blocks *blocks, uint16_t block)
{
    if (blocks->state[block] == NW_BLOCK_READY) {
        blocks->ready--;
    }
    blocks->free--;
    nw_blocks_unlink(blocks, block);
    blocks->state[block] = NW_BLOCK_USED;
}

void nw_blocks_give(struct nw_blocks *blocks, uint16_t block)
{
    append(blocks, block, FREE_LIST);
    blocks->state[block] = NW_BLOCK_FREE;
    blocks->free++;
}

int nw_blocks_retire(struct nw_blocks *blocks, uint16_t block)
{
    struct nw_chip_req req = {.chip = blocks->chip, .block = block};

    blocks->state[block] = NW_BLOCK_BAD;
    blocks->bad++;
    blocks->stats->retired++;
    return nw_chip_mark_bad(&req);
}
