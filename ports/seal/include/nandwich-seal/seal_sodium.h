/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_sodium.h - a store's seal by libsodium, for hosts: the command and the Python binding use
 * it. It and seal_monocypher.h seal alike.
 */
#ifndef NANDWICH_SEAL_SODIUM_H
#define NANDWICH_SEAL_SODIUM_H

#include <sodium.h>

#include "nandwich/store_seal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About 700 bytes, aligned to 64. */
struct nw_seal_sodium {
    struct nw_seal seal; /* for nw_store_config */
    crypto_generichash_state hash;
};

/* Opens the seal with a key of NW_SEAL_KEY_BYTES; nw_seal_close(&sodium->seal) ends it. */
void nw_seal_sodium_open(struct nw_seal_sodium *sodium, const uint8_t *key);

#ifdef __cplusplus
}
#endif

#endif
