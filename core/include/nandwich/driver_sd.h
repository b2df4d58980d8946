/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_sd.h - SD and MMC cards on a serial bus (SPI mode) as a block device (block.h).
 *
 *     static struct nw_spi bus = {&board_ops, NULL, 20000, 0, 0, 0};
 *     static struct nw_sd card;
 *     int result = nw_sd_open(&card, &bus);     then: &card.block
 *
 * WHAT THE CARD TELLS. Whether it is SDHC or SDXC (addresses in blocks), SD of version 1 or 2, or
 * MMC up to 2 GB; and its size, from the CSD register. Sectors have 512 bytes.
 *
 * CHECKSUMS are switched on: CRC-7 behind each command, CRC-16 behind each block, both ways. A
 * wrong one is NW_ERR_IO.
 *
 * WHAT IT OWES as a block device. A card has a translation layer of its own. Written sectors are
 * kept when write returned NW_OK, so sync has nothing left to do but ask. Whether a sector that
 * power was cut in reads as old or new is the card's affair; most keep it. SECTORS NEVER WRITTEN
 * read as what the card holds there, which is not always zeros: trim what must be. trim writes
 * zeros, at the price of a write, since a card may fill what it erases with ones.
 *
 * ERRORS of the verbs. NW_ERR_PROGRAM: the card refused a block or reported an error behind it
 * (card->response has the data response or the status); NW_ERR_IO: a wrong checksum, a response
 * with an error bit, or no response; NW_ERR_BUSY: busy for more than 20,000 waits of 50 us after
 * a write (1 s; the standard allows 0.5 s), or no data within 15,000 waits of 20 us of a read
 * (0.3 s; 0.1 s), LIMITS in driver_spi.h; what the bus answers. done counts sectors that went
 * well; 0 behind NW_ERR_PROGRAM: a card takes blocks into its buffer before it programs them, so
 * the error may be that of any sector of the request. Write all of it again: the driver does not
 * ask how many were well written (ACMD22), for MMC cards have no such command, and it would save
 * no more than a few sectors on a card that is failing. NW_ERR_UNSUPPORTED: data NULL. Each
 * error is told once: the call behind it first reads the card's status, whose bits stay until
 * then, and drops it.
 *
 * COST. RAM: sizeof(struct nw_sd). Stack on a Cortex-M3: 210 B. One command a call, however many
 * sectors; each sector 512 bytes, a token, two of checksum, and a byte for each 20 us (read) or 50
 * us (write) of the card's own time. The checksum takes about 10 instructions a byte.
 *
 * Source: SD Physical Layer Simplified Specification 6.00, chapters 7 (SPI mode), 4.9, 5.3;
 * MultiMediaCard System Specification 3.31, chapter 7.
 */
#ifndef NANDWICH_DRIVER_SD_H
#define NANDWICH_DRIVER_SD_H

#include "nandwich/block.h"
#include "nandwich/driver_spi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_sd {
    struct nw_block block; /* for what stands above; its context is this struct */
    struct nw_spi *spi;
    uint8_t shift;         /* from sector to address: 0, or 9 where addresses are bytes */
    uint8_t response;      /* the card's last response, for a look after an error */
    uint8_t opening;
    uint16_t steps;        /* opening: waits of 50 us that are left */
};

/*
 * Wakes the card. Call it 1 ms or more after the supply is up, and after every loss of power or of
 * the card. Calls ops->clock, if there is one, with 400 and then with spi->khz, unless that is 0:
 * then the card stays at 400 kHz. A card that is still busy with a write of before is waited for,
 * up to 1 s; all waits behind that, however many commands they are for, make up another second, and
 * the table of the card's size 0.3 s at most.
 *
 * NW_ERR_NOT_FOUND: nothing answers; the line reads all FF, or all 00 for 1 s.
 * NW_ERR_UNSUPPORTED: a card that does not work at 3.3 V, or with a CSD of another version, or one
 * whose blocks are none of 512, 1,024 or 2,048 bytes.
 * NW_ERR_BUSY: not awake within that second, or stuck. NW_ERR_IO; what the bus answers. Nothing is
 * written.
 */
int nw_sd_open(struct nw_sd *card, struct nw_spi *spi);

#ifdef __cplusplus
}
#endif

#endif
