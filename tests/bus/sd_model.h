/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sd_model.h - an SD or MMC card in SPI mode at byte level, written from the SD Physical Layer
 * Simplified Specification, chapter 7, in front of the twin's card: wake-up, checksums both ways,
 * tokens, single and multiple blocks, the busy line. A block is written when its busy time ends; a
 * cut meanwhile writes it or does not. What went wrong stays in its status until that is read
 * (4.10, 7.3.2.3).
 */
#ifndef NANDWICH_TESTS_SD_MODEL_H
#define NANDWICH_TESTS_SD_MODEL_H

#include "bus.h"
#include "nandwich-twin/sdcard.h"

enum sd_type { SD_LARGE, SD_VERSION_2, SD_VERSION_1, SD_MMC };

struct sd_model {
    struct spi_model spi;
    struct nw_sdcard *card;
    struct nw_block *block;
    uint8_t type; /* enum sd_type */
    uint32_t sectors;
    struct nw_random random;
    bool spi_mode;
    bool checksums;
    bool awake;
    bool application; /* the command before was APPLICATION */
    uint32_t tries;   /* until it is awake */
    uint8_t frame[6];
    uint32_t framed;
    uint8_t out[1200]; /* what the card has to send */
    uint32_t out_at;
    uint32_t out_end;
    uint8_t reading;  /* 1: one block, 2: until it is told to stop */
    uint8_t writing;  /* 0, or the command: tokens are waited for */
    bool receiving;
    uint8_t in[514];
    uint32_t received;
    uint32_t sector;
    uint8_t payload[512]; /* of the block under way */
    uint32_t unit_blocks; /* of the twin's card: what it has open at a time */
    uint32_t open_us;     /* busy with the first write into another unit; 0: as with any */
    uint32_t drowsy_us;   /* busy behind each try to wake it */
    /* What goes wrong. */
    bool absent;
    bool corrupt_read;
    bool silent_read;
    bool lost;       /* an error token instead of data, once */
    uint8_t refuse;  /* a data response other than 05h, once */
    uint8_t take;    /* blocks that are taken before that */
    uint8_t status;  /* second byte of the status, until it is read */
    uint8_t version; /* of the CSD; 0: the right one */
    uint8_t length;  /* logarithm of a block in the CSD of a small card; 0: the right one */
};

void sd_model_open(struct sd_model *model, uint8_t type, uint32_t sectors);
void sd_model_close(struct sd_model *model);
void sd_model_power_up(struct sd_model *model);

#endif
