/* SPDX-License-Identifier: Apache-2.0 */
/* Free, ready, used and bad blocks: see blocks.h. */
#include "blocks.h"

#define FREE_LIST 0U /* numbered as the states are */
#define READY_LIST 1U
#define OWN_LISTS 2U

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

/* A verb of the chip on one block. */
static int ask(struct nw_blocks *blocks, int (*verb)(struct nw_chip_req *), uint16_t block)
{
    blocks->tagged.req.block = block;
    return verb(&blocks->tagged.req);
}

int nw_blocks_place(struct nw_blocks *blocks, const struct nw_geometry *geometry, uint16_t lists,
                    struct nw_ram *ram)
{
    uint32_t places = geometry->blocks + OWN_LISTS + lists;

    if (places > NW_BLOCKS_PLACES) { /* no wrap: blocks * block_pages fits 32 bits */
        return NW_ERR_CONFIG;
    }
    blocks->count = (uint16_t)geometry->blocks;
    blocks->places = (uint16_t)places;
    blocks->erases = NW_RAM_TAKE(ram, uint32_t, blocks->count);
    blocks->next = NW_RAM_TAKE(ram, uint16_t, (uint16_t)places);
    blocks->prev = NW_RAM_TAKE(ram, uint16_t, (uint16_t)places);
    blocks->state = NW_RAM_TAKE(ram, uint8_t, blocks->count);
    return NW_OK;
}

static int start_wear(struct nw_blocks *blocks)
{
    struct nw_wear *wear = blocks->wear;

    wear->view = (struct nw_wear_view){.chip = blocks->tagged.req.chip,
                                       .erases = blocks->erases,
                                       .next = blocks->next,
                                       .state = blocks->state,
                                       .free = &blocks->free,
                                       .blocks = blocks->count};
    return wear->ops->start(wear);
}

int nw_blocks_load(struct nw_blocks *blocks)
{
    blocks->free = 0;
    blocks->ready = 0;
    blocks->bad = 0;
    blocks->idle = 0;
    if (blocks->wear != NULL) {
        int result = start_wear(blocks);
        if (result < 0) {
            return result;
        }
    }
    for (uint16_t place = blocks->count; place < blocks->places; place++) {
        blocks->next[place] = place;
        blocks->prev[place] = place;
    }
    for (unsigned i = 0; i < blocks->count; i++) {
        uint16_t block = (uint16_t)i;
        int bad = ask(blocks, nw_chip_is_bad, block);
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

/* Which of the blocks in a free list goes next; with a wear policy perhaps none. */
static uint16_t choose(const struct nw_blocks *blocks, uint16_t list, uint16_t data)
{
    uint16_t at = blocks->next[list_at(blocks, list)];
    uint16_t best = at;

    if (blocks->wear != NULL) {
        return blocks->wear->ops->choose(blocks->wear, at, data);
    }

    for (uint16_t i = 0; i < NW_BLOCKS_LOOK && at < blocks->count; i++) {
        if (blocks->erases[at] < blocks->erases[best]) {
            best = at;
        }
        at = blocks->next[at];
    }
    return best;
}

int nw_blocks_erase(struct nw_blocks *blocks, uint16_t block)
{
    int result = ask(blocks, nw_chip_erase, block);

    blocks->tagged.stats->erases++;
    blocks->erases[block]++;
    if (blocks->wear != NULL) {
        blocks->wear->ops->erased(blocks->wear, block);
    }
    if (result == NW_ERR_ERASE) {
        int marked = nw_blocks_retire(blocks, block);
        result = marked < 0 ? marked : result;
    }
    return result < 0 ? result : NW_OK;
}

/* Heal one block, when: enum nw_heal_when. 1: one was. Work ahead heals none: that would not fit
 * its budget. */
static int heal(struct nw_blocks *blocks, int when)
{
    if (blocks->wear == NULL || blocks->idle != 0) {
        return 0;
    }
    int32_t block = blocks->wear->ops->heal(blocks->wear, when);

    if (block >= 0 && block < blocks->count) {
        nw_blocks_give(blocks, (uint16_t)block);
        return 1;
    }
    return block < 0 ? (int)block : 0;
}

int nw_blocks_heal(struct nw_blocks *blocks, uint32_t budget_us)
{
    return blocks->wear != NULL && nw_wear_idle_us(blocks->wear) <= budget_us
               ? heal(blocks, NW_HEAL_IDLE)
               : 0;
}

int nw_blocks_heal_now(struct nw_blocks *blocks)
{
    return heal(blocks, NW_HEAL_NOW);
}

/* A free block becomes used; any other stays what it is. */
static void claim(struct nw_blocks *blocks, uint16_t block)
{
    if (blocks->state[block] >= NW_BLOCK_USED) {
        return;
    }
    if (blocks->state[block] == NW_BLOCK_READY) {
        blocks->ready--;
    }
    blocks->free--;
    nw_blocks_unlink(blocks, block);
    blocks->state[block] = NW_BLOCK_USED;
}

/* A used block joins one of the two lists here. */
static void join(struct nw_blocks *blocks, uint16_t block, uint8_t state)
{
    blocks->state[block] = state;
    blocks->free++;
    /* They lie just below the owner's first list. */
    nw_blocks_link(blocks, block, (uint16_t)(state - OWN_LISTS));
}

void nw_blocks_give(struct nw_blocks *blocks, uint16_t block)
{
    if (blocks->wear != NULL && blocks->wear->ops->given(blocks->wear, block) != 0) {
        blocks->state[block] = NW_BLOCK_WORN;
        return;
    }
    join(blocks, block, NW_BLOCK_FREE);
}

int nw_blocks_wipe(struct nw_blocks *blocks, uint16_t block)
{
    claim(blocks, block);
    int result = nw_blocks_erase(blocks, block);

    if (blocks->state[block] == NW_BLOCK_USED) {
        if (result == NW_OK) {
            join(blocks, block, NW_BLOCK_READY);
            blocks->ready++;
        } else {
            nw_blocks_give(blocks, block);
        }
    }
    return result == NW_ERR_ERASE ? (int)NW_OK : result;
}

/* Erase the next block of the free list: its number, also when it is bad now; NW_ERR_FULL, or an
 * error. */
static int32_t erase_one(struct nw_blocks *blocks, uint16_t data)
{
    if (blocks->free == blocks->ready) {
        return NW_ERR_FULL;
    }
    uint16_t block = choose(blocks, FREE_LIST, data);
    int result = nw_blocks_wipe(blocks, block);

    return result < 0 ? result : (int32_t)block;
}

/* A ready block, or blocks->count: the policy would rather have one that is not. */
static uint16_t choose_ready(const struct nw_blocks *blocks, uint16_t data)
{
    uint16_t block = choose(blocks, READY_LIST, data);

    if (block >= blocks->count && blocks->free == blocks->ready) {
        block = blocks->next[list_at(blocks, READY_LIST)];
    }
    return block;
}

int32_t nw_blocks_take_for(struct nw_blocks *blocks, uint16_t data)
{
    int result;

    do {
        result = heal(blocks, NW_HEAL_DUE);
    } while (result > 0);
    if (result < 0) {
        return result;
    }
    int32_t block = blocks->ready > 0 ? choose_ready(blocks, data) : blocks->count;

    if (block >= blocks->count) {
        do { /* every further turn has cost a block its life */
            block = erase_one(blocks, data);
        } while (block >= 0 && blocks->state[block] == NW_BLOCK_BAD);
    }
    if (block >= 0) {
        claim(blocks, (uint16_t)block);
    }
    return block;
}

int nw_blocks_prepare(struct nw_blocks *blocks)
{
    int32_t block = erase_one(blocks, NW_WEAR_HOST);

    if (block >= 0) {
        return 1;
    }
    return block == NW_ERR_FULL ? 0 : (int)block;
}

int nw_blocks_retire(struct nw_blocks *blocks, uint16_t block)
{
    blocks->state[block] = NW_BLOCK_BAD;
    blocks->bad++;
    blocks->tagged.stats->retired++;
    return ask(blocks, nw_chip_mark_bad, block);
}
