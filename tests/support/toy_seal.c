/* SPDX-License-Identifier: Apache-2.0 */
#include "toy_seal.h"

#include "nandwich/bytes.h"

/* Each bit of the answer depends on each one of the word (the finalizer of splitmix64). */
static uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31);
}

static void put64(uint8_t *to, uint64_t word)
{
    nw_put32(to, (uint32_t)word);
    nw_put32(to + 4, (uint32_t)(word >> 32));
}

static void add(void *hash, const uint8_t *data, uint16_t bytes)
{
    struct toy_state *state = hash;

    for (uint16_t i = 0; i < bytes; i++) {
        state->left = (state->left ^ data[i]) * 0x100000001B3U;
        state->right = mix(state->right + state->left);
    }
}

/* Eight bytes at a time, of what is always whole. */
static uint64_t add_words(uint64_t word, const uint8_t *data, uint8_t bytes)
{
    for (uint8_t i = 0; i < bytes; i += 8U) {
        uint64_t low = nw_get32(data + i);
        word = mix(word + (low | (uint64_t)nw_get32(data + i + 4) << 32));
    }
    return word;
}

static void begin(void *hash, const uint8_t *key)
{
    struct toy_state *state = hash;

    state->left = add_words(0xCBF29CE484222325U, key, NW_SEAL_KEY_BYTES);
    state->right = 0;
}

static void end(void *hash, uint8_t *tag)
{
    struct toy_state *state = hash;

    put64(tag, mix(state->left ^ state->right));
    put64(tag + 8, mix(state->right));
}

static void stream(const uint8_t *key, const uint8_t *nonce, uint32_t block, uint8_t *bytes)
{
    uint64_t word = add_words(add_words(block, key, NW_SEAL_KEY_BYTES), nonce, 24);

    for (uint8_t i = 0; i < NW_SEAL_STREAM_BYTES; i += 8U) {
        put64(bytes + i, mix(word + i));
    }
}

const struct nw_seal_library toy_seal_library = {
    .hash_begin = begin, .hash_add = add, .hash_end = end, .stream = stream};
