/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_dataflash.h - DataFlash with its page buffers: AT45DB011 to AT45DB642, revisions B, D and
 * E, as a chip (chip.h).
 *
 * WHAT THE PART TELLS. The density bits of its status register (D7h) tell pages and page size, bit
 * 0 whether pages are 264 (528, 1056) or, switched for good by the user, 256 (512, 1024) bytes. An
 * id (9Fh) has to tell the same density, and a 641E from a 642D. Revision B has no id, its pages
 * cannot be switched, and its bit 0 means nothing.
 *
 *   density bits   3     5      7      9      11     13     15
 *   pages          512   1,024  2,048  4,096  4,096  8,192  8,192 (641E: 32,768)
 *   bytes          264   264    264    264    528    528    1,056 (641E: 264)
 *
 * PAGES. 8 a block. All bytes are data, there is no spare. Programmed whole, through a buffer.
 * Erased bytes may be read. buffer_program erases the page first (83h, 86h), so it may hit a page
 * in use.
 *
 * BUFFERS. Two (AT45DB011: one). program leaves its page in the last one, erase leaves FF there.
 *
 * FAILURES. A part before revision E does not say that a program failed: the driver has the part
 * compare page and buffer after each (60h, 61h; 0.2 ms), and the eight pages of an erased block
 * with a buffer of FF. So sector protection shows as NW_ERR_PROGRAM and NW_ERR_ERASE; opening
 * switches it off (3Dh 2Ah 7Fh 9Ah) where the WP pin lets it.
 *
 * REWRITES. A page must be rewritten at least once within 10,000 to 20,000 (revision E: 50,000)
 * page erases and programs in its sector. A translation layer with wear levelling and small.h see
 * to that; code that programs a few pages of a sector over and over has to as well.
 *
 * BAD BLOCKS. There are no marks: is_bad answers 0, mark_bad NW_ERR_UNSUPPORTED.
 *
 * ERRORS of the verbs, beside those of chip.h: NW_ERR_PROGRAM, NW_ERR_ERASE; NW_ERR_BUSY after
 * 5,000 waits of 100 us (0.5 s, where the slowest block erase takes 0.1 s; LIMITS in driver_spi.h),
 * also where nothing drives the line to high; what the bus answers.
 *
 * COST. RAM: sizeof(struct nw_dataflash). Stack on a Cortex-M3: 130 B. A read moves 8 bytes and the
 * data; a program 12 and the data, and 2 a question of status.
 *
 * Source: datasheets AT45DB041B, AT45DB161D, AT45DB641E: "status register read", "manufacturer and
 * device id", "main memory page to buffer compare", "auto page rewrite".
 */
#ifndef NANDWICH_DRIVER_DATAFLASH_H
#define NANDWICH_DRIVER_DATAFLASH_H

#include "nandwich/chip.h"
#include "nandwich/driver_spi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_dataflash {
    struct nw_spi *spi;
    uint8_t page_shift; /* place of the page number in an address */
    uint8_t id[4];      /* FF or 00 where the part has none */
    struct nw_chip chip; /* for the layers; its context is this struct */
};

/*
 * Opens the part: wakes it from deep power-down (ABh, where the status reads all 00 or FF), waits
 * until it is ready, reads status and id, lifts sector protection. Call it 20 ms or more after the
 * supply is up, and after every loss of power.
 *
 * NW_ERR_NOT_FOUND: nothing answers (status and id all 00 or FF). NW_ERR_UNSUPPORTED: density bits
 * of no part above. NW_ERR_CONFIG: an id of another maker, or of another density than the status
 * tells. NW_ERR_BUSY; what the bus answers. Nothing is written or erased.
 */
int nw_dataflash_open(struct nw_dataflash *flash, struct nw_spi *spi);

#ifdef __cplusplus
}
#endif

#endif
