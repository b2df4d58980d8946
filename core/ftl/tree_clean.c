/* SPDX-License-Identifier: Apache-2.0 */
/* Cleaning: what is reached in the block with the fewest such pages goes to the log. */
#include <string.h>

#include "tree.h"

#define LAST 3U  /* pages of a block without cleaning */
#define UNNEEDED 4U /* pages that a write passes of a victim that no block depends on */
#define EARLY 8U /* pages without a push; it comes when twice as many changes still have room */

/* Blocks that are free for the session, or will be when the next root counts. */
static unsigned stock(const struct nw_tree *tree)
{
    return (unsigned)tree->floor.free + tree->floor.empty;
}

/* So many are to be won: the list for mounts comes first. */
static unsigned wanted(const struct nw_tree *tree, unsigned below)
{
    unsigned count = stock(tree) + tree->floor.listed;

    return count < NW_FLOOR_LIST + below ? NW_FLOOR_LIST + below - count : 0U;
}

/* Holds a block pages, and does it not stay for the stretch? */
static int may_clean(const struct nw_floor *floor, unsigned block)
{
    return floor->counts[block] < NW_FLOOR_FREE && floor->counts[block] != 0 &&
           !nw_floor_is_begun(floor, block);
}

/* A block in which a program failed and that is not empty yet; NW_FLOOR_NO_BLOCK. */
static uint16_t failed(const struct nw_tree *tree)
{
    const struct nw_floor *floor = &tree->floor;

    for (unsigned i = 0; i < floor->failed_count; i++) {
        if (may_clean(floor, floor->failed[i])) {
            return floor->failed[i];
        }
    }
    return NW_FLOOR_NO_BLOCK;
}

/* The block with the fewest pages that are reached, at most so many; but for empty ones, and those
 * of the stretch, which stay. Of equal ones the next behind the hand, or some would wear most. */
static uint16_t fewest(const struct nw_tree *tree, unsigned most)
{
    const struct nw_floor *floor = &tree->floor;
    uint16_t best = NW_FLOOR_NO_BLOCK;
    unsigned block = floor->hand;
    unsigned least = most + 1U;

    for (unsigned i = 0; i < floor->blocks; i++) {
        block = block + 1U < floor->blocks ? block + 1U : 0U;
        if (floor->counts[block] < least && may_clean(floor, block)) {
            least = floor->counts[block];
            best = (uint16_t)block;
        }
    }
    return best;
}

/* Is there a block to be scrubbed, and may it be by now? */
static int has_scrub(const struct nw_tree *tree)
{
    return tree->floor.scrub != NW_FLOOR_NO_BLOCK && tree->rest == 0;
}

/* A victim that is not needed to win a block; NW_FLOOR_NO_BLOCK. */
static uint16_t other(struct nw_tree *tree)
{
    struct nw_floor *floor = &tree->floor;
    uint16_t block = failed(tree);

    if (block == NW_FLOOR_NO_BLOCK && has_scrub(tree)) {
        block = may_clean(floor, floor->scrub) ? floor->scrub : (uint16_t)NW_FLOOR_NO_BLOCK;
        floor->scrub = NW_FLOOR_NO_BLOCK;
        tree->rest = NW_TREE_SCRUB;
        floor->tagged.stats->scrubbed += block != NW_FLOOR_NO_BLOCK;
    }
    return block;
}

/* Chooses a victim: what failed or rots comes first, unless blocks are to be won. 1: there is
 * none. */
static int choose(struct nw_tree *tree, unsigned most)
{
    tree->victim_at = 0;
    tree->victim = stock(tree) >= NW_TREE_FLOOR ? other(tree) : (uint16_t)NW_FLOOR_NO_BLOCK;
    tree->unneeded = tree->victim != NW_FLOOR_NO_BLOCK;
    if (!tree->unneeded) {
        tree->victim = fewest(tree, most);
    }
    return tree->victim == NW_FLOOR_NO_BLOCK;
}

/* The victim is empty. Unless something in it is still reached: a page whose tag cannot be read.
 * Its sector is not known, and has to answer an error: the block stays as it is. */
static void finish(struct nw_tree *tree)
{
    uint8_t *count = &tree->floor.counts[tree->victim];

    tree->victim = NW_FLOOR_NO_BLOCK;
    if (*count != 0) {
        *count = NW_FLOOR_OUT;
    }
}

/* Room for a page in the log, then the victim's page to the buffer: enum nw_tag_state,
 * NW_FLOOR_WHOLE, or an error. */
static int lift(struct nw_tree *tree, uint32_t place)
{
    struct nw_floor *floor = &tree->floor;
    int result = nw_tree_reserve(tree, 1);

    return result == NW_OK ? nw_floor_read(floor, place, floor->payload ? floor->buffer : NULL)
                           : result;
}

/* A sector's page that was lifted, to the log once more. */
static int drop(struct nw_tree *tree, uint32_t place, uint32_t word, int state)
{
    struct nw_floor *floor = &tree->floor;

    if ((word & NW_FLOOR_DAMAGED) == 0 && state != NW_FLOOR_WHOLE) {
        word |= NW_FLOOR_DAMAGED;
        floor->tagged.stats->lost++;
    }
    int result = nw_floor_append(floor, word, floor->buffer);

    if (result == NW_OK) {
        nw_tree_settle(tree, word & ~(uint32_t)NW_FLOOR_DAMAGED, place, floor->next - 1U);
        floor->tagged.stats->copies++;
    }
    return result;
}

/* A page of the victim to the log once more, if it is in use. With a bit for it that is known, and
 * the page is read but once. */
static int move(struct nw_tree *tree, uint32_t place)
{
    struct nw_floor *floor = &tree->floor;
    int is_live = floor->live != NULL;
    int state = is_live ? lift(tree, place) : nw_floor_tag(floor, place);
    uint32_t word = floor->tagged.tag.word;
    uint32_t sector = word & ~(uint32_t)NW_FLOOR_DAMAGED;
    uint32_t at;

    if (state < NW_TAG_GOOD || (word & NW_FLOOR_OWN) != 0) {
        return state < 0 ? state : (int)NW_OK;
    }
    if ((word & NW_FLOOR_TWICE) != 0) {
        place -= (word & NW_FLOOR_SECOND) != 0; /* should the first copy rot */
        return nw_tree_move(tree, word, place);
    }
    if (sector >= tree->sectors) {
        return NW_OK;
    }
    if (!is_live) {
        state = nw_tree_find(tree, sector, &at);
        if (state < 0 || at != place) {
            return state;
        }
        state = lift(tree, place);
    }
    return state < 0 ? state : drop(tree, place, word, state);
}

int nw_tree_clean_step(struct nw_tree *tree, unsigned most)
{
    struct nw_floor *floor = &tree->floor;

    if (tree->victim != NW_FLOOR_NO_BLOCK && floor->counts[tree->victim] >= NW_FLOOR_FREE) {
        tree->victim = NW_FLOOR_NO_BLOCK; /* a root says so that does not count yet */
    }
    if (tree->victim == NW_FLOOR_NO_BLOCK && choose(tree, most)) {
        return 1;
    }
    if (tree->victim_at == floor->used_pages || floor->counts[tree->victim] == 0) {
        finish(tree);
        return NW_OK;
    }
    NW_INVARIANT(tree->victim != floor->current && floor->counts[tree->victim] < NW_FLOOR_FREE);
    uint32_t place = (uint32_t)tree->victim * floor->block_pages +
                     (tree->victim_at + NW_FLOOR_ROOTS) % floor->used_pages;
    int result = nw_floor_is_live(floor, place) ? move(tree, place) : (int)NW_OK;

    if (result == NW_ERR_ECC || result == NW_ERR_CORRUPT) { /* a node that cannot be read */
        finish(tree);
        return NW_OK;
    }
    if (result == NW_OK) {
        tree->victim_at++;
    }
    return result;
}

unsigned nw_tree_worth(const struct nw_tree *tree, unsigned won)
{
    uint32_t room = tree->floor.used_pages - NW_FLOOR_ROOTS - won;

    return (unsigned)(room * 256U / (256U + tree->cost));
}

/* Pages of the victim that a write passes. It is done by the time its room is needed, an eighth
 * early, by the writes that do not begin a block, erase one or push; one that wins nothing in a few
 * writes. One page more for each free block that is short. */
static unsigned share(const struct nw_tree *tree)
{
    unsigned pages = tree->floor.used_pages;
    unsigned valid = tree->victim != NW_FLOOR_NO_BLOCK ? tree->floor.counts[tree->victim]
                                                       : 0U;
    uint32_t takes = NW_FLOOR_ROOTS + valid + ((uint32_t)valid * tree->cost + 255U) / 256U;
    unsigned won = takes < pages ? (unsigned)(pages - takes) : 1U;
    unsigned busy = (unsigned)(2U + (uint32_t)pages * tree->cost / 512U);
    unsigned writes = won > 2U * busy ? won - busy : (won + 1U) / 2U;
    unsigned more = wanted(tree, tree->low - 1U);

    if (writes < pages / UNNEEDED && tree->unneeded) {
        writes = pages / UNNEEDED;
    }
    return (pages + pages / 8U + writes - 1U) / writes + more;
}

/* What the write at hand does beside its program: pages of the victim to pass, or an error. It does
 * one thing of these:
 *   begin a block, when there is no page left
 *   erase the next block, when half of this one is written: if that fails there are pages to clean
 *   push, a little early, and never near the end of a block
 *   pass pages, but not into the block's last ones */
static int pages_to_pass(struct nw_tree *tree)
{
    struct nw_floor *floor = &tree->floor;
    unsigned most = floor->left > LAST ? floor->left - LAST : 0U;
    unsigned pages = share(tree);

    if (most == 0) {
        return 0;
    }
    if (floor->left <= floor->block_pages / 2U && nw_floor_may_erase(floor)) {
        return nw_floor_erase_ahead(floor);
    }
    if (nw_tree_is_full(tree, 2U * EARLY) && floor->left > EARLY) {
        return nw_tree_push(tree);
    }
    return (int)(pages < most ? pages : most);
}

int nw_tree_wants(const struct nw_tree *tree, unsigned below)
{
    return wanted(tree, below) != 0 || failed(tree) != NW_FLOOR_NO_BLOCK || has_scrub(tree);
}

/* No more than a share of a victim is passed in one write, whatever is short. */
int nw_tree_pace(struct nw_tree *tree)
{
    tree->rest = (uint8_t)(tree->rest - (tree->rest != 0));
    unsigned most = nw_tree_worth(tree, 1);
    unsigned limit = tree->floor.used_pages / NW_TREE_SHARE;
    int pages = pages_to_pass(tree);
    int result = pages < 0 ? pages : (int)NW_OK;

    for (; result == NW_OK && limit != 0 &&
           ((pages != 0 && nw_tree_wants(tree, tree->low)) || wanted(tree, NW_TREE_FLOOR) != 0);
         limit--) {
        result = nw_tree_clean_step(tree, most);
        pages -= pages != 0;
    }
    return result > 0 ? (int)NW_OK : result;
}

/* No more than two victims, and two roots that tell of what they won. */
int nw_tree_restock(struct nw_tree *tree)
{
    struct nw_floor *floor = &tree->floor;
    unsigned most = nw_tree_worth(tree, 1);
    int result = NW_OK;

    for (unsigned i = 2U * floor->used_pages;
         i != 0 && result == NW_OK && wanted(tree, NW_TREE_FLOOR) != 0; i--) {
        result = nw_tree_clean_step(tree, most);
    }
    for (unsigned i = 0; i < 2U && result >= 0 && floor->current != NW_FLOOR_NO_BLOCK &&
                        floor->listed < NW_FLOOR_LIST && stock(tree) > 2U;
         i++) {
        result = nw_floor_save(floor);
    }
    return result < 0 ? result : (int)NW_OK;
}
