/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_seal.h - authenticated encryption of a store: what lies on the chip tells nothing but
 * lengths and times, and nothing of it can be changed unnoticed by who has not the key.
 *
 * The store knows no cryptography: the caller's library does it, through the four functions below.
 * ports/seal has them ready for monocypher and libsodium; stores sealed with one are read with the
 * other. Give an open seal to nw_store_config and format; the same key mounts it again. Every bit:
 * docs/spec-store.md. Whom it helps against, line by line: docs/store-threats.md.
 *
 * HOW. Each chunk has a tag of 16 bytes, a keyed hash (BLAKE2b) of its payload, its header and its
 * place, instead of a checksum; the payload is XORed with a keystream (XChaCha20) whose nonce is
 * that tag: a synthetic nonce, as in RFC 5297. So neither random numbers nor a counter that
 * survives power cuts are needed, and a nonce never serves two contents. A damaged chunk that has
 * to be moved loses its payload: reading it is NW_ERR_TAMPERED as before. Headers of blocks are
 * authenticated too.
 *
 * WHAT IS DETECTED. A changed bit, and chunks moved, copied or put in each other's place:
 * NW_ERR_TAMPERED when they are read, and counted in nw_store_stats()->tampered; bytes that are not
 * proven are never handed out. With another key, or without one, a mount answers NW_ERR_KEY. A
 * mount counts there, too, what it cannot use: look at it afterwards, for the next one does not. A
 * number missing since is NW_ERR_CORRUPT, a key of an array NW_ERR_NOT_FOUND or the value it had
 * before. WHAT IS NOT. An older image put back as a whole, or older bytes put back at the very
 * place they once had; and what was written since the newest anchor left out as if it had not been:
 * all from some moment on, or a value or a block that replaced an older one. Who has memory that
 * cannot be put back keeps nw_store_space.sequence there: after a mount it is higher than ever
 * before. ONE KEY, ONE FORMAT. Nothing tells the stores apart that were formatted one after the
 * other with one key. So give each format a key of its own, made of one that is kept and a count of
 * formats, say. WHAT IS SEEN. Lengths, how many objects and elements there are, and when they
 * change; and whether the same element came to lie at the same place twice.
 *
 * COST. 12 bytes more a chunk, 32 a block. A part of a chunk is read by reading all of it; a chunk
 * that is moved is read once for each page its copy touches; a mount reads what it replays. RAM:
 * this struct and the state of the hash. For n bytes the hash goes over n + 1 bytes and three
 * blocks of 128 more, and n / 64 blocks of keystream are made; for a file or a stream that grows in
 * the page buffer twice. A program whose store is built with NW_STORE_UNSEALED has none of this and
 * some 1,100 bytes less on an 8-bit processor: a seal given is NW_ERR_CONFIG, a sealed store met
 * NW_ERR_KEY.
 */
#ifndef NANDWICH_STORE_SEAL_H
#define NANDWICH_STORE_SEAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NW_SEAL_KEY_BYTES 32U
#define NW_SEAL_TAG_BYTES 16U
#define NW_SEAL_STREAM_BYTES 64U

/* What a library does for a seal. `state` is the hash's, one at a time. */
struct nw_seal_library {
    /* Begins a BLAKE2b of 16 bytes with a key of 32. */
    void (*hash_begin)(void *state, const uint8_t *key);
    void (*hash_add)(void *state, const uint8_t *data, uint16_t bytes);
    void (*hash_end)(void *state, uint8_t *hash);
    /* Bytes 64 * block and on of the XChaCha20 keystream: key of 32 bytes, nonce of 24. */
    void (*stream)(const uint8_t *key, const uint8_t *nonce, uint32_t block, uint8_t *bytes);
};

struct nw_seal_verbs; /* the store's own */

/* A seal, for one store at a time, in the caller's RAM as long as the store is. */
struct nw_seal {
    const struct nw_seal_library *library;
    const struct nw_seal_verbs *verbs;
    void *state;
    uint32_t at;                        /* of the chunk whose header was read last */
    uint16_t written;                   /* payload of the chunk being written, so far */
    uint16_t clear;                     /* bytes put next that are not encrypted */
    uint16_t block;                     /* of the keystream below; UINT16_MAX: none */
    uint8_t tag[NW_SEAL_TAG_BYTES];     /* of the chunk whose header was read last */
    uint8_t digest[NW_SEAL_TAG_BYTES];  /* of the payload summed up last */
    uint8_t writing[NW_SEAL_TAG_BYTES]; /* tag of the chunk being written */
    uint8_t hash_key[NW_SEAL_KEY_BYTES];
    uint8_t text_key[NW_SEAL_KEY_BYTES];
    uint8_t nonce[24]; /* of the keystream: a tag and zeros */
    uint8_t stream[NW_SEAL_STREAM_BYTES];
};

/* Makes two keys, for hash and keystream, of one: NW_SEAL_KEY_BYTES of good randomness, not a
 * password. `state` belongs to the seal from now on; the key can be forgotten. */
void nw_seal_open(struct nw_seal *seal, const struct nw_seal_library *library, void *state,
                  const uint8_t *key);

/* Forgets the keys; the store must not be used any more. */
void nw_seal_close(struct nw_seal *seal);

#ifdef __cplusplus
}
#endif

#endif
