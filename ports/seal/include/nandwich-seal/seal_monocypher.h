/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_monocypher.h - a store's seal by monocypher (version 4, BSD or CC0), for firmware: add its
 * monocypher.c, this folder's seal_monocypher.c and core/ to the build.
 *
 *     static struct nw_seal_monocypher sealing;
 *
 *     nw_seal_monocypher_open(&sealing, key);
 *     config.seal = &sealing.seal;
 *     result = nw_store_mount(&store, chip, &config, ram, sizeof ram);
 */
#ifndef NANDWICH_SEAL_MONOCYPHER_H
#define NANDWICH_SEAL_MONOCYPHER_H

#include <monocypher.h>

#include "nandwich/store_seal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About 500 bytes. */
struct nw_seal_monocypher {
    struct nw_seal seal; /* for nw_store_config */
    crypto_blake2b_ctx hash;
};

/* Opens the seal with a key of NW_SEAL_KEY_BYTES; nw_seal_close(&monocypher->seal) ends it. */
void nw_seal_monocypher_open(struct nw_seal_monocypher *monocypher, const uint8_t *key);

#ifdef __cplusplus
}
#endif

#endif
