/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.h - a chip filter that lets a metadata-only twin carry checkable payload: a page that
 * holds one 8-byte word over and over (a token) is kept as that word, any other page goes down as
 * it is, and the twin keeps it. So a layer sees a chip with payload, at 8 bytes a page.
 *
 * Below must be a chip with NW_CHIP_NO_PAYLOAD whose pages are multiples of 8 bytes.
 */
#ifndef NANDWICH_REPLAY_TOKENS_H
#define NANDWICH_REPLAY_TOKENS_H

#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_tokens {
    struct nw_chip chip; /* give &tokens.chip to the layer above */
    struct nw_chip *below;
    struct nw_chip_ops ops;
    uint64_t *words; /* by page; 0: the page below has its own payload or none */
};

/* Opens it over `below`. NW_ERR_CONFIG: not such a chip; NW_ERR_RAM: no memory (malloc). */
int nw_tokens_open(struct nw_tokens *tokens, struct nw_chip *below);
void nw_tokens_close(struct nw_tokens *tokens); /* also when never opened, if all zero */

/* `bytes` bytes of that word; bytes is a multiple of 8. */
void nw_tokens_paint(uint8_t *data, uint32_t bytes, uint64_t word);

/* 1 if these bytes, a multiple of 8, are one word over and over, which is put into *word. */
int nw_tokens_read(const uint8_t *data, uint32_t bytes, uint64_t *word);

#ifdef __cplusplus
}
#endif

#endif
