/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sd_spi.h - an SD card (standard capacity, SPI mode) as a block device of 512-byte sectors, for
 * the CC1010's SPI master. One card, one sector a request; not to be called from interrupts.
 *
 * Errors: NW_ERR_IO when the card does not answer in time or refuses a command; NW_ERR_PROGRAM when
 * it reports that writing failed. Without payload (data == NULL) it answers NW_ERR_UNSUPPORTED.
 */
#ifndef NANDWICH_8051_SD_SPI_H
#define NANDWICH_8051_SD_SPI_H

#include "nandwich/block.h"

/* Wakes the card and sets `block` up. */
int sd_open(struct nw_block *block, uint32_t sectors);

#endif
