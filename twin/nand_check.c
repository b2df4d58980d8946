/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller promised in chip.h, checked to the byte; the first breach is kept. */
#include <stdio.h>
#include <string.h>

#include "nand_internal.h"

static const char *const verb_names[] = {
    "no call",     "read",        "program",      "erase",          "is_bad", "mark_bad", "copy",
    "buffer_load", "buffer_read", "buffer_write", "buffer_program", "heal",
};

const char *nw_verb_name(uint8_t verb)
{
    return verb_names[verb <= NW_VERB_HEAL ? verb : NW_VERB_NONE];
}

int nw_nand_refuse(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb, uint32_t page,
                   int error, const char *why)
{
    nand->stats.misuses++;
    if (nand->misuse.error == 0) {
        nand->misuse.error = error;
        nand->misuse.verb = verb;
        nand->misuse.page = page;
        nand->misuse.block = nand_block_of(nand, page);
        nand->misuse.offset = req->offset;
        nand->misuse.length = req->length;
        nand->misuse.spare_offset = req->spare_offset;
        nand->misuse.spare_length = req->spare_length;
        nand->misuse.operation = nand->operations - 1U;
        nand->misuse.why = why;
    }
    return error;
}

const struct nw_misuse *nw_nand_misuse(const struct nw_nand *nand)
{
    return &nand->misuse;
}

void nw_nand_forgive(struct nw_nand *nand)
{
    memset(&nand->misuse, 0, sizeof nand->misuse);
}

int nw_misuse_text(const struct nw_misuse *misuse, char *text, size_t bytes)
{
    int wrote;

    if (misuse->error == 0) {
        wrote = snprintf(text, bytes, "no misuse");
    } else {
        wrote = snprintf(text, bytes,
                         "operation %llu: %s of page %lu (block %lu), data %u+%u, spare %u+%u: %s",
                         (unsigned long long)misuse->operation, nw_verb_name(misuse->verb),
                         (unsigned long)misuse->page, (unsigned long)misuse->block, misuse->offset,
                         misuse->length, misuse->spare_offset, misuse->spare_length, misuse->why);
    }
    return wrote < 0 || (size_t)wrote < bytes ? wrote : (int)bytes - 1;
}

/* Bits first .. first + count - 1 of `bits`: any set? When not, and `set`, set them all. */
static bool bits_taken(uint64_t *bits, uint32_t first, uint32_t count, bool set)
{
    while (count > 0) {
        uint32_t shift = first & 63U;
        uint32_t here = 64U - shift < count ? 64U - shift : count;
        uint64_t mask = (here == 64U ? UINT64_MAX : (1ULL << here) - 1U) << shift;

        if (set) {
            bits[first >> 6] |= mask;
        } else if ((bits[first >> 6] & mask) != 0) {
            return true;
        }
        first += here;
        count -= here;
    }
    return false;
}

static const char *block_fault(const struct nand_block *block, int *error)
{
    if ((block->flags & BLOCK_BAD) != 0) {
        *error = NW_ERR_BAD_BLOCK;
        return "the block is marked bad";
    }
    *error = NW_ERR_NOT_ERASED;
    if ((block->flags & BLOCK_TORN) != 0) {
        return "the block's last erase was cut or failed, and it was not erased again";
    }
    return "the block was never erased";
}

static const char *page_fault(const struct nw_nand *nand, const struct nw_chip_req *req,
                              const struct nand_page *page, int *error)
{
    uint8_t limit = nand->chip.geometry.page_programs;

    *error = NW_ERR_NOT_ERASED;
    if ((page->flags & PAGE_TORN) != 0) {
        return "an earlier program of the page was cut or failed";
    }
    if (page->programs >= limit && limit != NW_PROGRAMS_UNLIMITED) {
        *error = NW_ERR_PROGRAMS;
        return "the page has had all the programs it takes";
    }
    if (req->length > 0 && (page->flags & PAGE_WHOLE) != 0) {
        return "data bytes programmed twice";
    }
    return NULL;
}

/* Data bytes of this program, in units: free? Off the unit and twice programmed are told apart. */
static const char *data_fault(const struct nw_nand *nand, const struct nw_chip_req *req,
                              uint32_t page, int *error)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;
    uint32_t unit = geometry->program_bytes;

    if (req->length == geometry->page_bytes) {
        *error = NW_ERR_NOT_ERASED;
        return (nand->pages[page].flags & PAGE_PARTLY) != 0 ? "data bytes programmed twice" : NULL;
    }
    if (req->offset % unit != 0 || req->length % unit != 0) {
        *error = NW_ERR_ALIGN;
        return "off the unit of a program";
    }
    *error = NW_ERR_NOT_ERASED;
    if ((nand->pages[page].flags & PAGE_PARTLY) != 0 &&
        bits_taken(nand->data_bits + (uint64_t)page * nand->data_words, req->offset / unit,
                   req->length / unit, false)) {
        return "data bytes programmed twice";
    }
    return NULL;
}

static void mark_programmed(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page)
{
    struct nand_page *state = &nand->pages[page];
    uint64_t *spare_bits = nand->spare_bits + (uint64_t)page * nand->spare_words;

    if (state->programs == 0) {
        for (uint32_t i = 0; i < nand->spare_words; i++) {
            spare_bits[i] = 0;
        }
    }
    if (req->spare_length > 0) {
        (void)bits_taken(spare_bits, req->spare_offset, req->spare_length, true);
    }
    if (req->length == nand->chip.geometry.page_bytes) {
        state->flags |= PAGE_WHOLE;
    } else if (req->length > 0) {
        uint64_t *data_bits = nand->data_bits + (uint64_t)page * nand->data_words;
        uint32_t unit = nand->chip.geometry.program_bytes;

        if ((state->flags & PAGE_PARTLY) == 0) {
            memset(data_bits, 0, nand->data_words * sizeof *data_bits);
            state->flags |= PAGE_PARTLY;
        }
        (void)bits_taken(data_bits, req->offset / unit, req->length / unit, true);
    }
}

int nw_nand_check_program(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb,
                          uint32_t page)
{
    uint32_t block_at = nand_block_of(nand, page);
    const struct nand_block *block = &nand->blocks[block_at];
    const struct nand_page *state = &nand->pages[page];
    uint32_t index = page - block_at * nand->chip.geometry.block_pages;
    const char *why;
    int error = NW_OK;

    if ((block->flags & (BLOCK_BAD | BLOCK_TORN | BLOCK_RAW)) != 0) {
        why = block_fault(block, &error);
        return nw_nand_refuse(nand, req, verb, page, error, why);
    }
    if ((nand->chip.geometry.flags & NW_CHIP_IN_ORDER) != 0 && index + 1U < block->next) {
        return nw_nand_refuse(nand, req, verb, page, NW_ERR_ORDER,
                              "a later page of the block is already programmed");
    }
    if (state->programs > 0) {
        why = page_fault(nand, req, state, &error);
        if (why == NULL && req->spare_length > 0 &&
            bits_taken(nand->spare_bits + (uint64_t)page * nand->spare_words, req->spare_offset,
                       req->spare_length, false)) {
            error = NW_ERR_NOT_ERASED;
            why = "spare bytes programmed twice";
        }
        if (why != NULL) {
            return nw_nand_refuse(nand, req, verb, page, error, why);
        }
    }
    if (req->length > 0) {
        why = data_fault(nand, req, page, &error);
        if (why == NULL && verb == NW_VERB_PROGRAM && req->data == NULL &&
            (nand->flags & NW_NAND_NO_PAYLOAD) == 0) {
            error = NW_ERR_UNSUPPORTED;
            why = "no data given, and the chip keeps payload";
        }
        if (why != NULL) {
            return nw_nand_refuse(nand, req, verb, page, error, why);
        }
    }
    mark_programmed(nand, req, page);
    return NW_OK;
}

int nw_nand_check_read(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb)
{
    const struct nand_page *state = &nand->pages[req->page];
    bool wants_payload = verb == NW_VERB_READ && req->data != NULL;

    if (req->length == 0) {
        return NW_OK;
    }
    const struct nand_block *block = &nand->blocks[nand_block_of(nand, req->page)];
    if (state->programs == 0 && (nand->chip.geometry.flags & NW_CHIP_READ_ERASED) == 0 &&
        (block->flags & (BLOCK_TORN | BLOCK_RAW)) == 0) {
        return nw_nand_refuse(nand, req, verb, req->page, NW_ERR_UNWRITTEN,
                              "data of a page not programmed since the erase");
    }
    if ((nand->flags & NW_NAND_NO_PAYLOAD) == 0) {
        return wants_payload || verb != NW_VERB_READ
                   ? NW_OK
                   : nw_nand_refuse(nand, req, verb, req->page, NW_ERR_UNSUPPORTED,
                                    "no room for data given, and the chip keeps payload");
    }
    if (wants_payload && (state->flags & PAGE_PAYLOAD) == 0 &&
        (state->flags & (PAGE_WHOLE | PAGE_PARTLY)) != 0) {
        return nw_nand_refuse(nand, req, verb, req->page, NW_ERR_UNSUPPORTED,
                              "payload asked for that was never given (metadata only)");
    }
    return NW_OK;
}

/* Erase and heal. */
int nw_nand_check_block(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb)
{
    if ((nand->blocks[req->block].flags & BLOCK_BAD) != 0) {
        return nw_nand_refuse(nand, req, verb,
                              req->block * nand->chip.geometry.block_pages, NW_ERR_BAD_BLOCK,
                              "the block is marked bad");
    }
    return NW_OK;
}
