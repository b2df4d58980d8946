/* SPDX-License-Identifier: Apache-2.0 */
/* Pages with tags (core/ftl/tag.h), whose word is the sector. */
#include <string.h>

#include "chain.h"

int nw_chain_read(struct nw_chain *chain, uint32_t at, uint32_t sector, uint8_t *data)
{
    struct nw_tagged *tagged = &chain->blocks.tagged;
    int state = nw_tagged_read(tagged, at, chain->page_bytes, data);

    if (state != NW_TAG_GOOD) {
        return state < 0 ? state : state == NW_TAG_LOST ? (int)NW_ERR_ECC : (int)NW_ERR_CORRUPT;
    }
    return tagged->tag.word == sector && tagged->tag.crc == nw_tag_sum(data, chain->page_bytes)
               ? NW_OK
               : NW_ERR_CORRUPT;
}

int nw_chain_read_tag(struct nw_chain *chain, uint32_t at, uint32_t *sector)
{
    struct nw_tagged *tagged = &chain->blocks.tagged;
    int state = nw_tagged_read(tagged, at, 0, NULL);

    chain->stats->map_reads++;
    *sector = tagged->tag.word & ~(uint32_t)NW_CHAIN_DAMAGED;
    if (state < 0) {
        return state;
    }
    return state == NW_TAG_GOOD ? NW_OK : NW_ERR_ECC;
}

/* By the copy verb, or through the buffer. What cannot be read goes on as lost. */
static int move(struct nw_chain *chain, uint32_t at, const struct nw_chain_put *put)
{
    struct nw_tagged *tagged = &chain->blocks.tagged;
    uint8_t *data = chain->payload != 0 ? chain->buffer : NULL;
    int state = chain->copies != 0
                    ? nw_tagged_read(tagged, put->from, 0, NULL)
                    : nw_tagged_read(tagged, put->from, chain->page_bytes, data);
    int result = NW_ERR_ECC;

    uint32_t sector = state == NW_TAG_GOOD ? tagged->tag.word & ~(uint32_t)NW_CHAIN_DAMAGED
                                           : put->sector;
    if (state < 0 || sector == NW_NO_PAGE) {
        return state < 0 ? state : (int)NW_ERR_ECC;
    }
    if (state == NW_TAG_GOOD && chain->copies == 0) {
        return nw_tagged_program(tagged, at, chain->page_bytes, data);
    }
    if (state == NW_TAG_GOOD) {
        nw_tagged_stamp(tagged, 0);
        tagged->req.page = put->from;
        tagged->req.to_page = at;
        result = nw_chip_copy(&tagged->req);
    }
    if (result == NW_ERR_ECC) { /* nothing was programmed */
        tagged->tag = (struct nw_tag){.word = sector | (uint32_t)NW_CHAIN_DAMAGED};
        chain->stats->lost++;
        result = nw_tagged_program(tagged, at, chain->page_bytes, data);
    }
    return result;
}

int nw_chain_program(struct nw_chain *chain, uint32_t at, const struct nw_chain_put *put)
{
    struct nw_tagged *tagged = &chain->blocks.tagged;
    uint8_t *data = put->data;

    if (put->from != NW_NO_PAGE) {
        return move(chain, at, put);
    }
    if (chain->payload != 0 && data == NULL) {
        memset(chain->buffer, 0, chain->page_bytes);
        data = chain->buffer;
    }
    tagged->tag = (struct nw_tag){.word = put->sector, .crc = nw_tag_sum(data, chain->page_bytes)};
    return nw_tagged_program(tagged, at, chain->page_bytes, data);
}
