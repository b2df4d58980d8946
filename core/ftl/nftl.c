/* SPDX-License-Identifier: Apache-2.0 */
/* NFTL: chains of blocks, each sector at its own place. See ftl_nftl.h; what a mount can rely on
 * is told in hybrid.h. */
#include "nandwich/ftl_nftl.h"

#include <string.h>

#include "hybrid.h"

#define FAILED 0xFFFFU /* in next[]: a program failed there */

struct nw_nftl {
    struct nw_hybrid hybrid; /* first: what the shared code is given */
    uint16_t *newest;        /* by logical block: last block of its chain, or NW_NO_BLOCK */
    uint16_t *length;        /* by logical block: blocks in its chain */
    uint16_t *older;         /* by block: the one before it in the chain */
    uint16_t *owner;         /* by block: its logical block, or NW_NO_BLOCK */
    uint16_t *next;          /* by block: first page it takes; block_pages: none, or FAILED */
    uint8_t *bits;           /* by block, a bit a page: holds its sector */
    uint8_t *seen;           /* the same, to reckon with */
    uint16_t logical;        /* logical blocks */
    uint16_t bit_bytes;      /* of one block's bits */
    uint8_t longest;         /* blocks a chain may have */
    uint8_t in_order;
};

static struct nw_nftl *nftl_of(struct nw_hybrid *hybrid)
{
    return (struct nw_nftl *)(void *)hybrid;
}

static uint8_t *bits_of(const struct nw_nftl *nftl, uint16_t block)
{
    return nftl->bits + (size_t)block * nftl->bit_bytes;
}

static int holds(const struct nw_nftl *nftl, uint16_t block, uint16_t page)
{
    return (bits_of(nftl, block)[page >> 3] & (1U << (page & 7U))) != 0;
}

/* The list of chains as long as that; `longest` and above share one. */
static uint16_t list_of(const struct nw_nftl *nftl, uint16_t length)
{
    uint16_t at = length < nftl->longest ? length : nftl->longest;

    return (uint16_t)(NW_HYBRID_LISTS + at);
}

/* A chain is listed through its newest block; taken out while it changes. */
static void unlist(struct nw_nftl *nftl, uint16_t logical)
{
    if (nftl->newest[logical] != NW_NO_BLOCK) {
        nw_blocks_unlink(&nftl->hybrid.blocks, nftl->newest[logical]);
    }
}

static void enlist(struct nw_nftl *nftl, uint16_t logical)
{
    if (nftl->newest[logical] != NW_NO_BLOCK) {
        nw_blocks_link(&nftl->hybrid.blocks, nftl->newest[logical],
                       list_of(nftl, nftl->length[logical]));
    }
}

/* Put a block at the end of a chain. */
static void append(struct nw_nftl *nftl, uint16_t logical, uint16_t block)
{
    unlist(nftl, logical);
    nftl->owner[block] = logical;
    nftl->older[block] = nftl->newest[logical];
    nftl->newest[logical] = block;
    nftl->length[logical]++;
    enlist(nftl, logical);
}

/* The last block of the chain that holds the page, or NW_NO_BLOCK. */
static uint16_t holder_of(const struct nw_nftl *nftl, uint16_t logical, uint16_t page)
{
    uint16_t block = nftl->newest[logical];

    while (block != NW_NO_BLOCK && !holds(nftl, block, page)) {
        block = nftl->older[block];
    }
    return block;
}

static uint32_t nftl_find(struct nw_hybrid *hybrid, uint32_t sector)
{
    uint16_t page = (uint16_t)(sector % hybrid->block_pages);
    uint16_t block = holder_of(nftl_of(hybrid), (uint16_t)(sector / hybrid->block_pages), page);

    return block == NW_NO_BLOCK ? NW_NO_PAGE : nw_hybrid_first(hybrid, block) + page;
}

/* 1 if the page of this block can be programmed. */
static int takes(const struct nw_nftl *nftl, uint16_t block, uint16_t page)
{
    uint16_t next = nftl->next[block];

    if (next >= nftl->hybrid.block_pages) {
        return 0;
    }
    return nftl->in_order != 0 ? page >= next : !holds(nftl, block, page);
}

/* A fresh block at the end of the chain; `data` is what the wear policy is told. */
static int extend(struct nw_nftl *nftl, uint16_t logical, uint16_t data)
{
    int32_t taken = nw_blocks_take_for(&nftl->hybrid.blocks, data);

    if (taken < 0) {
        return (int)taken;
    }
    uint16_t block = (uint16_t)taken;
    memset(bits_of(nftl, block), 0, nftl->bit_bytes);
    nftl->next[block] = 0;
    append(nftl, logical, block);
    return NW_OK;
}

/* Program a sector in the last block of its chain, in a fresh one if that does not take it or
 * fails. 1 if blocks failed on the way, 0, or an error. */
static int put_page(struct nw_nftl *nftl, const struct nw_hybrid_put *put)
{
    struct nw_hybrid *hybrid = &nftl->hybrid;
    uint16_t logical = (uint16_t)(put->sector / hybrid->block_pages);
    uint16_t page = (uint16_t)(put->sector % hybrid->block_pages);
    int failed = 0;

    for (;;) { /* every further turn has cost a block its life */
        uint16_t block = nftl->newest[logical];

        if (block == NW_NO_BLOCK || !takes(nftl, block, page)) {
            int result = extend(nftl, logical, logical);
            if (result < 0) {
                return result;
            }
            block = nftl->newest[logical];
        }
        int result = nw_hybrid_program(hybrid, nw_hybrid_first(hybrid, block) + page, put);
        if (result == NW_OK) {
            bits_of(nftl, block)[page >> 3] |= (uint8_t)(1U << (page & 7U));
            /* In order, or nothing but "open": pages tell the rest. */
            nftl->next[block] = nftl->in_order != 0 ? (uint16_t)(page + 1U) : 0;
            return failed;
        }
        if (result == NW_ERR_POWER) {
            return result;
        }
        nftl->next[block] = FAILED;
        failed = 1;
        if (result != NW_ERR_PROGRAM) {
            return result;
        }
    }
}

/* Blocks of a chain whose every sector is newer in a later block are needed no more. While mounting
 * they only leave the chain: more of their pages may come, and bring them back. */
static void drop_stale(struct nw_nftl *nftl, uint16_t logical, int mounting)
{
    struct nw_hybrid *hybrid = &nftl->hybrid;
    uint16_t after = NW_NO_BLOCK;
    uint16_t block = nftl->newest[logical];

    memset(nftl->seen, 0, nftl->bit_bytes);
    while (block != NW_NO_BLOCK) {
        uint16_t before = nftl->older[block];
        const uint8_t *bits = bits_of(nftl, block);
        uint8_t adds = 0;

        for (uint16_t i = 0; i < nftl->bit_bytes; i++) {
            adds |= (uint8_t)(bits[i] & ~nftl->seen[i]);
            nftl->seen[i] |= bits[i];
        }
        if (adds != 0) {
            after = block;
        } else {
            if (after == NW_NO_BLOCK) {
                nftl->newest[logical] = before;
            } else {
                nftl->older[after] = before;
            }
            nftl->length[logical]--;
            nftl->owner[block] = NW_NO_BLOCK;
            if (!mounting) {
                nw_hybrid_drop(hybrid, block, nftl->next[block] == FAILED);
            }
        }
        block = before;
    }
}

/* 1 if the page is held, but not by that block. */
static int is_elsewhere(const struct nw_nftl *nftl, uint16_t logical, uint16_t block, uint16_t page)
{
    uint16_t holder = holder_of(nftl, logical, page);

    return holder != NW_NO_BLOCK && holder != block;
}

/* Pages to move to `target` to have all there. */
static uint16_t count_moves(const struct nw_nftl *nftl, uint16_t logical, uint16_t target)
{
    uint16_t count = 0;

    for (uint16_t page = 0; page < nftl->hybrid.block_pages; page++) {
        count = (uint16_t)(count + is_elsewhere(nftl, logical, target, page));
    }
    return count;
}

/* 1 if the last block can take what it lacks; not if any of the chain has failed. */
static int can_gather(const struct nw_nftl *nftl, uint16_t logical)
{
    uint16_t newest = nftl->newest[logical];

    for (uint16_t block = newest; block != NW_NO_BLOCK; block = nftl->older[block]) {
        if (nftl->next[block] == FAILED) {
            return 0;
        }
    }
    for (uint16_t page = 0; page < nftl->hybrid.block_pages; page++) {
        if (is_elsewhere(nftl, logical, newest, page) && !takes(nftl, newest, page)) {
            return 0;
        }
    }
    return 1;
}

/* Move all that the last block lacks to it: `moves` pages. */
static int gather(struct nw_nftl *nftl, uint16_t logical, uint16_t moves)
{
    struct nw_hybrid *hybrid = &nftl->hybrid;
    uint16_t target = nftl->newest[logical];
    uint32_t first = (uint32_t)logical * hybrid->block_pages;

    for (uint16_t page = 0; moves > 0; page++) {
        struct nw_hybrid_put put = {.sector = first + page, .flags = NW_HYBRID_COPY};

        if (!is_elsewhere(nftl, logical, target, page)) {
            continue;
        }
        moves--;
        put.flags |= moves == 0 ? NW_HYBRID_LAST : 0U;
        put.from = nw_hybrid_find(hybrid, put.sector);
        int result = put_page(nftl, &put);
        if (result < 0) {
            return result;
        }
        target = result > 0 ? nftl->newest[logical] : target;
    }
    return NW_OK;
}

/* Make a chain one block that did not fail; `fresh`: and that was not of the chain before. */
static int fold(struct nw_nftl *nftl, uint16_t logical, int fresh)
{
    struct nw_stats *stats = nftl->hybrid.stats;

    while (nftl->newest[logical] != NW_NO_BLOCK &&
           (fresh || nftl->length[logical] > 1U || nftl->next[nftl->newest[logical]] == FAILED)) {
        int gathers = !fresh && can_gather(nftl, logical);
        int result = gathers ? NW_OK
                             : extend(nftl, logical, fresh ? NW_WEAR_MOVED : logical);
        uint16_t moves = count_moves(nftl, logical, nftl->newest[logical]);

        if (result == NW_OK) {
            result = gather(nftl, logical, moves);
        }
        if (result < 0) {
            return result;
        }
        unlist(nftl, logical);
        drop_stale(nftl, logical, 0);
        enlist(nftl, logical);
        fresh = 0;
        stats->merges_full += !gathers;
        stats->merges_partial += gathers && moves > 0;
        stats->merges_switch += gathers && moves == 0;
    }
    return NW_OK;
}

/* The merge policy's place: fold the longest chain. NW_ERR_FULL: there is none to fold. */
static int fold_one(struct nw_nftl *nftl)
{
    for (uint8_t length = nftl->longest; length > 1U; length--) {
        uint16_t block = nw_blocks_first(&nftl->hybrid.blocks, list_of(nftl, length));
        if (block != NW_NO_BLOCK) {
            return fold(nftl, nftl->owner[block], 0);
        }
    }
    return NW_ERR_FULL;
}

/* Before a write adds a block to a chain: room in the chain, and in the chip. */
static int make_room(struct nw_nftl *nftl, uint16_t logical)
{
    int result = NW_OK;

    if (nftl->hybrid.urgent != 0) {
        return NW_OK;
    }
    if (nftl->length[logical] >= nftl->longest) {
        result = fold(nftl, logical, 0);
    }
    while (result == NW_OK && nw_hybrid_free(&nftl->hybrid) <= NW_HYBRID_FLOOR) {
        result = fold_one(nftl);
    }
    return result;
}

static int nftl_write(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put)
{
    struct nw_nftl *nftl = nftl_of(hybrid);
    uint16_t logical = (uint16_t)(put->sector / hybrid->block_pages);
    uint16_t page = (uint16_t)(put->sector % hybrid->block_pages);
    uint16_t newest = nftl->newest[logical];

    if (newest == NW_NO_BLOCK || !takes(nftl, newest, page)) {
        int result = make_room(nftl, logical);
        if (result < 0) {
            return result;
        }
    }
    int result = put_page(nftl, put);
    if (result > 0 && hybrid->urgent != 0) {
        return NW_OK;
    }
    if (result > 0) {
        /* The sector is written; without room the failed block has to wait for the next fold. */
        result = fold(nftl, logical, 0);
        result = result == NW_ERR_FULL ? (int)NW_OK : result;
    }
    return result;
}

static int nftl_tidy(struct nw_hybrid *hybrid)
{
    int result = fold_one(nftl_of(hybrid));

    return result == NW_ERR_FULL ? 0 : result < 0 ? result : 1;
}

static int nftl_evict(struct nw_hybrid *hybrid, uint16_t block)
{
    struct nw_nftl *nftl = nftl_of(hybrid);
    uint16_t logical = nftl->owner[block];

    return logical != NW_NO_BLOCK ? fold(nftl, logical, 1) : (int)NW_OK;
}

/* Mounting: the version of some page that a block holds. All of a block's pages are older than all
 * of the next one's in its chain. */
static int version_of(struct nw_nftl *nftl, uint16_t block, uint64_t *version)
{
    struct nw_tag tag = {0};
    uint16_t page = 0;

    while (!holds(nftl, block, page)) {
        page++;
    }
    int state = nw_hybrid_read_tag(&nftl->hybrid,
                                   nw_hybrid_first(&nftl->hybrid, block) + page, &tag);
    *version = tag.version;
    return state < 0 ? state : (int)NW_OK;
}

/* Put a block where it belongs in the chain of its owner. */
static int insert(struct nw_nftl *nftl, uint16_t logical, uint16_t block, uint64_t version)
{
    uint16_t after = NW_NO_BLOCK;

    drop_stale(nftl, logical, 1); /* or many old blocks would make a long chain */
    uint16_t before = nftl->newest[logical];
    while (before != NW_NO_BLOCK) {
        uint64_t other;
        int result = version_of(nftl, before, &other);

        if (result < 0) {
            return result;
        }
        if (other < version) {
            break;
        }
        after = before;
        before = nftl->older[before];
    }
    nftl->older[block] = before;
    if (after == NW_NO_BLOCK) {
        nftl->newest[logical] = block;
    } else {
        nftl->older[after] = block;
    }
    nftl->owner[block] = logical;
    nftl->length[logical]++;
    return NW_OK;
}

static int nftl_meet(struct nw_hybrid *hybrid, uint32_t at, const struct nw_tag *tag)
{
    struct nw_nftl *nftl = nftl_of(hybrid);
    uint32_t sector = tag->word & NW_HYBRID_SECTOR;
    uint16_t block = nw_hybrid_block_of(hybrid, at);
    uint16_t page = (uint16_t)(at - nw_hybrid_first(hybrid, block));
    uint16_t logical = (uint16_t)(sector / hybrid->block_pages);
    int result = NW_OK;

    if (sector % hybrid->block_pages != page ||
        (nftl->owner[block] != NW_NO_BLOCK && nftl->owner[block] != logical)) {
        return NW_OK; /* what an erase that was cut has left */
    }
    if (nftl->owner[block] == NW_NO_BLOCK) {
        result = insert(nftl, logical, block, tag->version);
    }
    bits_of(nftl, block)[page >> 3] |= (uint8_t)(1U << (page & 7U));
    return result;
}

static int nftl_arrange(struct nw_hybrid *hybrid, int last)
{
    struct nw_nftl *nftl = nftl_of(hybrid);

    for (uint16_t logical = 0; logical < nftl->logical; logical++) {
        drop_stale(nftl, logical, 1);
        if (last) {
            enlist(nftl, logical);
        }
    }
    /* Blocks in no chain. */
    for (uint16_t block = 0; block < hybrid->blocks.count; block++) {
        if (hybrid->blocks.state[block] == NW_BLOCK_USED && nftl->owner[block] == NW_NO_BLOCK &&
            !nw_hybrid_held(hybrid, block)) {
            nw_blocks_give(&hybrid->blocks, block);
        }
    }
    return NW_OK;
}

static const struct nw_hybrid_kind nftl_kind = {.name = 0x4C54464EUL, /* NFTL */
                                                .find = nftl_find,
                                                .write = nftl_write,
                                                .meet = nftl_meet,
                                                .arrange = nftl_arrange,
                                                .tidy = nftl_tidy,
                                                .evict = nftl_evict};

static uint8_t chain_of(const struct nw_ftl_nftl_config *config)
{
    return config->chain != 0 ? config->chain : (uint8_t)NW_FTL_NFTL_CHAIN;
}

uint32_t nw_ftl_nftl_sectors(const struct nw_ftl_nftl_config *config,
                             const struct nw_geometry *geometry)
{
    uint8_t chain = chain_of(config);

    return chain >= 2U && chain <= NW_FTL_NFTL_MOST_CHAIN
               ? nw_hybrid_sectors(geometry, config->spare_blocks)
               : 0;
}

/* The one place that knows the layout: measures or places. */
static int place(struct nw_nftl **nftl, const struct nw_ftl_nftl_config *config,
                 struct nw_chip *chip, struct nw_stats *stats, struct nw_ram *ram)
{
    uint32_t sectors = nw_ftl_nftl_sectors(config, &chip->geometry);
    struct nw_nftl measure;

    if (sectors == 0) {
        return NW_ERR_CONFIG;
    }
    *nftl = NW_RAM_TAKE(ram, struct nw_nftl, 1);
    struct nw_nftl *to = *nftl != NULL ? *nftl : &measure;
    memset(to, 0, sizeof *to);
    size_t blocks = (size_t)chip->geometry.blocks;
    to->logical = (uint16_t)(sectors / chip->geometry.block_pages);
    to->bit_bytes = (uint16_t)((chip->geometry.block_pages + 7U) / 8U);
    to->longest = chain_of(config);
    to->in_order = (chip->geometry.flags & NW_CHIP_IN_ORDER) != 0;
    int result = nw_hybrid_place(&to->hybrid, chip, stats, (uint16_t)(to->longest + 1U), ram);
    to->newest = NW_RAM_TAKE(ram, uint16_t, to->logical);
    to->older = NW_RAM_TAKE(ram, uint16_t, blocks);
    to->owner = NW_RAM_TAKE(ram, uint16_t, blocks);
    to->next = NW_RAM_TAKE(ram, uint16_t, blocks);
    to->length = NW_RAM_TAKE(ram, uint16_t, to->logical);
    to->bits = NW_RAM_TAKE(ram, uint8_t, blocks * to->bit_bytes);
    to->seen = NW_RAM_TAKE(ram, uint8_t, to->bit_bytes);
    return result;
}

size_t nw_ftl_nftl_ram_bytes(const struct nw_ftl_nftl_config *config,
                             const struct nw_geometry *geometry)
{
    struct nw_chip chip = {.geometry = *geometry};
    struct nw_ram ram = {0};
    struct nw_nftl *nftl;

    return place(&nftl, config, &chip, NULL, &ram) < 0 ? 0 : ram.used;
}

static int prepare(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                   const struct nw_ftl_nftl_config *config, void *memory, size_t bytes)
{
    struct nw_ram ram = {.start = memory, .bytes = bytes};
    struct nw_nftl *nftl;
    int result = place(&nftl, config, chip, &ftl->stats, &ram);

    if (result < 0) {
        return result;
    }
    if (memory == NULL || ram.used > bytes) {
        return NW_ERR_RAM;
    }
    size_t blocks = (size_t)chip->geometry.blocks;
    memset(nftl->newest, 0xFF, sizeof *nftl->newest * nftl->logical);
    memset(nftl->length, 0, sizeof *nftl->length * nftl->logical);
    memset(nftl->owner, 0xFF, sizeof *nftl->owner * blocks);
    memset(nftl->bits, 0, blocks * nftl->bit_bytes);
    for (size_t block = 0; block < blocks; block++) {
        nftl->next[block] = chip->geometry.block_pages;
    }
    ftl->nftl = nftl;
    struct nw_hybrid_open open = {.kind = &nftl_kind,
                                  .block = &ftl->block,
                                  .wear = config->wear,
                                  .sectors = nw_ftl_nftl_sectors(config, &chip->geometry),
                                  .flags = config->flags};
    return nw_hybrid_prepare(&nftl->hybrid, &open);
}

int nw_ftl_nftl_format(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                       const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes)
{
    int result = prepare(ftl, chip, config, ram, ram_bytes);

    return result == NW_OK ? nw_hybrid_format(&ftl->nftl->hybrid) : result;
}

int nw_ftl_nftl_mount(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                      const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes)
{
    int result = prepare(ftl, chip, config, ram, ram_bytes);

    return result == NW_OK ? nw_hybrid_mount(&ftl->nftl->hybrid) : result;
}

int nw_ftl_nftl_open(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                     const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes)
{
    int result = nw_ftl_nftl_mount(ftl, chip, config, ram, ram_bytes);

    return result == NW_ERR_NOT_FOUND ? nw_ftl_nftl_format(ftl, chip, config, ram, ram_bytes)
                                      : result;
}
