/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lavish_rig.h - a lavish device on an emulated chip, beside a plain model of what it must hold.
 * Every sector written carries its number and a version, so a read tells any mix-up.
 */
#ifndef NANDWICH_TESTS_LAVISH_RIG_H
#define NANDWICH_TESTS_LAVISH_RIG_H

#include "nandwich-twin/nand.h"
#include "nandwich/ftl_lavish.h"
#include "nandwich/random.h"

#define LAVISH_RIG_SECTORS 32768U

/* Shape of the chip and of the device on it; zero fields are the defaults. */
struct lavish_shape {
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t program_bytes; /* 0: whole pages */
    uint8_t in_order;
    uint8_t copy;
    uint32_t endurance;
    uint32_t factory_bad;
    struct nw_ftl_lavish_config lavish;
};

/* Two logical blocks of 4 sectors, lavish blocks of 8, 4 of them: as few as can be; up to 8 have
 * room, and there is the mark's block. */
extern const struct lavish_shape lavish_shape_tiny;

struct lavish_rig {
    struct nw_nand *nand;
    struct nw_chip *chip; /* what the device is on: the emulated chip unless a test puts a filter
                           * between by itself */
    struct nw_ftl_lavish lavish;
    struct nw_nand_counts opened; /* the chip's counts when the device was opened last */
    void *ram;
    size_t ram_bytes;
    uint32_t version[LAVISH_RIG_SECTORS]; /* 0: zeros */
    uint32_t writes;                      /* the latest version */
    uint8_t buffer[65536];
};

/* Opens chip and device; what the latter answers. */
int lavish_rig_open(struct lavish_rig *rig, const struct lavish_shape *shape, uint32_t flags,
                    uint32_t seed);
/* Puts the device on a chip that is already there. */
int lavish_rig_open_on(struct lavish_rig *rig, struct nw_chip *chip,
                       const struct nw_ftl_lavish_config *config);
/* No misuse was recorded; closes both. */
void lavish_rig_close(struct lavish_rig *rig);

/* Sectors the device answered NW_OK for are new in the model. */
int lavish_rig_write(struct lavish_rig *rig, uint32_t sector, uint32_t count);
int lavish_rig_trim(struct lavish_rig *rig, uint32_t sector, uint32_t count);
/* Fails the test when what was read is not what the model holds. */
int lavish_rig_read(struct lavish_rig *rig, uint32_t sector, uint32_t count);
void lavish_rig_read_all(struct lavish_rig *rig);

/* Writes one sector so many times; each has to go well. */
void lavish_rig_repeat(struct lavish_rig *rig, uint32_t sector, unsigned times);
/* What the layer's counters must say, in one line a test. */
void lavish_rig_expect(const struct lavish_rig *rig, const char *counts);
/* What the layer says it did is what the chip did; reads all and closes both. */
void lavish_rig_finish(struct lavish_rig *rig);

#endif
