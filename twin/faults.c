/* SPDX-License-Identifier: Apache-2.0 */
/* Faults as told, before or after the chip below has done its work. */
#include "nandwich-twin/faults.h"

#include <stdbool.h>
#include <stddef.h>

#include "filter_internal.h"

/* What a fault's range is about: a page, a target page or a block; buffers by their page. */
static uint32_t place_of(const struct nw_chip_req *req, uint8_t verb)
{
    switch (verb) {
    case NW_VERB_ERASE:
    case NW_VERB_HEAL:
    case NW_VERB_IS_BAD:
    case NW_VERB_MARK_BAD: return req->block;
    case NW_VERB_COPY: return req->to_page;
    case NW_VERB_BUFFER_READ:
    case NW_VERB_BUFFER_WRITE: return 0;
    default: return req->page;
    }
}

static bool strikes(struct nw_fault *fault, uint8_t verb, uint32_t place)
{
    uint32_t since;

    if ((fault->verb != NW_VERB_NONE && fault->verb != verb) ||
        ((fault->first != 0 || fault->last != 0) &&
         (place < fault->first || place > fault->last))) {
        return false;
    }
    since = fault->seen - fault->skip; /* counts up from 0 once the skipped ones have passed */
    return fault->seen++ >= fault->skip && (fault->times == 0 || fault->hits < fault->times) &&
           (fault->every <= 1U || since % fault->every == 0);
}

static void flip(struct nw_faults *filter, const struct nw_chip_req *req, uint16_t flips)
{
    uint32_t bits = 8U * req->length;
    uint32_t bit = bits > 0 ? nw_random_next(&filter->random) % bits : 0;

    for (uint16_t i = 0; i < flips && bits > 0 && req->data != NULL; i++) {
        req->data[bit / 8U] ^= (uint8_t)(1U << (bit & 7U));
        bit = (bit + 11U) % bits;
    }
}

static int faults(struct nw_chip_req *req, uint8_t verb)
{
    struct nw_faults *filter = req->chip->context;
    struct nw_fault *struck = NULL;
    uint32_t place = place_of(req, verb);
    int result;

    for (uint32_t i = 0; i < filter->count; i++) {
        if (strikes(&filter->faults[i], verb, place) && struck == NULL) {
            struck = &filter->faults[i];
            struck->hits++;
        }
    }
    if (struck != NULL && struck->error != NW_OK && struck->acts == 0) {
        return struck->error;
    }
    result = nw_filter_pass(req, filter->below, verb);
    if (struck == NULL || result < 0) {
        return result;
    }
    if (verb == NW_VERB_READ || verb == NW_VERB_BUFFER_READ) {
        flip(filter, req, struck->flips);
    }
    return struck->error != NW_OK ? struck->error : result;
}

NW_FILTER_VERBS(faults)

void nw_faults_open(struct nw_faults *filter, struct nw_chip *below, struct nw_fault *list,
                    uint32_t count, uint32_t seed)
{
    filter->below = below;
    filter->faults = list;
    filter->count = count;
    nw_random_seed(&filter->random, seed);
    nw_filter_open(&filter->chip, below, filter, &filter->ops, &faults_ops);
}
