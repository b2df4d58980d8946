/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small.h - virtual memory for nodes with a few KB of RAM: some pages in RAM, the others behind the
 * two SRAM buffers of a DataFlash. `nandwich cc --layout` builds programs on it (docs/tagged.md);
 * any other chip with two buffers that rewrites a page by itself will do.
 *
 * PAGES are numbered from 0. A page is a run of page_bytes bytes, no more than a page of the chip
 * has. Its frame in RAM is two bytes longer: page, marks, data. The caller reaches a page by
 * frame_of[page]: NULL, or its frame; then nw_small_fault() brings it. Where an access is made, set
 * the marks: NW_SMALL_USED always, NW_SMALL_DIRTY where it stores. A frame stays where it is until
 * the next nw_small_fault().
 *
 * WHO LEAVES: enhanced second chance. Four classes: not used and clean, not used and dirty, used
 * and clean, used and dirty; the first frame of the lowest class behind the hand goes.
 *
 * THE CHIP'S BUFFERS are a second level. A dirty page that leaves goes to a buffer, and from there
 * to flash only when another page wants that buffer. A page that lies in a buffer is read from
 * there. Nobody else may use the buffers meanwhile.
 *
 * WEAR. The flash area holds `pool` pages, 1.5 times the virtual ones or so (NW_SMALL_POOL). Each
 * write takes the next free page of it, round and round; one whose program failed is left out from
 * then on. DataFlash wants every page of a sector written again within 10,000 programs and erases
 * there (revision B; later ones 20,000 and more): so after each 32nd write one page moves, by
 * turns, and the pool keeps to 8,603 at most. What else lies in the sector is for its owner to see
 * to.
 *
 * WHAT IT KEEPS. Nothing: after a reset all pages are as `initial` gives them, as in the source.
 *
 * ERRORS. A fault that cannot be served calls `panic`, which must not return: the program has no
 * memory to go on with. NW_ERR_FULL: too many pages of the pool have failed; else what the chip
 * answered. A read from flash is tried twice, one from a buffer is not.
 *
 * COST. RAM: a byte more than a pointer for each page and one bit for each page of the pool
 * (ATmega128: 3.2 B a page), page_bytes + 2 for each frame, sizeof(struct nw_small), 46 B there.
 * Stack about 110 B without the chip's. A resident page costs no call. A fault is at most one write
 * to a buffer, one program and one read, each 32nd program a load and a program more; it looks at
 * each frame four times at most.
 *
 * Source: Lachenmann et al., "Removing the Memory Limitations of Sensor Networks with Flash-Based
 * Virtual Memory", EuroSys 2007, section 3.3.2.
 */
#ifndef NANDWICH_SMALL_H
#define NANDWICH_SMALL_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_SMALL_NONE 0xFFU      /* no page */
#define NW_SMALL_PAGES_MAX 169U  /* with a pool of NW_SMALL_POOL() */
#define NW_SMALL_POOL_MAX 254U
#define NW_SMALL_FRAME_EXTRA 2U  /* bytes of a frame in front of its data */

/* Pages of a pool for good wear, and the bytes of `taken`. */
#define NW_SMALL_POOL(pages) ((pages) + ((pages) + 1U) / 2U)
#define NW_SMALL_TAKEN_BYTES(pool) (((pool) + 7U) / 8U)

/* Marks, the second byte of a frame. */
#define NW_SMALL_USED 1U
#define NW_SMALL_DIRTY 2U

struct nw_small_stats {
    uint32_t faults;       /* pages that came to RAM, wherever from */
    uint32_t buffer_reads; /* of these from a buffer of the chip */
    uint32_t to_buffer;    /* dirty pages that left RAM */
    uint32_t flash_writes; /* programs for them, failed ones too; without those that moved a page */
};

struct nw_small;

struct nw_small_config {
    struct nw_chip *chip; /* two buffers, NW_CHIP_REWRITE */
    uint32_t first_page;  /* of the chip: where the pool begins */
    uint16_t page_bytes;  /* 1 .. those of the chip */
    uint8_t pages;        /* 1 .. pool - 1 */
    uint8_t frames;       /* 1 .. pages */
    uint8_t pool;         /* 2 .. NW_SMALL_POOL_MAX, all of them on the chip */
    uint8_t **frame_of;   /* [pages] */
    uint8_t *slot_of;     /* [pages] */
    uint8_t *taken;       /* [NW_SMALL_TAKEN_BYTES(pool)] */
    uint8_t *frame;       /* [frames * (page_bytes + NW_SMALL_FRAME_EXTRA)] */
    /* The content of a page that was never written: fills all of its page_bytes. */
    void (*initial)(struct nw_small *small, uint8_t page, uint8_t *to);
    void (*panic)(struct nw_small *small, int error, uint8_t page); /* does not return */
};

struct nw_small {
    struct nw_small_config config;
    struct nw_small_stats stats;
    uint8_t hand;           /* frame at which the next victim is looked for */
    uint8_t next;           /* page of the pool at which a free one is looked for */
    uint8_t buffer_page[2]; /* whose content each buffer holds; NW_SMALL_NONE */
    uint8_t buffer_old;     /* the one used longest ago */
    uint8_t flushes;        /* counts, to know when a page moves */
    uint8_t mover;          /* the page that moved last */
};

/* Begins with pages 0 .. frames - 1 in RAM. NW_ERR_CONFIG: a number out of its range, or a chip
 * that is none for this. The chip is not touched. Memory in `config` stays the caller's. */
int nw_small_open(struct nw_small *small, const struct nw_small_config *config);

/* Brings page < pages, whose frame_of is NULL, to RAM: its frame, unmarked. */
uint8_t *nw_small_fault(struct nw_small *small, uint8_t page);

#ifdef __cplusplus
}
#endif

#endif
