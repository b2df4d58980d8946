/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-seal/seal_monocypher.h"

#include <stddef.h>

static void hash_begin(void *state, const uint8_t *key)
{
    crypto_blake2b_keyed_init(state, NW_SEAL_TAG_BYTES, key, NW_SEAL_KEY_BYTES);
}

static void hash_add(void *state, const uint8_t *data, uint16_t bytes)
{
    crypto_blake2b_update(state, data, bytes);
}

static void hash_end(void *state, uint8_t *hash)
{
    crypto_blake2b_final(state, hash);
}

static void stream(const uint8_t *key, const uint8_t *nonce, uint32_t block, uint8_t *bytes)
{
    (void)crypto_chacha20_x(bytes, NULL, NW_SEAL_STREAM_BYTES, key, nonce, block);
}

static const struct nw_seal_library library = {
    .hash_begin = hash_begin, .hash_add = hash_add, .hash_end = hash_end, .stream = stream};

void nw_seal_monocypher_open(struct nw_seal_monocypher *monocypher, const uint8_t *key)
{
    nw_seal_open(&monocypher->seal, &library, &monocypher->hash, key);
}
