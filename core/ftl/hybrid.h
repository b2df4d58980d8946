/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid.h - what the layers that keep blocks of neighbouring sectors share (nftl, log, superblock,
 * fast): programming and moving tagged pages, giving blocks back at the right time, the verbs of
 * the block device, and coming up after power was lost. Which block takes which sector, and when
 * blocks are merged, is the layer's own.
 *
 * Every page carries a tag (tag.h) with its sector and a version that grows by one with each
 * program. Of all pages of a sector that count the one with the highest version is the newest.
 * Trimmed sectors are written as zeros. So nothing that counts is ever outdated by anything but a
 * newer page of its sector, and blocks that were given back may show again without harm.
 *
 * WHAT A LAYER KEEPS TO
 *   - Blocks that a merge leaves behind go back by nw_hybrid_drop(). They are not erased before a
 *     program that came later has ended.
 *   - A program that fails is tried again, with the same sector, as the next program of all.
 *     Nothing further is programmed in that block; it goes back by nw_hybrid_drop(..., 1). After
 *     any other error the layer gives up, and the shared code tries again (nw_hybrid_settle()).
 *     Nothing further is programmed in that block either, but it is no bad one: when nothing in
 *     it counts, or nothing but what an unfinished merge moved there, it goes back at once by
 *     nw_hybrid_spoil(). The blocks before it in which the same merge had programs that failed go
 *     with it, by nw_hybrid_doom().
 *   - A merge moves pages (NW_HYBRID_COPY) one after the other, the last one marked so, and keeps
 *     every page it moved until then. Nothing is moved any more to a block that holds nothing but
 *     moved pages once the merge that began it has ended.
 *   - A merge that an error has stopped goes on in its block before any other one begins. A mount
 *     does not believe that block without its last page, and the free blocks of the floor are
 *     enough for one such block.
 *   - While hybrid->urgent is set a write merges nothing.
 *   - After a mount nothing is programmed in a block that it found in use.
 * Why that is enough: docs/ftl-hybrid.md.
 */
#ifndef NANDWICH_FTL_HYBRID_H
#define NANDWICH_FTL_HYBRID_H

#include <stddef.h>

#include "blocks.h"
#include "nandwich/block.h"
#include "tag.h"

#define NW_NO_PAGE 0xFFFFFFFFUL

/* A tag's word: flags, and the sector in the low 27 bits. */
#define NW_HYBRID_SESSION 0x80000000UL /* written by a mount */
#define NW_HYBRID_DAMAGED 0x40000000UL /* the content was lost when it had to be moved */
#define NW_HYBRID_COPY 0x20000000UL    /* moved, not written by the host */
#define NW_HYBRID_LAST 0x10000000UL    /* with COPY: the last move of a merge */
#define NW_HYBRID_SHARED 0x08000000UL  /* in a log block that all sectors share */
#define NW_HYBRID_SECTOR 0x07FFFFFFUL
/* A page that means nothing, but that all before it have ended. */
#define NW_HYBRID_ENDED (NW_HYBRID_SESSION | NW_HYBRID_LAST | NW_HYBRID_SECTOR)

#define NW_HYBRID_LIMBO 0U  /* list of blocks.h: given back, free after the next program */
#define NW_HYBRID_RETIRE 1U /* the same, but bad */
#define NW_HYBRID_LISTS 2U  /* such lists; the layer's own begin there */
#define NW_HYBRID_FLOOR 5U        /* free blocks left for merges, failures and the next mount */
#define NW_HYBRID_MORE 10U /* the most that are left beyond it after blocks went bad */
#define NW_HYBRID_MOST_DOOMED 255U
#define NW_HYBRID_LEAST_SPARE 10U
#define NW_HYBRID_LEAST_BYTES 256U
#define NW_HYBRID_MOST_BLOCKS 65000U /* with the lists of chains they have numbers of 16 bits */
#define NW_HYBRID_TOPS 4U
#define NW_HYBRID_ALL 1U
#define NW_HYBRID_BUT_ONE 2U
#define NW_HYBRID_RECORDS 2U

struct nw_hybrid;

/* What to program: bytes, zeros (data NULL on a chip with payload), or the page `from`. */
struct nw_hybrid_put {
    uint32_t sector;
    uint32_t flags; /* NW_HYBRID_COPY, ..._LAST, ..._DAMAGED, ..._SHARED */
    uint32_t from;  /* NW_NO_PAGE: not from a page */
    uint8_t *data;
};

/* What a layer does. All but tidy and the steps answer NW_OK or an error. */
struct nw_hybrid_kind {
    /* The page where a sector was last put, or NW_NO_PAGE. NW_ERR_CORRUPT: cannot be told. */
    int (*find)(struct nw_hybrid *hybrid, uint32_t sector, uint32_t *at);
    /* Put what the host writes; NW_ERR_FULL when there is no room. */
    int (*write)(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put);
    /* Mounting: this page counts. Pages come in any order before arrange() is called first, and
     * behind that from the oldest to the newest, each newer than all that came before. */
    int (*meet)(struct nw_hybrid *hybrid, uint32_t at, const struct nw_tag *tag);
    /* Mounting, before arrange(): no page of this block counts after all. */
    void (*forget)(struct nw_hybrid *hybrid, uint16_t block);
    /* Mounting, behind arrange(): a merge was cut short when it had moved the sector hybrid->moved.
     * 1: it had at least two more to move. */
    int (*goes_on)(struct nw_hybrid *hybrid);
    /* Mounting: give back blocks that nothing needs, unless nw_hybrid_held(). Called twice, the
     * second time with `last` set, when nothing is held any more and all pages have come. */
    int (*arrange)(struct nw_hybrid *hybrid, int last);
    /* Merge to win a block. 1: done, 0: nothing to merge, or an error: NW_ERR_FULL when no block
     * was left on the way, so that nw_hybrid_settle() has to come before anything else. */
    int (*tidy)(struct nw_hybrid *hybrid);
    /* Idle: a step towards that, which moves no more than a block of pages. Answers the same. */
    int (*step)(struct nw_hybrid *hybrid);
    /* Pages that this step reads at most, beside those it moves. */
    uint32_t (*step_reads)(struct nw_hybrid *hybrid);
    /* Move all that this used block holds elsewhere, for the wear policy. */
    int (*evict)(struct nw_hybrid *hybrid, uint16_t block);
    /* Merge what holds this sector, and the sector with it. 1: done, 0: nothing held it before, or
     * an error. */
    int (*renew)(struct nw_hybrid *hybrid, uint32_t sector);
    /* End the merge that an error has stopped, if there is one, in the block that it began. */
    int (*finish)(struct nw_hybrid *hybrid);
};

/* A page that counts, one of the newest. */
struct nw_hybrid_top {
    uint32_t at;
    struct nw_tag tag;
};

/* A record of a mount. */
struct nw_hybrid_record {
    uint64_t version;
    uint32_t at;
};

struct nw_hybrid {
    const struct nw_hybrid_kind *kind;
    struct nw_chip *chip;
    struct nw_stats *stats;
    uint32_t name;        /* four letters that the layer's records begin with */
    uint8_t *buffer;      /* one page */
    uint8_t *torn;        /* by block, a bit: a mount has to empty and erase it */
    uint32_t sectors;
    uint16_t degree;      /* as in struct nw_hybrid_open */
    uint16_t block_pages;
    uint16_t page_bytes;
    uint8_t payload;      /* the chip keeps data */
    uint8_t check;        /* verify CRC-32 on reads */
    uint8_t copy;         /* move by the chip's copy verb */
    uint8_t grows;        /* as in struct nw_hybrid_open */
    uint8_t urgent;       /* the free blocks of the floor are for this write: NW_HYBRID_ALL of
                           * them, or _BUT_ONE; 0: they are not */
    uint16_t session;     /* block of the newest record; NW_NO_BLOCK: cannot write */
    uint16_t session_next; /* first page of it not written */
    uint16_t limbo;       /* blocks given back, waiting for a program */
    uint16_t bad_before;  /* bad blocks when the session began */
    uint16_t failed;      /* programs that failed in this session */
    uint32_t saved_at;    /* the copy a mount made of the newest page, until it is written anew */
    uint32_t saved;       /* its sector, or NW_NO_PAGE */
    uint32_t doubt;       /* sector of a program that failed, until it is written anew */
    uint16_t spoiled;     /* free block to erase before the next program, or NW_NO_BLOCK */
    uint8_t owes;         /* blocks were taken below the floor behind an error */
    uint8_t doomed;       /* blocks to erase behind the spoiled one, and to mark bad then */
    uint32_t moved;       /* mounting: the sector moved to `idle` last */
    uint32_t copied_at;   /* mounting: the copy of what is in `idle`, or NW_NO_PAGE */
    uint64_t version;     /* of the next program */
    struct nw_blocks blocks;

    /* mounting */
    uint64_t fenced;      /* first version of the newest record's mount */
    uint64_t last;        /* versions above, up to this mount's, are void */
    uint64_t saved_version;
    uint64_t ended;       /* every page that counts and is older had ended */
    uint64_t ageing;       /* torn pages beside older ones than this have to go */
    uint8_t tops;
    uint8_t records;
    uint8_t holding;
    uint16_t certain;     /* block of the newest record whose mount showed that it is all there */
    uint64_t certain_version;
    uint16_t origin;      /* block of the page that an uncertain record saved, or NW_NO_BLOCK */
    uint64_t origin_version;
    uint16_t late;        /* block of a merge whose last page may be torn, or NW_NO_BLOCK */
    uint32_t late_word;   /* of the oldest page in it, which came before that one */
    uint16_t idle;        /* block of which nothing is needed, although its pages are the newest
                           * of all, or NW_NO_BLOCK: what a merge that was cut short had moved, or
                           * what the last mount had saved and written anew */
    struct nw_hybrid_top top[NW_HYBRID_TOPS];           /* newest first */
    struct nw_hybrid_record record[NW_HYBRID_RECORDS];  /* newest first */
};

static inline uint32_t nw_hybrid_first(const struct nw_hybrid *hybrid, uint16_t block)
{
    return (uint32_t)block * hybrid->block_pages;
}

static inline uint16_t nw_hybrid_block_of(const struct nw_hybrid *hybrid, uint32_t at)
{
    return (uint16_t)(at / hybrid->block_pages);
}

/* hybrid.c: opening */

/* Sectors of (blocks - spare) blocks; 0: the part will not do. spare 0: blocks / 14 + 10. */
uint32_t nw_hybrid_sectors(const struct nw_geometry *geometry, uint32_t spare);

/* Take the buffer and the block lists; `lists` of them are the layer's. */
int nw_hybrid_place(struct nw_hybrid *hybrid, struct nw_chip *chip, struct nw_stats *stats,
                    uint16_t lists, struct nw_ram *ram);

/* What the layer offers above, for a hybrid that was placed. `flags` are NW_FTL_HYBRID_... */
struct nw_hybrid_open {
    const struct nw_hybrid_kind *kind;
    uint32_t name;
    struct nw_block *block;
    struct nw_wear *wear;
    uint32_t sectors;
    uint16_t degree; /* on flash: logical blocks that share blocks; fast: log blocks for all */
    uint16_t flags;
    uint8_t grows;   /* a mount may have a larger degree than the one before; else the same alone */
};

/* Fill in `hybrid` and the block device, ask for bad blocks. */
int nw_hybrid_prepare(struct nw_hybrid *hybrid, const struct nw_hybrid_open *open);

/* hybrid.c: pages and blocks */

/* As nw_tagged_read() (tag.h), with the tag in *tag when it is good. */
int nw_hybrid_read(struct nw_hybrid *hybrid, uint32_t at, uint16_t length, uint8_t *data,
                   struct nw_tag *tag);
/* The tag alone. */
int nw_hybrid_read_tag(struct nw_hybrid *hybrid, uint32_t at, struct nw_tag *tag);

/* One program of page `at`. NW_OK, or an error: then do not program this block any more. */
int nw_hybrid_program(struct nw_hybrid *hybrid, uint32_t at, const struct nw_hybrid_put *put);

/* Of a put that has failed: 1 if it came to its program. Else the page is as it was before. */
static inline int nw_hybrid_tried(const struct nw_hybrid *hybrid, const struct nw_hybrid_put *put)
{
    return hybrid->doubt == put->sector;
}

/* Where a sector lies now: as find above. */
int nw_hybrid_find(struct nw_hybrid *hybrid, uint32_t sector, uint32_t *at);

/* Free blocks, those in waiting included. */
static inline uint32_t nw_hybrid_free(const struct nw_hybrid *hybrid)
{
    return (uint32_t)hybrid->blocks.free + hybrid->limbo;
}

/* Free blocks that a write leaves. The floor, and one more for each block that went bad in this
 * session: others of its age may follow, and a merge has to find one that works. */
uint32_t nw_hybrid_floor(const struct nw_hybrid *hybrid);

/* NW_OK when more than `floor` blocks are free: those that wait to be healed are when there is no
 * other way, for a merge that wins nothing must not stop writes while they are good. Else
 * NW_ERR_FULL, or the chip's error. */
int nw_hybrid_spare(struct nw_hybrid *hybrid, uint32_t floor);

/* A fresh block: its number or an error. A write (`moves` 0) does not go below NW_HYBRID_FLOOR,
 * however many blocks fail on the way: NW_ERR_FULL, merge and try again. */
int32_t nw_hybrid_take(struct nw_hybrid *hybrid, uint16_t data, int moves);

/* A used block, in no list, that nothing needs any more; `failed`: a program failed in it. */
void nw_hybrid_drop(struct nw_hybrid *hybrid, uint16_t block, int failed);

/* A used block, in no list, in which a program answered an error that is not the block's, and in
 * which nothing counts but what is elsewhere too: it is free, and erased before the next program.
 * Without it such errors, one after the other, would use up the free blocks. */
void nw_hybrid_spoil(struct nw_hybrid *hybrid, uint16_t block);

/* The same for one in which a program failed, right behind the one that was spoiled: it is erased
 * after that, and marked bad. The newest comes first. */
void nw_hybrid_doom(struct nw_hybrid *hybrid, uint16_t block);

/* Erase what was spoiled and doomed, before anything else is programmed: until then its pages are
 * the newest of all, as those that a cut has left are. */
int nw_hybrid_wipe_spoiled(struct nw_hybrid *hybrid);

/* hybrid_record.c */

/* Page `at` to the buffer. Answers as nw_hybrid_read(), with NW_TAG_GOOD only when tag and data are
 * whole. */
int nw_hybrid_read_whole(struct nw_hybrid *hybrid, uint32_t at, struct nw_tag *tag);

/* First walk of a mount: finds the newest record, which is in the buffer then, and the page that
 * its mount copied. NW_ERR_NOT_FOUND, NW_ERR_VERSION, NW_ERR_CORRUPT, or the chip's error. */
int nw_hybrid_find_record(struct nw_hybrid *hybrid);

/* 1 if the record in the buffer says that a version does not count. */
int nw_hybrid_is_void(const struct nw_hybrid *hybrid, uint64_t version);

/* The record of this mount to the buffer: the newest one there is, and a fence from hybrid->last up
 * to `first`. `copies`: 1 when the mount copies a page. NW_OK or the error of a read. */
int nw_hybrid_make_record(struct nw_hybrid *hybrid, uint64_t first, uint8_t copies);

/* hybrid_session.c */

/* Starts this session in a fresh block. NW_ERR_FULL: there is none. */
int nw_hybrid_begin_session(struct nw_hybrid *hybrid);

/* Before a merge or a write takes a block: if all that are free wait for a program, make one, a
 * page that means nothing. NW_ERR_FULL: the session's block has no room for it. */
int nw_hybrid_flush(struct nw_hybrid *hybrid);

/* Behind a call or a mount: when blocks have failed in this session, and others wait for a program,
 * makes that, so that the next mount finds them free. NW_OK or NW_ERR_POWER. Cost: at most 1
 * program. */
int nw_hybrid_close(struct nw_hybrid *hybrid);

/* Merges until as many blocks are free as the floor asks for, or nothing is left to merge. Sessions
 * that end after a few operations each must not use up the free blocks. */
int nw_hybrid_refill(struct nw_hybrid *hybrid);

/* Writes anew, without a merge, the sector of a program that failed and was not tried again, and
 * the one that a mount saved. NW_ERR_FULL: no block for it. */
int nw_hybrid_rewrite(struct nw_hybrid *hybrid);

/* What has to be before anything else: erase what was spoiled, nw_hybrid_rewrite(), end a merge
 * that was stopped, and win back the blocks that this took. NW_ERR_FULL: no block for it. */
int nw_hybrid_settle(struct nw_hybrid *hybrid);

/* hybrid_mount.c */

/* While a mount decides: this block must not be given back. */
int nw_hybrid_held(const struct nw_hybrid *hybrid, uint16_t block);

/* While a mount decides: a page of the newest block of a merge that could not end there; NULL: no
 * such merge. That block may count for what came behind it, and a mount that does not see this
 * leaves the block out. So what it has outdated must not be given back. */
const struct nw_hybrid_top *nw_hybrid_unsure(const struct nw_hybrid *hybrid);

/* Whether a page was moved by a merge of the session before, and is not its last one. */
static inline int nw_hybrid_is_within(const struct nw_hybrid *hybrid, const struct nw_tag *tag)
{
    return (tag->word & (NW_HYBRID_COPY | NW_HYBRID_LAST)) == NW_HYBRID_COPY &&
           tag->version > hybrid->fenced;
}

int nw_hybrid_format(struct nw_hybrid *hybrid);
int nw_hybrid_mount(struct nw_hybrid *hybrid);

#endif
