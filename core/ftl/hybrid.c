/* SPDX-License-Identifier: Apache-2.0 */
/* The block device on top: its verbs, free blocks, work ahead. See hybrid.h. */
#include "hybrid.h"

#include <string.h>

#include "nandwich/ftl_hybrid.h"

#define READY_AHEAD 4U /* blocks that idle keeps erased */

uint32_t nw_hybrid_sectors(const struct nw_geometry *geometry, uint32_t spare)
{
    spare = spare != 0 ? spare : geometry->blocks / 14U + NW_HYBRID_LEAST_SPARE;
    if (nw_geometry_check(geometry) < 0 || spare < NW_HYBRID_LEAST_SPARE ||
        geometry->blocks <= spare || geometry->blocks > NW_HYBRID_MOST_BLOCKS ||
        geometry->block_pages < 4U || nw_tag_bytes(geometry) == 0 ||
        geometry->page_bytes < NW_HYBRID_LEAST_BYTES) {
        return 0;
    }
    uint32_t sectors = (geometry->blocks - spare) * geometry->block_pages;
    return sectors <= NW_HYBRID_SECTOR ? sectors : 0;
}

int nw_hybrid_place(struct nw_hybrid *hybrid, struct nw_chip *chip, struct nw_stats *stats,
                    uint16_t lists, struct nw_ram *ram)
{
    hybrid->chip = chip;
    hybrid->stats = stats;
    hybrid->buffer = NW_RAM_TAKE(ram, uint8_t, chip->geometry.page_bytes);
    hybrid->torn = NW_RAM_TAKE(ram, uint8_t, (size_t)chip->geometry.blocks / 8U + 1U);
    nw_tagged_open(&hybrid->blocks.tagged, chip, stats);
    return nw_blocks_place(&hybrid->blocks, &chip->geometry, (uint16_t)(lists + NW_HYBRID_LISTS),
                           ram);
}

static const struct nw_block_ops hybrid_ops;

int nw_hybrid_prepare(struct nw_hybrid *hybrid, const struct nw_hybrid_open *open)
{
    const struct nw_geometry *geometry = &hybrid->chip->geometry;

    memset(hybrid->stats, 0, sizeof *hybrid->stats);
    memset(hybrid->torn, 0, (size_t)geometry->blocks / 8U + 1U);
    hybrid->kind = open->kind;
    hybrid->name = open->name;
    hybrid->sectors = open->sectors;
    hybrid->degree = open->degree;
    hybrid->grows = open->grows;
    hybrid->block_pages = geometry->block_pages;
    hybrid->page_bytes = geometry->page_bytes;
    hybrid->payload = (geometry->flags & NW_CHIP_NO_PAYLOAD) == 0;
    hybrid->check = hybrid->payload != 0 && (open->flags & NW_FTL_HYBRID_NO_CHECK) == 0;
    hybrid->copy = hybrid->chip->ops->copy != NULL && (open->flags & NW_FTL_HYBRID_NO_COPY) == 0;
    hybrid->session = NW_NO_BLOCK;
    hybrid->certain = NW_NO_BLOCK;
    hybrid->certain_version = 0;
    hybrid->ended = 0;
    hybrid->late = NW_NO_BLOCK;
    hybrid->idle = NW_NO_BLOCK;
    hybrid->copied_at = NW_NO_PAGE;
    hybrid->origin = NW_NO_BLOCK;
    hybrid->origin_version = 0;
    hybrid->saved = NW_NO_PAGE;
    hybrid->doubt = NW_NO_PAGE;
    hybrid->spoiled = NW_NO_BLOCK;
    hybrid->owes = 0;
    hybrid->doomed = 0;
    hybrid->limbo = 0;
    hybrid->version = 1;
    hybrid->fenced = 0;
    hybrid->last = 0;
    hybrid->tops = 0;
    hybrid->records = 0;
    hybrid->holding = 0;
    hybrid->urgent = 0;
    hybrid->failed = 0;
    *open->block = (struct nw_block){.ops = &hybrid_ops,
                                     .context = hybrid,
                                     .sectors = open->sectors,
                                     .sector_bytes = geometry->page_bytes,
                                     .flags = NW_BLOCK_PERSISTENT,
                                     .stats = hybrid->stats};
    hybrid->blocks.wear = open->wear;
    int result = nw_blocks_load(&hybrid->blocks);
    hybrid->bad_before = hybrid->blocks.bad;
    return result;
}

uint32_t nw_hybrid_floor(const struct nw_hybrid *hybrid)
{
    uint32_t bad = hybrid->blocks.bad;
    uint32_t more = bad - hybrid->bad_before;
    uint32_t needs = hybrid->sectors / hybrid->block_pages + NW_HYBRID_FLOOR + 2U + bad;
    uint32_t room = hybrid->blocks.count > needs ? hybrid->blocks.count - needs : 0;

    more = more < NW_HYBRID_MORE ? more : NW_HYBRID_MORE;
    return NW_HYBRID_FLOOR + (more < room ? more : room);
}

int nw_hybrid_spare(struct nw_hybrid *hybrid, uint32_t floor)
{
    int result = 1;

    while (result > 0 && nw_hybrid_free(hybrid) <= floor) {
        result = nw_blocks_heal_now(&hybrid->blocks);
    }
    return result == 0 ? (int)NW_ERR_FULL : (result < 0 ? result : (int)NW_OK);
}

int32_t nw_hybrid_take(struct nw_hybrid *hybrid, uint16_t data, int moves)
{
    uint16_t floor = moves || hybrid->urgent == NW_HYBRID_ALL ? 0U
                     : hybrid->urgent != 0                    ? 1U
                                                              : NW_HYBRID_FLOOR;

    int result = nw_hybrid_spare(hybrid, floor);
    if (result == NW_OK) {
        result = nw_hybrid_flush(hybrid);
    }
    if (result < 0) {
        return result;
    }
    hybrid->blocks.keep = floor > hybrid->limbo ? (uint16_t)(floor - hybrid->limbo) : 0U;
    int32_t block = nw_blocks_take_for(&hybrid->blocks, data);
    hybrid->blocks.keep = 0;
    return block;
}

/* Payload is given exactly when the chip keeps it. */
static int suits(const struct nw_hybrid *hybrid, const struct nw_block_req *req)
{
    return (req->data != NULL) == (hybrid->payload != 0);
}

static int read_sector(struct nw_hybrid *hybrid, uint32_t sector, uint8_t *data)
{
    uint16_t length = hybrid->page_bytes;
    struct nw_tag tag;
    uint32_t at;
    int found = nw_hybrid_find(hybrid, sector, &at);

    if (found < 0) {
        return found;
    }
    if (at == NW_NO_PAGE) {
        if (data != NULL) {
            memset(data, 0, length);
        }
        return NW_OK;
    }
    int state = nw_hybrid_read(hybrid, at, length, data, &tag);
    if (state < 0 || state == NW_TAG_LOST) {
        return state < 0 ? state : (int)NW_ERR_ECC;
    }
    if (state != NW_TAG_GOOD || (tag.word & NW_HYBRID_DAMAGED) != 0 ||
        (tag.word & NW_HYBRID_SECTOR) != sector) {
        return NW_ERR_CORRUPT;
    }
    return hybrid->check == 0 || tag.crc == nw_tag_sum(data, length) ? NW_OK : NW_ERR_CORRUPT;
}

static int hybrid_read(struct nw_block_req *req)
{
    struct nw_hybrid *hybrid = req->block->context;
    uint8_t *data = req->data;

    if (!suits(hybrid, req)) {
        return NW_ERR_UNSUPPORTED;
    }
    for (; req->done < req->count; req->done++) {
        int result = read_sector(hybrid, req->sector + req->done, data);
        if (result < 0) {
            return result;
        }
        hybrid->stats->host_reads++;
        data = data != NULL ? data + req->block->sector_bytes : NULL;
    }
    return NW_OK;
}

static int put_sector(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put)
{
    if (hybrid->session == NW_NO_BLOCK) {
        return NW_ERR_FULL;
    }
    uint16_t lost;
    int result;

    do { /* every further turn has cost a block its life */
        lost = (uint16_t)(hybrid->blocks.bad + hybrid->failed);
        result = nw_hybrid_settle(hybrid);
        result = result == NW_OK ? hybrid->kind->write(hybrid, put) : result;
    } while (result == NW_ERR_FULL && lost != (uint16_t)(hybrid->blocks.bad + hybrid->failed));
    if (result == NW_OK) {
        (void)nw_hybrid_close(hybrid); /* the sector is written */
    }
    return result;
}

/* What reads show behind a failed call has to outlive the next mount. */
static int settle_doubt(struct nw_hybrid *hybrid)
{
    return hybrid->doubt != NW_NO_PAGE ? nw_hybrid_settle(hybrid) : (int)NW_OK;
}

/* The wear policy hears once of each logical block that a request updates. */
static void tell_update(struct nw_hybrid *hybrid, uint32_t sector, int first)
{
    uint32_t at;

    if ((first || sector % hybrid->block_pages == 0) &&
        nw_hybrid_find(hybrid, sector, &at) == NW_OK && at != NW_NO_PAGE) {
        nw_blocks_updated(&hybrid->blocks, nw_hybrid_block_of(hybrid, sector));
    }
}

static int evict(struct nw_hybrid *hybrid, uint16_t block)
{
    nw_count copies = hybrid->stats->copies;
    int settled = nw_hybrid_settle(hybrid); /* a merge behind the write may have failed */
    int result = settled < 0 ? settled : 1;

    while (result > 0 && nw_hybrid_free(hybrid) <= NW_HYBRID_FLOOR) {
        result = hybrid->kind->tidy(hybrid);
    }
    if (result <= 0 || hybrid->blocks.state[block] != NW_BLOCK_USED) {
        return result < 0 ? result : (int)NW_OK;
    }
    result = hybrid->kind->evict(hybrid, block);
    nw_blocks_moved(&hybrid->blocks, (uint32_t)(hybrid->stats->copies - copies));
    return result;
}

/* What the wear policy wants moved. The sector is written by now, so an error is not told: nothing
 * is lost by it, the next call settles what is in doubt, and tells if it cannot. */
static void level(struct nw_hybrid *hybrid)
{
    uint16_t block = nw_blocks_move(&hybrid->blocks);

    if (block != NW_NO_BLOCK && hybrid->blocks.state[block] == NW_BLOCK_USED &&
        block != hybrid->session) {
        (void)evict(hybrid, block);
    }
}

static int hybrid_write(struct nw_block_req *req)
{
    struct nw_hybrid *hybrid = req->block->context;
    struct nw_hybrid_put put = {.from = NW_NO_PAGE, .data = req->data};

    if (!suits(hybrid, req)) {
        return NW_ERR_UNSUPPORTED;
    }
    while (req->done < req->count) {
        put.sector = req->sector + req->done;
        if (hybrid->blocks.wear != NULL) {
            tell_update(hybrid, put.sector, req->done == 0);
        }
        int result = put_sector(hybrid, &put);
        if (result == NW_OK) {
            req->done++;
            hybrid->stats->host_writes++;
        }
        if (result < 0) {
            return result;
        }
        if (hybrid->blocks.wear != NULL) {
            level(hybrid);
        }
        put.data = put.data != NULL ? put.data + req->block->sector_bytes : NULL;
    }
    return NW_OK;
}

static int hybrid_trim(struct nw_block_req *req)
{
    struct nw_hybrid *hybrid = req->block->context;
    struct nw_hybrid_put zeros = {.from = NW_NO_PAGE};
    int settled = settle_doubt(hybrid);

    for (; settled == NW_OK && req->done < req->count; req->done++) {
        uint32_t at;

        zeros.sector = req->sector + req->done;
        int result = nw_hybrid_find(hybrid, zeros.sector, &at);
        if (result == NW_ERR_CORRUPT || (result == NW_OK && at != NW_NO_PAGE)) {
            result = put_sector(hybrid, &zeros);
        }
        if (result < 0) {
            return result;
        }
        hybrid->stats->host_trims++;
    }
    return settled;
}

static int hybrid_sync(struct nw_block_req *req)
{
    struct nw_hybrid *hybrid = req->block->context;

    hybrid->stats->syncs++;
    return settle_doubt(hybrid);
}

/* What one step towards a free block takes at most; a page that the chip copies costs a read of its
 * tag too. */
static uint32_t step_us(struct nw_hybrid *hybrid)
{
    const struct nw_geometry *geometry = &hybrid->chip->geometry;
    uint32_t pages = hybrid->block_pages;
    uint32_t reads = (hybrid->copy != 0 ? 2U * pages : pages) + hybrid->kind->step_reads(hybrid);

    pages++; /* that which makes blocks in waiting free */
    return reads * geometry->read_us + pages * geometry->program_us + geometry->erase_us;
}

/* 1 if a merge has to wait until others are healed. What it gives back may have to be healed too,
 * and must not leave the writes that follow without free blocks. */
static int heals_first(const struct nw_hybrid *hybrid)
{
    const struct nw_wear *wear = hybrid->blocks.wear;

    return wear != NULL && wear->heal.count > 0 &&
           (wear->heal.config.period_s == 0 || nw_hybrid_free(hybrid) <= NW_HYBRID_FLOOR);
}

/* Erase ahead, then merge until so many blocks are free above the floor. */
static int work_ahead(struct nw_hybrid *hybrid, uint32_t left)
{
    const struct nw_geometry *geometry = &hybrid->chip->geometry;
    const struct nw_blocks *blocks = &hybrid->blocks;

    for (;;) { /* each step leaves less of the budget */
        int erases = blocks->ready < READY_AHEAD && blocks->ready < blocks->free;

        if (!erases && nw_hybrid_free(hybrid) >= NW_HYBRID_FLOOR + READY_AHEAD) {
            return 0;
        }
        uint32_t cost = erases ? geometry->erase_us : step_us(hybrid);
        if (cost > left || (!erases && heals_first(hybrid))) {
            return 1;
        }
        left -= cost;
        int result = erases ? nw_blocks_prepare(&hybrid->blocks) : hybrid->kind->step(hybrid);
        if (result <= 0) {
            return result == NW_ERR_FULL ? 0 : result;
        }
    }
}

/* What a call that failed has left comes first, and may cost more than the budget. Without a block
 * for it healing may win one. Behind a mount that has no record of its own nothing is erased: the
 * next one needs the record that it found, and what that one saved. */
static int hybrid_idle(struct nw_block_req *req)
{
    struct nw_hybrid *hybrid = req->block->context;
    uint64_t before = hybrid->version;

    if (hybrid->session == NW_NO_BLOCK) {
        return NW_OK;
    }
    hybrid->blocks.idle = 1;
    int settled = nw_hybrid_settle(hybrid);
    hybrid->blocks.idle = 0;
    if (settled < 0 && settled != NW_ERR_FULL) {
        return settled;
    }
    int result = nw_blocks_heal(&hybrid->blocks, req->budget_us);
    if (result == 0 && settled == NW_OK) {
        hybrid->blocks.idle = 1;
        result = work_ahead(hybrid, req->budget_us);
        hybrid->blocks.idle = 0;
    }
    if (result >= 0 && hybrid->version != before) { /* a step has counted that program */
        int closed = nw_hybrid_close(hybrid);
        result = closed < 0 ? closed : result;
    }
    return result;
}

static const struct nw_block_ops hybrid_ops = {.read = hybrid_read,
                                               .write = hybrid_write,
                                               .trim = hybrid_trim,
                                               .sync = hybrid_sync,
                                               .idle = hybrid_idle};
