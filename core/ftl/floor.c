/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks and the log in them: see floor.h. */
#include "floor.h"

#include <stddef.h>

#define LEAST_LIST 3U /* the base, one that fails, and one */
#define LEAST_FREE 2U /* blocks: the stretch ends before there are fewer */

int nw_floor_tag(struct nw_floor *floor, uint32_t page)
{
    return nw_tagged_read(&floor->tagged, page, 0, NULL);
}

void nw_floor_note(struct nw_floor *floor, uint32_t page, int corrected)
{
    if (floor->scrub_bits != 0 && corrected >= floor->scrub_bits) {
        floor->scrub = (uint16_t)(page / floor->block_pages);
    }
}

int nw_floor_read(struct nw_floor *floor, uint32_t page, uint8_t *data)
{
    int state = nw_tagged_read(&floor->tagged, page, floor->page_bytes, data);

    nw_floor_note(floor, page, floor->tagged.corrected);
    return state == NW_TAG_GOOD && floor->tagged.tag.crc == nw_tag_sum(data, floor->page_bytes)
               ? NW_FLOOR_WHOLE
               : state;
}

int nw_floor_is_bad(struct nw_floor *floor, unsigned block)
{
    floor->tagged.req.block = block;
    return nw_chip_is_bad(&floor->tagged.req);
}

int nw_floor_is_live(const struct nw_floor *floor, uint32_t page)
{
    return floor->live == NULL || ((unsigned)floor->live[page / 8U] >> page % 8U & 1U) != 0;
}

void nw_floor_reach(struct nw_floor *floor, uint32_t page, int is)
{
    uint32_t block = page / floor->block_pages;

    if (page == 0 || block >= floor->blocks) {
        return;
    }
    uint8_t *count = &floor->counts[block];

    if (floor->live != NULL) {
        unsigned bit = 1U << page % 8U;
        unsigned others = floor->live[page / 8U] & ~bit;

        floor->live[page / 8U] = (uint8_t)(is ? others | bit : others);
    }
    if (*count >= NW_FLOOR_FREE) {
        return;
    }
    if (is) {
        *count = (uint8_t)(*count + (*count < NW_FLOOR_FREE - 1U));
    } else if (*count != 0) {
        (*count)--;
        floor->empty = (uint16_t)(floor->empty + (*count == 0));
    }
}

static int is_among(const uint16_t *blocks, unsigned count, unsigned block)
{
    while (count > 0) {
        count--;
        if (blocks[count] == block) {
            return 1;
        }
    }
    return 0;
}

int nw_floor_is_failed(const struct nw_floor *floor, unsigned block)
{
    return is_among(floor->failed, floor->failed_count, block);
}

/* With no room for its name the block fails again one day, and is named then. */
void nw_floor_fail(struct nw_floor *floor, unsigned block)
{
    if (floor->failed_count < NW_FLOOR_FAILED && !nw_floor_is_failed(floor, block)) {
        floor->failed[floor->failed_count] = (uint16_t)block;
        floor->failed_count++;
    }
}

/* Where the mark fails too the block is named in each root from now on, as one to be marked. */
int nw_floor_retire(struct nw_floor *floor, unsigned block)
{
    floor->counts[block] = NW_FLOOR_OUT;
    floor->tagged.req.block = block;
    floor->tagged.stats->retired++;
    int result = nw_chip_mark_bad(&floor->tagged.req);

    if (result == NW_ERR_PROGRAM || result == NW_ERR_ERASE) {
        nw_floor_fail(floor, block);
        result = NW_OK;
    }
    return result;
}

int nw_floor_retire_failed(struct nw_floor *floor)
{
    int result = NW_OK;

    for (unsigned i = 0; i < floor->failed_count && result == NW_OK;) {
        uint16_t block = floor->failed[i];

        if (block != floor->current && floor->counts[block] == 0) {
            floor->failed_count--;
            floor->failed[i] = floor->failed[floor->failed_count];
            result = nw_floor_retire(floor, block);
        } else {
            i++;
        }
    }
    return result;
}

int nw_floor_erase(struct nw_floor *floor, unsigned block)
{
    uint32_t first = (uint32_t)block * floor->block_pages;

    floor->map->forget(floor, first, first + floor->block_pages);
    floor->tagged.req.block = block;
    floor->tagged.stats->erases++;
    int result = nw_chip_erase(&floor->tagged.req);

    if (result == NW_ERR_ERASE) {
        return nw_floor_retire(floor, block);
    }
    return result < 0 ? result : 1;
}

int nw_floor_clear(struct nw_floor *floor, unsigned block)
{
    int result = nw_floor_is_bad(floor, block);

    return result == 0 ? nw_floor_erase(floor, block) : result < 0 ? result : 0;
}

/* The next free block that is not erased yet. There is one. */
static uint16_t next_free(struct nw_floor *floor)
{
    do {
        floor->hand = (uint16_t)(floor->hand + 1U < floor->blocks ? floor->hand + 1U : 0U);
    } while (floor->counts[floor->hand] != NW_FLOOR_FREE || floor->hand == floor->ahead);
    return floor->hand;
}

void nw_floor_fill_list(struct nw_floor *floor, unsigned keep)
{
    while (floor->listed < NW_FLOOR_LIST && floor->free > keep) {
        uint16_t block = next_free(floor);

        floor->list[floor->listed] = block;
        floor->listed++;
        floor->counts[block] = NW_FLOOR_OUT;
        floor->free--;
    }
}

int nw_floor_may_erase(const struct nw_floor *floor)
{
    return floor->ahead == NW_FLOOR_NO_BLOCK && floor->free != 0 && !floor->unconfirmed;
}

int nw_floor_erase_ahead(struct nw_floor *floor)
{
    unsigned block = next_free(floor);
    int result = nw_floor_erase(floor, block);

    if (result > 0) {
        floor->ahead = (uint16_t)block;
    } else {
        floor->free = (uint16_t)(floor->free - (floor->counts[block] == NW_FLOOR_OUT));
    }
    return result < 0 ? result : (int)NW_OK;
}

int nw_floor_program(struct nw_floor *floor, uint32_t word, uint8_t *data)
{
    int is_sector = (word & (NW_FLOOR_OWN | NW_FLOOR_TWICE)) == 0;
    int has = is_sector ? (word & NW_FLOOR_DAMAGED) == 0 : data != NULL;
    uint16_t length = has ? floor->page_bytes : (uint16_t)0;

    if (is_sector && !floor->payload) {
        data = NULL;
    }
    NW_INVARIANT(floor->left != 0 && !floor->must_mount);
    NW_INVARIANT(floor->next / floor->block_pages == floor->current);
    if (is_sector || (word & NW_FLOOR_SECOND) == 0) { /* a second copy has the sum of the first */
        floor->tagged.tag.crc = nw_tag_sum(data, length);
    }
    floor->tagged.tag.word = word;
    floor->tagged.tag.version = floor->version;
    floor->tagged.tag.erases = floor->before;
    floor->tagged.stats->map_programs += is_sector ? 0U : 1U;
    int result = nw_tagged_program(&floor->tagged, floor->next, length, data);

    if (result < 0) { /* done or not: nobody knows */
        floor->must_mount = 1;
        if (result == NW_ERR_PROGRAM) {
            nw_floor_fail(floor, floor->current);
        }
        return result;
    }
    floor->before = is_sector ? word & ~(uint32_t)NW_FLOOR_DAMAGED : (uint32_t)NW_FLOOR_NONE;
    if (!floor->mounting && word != NW_FLOOR_ROOT) {
        floor->sure = floor->next;
        floor->sure_sector = floor->before;
    }
    floor->next++;
    floor->left--;
    return NW_OK;
}

int nw_floor_is_begun(const struct nw_floor *floor, unsigned block)
{
    return is_among(floor->begun_at, floor->begun, block);
}

static void go_on(struct nw_floor *floor)
{
    floor->begun_at[floor->begun] = floor->current;
    floor->begun++;
    floor->next = (uint32_t)floor->current * floor->block_pages;
    floor->left = floor->used_pages;
}

void nw_floor_begin(struct nw_floor *floor, uint64_t version)
{
    floor->begun = 0;
    floor->ends = 0;
    floor->before = NW_FLOOR_NONE;
    floor->version = version;
    go_on(floor);
}

/* The newest root counts now. It reaches nothing in failed blocks that were emptied before: a mark
 * may take what is in a block along (oob.h). */
static int confirm(struct nw_floor *floor)
{
    floor->unconfirmed = 0;
    floor->map->confirmed(floor);
    int result = nw_floor_retire_failed(floor);

    if (result < 0) {
        floor->must_mount = 1; /* the map does not know of the page at hand */
    }
    return result;
}

int nw_floor_append(struct nw_floor *floor, uint32_t word, uint8_t *data)
{
    int result = nw_floor_program(floor, word, data);

    return result == NW_OK && floor->unconfirmed ? confirm(floor) : result;
}

int nw_floor_program_twice(struct nw_floor *floor, uint32_t word, uint32_t more)
{
    int result = nw_floor_program(floor, word, floor->buffer);

    return result == NW_OK ? nw_floor_program(floor, word + more, floor->buffer) : result;
}

int nw_floor_append_twice(struct nw_floor *floor, uint32_t word)
{
    int result = nw_floor_append(floor, word, floor->buffer);

    return result == NW_OK ? nw_floor_append(floor, word | NW_FLOOR_SECOND, floor->buffer) : result;
}

int nw_floor_confirm(struct nw_floor *floor)
{
    return floor->unconfirmed ? nw_floor_append(floor, NW_FLOOR_FILL, NULL) : (int)NW_OK;
}

static void put_blocks(uint8_t *to, const uint16_t *blocks, unsigned count, unsigned room)
{
    for (unsigned i = 0; i < room; i++) {
        nw_put16(to + 2U * i, i < count ? blocks[i] : (uint16_t)NW_FLOOR_NO_BLOCK);
    }
}

void nw_floor_put_list(struct nw_floor *floor)
{
    put_blocks(floor->buffer + NW_FLOOR_LIST_AT, floor->list, floor->listed, NW_FLOOR_LIST);
    floor->buffer[NW_FLOOR_LISTED_AT] = floor->listed;
}

int nw_floor_put_root(struct nw_floor *floor)
{
    uint8_t *to = floor->buffer;
    uint32_t page = floor->next;

    nw_put32(to + NW_FLOOR_MAGIC_AT, floor->map->magic);
    nw_put16(to + NW_FLOOR_BLOCKS_AT, floor->blocks);
    nw_put16(to + NW_FLOOR_PAGES_AT, floor->block_pages);
    nw_floor_put_list(floor);
    put_blocks(to + NW_FLOOR_FAILED_AT, floor->failed, floor->failed_count, NW_FLOOR_FAILED);
    to[NW_FLOOR_FAILED_COUNT_AT] = floor->failed_count;
    int result = nw_floor_program_twice(floor, NW_FLOOR_ROOT, 0);

    if (result == NW_OK) {
        floor->map->rooted(floor, page);
    }
    return result;
}

/* Blocks that the root at hand does not reach: they may be erased when it counts. */
static void release(struct nw_floor *floor)
{
    for (unsigned block = 0; block < floor->blocks; block++) {
        if (floor->counts[block] == 0 && !nw_floor_is_begun(floor, block) &&
            !nw_floor_is_failed(floor, block)) {
            floor->counts[block] = NW_FLOOR_FREE;
            floor->free++;
        }
    }
    floor->empty = 0;
}

/* The root as the map is now to the buffer, with blocks for mounts: two free ones stay, the one at
 * hand and the next. */
static int build(struct nw_floor *floor)
{
    nw_floor_fill_list(floor, 2);
    return floor->map->build(floor);
}

/* A root within the block, but not in a next block's first page. What it names as free is so at
 * once: its second copy shows that the first is whole. */
static int save_inside(struct nw_floor *floor)
{
    int result = NW_OK;

    if (floor->left == floor->used_pages) {
        result = nw_floor_program(floor, NW_FLOOR_FILL, NULL);
    }
    if (result == NW_OK) {
        result = build(floor);
    }
    if (result == NW_OK) {
        result = nw_floor_put_root(floor);
    }
    if (result == NW_OK) {
        release(floor);
        result = confirm(floor);
    }
    return result;
}

/* When free blocks fail one after the other the list for mounts lends one. */
static void borrow(struct nw_floor *floor)
{
    if (floor->free == 0 && floor->listed > LEAST_LIST) {
        floor->listed--;
        floor->ends = 1; /* the stretch's root lists it */
        floor->counts[floor->list[floor->listed]] = NW_FLOOR_FREE;
        floor->free++;
    }
}

/* May the block that is erased go on with the stretch at hand? Not one whose first page has no
 * number; and the next root needs blocks, too. */
static int may_go_on(const struct nw_floor *floor)
{
    return floor->begun < floor->stretch && (floor->version & NW_FLOOR_MOUNT) == 0 &&
           !floor->ends && floor->free > LEAST_FREE && floor->ahead != 0;
}

/* The block that is erased, to be written next. */
static void take_ahead(struct nw_floor *floor)
{
    floor->current = floor->ahead;
    floor->ahead = NW_FLOOR_NO_BLOCK;
    floor->counts[floor->current] = 0;
    floor->free--;
}

/* The next block of the log. */
static int open_block(struct nw_floor *floor)
{
    int result = NW_OK;

    NW_INVARIANT(!floor->unconfirmed);
    while (result == NW_OK && floor->ahead == NW_FLOOR_NO_BLOCK) {
        borrow(floor);
        result = floor->free != 0 ? nw_floor_erase_ahead(floor) : (int)NW_ERR_FULL;
    }
    int goes_on = may_go_on(floor);

    if (result == NW_OK && !goes_on) {
        result = build(floor);
    }
    if (result != NW_OK) {
        return result;
    }
    take_ahead(floor);
    if (goes_on) {
        floor->version++;
        go_on(floor);
        return NW_OK;
    }
    nw_floor_begin(floor, (floor->version + NW_FLOOR_SESSION) & ~(uint64_t)(NW_FLOOR_SESSION - 1U));
    release(floor);
    floor->unconfirmed = 1;
    return nw_floor_put_root(floor);
}

/* The last free block may fail when it is erased. Where others wait for a root, that one is written
 * while the block at hand has room for it. */
int nw_floor_room(struct nw_floor *floor, unsigned pages)
{
    int result = NW_OK;

    if (floor->free < 2U && floor->empty != 0 && floor->left >= NW_FLOOR_ROOTS &&
        floor->left < NW_FLOOR_ROOTS + pages) {
        result = save_inside(floor);
    }
    return result == NW_OK && floor->left < pages ? open_block(floor) : result;
}

int nw_floor_save(struct nw_floor *floor)
{
    if (floor->left >= NW_FLOOR_ROOTS) {
        return save_inside(floor);
    }
    floor->ends = 1;
    int result = open_block(floor);

    return result == NW_OK ? nw_floor_confirm(floor) : result;
}
