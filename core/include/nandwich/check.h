/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - whether a chip keeps its contract: run once on a real part, with the driver and the
 * board that will ship, before a layer goes on it. Also measures the part, as a description for
 * the twin.
 *
 *     struct nw_check check = {.chip = &nand.chip, .now_us = board_clock, .ram = buffer,
 *                              .ram_bytes = sizeof buffer};
 *     int result = nw_chip_check(&check);
 *     nw_check_text(&check, board_print, NULL);
 *
 * WHAT IT ERASES: the first two, the two middle and the last two good blocks, and each good block
 * whose number is a power of two. Keep what matters elsewhere. It never marks a block unless asked.
 *
 * WHAT IT TRIES, in this order (enum nw_check_step):
 *   - the geometry contradicts nothing; every block answers is_bad;
 *   - each of these blocks: erase; erased spare bytes (and data, with NW_CHIP_READ_ERASED) read as
 *     such; every page programmed with bytes of its own, data and spare in one program, or in as
 *     many programs as the part takes; all of it read back, whole, in parts at odd places, spare
 *     alone and from its fourth byte on; the request of every verb comes back as it was;
 *   - address lines: all these blocks still hold their own bytes when the last one was written;
 *   - erase again takes one block and no other;
 *   - the spare alone programmed into an erased page;
 *   - page buffers, all at once, and copy, where the chip has them;
 *   - what is out of range is refused.
 * Then it times reads, programs and erases by the caller's clock, and counts corrected bits.
 *
 * COST. RAM: what nw_check_ram_bytes() says, a page with its spare twice. Two erases a block, a
 * program a page and eight reads: 8 to 40 blocks, a few seconds. Nothing static.
 */
#ifndef NANDWICH_CHECK_H
#define NANDWICH_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was tried when something was wrong; the place is in struct nw_check. */
enum nw_check_step {
    NW_CHECK_PASSED,   /* nothing was wrong */
    NW_CHECK_GEOMETRY, /* a geometry that contradicts itself, or no two good blocks */
    NW_CHECK_IS_BAD,   /* is_bad answered an error */
    NW_CHECK_ERASE,    /* an erase answered an error */
    NW_CHECK_ERASED,   /* an erased byte reads as another value */
    NW_CHECK_PROGRAM,  /* a program answered an error */
    NW_CHECK_READ,     /* a read answered an error */
    NW_CHECK_DATA,     /* a byte of data reads as another one than was programmed */
    NW_CHECK_SPARE,    /* the same of a spare byte */
    NW_CHECK_REQUEST,  /* a verb changed the request, or the bytes it was to program */
    NW_CHECK_ADDRESS,  /* a block holds another block's bytes: address lines or cycles */
    NW_CHECK_BUFFER,   /* a page buffer lost bytes, or a verb of it answered an error */
    NW_CHECK_COPY,     /* a copy differs, or answered an error */
    NW_CHECK_RANGE,    /* what is out of range was not refused */
    NW_CHECK_CUT,      /* behind a cut by hand: a page that was not being written is damaged */
    NW_CHECK_MARK      /* a mark was not kept */
};

/* "erase", "address lines", ... */
const char *nw_check_step_name(uint8_t step);

/* Times of one verb in us: how often, and what it took at least, at most, and together. */
struct nw_check_time {
    uint32_t count;
    uint32_t least_us;
    uint32_t most_us;
    uint32_t sum_us;
};

struct nw_check {
    /* The caller's. */
    struct nw_chip *chip;
    uint32_t (*now_us)(void *context); /* a clock in us that may wrap; NULL: nothing is timed */
    void *context;
    void *ram;
    size_t ram_bytes;
    uint32_t seed; /* of the bytes written */

    /* Told by nw_chip_check(). */
    uint8_t step;     /* enum nw_check_step */
    int16_t error;    /* what the chip answered; NW_OK: bytes differed */
    uint32_t block;
    uint32_t page;
    uint16_t offset;  /* of the first byte that differs */
    uint8_t expected;
    uint8_t found;
    uint32_t bad_blocks;
    uint32_t corrected_bits; /* in all reads together */
    struct nw_check_time read;       /* whole pages with their spare */
    struct nw_check_time read_one;   /* one byte */
    struct nw_check_time program;    /* whole pages with their spare */
    struct nw_check_time erase;
    uint32_t tried;   /* the check's own: blocks gone through */
    uint8_t pass;     /* the check's own: which bytes a block holds */
};

/* Bytes of RAM that a check of this chip takes. */
size_t nw_check_ram_bytes(const struct nw_geometry *geometry);

/*
 * Goes through all of it; stops at the first thing that is wrong. NW_OK; NW_ERR_CORRUPT: bytes that
 * differ or a promise not kept; else the error of the chip: check->step, block, page, offset, found
 * and expected tell. NW_ERR_RAM: nothing was touched.
 */
int nw_chip_check(struct nw_check *check);

/*
 * A CUT BY HAND. nw_check_cut_begin() erases and writes the last good block over and over; pull the
 * plug while it runs. After power is back and the driver is open again, nw_check_cut_end() with the
 * same seed looks at what is left: pages before the torn one hold their bytes and pages behind it
 * are erased (unless an erase was cut: then the block may hold anything, which the good block
 * beside it tells); both blocks hold no other damage; the block can be erased and written again.
 * Where the block is whole, or the one beside it holds nothing yet, the one beside may hold
 * anything: begin erases it first. Do it twenty times or so, each time begin and then end.
 *
 * begin answers NW_OK after half as many rounds as a block has pages (a second or more), or the
 * chip's error. end answers as nw_chip_check().
 */
int nw_check_cut_begin(struct nw_check *check);
int nw_check_cut_end(struct nw_check *check);

/* Marks the last good block bad for good, and asks for it: for a board that may lose one. Open the
 * driver again and ask nw_chip_is_bad() whether the mark has survived. */
int nw_check_mark(struct nw_check *check);

/*
 * The part as measured, in the TOML that `nandwich chips FILE` and every --chip take: one line a
 * call of `put`. Energies are not known and left out. On a host nandwich-twin/measured.h writes it
 * to a file; on a board print it, and keep what comes.
 */
void nw_check_text(const struct nw_check *check, void (*put)(void *context, const char *line),
                   void *context);

#ifdef __cplusplus
}
#endif

#endif
