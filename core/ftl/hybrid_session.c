/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session writes of its own accord: the pages that begin it, and what an error or a mount
 * has left to write anew.
 *
 * A mount writes to a fresh block: a first page that means nothing (so that no later mount uses the
 * same versions should the record be torn), the copy of the newest page where one is needed, the
 * record, and the record once more. The second one shows that the first is not torn, and stands for
 * it when that cannot be read. Then the mount reads the record again. It erases nothing else before
 * that. Why this is enough: docs/ftl-hybrid.md.
 */
#include <string.h>

#include "hybrid.h"
#include "mark.h"

#define WORD_FIRST (NW_HYBRID_SESSION | NW_HYBRID_SECTOR)

/* The buffer as a page of the session's block. */
static int write_own(struct nw_hybrid *hybrid, uint32_t at, uint32_t word)
{
    struct nw_hybrid_put put = {.sector = word, .from = NW_NO_PAGE, .data = hybrid->buffer};

    hybrid->stats->map_programs++;
    return nw_hybrid_program(hybrid, at, &put);
}

/* A page behind the record that means nothing. */
static int write_behind(struct nw_hybrid *hybrid, uint32_t word)
{
    memset(hybrid->buffer, 0, hybrid->page_bytes);
    uint32_t at = nw_hybrid_first(hybrid, hybrid->session) + hybrid->session_next;
    int result = write_own(hybrid, at, word);

    hybrid->session_next = result == NW_ERR_PROGRAM ? hybrid->block_pages
                                                    : (uint16_t)(hybrid->session_next + 1U);
    return result == NW_ERR_PROGRAM ? (int)NW_ERR_FULL : result;
}

/* Nothing is in doubt: a page behind all others may tell that they had ended. */
static int is_settled(const struct nw_hybrid *hybrid)
{
    return hybrid->doubt == NW_NO_PAGE && hybrid->spoiled == NW_NO_BLOCK && hybrid->doomed == 0;
}

int nw_hybrid_flush(struct nw_hybrid *hybrid)
{
    if (hybrid->blocks.free > 0 || hybrid->limbo == 0) {
        return NW_OK;
    }
    if (hybrid->session_next == hybrid->block_pages) {
        int healed = nw_blocks_heal_now(&hybrid->blocks);
        return healed == 0 ? (int)NW_ERR_FULL : (healed < 0 ? healed : (int)NW_OK);
    }
    return write_behind(hybrid, is_settled(hybrid) ? NW_HYBRID_ENDED : WORD_FIRST);
}

int nw_hybrid_close(struct nw_hybrid *hybrid)
{
    int result = NW_OK;

    if (hybrid->limbo > 0 && hybrid->blocks.free < NW_HYBRID_FLOOR &&
        is_settled(hybrid) && hybrid->session_next < hybrid->block_pages) {
        result = write_behind(hybrid, NW_HYBRID_ENDED);
    }
    return result == NW_ERR_POWER ? result : (int)NW_OK;
}

/* A record behind which the older ones go has to read. A page that took its program and does not,
 * twice, is the end of its block. */
static int try_record(struct nw_hybrid *hybrid, uint32_t at)
{
    struct nw_tag tag;
    int state = nw_hybrid_read_whole(hybrid, at, &tag);

    return state < 0 ? state : state == NW_TAG_GOOD ? (int)NW_OK : (int)NW_ERR_PROGRAM;
}

static int write_session(struct nw_hybrid *hybrid, uint16_t block)
{
    uint32_t at = nw_hybrid_first(hybrid, block);
    uint64_t first = hybrid->version;
    int copies = hybrid->saved != NW_NO_PAGE;

    memset(hybrid->buffer, 0, hybrid->page_bytes);
    int result = write_own(hybrid, at, WORD_FIRST);

    if (result == NW_OK && copies) {
        struct nw_hybrid_put put = {.sector = hybrid->saved | NW_HYBRID_SESSION,
                                    .flags = NW_HYBRID_COPY,
                                    .from = hybrid->saved_at};
        result = nw_hybrid_program(hybrid, ++at, &put);
    }
    if (result == NW_OK) {
        result = nw_hybrid_make_record(hybrid, first, (uint8_t)copies);
    }
    if (result == NW_OK) {
        result = write_own(hybrid, ++at, NW_MARK_RECORD);
    }
    if (result == NW_OK) {
        result = write_own(hybrid, at + 1U, NW_MARK_RECORD);
    }
    if (result == NW_OK) {
        result = try_record(hybrid, at);
    }
    if (result == NW_OK) {
        hybrid->session = block;
        hybrid->session_next = (uint16_t)(3 + copies);
        hybrid->saved_at = at - 1U;
    }
    return result;
}

/* A block for a session. When none is free it is that of which nothing is needed. A mount asks of
 * the newest page whether it is whole, so a copy of it outlives an erase that is cut. And no mount
 * believes what a merge has moved without its last page: when that one was not even begun, such an
 * erase leaves nothing that is believed. */
static int32_t take(struct nw_hybrid *hybrid)
{
    int32_t block = nw_blocks_take(&hybrid->blocks);
    uint16_t idle = hybrid->idle;
    int copied = hybrid->copied_at != NW_NO_PAGE;

    if (block != NW_ERR_FULL || idle == NW_NO_BLOCK ||
        (!copied && hybrid->kind->goes_on(hybrid) == 0)) {
        return block;
    }
    hybrid->idle = NW_NO_BLOCK;
    hybrid->saved_at = copied ? hybrid->copied_at : hybrid->saved_at;
    int result = nw_blocks_erase(&hybrid->blocks, idle);
    return result == NW_OK ? (int32_t)idle : result == NW_ERR_ERASE ? NW_ERR_FULL : result;
}

int nw_hybrid_begin_session(struct nw_hybrid *hybrid)
{
    int result;

    do { /* every further turn has cost a block its life */
        int32_t block = take(hybrid);
        if (block < 0) {
            return (int)block;
        }
        result = write_session(hybrid, (uint16_t)block);
        if (result == NW_ERR_PROGRAM) {
            nw_hybrid_drop(hybrid, (uint16_t)block, 1);
        }
    } while (result == NW_ERR_PROGRAM);
    return result;
}

int nw_hybrid_refill(struct nw_hybrid *hybrid)
{
    int result = 1;

    while (result > 0 && nw_hybrid_free(hybrid) <= NW_HYBRID_FLOOR) {
        result = hybrid->kind->tidy(hybrid);
    }
    return result < 0 ? result : NW_OK;
}

/* Write a sector anew as it is, into what is free, without a merge. */
static int rewrite(struct nw_hybrid *hybrid, uint32_t sector, uint8_t urgent)
{
    struct nw_hybrid_put put = {.sector = sector};
    int result = nw_hybrid_find(hybrid, sector, &put.from);

    if (result == NW_ERR_CORRUPT) { /* it goes on as lost */
        put.from = NW_NO_PAGE;
        put.flags = NW_HYBRID_DAMAGED;
        hybrid->stats->lost++;
        result = NW_OK;
    }
    result = result == NW_OK ? nw_hybrid_flush(hybrid) : result;
    hybrid->urgent = urgent;
    result = result == NW_OK ? hybrid->kind->write(hybrid, &put) : result;
    hybrid->urgent = 0;
    if (result == NW_OK && sector == hybrid->saved) {
        hybrid->saved = NW_NO_PAGE;
    }
    return result;
}

/* The sector that a mount saved is the first that its session writes: the next mount saves another
 * one. The last free block is for a merge, that of this sector. */
static int rewrite_saved(struct nw_hybrid *hybrid)
{
    int result = rewrite(hybrid, hybrid->saved, NW_HYBRID_BUT_ONE);

    if (result != NW_ERR_FULL || hybrid->doubt != NW_NO_PAGE || nw_hybrid_free(hybrid) == 0) {
        return result;
    }
    result = hybrid->kind->renew(hybrid, hybrid->saved);
    if (result > 0) {
        hybrid->saved = NW_NO_PAGE;
        return NW_OK;
    }
    return result < 0 ? result : rewrite(hybrid, hybrid->saved, NW_HYBRID_ALL);
}

int nw_hybrid_rewrite(struct nw_hybrid *hybrid)
{
    uint32_t doubt = hybrid->doubt;
    int result = NW_OK;

    if (doubt != NW_NO_PAGE) {
        if (hybrid->saved != NW_NO_PAGE && hybrid->saved != doubt) {
            return NW_ERR_FULL; /* the saved one has to be there first */
        }
        result = rewrite(hybrid, doubt, NW_HYBRID_ALL);
    }
    return result == NW_OK && hybrid->saved != NW_NO_PAGE ? rewrite_saved(hybrid) : result;
}

int nw_hybrid_settle(struct nw_hybrid *hybrid)
{
    int result = nw_hybrid_wipe_spoiled(hybrid);

    if (hybrid->doubt != NW_NO_PAGE || hybrid->saved != NW_NO_PAGE) {
        hybrid->owes = 1;
        result = result == NW_OK ? nw_hybrid_rewrite(hybrid) : result;
    }
    result = result == NW_OK ? hybrid->kind->finish(hybrid) : result;
    if (result == NW_OK && hybrid->owes != 0) { /* before the host takes one more */
        result = nw_hybrid_refill(hybrid);
        hybrid->owes = result != NW_OK;
    }
    return result;
}
