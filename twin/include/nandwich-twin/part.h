/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - everything the twin knows about one storage part: shape, costs, wear, errors.
 *
 * A part comes from the table (parts.h), from a user's file, or from a saved image; all three are
 * `key = value` text given to nw_part_set(). Two sets of costs may be known: of the chip alone
 * (`read.time`, ...) and of the chip together with the processor that serves it
 * (`node.read.time`, ...); which one is charged is chosen when a twin is opened.
 */
#ifndef NANDWICH_TWIN_PART_H
#define NANDWICH_TWIN_PART_H

#include "nandwich-twin/fields.h"
#include "nandwich-twin/meter.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_PART_NAME_BYTES 48U
#define NW_PART_NOTE_BYTES 160U

/* Which model opens the part. */
enum nw_part_kind {
    NW_PART_NAND,      /* nand.h */
    NW_PART_NOR,       /* nand.h: erased bytes may be read, a page takes any number of programs */
    NW_PART_DATAFLASH, /* nand.h, with the chip's page buffers */
    NW_PART_SDCARD,    /* sdcard.h */
    NW_PART_NVM        /* nvm.h */
};

/* Costs of the verbs; a cost that is all zero is free. An NVM part uses read and program. */
struct nw_part_costs {
    struct nw_cost read;    /* page to host, a byte: data and spare moved */
    struct nw_cost program; /* host to page */
    struct nw_cost erase;   /* one block */
    struct nw_cost copy;    /* inside the chip; a byte: new spare moved. All zero: read + program */
    struct nw_cost buffer_load;    /* page to chip buffer */
    struct nw_cost buffer_read;    /* chip buffer to host */
    struct nw_cost buffer_write;   /* host to chip buffer */
    struct nw_cost buffer_program; /* chip buffer to an erased page */
    struct nw_cost buffer_rewrite; /* chip buffer to a page in use: erases that page first */
};

struct nw_part {
    char name[NW_PART_NAME_BYTES];
    char note[NW_PART_NOTE_BYTES]; /* what it is, one line */
    uint8_t kind;                  /* enum nw_part_kind */

    /* Shape: as struct nw_geometry tells it. */
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t spare_bytes; /* free for the caller: the bad-block marker is taken off */
    uint16_t program_bytes;
    uint8_t page_programs;
    uint8_t erased;
    uint8_t buffers;
    uint8_t in_order;    /* 1: ascending pages in a block */
    uint8_t read_erased; /* 1: erased data may be read */
    uint8_t copy;        /* 1: has the copy verb */
    uint8_t rewrite;     /* 1: buffer_program may hit a page in use (built-in page erase) */

    /* Wear and errors. */
    uint32_t endurance;      /* rated erases a block; NVM: writes a unit; 0: no practical limit */
    uint32_t factory_bad;    /* most bad blocks a new part may have */
    struct nw_curve errors;  /* raw bit errors against erases */
    uint16_t ecc_bits;       /* bits the chip itself repairs in each ecc_bytes; 0: no ECC inside */
    uint16_t ecc_bytes;

    /* Self-healing by heat: life gained by the first healing, how much less by each further one. */
    uint32_t heal_life;  /* 0: cannot be healed */
    uint32_t heal_step;
    uint32_t heal_limit; /* healings until a block retires */
    uint64_t heal_ns;
    uint64_t heal_pj;

    /* NVM: size, the unit that a power cut never tears, and the line whose every touch costs the
     * fixed part of read or program. */
    uint64_t nvm_bytes;
    uint16_t atomic_bytes;
    uint16_t line_bytes;

    /* SD card: the first write to a sector of sector_blocks blocks takes open_ns more or less. */
    uint32_t sector_blocks;
    uint64_t open_least_ns;
    uint64_t open_most_ns;
    uint64_t read_spread_ns; /* a read takes up to this much longer than its cost */

    uint64_t standby_nw; /* power while idle */

    struct nw_part_costs chip;
    struct nw_part_costs node; /* chip and processor */
};

/* Every field that nw_part_set() knows, in the order to show them. */
const struct nw_field *nw_part_fields(size_t *count);

/* All zero but program_bytes, page_programs and erased: what a description starts from. */
void nw_part_init(struct nw_part *part);

/* Sets one field from text. NW_ERR_NOT_FOUND: no such key; else as nw_field_set(). */
int nw_part_set(struct nw_part *part, const char *key, const char *value);

/* NW_OK if the part can be opened, else NW_ERR_CONFIG with the reason in `why` (may be NULL). */
int nw_part_check(const struct nw_part *part, const char **why);

/* 1 if costs of chip and processor are known. */
int nw_part_has_node_costs(const struct nw_part *part);

/* Bytes a caller can store: data of all pages, or the NVM's size. */
uint64_t nw_part_bytes(const struct nw_part *part);

#ifdef __cplusplus
}
#endif

#endif
