/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the state of the page-mapped layer and what its files share:
 *   page.c        the device: open, and the five verbs
 *   page_log.c    appending, moving, cleaning; blocks that fail
 *   page_trim.c   trims that outlive power
 *   page_mount.c  what lies on the chip when power comes up
 *   page_fence.c  the record of what must never be believed, and making sure of the rest
 * The ideas behind it, and why a mount writes: docs/ftl-page.md.
 */
#ifndef NANDWICH_FTL_PAGE_STATE_H
#define NANDWICH_FTL_PAGE_STATE_H

#include "blocks.h"
#include "nandwich/ftl_page.h"
#include "tag.h"

#define NW_PAGE_NONE 0xFFFFFFFFUL /* in the map: never written, or trimmed */

/* A tag's word: flags, and the slot in the low 30 bits. Sectors come first, then the trim pages. */
#define NW_WORD_MOUNT 0x80000000UL   /* written by a mount: counts only once the fences say so */
#define NW_WORD_DAMAGED 0x40000000UL /* the content was lost when it had to be moved */
#define NW_WORD_SLOT 0x3FFFFFFFUL
#define NW_WORD_FENCES 0x3FFFFFFEUL
#define NW_WORD_FIRST (NW_WORD_MOUNT | 0x3FFFFFFFUL) /* the first page a mount writes: nothing */

#define NW_PAGE_OPEN 0x8000U   /* in valid[]: not a candidate for cleaning */
#define NW_PAGE_FENCED 0x4000U /* in valid[] while mounting: holds a list of fences */
#define NW_PAGE_HELD 0x2000U   /* in valid[] while mounting: not to be erased yet, or has a hole */
#define NW_PAGE_COUNT 0x1FFFU
#define NW_PAGE_LOW 2U       /* fewer free blocks above the floor: each write cleans a little */
#define NW_PAGE_IDLE 4U      /* idle cleans until so many are free above the floor */
#define NW_PAGE_LEAST_GAIN 8U /* writes over which a block is emptied for the wear policy */
#define NW_PAGE_SCARCE 3U    /* fewer free blocks at a mount: empty what cut mounts left */
#define NW_PAGE_LEAST_SPARE 10U
#define NW_PAGE_LEAST_PAGES 8U
#define NW_PAGE_LEAST_BYTES 256U
#define NW_PAGE_RANGES 8U
#define NW_PAGE_TOPS 4U

/* An open block: where the next page goes. page == end: none, or full. */
struct nw_page_stream {
    uint32_t page;
    uint32_t end;
    uint16_t block;
    uint8_t mounting; /* 1: stay in this block and mark what is written, 2: only stay, 0: neither */
};

/* Pages that a mount copies if the map points to them. */
struct nw_page_range {
    uint32_t at;
    uint16_t count;
};

/* A page that looks complete. */
struct nw_page_top {
    uint64_t version;
    uint32_t at;
};

/* What to program. */
struct nw_page_put {
    uint8_t *data; /* NULL: no payload; only read */
    uint32_t word;
    uint32_t crc;
    uint32_t from; /* copy inside the chip from here, or NW_PAGE_NONE */
};

/* Small fields first: on Thumb those are reached by the short instructions. */
struct nw_page {
    uint8_t shift;     /* log2 of block_pages, or 255 */
    uint8_t floor;     /* free blocks that host writes leave for cleaning, failures and mounts */
    uint8_t tag_bytes;
    uint8_t payload;   /* the chip keeps data */
    uint8_t check;     /* verify CRC-32 on reads */
    uint8_t copy;      /* move by the chip's copy verb */
    uint8_t careful;   /* moves look at the tag first: pages never written may be among them */
    uint8_t tops;      /* mounting: pages in top; top[0] is the newest */
    uint8_t ranges;    /* mounting: entries of range */
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t victim;      /* block being cleaned, or NW_NO_BLOCK */
    uint16_t victim_gain; /* pages its cleaning wins */
    uint16_t moving;      /* the victim, if the wear policy chose it, or NW_NO_BLOCK */
    uint16_t lowest;      /* no block for cleaning has fewer valid pages */
    uint16_t session;     /* block with the fences, never cleaned; NW_NO_BLOCK: cannot write */
    struct nw_chip *chip;
    struct nw_stats *stats;
    uint32_t *map;     /* by slot: page, or NW_PAGE_NONE; map[slots] is where the fences lie */
    uint16_t *valid;   /* by block: pages the map points to, and NW_PAGE_OPEN */
    uint8_t *unsaved;  /* by trim page: trims not yet written down */
    uint8_t *buffer;   /* one page */
    uint32_t sectors;
    uint32_t slots;    /* sectors and trim pages */
    uint32_t unsaved_count;
    uint32_t credit;   /* pages the cleaning owes to the writes so far, times victim_gain */
    uint32_t victim_page;
    uint32_t victim_end;
    struct nw_blocks blocks;
    struct nw_page_stream host;
    struct nw_page_stream cold;
    uint64_t version;  /* of the next program */
    uint64_t newest;   /* mounting: version of the newest page that counts */
    uint32_t top_slot; /* mounting: what the pages in top hold */
    struct nw_page_top top[NW_PAGE_TOPS];
    struct nw_page_range range[NW_PAGE_RANGES];
};

static inline uint16_t nw_page_block_of(const struct nw_page *page, uint32_t at)
{
    return (uint16_t)(page->shift != 255U ? at >> page->shift : at / page->block_pages);
}

static inline uint32_t nw_page_first(const struct nw_page *page, uint16_t block)
{
    return page->shift != 255U ? (uint32_t)block << page->shift
                               : (uint32_t)block * page->block_pages;
}

/* The owner's list of blocks in which a program failed; lists 0 .. block_pages are by valid. */
static inline uint16_t nw_page_failed(const struct nw_page *page)
{
    return (uint16_t)(page->block_pages + 1U);
}

/* page_log.c */
int nw_page_read(struct nw_page *page, uint32_t at, uint16_t length, uint8_t *data,
                 struct nw_tag *tag); /* enum nw_tag_state or an error */
int nw_page_read_tag(struct nw_page *page, uint32_t at, struct nw_tag *tag);
int nw_page_begin(struct nw_page *page, struct nw_page_stream *stream);
int nw_page_append(struct nw_page *page, struct nw_page_stream *stream,
                   const struct nw_page_put *put, uint32_t *at);
void nw_page_point(struct nw_page *page, uint32_t slot, uint32_t at);
void nw_page_close(struct nw_page *page, uint16_t block);
struct nw_page_stream *nw_page_cold(struct nw_page *page);
int nw_page_move(struct nw_page *page, struct nw_page_stream *stream, uint32_t from);
int nw_page_clear(struct nw_page *page, uint16_t block);
int nw_page_clean_step(struct nw_page *page);
int nw_page_pace(struct nw_page *page);
int nw_page_make_room(struct nw_page *page);
int nw_page_drain(struct nw_page *page);

/* page_trim.c */
void nw_page_doubt_trim(struct nw_page *page, uint32_t slot);
void nw_page_forget(struct nw_page *page, uint32_t slot);
int nw_page_save_trim(struct nw_page *page, struct nw_page_stream *stream, uint32_t slot);
int nw_page_save_trims(struct nw_page *page);
int nw_page_load_trim(struct nw_page *page, uint32_t slot);

/* page_mount.c */
int nw_page_find(struct nw_page *page);
int nw_page_start(struct nw_page *page);
int nw_page_wipe_all(struct nw_page *page);

/* page_fence.c */
enum { NW_FENCE_FREE, NW_FENCE_VOID, NW_FENCE_COPY };
int nw_page_fence_of(const struct nw_page *page, uint64_t version);
int nw_page_read_checked(struct nw_page *page, uint32_t at, struct nw_tag *tag);
int nw_page_find_fences(struct nw_page *page);
int nw_page_renew_fences(struct nw_page *page);
int nw_page_settle(struct nw_page *page);
int nw_page_prune_fences(struct nw_page *page);

#endif
