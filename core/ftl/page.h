/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the state of the page-mapped layer and what its files share. Bottom first; each calls
 * only those above it:
 *   page_block.c  open blocks, and those in reserve
 *   page_log.c    reading, appending, the map
 *   page_trim.c   trims that outlive power
 *   page_fence.c  the list of what must never be believed
 *   page_clean.c  moving, cleaning; blocks that fail
 *   page_turn.c   moving what counts away from where a torn page may lie
 *   page_mount.c  what lies on the chip when power comes up, and making sure of it
 *   page.c        the device: open, and the five verbs
 * The ideas behind it, and why a mount writes: docs/ftl-page.md.
 */
#ifndef NANDWICH_FTL_PAGE_STATE_H
#define NANDWICH_FTL_PAGE_STATE_H

#include "blocks.h"
#include "mark.h"
#include "nandwich/ftl_page.h"
#include "tag.h"

/* In the map: the slot has no page. */
#define NW_PAGE_NONE 0xFFFFFFFFUL   /* never written, or trimmed */
#define NW_PAGE_UNSAVED 0xFFFFFFFEUL /* a trim page that has to be written anew */

/* A tag's word: flags, and the slot in the low 30 bits. Sectors come first, then the trim pages. */
#define NW_WORD_MOUNT NW_MARK_SESSION /* written by a mount: counts only once its list is there */
#define NW_WORD_DAMAGED 0x40000000UL /* the content was lost when it had to be moved */
#define NW_WORD_SLOT 0x3FFFFFFFUL
#define NW_WORD_LIST NW_MARK_LIST
#define NW_WORD_VOID NW_MARK_VOID /* a list with NW_WORD_DAMAGED */
#define NW_WORD_EMPTY (NW_WORD_MOUNT | 0x3FFFFFFFUL) /* the first and last page a mount writes */
#define NW_PAGE_MOST_SLOTS 0x3FFFFFFEUL

#define NW_PAGE_CLOSED 0x8000U /* in valid[]: a candidate for cleaning, in one of its lists */
#define NW_PAGE_FAILED 0x2000U /* in valid[]: a program failed, the block is in that list */
#define NW_PAGE_HOLE 0x4000U /* in valid[] while mounting: a bad tag among good ones */
#define NW_PAGE_COUNT 0x1FFFU
#define NW_PAGE_LOW 2U       /* fewer free blocks above the floor: each write cleans a little */
#define NW_PAGE_IDLE 4U      /* idle cleans until so many are free above the floor */
#define NW_PAGE_LEAST_GAIN 8U /* writes over which a block is emptied for the wear policy */
#define NW_PAGE_LEAST_SPARE 10U
#define NW_PAGE_LISTS 2U     /* of blocks: so many, and one for each page of a block */
#define NW_PAGE_MOST_PLACES (NW_BLOCKS_PLACES - 2U - NW_PAGE_LISTS) /* blocks and pages of one */
#define NW_PAGE_LEAST_PAGES 8U
#define NW_PAGE_LEAST_BYTES 256U
#define NW_PAGE_RESERVES 2U
#define NW_PAGE_MOST_FENCES 64U /* each costs time for every page that a mount looks at */
#define NW_PAGE_LAST_AT 16U     /* in the list: number of the last fence set */
#define NW_PAGE_FENCES_AT 20U   /* ... and the fences */
#define NW_PAGE_FENCE_BYTES 9U

/* What the list says of turns (page_fence.c): how many are late, and that it ends one. */
#define NW_TURN_LATE 0x7FU
#define NW_TURN_SEALED 0x80U

/* A mount writes its session, or moves what has to go from where a torn page may be. */
#define NW_MOUNTING 1U
#define NW_RENEWING 2U

/* An open block: where the next page goes, and for how many there is room. */
struct nw_page_stream {
    uint32_t page;
    uint16_t left; /* 0: full, or none is open */
    uint16_t block;
};

/* A page with a good tag, as a mount meets it. */
struct nw_page_met {
    uint64_t version;
    uint32_t slot;
    uint32_t at;
};

/* Small fields and what is asked most come first: short instructions of small processors reach
 * only so far. */
struct nw_page {
    uint8_t floor;     /* free blocks that host writes leave for cleaning and failures */
    uint8_t mounting;  /* mark what is written; 0, or one of the two above */
    uint8_t unsaved;   /* some trims are not yet written down */
    uint8_t fences;    /* the list has room for */
    uint8_t writable;  /* mounted with room to write */
    uint8_t cleaning;  /* there is a victim */
    uint8_t leveling;  /* ... and the wear policy chose it */
    uint8_t unfinished; /* mounting: the mount that wrote the list did not come to its end */
    uint8_t turn;       /* as the list says it */
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t renewed;     /* mounting: victims that are free once what was moved counts */
    uint16_t victim;      /* block being cleaned */
    uint16_t victim_gain; /* pages its cleaning wins */
    uint16_t lowest;      /* no block for cleaning has fewer valid pages */
    uint16_t session;     /* block with the list, never cleaned, or NW_NO_BLOCK */
    uint16_t reserve[NW_PAGE_RESERVES]; /* blocks for the next mounts, or NW_NO_BLOCK */
    uint32_t *map;    /* by slot: page, or one of the above */
    uint16_t *valid;  /* by block: pages the map points to, and flags; free: 0 */
    uint8_t *buffer;  /* one page; behind valid[] and live[] */
    uint8_t *data;    /* the same; NULL when the chip keeps no payload */
    uint32_t sectors;
    uint32_t slots;   /* sectors and trim pages */
    uint32_t list;    /* page of the list, or NW_PAGE_NONE */
    struct nw_blocks blocks;
    uint8_t *live;    /* by page, a bit: the map points to it */
    /* mounting: of the highest version that counts; `at` NW_PAGE_NONE: the list is */
    struct nw_page_met newest;
    uint32_t credit;  /* pages the cleaning owes to the writes so far, times victim_gain */
    uint32_t victim_page;
    uint32_t doubt;   /* 1 + slot of a program that failed, until it is written anew; 0: none */
    uint64_t version; /* of the next program */
    struct nw_page_stream host;
    struct nw_page_stream cold;
    /* While mounting: */
    uint64_t list_version;
    uint64_t limit;   /* versions from here on are known to be torn; the last fence ends here */
};

static inline uint16_t nw_page_block_of(const struct nw_page *page, uint32_t at)
{
    return (uint16_t)(at / page->block_pages);
}

static inline uint32_t nw_page_first(const struct nw_page *page, uint16_t block)
{
    return (uint32_t)block * page->block_pages;
}

/* The owner's list of blocks in which a program failed; lists 0 .. block_pages are by valid. */
static inline uint16_t nw_page_failed(const struct nw_page *page)
{
    return (uint16_t)(page->block_pages + 1U);
}

/* page_block.c */
int nw_page_is_spare(const struct nw_page *page, uint16_t block);
int nw_page_is_filled(const struct nw_page *page, uint16_t block);
unsigned nw_page_lacks(const struct nw_page *page);
void nw_page_hold_reserves(struct nw_page *page);
void nw_page_close(struct nw_page *page, uint16_t block);
void nw_page_open(struct nw_page *page, struct nw_page_stream *stream, uint16_t block);
int nw_page_begin(struct nw_page *page, struct nw_page_stream *stream);
void nw_page_leave(struct nw_page *page, struct nw_page_stream *stream, int failed);

/* page_log.c. Reading answers as nw_tagged_read() does. */
int nw_page_fetch(struct nw_page *page, uint32_t at, uint16_t length, uint8_t *data);
int nw_page_read_tag(struct nw_page *page, uint32_t at);
int nw_page_check(struct nw_page *page, uint32_t at, uint8_t *data);
int nw_page_read_whole(struct nw_page *page, uint32_t at);
void nw_page_forget_all(struct nw_page *page);
void nw_page_point(struct nw_page *page, uint32_t slot, uint32_t at);
int nw_page_append(struct nw_page *page, struct nw_page_stream *stream, uint8_t *data);
int nw_page_write(struct nw_page *page, struct nw_page_stream *stream, uint32_t word,
                  uint8_t *data);

/* page_trim.c */
uint32_t nw_page_trim_of(const struct nw_page *page, uint32_t slot);
void nw_page_forget(struct nw_page *page, uint32_t slot);
int nw_page_save_trim(struct nw_page *page, uint32_t slot);
int nw_page_save_trims(struct nw_page *page);
int nw_page_load_trim(struct nw_page *page, uint32_t slot);

/* page_fence.c */
int nw_page_is_void(const struct nw_page *page);
int nw_page_load_list(struct nw_page *page);
int nw_page_find_list(struct nw_page *page);
int nw_page_seal(struct nw_page *page, int fresh);

/* page_clean.c */
int nw_page_move(struct nw_page *page, uint32_t from);
int nw_page_settle(struct nw_page *page);
int nw_page_clear(struct nw_page *page, uint16_t block);
void nw_page_start_victim(struct nw_page *page, uint16_t block);
int nw_page_clean_step(struct nw_page *page);
int nw_page_pace(struct nw_page *page);
int nw_page_is_short(const struct nw_page *page);
int nw_page_make_room(struct nw_page *page);
int nw_page_retire(struct nw_page *page);
int nw_page_drain(struct nw_page *page);

/* page_turn.c */
int nw_page_renew_turns(struct nw_page *page);

/* page_mount.c */
int nw_page_find(struct nw_page *page);
int nw_page_start(struct nw_page *page);

#endif
