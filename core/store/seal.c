/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a store does with a seal, see store_seal.h. It is reached through the verbs at the end only,
 * so that programs which never open a seal do not link it.
 *
 * A payload is summed up to a digest before it is known where the chunk will lie; its tag is
 * the hash of header, position and digest. The synthetic nonce is after Rogaway and Shrimpton,
 * RFC 5297.
 */
#include <stddef.h>
#include <string.h>

#include "nandwich/crc.h"
#include "store.h"

/* What a hash is of: its first byte. */
enum { HASH_KEY = 1, HASH_PAYLOAD, HASH_CHUNK, HASH_BLOCK };

static void begin_hash(struct nw_seal *seal, const uint8_t *key, uint8_t what)
{
    seal->library->hash_begin(seal->state, key);
    seal->library->hash_add(seal->state, &what, 1);
}

/* Sums */

static uint32_t sum_begin(const struct nw_store *store, const struct chunk *chunk)
{
    (void)chunk;
    begin_hash(store->sealing, store->sealing->hash_key, HASH_PAYLOAD);
    return 0;
}

static uint32_t sum_add(const struct nw_store *store, uint32_t sum, const void *data,
                        uint16_t bytes)
{
    store->sealing->library->hash_add(store->sealing->state, data, bytes);
    return sum;
}

static void sum_end(const struct nw_store *store, uint32_t sum, struct chunk *chunk)
{
    struct nw_seal *seal = store->sealing;

    (void)sum;
    (void)chunk;
    seal->library->hash_end(seal->state, seal->digest);
}

/* The tag of a chunk whose payload has this digest. */
static void make_tag(struct nw_seal *seal, const struct chunk *chunk, const uint8_t *digest,
                     uint8_t *tag)
{
    uint8_t bytes[CHUNK_WHAT + 4U];

    store_put_what(chunk, bytes);
    nw_put32(bytes + CHUNK_WHAT, chunk->at);
    begin_hash(seal, seal->hash_key, HASH_CHUNK);
    seal->library->hash_add(seal->state, bytes, sizeof bytes);
    seal->library->hash_add(seal->state, digest, NW_SEAL_TAG_BYTES);
    seal->library->hash_end(seal->state, tag);
}

/* Are two tags the same? Takes the same time wherever they differ. */
static int same(const uint8_t *left, const uint8_t *right)
{
    uint8_t differ = 0;

    for (uint8_t i = 0; i < NW_SEAL_TAG_BYTES; i++) {
        differ = (uint8_t)(differ | (left[i] ^ right[i]));
    }
    return differ == 0;
}

/* The tag of the chunk at a position gets to RAM, unless its header was read last. */
static int find_tag(struct nw_store *store, uint32_t at)
{
    struct nw_seal *seal = store->sealing;
    int result = NW_OK;

    if (seal->at != at) {
        result = store_read(store, store_after(store, at, CHUNK_TAG), NW_SEAL_TAG_BYTES, seal->tag,
                            1);
        seal->at = result < 0 ? STORE_NONE : at;
    }
    return result;
}

static void note(struct nw_store *store, uint32_t at, const uint8_t *bytes)
{
    memcpy(store->sealing->tag, bytes + CHUNK_TAG, NW_SEAL_TAG_BYTES);
    store->sealing->at = at;
}

static int sum_check(struct nw_store *store, uint32_t sum, const struct chunk *chunk)
{
    struct nw_seal *seal = store->sealing;
    uint8_t tag[NW_SEAL_TAG_BYTES];
    int result = find_tag(store, chunk->at);

    sum_end(store, sum, NULL);
    make_tag(seal, chunk, seal->digest, tag);
    if (result < 0 || same(tag, seal->tag)) {
        return result;
    }
    return store_damaged(store, chunk->at);
}

/* Headers of blocks */

/* The header in a page, for the block in which that lies. */
static void tag_head(const struct nw_store *store, uint32_t page, const uint8_t *bytes,
                     uint8_t *tag)
{
    struct nw_seal *seal = store->sealing;
    uint8_t block[4];

    nw_put32(block, store_block_with(store, store_physical(store, page)));
    begin_hash(seal, seal->hash_key, HASH_BLOCK);
    seal->library->hash_add(seal->state, bytes, BLOCK_HEADER);
    seal->library->hash_add(seal->state, block, sizeof block);
    seal->library->hash_end(seal->state, tag);
}

static void head(struct nw_store *store)
{
    uint8_t *bytes = store->buffer;

    bytes[2] |= BLOCK_SEALED;
    nw_put32(bytes + 20, nw_crc32(NW_CRC32_START, bytes, 20));
    tag_head(store, store->page, bytes, bytes + BLOCK_HEADER);
}

static int check_head(const struct nw_store *store, uint32_t page, const uint8_t *bytes)
{
    uint8_t tag[NW_SEAL_TAG_BYTES];

    tag_head(store, page, bytes, tag);
    if ((bytes[2] & BLOCK_SEALED) != 0 && same(tag, bytes + BLOCK_HEADER)) {
        return NW_OK;
    }
    return NW_ERR_KEY; /* not counted: its end may be torn */
}

/* Encryption */

/* XORs payload with the keystream of a tag, from the payload's byte `from` on. */
static void mix(struct nw_seal *seal, const uint8_t *tag, uint16_t from, uint8_t *data,
                uint16_t bytes)
{
    if (memcmp(seal->nonce, tag, NW_SEAL_TAG_BYTES) != 0) {
        memcpy(seal->nonce, tag, NW_SEAL_TAG_BYTES);
        seal->block = UINT16_MAX;
    }
    for (; bytes > 0; bytes--, from++, data++) {
        uint16_t block = from / NW_SEAL_STREAM_BYTES;
        if (block != seal->block) {
            seal->library->stream(seal->text_key, seal->nonce, block, seal->stream);
            seal->block = block;
        }
        *data ^= seal->stream[from % NW_SEAL_STREAM_BYTES];
    }
}

static int load(struct nw_store *store, const struct chunk *chunk, uint16_t from, uint16_t bytes,
                void *data, int ahead)
{
    int result = find_tag(store, chunk->at);

    if (result == NW_OK) {
        result = store_read(store, store_data_at(store, chunk, from), bytes, data, ahead);
    }
    if (result == NW_OK && chunk->kind != CHUNK_IMAGE) { /* the chunks in which are sealed */
        mix(store->sealing, store->sealing->tag, from, data, bytes);
    }
    return result == NW_ERR_CORRUPT ? store_damaged(store, chunk->at) : result; /* blank pages */
}

/* Writing */

static void write_tag(struct nw_seal *seal, const struct chunk *chunk, uint8_t *bytes)
{
    make_tag(seal, chunk, seal->digest, seal->writing);
    memcpy(bytes + CHUNK_TAG, seal->writing, NW_SEAL_TAG_BYTES);
}

static void start(struct nw_store *store, const struct chunk *chunk, uint8_t *bytes)
{
    struct nw_seal *seal = store->sealing;

    write_tag(seal, chunk, bytes);
    seal->clear = SEALED_CHUNK_HEADER;
    seal->written = 0;
}

static void put(struct nw_store *store, uint8_t *data, uint16_t bytes)
{
    struct nw_seal *seal = store->sealing;

    if (seal->clear > 0) { /* the header, or what may grow */
        seal->clear = (uint16_t)(seal->clear > bytes ? seal->clear - bytes : 0);
        return;
    }
    mix(seal, seal->writing, seal->written, data, bytes);
    seal->written = (uint16_t)(seal->written + bytes);
}

/* The chunk in the buffer that grows. */
static uint8_t *growing(const struct nw_store *store)
{
    return store->buffer + store->grow - 1;
}

static void open_last(struct nw_store *store)
{
    struct nw_seal *seal = store->sealing;

    mix(seal, seal->writing, 0, growing(store) + SEALED_CHUNK_HEADER, store->growing.length);
    seal->clear = store->page_bytes; /* and no more of it is put than the page takes */
}

/* What is summed up already, to be written next, is kept. */
static void close_last(struct nw_store *store)
{
    struct nw_seal *seal = store->sealing;
    const struct chunk *chunk = &store->growing;
    uint8_t *payload = growing(store) + SEALED_CHUNK_HEADER;
    uint8_t kept[NW_SEAL_TAG_BYTES];

    memcpy(kept, seal->digest, NW_SEAL_TAG_BYTES);
    (void)sum_begin(store, chunk);
    (void)sum_add(store, 0, payload, chunk->length);
    sum_end(store, 0, NULL);
    write_tag(seal, chunk, growing(store));
    mix(seal, seal->writing, 0, payload, chunk->length);
    memcpy(seal->digest, kept, NW_SEAL_TAG_BYTES);
}

static const struct nw_seal_verbs seal_verbs = {.sum_begin = sum_begin,
                                                .sum_add = sum_add,
                                                .sum_end = sum_end,
                                                .sum_check = sum_check,
                                                .load = load,
                                                .head = head,
                                                .check_head = check_head,
                                                .note = note,
                                                .start = start,
                                                .put = put,
                                                .open = open_last,
                                                .close = close_last};

/* Opening */

/* A key of 32 bytes, by two hashes with numbers of their own. */
static void derive(struct nw_seal *seal, const uint8_t *key, uint8_t number, uint8_t *derived)
{
    for (uint8_t half = 0; half < 2U; half++, number++) {
        begin_hash(seal, key, HASH_KEY);
        seal->library->hash_add(seal->state, &number, 1);
        seal->library->hash_end(seal->state, derived + half * NW_SEAL_TAG_BYTES);
    }
}

void nw_seal_open(struct nw_seal *seal, const struct nw_seal_library *library, void *state,
                  const uint8_t *key)
{
    memset(seal, 0, sizeof *seal);
    seal->library = library;
    seal->verbs = &seal_verbs;
    seal->state = state;
    seal->block = UINT16_MAX;
    seal->at = UINT32_MAX;
    derive(seal, key, 0, seal->hash_key);
    derive(seal, key, 2, seal->text_key);
}

void nw_seal_close(struct nw_seal *seal)
{
    volatile uint8_t *bytes = (volatile uint8_t *)seal; /* else a compiler may leave it out */

    for (size_t i = 0; i < sizeof *seal; i++) {
        bytes[i] = 0;
    }
}
