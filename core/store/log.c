/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one page buffer at the frontier, programmed when it is full or when a sync asks for it,
 * block after block round the chip. A block in which a program fails keeps what it holds; the rest
 * of it lies in the next block from then on, at the same places (a swap), so that no position
 * changes. What fails there in turn lies in the one behind that, and so on.
 */
#include <string.h>

#include "nandwich/crc.h"
#include "store.h"

uint32_t store_physical(const struct nw_store *store, uint32_t page)
{
    uint16_t block = store_block_with(store, page);
    uint16_t place = store_place_of(store, page);

    for (uint8_t i = 0; i < store->swap_count; i++) { /* in the order in which they failed */
        if (store->swap[i].of == block && place >= store->swap[i].from) {
            block = store->swap[i].block;
        }
    }
    return store_first_page(store, block) + place;
}

/* Where the next chunk goes if nothing has to be skipped. */
uint32_t store_frontier(const struct nw_store *store)
{
    return store_at(store, store->page,
                    store->full != PAGE_OPEN ? store->page_bytes : store->offset);
}

/* Blocks */

static int simple(struct nw_store *store, uint16_t block, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip_req req = {.chip = store->chip, .block = block};

    return verb(&req);
}

int store_is_bad(struct nw_store *store, uint16_t block)
{
    store_count(&store->stats.reads, 1);
    return simple(store, block, nw_chip_is_bad);
}

/* On to the next good block in steps of so many, or an error. */
int store_go_to_good(struct nw_store *store, uint16_t *block, uint16_t step)
{
    for (uint16_t left = store->blocks; left > 0; left--) {
        *block = store_block_ahead(store, *block, step);
        int bad = store_is_bad(store, *block);
        if (bad <= 0) {
            return bad;
        }
        store->passed_bad = 1;
    }
    return NW_ERR_BAD_BLOCK;
}

/* The good block after *block, or an error. */
int store_good_after(struct nw_store *store, uint16_t *block)
{
    return store_go_to_good(store, block, 1);
}

int store_mark_bad(struct nw_store *store, uint16_t block)
{
    store->good--;
    store_set_limit(store);
    store_count(&store->stats.retired, 1);
    store->since = UINT32_MAX / 2U; /* have the next anchor say so soon */
    return simple(store, block, nw_chip_mark_bad);
}

static int erase(struct nw_store *store, uint16_t block)
{
    store_count(&store->stats.erases, 1);
    if (store_block_with(store, store->cache_page) == block) {
        store->cache_page = STORE_NONE;
    }
    if (store_block_with(store, store->known) == block) {
        store->known = STORE_NONE;
    }
    return simple(store, block, nw_chip_erase);
}

/* The swap that tells that a block has failed; none: swap_count. */
uint8_t store_swap_of(const struct nw_store *store, uint16_t block)
{
    uint8_t i = 0;

    while (i < store->swap_count && store->swap[i].of != block) {
        i++;
    }
    return i;
}

/* A block that has failed is given up when its turn to be erased comes. 1: this one was. */
static int give_up(struct nw_store *store, uint16_t block)
{
    uint8_t i = store_swap_of(store, block);

    if (i == store->swap_count) {
        return 0;
    }
    for (store->swap_count--; i < store->swap_count; i++) {
        store->swap[i] = store->swap[i + 1U];
    }
    return 1;
}

/* The block into which the frontier's page goes. */
static uint16_t frontier_block(const struct nw_store *store)
{
    if (store->torn != STORE_NONE && store->image == STORE_NONE) {
        return store->behind;
    }
    return store_block_with(store, store_physical(store, store->page));
}

/* Makes a good block of the free ones ready: 1, or 0 when it turns out bad. */
int store_make_ready(struct nw_store *store, uint16_t block)
{
    int result = NW_ERR_ERASE;

    if (give_up(store, block) == 0) {
        result = erase(store, block);
    }
    if (result == NW_ERR_ERASE) { /* a free block is one no more */
        store->free = (uint16_t)(store->free - (store->free > 0 ? 1U : 0U));
        result = store_mark_bad(store, block);
        return result < 0 ? result : 0;
    }
    return result < 0 ? result : 1;
}

/* The next block of the log after *block, erased. NW_ERR_FULL: no free one. */
static int take_block(struct nw_store *store, uint16_t *block)
{
    int ready = 0;

    while (ready == 0 && store->free > 0) { /* each that fails is one less */
        int result = store_good_after(store, block);
        if (result < 0) {
            return result;
        }
        ready = 1;
        if (store->prepared > 0) {
            store->prepared--;
        } else {
            ready = store_make_ready(store, *block);
        }
    }
    if (ready <= 0) {
        return ready < 0 ? ready : (int)NW_ERR_FULL;
    }
    store->free--;
    return NW_OK;
}

/* Erases one more block ahead: 1, or 0 when all free ones are erased. One that has failed, or fails
 * now, is marked bad here. A mount counts it: no more blank blocks lie between it and the log's end
 * than the one at the frontier and those erased ahead, of which idle time has two at most, and as
 * far as that a mount looks for bad ones (newest.c). */
int store_prepare(struct nw_store *store)
{
    uint16_t block = frontier_block(store);
    int result = NW_OK;

    if (store->prepared >= store->free) {
        return 0;
    }
    for (uint16_t ahead = 0; ahead <= store->prepared && result == NW_OK; ahead++) {
        result = store_good_after(store, &block);
    }
    if (result == NW_OK) {
        result = store_make_ready(store, block);
    }
    if (result < 0) {
        return result;
    }
    store->prepared = (uint16_t)(store->prepared + (unsigned)result);
    return 1;
}

/* The header of a block begun now, at the start of the buffer. `page`: of a swap, the first page it
 * stands for, and `crc` that of what it will hold; else STORE_NONE. If it stands for the block of a
 * mount that has ended, it tells where that began to write, and who reads it need not read that
 * block's own header, which may be damaged. */
void store_put_block_head(struct nw_store *store, uint32_t page, uint32_t crc)
{
    uint8_t *bytes = store->buffer;
    uint32_t told = store->told;

    bytes[0] = 'N';
    bytes[1] = STORE_FORMAT;
    bytes[2] = (uint8_t)(store->mounting | (page != STORE_NONE ? BLOCK_SWAP : 0));
    bytes[3] = store->fan_shift;
    nw_put32(bytes + 4, ++store->sequence);
    if (store->mounting != 0) {
        crc = store->first;
    } else if (store->first != STORE_NO_BLOCK) {
        told = store_block_start(store, store->first);
    }
    nw_put32(bytes + 8, told);
    nw_put32(bytes + 12, crc);
    nw_put32(bytes + 16, page);
    nw_put32(bytes + 20, nw_crc32(NW_CRC32_START, bytes, 20));
    if (store_seal(store) != NULL) {
        store_seal(store)->head(store);
    }
}

/* The buffer is that page from now on, empty. Behind a block's first page the header stays. */
static void begin_page(struct nw_store *store, uint32_t page, uint16_t offset)
{
    store->page = page;
    store->offset = offset;
    store->programmed = 0;
    store->programs = 0;
    memset(store->buffer + offset, store->erased, (uint16_t)(store->page_bytes - offset));
}

/* Of a write that failed half-way, when RAM and chip may tell different things: nothing more is
 * written until the next mount. No block left in the middle of a call: that many have failed. */
int store_fail(struct nw_store *store, int result)
{
    if (result < 0) {
        result = result == NW_ERR_FULL ? (int)NW_ERR_PROGRAM : result;
        store->broken = result;
    }
    return result;
}

/* Of one that has changed nothing yet: from a full store something can still be taken. */
int store_fail_early(struct nw_store *store, int result)
{
    return result == NW_ERR_FULL ? result : store_fail(store, result);
}

int store_open_block(struct nw_store *store)
{
    uint16_t block = frontier_block(store);
    int result = store->broken != NW_OK ? store->broken : take_block(store, &block);

    if (result < 0) {
        return store_fail_early(store, result);
    }
    if (store->mounting == 0) {
        store->told = store->anchor;
        store->first = STORE_NO_BLOCK;
    } else if (store->first == STORE_NO_BLOCK) {
        store->first = block;
    }
    store->page = store_first_page(store, block);
    store->programmed = 0;
    store->programs = 0;
    store->left = (uint16_t)(store->block_pages - 1U);
    store->full = PAGE_OPEN;
    if (store->cache == store->buffer) {
        store->cache = NULL;
    }
    if (store->torn != STORE_NONE && store->image == STORE_NONE) {
        return store_put_image(store, store->page);
    }
    begin_page(store, store->page, 0);
    store_put_block_head(store, STORE_NONE, STORE_NONE);
    store->offset = store->block_header;
    store->since += store->block_header;
    return NW_OK;
}

/* Programming */

/* Bytes of the buffer into a page of the chip. */
int store_program(struct nw_store *store, uint32_t page, uint16_t from, uint16_t to)
{
    uint8_t mark = (uint8_t)~store->erased;
    struct nw_chip_req req = {.chip = store->chip,
                              .page = page,
                              .offset = from,
                              .length = (uint16_t)(to - from),
                              .data = store->buffer + from,
                              .spare_length = from == 0 ? store->marks : 0,
                              .spare = &mark};

    store_count(&store->stats.programs, 1);
    store_count(&store->stats.bytes_programmed, req.length);
    return nw_chip_program(&req);
}

int store_add_swap(struct nw_store *store, uint16_t of, uint16_t from, uint16_t block)
{
    if (store->swap_count == STORE_SWAPS) {
        return NW_ERR_PROGRAM;
    }
    store->swap[store->swap_count++] = (struct swap){.of = of, .from = from, .block = block};
    return NW_OK;
}

/* Lays the frontier's page, all of it, and those behind it into the next block. That header comes
 * first, and power may go before the page holds what the failed one had: a CRC tells. A block that
 * fails before the page is whole holds nothing: it is bad at once, and the next one is tried, as if
 * it had not been. */
static int swap_block(struct nw_store *store)
{
    uint16_t failed = frontier_block(store);
    uint16_t place = store_place_of(store, store->page);
    uint16_t from = store_page_start(store, store->page);
    uint16_t block = failed;
    uint32_t crc = nw_crc32(NW_CRC32_START, store->buffer + from,
                            (uint16_t)(store->page_bytes - from));
    uint8_t tries = 0;
    uint8_t kept[SEALED_BLOCK_HEADER];
    int result = take_block(store, &block);

    memcpy(kept, store->buffer, store->block_header);
    store->programmed = 0;
    store->programs = 0;
    while (result == NW_OK) {
        uint32_t first = store_first_page(store, block);

        (void)store_add_swap(store, failed, place, block);
        store_set_limit(store);
        store_count(&store->stats.swapped, 1);
        store_put_block_head(store, store->page, crc);
        for (uint16_t i = 0; i < place && i < 2U && result == NW_OK; i++) { /* pages before it */
            result = store_program(store, first + i, 0, store_align_up(store, store->block_header));
        }
        if (place > 1U) {
            memcpy(store->buffer, kept, store->block_header);
        }
        if (result == NW_OK) {
            result = store_program(store, first + place, 0, store->page_bytes);
        }
        if (result != NW_ERR_PROGRAM || ++tries == STORE_SWAPS) {
            break; /* it may be the chip that fails, not so many blocks */
        }
        store->swap_count--;
        store->sequence--;
        result = store_mark_bad(store, block);
        if (result == NW_OK) {
            result = take_block(store, &block);
        }
    }
    return result;
}

/* Programs the buffer up to `end`; a page that failed and lies elsewhere then takes no more. */
static int program_to(struct nw_store *store, uint16_t end)
{
    int result = store_program(store, store_physical(store, store->page), store->programmed, end);

    if (result == NW_ERR_PROGRAM && store->swap_count < STORE_SWAPS) {
        end = store->page_bytes;
        result = swap_block(store);
    }
    if (result < 0) {
        return store_fail(store, result);
    }
    store->programmed = end;
    store->programs++;
    store->known = store->page;
    store->told_sequence = store->sequence;
    return NW_OK;
}

/* Of the header that stands in the frontier's page, a block's second. */
static uint16_t header_here(const struct nw_store *store)
{
    return store->left == store->block_pages - 2U ? store->block_header : 0;
}

static void next_page(struct nw_store *store)
{
    store->written += (uint16_t)(store->page_bytes - store->offset); /* which stays blank */
    if (store->left == 0) {
        store->full = PAGE_DONE;
        return;
    }
    store->left--;
    begin_page(store, store->page + 1U, header_here(store));
}

/* Bytes more in the log. */
static void count_written(struct nw_store *store, uint16_t bytes)
{
    store_count(&store->since, bytes);
    store_count(&store->written, bytes);
}

/* What the buffer holds goes to the chip; the page stays open if it takes another program. */
int store_flush(struct nw_store *store)
{
    store_close(store);
    if (store->broken != NW_OK || store->full != PAGE_OPEN || store->offset == store->programmed ||
        (store->offset == header_here(store) && store->programmed == 0)) {
        return store->broken;
    }
    int result = program_to(store, store_align_up(store, store->offset));
    if (result < 0) {
        return result;
    }
    uint16_t end = store->programmed;
    count_written(store, (uint16_t)(end - store->offset));
    store->offset = end;
    if (end == store->page_bytes ||
        (store->page_programs != NW_PROGRAMS_UNLIMITED &&
         store->programs >= store->page_programs)) {
        next_page(store);
    }
    return NW_OK;
}

/* What comes next goes to another page. */
int store_leave_page(struct nw_store *store)
{
    uint32_t page = store->page;
    int result = store_flush(store);

    if (result == NW_OK && store->full == PAGE_OPEN && store->page == page &&
        store->programmed > 0) {
        next_page(store);
    }
    return result;
}

/* Appending */

/* The sum of a chunk whose payload is at hand. */
static void sum_up(struct nw_store *store, struct chunk *chunk, const uint8_t *data)
{
    uint32_t sum = store_sum_begin(store, chunk);

    sum = store_sum_add(store, sum, data, chunk->length);
    store_sum_end(store, sum, chunk);
}

/* A chunk that could still grow gets its length and checksum. */
void store_close(struct nw_store *store)
{
    if (store->grow == 0) {
        return;
    }
    uint8_t *header = store->buffer + store->grow - 1;
    uint8_t *data = header + store->chunk_header;
    store->growing.length = (uint16_t)(store->buffer + store->offset - data);
    if (store_seal(store) == NULL) {
        sum_up(store, &store->growing, data);
    }
    store_put_header(&store->growing, header);
    if (store_seal(store) != NULL) {
        store_seal(store)->close(store);
    }
    store->grow = 0;
}

/* To the first place where a chunk with such a payload can lie, `within` a page or over several. */
int store_find_room(struct nw_store *store, uint16_t length, int within)
{
    uint16_t bytes = store_whole(store, length);
    int result = NW_OK;

    if (store->full == PAGE_OPEN) {
        uint16_t here = (uint16_t)(store->page_bytes - store->offset);
        int next = here < (within ? bytes : store->chunk_header);
        uint32_t left = (next ? 0 : here) + store->left * (uint32_t)store->page_bytes;

        left -= store->left == store->block_pages - 1U ? store->block_header : 0;

        if (left < bytes || next) {
            uint32_t page = store->page;
            result = store_flush(store);
            if (result == NW_OK && left < bytes) {
                store->written += left;
                store->full = PAGE_DONE;
            } else if (result == NW_OK && store->page == page) {
                next_page(store);
            }
        }
    }
    if (result == NW_OK && store->full != PAGE_OPEN) {
        result = store_open_block(store);
    }
    return result;
}

/* More payload of the chunk begun last; for one that grows, no more than its page has room for. */
int store_put(struct nw_store *store, const uint8_t *data, uint16_t length)
{
    while (length > 0) {
        uint16_t room = (uint16_t)(store->page_bytes - store->offset);
        uint16_t part = length < room ? length : room;
        uint8_t *to = store->buffer + store->offset;

        if (data != to) { /* a file's block is put together there */
            memcpy(to, data, part);
        }
        if (store_seal(store) != NULL) {
            store_seal(store)->put(store, to, part);
        }
        store->offset = (uint16_t)(store->offset + part);
        count_written(store, part);
        data += part;
        length = (uint16_t)(length - part);
        if (part == room) {
            int result = store_flush(store);
            if (result < 0) {
                return result;
            }
        }
    }
    return NW_OK;
}

/* Begins a chunk whose payload is to follow, all of it, by store_put(): chunk->at is set. */
int store_begin(struct nw_store *store, struct chunk *chunk)
{
    uint8_t bytes[SEALED_CHUNK_HEADER];

    store_close(store);
    if (store->broken != NW_OK) {
        return store->broken;
    }
    int result = store_find_room(store, chunk->length, 0);
    if (result < 0) {
        return result;
    }
    chunk->at = store_frontier(store);
    store_put_header(chunk, bytes);
    if (store_seal(store) != NULL) {
        store_seal(store)->start(store, chunk, bytes);
    }
    return store_put(store, bytes, store->chunk_header);
}

/* The chunk at the end of the log may grow from now on, if it lies in the buffer. */
void store_let_grow(struct nw_store *store, const struct chunk *chunk)
{
    uint16_t whole = store_whole(store, chunk->length);

    if (store->full == PAGE_OPEN && whole <= store->offset - store->programmed &&
        chunk->at == store_frontier(store) - whole) {
        store->grow = (uint16_t)(store->offset - whole + 1U);
        store->growing = *chunk;
        if (store_seal(store) != NULL) { /* it lies there in the clear until it is closed */
            store_seal(store)->open(store);
        }
    }
}

/* A whole chunk of an object: its checksum is worked out here. */
int store_append(struct nw_store *store, const struct object *object, struct chunk *chunk,
                 const uint8_t *data)
{
    chunk->id = store_slot_of(store, object);
    chunk->generation = object->generation;
    sum_up(store, chunk, data);
    int result = store_begin(store, chunk);

    return result < 0 ? result : store_put(store, data, chunk->length);
}

/* Does away with a damaged copy at the end of the log. */
static int drop_copy(struct nw_store *store, const struct chunk *copy)
{
    uint16_t whole = store_whole(store, copy->length);

    if (store->full != PAGE_OPEN || store->offset - store->programmed < whole) {
        return store_find_room(store, (uint16_t)(store->page_bytes - store->chunk_header), 1);
    }
    store->offset = (uint16_t)(store->offset - whole);
    store->written -= whole;
    store->since -= whole;
    memset(store->buffer + store->offset, store->erased, whole);
    return NW_OK;
}

/* Reads a part of what is copied. Sealed, what is begun was proven, so one read was wrong where it
 * is not: once more, with the same tag. */
static int read_source(struct nw_store *store, const struct chunk *from, uint16_t at,
                       uint16_t bytes, uint8_t *data, int begun)
{
    uint32_t tampered = store->stats.tampered;

    if (store_seal(store) == NULL) {
        return store_read(store, store_data_at(store, from, at), bytes, data, 0);
    }
    int result = store_read_proven(store, from, at, bytes, data);
    if (begun && store_is_damage(result)) {
        store->stats.tampered = tampered;
        store->sealing->at = from->at;
        result = store_read_proven(store, from, at, bytes, data);
    }
    return result;
}

/*
 * A copy of a chunk elsewhere on the chip, by way of the buffer itself: to->at is set. What cannot
 * be read is not programmed. What is encrypted again is proven first, where it lies in the buffer:
 * who changes the chip between two reads must not have other bytes encrypted with the same
 * keystream. So for each page that the copy touches all of the chunk is read; its tag stays in RAM
 * from the first time on. Where it is not proven first nothing is written; where it is no more the
 * rest stays erased, and is never encrypted.
 *
 * Damage: the chunk is, or one read of it was. A copy that is all in the buffer is taken back. Else
 * the rest of its page stays blank: a mount takes what is damaged in the page programmed last for
 * the end that a cut has torn, so nothing later may lie there. What the log holds of it a mount
 * passes over, if no right copy follows (redo_chunk() in redo.c).
 */
int store_copy(struct nw_store *store, const struct chunk *from, struct chunk *to)
{
    uint16_t gap = store->chunk_header; /* that is still to be written */
    uint16_t at = 0;
    int spoilt = 0;

    store_close(store);
    uint32_t sum = store_sum_begin(store, from); /* sealed: of no use */
    int result = store_find_room(store, from->length, 0);
    while (result == NW_OK && (gap > 0 || at < from->length)) {
        uint8_t *here = store->buffer + store->offset + gap;
        uint16_t part = (uint16_t)(store->page_bytes - store->offset - gap);

        part = part < from->length - at ? part : (uint16_t)(from->length - at);
        if (!spoilt) {
            result = read_source(store, from, at, part, here, gap == 0);
        }
        if (result < 0) {
            memset(here, store->erased, part);
            if (gap > 0) { /* the log holds nothing of the chunk */
                return result;
            }
            if (store_is_damage(result)) {
                result = NW_OK;
                spoilt = store_seal(store) != NULL;
            } else {
                result = store_fail(store, result);
            }
        }
        sum = nw_crc32(sum, here, part);
        if (gap > 0 && result == NW_OK) {
            result = store_begin(store, to);
            gap = 0;
        }
        if (spoilt) {
            store->sealing->clear = part;
        }
        if (result == NW_OK) {
            result = store_put(store, here, part);
        }
        at = (uint16_t)(at + part);
    }
    if (result == NW_OK && (store_seal(store) != NULL ? spoilt : sum != from->crc)) {
        result = drop_copy(store, to);
        result = result == NW_OK ? (int)NW_ERR_CORRUPT : result;
    }
    return result;
}

/* Reading */

/* Reads what a request with a page of the log asks for. */
static int read_page(struct nw_store *store, struct nw_chip_req *req)
{
    uint32_t page = req->page;

    req->chip = store->chip;
    req->page = store_physical(store, page);
    int result = nw_chip_read(req);
    if (result == NW_ERR_ECC) { /* a read that fails once may not fail the next time */
        store_count(&store->stats.reads, 1);
        result = nw_chip_read(req);
    }
    store_count(&store->stats.reads, 1);
    store_count(&store->stats.bytes_read, (uint16_t)(req->length + req->spare_length));
    if (result > 0) {
        store_count(&store->stats.corrected, (uint16_t)result);
        result = NW_OK;
    }
    if (result == NW_ERR_UNWRITTEN) { /* a damaged header has led here */
        result = NW_ERR_CORRUPT;
    }
    if (store_is_damage(result)) {
        store->stats.place = store_at(store, page, req->offset);
    }
    return result;
}

/* Of a page that is not in the frontier's buffer. */
static int read_part(struct nw_store *store, uint32_t page, uint16_t offset, uint16_t length,
                     uint8_t *data, int ahead)
{
    if (store->cache != NULL && store->cache_page == page && offset >= store->cache_from) {
        memcpy(data, store->cache + offset, length);
        return NW_OK;
    }
    struct nw_chip_req req = {.page = page, .offset = offset};
    if (store->cache != NULL && ahead != 0) {
        store->cache_page = STORE_NONE;
        req.length = (uint16_t)(store->page_bytes - offset);
        req.data = store->cache + offset;
        int result = read_page(store, &req);
        if (result == NW_OK) {
            store->cache_page = page;
            store->cache_from = offset;
            memcpy(data, store->cache + offset, length);
        }
        /* What lies behind may be torn or damaged: that must not take what was asked for along. */
        if (result != NW_ERR_ECC) {
            return result;
        }
        req.page = page;
    }
    req.length = length;
    req.data = data;
    return read_page(store, &req);
}

/* Mounting: does a page lie behind the log's last one, in its block? It reads as blank as it did
 * when that was found. */
static int is_beyond(const struct nw_store *store, uint32_t page)
{
    return page > store->torn &&
           store_block_with(store, page) == store_block_with(store, store->torn);
}

/* Bytes at a position, over page ends. `ahead`: more of the same page will be asked for next. */
int store_read(struct nw_store *store, uint32_t at, uint16_t length, uint8_t *data, int ahead)
{
    uint32_t page = store_page_of(store, at);
    uint16_t offset = store_offset_of(store, at);

    while (length > 0) {
        if (offset >= store->page_bytes) {
            page++;
            offset = store_page_start(store, page);
        }
        uint32_t from = page; /* where the bytes are */
        uint16_t first = offset;

        if (page == store->torn && store->image != STORE_NONE) {
            uint32_t place = store_after(store, store->image, offset + 1U); /* behind the byte */

            from = store_page_of(store, place);
            first = (uint16_t)(store_offset_of(store, place) - 1U);
        }
        uint16_t room = (uint16_t)(store->page_bytes - (first > offset ? first : offset));
        uint16_t part = length < room ? length : room;
        int result = NW_OK;

        if (is_beyond(store, page)) {
            memset(data, store->erased, part);
        } else if (from == store->page && store->full != PAGE_BLIND) {
            memcpy(data, store->buffer + first, part);
        } else {
            result = read_part(store, from, first, part, data, ahead);
        }
        if (result < 0) {
            return result;
        }
        data += part;
        offset = (uint16_t)(offset + part);
        length = (uint16_t)(length - part);
    }
    return NW_OK;
}

/* Was the page ever programmed since its block was erased? 1, 0 or an error: after NW_ERR_ECC, too,
 * none of its data may be read. */
int store_written(struct nw_store *store, uint32_t page)
{
    uint8_t mark = 0;
    int result = NW_OK;

    if (page == store->known || store->marks == 0 || page == store->torn ||
        (page == store->page && store->full != PAGE_BLIND)) {
        return 1;
    }
    if (is_beyond(store, page)) {
        return 0;
    }
    for (uint8_t tries = 2; tries > 0 && result == NW_OK; tries--) {
        struct nw_chip_req req = {.page = page, .spare_length = 1, .spare = &mark};

        result = read_page(store, &req);
        mark ^= store->erased;
        if (mark == 0 || mark == 0xFFU) { /* else a bit of it is wrong, or one read of it */
            break;
        }
    }
    if (result < 0 || (mark & (mark - 1U)) == 0) {
        return result < 0 ? result : 0;
    }
    store->known = page;
    return 1;
}
