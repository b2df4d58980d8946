/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nand.h - an emulated flash chip (NAND, NOR or DataFlash) behind the chip contract, stricter than
 * any real one, with a clock, an energy meter, wear, bit errors and power cuts. How each of these
 * is drawn: docs/twin.md.
 *
 * STRICT. Every breach of what chip.h asks of the caller is an error at once, changes nothing and
 * costs no time; the first one is kept with the call that did it (nw_nand_misuse()):
 *   NW_ERR_NOT_ERASED  a byte programmed twice, on NOR too; a program into a page whose program was
 *                      cut or failed, into a block whose erase was, or into a block never erased
 *                      when opened with NW_NAND_UNERASED
 *   NW_ERR_PROGRAMS    a page programmed more often than the part allows
 *   NW_ERR_ORDER       a page below one already programmed in its block, where the part forbids it
 *   NW_ERR_UNWRITTEN   data read from a page not programmed since the erase (unless READ_ERASED, or
 *                      that erase was cut, or there was none: no caller can know)
 *   NW_ERR_BAD_BLOCK   program, erase or healing of a block marked bad
 *   NW_ERR_ALIGN       a program off its unit (a caller who went round nw_chip_program())
 *   NW_ERR_UNSUPPORTED metadata only: payload asked for that was never given
 *
 * METADATA ONLY (NW_NAND_NO_PAYLOAD). Takes data == NULL. Spare bytes are kept, and so is payload
 * of programs that do bring data (a layer's own maps, say).
 *
 * WEAR (NW_NAND_WEAR_OUT). Each block draws its life at open: rated endurance x (0.85 .. 1.25);
 * config.early_deaths of 65536 blocks die below the rating. A healing gives a block a new life. A
 * failed block fails for ever. BIT ERRORS (NW_NAND_BIT_ERRORS) follow the part's curve and are the
 * same on every read until the page is written anew; with NW_NAND_READ_NOISE they are drawn anew
 * each read. Parts with ECC inside repair and count them, or answer NW_ERR_ECC.
 *
 * POWER. A cut is armed for an operation to come; it strikes before, inside or after it. From then
 * on every verb answers NW_ERR_POWER until nw_nand_power_up(). What a cut leaves is drawn from the
 * seed and drawn anew at each power-up, as chip.h allows, unless the cut fixes it.
 *
 * UNSTABLE (NW_NAND_UNSTABLE). What a cut or a failure leaves of a page is drawn at each read until
 * its block's next whole erase: it shows content or cannot be read, or it shows blank or cannot be
 * read. The cut draws which of the two; one that fixes `data` fixes it, old or new, and any other
 * face can never be read. What cannot be read answers NW_ERR_ECC on parts with ecc_bits, else
 * rubbish.
 *
 * MEMORY. 8 B a page, 20 B a block, spare and its map, at once; data as it is written (address
 * space is taken for all of it). On the host only: uses malloc and mmap.
 */
#ifndef NANDWICH_TWIN_NAND_H
#define NANDWICH_TWIN_NAND_H

#include "nandwich-twin/meter.h"
#include "nandwich-twin/part.h"
#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_NAND_NO_PAYLOAD 0x01U  /* metadata only */
#define NW_NAND_WEAR_OUT 0x02U    /* blocks fail when worn */
#define NW_NAND_BIT_ERRORS 0x04U  /* by the part's error curve */
#define NW_NAND_READ_NOISE 0x08U  /* bit errors are drawn anew at each read */
#define NW_NAND_UNERASED 0x10U    /* blocks must be erased before first use; cells hold 0x55 */
#define NW_NAND_NODE_COSTS 0x20U  /* charge chip and processor, not the chip alone */
#define NW_NAND_FACTORY_BAD 0x40U /* up to factory_bad blocks, seeded, are bad when new */
#define NW_NAND_UNSTABLE 0x80U    /* what a cut leaves is drawn at each read, not at power-up */
#define NW_NAND_FACTORY_MOST 0x100U /* with NW_NAND_FACTORY_BAD: as many as there may be */

struct nw_nand_config {
    const struct nw_part *part; /* copied */
    uint32_t blocks;            /* another number of blocks than the part's; 0: the part's */
    uint32_t seed;
    uint32_t flags;             /* NW_NAND_... */
    uint16_t early_deaths;      /* of 65536 blocks, with NW_NAND_WEAR_OUT */
    const uint32_t *lives;      /* erases that each block bears, 0: bad when new; NULL: drawn */
    struct nw_meter *meter;     /* shared with other parts; NULL: its own */
};

struct nw_nand;

/* What the chip was asked to do and did; failed operations count, misuse does not. */
struct nw_nand_counts {
    uint64_t reads; /* spare-only reads included */
    uint64_t programs;
    uint64_t erases;
    uint64_t copies;
    uint64_t buffer_loads;
    uint64_t buffer_reads;
    uint64_t buffer_writes;
    uint64_t buffer_programs;
    uint64_t buffer_rewrites; /* buffer programs that erased their page first */
    uint64_t heals;
    uint64_t bytes_read;      /* data and spare over the bus */
    uint64_t bytes_programmed;
    uint64_t bits_flipped;    /* by bit errors, as delivered by the cells */
    uint64_t bits_corrected;  /* by the part's own ECC */
    uint64_t failures;        /* failed programs and erases */
    uint64_t misuses;
    uint64_t power_cuts;
};

enum nw_nand_verb {
    NW_VERB_NONE,
    NW_VERB_READ,
    NW_VERB_PROGRAM,
    NW_VERB_ERASE,
    NW_VERB_IS_BAD,
    NW_VERB_MARK_BAD,
    NW_VERB_COPY,
    NW_VERB_BUFFER_LOAD,
    NW_VERB_BUFFER_READ,
    NW_VERB_BUFFER_WRITE,
    NW_VERB_BUFFER_PROGRAM,
    NW_VERB_HEAL
};

const char *nw_verb_name(uint8_t verb); /* "read", "program", ... */

/* The first misuse; error is 0 when there was none. */
struct nw_misuse {
    int error;
    uint8_t verb;       /* enum nw_nand_verb */
    uint32_t page;      /* the page hit (copy: the target); of an erase: first page of the block */
    uint32_t block;
    uint16_t offset;
    uint16_t length;
    uint16_t spare_offset;
    uint16_t spare_length;
    uint64_t operation; /* how many operations went before */
    const char *why;
};

enum nw_cut_phase { NW_CUT_BEFORE, NW_CUT_INSIDE, NW_CUT_AFTER };

/* What a cut inside a program or erase leaves. For an erase, `new` is erased. */
enum nw_torn {
    NW_TORN_ANY,        /* one of these, drawn anew at each power-up */
    NW_TORN_OLD,        /* looks untouched */
    NW_TORN_NEW,        /* looks complete */
    NW_TORN_HALF,       /* each bit old or new */
    NW_TORN_MOSTLY_OLD, /* one bit in eight new */
    NW_TORN_MOSTLY_NEW, /* one bit in eight old */
    NW_TORN_RANDOM      /* any bits; a program leaves it only when it erased the page first */
};

struct nw_cut {
    uint64_t after; /* operations (verbs of any kind) still to run before the one that is hit */
    uint8_t phase;  /* enum nw_cut_phase */
    uint8_t data;   /* enum nw_torn: what happens to data, or to the erased block */
    uint8_t spare;  /* enum nw_torn: what happens to spare bytes */
};

/* Opens a new, erased part. NW_ERR_CONFIG: not a flash part, a part that fails nw_part_check(), or
 * node costs asked of a part without them; NW_ERR_RAM: no memory. */
int nw_nand_open(struct nw_nand **nand, const struct nw_nand_config *config);
void nw_nand_close(struct nw_nand *nand); /* NULL is fine */

struct nw_chip *nw_nand_chip(struct nw_nand *nand);
struct nw_meter *nw_nand_meter(struct nw_nand *nand);
const struct nw_part *nw_nand_part(const struct nw_nand *nand);
const struct nw_part_costs *nw_nand_costs(const struct nw_nand *nand); /* the chip's or node's */
const struct nw_nand_counts *nw_nand_stats(const struct nw_nand *nand);
uint64_t nw_nand_operations(const struct nw_nand *nand); /* verbs begun since open, as cuts count */

const struct nw_misuse *nw_nand_misuse(const struct nw_nand *nand);
void nw_nand_forgive(struct nw_nand *nand); /* forgets the recorded misuse */
/* One line about a misuse; answers its length, cut to `bytes`. */
int nw_misuse_text(const struct nw_misuse *misuse, char *text, size_t bytes);

void nw_nand_cut(struct nw_nand *nand, const struct nw_cut *cut); /* NULL: disarm */
int nw_nand_is_off(const struct nw_nand *nand);
/* Buffers of the chip hold anything afterwards; a cut still armed is disarmed. */
void nw_nand_power_up(struct nw_nand *nand);

/* A second chip with the same state and a meter of its own. nw_nand_assign copies into an open one
 * of the same shape (NW_ERR_CONFIG if it is not): cheaper in loops. Cost: what was written. */
int nw_nand_fork(struct nw_nand **to, const struct nw_nand *from);
int nw_nand_assign(struct nw_nand *to, const struct nw_nand *from);

/*
 * Images. Saving replaces the file (file.h): the old one or the new one is there, never half of
 * one. Loading opens a chip with the same state (an armed cut and a recorded misuse are
 * forgotten, the meter is its own); the image tells the part, the table is not asked.
 * NW_ERR_IO: errno tells; NW_ERR_CORRUPT, NW_ERR_VERSION: `fault` (may be NULL) tells what and
 * where.
 */
struct nw_image_fault {
    uint64_t offset; /* bytes from the start of the file */
    char text[96];
};

int nw_nand_save(const struct nw_nand *nand, const char *path);
int nw_nand_load(struct nw_nand **nand, const char *path, struct nw_image_fault *fault);

uint32_t nw_nand_block_erases(const struct nw_nand *nand, uint32_t block);
uint32_t nw_nand_page_programs(const struct nw_nand *nand, uint32_t page); /* since the erase */
uint32_t nw_nand_page_lifetime(const struct nw_nand *nand, uint32_t page); /* since new */
uint32_t nw_nand_block_heals(const struct nw_nand *nand, uint32_t block);
int nw_nand_block_bad(const struct nw_nand *nand, uint32_t block); /* marked */
/* A program or erase failed, or is bound to. */
int nw_nand_block_failed(const struct nw_nand *nand, uint32_t block);

/* For tests and studies: age a block, make its next program or erase fail, or its marks too, flip a
 * stored bit (bit 8 x page_bytes and up lie in the spare) for good. */
void nw_nand_set_erases(struct nw_nand *nand, uint32_t block, uint32_t erases);
void nw_nand_doom(struct nw_nand *nand, uint32_t block, int in_program);
void nw_nand_doom_marks(struct nw_nand *nand, uint32_t block);
void nw_nand_flip(struct nw_nand *nand, uint32_t page, uint32_t bit);

/* The cells as a read would deliver them, without cost, check or error. */
void nw_nand_peek(struct nw_nand *nand, uint32_t page, uint8_t *data, uint8_t *spare);

#ifdef __cplusplus
}
#endif

#endif
