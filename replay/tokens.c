/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/tokens.h"

#include <stdlib.h>
#include <string.h>

#define WORD 8U

void nw_tokens_paint(uint8_t *data, uint32_t bytes, uint64_t word)
{
    for (uint32_t i = 0; i < bytes; i += WORD) {
        memcpy(data + i, &word, WORD);
    }
}

int nw_tokens_read(const uint8_t *data, uint32_t bytes, uint64_t *word)
{
    memcpy(word, data, WORD);
    return memcmp(data, data + WORD, bytes - WORD) == 0;
}

static struct nw_tokens *tokens_of(const struct nw_chip_req *req)
{
    return req->chip->context;
}

/* Calls the chip below with another data pointer; the request comes back as it was. */
static int pass(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *), uint8_t *data)
{
    struct nw_chip *own = req->chip;
    uint8_t *given = req->data;
    int result;

    req->chip = tokens_of(req)->below;
    req->data = data;
    result = verb(req);
    req->chip = own;
    req->data = given;
    return result;
}

static int tokens_read(struct nw_chip_req *req)
{
    struct nw_tokens *tokens = tokens_of(req);
    uint64_t word = tokens->words[req->page];
    int result;

    if (req->length == 0 || word == 0) {
        return pass(req, nw_chip_read, req->data);
    }
    result = pass(req, nw_chip_read, NULL);
    if (result >= 0 && req->data != NULL) {
        for (uint32_t i = 0; i < req->length; i++) {
            req->data[i] = ((const uint8_t *)&word)[(req->offset + i) % WORD];
        }
    }
    return result;
}

static int tokens_program(struct nw_chip_req *req)
{
    struct nw_tokens *tokens = tokens_of(req);
    uint64_t word;

    if (req->length != req->chip->geometry.page_bytes || req->data == NULL ||
        nw_tokens_read(req->data, req->length, &word) == 0) {
        /* A program of spare bytes alone leaves the data as it is. */
        tokens->words[req->page] = req->length == 0 ? tokens->words[req->page] : 0;
        return pass(req, nw_chip_program, req->data);
    }
    tokens->words[req->page] = word;
    return pass(req, nw_chip_program, word != 0 ? NULL : req->data);
}

static void forget(const struct nw_chip_req *req)
{
    struct nw_tokens *tokens = tokens_of(req);
    uint32_t pages = req->chip->geometry.block_pages;

    memset(tokens->words + (size_t)req->block * pages, 0, pages * sizeof *tokens->words);
}

static int tokens_erase(struct nw_chip_req *req)
{
    forget(req);
    return pass(req, nw_chip_erase, req->data);
}

static int tokens_heal(struct nw_chip_req *req)
{
    forget(req);
    return pass(req, nw_chip_heal, req->data);
}

static int tokens_is_bad(struct nw_chip_req *req)
{
    return pass(req, nw_chip_is_bad, req->data);
}

static int tokens_mark_bad(struct nw_chip_req *req)
{
    return pass(req, nw_chip_mark_bad, req->data);
}

static int tokens_copy(struct nw_chip_req *req)
{
    struct nw_tokens *tokens = tokens_of(req);

    tokens->words[req->to_page] = tokens->words[req->page];
    return pass(req, nw_chip_copy, req->data);
}

int nw_tokens_open(struct nw_tokens *tokens, struct nw_chip *below)
{
    const struct nw_geometry *geometry = &below->geometry;

    memset(tokens, 0, sizeof *tokens);
    if ((geometry->flags & NW_CHIP_NO_PAYLOAD) == 0 || geometry->page_bytes % WORD != 0) {
        return NW_ERR_CONFIG;
    }
    tokens->words = calloc((size_t)geometry->blocks * geometry->block_pages, WORD);
    if (tokens->words == NULL) {
        return NW_ERR_RAM;
    }
    tokens->ops = (struct nw_chip_ops){.read = tokens_read,
                                       .program = tokens_program,
                                       .erase = tokens_erase,
                                       .is_bad = tokens_is_bad,
                                       .mark_bad = tokens_mark_bad,
                                       .copy = below->ops->copy != NULL ? tokens_copy : NULL,
                                       .heal = tokens_heal};
    tokens->below = below;
    tokens->chip.ops = &tokens->ops;
    tokens->chip.context = tokens;
    tokens->chip.geometry = *geometry;
    tokens->chip.geometry.flags &= (uint8_t)~NW_CHIP_NO_PAYLOAD;
    tokens->chip.geometry.buffers = 0;
    return NW_OK;
}

void nw_tokens_close(struct nw_tokens *tokens)
{
    free(tokens->words);
    memset(tokens, 0, sizeof *tokens);
}
