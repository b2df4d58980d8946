/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mount finds: the newest root that counts, and what was written behind it.
 *
 * A ROOT THAT ROTS. A root that mounts and syncs write stands there twice. The one at the head of a
 * session's block does not: when it cannot be read any more, all that it said can be had from the
 * block before, that one's root and every page behind it. Only trims may be missing. So the mount
 * begins its own block with that state at once, and goes on with the pages of the newest block.
 */
#include <string.h>

#include "mark.h"
#include "nandwich/bytes.h"
#include "tree_root.h"

#define CANDIDATES 4U
#define AHEAD 16U
#define FAR 0x100000U
#define GAP 14U /* from a session's block to the one before: 2, and 2 for each root that failed */

struct newest {
    uint64_t version[CANDIDATES];
    uint16_t block[CANDIDATES];
    uint8_t count;
    uint8_t at; /* the one that is looked at */
};

/* Where the pages behind a root are. */
struct stretch {
    uint64_t version;
    uint32_t head; /* of their block */
    uint32_t root;
    uint32_t last; /* that is not blank */
    uint8_t whole; /* another block follows: the last one is whole */
};

/* Tag of a page; blank pages, bad ones and ones that cannot be read are states. */
static int tag_of(struct nw_tree *tree, uint32_t page)
{
    return nw_tagged_read(&tree->tagged, page, 0, NULL);
}

static int is_new(const struct newest *newest, uint64_t version)
{
    return newest->count < CANDIDATES || version > newest->version[CANDIDATES - 1U];
}

/* One more block that begins with a root: the newest few are kept, newest first. */
static void note(struct newest *newest, uint16_t block, uint64_t version)
{
    uint8_t at = newest->count < CANDIDATES ? newest->count : (uint8_t)(CANDIDATES - 1U);

    while (at > 0 && newest->version[at - 1U] < version) {
        newest->version[at] = newest->version[at - 1U];
        newest->block[at] = newest->block[at - 1U];
        at--;
    }
    newest->version[at] = version;
    newest->block[at] = block;
    newest->count = (uint8_t)(newest->count + (newest->count < CANDIDATES ? 1U : 0U));
}

/* What a bad block shows does not count: an older device's root, which no erase takes away any
 * more, or a page whose program failed. Only heads that are new enough are asked. */
static int look_at_heads(struct nw_tree *tree, struct newest *newest)
{
    memset(newest, 0, sizeof *newest);
    for (uint16_t block = 0; block < tree->blocks; block++) {
        int state = tag_of(tree, (uint32_t)block * tree->block_pages);
        int is_root = state != NW_TAG_GOOD || tree->tagged.tag.word == NW_MARK_LIST ||
                      tree->tagged.tag.word == NW_MARK_VOID;

        if (state == NW_TAG_BAD || state == NW_TAG_LOST) { /* all pages have the same version */
            state = tag_of(tree, (uint32_t)block * tree->block_pages + 1U);
        }
        if (state == NW_TAG_GOOD && is_root && is_new(newest, tree->tagged.tag.version)) {
            tree->tagged.req.block = block;
            state = nw_chip_is_bad(&tree->tagged.req);
            if (state == 0) {
                note(newest, block, tree->tagged.tag.version);
            }
        }
        if (state < 0) {
            return state;
        }
    }
    return NW_OK;
}

/* Numbers of blocks that this chip has, and no more than `most`? */
static int are_blocks(const struct nw_tree *tree, const uint8_t *from, uint8_t count, uint8_t most)
{
    uint8_t good = 0;

    while (good < count && good < most && nw_get16(from + 2U * good) < tree->blocks) {
        good++;
    }
    return good == count;
}

/* A root to the buffer: 1, 0 when it is none of this device's, or an error. */
static int load_root(struct nw_tree *tree, uint32_t page)
{
    const uint8_t *from = tree->buffer;
    int result = nw_tree_load(tree, page);

    if (nw_tree_is_lost(result)) {
        return 0;
    }
    if (result < 0) {
        return result;
    }
    if (nw_get32(from + NW_TREE_MAGIC_AT) != NW_MARK_TREE) {
        return NW_ERR_NOT_FOUND;
    }
    if (nw_get32(from + NW_TREE_SECTORS_AT) != tree->sectors ||
        nw_get16(from + NW_TREE_BLOCKS_AT) != tree->blocks ||
        nw_get16(from + NW_TREE_PAGES_AT) != tree->block_pages) {
        return NW_ERR_VERSION;
    }
    return nw_get16(from + NW_TREE_ENTRIES_AT) <= tree->root_room &&
           nw_get32(from + NW_TREE_OWED_AT) / tree->block_pages < tree->blocks &&
           nw_get16(from + NW_TREE_VIRGIN_AT) <= tree->blocks &&
           are_blocks(tree, from + NW_TREE_QUEUE_AT, from[NW_TREE_QUEUED_AT], NW_TREE_QUEUE) &&
           are_blocks(tree, from + NW_TREE_FAILED_AT, from[NW_TREE_FAILED_COUNT_AT],
                      NW_TREE_FAILED);
}

/* Is the root followed as it must be to count? By an END if a mount wrote it, else by any page: 2
 * for one of its own session, 1 for one that cannot be read, so that one page that rots does not
 * take the block with it. 0, or an error. */
static int is_followed(struct nw_tree *tree, uint32_t head, uint64_t version)
{
    int is_mounts = (version & 1U) != 0;
    int found = 0;

    for (uint32_t page = head + 1U; page < head + tree->block_pages && found != 2; page++) {
        int state = tag_of(tree, page);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state < 0 ? state : found;
        }
        if (state == NW_TAG_GOOD && tree->tagged.tag.version == version &&
            (!is_mounts || tree->tagged.tag.word == NW_TREE_END)) {
            found = 2;
        } else if (!is_mounts) {
            found = 1;
        }
    }
    return found;
}

/* Does this block count? 1, 0, or an error. */
static int counts(struct nw_tree *tree, uint32_t head, uint64_t version)
{
    int result = tag_of(tree, head);
    uint32_t word = NW_MARK_VOID;

    if (result == NW_TAG_BAD || result == NW_TAG_LOST) { /* of a void root the erase may be cut */
        result = tag_of(tree, head + 1U);
        word = NW_MARK_BEHIND;
    }
    if (result < 0) {
        return result;
    }
    if (result == NW_TAG_GOOD && tree->tagged.tag.word == word) {
        return NW_ERR_NOT_FOUND;
    }
    result = is_followed(tree, head, version);
    /* Neither root nor page: what a cut erase leaves of a block whose root nothing followed. */
    return result == 1 ? load_root(tree, head) : result;
}

/* The next block that counts. A version far above the next one nobody wrote: a block whose erase
 * failed may show any. NW_ERR_NOT_FOUND: there is none. */
static int next_block(struct nw_tree *tree, struct newest *newest, struct stretch *stretch)
{
    int result = 0;

    while (result == 0 && newest->at < newest->count) {
        uint8_t at = newest->at++;

        stretch->version = newest->version[at];
        stretch->head = (uint32_t)newest->block[at] * tree->block_pages;
        if (at + 1U == newest->count || stretch->version - newest->version[at + 1U] < FAR) {
            result = counts(tree, stretch->head, stretch->version);
        }
    }
    return result > 0 ? (int)NW_OK : result == 0 ? (int)NW_ERR_NOT_FOUND : result;
}

/* The last root in the block that can be read, to the buffer: 1, 0, or an error. One that a cut
 * left whole may be the last page: it says what the pages before it say, and that again is so when
 * another mount finds it torn. */
static int look_inside(struct nw_tree *tree, struct stretch *stretch)
{
    uint32_t end = stretch->head + tree->block_pages;
    uint32_t before = stretch->head;
    int result = NW_OK;

    stretch->root = stretch->head;
    stretch->last = stretch->head;
    for (uint32_t page = stretch->head + 1U; page < end; page++) {
        result = tag_of(tree, page);
        if (result < 0 || result == NW_TAG_BLANK) {
            break;
        }
        stretch->last = page;
        if (result == NW_TAG_GOOD && tree->tagged.tag.word == NW_MARK_LIST) {
            before = stretch->root;
            stretch->root = page;
        }
    }
    result = result < 0 ? result : load_root(tree, stretch->root);
    if (result == 0 && before != stretch->root) {
        stretch->root = before;
        result = load_root(tree, before);
    }
    return result;
}

static int is_inner(uint32_t word)
{
    return (word & ~(NW_TREE_NUMBER | NW_TREE_PUSHED)) == NW_TREE_INNER;
}

/* The root in the buffer is where it begins. */
static void begin_at(struct nw_tree *tree, uint32_t root)
{
    const uint8_t *from = tree->buffer;

    tree->queue.count = from[NW_TREE_QUEUED_AT];
    for (uint8_t i = 0; i < tree->queue.count; i++) {
        tree->queue.block[i] = nw_get16(from + NW_TREE_QUEUE_AT + 2U * i);
    }
    tree->queue.usable = tree->queue.count;
    tree->failed_count = from[NW_TREE_FAILED_COUNT_AT];
    for (uint8_t i = 0; i < tree->failed_count; i++) {
        tree->failed[i] = nw_get16(from + NW_TREE_FAILED_AT + 2U * i);
    }
    tree->sound = from[NW_TREE_SOUND_AT];
    tree->owed = nw_get32(from + NW_TREE_OWED_AT);
    tree->virgin = nw_get16(from + NW_TREE_VIRGIN_AT);
    nw_tree_adopt(tree, root);
}

/* An inner node. The group of the root that it took goes. */
static void replay_inner(struct nw_tree *tree, uint32_t page)
{
    uint32_t number = tree->tagged.tag.word & NW_TREE_NUMBER;

    if (number < tree->children) {
        struct nw_tree_child *child = &tree->child[number];

        child->at = page;
        if ((tree->tagged.tag.word & NW_TREE_PUSHED) != 0 && !child->pushed) {
            tree->live = (uint16_t)(tree->live - (child[1].start - child->start));
            child->pushed = 1;
        }
    }
}

/* The inner nodes among the pages from this one on. */
static int replay_inners(struct nw_tree *tree, const struct stretch *stretch, uint32_t page)
{
    int state = NW_OK;

    for (; state >= 0 && page <= stretch->last; page++) {
        state = tag_of(tree, page);
        if (state == NW_TAG_GOOD && tree->tagged.tag.version == stretch->version &&
            is_inner(tree->tagged.tag.word) && (page < stretch->last || stretch->whole)) {
            replay_inner(tree, page);
        }
    }
    return state < 0 ? state : (int)NW_OK;
}

/* A sector lies in this page. The changes had room for it when it was written. When they have none
 * now, a push cannot be read any more: it is done once more, in the mount's own block. It is to
 * find the nodes as the session left them, and what the session pushed later is not newer. */
static int replay_sector(struct nw_tree *tree, const struct stretch *stretch, uint32_t sector,
                         uint32_t page)
{
    int result = NW_OK;

    if (sector >= tree->sectors) {
        return NW_OK;
    }
    if (tree->live + tree->change_count >= tree->root_room ||
        tree->change_count == tree->changes_room) {
        if (tree->current == NW_TREE_NO_BLOCK) {
            result = replay_inners(tree, stretch, page + 1U);
            result = result == NW_OK ? nw_tree_open(tree) : result;
        }
        if (result == NW_OK) {
            result = nw_tree_reserve(tree);
        }
    }
    if (result == NW_OK) {
        nw_tree_change(tree, sector, page);
    }
    return result;
}

/* What a page behind the root at hand, or the one there was, says. */
static int replay(struct nw_tree *tree, const struct stretch *stretch, uint32_t page, int is_root)
{
    uint32_t word = tree->tagged.tag.word;

    if ((word & NW_TREE_KIND) == 0) {
        return replay_sector(tree, stretch, word & ~(uint32_t)NW_TREE_DAMAGED, page);
    }
    if (is_root && is_inner(word)) {
        replay_inner(tree, page);
    }
    return NW_OK;
}

/* The pages behind the root at hand, up to the last one of the stretch, which may be torn: of that
 * one only what it says of the page before it. */
static int replay_all(struct nw_tree *tree, const struct stretch *stretch, uint32_t first)
{
    uint32_t root = tree->root;
    int knows = tree->tagged.req.spare_length >= NW_TAG_WEAR_BYTES;
    int lost = 0;
    int result = NW_OK;

    for (uint32_t page = first; page <= stretch->last && result == NW_OK; page++) {
        int state = tag_of(tree, page);
        struct nw_tag tag = tree->tagged.tag;

        if (state == NW_TAG_GOOD && tag.version == stretch->version) {
            if (lost && knows) {
                result = replay_sector(tree, stretch, tag.erases, page - 1U);
                tree->tagged.tag = tag;
            }
            if (result == NW_OK && (page < stretch->last || stretch->whole)) {
                result = replay(tree, stretch, page, tree->root == root);
            }
        }
        lost = state != NW_TAG_GOOD;
        tree->tagged.stats->lost += lost && page < stretch->last ? 1U : 0U;
        result = state < 0 ? state : result;
    }
    return result;
}

/* The newest block, in use by now, is not free any more, nor are those before it in the queue. */
static void drop_used(struct nw_tree *tree, uint16_t block)
{
    uint16_t first = NW_TREE_NO_BLOCK;

    while (first != block && tree->queue.count != 0) {
        first = tree->queue.block[0];
        nw_tree_drop_first(&tree->queue);
    }
    if (block >= tree->virgin) {
        tree->virgin = (uint16_t)(block + 1U);
    }
}

/* The newest root is there and cannot be read. NW_ERR_CORRUPT if any of the newest blocks has a
 * root of this layer, else NW_ERR_NOT_FOUND: what cannot be read is somebody else's. */
static int is_tree(struct nw_tree *tree, const struct newest *newest)
{
    int result = NW_ERR_NOT_FOUND;

    for (uint8_t i = 0; i < newest->count && (result == 0 || result == NW_ERR_NOT_FOUND); i++) {
        result = load_root(tree, (uint32_t)newest->block[i] * tree->block_pages);
    }
    return result == 0 || result == NW_ERR_NOT_FOUND ? (int)NW_ERR_NOT_FOUND
           : result > 0                              ? (int)NW_ERR_CORRUPT
                                                     : result;
}

/* The head of the newest block cannot be read: its state by the block before, in a block of the
 * mount's own. Versions tell whether it is the block before, and not one that is older: a session
 * counts by two, or one behind a mount. */
static int step_back(struct nw_tree *tree, struct newest *newest, const struct stretch *newer)
{
    struct stretch older = {.whole = 1};
    int result = next_block(tree, newest, &older);

    if (result == NW_OK && newer->root == newer->head && newer->version - older.version <= GAP) {
        result = look_inside(tree, &older);
    } else if (result == NW_OK || result == NW_ERR_NOT_FOUND) {
        result = 0;
    }
    if (result <= 0) {
        return result < 0 ? result : is_tree(tree, newest);
    }
    begin_at(tree, older.root);
    result = replay_all(tree, &older, older.root + 1U);
    if (result == NW_OK) {
        drop_used(tree, (uint16_t)(newer->head / tree->block_pages));
        result = nw_tree_open(tree);
    }
    return result;
}

int nw_tree_restore(struct nw_tree *tree, uint32_t *last)
{
    struct newest newest;
    struct stretch stretch = {0};
    int result = look_at_heads(tree, &newest);

    if (result == NW_OK) {
        result = next_block(tree, &newest, &stretch);
    }
    if (result == NW_OK) {
        result = look_inside(tree, &stretch);
    }
    if (result < 0) {
        return result;
    }
    *last = stretch.last;
    /* Above all that another mount may have written since; a version far off is no version. */
    tree->version = stretch.version + AHEAD;
    if (newest.version[0] - stretch.version < FAR) {
        tree->version = newest.version[0] + AHEAD;
    }
    if (result > 0) {
        begin_at(tree, stretch.root);
        result = NW_OK;
    } else {
        result = step_back(tree, &newest, &stretch);
    }
    return result == NW_OK ? replay_all(tree, &stretch, stretch.root + 1U) : result;
}
