/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chip.h - waist 1: raw flash. Pages are programmed once, blocks are erased whole.
 *
 * A chip is geometry (data) plus a const table of verbs. Drivers (core/drivers), emulated parts
 * (twin) and filters (a chip in front of a chip: slice, ecc, shrink, oob, faults, trace) all keep
 * this contract; layers above (ftl, store) use nothing else. Any number of chips may exist at once.
 *
 * WHAT THE CALLER PROMISES
 *   - Program a byte at most once between two erases of its block, a page at most page_programs
 *     times, in units of program_bytes, and with NW_CHIP_IN_ORDER never below the highest page
 *     already programmed in that block (skipping pages upwards is allowed).
 *   - Read data only of pages programmed since the erase, unless NW_CHIP_READ_ERASED. Spare bytes
 *     may be read at any time: that is how one asks whether a page was written.
 *   - Erase or program no bad block. Call from one thread of control at a time.
 *   - After a failed program or erase: do not trust that block any further; move what is valid,
 *     then nw_chip_mark_bad().
 *
 * WHAT THE DRIVER OWES
 *   - A verb returns only when the chip has finished and has told its status. Errors come from enum
 *     nw_error; nothing is retried in silence. Read answers the number of bits corrected.
 *   - On return every field of the request holds what the caller put there; the bytes behind data
 *     and spare change only on read and buffer_read.
 *   - Bad-block markers lie outside the spare bytes seen here, and only is_bad and mark_bad reach
 *     them. mark_bad survives power loss.
 *
 * WHAT A POWER CUT MAY LEAVE
 *   - During program: the bytes of that program hold any mix of old and new bits, data and spare
 *     apart, and may read differently from one power-up to the next until the block is erased; the
 *     page may even look erased, but must not be programmed again. Other pages keep their content.
 *   - During erase: every byte of the block is undefined, also when it looks erased. The block must
 *     be erased again before anything is programmed. During heal the same, and no life is gained.
 *   - During mark_bad: the block may or may not be marked. During read: nothing changes.
 *   Hence: after power-up erase a block before use unless you know its last erase ended, and do not
 *   go on programming in a block that may hold a torn page; skip at least that page.
 *
 * METADATA ONLY: data == NULL with length > 0 moves no payload. Only chips with NW_CHIP_NO_PAYLOAD
 * take it (the twin in metadata-only mode); costs and checks are those of the real operation.
 *
 * Cost of the front functions below: range checks, then one indirect call.
 */
#ifndef NANDWICH_CHIP_H
#define NANDWICH_CHIP_H

#include <stdint.h>

#include "nandwich/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a geometry. */
#define NW_CHIP_IN_ORDER 0x01U    /* pages of a block are programmed in ascending order */
#define NW_CHIP_READ_ERASED 0x02U /* erased data may be read, as `erased` bytes (NOR, DataFlash) */
#define NW_CHIP_NO_PAYLOAD 0x04U  /* takes data == NULL: metadata-only twin */
#define NW_CHIP_REWRITE 0x08U     /* buffer_program to a page in use erases that page first */

#define NW_PROGRAMS_UNLIMITED 0xFFU

struct nw_geometry {
    uint32_t blocks;        /* erase blocks; blocks * block_pages fits 32 bits */
    uint16_t block_pages;   /* pages a block, 1 .. 65535, any number */
    uint16_t page_bytes;    /* data bytes a page, a multiple of program_bytes */
    uint16_t spare_bytes;   /* spare bytes a page free for the caller; 0: none */
    uint16_t program_bytes; /* unit and alignment of a program in data; page_bytes: whole pages */
    uint8_t page_programs;  /* programs a page takes between erases; NW_PROGRAMS_UNLIMITED */
    uint8_t erased;         /* value of an erased byte: 0xFF or 0x00 */
    uint8_t buffers;        /* page buffers inside the chip (DataFlash: 2); 0: none */
    uint8_t flags;
    uint32_t endurance;  /* rated erases a block; 0: unknown */
    uint32_t read_us;    /* typical time of one whole-page read, transfer included */
    uint32_t program_us; /* typical time of one whole-page program, transfer included */
    uint32_t erase_us;   /* typical time of one block erase */
    uint32_t heal_us;    /* time of one healing */
    uint32_t heal_life;  /* erases gained by a block's first healing, counted from then on; 0:
                          * cannot be healed */
    uint16_t heal_step;  /* how many fewer by each further one */
    uint16_t heal_limit; /* healings a block takes */
};

struct nw_chip;

/*
 * One request. Fields a verb does not name are ignored.
 *   read, program:       page; offset, length, data; spare_offset, spare_length, spare
 *   erase, is_bad, mark_bad, heal: block
 *   copy:                page, to_page; spare_offset, spare_length, spare (new spare of to_page)
 *   buffer_load, buffer_program: page, buffer
 *   buffer_read, buffer_write:   buffer, offset, length, data
 */
struct nw_chip_req {
    struct nw_chip *chip;
    uint32_t block;        /* 0 .. blocks - 1 */
    uint32_t page;         /* 0 .. blocks * block_pages - 1: block * block_pages + index */
    uint32_t to_page;
    uint16_t offset;       /* of the data in the page, bytes */
    uint16_t length;       /* data bytes; 0: none */
    uint16_t spare_offset;
    uint16_t spare_length; /* spare bytes; 0: none */
    uint8_t *data;         /* never written through by program and buffer_write */
    uint8_t *spare;        /* never written through by program and copy */
    uint8_t buffer;        /* 0 .. buffers - 1 */
};

struct nw_chip_ops {
    int (*read)(struct nw_chip_req *req);     /* >= 0: bits corrected */
    int (*program)(struct nw_chip_req *req);  /* data and spare in one program */
    int (*erase)(struct nw_chip_req *req);
    int (*is_bad)(struct nw_chip_req *req);   /* 1 bad, 0 good */
    int (*mark_bad)(struct nw_chip_req *req);
    /* The rest may be NULL: not there. */
    /* Page data inside the chip; bit errors travel along. NW_ERR_ECC (from a chip that checks the
     * source): nothing was programmed. */
    int (*copy)(struct nw_chip_req *req);
    int (*buffer_load)(struct nw_chip_req *req);    /* page -> chip buffer */
    int (*buffer_read)(struct nw_chip_req *req);    /* chip buffer -> data */
    int (*buffer_write)(struct nw_chip_req *req);   /* data -> chip buffer */
    int (*buffer_program)(struct nw_chip_req *req); /* chip buffer -> erased page, or REWRITE */
    /* Heats a worn block for geometry.heal_us, in which the chip does nothing else. Its content is
     * undefined then: it is erased before use. Asked only where geometry.heal_life is not 0; a
     * filter may have the verb without. */
    int (*heal)(struct nw_chip_req *req);
};

struct nw_chip {
    const struct nw_chip_ops *ops;
    void *context; /* the driver's or filter's own */
    struct nw_geometry geometry;
};

/*
 * The verbs. Each answers NW_ERR_RANGE for all outside the geometry, NW_ERR_ALIGN for a program
 * off its unit, NW_ERR_UNSUPPORTED for a verb the chip lacks, else what the chip answers.
 */
int nw_chip_read(struct nw_chip_req *req);
int nw_chip_program(struct nw_chip_req *req);
int nw_chip_erase(struct nw_chip_req *req);
int nw_chip_is_bad(struct nw_chip_req *req);
int nw_chip_mark_bad(struct nw_chip_req *req);
int nw_chip_copy(struct nw_chip_req *req);
int nw_chip_buffer_load(struct nw_chip_req *req);
int nw_chip_buffer_read(struct nw_chip_req *req);
int nw_chip_buffer_write(struct nw_chip_req *req);
int nw_chip_buffer_program(struct nw_chip_req *req);
int nw_chip_heal(struct nw_chip_req *req); /* NW_ERR_UNSUPPORTED also at heal_limit */

/* NW_OK if the geometry keeps the ranges above, else NW_ERR_CONFIG. Layers call it when opened. */
int nw_geometry_check(const struct nw_geometry *geometry);

#ifdef __cplusplus
}
#endif

#endif
