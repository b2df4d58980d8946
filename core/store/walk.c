/* SPDX-License-Identifier: Apache-2.0 */
/* From chunk to chunk through what was written, and from block to block in the order of writing. */
#include <string.h>

#include "nandwich/crc.h"
#include "store.h"

/* Are bytes blank, but for one bit, which may be read wrong or have flipped? */
static int is_blank(const struct nw_store *store, const uint8_t *bytes, uint16_t count)
{
    uint8_t wrong = 0;

    for (; count > 0 && (wrong & (wrong - 1U)) == 0; count--, bytes++) {
        uint8_t here = (uint8_t)(*bytes ^ store->erased);

        wrong = (wrong & here) != 0 ? 3U : (uint8_t)(wrong | here);
    }
    return (wrong & (wrong - 1U)) == 0;
}

/* Is a header, whose checksum is right, of a store like this one? */
static int is_ours(struct nw_store *store, uint32_t page, const uint8_t *bytes)
{
    if (bytes[3] != store->fan_shift) {
        return NW_ERR_VERSION;
    }
    if (store_seal(store) != NULL) {
        return store_seal(store)->check_head(store, page, bytes);
    }
    return (bytes[2] & BLOCK_SEALED) != 0 ? (int)NW_ERR_KEY : (int)NW_OK;
}

/* The header in a page, as the next function answers. */
int store_look_at_page(struct nw_store *store, uint32_t page, struct block_head *head)
{
    uint8_t bytes[SEALED_BLOCK_HEADER];
    int result = store_written(store, page);

    if (result == 0) {
        return NW_ERR_UNWRITTEN;
    }
    if (result > 0) {
        result = store_read(store, store_at(store, page, 0), store->block_header, bytes, 0);
    }
    if (result < 0) {
        return result == NW_ERR_ECC ? (int)NW_ERR_NOT_FOUND : result;
    }
    if (bytes[0] != 'N' || nw_crc32(NW_CRC32_START, bytes, 20) != nw_get32(bytes + 20)) {
        return store->marks == 0 && is_blank(store, bytes, BLOCK_HEADER) ? (int)NW_ERR_UNWRITTEN
                                                                         : (int)NW_ERR_NOT_FOUND;
    }
    if (bytes[1] != STORE_FORMAT) {
        return NW_ERR_VERSION;
    }
    uint32_t sequence = nw_get32(bytes + 4);
    if (store->any_head == 0 && sequence != STORE_VOID) { /* which ends a store of any key */
        result = is_ours(store, page, bytes);
        if (result < 0) {
            return result;
        }
    }
    head->flags = bytes[2];
    head->sequence = sequence;
    head->anchor = nw_get32(bytes + 8);
    head->first = nw_get16(bytes + 12);
    head->crc = nw_get32(bytes + 12);
    head->page = nw_get32(bytes + 16);
    return NW_OK;
}

/* The header in the first two pages of a block. NW_ERR_UNWRITTEN: both are blank; NW_ERR_NOT_FOUND:
 * neither can be read, nor the first once more; NW_ERR_KEY: the store is sealed and we are not. */
int store_look_at_head(struct nw_store *store, uint32_t page, struct block_head *head)
{
    int first = store_look_at_page(store, page, head);
    int result = first;

    if (first == NW_ERR_UNWRITTEN || first == NW_ERR_NOT_FOUND || first == NW_ERR_KEY) {
        result = store_look_at_page(store, page + 1U, head);
    }
    if (result == NW_ERR_UNWRITTEN && first != NW_ERR_UNWRITTEN) {
        result = store_look_at_page(store, page, head);
        result = result == NW_ERR_UNWRITTEN ? (int)NW_ERR_NOT_FOUND : result;
    }
    return result;
}

/* The header of a block. NW_ERR_NOT_FOUND: there is none that can be read. */
int store_read_head(struct nw_store *store, uint16_t block, struct block_head *head)
{
    int result = store_look_at_head(store, store_first_page(store, block), head);

    return result == NW_ERR_UNWRITTEN || result == NW_ERR_KEY ? (int)NW_ERR_NOT_FOUND : result;
}

/* Does a block that stands in hold what it was begun for? Power may have gone before
 * it did. What a mount writes is not needed before its anchor is whole. 1, 0 or an error. */
static int is_filled(struct nw_store *store, uint16_t block, const struct block_head *head)
{
    uint16_t place = store_place_of(store, head->page);
    uint16_t from = store_page_start(store, head->page);
    uint16_t bytes = (uint16_t)(store->page_bytes - from);
    uint32_t page = store_first_page(store, block) + place;

    if ((head->flags & BLOCK_MOUNT) != 0 || store->behind != STORE_NO_BLOCK) {
        return 1;
    }
    int result = store_written(store, page);
    if (result > 0) {
        result = store_hold(store, page, head->page); /* which is the log's last, perhaps */
    }
    if (result >= 0) {
        uint32_t crc = nw_crc32(NW_CRC32_START, store->buffer + from, bytes);

        if (result > 0 && crc == head->crc) {
            return 1;
        }
        store_let_go(store);
        result = 0;
    }
    return result == NW_ERR_ECC ? 0 : result;
}

/*
 * Learns whether the end of `block` lies in the blocks behind it, up to the newest. The last that
 * stand in count only where they hold what they were begun for, or the log goes on behind them;
 * all before one that counts have failed.
 *
 * Nothing acknowledged is missed. What counts in a block behind this one stands behind a header
 * there, and all blocks on the way were taken in their order, each because the one before had
 * failed or was full. So the next header that can be read, behind any number of blocks without one,
 * either stands in for this block or tells that none does.
 */
int store_find_swap(struct nw_store *store, uint16_t block)
{
    uint16_t next = block;
    uint16_t met = block;  /* the last that stands in, */
    uint16_t last = block; /* and that counts */
    uint16_t from = 0;
    int stands = 1;
    struct block_head head = {.flags = 0};

    while (stands && next != store->newest) {
        int result = store_good_after(store, &next);
        if (next == block) {
            return result; /* once round */
        }
        if (result == NW_OK) {
            result = store_read_head(store, next, &head);
        }
        if (result == NW_ERR_NOT_FOUND) {
            continue; /* it failed before it had a header */
        }
        if (result < 0) {
            return result;
        }
        stands = (head.flags & BLOCK_SWAP) != 0 && store_block_with(store, head.page) == block;
        result = 1;
        if (stands) {
            met = next;
            from = store_place_of(store, head.page);
            result = is_filled(store, next, &head);
            if (result == 0) { /* nor when it is read once more */
                result = is_filled(store, next, &head);
            }
        }
        while (result > 0 && last != met) {
            if (store_add_swap(store, last, from, met) < 0) {
                return NW_ERR_CORRUPT; /* more of them than a store writes */
            }
            int bad = store_good_after(store, &last);
            result = bad < 0 ? bad : result;
        }
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

/* Where `block` ends: in itself, or in the last of those that are known to stand in for it. */
uint16_t store_end_of(const struct nw_store *store, uint16_t block)
{
    return store_block_with(
        store, store_physical(store, store_first_page(store, block) + store->block_pages - 1U));
}

/* The header of the chunk at chunk->at, whose payload ends in the same block, or NW_ERR_CORRUPT. */
static int get_header(const struct nw_store *store, const uint8_t *bytes, struct chunk *chunk)
{
    chunk->kind = bytes[0] & 15U;
    chunk->mask = bytes[0] >> 4;
    chunk->id = bytes[1];
    chunk->generation = bytes[2];
    chunk->length = nw_get16(bytes + 3);
    chunk->key = nw_get32(bytes + 5);
    chunk->crc = nw_get32(bytes + 10);
    return bytes[9] == (uint8_t)(nw_crc16(NW_CRC16_START, bytes, CHUNK_WHAT) & 0xFFU) &&
                   chunk->kind >= CHUNK_DATA && chunk->kind <= CHUNK_IMAGE &&
                   chunk->length <= STORE_LONGEST &&
                   store_block_of(store, store_behind(store, chunk)) ==
                       store_block_of(store, chunk->at)
               ? NW_OK
               : (int)NW_ERR_CORRUPT;
}

static int read_once(struct nw_store *store, uint32_t at, struct chunk *chunk, int ahead)
{
    uint8_t bytes[SEALED_CHUNK_HEADER];

    chunk->at = at;
    if (store_offset_of(store, at) + store->chunk_header > store->page_bytes ||
        store_block_of(store, at) == STORE_NO_BLOCK) {
        return NW_ERR_CORRUPT;
    }
    if (store->grow != 0 && at == store_at(store, store->page, (uint16_t)(store->grow - 1U))) {
        store_close(store);
    }
    int result = store_read(store, at, store->chunk_header, bytes, ahead);
    if (result == NW_OK && store_seal(store) != NULL) {
        store_seal(store)->note(store, at, bytes);
    }
    if (result == NW_OK) {
        uint16_t offset = store_offset_of(store, at);
        uint16_t gap = (uint16_t)(store_align_up(store, offset) - offset); /* before what follows */

        result = is_blank(store, bytes, CHUNK_WHAT) ? (int)NW_ERR_UNWRITTEN
                                                    : get_header(store, bytes, chunk);
        if (result == NW_ERR_CORRUPT && gap > 0 && gap < CHUNK_WHAT &&
            is_blank(store, bytes, gap)) {
            result = NW_ERR_UNWRITTEN;
        }
    }
    if (result < 0) {
        store->stats.place = at;
    }
    return result;
}

/* The header at a position; the payload it tells of ends in the same block. NW_ERR_CORRUPT: there
 * is none, nor when it is read once more; NW_ERR_UNWRITTEN: it is blank. */
int store_read_chunk(struct nw_store *store, uint32_t at, struct chunk *chunk, int ahead)
{
    int result = read_once(store, at, chunk, ahead);

    if (store_is_damage(result)) {
        store->cache_page = STORE_NONE;
        result = read_once(store, at, chunk, ahead);
    }
    return result;
}

/* The same where something tells of a chunk: that there is none is damage. */
int store_read_told(struct nw_store *store, uint32_t at, struct chunk *chunk, int ahead)
{
    int result = store_read_chunk(store, at, chunk, ahead);

    return result == NW_ERR_CORRUPT || result == NW_ERR_UNWRITTEN ? store_damaged(store, at)
                                                                  : result;
}

/*
 * The first chunk at *at or behind it in the same block: 1, and *at is its place; 0: the block
 * holds no more; NW_ERR_CORRUPT: no chunk can be read at *at, although something is written there.
 */
int store_next_chunk(struct nw_store *store, uint32_t *at, struct chunk *chunk)
{
    uint32_t page = store_page_of(store, *at);
    uint16_t offset = store_offset_of(store, *at);
    uint32_t end = page - page % store->block_pages + store->block_pages;

    if (store->torn < end && page < end) { /* of a mount: no more pages count */
        end = page - page % store->block_pages <= store->torn ? store->torn + 1U : end;
    }
    while (page < end) {
        *at = store_at(store, page, offset);
        if ((uint32_t)offset + store->chunk_header <= store->page_bytes) {
            int result = store_written(store, page);
            if (result > 0) {
                result = store_read_chunk(store, *at, chunk, 0);
                result = result == NW_OK ? 1 : result;
            }
            if (result != NW_ERR_UNWRITTEN) {
                return result == NW_ERR_ECC ? (int)NW_ERR_CORRUPT : result;
            }
            /* Blank: what follows begins at a unit of programming, or on the next page. */
            uint16_t unit = store_align_up(store, offset);
            if (unit != offset) {
                offset = unit;
                continue;
            }
        }
        page++;
        offset = store_page_start(store, page);
    }
    return 0;
}

/* Is the payload what was written? It is read in pieces, by way of `by` where that takes more than
 * we do. Without it nothing tells of the chunk, and its end may never have come: NW_ERR_CORRUPT. */
static int check_payload(struct nw_store *store, const struct chunk *chunk, uint8_t *by,
                         uint16_t bytes)
{
    int told = by != NULL;
    uint8_t own[32];
    uint16_t here;
    uint32_t sum = store_sum_begin(store, chunk);

    if (bytes < sizeof own) {
        by = own;
        bytes = sizeof own;
    }
    for (uint16_t at = 0; at < chunk->length; at = (uint16_t)(at + here)) {
        here = (uint16_t)(chunk->length - at);
        here = here < bytes ? here : bytes;
        int result = 1;

        if (!told) {
            uint32_t end = store_data_at(store, chunk, (uint16_t)(at + here));
            result = store_written(store, store_page_of(store, end));
        }
        if (result == 0) {
            return store_damaged(store, chunk->at);
        }
        if (result > 0) {
            result = store_load(store, chunk, at, here, by, 1);
        }
        if (result < 0) {
            return result;
        }
        sum = store_sum_add(store, sum, by, here);
    }
    return store_sum_check(store, sum, chunk);
}

static int look_over(struct nw_store *store, const struct chunk *chunk, void *data, uint16_t bytes,
                     int ahead)
{
    if (bytes < chunk->length || data == NULL) {
        return check_payload(store, chunk, data, bytes);
    }
    uint32_t sum = store_sum_begin(store, chunk);
    int result = store_load(store, chunk, 0, chunk->length, data, ahead);

    sum = store_sum_add(store, sum, data, chunk->length);
    return result == NW_OK ? store_sum_check(store, sum, chunk) : result;
}

/* A chunk's checksum as it now stands on the chip. Sealed, its tag is read with the payload. */
static int read_sum(struct nw_store *store, struct chunk *chunk)
{
    uint8_t bytes[4];

    if (store_seal(store) != NULL) {
        store->sealing->at = STORE_NONE;
        return NW_OK;
    }
    int result = store_read(store, store_after(store, chunk->at, CHUNK_TAG), 4, bytes, 0);
    if (result == NW_OK) {
        chunk->crc = nw_get32(bytes);
    }
    return result;
}

/* All of a chunk's payload, checked; NULL: data is only checked. What is damaged is read once more,
 * checksum and payload, and once again: one read may be wrong, and so may the one that brought what
 * the cache holds since an earlier call. What the chunk is stays as it was told: callers have gone
 * by it, and have not seen what a header says that another read brings. */
int store_payload(struct nw_store *store, struct chunk *chunk, void *data, int ahead)
{
    return store_payload_by(store, chunk, data, data != NULL ? chunk->length : (uint16_t)0, ahead);
}

/* The same; where there are fewer bytes than the payload has it is only checked, by way of them. */
int store_payload_by(struct nw_store *store, struct chunk *chunk, void *data, uint16_t bytes,
                     int ahead)
{
    uint32_t tampered = store->stats.tampered;
    int result = look_over(store, chunk, data, bytes, ahead);

    for (uint8_t tries = 2; tries > 0 && store_is_damage(result); tries--) {
        store->stats.tampered = tampered;
        store->cache_page = STORE_NONE;
        result = read_sum(store, chunk);
        if (result == NW_OK) {
            result = look_over(store, chunk, data, bytes, ahead);
        }
    }
    if (result < 0 && store_seal(store) != NULL && data != NULL) {
        memset(data, 0, bytes); /* nothing unproven is handed out */
    }
    return result;
}

/* Is a chunk whole that the log shows? NW_OK, NW_ERR_CORRUPT, NW_ERR_TAMPERED, or the chip's error.
 */
int store_verify(struct nw_store *store, struct chunk *chunk)
{
    int result = store_payload(store, chunk, NULL, 0);

    return result != NW_ERR_ECC ? result : (int)NW_ERR_CORRUPT;
}

int store_begin_walk(struct nw_store *store, struct walk *walk, uint32_t at, uint16_t last)
{
    struct block_head head;

    walk->at = at;
    walk->end = STORE_NONE;
    walk->last = last;
    walk->block = store_block_of(store, at);
    int result = store_read_head(store, walk->block, &head);
    if (result == NW_OK) {
        walk->sequence = head.sequence;
        walk->mount = (head.flags & BLOCK_MOUNT) != 0 ? head.first : STORE_NO_BLOCK;
    }
    return result;
}

/* On to the next block in the order of writing, whose stand-ins are learnt as those of this one
 * have been: 1, or 0 when this was the last one. Blocks of mounts count only if they belong to the
 * one in which the walk began. */
int store_walk_on(struct nw_store *store, struct walk *walk)
{
    struct block_head head;
    uint16_t next = store_end_of(store, walk->block);

    if (next == store->newest) {
        return 0;
    }
    int result = store_good_after(store, &next);
    if (result == NW_OK && walk->last == STORE_NO_BLOCK) {
        result = store_find_swap(store, next);
    }
    if (result == NW_OK) {
        result = store_read_head(store, next, &head);
    }
    if (result != NW_OK) {
        return result == NW_ERR_NOT_FOUND ? 0 : result;
    }
    uint32_t gap = head.sequence - walk->sequence;
    if (gap == 0 || gap > STORE_SWAPS + 1U ||
        ((head.flags & BLOCK_MOUNT) != 0 && head.first != walk->mount) ||
        ((head.flags & BLOCK_SWAP) != 0 && store_block_with(store, head.page) != next)) {
        return 0;
    }
    walk->block = next;
    walk->sequence = head.sequence;
    walk->at = store_block_start(store, next);
    return 1;
}

/* To the next chunk: 1, and it has to be passed; STORE_WALK_BLOCK; 0: the end; NW_ERR_CORRUPT as
 * store_next_chunk(). */
int store_step(struct nw_store *store, struct walk *walk, struct chunk *chunk)
{
    int result = walk->at == walk->end ? 0 : store_next_chunk(store, &walk->at, chunk);

    if (walk->at == walk->end) {
        return 0;
    }
    if (result == 0 && walk->block != walk->last) {
        result = store_walk_on(store, walk);
        result = result > 0 ? STORE_WALK_BLOCK : result;
    }
    return result;
}
