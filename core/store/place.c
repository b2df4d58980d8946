/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of positions, blocks and keys. It stands apart from what uses it, for a compiler that
 * sees both puts a copy of it in each place, which is longer than a call.
 */
#include "store.h"

/* Counts up: on processors of 8 bits a call is a third of doing it. */
void store_count(uint32_t *counter, uint16_t more)
{
    *counter += more;
}

/* What a chunk counts in the books: its bytes, and its share of the ends of blocks that stay blank
 * because a chunk does not fit. The share depends on this chunk alone, so taking one chunk never
 * makes another count more. It is whole / block, the chance to meet an end, times at most whole. */
uint32_t store_booked(const struct nw_store *store, uint16_t length)
{
    uint32_t whole = store_whole(store, length);

    return whole + whole * whole / store_block_bytes(store);
}

/* A key without its lowest digits, each of them an entry's place in a node: the index of the node
 * over the key that has so many levels with those below it. */
uint32_t store_shorten(const struct nw_store *store, uint32_t key, uint8_t digits)
{
    uint16_t bits = (uint16_t)digits * store->fan_shift;

    return bits >= 32U ? 0 : key >> bits;
}

/* So many blocks on, no more than once round the chip. */
uint16_t store_block_ahead(const struct nw_store *store, uint16_t block, uint16_t ahead)
{
    uint16_t left = (uint16_t)(store->blocks - block);

    return ahead < left ? (uint16_t)(block + ahead) : (uint16_t)(ahead - left);
}

uint16_t store_next_block(const struct nw_store *store, uint16_t block)
{
    return store_block_ahead(store, block, 1);
}

uint16_t store_block_before(const struct nw_store *store, uint16_t block)
{
    return store_block_ahead(store, block, (uint16_t)(store->blocks - 1U));
}

/* Blocks from the tail on to another. */
uint16_t store_blocks_to(const struct nw_store *store, uint16_t block)
{
    uint16_t blocks = (uint16_t)(block - store->tail);

    return (uint16_t)(block < store->tail ? blocks + store->blocks : blocks);
}

/* STORE_NO_BLOCK: there is no such page. */
uint16_t store_block_with(const struct nw_store *store, uint32_t page)
{
    uint32_t block = page / store->block_pages;

    return block < store->blocks ? (uint16_t)block : STORE_NO_BLOCK;
}

/* Where in its block a page lies. */
uint16_t store_place_of(const struct nw_store *store, uint32_t page)
{
    return (uint16_t)(page % store->block_pages);
}

uint16_t store_block_of(const struct nw_store *store, uint32_t at)
{
    return store_block_with(store, store_page_of(store, at));
}

/* Where chunks begin in a page: behind the header, which stands in a block's first two. */
uint16_t store_page_start(const struct nw_store *store, uint32_t page)
{
    return store_place_of(store, page) < 2U ? store->block_header : 0;
}

uint32_t store_after(const struct nw_store *store, uint32_t at, uint32_t bytes)
{
    uint32_t page = store_page_of(store, at);
    uint32_t offset = store_offset_of(store, at) + bytes;

    while (offset > store->page_bytes) {
        page++;
        offset = offset - store->page_bytes + store_page_start(store, page);
    }
    return store_at(store, page, (uint16_t)offset);
}

/* The position behind a chunk. */
uint32_t store_behind(const struct nw_store *store, const struct chunk *chunk)
{
    return store_after(store, chunk->at, store_whole(store, chunk->length));
}

/* The position of a chunk's payload, from a byte of it on. */
uint32_t store_data_at(const struct nw_store *store, const struct chunk *chunk, uint16_t from)
{
    return store_after(store, chunk->at, store_whole(store, from));
}

/* An offset in a page, or if a program cannot begin there, the next one at which one can. */
uint16_t store_align_up(const struct nw_store *store, uint16_t offset)
{
    uint16_t unit = store->program_bytes; /* like the offset, of a page: 16 KiB at most */

    return (uint16_t)((offset + (unit - 1U)) / unit * unit);
}

/* Where the chunks of a block begin. */
uint32_t store_block_start(const struct nw_store *store, uint16_t block)
{
    return store_at(store, store_first_page(store, block), store->block_header);
}

/* The slot of an object in its table. */
uint8_t store_slot_of(const struct nw_store *store, const struct object *object)
{
    return (uint8_t)((uint8_t)(object - store->objects) % store->slots);
}

uint16_t store_offset_of(const struct nw_store *store, uint32_t at)
{
    return (uint16_t)((uint16_t)at & (uint16_t)((1UL << store->shift) - 1U));
}

/* What callers see of a checkpoint's serial: 1 .. 32,767 round and round. */
int store_number_of(uint32_t serial)
{
    return serial == 0 ? 0 : (int)((serial - 1U) % 32767U) + 1;
}
