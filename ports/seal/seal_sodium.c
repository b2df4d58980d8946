/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-seal/seal_sodium.h"

#include <string.h>

static void hash_begin(void *state, const uint8_t *key)
{
    (void)crypto_generichash_init(state, key, NW_SEAL_KEY_BYTES, NW_SEAL_TAG_BYTES);
}

static void hash_add(void *state, const uint8_t *data, uint16_t bytes)
{
    (void)crypto_generichash_update(state, data, bytes);
}

static void hash_end(void *state, uint8_t *hash)
{
    (void)crypto_generichash_final(state, hash, NW_SEAL_TAG_BYTES);
}

static void stream(const uint8_t *key, const uint8_t *nonce, uint32_t block, uint8_t *bytes)
{
    memset(bytes, 0, NW_SEAL_STREAM_BYTES);
    (void)crypto_stream_xchacha20_xor_ic(bytes, bytes, NW_SEAL_STREAM_BYTES, nonce, block, key);
}

static const struct nw_seal_library library = {
    .hash_begin = hash_begin, .hash_add = hash_add, .hash_end = hash_end, .stream = stream};

void nw_seal_sodium_open(struct nw_seal_sodium *sodium, const uint8_t *key)
{
    nw_seal_open(&sodium->seal, &library, &sodium->hash, key);
}
