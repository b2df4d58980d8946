/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.h - the ground floor of a layer that keeps data: blocks, a log of pages in them, and what
 * power cuts leave of both. The map that stands on it (struct nw_floor_map) says what pages mean.
 * Files, lowest first; each calls only those before it:
 *
 *   floor.c        blocks, the log, a session's blocks
 *   floor_base.c   a mount's choice: heads, candidate roots, the base
 *   floor_mount.c  the torn tail, the mount's own block, formats
 *
 * BLOCKS. All pages of a block carry its version, which grows from block to block.
 *
 *   session block   root, root, pages in order. Its root is confirmed by the page behind the two
 *   next block      pages in order: it goes on with the stretch that a session block began. Its
 *                   version is the one of the block before it, and 1
 *   mount block     root, root, a copy of the base's last page or no page, END, END; no more. An
 *                   END says whether there is a copy, and lists blocks for the next mount
 *
 * A candidate root is one that shows; the base is the newest that counts (rule 1): the one that a
 * mount builds on. Of a base only the last page of a stretch can be torn: the torn tail. A mount's
 * root does not refer to it; the mount's block holds a copy, if it was whole (rule 2). So nothing
 * that comes later depends on it.
 *
 * ERASING. A block is free when the newest confirmed root reaches nothing in it. Only free blocks
 * are erased, and suspects in a mount: blocks whose first two pages are neither a root nor blank
 * (rule 3). Mounts take their blocks from a list of free ones in the root or END that they build
 * on; only a session that is out of free blocks takes one of these (borrow()). So whatever mounts
 * that are cut leave behind, the newest block of a call that returned is whole with all it reaches
 * (rule 4).
 * The rules are those of docs/floor-rules.md; docs/ftl-tree.md argues why they hold.
 *
 * ERRORS. A failed program is a cut: the block takes no more pages, and the floor has to be
 * mounted again before the next change. A failed erase only makes its block bad.
 */
#ifndef NANDWICH_FTL_FLOOR_H
#define NANDWICH_FTL_FLOOR_H

#include <stddef.h>

#include "mark.h"
#include "tag.h"

/* What has to be true whatever happens below: asked in test builds alone. */
#ifdef NW_INVARIANTS
#define NW_INVARIANT(holds) ((holds) ? (void)0 : __builtin_trap())
#else
#define NW_INVARIANT(holds) ((void)0)
#endif

/* The word of a tag. A plain number is a sector's content. */
#define NW_FLOOR_DAMAGED 0x40000000UL /* with a sector: no data, its content is lost */
#define NW_FLOOR_TWICE 0x30000000UL   /* one of these bits: a node of the map, which stands twice */
#define NW_FLOOR_SECOND 0x40000000UL  /* with these: the second copy */
#define NW_FLOOR_NUMBER 0x0FFFFFFFUL
#define NW_FLOOR_OWN 0x80000000UL     /* the floor's own pages */
#define NW_FLOOR_ROOT NW_MARK_LIST
#define NW_FLOOR_FILL 0x8FFFFFF0UL    /* no data: confirms a root */
#define NW_FLOOR_END 0x8FFFFFF1UL     /* the first, and the next number the second */
#define NW_FLOOR_COPIED 0x00000004UL  /* with an END: a copy stands before it */

/* Where the floor's part of a root is. */
#define NW_FLOOR_MAGIC_AT 0U
#define NW_FLOOR_SECTORS_AT 4U
#define NW_FLOOR_BLOCKS_AT 8U
#define NW_FLOOR_PAGES_AT 10U
#define NW_FLOOR_LIST_AT 12U
#define NW_FLOOR_LISTED_AT 24U
#define NW_FLOOR_FAILED_COUNT_AT 25U
#define NW_FLOOR_FAILED_AT 26U
#define NW_FLOOR_HEAD 34U

#define NW_FLOOR_LIST 6U /* blocks for mounts: the base, which is barred, two that fail, three */
#define NW_FLOOR_FAILED 4U /* blocks to be emptied and marked bad that a root names */
#define NW_FLOOR_ROOTS 2U  /* pages of a root in a block */
#define NW_FLOOR_PAGES 253U /* of a block that are used */
#define NW_FLOOR_STRETCH 4U /* blocks of one, at most */
#define NW_FLOOR_MOUNT NW_FLOOR_STRETCH /* in the version of a mount block */
#define NW_FLOOR_SESSION (2U * NW_FLOOR_MOUNT) /* from one stretch's version to the next */
#define NW_FLOOR_FREE 254U /* in counts */
#define NW_FLOOR_OUT 255U  /* in counts: bad, listed, or nobody knows */
#define NW_FLOOR_NO_BLOCK 0xFFFFU
#define NW_FLOOR_NONE 0xFFFFFFFFUL
#define NW_FLOOR_WHOLE 4 /* nw_floor_read() */

/* A function that stays apart: gcc would take it in for size, and it would take more. */
#define NW_FLOOR_APART __attribute__((noinline)) static

struct nw_floor;

/* What stands on the floor. All answer NW_OK or an error; the root is in floor->buffer. */
struct nw_floor_map {
    /* A mount found this root: the map is what it says. Its copies lie at `page` and behind it. */
    int (*adopt)(struct nw_floor *floor, uint32_t page);
    /* A page behind that root counts: a sector's, or the first copy of a node. */
    int (*replay)(struct nw_floor *floor, uint32_t page, uint32_t word);
    /* The root as the map is now, from NW_FLOOR_HEAD on, and the sectors at their place. */
    int (*build)(struct nw_floor *floor);
    /* That root was written; it counts when `confirmed` follows. */
    void (*rooted)(struct nw_floor *floor, uint32_t page);
    void (*confirmed)(struct nw_floor *floor);
    /* The last page of the base holds this sector, and lies here now: 1. 0: no such sector, or one
     * that was trimmed later. NW_FLOOR_NONE: nothing moves, it is asked. */
    int (*moved)(struct nw_floor *floor, uint32_t sector, uint32_t page);
    /* nw_floor_reach() for each page that is reached. */
    int (*count)(struct nw_floor *floor);
    /* Pages about to be erased are in no cache. */
    void (*forget)(struct nw_floor *floor, uint32_t first, uint32_t end);
    uint32_t magic; /* kind and format of the root */
};

/* Bytes stand first, then half words: small processors reach them there by short instructions. */
struct nw_floor {
    uint8_t payload;       /* the chip keeps the content of sectors; of nodes it always does */
    uint8_t mounting;
    uint8_t unconfirmed;   /* the newest root does not count yet */
    uint8_t must_mount;    /* a program or a mount failed, or nothing is to be written */
    uint8_t stale;         /* RAM is not what the chip says: a mount failed */
    uint8_t listed;
    uint8_t ends;          /* the stretch ends with this block */
    uint8_t stretch;       /* blocks that one may have */
    uint8_t begun;         /* and that the one at hand has */
    uint8_t scrub_bits;    /* corrected in a page: its block is to be emptied; 0: no number is */
    uint8_t failed_count;
    int8_t broken;         /* what changes answer, to the end of the session; 0 */
    uint16_t left;         /* pages from there to the end of the block */
    uint16_t current;      /* the block; NW_FLOOR_NO_BLOCK: none yet */
    uint16_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t used_pages;   /* of a block */
    uint16_t free;         /* blocks that are FREE, */
    uint16_t empty;        /* and that will be when the next root counts */
    uint16_t hand;         /* free blocks are taken in order, from here on */
    uint16_t scrub;        /* the block to be emptied; NW_FLOOR_NO_BLOCK */
    uint16_t ahead;        /* the free block that is erased; NW_FLOOR_NO_BLOCK */
    uint8_t *buffer;       /* a page */
    uint8_t *counts;       /* a byte a block: pages that are reached, or FREE, or OUT */
    const struct nw_floor_map *map;
    uint16_t *begun_at;    /* the blocks of the stretch, the last one is `current` */
    uint8_t *live;         /* a bit a page that is reached; NULL: no RAM for them */
    uint32_t next;         /* page to be programmed next */
    uint32_t before;       /* sector of the page before it; NW_FLOOR_NONE. Where nothing is written:
                            * NW_FLOOR_OWN | the sector of the torn tail, which is `next` */
    uint32_t sure;         /* the page that this session wrote last, roots apart, and its sector: */
    uint32_t sure_sector;  /* it is no torn tail; NW_FLOOR_NONE */
    struct nw_tagged tagged;
    uint64_t version;      /* of the block being written, or the highest that shows */
    uint16_t list[NW_FLOOR_LIST];
    uint16_t failed[NW_FLOOR_FAILED];
};

/* What a mount found: floor_base.c. Counts of blocks to be erased are NW_FLOOR_OUT then, others'
 * 0. */
struct nw_floor_base {
    uint64_t version; /* its own */
    uint64_t below;   /* candidates from this version on do not count: passed over */
    uint32_t copy;    /* the page to be copied, counted from its head on; 0: none */
    uint32_t sector;  /* of that page, as an END or the page tells; NW_FLOOR_NONE */
    uint16_t block[NW_FLOOR_STRETCH]; /* its own, and those that go on */
    uint8_t blocks;
    uint8_t proven;   /* a mount block whose second END shows */
};

enum nw_floor_how { NW_FLOOR_WRITE, NW_FLOOR_SHOW, NW_FLOOR_FORMAT };

/* floor.c */
/* A page's tag: enum nw_tag_state, or an error. */
int nw_floor_tag(struct nw_floor *floor, uint32_t page);
/* A page was read, and so many bits were corrected. */
void nw_floor_note(struct nw_floor *floor, uint32_t page, int corrected);
/* A whole page, likewise; NW_FLOOR_WHOLE: the data are those that the tag tells of. */
int nw_floor_read(struct nw_floor *floor, uint32_t page, uint8_t *data);
static inline size_t nw_floor_live_bytes(const struct nw_floor *floor)
{
    return ((size_t)floor->blocks * floor->block_pages + 7U) / 8U;
}

/* Is this page reached? 1 where there are no bits for it. */
int nw_floor_is_live(const struct nw_floor *floor, uint32_t page);
/* It is from now on, or is not. */
void nw_floor_reach(struct nw_floor *floor, uint32_t page, int is);
/* One page more in the block there is, the one before `next` then. Ask for room before. */
int nw_floor_append(struct nw_floor *floor, uint32_t word, uint8_t *data);
/* The buffer, a node, twice. */
int nw_floor_append_twice(struct nw_floor *floor, uint32_t word);
/* Sees to it that so many pages can be programmed, by a new block if need be. Uses the buffer.
 * NW_ERR_FULL: no block is free. */
int nw_floor_room(struct nw_floor *floor, unsigned pages);
/* A root that counts when this returns: within the block if it has room. Uses the buffer. */
int nw_floor_save(struct nw_floor *floor);
/* The newest root counts when this returns. */
int nw_floor_confirm(struct nw_floor *floor);
/* Is there a block to be erased ahead, and may it be? */
int nw_floor_may_erase(const struct nw_floor *floor);
/* One free block erased ahead, or bad. Cost: one erase. */
int nw_floor_erase_ahead(struct nw_floor *floor);
/* Erased: 1; 0: the block failed, and is marked bad; or an error. */
int nw_floor_erase(struct nw_floor *floor, unsigned block);
int nw_floor_is_bad(struct nw_floor *floor, unsigned block);
/* Likewise of any block; 0 also where it was bad before. */
int nw_floor_clear(struct nw_floor *floor, unsigned block);
/* Marked bad, and never used again. */
int nw_floor_retire(struct nw_floor *floor, unsigned block);
/* A block in which a program failed was emptied. */
int nw_floor_retire_failed(struct nw_floor *floor);
int nw_floor_is_failed(const struct nw_floor *floor, unsigned block);
void nw_floor_fail(struct nw_floor *floor, unsigned block);
/* The floor's part of a root to the buffer, and that root twice to the log. */
int nw_floor_put_root(struct nw_floor *floor);
/* The list for mounts to the buffer. */
void nw_floor_put_list(struct nw_floor *floor);
/* Blocks for the next mounts join the list, as long as this many free ones stay. */
void nw_floor_fill_list(struct nw_floor *floor, unsigned keep);
/* The buffer, twice, the second time with a word that is so much more. */
int nw_floor_program_twice(struct nw_floor *floor, uint32_t word, uint32_t more);
/* Whether a page has data its word tells; where the chip keeps none these go nowhere. */
int nw_floor_program(struct nw_floor *floor, uint32_t word, uint8_t *data);
/* The current block is erased and comes next, with this version. */
void nw_floor_begin(struct nw_floor *floor, uint64_t version);
/* Is this block of the stretch at hand? */
int nw_floor_is_begun(const struct nw_floor *floor, unsigned block);

/* floor_base.c */
/* The newest root that counts, to the buffer. NW_ERR_NOT_FOUND; NW_ERR_VERSION: another format or
 * geometry; NW_ERR_CORRUPT: the newest root is there and cannot be read. */
int nw_floor_find(struct nw_floor *floor, struct nw_floor_base *base);
/* The page of a base that is the `at`th from its head on. */
uint32_t nw_floor_page(const struct nw_floor *floor, const struct nw_floor_base *base,
                       uint32_t at);
/* Its word; NW_FLOOR_NONE where it cannot be read, or is not of the base's version. Answers as
 * nw_floor_tag(). */
int nw_floor_word(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t at,
                  uint32_t *word);
/* A page of the base to the buffer: 1 if it is whole and of its version, 0, or an error. */
int nw_floor_load_at(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t at);
/* A root of the base to the buffer, by either copy: 1, 0, or an error. */
int nw_floor_load_root(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t at);
/* The blocks that the root or END in the buffer lists for mounts. 1; 0: no such blocks. */
int nw_floor_take_list(struct nw_floor *floor);
/* The base's last page to the buffer: 1 if it is a sector's and whole, 0, or an error. */
int nw_floor_load_copy(struct nw_floor *floor, const struct nw_floor_base *base);

/* floor_mount.c */
/* NW_FLOOR_WRITE: the mount of a session. Where it cannot write, for want of a block or for damage,
 * `broken` says why and reads go on. NW_FLOOR_SHOW writes nothing. NW_FLOOR_FORMAT: nothing is
 * there behind it. Begins anew for each base that does not count after all, and once behind a
 * failed program. */
int nw_floor_mount(struct nw_floor *floor, enum nw_floor_how how);

#endif
