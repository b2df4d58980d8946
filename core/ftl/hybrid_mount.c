/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies on the chip when power comes up, and making sure of it.
 *
 * A page torn by a power cut may be invisible today and look complete after another power-up.
 * Its version is known all the same: above every page that is certain, below what the next session
 * writes. Each mount fences that range off, in a record kept on the chip (hybrid_record.c). The one
 * page that may be torn and does look complete is the newest of all. If a merge under way moved it,
 * the page it came from is still there and it does not count. Else the mount copies it beside the
 * record (hybrid_session.c) and then writes the sector anew. Why this is enough:
 * docs/ftl-hybrid.md.
 */
#include <string.h>

#include "hybrid.h"
#include "wipe.h"

/* Above what a torn page that cannot be read now may carry; so may the pages of a block that was
 * spoiled, when its erase was cut. */
#define VERSION_GAP 64U
#define SESSION_BITS 36U /* more programs than 2^36 no session makes: they wear a chip out */

/* To the layer: this page counts. */
static int accept(struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    uint32_t sector = page->tag.word & NW_HYBRID_SECTOR;

    if (sector == hybrid->saved && page->tag.version > hybrid->saved_version) {
        hybrid->saved = NW_NO_PAGE; /* written anew since */
    }
    return sector < hybrid->sectors ? hybrid->kind->meet(hybrid, page->at, &page->tag)
                                    : (int)NW_OK;
}

/* Among the newest, newest first. 1: one has to leave, it is in `page` now. */
static int put_top(struct nw_hybrid_top *top, uint8_t *tops, struct nw_hybrid_top *page)
{
    for (uint8_t i = 0; i < *tops; i++) {
        if (top[i].tag.version < page->tag.version) {
            struct nw_hybrid_top other = top[i];

            top[i] = *page;
            *page = other;
        }
    }
    if (*tops == NW_HYBRID_TOPS) {
        return 1;
    }
    top[(*tops)++] = *page;
    return 0;
}

/* The newest pages wait. */
static int meet(struct nw_hybrid *hybrid, const struct nw_hybrid_top *newer)
{
    struct nw_hybrid_top page = *newer;

    return put_top(hybrid->top, &hybrid->tops, &page) ? accept(hybrid, &page) : (int)NW_OK;
}

/* A block in the second walk: the newest of its pages that count, and the oldest. */
struct block_scan {
    struct nw_hybrid_top top[NW_HYBRID_TOPS]; /* newest first */
    struct nw_hybrid_top oldest;
    uint16_t block;
    uint8_t tops;
    uint8_t all_copies;
    uint8_t torn; /* it shows a page that does not count */
};

/* A page that counts. When there are four newer ones in its block it need not wait. */
static int enter(struct nw_hybrid *hybrid, struct block_scan *scan, struct nw_hybrid_top page)
{
    if (scan->tops == 0 || page.tag.version < scan->oldest.tag.version) {
        scan->oldest = page;
    }
    if ((page.tag.word & NW_HYBRID_COPY) == 0) {
        scan->all_copies = 0;
    }
    return put_top(scan->top, &scan->tops, &page) ? accept(hybrid, &page) : (int)NW_OK;
}

/* One in 65,536 torn tags fits its check all the same. It must not name a sector that there is not,
 * nor move versions to where they end. */
static int is_possible(const struct nw_hybrid *hybrid, const struct nw_tag *tag)
{
    return ((tag->word & NW_HYBRID_SESSION) != 0 ||
            (tag->word & NW_HYBRID_SECTOR) < hybrid->sectors) &&
           (tag->version <= hybrid->fenced ||
            ((tag->version - hybrid->fenced) >> SESSION_BITS) == 0);
}

/* A page that does not count because the newest record has a copy of it. Unless that record is
 * certain it may hide the next time, and then only the page itself is left: its block is held. */
static void note_origin(struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    if ((page->tag.word & NW_HYBRID_SECTOR) == hybrid->saved &&
        page->tag.version > hybrid->certain_version &&
        page->tag.version > hybrid->origin_version) {
        hybrid->origin = nw_hybrid_block_of(hybrid, page->at);
        hybrid->origin_version = page->tag.version;
    }
}

/* One page: whether it counts, what version it has, whether it is torn. */
static int look_at(struct nw_hybrid *hybrid, struct block_scan *scan, uint32_t at)
{
    struct nw_hybrid_top page = {.at = at};
    int state = nw_hybrid_read_tag(hybrid, at, &page.tag);

    if (state < 0 || state == NW_TAG_BLANK) {
        return state < 0 ? state : (int)NW_OK;
    }
    nw_blocks_claim(&hybrid->blocks, scan->block); /* for now */
    if (state != NW_TAG_GOOD || !is_possible(hybrid, &page.tag)) {
        scan->torn = 1;
        return NW_OK;
    }
    if (page.tag.version >= hybrid->version) {
        hybrid->version = page.tag.version + 1U;
    }
    if (page.tag.erases > hybrid->blocks.erases[scan->block]) {
        hybrid->blocks.erases[scan->block] = page.tag.erases;
    }
    if ((page.tag.word & NW_HYBRID_SESSION) != 0) {
        if (page.tag.word == NW_HYBRID_ENDED && page.tag.version > hybrid->ended) {
            hybrid->ended = page.tag.version;
        }
        return NW_OK;
    }
    if (nw_hybrid_is_void(hybrid, page.tag.version)) {
        note_origin(hybrid, &page);
        scan->torn = 1;
        return NW_OK;
    }
    return enter(hybrid, scan, page);
}

/* Each tag of a block, once. A torn page is as old as the pages beside it: when its fence is about
 * to leave the record its block has to go. A block of which nothing counts goes at once. */
static int scan_block(struct nw_hybrid *hybrid, struct block_scan *scan, uint16_t block)
{
    uint32_t at = nw_hybrid_first(hybrid, block);
    int result = NW_OK;

    scan->block = block;
    scan->tops = 0;
    scan->all_copies = 1;
    scan->torn = 0;
    for (uint16_t i = 0; result == NW_OK && i < hybrid->block_pages; i++) {
        result = look_at(hybrid, scan, at + i);
    }
    if (scan->torn != 0 && (scan->tops == 0 || scan->top[0].tag.version < hybrid->ageing)) {
        uint8_t *bits = &hybrid->torn[block >> 3];

        *bits = (uint8_t)(*bits | (1U << (block & 7U)));
    }
    return result;
}

/* The newest pages of a block join those of all. */
static int join(struct nw_hybrid *hybrid, const struct block_scan *scan)
{
    int result = NW_OK;

    for (uint8_t i = 0; result == NW_OK && i < scan->tops; i++) {
        result = meet(hybrid, &scan->top[i]);
    }
    return result;
}

/* Moved by a merge, and not its last page. */
static int is_within(const struct nw_hybrid_top *page)
{
    return (page->tag.word & (NW_HYBRID_COPY | NW_HYBRID_LAST)) == NW_HYBRID_COPY;
}

/* Whether a page is the end of a write or a merge, and a later page tells that it is there. */
static int is_certain(const struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    return !is_within(page) && page->tag.version < hybrid->ended;
}

/* The newest block of moved pages only. If the newest page of all is in it, a merge had begun that
 * block and was cut short, and none of it counts: all that was moved is still where it was. Else
 * room would run out, cut by cut. If the merge had come to its last page, that one may be torn: the
 * others come when it is saved, so that nothing they replace is erased before. */
static int join_merge(struct nw_hybrid *hybrid, const struct block_scan *merge)
{
    if (merge->tops == 0 || is_certain(hybrid, &merge->top[0]) ||
        (hybrid->tops > 0 && hybrid->top[0].tag.version > merge->top[0].tag.version)) {
        return join(hybrid, merge);
    }
    hybrid->kind->forget(hybrid, merge->block);
    if ((merge->top[0].tag.word & NW_HYBRID_LAST) == 0) {
        hybrid->idle = merge->block;
        hybrid->moved = merge->top[0].tag.word & NW_HYBRID_SECTOR;
        return meet(hybrid, &merge->oldest);
    }
    hybrid->late = merge->block;
    hybrid->late_word = merge->oldest.tag.word;
    return meet(hybrid, &merge->top[0]);
}

/* Second walk: every tag. Blocks that hold anything are in use for now. */
static int walk(struct nw_hybrid *hybrid)
{
    struct block_scan scan[2] = {{.tops = 0}, {.tops = 0}};
    struct block_scan *merge = &scan[0];
    struct block_scan *here = &scan[1];
    int result = NW_OK;

    for (uint16_t block = 0; result == NW_OK && block < hybrid->blocks.count; block++) {
        if (hybrid->blocks.state[block] == NW_BLOCK_BAD) {
            continue;
        }
        result = scan_block(hybrid, here, block);
        if (here->tops > 0 && here->all_copies != 0 &&
            here->top[0].tag.version > hybrid->fenced &&
            (merge->tops == 0 || here->top[0].tag.version > merge->top[0].tag.version)) {
            struct block_scan *other = merge;

            merge = here;
            here = other;
        }
        if (result == NW_OK) {
            result = join(hybrid, here);
        }
    }
    return result == NW_OK ? join_merge(hybrid, merge) : result;
}

/* Whether a page is all there; its data is in the buffer then. */
static int is_whole(struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    struct nw_tag tag;

    if (hybrid->payload == 0 || (page->tag.word & NW_HYBRID_DAMAGED) != 0) {
        return 1;
    }
    int state = nw_hybrid_read_whole(hybrid, page->at, &tag);
    return state < 0 ? state : state == NW_TAG_GOOD;
}

/* Whether a page that is to be saved is all that counts of its session. Its copy is enough then,
 * and its session needs no fence of its own. */
static int is_alone(const struct nw_hybrid *hybrid, uint8_t index)
{
    return hybrid->late == NW_NO_BLOCK && index + 1U < NW_HYBRID_TOPS &&
           (index + 1U == hybrid->tops ||
            hybrid->top[index + 1U].tag.version <= hybrid->fenced);
}

/* Whether the page before this one shows that its program had ended. A program that failed is tried
 * again before anything else, with the same sector: so one of another sector does. So does a page
 * that a merge moved, behind one that the host wrote: what is in doubt is written anew before a
 * merge goes on. Of the newest block of a merge the last page waits, the others do not: what came
 * behind the page before that block is the oldest page in it. */
static int is_ended(const struct nw_hybrid *hybrid, uint8_t index)
{
    uint32_t word = hybrid->top[index].tag.word;
    uint32_t newer = index == 1U && hybrid->late != NW_NO_BLOCK ? hybrid->late_word
                                                                : hybrid->top[index - 1U].tag.word;

    return ((word ^ newer) & NW_HYBRID_SECTOR) != 0 ||
           (word & NW_HYBRID_COPY) < (newer & NW_HYBRID_COPY);
}

/* Which of the newest pages count: sets `last`, above which none does, and what is to be saved. */
static int judge(struct nw_hybrid *hybrid)
{
    for (uint8_t i = 0; i < hybrid->tops; i++) {
        const struct nw_hybrid_top *page = &hybrid->top[i];
        uint32_t sector = page->tag.word & NW_HYBRID_SECTOR;

        if (page->tag.version <= hybrid->fenced) {
            hybrid->last = hybrid->fenced; /* earlier mounts made sure of the rest */
            return NW_OK;
        }
        if ((i > 0 && is_ended(hybrid, i)) || is_certain(hybrid, page)) {
            hybrid->last = page->tag.version;
            return NW_OK;
        }
        hybrid->last = i + 1U < NW_HYBRID_TOPS ? hybrid->fenced : page->tag.version - 1U;
        if (is_within(page)) {
            continue;
        }
        if (i == 0 && sector == hybrid->saved && is_alone(hybrid, i)) {
            hybrid->idle = nw_hybrid_block_of(hybrid, page->at);
            hybrid->copied_at = hybrid->saved_at;
        }
        int whole = is_whole(hybrid, page);
        if (whole < 0) {
            return whole;
        }
        if (whole) {
            hybrid->last = page->tag.version;
            hybrid->saved = sector;
            hybrid->saved_at = page->at;
            hybrid->saved_version = page->tag.version;
            if (is_alone(hybrid, i)) {
                hybrid->last = hybrid->fenced;
            }
            return NW_OK;
        }
    }
    return NW_OK;
}

/* Pages older than a record that is certain are certain too, whatever shows the next time: they
 * need not wait. */
static int accept_certain(struct nw_hybrid *hybrid)
{
    int result = NW_OK;

    while (result == NW_OK && hybrid->tops > 0 &&
           hybrid->top[hybrid->tops - 1U].tag.version < hybrid->certain_version) {
        result = accept(hybrid, &hybrid->top[--hybrid->tops]);
    }
    return result;
}

/* Whether a page that waits counts. */
static int counts(const struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    return page->tag.version <= hybrid->last || page->tag.version <= hybrid->fenced;
}

/* The newest of the pages that wait which is certain; all of them: there is none. */
static uint8_t first_ended(const struct nw_hybrid *hybrid)
{
    uint8_t index = 0;

    while (index < hybrid->tops && !is_certain(hybrid, &hybrid->top[index]) &&
           (index == 0 || !is_ended(hybrid, index))) {
        index++;
    }
    return index;
}

/* A page behind which another one shows that it had ended is certain. When it ended a write or a
 * merge, it counts at every later mount, also when the newer ones hide by then: so it need not
 * wait, nor those before it. Else the blocks that they replace would be missing for the session. */
static int accept_ended(struct nw_hybrid *hybrid)
{
    uint8_t index = first_ended(hybrid);
    int result = NW_OK;

    if (index < hybrid->tops && counts(hybrid, &hybrid->top[index]) &&
        !is_within(&hybrid->top[index])) {
        while (result == NW_OK && hybrid->tops > index) {
            result = accept(hybrid, &hybrid->top[--hybrid->tops]);
        }
    }
    return result;
}

/* What comes next to a page within a merge lies in its block, unless something has failed there. */
const struct nw_hybrid_top *nw_hybrid_unsure(const struct nw_hybrid *hybrid)
{
    if (hybrid->holding == 0 || hybrid->tops < 2U) {
        return NULL;
    }
    uint8_t index = first_ended(hybrid);
    const struct nw_hybrid_top *page =
        &hybrid->top[index < hybrid->tops ? index : hybrid->tops - 1U];

    return nw_hybrid_is_within(hybrid, &page->tag) &&
                   nw_hybrid_block_of(hybrid, page->at) !=
                       nw_hybrid_block_of(hybrid, hybrid->top[0].at)
               ? page
               : NULL;
}

int nw_hybrid_held(const struct nw_hybrid *hybrid, uint16_t block)
{
    if (block == hybrid->session) {
        return 1;
    }
    if (hybrid->holding == 0) {
        return 0;
    }
    for (uint8_t i = 0; i < hybrid->tops; i++) {
        if (nw_hybrid_block_of(hybrid, hybrid->top[i].at) == block) {
            return 1;
        }
    }
    for (uint8_t i = 0; i < hybrid->records; i++) {
        if (nw_hybrid_block_of(hybrid, hybrid->record[i].at) == block &&
            (i == 0 || hybrid->record[i].version > hybrid->certain_version)) {
            return 1;
        }
    }
    return block == hybrid->certain || block == hybrid->origin ||
           (hybrid->saved != NW_NO_PAGE && nw_hybrid_block_of(hybrid, hybrid->saved_at) == block);
}

/* What the mount before saved is outdated when its sector was written again since: also by a page
 * that still waits. It must not be copied once more then, under a version above that page's. */
static void forget_outdated(struct nw_hybrid *hybrid)
{
    for (uint8_t i = 0; i < hybrid->tops; i++) {
        const struct nw_hybrid_top *page = &hybrid->top[i];

        if ((page->tag.word & NW_HYBRID_SECTOR) == hybrid->saved && counts(hybrid, page) &&
            page->tag.version > hybrid->saved_version) {
            hybrid->saved = NW_NO_PAGE;
        }
    }
}

/* The pages that waited and count. The saved one is in the session's block now. */
static int accept_tops(struct nw_hybrid *hybrid, uint32_t saved_from)
{
    int result = NW_OK;

    for (uint8_t i = hybrid->tops; result == NW_OK && i > 0; i--) {
        const struct nw_hybrid_top *page = &hybrid->top[i - 1U];

        if (counts(hybrid, page) && page->at != saved_from) {
            result = accept(hybrid, page);
        }
    }
    return result;
}

/* The other pages of the newest block, if they count. */
static int accept_late(struct nw_hybrid *hybrid, uint32_t saved_from)
{
    struct nw_hybrid_top page = {.at = 0};
    int result = NW_OK;

    if (hybrid->late == NW_NO_BLOCK) {
        return NW_OK;
    }
    page.at = nw_hybrid_first(hybrid, hybrid->late);
    for (uint16_t i = 0; result >= 0 && i < hybrid->block_pages; i++, page.at++) {
        result = nw_hybrid_read_tag(hybrid, page.at, &page.tag);
        if (result == NW_TAG_GOOD && page.tag.version <= hybrid->last &&
            page.at != saved_from) {
            result = accept(hybrid, &page);
        }
    }
    return result < 0 ? result : NW_OK;
}

static int is_torn(const struct nw_hybrid *hybrid, uint16_t block)
{
    return (hybrid->torn[block >> 3] & (1U << (block & 7U))) != 0;
}

/* Erase the blocks with torn pages that nothing needs, also those that wait to be healed. */
static int wipe(struct nw_hybrid *hybrid)
{
    struct nw_blocks *blocks = &hybrid->blocks;
    int result = NW_OK;

    for (uint16_t block = 0; result == NW_OK && block < blocks->count; block++) {
        uint8_t *bits = &hybrid->torn[block >> 3];

        if (is_torn(hybrid, block) && (blocks->state[block] == NW_BLOCK_FREE ||
                                       blocks->state[block] == NW_BLOCK_WORN)) {
            result = nw_blocks_wipe(blocks, block);
            *bits = (uint8_t)(*bits & ~(1U << (block & 7U)));
        }
    }
    return result;
}

/* Empty the blocks with torn pages that hold others; a later mount erases them. None of these
 * merges takes more blocks than it gives back, so they come before other merges: whatever is cut,
 * each session that needs a fence has emptied one. */
static int purge(struct nw_hybrid *hybrid)
{
    int result = NW_OK;

    for (uint16_t block = 0; result == NW_OK && block < hybrid->blocks.count; block++) {
        if (is_torn(hybrid, block) && hybrid->blocks.state[block] == NW_BLOCK_USED &&
            block != hybrid->session) {
            result = nw_hybrid_flush(hybrid);
            result = result == NW_OK ? hybrid->kind->evict(hybrid, block) : result;
        }
    }
    return result == NW_ERR_FULL ? nw_hybrid_settle(hybrid) : result; /* the rest has to wait */
}

static int start(struct nw_hybrid *hybrid)
{
    forget_outdated(hybrid);
    uint32_t saved_from = hybrid->saved != NW_NO_PAGE ? hybrid->saved_at : NW_NO_PAGE;

    hybrid->version += (uint32_t)VERSION_GAP + hybrid->block_pages;
    hybrid->holding = 1;
    int result = hybrid->kind->arrange(hybrid, 0);
    if (result == NW_OK) {
        result = nw_hybrid_begin_session(hybrid);
    }
    if (result < 0 && result != NW_ERR_FULL) {
        return result;
    }
    hybrid->holding = 0;
    result = accept_tops(hybrid, saved_from);
    if (result == NW_OK) {
        result = accept_late(hybrid, saved_from);
    }
    if (result == NW_OK) {
        result = hybrid->kind->arrange(hybrid, 1);
    }
    if (result == NW_OK && hybrid->session != NW_NO_BLOCK) {
        result = wipe(hybrid);
        result = result == NW_OK ? nw_hybrid_rewrite(hybrid) : result;
        result = result == NW_OK ? purge(hybrid) : result;
        result = result == NW_OK ? nw_hybrid_refill(hybrid) : result;
        result = result == NW_OK ? nw_hybrid_close(hybrid) : result;
    }
    return result == NW_ERR_FULL ? NW_OK : result; /* can be read, no more */
}

int nw_hybrid_mount(struct nw_hybrid *hybrid)
{
    int result = nw_hybrid_find_record(hybrid);

    if (result == NW_OK) {
        result = walk(hybrid);
    }
    result = result == NW_OK ? accept_certain(hybrid) : result;
    result = result == NW_OK ? judge(hybrid) : result;
    result = result == NW_OK ? accept_ended(hybrid) : result;
    return result == NW_OK ? start(hybrid) : result;
}

/* Erase every good block; first those that make a mount believe in a device. */
int nw_hybrid_format(struct nw_hybrid *hybrid)
{
    int result = nw_wipe_all(&hybrid->blocks);

    return result < 0 ? result : nw_hybrid_begin_session(hybrid);
}
