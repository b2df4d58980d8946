/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nand_internal.h - the state of an emulated chip, shared by the files of the model:
 *   nand.c        open, close, fork, the plain questions
 *   nand_verbs.c  the verbs of the chip contract
 *   nand_check.c  what the caller may do, and the record of the first misuse
 *   nand_cells.c  what the cells hold: written, torn, erased by half, never erased
 *   nand_torn.c   what pages show whose program, or the erase of whose block, did not end
 *   nand_wear.c   how blocks die and bits flip
 *   nand_image.c  saved to and loaded from a file
 */
#ifndef NANDWICH_TWIN_NAND_INTERNAL_H
#define NANDWICH_TWIN_NAND_INTERNAL_H

#include <stdbool.h>

#include "nandwich-twin/nand.h"

#define NAND_MAX_BUFFERS 8U

/* A page's flags; 0 after an erase. */
#define PAGE_WHOLE 0x01U   /* every data byte programmed */
#define PAGE_PARTLY 0x02U  /* data_bits tells which data bytes are programmed */
#define PAGE_PAYLOAD 0x04U /* data holds the payload; else it was never given, or is erased */
#define PAGE_TORN 0x08U    /* has a record among `torn` */
#define PAGE_BLANK 0x10U   /* unstable, and of the kind that shows blank */

struct nand_page {
    uint32_t lifetime; /* programs since new */
    uint8_t programs;  /* since the erase; stays at 255 */
    uint8_t flags;
    uint16_t unused;
};

#define BLOCK_BAD 0x01U      /* marked */
#define BLOCK_FAILED 0x02U   /* fails for ever */
#define BLOCK_TORN 0x04U     /* its last erase was cut or failed */
#define BLOCK_RAW 0x08U      /* never erased, and opened with NW_NAND_UNERASED */
#define BLOCK_DIES_IN_PROGRAM 0x10U
#define BLOCK_TORN_PAGES 0x20U /* some of its pages have a record among `torn` */
#define BLOCK_UNMARKED 0x40U /* its mark fails */

struct nand_block {
    uint32_t erases;
    uint32_t life;  /* erases it takes; the next one, or a program after the last one, fails */
    uint32_t heals; /* healings so far */
    uint32_t fresh; /* erases at the last healing: cells are as old as what came since */
    uint16_t next;  /* pages from here on were not programmed since the erase */
    uint8_t flags;
    uint8_t torn; /* enum nw_torn: what the cut erase left */
};

/* A program that did not end: the bytes it was about to write lie in data and spare. */
struct nand_torn {
    uint32_t page;
    uint16_t offset;
    uint16_t length;
    uint16_t spare_offset;
    uint16_t spare_length;
    uint8_t data_torn;  /* enum nw_torn */
    uint8_t spare_torn;
    uint8_t rewrite; /* the page's erase was under way as well */
    uint8_t unused;
};

struct nw_nand {
    struct nw_chip chip;
    uint64_t operations; /* verbs begun */
    uint64_t stop_at;    /* operations at which the armed cut strikes; 0 while off */
    struct nw_meter *meter;
    struct nw_part_costs costs;
    struct nw_nand_counts stats;

    struct nand_page *pages;
    struct nand_block *blocks;
    uint8_t *data;
    uint8_t *spare;
    uint64_t *spare_bits; /* a bit a spare byte: programmed */
    uint64_t *data_bits;  /* a bit a program unit; NULL when a page is one unit */
    uint32_t page_count;
    uint32_t data_units;  /* program units a page */
    uint32_t data_words;  /* of data_bits a page */
    uint32_t spare_words; /* of spare_bits a page */
    uint8_t block_shift;  /* log2 of block_pages, or 255 */

    uint32_t seed;
    uint32_t flags;
    uint32_t power_ups;
    uint16_t early_deaths;
    bool off;
    struct nw_cut cut;

    struct nand_torn *torn;
    uint32_t torn_count;
    uint32_t torn_room;

    uint8_t *buffers; /* the chip's own page buffers */
    uint8_t *scratch; /* one page and its spare, for copies */
    struct nw_misuse misuse;
    struct nw_part part;
    struct nw_meter own_meter;
};

/* What begin() answers besides errors. */
enum { NAND_RUN = 0, NAND_CUT_INSIDE = 1, NAND_CUT_AFTER = 2 };

static inline struct nw_nand *nand_of(const struct nw_chip_req *req)
{
    return req->chip->context;
}

static inline uint32_t nand_block_of(const struct nw_nand *nand, uint32_t page)
{
    return nand->block_shift != 255U ? page >> nand->block_shift
                                     : page / nand->chip.geometry.block_pages;
}

static inline uint8_t *nand_data_at(const struct nw_nand *nand, uint32_t page)
{
    return nand->data + (uint64_t)page * nand->chip.geometry.page_bytes;
}

static inline uint8_t *nand_spare_at(const struct nw_nand *nand, uint32_t page)
{
    return nand->spare + (uint64_t)page * nand->chip.geometry.spare_bytes;
}

/* The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a keyed draw without state, for
 * what must come out the same whatever was asked before. */
static inline uint64_t nand_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

static inline uint64_t nand_key(const struct nw_nand *nand, uint64_t a, uint64_t b, uint64_t c)
{
    return nand_mix(nand_mix(nand_mix(nand->seed ^ (a << 32)) ^ b) ^ c);
}

/* nand.c */
extern const struct nw_chip_ops nw_nand_plain_ops;
extern const struct nw_chip_ops nw_nand_copy_ops;
extern const struct nw_chip_ops nw_nand_buffer_ops;
int nw_nand_build(struct nw_nand **nand, const struct nw_nand_config *config);

/* nand_check.c: NW_OK, or the misuse recorded. check_program also marks the bytes programmed. */
int nw_nand_check_program(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb,
                          uint32_t page);
int nw_nand_check_read(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb);
int nw_nand_check_block(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb);
int nw_nand_refuse(struct nw_nand *nand, const struct nw_chip_req *req, uint8_t verb, uint32_t page,
                   int error, const char *why);

/* nand_cells.c */
void nw_nand_store(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page);
void nw_nand_load_data(struct nw_nand *nand, uint32_t page, uint16_t offset, uint16_t length,
                       uint8_t *to);
void nw_nand_load_spare(struct nw_nand *nand, uint32_t page, uint16_t offset, uint16_t length,
                        uint8_t *to);
int nw_nand_tear_page(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page,
                      bool rewrite);
void nw_nand_tear_block(struct nw_nand *nand, uint32_t block, uint8_t torn);
void nw_nand_wipe_block(struct nw_nand *nand, uint32_t block);
void nw_nand_wipe_page(struct nw_nand *nand, uint32_t page);
int nw_nand_power_off(struct nw_nand *nand);
int nw_nand_stopped(struct nw_nand *nand);

/* nand_torn.c */
/* Cut: of which kind the page, or each page of the block, is from now on. */
void nw_nand_unsettle_page(struct nw_nand *nand, uint32_t page, uint8_t torn);
void nw_nand_unsettle_block(struct nw_nand *nand, uint32_t block, uint8_t torn);
/* NW_ERR_ECC: the part has ECC, and the page cannot be read by this operation. Else NW_OK. */
int nw_nand_try_read(const struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page);
/* Turns bytes as they were meant into what a torn page shows of them; leaves those of others. */
void nw_nand_show_torn(const struct nw_nand *nand, uint32_t page, bool spare, uint16_t offset,
                       uint16_t length, uint8_t *to);

/* nand_wear.c */
void nw_nand_draw_lives(struct nw_nand *nand, const uint32_t *lives);
void nw_nand_gain_life(struct nw_nand *nand, uint32_t block);
void nw_nand_draw_factory_bad(struct nw_nand *nand);
bool nw_nand_program_dies(const struct nw_nand *nand, uint32_t page, uint32_t block);
/* Bits the chip's own ECC repaired in what is read, NW_ERR_ECC; raw when not `repair`. */
int nw_nand_flip_bits(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page,
                      bool repair);

#endif
