/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mount. It finds the newest block, holds the log's last page (torn.c), walks to the end of the log
 * from the newest anchor, and replays what came since (redo.c). Then it writes: an image
 * of the page that it holds, in a block of its own, what it moves and cleans, and an anchor, twice.
 * Its blocks count once the anchor shows; a cut before leaves everything as it was. Their headers
 * tell where this mount began to walk, so that the next one can stand on the same.
 */
#include <string.h>

#include "nandwich/blank.h"
#include "store.h"

/* Where the log ends. */
struct scan {
    struct walk walk;  /* to the end */
    uint32_t doubtful; /* first chunk that touches the page programmed last, or STORE_NONE */
    uint32_t anchor;   /* the newest one, or STORE_NONE */
    uint32_t other;    /* its first copy, or STORE_NONE */
    uint8_t broken;    /* a chunk of the last page is not whole */
    uint8_t gap;       /* before that page bytes were met that are no chunk */
    uint8_t hurt;      /* what ends it is damage of pages before the one programmed last */
    uint8_t used;      /* data or states were met: no mount writes these before its anchors */
    uint8_t proven;    /* something whole follows the first anchor, or that is a second copy */
    uint8_t bare;      /* nothing follows the newest anchor */
    uint8_t all;       /* all headers were looked at */
};

static uint32_t page_end(const struct nw_store *store, uint32_t page)
{
    return store_at(store, page, store->page_bytes);
}

/* Can bytes at a position not be read, or others behind it, up to a page? 1, 0 or an error. */
static int is_hurt(struct nw_store *store, uint32_t at, uint32_t page)
{
    uint8_t part[32];
    int result = NW_OK;

    while (store_page_of(store, at) < page && result == NW_OK) {
        uint16_t room = (uint16_t)(store->page_bytes - store_offset_of(store, at));
        uint16_t here = room < sizeof part ? room : (uint16_t)sizeof part;

        result = store_read(store, at, here, part, 0);
        at = here < room ? at + here : store_at(store, store_page_of(store, at) + 1U, 0);
    }
    return result == NW_ERR_ECC ? 1 : result;
}

/* Moves what touches the page programmed last, lest it reads differently next time. */
static int move_doubtful(struct nw_store *store, const struct scan *scan)
{
    struct walk walk = scan->walk;
    struct chunk chunk;
    int result = NW_OK;

    walk.at = scan->doubtful != STORE_NONE ? scan->doubtful : walk.end;
    walk.last = walk.block;
    while (result >= 0) {
        result = store_step(store, &walk, &chunk);
        if (result <= 0) {
            break;
        }
        result = store_clean_chunk(store, &chunk);
        walk.at = store_behind(store, &chunk);
    }
    return result == NW_ERR_CORRUPT ? (int)NW_OK : result;
}

/* Of a chunk that touches the page programmed last: is it whole? It ends the log if not: 0. */
static int meet_last(struct nw_store *store, struct scan *scan, struct chunk *chunk)
{
    int result = store_verify(store, chunk);

    if (result == NW_OK) {
        scan->doubtful = scan->doubtful != STORE_NONE ? scan->doubtful : chunk->at;
        return 1;
    }
    scan->broken = 1;
    if (store_is_damage(result)) {
        result = is_hurt(store, chunk->at, store->torn);
        scan->hurt = (uint8_t)(scan->hurt | (result > 0));
    }
    return result < 0 ? result : 0;
}

/* Does a chunk lie where the first block of a mount has its image? Where the header of the image
 * cannot be read, the chunks that the page held are met as if they were the block's. */
static int is_in_image(struct nw_store *store, const struct scan *scan, const struct chunk *chunk)
{
    uint32_t start = store_block_start(store, scan->walk.block);
    uint32_t bytes = (uint32_t)store->chunk_header + store->page_bytes;

    return scan->walk.block == scan->walk.mount &&
           chunk->at < store_after(store, start, bytes);
}

/* A chunk, or bytes that are none: on to where the next one is looked for: 1; 0: the log ends. */
static int meet(struct nw_store *store, struct scan *scan, struct chunk *chunk, int is_chunk)
{
    struct walk *walk = &scan->walk;
    uint32_t page = store_page_of(store, walk->at);
    uint32_t end = page_end(store, page);
    int result = 1;

    if (!is_chunk) {
        scan->broken = (uint8_t)(scan->broken | (page == store->torn));
        scan->gap = (uint8_t)(scan->gap | (page != store->torn));
        walk->at = page != store->torn ? end : walk->at;
        return page != store->torn;
    }
    end = store_behind(store, chunk);
    if (walk->block == store_block_with(store, store->torn) &&
        store_page_of(store, end) >= store->torn) {
        result = meet_last(store, scan, chunk);
    }
    if (result > 0) {
        int is_anchor = chunk->kind == CHUNK_ANCHOR;

        if (!scan->proven && walk->mount != STORE_NO_BLOCK &&
            (scan->anchor != STORE_NONE || (is_anchor && chunk->mask != 0))) {
            int whole = store_verify(store, chunk);

            scan->proven = (uint8_t)(whole == NW_OK);
            result = whole < 0 && !store_is_damage(whole) ? whole : result;
        }
        if ((chunk->kind == CHUNK_DATA || chunk->kind == CHUNK_STATE) &&
            !is_in_image(store, scan, chunk)) {
            scan->used = 1;
        }
        scan->bare = (uint8_t)is_anchor;
        if (is_anchor) {
            scan->other = chunk->mask != 0 ? scan->anchor : (uint32_t)STORE_NONE;
            scan->anchor = chunk->at;
        }
        walk->at = end;
    }
    return result;
}

/* The last block of the log, or this one: the walk goes there. `before`: the block before it, if
 * there is one. */
static int go_to_last(struct nw_store *store, struct walk *walk, struct walk *before,
                      uint16_t last)
{
    int result = 1;

    *before = *walk;
    before->block = STORE_NO_BLOCK;
    while (result > 0 && walk->block != last) {
        struct walk here = *walk;

        result = store_walk_on(store, walk);
        if (result > 0) {
            *before = here;
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/*
 * Looks for the log's last page, the only one that can be torn, and reads it: all that is decided
 * or copied later comes from this reading. A block of which no header is in it has not begun. Where
 * a mount is taken up that page is held already.
 */
static int pin_last(struct nw_store *store, struct scan *scan)
{
    struct walk last = scan->walk;
    struct walk before;
    struct block_head head;
    uint16_t end = STORE_NO_BLOCK;

    if (store->behind != STORE_NO_BLOCK) {
        end = store_block_with(store, store->torn);
    }
    int result = go_to_last(store, &last, &before, end);
    if (end != STORE_NO_BLOCK) {
        return result == NW_OK && last.block != end ? (int)NW_ERR_CORRUPT : result;
    }
    if (result == NW_OK) {
        result = store_pin(store, last.block);
    }
    if (result >= 0 && store_place_of(store, store->torn) == 0) {
        int head_result = store_read_head(store, last.block, &head);

        if (head_result == NW_ERR_NOT_FOUND && before.block != STORE_NO_BLOCK) {
            result = store_pin(store, before.block);
        } else if (head_result < 0) {
            result = head_result;
        }
    }
    scan->hurt = (uint8_t)(result > 0);
    return result < 0 ? result : (int)NW_OK;
}

/* Walks from a position to the end of the log. */
static int scan_once(struct nw_store *store, uint32_t at, struct scan *scan)
{
    struct chunk chunk;

    memset(scan, 0, sizeof *scan);
    scan->doubtful = STORE_NONE;
    scan->anchor = STORE_NONE;
    scan->other = STORE_NONE;
    int result = store_find_swap(store, store_block_of(store, at));
    if (result == NW_OK) {
        result = store_begin_walk(store, &scan->walk, at, STORE_NO_BLOCK);
    }
    if (result == NW_OK) {
        result = pin_last(store, scan);
        scan->walk.last = store_block_with(store, store->torn);
    }
    result = result == NW_OK ? 1 : result;
    while (result > 0) {
        result = store_step(store, &scan->walk, &chunk);
        if (result == 1 || result == NW_ERR_CORRUPT) {
            result = meet(store, scan, &chunk, result > 0);
        }
    }
    scan->walk.end = scan->walk.at;
    return result;
}

/* The same. Where a chunk of the last page is not whole, it may be one read that was wrong: that
 * page is read once more, and if less of it is whole then, a third time. The last reading counts.
 */
static int scan_log(struct nw_store *store, uint32_t at, struct scan *scan)
{
    int result = scan_once(store, at, scan);
    uint32_t end = 0;

    for (uint8_t tries = 2; tries > 0 && result == NW_OK && scan->broken; tries--) {
        if (store->behind != STORE_NO_BLOCK || (tries == 1U && scan->walk.end >= end)) {
            break;
        }
        end = scan->walk.end;
        store_forget_log(store);
        result = scan_once(store, at, scan);
    }
    return result;
}

/* Where to begin to walk for what a block's header tells of: in the first block of its mount, or at
 * the newest anchor it knew; STORE_NONE: its header cannot be right. A stand-in tells what is true
 * of the block for which it stands. */
static uint32_t beginning(const struct nw_store *store, uint16_t block,
                          const struct block_head *head)
{
    if ((head->flags & BLOCK_MOUNT) != 0) {
        block = head->first;
    } else if (head->anchor != STORE_NONE) {
        return head->anchor;
    } else if ((head->flags & BLOCK_SWAP) != 0) {
        block = store_block_with(store, head->page);
    }
    return block < store->blocks ? store_block_start(store, block) : STORE_NONE;
}

/* The anchor that the scan has found, or where that is damaged, its other copy. */
static int load_anchor(struct nw_store *store, const struct scan *scan)
{
    int result = scan->anchor != STORE_NONE ? store_load_anchor(store, scan->anchor)
                                            : (int)NW_ERR_CORRUPT;

    if (store_is_damage(result) && scan->other != STORE_NONE) {
        result = store_load_anchor(store, scan->other);
    }
    return result;
}

/* From a block to the one begun before it, whose header can be read. */
static int go_back(struct nw_store *store, uint16_t *block, struct block_head *head)
{
    uint32_t sequence = head->sequence;
    int result = NW_ERR_NOT_FOUND;

    for (uint16_t left = store->blocks; left > 0; left--) {
        if (result == NW_ERR_NOT_FOUND || (result == NW_OK && head->sequence >= sequence)) {
            result = store_go_to_good(store, block, (uint16_t)(store->blocks - 1U));
            result = result == NW_OK ? store_read_head(store, *block, head) : result;
        }
    }
    return result == NW_OK && head->sequence >= sequence ? (int)NW_ERR_NOT_FOUND : result;
}

/*
 * The log that counts: where it ends and which anchor is its newest, from the newest block on, and
 * that anchor is loaded.
 *
 * A mount counts when an anchor of it is whole: it writes two. What shows behind the first one
 * proves that the first one is whole for good, and the log goes on in the blocks of the mount. Else
 * the first one may be torn: then what the mount stood on is taken up again, with the last page as
 * that mount has read it, and nothing refers to its blocks. A mount without an anchor is as if it
 * had not been.
 */
static int find_log(struct nw_store *store, uint16_t block, const struct block_head *newest,
                    struct scan *scan, int takes_up)
{
    struct block_head head = *newest;
    int result = NW_OK;

    for (uint16_t i = 0; i < store->blocks && result == NW_OK; i++) {
        uint32_t from = beginning(store, block, &head);

        store->newest = block;
        block = store_block_of(store, from);
        if (block == STORE_NO_BLOCK) {
            return NW_ERR_CORRUPT;
        }
        store->told = from;
        store_forget_log(store);
        result = scan_log(store, from, scan);
        if (result == NW_OK) {
            result = store_read_head(store, block, &head);
        }
        if (result == NW_ERR_NOT_FOUND && (head.flags & BLOCK_MOUNT) != 0) {
            result = go_back(store, &block, &head); /* torn, or half erased */
            continue;
        }
        if (result != NW_OK) {
            return result == NW_ERR_NOT_FOUND ? (int)NW_ERR_CORRUPT : result;
        }
        int loaded = load_anchor(store, scan);
        if (from != store_block_start(store, block) || (head.flags & BLOCK_MOUNT) == 0 ||
            (loaded < 0 && !store_is_damage(loaded)) || (loaded == NW_OK && scan->proven)) {
            store->behind = store_end_of(store, scan->walk.block);
            return loaded;
        }
        store->stats.lost = scan->gap; /* perhaps what was behind a mount that had ended */
        if (scan->used) {
            return NW_ERR_CORRUPT; /* a session has written behind anchors that are gone */
        }
        if (loaded == NW_OK && takes_up) {
            uint16_t end = store_end_of(store, scan->walk.block);

            result = store_take_image(store, block);
            if (result > 0) {
                store->behind = end;
                store->told = head.anchor;
                result = scan_log(store, head.anchor, scan);
                return result == NW_OK ? load_anchor(store, scan) : result;
            }
        }
        if (result == NW_OK) {
            result = go_back(store, &block, &head);
        }
    }
    return result < 0 ? result : (int)NW_ERR_CORRUPT;
}

/* Makes what was replayed durable, in the block of its own. */
static int write_down(struct nw_store *store, const struct scan *scan)
{
    int result = move_doubtful(store, scan);

    if (result == NW_OK) {
        result = store_clean_for_mount(store); /* mounts, too, must not use up the free blocks */
    }
    if (result == NW_OK) {
        result = store_flush_all(store);
    }
    if (result == NW_OK) {
        result = store_write_anchor(store);
    }
    store->torn = STORE_NONE; /* nothing lies there any more */
    if (result == NW_OK && store->free <= store->low) {
        result = store_clean_at_once(store);
        if (result == NW_ERR_FULL || result == NW_ERR_PROGRAM) {
            result = NW_OK; /* the mount is done: writes answer it, and reading goes on */
        }
    }
    return result;
}

/* Replays the log. What that comes to is made durable, or shown: then the last page is held for as
 * long as the store is open. */
static int settle(struct nw_store *store, const struct scan *scan)
{
    uint32_t place = STORE_NONE;
    int result = NW_OK;

    store->mounting = BLOCK_MOUNT;
    store->next_redo = scan->walk.end;
    store_count(&store->stats.lost, scan->hurt);
    if (store->seek == NULL) { /* before anything is summed up for a chunk of its own */
        result = store_open_block(store);
    }
    if (result == NW_OK) {
        result = store_redo(store, &place);
    }
    if (store->seek != NULL) {
        store->mounting = 0;
    } else if (result == NW_OK) {
        result = write_down(store, scan);
    }
    if (result == NW_OK && place != STORE_NONE) {
        store->stats.place = place; /* where elements that are missing may have been */
    }
    return result;
}

/* From the newest block to the log that counts. What bisection finds has to be the log's end: else
 * all headers are looked at. Nothing but a format that was cut has headers and no anchor. */
static int find_end(struct nw_store *store, struct block_head *head, struct scan *scan,
                    int takes_up)
{
    uint16_t newest;
    int result = NW_OK;

    for (int all = 0; all < 2; all++) {
        store_forget_log(store);
        store->passed_bad = (uint8_t)all; /* so count_free() counts what is good */
        result = store_find_newest(store, all, &store->newest, head);
        if (result == NW_OK && head->sequence == STORE_VOID) {
            return NW_ERR_NOT_FOUND; /* a format was cut */
        }
        if (result == NW_OK) {
            newest = store->newest;
            result = find_log(store, newest, head, scan, takes_up);
            store->newest = newest;
        }
        if (result == NW_OK && store->behind == store->newest) {
            scan->all = (uint8_t)all;
            break;
        }
        scan->all = 1;
    }
    if (result == NW_ERR_CORRUPT && head->anchor == STORE_NONE) {
        result = NW_ERR_NOT_FOUND;
    }
    return result == NW_ERR_NOT_FOUND && head->anchor != STORE_NONE ? (int)NW_ERR_CORRUPT : result;
}

/* Did a mount that was cut begin a block, or is its header torn? NW_ERR_CORRUPT: neither, the log
 * goes on in it, behind a header that is damaged. */
static int is_left(struct nw_store *store, uint16_t block, const struct scan *scan)
{
    struct block_head head;
    int result = store_look_at_head(store, store_first_page(store, block), &head);

    if (result < 0) {
        return result == NW_ERR_NOT_FOUND || result == NW_ERR_KEY ? 1
               : result == NW_ERR_UNWRITTEN || result == NW_ERR_VERSION ? 0
                                                                            : result;
    }
    if (head.sequence <= scan->walk.sequence) {
        return 0;
    }
    return (head.flags & (BLOCK_MOUNT | BLOCK_SWAP)) != 0 ? 1 : (int)NW_ERR_CORRUPT;
}

/* Erases what mounts that were cut have left behind the log's end, the newest first: blocks that
 * they have begun, lest these stand between what is older and what this mount writes, and where not
 * all headers can be read all those, lest one shows later. The first block is erased when it is
 * taken. */
static int erase_leftovers(struct nw_store *store, const struct scan *scan)
{
    uint16_t first = store->behind;
    uint16_t block = scan->all ? store_block_before(store, store->safe) : store->newest;

    if (block == first) {
        return NW_OK;
    }
    int result = store_good_after(store, &first);
    for (; block != first && block != store->behind && result >= 0;
         block = store_block_before(store, block)) {
        int bad = store_is_bad(store, block);

        result = bad == 0 ? is_left(store, block, scan) : bad;
        if (bad == 0 && result > 0 && store->seek == NULL) {
            result = store_make_ready(store, block);
        }
        if (result == NW_ERR_CORRUPT) {
            store->stats.place = store_block_start(store, first);
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/* Blocks that are not bad. */
static int count_good(struct nw_store *store, uint16_t *good)
{
    int bad = 0;

    *good = 0;
    for (uint16_t block = 0; block < store->blocks && bad >= 0; block++) {
        bad = store_is_bad(store, block);
        *good = (uint16_t)(*good + (bad == 0 ? 1U : 0U));
    }
    return bad < 0 ? bad : (int)NW_OK;
}

/*
 * The anchor's free blocks, less those begun since, which stand-ins of the last one are too, and
 * those marked bad since: these were all free and taken by the frontier, so one of them lies behind
 * the log's end or between this and the anchor.
 */
static int count_free(struct nw_store *store, const struct scan *scan)
{
    uint16_t end = store_end_of(store, scan->walk.block);
    uint16_t good = store->good;
    struct block_head head = {.sequence = scan->walk.sequence};
    int result = end != scan->walk.block ? store_read_head(store, end, &head) : (int)NW_OK;
    uint32_t since = head.sequence - store->anchor_sequence;
    uint16_t taken = since <= store->blocks ? (uint16_t)since : 0;

    taken = (uint16_t)(taken + store->lent); /* another mount may have to do without */
    while (end != store->behind && (result == NW_OK || result == NW_ERR_NOT_FOUND)) {
        result = store_good_after(store, &end);
        taken++;
    }
    if (store->passed_bad != 0 && (result == NW_OK || result == NW_ERR_NOT_FOUND)) {
        result = count_good(store, &good);
    }
    if (store->good > good) {
        taken = (uint16_t)(taken + store->good - good);
    }
    store->good = good;
    store->free = store->free > taken ? (uint16_t)(store->free - taken) : 0;
    return result == NW_ERR_NOT_FOUND ? (int)NW_OK : result;
}

static int mount(struct nw_store **made, struct nw_chip *chip,
                 const struct nw_store_config *config, void *ram, size_t ram_bytes,
                 store_seek *seek_log)
{
    int result = store_open(made, chip, config, ram, ram_bytes);
    struct block_head head;
    struct scan scan;

    if (result < 0) {
        return result;
    }
    struct nw_store *store = *made;
    for (int takes_up = 1; takes_up >= 0; takes_up--) {
        result = find_end(store, &head, &scan, takes_up);
        store->lent = result == NW_OK && scan.bare ? store->lent : 0;
        if (result == NW_OK) {
            result = count_free(store, &scan);
        }
        if (result != NW_OK || store->free >= store->reserve ||
            store->behind == store_end_of(store, scan.walk.block)) {
            break; /* a mount that has not ended leaves no room: as if its anchor did not show */
        }
    }
    if (result == NW_ERR_NOT_FOUND) {
        return nw_chip_not_found(chip, ram, ram_bytes);
    }
    if (result != NW_OK) {
        return result;
    }
    store->seek = seek_log;
    store->broken = seek_log != NULL ? (int)NW_ERR_UNSUPPORTED : (int)NW_OK;
    store_set_limit(store);
    store->sequence = head.sequence;
    store->told_sequence = head.sequence;
    store_sweep_from_safe(store);
    store->written = store_block_bytes(store); /* what a mount uses up, more or less */
    result = erase_leftovers(store, &scan);
    return result < 0 ? result : settle(store, &scan);
}

int nw_store_mount(struct nw_store **made, struct nw_chip *chip,
                   const struct nw_store_config *config, void *ram, size_t ram_bytes)
{
    return mount(made, chip, config, ram, ram_bytes, NULL);
}

int nw_store_mount_read_only(struct nw_store **made, struct nw_chip *chip,
                             const struct nw_store_config *config, void *ram, size_t ram_bytes)
{
    return mount(made, chip, config, ram, ram_bytes, store_seek_log);
}
