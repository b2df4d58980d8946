/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount: the newest root that counts, what was written behind it, and a block of the mount's own.
 *
 * The page written last may have been cut. It may show now and be gone at the next power-up. So the
 * mount does not build on it: the root of its own block knows of all before it, and the block's
 * second page is a copy of it, if it was whole. Only with an END does the block count: a mount that
 * was cut before leaves nothing, and the next one begins with the same block before, and writes to
 * the same free block. When the mount has ended nothing in the block before is looked at again, so
 * whatever else a torn page in it will show does not matter.
 */
#include <string.h>

#include "mark.h"
#include "nandwich/bytes.h"
#include "tree_root.h"

#define CANDIDATES 4U
#define AHEAD 16U
#define FAR 0x100000U
#define MARGIN 9U /* pages of a mount's block for nodes, a root and its ends */

struct newest {
    uint64_t version[CANDIDATES];
    uint16_t block[CANDIDATES];
    uint8_t count;
};

struct mount {
    struct newest newest;
    uint64_t version;  /* of the block that counts */
    uint32_t first;    /* its page behind the root that counts */
    uint32_t last;     /* its last page that is not blank */
};

/* Tag of a page; blank pages, bad ones and ones that cannot be read are states. */
static int tag_of(struct nw_tree *tree, uint32_t page)
{
    return nw_tagged_read(&tree->tagged, page, 0, NULL);
}

/* One more block that begins with a root: the newest few are kept, newest first. */
static void note(struct newest *newest, uint16_t block, uint64_t version)
{
    uint8_t at = newest->count;

    while (at > 0 && newest->version[at - 1U] < version) {
        at--;
    }
    if (at == CANDIDATES) {
        return;
    }
    if (newest->count < CANDIDATES) {
        newest->count++;
    }
    for (uint8_t i = (uint8_t)(newest->count - 1U); i > at; i--) {
        newest->version[i] = newest->version[i - 1U];
        newest->block[i] = newest->block[i - 1U];
    }
    newest->version[at] = version;
    newest->block[at] = block;
}

/* What a bad block shows does not count: an older device's root, which no erase takes away any
 * more, or a page whose program failed. */
static int look_at_heads(struct nw_tree *tree, struct newest *newest)
{
    memset(newest, 0, sizeof *newest);
    for (uint16_t block = 0; block < tree->blocks; block++) {
        int state = tag_of(tree, (uint32_t)block * tree->block_pages);
        uint32_t word = tree->tagged.tag.word;

        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_GOOD && (word == NW_MARK_LIST || word == NW_MARK_VOID)) {
            tree->tagged.req.block = block;
            state = nw_chip_is_bad(&tree->tagged.req);
            if (state < 0) {
                return state;
            }
            if (state == 0) {
                note(newest, block, tree->tagged.tag.version);
            }
        }
    }
    return NW_OK;
}

/* A root to the buffer: 1, 0 when it is none of this device's, or an error. */
static int load_root(struct nw_tree *tree, uint32_t page)
{
    const uint8_t *from = tree->buffer;
    int result = nw_tree_load(tree, page);

    if (result == NW_ERR_CORRUPT || result == NW_ERR_ECC) {
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
    return 1;
}

/* Is the root followed as it must be to count? By any page of its session, by an END if a mount
 * wrote it: so one page that rots does not take the block with it. 1, 0, or an error. */
static int is_followed(struct nw_tree *tree, uint32_t head, uint64_t version)
{
    int found = 0;

    for (uint32_t page = head + 1U; page < head + tree->block_pages && found == 0; page++) {
        int state = tag_of(tree, page);

        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_BLANK) {
            break;
        }
        found = state == NW_TAG_GOOD && tree->tagged.tag.version == version &&
                ((version & 1U) == 0 || tree->tagged.tag.word == NW_TREE_END);
    }
    return found;
}

/* Does this block count? 1, 0, or an error. */
static int counts(struct nw_tree *tree, const struct mount *mount, uint8_t candidate)
{
    uint32_t page = (uint32_t)mount->newest.block[candidate] * tree->block_pages;
    uint64_t version = mount->newest.version[candidate];
    int result = tag_of(tree, page);

    if (result < 0) {
        return result;
    }
    if (result == NW_TAG_GOOD && tree->tagged.tag.word == NW_MARK_VOID) {
        return NW_ERR_NOT_FOUND;
    }
    result = is_followed(tree, page, version);
    if (result > 0) {
        result = load_root(tree, page);
        result = result == 0 ? (int)NW_ERR_CORRUPT : result; /* it was whole once */
    }
    return result;
}

/* The last page written in the block, and the last root that another page follows. */
static int look_inside(struct nw_tree *tree, struct mount *mount, uint32_t head)
{
    uint32_t seen = head; /* the last root, followed or not */

    mount->first = head + 1U;
    mount->last = head;
    for (uint32_t page = head + 1U; page < head + tree->block_pages; page++) {
        int state = tag_of(tree, page);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state < 0 ? state : (int)NW_OK;
        }
        mount->first = seen + 1U;
        mount->last = page;
        if (state == NW_TAG_GOOD && tree->tagged.tag.word == NW_MARK_LIST) {
            seen = page;
        }
    }
    return NW_OK;
}

/* What the root in the buffer says of free and failed blocks. */
static void take_over(struct nw_tree *tree)
{
    const uint8_t *from = tree->buffer;

    tree->queue.count = 0;
    for (uint8_t i = 0; i < from[NW_TREE_QUEUED_AT] && i < NW_TREE_QUEUE; i++) {
        tree->queue.block[i] = nw_get16(from + NW_TREE_QUEUE_AT + 2U * i);
        tree->queue.count++;
    }
    tree->queue.usable = tree->queue.count;
    tree->failed_count = from[NW_TREE_FAILED_COUNT_AT];
    for (uint8_t i = 0; i < tree->failed_count; i++) {
        tree->failed[i] = nw_get16(from + NW_TREE_FAILED_AT + 2U * i);
    }
    tree->virgin = nw_get16(from + NW_TREE_VIRGIN_AT);
}

/* What a page behind the root says. */
static void replay(struct nw_tree *tree, uint32_t page)
{
    uint32_t word = tree->tagged.tag.word;
    uint32_t number = word & NW_TREE_NUMBER;

    if ((word & NW_TREE_KIND) == 0) {
        if ((word & ~(uint32_t)NW_TREE_DAMAGED) < tree->sectors) {
            nw_tree_change(tree, word & ~(uint32_t)NW_TREE_DAMAGED, page);
        }
    } else if ((word & ~(NW_TREE_NUMBER | NW_TREE_PUSHED)) == NW_TREE_INNER &&
               number < tree->children) {
        struct nw_tree_child *child = &tree->child[number];

        if ((word & NW_TREE_PUSHED) != 0 && !child->pushed) {
            tree->live = (uint16_t)(tree->live - (child[1].start - child->start));
            child->pushed = 1;
        }
        child->at = page;
    }
}

static int replay_all(struct nw_tree *tree, const struct mount *mount)
{
    for (uint32_t page = mount->first; page < mount->last; page++) {
        int state = tag_of(tree, page);
        int result = state < 0 ? state : (int)NW_OK;

        if (state == NW_TAG_GOOD && tree->tagged.tag.version == mount->version) {
            replay(tree, page);
        } else if (state == NW_TAG_LOST || state == NW_TAG_BAD) {
            tree->tagged.stats->lost++;
        }
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

/* What RAM must know of the inner nodes. */
static int look_at_inner(struct nw_tree *tree)
{
    int result = NW_OK;

    for (uint16_t i = 0; i < tree->children && result == NW_OK; i++) {
        struct nw_tree_child *child = &tree->child[i];

        if (child->at != 0) {
            result = nw_tree_load(tree, child->at);
            child->lost = result == NW_ERR_ECC || result == NW_ERR_CORRUPT;
        }
        if (child->at != 0 && result == NW_OK) {
            nw_tree_learn(tree, i, child->at);
        }
        result = child->lost ? (int)NW_OK : result;
    }
    return result;
}

/* The newest block that counts: its root adopted, what follows it replayed. NW_ERR_NOT_FOUND. */
static int find(struct nw_tree *tree, struct mount *mount)
{
    int result = look_at_heads(tree, &mount->newest);
    uint8_t i = 0;

    if (result < 0) {
        return result;
    }
    for (result = 0; i < mount->newest.count && result == 0; i++) {
        result = counts(tree, mount, i);
    }
    if (result <= 0) {
        return result < 0 ? result : (int)NW_ERR_NOT_FOUND;
    }
    uint32_t head = (uint32_t)mount->newest.block[i - 1U] * tree->block_pages;

    mount->version = mount->newest.version[i - 1U];
    result = look_inside(tree, mount, head);
    if (result == NW_OK) {
        result = load_root(tree, mount->first - 1U);
    }
    if (result <= 0) {
        return result < 0 ? result : (int)NW_ERR_CORRUPT;
    }
    take_over(tree);
    nw_tree_adopt(tree, mount->first - 1U);
    result = replay_all(tree, mount);
    if (result == NW_OK) {
        result = look_at_inner(tree);
    }
    /* Above all that another mount may have written since; a version far off is no version. */
    tree->version = mount->version + AHEAD;
    if (mount->newest.version[0] - mount->version < FAR) {
        tree->version = mount->newest.version[0] + AHEAD;
    }
    return result;
}

/* Entries of a node on flash, from *at on, that belong to the leaf in the buffer. */
static int pour(struct nw_tree *tree, uint32_t page, uint32_t offset, uint16_t count,
                uint16_t *at, uint32_t first)
{
    uint8_t piece[NW_TREE_PIECE];
    uint16_t bytes = nw_tree_entry_bytes(tree);
    uint16_t most = (uint16_t)(sizeof piece / bytes);
    int result = NW_OK;

    while (*at < count && result == NW_OK) {
        uint16_t now = (uint16_t)(count - *at < most ? count - *at : most);

        result = nw_tree_read(tree, page, offset + (uint32_t)*at * bytes,
                              (uint16_t)(now * bytes), piece);
        for (uint16_t i = 0; i < now && result == NW_OK; i++) {
            uint32_t index = nw_tree_get(tree, piece + (size_t)i * bytes) - first;

            if (index >= tree->leaf_places) {
                return NW_OK;
            }
            nw_tree_put(tree, tree->buffer + index * tree->width,
                        nw_tree_get(tree, piece + (size_t)i * bytes + tree->width));
            (*at)++;
        }
    }
    return result;
}

/* A leaf with all that waits above it, to the buffer. */
static int assemble(struct nw_tree *tree, const struct nw_tree_child *child, uint32_t leaf,
                    uint16_t at[2])
{
    uint32_t first = leaf * tree->leaf_places;
    uint32_t place = nw_tree_leaf_place(tree, leaf);
    int result = child->lost ? (int)NW_ERR_ECC : (int)NW_OK;

    memset(tree->buffer, 0, tree->page_bytes);
    if (result == NW_OK && place != 0) {
        nw_tree_gain(tree, place);
        result = nw_tree_load(tree, place);
    }
    if (result == NW_OK) {
        result = pour(tree, child->at, nw_tree_inner_entries_at(tree), child->entries, &at[0],
                      first);
    }
    return result;
}

/* The valid pages below a child of the root. */
static int count_child(struct nw_tree *tree, uint16_t number)
{
    const struct nw_tree_child *child = &tree->child[number];
    uint16_t at[2] = {0, child->start};
    uint16_t change = nw_tree_lower(tree, tree->changes, tree->change_count,
                                    number * tree->span);
    int result = NW_OK;

    nw_tree_gain(tree, child->at);
    for (uint32_t leaf = (uint32_t)number * tree->leaves;
         leaf < (number + 1UL) * tree->leaves && result == NW_OK; leaf++) {
        uint32_t first = leaf * tree->leaf_places;

        memset(tree->buffer, 0, tree->page_bytes);
        if (child->at != 0) {
            result = assemble(tree, child, leaf, at);
        }
        if (result == NW_OK && !child->pushed) {
            result = pour(tree, tree->root, nw_tree_root_entries_at(tree), child[1].start, &at[1],
                          first);
        }
        for (; change < tree->change_count; change++) {
            const uint8_t *entry = tree->changes + (size_t)change * nw_tree_entry_bytes(tree);
            uint32_t index = nw_tree_get(tree, entry) - first;

            if (index >= tree->leaf_places) {
                break;
            }
            nw_tree_put(tree, tree->buffer + index * tree->width,
                        nw_tree_get(tree, entry + tree->width));
        }
        for (uint16_t i = 0; i < tree->leaf_places && result == NW_OK; i++) {
            nw_tree_gain(tree, nw_tree_get(tree, tree->buffer + (size_t)i * tree->width));
        }
    }
    return result;
}

/* Counts the valid pages of all blocks. What cannot be read may hold more than is counted. */
static int count_all(struct nw_tree *tree)
{
    tree->exact = tree->block_pages < NW_TREE_OUT;
    for (uint32_t block = 0; block < tree->blocks; block++) {
        tree->counts[block] = block < tree->virgin ? 0 : (uint8_t)NW_TREE_OUT;
    }
    for (uint16_t i = 0; i < tree->children; i++) {
        int result = count_child(tree, i);

        if (result == NW_ERR_ECC || result == NW_ERR_CORRUPT) {
            tree->exact = 0;
        } else if (result < 0) {
            return result;
        }
    }
    for (uint8_t i = 0; i < tree->queue.count; i++) {
        tree->counts[tree->queue.block[i]] = NW_TREE_OUT;
    }
    return NW_OK;
}

static int is_failed(const struct nw_tree *tree, uint16_t block)
{
    for (uint8_t i = 0; i < tree->failed_count; i++) {
        if (tree->failed[i] == block) {
            return 1;
        }
    }
    return 0;
}

/* Blocks that hold nothing, whether the page written last counts or not. */
static int gather(struct nw_tree *tree, uint32_t newest)
{
    for (uint16_t block = 0; tree->exact && block < tree->blocks; block++) {
        if (tree->queue.count == NW_TREE_QUEUE) {
            break;
        }
        if (tree->counts[block] != 0 || block == newest || is_failed(tree, block)) {
            continue;
        }
        tree->tagged.req.block = block;
        int bad = nw_chip_is_bad(&tree->tagged.req);

        if (bad < 0) {
            return bad;
        }
        if (bad == 0) {
            nw_tree_enqueue(tree, block);
            tree->queue.usable = tree->queue.count;
        } else {
            tree->counts[block] = NW_TREE_OUT;
        }
    }
    return NW_OK;
}

/* A page whose tag was read last, and is a sector's, to the log once more if it is whole. */
static int copy(struct nw_tree *tree, uint32_t page)
{
    uint32_t word = tree->tagged.tag.word;
    uint32_t sector = word & ~(uint32_t)NW_TREE_DAMAGED;
    uint8_t *data = tree->payload && sector == word ? tree->buffer : NULL;
    uint32_t old;
    uint32_t place;
    int result = nw_tree_find(tree, sector, &old);

    if (result == NW_ERR_ECC || result == NW_ERR_CORRUPT) {
        old = 0; /* a node is lost */
    } else if (result != NW_OK) {
        return result;
    }
    if (data != NULL) {
        result = nw_tagged_read(&tree->tagged, page, tree->page_bytes, data);
        if (result != NW_TAG_GOOD ||
            tree->tagged.tag.crc != nw_tag_sum(data, tree->page_bytes)) {
            return result < 0 ? result : (int)NW_OK;
        }
    }
    result = nw_tree_append(tree, word, data, &place);
    if (result == NW_OK) {
        nw_tree_change(tree, sector, place);
        nw_tree_lose(tree, old);
        nw_tree_gain(tree, place);
    }
    return result;
}

/* The mount's block: a root, and a copy of the page written last, if that was whole. */
static int begin(struct nw_tree *tree, uint32_t last)
{
    int result = nw_tree_open(tree, 1);

    if (result != NW_OK) {
        return result;
    }
    result = tag_of(tree, last);
    if (result == NW_TAG_GOOD && (tree->tagged.tag.word & NW_TREE_KIND) == 0 &&
        (tree->tagged.tag.word & ~(uint32_t)NW_TREE_DAMAGED) < tree->sectors) {
        return copy(tree, last);
    }
    return result < 0 ? result : (int)NW_OK;
}

/* A few free blocks for the mounts to come, as far as the mount's block has room. */
static int restock(struct nw_tree *tree)
{
    uint8_t before = tree->queue.count;
    int result = NW_OK;

    while (result == NW_OK && tree->queue.count < NW_TREE_FLOOR && tree->virgin == tree->blocks &&
           tree->left > MARGIN) {
        uint16_t most = (uint16_t)(tree->left - MARGIN);
        uint16_t worth = nw_tree_worth(tree, 1);

        result = nw_tree_clean_step(tree, most < worth ? most : worth);
    }
    return result >= 0 && tree->queue.count > before ? nw_tree_save(tree) : result;
}

/* The mount's block, from its root to its end. */
static int write_block(struct nw_tree *tree, uint32_t last)
{
    uint32_t place;
    int result = begin(tree, last);

    tree->victim = NW_TREE_NO_BLOCK;
    if (result == NW_OK) {
        result = restock(tree);
    }
    for (uint8_t i = 0; i < 2U && result >= 0; i++) { /* one may rot */
        result = nw_tree_append(tree, NW_TREE_END, NULL, &place);
    }
    return result;
}

/* No free block: the device can be read. The page written last counts where it is. */
static int stay(struct nw_tree *tree, uint32_t last)
{
    int result = tag_of(tree, last);
    uint32_t word = tree->tagged.tag.word;

    tree->must_open = 1;
    if (tree->current == NW_TREE_NO_BLOCK && result == NW_TAG_GOOD && (word & NW_TREE_KIND) == 0 &&
        (word & ~(uint32_t)NW_TREE_DAMAGED) < tree->sectors) {
        nw_tree_change(tree, word & ~(uint32_t)NW_TREE_DAMAGED, last);
    }
    return result < 0 ? result : (int)NW_OK;
}

int nw_tree_mount(struct nw_tree *tree)
{
    struct mount mount;
    int result;

    memset(&mount, 0, sizeof mount);
    tree->mounting = 1;
    result = find(tree, &mount);
    if (result == NW_OK) {
        result = count_all(tree);
    }
    if (result == NW_OK) {
        result = gather(tree, mount.last / tree->block_pages);
    }
    if (result != NW_OK) {
        return result;
    }
    result = NW_ERR_PROGRAM;
    for (uint8_t i = 0; i < NW_TREE_TRIES && result == NW_ERR_PROGRAM; i++) {
        result = write_block(tree, mount.last);
    }
    tree->mounting = 0;
    tree->queue.usable = tree->queue.count;
    return result == NW_ERR_FULL ? stay(tree, mount.last) : result;
}
