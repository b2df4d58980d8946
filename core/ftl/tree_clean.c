/* SPDX-License-Identifier: Apache-2.0 */
/* Cleaning: what is valid in the block with the fewest such pages goes to the log. */
#include <string.h>

#include "tree.h"

#define LAST 3U  /* pages of a block without cleaning */
#define LISTED 4U /* pages of a listed block that a write passes */
#define EARLY 8U /* pages without a push; it comes when twice as many changes still have room */

/* The block with the fewest valid pages, at most so many; NW_TREE_NO_BLOCK. */
static uint16_t fewest(const struct nw_tree *tree, uint16_t most)
{
    uint16_t best = NW_TREE_NO_BLOCK;
    uint16_t least = (uint16_t)(most + 1U);

    for (uint16_t block = 0; block < tree->blocks; block++) {
        if (tree->counts[block] < least && tree->counts[block] != NW_TREE_OUT &&
            block != tree->current) {
            least = tree->counts[block];
            best = block;
        }
    }
    return best;
}

/* Chooses a victim. A listed block is emptied first, unless blocks are to be won: in a mount, and
 * when few are free. 1: there is none. */
static int choose(struct nw_tree *tree, uint16_t most)
{
    int first = tree->failed_count != 0 && !tree->mounting &&
                tree->queue.count >= NW_TREE_FLOOR;
    int result = first ? nw_tree_room(tree, 1) : (int)NW_OK;

    tree->victim_at = 1;
    if (result == NW_OK && first && tree->failed[0] != tree->current) {
        tree->victim = tree->failed[0];
        return NW_OK;
    }
    while (result == NW_OK) {
        uint16_t block = fewest(tree, most);

        if (block == NW_TREE_NO_BLOCK) {
            return 1;
        }
        tree->tagged.req.block = block;
        result = tree->counts[block] == 0 ? nw_chip_is_bad(&tree->tagged.req) : (int)NW_OK;
        if (result == NW_OK) {
            tree->victim = block;
            return NW_OK;
        }
        if (result > 0) {
            tree->counts[block] = NW_TREE_OUT;
            result = NW_OK;
        }
    }
    return result;
}

/* The victim is empty: free, or bad. Unless something in it still counts: a page whose tag cannot
 * be read. Its sector is not known, and has to answer an error: the block stays as it is. */
static int finish(struct nw_tree *tree)
{
    uint16_t block = tree->victim;
    uint8_t at = nw_tree_listed(tree, block);

    tree->victim = NW_TREE_NO_BLOCK;
    if (at < tree->failed_count) {
        int sound = tree->sound >> at & 1;
        uint8_t end = (uint8_t)(tree->failed_count - 1U);
        int result = sound ? (int)NW_OK : nw_tree_mark_bad(tree, block);

        if (result < 0 || (sound && tree->queue.count == NW_TREE_QUEUE)) {
            return result;
        }
        tree->failed_count = at;
        if (at < end) {
            nw_tree_list(tree, tree->failed[end], tree->sound >> end & 1);
        }
        tree->failed_count = end;
        if (!sound) {
            return NW_OK;
        }
    }
    if (tree->counts[block] != 0) {
        tree->counts[block] = NW_TREE_OUT;
        return NW_OK;
    }
    nw_tree_enqueue(tree, block);
    return NW_OK;
}

/* A sector's page whose tag was read last, if it is still where the sector lies. */
static int move_sector(struct nw_tree *tree, uint32_t place, int reserved)
{
    uint32_t word = tree->tagged.tag.word;
    uint32_t sector = word & ~(uint32_t)NW_TREE_DAMAGED;
    uint32_t at;

    if (sector >= tree->sectors) {
        return NW_OK;
    }
    int result = nw_tree_find(tree, sector, &at);

    if (result != NW_OK || at != place) {
        return result;
    }
    result = reserved ? (int)NW_OK : nw_tree_reserve(tree);
    if (result == NW_OK) {
        result = nw_tree_room(tree, 1);
    }
    if (result != NW_OK) {
        return result;
    }
    uint8_t *data = tree->payload ? tree->buffer : NULL;
    int state = nw_tagged_read(&tree->tagged, place, tree->page_bytes, data);

    if (state < 0) {
        return state;
    }
    if ((word & NW_TREE_DAMAGED) == 0 &&
        (state != NW_TAG_GOOD ||
         tree->tagged.tag.crc != nw_tag_sum(data, tree->page_bytes))) {
        word |= NW_TREE_DAMAGED;
        tree->tagged.stats->lost++;
    }
    result = nw_tree_append(tree, word, (word & NW_TREE_DAMAGED) == 0 ? data : NULL, &at);
    if (result == NW_OK) {
        nw_tree_change(tree, sector, at);
        nw_tree_lose(tree, place);
        nw_tree_gain(tree, at);
        tree->tagged.stats->copies++;
    }
    return result;
}

int nw_tree_copy(struct nw_tree *tree, uint32_t place, int reserved)
{
    int state = nw_tagged_read(&tree->tagged, place, 0, NULL);

    return state == NW_TAG_GOOD ? move_sector(tree, place, reserved)
           : state < 0          ? state
                                : (int)NW_OK;
}

int nw_tree_ready(struct nw_tree *tree)
{
    int result = tree->owed != 0 ? nw_tree_copy(tree, tree->owed, 0) : (int)NW_OK;

    if (result == NW_OK) {
        tree->owed = 0;
        result = nw_tree_reserve(tree);
    }
    return result == NW_OK ? nw_tree_room(tree, 1) : result;
}

/* A page whose tag was read last, to the log once more if it is in use. */
static int move(struct nw_tree *tree, uint32_t place)
{
    uint32_t word = tree->tagged.tag.word;
    uint32_t number = word & NW_TREE_NUMBER;

    if ((word & NW_TREE_KIND) == 0) {
        return move_sector(tree, place, 0);
    }
    if ((word & ~NW_TREE_NUMBER) == NW_TREE_LEAF) {
        return nw_tree_move_leaf(tree, number, place);
    }
    return (word & ~(NW_TREE_NUMBER | NW_TREE_PUSHED)) == NW_TREE_INNER
               ? nw_tree_move_inner(tree, number, place)
               : (int)NW_OK;
}

/* One page. A node that cannot be read keeps its block from being erased. */
static int step(struct nw_tree *tree, uint16_t most)
{
    if (tree->victim == NW_TREE_NO_BLOCK) {
        int result = choose(tree, most);

        if (result != NW_OK) {
            return result;
        }
    }
    if (tree->victim_at == tree->block_pages ||
        (tree->exact && tree->counts[tree->victim] == 0)) {
        return finish(tree);
    }
    uint32_t place = (uint32_t)tree->victim * tree->block_pages + tree->victim_at;
    int state = nw_tagged_read(&tree->tagged, place, 0, NULL);

    if (state == NW_TAG_BLANK) {
        tree->victim_at = tree->block_pages;
        return NW_OK;
    }
    int result = state < 0 ? state : (int)NW_OK;

    if (state == NW_TAG_GOOD) {
        result = move(tree, place);
    }
    if (nw_tree_is_lost(result)) {
        tree->counts[tree->victim] = NW_TREE_OUT;
        tree->victim = NW_TREE_NO_BLOCK;
        tree->exact = 0;
        return NW_OK;
    }
    if (result == NW_OK) {
        tree->victim_at++;
    }
    return result;
}

uint16_t nw_tree_worth(const struct nw_tree *tree, uint16_t won)
{
    uint32_t room = tree->block_pages - 1U - won; /* a root goes with each block */

    return (uint16_t)(room * 256U / (256U + tree->cost));
}

int nw_tree_clean_step(struct nw_tree *tree, uint16_t most)
{
    int result = NW_ERR_PROGRAM;

    for (uint8_t i = 0; i < NW_TREE_TRIES && result == NW_ERR_PROGRAM; i++) {
        result = step(tree, most);
    }
    return result;
}

/* Pages of the victim that a write passes. It is done by the time its room is needed, an eighth
 * early, by the writes that do not begin a block, erase one or push; one that wins nothing, being
 * listed, in a few writes. One page more for each free block that is short. */
static uint16_t share(const struct nw_tree *tree)
{
    uint16_t pages = tree->block_pages;
    uint16_t valid = tree->victim != NW_TREE_NO_BLOCK ? tree->counts[tree->victim] : (uint16_t)0;
    uint32_t takes = 1U + valid + ((uint32_t)valid * tree->cost + 255U) / 256U;
    uint16_t won = takes < pages ? (uint16_t)(pages - takes) : (uint16_t)1;
    uint16_t busy = (uint16_t)(2U + (uint32_t)pages * tree->cost / 512U);
    uint16_t writes = won > 2U * busy ? (uint16_t)(won - busy) : (uint16_t)((won + 1U) / 2U);

    if (tree->failed_count != 0 && writes < pages / LISTED) {
        writes = (uint16_t)(pages / LISTED);
    }
    uint8_t count = tree->queue.count;
    uint16_t more = count + 1U < NW_TREE_LOW ? (uint16_t)(NW_TREE_LOW - 1U - count) : (uint16_t)0;

    return (uint16_t)((pages + pages / 8U + writes - 1U) / writes + more);
}

/* What the write at hand does beside its program: pages of the victim to pass, or an error. It does
 * one thing of these:
 *   begin a block, when there is no page left
 *   erase the next block, when half of this one is written: if that fails there are pages to clean
 *   push, a little early, and never near the end of a block
 *   pass pages, but not into the block's last ones */
static int pages_to_pass(struct nw_tree *tree)
{
    uint16_t most = tree->left > LAST ? (uint16_t)(tree->left - LAST) : (uint16_t)0;
    uint16_t pages = share(tree);
    int result = NW_OK;

    if (tree->must_open || most == 0) {
        return 0;
    }
    if (tree->left <= tree->block_pages / 2U && !tree->queue.erased && tree->queue.usable > 0) {
        return nw_tree_erase_ahead(tree);
    }
    if (nw_tree_is_full(tree, 2U * EARLY) && tree->left > EARLY) {
        result = nw_tree_push(tree);
        return result == NW_ERR_PROGRAM ? 0 : result; /* a new block, and it is tried again */
    }
    return (int)(pages < most ? pages : most);
}

int nw_tree_wants(const struct nw_tree *tree, uint8_t below)
{
    uint8_t count = tree->queue.count;

    return (tree->virgin == tree->blocks && count < below) ||
           (tree->failed_count != 0 && count < NW_TREE_QUEUE);
}

int nw_tree_pace(struct nw_tree *tree)
{
    uint16_t most = nw_tree_worth(tree, 1);
    int pages = pages_to_pass(tree);
    int result = pages < 0 ? pages : (int)NW_OK;

    while (result == NW_OK && tree->owed == 0 &&
           ((pages != 0 && nw_tree_wants(tree, NW_TREE_LOW)) ||
            (tree->virgin == tree->blocks && tree->queue.count < NW_TREE_FLOOR))) {
        result = nw_tree_clean_step(tree, most);
        pages -= pages != 0;
    }
    return result > 0 ? (int)NW_OK : result;
}
