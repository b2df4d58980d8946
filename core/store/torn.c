/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log's last page, the only one that a cut may have torn. It may read differently each time, so
 * a mount goes by one reading of it: the page is held in the buffer, as if it were the frontier's,
 * used up, and what the mount decides and copies comes from there. When the buffer is needed, the
 * page goes whole into the first block of the mount (an image), and is read there from then on.
 */
#include <string.h>

#include "store.h"

static void hold(struct nw_store *store, uint32_t page)
{
    store->torn = page;
    store->page = page;
    store->full = PAGE_DONE;
    store->left = 0;
}

/* No page is held. */
void store_let_go(struct nw_store *store)
{
    store->torn = STORE_NONE;
    store->image = STORE_NONE;
    store->full = PAGE_BLIND;
    if (store->cache == store->buffer) {
        store->cache = NULL;
    }
    store->cache_page = STORE_NONE;
}

/* No log is known: no anchor is loaded, no page lies elsewhere, none is known to be written. */
void store_forget_log(struct nw_store *store)
{
    store_let_go(store);
    store->behind = STORE_NO_BLOCK;
    store->cache = store->cache == NULL ? store->buffer : store->cache;
    store->swap_count = 0;
    store->anchor = STORE_NONE;
    store->known = STORE_NONE;
}

/* A page to the buffer; what of it cannot be read is blank there. 1, 0 when all of it is blank, or
 * an error. `page` is where it lies; `as` is where it is to be read from now on. */
int store_hold(struct nw_store *store, uint32_t page, uint32_t as)
{
    uint16_t part = store->page_bytes;
    uint8_t any = 0;

    store_let_go(store);
    int result = store_read(store, store_at(store, page, 0), part, store->buffer, 0);
    if (store_is_damage(result)) {
        part = store->program_bytes;
    } else if (result < 0) {
        return result;
    }
    for (uint16_t at = 0; at < store->page_bytes && result < 0; at = (uint16_t)(at + part)) {
        result = store_read(store, store_at(store, page, at), part, store->buffer + at, 0);
        if (store_is_damage(result)) {
            memset(store->buffer + at, store->erased, part);
        } else if (result < 0) {
            return result;
        }
        result = at + part < store->page_bytes ? (int)NW_ERR_ECC : (int)NW_OK;
    }
    hold(store, as);
    for (uint16_t at = 0; at < store->page_bytes; at++) {
        any |= (uint8_t)(store->buffer[at] ^ store->erased);
    }
    return result < 0 ? result : any != 0;
}

/* The same of a page whose spare byte has told that it was written: 1. One that does not tell so
 * now is taken for blank, 0: its data may not be read. */
static int hold_written(struct nw_store *store, uint32_t page)
{
    int result = store_written(store, page);

    if (result > 0) {
        result = store_hold(store, page, page);
        return result < 0 ? result : 1;
    }
    store_let_go(store);
    memset(store->buffer, store->erased, store->page_bytes);
    hold(store, page);
    return result == NW_ERR_ECC ? 0 : result;
}

/* Is anything whole behind the first page of a block? 1, 0 or an error. The second page's header as
 * a rule, else a chunk. */
static int goes_on(struct nw_store *store, uint16_t block)
{
    uint32_t second = store_first_page(store, block) + 1U;
    struct walk walk = {
        .at = store_block_start(store, block), .end = STORE_NONE, .block = block, .last = block};
    struct block_head head;
    struct chunk chunk;
    int result = store_look_at_page(store, second, &head);

    if (result != NW_ERR_NOT_FOUND && result != NW_ERR_UNWRITTEN && result != NW_ERR_KEY) {
        return result == NW_OK ? 1 : result; /* half a tag looks like another key's */
    }
    result = 1;
    while (result > 0) {
        result = store_step(store, &walk, &chunk);
        if (result > 0) {
            uint32_t end = store_behind(store, &chunk);

            result = store_verify(store, &chunk);
            if (result == NW_OK && store_page_of(store, end) >= second) {
                return 1;
            }
            walk.at = result == NW_OK ? end : walk.at;
            result = result == NW_OK ? 1 : result;
        }
        if (store_is_damage(result)) { /* as meet() in mount.c: on with the next page */
            walk.at = store_at(store, store_page_of(store, walk.at) + 1U, 0);
            result = 1;
        }
    }
    return result;
}

/* The last page of a block that is not blank is held. Where nothing behind the first page is whole
 * that is the first: a mount may have begun to erase a block of which a session had written no
 * more, and what cannot be read in such a block is not blank. 1: pages behind the second are not
 * blank and were passed over. */
static int pin_by_bytes(struct nw_store *store, uint16_t block)
{
    uint32_t first = store_first_page(store, block);
    uint32_t page = first + store->block_pages;
    int whole = 0;
    int result = 0;

    while (result == 0 && page > first + 1U) {
        page--;
        result = store_hold(store, page, page);
        if (result > 0) { /* one read that is wrong must not have the page before believed */
            result = store_hold(store, page, page);
        }
    }
    if (result > 0) {
        whole = goes_on(store, block);
        if (whole == 0) { /* nor what is behind the first page disbelieved */
            result = store_hold(store, page, page);
            whole = result > 0 ? goes_on(store, block) : whole;
        }
    }
    if (result >= 0 && whole == 0) {
        result = store_hold(store, first, first);
    }
    result = whole < 0 ? whole : result;
    return result < 0 ? result : whole == 0 && page > first + 1U;
}

/* The last page of a block that was begun is held, of those that still tell that they were written:
 * in a block whose erase a cut has ended that may be the torn one. Its pages were written in order.
 * Where no spare byte tells whether one was, its bytes do; 1 as above. */
int store_pin(struct nw_store *store, uint16_t block)
{
    uint32_t first = store_first_page(store, block);
    uint16_t low = 0;
    uint16_t high = store->block_pages;
    uint32_t held = store->torn; /* is_filled() in walk.c has held it */
    int result = 1;

    store->torn = STORE_NONE;
    if (store->marks == 0) {
        return pin_by_bytes(store, block);
    }
    while (result > 0 && high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2U);

        result = store_written(store, first + middle);
        if (result != 0 && (result > 0 || result == NW_ERR_ECC)) {
            low = middle;
        } else {
            high = middle;
        }
        result = result < 0 && result != NW_ERR_ECC ? result : 1;
    }
    if (result > 0 && held == first + low) {
        hold(store, held);
    } else if (result > 0) {
        result = hold_written(store, first + low);
        for (; result == 0 && low > 0; low--) {
            result = hold_written(store, first + low - 1U);
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/* The page that an image holds is held, and no log is known: but for reading the image, which may
 * lie in a block that stands in. Its end may lie in the page that is held now. */
static int load_image(struct nw_store *store, const struct chunk *image)
{
    uint16_t shift = store_whole(store, store->block_header);
    uint16_t first = (uint16_t)(store->page_bytes - shift);
    uint8_t rest[SEALED_BLOCK_HEADER + SEALED_CHUNK_HEADER];
    int result = store_read(store, store_data_at(store, image, first), shift, rest, 0);

    if (result == NW_OK) {
        store_let_go(store);
        result = store_read(store, store_data_at(store, image, 0), first, store->buffer, 0);
    }
    if (result == NW_OK) {
        memcpy(store->buffer + first, rest, shift);
        uint32_t sum = store_sum_begin(store, image);
        sum = store_sum_add(store, sum, store->buffer, store->page_bytes);
        result = store_sum_check(store, sum, image);
    }
    store_forget_log(store);
    store_let_go(store); /* the buffer is not the cache's */
    hold(store, image->key);
    return result;
}

/* The page that a mount has read, from its image: it is held. 1; 0: the image is not whole, so the
 * mount had not ended; or an error. */
int store_take_image(struct nw_store *store, uint16_t first)
{
    struct chunk image;
    int result = store_read_chunk(store, store_block_start(store, first), &image, 0);

    if (result == NW_OK && image.kind == CHUNK_IMAGE && image.length == store->page_bytes &&
        store_block_with(store, image.key) != STORE_NO_BLOCK) {
        result = load_image(store, &image);
        return result == NW_OK ? 1 : store_is_damage(result) ? 0 : result;
    }
    return store_is_damage(result) || result == NW_ERR_UNWRITTEN ? 0 : result;
}

/* The page that is held goes to the chip, into the block that is begun now. */
int store_put_image(struct nw_store *store, uint32_t first)
{
    struct chunk chunk = {.kind = CHUNK_IMAGE, .key = store->torn, .length = store->page_bytes};
    uint16_t shift = store_whole(store, store->block_header);
    uint8_t rest[SEALED_BLOCK_HEADER + SEALED_CHUNK_HEADER];
    uint8_t bytes[SEALED_CHUNK_HEADER];

    memcpy(rest, store->buffer + store->page_bytes - shift, shift);
    chunk.at = store_at(store, first, store->block_header);
    uint32_t sum = store_sum_begin(store, &chunk);
    sum = store_sum_add(store, sum, store->buffer, store->page_bytes);
    store_sum_end(store, sum, &chunk);
    for (uint16_t at = store->page_bytes; at > shift; at--) {
        store->buffer[at - 1U] = store->buffer[at - 1U - shift];
    }
    store->page = first;
    store_put_block_head(store, STORE_NONE, STORE_NONE);
    store_put_header(&chunk, bytes);
    if (store_seal(store) != NULL) { /* what it holds is sealed already */
        store_seal(store)->start(store, &chunk, bytes);
    }
    memcpy(store->buffer + store->block_header, bytes, store->chunk_header);
    store->image = store_at(store, first, shift);
    store->offset = store->page_bytes;
    int result = store_flush(store);
    if (result == NW_OK) {
        memcpy(store->buffer + store->offset, rest, shift);
        store->offset = (uint16_t)(store->offset + shift);
    }
    return result;
}
