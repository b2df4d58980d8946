/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the state of the page-mapped layer and what its files share:
 *   page.c        the device: open, and the five verbs
 *   page_log.c    appending, moving, cleaning; blocks that fail
 *   page_trim.c   trims that outlive power
 *   page_mount.c  what lies on the chip when power comes up
 *   page_settle.c making sure that it reads the same for ever
 * The ideas behind it, and why a mount writes: docs/ftl-page.md.
 */
#ifndef NANDWICH_FTL_PAGE_STATE_H
#define NANDWICH_FTL_PAGE_STATE_H

#include "blocks.h"
#include "nandwich/ftl_page.h"
#include "tag.h"

#define NW_PAGE_NONE 0xFFFFFFFFUL /* in the map: never written, or trimmed */

/* A tag's word: flags, and the sector in the low 30 bits. Slots above the sectors are pages of our
 * own that remember trims. Words of a settle always carry NW_WORD_SETTLE. */
#define NW_WORD_SETTLE 0x80000000UL  /* counts only once its block is committed */
#define NW_WORD_DAMAGED 0x40000000UL /* the content was lost when it had to be moved */
#define NW_WORD_SLOT 0x3FFFFFFFUL
#define NW_WORD_COMMIT (NW_WORD_SETTLE | 0x3FFFFFFFUL)
#define NW_WORD_OWN 0x3FFE0000UL /* slots from here on are no sectors */
#define NW_PAGE_COMMITS 3U

#define NW_PAGE_OPEN 0x8000U /* in valid[]: not a candidate for cleaning */
#define NW_PAGE_LOW 2U       /* fewer free blocks above the floor: each write cleans a little */
#define NW_PAGE_IDLE 4U      /* idle cleans until so many are free above the floor */
#define NW_PAGE_SCARCE 3U    /* fewer free blocks at a mount: empty what cut mounts left */
#define NW_PAGE_LEAST_SPARE 10U
#define NW_PAGE_LEAST_PAGES 8U
#define NW_PAGE_LEAST_BYTES 64U
#define NW_PAGE_DOUBTS 8U
#define NW_PAGE_SUSPECTS 6U

/* An open block: where the next page goes. page == end: none, or full. */
struct nw_page_stream {
    uint32_t page;
    uint32_t end;
    uint16_t block;
    uint8_t settling; /* stay in this block, mark what is written as part of a settle */
};

/* Pages from .. to of a block that may read differently after the next power-up. */
struct nw_page_doubt {
    uint16_t block;
    uint16_t from;
    uint16_t to;
};

/* A block that a commit cannot settle: it is emptied and erased before the mount ends, and named in
 * the commit for the case that power goes before. */
struct nw_page_suspect {
    uint16_t block;
    uint8_t doubt; /* 1: its last pages are still in doubt, 0: its very last page is void */
};

/* What to program. */
struct nw_page_put {
    uint8_t *data; /* NULL: no payload; only read */
    uint32_t word;
    uint32_t crc;
    uint32_t from; /* copy inside the chip from here, or NW_PAGE_NONE */
};

struct nw_page {
    struct nw_chip *chip;
    struct nw_stats *stats;
    uint32_t *map;     /* by slot: page, or NW_PAGE_NONE */
    uint16_t *valid;   /* by block: pages the map points to, and NW_PAGE_OPEN */
    uint8_t *unsaved;  /* by trim page: trims not yet written down */
    uint8_t *buffer;   /* one page */
    uint64_t version;  /* of the next program */
    uint32_t sectors;
    uint32_t slots;    /* sectors and trim pages */
    uint32_t unsaved_count;
    uint32_t credit;   /* pages the cleaning owes to the writes so far, times victim_gain */
    uint32_t victim_page;
    uint32_t victim_end;
    struct nw_page_stream host;
    struct nw_page_stream cold;
    uint16_t victim;   /* block being cleaned, or NW_NO_BLOCK */
    uint16_t victim_gain;
    uint16_t lowest;   /* no block for cleaning has fewer valid pages */
    uint16_t session;  /* block of the newest commit, never cleaned, or NW_NO_BLOCK */
    uint16_t block_pages;
    uint8_t shift;     /* log2 of block_pages, or 255 */
    uint8_t floor;     /* free blocks that host writes leave for cleaning, failures and mounts */
    uint8_t tag_bytes;
    uint8_t payload;   /* the chip keeps data */
    uint8_t check;     /* verify CRC-32 on reads */
    uint8_t copy;      /* move by the chip's copy verb */
    uint8_t careful;   /* moves look at the tag first: pages never written may be among them */
    uint8_t doubts;
    uint8_t suspects;
    struct nw_page_doubt doubt[NW_PAGE_DOUBTS];
    struct nw_page_suspect suspect[NW_PAGE_SUSPECTS];
    struct nw_blocks blocks;
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
int nw_page_believe(struct nw_page *page);
int nw_page_has_doubt(const struct nw_page *page, uint16_t block);
void nw_page_add_suspect(struct nw_page *page, uint16_t block, uint8_t doubt);

/* page_settle.c */
int nw_page_get_record(struct nw_page *page, uint32_t at);
int nw_page_settle(struct nw_page *page);
int nw_page_start(struct nw_page *page);
int nw_page_wipe_all(struct nw_page *page);

#endif
