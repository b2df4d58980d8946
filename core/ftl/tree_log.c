/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of the tree layer: pages in order in one block after another, a root at the head of each.
 *
 * WHAT COUNTS. A root counts when another page of its session, known by the version, follows it in
 * its block: that was programmed after the root had ended. So a root that a cut left torn is never
 * built upon, whatever it shows. A mount's own block counts when it has an END: until then the
 * mount had not ended, and the block before is still the newest.
 *
 * WHAT MAY BE ERASED. The newest root that counts, and the pages behind it, say where all lies. A
 * mount believes all of these pages but the last. So a block that was emptied may be erased as soon
 * as one page more was written: hence usable in the queue.
 */
#include <string.h>

#include "mark.h"
#include "nandwich/bytes.h"
#include "tree_root.h"

/* The count that a place goes into, or NULL. */
static uint8_t *count_of(const struct nw_tree *tree, uint32_t place)
{
    uint32_t block = place / tree->block_pages;

    return place != 0 && block < tree->blocks && tree->counts[block] != NW_TREE_OUT
               ? &tree->counts[block]
               : NULL;
}

void nw_tree_gain(struct nw_tree *tree, uint32_t place)
{
    uint8_t *count = count_of(tree, place);

    if (count != NULL && *count < NW_TREE_OUT - 1U) {
        (*count)++;
    }
}

void nw_tree_lose(struct nw_tree *tree, uint32_t place)
{
    uint8_t *count = count_of(tree, place);

    if (count != NULL && *count != 0) {
        (*count)--;
    }
}

uint8_t nw_tree_listed(const struct nw_tree *tree, uint16_t block)
{
    uint8_t at = 0;

    while (at < tree->failed_count && tree->failed[at] != block) {
        at++;
    }
    return at;
}

void nw_tree_list(struct nw_tree *tree, uint16_t block, int sound)
{
    uint8_t at = nw_tree_listed(tree, block);

    if (at < NW_TREE_FAILED && at == tree->failed_count) {
        tree->failed[at] = block;
        tree->sound = (uint8_t)((tree->sound & ~(1U << at)) | (sound ? 1U << at : 0U));
        tree->failed_count++;
    }
}

/* A program went wrong, done or not. The page before it is owed, and near the block's end nobody
 * could tell later whether this one counts: tree_mend.c. */
static void give_up(struct nw_tree *tree, int error)
{
    tree->must_open = 1;
    if (tree->before != NW_TREE_NONE) {
        tree->owed = tree->next - 1U;
    }
    if (error == NW_ERR_PROGRAM || tree->left <= NW_TREE_TAIL) {
        nw_tree_list(tree, tree->current, error != NW_ERR_PROGRAM);
    }
}

int nw_tree_append(struct nw_tree *tree, uint32_t word, uint8_t *data, uint32_t *place)
{
    int is_sector = (word & (NW_TREE_KIND | NW_TREE_DAMAGED)) == 0;
    uint16_t length = data != NULL || is_sector ? tree->page_bytes : (uint16_t)0;

    tree->tagged.tag = (struct nw_tag){
        .word = word,
        .version = tree->version,
        .crc = nw_tag_sum(data, length),
        .erases = tree->before};
    int result = nw_tagged_program(&tree->tagged, tree->next, length, data);

    if (result < 0) {
        give_up(tree, result);
        return result;
    }
    if (!tree->mounting) {
        tree->queue.usable = tree->queue.count;
    }
    if (tree->unsaved == NW_TREE_ROOTED) { /* that root counts now */
        tree->unsaved = NW_TREE_SAVED;
    }
    tree->before = (word & NW_TREE_KIND) == 0 ? word & ~(uint32_t)NW_TREE_DAMAGED
                                              : (uint32_t)NW_TREE_NONE;
    *place = tree->next;
    tree->next++;
    tree->left--;
    return NW_OK;
}

void nw_tree_enqueue(struct nw_tree *tree, uint16_t block)
{
    if (tree->queue.count < NW_TREE_QUEUE) {
        tree->counts[block] = NW_TREE_OUT;
        tree->queue.block[tree->queue.count] = block;
        tree->queue.count++;
    }
}

/* Blocks that nobody has used yet fill the queue up. They hold nothing: all before them in the
 * queue being usable, so are they. */
static void refill(struct nw_tree *tree)
{
    struct nw_tree_queue *queue = &tree->queue;

    while (queue->count < NW_TREE_QUEUE && queue->usable == queue->count &&
           tree->virgin < tree->blocks) {
        nw_tree_enqueue(tree, tree->virgin);
        queue->usable = queue->count;
        tree->virgin++;
    }
}

void nw_tree_drop_first(struct nw_tree_queue *queue)
{
    queue->count--;
    queue->usable--;
    queue->erased = 0;
    for (uint8_t i = 0; i < queue->count; i++) {
        queue->block[i] = queue->block[i + 1U];
    }
}

int nw_tree_mark_bad(struct nw_tree *tree, uint16_t block)
{
    tree->counts[block] = NW_TREE_OUT;
    tree->tagged.req.block = block;
    tree->tagged.stats->retired++;
    return nw_chip_mark_bad(&tree->tagged.req);
}

int nw_tree_erase_ahead(struct nw_tree *tree)
{
    struct nw_tree_queue *queue = &tree->queue;
    uint16_t block = queue->block[0];

    tree->tagged.req.block = block;
    int result = nw_chip_is_bad(&tree->tagged.req);

    if (result == 0) {
        nw_tree_uncache(tree, (uint32_t)block * tree->block_pages,
                        ((uint32_t)block + 1U) * tree->block_pages);
        tree->tagged.stats->erases++;
        result = nw_chip_erase(&tree->tagged.req);
        if (result >= 0) {
            queue->erased = 1;
            return NW_OK;
        }
        if (result == NW_ERR_ERASE) {
            result = nw_tree_mark_bad(tree, block);
        }
    }
    if (result >= 0) {
        nw_tree_drop_first(queue);
        refill(tree);
    }
    return result < 0 ? result : (int)NW_OK;
}

int nw_tree_gather(struct nw_tree *tree, uint16_t newest)
{
    for (uint16_t block = 0; tree->exact && block < tree->blocks; block++) {
        if (tree->queue.count == NW_TREE_QUEUE) {
            break;
        }
        if (tree->counts[block] != 0 || block == newest || block == tree->current ||
            nw_tree_listed(tree, block) < tree->failed_count) {
            continue;
        }
        tree->tagged.req.block = block;
        int bad = nw_chip_is_bad(&tree->tagged.req);

        if (bad < 0) {
            return bad;
        }
        if (bad == 0) {
            nw_tree_enqueue(tree, block);
        } else {
            tree->counts[block] = NW_TREE_OUT;
        }
    }
    return NW_OK;
}

/* The first free block, erased; bad ones go. Its number stays first in the queue. */
static int32_t take(struct nw_tree *tree)
{
    struct nw_tree_queue *queue = &tree->queue;

    refill(tree);
    while (queue->usable > 0 && !queue->erased) {
        int result = nw_tree_erase_ahead(tree);

        if (result < 0) {
            return result;
        }
    }
    return queue->usable > 0 ? (int32_t)queue->block[0] : (int32_t)NW_ERR_FULL;
}

/* The root's entries in the buffer: those there were, but for what was pushed, and the changes. */
static uint16_t merge(struct nw_tree *tree)
{
    uint8_t *entries = tree->buffer + tree->root_at;
    uint16_t bytes = tree->entry;
    uint16_t count = 0;

    for (uint16_t i = 0; i < tree->children; i++) {
        uint16_t start = tree->child[i].start;
        uint16_t group = (uint16_t)(tree->child[i + 1U].start - start);

        if (!tree->child[i].pushed) {
            nw_tree_slide(entries + (size_t)count * bytes, entries + (size_t)start * bytes,
                          (size_t)group * bytes);
            count = (uint16_t)(count + group);
        }
    }
    for (uint16_t i = 0; i < tree->change_count; i++) {
        const uint8_t *from = tree->changes + (size_t)i * bytes;

        count = nw_tree_insert(tree, entries, count, nw_tree_get(tree, from),
                               nw_tree_get(tree, from + tree->width));
    }
    memset(entries + (size_t)count * bytes, 0,
           tree->page_bytes - (size_t)tree->root_at - (size_t)count * bytes);
    return count;
}

/* The root as it is now to the buffer. `skip` blocks of the queue are not free any more. */
static int build(struct nw_tree *tree, uint8_t skip)
{
    const struct nw_tree_queue *queue = &tree->queue;
    uint8_t *to = tree->buffer;
    int result = NW_OK;

    if (tree->live != 0) {
        result = nw_tree_load(tree, tree->root);
    }
    if (result != NW_OK) {
        return result;
    }
    uint16_t count = merge(tree);

    memset(to, 0, NW_TREE_HEAD);
    nw_put32(to + NW_TREE_MAGIC_AT, (uint32_t)NW_MARK_TREE);
    nw_put32(to + NW_TREE_SECTORS_AT, tree->sectors);
    nw_put16(to + NW_TREE_BLOCKS_AT, tree->blocks);
    nw_put16(to + NW_TREE_PAGES_AT, tree->block_pages);
    to[NW_TREE_QUEUED_AT] = (uint8_t)(queue->count - skip);
    to[NW_TREE_FAILED_COUNT_AT] = tree->failed_count;
    to[NW_TREE_SOUND_AT] = tree->sound;
    nw_put32(to + NW_TREE_OWED_AT, tree->owed);
    nw_put16(to + NW_TREE_VIRGIN_AT, tree->virgin);
    nw_put16(to + NW_TREE_ENTRIES_AT, count);
    for (uint8_t i = 0; i < 2U; i++) {
        nw_put16(to + NW_TREE_RESERVE_AT + 2U * i,
                 i + skip < queue->count ? queue->block[i + skip] : NW_TREE_NO_BLOCK);
    }
    for (uint8_t i = 0; i + skip < queue->count; i++) {
        nw_put16(to + NW_TREE_QUEUE_AT + 2U * i, queue->block[i + skip]);
    }
    for (uint8_t i = 0; i < tree->failed_count; i++) {
        nw_put16(to + NW_TREE_FAILED_AT + 2U * i, tree->failed[i]);
    }
    for (uint16_t i = 0; i < tree->children; i++) {
        nw_tree_put(tree, to + NW_TREE_HEAD + (size_t)i * tree->width, tree->child[i].at);
    }
    return NW_OK;
}

void nw_tree_adopt(struct nw_tree *tree, uint32_t page)
{
    const uint8_t *from = tree->buffer;
    const uint8_t *entries = from + tree->root_at;
    uint16_t count = nw_get16(from + NW_TREE_ENTRIES_AT);

    nw_tree_renew(tree, tree->root, page);
    for (uint16_t i = 0; i < tree->children; i++) {
        struct nw_tree_child *child = &tree->child[i];

        child->at = nw_tree_get(tree, from + NW_TREE_HEAD + (size_t)i * tree->width);
        child->start = nw_tree_lower(tree, entries, count, i * tree->span);
        if (i > 0 && child->start < child[-1].start) { /* forged entries: no group is negative */
            child->start = child[-1].start;
        }
        child->pushed = 0;
    }
    tree->child[tree->children].start = count;
    tree->live = count;
    tree->change_count = 0;
    tree->unsaved = NW_TREE_ROOTED;
    tree->root = page;
}

int nw_tree_open(struct nw_tree *tree)
{
    struct nw_tree_queue *queue = &tree->queue;
    int result = NW_ERR_FULL;

    for (uint8_t i = 0; i < NW_TREE_TRIES; i++) {
        int32_t block = take(tree);

        result = block < 0 ? (int)block : NW_OK;
        if (result == NW_OK && queue->usable < 2U && !tree->mounting) { /* what the root frees */
            result = nw_tree_gather(tree, tree->current);
            if (result == NW_OK && queue->count < 2U) {
                result = NW_ERR_FULL; /* the last one is for the next mount */
            }
        }
        result = result == NW_OK ? build(tree, 1) : result;
        if (result != NW_OK) {
            return result;
        }
        uint32_t page = (uint32_t)block * tree->block_pages;

        tree->version = ((tree->version + 2U) & ~(uint64_t)1U) | tree->mounting;
        tree->tagged.tag = (struct nw_tag){
            .word = (uint32_t)NW_MARK_LIST,
            .version = tree->version,
            .crc = nw_tag_sum(tree->buffer, tree->page_bytes)};
        tree->tagged.stats->map_programs++;
        queue->erased = 0; /* whatever comes of it */
        result = nw_tagged_program(&tree->tagged, page, tree->page_bytes, tree->buffer);
        if (result >= 0) {
            nw_tree_drop_first(queue);
            tree->counts[block] = 0;
            tree->current = (uint16_t)block;
            tree->next = page + 1U;
            tree->left = (uint16_t)(tree->block_pages - 1U);
            tree->must_open = 0;
            tree->before = NW_TREE_NONE;
            nw_tree_adopt(tree, page);
            return NW_OK;
        }
        if (result != NW_ERR_PROGRAM) {
            return result;
        }
        nw_tree_drop_first(queue);
        result = nw_tree_mark_bad(tree, (uint16_t)block);
        if (result < 0) {
            return result;
        }
    }
    return result < 0 ? result : (int)NW_ERR_FULL;
}

/* The root that was built last, which nothing can have changed since, to the log. */
static int append_root(struct nw_tree *tree)
{
    uint32_t place;
    int result;

    tree->tagged.stats->map_programs++;
    result = nw_tree_append(tree, (uint32_t)NW_MARK_LIST, tree->buffer, &place);
    if (result == NW_OK) {
        nw_tree_adopt(tree, place);
    }
    return result;
}

int nw_tree_save(struct nw_tree *tree)
{
    int result;

    if (tree->must_open || tree->left < 2U) {
        result = nw_tree_open(tree);
    } else {
        result = build(tree, 0);
        if (result == NW_OK) {
            result = append_root(tree);
        }
    }
    if (result == NW_OK) { /* so the first one counts; either may rot */
        result = append_root(tree);
        tree->unsaved = result == NW_OK ? (uint8_t)NW_TREE_SAVED : tree->unsaved;
    }
    return result;
}

/* Behind a failed call the root stands twice: should one rot, nobody asks the block before, which
 * cannot tell that its last page does not count. */
int nw_tree_room(struct nw_tree *tree, uint16_t pages)
{
    if (tree->must_open) {
        return nw_tree_save(tree);
    }
    return tree->left < pages ? nw_tree_open(tree) : (int)NW_OK;
}
