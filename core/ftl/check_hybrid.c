/* SPDX-License-Identifier: Apache-2.0 */
/* Whether chains, lists and counts of the hybrids agree: see ftl_hybrid_check.h. */
#include "nandwich/ftl_hybrid_check.h"

#include <string.h>

#include "fast.h"

#define STATES 5U /* enum nw_block_state */

/* What is looked at, with a tag of its own: the layer's is left alone. */
struct look {
    struct nw_chain *chain;
    const struct nw_blocks *blocks;
    struct nw_tagged tagged;
    uint64_t limit; /* of a chain: every page of the block at hand is older than this */
};

/* Lists and states */

/* Blocks in a list, each of that state; NW_ERR_CORRUPT when links or states do not fit. */
static int32_t count_list(const struct nw_blocks *blocks, uint16_t head, uint8_t state)
{
    uint16_t before = head;
    int32_t count = 0;

    for (uint16_t at = blocks->next[head]; at != head; at = blocks->next[at]) {
        if (at >= blocks->count || blocks->prev[at] != before || blocks->state[at] != state ||
            count == (int32_t)blocks->count) {
            return NW_ERR_CORRUPT;
        }
        before = at;
        count++;
    }
    return blocks->prev[head] == before ? count : (int32_t)NW_ERR_CORRUPT;
}

/* The blocks of a list of given back ones: nobody's. */
static int32_t count_given(const struct look *look, uint16_t list)
{
    uint16_t head = nw_blocks_list(look->blocks, list);
    int32_t count = count_list(look->blocks, head, NW_BLOCK_USED);

    for (uint16_t at = look->blocks->next[head]; count >= 0 && at != head;
         at = look->blocks->next[at]) {
        if (look->chain->owner[at] != NW_NO_BLOCK || at == look->chain->hybrid.session) {
            return NW_ERR_CORRUPT;
        }
    }
    return count;
}

/* Each block is one thing alone. */
static int check_blocks(const struct look *look, uint32_t *where)
{
    const struct nw_blocks *blocks = look->blocks;
    const struct nw_hybrid *hybrid = &look->chain->hybrid;
    int32_t states[STATES] = {0};
    int32_t used = 1; /* the session's */

    for (uint16_t block = 0; block < blocks->count; block++) {
        uint8_t state = blocks->state[block];
        int owned = look->chain->owner[block] != NW_NO_BLOCK;

        *where = block;
        if (state >= STATES || ((owned || block == hybrid->session) && state != NW_BLOCK_USED) ||
            (owned && block == hybrid->session)) {
            return NW_ERR_CORRUPT;
        }
        states[state]++;
        used += owned;
    }
    *where = (uint32_t)blocks->count + look->chain->units + 1U;
    int32_t limbo = count_given(look, NW_HYBRID_LIMBO);
    int32_t retired = count_given(look, NW_HYBRID_RETIRE);

    return limbo == hybrid->limbo && retired >= hybrid->doomed &&
                   states[NW_BLOCK_USED] == used + limbo + retired &&
                   states[NW_BLOCK_BAD] == blocks->bad &&
                   states[NW_BLOCK_READY] == blocks->ready &&
                   states[NW_BLOCK_FREE] + states[NW_BLOCK_READY] == blocks->free &&
                   count_list(blocks, blocks->count, NW_BLOCK_FREE) == states[NW_BLOCK_FREE] &&
                   count_list(blocks, (uint16_t)(blocks->count + 1U), NW_BLOCK_READY) ==
                       states[NW_BLOCK_READY]
               ? (int)NW_OK
               : (int)NW_ERR_CORRUPT;
}

/* The last blocks of chains stand in lists by length: how many stand where they belong. */
static int32_t count_listed(const struct look *look)
{
    const struct nw_chain *chain = look->chain;
    int32_t sum = 0;

    for (uint16_t length = 0; length <= chain->longest; length++) {
        uint16_t list = (uint16_t)(NW_HYBRID_LISTS + length);
        uint16_t head = nw_blocks_list(look->blocks, list);
        int32_t count = count_list(look->blocks, head, NW_BLOCK_USED);

        for (uint16_t at = look->blocks->next[head]; count >= 0 && at != head;
             at = look->blocks->next[at]) {
            uint16_t unit = chain->owner[at];

            if (unit >= chain->units || chain->newest[unit] != at ||
                nw_chain_list_of(chain, unit) != list) {
                return NW_ERR_CORRUPT;
            }
        }
        if (count < 0) {
            return count;
        }
        sum += count;
    }
    return sum;
}

/* Pages */

/* A page that should be that of a sector of the unit: enum nw_tag_state with the number of the
 * sector in the unit in *sector, or an error. `flag` is NW_HYBRID_SHARED or 0. */
static int read_page(struct look *look, uint32_t at, uint16_t unit, uint32_t flag,
                     uint32_t *sector)
{
    const struct nw_chain *chain = look->chain;
    int state = nw_tagged_read(&look->tagged, at, 0, NULL);
    uint32_t word = look->tagged.tag.word;

    if (state != NW_TAG_GOOD) {
        return state == NW_TAG_BLANK ? (int)NW_ERR_CORRUPT : state;
    }
    *sector = (uint32_t)(word & NW_HYBRID_SECTOR) -
              (flag == 0 ? (uint32_t)unit * chain->span : 0U);
    return (word & (NW_HYBRID_SESSION | NW_HYBRID_SHARED)) == flag &&
                   (word & NW_HYBRID_SECTOR) < chain->hybrid.sectors &&
                   look->tagged.tag.version < look->limit
               ? state
               : (int)NW_ERR_CORRUPT;
}

/* The page that was read is the oldest of its block so far. */
static void note_age(const struct look *look, uint64_t *oldest)
{
    if (look->tagged.tag.version < *oldest) {
        *oldest = look->tagged.tag.version;
    }
}

/* A block in place: the sectors that it holds, each in the page of its number. When all of it was
 * written in this session, and nothing failed, it has no other pages. */
static int check_in_place(struct look *look, uint16_t unit, uint16_t block)
{
    const struct nw_chain *chain = look->chain;
    int whole = (chain->flags[block] & (NW_CHAIN_CLOSED | NW_CHAIN_FAILED)) == 0;
    uint64_t oldest = look->limit;

    for (uint16_t page = 0; page < chain->span; page++) {
        uint32_t at = nw_hybrid_first(&chain->hybrid, block) + page;
        uint32_t sector = page;

        if (!nw_chain_holds(chain, block, page)) {
            if (whole && nw_tagged_read(&look->tagged, at, 0, NULL) == NW_TAG_GOOD) {
                return NW_ERR_CORRUPT;
            }
            continue;
        }
        int state = page < chain->next[block] ? read_page(look, at, unit, 0, &sector)
                                              : (int)NW_ERR_CORRUPT;
        if (state < 0 || sector != page) {
            return state < 0 ? state : (int)NW_ERR_CORRUPT;
        }
        if (state == NW_TAG_GOOD) {
            note_age(look, &oldest);
        }
    }
    look->limit = oldest;
    return NW_OK;
}

/* Sectors that a row of bits names. */
static uint16_t count_bits(const uint8_t *bits, uint16_t span)
{
    uint16_t count = 0;

    for (uint16_t sector = 0; sector < span; sector++) {
        count = (uint16_t)(count + ((unsigned)bits[sector >> 3] >> (sector & 7U) & 1U));
    }
    return count;
}

/* A mapped block: its pages hold the sectors that its bits name, and its list says where. What
 * pages that cannot be read hold is not known. */
static int check_mapped(struct look *look, uint16_t unit, uint16_t block)
{
    const struct nw_chain *chain = look->chain;
    const uint16_t *list =
        chain->slot[block] != NW_NO_BLOCK ? nw_chain_list_at(chain, chain->slot[block]) : NULL;
    uint64_t oldest = look->limit;
    uint16_t unread = 0;

    memcpy(chain->seen, nw_chain_bits(chain, block), chain->bit_bytes);
    for (uint16_t page = 0; page < chain->next[block]; page++) {
        uint32_t sector = 0;
        int state = read_page(look, nw_hybrid_first(&chain->hybrid, block) + page, unit, 0,
                              &sector);

        if (state < 0) {
            return state;
        }
        if (state != NW_TAG_GOOD) {
            unread++;
            continue;
        }
        if (sector >= chain->span || !nw_chain_holds(chain, block, (uint16_t)sector) ||
            (list != NULL && list[page] != sector && list[page] != NW_CHAIN_UNREAD)) {
            return NW_ERR_CORRUPT;
        }
        chain->seen[sector >> 3] &= (uint8_t)~(1U << (sector & 7U));
        note_age(look, &oldest);
    }
    look->limit = oldest;
    return count_bits(chain->seen, chain->span) <= unread ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

/* A merge that has not ended, or whose block an error has closed, moved sectors there. Until the
 * next one has ended they count where they were. */
static int is_moved_only(const struct nw_chain *chain, uint16_t unit, uint16_t block)
{
    uint8_t flags = chain->flags[block];

    return (flags & NW_CHAIN_COPIES) != 0 &&
           (unit == chain->merging || (flags & (NW_CHAIN_CLOSED | NW_CHAIN_FAILED)) != 0);
}

/* The page of a sector in its unit's chain is older than the one in a shared log block. */
static int check_older(struct look *look, uint32_t number)
{
    const struct nw_chain *chain = look->chain;
    uint16_t unit = (uint16_t)(number / chain->span);
    uint16_t inside = (uint16_t)(number % chain->span);
    uint16_t block = nw_chain_holder(chain, unit, inside);
    uint64_t limit = look->limit;
    uint32_t sector;

    if (block == NW_NO_BLOCK || is_moved_only(chain, unit, block)) {
        return NW_OK;
    }
    look->limit = look->tagged.tag.version;
    int state = read_page(look, nw_hybrid_first(&chain->hybrid, block) + inside, unit, 0, &sector);
    look->limit = limit;
    return state < 0 ? state : (int)NW_OK;
}

/* A shared log block: the sectors that its entries name. */
static int check_shared(struct look *look, uint16_t block)
{
    const struct nw_chain *chain = look->chain;
    const struct nw_fast *fast = chain->fast;
    uint16_t pages = chain->hybrid.block_pages;
    uint16_t slot = nw_fast_slot(chain, block);
    uint64_t oldest = look->limit;
    uint16_t valid = 0;

    for (uint16_t page = 0; slot != NW_NO_BLOCK && page < pages; page++) {
        uint32_t number = fast->sector[(size_t)slot * pages + page];
        uint32_t sector = number;

        if (number == NW_NO_PAGE) {
            continue;
        }
        valid++;
        int state = page < chain->next[block] && number < chain->hybrid.sectors &&
                            nw_fast_lookup(chain, number) == (uint16_t)(slot * pages + page)
                        ? read_page(look, nw_hybrid_first(&chain->hybrid, block) + page, 0,
                                    NW_HYBRID_SHARED, &sector)
                        : (int)NW_ERR_CORRUPT;
        if (state == NW_TAG_GOOD) {
            note_age(look, &oldest);
            state = sector == number ? check_older(look, number) : (int)NW_ERR_CORRUPT;
        }
        if (state < 0) {
            return state;
        }
    }
    look->limit = oldest;
    return slot != NW_NO_BLOCK && fast->valid[slot] == valid ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

/* Chains */

/* A block as its place in the chain of a unit needs it to be. */
static int check_block(struct look *look, uint16_t unit, uint16_t block)
{
    const struct nw_chain *chain = look->chain;
    uint32_t first = (uint32_t)unit * chain->span;
    int mapped = (chain->flags[block] & NW_CHAIN_MAPPED) != 0;

    if (chain->next[block] > chain->hybrid.block_pages) {
        return NW_ERR_CORRUPT;
    }
    if (unit == chain->units) {
        return check_shared(look, block);
    }
    for (uint16_t sector = chain->span; sector > 0 && first + sector > chain->hybrid.sectors;
         sector--) {
        if (nw_chain_holds(chain, block, (uint16_t)(sector - 1U))) {
            return NW_ERR_CORRUPT;
        }
    }
    if (chain->slots != 0 && chain->slot[block] != NW_NO_BLOCK &&
        (chain->slot[block] >= chain->slots || chain->listed[chain->slot[block]] != block)) {
        return NW_ERR_CORRUPT;
    }
    return mapped ? check_mapped(look, unit, block) : check_in_place(look, unit, block);
}

/* The chain of a unit: how many blocks it has, of which *mapped count; or an error. */
static int32_t check_chain(struct look *look, uint16_t unit, uint16_t *mapped, uint32_t *where)
{
    const struct nw_chain *chain = look->chain;
    uint16_t block = chain->newest[unit];
    uint16_t count = 0;

    look->limit = look->chain->hybrid.version;
    for (; count < chain->length[unit] && block < look->blocks->count; count++) {
        *where = block;
        int result = chain->owner[block] == unit ? check_block(look, unit, block)
                                                 : (int)NW_ERR_CORRUPT;
        if (result < 0) {
            return result;
        }
        *mapped = (uint16_t)(*mapped + ((chain->flags[block] & NW_CHAIN_MAPPED) != 0 ? 1U : 0U));
        block = chain->older[block];
    }
    *where = (uint32_t)look->blocks->count + unit;
    return count == chain->length[unit] && block == NW_NO_BLOCK ? (int32_t)count
                                                                : (int32_t)NW_ERR_CORRUPT;
}

static int check_chains(struct look *look, uint32_t *where)
{
    const struct nw_chain *chain = look->chain;
    const struct nw_fast *fast = chain->fast;
    uint16_t mapped = 0;
    int32_t listed = 0;
    int32_t owned = 0;

    for (uint16_t unit = 0; unit <= chain->units; unit++) {
        int32_t length = check_chain(look, unit, &mapped, where);

        if (length < 0) {
            return (int)length;
        }
        owned += length;
        listed += length > 0 && unit < chain->units;
    }
    for (uint16_t block = 0; block < look->blocks->count; block++) {
        owned -= chain->owner[block] != NW_NO_BLOCK;
    }
    *where = (uint32_t)look->blocks->count + chain->units + 1U;
    return owned == 0 && mapped == chain->logs && count_listed(look) == listed &&
                   (fast == NULL || fast->count == chain->length[chain->units])
               ? (int)NW_OK
               : (int)NW_ERR_CORRUPT;
}

int nw_ftl_hybrid_check(const struct nw_block *block, uint32_t *where)
{
    struct nw_chain *chain = nw_chain_of(block->context);
    struct look look = {.chain = chain, .blocks = &chain->hybrid.blocks};

    *where = 0;
    nw_tagged_open(&look.tagged, chain->hybrid.chip, NULL);
    /* Without a session nothing is taken nor given: mounts leave the lists as an error has. */
    int result = chain->hybrid.session != NW_NO_BLOCK ? check_blocks(&look, where) : (int)NW_OK;
    return result == NW_OK ? check_chains(&look, where) : result;
}
